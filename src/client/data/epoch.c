/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* epoch.c - the words of the readers, and the list of retired objects that wait for them.
 *     SHOWN --retire--> RETIRED (epoch E) --all readers outside, or in since after E--> over
 *
 * Why it is sound: after the barrier of a collector, a reader's word may show that the reader is
 * inside.  Otherwise the reader's next enter follows all retirements so far, and it can load no
 * retired object.  The list is singly linked and changed by one store at a time, so that a forked
 * child finds it whole.  Bounded by SX_GRACE_READERS_MAX and the number of retired objects. */
#include "client/data/epoch.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/status.h"
#include "base/util.h"

/* Of linux/membarrier.h, which older headers lack. */
#define SX_MEMBARRIER_QUERY 0
#define SX_MEMBARRIER_PRIVATE_EXPEDITED (1 << 3)
#define SX_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED (1 << 4)

#define SX_GRACE_EPOCH_STEP UINT64_C(2)

_Atomic uint64_t sx_grace_epoch = SX_GRACE_EPOCH_STEP;
_Thread_local struct sx_grace_reader *sx_grace_mine;

/* One more than there are: for readers that find no free word; its content means nothing. */
static struct sx_grace_reader readers[SX_GRACE_READERS_MAX + 1];
static _Atomic uint32_t reader_count;
static _Atomic bool is_crowded; /* a thread reads without a word of its own */
static _Atomic(struct sx_retired *) retired_first;

/* ---- readers ------------------------------------------------------------------------------ */

static uint32_t readers_known(void)
{
    /* A-count <- R-count (sx_grace_join): relaxed suffices, the fences on both sides order it. */
    const uint32_t count = atomic_load_explicit(&reader_count, memory_order_relaxed);

    return count < SX_GRACE_READERS_MAX ? count : SX_GRACE_READERS_MAX;
}

/* The word of an ended thread with the same pthread_t as this one, or a free word. */
static struct sx_grace_reader *reader_find(uintptr_t thread)
{
    for (uint32_t i = 0; i < readers_known(); i++) {
        /* relaxed: no two living threads have the same pthread_t. */
        if (atomic_load_explicit(&readers[i].thread, memory_order_relaxed) == thread) {
            return &readers[i];
        }
    }
    if (readers_known() < SX_GRACE_READERS_MAX) {
        /* R-count -> A-count (readers_known) */
        const uint32_t i = atomic_fetch_add_explicit(&reader_count, 1, memory_order_relaxed);

        if (i < SX_GRACE_READERS_MAX) {
            return &readers[i];
        }
    }
    atomic_store_explicit(&is_crowded, true, memory_order_relaxed); /* the fence below orders it */
    return &readers[SX_GRACE_READERS_MAX];
}

struct sx_grace_reader *sx_grace_join(void)
{
    const uintptr_t thread = (uintptr_t)pthread_self();

    sx_grace_mine = reader_find(thread);
    atomic_store_explicit(&sx_grace_mine->thread, thread, memory_order_relaxed);
    /* F-join -> F-collect (readers_settle): if a collector does not count this thread, this
     * thread's next loads see what that collector has shown. */
    sx_barrier();
    return sx_grace_mine;
}

void sx_grace_fence(void)
{
    /* F-reader -> F-collect (readers_settle) */
    sx_barrier();
}

/* ---- the barrier --------------------------------------------------------------------------- */

static bool membarrier_may(void)
{
    if (sx_switch_is_off("SHMIX_MEMBARRIER")) {
        return false;
    }
    const long known = syscall(SYS_membarrier, SX_MEMBARRIER_QUERY, 0, 0);
    return known > 0 && (known & SX_MEMBARRIER_PRIVATE_EXPEDITED) != 0;
}

/* Registering takes milliseconds in a process with threads, so it is done when it is first
 * needed. */
static bool membarrier_make(void)
{
    return syscall(SYS_membarrier, SX_MEMBARRIER_PRIVATE_EXPEDITED, 0, 0) == 0 ||
           (syscall(SYS_membarrier, SX_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
            syscall(SYS_membarrier, SX_MEMBARRIER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

void sx_grace_init(void)
{
    const uint64_t epoch = atomic_load_explicit(&sx_grace_epoch, memory_order_relaxed);

    atomic_store_explicit(&sx_grace_epoch,
                          membarrier_may() ? epoch & ~SX_GRACE_FENCE : epoch | SX_GRACE_FENCE,
                          memory_order_release);
}

/* After this each reader's word is visible, or that reader's next loads see what is shown now.
 * Return: false when the barrier fails. */
static bool readers_settle(uint64_t epoch)
{
    /* F-collect <- F-join, F-reader */
    sx_barrier();
    const uint32_t count = readers_known();

    if (atomic_load_explicit(&is_crowded, memory_order_relaxed)) {
        return false;
    }
    if (count == 0 || (count == 1 && sx_grace_mine == &readers[0])) {
        return true;
    }
    return (epoch & SX_GRACE_FENCE) != 0 || membarrier_make();
}

/* ---- retired objects ---------------------------------------------------------------------- */

void sx_grace_retire(struct sx_retired *retired, void (*over)(struct sx_retired *retired))
{
    /* relaxed: the lock of the writers covers epoch and list. */
    retired->epoch = atomic_load_explicit(&sx_grace_epoch, memory_order_relaxed);
    retired->over = over;
    atomic_store_explicit(&retired->next,
                          atomic_load_explicit(&retired_first, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&retired_first, retired, memory_order_release);
    /* R-epoch -> A-epoch (sx_grace_enter): the replacement was shown before. */
    atomic_store_explicit(&sx_grace_epoch, retired->epoch + SX_GRACE_EPOCH_STEP,
                          memory_order_release);
}

/* The epoch in which the oldest of the readers that are inside has entered. */
static uint64_t oldest_inside(void)
{
    const uint32_t count = readers_known();
    uint64_t oldest = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        /* A-inside <- R-inside (sx_grace_enter, sx_grace_exit): its reads are over. */
        const uint64_t since = atomic_load_explicit(&readers[i].epoch, memory_order_acquire);

        oldest = since != 0 && since < oldest ? since : oldest;
    }
    return oldest;
}

/* Take objects that were retired before @epoch out of the list and end them. */
static void end_before(uint64_t epoch)
{
    _Atomic(struct sx_retired *) *link = &retired_first;
    struct sx_retired *retired;

    while ((retired = atomic_load_explicit(link, memory_order_relaxed)) != NULL) {
        struct sx_retired *const next = atomic_load_explicit(&retired->next, memory_order_relaxed);

        if (retired->epoch < epoch) {
            atomic_store_explicit(link, next, memory_order_release);
            retired->epoch = 0;
            retired->over(retired);
        } else {
            link = &retired->next;
        }
    }
}

void sx_grace_collect(void)
{
    const uint64_t epoch = atomic_load_explicit(&sx_grace_epoch, memory_order_relaxed);

    if (atomic_load_explicit(&retired_first, memory_order_relaxed) != NULL &&
        readers_settle(epoch)) {
        end_before(oldest_inside());
    }
}

bool sx_grace_cancel(struct sx_retired *retired)
{
    _Atomic(struct sx_retired *) *link = &retired_first;
    struct sx_retired *at;

    while ((at = atomic_load_explicit(link, memory_order_relaxed)) != NULL && at != retired) {
        link = &at->next;
    }
    if (at != NULL) {
        atomic_store_explicit(link, atomic_load_explicit(&at->next, memory_order_relaxed),
                              memory_order_release);
    }
    return at != NULL;
}

void sx_grace_deinit(void)
{
    end_before(UINT64_MAX);
}

void sx_grace_forked(void)
{
    for (uint32_t i = 0; i < readers_known(); i++) {
        if (&readers[i] != sx_grace_mine) {
            atomic_store_explicit(&readers[i].epoch, 0, memory_order_relaxed);
        }
    }
}
