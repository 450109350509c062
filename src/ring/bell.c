/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bell.c - futexes on shared words, with futex_waitv where the kernel has it.
 *
 * Why no wake-up is lost: the kernel queues a sleeper before it compares the word with what the
 * sleeper saw, and a ringer changes the word before it looks at the queue.  Either the sleeper
 * sees the change or the ringer sees the sleeper.
 *
 * The fan-out: woken sleepers wake the next ones in the kernel's queue, no matter which.  So a
 * woken process that is stopped or killed before it passes on costs the others nothing, as long as
 * one of those woken with it runs.  That is why the ringer wakes several. */
#include "ring/bell.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/status.h"

/* Old kernel headers lack futex_waitv; the numbers are the same on all architectures. */
#define SX_SYS_FUTEX_WAITV 449
#define SX_FUTEX2_SIZE_U32 2u /* and not private: the words are shared */

struct sx_futex_waitv {
    uint64_t seen;
    uint64_t address;
    uint32_t flags;
    uint32_t reserved;
};
static_assert(sizeof(struct sx_futex_waitv) == 24, "the kernel's struct futex_waitv");

#define SX_BELL_ONE_SLEEP_NS SX_NS_PER_SEC
#define SX_BELL_FANOUT_FIRST 4u
#define SX_BELL_FANOUT_NEXT 2u

enum { WAITV_UNKNOWN, WAITV_YES, WAITV_NO };

static _Atomic int waitv_state = WAITV_UNKNOWN;

static long futex_waitv_call(const struct sx_futex_waitv *words, unsigned count,
                             const struct timespec *until)
{
    return syscall(SX_SYS_FUTEX_WAITV, words, count, 0u, until, CLOCK_MONOTONIC);
}

bool sx_bell_has_waitv(void)
{
    /* relaxed: every thread finds the same answer, and the order of threads does not matter. */
    int state = atomic_load_explicit(&waitv_state, memory_order_relaxed);

    if (state == WAITV_UNKNOWN) {
        if (sx_switch_is_off("SHMIX_WAITV")) {
            state = WAITV_NO;
        } else {
            /* No words at all: EINVAL from a kernel that has the call. */
            const long rc = futex_waitv_call(NULL, 0, NULL);

            state = rc < 0 && errno == EINVAL ? WAITV_YES : WAITV_NO;
        }
        atomic_store_explicit(&waitv_state, state, memory_order_relaxed);
    }
    return state == WAITV_YES;
}

/* Return: PMIX_ERR_NOT_SUPPORTED when the kernel would not do it, now or at all. */
static pmix_status_t wait_many(const struct sx_bell_watch *watch, size_t count,
                               uint64_t deadline_ns)
{
    struct sx_futex_waitv words[SX_BELL_WORDS_MAX];
    const struct timespec until = sx_timespec(deadline_ns);

    for (size_t i = 0; i < count; i++) {
        words[i] = (struct sx_futex_waitv){
            .seen = watch[i].seen,
            .address = (uint64_t)(uintptr_t)watch[i].word,
            .flags = SX_FUTEX2_SIZE_U32,
        };
    }
    if (futex_waitv_call(words, (unsigned)count,
                         deadline_ns == SX_DEADLINE_NEVER ? NULL : &until) >= 0) {
        return PMIX_SUCCESS;
    }
    switch (errno) {
    case EAGAIN:
    case EINTR:
        return PMIX_SUCCESS;
    case ETIMEDOUT:
        return PMIX_ERR_TIMEOUT;
    case ENOSYS:
    case EPERM: /* a filter that came after the first question */
        atomic_store_explicit(&waitv_state, WAITV_NO, memory_order_relaxed);
        return PMIX_ERR_NOT_SUPPORTED;
    default:
        return PMIX_ERR_NOT_SUPPORTED;
    }
}

static pmix_status_t wait_one(const struct sx_bell_watch *watch, size_t count, uint32_t mask,
                              uint64_t deadline_ns)
{
    const uint64_t look_ns = sx_deadline_ns(sx_now_ns(), SX_BELL_ONE_SLEEP_NS);
    const bool to_the_end = deadline_ns <= look_ns;
    const struct timespec until = sx_timespec(to_the_end ? deadline_ns : look_ns);

    /* The other words cannot wake this thread, but their present values can prevent the sleep. */
    for (size_t i = 1; i < count; i++) {
        /* acquire: the ringer's earlier stores are visible to a caller that checks again. */
        if (atomic_load_explicit(watch[i].word, memory_order_acquire) != watch[i].seen) {
            return PMIX_SUCCESS;
        }
    }
    if (syscall(SYS_futex, watch[0].word, FUTEX_WAIT_BITSET, watch[0].seen, &until, NULL, mask) ==
        0) {
        return PMIX_SUCCESS;
    }
    if (errno != ETIMEDOUT) {
        /* Changed already, or a signal; a word outside of memory is an error of this library. */
        sx_assert(errno != EFAULT && errno != EINVAL);
        return PMIX_SUCCESS;
    }
    return to_the_end ? PMIX_ERR_TIMEOUT : PMIX_SUCCESS;
}

pmix_status_t sx_bell_wait(const struct sx_bell_watch *watch, size_t count, uint32_t mask,
                           uint64_t deadline_ns)
{
    sx_assert(count >= 1 && count <= SX_BELL_WORDS_MAX);
    sx_assert(mask != 0);
    if (sx_bell_has_waitv()) {
        const pmix_status_t rc = wait_many(watch, count, deadline_ns);

        if (rc != PMIX_ERR_NOT_SUPPORTED) {
            return rc;
        }
    }
    return wait_one(watch, count, mask, deadline_ns);
}

static unsigned wake(const _Atomic uint32_t *word, uint32_t count, uint32_t mask)
{
    const long woken = syscall(SYS_futex, word, FUTEX_WAKE_BITSET, count, NULL, NULL, mask);

    return woken > 0 ? (unsigned)woken : 0;
}

bool sx_bell_changed(const struct sx_bell_watch *watch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        /* relaxed: the caller checks again, with acquire. */
        if (atomic_load_explicit(watch[i].word, memory_order_relaxed) != watch[i].seen) {
            return true;
        }
    }
    return false;
}

unsigned sx_door_ring(struct sx_door *door, uint32_t mask, uint32_t sleepers_hint)
{
    const bool fan_out = sleepers_hint > SX_BELL_FANOUT_MIN;
    /* relaxed: the owner is the only writer. */
    const uint32_t even = atomic_load_explicit(&door->turn[0], memory_order_relaxed);
    const uint32_t odd = atomic_load_explicit(&door->turn[1], memory_order_relaxed);
    const unsigned turn = even != odd;
    _Atomic uint32_t *const word = &door->turn[turn];

    /* relaxed: covered by R0.  A late sleeper of this word's ring before may read 0 here and not
     * pass on: this ring then wakes all sleepers on the word, the late ones included. */
    atomic_store_explicit(&door->pass_on[turn], fan_out ? SX_BELL_FANOUT_NEXT : 0,
                          memory_order_relaxed);
    /* R0 -> A0 (sx_door_watch, sx_door_epoch): news announced before is visible after. */
    atomic_store_explicit(word, odd + 1, memory_order_release);
    return wake(word, fan_out ? SX_BELL_FANOUT_FIRST : INT_MAX, mask);
}

/* Both words at one time.  turn[1] follows turn[0] and never passes it: where it seems to, turn[0]
 * has changed between the two loads.  A ring between them that does not show makes the sleeper's
 * word differ from what was seen, so no sleeper falls asleep on it. */
static uint32_t turns_read(const struct sx_door *door, uint32_t *ret_odd)
{
    for (;;) {
        /* A0 <- R0 (sx_door_ring), both. */
        const uint32_t even = atomic_load_explicit(&door->turn[0], memory_order_acquire);
        const uint32_t odd = atomic_load_explicit(&door->turn[1], memory_order_acquire);

        if (even - odd <= 1) {
            *ret_odd = odd;
            return even;
        }
    }
}

uint32_t sx_door_epoch(const struct sx_door *door)
{
    uint32_t odd;
    const uint32_t even = turns_read(door, &odd);

    return even + odd;
}

struct sx_bell_watch sx_door_watch(const struct sx_door *door)
{
    uint32_t odd;
    const uint32_t even = turns_read(door, &odd);

    return (struct sx_bell_watch){ .word = &door->turn[even != odd], .seen = odd };
}

void sx_door_pass_on(const struct sx_door *door, const struct sx_bell_watch *watch, uint32_t mask)
{
    /* A0 <- R0 (sx_door_ring): the ring that woke this process brings its pass_on, or a later
     * one. */
    const uint32_t now = atomic_load_explicit(watch->word, memory_order_acquire);
    /* relaxed: ordered by A0. */
    const uint32_t count = atomic_load_explicit(&door->pass_on[watch->word == &door->turn[1]],
                                                memory_order_relaxed);

    if (now != watch->seen && count != 0) {
        wake(watch->word, count < SX_BELL_FANOUT_FIRST ? count : SX_BELL_FANOUT_FIRST, mask);
    }
}
