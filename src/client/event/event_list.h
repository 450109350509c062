/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_list.h - the kept events in an answer of the server, and requests for events that the ring
 * does not have (any more). */
#ifndef SX_CLIENT_EVENT_EVENT_LIST_H
#define SX_CLIENT_EVENT_EVENT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_link;

/* The rest of a struct sx_event_list. */
struct sx_event_list_rest {
    const uint8_t *at; /* the next event; NULL: this is not a list */
    size_t size;
    uint32_t count;
    uint64_t lost; /* events lost behind the last one */
    uint64_t next; /* the number from which on the list has no events */
};

/* One event of the list: struct sx_event and its variable part. */
struct sx_event_listed {
    const uint8_t *bytes;
    size_t size;
    uint64_t number;
    uint64_t lost; /* events lost between the one before and this one */
};

/* @bytes are borrowed, and checked before use. */
void sx_event_list_open(struct sx_event_list_rest *rest, const void *bytes, size_t size);
/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND behind the last one; PMIX_ERR_UNPACK_FAILURE when the
 * list contradicts itself. */
pmix_status_t sx_event_list_next(struct sx_event_list_rest *rest, struct sx_event_listed *ret);

/* An answer of our own to EVENT_REPLAY. */
struct sx_event_batch {
    uint8_t *bytes;
    struct sx_event_list_rest rest;
};

/* Ask the server of @link for the events @first to @last.  The answer has as many as the server
 * gives at once.  rest.next, which is behind @first, is the next number to ask for.  Return:
 * PMIX_SUCCESS, and @ret is to be freed; PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE; as
 * sx_request. */
pmix_status_t sx_event_batch_ask(struct sx_link *link, uint64_t first, uint64_t last,
                                 struct sx_event_batch *ret);
/* Safe on an empty batch, and twice. */
void sx_event_batch_free(struct sx_event_batch *batch);

#endif
