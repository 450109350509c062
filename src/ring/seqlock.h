/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* seqlock.h - words that one process writes again and again, read whole or not at all.
 *
 * A number stands beside the words: odd while they are being written, higher by two afterwards.
 * Readers store nothing, so any number of them costs the writer nothing.  A reader copies, and
 * keeps the copy if the number was even and has stayed.
 *
 * Recovery after a kill: readers hold nothing.  If the writer is killed or stopped in the middle,
 * the number stays odd: no reader takes the words for whole, and no reader waits for them, since
 * each limits its own tries. */
#ifndef SX_RING_SEQLOCK_H
#define SX_RING_SEQLOCK_H

#include "ring/words.h"

/* The one writer: @count words at @words become those of @from, 8-aligned. */
static inline void sx_seqlock_write(_Atomic uint64_t *seq, _Atomic uint64_t *words,
                                    const void *from, size_t count)
{
    struct sx_words_out out = { .at = words };
    /* relaxed: there is no other writer. */
    const uint64_t before = atomic_load_explicit(seq, memory_order_relaxed);

    /* relaxed: R1 hands it over. */
    atomic_store_explicit(seq, before + 1, memory_order_relaxed);
    /* R1 -> A1 (sx_seqlock_read): a reader that sees a new word sees that the number was odd. */
    sx_words_put(&out, from, count * SX_WORD_BYTES);
    /* R0 -> A0 (sx_seqlock_read): the words are there before the even number. */
    atomic_store_explicit(seq, before + 2, memory_order_release);
}

/* Try once.  Return: true when @ret has @count words that were written together. */
static inline bool sx_seqlock_read(const _Atomic uint64_t *seq, const _Atomic uint64_t *words,
                                   void *ret, size_t count)
{
    /* A0 <- R0 (sx_seqlock_write) */
    const uint64_t before = atomic_load_explicit(seq, memory_order_acquire);

    if (before % 2 != 0) {
        return false;
    }
    /* A1 <- R1 (sx_seqlock_write) */
    sx_words_load_acquire(ret, words, count);
    /* relaxed: behind A1, which brings along the odd number of any word that is newer. */
    return atomic_load_explicit(seq, memory_order_relaxed) == before;
}

#endif
