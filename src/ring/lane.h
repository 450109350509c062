/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lane.h - the messages of one client to the server: one producer, one consumer, bytes in order.
 *
 * The client can write this memory, so the server trusts nothing in it.  The server keeps the
 * geometry and the read position in private memory.  It copies each message once and checks the
 * copy.  The producer reads the free room from the server's board, never from the lane.
 *
 *   384        448 + stagger         4608
 *   +----------+---------------------+------------------------------------+
 *   | geometry | tail line, life line| data: SX_LANE_BYTES, power of two  |
 *   +----------+---------------------+------------------------------------+
 *
 * The tail line of lane i lies (i % 64) lines past its base, so that a server that scans hundreds
 * of lanes does not hit one cache set.  The life line follows it.  The geometry repeats constants
 * of both sides.  Neither side trusts it, and the client refuses a lane that disagrees.
 *
 * A message is {u32 len, u32 kind} and len bytes, padded to 8; it may wrap around the end of the
 * data.  tail and head count bytes and never wrap.
 *
 * Recovery after a kill: a producer may be killed at any instant: the lane is valid up to tail.
 * The server takes the messages that are there and drops the lane with the client.  The kernel
 * marks the life word.  If the server dies, its client unmaps the lane. */
#ifndef SX_RING_LANE_H
#define SX_RING_LANE_H

#include <assert.h>
#include <pthread.h>
#include <sys/uio.h>

#include "ring/board.h"
#include "ring/life.h"
#include "shmem/segment.h"

#define SX_LANE_BYTES (64u << 10)
#define SX_LANE_MESSAGE_MAX (16u << 10) /* larger data goes over control */

struct sx_lane_geometry {
    uint32_t data_off, data_bytes;
    uint32_t line_off; /* of struct sx_lane_line */
    uint32_t slot;
    uint8_t reserved[48]; /* zero */
};
static_assert(sizeof(struct sx_lane_geometry) == SX_CACHELINE_BYTES, "fixed by layout 1");

#define SX_LANE_SIGNS 16u /* monitors of files that a client may have */

/* Only the client writes these two lines, except that the kernel writes the life word. */
struct sx_lane_line {
    _Atomic uint64_t tail;         /* end of the last complete message */
    _Atomic uint32_t room_wanted;  /* counts how often the producer found the lane full */
    _Atomic uint32_t wake_wanted;  /* sleeper.h */
    _Atomic uint32_t wake_classes; /* sleeper.h */
    uint8_t reserved0[4];          /* zero */
    _Atomic uint64_t handled;      /* the ring record up to which the handlers have been called */
    _Atomic uint32_t no_wrapper;   /* set with the good-bye: the client is the server's own child */
    _Atomic uint32_t beats;        /* counts heartbeats: their monitor reads it periodically */
    _Atomic uint8_t signs[SX_LANE_SIGNS]; /* the same, of life in files; each of one monitor */
    uint8_t reserved2[8];                 /* zero */
    union {
        pthread_mutex_t life; /* robust, process-shared; made by the server */
        _Atomic uint32_t life_word;
        uint8_t reserved1[64];
    };
};
static_assert(sizeof(struct sx_lane_line) == 2 * SX_CACHELINE_BYTES, "fixed by layout 1");

#define SX_LANE_GEOMETRY_OFF SX_SEGMENT_BODY_OFF
#define SX_LANE_LINE_OFF(slot) \
    (SX_LANE_GEOMETRY_OFF + SX_CACHELINE_BYTES + (slot) % 64u * SX_CACHELINE_BYTES)
#define SX_LANE_DATA_OFF 4608u
static_assert(SX_LANE_LINE_OFF(63u) + sizeof(struct sx_lane_line) == SX_LANE_DATA_OFF,
              "the last stagger ends where the data begins");

/* ---- producer (client) -------------------------------------------------------------------- */

struct sx_lane {
    struct sx_segment seg;
    struct sx_lane_line *line;
    uint8_t *data;
    const struct sx_board *board; /* borrowed */
    uint32_t slot;
    int doorbell_fd;       /* eventfd, owned */
    uint32_t epoch_rung;   /* the sleep epoch the doorbell was rung for last */
    uint32_t room_wanted;  /* what we last stored */
    uint64_t tail_private; /* what we last stored */
    uint64_t head_seen;    /* the server's read position when we last looked */
    pid_t live_pid;        /* the process that holds the life word, 0: none */
};

#define SX_LANE_NULL ((struct sx_lane){ .seg = SX_SEGMENT_NULL, .doorbell_fd = -1 })

/* Map @fd (not consumed); takes over @doorbell_fd (non-blocking) on success.  Return: as
 * sx_segment_attach; PMIX_ERR_BAD_PARAM when lane or board do not fit the slot. */
pmix_status_t sx_lane_attach(struct sx_lane *lane, int fd, const struct sx_board *board,
                             uint32_t slot, int doorbell_fd);
/* Take the life word in the calling thread (robust).  Return: as sx_life_hold. */
pmix_status_t sx_lane_live(struct sx_lane *lane);
/* Give the life word back and unmap.  Call it in the thread that took the word.  In another
 * thread the mapping stays, because the C library still has the word in the list of the first.
 * A forked child may call it: it holds no word.  Safe on SX_LANE_NULL and twice. */
void sx_lane_detach(struct sx_lane *lane);

/* Append one message gathered from @iov.  The caller serialises appenders.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when it is longer than SX_LANE_MESSAGE_MAX;
 * PMIX_ERR_WOULD_BLOCK when there is no room.  In that case ring the doorbell, sleep on the
 * slot's bell with the epoch read before this call, and try again: the server rings that bell as
 * soon as it has emptied the lane. */
pmix_status_t sx_lane_append(struct sx_lane *lane, uint32_t kind, const struct iovec *iov,
                             int iov_count);

/* Ring the server's doorbell if the server sleeps and was not rung for this sleep.  At most one
 * system call.  Orders the append before the load of the epoch (seq_cst). */
void sx_lane_doorbell(struct sx_lane *lane);

/* Store the ring record up to which the event handlers have been called, and wake the server.  The
 * caller serialises these calls, but not with appenders. */
void sx_lane_handled(struct sx_lane *lane, uint64_t seq);

/* Count a heartbeat.  No process is woken. */
void sx_lane_beat(struct sx_lane *lane);
/* A sign of life, the @index-th. */
void sx_lane_sign(struct sx_lane *lane, unsigned index);

/* After an append: whether a process waits for this client's data.  The caller then rings.  Orders
 * as the doorbell does. */
bool sx_lane_data_wanted(struct sx_lane *lane);

/* The number of committed values of this client that the server could not keep so far. */
uint32_t sx_lane_values_lost(const struct sx_lane *lane);

/* ---- consumer (server) -------------------------------------------------------------------- */

struct sx_lane_reader {
    struct sx_segment seg;
    struct sx_lane_line *line;
    _Atomic uint32_t *life_word; /* the client's robust word: a hint, never a proof */
    const uint8_t *data;
    uint64_t head;              /* private truth; the board shows a copy */
    uint32_t room_rung;         /* the value of room_wanted the client's bell was rung for last */
    struct sx_board_slot *slot; /* borrowed */
};

#define SX_LANE_READER_NULL ((struct sx_lane_reader){ .seg = SX_SEGMENT_NULL })

/* Make the lane of the client in @slot_index (claimed on @board, borrowed); @name: NSPACE.RANK.
 * Return: PMIX_SUCCESS, or as sx_segment_create. */
pmix_status_t sx_lane_create(struct sx_lane_reader *lane, const char *name, struct sx_board *board,
                             uint32_t slot_index, const struct sx_placement *placement);
/* Safe on SX_LANE_READER_NULL and twice. */
void sx_lane_destroy(struct sx_lane_reader *lane);

/* The end of the appended messages, by the client's tail; and whether a message may be there.  One
 * load each (seq_cst, so that it pairs with the doorbell). */
uint64_t sx_lane_tail(const struct sx_lane_reader *lane);
bool sx_lane_pending(const struct sx_lane_reader *lane);

/* Copy the next message into @buf (at least SX_LANE_MESSAGE_MAX bytes) and advance.  The board
 * shows the client its new room.  The client's bell is rung only if this message was the last
 * one, and the client has found the lane full since the last such ring.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when empty; PMIX_ERR_BAD_PARAM when the lane's words are impossible (the
 * caller drops the client). */
pmix_status_t sx_lane_take(struct sx_lane_reader *lane, void *buf, uint32_t *ret_kind,
                           uint32_t *ret_len);

#endif
