/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_layout.h - the content of a store segment, and how the store's files read it.
 *
 *   384            448
 *   +--------------+------------------------------------------------------------------
 *   | store header | heap: dictionary | column | chunk | body | column | record | ...
 *   +--------------+------------------------------------------------------------------
 *
 *   dictionary --slot--> column --directory--> chunk --cell--> body
 *                           \--job cell, single cell--> body
 *
 * A cell is two words.  word0 is {type, flags, len} and is stored last, with release; 0 means
 * absent.  A cell is never overwritten, with one exception: word0 becomes {SX_CELL_MOVED, where}
 * when the value changes, and `where` is a 16-byte record in the heap that holds the cell now.
 * A withdrawn value has moved to the zero cell of the store header.  Private to src/shmem. */
#ifndef SX_SHMEM_STORE_LAYOUT_H
#define SX_SHMEM_STORE_LAYOUT_H

#include <string.h>

#include "shmem/store.h"

#define SX_STORE_HEAP_OFF (SX_SEGMENT_BODY_OFF + sizeof(struct sx_store_header))
#define SX_STORE_ABSENT_OFF (SX_SEGMENT_BODY_OFF + offsetof(struct sx_store_header, absent))
#define SX_CELL_MOVED 0xffffu /* a type that no value has */
#define SX_CHUNK_SHIFT_MAX 8u
#define SX_DICTIONARY_SHIFT_MIN 7u
#define SX_DICTIONARY_SHIFT_MAX 30u
#define SX_DICTIONARY_SHIFT_MASK UINT64_C(63)

struct sx_words {
    _Atomic uint64_t word0, word1;
};
static_assert(sizeof(struct sx_words) == sizeof(struct sx_cell), "two views of one cell");

struct sx_store_header {
    _Atomic uint64_t dictionary; /* offset of the slots (64-aligned) | log2 of their count */
    uint32_t row_count;          /* rows a directory spans */
    uint32_t chunk_shift;        /* log2 of the cells in a chunk */
    _Atomic uint64_t column_count;
    uint8_t reserved0[8];  /* zero */
    uint64_t absent[2];    /* zero for ever: where a withdrawn cell has moved to */
    uint8_t reserved1[16]; /* zero */
};
static_assert(sizeof(struct sx_store_header) == SX_CACHELINE_BYTES, "fixed by layout 1");
static_assert(offsetof(struct sx_store_header, absent) == 32, "fixed by layout 1");

struct sx_slot {
    _Atomic uint64_t tag;    /* hash of realm and key, 1 instead of 0; 0: empty; stored last */
    _Atomic uint64_t column; /* offset of the column */
};
static_assert(sizeof(struct sx_slot) == 16, "fixed by layout 1");

/* 64-aligned.  Keys of up to 15 bytes end in the first line. */
struct sx_column_record {
    _Atomic uint64_t directory; /* offset of the chunk offsets; 0: no row but the single one */
    uint32_t single_row;        /* valid once single.word0 is not 0 (its release covers it) */
    uint16_t realm;             /* enum sx_realm */
    uint16_t key_len;           /* without the NUL */
    struct sx_words job;        /* SX_ROW_JOB */
    struct sx_words single;     /* the first row that was stored */
    char key[];                 /* key_len bytes and a NUL, padded to 8 with zeros */
};
static_assert(sizeof(struct sx_column_record) == 48, "fixed by layout 1");
static_assert(offsetof(struct sx_column_record, key) == 48, "fixed by layout 1");

static inline uint64_t sx_word0(const struct sx_cell *cell)
{
    return cell->type | (uint64_t)cell->flags << 16 | (uint64_t)cell->len << 32;
}

static inline struct sx_cell sx_cell_of_words(uint64_t word0, uint64_t word1)
{
    return (struct sx_cell){ .type = (uint16_t)word0,
                             .flags = (uint16_t)(word0 >> 16),
                             .len = (uint32_t)(word0 >> 32),
                             .bits = word1 };
}

static inline uint64_t sx_column_record_bytes(size_t key_len)
{
    return sx_align_up(sizeof(struct sx_column_record) + key_len + 1, 8);
}

static inline uint64_t sx_directory_bytes(uint32_t row_count, uint32_t chunk_shift)
{
    return ((((uint64_t)row_count - 1) >> chunk_shift) + 1) * sizeof(uint64_t);
}

/* ---- reach: every offset read from a segment passes through here ------------------------- */

struct sx_reach {
    const uint8_t *base;
    uint64_t end;  /* used_bytes as last seen, never past the mapping */
    uint64_t size; /* of the mapping */
};

static inline const struct sx_segment_header *sx_reach_header(const struct sx_reach *reach)
{
    return (const struct sx_segment_header *)(const void *)reach->base;
}

static inline const struct sx_store_header *sx_reach_store(const struct sx_reach *reach)
{
    return (const struct sx_store_header *)(const void *)(reach->base + SX_SEGMENT_BODY_OFF);
}

static inline void sx_reach_update(struct sx_reach *reach)
{
    /* A-used <- R-used (sx_heap_alloc).  An offset that was loaded with acquire lies below the
     * end that is loaded after it, because the writer moves the end first. */
    const uint64_t used = atomic_load_explicit(&sx_reach_header(reach)->used_bytes,
                                               memory_order_acquire);

    reach->end = used < reach->size ? used : reach->size;
}

static inline struct sx_reach sx_reach_init(const struct sx_store *store)
{
    struct sx_reach reach = { .base = store->seg.base, .size = store->seg.size_bytes };

    sx_reach_update(&reach);
    return reach;
}

/* Return: the @len bytes at @off, or NULL when they are not all published.  The end is loaded
 * anew only when the last one seen does not suffice. */
static inline const void *sx_reach_at(struct sx_reach *reach, uint64_t off, uint64_t len)
{
    if (__builtin_expect(!sx_range_fits(off, len, reach->end), 0)) {
        sx_reach_update(reach);
        if (!sx_range_fits(off, len, reach->end)) {
            return NULL;
        }
    }
    return reach->base + off;
}

/* ---- readers' parts (store.c) ------------------------------------------------------------ */

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_dictionary_find(struct sx_reach *reach, uint64_t hash, enum sx_realm realm,
                                 const char *key, size_t key_len, sx_column *ret_column);
/* The record at @column with its key inside the published part, or NULL. */
const struct sx_column_record *sx_column_at(struct sx_reach *reach, sx_column column);
/* Return: as sx_store_read. */
pmix_status_t sx_words_read(struct sx_reach *reach, const struct sx_words *words,
                            struct sx_item *ret);

/* ---- writers' parts (column.c): the caller has reserved the memory ------------------------ */

/* One put: its place, key and value. */
struct sx_put {
    enum sx_realm realm;
    uint32_t row;
    const char *key;
    size_t key_len;
    uint64_t hash;
    struct sx_cell cell; /* scope in the flags; bits of a cell with a body are ignored */
    const void *body;
    uint64_t body_off; /* not 0: the body is in the heap already, here */
};

static inline struct sx_store_header *sx_writer_store(const struct sx_store_writer *writer)
{
    return (struct sx_store_header *)(void *)(writer->view.seg.base + SX_SEGMENT_BODY_OFF);
}

/* Where the cell of @row is in @record, or NULL when it has none yet. */
struct sx_words *sx_column_words(const struct sx_store_writer *writer,
                                 struct sx_column_record *record, uint32_t row);
struct sx_column_record *sx_column_find(const struct sx_store_writer *writer,
                                        const struct sx_put *put);
/* True when @row needs a directory that does not reach so far. */
bool sx_column_is_short(const struct sx_store_writer *writer, const struct sx_column_record *record,
                        uint32_t row);
/* The most that sx_column_put will allocate, alignment included. */
uint64_t sx_column_need(const struct sx_store_writer *writer, struct sx_column_record *record,
                        const struct sx_put *put);
/* Cannot fail after sx_heap_reserve(sx_column_need()).  @record NULL: a new column. */
void sx_column_put(struct sx_store_writer *writer, struct sx_column_record *record,
                   const struct sx_put *put);
/* Format an empty store for @column_count columns in the view's fresh segment. */
pmix_status_t sx_store_format(struct sx_store_writer *writer, uint32_t row_count,
                              uint64_t column_count);
uint64_t sx_dictionary_bytes(uint64_t column_count);
void sx_store_garbage(struct sx_store_writer *writer, uint64_t bytes);
/* Remove the value at @words in @record.  The store may be tidied then. */
void sx_column_unset(struct sx_store_writer *writer, const struct sx_column_record *record,
                     struct sx_words *words);
/* The bytes that the value at @words takes outside its first cell. */
uint64_t sx_words_bytes(const struct sx_store_writer *writer, const struct sx_words *words);

/* Whether there is no value at @words, or none any more. */
bool sx_words_is_absent(const struct sx_words *words);

/* The bytes of a column without any value, which the next generation does not have; else 0. */
uint64_t sx_column_idle_bytes(const struct sx_column_record *record);

/* So much of a store may be used before the next generation is begun: the rest is enough for the
 * puts until the next one is there. */
#define SX_STORE_BEGIN_EIGHTHS 5u

/* ---- renewal (store_renew.c) -------------------------------------------------------------- */

/* Begin the next generation, with room for @extra_bytes more, unless it cannot be had, or is small
 * and needs no more room; then the caller tries again later.  Return: whether it is being copied
 * now. */
bool sx_store_renew_begin(struct sx_store_writer *writer, uint64_t extra_bytes);
/* Repeat a change in the next generation, if one is being copied.  A body that is in the heap of
 * this one is copied later, as the others are. */
void sx_store_renew_put(struct sx_store_writer *writer, const struct sx_put *put);
void sx_store_renew_unset(struct sx_store_writer *writer, const struct sx_put *put);
/* Give the next generation up. */
void sx_store_renew_abandon(struct sx_store_writer *writer);

/* As sx_store_renew, with room for @extra_bytes more and directories for @row_count rows. */
pmix_status_t sx_store_rewrite(struct sx_store_writer *writer, uint32_t row_count,
                               uint64_t extra_bytes);

#endif
