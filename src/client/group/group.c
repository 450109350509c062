/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - groups: construct, destruct, invite, join and leave, with their non-blocking forms.
 *
 * A construct and a destruct are arrivals (collective.h).  A construct is identified by the name of
 * the group, and its processes keep their order.  The other calls are one request each.  Inviting
 * and accepting calls are answered when the group is made, or when it has failed; a declining call
 * is answered at once.  A leave waits for no other process. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/util.h"
#include "client/collective/collective.h"
#include "client/data/data.h"
#include "client/data/view.h"
#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "control/message.h"

/* ---- results --------------------------------------------------------------------------------- */

/* The results of a call that ends with a group.  The end of the operation identifies the group
 * (op.subject); its members in order, and its context id, are read from the node's store. */
struct group_op {
    struct sx_op op; /* its infos are the results */
    bool wants_results;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM, logged. */
static pmix_status_t name_check(const char *name)
{
    const size_t len = name != NULL ? strnlen(name, PMIX_MAX_NSLEN + 1) : 0;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    return len > 0 && len <= PMIX_MAX_NSLEN
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_BAD_PARAM, "the name of a group has 1 to %d bytes",
                          PMIX_MAX_NSLEN);
}

static pmix_status_t members_load(const struct sx_membership *group, pmix_info_t *ret)
{
    const uint32_t size = sx_membership_size(group);
    pmix_data_array_t *const array = PMIx_Data_array_create(size, PMIX_PROC);
    size_t count = 0;

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        pmix_proc_t *const procs = array->array;

        count += sx_membership_member(group, rank, &procs[count]) == PMIX_SUCCESS;
    }
    array->size = count; /* without members that have left meanwhile */
    PMIx_Load_key(ret->key, PMIX_GROUP_MEMBERSHIP);
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

/* The context id is first, as many programs read nothing else; then the members, then the name of
 * the group. */
static pmix_status_t results_load(const struct sx_membership *group, struct sx_op *op)
{
    const bool has_context = (group->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
    const size_t count = has_context ? 3 : 2;
    pmix_info_t *info = PMIx_Info_create(count);
    pmix_info_t *next = info;

    if (info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (has_context) {
        PMIx_Load_key(next->key, PMIX_GROUP_CONTEXT_ID);
        next->value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = group->head.context_id };
        next++;
    }
    pmix_status_t rc = members_load(group, next);

    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(next + 1, PMIX_GROUP_ID, sx_membership_name(group), PMIX_STRING);
    }
    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(info, count);
        return rc;
    }
    op->info = info;
    op->ninfo = count;
    return PMIX_SUCCESS;
}

static bool group_op_finish(struct sx_op *op)
{
    const struct group_op *const group = SX_CONTAINER(op, struct group_op, op);
    struct sx_members_look look;

    if (op->status == PMIX_SUCCESS) {
        sx_at_hand_joined();
    }
    if (op->subject == 0 || !group->wants_results) {
        return true;
    }
    pmix_status_t rc = sx_members_open_subject(op->link, op->subject, &look);

    if (rc == PMIX_SUCCESS) {
        rc = results_load(&look.found, op);
        sx_members_close(&look);
    }
    op->status = rc == PMIX_SUCCESS ? op->status : rc;
    return true;
}

static void group_op_release(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
}

static void group_op_give(const struct group_op *group, pmix_info_t **ret_results,
                          size_t *ret_nresults)
{
    if (group->wants_results) {
        *ret_results = group->op.info;
        *ret_nresults = group->op.ninfo;
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The arguments of a call that ends with a group. */
struct said {
    const struct sx_op_kind *kind;
    pmix_status_t (*send)(struct group_op *op, const struct said *said);
    const char *group;
    const pmix_proc_t *procs; /* the members; the invited; the leader of a join, NULL for any */
    size_t nprocs;
    pmix_group_opt_t answer; /* of a join */
    const pmix_info_t *info;
    size_t ninfo;
};

static pmix_status_t call(const struct said *said, pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    struct group_op op = { .op = SX_OP_INIT(said->kind, sx_primary()),
                           .wants_results = results != NULL && nresults != NULL };
    const pmix_status_t rc = said->send(&op, said);

    group_op_give(&op, results, nresults);
    return rc;
}

static pmix_status_t call_nb(const struct said *said, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct group_op op = {
        .op = SX_OP_INIT(said->kind, sx_primary(),
                         .callback = SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata)),
        .wants_results = cbfunc != sx_results_ignored,
    };

    return said->send(&op, said);
}

/* ---- construct ------------------------------------------------------------------------------ */

static const struct sx_op_kind construct_kind = { .size = sizeof(struct group_op),
                                                  .finish = group_op_finish,
                                                  .release = group_op_release };

/* The infos of the caller, borrowed, with the group's name in place of any info of that name.  A
 * caller without processes joins the leaders' construct. */
static pmix_info_t *infos_with_name(const struct sx_arriving *arriving, const char *name,
                                    size_t *ret_count)
{
    pmix_info_t *const infos = calloc(arriving->ninfo + 2, sizeof(*infos));
    size_t count = 1;

    if (infos == NULL) {
        return NULL;
    }
    PMIx_Load_key(infos[0].key, PMIX_GROUP_ID);
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)name };
    if (arriving->nprocs == 0) {
        PMIx_Load_key(infos[count].key, PMIX_GROUP_BOOTSTRAP);
        infos[count++].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = 0 };
    }
    for (size_t i = 0; i < arriving->ninfo; i++) {
        if (strcmp(arriving->info[i].key, PMIX_GROUP_ID) != 0) {
            infos[count++] = arriving->info[i];
        }
    }
    *ret_count = count;
    return infos;
}

static pmix_status_t construct_check(const char *name, const struct sx_arriving *arriving)
{
    struct sx_collective_options options = { 0 };
    pmix_status_t rc = name_check(name);

    if (rc == PMIX_SUCCESS && (arriving->procs == NULL) != (arriving->nprocs == 0)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_arriving_check(arriving, SX_OF_GROUP_CONSTRUCT, &options);
    }
    if (rc == PMIX_SUCCESS && arriving->nprocs == 0 && options.leaders.given) {
        rc = PMIX_ERR_BAD_PARAM; /* a leader must name itself */
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(sx_primary());
    }
    return rc == PMIX_SUCCESS && arriving->nprocs > 0 &&
                   !sx_procs_hold_self(arriving->procs, arriving->nprocs)
               ? PMIX_ERR_NOT_A_MEMBER
               : rc;
}

static pmix_status_t construct(struct group_op *op, const struct said *said)
{
    const struct sx_arriving arriving = { said->procs, said->nprocs, said->info, said->ninfo };
    struct sx_arriving named = arriving;
    pmix_status_t rc = construct_check(said->group, &arriving);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_info_t *const infos = infos_with_name(&arriving, said->group, &named.ninfo);

    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    named.info = infos;
    if (arriving.nprocs == 0) {
        named.procs = &sx_process.self;
        named.nprocs = 1;
    }
    rc = sx_arrive(&op->op, SX_COLLECTIVE_GROUP_CONSTRUCT, &named);
    free(infos);
    return rc;
}

#define CONSTRUCTING(grp, procs_, nprocs_, directives, ndirs) \
    ((struct said){ .kind = &construct_kind,                  \
                    .send = construct,                        \
                    .group = (grp),                           \
                    .procs = (procs_),                        \
                    .nprocs = (nprocs_),                      \
                    .info = (directives),                     \
                    .ninfo = (ndirs) })

pmix_status_t PMIx_Group_construct(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                   const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    return call(&CONSTRUCTING(grp, procs, nprocs, directives, ndirs), results, nresults);
}

pmix_status_t PMIx_Group_construct_nb(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                      const pmix_info_t *directives, size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? call_nb(&CONSTRUCTING(grp, procs, nprocs, directives, ndirs), cbfunc, cbdata)
               : sx_process_misused();
}

/* ---- destruct ------------------------------------------------------------------------------- */

static pmix_status_t destruct(const char *name, const pmix_info_t *info, size_t ninfo,
                              struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_collective_options options = { 0 };
    pmix_proc_t all = { .rank = PMIX_RANK_WILDCARD };
    const struct sx_arriving arriving = {
        .procs = &all, .nprocs = 1, .info = info, .ninfo = ninfo
    };
    pmix_status_t rc = name_check(name);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(all.nspace, name, strlen(name));
    rc = sx_arriving_check(&arriving, SX_OF_GROUP_DESTRUCT, &options);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(sx_primary());
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_at_hand_joined();
    return sx_arrive(&op, SX_COLLECTIVE_GROUP_DESTRUCT, &arriving);
}

pmix_status_t PMIx_Group_destruct(const char *grp, const pmix_info_t *directives, size_t ndirs)
{
    return destruct(grp, directives, ndirs, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Group_destruct_nb(const char *grp, const pmix_info_t *directives, size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? destruct(grp, directives, ndirs, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}

/* ---- invite and join ------------------------------------------------------------------------- */

/* The answer has arrived. */
static void answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct sx_group_made made;

    if (frame != NULL && frame->body_size >= sizeof(made)) { /* the body of a refusal is shorter */
        memcpy(&made, frame->body, sizeof(made));
        op->subject = made.subject;
    }
}

static const struct sx_op_kind invite_kind = { .size = sizeof(struct group_op),
                                               .request = SX_MSG_GROUP_INVITE,
                                               .answered = answered,
                                               .finish = group_op_finish,
                                               .release = group_op_release };
static const struct sx_op_kind join_kind = { .size = sizeof(struct group_op),
                                             .request = SX_MSG_GROUP_JOIN,
                                             .answered = answered,
                                             .finish = group_op_finish,
                                             .release = group_op_release };

static pmix_status_t said_read(const struct said *said, enum sx_function function,
                               struct sx_collective_options *ret)
{
    const pmix_status_t rc = name_check(said->group);

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
static pmix_status_t ask(struct group_op *op, const struct said *said, struct sx_draft *draft,
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

static pmix_status_t invite(struct group_op *op, const struct said *said)
{
    struct sx_collective_options options = { 0 };
    struct sx_group_invite head = { 0 };
    struct sx_draft draft = { .head = &head,
                              .parts = { [SX_INVITE_PROCS] = { said->procs, said->nprocs } } };
    pmix_status_t rc = said_read(said, SX_OF_GROUP_INVITE, &options);

    if (rc == PMIX_SUCCESS) {
        rc = said->procs == NULL || said->nprocs == 0
                 ? PMIX_ERR_BAD_PARAM
                 : sx_wire_procs_check(said->procs, said->nprocs);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    head.timeout_ns = options.timeout_ns;
    head.flags = options.group;
    head.receives = sx_group_receives(!sx_callback_is_given(&op->op.callback));
    memcpy(head.group, said->group, strlen(said->group));
    return ask(op, said, &draft, SX_INVITE_INFOS);
}

#define INVITING(grp, procs_, nprocs_, directives, ndirs) \
    ((struct said){ .kind = &invite_kind,                 \
                    .send = invite,                       \
                    .group = (grp),                       \
                    .procs = (procs_),                    \
                    .nprocs = (nprocs_),                  \
                    .info = (directives),                 \
                    .ninfo = (ndirs) })

pmix_status_t PMIx_Group_invite(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
                                size_t *nresult)
{
    return call(&INVITING(grp, procs, nprocs, directives, ndirs), results, nresult);
}

/* Without a callback, the end is reported by PMIX_GROUP_CONSTRUCT_COMPLETE; so it is of a join. */
pmix_status_t PMIx_Group_invite_nb(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                   const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return call_nb(&INVITING(grp, procs, nprocs, directives, ndirs),
                   cbfunc != NULL ? cbfunc : sx_results_ignored, cbdata);
}

/* ---- join ----------------------------------------------------------------------------------- */

static pmix_status_t join(struct group_op *op, const struct said *said)
{
    const pmix_proc_t *const leader = said->procs;
    struct sx_collective_options options = { 0 };
    struct sx_group_join head = { .accepts = said->answer == PMIX_GROUP_ACCEPT };
    struct sx_draft draft = { .head = &head };
    pmix_status_t rc = said_read(said, SX_OF_GROUP_JOIN, &options);

    if (rc == PMIX_SUCCESS && said->answer != PMIX_GROUP_ACCEPT &&
        said->answer != PMIX_GROUP_DECLINE) {
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
    head.receives = sx_group_receives(!sx_callback_is_given(&op->op.callback));
    memcpy(head.group, said->group, strlen(said->group));
    return ask(op, said, &draft, SX_JOIN_INFOS);
}

#define JOINING(grp, leader, opt, directives, ndirs) \
    ((struct said){ .kind = &join_kind,              \
                    .send = join,                    \
                    .group = (grp),                  \
                    .procs = (leader),               \
                    .answer = (opt),                 \
                    .info = (directives),            \
                    .ninfo = (ndirs) })

pmix_status_t PMIx_Group_join(const char *grp, const pmix_proc_t *leader, pmix_group_opt_t opt,
                              const pmix_info_t *directives, size_t ndirs, pmix_info_t **results,
                              size_t *nresult)
{
    return call(&JOINING(grp, leader, opt, directives, ndirs), results, nresult);
}

pmix_status_t PMIx_Group_join_nb(const char *grp, const pmix_proc_t *leader, pmix_group_opt_t opt,
                                 const pmix_info_t *directives, size_t ndirs,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return call_nb(&JOINING(grp, leader, opt, directives, ndirs),
                   cbfunc != NULL ? cbfunc : sx_results_ignored, cbdata);
}

/* ---- leave ----------------------------------------------------------------------------------- */

static pmix_status_t arguments_judge(const char *group, const pmix_info_t directives[],
                                     size_t ndirs)
{
    const pmix_status_t rc = name_check(group);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return directives == NULL && ndirs != 0
               ? PMIX_ERR_BAD_PARAM
               : sx_options_read(SX_OF_GROUP_LEAVE, directives, ndirs, NULL);
}

static pmix_status_t leave(const char *group, const pmix_info_t directives[], size_t ndirs,
                           struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .request = SX_MSG_GROUP_LEAVE,
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_group_leave head = { 0 };
    struct sx_draft draft = { .head = &head };
    const pmix_status_t rc = arguments_judge(group, directives, ndirs);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(head.group, group, strlen(group));
    sx_at_hand_joined();
    return sx_op_ask(&op, &draft);
}

pmix_status_t PMIx_Group_leave(const char *grp, const pmix_info_t *directives, size_t ndirs)
{
    return leave(grp, directives, ndirs, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Group_leave_nb(const char *grp, const pmix_info_t *directives, size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? leave(grp, directives, ndirs, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}
