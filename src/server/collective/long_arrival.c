/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* long_arrival.c - an arrival, in several turns if it names many processes.
 *
 *     a long frame --the client's next turn--> READ --the one after--> its operation joined
 *     names that mean many ---------------------^\--if its kind has to: PREPARED, in steps--^
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
    size_t count;               /* of the processes */
    pmix_status_t status;       /* of its reading and preparing */
    bool is_read;
    bool is_frame; /* its client waits for an answer */
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
    const bool is_frame = all->is_frame;
    const pmix_status_t status = all->status;
    struct sx_arrival arrival = all->arrival;

    all->arrival = (struct sx_arrival){ .client = NULL };
    sx_pending_drop(&all->pending);
    if (is_frame) {
        sx_reply(server, client, id, sx_arrival_take(server, &arrival, status), -1);
    } else if (status == PMIX_SUCCESS) {
        (void)sx_arrival_take(server, &arrival, status);
    } else { /* a namespace that has come since has made its list wrong */
        sx_members_refuse(client, arrival.op, status);
        sx_arrival_clear(&arrival);
    }
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

    sx_share_charge(pending->server, pending->client, all->count / SX_ARRIVE_PROCS_PER_UNIT);
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

static const struct sx_pending_kind long_kind = { .quota = SX_PENDING_ARRIVAL,
                                                  .closed = long_closed,
                                                  .free = long_free };

/* Return: NULL when memory is out, or @client has too much open: then it is taken at once, or
 * refused. */
static struct long_arrival *long_begin(struct sx_server *server, struct sx_client *client,
                                       uint32_t id, size_t count, size_t bytes)
{
    struct long_arrival *const all = calloc(1, sizeof(*all));

    if (all == NULL) {
        return NULL;
    }
    all->pending.bytes = bytes;
    if (sx_pending_begin(server, client, id, &long_kind, &all->pending) != PMIX_SUCCESS) {
        free(all);
        return NULL;
    }
    all->count = count;
    all->work.step = long_step;
    sx_share_work_add(client, &all->work);
    return all;
}

bool sx_collective_arrive_long(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame)
{
    const size_t count = frame->opened.parts[SX_ARRIVE_PROCS].count;
    struct long_arrival *const all = frame->bulk_pages.at != NULL && count > SX_ARRIVE_AT_ONCE_MAX
                                         ? long_begin(server, client, frame->header.id, count,
                                                      frame->opened.size)
                                         : NULL;

    if (all == NULL) {
        return false;
    }
    all->is_frame = true;
    all->body = frame->opened;
    all->pages = frame->bulk_pages;
    frame->bulk_pages = (struct sx_pages){ .at = NULL };
    return true;
}

/* Go on with @arrival in the client's next turns: one at most is in work.  Return: false when it
 * has to be taken now. */
static bool lane_goes_on(struct sx_server *server, struct sx_client *client,
                         struct sx_arrival *arrival)
{
    const size_t bytes = arrival->bytes + arrival->listed.count * sizeof(*arrival->listed.all);
    struct long_arrival *const all = long_begin(server, client, SX_PENDING_OF_LANE,
                                                arrival->listed.count, bytes);

    if (all == NULL) {
        return false;
    }
    all->arrival = *arrival;
    all->arrival.may_wait = false;
    all->kind = sx_kind_of(server, arrival->kind);
    all->is_read = true;
    return true;
}

pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body)
{
    struct sx_arrival arrival;
    pmix_status_t rc = sx_arrival_read(&arrival, body);

    arrival.client = client;
    arrival.may_wait = true;
    rc = sx_arrival_take(server, &arrival, rc);
    if (rc == PMIX_ERR_WOULD_BLOCK && !lane_goes_on(server, client, &arrival)) {
        arrival.may_wait = false;
        rc = sx_arrival_take(server, &arrival, PMIX_SUCCESS);
    }
    return rc == PMIX_ERR_WOULD_BLOCK ? PMIX_SUCCESS : rc;
}
