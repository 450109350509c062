/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inject.c - `shmix events inject`: publish an event into a running job from outside.
 *
 *     options --> find the job --> encode --> attach as a tool --> publish --> answer --> exit code
 *
 * The event is sent in one frame, so SX_FRAME_MAX bounds it.  The command waits ANSWER_SECONDS at
 * most for the server's answers. */
#include "cli/verbs.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "cli/events/events.h"
#include "client/event/event.h"
#include "client/life/life.h"
#include "client/link/link.h"
#include "control/message.h"
#include "control/rendezvous.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

#define ANSWER_SECONDS 10
#define RANKS_MAX 256
#define INFOS_MAX 64
#define DIRECTIVES_MAX 3 /* targets, the affected process, not for default handlers */
#define EVENT_BYTES_MAX SX_FRAME_BODY_MAX

struct wish {
    int64_t code, range, affected; /* SX_EVENTS_ANY: not given */
    struct sx_whose whose;
    bool non_default, json;
    pmix_rank_t ranks[RANKS_MAX];
    size_t rank_count;
    pmix_info_t info[INFOS_MAX + DIRECTIVES_MAX];
    size_t ninfo;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool set_ranks(void *at, const char *value)
{
    struct wish *const wish = at;
    char *const copy = sx_cli_strdup(value);
    char *rest = copy;
    const char *word;
    int64_t rank;
    bool good = true;

    wish->rank_count = 0;
    while (good && (word = strsep(&rest, ",")) != NULL) {
        good = wish->rank_count < RANKS_MAX && sx_events_rank_set(&rank, word);
        if (good) {
            wish->ranks[wish->rank_count++] = (pmix_rank_t)rank;
        }
    }
    free(copy);
    return good;
}

static bool set_range(void *at, const char *value)
{
    const int64_t *const range = at;

    return sx_events_range_set(at, value) &&
           (*range == PMIX_RANGE_NAMESPACE || *range == PMIX_RANGE_LOCAL ||
            *range == PMIX_RANGE_SESSION || *range == PMIX_RANGE_GLOBAL ||
            *range == PMIX_RANGE_CUSTOM);
}

/* Return: false when @type or @value is not valid. */
static bool value_load(pmix_info_t *info, const char *key, const char *type, const char *value)
{
    int64_t number = 0;
    char *end = NULL;

    if (strcmp(type, "string") == 0) {
        return PMIx_Info_load(info, key, value, PMIX_STRING) == PMIX_SUCCESS;
    }
    if (strcmp(type, "bool") == 0) {
        const bool flag = strcmp(value, "true") == 0;

        return (flag || strcmp(value, "false") == 0) &&
               PMIx_Info_load(info, key, &flag, PMIX_BOOL) == PMIX_SUCCESS;
    }
    if (strcmp(type, "int") == 0 && sx_cli_number(value, INT32_MIN, INT32_MAX, &number)) {
        const int narrow = (int)number;

        return PMIx_Info_load(info, key, &narrow, PMIX_INT) == PMIX_SUCCESS;
    }
    if (strcmp(type, "int64") == 0 && sx_cli_number(value, INT64_MIN, INT64_MAX, &number)) {
        return PMIx_Info_load(info, key, &number, PMIX_INT64) == PMIX_SUCCESS;
    }
    if (strcmp(type, "uint32") == 0 && sx_cli_number(value, 0, UINT32_MAX, &number)) {
        const uint32_t narrow = (uint32_t)number;

        return PMIx_Info_load(info, key, &narrow, PMIX_UINT32) == PMIX_SUCCESS;
    }
    if (strcmp(type, "uint64") == 0 && value[0] >= '0' && value[0] <= '9') {
        errno = 0;
        const uint64_t wide = strtoull(value, &end, 10);

        return errno == 0 && *end == '\0' &&
               PMIx_Info_load(info, key, &wide, PMIX_UINT64) == PMIX_SUCCESS;
    }
    return false;
}

/* "KEY[:TYPE]=VALUE". */
static bool set_info(void *at, const char *text)
{
    struct wish *const wish = at;
    const char *const equals = strchr(text, '=');
    char *const key = equals == NULL ? NULL : sx_cli_printf("%.*s", (int)(equals - text), text);
    char *const colon = key == NULL ? NULL : strrchr(key, ':');
    const char *type = "string", *name = key;
    bool good = key != NULL && wish->ninfo < INFOS_MAX;

    if (colon != NULL) {
        *colon = '\0';
        type = colon + 1;
    }
    if (good && strncmp(key, "PMIX_", 5) == 0) {
        name = sx_attribute_string(key);
    }
    good = good && name != NULL && name[0] != '\0' && strlen(name) <= PMIX_MAX_KEYLEN &&
           value_load(&wish->info[wish->ninfo], name, type, equals + 1);
    wish->ninfo += good;
    free(key);
    return good;
}

#define OF(member) offsetof(struct wish, member), false

static_assert(RANKS_MAX == 256 && INFOS_MAX == 64, "what is said below");

static const struct sx_option rows[] = {
    { "CODE", NULL, NULL, NULL, "the event's code, a number or the name of a status", NULL,
      sx_events_code_set, OF(code) },
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--range", NULL, "RANGE", "local", "namespace, local, session, global, or custom with --rank",
      "namespace (the job, the default), local (all jobs of this server), session, global, or "
      "custom with --rank",
      set_range, OF(range) },
    { "--rank", "--to", "RANK[,RANK]...", "0,2",
      "ranks with commas between them, from 0 on, at most 256 of them",
      "only for these ranks of the job", set_ranks, 0, false },
    { "--affected", NULL, "RANK", "1", "a rank, from 0 on", "it is about this rank of the job",
      sx_events_rank_set, OF(affected) },
    { "--info", NULL, "KEY[:TYPE]=VALUE", "example.number:int=42",
      "KEY=VALUE or KEY:TYPE=VALUE, at most 64 times: KEY is a key or the name of an attribute, "
      "VALUE one of TYPE, and TYPE string, bool, int, int64, uint32 or uint64",
      "say this with it; TYPE is string (the default), bool, int, int64, uint32 or uint64; may be "
      "repeated",
      set_info, 0, false },
    { "--non-default", NULL, NULL, NULL, NULL, "not for handlers without codes", sx_option_flag,
      OF(non_default) },
    { "--json", NULL, NULL, NULL, NULL, "print the number as a JSON object", sx_option_flag,
      OF(json) },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix events inject CODE [options] [NAMESPACE | PID]\n"
    "\n"
    "Publish an event of CODE, a number or a name as PMIX_ERR_JOB_TERMINATED, into a running job,\n"
    "and print which number it has there, as shmix events shows it.\n"
    "The job is found as by shmix events. You must be the user of its server, or root.\n"
    "\n";

static const char more[] =
    "\n"
    "Exit code: 0 when the server has published it; 1 when not; 2 for a wrong option.\n";

const struct sx_verb sx_events_inject_verb = {
    .name = "shmix events inject",
    .try_begin = "shmix events inject PMIX_EVENT_SYS_OTHER",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* Check the rules that no single row can check.  Return: SX_OPTIONS_TAKEN, or the exit code. */
static int options_check(const struct wish *wish)
{
    const bool is_custom = wish->range == PMIX_RANGE_CUSTOM;

    if (wish->rank_count > 0 && wish->range != SX_EVENTS_ANY && !is_custom) {
        return sx_options_refuse(&sx_events_inject_verb, "--rank",
                                 "--rank makes the range custom: leave out --range %s",
                                 sx_events_range_name((uint8_t)wish->range));
    }
    if (wish->rank_count == 0 && is_custom) {
        return sx_options_refuse(&sx_events_inject_verb, "--rank",
                                 "--range custom: say with --rank for which ranks the event is");
    }
    return SX_OPTIONS_TAKEN;
}

/* ---- the event ------------------------------------------------------------------------------- */

/* Add the processes @ranks of the job as targets. */
static bool targets_add(struct wish *wish, const char *nspace, const pmix_rank_t *ranks,
                        size_t count)
{
    pmix_proc_t *const procs = sx_cli_calloc(count, sizeof(*procs));
    pmix_data_array_t array = { .type = PMIX_PROC, .size = count, .array = procs };

    for (size_t i = 0; i < count; i++) {
        memcpy(procs[i].nspace, nspace, strnlen(nspace, PMIX_MAX_NSLEN));
        procs[i].rank = ranks[i];
    }
    const pmix_status_t rc = PMIx_Info_load(&wish->info[wish->ninfo], PMIX_EVENT_CUSTOM_RANGE,
                                            &array, PMIX_DATA_ARRAY);

    free(procs);
    wish->ninfo += rc == PMIX_SUCCESS;
    return rc == PMIX_SUCCESS;
}

/* A server routes the range of a namespace by the sender's namespace, so list all ranks of the job
 * as targets. */
static pmix_status_t encode(struct wish *wish, const char *nspace, void **ret_bytes,
                            size_t *ret_size)
{
    static const pmix_rank_t everybody = PMIX_RANK_WILDCARD;
    pmix_proc_t job = { .rank = 0 }; /* the server gives us a name, and counts for this job */
    pmix_proc_t affected = { .rank = (pmix_rank_t)wish->affected };
    const bool is_job = wish->range == SX_EVENTS_ANY || wish->range == PMIX_RANGE_NAMESPACE;
    const bool yes = true;
    bool good = true;

    memcpy(job.nspace, nspace, strnlen(nspace, PMIX_MAX_NSLEN));
    if (wish->rank_count > 0) {
        good = targets_add(wish, nspace, wish->ranks, wish->rank_count);
    } else if (is_job) {
        good = targets_add(wish, nspace, &everybody, 1);
    }
    if (good && wish->affected != SX_EVENTS_ANY) {
        memcpy(affected.nspace, nspace, strnlen(nspace, PMIX_MAX_NSLEN));
        good = PMIx_Info_load(&wish->info[wish->ninfo++], PMIX_EVENT_AFFECTED_PROC, &affected,
                              PMIX_PROC) == PMIX_SUCCESS;
    }
    if (good && wish->non_default) {
        good = PMIx_Info_load(&wish->info[wish->ninfo++], PMIX_EVENT_NON_DEFAULT, &yes,
                              PMIX_BOOL) == PMIX_SUCCESS;
    }
    if (!good) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct sx_notify_options options = { .range = wish->rank_count > 0 || is_job
                                                      ? PMIX_RANGE_CUSTOM
                                                      : (pmix_data_range_t)wish->range };
    const pmix_status_t rc = sx_options_read(SX_OF_NOTIFY, wish->info, wish->ninfo, &options);

    return rc != PMIX_SUCCESS ? rc
                              : sx_event_encode((pmix_status_t)wish->code, &job, &options,
                                                wish->info, wish->ninfo, ret_bytes, ret_size);
}

/* ---- the server ------------------------------------------------------------------------------ */

/* Whether the job has the target ranks and the affected rank. */
static bool ranks_exist(const struct wish *wish, const char *nspace)
{
    pmix_proc_t job = { .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value = NULL;
    uint64_t size = UINT64_MAX; /* if unknown, any rank is accepted */

    memcpy(job.nspace, nspace, strnlen(nspace, PMIX_MAX_NSLEN));
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) == PMIX_SUCCESS) {
        (void)sx_value_get_uint(value, &size);
        PMIX_VALUE_RELEASE(value);
    }
    bool exist = wish->affected == SX_EVENTS_ANY || (uint64_t)wish->affected < size;

    for (size_t i = 0; i < wish->rank_count; i++) {
        exist = exist && wish->ranks[i] < size;
    }
    return exist;
}

/* Return: the server's answer, with the event's number in the job if it has one; or the reason why
 * there is no answer. */
static pmix_status_t publish(const struct wish *wish, int fd, const char *nspace, const void *bytes,
                             size_t size, uint64_t *ret_number)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), ANSWER_SECONDS * SX_NS_PER_SEC);
    pmix_status_t rc;

    setenv("SHMIX_LOG", "none", 0); /* this command reports the library's errors itself */
    rc = sx_tool_attach(fd, nspace, deadline_ns);
    if (rc == PMIX_SUCCESS) {
        rc = ranks_exist(wish, nspace)
                 ? sx_event_submit(sx_primary(), bytes, size, deadline_ns, ret_number)
                 : PMIX_ERR_NOT_FOUND;
        PMIx_Finalize(NULL, 0);
    }
    return rc;
}

static int notify(pmix_status_t rc, const char *nspace, pid_t pid)
{
    switch (rc) {
    case PMIX_SUCCESS:
        return 0;
    case PMIX_ERR_PARTIAL_SUCCESS:
        sx_say("the event is published on this node only: the server of job %.255s (process %d) "
               "cannot pass it on to other nodes",
               nspace, (int)pid);
        break;
    case PMIX_ERR_NOT_FOUND:
        sx_say("job %.255s has no such rank, or has just ended", nspace);
        break;
    case PMIX_ERR_NO_PERMISSIONS:
        sx_say("the server of job %.255s (process %d) takes events of its own user and of root "
               "only",
               nspace, (int)pid);
        break;
    case PMIX_ERR_LOST_CONNECTION:
        sx_say("the server of job %.255s (process %d) has not answered but closed: it ends, or its "
               "library is older than this command and takes no events from outside",
               nspace, (int)pid);
        break;
    case PMIX_ERR_TIMEOUT:
        sx_say("the server of job %.255s (process %d) has not answered for %d seconds; is it "
               "stopped? It publishes the event if it goes on",
               nspace, (int)pid, ANSWER_SECONDS);
        break;
    default:
        sx_say("the server of job %.255s (process %d) refuses the event: %s", nspace, (int)pid,
               PMIx_Error_string(rc));
        break;
    }
    return SX_EXIT_FAILURE;
}

/* @number: of the event in the job; 0: it has none there. */
static void number_print(const struct wish *wish, const char *nspace, uint64_t number)
{
    if (wish->json) {
        printf("{\"nspace\":");
        sx_json_string(nspace, strlen(nspace));
        printf(",\"number\":%" PRIu64 "}\n", number);
    } else if (number != 0) {
        printf("published as event %" PRIu64 " of job %.255s\n", number, nspace);
    } else {
        printf("published\n");
    }
}

static int inject(struct wish *wish, const struct sx_events_job *job)
{
    const char *const nspace = sx_segment_header(&job->ring.seg)->nspace;
    void *bytes = NULL;
    uint64_t number = 0;
    size_t size = 0;
    int fd = -1;
    pmix_status_t rc = encode(wish, nspace, &bytes, &size);

    if (rc != PMIX_SUCCESS) {
        sx_say("this is no event: %s; an --info of a name that other options stand for has to have "
               "the type of that attribute",
               PMIx_Error_string(rc));
        return SX_EXIT_FAILURE;
    }
    if (size > EVENT_BYTES_MAX) {
        sx_say("the event has %zu bytes, %u are possible: give shorter --info values", size,
               EVENT_BYTES_MAX);
        free(bytes);
        return SX_EXIT_FAILURE;
    }
    rc = sx_rendezvous_connect_process(job->server_pid, &fd);
    if (rc == PMIX_SUCCESS) {
        rc = notify(publish(wish, fd, nspace, bytes, size, &number), nspace, job->server_pid);
        if (rc == 0 || number != 0) {
            number_print(wish, nspace, number);
        }
        rc = fflush(stdout) == 0 ? rc : SX_EXIT_FAILURE;
    } else {
        sx_say("cannot reach the server of job %.255s (process %d): %s; has it just ended?", nspace,
               (int)job->server_pid, PMIx_Error_string(rc));
        rc = SX_EXIT_FAILURE;
    }
    free(bytes);
    return rc;
}

int sx_cli_events_inject(char **words)
{
    struct wish *const wish = sx_cli_calloc(1, sizeof(*wish));
    struct sx_events_job job;
    int code;

    wish->range = wish->affected = SX_EVENTS_ANY;
    code = sx_options_take(&sx_events_inject_verb, wish, NULL, &words);
    if (code == SX_OPTIONS_TAKEN) {
        code = options_check(wish);
    }
    if (code == SX_OPTIONS_TAKEN) {
        code = SX_EXIT_FAILURE;
        if (sx_events_find(&wish->whose, &job)) {
            code = inject(wish, &job);
            sx_events_job_close(&job);
        }
    }
    for (size_t i = 0; i < wish->ninfo; i++) {
        PMIX_INFO_DESTRUCT(&wish->info[i]);
    }
    free(wish);
    return code;
}
