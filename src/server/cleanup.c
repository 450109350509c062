/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.c - remember paths, remove them when their owner is gone.
 *
 * The server may be root and the client is not: only what belongs to the client's uid is removed,
 * no link is followed in the last component or below it, and a directory is entered through its
 * descriptor only, SX_CLEANUP_DEPTH_MAX deep. */
#include "server/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/flat.h"
#include "base/status.h"
#include "base/value.h"
#include "server/connection.h"
#include "server/procs.h"

#define SX_CLEANUP_DEPTH_MAX 32

struct cleanup {
    struct sx_list link;
    uid_t uid;
    bool is_dir, recurse, leave_top;
    char path[];
};

/* ---- removal ------------------------------------------------------------------------------- */

static bool is_own(int dir_fd, const char *name, uid_t uid, mode_t *ret_mode)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != uid) {
        return false;
    }
    *ret_mode = st.st_mode;
    return true;
}

/* Empty the directory behind @fd (consumed). */
static void dir_empty(int fd, uid_t uid, bool recurse, int depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    mode_t mode;

    if (dir == NULL) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !is_own(fd, name, uid, &mode)) {
            continue;
        }
        if (!S_ISDIR(mode)) {
            unlinkat(fd, name, 0);
        } else if (recurse && depth < SX_CLEANUP_DEPTH_MAX) {
            const int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            if (below >= 0) {
                dir_empty(below, uid, recurse, depth + 1);
            }
            unlinkat(fd, name, AT_REMOVEDIR);
        }
    }
    closedir(dir);
}

static void cleanup_do(const struct cleanup *cleanup)
{
    mode_t mode;

    if (!is_own(AT_FDCWD, cleanup->path, cleanup->uid, &mode)) {
        return;
    }
    if (!cleanup->is_dir) {
        if (!S_ISDIR(mode)) {
            unlink(cleanup->path);
        }
        return;
    }
    const int fd = open(cleanup->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0) {
        dir_empty(fd, cleanup->uid, cleanup->recurse, 0);
        if (!cleanup->leave_top) {
            rmdir(cleanup->path); /* not empty: something in it is not the client's */
        }
    }
}

void sx_cleanup_run(struct sx_list *cleanups)
{
    struct sx_list *it;

    while ((it = sx_list_pop(cleanups)) != NULL) {
        struct cleanup *cleanup = SX_LIST_ENTRY(it, struct cleanup, link);

        cleanup_do(cleanup);
        free(cleanup);
    }
}

void sx_cleanup_client_gone(struct sx_client *client)
{
    struct sx_nspace *nspace = client->nspace;

    sx_cleanup_run(&client->cleanups);
    if (nspace != NULL && nspace->connected_count == 0) {
        sx_cleanup_run(&nspace->cleanups);
    }
}

/* ---- registration -------------------------------------------------------------------------- */

static size_t list_length(const struct sx_list *list)
{
    size_t count = 0;

    SX_LIST_EACH(it, list) {
        count++;
    }
    return count;
}

static bool is_known(const struct sx_list *list, const char *path, size_t len)
{
    SX_LIST_EACH(it, list) {
        const struct cleanup *cleanup = SX_LIST_ENTRY(it, struct cleanup, link);

        if (strncmp(cleanup->path, path, len) == 0 && cleanup->path[len] == '\0') {
            return true;
        }
    }
    return false;
}

/* Each path of a comma-separated list.  Relative ones are refused: whose directory would it be? */
static pmix_status_t paths_take(struct sx_list *list, uid_t uid, const pmix_info_t *info,
                                const struct cleanup *how)
{
    const char *path = info->value.data.string;

    if (info->value.type != PMIX_STRING || path == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    while (*path != '\0') {
        const size_t len = strcspn(path, ",");

        if (len > 0 && path[0] != '/') {
            return PMIX_ERR_BAD_PARAM;
        }
        if (len > 1 && !is_known(list, path, len)) {
            struct cleanup *cleanup = NULL;

            if (list_length(list) < SX_CLEANUP_MAX) {
                cleanup = calloc(1, sizeof(*cleanup) + len + 1);
            }
            if (cleanup == NULL) {
                return PMIX_ERR_OUT_OF_RESOURCE;
            }
            *cleanup = *how;
            cleanup->uid = uid;
            memcpy(cleanup->path, path, len);
            sx_list_append(list, &cleanup->link);
        }
        path += len + (path[len] == ',');
    }
    return PMIX_SUCCESS;
}

static pmix_status_t directives_take(struct sx_client *client, const pmix_info_t info[],
                                     size_t ninfo)
{
    const pmix_info_t *recurse = sx_info_find(info, ninfo, PMIX_CLEANUP_RECURSIVE);
    const pmix_info_t *leave = sx_info_find(info, ninfo, PMIX_CLEANUP_LEAVE_TOPDIR);
    struct cleanup how = {
        .recurse = recurse != NULL && sx_value_is_true(&recurse->value),
        .leave_top = leave != NULL && sx_value_is_true(&leave->value),
    };
    bool taken = false;

    for (size_t i = 0; i < ninfo; i++) {
        pmix_status_t rc = PMIX_SUCCESS;

        if (strcmp(info[i].key, PMIX_REGISTER_CLEANUP) == 0) {
            how.is_dir = false;
            rc = paths_take(&client->cleanups, client->uid, &info[i], &how);
            taken = true;
        } else if (strcmp(info[i].key, PMIX_REGISTER_CLEANUP_DIR) == 0) {
            how.is_dir = true;
            rc = paths_take(&client->nspace->cleanups, client->uid, &info[i], &how);
            taken = true;
        } else if (&info[i] != recurse && &info[i] != leave &&
                   (info[i].flags & PMIX_INFO_REQD) != 0) {
            rc = PMIX_ERR_NOT_SUPPORTED;
        }
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    return taken ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

bool sx_cleanup_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns)
{
    const struct sx_job_control *request = frame->body;
    const char *at = (const char *)(request + 1);
    size_t left = frame->body_size - sizeof(*request);
    pmix_proc_t *procs = NULL;
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    pmix_status_t rc = sx_procs_read(&at, &left, request->proc_count, &procs);

    (void)now_ns;
    free(procs); /* cleanup is for the caller or its job, whichever is named */
    if (rc == PMIX_ERR_BAD_PARAM || request->info_size > left) {
        return false;
    }
    if (rc == PMIX_SUCCESS && request->info_size > 0) {
        rc = sx_flat_infos_decode_within(at, request->info_size, SX_REQUEST_HEAP_MAX, &info,
                                         &ninfo);
        if (rc == PMIX_ERR_UNPACK_FAILURE) {
            return false;
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = directives_take(client, info, ninfo);
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    sx_connection_reply(server, client, frame->header.id, rc, -1);
    return true;
}
