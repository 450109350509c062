/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring.h - the history of one namespace: one writer, any number of readers, overrun detected.
 *
 * Records of variable length lie one after the other in a power of two of bytes.  Positions are
 * 64-bit byte counts that never wrap.  Each record is numbered.  A record that would pass the
 * physical end starts at the beginning.  A filler word marks the skip, and positions count the
 * skipped bytes.
 *
 *     oldest               last          tail
 *   ----|---- readable ------|------------|-- being written --> (up to oldest + data_bytes)
 *
 * Before the writer overwrites anything, it moves `oldest` past it, in steps of one maximal record.
 * So up to one such step of the history counts as lost early.  A reader bounds a length before it
 * copies, and loads `oldest` afterwards.  A record that starts there or later was intact.  Counters
 * per class show a lapped reader whether it lost a record that it wants.  The doors are futex words
 * that readers sleep on: one per class, and `any` for sleepers without futex_waitv.
 *
 * Recovery after a kill: readers hold nothing in it.  If the writer dies in the middle of a record,
 * the ring is valid up to tail, and nothing refers to the half record. */
#ifndef SX_RING_RING_H
#define SX_RING_RING_H

#include <sys/uio.h>

#include "ring/bell.h"
#include "shmem/segment.h"

#define SX_RING_BYTES (1u << 20)
#define SX_RING_RECORD_MAX 4096u /* header included */
#define SX_RING_CLASS_MAX 32u
#define SX_RING_FILLER UINT16_MAX /* the kind of the word before a skipped physical end */

/* Classes: 0 completions of collectives; 1-15 event codes by hash; 16-31 target ranks modulo 16. */
#define SX_CLASS_COLLECTIVE 0u
#define SX_CLASSES_OF_EVENTS 0xfffffffeu /* as bits: both kinds */
#define SX_CLASSES_OF_CODES 0xfffeu
#define SX_CLASSES_OF_RANKS 0xffff0000u
#define SX_CLASS_OF_CODE(code) (1u + (uint32_t)(code) % 15u)
#define SX_CLASS_OF_RANK(rank) (16u + (uint32_t)(rank) % 16u)

struct sx_record_header {
    uint32_t size_bytes; /* header and body, without padding; the next record is 8-aligned */
    uint16_t kind;       /* ring/record.h */
    uint16_t class_index;
    uint64_t seq;      /* numbers from 1, without holes */
    uint64_t position; /* its own byte position: a garbled header cannot fake it */
};
static_assert(sizeof(struct sx_record_header) == 24, "fixed by layout 1");

struct sx_ring_header {
    /* line 0: constant */
    uint64_t data_off, data_bytes; /* data_bytes: power of two */
    uint8_t reserved0[48];
    /* line 1: the tail */
    _Atomic uint64_t tail;     /* end of the last published record */
    _Atomic uint64_t seq_last; /* its number */
    _Atomic uint64_t oldest;   /* start of the oldest record that is not about to be overwritten */
    _Atomic uint64_t last;     /* start of the last published record, once there is one */
    /* A client that has read past the record of this number sends SX_LANE_CURSOR, once. */
    _Atomic uint64_t cursor_wanted;
    /* A client with handlers reports, once, that they were called for all records up to this
     * (lane.h). */
    _Atomic uint64_t handled_wanted;
    uint8_t reserved1[16];
    /* lines 2-5: records ever published per class */
    _Atomic uint64_t class_count[SX_RING_CLASS_MAX];
    /* lines 6-13: doors */
    struct sx_door doors[SX_RING_CLASS_MAX];
    /* line 14 */
    struct sx_door any;
    /* For reports, as of the last wake: */
    _Atomic uint64_t events_kept; /* of this namespace, for late handlers */
    _Atomic uint64_t events_held; /* of these, until all local ranks have had them */
    uint8_t reserved2[32];
};
static_assert(sizeof(struct sx_ring_header) == 960, "fixed by layout 1");
static_assert(offsetof(struct sx_ring_header, class_count) == 128, "fixed by layout 1");
static_assert(offsetof(struct sx_ring_header, doors) == 384, "fixed by layout 1");

struct sx_ring {
    struct sx_segment seg;
    struct sx_ring_header *header;
    uint8_t *data;
    uint64_t mask;
};

#define SX_RING_NULL ((struct sx_ring){ .seg = SX_SEGMENT_NULL })

/* ---- the writer (one thread) -------------------------------------------------------------- */

/* @data_bytes 0: SX_RING_BYTES; else a power of two, at least SX_RING_BYTES_MIN.  All of its
 * memory is taken here.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; as sx_segment_create. */
#define SX_RING_BYTES_MIN (4u * SX_RING_RECORD_MAX)
pmix_status_t sx_ring_create(struct sx_ring *ring, const char *nspace, uint64_t data_bytes,
                             const struct sx_placement *placement);

/* Publish one record gathered from @iov.  No process is woken.  Return: PMIX_SUCCESS (its number in
 * *ret_seq when not NULL); PMIX_ERR_BAD_PARAM when larger than SX_RING_RECORD_MAX, of no class or
 * of the filler's kind. */
pmix_status_t sx_ring_publish(struct sx_ring *ring, uint16_t kind, uint16_t class_index,
                              const struct iovec *iov, int iov_count, uint64_t *ret_seq);

/* Wake the sleepers of the classes in @class_bits, once for a whole batch of records: one system
 * call per class.  @bitset_sleepers: some reader lacks futex_waitv, so ring `any` too.  It is rung
 * with the mask @class_bits and wakes all at once, since its sleepers wait for different classes.
 * A reader that loads a door's epoch before it calls sx_ring_next does not sleep through a
 * batch. */
void sx_ring_wake(struct sx_ring *ring, uint32_t class_bits, uint32_t sleepers_hint,
                  bool bitset_sleepers);

/* ---- readers ------------------------------------------------------------------------------ */

struct sx_ring_cursor {
    const struct sx_ring *ring; /* borrowed */
    uint64_t position;
    uint64_t seq_next; /* the number expected there */
};

/* Map a received @fd (not consumed), trusting no number in it.  Return: as sx_segment_attach. */
pmix_status_t sx_ring_attach(struct sx_ring *ring, int fd);
/* Writer and readers; safe on SX_RING_NULL and twice. */
void sx_ring_deinit(struct sx_ring *ring);

/* Move past the last record, to the next one that is published. */
void sx_ring_seek_now(struct sx_ring_cursor *cursor, const struct sx_ring *ring);
/* Move to the oldest record that can still be read with certainty. */
void sx_ring_seek_oldest(struct sx_ring_cursor *cursor, const struct sx_ring *ring);

/* Copy the next record whose class is in @class_bits into @buf (SX_RING_RECORD_MAX bytes; header
 * and body).  Records of other classes are skipped and not copied.  Reads no further than the tail
 * at the time of the call.  A cursor belongs to one thread at a time.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is none yet; PMIX_ERR_UNPACK_FAILURE when the ring contradicts
 * itself; SX_RING_LOST when the writer has lapped this reader.  In that case the cursor stands at
 * the oldest safe record, and *ret_lost counts the records skipped (of all classes). */
#define SX_RING_LOST PMIX_ERR_OUT_OF_RESOURCE
pmix_status_t sx_ring_next(struct sx_ring_cursor *cursor, uint32_t class_bits, void *buf,
                           uint64_t *ret_lost);

#endif
