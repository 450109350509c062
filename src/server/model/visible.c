/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* visible.c - its own processes may, those of its user, and who has joined them. */
#include "server/model/visible.h"

#include "server/model/state.h"

/* Whether what is here of @nspace is all of user @uid. */
static bool is_of_user(const struct sx_nspace *nspace, uid_t uid)
{
    for (size_t i = 0; i < nspace->client_count; i++) {
        if (nspace->by_rank[i]->uid != uid) {
            return false;
        }
    }
    return nspace->client_count > 0 || (nspace->registered && nspace->uid == uid);
}

bool sx_nspace_visible(struct sx_server *server, const struct sx_nspace *nspace,
                       struct sx_client *client)
{
    return nspace == client->nspace || nspace == client->home || is_of_user(nspace, client->uid) ||
           sx_memberships_join(server, client, nspace->name);
}
