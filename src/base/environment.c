/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* environment.c - one reading for all switches; one row per directive: the type of its value, and
 * its effect on the variable. */
#include "base/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/log.h"
#include "base/status.h"
#include "base/util.h"

/* ---- switches -------------------------------------------------------------------------------- */

bool sx_switch_is_off(const char *name)
{
    const char *const text = getenv(name);

    if (text == NULL || text[0] == '\0' || strcmp(text, "1") == 0) {
        return false;
    }
    if (strcmp(text, "0") == 0) {
        return true;
    }
    sx_log(SX_LOG_WARN, "%s=%s is neither 0 nor 1: not used", name, text);
    return false;
}

pmix_status_t sx_switch_number(const char *name, uint64_t min, uint64_t max, uint64_t *ret)
{
    const char *const text = getenv(name);
    char *end = NULL;

    if (text == NULL || text[0] == '\0') {
        return PMIX_SUCCESS;
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);

    if (errno != 0 || *end != '\0' || text[0] == '-' || number < min || number > max) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s=%s is no number from %" PRIu64 " to %" PRIu64, name,
                        text, min, max);
    }
    *ret = number;
    return PMIX_SUCCESS;
}

/* ---- directives ------------------------------------------------------------------------------ */

/* The value that a variable gets, whose value is @former.  Return: malloc'ed; NULL when memory is
 * out. */
typedef char *(*change_fn)(const char *former, const pmix_envar_t *envar);

static char *joined(const char *front, char separator, const char *back)
{
    const size_t front_len = strlen(front);
    char *const text = malloc(front_len + strlen(back) + 2);

    if (text != NULL) {
        memcpy(text, front, front_len);
        text[front_len] = separator;
        strcpy(text + front_len + 1, back);
    }
    return text;
}

static char *prepended(const char *former, const pmix_envar_t *envar)
{
    return joined(envar->value, envar->separator, former);
}

static char *appended(const char *former, const pmix_envar_t *envar)
{
    return joined(former, envar->separator, envar->value);
}

static char *put_first(const char *former, const pmix_envar_t *envar)
{
    const size_t len = strlen(envar->value);
    char *const text = malloc(len + strlen(former) + 2);
    char *end = text == NULL ? NULL : stpcpy(text, envar->value);

    for (const char *at = former, *next; text != NULL && at != NULL;
         at = *next == '\0' ? NULL : next + 1) {
        next = at + len; /* the value may have separators itself */
        if (strncmp(at, envar->value, len) == 0 && (*next == envar->separator || *next == '\0')) {
            continue;
        }
        next = strchrnul(at, (unsigned char)envar->separator);
        *end++ = envar->separator;
        end = mempcpy(end, at, (size_t)(next - at));
    }
    if (text != NULL) {
        *end = '\0';
    }
    return text;
}

static const struct row {
    const char *key;
    pmix_data_type_t type;
    bool overwrite;
    change_fn change; /* of a variable that is not empty; NULL: it gets the value as it is */
} rows[] = {
    { PMIX_SET_ENVAR, PMIX_ENVAR, true, NULL },
    { PMIX_ADD_ENVAR, PMIX_ENVAR, false, NULL },
    { PMIX_UNSET_ENVAR, PMIX_STRING, true, NULL },
    { PMIX_PREPEND_ENVAR, PMIX_ENVAR, true, prepended },
    { PMIX_APPEND_ENVAR, PMIX_ENVAR, true, appended },
    { PMIX_FIRST_ENVAR, PMIX_ENVAR, true, put_first },
};

static const struct row *row_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (PMIx_Check_key(key, rows[i].key)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool sx_envar_is_directive(const char *key)
{
    return row_find(key) != NULL;
}

static const char *value_of(char *const *env, const char *name)
{
    const size_t len = strlen(name);

    for (; env != NULL && *env != NULL; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            return *env + len + 1;
        }
    }
    return NULL;
}

/* @env has no variable of that @name any more. */
static void variable_remove(char **env, const char *name)
{
    const size_t len = strlen(name);
    size_t kept = 0;

    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        if (strncmp(env[i], name, len) == 0 && env[i][len] == '=') {
            free(env[i]);
        } else {
            env[kept++] = env[i];
        }
    }
    if (env != NULL) {
        env[kept] = NULL;
    }
}

static const char *find_fault(const struct row *row, const pmix_value_t *value,
                              const pmix_envar_t *envar)
{
    if (value->type != row->type) {
        return row->type == PMIX_ENVAR ? "its value is no PMIX_ENVAR" : "its value is no string";
    }
    if (envar->envar == NULL || envar->envar[0] == '\0' || strchr(envar->envar, '=') != NULL) {
        return "no variable can have its name";
    }
    if (row->type == PMIX_ENVAR && envar->value == NULL) {
        return "it has no value";
    }
    return row->change != NULL && envar->separator == '\0' ? "it has no separator" : NULL;
}

pmix_status_t sx_envar_apply(const pmix_info_t *directive, char ***env)
{
    const struct row *const row = row_find(directive->key);
    const pmix_value_t *const value = &directive->value;

    if (row == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_envar_t envar = value->type == PMIX_ENVAR
                                   ? value->data.envar
                                   : (pmix_envar_t){ .envar = value->data.string };
    const char *const why = find_fault(row, value, &envar);

    if (why != NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" cannot be done: %s", row->key, why);
    }
    if (row->type != PMIX_ENVAR) {
        variable_remove(*env, envar.envar);
        return PMIX_SUCCESS;
    }
    const char *const former = row->change != NULL ? value_of(*env, envar.envar) : NULL;
    const bool changes = former != NULL && former[0] != '\0';
    char *const changed = changes ? row->change(former, &envar) : NULL;

    if (changes && changed == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = PMIx_Setenv(envar.envar, changed != NULL ? changed : envar.value,
                                         row->overwrite, env);

    free(changed);
    return rc == PMIX_ERR_EXISTS ? PMIX_SUCCESS : rc;
}
