/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* control.c - judge the targets, do what is ours, ask the host. */
#include "server/engine/control.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/options.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value.h"
#include "server/engine/cleanup.h"
#include "server/engine/pset.h"
#include "server/model/alias.h"
#include "server/model/visible.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

/* ---- what the host is asked ------------------------------------------------------------------ */

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

/* Take the host's out of @info, and say who asks.  Return: PMIX_SUCCESS, with *ret_ninfo 0 when
 * there is nothing for it; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t question_build(const struct sx_client *client, const pmix_info_t info[],
                                    size_t ninfo, pmix_info_t **ret_info, size_t *ret_ninfo)
{
    const uint32_t uid = client->uid, gid = client->gid;
    pmix_info_t *const asked = calloc(ninfo + 2, sizeof(*asked));
    pmix_status_t rc = asked == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    size_t count = 0;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (!sx_control_is_ours(info[i].key)) {
            rc = sx_elements_copy(&asked[count++], &info[i], 1, PMIX_INFO);
        }
    }
    if (rc == PMIX_SUCCESS && count > 0) {
        PMIx_Info_load(&asked[count++], PMIX_USERID, &uid, PMIX_UINT32);
        PMIx_Info_load(&asked[count++], PMIX_GRPID, &gid, PMIX_UINT32);
    }
    *ret_info = asked;
    *ret_ninfo = count;
    return rc;
}

/* ---- who is meant ---------------------------------------------------------------------------- */

#define TARGETS_PER_UNIT 128u /* that are looked at: share.h */

/* Whether what is ours can be done for all targets: files are removed at the end of processes that
 * there are, and a set may have some of a job to come.  Others are the host's to judge.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND. */
static pmix_status_t targets_judge(struct sx_server *server, struct sx_client *client,
                                   const struct sx_control_options *options,
                                   const struct sx_alias_list *targets)
{
    const struct sx_nspace *nspace = NULL;

    if (options->cleanups == 0 && options->pset == NULL) {
        return PMIX_SUCCESS;
    }
    sx_share_charge(server, client, targets->count / TARGETS_PER_UNIT);
    for (size_t i = 0; i < targets->count; i++) {
        const pmix_proc_t *const target = &targets->all[i];
        const bool is_new = i == 0 || strcmp(targets->all[i - 1].nspace, target->nspace) != 0;

        if (is_new) {
            nspace = sx_nspace_find(server, target->nspace);
        }
        if (nspace == NULL && is_new &&
            (options->cleanups > 0 || !sx_name_may_come(server, target->nspace))) {
            return SX_RAISE(PMIX_ERR_NOT_FOUND, "PMIx_Job_control: there is no job %s",
                            target->nspace);
        }
        if (nspace != NULL && target->rank < PMIX_RANK_VALID && nspace->job_size > 0 &&
            target->rank >= nspace->job_size) {
            return SX_RAISE(PMIX_ERR_NOT_FOUND, "PMIx_Job_control: %s has no rank %u, but %u ranks",
                            target->nspace, target->rank, nspace->job_size);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* What this server does itself. */
static pmix_status_t ours_do(struct sx_server *server, struct sx_client *client,
                             const struct sx_control_options *options,
                             const struct sx_alias_list *targets, const pmix_info_t info[],
                             size_t ninfo)
{
    pmix_proc_t job = sx_nspace_proc(client->nspace, PMIX_RANK_WILDCARD);
    pmix_status_t rc = sx_cleanup_take(server, client, info, ninfo);

    if (rc == PMIX_SUCCESS && options->pset != NULL) {
        rc = sx_pset_define(server, client, targets->count > 0 ? targets->all : &job,
                            targets->count > 0 ? targets->count : 1, options->pset);
    }
    return rc;
}

/* Is there something to do, and can it be done?  Beside what is ours, the host is asked for
 * directives of job control only: other wishes are passed over, and so is the request's name. */
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

/* Return: PMIX_SUCCESS when it has been, or will be, answered. */
static pmix_status_t control(struct sx_server *server, struct sx_client *client,
                             const struct sx_frame *frame, const struct sx_alias_list *targets,
                             const pmix_info_t info[], size_t ninfo)
{
    struct sx_control_options options = { 0 };
    struct sx_upcall up = { .procs = targets->all,
                            .nprocs = targets->count,
                            .info_bytes = frame->opened.size };
    pmix_status_t rc = sx_options_read(SX_OF_JOB_CONTROL, info, ninfo, &options);

    if (rc == PMIX_SUCCESS && sx_procs_are_foreign(server, client, targets->all, targets->count)) {
        rc = PMIX_ERR_NO_PERMISSIONS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = targets_judge(server, client, &options, targets);
    }
    if (rc == PMIX_SUCCESS) {
        rc = question_build(client, info, ninfo, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = question_judge(server, &options, &up);
    }
    if (rc == PMIX_SUCCESS) {
        rc = ours_do(server, client, &options, targets, info, ninfo);
    }
    if (rc == PMIX_SUCCESS && up.ninfo > 0) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, frame->header.id, SX_UPCALL_JOB_CONTROL, &up);
    } else if (rc == PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, PMIX_SUCCESS, -1);
    } else {
        sx_upcall_drop(&up);
    }
    free(up.info);
    return rc;
}

bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns)
{
    const struct sx_job_control *const request = frame->opened.head;
    struct sx_alias_list targets = { .all = NULL };
    pmix_proc_t *procs = NULL;
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    pmix_status_t rc = sx_part_procs(&frame->opened.parts[SX_CONTROL_PROCS], &procs);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list(server, client, procs, request->proc_count, &targets);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_CONTROL_INFOS, &info, &ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = control(server, client, frame, &targets, info, ninfo);
    }
    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    sx_alias_list_clear(&targets);
    free(procs);
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
