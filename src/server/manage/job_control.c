/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control.c - check the targets, do the server's part, ask the host. */
#include "server/manage/manage.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/cleanup/cleanup.h"
#include "server/job/job.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/model/share.h"
#include "server/port/port.h"

#define TARGETS_AT_ONCE_MAX 1024u /* that are put in a set, or in a request to the host, at once */

/* ---- the request to the host --------------------------------------------------------------- */

bool sx_control_is_ours(const char *key)
{
    static const char *const keys[] = { PMIX_REGISTER_CLEANUP,    PMIX_REGISTER_CLEANUP_DIR,
                                        PMIX_CLEANUP_RECURSIVE,   PMIX_CLEANUP_LEAVE_TOPDIR,
                                        PMIX_CLEANUP_EMPTY,       PMIX_CLEANUP_IGNORE,
                                        PMIX_JOB_CTRL_DEFINE_PSET };

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        if (PMIx_Check_key(key, keys[i])) {
            return true;
        }
    }
    return false;
}

/* One call. */
struct control {
    struct sx_pending pending;
    struct sx_share_work work; /* while many targets are taken in their client's turns */
    pmix_proc_t *procs, job;
    struct sx_alias_list targets;
    pmix_info_t *info;
    size_t ninfo;
    struct sx_control_options options; /* point into info */
    struct sx_upcall up;               /* the request to the host; without infos: none */
    struct sx_pset_definition set;
    bool is_defined; /* the set, if there is one to define */
};

static size_t ours_count(const pmix_info_t info[], size_t ninfo)
{
    size_t count = 0;

    for (size_t i = 0; i < ninfo; i++) {
        count += sx_control_is_ours(info[i].key);
    }
    return count;
}

/* Move the host's infos out of those of @control, and add the asker's identity: they may be many,
 * and fresh memory takes longer than all the rest.  Return: PMIX_SUCCESS, with up.ninfo 0 when
 * there are none for the host; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t question_build(const struct sx_client *client, struct control *control)
{
    pmix_info_t *const info = control->info;
    const size_t ninfo = control->ninfo, ours = ours_count(info, ninfo);
    const size_t size = (ninfo - ours + 2) * sizeof(*info);
    pmix_info_t *const asked = ours == 0 ? realloc(info, size) : malloc(size);
    size_t count = ours == 0 ? ninfo : 0;

    if (asked == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (ours == 0) {
        control->info = NULL;
        control->ninfo = 0;
    }
    for (size_t i = 0; ours > 0 && i < ninfo; i++) {
        if (!sx_control_is_ours(info[i].key)) {
            asked[count++] = info[i];
            info[i] = (pmix_info_t){ .key = "" };
        }
    }
    if (count > 0) {
        sx_infos_user_add(asked, &count, client->uid, client->gid);
    }
    control->up.info = asked;
    control->up.ninfo = count;
    return PMIX_SUCCESS;
}

/* ---- the targets ---------------------------------------------------------------------------- */

#define TARGETS_PER_UNIT 128u   /* targets that are checked: share.h */
#define TARGETS_PER_ASK_UNIT 4u /* copied for the host */

/* Whether this server's part can be done for all targets.  Cleanup needs processes that exist; a
 * set may have processes of a job to come.  The host checks the targets of the other directives.
 * Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND. */
static pmix_status_t targets_judge(struct sx_server *server, struct sx_client *client,
                                   const struct sx_control_options *options,
                                   const struct sx_alias_list *targets)
{
    struct sx_alias_walk walk = { .list = targets };
    const struct sx_nspace *nspace = NULL;

    if (options->cleanups == 0 && options->pset == NULL) {
        return PMIX_SUCCESS;
    }
    sx_share_charge(server, client, targets->count / TARGETS_PER_UNIT);
    while (sx_alias_next(&walk)) {
        if (walk.is_new) {
            nspace = sx_nspace_find(server, walk.nspace);
        }
        if (nspace == NULL && walk.is_new &&
            (options->cleanups > 0 || sx_name_has_ended(server, walk.nspace))) {
            return SX_RAISE(PMIX_ERR_NOT_FOUND, "PMIx_Job_control: there is no job %s",
                            walk.nspace);
        }
        if (nspace != NULL && walk.rank < PMIX_RANK_VALID && nspace->job_size > 0 &&
            walk.rank >= nspace->job_size) {
            return SX_RAISE(PMIX_ERR_NOT_FOUND, "PMIx_Job_control: %s has no rank %u, but %u ranks",
                            walk.nspace, walk.rank, nspace->job_size);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- one call ------------------------------------------------------------------------------- */

static void control_free(struct control *control)
{
    sx_pset_definition_clear(&control->set);
    sx_upcall_drop(&control->up);
    free(control->up.info);
    if (control->info != NULL) {
        PMIX_INFO_FREE(control->info, control->ninfo);
    }
    sx_alias_list_clear(&control->targets);
    free(control->procs);
    free(control);
}

/* Whether there is something to do, and it can be done.  Besides the server's part, the host is
 * asked for directives of job control only.  Other infos are ignored, and so is the request's
 * name. */
static pmix_status_t question_judge(struct sx_server *server,
                                    const struct sx_control_options *options, struct sx_upcall *up)
{
    const bool any_ours = options->cleanups > 0 || options->pset != NULL;
    bool any_directive = false;

    for (size_t i = 0; i < up->ninfo; i++) {
        any_directive = any_directive || (strncmp(up->info[i].key, "pmix.jctrl.", 11) == 0 &&
                                          !PMIx_Check_key(up->info[i].key, PMIX_JOB_CTRL_ID) &&
                                          !PMIx_Check_key(up->info[i].key, PMIX_JOB_CTRL_SEP));
    }
    if (any_ours && !any_directive) {
        sx_upcall_drop(up);
        up->ninfo = 0;
        return PMIX_SUCCESS;
    }
    return up->ninfo == 0 ? PMIX_ERR_NOT_SUPPORTED
                          : sx_upcall_judge(server, SX_UPCALL_JOB_CONTROL, 0);
}

/* Read and check the request, without any action yet. */
static pmix_status_t control_read(struct sx_server *server, struct sx_client *client,
                                  struct sx_frame *frame, struct control *control)
{
    const struct sx_job_control *const request = frame->opened.head;
    struct sx_alias_list *const targets = &control->targets;
    size_t left = TARGETS_AT_ONCE_MAX;
    pmix_status_t rc = sx_frame_procs(frame, SX_CONTROL_PROCS, &control->procs);

    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list(server, client, client->uid, control->procs, request->proc_count,
                           targets);
    }
    if (rc == PMIX_SUCCESS && targets->count <= TARGETS_AT_ONCE_MAX) {
        rc = sx_alias_name(targets, &left);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_CONTROL_INFOS, &control->info, &control->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_JOB_CONTROL, control->info, control->ninfo, &control->options);
    }
    if (rc == PMIX_SUCCESS && sx_procs_are_foreign(server, client, targets)) {
        rc = PMIX_ERR_NO_PERMISSIONS;
    }
    control->up = (struct sx_upcall){ .procs = targets->all,
                                      .nprocs = targets->count,
                                      .made = targets->made,
                                      .info_bytes = frame->opened.size };
    if (rc == PMIX_SUCCESS) {
        rc = targets_judge(server, client, &control->options, targets);
    }
    if (rc == PMIX_SUCCESS) {
        rc = question_build(client, control);
    }
    return rc == PMIX_SUCCESS ? question_judge(server, &control->options, &control->up) : rc;
}

/* Do the part of this server; a set is defined afterwards.  Return: as sx_cleanup_take. */
static pmix_status_t ours_begin(struct sx_server *server, struct sx_client *client,
                                struct control *control)
{
    const bool has_targets = control->targets.count > 0;

    control->job = sx_nspace_proc(client->nspace, PMIX_RANK_WILDCARD);
    control->set = (struct sx_pset_definition){
        .client = client,
        .name = control->options.pset,
        .members = has_targets ? control->targets.all : &control->job,
        .count = has_targets ? control->targets.count : 1,
    };
    return control->options.cleanups == 0
               ? PMIX_SUCCESS
               : sx_cleanup_take(server, client, control->targets.all, control->targets.count,
                                 control->info, control->ninfo);
}

/* Everything but the host's part is done. */
static void control_go_on(struct sx_server *server, struct sx_client *client, uint32_t id,
                          const struct sx_frame *frame, struct control *control)
{
    if (control->up.ninfo == 0) {
        sx_reply(server, client, id, PMIX_SUCCESS, -1);
        return;
    }
    sx_reply_read(server, client, frame);
    sx_pending_ask_host(server, client, id, SX_UPCALL_JOB_CONTROL, &control->up);
    control->up.ninfo = 0; /* the host owns them now */
}

/* ---- many targets, in steps ------------------------------------------------------------------ */

static void control_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct control, pending)->work);
}

static void control_pending_free(struct sx_pending *pending)
{
    control_free(SX_CONTAINER(pending, struct control, pending));
}

/* Return: whether the targets have their names.  Otherwise this was a step. */
static bool control_name(struct control *control)
{
    struct sx_pending *const pending = &control->pending;
    size_t left = SX_ALIAS_NAMED_PER_TURN;

    if (control->up.procs != NULL) {
        return true;
    }
    sx_share_charge(pending->server, pending->client, SX_ALIAS_NAMED_UNITS);
    const pmix_status_t rc = sx_alias_name(&control->targets, &left);

    if (rc == PMIX_SUCCESS) {
        control->up.procs = control->targets.all;
        control->set.members = control->targets.all;
    } else if (rc != PMIX_ERR_WOULD_BLOCK) {
        sx_pending_answer(pending, rc);
    }
    return false;
}

/* Each step of a definition, and the request to the host, is long. */
static void control_step(struct sx_share_work *work)
{
    struct control *const control = SX_CONTAINER(work, struct control, work);
    struct sx_pending *const pending = &control->pending;

    if (!control_name(control)) {
        return;
    }
    if (!control->is_defined) {
        const pmix_status_t rc = sx_pset_define_step(pending->server, &control->set);

        control->is_defined = rc == PMIX_SUCCESS;
        if (rc != PMIX_ERR_WOULD_BLOCK && (rc != PMIX_SUCCESS || control->up.ninfo == 0)) {
            sx_pending_answer(pending, rc);
        }
        return;
    }
    const struct sx_upcall up = control->up;

    sx_share_charge(pending->server, pending->client, up.nprocs / TARGETS_PER_ASK_UNIT);
    control->up.ninfo = 0; /* the host owns them now */
    sx_pending_pass_to_host(pending, SX_UPCALL_JOB_CONTROL, &up);
}

/* Take the targets in the turns of @client.  Return: PMIX_ERR_WOULD_BLOCK: @control continues by
 * itself; as sx_pending_begin. */
static pmix_status_t control_begin(struct sx_server *server, struct sx_client *client,
                                   const struct sx_frame *frame, struct control *control)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .closed = control_closed,
                                                 .free = control_pending_free };

    control->pending.bytes = frame->opened.size;
    const pmix_status_t rc = sx_pending_begin(server, client, frame->header.id, &kind,
                                              &control->pending);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    control->work.step = control_step;
    sx_share_work_add(client, &control->work);
    sx_reply_read(server, client, frame);
    return PMIX_ERR_WOULD_BLOCK;
}

/* Return: as control_begin for many targets; as sx_pset_define. */
static pmix_status_t control_take(struct sx_server *server, struct sx_client *client,
                                  const struct sx_frame *frame, struct control *control)
{
    pmix_status_t rc = PMIX_SUCCESS;

    control->is_defined = control->options.pset == NULL;
    if (control->set.count > TARGETS_AT_ONCE_MAX &&
        (!control->is_defined || control->up.ninfo > 0)) {
        return control_begin(server, client, frame, control);
    }
    while (!control->is_defined) {
        rc = sx_pset_define_step(server, &control->set);
        control->is_defined = rc != PMIX_ERR_WOULD_BLOCK;
    }
    return rc;
}

bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns)
{
    struct control *const control = calloc(1, sizeof(*control));
    const uint32_t id = frame->header.id;
    pmix_status_t rc;

    (void)now_ns;
    if (control == NULL) {
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return true;
    }
    rc = control_read(server, client, frame, control);
    if (rc == PMIX_SUCCESS) {
        rc = ours_begin(server, client, control);
    }
    if (rc == PMIX_SUCCESS) {
        rc = control_take(server, client, frame, control);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) {
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        control_go_on(server, client, id, frame, control);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    control_free(control);
    return true;
}

pmix_status_t sx_control_by_host(const struct sx_role_ask *ask)
{
    struct sx_control_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_JOB_CONTROL, ask->info, ask->ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (options.cleanups > 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "files are removed for clients: a host removes its own itself");
    }
    return options.pset != NULL
               ? PMIx_server_define_process_set(ask->procs, ask->nprocs, options.pset)
               : PMIX_SUCCESS;
}
