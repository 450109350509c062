/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - values that the members here have put go to the other nodes, and theirs are stored
 * here.
 *
 * The news of a client are the values that it has put since all nodes last received its values.
 * They are removed when the host has answered with PMIX_SUCCESS.
 *
 *     the host answers --all of it fits in this turn--> stored --> released
 *           \--more--> the host's bytes are kept, and stored in later turns ----^
 *
 * Until then the fence counts as one that the host has. */
#include "server/collective/collective.h"

#include "server/data/data.h"
#include "server/model/blob.h"

/* Remove the news that were sent. */
static void news_have_arrived(struct sx_collective *collective)
{
    for (size_t i = 0; i < collective->members.count; i++) {
        struct sx_member *const member = &collective->members.all[i];

        sx_news_arrived(&member->client->news, member->news_sent);
    }
}

bool sx_fence_host_reaches(const struct sx_server *server)
{
    return server->module.fence_nb != NULL;
}

pmix_status_t sx_fence_host_ask(struct sx_collective *collective, sx_answered_fn answered)
{
    struct sx_members *const members = &collective->members;

    if (collective->is_failed || members->incomplete || /* a fence's own bytes have no status */
        sx_rounds_are_over(members->server, &members->real)) {
        return sx_rounds_join(collective, &members->real, answered);
    }
    collective->part.answered = answered;
    collective->part.is_alone = true;
    const pmix_status_t rc = sx_fence_pack(collective);

    collective->part.is_alone = rc == PMIX_SUCCESS;
    return rc;
}

/* The values have been stored with @rc, of which @lost had no room.  Return: PMIX_SUCCESS;
 * PMIX_ERR_PARTIAL_SUCCESS, logged, when a node is missing; PMIX_ERR_OUT_OF_RESOURCE;
 * PMIX_ERR_UNPACK_FAILURE, logged. */
static pmix_status_t values_judge(struct sx_collective *collective,
                                  const struct sx_incoming *incoming, pmix_status_t rc)
{
    if (rc == PMIX_ERR_UNPACK_FAILURE) {
        size_t size = 0;

        for (size_t i = 0; i < incoming->piece_count; i++) {
            size += incoming->pieces[i].size;
        }
        return sx_blob_refuse(size, "a fence", collective->members.real.all[0].nspace);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_fence_nodes_judge(collective, incoming->pieces, incoming->piece_count);
    }
    if (rc == PMIX_SUCCESS) {
        news_have_arrived(collective);
        rc = incoming->far.lost == 0 ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    return rc;
}

/* In a later turn than the answer, which counts as given now. */
static void values_stored(struct sx_incoming *incoming, pmix_status_t rc)
{
    struct sx_collective *const collective = incoming->owner;
    const struct sx_host_answer answer = { .server = incoming->server,
                                           .status = values_judge(collective, incoming, rc),
                                           .is_stored = true };

    collective->incoming = NULL;
    collective->part.answered(&collective->asker, &answer);
}

/* Store the values of the other nodes.  Return: PMIX_ERR_WOULD_BLOCK: in later turns; else as
 * values_judge. */
static pmix_status_t values_take(struct sx_collective *collective,
                                 const struct sx_host_answer *answer)
{
    const struct sx_alias_list *const real = &collective->members.real;
    const struct sx_blob_piece whole = { answer->bytes, answer->size };
    struct sx_incoming incoming = { .server = collective->members.server,
                                    .answer = answer,
                                    .pieces = answer->pieces != NULL ? answer->pieces : &whole,
                                    .piece_count = answer->pieces != NULL ? answer->piece_count : 1,
                                    .procs = real->all,
                                    .proc_count = real->count,
                                    .stored = values_stored,
                                    .owner = collective };
    const pmix_status_t rc = sx_incoming_store(&incoming, &collective->incoming);

    return rc == PMIX_ERR_WOULD_BLOCK ? rc : values_judge(collective, &incoming, rc);
}

bool sx_fence_host_answered(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t *ret_status)
{
    pmix_status_t status = answer->status;

    if (collective->part.is_alone && !sx_rounds_fence_was_alone(collective, answer)) {
        return false;
    }
    if (status == PMIX_SUCCESS && !answer->is_stored) {
        status = values_take(collective, answer);
        if (status == PMIX_ERR_WOULD_BLOCK) {
            return false;
        }
    }
    *ret_status = status;
    return true;
}
