/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* support.c - the tables of options.c, as values. */
#include "base/call/support.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"

enum level { CLIENT, TOOL, SERVER, HOST };

static const struct {
    const char *functions, *attributes; /* the qualifiers that ask for them */
} levels[] = {
    [CLIENT] = { PMIX_CLIENT_FUNCTIONS, PMIX_CLIENT_ATTRIBUTES },
    [TOOL] = { PMIX_TOOL_FUNCTIONS, PMIX_TOOL_ATTRIBUTES },
    [SERVER] = { PMIX_SERVER_FUNCTIONS, PMIX_SERVER_ATTRIBUTES },
    [HOST] = { PMIX_HOST_FUNCTIONS, PMIX_HOST_ATTRIBUTES },
};

/* ---- functions ------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool table_is_of(enum level level, const struct sx_directives *table)
{
    const char *const name = table->function;
    const bool is_servers = begins(name, "PMIx_server_") || strstr(name, "_regex2") != NULL;

    if (strchr(name, ' ') != NULL) { /* another table of a listed function */
        return false;
    }
    return level == SERVER ? is_servers
                           : !is_servers && (level == TOOL || !begins(name, "PMIx_tool_"));
}

/* Function @index of @level.  Return: NULL when @level does not have the function. */
static const char *function_at(enum level level, const struct sx_support_host *host, size_t index)
{
    const struct sx_directives *const table = &sx_directives_of[index];

    return level == HOST               ? host->all[index].function
           : table_is_of(level, table) ? table->function
                                       : NULL;
}

static size_t function_count(enum level level, const struct sx_support_host *host)
{
    return level == HOST ? host->count : SX_FUNCTION_COUNT;
}

static pmix_status_t functions_load(enum level level, const struct sx_support_host *host,
                                    pmix_value_t *ret)
{
    const size_t count = function_count(level, host);
    size_t size = 1;

    for (size_t i = 0; i < count; i++) {
        const char *const name = function_at(level, host, i);

        size += name != NULL ? strlen(name) + 1 : 0;
    }
    char *const text = malloc(size), *at = text;

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *at = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *const name = function_at(level, host, i);

        if (name != NULL) {
            at = stpcpy(stpcpy(at, at == text ? "" : ","), name);
        }
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    return PMIX_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static pmix_data_type_t type_of(const struct sx_directive *row)
{
    static const pmix_data_type_t types[] = {
        [SX_DIRECTIVE_BOOL] = PMIX_BOOL,        [SX_DIRECTIVE_SAID] = PMIX_BOOL,
        [SX_DIRECTIVE_FLAG] = PMIX_BOOL,        [SX_DIRECTIVE_CHOICE] = PMIX_BOOL,
        [SX_DIRECTIVE_NUMBER] = PMIX_UINT32,    [SX_DIRECTIVE_SECONDS] = PMIX_INT,
        [SX_DIRECTIVE_STRING] = PMIX_STRING,    [SX_DIRECTIVE_STRINGS] = PMIX_STRING,
        [SX_DIRECTIVE_PROCS] = PMIX_DATA_ARRAY, [SX_DIRECTIVE_SCOPE] = PMIX_SCOPE,
        [SX_DIRECTIVE_RANGE] = PMIX_DATA_RANGE, [SX_DIRECTIVE_DEVICES] = PMIX_DEVTYPE,
        [SX_DIRECTIVE_INFOS] = PMIX_DATA_ARRAY,
    };

    return row->kind < SX_COUNT(types) ? types[row->kind] : PMIX_UNDEF;
}

static const char *effect_of(const struct sx_directive *row)
{
    static const char *const effects[] = {
        [SX_DIRECTIVE_OBEYED] = "obeyed",
        [SX_DIRECTIVE_CARRIED] = "carried with the call",
        [SX_DIRECTIVE_IDLE] = "asks for nothing that is not so already",
    };

    return effects[row->effect];
}

static size_t attribute_count(enum level level, const struct sx_support_host *host, size_t index)
{
    return level == HOST ? (size_t)PMIx_Argv_count(host->all[index].attributes)
                         : sx_directives_of[index].count;
}

/* The attributes that function @index acts upon. */
static pmix_status_t attributes_load(enum level level, const struct sx_support_host *host,
                                     size_t index, pmix_info_t *ret)
{
    const size_t count = attribute_count(level, host, index);
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_REGATTR);
    pmix_regattr_t *const all = array != NULL ? array->array : NULL;

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(ret->key, function_at(level, host, index));
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    for (size_t i = 0; i < count; i++) {
        if (level == HOST) {
            const char *const name = host->all[index].attributes[i];
            const char *const key = sx_attribute_string(name);

            PMIx_Regattr_load(&all[i], name, key != NULL ? key : name, PMIX_UNDEF, NULL);
        } else {
            const struct sx_directive *const row = &sx_directives_of[index].rows[i];

            PMIx_Regattr_load(&all[i], row->name, row->key, type_of(row), effect_of(row));
        }
    }
    return PMIX_SUCCESS;
}

/* Whether @name is in @wanted, a list with commas; "all", or a value that is not a text, means all
 * of them. */
static bool is_wanted(const pmix_value_t *wanted, const char *name)
{
    const char *at = wanted != NULL && wanted->type == PMIX_STRING ? wanted->data.string : NULL;
    const size_t len = strlen(name);

    if (at == NULL || strcmp(at, "all") == 0) {
        return true;
    }
    while (strncmp(at, name, len) != 0 || (at[len] != '\0' && at[len] != ',')) {
        at = strchr(at, ',');
        if (at++ == NULL) {
            return false;
        }
    }
    return true;
}

static pmix_status_t level_load(enum level level, const struct sx_support_host *host,
                                const pmix_value_t *wanted, pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(function_count(level, host), PMIX_INFO);
    pmix_status_t rc = array != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    size_t count = 0;

    for (size_t i = 0; rc == PMIX_SUCCESS && i < function_count(level, host); i++) {
        const char *const name = function_at(level, host, i);

        if (name != NULL && is_wanted(wanted, name)) {
            rc = attributes_load(level, host, i, (pmix_info_t *)array->array + count++);
        }
    }
    if (rc != PMIX_SUCCESS) {
        PMIx_Data_array_free(array);
        return rc;
    }
    array->size = count;
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

/* ---- what is asked --------------------------------------------------------------------------- */

/* Return: false when @key is not such a qualifier. */
static bool level_find(const char *key, enum level *ret_level, bool *ret_functions)
{
    for (size_t i = 0; i < SX_COUNT(levels); i++) {
        *ret_level = (enum level)i;
        *ret_functions = PMIx_Check_key(key, levels[i].functions);
        if (*ret_functions || PMIx_Check_key(key, levels[i].attributes)) {
            return true;
        }
    }
    return false;
}

static pmix_status_t qualifier_answer(const char *key, const pmix_value_t *wanted,
                                      const struct sx_support_host *host, pmix_info_t *ret)
{
    enum level level;
    bool functions;

    if (!level_find(key, &level, &functions) || (host == NULL && level >= SERVER)) {
        return PMIX_ERR_NOT_FOUND;
    }
    PMIx_Load_key(ret->key, key);
    return functions ? functions_load(level, host, &ret->value)
                     : level_load(level, host, wanted, &ret->value);
}

pmix_status_t sx_support_find(const pmix_query_t *query, const struct sx_support_host *host,
                              pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(query->nqual + SX_COUNT(levels),
                                                            PMIX_INFO);
    pmix_status_t rc = array != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    pmix_info_t *const all = array != NULL ? array->array : NULL;
    size_t count = 0;
    enum level level;
    bool functions;

    for (size_t i = 0; rc == PMIX_SUCCESS && i < query->nqual; i++) {
        const pmix_info_t *const qualifier = &query->qualifiers[i];

        if (level_find(qualifier->key, &level, &functions)) {
            rc = qualifier_answer(qualifier->key, &qualifier->value, host, &all[count++]);
        }
    }
    for (size_t i = 0, none = count; rc == PMIX_SUCCESS && none == 0 && i < SX_COUNT(levels); i++) {
        rc = qualifier_answer(levels[i].attributes, NULL, host, &all[count++]);
    }
    if (rc != PMIX_SUCCESS) {
        PMIx_Data_array_free(array);
        return rc;
    }
    array->size = count;
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}
