/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store.c - read a store: dictionary, column, cell, body.
 *
 * One probe, one cell.  Entered from the client's and the server's lookups, in any thread, with the
 * store possibly being written.  Each step loads one published word with acquire and then reads
 * bytes that never change again; each offset is bounded before it is followed (sx_reach_at), so
 * that a segment that contradicts itself causes PMIX_ERR_UNPACK_FAILURE and nothing worse.  A
 * lookup's work is bounded by the slots of the dictionary, at most half of which are taken. */
#include "shmem/store.h"

#include <inttypes.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/status.h"
#include "shmem/store_layout.h"

pmix_status_t sx_store_attach(struct sx_store *store, int fd)
{
    *store = SX_STORE_NULL;
    const pmix_status_t rc = sx_segment_attach(&store->seg, fd, SX_SEGMENT_STORE);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_reach reach = sx_reach_init(store);
    if (sx_reach_at(&reach, 0, SX_STORE_HEAP_OFF) == NULL) {
        sx_store_detach(store);
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "store without a header");
    }
    const struct sx_store_header *const header = sx_reach_store(&reach);
    if (header->row_count == 0 || header->row_count > SX_STORE_ROW_MAX ||
        header->chunk_shift > SX_CHUNK_SHIFT_MAX) {
        const pmix_status_t bad = SX_RAISE(PMIX_ERR_BAD_PARAM,
                                           "store of %" PRIu32 " rows in chunks of 2^%" PRIu32,
                                           header->row_count, header->chunk_shift);
        sx_store_detach(store);
        return bad;
    }
    return PMIX_SUCCESS;
}

void sx_store_detach(struct sx_store *store)
{
    sx_segment_deinit(&store->seg);
}

uint64_t sx_store_hash(enum sx_realm realm, const char *key, size_t key_len)
{
    return XXH3_64bits_withSeed(key, key_len, (XXH64_hash_t)realm);
}

const struct sx_column_record *sx_column_at(struct sx_reach *reach, sx_column column)
{
    const struct sx_column_record *const record = sx_reach_at(reach, column,
                                                              sizeof(struct sx_column_record));

    if (record == NULL || column % SX_CACHELINE_BYTES != 0 || column < SX_STORE_HEAP_OFF) {
        return NULL;
    }
    const uint16_t key_len = record->key_len;
    if (key_len > PMIX_MAX_KEYLEN ||
        sx_reach_at(reach, column, sx_column_record_bytes(key_len)) == NULL) {
        return NULL;
    }
    return record;
}

pmix_status_t sx_dictionary_find(struct sx_reach *reach, uint64_t hash, enum sx_realm realm,
                                 const char *key, size_t key_len, sx_column *ret_column)
{
    /* A-dict <- R-dict (sx_dictionary_install): the slots of a table are copied before it is
     * shown. */
    const uint64_t word = atomic_load_explicit(&sx_reach_store(reach)->dictionary,
                                               memory_order_acquire);
    const uint64_t off = word & ~SX_DICTIONARY_SHIFT_MASK;
    const uint64_t shift = word & SX_DICTIONARY_SHIFT_MASK;
    if (shift > SX_DICTIONARY_SHIFT_MAX) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const uint64_t slot_count = UINT64_C(1) << shift;
    const struct sx_slot *const slots = sx_reach_at(reach, off,
                                                    slot_count * sizeof(struct sx_slot));
    if (slots == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const uint64_t want = hash != 0 ? hash : 1;
    for (uint64_t i = 0; i < slot_count; i++) {
        const struct sx_slot *const slot = &slots[(hash + i) & (slot_count - 1)];
        /* A-tag <- R-tag (sx_dictionary_add): the column and its key are there. */
        const uint64_t tag = atomic_load_explicit(&slot->tag, memory_order_acquire);
        if (tag == 0) {
            return PMIX_ERR_NOT_FOUND;
        }
        if (tag != want) {
            continue;
        }
        /* relaxed: covered by the tag's release. */
        const sx_column column = atomic_load_explicit(&slot->column, memory_order_relaxed);
        const struct sx_column_record *const record = sx_column_at(reach, column);
        if (record == NULL) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        if (record->realm == realm && record->key_len == key_len &&
            memcmp(record->key, key, key_len) == 0) {
            *ret_column = column;
            return PMIX_SUCCESS;
        }
    }
    return PMIX_ERR_UNPACK_FAILURE; /* a writer never fills a table */
}

sx_column sx_store_column_hashed(const struct sx_store *store, uint64_t hash, enum sx_realm realm,
                                 const char *key, size_t key_len)
{
    sx_column column = 0;

    if (store->seg.base == NULL || key_len > PMIX_MAX_KEYLEN) {
        return 0;
    }
    struct sx_reach reach = sx_reach_init(store);
    if (sx_dictionary_find(&reach, hash, realm, key, key_len, &column) != PMIX_SUCCESS) {
        return 0;
    }
    return column;
}

sx_column sx_store_column(const struct sx_store *store, enum sx_realm realm, const char *key,
                          size_t key_len)
{
    return sx_store_column_hashed(store, sx_store_hash(realm, key, key_len), realm, key, key_len);
}

pmix_status_t sx_words_read(struct sx_reach *reach, const struct sx_words *words,
                            struct sx_item *ret)
{
    struct sx_item item = { .body = NULL };
    /* A-cell <- R-cell (sx_words_store): word1, the body or the moved record are there. */
    uint64_t word0 = atomic_load_explicit(&words->word0, memory_order_acquire);
    uint64_t word1;

    if ((uint16_t)word0 == SX_CELL_MOVED) {
        const uint64_t *const moved = sx_reach_at(reach, (word0 >> 16) * 8, 2 * sizeof(*moved));
        if (moved == NULL) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        word0 = moved[0];
        word1 = moved[1];
        if ((uint16_t)word0 == SX_CELL_MOVED) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
    } else {
        /* relaxed: written once, before the release of word0. */
        word1 = atomic_load_explicit(&words->word1, memory_order_relaxed);
    }
    if (word0 == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    item.cell = sx_cell_of_words(word0, word1);
    if (item.cell.len != 0) {
        item.body = sx_reach_at(reach, word1, item.cell.len);
        if (item.body == NULL || word1 % 8 != 0) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
    }
    *ret = item;
    return PMIX_SUCCESS;
}

/* The cell of @row beyond the single one.  Return: NULL in *ret_words when it is not there. */
static pmix_status_t sx_directory_words(struct sx_reach *reach,
                                        const struct sx_column_record *record, uint32_t row,
                                        const struct sx_words **ret_words)
{
    const uint32_t shift = sx_reach_store(reach)->chunk_shift;

    *ret_words = NULL;
    if (row >= sx_reach_store(reach)->row_count) {
        return PMIX_SUCCESS;
    }
    /* A-dir <- R-dir (sx_column_directory): a new directory is zero. */
    const uint64_t directory = atomic_load_explicit(&record->directory, memory_order_acquire);
    if (directory == 0) {
        return PMIX_SUCCESS;
    }
    if (shift > SX_CHUNK_SHIFT_MAX || directory % 8 != 0) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const uint64_t entry_index = row >> shift;
    const _Atomic uint64_t *const entries = sx_reach_at(reach, directory,
                                                        (entry_index + 1) * sizeof(uint64_t));
    if (entries == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    /* A-chunk <- R-chunk (sx_column_chunk): a new chunk is zero. */
    const uint64_t chunk = atomic_load_explicit(&entries[entry_index], memory_order_acquire);
    if (chunk == 0) {
        return PMIX_SUCCESS;
    }
    const uint64_t cell_index = row & ((1u << shift) - 1);
    const struct sx_words *const cells = sx_reach_at(reach, chunk,
                                                     (cell_index + 1) * sizeof(struct sx_words));
    if (cells == NULL || chunk % 8 != 0) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_words = &cells[cell_index];
    return PMIX_SUCCESS;
}

static pmix_status_t sx_column_read(struct sx_reach *reach, const struct sx_column_record *record,
                                    uint32_t row, struct sx_item *ret)
{
    const struct sx_words *words;

    if (row == SX_ROW_JOB) {
        return sx_words_read(reach, &record->job, ret);
    }
    /* A-cell <- R-cell (sx_words_store): single_row is there when the single cell is. */
    if (atomic_load_explicit(&record->single.word0, memory_order_acquire) != 0 &&
        record->single_row == row) {
        return sx_words_read(reach, &record->single, ret);
    }
    const pmix_status_t rc = sx_directory_words(reach, record, row, &words);
    if (rc != PMIX_SUCCESS || words == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
    }
    return sx_words_read(reach, words, ret);
}

pmix_status_t sx_store_read(const struct sx_store *store, sx_column column, uint32_t row,
                            struct sx_item *ret)
{
    if (store->seg.base == NULL || column == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_reach reach = sx_reach_init(store);
    /* A dictionary has led to it, with its key: that part needs no second check. */
    const struct sx_column_record *const record = sx_reach_at(&reach, column, sizeof(*record));
    if (record == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    return sx_column_read(&reach, record, row, ret);
}

pmix_status_t sx_store_find(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                            const char *key, struct sx_item *ret)
{
    sx_column column;
    const size_t key_len = strnlen(key, PMIX_MAX_KEYLEN + 1);

    if (store->seg.base == NULL || key_len > PMIX_MAX_KEYLEN) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_reach reach = sx_reach_init(store);
    const pmix_status_t rc = sx_dictionary_find(&reach, sx_store_hash(realm, key, key_len), realm,
                                                key, key_len, &column);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* The record was found to lie inside. */
    const void *const at = reach.base + column;
    return sx_column_read(&reach, at, row, ret);
}

pmix_status_t sx_store_get(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                           const char *key, pmix_value_t *ret)
{
    struct sx_item item;
    const pmix_status_t rc = sx_store_find(store, realm, row, key, &item);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return sx_flat_decode(ret, &item.cell, item.body, item.cell.len);
}

/* @row has no cell.  Return: the last row up to which there is none either, because they have no
 * chunk. */
static uint32_t sx_column_gap(struct sx_reach *reach, const struct sx_column_record *record,
                              uint32_t row)
{
    const uint32_t shift = sx_reach_store(reach)->chunk_shift;
    /* A-dir <- R-dir (sx_column_directory): a new directory is zero. */
    const uint64_t directory = atomic_load_explicit(&record->directory, memory_order_acquire);
    uint32_t last = sx_reach_store(reach)->row_count - 1;

    if (directory != 0) {
        const _Atomic uint64_t *const entries = sx_reach_at(reach, directory,
                                                            ((uint64_t)(row >> shift) + 1) *
                                                                sizeof(uint64_t));
        /* relaxed: no cell is read here. */
        if (entries == NULL ||
            atomic_load_explicit(&entries[row >> shift], memory_order_relaxed) != 0) {
            return row;
        }
        last = (row | ((1u << shift) - 1)) < last ? row | ((1u << shift) - 1) : last;
    }
    /* A-cell <- R-cell (sx_words_store): single_row is there when the single cell is. */
    if (atomic_load_explicit(&record->single.word0, memory_order_acquire) != 0 &&
        record->single_row > row && record->single_row <= last) {
        return record->single_row - 1;
    }
    return last;
}

pmix_status_t sx_store_row_next(const struct sx_store *store, sx_column column, uint32_t row,
                                uint32_t *ret_row)
{
    if (store->seg.base == NULL || column == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_reach reach = sx_reach_init(store);
    const struct sx_column_record *const record = sx_column_at(&reach, column);
    if (record == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const uint32_t row_count = sx_reach_store(&reach)->row_count;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    struct sx_item item;

    for (; row < row_count && rc == PMIX_ERR_NOT_FOUND; row++) {
        rc = sx_column_read(&reach, record, row, &item);
        *ret_row = rc == PMIX_SUCCESS ? row : *ret_row;
        row = rc == PMIX_ERR_NOT_FOUND ? sx_column_gap(&reach, record, row) : row;
    }
    /* The single cell may be of a row beyond the others.
     * A-cell <- R-cell (sx_words_store): single_row is there when the single cell is. */
    if (rc == PMIX_ERR_NOT_FOUND && row != SX_ROW_JOB &&
        atomic_load_explicit(&record->single.word0, memory_order_acquire) != 0 &&
        record->single_row >= row) {
        rc = sx_words_read(&reach, &record->single, &item);
        *ret_row = rc == PMIX_SUCCESS ? record->single_row : *ret_row;
    }
    return rc;
}

/* ---- all columns ----------------------------------------------------------------------------- */

static uint64_t dictionary_word(struct sx_reach *reach)
{
    /* A-dict <- R-dict (sx_dictionary_install) */
    return atomic_load_explicit(&sx_reach_store(reach)->dictionary, memory_order_acquire);
}

const char *sx_store_walk_next(const struct sx_store *store, struct sx_store_walk *walk,
                               size_t *left, enum sx_realm *ret_realm, sx_column *ret_column)
{
    struct sx_reach reach = sx_reach_init(store);

    if (walk->dictionary == 0) {
        walk->dictionary = dictionary_word(&reach);
    }
    const uint64_t shift = walk->dictionary & SX_DICTIONARY_SHIFT_MASK;
    const uint64_t slot_count = shift <= SX_DICTIONARY_SHIFT_MAX ? UINT64_C(1) << shift : 0;
    const struct sx_slot *const slots = sx_reach_at(&reach,
                                                    walk->dictionary & ~SX_DICTIONARY_SHIFT_MASK,
                                                    slot_count * sizeof(struct sx_slot));

    while (slots != NULL && walk->slot<slot_count && * left> 0) {
        const struct sx_slot *const slot = &slots[walk->slot++];

        *left -= *left < SX_STORE_SLOT_LOOK ? *left : SX_STORE_SLOT_LOOK;
        /* A-tag <- R-tag (sx_dictionary_add) */
        if (atomic_load_explicit(&slot->tag, memory_order_acquire) == 0) {
            continue;
        }
        /* relaxed: covered by the tag's release. */
        *ret_column = atomic_load_explicit(&slot->column, memory_order_relaxed);
        const struct sx_column_record *const record = sx_column_at(&reach, *ret_column);
        if (record != NULL && record->key[record->key_len] == '\0') {
            *ret_realm = (enum sx_realm)record->realm;
            return record->key;
        }
    }
    return NULL;
}

void sx_store_each_key(const struct sx_store *store, enum sx_realm realm,
                       bool (*each)(void *arg, const char *key, sx_column column), void *arg)
{
    struct sx_store_walk walk = { .slot = 0 };
    size_t left = SIZE_MAX;
    enum sx_realm of;
    sx_column column;

    if (store->seg.base == NULL) {
        return;
    }
    for (const char *key; (key = sx_store_walk_next(store, &walk, &left, &of, &column)) != NULL;) {
        left = SIZE_MAX;
        if (of == realm && !each(arg, key, column)) {
            return;
        }
    }
}

struct each_of_row {
    const struct sx_store *store;
    uint32_t row;
    bool (*each)(void *arg, const char *key, const struct sx_item *item);
    void *arg;
};

static bool item_of_row(void *arg, const char *key, sx_column column)
{
    const struct each_of_row *const of = arg;
    struct sx_item item;

    return sx_store_read(of->store, column, of->row, &item) != PMIX_SUCCESS ||
           of->each(of->arg, key, &item);
}

void sx_store_each(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                   bool (*each)(void *arg, const char *key, const struct sx_item *item), void *arg)
{
    struct each_of_row of = { .store = store, .row = row, .each = each, .arg = arg };

    sx_store_each_key(store, realm, item_of_row, &of);
}
