/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_writer.c - create a store, put and withdraw values.
 *     put: same value? done --> room? else renew --> column.c --> mostly garbage, or full soon?
 *     renew
 *
 * All memory that a put needs is reserved before its first store, so a put happens whole or not
 * at all.  Entered from the server's registry and the client's private store; the caller
 * serialises.  Bounded by the reserve, which a renewal may double. */
#include "shmem/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "shmem/store_layout.h"

#define SX_STORE_ROWS_GUESS 64u
#define SX_STORE_RESERVE_MIN_BYTES (UINT64_C(64) << 10)
#define SX_PUT_STACK_BYTES 1024

static uint64_t sx_store_reserve(const struct sx_store_options *options)
{
    const uint64_t shared = SX_STORE_RESERVE_BYTES +
                            options->row_count * SX_STORE_RESERVE_ROW_BYTES;

    if (options->reserve_bytes != 0) {
        return options->reserve_bytes;
    }
    if (options->private_memory) {
        return SX_STORE_PRIVATE_RESERVE_BYTES;
    }
    return shared < SX_STORE_RESERVE_MAX_BYTES ? shared : SX_STORE_RESERVE_MAX_BYTES;
}

pmix_status_t sx_store_create(struct sx_store_writer *writer,
                              const struct sx_store_options *options)
{
    const uint32_t row_count = options->row_count != 0 ? options->row_count : SX_STORE_ROWS_GUESS;

    memset(writer, 0, sizeof(*writer));
    writer->view = SX_STORE_NULL;
    if (row_count > SX_STORE_ROW_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a store of %" PRIu32 " rows; at most %u", row_count,
                        SX_STORE_ROW_MAX);
    }
    const struct sx_segment_options segment_options = {
        .kind = SX_SEGMENT_STORE,
        .nspace = options->nspace,
        .size_bytes = sx_store_reserve(options),
        .size_min_bytes = SX_STORE_RESERVE_MIN_BYTES,
        .generation = options->generation != 0 ? options->generation : 1,
        .private_memory = options->private_memory,
        .placement = options->placement,
    };
    pmix_status_t rc = sx_segment_create(&writer->view.seg, &segment_options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    writer->row_count = row_count;
    writer->generation = segment_options.generation;
    writer->garbage_limit_bytes = SX_STORE_GARBAGE_MIN_BYTES;
    writer->reserve_bytes = segment_options.size_bytes;
    writer->renew_at_bytes = writer->view.seg.size_bytes / 8 * SX_STORE_BEGIN_EIGHTHS;
    writer->private_memory = options->private_memory;
    writer->alone = options->alone;
    if (options->placement != NULL) {
        writer->placement = *options->placement;
    }
    memcpy(writer->nspace, options->nspace, strlen(options->nspace) + 1);
    rc = sx_store_format(writer, row_count, 0);
    if (rc != PMIX_SUCCESS) {
        sx_store_destroy(writer);
        return rc;
    }
    writer->live_bytes = writer->heap.next_off;
    sx_segment_publish(&writer->view.seg);
    return PMIX_SUCCESS;
}

void sx_store_destroy(struct sx_store_writer *writer)
{
    for (size_t i = 0; i < writer->retired_count; i++) {
        sx_segment_deinit(&writer->retired[i]);
    }
    free(writer->retired);
    writer->retired = NULL;
    writer->retired_count = 0;
    sx_store_renew_abandon(writer);
    sx_segment_release(&writer->view.seg);
}

void sx_store_end(struct sx_store_writer *writer)
{
    /* R-succ -> A-succ (sx_store_successor): the last store to this segment. */
    atomic_store_explicit(&sx_segment_header(&writer->view.seg)->successor, SX_SEGMENT_ENDED,
                          memory_order_release);
}

static pmix_status_t sx_put_init(struct sx_put *put, enum sx_realm realm, uint32_t row,
                                 const char *key)
{
    const size_t key_len = key != NULL ? strnlen(key, PMIX_MAX_KEYLEN + 1) : 0;

    if (key_len == 0 || key_len > PMIX_MAX_KEYLEN) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a key has 1 to %d bytes, this one %s", PMIX_MAX_KEYLEN,
                        key_len == 0 ? "none" : "more");
    }
    if (row != SX_ROW_JOB && row >= SX_STORE_ROW_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "key %s: row %" PRIu32 "; at most %u", key, row,
                        SX_STORE_ROW_MAX - 1);
    }
    if ((unsigned)realm >= SX_REALM_COUNT) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "key %s: realm %d", key, (int)realm);
    }
    *put = (struct sx_put){ .realm = realm,
                            .row = row,
                            .key = key,
                            .key_len = key_len,
                            .hash = sx_store_hash(realm, key, key_len) };
    return PMIX_SUCCESS;
}

/* True when @words holds exactly the value of @put. */
static bool sx_put_is_stored(const struct sx_store_writer *writer, const struct sx_words *words,
                             const struct sx_put *put)
{
    struct sx_reach reach = sx_reach_init(&writer->view);
    struct sx_item item;

    if (words == NULL || sx_words_read(&reach, words, &item) != PMIX_SUCCESS ||
        sx_word0(&item.cell) != sx_word0(&put->cell)) {
        return false;
    }
    return put->cell.len != 0 ? memcmp(item.body, put->body, put->cell.len) == 0
                              : item.cell.bits == put->cell.bits;
}

/* Rows for the directories of the next generation, so that @row has its place. */
static uint32_t sx_rows_for(const struct sx_store_writer *writer, uint32_t row)
{
    uint64_t row_count = writer->row_count;

    while (row_count <= row) {
        row_count *= 2;
    }
    return row_count < SX_STORE_ROW_MAX ? (uint32_t)row_count : SX_STORE_ROW_MAX;
}

/* Reserve the memory that @put needs, in the next generation if this one has no room.  *record is
 * looked up again when the store was renewed. */
static pmix_status_t sx_put_reserve(struct sx_store_writer *writer,
                                    struct sx_column_record **record, const struct sx_put *put)
{
    const bool is_short = sx_column_is_short(writer, *record, put->row);
    uint64_t need;

    if (!is_short) {
        need = sx_column_need(writer, *record, put);
        const pmix_status_t rc = sx_heap_reserve(&writer->heap, need);
        if (rc != PMIX_ERR_OUT_OF_RESOURCE) {
            return rc;
        }
    }
    if (!is_short && writer->renewal != NULL) { /* it has not been copied in time */
        (void)sx_store_renew_step(writer, UINT64_MAX);
        *record = sx_column_find(writer, put);
        need = sx_column_need(writer, *record, put);
        if (sx_heap_reserve(&writer->heap, need) == PMIX_SUCCESS) {
            return PMIX_SUCCESS;
        }
    }
    /* Room for the most that the put can ask for in a store of these rows. */
    const uint32_t row_count = is_short ? sx_rows_for(writer, put->row) : writer->row_count;
    need = put->cell.len + sx_column_record_bytes(put->key_len) + 8 * SX_CACHELINE_BYTES +
           sx_directory_bytes(row_count, SX_CHUNK_SHIFT_MAX) +
           (sizeof(struct sx_words) << SX_CHUNK_SHIFT_MAX);
    const pmix_status_t rc = sx_store_rewrite(writer, row_count, need);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *record = sx_column_find(writer, put);
    return sx_heap_reserve(&writer->heap, sx_column_need(writer, *record, put));
}

/* Whether there is more garbage than live data, and some MiB of it: each reader then has to ask for
 * the next generation. */
static bool sx_store_is_littered(const struct sx_store_writer *writer)
{
    return writer->garbage_bytes > writer->garbage_limit_bytes &&
           writer->garbage_bytes > writer->heap.next_off / 2;
}

/* Return: the bytes that have been used, and those that are garbage, together.  Dictionaries are
 * left out: they are rare and long, and each put copies for its part of the next one anyway. */
static uint64_t sx_store_taken(const struct sx_store_writer *writer)
{
    return writer->heap.next_off + writer->garbage_bytes - writer->table_bytes;
}

/* Renew a store that is mostly garbage, or gets full: begin that, or go on after a change.
 * @before: sx_store_taken before the change.  A private store that others read is
 * renewed only when it is full, because it keeps its old generations, so a renewal would save
 * nothing.  A missing next generation is not a failure of the put: try again when there is twice as
 * much garbage. */
static void sx_store_tidy(struct sx_store_writer *writer, uint64_t before)
{
    const uint64_t now = sx_store_taken(writer);
    const bool is_littered = sx_store_is_littered(writer);

    if (writer->private_memory && !writer->alone) {
        return;
    }
    if (writer->renewal == NULL &&
        (is_littered || writer->heap.next_off > writer->renew_at_bytes) &&
        !sx_store_renew_begin(writer, 0) && is_littered && sx_store_renew(writer) != PMIX_SUCCESS) {
        writer->garbage_limit_bytes = writer->garbage_bytes * 2;
    }
    if (writer->renewal != NULL) {
        uint64_t some = now > before ? SX_STORE_COPY_TIMES * (now - before) : 0;

        some = some < SX_STORE_COPY_MIN_BYTES ? SX_STORE_COPY_MIN_BYTES : some;
        some = some > SX_STORE_COPY_TIMES * SX_STORE_COPY_MAX_BYTES
                   ? SX_STORE_COPY_TIMES * SX_STORE_COPY_MAX_BYTES
                   : some;
        (void)sx_store_renew_step(writer, some);
    }
}

/* The rest of what sx_put_init has begun. */
static pmix_status_t sx_put_fill(struct sx_put *put, pmix_scope_t scope, const struct sx_cell *cell,
                                 const void *body)
{
    if (cell->type == PMIX_UNDEF || cell->type == SX_CELL_MOVED ||
        (cell->len != 0 && body == NULL) || scope > SX_CELL_SCOPE_MASK >> SX_CELL_SCOPE_SHIFT) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "key %s: type %u, %" PRIu32 " bytes, scope %u",
                        put->key, cell->type, cell->len, (unsigned)scope);
    }
    put->cell = *cell;
    put->cell.flags = (uint16_t)((cell->flags & ~SX_CELL_SCOPE_MASK) | (unsigned)scope
                                                                           << SX_CELL_SCOPE_SHIFT);
    put->body = body;
    return PMIX_SUCCESS;
}

/* Put what there is room for. */
static void sx_put_store(struct sx_store_writer *writer, struct sx_column_record *record,
                         const struct sx_put *put)
{
    const uint64_t before = sx_store_taken(writer);

    sx_column_put(writer, record, put);
    sx_store_renew_put(writer, put);
    /* A value that was copied in steps is not copied for again. */
    sx_store_tidy(writer, put->body_off != 0 ? UINT64_MAX : before);
}

pmix_status_t sx_store_put_flat(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                                const char *key, pmix_scope_t scope, const struct sx_cell *cell,
                                const void *body)
{
    struct sx_put put;
    pmix_status_t rc = sx_put_init(&put, realm, row, key);

    rc = rc == PMIX_SUCCESS ? sx_put_fill(&put, scope, cell, body) : rc;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_column_record *record = sx_column_find(writer, &put);
    if (record != NULL && sx_put_is_stored(writer, sx_column_words(writer, record, row), &put)) {
        return PMIX_SUCCESS;
    }
    rc = sx_put_reserve(writer, &record, &put);
    if (rc == PMIX_SUCCESS) {
        sx_put_store(writer, record, &put);
    }
    return rc;
}

/* ---- in steps ------------------------------------------------------------------------------ */

/* Compare on with the value that is there.  Return: whether they are equal so far. */
static bool sx_long_is_equal(struct sx_store_writer *writer, struct sx_store_long *value,
                             const struct sx_words *words, const struct sx_put *put, uint64_t bytes)
{
    struct sx_reach reach = sx_reach_init(&writer->view);
    struct sx_item item;

    if (words == NULL || sx_words_read(&reach, words, &item) != PMIX_SUCCESS ||
        sx_word0(&item.cell) != sx_word0(&put->cell)) {
        return false;
    }
    if (value->equal_to != item.body) {
        value->equal_to = item.body;
        value->equal = 0;
    }
    const uint64_t left = put->cell.len - value->equal;
    const uint64_t some = left < bytes ? left : bytes;
    const bool is_equal = memcmp((const uint8_t *)item.body + value->equal,
                                 (const uint8_t *)put->body + value->equal, some) == 0;

    value->equal += some;
    writer->copied_bytes += some;
    return is_equal;
}

/* Have some of the memory, here or in the next generation, and allocate when it is there.  Return:
 * false when that cannot be had. */
static bool sx_long_room(struct sx_store_writer *writer, struct sx_store_long *value,
                         struct sx_column_record *record, const struct sx_put *put, uint64_t bytes)
{
    if (writer->renewal != NULL) {
        (void)sx_store_renew_step(writer, bytes);
        return true;
    }
    if (sx_column_is_short(writer, record, put->row)) {
        return false;
    }
    const uint64_t need = sx_column_need(writer, record, put);

    if (!sx_range_fits(writer->heap.next_off, need, writer->view.seg.size_bytes)) {
        const bool may_renew = value->renewed != writer->generation;

        value->renewed = writer->generation; /* if that one is given up, it was the only try */
        return may_renew && sx_store_renew_begin(writer, need);
    }
    if (!sx_heap_prepare(&writer->heap, need, bytes)) {
        writer->copied_bytes += bytes;
        return true;
    }
    if (sx_heap_reserve(&writer->heap, need) != PMIX_SUCCESS ||
        sx_heap_alloc(&writer->heap, put->cell.len, 8, &value->off) != PMIX_SUCCESS) {
        value->off = 0;
        return false;
    }
    writer->live_bytes = writer->heap.next_off - writer->garbage_bytes;
    return true;
}

/* All of it is in the heap.  Return: whether it is stored; not if the store was renewed for what it
 * needs besides. */
static bool sx_long_show(struct sx_store_writer *writer, struct sx_store_long *value,
                         struct sx_put *put, pmix_status_t *ret_status)
{
    struct sx_column_record *record = sx_column_find(writer, put);

    put->body_off = value->off;
    *ret_status = sx_put_reserve(writer, &record, put);
    if (writer->generation != value->generation) {
        return *ret_status != PMIX_SUCCESS;
    }
    if (*ret_status != PMIX_SUCCESS) {
        sx_store_long_drop(writer, value);
        return true;
    }
    value->off = 0;
    sx_put_store(writer, record, put);
    return true;
}

/* Copy on.  Return: whether all is there. */
static bool sx_long_copy(struct sx_store_writer *writer, struct sx_store_long *value,
                         uint64_t bytes)
{
    const uint64_t left = value->cell.len - value->copied;
    const uint64_t some = left < bytes ? left : bytes;

    memcpy(writer->view.seg.base + value->off + value->copied,
           (const uint8_t *)value->body + value->copied, some);
    value->copied += some;
    writer->copied_bytes += some;
    return value->copied == value->cell.len;
}

bool sx_store_put_step(struct sx_store_writer *writer, struct sx_store_long *value, uint64_t bytes,
                       pmix_status_t *ret_status)
{
    struct sx_put put;

    *ret_status = sx_put_init(&put, value->realm, value->row, value->key);
    if (*ret_status == PMIX_SUCCESS) {
        *ret_status = sx_put_fill(&put, value->scope, &value->cell, value->body);
    }
    if (*ret_status != PMIX_SUCCESS) {
        return false;
    }
    if (value->generation != writer->generation) {
        value->generation = writer->generation;
        value->off = value->copied = 0;
        value->equal_to = NULL;
        value->differs = false;
    }
    if (value->off != 0) {
        return !sx_long_copy(writer, value, bytes) ||
               !sx_long_show(writer, value, &put, ret_status);
    }
    struct sx_column_record *const record = sx_column_find(writer, &put);

    if (!value->differs) {
        value->differs = !sx_long_is_equal(writer, value,
                                           record != NULL ? sx_column_words(writer, record, put.row)
                                                          : NULL,
                                           &put, bytes);
        return value->differs || value->equal < value->cell.len;
    }
    if (sx_long_room(writer, value, record, &put, bytes)) {
        return true;
    }
    *ret_status = sx_store_put_flat(writer, value->realm, value->row, value->key, value->scope,
                                    &value->cell, value->body);
    return false;
}

void sx_store_long_drop(struct sx_store_writer *writer, struct sx_store_long *value)
{
    if (value->off != 0 && value->generation == writer->generation) {
        sx_store_garbage(writer, sx_align_up(value->cell.len, 8));
        writer->live_bytes = writer->heap.next_off - writer->garbage_bytes;
    }
    value->off = 0;
}

pmix_status_t sx_store_put(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                           const char *key, pmix_scope_t scope, const pmix_value_t *value)
{
    _Alignas(8) uint8_t stack[SX_PUT_STACK_BYTES];
    void *body = stack;
    struct sx_cell cell;
    const void *borrowed;
    size_t size;

    if (sx_flat_borrow(value, &cell, &borrowed)) {
        return sx_store_put_flat(writer, realm, row, key, scope, &cell, borrowed);
    }
    pmix_status_t rc = sx_flat_size(value, &size);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (size > sizeof(stack)) {
        body = malloc(size);
        if (body == NULL) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "%zu bytes for a value", size);
        }
    }
    rc = sx_flat_encode(value, &cell, body, size);
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_put_flat(writer, realm, row, key, scope, &cell, body);
    }
    if (body != stack) {
        free(body);
    }
    return rc;
}

pmix_status_t sx_store_unset(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                             const char *key)
{
    struct sx_put put;
    struct sx_item item;
    const pmix_status_t rc = sx_put_init(&put, realm, row, key);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_column_record *const record = sx_column_find(writer, &put);
    struct sx_words *const words = record != NULL ? sx_column_words(writer, record, row) : NULL;
    struct sx_reach reach = sx_reach_init(&writer->view);
    if (words == NULL || sx_words_read(&reach, words, &item) != PMIX_SUCCESS) {
        return PMIX_ERR_NOT_FOUND;
    }
    const uint64_t before = sx_store_taken(writer);

    sx_column_unset(writer, record, words);
    sx_store_renew_unset(writer, &put);
    sx_store_tidy(writer, before);
    return PMIX_SUCCESS;
}

/* Replace the cell of a value by one with another scope, for the same body. */
static pmix_status_t sx_store_rescope(struct sx_store_writer *writer, enum sx_realm realm,
                                      uint32_t row, const char *key, pmix_scope_t scope)
{
    struct sx_column_record *record = NULL;
    uint64_t generation;
    struct sx_put put;
    pmix_status_t rc = sx_put_init(&put, realm, row, key);

    while (rc == PMIX_SUCCESS) {
        struct sx_item item;

        generation = writer->generation;
        rc = sx_store_find(&writer->view, realm, row, key, &item);
        if (rc == PMIX_SUCCESS) {
            rc = sx_put_fill(&put, scope, &item.cell, item.body);
        }
        if (rc == PMIX_SUCCESS) {
            put.body_off = item.cell.len != 0
                               ? (uint64_t)((const uint8_t *)item.body - writer->view.seg.base)
                               : 0;
            record = sx_column_find(writer, &put);
            rc = sx_put_reserve(writer, &record, &put);
        }
        if (rc == PMIX_SUCCESS && generation == writer->generation) {
            writer->garbage_bytes -= sx_align_up(put.cell.len, 8); /* it will be counted */
            sx_put_store(writer, record, &put);
            return PMIX_SUCCESS;
        } /* else the store was renewed for that, and the body has moved */
    }
    return rc;
}

pmix_status_t sx_store_withdraw(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                                const char *key, pmix_scope_t taken)
{
    struct sx_item item;
    const pmix_status_t rc = sx_store_find(&writer->view, realm, row, key, &item);

    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    const pmix_scope_t has = sx_item_scope(&item), left = has & (pmix_scope_t)~taken;
    if (left == has) {
        return PMIX_SUCCESS;
    }
    return left == PMIX_SCOPE_UNDEF ? sx_store_unset(writer, realm, row, key)
                                    : sx_store_rescope(writer, realm, row, key, left);
}
