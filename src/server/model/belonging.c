/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* belonging.c - hang links at clients, and take them off. */
#include "server/model/membership.h"

#include <stdlib.h>

#include "server/model/state.h"

bool sx_belongings_new(struct sx_belongings *ret, size_t count)
{
    *ret = (struct sx_belongings){ .all = calloc(count + 1, sizeof(*ret->all)), .count = count };
    return ret->all != NULL;
}

/* Return: NULL when @rank of @entry is not a client here. */
static struct sx_client *client_of(struct sx_server *server,
                                   const struct sx_membership_entry *entry, uint32_t rank)
{
    pmix_proc_t proc;
    const struct sx_nspace *const nspace = sx_membership_member(&entry->published, rank, &proc) ==
                                                   PMIX_SUCCESS
                                               ? sx_nspace_find(server, proc.nspace)
                                               : NULL;

    return nspace != NULL ? sx_client_find(nspace, proc.rank) : NULL;
}

void sx_belongings_hang(struct sx_server *server, struct sx_membership_entry *entry)
{
    for (uint32_t rank = 0; rank < entry->belongings.count; rank++) {
        struct sx_belonging *const belonging = &entry->belongings.all[rank];
        struct sx_client *const client = client_of(server, entry, rank);

        belonging->entry = entry;
        if (client != NULL) {
            sx_list_append(&client->belongings[entry->published.head.kind], &belonging->link);
        }
    }
}

void sx_belongings_leave(struct sx_belongings *belongings, uint32_t rank)
{
    struct sx_list *const link = rank < belongings->count ? &belongings->all[rank].link : NULL;

    if (link != NULL && link->next != NULL) {
        sx_list_remove(link);
    }
}

void sx_belongings_clear(struct sx_belongings *belongings)
{
    for (uint32_t rank = 0; rank < belongings->count; rank++) {
        sx_belongings_leave(belongings, rank);
    }
    free(belongings->all);
    *belongings = (struct sx_belongings){ .all = NULL };
}
