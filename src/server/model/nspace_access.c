/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_access.c - access for a namespace's own processes, its user's, and those that have joined
 * them. */
#include "server/model/nspace.h"

#include <string.h>

#include "server/model/share.h"
#include "server/model/state.h"

#define CLIENTS_PER_UNIT 128u /* whose user is compared: share.h */

bool sx_nspace_is_of(const struct sx_nspace *nspace, uid_t uid)
{
    for (size_t i = 0; i < nspace->client_count; i++) {
        if (nspace->by_rank[i]->uid != uid) {
            return false;
        }
    }
    return nspace->client_count > 0 || (nspace->registered && nspace->uid == uid);
}

/* The host is responsible for the processes that it puts into one job.  Tools of one name have no
 * such guarantor. */
static bool is_its_job(const struct sx_nspace *nspace, const struct sx_client *client)
{
    return nspace == client->home || (nspace == client->nspace && !client->is_tool);
}

/* Whether @client has access without a common list. */
static bool is_own(const struct sx_nspace *nspace, const struct sx_client *client)
{
    return is_its_job(nspace, client) || sx_nspace_is_of(nspace, client->uid);
}

bool sx_nspace_visible(struct sx_server *server, const struct sx_nspace *nspace,
                       struct sx_client *client)
{
    return is_own(nspace, client) || sx_memberships_join(server, client, nspace->name);
}

bool sx_nspace_visible_marked(const struct sx_nspace *nspace, const struct sx_client *client,
                              uint64_t mark)
{
    return is_own(nspace, client) || nspace->joined_mark == mark;
}

bool sx_nspace_reachable(struct sx_server *server, const struct sx_nspace *nspace,
                         struct sx_client *client)
{
    if (client->uid == 0 || is_its_job(nspace, client)) {
        return true;
    }
    sx_share_charge(server, client, nspace->client_count / CLIENTS_PER_UNIT);
    return sx_nspace_visible(server, nspace, client);
}

bool sx_procs_are_foreign(struct sx_server *server, struct sx_client *client,
                          const struct sx_alias_list *procs)
{
    struct sx_alias_walk walk = { .list = procs };
    uint64_t looks = 0;
    const struct sx_nspace *nspace = NULL;
    bool are_foreign = false;

    while (client->uid != 0 && !are_foreign && sx_alias_next(&walk)) {
        if (walk.is_new) {
            nspace = sx_nspace_find(server, walk.nspace);
        }
        const struct sx_client *const target = nspace == NULL ? NULL
                                                              : sx_client_find(nspace, walk.rank);

        if (target != NULL) {
            are_foreign = target->uid != client->uid;
        } else if (nspace != NULL) {
            looks += nspace->client_count;
            are_foreign = !sx_nspace_is_of(nspace, client->uid);
        }
    }
    sx_share_charge(server, client, looks / CLIENTS_PER_UNIT);
    return are_foreign;
}
