/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mapped_store.c - mapped generations: reference-counted, and unmapped with the last reference.
 *
 * Bounded by the numbers of generations that are shown, held and kept. */
#include "client/data/view.h"

#include <stdlib.h>

/* Under view_lock. */
static struct sx_mapped_store *kept_first;

static uint64_t used_bytes_of(const struct sx_mapped_store *edition)
{
    /* A-used <- R-used (heap.c) */
    return atomic_load_explicit(&sx_segment_header(&edition->store.seg)->used_bytes,
                                memory_order_acquire);
}

struct sx_mapped_store *sx_mapped_store_new(struct sx_store *store, bool is_first)
{
    struct sx_mapped_store *const edition = calloc(1, sizeof(*edition));

    if (edition == NULL) {
        return NULL;
    }
    edition->store = *store;
    edition->references = 1;
    /* A later generation begins with the content of the one before, most of which was read
     * already. */
    atomic_init(&edition->warm_bytes, is_first ? 0 : used_bytes_of(edition));
    *store = SX_STORE_NULL;
    return edition;
}

struct sx_mapped_store *sx_mapped_store_retain(struct sx_mapped_store *edition)
{
    edition->references++;
    return edition;
}

static void edition_free(struct sx_mapped_store *edition)
{
    sx_store_detach(&edition->store);
    free(edition);
}

struct sx_mapped_store *sx_mapped_store_release(struct sx_mapped_store *edition)
{
    if (edition == NULL || --edition->references != 0) {
        return NULL;
    }
    /* relaxed: the thread that set it has left (A-inside in epoch.c), or holds the lock. */
    if (atomic_load_explicit(&edition->handed_out, memory_order_relaxed)) {
        edition->next = kept_first;
        kept_first = edition;
    } else {
        edition_free(edition);
    }
    return NULL;
}

static void edition_over(struct sx_retired *retired)
{
    sx_mapped_store_release(SX_CONTAINER(retired, struct sx_mapped_store, retired));
}

void sx_mapped_store_retire(struct sx_mapped_store *edition)
{
    sx_grace_retire(&edition->retired, edition_over);
}

void sx_mapped_store_hand_out(struct sx_mapped_store *edition, const void *at)
{
    const uintptr_t base = (uintptr_t)edition->store.seg.base;

    /* relaxed: read by the thread that unmaps, after this thread has left (R-inside in epoch.h). */
    if ((uintptr_t)at - base < edition->store.seg.size_bytes &&
        !atomic_load_explicit(&edition->handed_out, memory_order_relaxed)) {
        atomic_store_explicit(&edition->handed_out, true, memory_order_relaxed);
    }
}

void sx_mapped_store_warm(struct sx_mapped_store *edition)
{
    /* relaxed: only this process uses it; two threads may warm the same pages. */
    const uint64_t warm_bytes = atomic_load_explicit(&edition->warm_bytes, memory_order_relaxed);

    if (warm_bytes < used_bytes_of(edition)) {
        atomic_store_explicit(&edition->warm_bytes,
                              sx_segment_prefault(&edition->store.seg, warm_bytes),
                              memory_order_relaxed);
    }
}

void sx_mapped_stores_deinit(void)
{
    while (kept_first != NULL) {
        struct sx_mapped_store *const next = kept_first->next;

        edition_free(kept_first);
        kept_first = next;
    }
}
