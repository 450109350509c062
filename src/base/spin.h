/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spin.h - before a sleep, poll briefly, where polling has found news lately.
 *
 *     looking --news--------------------> the next time too
 *             --in vain-----------------> at once asleep, the next 1, 2, 4 ... 64 times
 *             --others keep the CPU-----> at once asleep, the next 8, 64, 512 times, and no yields
 *
 * A wake across CPUs takes 12 to 28 us (docs/bench/records.md).  Polling finds earlier news sooner.
 * Between two polls the thread yields its CPU, because the sender of the news may need it.  A
 * computing thread then keeps the CPU for milliseconds.  The kernel would have woken a sleeper
 * ahead of that thread, so the next times this thread sleeps. */
#ifndef SX_BASE_SPIN_H
#define SX_BASE_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_SPIN_US UINT64_C(50) /* without SHMIX_SPIN */
#define SX_SPIN_US_MAX UINT64_C(1000000)
#define SX_SPIN_PAUSE_MAX 64u
#define SX_SPIN_CROWDED_MIN 8u
#define SX_SPIN_CROWDED_MAX 512u

/* Threads that share one may lose each other's counts: they only decide how soon to try again. */
struct sx_spin {
    uint64_t ns;                     /* at most so long; 0: never */
    _Atomic uint32_t left;           /* so many sleeps begin at once */
    _Atomic uint32_t pause, crowded; /* what it became last, by its cause; 0: no longer */
};

/* Any thread with exclusive access to it.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when SHMIX_SPIN
 * is not a number of microseconds up to SX_SPIN_US_MAX; then it counts as not set. */
pmix_status_t sx_spin_init(struct sx_spin *spin);

/* One try; zeroed before its first use. */
struct sx_spin_try {
    uint64_t begin_ns; /* 0: none is under way */
};

/* There are no news.  Return: true to poll again, after a yield of the CPU; false when it is time
 * to sleep. */
bool sx_spin_again(struct sx_spin *spin, struct sx_spin_try *try);
/* The poll has found news. */
void sx_spin_paid(struct sx_spin *spin, struct sx_spin_try *try);

/* Poll until @news returns true.  Return: true then; false when it is time to sleep. */
bool sx_spin(struct sx_spin *spin, bool (*news)(void *arg), void *arg);

/* Yield the CPU once, unless a computing thread has kept it lately. */
void sx_spin_yield(struct sx_spin *spin);
bool sx_spin_is_crowded(const struct sx_spin *spin);

#endif
