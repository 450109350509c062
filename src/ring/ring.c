/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring.c - publish records that readers copy while they may be overwritten, and notice it.
 *
 * The writer, for one record:                   A reader, for one record:
 *   oldest := what stays                R1        load tail                             A0
 *   words of filler, header and body    R2        load the words of the record          A2
 *   tail := end of the record           R0        load oldest: did the record stay?     A1
 *   last := start of the record         R3
 *
 * A0 <- R0: below the tail all words have been written.
 * A2 <- R2 carries R1: a reader that got one word of a newer record synchronises with that word's
 * store, before which the writer had moved `oldest` past the record being read; so its load of
 * `oldest` (A1) finds that, and the copy is thrown away.  Each word is therefore stored with
 * release and loaded with acquire: plain moves on x86, and something race detectors understand.
 * A1 <- R1 also serves sx_ring_seek_oldest: a record is complete before it becomes the oldest.
 * A3 <- R3: the last record is complete, and below the tail, before it is named.
 *
 * A reader bounds each value that it takes from a record before A1 (its size above all). */
#include "ring/ring.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "ring/words.h"

/* Page-aligned data, so that a record lies on as few pages as it can. */
#define SX_RING_DATA_OFF ((uint64_t)SX_PAGE_BYTES)
static_assert(SX_SEGMENT_BODY_OFF + sizeof(struct sx_ring_header) <= SX_RING_DATA_OFF,
              "the header ends before the data");
static_assert(SX_RING_RECORD_MAX % SX_WORD_BYTES == 0, "so that padding stays below it");

/* A reader that was overtaken this often while it looked for the oldest record takes the last. */
#define SX_RING_SEEK_TRIES 8u

/* A record's first word; of a filler the only one. */
struct sx_record_start {
    uint32_t size_bytes;
    uint16_t kind;
    uint16_t class_index;
};
static_assert(sizeof(struct sx_record_start) == SX_WORD_BYTES, "one word");
static_assert(offsetof(struct sx_record_header, class_index) == 6, "begins as its start does");

static _Atomic uint64_t *word_at(const struct sx_ring *ring, uint64_t position)
{
    return (_Atomic uint64_t *)(void *)(ring->data + (position & ring->mask));
}

static uint64_t span_of(uint32_t size_bytes)
{
    return sx_align_up(size_bytes, SX_WORD_BYTES);
}

/* ---- the writer --------------------------------------------------------------------------- */

pmix_status_t sx_ring_create(struct sx_ring *ring, const char *nspace, uint64_t data_bytes,
                             const struct sx_placement *placement)
{
    const uint64_t bytes = data_bytes == 0 ? SX_RING_BYTES : data_bytes;
    struct sx_segment_options options = {
        .kind = SX_SEGMENT_RING, .nspace = nspace, .generation = 1, .placement = placement
    };
    pmix_status_t rc;

    *ring = SX_RING_NULL;
    if (!sx_is_pow2(bytes) || bytes < SX_RING_BYTES_MIN || bytes > UINT64_C(1) << 40) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a ring of %" PRIu64 " bytes: a power of two from %u is wanted", bytes,
                        SX_RING_BYTES_MIN);
    }
    options.size_bytes = options.size_min_bytes = SX_RING_DATA_OFF + bytes;
    rc = sx_segment_create(&ring->seg, &options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_segment_back(&ring->seg, options.size_bytes);
    if (rc != PMIX_SUCCESS) {
        sx_ring_deinit(ring);
        return rc;
    }
    ring->header = (struct sx_ring_header *)(void *)(ring->seg.base + SX_SEGMENT_BODY_OFF);
    ring->data = ring->seg.base + SX_RING_DATA_OFF;
    ring->mask = bytes - 1;
    ring->header->data_off = SX_RING_DATA_OFF;
    ring->header->data_bytes = bytes;
    /* relaxed: covered by the magic's release in sx_segment_publish. */
    atomic_store_explicit(&sx_segment_header(&ring->seg)->used_bytes, options.size_bytes,
                          memory_order_relaxed);
    sx_segment_publish(&ring->seg);
    return PMIX_SUCCESS;
}

/* The writer reads its own words: relaxed, there is no other writer. */
static uint64_t own_span(const struct sx_ring *ring, uint64_t position, uint16_t *ret_kind)
{
    const uint64_t word = atomic_load_explicit(word_at(ring, position), memory_order_relaxed);
    struct sx_record_start start;

    memcpy(&start, &word, sizeof(start));
    sx_assert(start.size_bytes != 0 && start.size_bytes <= SX_RING_RECORD_MAX);
    *ret_kind = start.kind;
    return span_of(start.size_bytes);
}

/* Move `oldest` so that all below @end may be overwritten, and one maximal record more, so that
 * most publications need not move it.  It always stops at a record below the tail: @end is at
 * most two maximal records past the tail, and the ring has room for four. */
static void make_room(struct sx_ring *ring, uint64_t end)
{
    const uint64_t data_bytes = ring->mask + 1;
    /* relaxed: the writer is the only one to store it. */
    uint64_t oldest = atomic_load_explicit(&ring->header->oldest, memory_order_relaxed);
    uint64_t want, span;
    uint16_t kind;

    if (end - oldest <= data_bytes) {
        return;
    }
    want = end + SX_RING_RECORD_MAX - data_bytes;
    for (;;) {
        span = own_span(ring, oldest, &kind);
        if (oldest >= want && kind != SX_RING_FILLER) {
            break;
        }
        oldest += span;
    }
    /* R1 -> A1 (record_stayed, seek): before any word below is overwritten (R2). */
    atomic_store_explicit(&ring->header->oldest, oldest, memory_order_release);
}

/* R2 -> A2 (the readers' loads): each word with release, so that it carries R1. */
static void write_record(struct sx_ring *ring, const struct sx_record_header *record,
                         const struct iovec *iov, int iov_count)
{
    struct sx_words_out out = { .at = word_at(ring, record->position) };

    sx_words_put(&out, record, sizeof(*record));
    for (int i = 0; i < iov_count; i++) {
        sx_words_put(&out, iov[i].iov_base, iov[i].iov_len);
    }
    sx_words_flush(&out);
}

static void write_filler(struct sx_ring *ring, uint64_t position, uint64_t span)
{
    const struct sx_record_start filler = { .size_bytes = (uint32_t)span, .kind = SX_RING_FILLER };
    struct sx_words_out out = { .at = word_at(ring, position) };

    sx_words_put(&out, &filler, sizeof(filler)); /* R2 */
}

pmix_status_t sx_ring_publish(struct sx_ring *ring, uint16_t kind, uint16_t class_index,
                              const struct iovec *iov, int iov_count, uint64_t *ret_seq)
{
    struct sx_ring_header *const header = ring->header;
    struct sx_record_header record = { .kind = kind, .class_index = class_index };
    uint64_t tail, span, room, end;
    size_t body;

    if (kind == SX_RING_FILLER || class_index >= SX_RING_CLASS_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a record of kind %u and class %u", kind, class_index);
    }
    if (!sx_words_iov_size(iov, iov_count, SX_RING_RECORD_MAX - sizeof(record), &body)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a record of more than %zu bytes; larger data goes into the store",
                        SX_RING_RECORD_MAX - sizeof(record));
    }
    /* relaxed, here and below: the writer is the only one to store these words. */
    tail = atomic_load_explicit(&header->tail, memory_order_relaxed);
    record.seq = atomic_load_explicit(&header->seq_last, memory_order_relaxed) + 1;
    record.size_bytes = (uint32_t)(sizeof(record) + body);
    span = span_of(record.size_bytes);
    room = ring->mask + 1 - (tail & ring->mask);
    record.position = span <= room ? tail : tail + room;
    end = record.position + span;
    make_room(ring, end);
    if (record.position != tail) {
        write_filler(ring, tail, room);
    }
    write_record(ring, &record, iov, iov_count);

    /* relaxed: covered by R0, so a reader that sees the record finds it counted. */
    atomic_store_explicit(&header->class_count[class_index],
                          atomic_load_explicit(&header->class_count[class_index],
                                               memory_order_relaxed) +
                              1,
                          memory_order_relaxed);
    atomic_store_explicit(&header->seq_last, record.seq, memory_order_relaxed);
    /* R0 -> A0 (sx_ring_next): the words are visible before the tail that announces them. */
    atomic_store_explicit(&header->tail, end, memory_order_release);
    /* R3 -> A3 (sx_ring_seek_now): never names a record that is not below the tail. */
    atomic_store_explicit(&header->last, record.position, memory_order_release);
    if (ret_seq != NULL) {
        *ret_seq = record.seq;
    }
    return PMIX_SUCCESS;
}

void sx_ring_wake(struct sx_ring *ring, uint32_t class_bits, uint32_t sleepers_hint,
                  bool bitset_sleepers)
{
    for (uint32_t bits = class_bits; bits != 0; bits &= bits - 1) {
        sx_door_ring(&ring->header->doors[__builtin_ctz(bits)], SX_BELL_ALL, sleepers_hint);
    }
    if (bitset_sleepers && class_bits != 0) {
        sx_door_ring(&ring->header->any, class_bits, 0);
    }
}

/* ---- readers ------------------------------------------------------------------------------ */

pmix_status_t sx_ring_attach(struct sx_ring *ring, int fd)
{
    uint64_t data_off, data_bytes;
    pmix_status_t rc;

    *ring = SX_RING_NULL;
    rc = sx_segment_attach(&ring->seg, fd, SX_SEGMENT_RING);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (ring->seg.size_bytes < SX_RING_DATA_OFF) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a ring of only %" PRIu64 " bytes", ring->seg.size_bytes);
        goto fail;
    }
    ring->header = (struct sx_ring_header *)(void *)(ring->seg.base + SX_SEGMENT_BODY_OFF);
    data_off = ring->header->data_off;
    data_bytes = ring->header->data_bytes;
    if (!sx_is_pow2(data_bytes) || data_bytes < SX_RING_BYTES_MIN ||
        data_off < SX_SEGMENT_BODY_OFF + sizeof(struct sx_ring_header) ||
        data_off % SX_CACHELINE_BYTES != 0 ||
        !sx_range_fits(data_off, data_bytes, ring->seg.size_bytes)) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM,
                      "a ring with %" PRIu64 " bytes of data at %" PRIu64 " of %" PRIu64,
                      data_bytes, data_off, ring->seg.size_bytes);
        goto fail;
    }
    ring->data = ring->seg.base + data_off;
    ring->mask = data_bytes - 1;
    return PMIX_SUCCESS;
fail:
    sx_ring_deinit(ring);
    return rc;
}

void sx_ring_deinit(struct sx_ring *ring)
{
    sx_segment_deinit(&ring->seg);
    *ring = SX_RING_NULL;
}

/* True when no word at or past @position had been overwritten when it was read. */
static bool record_stayed(const struct sx_ring *ring, uint64_t position)
{
    /* A1 <- R1 (make_room), by way of A2 <- R2: see the top of this file. */
    return atomic_load_explicit(&ring->header->oldest, memory_order_acquire) <= position;
}

/* Whether a record of this size can start here, with @left bytes below the tail. */
static bool start_is_sound(const struct sx_ring *ring, const struct sx_record_start *start,
                           uint64_t position, uint64_t left)
{
    const uint64_t room = ring->mask + 1 - (position & ring->mask);

    if (start->kind == SX_RING_FILLER) {
        return start->size_bytes == room && room < SX_RING_RECORD_MAX && room < left;
    }
    return start->size_bytes >= sizeof(struct sx_record_header) &&
           start->size_bytes <= SX_RING_RECORD_MAX && span_of(start->size_bytes) <= room &&
           span_of(start->size_bytes) <= left && start->class_index < SX_RING_CLASS_MAX;
}

enum seek_outcome { SEEK_DONE, SEEK_OVERTAKEN, SEEK_ABSURD };

/* Put the cursor at, or with @behind behind, the record that starts at @position. */
static enum seek_outcome seek_record(struct sx_ring_cursor *cursor, const struct sx_ring *ring,
                                     uint64_t position, bool behind)
{
    struct sx_record_header record;

    if (position % SX_WORD_BYTES != 0 ||
        ring->mask + 1 - (position & ring->mask) < sizeof(record)) {
        return SEEK_ABSURD; /* before a word is read that lies behind the mapping */
    }
    sx_words_load_acquire(&record, word_at(ring, position), /* A2 */
                          sizeof(record) / SX_WORD_BYTES);
    if (!record_stayed(ring, position)) {
        return SEEK_OVERTAKEN;
    }
    if (record.position != position || record.size_bytes < sizeof(record) ||
        record.size_bytes > SX_RING_RECORD_MAX) {
        return SEEK_ABSURD;
    }
    cursor->position = behind ? position + span_of(record.size_bytes) : position;
    cursor->seq_next = behind ? record.seq + 1 : record.seq;
    return SEEK_DONE;
}

static void seek(struct sx_ring_cursor *cursor, const struct sx_ring *ring, bool now)
{
    const struct sx_ring_header *const header = ring->header;
    enum seek_outcome outcome = SEEK_OVERTAKEN;

    cursor->ring = ring;
    /* A0 <- R0 (sx_ring_publish): past the first publication there is a record at `oldest`, and
     * one at `last` (before R3 of the first one that is 0, where the first one starts). */
    if (atomic_load_explicit(&header->tail, memory_order_acquire) == 0) {
        cursor->position = 0;
        cursor->seq_next = 1;
        return;
    }
    /* Being overtaken at `last` takes a writer that wraps around meanwhile; a ring that shows this
     * each time is corrupt. */
    for (unsigned try = 0; outcome == SEEK_OVERTAKEN && try < 2 * SX_RING_SEEK_TRIES; try++) {
        const bool at_last = now || try >= SX_RING_SEEK_TRIES;
        /* A3 <- R3, A1 <- R1 */
        const uint64_t position = atomic_load_explicit(at_last ? &header->last : &header->oldest,
                                                       memory_order_acquire);

        outcome = seek_record(cursor, ring, position, now);
    }
    if (outcome != SEEK_DONE) {
        /* The words contradict each other, which no correct writer causes: start afresh, where a
         * word begins. */
        cursor->position = atomic_load_explicit(&header->tail, memory_order_acquire);
        cursor->position -= cursor->position % SX_WORD_BYTES;
        cursor->seq_next = atomic_load_explicit(&header->seq_last, memory_order_acquire) + 1;
    }
}

void sx_ring_seek_now(struct sx_ring_cursor *cursor, const struct sx_ring *ring)
{
    seek(cursor, ring, true);
}

void sx_ring_seek_oldest(struct sx_ring_cursor *cursor, const struct sx_ring *ring)
{
    seek(cursor, ring, false);
}

static pmix_status_t absurd(const struct sx_ring_cursor *cursor)
{
    return SX_RAISE(PMIX_ERR_UNPACK_FAILURE, "ring of %s: no record %" PRIu64 " at %" PRIu64,
                    sx_segment_header(&cursor->ring->seg)->nspace, cursor->seq_next,
                    cursor->position);
}

/* The writer has passed the cursor.  Return: SX_RING_LOST; PMIX_SUCCESS when all that was passed is
 * a filler, so that the cursor has only moved; PMIX_ERR_UNPACK_FAILURE when the cursor did not
 * advance, which could otherwise loop for ever. */
static pmix_status_t lapped(struct sx_ring_cursor *cursor, uint64_t *ret_lost)
{
    const uint64_t seq_next = cursor->seq_next, position = cursor->position;

    seek(cursor, cursor->ring, false);
    if (cursor->position <= position) {
        return absurd(cursor);
    }
    if (cursor->seq_next == seq_next) {
        return PMIX_SUCCESS;
    }
    *ret_lost = cursor->seq_next - seq_next;
    return SX_RING_LOST;
}

/* Read the record at the cursor and skip it, or copy it when wanted.  Return: PMIX_SUCCESS
 * (*ret_taken: copied), SX_RING_LOST, PMIX_ERR_UNPACK_FAILURE. */
static pmix_status_t step(struct sx_ring_cursor *cursor, uint64_t tail, uint32_t class_bits,
                          void *buf, uint64_t *ret_lost, bool *ret_taken)
{
    const struct sx_ring *const ring = cursor->ring;
    const _Atomic uint64_t *const words = word_at(ring, cursor->position);
    struct sx_record_start start;
    struct sx_record_header record;
    bool sound, wanted = false;

    sx_words_load_acquire(&start, words, 1); /* A2 */
    sound = start_is_sound(ring, &start, cursor->position, tail - cursor->position);
    if (sound && start.kind != SX_RING_FILLER) {
        wanted = (class_bits >> start.class_index & 1u) != 0;
    }
    if (wanted) {
        sx_words_load_acquire(buf, words, span_of(start.size_bytes) / SX_WORD_BYTES); /* A2 */
    }
    if (!record_stayed(ring, cursor->position)) {
        return lapped(cursor, ret_lost);
    }
    if (wanted) {
        memcpy(&record, buf, sizeof(record));
        sound = record.position == cursor->position && record.seq == cursor->seq_next;
    }
    if (!sound) {
        return absurd(cursor);
    }
    cursor->position += span_of(start.size_bytes);
    cursor->seq_next += start.kind != SX_RING_FILLER;
    *ret_taken = wanted;
    return PMIX_SUCCESS;
}

pmix_status_t sx_ring_next(struct sx_ring_cursor *cursor, uint32_t class_bits, void *buf,
                           uint64_t *ret_lost)
{
    /* A0 <- R0 (sx_ring_publish): once per call, so that a busy writer of other classes cannot hold
     * a reader here. */
    const uint64_t tail = atomic_load_explicit(&cursor->ring->header->tail, memory_order_acquire);
    bool taken = false;

    while (cursor->position < tail) {
        const pmix_status_t rc = step(cursor, tail, class_bits, buf, ret_lost, &taken);

        if (rc != PMIX_SUCCESS || taken) {
            return rc;
        }
    }
    return PMIX_ERR_NOT_FOUND;
}
