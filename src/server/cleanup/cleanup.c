/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.c - the paths that each client wants removed, and the time at which they are.
 *
 *   REGISTERED in its client's list --its process is gone--> removed (cleanup_queue.h)
 *        a directory, or for a whole job: --the last client of the job is gone-->
 *        after the client has finalized: --its process has exited-->
 *
 * A client may have SX_CLEANUP_PATHS_MAX paths of SX_CLEANUP_BYTES_MAX bytes; a call that would
 * exceed this changes nothing.  The paths that it registers for others are in their lists and count
 * as its own while it lives.  For each client the others together may have as many.  So no process
 * takes the room of another one, and what stays when the payer has ended is bounded.  Paths that a
 * process of a job wants to keep are left by the cleanups of all processes of the job with the same
 * user.  Their texts take at most SX_CLEANUP_KEPT_MAX bytes. */
#include "server/cleanup/cleanup.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/call/directives.h"
#include "base/status.h"
#include "base/system/process.h"
#include "server/cleanup/cleanup_queue.h"
#include "server/model/nspace.h"
#include "server/model/share.h"

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
    return sx_cleanup_queue_path_new(server, client->uid, path->gid, text, len, path->sweep.flags);
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
        sx_list_remove(&complete->given);
        sx_cleanup_queue_sweep(complete);
    } else {
        sx_log(SX_LOG_ERROR, "a directory is left at the end of rank %u of %s: memory is short",
               client->rank, client->nspace->name);
    }
}

static void sweep_paths(struct sx_server *server, struct sx_client *client, bool directories_too)
{
    const bool is_alive = client->exit_fd >= 0; /* it has finalized, and its exit is awaited */

    SX_LIST_EACH(it, &client->cleanups) {
        struct sx_cleanup_queue_path *path = SX_LIST_ENTRY(it, struct sx_cleanup_queue_path, link);
        const bool is_jobs = path->is_jobs || (path->sweep.flags & SX_CLEANUP_UNLINK_DIR) != 0;

        if ((directories_too || !is_jobs) && !(path->is_late && is_alive)) {
            sweep_path(server, client, path);
        }
    }
}

/* From now on the paths that @client has registered for others count for their owners alone. */
static void given_forget(struct sx_client *client)
{
    while (sx_list_pop(&client->cleanups_given) != NULL) {
    }
}

void sx_cleanup_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *nspace = client->nspace;

    given_forget(client);
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
    given_forget(client);
    if (!sx_list_empty(&client->cleanups)) {
        sweep_paths(server, client, true);
        sx_cleanup_queues_go(server);
    }
    kept_drop(client);
}

/* ---- registration -------------------------------------------------------------------------- */

#define ENDED_PER_UNIT 4u /* clients that are asked whether they have ended: share.h */

/* Paths of one share. */
struct sum {
    size_t count, size_bytes;
};

/* The client that calls, and pays. */
struct payer {
    struct sx_server *server;
    struct sx_client *client;
    struct sum has;     /* its own paths, and those that it has given to others */
    size_t named_count; /* paths that this call names, repeated ones included, for each target; the
                         * paths to keep are not counted for the first target */
};

/* A client's list while a call adds to it. */
struct taking {
    struct payer *payer;
    struct sx_client *client;
    bool is_first;               /* target of the call */
    bool is_jobs, is_late;       /* as of its paths */
    struct sx_list *last_before; /* paths of this call are appended after it */
    struct sx_list *kept_before; /* the same for paths to keep */
    struct sum given;            /* to the client by others */
};

static void sum_add(struct sum *sum, const struct sx_cleanup_queue_path *path)
{
    sum->count++;
    sum->size_bytes += path->len + 1;
}

static bool sum_has_room(const struct sum *sum, size_t len)
{
    return sum->count < SX_CLEANUP_PATHS_MAX && len + 1 <= SX_CLEANUP_BYTES_MAX - sum->size_bytes;
}

static struct payer payer_of(struct sx_server *server, struct sx_client *client)
{
    struct payer payer = { .server = server, .client = client };

    SX_LIST_EACH(it, &client->cleanups) {
        const struct sx_cleanup_queue_path *const path = SX_LIST_ENTRY(it,
                                                                       struct sx_cleanup_queue_path,
                                                                       link);

        if (!path->is_given) {
            sum_add(&payer.has, path);
        }
    }
    SX_LIST_EACH(it, &client->cleanups_given) {
        sum_add(&payer.has, SX_LIST_ENTRY(it, struct sx_cleanup_queue_path, given));
    }
    return payer;
}

static void taking_begin(struct taking *taking, struct payer *payer, struct sx_client *client)
{
    *taking = (struct taking){ .payer = payer,
                               .client = client,
                               .last_before = client->cleanups.prev,
                               .kept_before = client->nspace->kept.prev };
    SX_LIST_EACH(it, &client->cleanups) {
        const struct sx_cleanup_queue_path *const path = SX_LIST_ENTRY(it,
                                                                       struct sx_cleanup_queue_path,
                                                                       link);

        if (path->is_given) {
            sum_add(&taking->given, path);
        }
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
    if (!taking->is_first && taking->payer->named_count++ == SX_CLEANUP_PATHS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
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
            known->is_jobs == taking->is_jobs && known->is_late == taking->is_late &&
            memcmp(known->sweep.path, path->text, path->len) == 0) {
            return true;
        }
    }
    return false;
}

static pmix_status_t path_take(struct taking *taking, const struct sx_path *path, uint32_t flags)
{
    struct payer *const payer = taking->payer;
    struct sx_client *client = taking->client;
    const bool is_given = client != payer->client;
    struct sx_cleanup_queue_path *made;

    if (sx_path_fault(path) != NULL) { /* the client library has logged the reason */
        return PMIX_ERR_BAD_PARAM;
    }
    if (payer->named_count++ == SX_CLEANUP_PATHS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (is_kept(client, path->text, path->len)) {
        return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    }
    if (is_known(taking, path, flags)) {
        return PMIX_SUCCESS;
    }
    if (!sum_has_room(&payer->has, path->len) ||
        (is_given && !sum_has_room(&taking->given, path->len))) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    made = sx_cleanup_queue_path_new(payer->server, client->uid, payer->client->gid, path->text,
                                     path->len, flags);
    if (made == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    made->is_given = is_given;
    made->is_jobs = taking->is_jobs;
    made->is_late = taking->is_late;
    sx_list_append(&client->cleanups, &made->link);
    sum_add(&payer->has, made);
    if (is_given) {
        sx_list_append(&payer->client->cleanups_given, &made->given);
        sum_add(&taking->given, made);
    }
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

/* Whether @client's process has gone for good, or its end would not be noticed. */
static bool has_ended(const struct sx_client *client)
{
    const bool has_left = client->state == SX_CLIENT_REGISTERED && client->left;

    return client->state == SX_CLIENT_DEAD || client->departed ||
           (has_left && (client->exit_fd < 0 || sx_process_has_gone(client->exit_fd)));
}

/* Return: the client whose list has the paths for all of @nspace; NULL when none is there. */
static struct sx_client *job_owner(const struct payer *payer, const char *nspace)
{
    const struct sx_nspace *const job = sx_nspace_find(payer->server, nspace);
    size_t ended_count = 0;

    while (job != NULL && ended_count < job->client_count && has_ended(job->by_rank[ended_count])) {
        ended_count++;
    }
    sx_share_charge(payer->server, payer->client, ended_count / ENDED_PER_UNIT);
    return job != NULL && ended_count < job->client_count ? job->by_rank[ended_count] : NULL;
}

static struct sx_client *rank_owner(struct sx_server *server, const pmix_proc_t *target)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, target->nspace);
    struct sx_client *const client = nspace == NULL ? NULL : sx_client_find(nspace, target->rank);

    return client == NULL || has_ended(client) ? NULL : client;
}

/* Find the client whose paths those for @target are, and begin with it.  Return: as
 * sx_cleanup_take. */
static pmix_status_t target_begin(struct payer *payer, const pmix_proc_t *target,
                                  struct taking *ret)
{
    struct sx_client *const caller = payer->client;
    const bool is_job = target->rank >= PMIX_RANK_VALID;
    const bool is_own = is_job && strcmp(target->nspace, caller->nspace->name) == 0;
    struct sx_client *const owner = is_own   ? caller
                                    : is_job ? job_owner(payer, target->nspace)
                                             : rank_owner(payer->server, target);

    if (owner == NULL && is_job) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND,
                        "PMIx_Job_control: no process of %s is on this node: nothing can be "
                        "removed at the job's end",
                        target->nspace);
    }
    if (owner == NULL) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND,
                        "PMIx_Job_control: rank %u of %s has ended, or is not on this node: "
                        "nothing can be removed at its end",
                        target->rank, target->nspace);
    }
    if (owner->uid != caller->uid) {
        return SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                        "PMIx_Job_control: user %u wants files removed at the end of %s.%u, a "
                        "process of user %u",
                        (unsigned)caller->uid, target->nspace, owner->rank, (unsigned)owner->uid);
    }
    taking_begin(ret, payer, owner);
    ret->is_jobs = is_job && !is_own;
    ret->is_late = owner->left || owner->state == SX_CLIENT_FINALIZED;
    return PMIX_SUCCESS;
}

static void refusal_log(struct sx_client *client)
{
    if (!client->cleanup_logged) {
        client->cleanup_logged = true;
        sx_log(SX_LOG_WARN,
               "cleanup for rank %u of %s refused: a process may name %u paths, %u bytes in all; "
               "a path counts once for each target; the same is the limit of what others name for "
               "one target; the paths of ended processes have %u bytes in a job: name the "
               "directory of the files",
               client->rank, client->nspace->name, SX_CLEANUP_PATHS_MAX, SX_CLEANUP_BYTES_MAX,
               SX_CLEANUP_KEPT_MAX);
    }
}

/* Return: PMIX_SUCCESS; as sx_cleanup_take, and then nothing is taken. */
static pmix_status_t targets_take(struct payer *payer, const pmix_proc_t targets[], size_t count,
                                  const pmix_info_t info[], size_t ninfo)
{
    struct taking *const takings = count > SX_CLEANUP_PATHS_MAX ? NULL
                                                                : calloc(count, sizeof(*takings));
    pmix_status_t rc = takings == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    size_t begun = 0;

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = target_begin(payer, &targets[i], &takings[begun]);
        if (rc == PMIX_SUCCESS) {
            takings[begun].is_first = i == 0;
            rc = directives_take(&takings[begun++], info, ninfo);
        }
    }
    while (rc != PMIX_SUCCESS && begun > 0) { /* the last first: targets may share a list */
        taking_undo(&takings[--begun]);
    }
    free(takings);
    return rc;
}

pmix_status_t sx_cleanup_take(struct sx_server *server, struct sx_client *client,
                              const pmix_proc_t targets[], size_t count, const pmix_info_t info[],
                              size_t ninfo)
{
    const pmix_proc_t own_job = sx_nspace_proc(client->nspace, PMIX_RANK_WILDCARD);
    struct payer payer = payer_of(server, client);
    const pmix_status_t rc = count == 0 ? targets_take(&payer, &own_job, 1, info, ninfo)
                                        : targets_take(&payer, targets, count, info, ninfo);

    if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
        refusal_log(client);
    }
    return rc;
}
