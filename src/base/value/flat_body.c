/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_body.c - the bodies of a flat value that are no records: texts, names and bytes. */
#include "base/value/flat_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/system/pages.h"

/* Whether the NUL of a text is its last byte.  Return: also PMIX_ERR_WOULD_BLOCK, when the walk has
 * to stop before that is known; the next scan goes on. */
static pmix_status_t text_scan(struct sx_flat_reader *r, const uint8_t *text, size_t len)
{
    if (r->shift != 0) {
        return PMIX_SUCCESS;
    }
    const uint64_t rest = len - r->scanned, looks = rest / SX_FLAT_BYTES_PER_LOOK;
    const uint64_t some = looks <= r->left ? rest : r->left * SX_FLAT_BYTES_PER_LOOK;
    const uint8_t *const nul = memchr(text + r->scanned, '\0', some);

    r->left -= looks <= r->left ? looks : r->left;
    r->scanned += some;
    if (nul == NULL && some < rest) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    r->scanned = 0;
    return nul == text + len - 1 ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
}

pmix_status_t sx_flat_string_get(struct sx_flat_reader *r, const struct sx_cell *cell, char **out)
{
    const uint64_t at = r->at;
    const uint8_t *text = r->base + at;

    if (sx_flat_cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (!sx_flat_body_take(r, cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_status_t rc = text_scan(r, text, cell->len);

    if (rc != PMIX_SUCCESS) {
        r->at = at;
        return rc;
    }
    if (r->borrows) {
        *out = (char *)(uintptr_t)text;
        return PMIX_SUCCESS;
    }
    if (!sx_flat_heap_take(r, cell->len)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (out != NULL) {
        *out = sx_pages_malloc(cell->len);
        if (*out == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        memcpy(*out, text, cell->len);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_name_get(struct sx_flat_reader *r, const struct sx_cell *cell, char *out,
                               size_t size)
{
    const uint8_t *text = r->base + r->at;

    if (!sx_flat_body_take(r, cell) || cell->len > size ||
        memchr(text, '\0', cell->len) != text + cell->len - 1) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (out != NULL) {
        memcpy(out, text, cell->len);
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_bytes_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                pmix_byte_object_t *out)
{
    const uint8_t *bytes = r->base + r->at;

    if (sx_flat_cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (!sx_flat_body_take(r, cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (r->borrows) {
        *out = (pmix_byte_object_t){ .bytes = (char *)(uintptr_t)bytes, .size = cell->len };
        return PMIX_SUCCESS;
    }
    if (!sx_flat_heap_take(r, cell->len)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (out != NULL) {
        out->bytes = sx_pages_malloc(cell->len);
        if (out->bytes == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        memcpy(out->bytes, bytes, cell->len);
        out->size = cell->len;
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_buffer_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                 pmix_data_buffer_t *out)
{
    pmix_byte_object_t bytes = { .bytes = NULL, .size = 0 };
    const pmix_status_t rc = sx_flat_bytes_get(r, cell, out == NULL ? NULL : &bytes);

    if (rc == PMIX_SUCCESS && bytes.bytes != NULL) {
        out->base_ptr = out->unpack_ptr = bytes.bytes;
        out->pack_ptr = bytes.bytes + bytes.size;
        out->bytes_allocated = out->bytes_used = bytes.size;
    }
    return rc;
}
