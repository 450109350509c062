/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - copy bytes that another process may be writing, always as whole atomic words.
 *
 * Contents are 8-aligned and padded to 8, so a copy is a loop over words.  There are two orders.
 *
 * A ring's words may be overwritten while they are read.  They are stored with release and loaded
 * with acquire.  That orders each word after its writer's earlier stores (ring.c explains it).  A
 * fence would do as well, but race detectors do not follow fences.
 *
 * A lane's words are covered by its tail, so they are loaded relaxed.  They are atomic only because
 * a hostile client may write at any time, and the compiler must not read a checked word twice.  On
 * x86 all of these are plain moves. */
#ifndef SX_RING_WORDS_H
#define SX_RING_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#define SX_WORD_BYTES 8u
/* With one word per turn, the loop may be half as fast, depending on its address. */
#define SX_WORDS_UNROLL _Pragma("GCC unroll 4")

/* Writes a stream of bytes of any length into consecutive words.  No word is stored twice. */
struct sx_words_out {
    _Atomic uint64_t *at;
    uint64_t partial;
    size_t partial_bytes; /* 0 to 7 */
};

static inline void sx_words_emit(struct sx_words_out *out)
{
    atomic_store_explicit(out->at, out->partial, memory_order_release);
    out->at++;
    out->partial = 0;
    out->partial_bytes = 0;
}

static inline void sx_words_put(struct sx_words_out *out, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    _Atomic uint64_t *at;
    size_t count;

    if (len == 0) {
        return; /* an empty part may have no address */
    }
    if (out->partial_bytes != 0) {
        const size_t space = SX_WORD_BYTES - out->partial_bytes;
        const size_t take = len < space ? len : space;

        memcpy((uint8_t *)&out->partial + out->partial_bytes, from, take);
        out->partial_bytes += take;
        from += take;
        len -= take;
        if (out->partial_bytes < SX_WORD_BYTES) {
            return;
        }
        sx_words_emit(out);
    }
    at = out->at;
    count = len / SX_WORD_BYTES;
    SX_WORDS_UNROLL
    for (size_t i = 0; i < count; i++) {
        uint64_t word;

        memcpy(&word, from + i * SX_WORD_BYTES, SX_WORD_BYTES);
        atomic_store_explicit(&at[i], word, memory_order_release);
    }
    out->at = at + count;
    if (len % SX_WORD_BYTES != 0) {
        out->partial_bytes = len % SX_WORD_BYTES;
        memcpy(&out->partial, from + count * SX_WORD_BYTES, out->partial_bytes);
    }
}

/* The last word is padded with zeros. */
static inline void sx_words_flush(struct sx_words_out *out)
{
    if (out->partial_bytes != 0) {
        sx_words_emit(out);
    }
}

/* Copy @count words that may be overwritten meanwhile.  The caller checks afterwards whether
 * they were. */
static inline void sx_words_load_acquire(void *ret, const _Atomic uint64_t *at, size_t count)
{
    uint8_t *to = ret;

    SX_WORDS_UNROLL
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = atomic_load_explicit(&at[i], memory_order_acquire);

        memcpy(to + i * SX_WORD_BYTES, &word, SX_WORD_BYTES);
    }
}

/* Copy @len bytes, each word read exactly once. */
static inline void sx_words_load_bytes(void *ret, const _Atomic uint64_t *at, size_t len)
{
    const size_t count = len / SX_WORD_BYTES;
    uint8_t *to = ret;

    SX_WORDS_UNROLL
    for (size_t i = 0; i < count; i++) {
        /* relaxed: the tail's acquire covers an honest writer, nothing covers another one. */
        const uint64_t word = atomic_load_explicit(&at[i], memory_order_relaxed);

        memcpy(to + i * SX_WORD_BYTES, &word, SX_WORD_BYTES);
    }
    if (len % SX_WORD_BYTES != 0) {
        const uint64_t word = atomic_load_explicit(&at[count], memory_order_relaxed);

        memcpy(to + count * SX_WORD_BYTES, &word, len % SX_WORD_BYTES);
    }
}

/* Count the bytes of all @iov.  Return: false when there are more than @max, or the count is
 * negative. */
static inline bool sx_words_iov_size(const struct iovec *iov, int iov_count, size_t max,
                                     size_t *ret)
{
    size_t left = max;

    if (iov_count < 0) {
        return false;
    }
    for (int i = 0; i < iov_count; i++) {
        if (iov[i].iov_len > left) {
            return false;
        }
        left -= iov[i].iov_len;
    }
    *ret = max - left;
    return true;
}

/* ---- seqlock ---------------------------------------------------------------------------------
 *
 * Words that one process writes again and again, read whole or not at all.
 *
 * A number stands beside the words: odd while they are being written, higher by two afterwards.
 * Readers store nothing, so any number of them costs the writer nothing.  A reader copies, and
 * keeps the copy if the number was even and has stayed.
 *
 * Recovery after a kill: readers hold nothing.  If the writer is killed or stopped in the middle,
 * the number stays odd: no reader takes the words for whole, and no reader waits for them, since
 * each limits its own tries. */

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
