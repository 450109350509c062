/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* qualifier.c - the types are those of the table of directives.  For other keys, as the host's, the
 * value suggests the type. */
#include "cli/query/qualifier.h"

#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/value/names.h"
#include "launch/common/options.h"

const char *sx_query_key(const char *word)
{
    const char *const key = sx_attribute_string(word);

    if (key != NULL) {
        return key;
    }
    return word[0] != '\0' && strlen(word) <= PMIX_MAX_KEYLEN && strncmp(word, "PMIX_", 5) != 0
               ? word
               : NULL;
}

static enum sx_directive_kind kind_of(const char *key)
{
    const struct sx_directives *const table = &sx_directives_of[SX_OF_QUERY];

    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            return (enum sx_directive_kind)table->rows[i].kind;
        }
    }
    return SX_DIRECTIVE_NOTHING;
}

static bool flag_load(pmix_info_t *ret, const char *key, const char *value)
{
    const bool flag = value == NULL || strcmp(value, "true") == 0;

    return (flag || strcmp(value, "false") == 0) &&
           PMIx_Info_load(ret, key, &flag, PMIX_BOOL) == PMIX_SUCCESS;
}

static bool number_load(pmix_info_t *ret, const char *key, const char *value)
{
    int64_t number;

    if (value == NULL || !sx_cli_number(value, 0, UINT32_MAX, &number)) {
        return false;
    }
    const uint32_t narrow = (uint32_t)number;

    return PMIx_Info_load(ret, key, &narrow, PMIX_UINT32) == PMIX_SUCCESS;
}

static bool text_load(pmix_info_t *ret, const char *key, const char *value)
{
    return value != NULL && value[0] != '\0' &&
           PMIx_Info_load(ret, key, value, PMIX_STRING) == PMIX_SUCCESS;
}

/* NAMESPACE.RANK, or NAMESPACE.* */
static bool proc_load(pmix_info_t *ret, const char *key, const char *value)
{
    const char *const dot = value == NULL ? NULL : strrchr(value, '.');
    int64_t rank = PMIX_RANK_WILDCARD;
    pmix_proc_t proc;

    if (dot == NULL || dot == value || dot - value > PMIX_MAX_NSLEN ||
        (strcmp(dot, ".*") != 0 && !sx_cli_number(dot + 1, 0, PMIX_RANK_VALID, &rank))) {
        return false;
    }
    memset(&proc, 0, sizeof(proc));
    memcpy(proc.nspace, value, (size_t)(dot - value));
    proc.rank = (pmix_rank_t)rank;
    return PMIx_Info_load(ret, key, &proc, PMIX_PROC) == PMIX_SUCCESS;
}

bool sx_query_qualifier(pmix_info_t *ret, const char *key, const char *value)
{
    const char *const string = sx_query_key(key);

    if (string == NULL) {
        return false;
    }
    switch (kind_of(string)) {
    case SX_DIRECTIVE_BOOL:
        return flag_load(ret, string, value);
    case SX_DIRECTIVE_NUMBER:
        return number_load(ret, string, value);
    case SX_DIRECTIVE_STRING:
        return text_load(ret, string, value);
    case SX_DIRECTIVE_PROCS:
        return proc_load(ret, string, value);
    default:
        return flag_load(ret, string, value) || number_load(ret, string, value) ||
               text_load(ret, string, value);
    }
}
