/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_invite.c - PMIx_Group_invite, PMIx_Group_join, and their non-blocking forms.
 *
 * Each is one request.  Inviting and accepting calls are answered when the group is made, or when
 * it has failed; a declining call is answered at once. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/util.h"
#include "client/event/group_answer.h"
#include "client/group/group_results.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"

/* The answer has arrived. */
static void answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct sx_group_made made;

    if (frame != NULL && frame->body_size >= sizeof(made)) { /* the body of a refusal is shorter */
        memcpy(&made, frame->body, sizeof(made));
        op->subject = made.subject;
    }
}

static const struct sx_op_kind invite_kind = { .size = sizeof(struct sx_group_op),
                                               .request = SX_MSG_GROUP_INVITE,
                                               .answered = answered,
                                               .finish = sx_group_op_finish,
                                               .told = sx_group_op_told };
static const struct sx_op_kind join_kind = { .size = sizeof(struct sx_group_op),
                                             .request = SX_MSG_GROUP_JOIN,
                                             .answered = answered,
                                             .finish = sx_group_op_finish,
                                             .told = sx_group_op_told };

/* The end is reported by PMIX_GROUP_CONSTRUCT_COMPLETE to callers without a callback. */
static void nobody_is_told(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                           pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata;
    if (release != NULL) {
        release(release_cbdata);
    }
}

static struct sx_group_op op_init(const struct sx_op_kind *kind, bool wants_results,
                                  struct sx_callback callback)
{
    return (struct sx_group_op){ .op = SX_OP_INIT(kind, sx_primary(), .callback = callback),
                                 .wants_results = wants_results };
}

/* The arguments of a call besides the processes. */
struct said {
    const char *group;
    const pmix_info_t *info;
    size_t ninfo;
};

static pmix_status_t said_read(const struct said *said, enum sx_function function,
                               struct sx_collective_options *ret)
{
    const pmix_status_t rc = sx_group_name_check(said->group);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return said->info == NULL && said->ninfo != 0
               ? PMIX_ERR_BAD_PARAM
               : sx_options_read(function, said->info, said->ninfo, ret);
}

/* The infos that are for the other members, borrowed.  Return: false when memory is out. */
static bool gifts_pick(const struct said *said, struct sx_part_source *ret)
{
    pmix_info_t *const picked = calloc(said->ninfo + 1, sizeof(*picked));

    *ret = (struct sx_part_source){ .at = picked };
    for (size_t i = 0; picked != NULL && i < said->ninfo; i++) {
        const char *const key = said->info[i].key;

        if (strcmp(key, PMIX_GROUP_INFO) == 0 || strcmp(key, PMIX_GROUP_INFO_ARRAY) == 0 ||
            strcmp(key, PMIX_GROUP_LOCAL_CID) == 0 || strcmp(key, PMIX_GROUP_ENDPT_DATA) == 0) {
            picked[ret->count++] = said->info[i];
        }
    }
    return picked != NULL;
}

/* Add the infos of @said for the others to @draft, as its part @index. */
static pmix_status_t ask(struct sx_group_op *op, const struct said *said, struct sx_draft *draft,
                         unsigned index)
{
    if (!gifts_pick(said, &draft->parts[index])) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = sx_op_ask(&op->op, draft);

    free((void *)(uintptr_t)draft->parts[index].at);
    return rc;
}

/* ---- invite --------------------------------------------------------------------------------- */

static pmix_status_t invite(struct sx_group_op *op, const struct said *said,
                            const pmix_proc_t *procs, size_t nprocs)
{
    struct sx_collective_options options = { 0 };
    struct sx_group_invite head = { 0 };
    struct sx_draft draft = { .head = &head, .parts = { [SX_INVITE_PROCS] = { procs, nprocs } } };
    pmix_status_t rc = said_read(said, SX_OF_GROUP_INVITE, &options);

    if (rc == PMIX_SUCCESS) {
        rc = procs == NULL || nprocs == 0 ? PMIX_ERR_BAD_PARAM : sx_wire_procs_check(procs, nprocs);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    head.timeout_ns = options.timeout_ns;
    head.flags = options.group;
    head.hears = sx_group_hears(!sx_callback_is_given(&op->op.callback));
    memcpy(head.group, said->group, strlen(said->group));
    return ask(op, said, &draft, SX_INVITE_INFOS);
}

pmix_status_t PMIx_Group_invite(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
                                size_t *nresult)
{
    sx_results_none(results, nresult);
    struct sx_group_op op = op_init(&invite_kind, results != NULL && nresult != NULL,
                                    SX_CALLBACK_NONE);
    const pmix_status_t rc = invite(&op, &(struct said){ grp, directives, ndirs }, procs, nprocs);

    sx_group_op_give(&op, results, nresult);
    return rc;
}

pmix_status_t PMIx_Group_invite_nb(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                   const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_group_op op = op_init(&invite_kind, cbfunc != NULL,
                                    SX_CALLBACK(SX_SHAPE_INFO, info,
                                                cbfunc != NULL ? cbfunc : nobody_is_told, cbdata));

    return invite(&op, &(struct said){ grp, directives, ndirs }, procs, nprocs);
}

/* ---- join ----------------------------------------------------------------------------------- */

static pmix_status_t join(struct sx_group_op *op, const struct said *said,
                          const pmix_proc_t *leader, pmix_group_opt_t opt)
{
    struct sx_collective_options options = { 0 };
    struct sx_group_join head = { .accepts = opt == PMIX_GROUP_ACCEPT };
    struct sx_draft draft = { .head = &head };
    pmix_status_t rc = said_read(said, SX_OF_GROUP_JOIN, &options);

    if (rc == PMIX_SUCCESS && opt != PMIX_GROUP_ACCEPT && opt != PMIX_GROUP_DECLINE) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS && leader != NULL) {
        rc = sx_wire_procs_check(leader, 1);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (leader != NULL) {
        const char *const nspace = sx_wire_nspace(leader);

        memcpy(head.leader_nspace, nspace, strlen(nspace));
        head.leader_rank = leader->rank;
    }
    head.timeout_ns = options.timeout_ns;
    head.hears = sx_group_hears(!sx_callback_is_given(&op->op.callback));
    memcpy(head.group, said->group, strlen(said->group));
    return ask(op, said, &draft, SX_JOIN_INFOS);
}

pmix_status_t PMIx_Group_join(const char *grp, const pmix_proc_t *leader, pmix_group_opt_t opt,
                              const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
                              size_t *nresult)
{
    sx_results_none(results, nresult);
    struct sx_group_op op = op_init(&join_kind, results != NULL && nresult != NULL,
                                    SX_CALLBACK_NONE);
    const pmix_status_t rc = join(&op, &(struct said){ grp, directives, ndirs }, leader, opt);

    sx_group_op_give(&op, results, nresult);
    return rc;
}

pmix_status_t PMIx_Group_join_nb(const char *grp, const pmix_proc_t *leader, pmix_group_opt_t opt,
                                 const pmix_info_t *directives, size_t ndirs,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_group_op op = op_init(&join_kind, cbfunc != NULL,
                                    SX_CALLBACK(SX_SHAPE_INFO, info,
                                                cbfunc != NULL ? cbfunc : nobody_is_told, cbdata));

    return join(&op, &(struct said){ grp, directives, ndirs }, leader, opt);
}
