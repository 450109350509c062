/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* epoch.h - deferred unmap for lock-free readers (epoch-based reclamation).
 *
 *     reader    enter ("inside, since epoch N") --> load what is shown, read --> exit ("outside")
 *     writer    show something else --> retire the old ("gone in epoch N"; N + 1 begins)
 *                 --> collect: no thread inside since N or before? it is over
 *
 * Each thread has a word of its own that says when it entered, so a reader writes two plain stores
 * to a line that no other thread writes.  The collector ensures that these stores are seen before
 * the reader's loads: it asks the kernel for a barrier in all threads (membarrier(2), 4.14).  If
 * the kernel refuses, each reader makes the barrier itself; the lowest bit of the epoch says so.
 *
 * No thread waits: an object that is still in use is checked again by the next collector.  Writers
 * are serialised by view_lock.  Between enter and exit a thread may take locks, and enter again. */
#ifndef SX_CLIENT_DATA_EPOCH_H
#define SX_CLIENT_DATA_EPOCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/util.h"

#define SX_GRACE_READERS_MAX 1024u
#define SX_GRACE_FENCE UINT64_C(1) /* in an epoch: readers make the barrier */

/* One thread as a reader.  The next thread with the same pthread_t uses it again. */
struct sx_grace_reader {
    _Alignas(SX_CACHELINE_BYTES) _Atomic uint64_t epoch; /* 0: outside */
    _Atomic uintptr_t thread;                            /* pthread_self(); 0: free */
};

/* A member of each retired object: its epoch, and the function to call once no reader can use
 * it. */
struct sx_retired {
    _Atomic(struct sx_retired *) next;
    uint64_t epoch;
    void (*over)(struct sx_retired *retired);
};

/* Between enter and exit. */
struct sx_grace {
    struct sx_grace_reader *reader;
    uint64_t before;
};

extern _Atomic uint64_t sx_grace_epoch;
extern _Thread_local struct sx_grace_reader *sx_grace_mine
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A thread's first enter: finds it a word, with one atomic read-modify-write and no allocation.  A
 * process in which more than SX_GRACE_READERS_MAX threads with different pthread_t have read
 * collects nothing from then on. */
struct sx_grace_reader *sx_grace_join(void);
/* The reader's own barrier. */
void sx_grace_fence(void);

static inline struct sx_grace sx_grace_enter(void)
{
    struct sx_grace_reader *reader = sx_grace_mine;

    if (__builtin_expect(reader == NULL, 0)) {
        reader = sx_grace_join();
    }
    /* A-epoch <- R-epoch (sx_grace_retire): a thread that sees a later epoch sees what is shown in
     * it. */
    const uint64_t epoch = atomic_load_explicit(&sx_grace_epoch, memory_order_acquire);
    /* relaxed: only this thread stores it. */
    const uint64_t before = atomic_load_explicit(&reader->epoch, memory_order_relaxed);
    /* R-inside -> A-inside (collect): this thread's earlier reads are over. */
    atomic_store_explicit(&reader->epoch, before != 0 ? before : epoch, memory_order_release);
    /* The store before all loads that follow: by the collector's barrier, or by ours. */
    if (__builtin_expect((epoch & SX_GRACE_FENCE) != 0, 0)) {
        sx_grace_fence();
    } else {
        atomic_signal_fence(memory_order_seq_cst);
    }
    return (struct sx_grace){ .reader = reader, .before = before };
}

static inline void sx_grace_exit(const struct sx_grace *grace)
{
    /* R-inside -> A-inside (collect): this thread's reads are over. */
    atomic_store_explicit(&grace->reader->epoch, grace->before, memory_order_release);
}

/* Decide, before any thread enters, whether collectors or readers make the barriers
 * (SHMIX_MEMBARRIER=0 in the environment: the readers). */
void sx_grace_init(void);

/* @retired is no longer reachable for new readers.  @over is called by a collector, under the same
 * lock. */
void sx_grace_retire(struct sx_retired *retired, void (*over)(struct sx_retired *retired));

/* Call `over` of each retired object that no reader can use any more.  No system call without a
 * second thread. */
void sx_grace_collect(void);

/* The caller ensures that no reader uses @retired any more: `over` is not called.  Return: false
 * when it was over already, or never retired. */
bool sx_grace_cancel(struct sx_retired *retired);

/* No thread reads any more: `over` is called for everything. */
void sx_grace_deinit(void);

/* In a forked child: the parent's other threads do not exist here. */
void sx_grace_forked(void);

#endif
