/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - what is in lane messages and ring records.  Bodies are fixed-width and 8-aligned. */
#ifndef SX_RING_RECORD_H
#define SX_RING_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/flat.h"
#include "base/options.h"

/* ---- lane messages: client to server ------------------------------------------------------ */

enum sx_lane_kind {
    SX_LANE_PUT = 1,        /* struct sx_lane_put, key, body: one committed value */
    SX_LANE_COMMIT_END = 2, /* no body: the values of one PMIx_Commit are complete */
    SX_LANE_ARRIVE = 3,     /* struct sx_lane_arrive, procs, infos: joins a collective */
    SX_LANE_CURSOR = 4,     /* struct sx_lane_cursor: how far this client has read its ring */
    SX_LANE_NOTIFY = 5,     /* struct sx_event and what follows it: an event for others */
};

/* Followed by the key (key_len bytes, no NUL, padded to 8) and the body (cell.len, padded to 8). */
struct sx_lane_put {
    struct sx_cell cell; /* bits of a cell with a body are ignored */
    uint16_t key_len;
    uint8_t scope; /* pmix_scope_t */
    uint8_t reserved[5];
};
static_assert(sizeof(struct sx_lane_put) == 24, "fixed by layout 1");

enum sx_collective_kind {
    SX_COLLECTIVE_FENCE = 1,
    SX_COLLECTIVE_CONNECT = 2,
    SX_COLLECTIVE_DISCONNECT = 3,
    SX_COLLECTIVE_GROUP_CONSTRUCT = 4,
    SX_COLLECTIVE_GROUP_DESTRUCT = 5,
};

/* Followed by proc_count times {u32 rank, u32 nspace_len, nspace bytes padded to 8}, sorted by
 * namespace (as strcmp does) and rank, none twice; then, when info_size != 0, the flat infos
 * (sx_flat_infos_encode). */
struct sx_lane_arrive {
    uint16_t kind; /* enum sx_collective_kind */
    uint16_t open; /* collectives of the client that are under way for it, with this one */
    uint32_t op;   /* the client's number for this call: comes back in the completion */
    uint32_t proc_count;
    uint32_t info_size;
};
static_assert(sizeof(struct sx_lane_arrive) == 16, "fixed by layout 1");

struct sx_lane_cursor {
    uint64_t seq;
};

/* ---- processes: in ARRIVE and in events ---------------------------------------------------- */

/* {u32 rank, u32 name_len, the namespace's name padded to 8}, borrowed. */
struct sx_proc_ref {
    uint32_t rank, name_len; /* 1 to PMIX_MAX_NSLEN */
    const char *name;        /* without NUL */
};

/* Read the process at the start of the @left bytes at @at, trusting none of them.  Return: how
 * many bytes it takes; 0 when they hold no process. */
size_t sx_proc_ref_read(const void *at, size_t left, struct sx_proc_ref *ret);

/* ---- events: in a lane, in a ring and in a replay alike ------------------------------------ */

/* Followed by the source's namespace (source_len bytes, no NUL, padded to 8); then target_count
 * and then affected_count processes {u32 rank, u32 nspace_len, nspace padded to 8}; then, when
 * info_size is not 0, the flat infos (sx_flat_infos_encode).  In a lane, the server ignores the
 * number, the source and its own flags. */
struct sx_event {
    uint64_t number; /* of the namespace's events, from 1, in the order of delivery */
    int32_t code;
    uint32_t source_rank; /* the resource manager: PMIX_RANK_UNDEF and no namespace */
    uint8_t range;        /* pmix_data_range_t */
    uint8_t flags;        /* SX_EVENT_* */
    uint16_t source_len;
    uint32_t target_count;   /* range CUSTOM: whom it is for */
    uint32_t affected_count; /* PMIX_EVENT_AFFECTED_PROC[S] */
    uint32_t info_size;
};
static_assert(sizeof(struct sx_event) == 32, "fixed by layout 1");
#define SX_EVENT_NON_DEFAULT 0x01u  /* not for default handlers */
#define SX_EVENT_DO_NOT_CACHE 0x02u /* not kept for those who register later */
#define SX_EVENT_ENVIRONMENT 0x04u  /* server: the resource manager's own, for no job */
/* Server, in a ring: too large for a record.  What follows the struct is missing; ask for it by
 * its number (EVENT_REPLAY). */
#define SX_EVENT_ASK 0x08u
#define SX_EVENT_STAYS_LOCAL 0x10u /* not for other nodes, whatever range it has */

/* The flags that a sender asks for. */
static inline uint8_t sx_event_flags(const struct sx_notify_options *options)
{
    return (uint8_t)((options->non_default ? SX_EVENT_NON_DEFAULT : 0) |
                     (options->do_not_cache ? SX_EVENT_DO_NOT_CACHE : 0) |
                     (options->stays_local ? SX_EVENT_STAYS_LOCAL : 0));
}

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
};
struct sx_record_done_entry {
    uint32_t slot; /* the member's board slot; sorted ascending */
    uint32_t op;   /* its own number for the call */
};
#define SX_RECORD_DONE_ENTRIES 500u

struct sx_record_store {
    uint64_t generation;
};

#endif
