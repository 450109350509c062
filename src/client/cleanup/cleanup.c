/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.c - resolve the links of a path's directory; the last name of the path stays as it is. */
#include "client/cleanup/cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/call/directives.h"
#include "base/status.h"
#include "control/message.h"

/* The total of paths and bytes in all directives of a call. */
struct sum {
    size_t count, size_bytes;
};

static bool names_paths(const pmix_info_t *info)
{
    return strcmp(info->key, PMIX_REGISTER_CLEANUP) == 0 ||
           strcmp(info->key, PMIX_REGISTER_CLEANUP_DIR) == 0 ||
           strcmp(info->key, PMIX_CLEANUP_IGNORE) == 0;
}

/* Write @path to @out.  A directory that does not exist yet, or has a comma in its real name, is
 * written as it was given. */
static size_t path_spell(const struct sx_path *path, FILE *out)
{
    char given[PATH_MAX], real[PATH_MAX];
    const char *dir = given;

    memcpy(given, path->text, path->name_off);
    given[path->name_off] = '\0';
    if (realpath(given, real) != NULL && strchr(real, ',') == NULL) {
        dir = real;
    }
    const int written = fprintf(out, "%s%s%.*s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/",
                                (int)(path->len - path->name_off), path->text + path->name_off);

    return written < 0 ? 0 : (size_t)written;
}

static size_t name_spell(const struct sx_path *path, FILE *out)
{
    return fwrite(path->text, 1, path->len, out);
}

static pmix_status_t list_spell(const char *key, const char *list, struct sum *sum, FILE *out)
{
    const bool keeps = strcmp(key, PMIX_CLEANUP_IGNORE) == 0;
    struct sx_path path;

    while (sx_pathlist_next(&list, &path)) {
        const char *fault = sx_path_fault(&path);

        const bool is_name = keeps && sx_path_is_name(&path);

        if (fault != NULL && !is_name) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "'%.*s' cannot be %s: %s",
                            path.len < 200 ? (int)path.len : 200, path.text,
                            keeps ? "left at a cleanup" : "cleaned up", fault);
        }
        sum->size_bytes += (is_name ? name_spell(&path, out) : path_spell(&path, out)) + 1;
        fputc(',', out);
        if (++sum->count > SX_CLEANUP_PATHS_MAX || sum->size_bytes > SX_CLEANUP_BYTES_MAX) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                            "a process may name %u paths of %u bytes in all for cleanup; name the "
                            "directory of the files",
                            SX_CLEANUP_PATHS_MAX, SX_CLEANUP_BYTES_MAX);
        }
    }
    return PMIX_SUCCESS;
}

/* Give @info, a copy of the caller's, a separate string. */
static pmix_status_t value_spell(pmix_info_t *info, struct sum *sum)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = list_spell(info->key, info->value.data.string, sum, out);
    const bool complete = ferror(out) == 0;

    if (fclose(out) != 0 || !complete) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        free(text);
        return rc;
    }
    info->value.data.string = text;
    return PMIX_SUCCESS;
}

pmix_info_t *sx_cleanup_free(pmix_info_t *spelled, const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; spelled != NULL && i < ninfo; i++) {
        if (names_paths(&info[i]) && spelled[i].value.data.string != info[i].value.data.string) {
            free(spelled[i].value.data.string);
        }
    }
    free(spelled);
    return NULL;
}

pmix_status_t sx_cleanup_spell(const pmix_info_t *info, size_t ninfo, pmix_info_t **ret_info)
{
    struct sx_control_options options = { 0 };
    struct sum sum = { 0 };
    pmix_status_t rc = sx_options_read(SX_OF_JOB_CONTROL, info, ninfo, &options);
    pmix_info_t *const spelled = rc == PMIX_SUCCESS ? calloc(ninfo, sizeof(*spelled)) : NULL;

    if (spelled == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(spelled, info, ninfo * sizeof(*spelled));
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (names_paths(&spelled[i])) {
            rc = value_spell(&spelled[i], &sum);
        }
    }
    if (rc != PMIX_SUCCESS) {
        sx_cleanup_free(spelled, info, ninfo);
        return rc;
    }
    *ret_info = spelled;
    return PMIX_SUCCESS;
}
