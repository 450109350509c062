/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.c - the paths that each client wants removed, and the time at which they are.
 *
 *   REGISTERED in its client's list --its process is gone--> removed (cleanup_queue.h)
 *        a directory: --the last client of the job is gone-->
 *
 * A client has at most SX_CLEANUP_PATHS_MAX paths of SX_CLEANUP_BYTES_MAX bytes; a call that would
 * exceed this changes nothing.  Paths that a process of a job wants to keep are left by the
 * cleanups of all processes of the job with the same user.  Their texts take at most
 * SX_CLEANUP_KEPT_MAX bytes. */
#include "server/cleanup/cleanup.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/call/directives.h"
#include "base/status.h"
#include "server/cleanup/cleanup_queue.h"

/* ---- paths to keep ------------------------------------------------------------------------- */

/* A path to keep, or a name to keep in any directory. */
struct kept {
    struct sx_list link; /* nspace.kept, in the order of registration */
    uid_t uid;
    uint32_t rank; /* the rank that registered it */
    size_t len;
    char text[]; /* with its NUL */
};

static struct kept *kept_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct kept, link);
}

static void kept_free(struct sx_nspace *nspace, struct kept *kept)
{
    sx_list_remove(&kept->link);
    nspace->kept_bytes -= kept->len + 1;
    free(kept);
}

static void kept_drop(const struct sx_client *client)
{
    SX_LIST_EACH(it, &client->nspace->kept) {
        if (kept_of(it)->rank == client->rank) {
            kept_free(client->nspace, kept_of(it));
        }
    }
}

static bool any_kept(const struct sx_client *client)
{
    return !sx_list_empty(&client->nspace->kept);
}

static bool is_kept(const struct sx_client *client, const char *path, size_t len)
{
    SX_LIST_EACH(it, &client->nspace->kept) {
        const struct kept *const kept = kept_of(it);
        const bool is_name = kept->text[0] != '/';
        const size_t at = len - kept->len; /* the offset in @path of the part that must match */

        if (kept->uid == client->uid && kept->len <= len &&
            (is_name ? at > 0 && path[at - 1] == '/' : at == 0) &&
            memcmp(path + at, kept->text, kept->len) == 0) {
            return true;
        }
    }
    return false;
}

/* @path followed by the paths to keep in it, in the format of struct sx_cleanup_unlink.  Return:
 * NULL when memory is out. */
static struct sx_cleanup_queue_path *path_with_kept(struct sx_server *server,
                                                    const struct sx_client *client,
                                                    const struct sx_cleanup_queue_path *path)
{
    const char *const dir = path->sweep.path;
    char text[PATH_MAX + SX_CLEANUP_KEPT_MAX];
    size_t len = path->len + 1;

    memcpy(text, dir, len);
    SX_LIST_EACH(it, &client->nspace->kept) {
        const struct kept *const kept = kept_of(it);
        const bool is_below = kept->len > path->len && kept->text[path->len] == '/' &&
                              memcmp(kept->text, dir, path->len) == 0;
        const size_t from = is_below ? path->len : 0;

        if (kept->uid == client->uid && (is_below || kept->text[0] != '/')) {
            memcpy(text + len, kept->text + from, kept->len - from + 1);
            len += kept->len - from + 1;
        }
    }
    return sx_cleanup_queue_path_new(server, client->uid, client->gid, text, len,
                                     path->sweep.flags);
}

/* ---- the end of processes ------------------------------------------------------------------ */

/* This function owns @path. */
static void sweep_path(struct sx_server *server, const struct sx_client *client,
                       struct sx_cleanup_queue_path *path)
{
    struct sx_cleanup_queue_path *complete = path;

    if (is_kept(client, path->sweep.path, path->len)) {
        sx_cleanup_queue_path_free(path);
        return;
    }
    if ((path->sweep.flags & SX_CLEANUP_UNLINK_DIR) != 0 && any_kept(client)) {
        complete = path_with_kept(server, client, path);
        sx_cleanup_queue_path_free(path);
    }
    if (complete != NULL) {
        sx_list_remove(&complete->link);
        sx_cleanup_queue_sweep(complete);
    } else {
        sx_log(SX_LOG_ERROR, "a directory is left at the end of rank %u of %s: memory is short",
               client->rank, client->nspace->name);
    }
}

static void sweep_paths(struct sx_server *server, struct sx_client *client, bool directories_too)
{
    SX_LIST_EACH(it, &client->cleanups) {
        struct sx_cleanup_queue_path *path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path, link);

        if (directories_too || (path->sweep.flags & SX_CLEANUP_UNLINK_DIR) == 0) {
            sweep_path(server, client, path);
        }
    }
}

void sx_cleanup_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *nspace = client->nspace;

    sweep_paths(server, client, false);
    if (nspace != NULL && nspace->connected_count == 0) {
        sx_cleanup_nspace_gone(server, nspace);
    }
    sx_cleanup_queues_go(server);
}

void sx_cleanup_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    for (size_t i = 0; i < nspace->client_count; i++) {
        sweep_paths(server, nspace->by_rank[i], true);
    }
    sx_cleanup_queues_go(server);
}

void sx_cleanup_client_removed(struct sx_server *server, struct sx_client *client)
{
    if (!sx_list_empty(&client->cleanups)) {
        sweep_paths(server, client, true);
        sx_cleanup_queues_go(server);
    }
    kept_drop(client);
}

/* ---- registration -------------------------------------------------------------------------- */

/* A client's list while a call adds to it. */
struct taking {
    struct sx_server *server;
    struct sx_client *client;
    struct sx_list *last_before; /* paths of this call are appended after it */
    struct sx_list *kept_before; /* the same for paths to keep */
    size_t count, size_bytes;    /* with what this call has added */
    size_t named_count;          /* paths that this call names, repeated ones included */
};

static void taking_begin(struct taking *taking, struct sx_server *server, struct sx_client *client)
{
    *taking = (struct taking){ .server = server,
                               .client = client,
                               .last_before = client->cleanups.prev,
                               .kept_before = client->nspace->kept.prev };
    SX_LIST_EACH(it, &client->cleanups) {
        taking->size_bytes += SX_LIST_ENTRY(it, struct sx_cleanup_queue_path, link)->len + 1;
        taking->count++;
    }
}

static void taking_undo(struct taking *taking)
{
    while (taking->client->cleanups.prev != taking->last_before) {
        sx_cleanup_queue_path_free(
            SX_LIST_ENTRY(taking->client->cleanups.prev, struct sx_cleanup_queue_path, link));
    }
    while (taking->client->nspace->kept.prev != taking->kept_before) {
        kept_free(taking->client->nspace, kept_of(taking->client->nspace->kept.prev));
    }
}

/* Take a path to keep.  If its removal was registered before, or is done already, no error is
 * reported: the path is kept from now on. */
static pmix_status_t kept_take(struct taking *taking, const struct sx_path *path)
{
    const struct sx_client *const client = taking->client;
    struct sx_nspace *const nspace = client->nspace;

    if (!sx_path_is_name(path) && sx_path_fault(path) != NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    SX_LIST_EACH(it, &nspace->kept) {
        if (kept_of(it)->uid == client->uid && kept_of(it)->len == path->len &&
            memcmp(kept_of(it)->text, path->text, path->len) == 0) {
            return PMIX_SUCCESS;
        }
    }
    struct kept *const kept = path->len + 1 <= SX_CLEANUP_KEPT_MAX - nspace->kept_bytes
                                  ? malloc(sizeof(*kept) + path->len + 1)
                                  : NULL;

    if (kept == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *kept = (struct kept){ .uid = client->uid, .rank = client->rank, .len = path->len };
    memcpy(kept->text, path->text, path->len);
    kept->text[path->len] = '\0';
    sx_list_append(&nspace->kept, &kept->link);
    nspace->kept_bytes += path->len + 1;
    return PMIX_SUCCESS;
}

static bool is_known(const struct taking *taking, const struct sx_path *path, uint32_t flags)
{
    SX_LIST_EACH(it, &taking->client->cleanups) {
        const struct sx_cleanup_queue_path *known = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path,
                                                                  link);

        if (known->len == path->len && known->sweep.flags == flags &&
            memcmp(known->sweep.path, path->text, path->len) == 0) {
            return true;
        }
    }
    return false;
}

static pmix_status_t path_take(struct taking *taking, const struct sx_path *path, uint32_t flags)
{
    struct sx_client *client = taking->client;
    struct sx_cleanup_queue_path *made;

    if (sx_path_fault(path) != NULL) { /* the client library has logged the reason */
        return PMIX_ERR_BAD_PARAM;
    }
    if (taking->named_count++ == SX_CLEANUP_PATHS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (is_kept(client, path->text, path->len)) {
        return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    }
    if (is_known(taking, path, flags)) {
        return PMIX_SUCCESS;
    }
    if (taking->count == SX_CLEANUP_PATHS_MAX ||
        path->len + 1 > SX_CLEANUP_BYTES_MAX - taking->size_bytes) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    made = sx_cleanup_queue_path_new(taking->server, client->uid, client->gid, path->text,
                                     path->len, flags);
    if (made == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_append(&client->cleanups, &made->link);
    taking->count++;
    taking->size_bytes += path->len + 1;
    return PMIX_SUCCESS;
}

static pmix_status_t paths_keep(struct taking *taking, const char *list)
{
    struct sx_path path;
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && sx_pathlist_next(&list, &path)) {
        rc = kept_take(taking, &path);
    }
    return rc;
}

static pmix_status_t paths_take(struct taking *taking, const char *list, uint32_t flags)
{
    struct sx_path path;
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && sx_pathlist_next(&list, &path)) {
        rc = path_take(taking, &path, flags);
    }
    return rc;
}

static pmix_status_t directives_take(struct taking *taking, const pmix_info_t info[], size_t ninfo)
{
    struct sx_control_options options = { 0 };
    pmix_status_t rc = sx_options_read(SX_OF_JOB_CONTROL, info, ninfo, &options);
    const uint32_t dir_flags = SX_CLEANUP_UNLINK_DIR |
                               (options.recursive ? SX_CLEANUP_UNLINK_RECURSE : 0) |
                               (options.leave_top ? SX_CLEANUP_UNLINK_LEAVE_TOP : 0) |
                               (options.empty ? SX_CLEANUP_UNLINK_EMPTY | SX_CLEANUP_UNLINK_RECURSE
                                              : 0);

    /* First take the paths to keep: the others are checked against them. */
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (strcmp(info[i].key, PMIX_CLEANUP_IGNORE) == 0) {
            rc = paths_keep(taking, info[i].value.data.string);
        }
    }
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (strcmp(info[i].key, PMIX_REGISTER_CLEANUP) == 0) {
            rc = paths_take(taking, info[i].value.data.string, 0);
        } else if (strcmp(info[i].key, PMIX_REGISTER_CLEANUP_DIR) == 0) {
            rc = paths_take(taking, info[i].value.data.string, dir_flags);
        }
    }
    return rc;
}

pmix_status_t sx_cleanup_take(struct sx_server *server, struct sx_client *client,
                              const pmix_info_t info[], size_t ninfo)
{
    struct taking taking;

    taking_begin(&taking, server, client);
    const pmix_status_t rc = directives_take(&taking, info, ninfo);

    if (rc != PMIX_SUCCESS) {
        taking_undo(&taking);
    }
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && !client->cleanup_logged) {
        client->cleanup_logged = true;
        sx_log(SX_LOG_WARN,
               "cleanup for rank %u of %s refused: a process may name %u paths of %u bytes in all, "
               "and a job %u bytes that stay; let it name the directory of its files",
               client->rank, client->nspace->name, SX_CLEANUP_PATHS_MAX, SX_CLEANUP_BYTES_MAX,
               SX_CLEANUP_KEPT_MAX);
    }
    return rc;
}
