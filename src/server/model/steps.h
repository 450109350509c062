/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps.h - work of the server that takes longer than one turn may: some now, the rest in later
 * turns.
 *
 *     IDLE --sx_steps_go--> some is done --nothing is left--> IDLE
 *                             | ^--a turn, a step--\
 *                             \--the rest is posted-/
 *
 * The owner keeps what is left, in lists of its own, and does a part of it in each step.  All parts
 * of one turn of the loop have one bound together.  When the loop has stopped, the rest is done at
 * once.  struct sx_share_work (share.h) is for work that a single client asks and pays for.  Loop
 * thread. */
#ifndef SX_SERVER_MODEL_STEPS_H
#define SX_SERVER_MODEL_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "control/loop.h"

struct sx_server;

/* Do up to *@left pieces, and count *@left down.  Return: whether nothing is left. */
typedef bool (*sx_steps_fn)(struct sx_server *server, size_t *left);

struct sx_steps {
    struct sx_server *server;
    sx_steps_fn fn;
    size_t max; /* pieces of one turn */
    struct sx_loop_post post;
    bool is_posted, is_busy;
    uint64_t turn; /* in which something was done last ... */
    size_t left;   /* ... and the pieces that may still be done in it */
};

void sx_steps_init(struct sx_steps *steps, struct sx_server *server, sx_steps_fn fn, size_t max);

/* Whether the caller may do one more piece itself in this turn, which is counted; else it leaves
 * the piece to a step.  True inside a step. */
bool sx_steps_take(struct sx_steps *steps);

/* How many pieces the caller may still do itself in this turn, for it to count down. */
size_t *sx_steps_left(struct sx_steps *steps);

/* There is work: do some of it, unless this turn has done enough.  Inside a step: do it later. */
void sx_steps_go(struct sx_steps *steps);

/* There is work, of which this turn has done enough. */
void sx_steps_later(struct sx_steps *steps);

/* Entries of any length whose pieces are done by one struct sx_steps.
 *
 *     SHORT --SX_STEPS_SHORT_TURNS times the pieces of a turn--> LONG --> done
 *        \--is done, some in each round--------------------------------^
 *
 * A short entry overtakes the long ones: the short ones take turns, and have a quarter of the
 * pieces.  Long ones are done one after the other with the rest: so only the first of them holds
 * much memory, and what is read for it seldom changes meanwhile.  If it changes all the same, the
 * entry goes behind the others: they do not wait for what is done again and again. */
#define SX_STEPS_SHORT_TURNS 2u
#define SX_STEPS_ROUND_PARTS 8u /* of the pieces of a turn, for one short entry at a time */
struct sx_steps_entry {
    struct sx_list link;
    size_t done; /* pieces; zeroed before it is added */
    bool is_long;
    bool is_anew; /* its owner sets it: pieces have to be done again */
};
struct sx_steps_queue {
    struct sx_list shorts, longs;
};

/* Do up to *@left pieces of @entry, and count *@left down.  Return: whether @entry is done, and has
 * left its list; else *@left is 0. */
typedef bool (*sx_steps_entry_fn)(struct sx_steps_entry *entry, size_t *left);

void sx_steps_queue_init(struct sx_steps_queue *queue);
void sx_steps_queue_add(struct sx_steps_queue *queue, struct sx_steps_entry *entry);
/* Return: NULL when there is none. */
struct sx_steps_entry *sx_steps_queue_first(const struct sx_steps_queue *queue);
/* For the function of @steps, with its *@left.  Return: whether nothing is left. */
bool sx_steps_queue_do(const struct sx_steps *steps, struct sx_steps_queue *queue,
                       sx_steps_entry_fn fn, size_t *left);

#endif
