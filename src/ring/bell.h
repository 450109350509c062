/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bell.h - sleep on words of shared memory, and wake the sleepers.
 *
 * A sleeper names the words it watches and the values it has seen.  It sleeps only while all words
 * still have these values.  With futex_waitv (Linux 5.16) it watches several words at once.
 * Without it, it watches one word with a bitset and a timeout of a second, and then the caller
 * checks again.  Spurious wakes are always possible, so every caller loops.  Words may lie in
 * read-only mappings. */
#ifndef SX_RING_BELL_H
#define SX_RING_BELL_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_BELL_WORDS_MAX 64
#define SX_BELL_ALL UINT32_MAX

/* A door is an event count that is rung.  The epoch counts the rings.  A woken sleeper passes the
 * wake on to `pass_on` others (0: the ringer woke all).  The epoch lies in two words that are rung
 * in turns.  At an even epoch both are equal, and the next ring adds one to turn[0].  A sleeper
 * that has seen an epoch sleeps on the word that the next ring changes.  So a sleeper that passes a
 * ring on never wakes one that it woke before and that sleeps again.  After a kill nothing has to
 * be freed, because a door has no holder: the kernel keeps the sleepers, and it forgets those that
 * die. */
struct sx_door {
    _Atomic uint32_t turn[2];
    _Atomic uint32_t pass_on[2]; /* of the ring that last changed the turn beside it */
};
static_assert(sizeof(struct sx_door) == 16, "fixed by layout 1");

struct sx_bell_watch {
    const _Atomic uint32_t *word;
    uint32_t seen;
};

/* The number of rings so far (acquire).  If the value has changed, the door was rung. */
uint32_t sx_door_epoch(const struct sx_door *door);

/* The watch for a sleep until the door's next ring.  Take it before reading the data that the door
 * announces. */
struct sx_bell_watch sx_door_watch(const struct sx_door *door);

/* True when futex_waitv works here (asked once; SHMIX_WAITV=0 in the environment denies it). */
bool sx_bell_has_waitv(void);

/* Sleep until one of the @count words differs from the seen value, a ringer wakes the caller, or
 * the deadline passes (absolute, SX_DEADLINE_NEVER: none).  Without waitv only watch[0] wakes, with
 * @mask, and the sleep lasts at most a second.  There are 1 to SX_BELL_WORDS_MAX words; @mask is
 * not 0.  Any thread.  Return: PMIX_SUCCESS (check again); PMIX_ERR_TIMEOUT. */
pmix_status_t sx_bell_wait(const struct sx_bell_watch *watch, size_t count, uint32_t mask,
                           uint64_t deadline_ns);

/* Whether one of the words differs from its seen value. */
bool sx_bell_changed(const struct sx_bell_watch *watch, size_t count);

/* Advance the epoch (release) and wake the sleepers with a matching @mask.  If @sleepers_hint is
 * above SX_BELL_FANOUT_MIN, the woken sleepers pass the wake on, so that the cost stays flat.  This
 * works only for doors whose sleepers all have the same mask.  One system call.  Owner of the door
 * only.  Return: the number of sleepers woken by this call. */
#define SX_BELL_FANOUT_MIN 32
unsigned sx_door_ring(struct sx_door *door, uint32_t mask, uint32_t sleepers_hint);

/* A woken sleeper that slept on @watch calls this for each door it watched, before anything else:
 * the sleepers behind it in the kernel's queue depend on it.  Passes the wake on if the door was
 * rung and its pass_on is set.  At most one system call, possible through a read-only mapping. */
void sx_door_pass_on(const struct sx_door *door, const struct sx_bell_watch *watch, uint32_t mask);

#endif
