/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* column.c - the writer's changes of dictionary, columns and cells.
 *     cell: ABSENT --first put--> HERE --changed or withdrawn--> MOVED (again and again)
 *
 * Each new part is complete before one release store makes it reachable: a body before its cell,
 * a chunk before its entry, a column before its slot's tag, a table before the dictionary word.
 * A larger table is filled in steps, some slots with each new column.
 * So a writer that is killed anywhere leaves a store that is valid.  Entered from store_writer.c
 * and store_renew.c with the memory reserved; hence nothing here fails half way. */
#include "base/status.h"
#include "shmem/store_layout.h"

#define SX_DICTIONARY_SMALL 4096u  /* a table of no more slots is moved at once ... */
#define SX_DICTIONARY_MOVE_MAX 32u /* ... of a larger one, so many with each column */

static void *sx_writer_at(const struct sx_store_writer *writer, uint64_t off)
{
    return writer->view.seg.base + off;
}

static uint64_t sx_writer_alloc(struct sx_store_writer *writer, uint64_t size, uint64_t align)
{
    uint64_t off = 0;
    const pmix_status_t rc = sx_heap_alloc(&writer->heap, size, align, &off);

    sx_assert(rc == PMIX_SUCCESS); /* reserved by the caller */
    return off;
}

void sx_store_garbage(struct sx_store_writer *writer, uint64_t bytes)
{
    writer->garbage_bytes += bytes;
    /* relaxed: for reports only. */
    atomic_store_explicit(&sx_segment_header(&writer->view.seg)->garbage_bytes,
                          writer->garbage_bytes, memory_order_relaxed);
}

/* ---- dictionary --------------------------------------------------------------------------- */

static uint32_t sx_dictionary_shift(uint64_t column_count)
{
    uint32_t shift = SX_DICTIONARY_SHIFT_MIN;

    while ((UINT64_C(1) << shift) < column_count * 4) { /* a quarter full: room to double */
        shift++;
    }
    return shift;
}

uint64_t sx_dictionary_bytes(uint64_t column_count)
{
    return (sizeof(struct sx_slot) << sx_dictionary_shift(column_count)) + SX_CACHELINE_BYTES;
}

/* relaxed throughout: the writer is the only one who changes these words. */
static uint64_t sx_column_count(const struct sx_store_writer *writer)
{
    return atomic_load_explicit(&sx_writer_store(writer)->column_count, memory_order_relaxed);
}

static uint64_t sx_dictionary_word(const struct sx_store_writer *writer)
{
    return atomic_load_explicit(&sx_writer_store(writer)->dictionary, memory_order_relaxed);
}

static uint64_t sx_slot_count(uint64_t word)
{
    return UINT64_C(1) << (word & SX_DICTIONARY_SHIFT_MASK);
}

static uint64_t sx_slots_bytes(uint64_t word)
{
    return sizeof(struct sx_slot) << (word & SX_DICTIONARY_SHIFT_MASK);
}

static struct sx_slot *sx_slots_at(const struct sx_store_writer *writer, uint64_t word)
{
    return sx_writer_at(writer, word & ~SX_DICTIONARY_SHIFT_MASK);
}

/* Return: how many columns a table has when a larger one is begun, so that at most half of its
 * slots are taken until the larger one is complete. */
static uint64_t sx_dictionary_full_at(uint64_t word)
{
    const uint64_t slot_count = sx_slot_count(word);

    return slot_count / 2 -
           (slot_count > SX_DICTIONARY_SMALL ? slot_count / SX_DICTIONARY_MOVE_MAX : 0);
}

/* The next column needs a larger table, which has not been begun. */
static bool sx_dictionary_is_full(const struct sx_store_writer *writer)
{
    return writer->larger.word == 0 &&
           sx_column_count(writer) >= sx_dictionary_full_at(sx_dictionary_word(writer));
}

static void sx_dictionary_install(struct sx_store_writer *writer, uint64_t off, uint32_t shift)
{
    /* R-dict -> A-dict (sx_dictionary_find): the table is filled before it is shown. */
    atomic_store_explicit(&sx_writer_store(writer)->dictionary, off | shift, memory_order_release);
}

/* Link @column under @tag into a free slot of the table @word.  Return: the slot's number. */
static uint64_t sx_dictionary_add(const struct sx_store_writer *writer, uint64_t word, uint64_t tag,
                                  sx_column column)
{
    struct sx_slot *const slots = sx_slots_at(writer, word);
    const uint64_t mask = sx_slot_count(word) - 1;

    for (uint64_t i = tag;; i++) { /* ends: at most half of the slots are taken */
        struct sx_slot *const slot = &slots[i & mask];
        /* relaxed: our own stores. */
        if (atomic_load_explicit(&slot->tag, memory_order_relaxed) == 0) {
            atomic_store_explicit(&slot->column, column, memory_order_relaxed);
            /* R-tag -> A-tag (sx_dictionary_find): column offset, record and key are there. */
            atomic_store_explicit(&slot->tag, tag, memory_order_release);
            return i & mask;
        }
    }
}

/* Begin a table of twice the slots.  Readers use the old one until the new one is complete, and
 * may then still be in the old one, which becomes garbage. */
static void sx_dictionary_begin(struct sx_store_writer *writer)
{
    const uint64_t word = sx_dictionary_word(writer);

    sx_assert((word & SX_DICTIONARY_SHIFT_MASK) < SX_DICTIONARY_SHIFT_MAX);
    writer->larger.word = sx_writer_alloc(writer, 2 * sx_slots_bytes(word), SX_CACHELINE_BYTES) |
                          ((word & SX_DICTIONARY_SHIFT_MASK) + 1);
    writer->table_bytes += 2 * sx_slots_bytes(word);
}

/* Copy some slots into the larger table, and show it when it has all of them. */
static void sx_dictionary_move(struct sx_store_writer *writer)
{
    const uint64_t word = sx_dictionary_word(writer), slot_count = sx_slot_count(word);
    const struct sx_slot *const slots = sx_slots_at(writer, word);
    const uint64_t left = slot_count - writer->larger.moved;
    const uint64_t some = slot_count <= SX_DICTIONARY_SMALL || left < SX_DICTIONARY_MOVE_MAX
                              ? left
                              : SX_DICTIONARY_MOVE_MAX;

    for (uint64_t end = writer->larger.moved + some; writer->larger.moved < end;
         writer->larger.moved++) {
        const struct sx_slot *const slot = &slots[writer->larger.moved];
        /* relaxed: our own stores. */
        const uint64_t tag = atomic_load_explicit(&slot->tag, memory_order_relaxed);

        if (tag != 0) {
            sx_dictionary_add(writer, writer->larger.word, tag,
                              atomic_load_explicit(&slot->column, memory_order_relaxed));
        }
    }
    if (writer->larger.moved == slot_count) {
        sx_dictionary_install(writer, writer->larger.word & ~SX_DICTIONARY_SHIFT_MASK,
                              (uint32_t)(writer->larger.word & SX_DICTIONARY_SHIFT_MASK));
        sx_store_garbage(writer, sx_slots_bytes(word));
        writer->table_bytes += sx_slots_bytes(word);
        writer->larger = (struct sx_store_larger){ .word = 0 };
    }
}

/* Have memory for a larger table that will be needed soon, in step with the columns until then:
 * when it is begun, all is there.  A shortage is reported when the table is needed. */
static void sx_dictionary_prepare(struct sx_store_writer *writer)
{
    const uint64_t word = sx_dictionary_word(writer), slot_count = sx_slot_count(word);
    const uint64_t steps = slot_count / 16; /* columns */
    const uint64_t begin = sx_dictionary_full_at(word) - steps;
    const uint64_t count = sx_column_count(writer);
    struct sx_heap *const heap = &writer->heap;

    if (slot_count <= SX_DICTIONARY_SMALL || writer->larger.word != 0 || count < begin) {
        return;
    }
    const uint64_t some = (count - begin + 1) * (2 * sx_slots_bytes(word) / steps);

    if (sx_range_fits(heap->next_off, some, heap->seg->size_bytes)) {
        (void)sx_segment_back(heap->seg, heap->next_off + some);
    }
}

/* Link the new column at @off into the dictionary, and into the larger one that is being filled if
 * that is past its slot already. */
static void sx_dictionary_enter(struct sx_store_writer *writer, uint64_t hash, uint64_t off)
{
    const uint64_t tag = hash != 0 ? hash : 1;
    const uint64_t slot = sx_dictionary_add(writer, sx_dictionary_word(writer), tag, off);

    if (writer->larger.word != 0 && slot < writer->larger.moved) {
        sx_dictionary_add(writer, writer->larger.word, tag, off);
    }
}

pmix_status_t sx_store_format(struct sx_store_writer *writer, uint32_t row_count,
                              uint64_t column_count)
{
    struct sx_store_header *const header = sx_writer_store(writer);
    const uint32_t shift = sx_dictionary_shift(column_count);
    uint64_t off;

    header->row_count = row_count;
    header->chunk_shift = 0;
    while (header->chunk_shift < SX_CHUNK_SHIFT_MAX && (1u << header->chunk_shift) < row_count) {
        header->chunk_shift++;
    }
    sx_heap_init(&writer->heap, &writer->view.seg, SX_STORE_HEAP_OFF);
    const pmix_status_t rc = sx_heap_alloc(&writer->heap, sizeof(struct sx_slot) << shift,
                                           SX_CACHELINE_BYTES, &off);
    if (rc == PMIX_SUCCESS) {
        sx_dictionary_install(writer, off, shift);
    }
    return rc;
}

/* ---- columns ------------------------------------------------------------------------------ */

struct sx_column_record *sx_column_find(const struct sx_store_writer *writer,
                                        const struct sx_put *put)
{
    struct sx_reach reach = sx_reach_init(&writer->view);
    sx_column column;

    if (sx_dictionary_find(&reach, put->hash, put->realm, put->key, put->key_len, &column) !=
        PMIX_SUCCESS) {
        return NULL;
    }
    return sx_writer_at(writer, column);
}

static struct sx_column_record *sx_column_add(struct sx_store_writer *writer,
                                              const struct sx_put *put)
{
    if (sx_dictionary_is_full(writer)) {
        sx_dictionary_begin(writer);
    }
    if (writer->larger.word != 0) {
        sx_dictionary_move(writer);
    }
    const uint64_t off = sx_writer_alloc(writer, sx_column_record_bytes(put->key_len),
                                         SX_CACHELINE_BYTES);
    struct sx_column_record *const record = sx_writer_at(writer, off);
    record->realm = (uint16_t)put->realm;
    record->key_len = (uint16_t)put->key_len;
    memcpy(record->key, put->key, put->key_len);

    sx_dictionary_enter(writer, put->hash, off);
    /* relaxed: for reports only. */
    atomic_store_explicit(&sx_writer_store(writer)->column_count, sx_column_count(writer) + 1,
                          memory_order_relaxed);
    sx_dictionary_prepare(writer);
    return record;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* relaxed in this section: the writer loads what it stored itself. */
static uint64_t sx_load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* @row has the single cell, or would get it. */
static bool sx_column_is_single(const struct sx_column_record *record, uint32_t row)
{
    return sx_load(&record->single.word0) == 0 || record->single_row == row;
}

bool sx_column_is_short(const struct sx_store_writer *writer, const struct sx_column_record *record,
                        uint32_t row)
{
    return record != NULL && row != SX_ROW_JOB && row >= writer->row_count &&
           !sx_column_is_single(record, row);
}

/* The entry of @row in the directory of @record; NULL without a directory. */
static _Atomic uint64_t *sx_column_entry(const struct sx_store_writer *writer,
                                         const struct sx_column_record *record, uint32_t row)
{
    const uint64_t directory = sx_load(&record->directory);

    if (directory == 0 || row >= writer->row_count) {
        return NULL;
    }
    return (_Atomic uint64_t *)sx_writer_at(writer, directory) +
           (row >> sx_writer_store(writer)->chunk_shift);
}

struct sx_words *sx_column_words(const struct sx_store_writer *writer,
                                 struct sx_column_record *record, uint32_t row)
{
    if (row == SX_ROW_JOB) {
        return &record->job;
    }
    if (sx_column_is_single(record, row)) {
        return sx_load(&record->single.word0) != 0 ? &record->single : NULL;
    }
    const _Atomic uint64_t *const entry = sx_column_entry(writer, record, row);
    if (entry == NULL || sx_load(entry) == 0) {
        return NULL;
    }
    struct sx_words *const chunk = sx_writer_at(writer, sx_load(entry));
    return &chunk[row & ((1u << sx_writer_store(writer)->chunk_shift) - 1)];
}

static void sx_column_directory(struct sx_store_writer *writer, struct sx_column_record *record)
{
    const uint32_t shift = sx_writer_store(writer)->chunk_shift;
    const uint64_t off = sx_writer_alloc(writer, sx_directory_bytes(writer->row_count, shift), 8);

    /* R-dir -> A-dir (sx_directory_words): all entries are zero, and below used_bytes. */
    atomic_store_explicit(&record->directory, off, memory_order_release);
}

static void sx_column_chunk(struct sx_store_writer *writer, _Atomic uint64_t *entry)
{
    const uint64_t off = sx_writer_alloc(writer,
                                         sizeof(struct sx_words)
                                             << sx_writer_store(writer)->chunk_shift,
                                         SX_CACHELINE_BYTES);

    /* R-chunk -> A-chunk (sx_directory_words): all cells are zero, and below used_bytes. */
    atomic_store_explicit(entry, off, memory_order_release);
}

/* As sx_column_words, but makes what is missing. */
static struct sx_words *sx_column_words_make(struct sx_store_writer *writer,
                                             struct sx_column_record *record, uint32_t row)
{
    if (row != SX_ROW_JOB && sx_load(&record->single.word0) == 0) {
        record->single_row = row; /* R-cell will cover it */
        return &record->single;
    }
    if (row != SX_ROW_JOB && !sx_column_is_single(record, row)) {
        sx_assert(row < writer->row_count);
        if (sx_load(&record->directory) == 0) {
            sx_column_directory(writer, record);
        }
        _Atomic uint64_t *const entry = sx_column_entry(writer, record, row);
        if (sx_load(entry) == 0) {
            sx_column_chunk(writer, entry);
        }
    }
    return sx_column_words(writer, record, row);
}

uint64_t sx_words_bytes(const struct sx_store_writer *writer, const struct sx_words *words)
{
    uint64_t word0 = sx_load(&words->word0);
    uint64_t bytes = 0;

    if ((uint16_t)word0 == SX_CELL_MOVED) {
        const uint64_t off = (word0 >> 16) * 8;
        if (off == SX_STORE_ABSENT_OFF) {
            return 0;
        }
        word0 = *(const uint64_t *)sx_writer_at(writer, off);
        bytes = sizeof(struct sx_cell);
    }
    return bytes + sx_align_up(word0 >> 32, 8);
}

bool sx_words_is_absent(const struct sx_words *words)
{
    const uint64_t word0 = sx_load(&words->word0);

    return word0 == 0 || word0 == (SX_CELL_MOVED | (SX_STORE_ABSENT_OFF / 8) << 16);
}

uint64_t sx_column_idle_bytes(const struct sx_column_record *record)
{
    const bool is_idle = sx_words_is_absent(&record->job) && sx_words_is_absent(&record->single) &&
                         sx_load(&record->directory) == 0;

    return is_idle ? sx_column_record_bytes(record->key_len) : 0;
}

static void sx_words_store(struct sx_store_writer *writer, struct sx_words *words,
                           const struct sx_put *put)
{
    const bool fresh = sx_load(&words->word0) == 0;
    const uint64_t head = fresh ? 0 : sizeof(struct sx_cell);
    const uint64_t body_bytes = put->body_off != 0 ? 0 : put->cell.len;
    uint64_t word0 = sx_word0(&put->cell);
    uint64_t word1 = put->cell.bits;
    uint64_t off = 0;

    if (head + body_bytes > 0) {
        off = sx_writer_alloc(writer, head + body_bytes, 8);
    }
    if (body_bytes > 0) {
        word1 = off + head;
        memcpy(sx_writer_at(writer, word1), put->body, body_bytes);
    } else if (put->body_off != 0) {
        word1 = put->body_off;
    }
    if (fresh) {
        /* relaxed: the release of word0 covers it. */
        atomic_store_explicit(&words->word1, word1, memory_order_relaxed);
    } else {
        const uint64_t moved[2] = { word0, word1 };
        memcpy(sx_writer_at(writer, off), moved, sizeof(moved));
        sx_store_garbage(writer, sx_words_bytes(writer, words));
        word0 = SX_CELL_MOVED | (off / 8) << 16;
    }
    /* R-cell -> A-cell (sx_words_read): body, record and word1 are there before the cell is. */
    atomic_store_explicit(&words->word0, word0, memory_order_release);
}

void sx_column_unset(struct sx_store_writer *writer, const struct sx_column_record *record,
                     struct sx_words *words)
{
    writer->refused.bytes = 0;
    sx_store_garbage(writer, sx_words_bytes(writer, words));
    /* R-cell -> A-cell (sx_words_read): the zero cell has been there since the beginning. */
    atomic_store_explicit(&words->word0, SX_CELL_MOVED | (SX_STORE_ABSENT_OFF / 8) << 16,
                          memory_order_release);
    sx_store_garbage(writer, sx_column_idle_bytes(record));
    writer->live_bytes = writer->heap.next_off - writer->garbage_bytes;
}

uint64_t sx_column_need(const struct sx_store_writer *writer, struct sx_column_record *record,
                        const struct sx_put *put)
{
    const uint32_t shift = sx_writer_store(writer)->chunk_shift;
    uint64_t need = put->body_off != 0 ? 0 : sx_align_up(put->cell.len, 8);

    if (record == NULL) {
        need += sx_column_record_bytes(put->key_len) + SX_CACHELINE_BYTES;
        if (sx_dictionary_is_full(writer)) {
            need += 2 * sx_slots_bytes(sx_dictionary_word(writer)) + SX_CACHELINE_BYTES;
        }
        return need;
    }
    if (sx_column_words(writer, record, put->row) != NULL) {
        return need + sizeof(struct sx_cell);
    }
    if (!sx_column_is_single(record, put->row)) {
        if (sx_load(&record->directory) == 0) {
            need += sx_directory_bytes(writer->row_count, shift) + 8;
        }
        need += (sizeof(struct sx_words) << shift) + SX_CACHELINE_BYTES;
    }
    return need;
}

void sx_column_put(struct sx_store_writer *writer, struct sx_column_record *record,
                   const struct sx_put *put)
{
    if (record == NULL) {
        record = sx_column_add(writer, put);
    } else {
        writer->garbage_bytes -= sx_column_idle_bytes(record); /* as sx_store_unset counted it */
    }
    sx_words_store(writer, sx_column_words_make(writer, record, put->row), put);
    writer->live_bytes = writer->heap.next_off - writer->garbage_bytes;
}
