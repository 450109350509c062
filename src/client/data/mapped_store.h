/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mapped_store.h - one generation of a store, as this process has it mapped.
 *
 *     SHOWN by a view --superseded--> RETIRED --no thread inside, no job holds it--> unmapped
 *                                        \--the program has a pointer into it--> KEPT
 *
 * A kept generation stays until PMIx_Finalize.  Counted under view_lock: the view has a reference,
 * and each hold of a job (native.h).  Readers take none; they are between sx_grace_enter and
 * _exit. */
#ifndef SX_CLIENT_DATA_MAPPED_STORE_H
#define SX_CLIENT_DATA_MAPPED_STORE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "client/data/epoch.h"
#include "shmem/store.h"

struct sx_mapped_store {
    struct sx_store store;
    _Atomic uint64_t warm_bytes; /* entered by sx_mapped_store_warm into the page tables */
    _Atomic bool handed_out;
    unsigned references;
    struct sx_retired retired;
    struct sx_mapped_store *next; /* in the list of kept ones */
};

/* @store is moved; its first reference is the caller's.  @is_first: the process has none of this
 * namespace yet.  Return: NULL when memory is out. */
struct sx_mapped_store *sx_mapped_store_new(struct sx_store *store, bool is_first);

struct sx_mapped_store *sx_mapped_store_retain(struct sx_mapped_store *edition);
/* Return: NULL, always. */
struct sx_mapped_store *sx_mapped_store_release(struct sx_mapped_store *edition);

/* Release it once no thread can be inside; it is no longer reachable for new readers. */
void sx_mapped_store_retire(struct sx_mapped_store *edition);

/* Return: true when its store receives no more values. */
static inline bool sx_mapped_store_is_stale(const struct sx_mapped_store *edition)
{
    return __builtin_expect(sx_store_successor(&edition->store) != 0, 0);
}

/* Inside: @at, if it lies in @edition, is given to the program as a pointer. */
void sx_mapped_store_hand_out(struct sx_mapped_store *edition, const void *at);

/* Pre-fault the values that were published since the last time, so that the first Get of each value
 * causes no page fault.  Costs one system call when the store has grown into new memory. */
void sx_mapped_store_warm(struct sx_mapped_store *edition);

/* No thread reads any more: unmap the kept generations. */
void sx_mapped_stores_deinit(void);

#endif
