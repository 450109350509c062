/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* long_arrival.c - an arrival that names many processes.
 *
 *     the frame --the client's next turn--> READ --the one after--> its operation joined
 *                                            \--if its kind has to: PREPARED, in steps--^
 *
 * Until then nothing else of the client is taken, so a long arrival keeps its place among the
 * client's calls. */
#include <stdlib.h>

#include "server/collective/collective.h"
#include "server/port/port.h"

struct long_arrival {
    struct sx_pending pending;
    struct sx_share_work work;
    struct sx_pages pages; /* with the body */
    struct sx_opened body;
    struct sx_arrival arrival;
    const struct sx_kind *kind; /* once it has been read; NULL: unknown */
    pmix_status_t status;       /* of its reading and preparing */
    bool is_read;
};

static void long_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct long_arrival, pending)->work);
}

static void long_free(struct sx_pending *pending)
{
    struct long_arrival *const all = SX_CONTAINER(pending, struct long_arrival, pending);

    sx_arrival_clear(&all->arrival);
    sx_pages_free(&all->pages);
    free(all);
}

/* The arrival counts as an open operation of its client from now on, not as a request. */
static void long_join(struct long_arrival *all)
{
    struct sx_server *const server = all->pending.server;
    struct sx_client *const client = sx_client_retain(all->pending.client);
    const uint32_t id = all->pending.id;
    const pmix_status_t status = all->status;
    struct sx_arrival arrival = all->arrival;

    all->arrival = (struct sx_arrival){ .client = NULL };
    sx_pending_drop(&all->pending);
    sx_reply(server, client, id, sx_arrival_take(server, &arrival, status), -1);
    sx_client_release(client);
}

static void long_read(struct long_arrival *all)
{
    all->status = sx_arrival_read(&all->arrival, &all->body);
    all->arrival.client = all->pending.client;
    sx_pages_free(&all->pages);
    all->kind = sx_kind_of(all->pending.server, all->arrival.kind);
    all->is_read = true;
}

static void long_step(struct sx_share_work *work)
{
    struct long_arrival *const all = SX_CONTAINER(work, struct long_arrival, work);
    struct sx_pending *const pending = &all->pending;

    sx_share_charge(pending->server, pending->client,
                    all->body.parts[SX_ARRIVE_PROCS].count / SX_ARRIVE_PROCS_PER_UNIT);
    if (!all->is_read) {
        long_read(all);
        return;
    }
    if (all->status == PMIX_SUCCESS && all->kind != NULL && all->kind->prepare != NULL) {
        const pmix_status_t rc = all->kind->prepare(pending->server, &all->arrival);

        if (rc == PMIX_ERR_WOULD_BLOCK) {
            return;
        }
        all->status = rc;
    }
    long_join(all);
}

bool sx_collective_arrive_long(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_ARRIVAL,
                                                 .closed = long_closed,
                                                 .free = long_free };
    struct long_arrival *all;

    if (frame->bulk_pages.at == NULL ||
        frame->opened.parts[SX_ARRIVE_PROCS].count <= SX_ARRIVE_AT_ONCE_MAX) {
        return false;
    }
    all = calloc(1, sizeof(*all));
    if (all == NULL) {
        return false;
    }
    all->pending.bytes = frame->opened.size;
    if (sx_pending_begin(server, client, frame->header.id, &kind, &all->pending) != PMIX_SUCCESS) {
        free(all);
        return false; /* it is refused when it is taken */
    }
    all->work.step = long_step;
    all->body = frame->opened;
    all->pages = frame->bulk_pages;
    frame->bulk_pages = (struct sx_pages){ .at = NULL };
    sx_share_work_add(client, &all->work);
    return true;
}
