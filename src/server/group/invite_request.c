/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_request.c - read an invitation or its answer, and check that all processes it names are
 * here. */
#include "server/group/invite_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/group/group_info.h"
#include "server/group/invitation.h"
#include "server/model/alias.h"

#define GUESTS_PER_UNIT 2u /* to find, to store, to send to them (share.h) */

/* ---- gifts ----------------------------------------------------------------------------------- */

pmix_status_t sx_invite_gifts_read(struct sx_invite_gifts *ret, const struct sx_opened *body,
                                   unsigned index, enum sx_function function)
{
    *ret = (struct sx_invite_gifts){ .ninfo = 0 };
    const pmix_status_t rc = sx_body_infos(body, index, &ret->info, &ret->ninfo);

    ret->bytes = body->parts[index].size + ret->ninfo * sizeof(*ret->info);
    return rc == PMIX_SUCCESS ? sx_options_read(function, ret->info, ret->ninfo, &ret->options)
                              : rc;
}

bool sx_invite_gifts_take(struct sx_guest *guest, const struct sx_invite_gifts *gifts)
{
    return sx_group_gift_take(&gifts->options, &guest->gifts, &guest->gift_count) == PMIX_SUCCESS;
}

void sx_invite_gifts_clear(struct sx_invite_gifts *gifts)
{
    if (gifts->info != NULL) {
        PMIX_INFO_FREE(gifts->info, gifts->ninfo);
    }
}

/* ---- processes that an invitation names ------------------------------------------------------ */

static pmix_status_t judge_one(struct sx_server *server, const pmix_proc_t *proc)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    const bool is_here = nspace != NULL && sx_client_find(nspace, proc->rank) != NULL;

    if (is_here) {
        return PMIX_SUCCESS;
    }
    if (nspace == NULL || proc->rank >= nspace->job_size) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND, "%s.%u cannot be invited: there is no such process",
                        proc->nspace, proc->rank);
    }
    if (sx_client_may_come(nspace, proc->rank)) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                    "%s.%u cannot be invited: it is on another node; PMIx_Group_construct leads "
                    "there",
                    proc->nspace, proc->rank);
}

struct adding {
    struct sx_server *server;
    struct sx_proc_list *procs;
};

static pmix_status_t add(void *arg, const pmix_proc_t *proc)
{
    const struct adding *const adding = arg;
    const pmix_status_t rc = judge_one(adding->server, proc);

    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_WOULD_BLOCK) {
        return rc;
    }
    if (adding->procs->count == SX_PROCS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "one call invites at most %u processes: invite the others in another one",
                        SX_PROCS_MAX);
    }
    return sx_proc_list_add(adding->procs, proc->nspace, proc->rank) ? PMIX_SUCCESS
                                                                     : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t procs_judge(const struct sx_invite_named *named,
                                 const struct sx_client *client)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);

    for (size_t i = 0; i < named->procs.count; i++) {
        if (sx_proc_order(&named->procs.all[i], &self) != 0) {
            return PMIX_SUCCESS;
        }
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s.%u invites nobody else to the group %s", self.nspace,
                    self.rank, named->head.group);
}

pmix_status_t sx_invite_named_read(struct sx_invite_named *ret, struct sx_server *server,
                                   struct sx_client *client, const struct sx_opened *body)
{
    const struct sx_opened_part *const part = &body->parts[SX_INVITE_PROCS];
    pmix_proc_t *procs = NULL;

    *ret = (struct sx_invite_named){ .registered = 0 };
    memcpy(&ret->head, body->head, sizeof(ret->head));
    struct adding adding = { .server = server, .procs = &ret->procs };
    pmix_status_t rc = sx_part_procs(part, &procs);

    for (size_t i = 0; i < part->count && rc == PMIX_SUCCESS; i++) {
        rc = sx_alias_each_one(server, &procs[i], add, &adding);
    }
    free(procs);
    sx_share_charge(server, client, ret->procs.count / GUESTS_PER_UNIT);
    if (rc == PMIX_SUCCESS) {
        rc = sx_invite_gifts_read(&ret->gifts, body, SX_INVITE_INFOS, SX_OF_GROUP_INVITE);
    }
    return rc == PMIX_SUCCESS ? procs_judge(ret, client) : rc;
}

pmix_status_t sx_invite_named_judge(struct sx_invite_named *named, struct sx_server *server)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (named->registered < named->procs.count && rc == PMIX_SUCCESS) {
        rc = judge_one(server, &named->procs.all[named->registered]);
        named->registered += rc == PMIX_SUCCESS;
    }
    return rc;
}

void sx_invite_named_clear(struct sx_invite_named *named)
{
    sx_proc_list_clear(&named->procs);
    sx_invite_gifts_clear(&named->gifts);
}
