/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_decode.c - read a flat value, or only prove that it can be read: one walk does both. */
#include "base/value/flat_walk.h"

#include <stdlib.h>
#include <string.h>

/* The walk over a whole value; @out is NULL or zeroed. */
static pmix_status_t flat_walk(pmix_value_t *out, const struct sx_cell *at, const void *body,
                               size_t size, uint64_t heap_max)
{
    struct sx_flat_level levels[SX_FLAT_LEVELS_MAX];
    /* One copy, so that what is judged is what is used. */
    struct sx_cell cell = *at;
    struct sx_flat_reader r;
    pmix_status_t rc = sx_flat_walk_begin(&r, levels, &cell, body, size, heap_max);

    if (rc == PMIX_SUCCESS) {
        rc = sx_flat_value_get(&r, &cell, out, 0);
    }
    return rc == PMIX_SUCCESS ? sx_flat_walk_on(&r) : rc;
}

/* ---- in steps ------------------------------------------------------------------------------- */

struct sx_flat_checker {
    struct sx_flat_reader reader;
    struct sx_cell cell; /* of the value */
    bool is_begun;       /* the value has been entered */
    pmix_status_t status;
    struct sx_flat_level levels[SX_FLAT_LEVELS_MAX];
};

struct sx_flat_checker *sx_flat_checker_new(const struct sx_cell *cell, const void *body,
                                            size_t size, uint64_t heap_max)
{
    struct sx_flat_checker *const checker = malloc(sizeof(*checker));

    if (checker != NULL) {
        checker->cell = *cell;
        checker->is_begun = false;
        checker->status = sx_flat_walk_begin(&checker->reader, checker->levels, &checker->cell,
                                             body, size, heap_max);
    }
    return checker;
}

struct sx_flat_checker *sx_flat_checker_free(struct sx_flat_checker *checker)
{
    free(checker);
    return NULL;
}

pmix_status_t sx_flat_checker_step(struct sx_flat_checker *checker, uint64_t *looks)
{
    struct sx_flat_reader *const r = &checker->reader;

    r->left = *looks;
    if (checker->status == PMIX_SUCCESS && !checker->is_begun) {
        checker->status = sx_flat_value_get(r, &checker->cell, NULL, 0);
        checker->is_begun = checker->status == PMIX_SUCCESS;
    }
    if (checker->status == PMIX_SUCCESS) {
        checker->status = sx_flat_walk_on(r);
    }
    *looks = r->left;
    if (checker->status == PMIX_ERR_WOULD_BLOCK) {
        checker->status = PMIX_SUCCESS; /* so far */
        return PMIX_ERR_WOULD_BLOCK;
    }
    return checker->status;
}

struct sx_flat_checker *sx_flat_mover_new(const struct sx_flat_first *first, void *body)
{
    struct sx_flat_checker *const mover = sx_flat_checker_new(&first->value, body, first->value.len,
                                                              UINT64_MAX);

    if (mover != NULL) {
        mover->reader.shift = first->off;
    }
    return mover;
}

/* ---- at once -------------------------------------------------------------------------------- */

pmix_status_t sx_flat_decode_within(pmix_value_t *ret, const struct sx_cell *cell, const void *body,
                                    size_t size, uint64_t heap_max)
{
    pmix_status_t rc;

    memset(ret, 0, sizeof(*ret));
    rc = flat_walk(ret, cell, body, size, heap_max);
    if (rc != PMIX_SUCCESS) {
        sx_value_destruct(ret);
    }
    return rc;
}

pmix_status_t sx_flat_decode(pmix_value_t *ret, const struct sx_cell *cell, const void *body,
                             size_t size)
{
    const size_t scalar_size = sx_type_scalar_size(cell->type);

    /* A number is all in its cell.  A walk is prepared for any record, and its preparation alone
     * takes longer than this. */
    if (scalar_size != 0) {
        memset(ret, 0, sizeof(*ret));
        return sx_flat_scalar_get(cell->type, cell->flags & SX_CELL_NULL, cell->len, cell->bits,
                                  scalar_size, ret);
    }
    return sx_flat_decode_within(ret, cell, body, size, UINT64_MAX);
}

pmix_status_t sx_flat_check(const struct sx_cell *cell, const void *body, size_t size)
{
    return flat_walk(NULL, cell, body, size, UINT64_MAX);
}

pmix_status_t sx_flat_check_within(const struct sx_cell *cell, const void *body, size_t size,
                                   uint64_t heap_max)
{
    return flat_walk(NULL, cell, body, size, heap_max);
}

pmix_status_t sx_flat_infos_decode(const void *at, size_t size, pmix_info_t **ret_info,
                                   size_t *ret_ninfo)
{
    return sx_flat_infos_decode_within(at, size, UINT64_MAX, ret_info, ret_ninfo);
}

pmix_status_t sx_flat_infos_decode_within(const void *at, size_t size, uint64_t heap_max,
                                          pmix_info_t **ret_info, size_t *ret_ninfo)
{
    struct sx_cell cell;
    pmix_value_t value;
    pmix_status_t rc;

    if (size < sizeof(cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&cell, at, sizeof(cell));
    if (cell.type != PMIX_DATA_ARRAY) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    rc = sx_flat_decode_within(&value, &cell, (const char *)at + sizeof(cell), size - sizeof(cell),
                               heap_max);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (value.data.darray == NULL) {
        *ret_info = NULL;
        *ret_ninfo = 0;
        return PMIX_SUCCESS;
    }
    if (value.data.darray->type != PMIX_INFO) {
        sx_value_destruct(&value);
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_info = value.data.darray->array;
    *ret_ninfo = value.data.darray->size;
    free(value.data.darray);
    return PMIX_SUCCESS;
}

/* ---- infos, of which the first has a long value ---------------------------------------------- */

bool sx_flat_infos_first(struct sx_flat_first *ret, const struct sx_cell *cell, const void *body)
{
    struct sx_flat_record head;
    struct sx_flat_info info;

    if (cell->type != PMIX_DATA_ARRAY || (cell->flags & SX_CELL_NULL) != 0) {
        return false;
    }
    memcpy(&head, body, sizeof(head));
    if (head.type != PMIX_INFO || head.count == 0) {
        return false;
    }
    memcpy(&info, (const uint8_t *)body + sizeof(head), sizeof(info));
    const uint64_t off = info.key.bits + sx_align_up(info.key.len, SX_FLAT_ALIGN);
    const uint64_t rest_off = off + sx_align_up(info.value.len, SX_FLAT_ALIGN);

    *ret = (struct sx_flat_first){ .value = info.value,
                                   .off = off,
                                   .rest_off = rest_off,
                                   .rest_bytes = cell->len - rest_off,
                                   .count = head.count };
    ret->value.bits = info.value.len != 0 ? 0 : info.value.bits;
    return true;
}

pmix_status_t sx_flat_infos_rest(const struct sx_flat_first *first, const void *body,
                                 pmix_info_t **ret_info)
{
    struct sx_flat_level levels[SX_FLAT_LEVELS_MAX];
    struct sx_flat_reader r = { .base = body,
                                .at = first->rest_off,
                                .end = first->rest_off + first->rest_bytes,
                                .heap_left = UINT64_MAX,
                                .left = UINT64_MAX,
                                .levels = levels };
    pmix_info_t *const infos = calloc(first->count, sizeof(*infos));
    struct sx_flat_info flat;
    pmix_status_t rc = infos != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    if (rc == PMIX_SUCCESS) {
        memcpy(&flat, r.base + sizeof(struct sx_flat_record), sizeof(flat));
        memcpy(infos[0].key, r.base + flat.key.bits, flat.key.len);
    }
    for (size_t i = 1; i < first->count && rc == PMIX_SUCCESS; i++) {
        rc = sx_flat_info_get(&r, sizeof(struct sx_flat_record) + i * sizeof(flat), &infos[i], 1);
        rc = rc == PMIX_SUCCESS ? sx_flat_walk_on(&r) : rc;
    }
    if (rc == PMIX_SUCCESS) {
        *ret_info = infos;
        return PMIX_SUCCESS;
    }
    for (size_t i = 1; infos != NULL && i < first->count; i++) {
        sx_value_destruct(&infos[i].value);
    }
    free(infos);
    return rc;
}

/* ---- infos, where they lie ------------------------------------------------------------------ */

bool sx_flat_infos_borrow(const void *at, size_t size, pmix_info_t infos[], size_t room,
                          size_t *ret_ninfo)
{
    struct sx_flat_level levels[SX_FLAT_LEVELS_MAX];
    struct sx_flat_reader r = { .base = (const uint8_t *)at + sizeof(struct sx_cell),
                                .left = UINT64_MAX,
                                .levels = levels,
                                .borrows = true };
    struct sx_cell cell;
    struct sx_flat_record head;

    *ret_ninfo = 0;
    if (size < sizeof(cell) + sizeof(head)) {
        return false;
    }
    memcpy(&cell, at, sizeof(cell));
    memcpy(&head, r.base, sizeof(head));
    if (cell.type != PMIX_DATA_ARRAY || cell.flags != 0 || cell.len > size - sizeof(cell) ||
        cell.len > SX_FLAT_BODY_MAX || cell.len < sizeof(head) || cell.len % SX_FLAT_ALIGN != 0 ||
        head.type != PMIX_INFO || head.reserved0 != 0 || head.reserved1 != 0 ||
        head.count > (cell.len - sizeof(head)) / sizeof(struct sx_flat_info)) {
        return false;
    }
    *ret_ninfo = head.count;
    if (head.count > room) {
        return false;
    }
    r.at = sizeof(head) + head.count * sizeof(struct sx_flat_info);
    r.end = cell.len;
    memset(infos, 0, head.count * sizeof(infos[0]));
    for (size_t i = 0; i < head.count; i++) {
        if (sx_flat_info_get(&r, sizeof(head) + i * sizeof(struct sx_flat_info), &infos[i], 1) !=
                PMIX_SUCCESS ||
            sx_flat_walk_on(&r) != PMIX_SUCCESS) {
            return false; /* what needs memory gets none */
        }
    }
    return r.at == r.end;
}
