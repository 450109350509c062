/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board.h - facts about the server for all its clients, in memory that they only read.
 *
 * The life word is a robust mutex that the server's loop thread holds for ever.  The kernel wakes
 * sleepers on it when the server dies.  The sleep epoch is odd while the server sleeps.  A client
 * that has appended to its lane rings the doorbell once per odd value.  Each client has one slot:
 * its bell, the server's read position in its lane, and whether a process waits for its data.  Only
 * the server can write here.
 *
 * Recovery after a kill: the server gives a slot, and takes it back when its client is gone.  The
 * kernel frees the life word and marks the death.  The memory is freed with the last mapping. */
#ifndef SX_RING_BOARD_H
#define SX_RING_BOARD_H

#include <assert.h>
#include <pthread.h>

#include "ring/bell.h"
#include "ring/life.h"
#include "shmem/segment.h"

#define SX_BOARD_SLOT_MAX 16384

enum sx_board_slot_state {
    SX_SLOT_FREE = 0,
    SX_SLOT_LIVE = 1,
    SX_SLOT_DROPPED = 2, /* the server has closed this client's connection */
};

#define SX_SLOT_DATA_WANTED 1u
#define SX_SLOT_VALUES_SHIFT 1u

struct sx_board_slot {
    struct sx_door bell;    /* a frame or an answer for this client */
    _Atomic uint32_t state; /* enum sx_board_slot_state */
    /* SX_SLOT_DATA_WANTED: ring the doorbell after a commit, because a process waits.  The other
     * bits count the committed values of this client that the server could not keep. */
    _Atomic uint32_t data_wanted;
    _Atomic uint64_t lane_head; /* bytes of the lane the server has taken */
    _Atomic uint32_t wake_rung; /* sleeper.h */
    _Atomic uint32_t claims;    /* how often it was given to a client */
    /* Events that this client has published since then, and that did not reach all their
     * receivers. */
    _Atomic uint64_t events_lost;
    /* The client's identity, for reports. */
    _Atomic uint32_t pid; /* in the server's pid namespace; 0: unknown, or of another container */
    _Atomic uint32_t uid, rank;
    /* How it has introduced itself (control/message.h): its role in the low byte, and above it the
     * release of the library for whose process a gateway stands. */
    _Atomic uint32_t role;
};
static_assert(sizeof(struct sx_board_slot) == SX_CACHELINE_BYTES, "fixed by layout 1");

struct sx_board_header {
    /* line 0: life */
    uint32_t life_off;     /* of the life word, from the segment base; a hole of one page follows */
    uint8_t reserved0[12]; /* zero */
    /* Rung when a connected namespace, a group or a process set was added, changed or removed. */
    struct sx_door lists;
    uint8_t reserved1[32]; /* zero */
    /* line 1: sleep */
    _Atomic uint32_t sleep_epoch; /* odd: the server sleeps or is about to */
    uint32_t slot_count;
    uint64_t slots_off; /* from the segment base */
    uint32_t server_pid;
    /* != 0: jobs have processes on other nodes, which no event of this node reaches: publishers ask
     * the server. */
    _Atomic uint32_t events_confined;
    uint64_t server_start_ticks;
    /* For reports: about the events that are kept for late handlers. */
    _Atomic uint64_t history_bytes;
    _Atomic uint64_t history_crowded_out; /* events removed for want of bytes */
    /* For reports: the most work (server/model/share.h) of one turn of the loop, and of one
     * client in one turn. */
    _Atomic uint64_t turn_units_max;
    _Atomic uint64_t share_units_max;
};
static_assert(sizeof(struct sx_board_header) == 128, "fixed by layout 1");

struct sx_board {
    struct sx_segment seg;
    struct sx_board_header *header;
    const _Atomic uint32_t *life_word; /* owner's tid, FUTEX_WAITERS, OWNER_DIED */
    struct sx_board_slot *slots;
    uint32_t slot_count;   /* copied out once and checked */
    pthread_mutex_t *life; /* server: robust, process-shared; the life word is its first */
    uint32_t slot_next;    /* server: first slot never used */
    uint32_t *slot_free;   /* server: stack of returned slots */
    uint32_t free_count;
    pid_t live_pid; /* server: the process that holds the life word, 0: none */
};

#define SX_BOARD_NULL ((struct sx_board){ .seg = SX_SEGMENT_NULL })

/* Server; @name is its own.  Return: PMIX_SUCCESS, or as sx_segment_create. */
pmix_status_t sx_board_create(struct sx_board *board, const char *name,
                              const struct sx_placement *placement);
/* Hold the life word.  Call it once, before any process gets the board, in the thread that lives as
 * long as the server.  Return: as sx_life_hold. */
pmix_status_t sx_board_live(struct sx_board *board);
/* Release the word and wake all sleepers.  The same thread calls it before an orderly end.  Does
 * nothing in a forked child, which is not the holder. */
void sx_board_end(struct sx_board *board);
/* Only the loop thread calls this and all other functions that write.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE when all SX_BOARD_SLOT_MAX slots are taken or memory is short. */
pmix_status_t sx_board_slot_claim(struct sx_board *board, uint32_t *ret_index);
/* The identity of a client. */
struct sx_board_client {
    uint32_t pid, uid, rank, role;
    uint32_t library; /* below 1 << 24 */
};
void sx_board_slot_notify(struct sx_board *board, uint32_t index,
                          const struct sx_board_client *client);
/* The client is gone; its slot may be reused. */
void sx_board_slot_abandon(struct sx_board *board, uint32_t index);
/* A process waits (or no longer waits) for this client's data: the client rings after its next
 * commit.  After setting the flag, check the client's lane once more (sx_lane_pending or
 * sx_lane_take), because the client may have appended before it could see the flag. */
void sx_board_slot_want_data(struct sx_board *board, uint32_t index, bool wanted);
/* One more committed value of the client could not be kept.  The count stays at its largest. */
void sx_board_slot_lose_value(struct sx_board *board, uint32_t index);
/* Before sleeping: epoch odd, seq_cst; the caller then checks all lanes once more
 * (sx_lane_pending). */
void sx_board_sleep(struct sx_board *board);
/* After waking: epoch even. */
void sx_board_wake(struct sx_board *board);

/* Note how much was done in a turn, and for one client in it. */
void sx_board_work(struct sx_board *board, uint64_t turn_units, uint64_t share_units);

/* Client: map a received @fd (not consumed).  Return: as sx_segment_attach. */
pmix_status_t sx_board_attach(struct sx_board *board, int fd);
/* True while the slot still belongs to the client that got it as number @claims, and the server has
 * not dropped that client.  acquire: the server's stores before it dropped the client are visible.
 * Any thread. */
bool sx_board_slot_lives(const struct sx_board_slot *slot, uint32_t claims);
/* True while the server lives; false after an orderly end or a death.  The kernel wakes only one
 * sleeper when the server dies.  So a thread that finds the death here wakes all the others: one
 * system call, and only when the answer is false.  Any thread. */
bool sx_board_server_lives(const struct sx_board *board);
/* Read the identity of the client of slot @index; for reports, from outside.  Return: false when
 * there is none, its identity is unknown, or another client took the slot meanwhile. */
bool sx_board_slot_client(const struct sx_board *board, uint32_t index,
                          struct sx_board_client *ret);
/* The value of the life word while the server lives, which a sleeper passes as seen.  For a dead
 * server, a value that the word does not have, so that no sleeper falls asleep on it. */
uint32_t sx_board_life_seen(const struct sx_board *board);

/* Both sides; safe on SX_BOARD_NULL and twice.  The server calls sx_board_end first. */
void sx_board_deinit(struct sx_board *board);

#endif
