/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_host.c - the entry of the host, its context id, and the plan that the servers agree on. */
#include "server/group/group_host.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/collective/agree.h"
#include "server/collective/collective_upcall.h"
#include "server/group/group.h"
#include "server/group/group_agreement.h"
#include "server/group/group_plan.h"

static pmix_status_t ask(struct sx_collective *collective, const char *name, int operation,
                         sx_told_fn told)
{
    const struct sx_agree_entry entry = { .kind = SX_UPCALL_GROUP,
                                          .is_asked = collective->members.server->module.group !=
                                                      NULL,
                                          .name = name,
                                          .operation = operation };

    return sx_agree_ask(collective, &entry, told);
}

/* The host's answer to this call is ignored. */
static void cancel(const struct sx_collective *collective, const char *name)
{
    const struct sx_members *const members = &collective->members;
    struct sx_joint joint = { .name = name,
                              .operation = PMIX_GROUP_CANCEL,
                              .procs = members->real.all,
                              .proc_count = members->real.count };

    if (members->server->module.group != NULL) {
        joint.here = sx_agree_members_here(members, &joint.here_count);
        (void)sx_joint_upcall(members->server, SX_UPCALL_GROUP, &joint);
        free(joint.here);
    }
}

/* ---- construct ------------------------------------------------------------------------------- */

bool sx_group_construct_host_hears(const struct sx_collective *collective)
{
    const uint8_t group = collective->group & (SX_GROUP_CONTEXT | SX_GROUP_LOCAL_ONLY);

    return collective->members.server->module.group != NULL && group == SX_GROUP_CONTEXT;
}

pmix_status_t sx_group_construct_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    return ask(collective, collective->id, PMIX_GROUP_CONSTRUCT, told);
}

/* If the host gives no context id, the servers choose one. */
static void context_id_take(struct sx_group_plan *plan, const struct sx_host_answer *answer)
{
    for (size_t i = 0; i < answer->ninfo; i++) {
        const pmix_value_t *const value = &answer->info[i].value;
        size_t id;

        if (!PMIx_Check_key(answer->info[i].key, PMIX_GROUP_CONTEXT_ID)) {
            continue;
        }
        if (PMIx_Value_get_number(value, &id, PMIX_SIZE) == PMIX_SUCCESS) {
            plan->context_id = id;
        } else {
            sx_log(SX_LOG_WARN,
                   "the \"%s\" that the host's entry for groups gives is no number (%s): the "
                   "servers give one",
                   PMIX_GROUP_CONTEXT_ID, PMIx_Data_type_string(value->type));
        }
    }
}

static pmix_status_t on_said(const struct sx_opened_part *said, void *arg)
{
    struct sx_collective *const collective = arg;

    return sx_group_agreement_read(collective->plan, said, &collective->group);
}

bool sx_group_construct_host_said(struct sx_collective *collective,
                                  const struct sx_host_answer *answer, pmix_status_t *ret_status)
{
    if (answer->status == PMIX_SUCCESS && answer->size == 0) {
        context_id_take(collective->plan, answer);
    }
    if (sx_agree_goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (*ret_status == PMIX_SUCCESS && answer->size > 0) {
        sx_group_plan_forget(collective->plan);
        *ret_status = sx_agree_read(collective, answer, on_said);
    }
    return true;
}

void sx_group_construct_host_cancel(const struct sx_collective *collective)
{
    cancel(collective, collective->id);
}

pmix_status_t sx_group_construct_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    struct sx_group_plan *const plan = collective->plan;
    struct sx_blob said = { 0 };

    if (plan->context_id == 0) {
        plan->context_id = sx_group_context_id(collective->members.server);
    }
    pmix_status_t rc = sx_group_agreement_write(plan, collective->group, &said);

    if (rc == PMIX_SUCCESS) {
        rc = sx_agree_contribute(collective, collective->id, &said, blob);
    }
    sx_blob_clear(&said);
    return rc;
}

/* ---- destruct -------------------------------------------------------------------------------- */

pmix_status_t sx_group_destruct_host_ask(struct sx_collective *collective, sx_told_fn told)
{
    return ask(collective, collective->members.procs[0].nspace, PMIX_GROUP_DESTRUCT, told);
}

void sx_group_destruct_host_cancel(const struct sx_collective *collective)
{
    cancel(collective, collective->members.procs[0].nspace);
}
