/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* runtime_options.c - each word is a row; the words are prterun's words for the same attributes. */
#include "launch/ask/spawn_request.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

#define WORDS_MAX 64u

static const struct row {
    const char *word, *key; /* key NULL: this is the default */
    pmix_data_type_t type;  /* PMIX_BOOL: also without a value */
    const char *text_key;   /* for a value that is neither true nor false; NULL: none */
} rows[] = {
    { "abort-nonzero-status", PMIX_ABORT_NON_ZERO_TERM, PMIX_BOOL, NULL },
    { "aggregate-help-messages", PMIX_AGGREGATE_HELP, PMIX_BOOL, NULL },
    { "autorestart", SX_RUN_AUTORESTART, PMIX_BOOL, NULL }, /* as often as max-restarts allows */
    { "continuous", PMIX_JOB_CONTINUOUS, PMIX_BOOL, NULL },
    { "default-exec-agent", NULL, PMIX_BOOL, NULL },
    { "donotlaunch", PMIX_DO_NOT_LAUNCH, PMIX_BOOL, NULL },
    { "error-nonzero-status", PMIX_ABORT_NON_ZERO_TERM, PMIX_BOOL, NULL },
    { "exec-agent", PMIX_EXEC_AGENT, PMIX_STRING, NULL },
    { "fwd-environment", NULL, PMIX_BOOL, NULL }, /* the environment is the requester's */
    { "get-stack-traces", PMIX_TIMEOUT_STACKTRACES, PMIX_BOOL, NULL },
    { "max-restarts", PMIX_MAX_RESTARTS, PMIX_UINT32, NULL },
    { "notifyerrors", PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, PMIX_BOOL, NULL },
    { "output-proctable", SX_RUN_PROCTABLE, PMIX_BOOL, SX_RUN_PROCTABLE_TO },
    { "recoverable", PMIX_JOB_RECOVERABLE, PMIX_BOOL, NULL },
    { "report-child-jobs-separately", PMIX_REPORT_CHILD_SEP, PMIX_BOOL, NULL },
    { "report-state-on-timeout", PMIX_TIMEOUT_REPORT_STATE, PMIX_BOOL, NULL },
    { "show-progress", PMIX_SHOW_LAUNCH_PROGRESS, PMIX_BOOL, NULL },
    { "spawn-timeout", PMIX_SPAWN_TIMEOUT, PMIX_UINT32, NULL },
    { "stop-in-app", PMIX_DEBUG_STOP_IN_APP, PMIX_BOOL, PMIX_BREAKPOINT },
    { "stop-in-init", PMIX_DEBUG_STOP_IN_INIT, PMIX_BOOL, NULL },
    { "stop-on-exec", PMIX_DEBUG_STOP_ON_EXEC, PMIX_BOOL, NULL },
    { "timeout", PMIX_JOB_TIMEOUT, PMIX_UINT32, NULL },
};

static const struct row *row_find(const char *word, size_t len)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strlen(rows[i].word) == len && strncmp(rows[i].word, word, len) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool flag_read(const char *text, bool *ret)
{
    *ret = text == NULL || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *ret || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static void info_load(const char *key, const void *data, pmix_data_type_t type, pmix_info_t *ret)
{
    if (PMIx_Info_load(ret, key, data, type) != PMIX_SUCCESS) {
        sx_cli_no_memory();
    }
}

/* The infos that a word becomes. */
struct made {
    pmix_info_t *infos; /* with room for INFOS_A_WORD more */
    size_t count;
};
#define INFOS_A_WORD 2u

/* @value NULL: none.  Return: false: the value is of another kind. */
static bool info_make(const struct row *row, const char *value, struct made *made)
{
    const void *data = value;
    uint32_t seconds;
    int64_t number;
    bool flag;

    if (row->type == PMIX_BOOL) {
        const bool is_flag = flag_read(value, &flag);

        if (!is_flag && row->text_key == NULL) {
            return false;
        }
        if (!is_flag) {
            info_load(row->text_key, value, PMIX_STRING, &made->infos[made->count++]);
            flag = true;
        }
        data = &flag;
    } else if (row->type == PMIX_UINT32) {
        if (value == NULL || !sx_cli_number(value, 0, UINT32_MAX, &number)) {
            return false;
        }
        seconds = (uint32_t)number;
        data = &seconds;
    }
    if (data == NULL) {
        return false;
    }
    if (row->key != NULL) {
        info_load(row->key, data, row->type, &made->infos[made->count++]);
    }
    return true;
}

static pmix_status_t word_take(const char *word, struct made *made)
{
    const size_t len = strcspn(word, "=");
    const struct row *const row = row_find(word, len);

    if (row == NULL || !info_make(row, word[len] == '=' ? &word[len + 1] : NULL, made)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_RUNTIME_OPTIONS: '%.100s' is %s", word,
                        row == NULL ? "none that shmix run knows (docs/support.md has them)"
                                    : "not of the kind that it has to be");
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_run_runtime_read(const char *text, pmix_info_t **ret_info, size_t *ret_ninfo)
{
    char **const words = PMIx_Argv_split(text, ',');
    pmix_status_t rc = PMIX_SUCCESS;
    size_t count = 0;

    for (; words != NULL && words[count] != NULL && count < WORDS_MAX; count++) {
    }
    struct made made = { .infos = sx_cli_calloc(INFOS_A_WORD * count + 1, sizeof(*made.infos)) };

    if (words != NULL && words[count] != NULL) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_RUNTIME_OPTIONS: more than %u words", WORDS_MAX);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = word_take(words[i], &made);
    }
    PMIx_Argv_free(words);
    if (rc != PMIX_SUCCESS) {
        sx_elements_destruct(made.infos, made.count, PMIX_INFO);
        free(made.infos);
        return rc;
    }
    *ret_info = made.infos;
    *ret_ninfo = made.count;
    return PMIX_SUCCESS;
}
