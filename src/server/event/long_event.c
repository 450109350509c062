/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* long_event.c - a client's event that does not fit in its lane.
 *
 *     the frame --> its BLOCK --it is small, and groups in it mean few processes--> published
 *                     |--of many--> NAMED, in the client's next turns --\
 *                     \--it is large------------------------------------+--> published in the next
 *
 * Until then nothing else of the client is taken, so its events keep their order. */
#include <stdlib.h>

#include "server/event/event_route.h"

#define PROCS_PER_UNIT 4u /* to copy, or to sort them: share.h */
#define AT_ONCE_BYTES ((size_t)1 << 20)

struct long_event {
    struct sx_pending pending;
    struct sx_share_work work;
    struct sx_event_naming naming; /* has the block */
    bool is_named;
    uint64_t number; /* for the answer */
};

static void event_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct long_event, pending)->work);
}

static void event_free(struct sx_pending *pending)
{
    struct long_event *const event = SX_CONTAINER(pending, struct long_event, pending);

    sx_event_naming_clear(&event->naming);
    sx_event_block_release(event->naming.block);
    free(event);
}

static void event_send(struct sx_pending *pending)
{
    const struct long_event *const event = SX_CONTAINER(pending, struct long_event, pending);

    sx_reply_body(pending->server, pending->client, pending->id, pending->status, &event->number,
                  sizeof(event->number));
}

static size_t procs_of(const struct sx_event_block *block)
{
    return sx_event_block_list(block, SX_EVENT_TARGETS).count +
           sx_event_block_list(block, SX_EVENT_AFFECTED).count;
}

static void event_step(struct sx_share_work *work)
{
    struct long_event *const event = SX_CONTAINER(work, struct long_event, work);
    struct sx_pending *const pending = &event->pending;
    struct sx_event_naming *const naming = &event->naming;
    pmix_status_t rc;

    sx_share_charge(pending->server, pending->client, procs_of(naming->block) / PROCS_PER_UNIT);
    if (event->is_named) {
        rc = sx_event_client_publish(pending->server, pending->client, naming->block,
                                     &event->number);
        sx_pending_answer(pending, rc);
        return;
    }
    rc = sx_event_naming_step(pending->server, pending->client, naming);
    event->is_named = rc == PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_WOULD_BLOCK) {
        sx_pending_answer(pending, rc);
    }
}

/* Take the block over.  Return: PMIX_ERR_WOULD_BLOCK: it is published later; as sx_pending_begin,
 * and the block is the caller's. */
static pmix_status_t event_begin(struct sx_server *server, struct sx_client *client,
                                 const struct sx_frame *frame, struct sx_event_block *block,
                                 bool is_named)
{
    static const struct sx_pending_kind kind = {
        .quota = SX_PENDING_HOST, .closed = event_closed, .send = event_send, .free = event_free
    };
    struct long_event *const event = calloc(1, sizeof(*event));
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    if (event != NULL) {
        event->pending.bytes = frame->opened.size;
        rc = sx_pending_begin(server, client, frame->header.id, &kind, &event->pending);
    }
    if (rc != PMIX_SUCCESS) {
        free(event);
        return rc;
    }
    event->naming.block = block;
    event->is_named = is_named;
    event->work.step = event_step;
    sx_share_work_add(client, &event->work);
    sx_reply_read(server, client, frame);
    return PMIX_ERR_WOULD_BLOCK;
}

bool sx_event_on_bulk(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    struct sx_event_block *block = NULL;
    uint64_t number = 0;
    pmix_status_t rc = sx_event_client_judge(client, &frame->opened, &block);

    (void)now_ns;
    if (rc == PMIX_ERR_UNPACK_FAILURE) {
        return false;
    }
    const size_t meant = rc == PMIX_SUCCESS ? sx_event_alias_count(server, client, block) : 0;
    const bool is_of_many = meant > 0 && meant + procs_of(block) > SX_FRAME_PROCS_AT_ONCE_MAX;

    if (rc == PMIX_SUCCESS && (is_of_many || frame->opened.size > AT_ONCE_BYTES)) {
        rc = event_begin(server, client, frame, block, meant == 0);
        if (rc == PMIX_ERR_WOULD_BLOCK) {
            return true;
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_unalias(server, client, &block);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_client_publish(server, client, block, &number);
    }
    sx_event_block_release(block);
    sx_reply_body(server, client, frame->header.id, rc, &number, sizeof(number));
    return true;
}
