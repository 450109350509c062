/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bell.h - sleeping on words of shared memory, and waking who sleeps there.
 *
 * A sleeper names the words it watches and the values it has seen; it sleeps only while all still
 * have them.  With futex_waitv (5.16) it watches several words at once; below that one word with
 * a bitset and a timeout of a second, after which the caller looks again (spurious wake-ups are
 * always possible, so every caller loops).  Words may lie in read-only mappings. */
#ifndef SX_RING_BELL_H
#define SX_RING_BELL_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_BELL_WORDS_MAX 32
#define SX_BELL_ALL UINT32_MAX

/* What is rung: the epoch counts the rings.  A woken sleeper passes the wake on to `pass_on`
 * others (0: the ringer woke everybody).  The epoch lies in two words that are rung in turns (even
 * epoch: both are equal, the next ring adds one to turn[0]), and whoever has seen an epoch sleeps
 * on the word that the next ring changes: so those who pass on a ring never wake one who has heard
 * it and sleeps again.  Who frees it if its holder is killed here?  Nobody holds it: sleepers are
 * the kernel's, and it forgets those that die. */
struct sx_door {
    _Atomic uint32_t turn[2];
    _Atomic uint32_t pass_on[2]; /* of the ring that last changed the turn beside it */
};
static_assert(sizeof(struct sx_door) == 16, "fixed by layout 1");

struct sx_bell_watch {
    const _Atomic uint32_t *word;
    uint32_t seen;
};

/* The number of rings so far (acquire).  A value that changed says that the door was rung. */
uint32_t sx_door_epoch(const struct sx_door *door);

/* What to sleep on until the door's next ring: read it before looking at what it announces. */
struct sx_bell_watch sx_door_watch(const struct sx_door *door);

/* True when futex_waitv works here (asked once; SHMIX_WAITV=0 in the environment denies it). */
bool sx_bell_has_waitv(void);

/* Sleep until one of the @count words differs from what was seen, somebody wakes, or the deadline
 * (absolute, SX_DEADLINE_NEVER: none).  Without waitv only watch[0] wakes, with @mask, and the
 * sleep lasts at most a second.  1 to SX_BELL_WORDS_MAX words; @mask is not 0.  Any thread.
 * Return: PMIX_SUCCESS (look again) or PMIX_ERR_TIMEOUT. */
pmix_status_t sx_bell_wait(const struct sx_bell_watch *watch, size_t count, uint32_t mask,
                           uint64_t deadline_ns);

/* Before sleeping: watch the words for at most @spin_ns, without a system call.  Nothing is done
 * where the process has one CPU to run on: whoever would change a word needs it.  Return: whether
 * one of them has changed. */
bool sx_bell_spin(const struct sx_bell_watch *watch, size_t count, uint64_t spin_ns);

/* Announce and wake: advance the epoch (release) and wake who sleeps with a matching @mask.
 * Above SX_BELL_FANOUT_MIN @sleepers_hint the woken pass it on, so that the cost stays flat; only
 * for doors whose sleepers all have the same mask.
 * One system call.  Owner of the door only.  Return: how many were woken by this call. */
#define SX_BELL_FANOUT_MIN 32
unsigned sx_door_ring(struct sx_door *door, uint32_t mask, uint32_t sleepers_hint);

/* For a woken sleeper, who slept on @watch: pass the wake on if the door was rung and says so (at
 * most one system call, possible through a read-only mapping).  It does so for each door it
 * watched, before anything else: those behind it in the kernel's queue depend on it. */
void sx_door_pass_on(const struct sx_door *door, const struct sx_bell_watch *watch, uint32_t mask);

#endif
