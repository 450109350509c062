/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store.h - the state of one namespace: columns by key, cells by rank, lock-free readers.
 *
 * A small dictionary (open addressing, XXH3 of realm and key) leads to a column.  A column has
 * one cell for the job and one per row.  Rows lie in chunks that exist only where something was
 * stored.  The job and its processes share a column (row = rank, SX_ROW_JOB = the job itself).
 * The node, app and session realms have their own columns (row = node id, app number, session
 * id).
 *
 * A store has one writer at a time; the caller serialises writers.  Readers take no lock, make no
 * system call and never wait.  A cell appears by one release store and is never overwritten.  A
 * changed value is a new record, reached through one release store in the old cell.
 *
 * A store that gets full, or is mostly garbage, is rewritten as the next generation.  The size of a
 * generation follows from its live data.  A large one is copied in steps: each put copies some, and
 * what changes meanwhile is put into both.  The old segment stays valid for those who hold pointers
 * into it.  Its header names the successor, or marks that there will be none. */
#ifndef SX_SHMEM_STORE_H
#define SX_SHMEM_STORE_H

#include "base/value/flat.h"
#include "shmem/segment.h"

#define SX_ROW_JOB PMIX_RANK_WILDCARD
/* How much room a shared store begins with, and how much more for each row that was
 * announced. */
#define SX_STORE_RESERVE_BYTES (UINT64_C(16) << 20)
#define SX_STORE_RESERVE_ROW_BYTES (UINT64_C(4) << 10)
#define SX_STORE_RESERVE_MAX_BYTES (UINT64_C(256) << 20)
#define SX_STORE_PRIVATE_RESERVE_BYTES (UINT64_C(1) << 20)
/* Garbage below this is not worth a renewal, which costs every reader a message and a mapping. */
#define SX_STORE_GARBAGE_MIN_BYTES (UINT64_C(4) << 20)
#define SX_STORE_ROW_MAX (1u << 24)

enum sx_realm {
    SX_REALM_JOB = 0, /* the job (SX_ROW_JOB) and its processes (rank) */
    SX_REALM_NODE = 1,
    SX_REALM_APP = 2,
    SX_REALM_SESSION = 3,
    SX_REALM_QUALIFIED = 4, /* of processes, under names made by qualified.h (rows: as the job's) */
    SX_REALM_MEMBERS = 5,   /* of the node's store: membership.h */
    SX_REALM_SETS = 6,      /* of the node's store: process sets, which have names of their own */
    SX_REALM_PUBLISHED = 7, /* of the stores of published values: published.h */
    SX_REALM_COUNT
};

/* ---- readers ------------------------------------------------------------------------------ */

/* A reader's view of one generation.  Any number of threads may use one view at once. */
struct sx_store {
    struct sx_segment seg;
};

#define SX_STORE_NULL ((struct sx_store){ .seg = SX_SEGMENT_NULL })

/* Map a store received as @fd (not consumed).  Return: as sx_segment_attach. */
pmix_status_t sx_store_attach(struct sx_store *store, int fd);
void sx_store_detach(struct sx_store *store);

/* A column: the offset of its record, 0 for none.  Valid within one generation. */
typedef uint64_t sx_column;

/* The hash that sx_store_column_hashed wants, for callers that look up often. */
uint64_t sx_store_hash(enum sx_realm realm, const char *key, size_t key_len);

/* Return: the column of @key, or 0.  @key needs no NUL at key_len. */
sx_column sx_store_column(const struct sx_store *store, enum sx_realm realm, const char *key,
                          size_t key_len);
sx_column sx_store_column_hashed(const struct sx_store *store, uint64_t hash, enum sx_realm realm,
                                 const char *key, size_t key_len);

/* The content of a cell: @cell is a copy, @body points into the mapping (NULL where there is none)
 * and is cell.len bytes, bounded by the published end. */
struct sx_item {
    struct sx_cell cell;
    const void *body;
};

/* Read one cell.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_UNPACK_FAILURE when the
 * segment contradicts itself. */
pmix_status_t sx_store_read(const struct sx_store *store, sx_column column, uint32_t row,
                            struct sx_item *ret);

/* column + read. */
pmix_status_t sx_store_find(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                            const char *key, struct sx_item *ret);

/* find + decode into @ret (uninitialised).  Return: as sx_store_read, or sx_flat_decode. */
pmix_status_t sx_store_get(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                           const char *key, pmix_value_t *ret);

/* Find the first row from @row on that has a value in @column.  The job's own value does not
 * count.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_UNPACK_FAILURE when the segment
 * contradicts itself. */
pmix_status_t sx_store_row_next(const struct sx_store *store, sx_column column, uint32_t row,
                                uint32_t *ret_row);

/* Where a walk over all columns of one generation is; zeroed: it has not begun.  Columns that are
 * added meanwhile may be left out. */
struct sx_store_walk {
    uint64_t dictionary, slot;
};
/* Find the next column, which may be of any realm, and count *left down by SX_STORE_SLOT_LOOK for
 * each slot.  Return: its key, and *ret_realm, *ret_column; NULL: *left is used up, or else there
 * is none. */
#define SX_STORE_SLOT_LOOK 32u /* bytes that are copied in the time of one slot */
const char *sx_store_walk_next(const struct sx_store *store, struct sx_store_walk *walk,
                               size_t *left, enum sx_realm *ret_realm, sx_column *ret_column);

/* Call @each for every key of @realm, in no order; it returns false to stop. */
void sx_store_each_key(const struct sx_store *store, enum sx_realm realm,
                       bool (*each)(void *arg, const char *key, sx_column column), void *arg);

/* Call @each for every key stored for @row, in no order; it returns false to stop. */
void sx_store_each(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                   bool (*each)(void *arg, const char *key, const struct sx_item *item), void *arg);

static inline pmix_scope_t sx_item_scope(const struct sx_item *item)
{
    return (pmix_scope_t)((item->cell.flags & SX_CELL_SCOPE_MASK) >> SX_CELL_SCOPE_SHIFT);
}

/* Scopes are sets: this node, other nodes, both, the process itself.  A PMIX_DEL_* is a set that is
 * taken away. */
static_assert(PMIX_GLOBAL == (PMIX_LOCAL | PMIX_REMOTE) && PMIX_INTERNAL == 4, "bits");
static_assert(PMIX_DEL_LOCAL == PMIX_LOCAL + 4 && PMIX_DEL_INTERNAL == PMIX_INTERNAL + 4, "bits");

static inline bool sx_scope_takes(pmix_scope_t scope)
{
    return scope >= PMIX_DEL_LOCAL && scope <= PMIX_DEL_INTERNAL;
}

/* The scope that @del takes a value away from. */
static inline pmix_scope_t sx_scope_taken(pmix_scope_t del)
{
    return (pmix_scope_t)(del - PMIX_DEL_LOCAL + PMIX_LOCAL);
}

/* The other way round. */
static inline pmix_scope_t sx_scope_taking(pmix_scope_t taken)
{
    return (pmix_scope_t)(taken - PMIX_LOCAL + PMIX_DEL_LOCAL);
}

/* Return: 0 while this generation is the newest; the number of the generation that has replaced it,
 * and then this one is not updated any more; SX_SEGMENT_ENDED when its namespace is gone and there
 * will be no other. */
static inline uint64_t sx_store_successor(const struct sx_store *store)
{
    /* A-succ <- R-succ (sx_store_renew, sx_store_end): the new generation is complete before it is
     * named. */
    return atomic_load_explicit(&sx_segment_header(&store->seg)->successor, memory_order_acquire);
}

/* ---- the writer --------------------------------------------------------------------------- */

/* A store with less is rewritten at once when it is full ... */
#define SX_STORE_STEPS_MIN_BYTES (UINT64_C(512) << 10)
/* ... and of others each put copies so many times what it takes itself, and no less than this. */
#define SX_STORE_COPY_TIMES 2u
#define SX_STORE_COPY_MIN_BYTES (UINT64_C(4) << 10)
/* A put copies for no more bytes of its own than these; the next steps do the rest.  One step does
 * what cannot be divided, a value or a piece of memory, and the next ones do so much less.  So the
 * puts of one turn copy little more together than their sum. */
#define SX_STORE_COPY_MAX_BYTES (UINT64_C(1) << 20)

/* A value with more is copied in steps by who puts it, and to the next generation. */
#define SX_STORE_LONG_BYTES SX_STORE_COPY_MAX_BYTES

/* To ask for a next generation in vain takes as long as to copy these. */
#define SX_STORE_TRY_BYTES (UINT64_C(16) << 10)

struct sx_store_renewal;

/* A larger dictionary while it is filled; readers do not see it yet. */
struct sx_store_larger {
    uint64_t word;  /* as in the header of the store; 0: there is none */
    uint64_t moved; /* so many of the first slots of the present one are in it */
};

/* Must not be moved after sx_store_create.  In a private store, a copy of @view stays valid
 * until destroy.  In a shared store, it stays valid until the next generation, which unmaps the
 * old one. */
/* A next generation that could not be had.  As long as no value goes, it needs as much. */
struct sx_store_refusal {
    uint64_t bytes;         /* of the live data, as measured; 0: none was refused, or values went */
    uint64_t garbage_bytes; /* at that time: more is values that were replaced */
    uint32_t row_count;     /* for so many rows */
};

struct sx_store_writer {
    struct sx_store view; /* of the newest generation; readers in other threads get a copy */
    struct sx_heap heap;
    uint32_t row_count;     /* rows the directories are made for */
    uint64_t generation;    /* changes when the store was rewritten: announce the new segment */
    uint64_t garbage_bytes; /* superseded in this generation */
    uint64_t live_bytes;
    uint64_t garbage_limit_bytes;     /* no renewal below; doubled when one could not be had */
    uint64_t renew_at_bytes;          /* of the heap: the next generation is begun */
    struct sx_store_renewal *renewal; /* the next one while it is copied in steps; NULL: none is */
    uint64_t copied_bytes;            /* in steps, or from one generation to the next, ever; a
                                       * generation that could not be had counts half */
    struct sx_store_refusal refused;
    struct sx_store_larger larger; /* dictionary */
    uint64_t table_bytes;          /* taken by larger dictionaries, or garbage of smaller ones */
    uint64_t reserve_bytes;        /* no generation is made smaller without need */
    bool private_memory;
    bool alone;
    struct sx_placement placement; /* of every generation */
    /* Older generations of a private store, kept for readers without a lock until deinit; none
     * when it is alone. */
    struct sx_segment *retired;
    size_t retired_count;
    char nspace[SX_SEGMENT_NSPACE_BYTES];
};

struct sx_store_options {
    const char *nspace;
    uint32_t row_count;     /* ranks of the job, if known; 0: a guess that grows */
    uint64_t reserve_bytes; /* 0: what suits the rows and the kind of memory */
    uint64_t generation;    /* to begin with; 0: 1 */
    bool private_memory;    /* never shared */
    bool alone;             /* ... and read by the writer's thread only: like a shared one it leaves
                             * its garbage behind, and its old generations */
    const struct sx_placement *placement; /* copied; NULL: anywhere */
};

/* Return: PMIX_SUCCESS, or as sx_segment_create. */
pmix_status_t sx_store_create(struct sx_store_writer *writer,
                              const struct sx_store_options *options);
void sx_store_destroy(struct sx_store_writer *writer);

/* The namespace of this store is gone: mark that for the readers that have it mapped.  Then destroy
 * it. */
void sx_store_end(struct sx_store_writer *writer);

/* Store @value for (realm, row, key).  A second put of the same key replaces the first, for readers
 * at once; an equal value changes nothing.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM (key empty or
 * longer than PMIX_MAX_KEYLEN, row not below SX_STORE_ROW_MAX, a type that no value has); the
 * status of sx_flat_size; PMIX_ERR_OUT_OF_RESOURCE, and then nothing has changed. */
pmix_status_t sx_store_put(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                           const char *key, pmix_scope_t scope, const pmix_value_t *value);

/* The same for a value that is flat already and checked (sx_flat_check).  @body must not lie in
 * this store: a renewal may unmap it before it is copied. */
pmix_status_t sx_store_put_flat(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                                const char *key, pmix_scope_t scope, const struct sx_cell *cell,
                                const void *body);

/* A long value that is put in steps. */
struct sx_store_long {
    /* As for sx_store_put_flat; they stay the same from the first step to the last. */
    enum sx_realm realm;
    uint32_t row;
    const char *key;
    pmix_scope_t scope;
    struct sx_cell cell;
    const void *body;
    /* The store's; zeroed before the first step. */
    uint64_t generation;  /* of the rest */
    const void *equal_to; /* the value that is there; so many bytes of both are equal */
    uint64_t equal;
    bool differs;
    uint64_t off, copied; /* in the heap; 0: it has no memory yet */
    uint64_t renewed;     /* the generation that had not enough room */
};

/* As sx_store_put_flat, but copy or compare no more than @bytes, and take no more memory at once.
 * Readers see the value after the last step.  A next generation is awaited, one with more room is
 * begun, and if there is none in which the value has memory, all of it is put as by
 * sx_store_put_flat.  Return: true while another step is needed; false, and *ret_status is as
 * there. */
bool sx_store_put_step(struct sx_store_writer *writer, struct sx_store_long *value, uint64_t bytes,
                       pmix_status_t *ret_status);
/* Instead of the next step. */
void sx_store_long_drop(struct sx_store_writer *writer, struct sx_store_long *value);

/* Take a value away.  Return: PMIX_SUCCESS, PMIX_ERR_NOT_FOUND. */
pmix_status_t sx_store_unset(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                             const char *key);

/* Take a value away from @taken, which is a scope.  A value without a scope was not put by a
 * process, and stays.  Return: PMIX_SUCCESS, also when nothing was there;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_store_withdraw(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                                const char *key, pmix_scope_t taken);

/* Write the next generation now.  Put and unset do so by themselves when the store is full.  In
 * a shared store they also do so when there is more garbage than live bytes and than
 * SX_STORE_GARBAGE_MIN_BYTES, and begin in time when it gets full.  Watch writer->generation.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then nothing has changed. */
pmix_status_t sx_store_renew(struct sx_store_writer *writer);

/* Copy some @bytes more of the next generation, when it has been begun.  The next generation is
 * there as soon as all is copied, without another put.  Return: whether there is more. */
bool sx_store_renew_step(struct sx_store_writer *writer, uint64_t bytes);

#endif
