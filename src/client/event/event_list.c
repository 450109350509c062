/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_list.c - read a list, one event at a time. */
#include "client/event/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "control/message.h"
#include "ring/record.h"

void sx_event_list_open(struct sx_event_list_rest *rest, const void *bytes, size_t size)
{
    struct sx_event_list list;

    *rest = (struct sx_event_list_rest){ .at = NULL };
    if (size >= sizeof(list)) {
        memcpy(&list, bytes, sizeof(list));
        *rest = (struct sx_event_list_rest){ .at = (const uint8_t *)bytes + sizeof(list),
                                             .size = size - sizeof(list),
                                             .count = list.count,
                                             .lost = list.lost,
                                             .next = list.next };
    }
}

pmix_status_t sx_event_list_next(struct sx_event_list_rest *rest, struct sx_event_listed *ret)
{
    struct sx_event_kept kept;

    if (rest->at == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (rest->count == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (rest->size < sizeof(kept)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&kept, rest->at, sizeof(kept));
    const size_t left = rest->size - sizeof(kept);

    if (kept.size < sizeof(struct sx_event) || kept.size > left ||
        sx_align_up(kept.size, 8) > left) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const size_t padded = (size_t)sx_align_up(kept.size, 8);

    *ret = (struct sx_event_listed){ .bytes = rest->at + sizeof(kept),
                                     .size = (size_t)kept.size,
                                     .lost = kept.lost };
    memcpy(&ret->number, ret->bytes + offsetof(struct sx_event, number), sizeof(ret->number));
    rest->at = ret->bytes + padded;
    rest->size = left - padded;
    rest->count--;
    return PMIX_SUCCESS;
}

/* ---- requests ------------------------------------------------------------------------------- */

struct asking {
    struct sx_op op;
    uint8_t *bytes; /* a copy of the answer's list */
    size_t size;
};

/* Under lock. */
static void asking_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct asking *const asking = SX_CONTAINER(op, struct asking, op);

    if (op->status != PMIX_SUCCESS) {
        return;
    }
    asking->size = frame->body_size - sizeof(struct sx_reply);
    asking->bytes = malloc(asking->size +
                           1); /* an empty list is invalid, but does not mean that memory is out */
    if (asking->bytes != NULL) {
        memcpy(asking->bytes, (const uint8_t *)frame->body + sizeof(struct sx_reply), asking->size);
    }
}

static const struct sx_op_kind asking_kind = { .answered = asking_answered };

pmix_status_t sx_event_batch_ask(struct sx_link *link, uint64_t first, uint64_t last,
                                 struct sx_event_batch *ret)
{
    struct sx_event_replay request = { .first = first, .last = last };
    const struct iovec iov = { .iov_base = &request, .iov_len = sizeof(request) };
    struct asking asking = { .op = SX_OP_INIT(&asking_kind, link) };
    pmix_status_t rc = sx_request(&asking.op, SX_MSG_EVENT_REPLAY, &iov, 1, SX_DEADLINE_NEVER);

    *ret = (struct sx_event_batch){ .bytes = asking.bytes };
    if (rc == PMIX_SUCCESS && asking.bytes == NULL) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        sx_event_list_open(&ret->rest, asking.bytes, asking.size);
        rc = ret->rest.next > first && ret->rest.next <= last + 1 ? rc : PMIX_ERR_UNPACK_FAILURE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_event_batch_free(ret);
    }
    return rc;
}

void sx_event_batch_free(struct sx_event_batch *batch)
{
    free(batch->bytes);
    *batch = (struct sx_event_batch){ .bytes = NULL };
}
