/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - values that the members here have put go to the other nodes, and theirs are stored
 * here.
 *
 * The news of a client are the values that it has put since all nodes last received its values.
 * They are removed when the host has answered with PMIX_SUCCESS. */
#include "server/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "server/data/data.h"
#include "server/model/blob.h"

/* Remove the news that were sent.  Another operation may have removed some in the meantime. */
static void news_have_arrived(struct sx_collective *collective)
{
    for (size_t i = 0; i < collective->members.count; i++) {
        struct sx_client *client = collective->members.all[i].client;
        const uint64_t sent = collective->members.all[i].news_sent;

        if (sent > client->news_gone) {
            const size_t size = (size_t)(sent - client->news_gone);

            client->news_gone = sent;
            client->news.size -= size;
            memmove(client->news.bytes, client->news.bytes + size, client->news.size);
        }
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
        sx_rounds_are_over(members->server, members->real.all, members->real.count)) {
        return sx_rounds_join(collective, members->real.all, members->real.count, answered);
    }
    collective->part.answered = answered;
    collective->part.is_alone = true;
    const pmix_status_t rc = sx_fence_pack(collective);

    collective->part.is_alone = rc == PMIX_SUCCESS;
    return rc;
}

/* Store the values of the other nodes.  Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS, logged,
 * when a node is missing; PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE, logged. */
static pmix_status_t bytes_take(struct sx_collective *collective, const char *bytes, size_t size)
{
    struct sx_server *const server = collective->members.server;
    char *copy;
    pmix_status_t rc = sx_blob_align(&bytes, size, &copy);

    if (rc == PMIX_SUCCESS && size > 0) {
        rc = sx_blob_read(server, bytes, size, sx_modex_store);
        if (rc == PMIX_ERR_UNPACK_FAILURE) {
            rc = sx_blob_refuse(size, "a fence", collective->members.real.all[0].nspace);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_fence_nodes_judge(collective, bytes, size);
    }
    free(copy);
    return rc;
}

bool sx_fence_host_answered(struct sx_collective *collective, const struct sx_host_answer *answer,
                            pmix_status_t *ret_status)
{
    struct sx_server *const server = collective->members.server;
    const uint64_t lost = server->data.modex_lost;
    pmix_status_t status = answer->status;

    if (collective->part.is_alone && !sx_rounds_fence_was_alone(collective, answer)) {
        return false;
    }
    if (status == PMIX_SUCCESS) {
        status = bytes_take(collective, answer->bytes, answer->size);
    }
    if (status == PMIX_SUCCESS) {
        news_have_arrived(collective);
        status = server->data.modex_lost == lost ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret_status = status;
    return true;
}
