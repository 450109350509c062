/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_renew.c - rewrite a store without its garbage as the next generation.
 *     old: current --new one published--> superseded (header names the successor) --> unmapped
 *
 * What is live is measured, then copied into a segment whose size follows from it; nothing of
 * the old one changes but its successor word, so readers stay valid as long as they map it.  If
 * the new one cannot be had, the old one goes on as if nothing had happened.  Entered from put
 * and sx_store_renew.  Bounded by the live bytes, which are at most the reserve. */
#include <stdlib.h>

#include "base/status.h"
#include "shmem/store_layout.h"

#define SX_STORE_ROOM_BYTES (UINT64_C(256) << 20)

/* Called for each live cell of a column; the item lies in the old generation. */
typedef void (*sx_live_fn)(void *arg, const struct sx_column_record *record, uint32_t row,
                           const struct sx_item *item);

static void sx_live_cell(struct sx_reach *reach, const struct sx_column_record *record,
                         uint32_t row, const struct sx_words *words, sx_live_fn each, void *arg)
{
    struct sx_item item;

    if (sx_words_read(reach, words, &item) == PMIX_SUCCESS) {
        each(arg, record, row, &item);
    }
}

static void sx_live_column(struct sx_reach *reach, const struct sx_column_record *record,
                           sx_live_fn each, void *arg)
{
    const struct sx_store_header *const header = sx_reach_store(reach);
    const uint32_t shift = header->chunk_shift;
    /* relaxed here and below: the writer reads what it wrote. */
    const uint64_t directory = atomic_load_explicit(&record->directory, memory_order_relaxed);

    sx_live_cell(reach, record, SX_ROW_JOB, &record->job, each, arg);
    sx_live_cell(reach, record, record->single_row, &record->single, each, arg);
    if (directory == 0) {
        return;
    }
    const uint64_t entry_count = sx_directory_bytes(header->row_count, shift) / sizeof(uint64_t);
    const void *const entries = reach->base + directory;
    for (uint32_t i = 0; i < entry_count; i++) {
        const uint64_t off = atomic_load_explicit((const _Atomic uint64_t *)entries + i,
                                                  memory_order_relaxed);
        if (off == 0) {
            continue;
        }
        const void *const chunk = reach->base + off;
        for (uint32_t j = 0; j < 1u << shift; j++) {
            sx_live_cell(reach, record, (i << shift) + j, (const struct sx_words *)chunk + j, each,
                         arg);
        }
    }
}

static void sx_live_each(const struct sx_store_writer *writer, sx_live_fn each, void *arg)
{
    struct sx_reach reach = sx_reach_init(&writer->view);
    const uint64_t word = atomic_load_explicit(&sx_writer_store(writer)->dictionary,
                                               memory_order_relaxed);
    const void *const at = reach.base + (word & ~SX_DICTIONARY_SHIFT_MASK);
    const struct sx_slot *const slots = at;

    for (uint64_t i = 0; i < UINT64_C(1) << (word & SX_DICTIONARY_SHIFT_MASK); i++) {
        if (atomic_load_explicit(&slots[i].tag, memory_order_relaxed) != 0) {
            const void *const record = reach.base +
                                       atomic_load_explicit(&slots[i].column, memory_order_relaxed);
            sx_live_column(&reach, record, each, arg);
        }
    }
}

/* ---- first pass: how much ------------------------------------------------------------------ */

struct sx_measure {
    uint32_t row_count, chunk_shift;
    const struct sx_column_record *record; /* of the last cell */
    bool single;                           /* its first row has been seen */
    bool directory;
    uint32_t chunk; /* the last one counted, plus 1 */
    uint64_t bytes;
    uint64_t column_count;
};

/* Cells come column by column and, within one, the old single row first, then by rising row:
 * so a new chunk is one that differs from the last.  The single row's own chunk may count
 * twice; never less than what is needed. */
static void sx_measure_cell(void *arg, const struct sx_column_record *record, uint32_t row,
                            const struct sx_item *item)
{
    struct sx_measure *const measure = arg;

    if (measure->record != record) {
        measure->record = record;
        measure->single = measure->directory = false;
        measure->chunk = 0;
        measure->column_count++;
        measure->bytes += sx_column_record_bytes(record->key_len) + SX_CACHELINE_BYTES;
    }
    measure->bytes += sx_align_up(item->cell.len, 8);
    if (row == SX_ROW_JOB) {
        return;
    }
    if (!measure->single) {
        measure->single = true;
        return;
    }
    if (!measure->directory) {
        measure->directory = true;
        measure->bytes += sx_directory_bytes(measure->row_count, measure->chunk_shift) + 8;
    }
    const uint32_t chunk = (row >> measure->chunk_shift) + 1;
    if (measure->chunk != chunk) {
        measure->chunk = chunk;
        measure->bytes += (sizeof(struct sx_words) << measure->chunk_shift) + SX_CACHELINE_BYTES;
    }
}

/* ---- second pass: copy --------------------------------------------------------------------- */

static void sx_copy_cell(void *arg, const struct sx_column_record *record, uint32_t row,
                         const struct sx_item *item)
{
    struct sx_store_writer *const next = arg;
    const struct sx_put put = {
        .realm = record->realm,
        .row = row,
        .key = record->key,
        .key_len = record->key_len,
        .hash = sx_store_hash(record->realm, record->key, record->key_len),
        .cell = item->cell,
        .body = item->body,
    };

    sx_column_put(next, sx_column_find(next, &put), &put);
}

/* Readers map all of it, so it is no larger than it needs to be; but each growth is a copy of
 * everything.  So there is room to grow to four times what is needed now, and beyond
 * SX_STORE_ROOM_BYTES to twice that. */
static uint64_t sx_store_next_size(const struct sx_store_writer *writer, uint64_t need_bytes)
{
    uint64_t room_bytes = need_bytes * 3;

    if (room_bytes > SX_STORE_ROOM_BYTES) {
        room_bytes = need_bytes > SX_STORE_ROOM_BYTES ? need_bytes : SX_STORE_ROOM_BYTES;
    }
    const uint64_t size_bytes = need_bytes + room_bytes;
    return size_bytes > writer->reserve_bytes ? size_bytes : writer->reserve_bytes;
}

/* An empty next generation with room for @need_bytes, not yet published. */
static pmix_status_t sx_store_next(const struct sx_store_writer *writer, uint32_t row_count,
                                   uint64_t column_count, uint64_t need_bytes,
                                   struct sx_store_writer *ret_next)
{
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_STORE,
        .nspace = writer->nspace,
        .size_bytes = sx_store_next_size(writer, need_bytes),
        .size_min_bytes = need_bytes,
        .generation = writer->generation + 1,
        .private_memory = writer->private_memory,
        .placement = &writer->placement,
    };
    memset(ret_next, 0, sizeof(*ret_next));
    ret_next->row_count = row_count;
    pmix_status_t rc = sx_segment_create(&ret_next->view.seg, &options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_store_format(ret_next, row_count, column_count);
    if (rc == PMIX_SUCCESS) {
        rc = sx_heap_reserve(&ret_next->heap, need_bytes - ret_next->heap.next_off);
    }
    if (rc != PMIX_SUCCESS) {
        sx_segment_deinit(&ret_next->view.seg);
    }
    return rc;
}

/* Readers of a private store take no lock and may stand in any generation: keep them all, unless
 * there are none. */
static pmix_status_t sx_store_retire_room(struct sx_store_writer *writer)
{
    if (!writer->private_memory || writer->alone) {
        return PMIX_SUCCESS;
    }
    struct sx_segment *const retired = realloc(writer->retired,
                                               (writer->retired_count + 1) * sizeof(*retired));
    if (retired == NULL) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "a list of %zu generations",
                        writer->retired_count + 1);
    }
    writer->retired = retired;
    return PMIX_SUCCESS;
}

static void sx_store_switch(struct sx_store_writer *writer, const struct sx_store_writer *next)
{
    struct sx_segment old = writer->view.seg;

    writer->view = next->view;
    writer->heap = next->heap;
    writer->row_count = next->row_count;
    writer->generation++;
    writer->garbage_bytes = next->garbage_bytes;
    writer->garbage_limit_bytes = SX_STORE_GARBAGE_MIN_BYTES;
    writer->live_bytes = next->heap.next_off - next->garbage_bytes;
    writer->heap.seg = &writer->view.seg;
    /* R-succ -> A-succ (sx_store_successor): the new generation is complete and published. */
    atomic_store_explicit(&sx_segment_header(&old)->successor, writer->generation,
                          memory_order_release);
    if (writer->private_memory && !writer->alone) {
        writer->retired[writer->retired_count++] = old;
    } else {
        sx_segment_deinit(&old);
    }
}

pmix_status_t sx_store_rewrite(struct sx_store_writer *writer, uint32_t row_count,
                               uint64_t extra_bytes)
{
    struct sx_measure measure = { .row_count = row_count };
    struct sx_store_writer next;

    while (measure.chunk_shift < SX_CHUNK_SHIFT_MAX && (1u << measure.chunk_shift) < row_count) {
        measure.chunk_shift++;
    }
    sx_live_each(writer, sx_measure_cell, &measure);
    const uint64_t need_bytes = sx_align_up(SX_STORE_HEAP_OFF +
                                                sx_dictionary_bytes(measure.column_count) +
                                                measure.bytes + extra_bytes,
                                            SX_PAGE_BYTES);
    pmix_status_t rc = sx_store_retire_room(writer);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_store_next(writer, row_count, measure.column_count, need_bytes, &next);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* The copy's memory is reserved, so it cannot fail and its heap stays put. */
    next.heap.seg = &next.view.seg;
    sx_live_each(writer, sx_copy_cell, &next);
    sx_segment_publish(&next.view.seg);
    sx_store_switch(writer, &next);
    return PMIX_SUCCESS;
}

pmix_status_t sx_store_renew(struct sx_store_writer *writer)
{
    return sx_store_rewrite(writer, writer->row_count, 0);
}
