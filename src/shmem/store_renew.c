/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_renew.c - rewrite a store without its garbage as the next generation.
 *     old: current --new one published--> superseded (header names the successor) --> unmapped
 *
 * The live data is measured, then copied into a segment whose size follows from it.  Nothing of the
 * old one changes but its successor word, so readers stay valid as long as they map it.  If the new
 * one cannot be had, the old one goes on as if nothing had happened.  Entered from put and
 * sx_store_renew.  Bounded by the live bytes, which are at most the reserve. */
#include <stdlib.h>

#include "base/status.h"
#include "shmem/store_layout.h"

#define SX_STORE_ROOM_BYTES (UINT64_C(256) << 20)
#define SX_STORE_MEMORY_BYTES (UINT64_C(256) << 10) /* taken at once, or what the step may copy */
#define SX_STORE_MEMORY_PER_BYTE 4u                 /* takes as long as one byte of a copy */

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

/* The segment of the next generation, which has room for @need_bytes, and no memory yet; not
 * formatted.  It must not be moved. */
static pmix_status_t sx_store_next(const struct sx_store_writer *writer, uint32_t row_count,
                                   uint64_t need_bytes, struct sx_store_writer *ret_next)
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
    const pmix_status_t rc = sx_segment_create(&ret_next->view.seg, &options);

    if (rc == PMIX_SUCCESS) {
        sx_heap_init(&ret_next->heap, &ret_next->view.seg, SX_STORE_HEAP_OFF);
    }
    return rc;
}

/* Readers of a private store take no lock and may read any generation: keep them all, unless there
 * are none. */
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

/* One that could not be made larger is renewed less and less often before it is full. */
static uint64_t sx_store_renew_at(const struct sx_store_writer *writer)
{
    const uint64_t size_bytes = writer->view.seg.size_bytes, used_bytes = writer->heap.next_off;
    const uint64_t at = size_bytes / 8 * SX_STORE_BEGIN_EIGHTHS;
    const uint64_t half = used_bytes + (size_bytes - used_bytes) / 2;

    return used_bytes < at ? at : half;
}

static void sx_store_switch(struct sx_store_writer *writer, const struct sx_store_writer *next)
{
    struct sx_segment old = writer->view.seg;

    writer->view = next->view;
    writer->heap = next->heap;
    writer->row_count = next->row_count;
    writer->generation++;
    writer->refused = (struct sx_store_refusal){ .bytes = 0 };
    writer->larger = next->larger;
    writer->table_bytes = next->table_bytes;
    writer->garbage_bytes = next->garbage_bytes;
    writer->garbage_limit_bytes = SX_STORE_GARBAGE_MIN_BYTES;
    writer->renew_at_bytes = sx_store_renew_at(writer);
    writer->live_bytes = next->heap.next_off - next->garbage_bytes;
    writer->heap.seg = &writer->view.seg;
    /* R-succ -> A-succ (sx_store_successor): the new generation is complete and published. */
    atomic_store_explicit(&sx_segment_header(&old)->successor, writer->generation,
                          memory_order_release);
    if (writer->private_memory && !writer->alone) {
        writer->retired[writer->retired_count++] = old;
    } else {
        sx_segment_release(&old);
    }
}

/* Take memory for @need_bytes in *next, which may have less, or none yet.  Return: PMIX_SUCCESS; or
 * why there is none, and then *next is empty. */
static pmix_status_t sx_store_next_back(struct sx_store_writer *writer, uint32_t row_count,
                                        uint64_t need_bytes, struct sx_store_writer *next)
{
    if (next->view.seg.base != NULL &&
        sx_heap_reserve(&next->heap, need_bytes - next->heap.next_off) == PMIX_SUCCESS) {
        return PMIX_SUCCESS;
    }
    sx_segment_release(&next->view.seg);
    writer->copied_bytes += SX_STORE_TRY_BYTES;
    pmix_status_t rc = sx_store_next(writer, row_count, need_bytes, next);

    if (rc == PMIX_SUCCESS) {
        rc = sx_heap_reserve(&next->heap, need_bytes - next->heap.next_off);
        writer->copied_bytes += rc != PMIX_SUCCESS ? need_bytes / SX_STORE_MEMORY_PER_BYTE : 0;
    }
    if (rc != PMIX_SUCCESS) {
        sx_segment_release(&next->view.seg);
    }
    return rc;
}

/* Return: the bytes of live data that a next generation has at least, as the last one that was
 * refused; 0: this is not known without a look at all. */
static uint64_t sx_store_live_least(const struct sx_store_writer *writer, uint32_t row_count)
{
    const struct sx_store_refusal *const refused = &writer->refused;

    return refused->garbage_bytes == writer->garbage_bytes && refused->row_count <= row_count &&
                   writer->renewal == NULL
               ? refused->bytes
               : 0;
}

/* Look at all live data, and take memory for it, and @extra_bytes more, in *next.  Return: as
 * sx_store_next_back. */
static pmix_status_t sx_store_measure(struct sx_store_writer *writer, uint64_t extra_bytes,
                                      struct sx_measure *measure, struct sx_store_writer *next)
{
    const uint32_t row_count = measure->row_count;

    while (measure->chunk_shift < SX_CHUNK_SHIFT_MAX && (1u << measure->chunk_shift) < row_count) {
        measure->chunk_shift++;
    }
    sx_live_each(writer, sx_measure_cell, measure);
    measure->bytes += SX_STORE_HEAP_OFF + sx_dictionary_bytes(measure->column_count);
    const uint64_t need_bytes = sx_align_up(measure->bytes + extra_bytes, SX_PAGE_BYTES);

    sx_store_renew_abandon(writer);
    const pmix_status_t rc = sx_store_next_back(writer, row_count, need_bytes, next);

    if (rc != PMIX_SUCCESS) {
        writer->copied_bytes += need_bytes / 2; /* to measure takes half as long as to copy */
        writer->refused = (struct sx_store_refusal){ .bytes = measure->bytes,
                                                     .garbage_bytes = writer->garbage_bytes,
                                                     .row_count = row_count };
    }
    return rc;
}

pmix_status_t sx_store_rewrite(struct sx_store_writer *writer, uint32_t row_count,
                               uint64_t extra_bytes)
{
    const uint64_t least = sx_store_live_least(writer, row_count);
    struct sx_measure measure = { .row_count = row_count };
    struct sx_store_writer next = { .view.seg = SX_SEGMENT_NULL };
    pmix_status_t rc = sx_store_retire_room(writer);

    if (rc == PMIX_SUCCESS && least != 0) {
        rc = sx_store_next_back(writer, row_count, sx_align_up(least + extra_bytes, SX_PAGE_BYTES),
                                &next);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_measure(writer, extra_bytes, &measure, &next);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_format(&next, row_count, measure.column_count);
    }
    if (rc != PMIX_SUCCESS) {
        sx_segment_release(&next.view.seg);
        return rc;
    }
    /* The copy's memory is reserved, so it cannot fail and its heap stays put. */
    sx_live_each(writer, sx_copy_cell, &next);
    writer->copied_bytes += next.heap.next_off;
    sx_segment_publish(&next.view.seg);
    sx_store_switch(writer, &next);
    return PMIX_SUCCESS;
}

/* ---- in steps ------------------------------------------------------------------------------ */

/* Cells from before its beginning are copied column by column.  Later changes are in both
 * generations already: a cell that the next generation has is newer, or the same. */
struct sx_store_renewal {
    struct sx_store_writer next;
    uint64_t column_count;      /* for which it gets a dictionary ... */
    bool is_formatted;          /* ... and has it; before, nothing is in it */
    uint64_t dictionary;        /* the table of the old one that is walked: a larger one anew ... */
    uint64_t slot;              /* ... from here on; in the column of this slot ... */
    bool is_begun;              /* ... behind the cells of the job and the single row ... */
    uint32_t entry_at, cell_at; /* ... from this cell of this chunk of the directory on */
    uint64_t left_bytes;        /* of a step */
    uint64_t owed_bytes;        /* by the next steps, for what an earlier one could not divide */
    const void *body;           /* of a long value: @body_off, and so much of it is copied */
    uint64_t body_off, body_copied;
    uint32_t body_len;
    bool waits;  /* for more memory, or more steps, for the cell that it is at */
    bool again;  /* a cell that it may be behind is to be copied */
    bool failed; /* it has not enough room, or memory */
};

static void sx_renewal_spend(struct sx_store_renewal *renewal, uint64_t bytes)
{
    const uint64_t some = bytes < renewal->left_bytes ? bytes : renewal->left_bytes;

    renewal->left_bytes -= some;
    renewal->owed_bytes += bytes - some;
}

/* Put @put into the next generation.  Return: false when it has no room. */
static bool sx_renewal_store(struct sx_store_renewal *renewal, struct sx_column_record *record,
                             const struct sx_put *put)
{
    struct sx_store_writer *const next = &renewal->next;

    if (sx_column_is_short(next, record, put->row) ||
        sx_heap_reserve(&next->heap, sx_column_need(next, record, put)) != PMIX_SUCCESS) {
        renewal->failed = true;
        return false;
    }
    sx_column_put(next, record, put);
    return true;
}

/* Have some of the memory for @need bytes.  Return: as sx_heap_prepare. */
static bool sx_renewal_memory(struct sx_store_renewal *renewal, uint64_t need)
{
    const uint64_t some = renewal->left_bytes > SX_STORE_MEMORY_BYTES ? renewal->left_bytes
                                                                      : SX_STORE_MEMORY_BYTES;

    if (sx_heap_prepare(&renewal->next.heap, need, some)) {
        return true; /* the copy that takes it is counted */
    }
    sx_renewal_spend(renewal, some / SX_STORE_MEMORY_PER_BYTE);
    return false;
}

/* Have some of the memory for @put.  Return: whether it is to be stored now: there is all of it, or
 * none to be had, which the store reports. */
static bool sx_renewal_prepare(struct sx_store_renewal *renewal, struct sx_column_record *record,
                               const struct sx_put *put)
{
    renewal->waits = false;
    if (sx_column_is_short(&renewal->next, record, put->row)) {
        return true;
    }
    renewal->waits = !sx_renewal_memory(renewal, sx_column_need(&renewal->next, record, put));
    return !renewal->waits;
}

/* The long value of which a part is copied is not wanted any more. */
static void sx_renewal_body_drop(struct sx_store_renewal *renewal)
{
    if (renewal->body_off != 0) {
        sx_store_garbage(&renewal->next, sx_align_up(renewal->body_len, 8));
        renewal->body_off = 0;
    }
    renewal->body = NULL;
}

/* Copy on in a long value; its cell is stored when all of it is there. */
static void sx_renewal_copy_long(struct sx_store_renewal *renewal, struct sx_column_record *record,
                                 struct sx_put *put)
{
    struct sx_heap *const heap = &renewal->next.heap;

    if (renewal->body != put->body) {
        sx_renewal_body_drop(renewal);
        if (!sx_renewal_prepare(renewal, record, put)) {
            return;
        }
        if (sx_column_is_short(&renewal->next, record, put->row) ||
            sx_heap_alloc(heap, put->cell.len, 8, &renewal->body_off) != PMIX_SUCCESS) {
            renewal->body_off = 0;
            renewal->failed = true;
            return;
        }
        renewal->body = put->body;
        renewal->body_len = put->cell.len;
        renewal->body_copied = 0;
    }
    const uint64_t left = put->cell.len - renewal->body_copied;
    const uint64_t some = left < renewal->left_bytes ? left : renewal->left_bytes;

    memcpy(heap->seg->base + renewal->body_off + renewal->body_copied,
           (const uint8_t *)put->body + renewal->body_copied, some);
    renewal->body_copied += some;
    sx_renewal_spend(renewal, some);
    renewal->waits = some < left;
    if (!renewal->waits) {
        put->body_off = renewal->body_off;
        renewal->body_off = 0;
        renewal->body = NULL;
        (void)sx_renewal_store(renewal, record, put);
    }
}

/* A live cell of the old one. */
static void sx_renewal_copy(void *arg, const struct sx_column_record *record, uint32_t row,
                            const struct sx_item *item)
{
    struct sx_store_renewal *const renewal = arg;
    struct sx_put put = {
        .realm = record->realm,
        .row = row,
        .key = record->key,
        .key_len = record->key_len,
        .hash = sx_store_hash(record->realm, record->key, record->key_len),
        .cell = item->cell,
        .body = item->body,
    };
    struct sx_column_record *const found = sx_column_find(&renewal->next, &put);
    const struct sx_words *const words = found != NULL ? sx_column_words(&renewal->next, found, row)
                                                       : NULL;

    sx_renewal_spend(renewal, sizeof(struct sx_words));
    if (words != NULL && !sx_words_is_absent(words)) {
        return;
    }
    if (put.cell.len > SX_STORE_LONG_BYTES) {
        sx_renewal_copy_long(renewal, found, &put);
    } else if (sx_renewal_prepare(renewal, found, &put)) {
        sx_renewal_spend(renewal, item->cell.len);
        (void)sx_renewal_store(renewal, found, &put);
    }
}

/* Copy on in the directory of @record.  Return: whether it is done. */
static bool sx_renewal_directory(struct sx_store_renewal *renewal, struct sx_reach *reach,
                                 const struct sx_column_record *record)
{
    const struct sx_store_header *const header = sx_reach_store(reach);
    const uint32_t shift = header->chunk_shift;
    /* relaxed here and below: the writer reads what it wrote. */
    const uint64_t directory = atomic_load_explicit(&record->directory, memory_order_relaxed);
    const uint64_t entry_count = directory == 0 ? 0
                                                : sx_directory_bytes(header->row_count, shift) /
                                                      sizeof(uint64_t);
    const void *const entries = reach->base + directory;

    for (; renewal->entry_at < entry_count; renewal->entry_at++, renewal->cell_at = 0) {
        const uint64_t off = atomic_load_explicit((const _Atomic uint64_t *)entries +
                                                      renewal->entry_at,
                                                  memory_order_relaxed);
        const void *const chunk = reach->base + off;

        sx_renewal_spend(renewal, 1);
        for (; off != 0 && renewal->cell_at < 1u << shift && renewal->left_bytes > 0 &&
               !renewal->failed;
             renewal->cell_at++) {
            sx_renewal_spend(renewal, 1);
            sx_live_cell(reach, record, (renewal->entry_at << shift) + renewal->cell_at,
                         (const struct sx_words *)chunk + renewal->cell_at, sx_renewal_copy,
                         renewal);
            if (renewal->waits) {
                return false;
            }
        }
        if (renewal->left_bytes == 0 || renewal->failed) {
            return false; /* behind the last cell of a chunk as well: the next step finds that */
        }
    }
    return true;
}

/* Copy on in one column.  Return: whether it is done. */
static bool sx_renewal_column(struct sx_store_renewal *renewal, struct sx_reach *reach,
                              const struct sx_column_record *record)
{
    if (!renewal->is_begun) {
        renewal->entry_at = renewal->cell_at = 0;
        sx_live_cell(reach, record, SX_ROW_JOB, &record->job, sx_renewal_copy, renewal);
        if (!renewal->waits) {
            sx_live_cell(reach, record, record->single_row, &record->single, sx_renewal_copy,
                         renewal);
        }
        if (renewal->waits) {
            return false;
        }
        renewal->is_begun = true;
    }
    return sx_renewal_directory(renewal, reach, record);
}

/* Return: whether all columns have been walked. */
static bool sx_renewal_walk(struct sx_store_writer *writer, struct sx_store_renewal *renewal)
{
    struct sx_reach reach = sx_reach_init(&writer->view);
    const uint64_t word = atomic_load_explicit(&sx_writer_store(writer)->dictionary,
                                               memory_order_relaxed);
    const void *const at = reach.base + (word & ~SX_DICTIONARY_SHIFT_MASK);
    const struct sx_slot *const slots = at;

    if (renewal->dictionary != word) { /* its columns have other slots */
        renewal->dictionary = word;
        renewal->slot = 0;
        renewal->is_begun = false;
    }
    for (; renewal->slot < UINT64_C(1) << (word & SX_DICTIONARY_SHIFT_MASK); renewal->slot++) {
        const struct sx_slot *const slot = &slots[renewal->slot];

        if (renewal->left_bytes == 0 || renewal->failed) {
            return false;
        }
        sx_renewal_spend(renewal, 1);
        if (atomic_load_explicit(&slot->tag, memory_order_relaxed) != 0) {
            const void *const record = reach.base +
                                       atomic_load_explicit(&slot->column, memory_order_relaxed);
            if (!sx_renewal_column(renewal, &reach, record)) {
                return false;
            }
        }
        renewal->is_begun = false;
    }
    return !renewal->failed;
}

/* Have some of the memory for the dictionary, which is long in a store of many columns.  Return:
 * whether the next generation is formatted. */
static bool sx_renewal_format(struct sx_store_renewal *renewal)
{
    struct sx_store_writer *const next = &renewal->next;

    if (renewal->is_formatted) {
        return true;
    }
    if (!sx_renewal_memory(renewal, sx_dictionary_bytes(renewal->column_count))) {
        return false;
    }
    renewal->is_formatted = sx_store_format(next, next->row_count, renewal->column_count) ==
                            PMIX_SUCCESS;
    renewal->failed = !renewal->is_formatted;
    return renewal->is_formatted;
}

/* Return: whether all columns are done. */
static bool sx_renewal_columns(struct sx_store_writer *writer, struct sx_store_renewal *renewal)
{
    if (!sx_renewal_format(renewal)) {
        return false;
    }
    while (sx_renewal_walk(writer, renewal)) {
        if (!renewal->again) {
            sx_renewal_body_drop(renewal);
            return true;
        }
        renewal->again = false;
        renewal->slot = 0;
    }
    return false;
}

bool sx_store_renew_begin(struct sx_store_writer *writer, uint64_t extra_bytes)
{
    const uint64_t columns = atomic_load_explicit(&sx_writer_store(writer)->column_count,
                                                  memory_order_relaxed);
    /* Including the puts until the next generation is there. */
    const uint64_t live = writer->live_bytes + writer->live_bytes / SX_STORE_COPY_TIMES +
                          extra_bytes;

    if (writer->live_bytes < SX_STORE_STEPS_MIN_BYTES && extra_bytes == 0) {
        writer->renew_at_bytes = UINT64_MAX; /* until it is renewed for another reason */
        return false;
    }
    struct sx_store_renewal *const renewal = calloc(1, sizeof(*renewal));

    if (renewal == NULL ||
        sx_store_next(writer, writer->row_count,
                      sx_align_up(SX_STORE_HEAP_OFF + sx_dictionary_bytes(columns) + live,
                                  SX_PAGE_BYTES),
                      &renewal->next) != PMIX_SUCCESS) {
        free(renewal);
        writer->renew_at_bytes = UINT64_MAX;
        return false;
    }
    renewal->column_count = columns;
    writer->renewal = renewal;
    return true;
}

bool sx_store_renew_step(struct sx_store_writer *writer, uint64_t bytes)
{
    struct sx_store_renewal *const renewal = writer->renewal;

    if (renewal == NULL) {
        return false;
    }
    const uint64_t paid = bytes < renewal->owed_bytes ? bytes : renewal->owed_bytes;

    renewal->owed_bytes -= paid;
    renewal->left_bytes = bytes - paid;
    renewal->waits = false;
    const bool is_done = renewal->left_bytes > 0 && sx_renewal_columns(writer, renewal);

    writer->copied_bytes += bytes - renewal->left_bytes;
    if (renewal->failed) {
        sx_store_renew_abandon(writer);
    } else if (is_done) {
        sx_segment_publish(&renewal->next.view.seg);
        sx_store_switch(writer, &renewal->next);
        writer->renewal = NULL;
        free(renewal);
    }
    return writer->renewal != NULL;
}

void sx_store_renew_put(struct sx_store_writer *writer, const struct sx_put *put)
{
    struct sx_store_renewal *const renewal = writer->renewal;

    if (renewal != NULL && !renewal->is_formatted) {
        return; /* it is copied later, as all is */
    }
    if (renewal != NULL && put->body_off != 0) {
        sx_store_renew_unset(writer, put);
        renewal->again = true;
        return;
    }
    if (renewal != NULL && !sx_renewal_store(renewal, sx_column_find(&renewal->next, put), put)) {
        sx_store_renew_abandon(writer);
    }
}

void sx_store_renew_unset(struct sx_store_writer *writer, const struct sx_put *put)
{
    struct sx_store_writer *const next = writer->renewal != NULL && writer->renewal->is_formatted
                                             ? &writer->renewal->next
                                             : NULL;
    struct sx_column_record *const record = next != NULL ? sx_column_find(next, put) : NULL;
    struct sx_words *const words = record != NULL ? sx_column_words(next, record, put->row) : NULL;

    /* relaxed: the writer's own store.  A cell that has not been copied yet is absent in the next
     * one. */
    if (words != NULL && atomic_load_explicit(&words->word0, memory_order_relaxed) != 0) {
        sx_column_unset(next, record, words);
    }
}

void sx_store_renew_abandon(struct sx_store_writer *writer)
{
    if (writer->renewal != NULL) {
        sx_segment_release(&writer->renewal->next.view.seg);
        free(writer->renewal);
        writer->renewal = NULL;
        writer->renew_at_bytes = UINT64_MAX; /* when it is full there is another way */
        writer->garbage_limit_bytes = writer->garbage_bytes * 2;
    }
}

pmix_status_t sx_store_renew(struct sx_store_writer *writer)
{
    return sx_store_rewrite(writer, writer->row_count, 0);
}
