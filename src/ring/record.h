/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - the contents of lane messages and ring records.  Bodies are fixed-width and
 * 8-aligned. */
#ifndef SX_RING_RECORD_H
#define SX_RING_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message/payloads.h"

/* ---- lane messages: client to server ------------------------------------------------------ */

enum sx_lane_kind {
    SX_LANE_PUT = 1,        /* struct sx_lane_put and what follows it: one committed value */
    SX_LANE_COMMIT_END = 2, /* no body: the values of one PMIx_Commit are complete, if the
                             * last has not said so itself (SX_PUT_LAST) */
    SX_LANE_ARRIVE = 3,     /* struct sx_lane_arrive and what follows it: joins a collective */
    SX_LANE_CURSOR = 4,     /* struct sx_lane_cursor: how far this client has read its ring */
    SX_LANE_NOTIFY = 5,     /* struct sx_event and what follows it: an event for others */
    SX_LANE_SPEC_MAX,
};

/* The parts of a lane message, and its highest cost for the server, in work units
 * (control/message.h). */
struct sx_lane_spec {
    const char *name;
    const struct sx_signature *body;
    uint8_t cost;     /* of any message of this kind */
    uint8_t cost_kib; /* and of each full KiB of it */
};

/* Return: the row of @kind, NULL when there is none. */
const struct sx_lane_spec *sx_lane_spec(uint32_t kind);
/* Of one without a row: 1. */
uint64_t sx_lane_cost(uint32_t kind, size_t size);

/* ---- ring records: server to all ---------------------------------------------------------- */

enum sx_record_kind {
    SX_RECORD_DONE = 1,  /* struct sx_record_done and entries: a collective has ended */
    SX_RECORD_EVENT = 2, /* struct sx_event and what follows it */
    SX_RECORD_STORE = 3, /* struct sx_record_store: a store has a new generation */
};

/* The end of one collective, for at most SX_RECORD_DONE_ENTRIES of its local members.  A larger
 * one takes several records. */
struct sx_record_done {
    int32_t status;
    uint32_t count;
    uint64_t subject; /* what it has made, or was about: shmem/membership.h; 0: nothing */
};
struct sx_record_done_entry {
    uint32_t slot; /* the member's board slot; sorted ascending */
    uint32_t op;   /* its own number for the call */
};
#define SX_RECORD_DONE_ENTRIES 500u
static_assert(sizeof(struct sx_record_done) == 16, "fixed by layout 2");

struct sx_record_store {
    uint64_t generation;
};

#endif
