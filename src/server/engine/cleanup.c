/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.c - what each client wants removed, and when the time has come.
 *
 *   REGISTERED in its client's list --its process is gone--> swept (broom.h)
 *        a directory: --the last client of the job is gone-->
 *
 * A client has at most SX_CLEANUP_PATHS_MAX paths of SX_CLEANUP_BYTES_MAX bytes; a call that would
 * exceed this changes nothing. */
#include "server/engine/cleanup.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/pathlist.h"
#include "base/status.h"
#include "server/engine/broom.h"

/* ---- the end of processes ------------------------------------------------------------------ */

static void sweep_paths(struct sx_client *client, bool directories_too)
{
    SX_LIST_EACH(it, &client->cleanups) {
        struct sx_broom_path *path = SX_LIST_ENTRY(it, struct sx_broom_path, link);

        if (directories_too || (path->sweep.flags & SX_SWEEP_DIR) == 0) {
            sx_list_remove(it);
            sx_broom_sweep(path);
        }
    }
}

void sx_cleanup_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *nspace = client->nspace;

    sweep_paths(client, false);
    if (nspace != NULL && nspace->connected_count == 0) {
        sx_cleanup_nspace_gone(server, nspace);
    }
    sx_brooms_go(server);
}

void sx_cleanup_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    for (size_t i = 0; i < nspace->client_count; i++) {
        sweep_paths(nspace->by_rank[i], true);
    }
    sx_brooms_go(server);
}

void sx_cleanup_client_removed(struct sx_server *server, struct sx_client *client)
{
    if (!sx_list_empty(&client->cleanups)) {
        sweep_paths(client, true);
        sx_brooms_go(server);
    }
}

/* ---- registration -------------------------------------------------------------------------- */

/* A client's list while a call adds to it. */
struct taking {
    struct sx_server *server;
    struct sx_client *client;
    struct sx_list *last_before; /* what this call adds comes behind it */
    size_t count, size_bytes;    /* with what this call has added */
    size_t named_count;          /* by this call, again and again the same or not */
};

static void taking_begin(struct taking *taking, struct sx_server *server, struct sx_client *client)
{
    *taking = (struct taking){ .server = server,
                               .client = client,
                               .last_before = client->cleanups.prev };
    SX_LIST_EACH(it, &client->cleanups) {
        taking->size_bytes += SX_LIST_ENTRY(it, struct sx_broom_path, link)->len + 1;
        taking->count++;
    }
}

static void taking_undo(struct taking *taking)
{
    while (taking->client->cleanups.prev != taking->last_before) {
        sx_broom_path_free(
            SX_LIST_ENTRY(taking->client->cleanups.prev, struct sx_broom_path, link));
    }
}

static bool is_known(const struct taking *taking, const struct sx_path *path, uint32_t flags)
{
    SX_LIST_EACH(it, &taking->client->cleanups) {
        const struct sx_broom_path *known = SX_LIST_ENTRY(it, struct sx_broom_path, link);

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
    struct sx_broom_path *made;

    if (sx_path_fault(path) != NULL) { /* its library has said why */
        return PMIX_ERR_BAD_PARAM;
    }
    if (taking->named_count++ == SX_CLEANUP_PATHS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (is_known(taking, path, flags)) {
        return PMIX_SUCCESS;
    }
    if (taking->count == SX_CLEANUP_PATHS_MAX ||
        path->len + 1 > SX_CLEANUP_BYTES_MAX - taking->size_bytes) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    made = sx_broom_path_new(taking->server, client->uid, client->gid, path->text, path->len,
                             flags);
    if (made == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_append(&client->cleanups, &made->link);
    taking->count++;
    taking->size_bytes += path->len + 1;
    return PMIX_SUCCESS;
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
    const uint32_t dir_flags = SX_SWEEP_DIR | (options.recursive ? SX_SWEEP_RECURSE : 0) |
                               (options.leave_top ? SX_SWEEP_LEAVE_TOP : 0);

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
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && !client->cleanup_told) {
        client->cleanup_told = true;
        sx_log(SX_LOG_WARN,
               "cleanup for rank %u of %s refused: a process may name %u paths of %u bytes in all; "
               "let it name the directory of its files",
               client->rank, client->nspace->name, SX_CLEANUP_PATHS_MAX, SX_CLEANUP_BYTES_MAX);
    }
    return rc;
}
