/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_argv.c - vectors of strings that end with NULL, and environments, which are such vectors.
 *
 * A vector and each of its strings are blocks of the C library.  A call that fails leaves the
 * vector as it was. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

int PMIx_Argv_count(char **argv)
{
    int count = 0;

    while (argv != NULL && argv[count] != NULL && count < INT_MAX - 2) {
        count++;
    }
    return count;
}

/* Put a copy of the first @len bytes of @arg at @index, moving up what is there. */
static pmix_status_t argv_insert(char ***argv, size_t index, const char *arg, size_t len)
{
    const size_t count = (size_t)PMIx_Argv_count(*argv);
    char *copy = strndup(arg, len);
    char **grown = copy == NULL ? NULL : realloc(*argv, (count + 2) * sizeof(char *));

    if (grown == NULL) {
        free(copy);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memmove(grown + index + 1, grown + index, (count - index) * sizeof(char *));
    grown[index] = copy;
    grown[count + 1] = NULL;
    *argv = grown;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Argv_append_nosize(char ***argv, const char *arg)
{
    if (argv == NULL || arg == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return argv_insert(argv, (size_t)PMIx_Argv_count(*argv), arg, strlen(arg));
}

pmix_status_t PMIx_Argv_prepend_nosize(char ***argv, const char *arg)
{
    if (argv == NULL || arg == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    return argv_insert(argv, 0, arg, strlen(arg));
}

pmix_status_t PMIx_Argv_append_unique_nosize(char ***argv, const char *arg)
{
    if (argv == NULL || arg == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; *argv != NULL && (*argv)[i] != NULL; i++) {
        if (strcmp((*argv)[i], arg) == 0) {
            return PMIX_SUCCESS;
        }
    }
    return PMIx_Argv_append_nosize(argv, arg);
}

void PMIx_Argv_free(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        free(argv[i]);
    }
    free(argv);
}

char **PMIx_Argv_copy(char **argv)
{
    char **copy;

    if (argv == NULL) {
        return NULL;
    }
    copy = calloc((size_t)PMIx_Argv_count(argv) + 1, sizeof(char *));
    for (size_t i = 0; copy != NULL && argv[i] != NULL; i++) {
        copy[i] = strdup(argv[i]);
        if (copy[i] == NULL) {
            PMIx_Argv_free(copy);
            return NULL;
        }
    }
    return copy;
}

char *PMIx_Argv_join(char **argv, int delimiter)
{
    size_t size = 1;
    char *text, *at;

    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        size += strlen(argv[i]) + 1;
    }
    text = at = malloc(size);
    if (text == NULL) {
        return NULL;
    }
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        if (i > 0) {
            *at++ = (char)delimiter;
        }
        at = stpcpy(at, argv[i]);
    }
    *at = '\0';
    return text;
}

char **PMIx_Argv_split_inter(const char *src_string, int delimiter, bool include_empty)
{
    const char *at = src_string;
    char **argv = NULL;
    size_t room = 2, count = 0;

    for (const char *c = at; c != NULL && *c != '\0'; c++) {
        room += (unsigned char)*c == (unsigned char)delimiter;
    }
    /* An empty text has no fields at all, not one empty field. */
    while (at != NULL && *src_string != '\0') {
        const char *end = strchrnul(at, (unsigned char)delimiter);

        if (end > at || include_empty) {
            argv = argv == NULL ? calloc(room, sizeof(*argv)) : argv;
            if (argv == NULL || (argv[count++] = strndup(at, (size_t)(end - at))) == NULL) {
                PMIx_Argv_free(argv);
                return NULL;
            }
        }
        at = *end == '\0' || end[1] == '\0' ? NULL : end + 1; /* nothing stands behind the last */
    }
    return argv;
}

char **PMIx_Argv_split(const char *src_string, int delimiter)
{
    return PMIx_Argv_split_inter(src_string, delimiter, false);
}

char **PMIx_Argv_split_with_empty(const char *src_string, int delimiter)
{
    return PMIx_Argv_split_inter(src_string, delimiter, true);
}

/* The place of "@name=..." in @env, or where it would be appended. */
static size_t env_find(char **env, const char *name)
{
    const size_t len = strlen(name);
    size_t i = 0;

    while (env != NULL && env[i] != NULL &&
           (strncmp(env[i], name, len) != 0 || env[i][len] != '=')) {
        i++;
    }
    return i;
}

static pmix_status_t env_set(char ***env, size_t index, const char *name, const char *value)
{
    const size_t name_len = strlen(name);
    char *text = malloc(name_len + strlen(value) + 2);
    pmix_status_t rc = PMIX_SUCCESS;

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(text, name, name_len);
    text[name_len] = '=';
    strcpy(text + name_len + 1, value);
    if (*env != NULL && (*env)[index] != NULL) {
        free((*env)[index]);
        (*env)[index] = text;
        return PMIX_SUCCESS;
    }
    rc = PMIx_Argv_append_nosize(env, text);
    free(text);
    return rc;
}

pmix_status_t PMIx_Setenv(const char *name, const char *value, bool overwrite, char ***env)
{
    const char *const text = value != NULL ? value : "";
    size_t index;

    if (env == NULL || name == NULL || name[0] == '\0' || strchr(name, '=') != NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    index = env_find(*env, name);
    if (!overwrite && *env != NULL && (*env)[index] != NULL) {
        return PMIX_ERR_EXISTS;
    }
    if (*env == environ) { /* its strings are not ours to free */
        return setenv(name, text, 1) != 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    return env_set(env, index, name, text);
}
