/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board.h - the server's own words, one read-only page set for all its clients.
 *
 * The life word is a robust mutex that the server's loop thread holds for ever: sleepers that
 * watch it hear of the server's death from the kernel.  The sleep epoch is odd while the server
 * sleeps: a client that has appended to its lane rings the doorbell once per odd value.  One slot
 * per client: its bell, the server's read position in its lane, and whether somebody waits for
 * its data.  The server writes everything here; nobody else can.
 *
 * Who frees it if its holder is killed here?  A slot is the server's to give and to take back
 * when its client is gone; the life word is freed, and its death told, by the kernel; the memory
 * goes with the last mapping. */
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

struct sx_board_slot {
    struct sx_door bell;          /* a frame or an answer for this client */
    _Atomic uint32_t state;       /* enum sx_board_slot_state */
    _Atomic uint32_t data_wanted; /* != 0: ring the doorbell after a commit, somebody waits */
    _Atomic uint64_t lane_head;   /* bytes of the lane the server has taken */
    _Atomic uint32_t wake_rung;   /* sleeper.h */
    _Atomic uint32_t claims;      /* how often it was given to a client */
    /* Events that this client has published since, and that have not reached all they are for. */
    _Atomic uint64_t events_lost;
    uint8_t reserved[16]; /* zero */
};
static_assert(sizeof(struct sx_board_slot) == SX_CACHELINE_BYTES, "fixed by layout 1");

struct sx_board_header {
    /* line 0: life */
    uint32_t life_off; /* of the life word, from the segment base; behind it is a page of nothing */
    uint8_t reserved0[60]; /* zero */
    /* line 1: sleep */
    _Atomic uint32_t sleep_epoch; /* odd: the server sleeps or is about to */
    uint32_t slot_count;
    uint64_t slots_off; /* from the segment base */
    uint32_t server_pid;
    /* != 0: jobs go on on other nodes, where no event of this one gets to: publishers ask. */
    _Atomic uint32_t events_confined;
    uint64_t server_start_ticks;
    /* For reports: of the events that are kept for those who come late. */
    _Atomic uint64_t history_bytes;
    _Atomic uint64_t history_crowded_out; /* events that went for want of bytes */
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
    pid_t live_pid; /* server: the process that holds the life word, 0: nobody */
};

#define SX_BOARD_NULL ((struct sx_board){ .seg = SX_SEGMENT_NULL })

/* Server; @name is its own.  Return: PMIX_SUCCESS, or as sx_segment_create. */
pmix_status_t sx_board_create(struct sx_board *board, const char *name);
/* Called once, by the thread that will live as long as the server, before the board is handed to
 * anybody: hold the life word.  Return: as sx_life_hold. */
pmix_status_t sx_board_live(struct sx_board *board);
/* By the same thread, before it ends in an orderly way: release the word and wake everybody.
 * Does nothing in a forked child, which is not the holder. */
void sx_board_end(struct sx_board *board);
/* The loop thread alone, as all that writes.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE when
 * all SX_BOARD_SLOT_MAX are taken or memory is short. */
pmix_status_t sx_board_slot_claim(struct sx_board *board, uint32_t *ret_index);
/* The client is gone; its slot may be reused. */
void sx_board_slot_abandon(struct sx_board *board, uint32_t index);
/* Somebody waits (or no longer waits) for this client's data: it rings after its next commit.
 * After wanting, look at its lane once more (sx_lane_pending or sx_lane_take): what was appended
 * before the client could see the wish is there. */
void sx_board_slot_want_data(struct sx_board *board, uint32_t index, bool wanted);
/* Before sleeping: epoch odd, seq_cst; the caller then looks at all lanes once more
 * (sx_lane_pending). */
void sx_board_sleep(struct sx_board *board);
/* After waking: epoch even. */
void sx_board_wake(struct sx_board *board);

/* So much was done in a turn, for one client in it. */
void sx_board_work(struct sx_board *board, uint64_t turn_units, uint64_t share_units);

/* Client: map a received @fd (not consumed).  Return: as sx_segment_attach. */
pmix_status_t sx_board_attach(struct sx_board *board, int fd);
/* True while slot is still that of the client it was given to as number @claims: the server has not
 * dropped it.  acquire: what the server did before it dropped the client is seen.  Any thread. */
bool sx_board_slot_lives(const struct sx_board_slot *slot, uint32_t claims);
/* True while the server lives (orderly end and death both say no).  The kernel wakes one sleeper
 * when the server dies, so whoever learns of it here wakes all the others: one system call, and
 * only when the answer is no.  Any thread. */
bool sx_board_server_lives(const struct sx_board *board);
/* The value of the life word while alive: what a sleeper passes as seen.  Of a dead server a
 * value that the word does not have, so that nobody falls asleep on it. */
uint32_t sx_board_life_seen(const struct sx_board *board);

/* Both sides; safe on SX_BOARD_NULL and twice.  The server calls sx_board_end first. */
void sx_board_deinit(struct sx_board *board);

#endif
