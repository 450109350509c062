/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_walk.c - the records of a flat value, and the elements in them. */
#include "base/value/flat_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/pages.h"

#define FIELD(type, base, off) (*(type *)(void *)((char *)(base) + (off)))
/* The address of a member, or NULL when there is no struct to fill. */
#define DEST(type, base, off) ((base) == NULL ? NULL : &FIELD(type, base, off))

static pmix_status_t record_enter(struct sx_flat_reader *r, const struct sx_flat_elements *rec,
                                  void *elements, unsigned depth, bool no_nulls);

/* Enter the record of @cell: its head is judged, its elements lie inside the record. */
static pmix_status_t record_open(struct sx_flat_reader *r, const struct sx_cell *cell,
                                 struct sx_flat_elements *rec)
{
    const uint64_t off = r->at;
    struct sx_flat_record head;

    if (cell->len < sizeof(head) || cell->len % SX_FLAT_ALIGN != 0 || !sx_flat_body_take(r, cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&head, r->base + off, sizeof(head));
    *rec = (struct sx_flat_elements){ .type = head.type,
                                      .row = sx_type_find(head.type),
                                      .off = off + sizeof(head),
                                      .end = off + cell->len };
    if (head.reserved0 != 0 || head.reserved1 != 0 ||
        (rec->row == NULL && (head.count != 0 || head.type != PMIX_UNDEF))) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    r->at = rec->off;
    if (head.count == 0) {
        return PMIX_SUCCESS;
    }
    rec->flat_size = sx_flat_element_size(rec->row);
    if (rec->flat_size == 0 || head.count > (rec->end - rec->off) / rec->flat_size) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    rec->count = head.count;
    /* Both ends are multiples of 8, so the padding fits as well. */
    r->at += sx_align_up(rec->count * rec->flat_size, SX_FLAT_ALIGN);
    return PMIX_SUCCESS;
}

/* A block for the elements of @rec and @extra more, zeroed where destructors might look; without
 * @ret_block it is only accounted for. */
static pmix_status_t record_alloc(struct sx_flat_reader *r, const struct sx_flat_elements *rec,
                                  size_t extra, void **ret_block)
{
    size_t size;
    void *block;

    if (!sx_add_size(rec->count, extra, &size) || !sx_mul_size(size, rec->row->size_bytes, &size) ||
        !sx_flat_heap_take(r, size)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (ret_block == NULL) {
        return PMIX_SUCCESS;
    }
    if (rec->row->kind != SX_TYPE_PLAIN && size > SX_PAGE_BYTES) {
        block = calloc(1, size);
    } else {
        block = malloc(size); /* in glibc calloc passes by the thread's cache */
        if (block != NULL && rec->row->kind != SX_TYPE_PLAIN) {
            memset(block, 0, size);
        }
    }
    *ret_block = block;
    return block != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* The array of @cell, whose elements are of @type and at least one (UNDEF: of any, or none). */
static pmix_status_t get_array(struct sx_flat_reader *r, const struct sx_cell *cell,
                               pmix_data_type_t type, pmix_data_array_t *out, unsigned depth)
{
    struct sx_flat_elements rec;
    pmix_status_t rc;

    if (cell->type != PMIX_DATA_ARRAY) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    rc = record_open(r, cell, &rec);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if ((type != PMIX_UNDEF && (rec.type != type || rec.count == 0)) ||
        (rec.count > 0 && depth >= SX_VALUE_DEPTH_MAX)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (rec.count > 0) {
        rc = record_alloc(r, &rec, 0, out == NULL ? NULL : &out->array);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (out != NULL) {
        out->type = rec.type;
        out->size = rec.count;
    }
    return record_enter(r, &rec, out == NULL ? NULL : out->array, depth + 1, false);
}

static pmix_status_t get_argv(struct sx_flat_reader *r, const struct sx_cell *cell, char ***out,
                              unsigned depth)
{
    struct sx_flat_elements rec;
    pmix_status_t rc;

    if (sx_flat_cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    rc = record_open(r, cell, &rec);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (rec.type != PMIX_STRING) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    void *block = NULL;

    rc = record_alloc(r, &rec, 1, out == NULL ? NULL : &block);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (out != NULL) {
        *out = block;
    }
    return record_enter(r, &rec, block, depth, true); /* a NULL would end the vector early */
}

/* A struct or a long plain type: a record with this one element. */
static pmix_status_t get_single(struct sx_flat_reader *r, const struct sx_cell *cell,
                                const struct sx_type *row, pmix_value_t *out, unsigned depth)
{
    struct sx_flat_elements rec;
    pmix_status_t rc = record_open(r, cell, &rec);
    void *element = NULL;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (rec.count != 1 || rec.type != cell->type) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (row->in_value == SX_WHERE_POINTER && !sx_flat_heap_take(r, row->size_bytes)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (out != NULL) {
        element = &out->data;
        if (row->in_value == SX_WHERE_POINTER) {
            element = out->data.ptr = calloc(1, row->size_bytes);
            if (element == NULL) {
                return PMIX_ERR_OUT_OF_RESOURCE;
            }
        }
    }
    return record_enter(r, &rec, element, depth, false);
}

pmix_status_t sx_flat_value_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                pmix_value_t *out, unsigned depth)
{
    const struct sx_type *row = sx_type_find(cell->type);
    const size_t scalar_size = row == NULL ? 0 : sx_type_row_scalar_size(row);

    if (cell->type == PMIX_UNDEF) {
        return cell->flags == 0 && cell->len == 0 && cell->bits == 0 ? PMIX_SUCCESS
                                                                     : PMIX_ERR_UNPACK_FAILURE;
    }
    if (scalar_size == 0 && !sx_flat_has_body(cell->type)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (scalar_size != 0) {
        return sx_flat_scalar_get(cell->type, cell->flags, cell->len, cell->bits, scalar_size, out);
    }
    if (out != NULL) {
        out->type = cell->type;
    }
    if (row->kind == SX_TYPE_STRING) {
        return sx_flat_string_get(r, cell, out == NULL ? NULL : &out->data.string);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return sx_flat_bytes_get(r, cell, out == NULL ? NULL : &out->data.bo);
    }
    if (row->in_value == SX_WHERE_POINTER && sx_flat_cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (cell->type == PMIX_DATA_ARRAY) {
        if (!sx_flat_heap_take(r, row->size_bytes)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        if (out != NULL) {
            out->data.darray = calloc(1, sizeof(*out->data.darray));
            if (out->data.darray == NULL) {
                return PMIX_ERR_OUT_OF_RESOURCE;
            }
        }
        return get_array(r, cell, PMIX_UNDEF, out == NULL ? NULL : out->data.darray, depth);
    }
    return get_single(r, cell, row, out, depth);
}

/* An array that is a member: its pointer, count and, unless it is fixed, type. */
static pmix_status_t get_member_array(struct sx_flat_reader *r, const struct sx_cell *cell,
                                      const struct sx_member *m, void *element, unsigned depth)
{
    pmix_data_array_t array = { .type = PMIX_UNDEF };
    pmix_status_t rc;

    if (m->kind == SX_MEMBER_ARRAY && cell->type == PMIX_DATA_ARRAY && sx_flat_cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    rc = get_array(r, cell, m->type, element == NULL ? NULL : &array, depth);
    if (element != NULL) {
        /* Linked in success and failure: the owner of @element frees it. */
        FIELD(void *, element, m->off) = array.array;
        FIELD(size_t, element, m->count_off) = array.size;
        if (m->kind == SX_MEMBER_TYPED) {
            FIELD(pmix_data_type_t, element, m->type_off) = array.type;
        }
    }
    return rc;
}

static pmix_status_t get_member(struct sx_flat_reader *r, const struct sx_cell *cell,
                                const struct sx_member *m, void *element, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_NAME:
        if (cell->type != PMIX_STRING) {
            break;
        }
        return sx_flat_name_get(r, cell, DEST(char, element, m->off), m->size);
    case SX_MEMBER_STRING:
        if (cell->type != PMIX_STRING) {
            break;
        }
        return sx_flat_string_get(r, cell, DEST(char *, element, m->off));
    case SX_MEMBER_BYTES:
        if (cell->type != PMIX_BYTE_OBJECT) {
            break;
        }
        return sx_flat_bytes_get(r, cell, DEST(pmix_byte_object_t, element, m->off));
    case SX_MEMBER_BUFFER:
        if (cell->type != PMIX_BYTE_OBJECT) {
            break;
        }
        return sx_flat_buffer_get(r, cell, DEST(pmix_data_buffer_t, element, m->off));
    case SX_MEMBER_ARGV:
        if (cell->type != PMIX_DATA_ARRAY) {
            break;
        }
        return get_argv(r, cell, DEST(char **, element, m->off), depth);
    case SX_MEMBER_VALUE:
        return sx_flat_value_get(r, cell, DEST(pmix_value_t, element, m->off), depth);
    case SX_MEMBER_ARRAY:
    case SX_MEMBER_TYPED:
        return get_member_array(r, cell, m, element, depth);
    default:
        break;
    }
    return PMIX_ERR_UNPACK_FAILURE;
}

pmix_status_t sx_flat_info_get(struct sx_flat_reader *r, uint64_t off, pmix_info_t *info,
                               unsigned depth)
{
    const uint64_t at = r->at;
    struct sx_flat_info flat;

    memcpy(&flat, r->base + off, sizeof(flat));
    if (r->shift != 0) {
        sx_flat_cell_read(r, off + offsetof(struct sx_flat_info, key), &flat.key);
        sx_flat_cell_read(r, off + offsetof(struct sx_flat_info, value), &flat.value);
    }
    if (info != NULL) {
        /* Else memory allocated for it here would be taken for borrowed memory. */
        info->flags = flat.flags & ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    }
    pmix_status_t rc = flat.key.type == PMIX_STRING
                           ? sx_flat_name_get(r, &flat.key, info == NULL ? NULL : info->key,
                                              sizeof(info->key))
                           : PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = sx_flat_value_get(r, &flat.value, info == NULL ? NULL : &info->value, depth);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) {
        r->at = at; /* from its key again */
    }
    return rc;
}

/* The members of the next element from the next one on, up to one that enters a record. */
static pmix_status_t get_struct(struct sx_flat_reader *r, struct sx_flat_level *level,
                                void *element)
{
    const struct sx_flat_elements *const rec = &level->rec;
    const unsigned level_count = r->level_count;

    if (rec->type == PMIX_INFO) {
        const pmix_status_t rc = sx_flat_info_get(r, rec->off + level->index * rec->flat_size,
                                                  element, level->depth);

        level->index += rc == PMIX_SUCCESS; /* but for a record that it has entered */
        return rc;
    }
    while (level->member < rec->row->member_count) {
        const struct sx_member *const m = &rec->row->members[level->member];
        const uint64_t off = rec->off + level->index * rec->flat_size + level->member_off;

        if (m->kind != SX_MEMBER_PLAIN) {
            struct sx_cell cell;

            sx_flat_cell_read(r, off, &cell);
            const pmix_status_t rc = get_member(r, &cell, m, element, level->depth);

            if (rc != PMIX_SUCCESS) {
                return rc;
            }
        } else if (element != NULL) {
            memcpy(&FIELD(char, element, m->off), r->base + off, m->size);
        }
        level->member_off += sx_flat_member_size(m);
        level->member++;
        if (r->level_count != level_count) {
            return PMIX_SUCCESS;
        }
    }
    level->member = level->member_off = 0;
    level->index++;
    return PMIX_SUCCESS;
}

/* The next element, a cell. */
static pmix_status_t get_cell(struct sx_flat_reader *r, struct sx_flat_level *level, void *element)
{
    const struct sx_flat_elements *const rec = &level->rec;
    const bool is_string = rec->row->kind == SX_TYPE_STRING;
    struct sx_cell cell;

    sx_flat_cell_read(r, rec->off + level->index * rec->flat_size, &cell);
    if (cell.type != (is_string ? PMIX_STRING : PMIX_BYTE_OBJECT) ||
        (level->no_nulls && (cell.flags & SX_CELL_NULL) != 0)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_status_t rc = is_string ? sx_flat_string_get(r, &cell, element)
                                       : sx_flat_bytes_get(r, &cell, element);

    level->index += rc == PMIX_SUCCESS;
    return rc;
}

/* Whether each of @count bytes is 0 or 1. */
static bool are_bools(const uint8_t *from, size_t count)
{
    uint64_t bits = 0;

    for (; count >= sizeof(bits); count -= sizeof(bits), from += sizeof(bits)) {
        uint64_t word;

        memcpy(&word, from, sizeof(word));
        bits |= word;
    }
    for (; count > 0; count--, from++) {
        bits |= *from;
    }
    return (bits & UINT64_C(0xfefefefefefefefe)) == 0;
}

/* Whether each of @count elements has its names terminated. */
static bool are_named(const struct sx_flat_elements *rec, const uint8_t *from, size_t count)
{
    for (size_t j = 0; j < rec->row->member_count; j++) {
        const struct sx_member *m = &rec->row->members[j];

        for (size_t i = 0; m->kind == SX_MEMBER_NAME && i < count; i++) {
            if (memchr(from + i * rec->flat_size + m->off, '\0', m->size) == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* As many elements as there are looks left. */
static pmix_status_t get_plain(struct sx_flat_reader *r, struct sx_flat_level *level)
{
    const struct sx_flat_elements *const rec = &level->rec;
    const size_t per_look = rec->flat_size < SX_FLAT_BYTES_PER_LOOK
                                ? SX_FLAT_BYTES_PER_LOOK / rec->flat_size
                                : 1;
    const uint64_t rest = rec->count - level->index, looks = rest / per_look + 1;
    const size_t some = looks <= r->left ? rest : r->left * per_look;
    const uint8_t *const from = r->base + rec->off + level->index * rec->flat_size;

    if (r->shift != 0) {
        level->index = rec->count;
        return PMIX_SUCCESS;
    }
    if ((rec->row->number == SX_NUMBER_BOOL && !are_bools(from, some)) ||
        !are_named(rec, from, some)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (level->elements != NULL) {
        memcpy(&FIELD(char, level->elements, level->index * rec->flat_size), from,
               some * rec->flat_size);
    }
    r->left -= looks <= r->left ? looks : r->left;
    level->index += some;
    return some == rest ? PMIX_SUCCESS : PMIX_ERR_WOULD_BLOCK;
}

/* The elements of the innermost level from the next one on, up to one that enters a record. */
static pmix_status_t level_read(struct sx_flat_reader *r, struct sx_flat_level *level)
{
    const struct sx_flat_elements *const rec = &level->rec;
    const unsigned level_count = r->level_count;
    pmix_status_t rc = PMIX_SUCCESS;

    if (rec->row->kind == SX_TYPE_PLAIN) {
        return get_plain(r, level);
    }
    while (level->index < rec->count && rc == PMIX_SUCCESS && r->level_count == level_count) {
        void *const element = DEST(char, level->elements, level->index * rec->row->size_bytes);

        if (r->left == 0) {
            return PMIX_ERR_WOULD_BLOCK;
        }
        r->left--;
        rc = rec->row->kind == SX_TYPE_STRUCT ? get_struct(r, level, element)
                                              : get_cell(r, level, element);
    }
    return rc;
}

/* An opened record: walk_on reads its elements, and what is below them. */
static pmix_status_t record_enter(struct sx_flat_reader *r, const struct sx_flat_elements *rec,
                                  void *elements, unsigned depth, bool no_nulls)
{
    if (rec->count == 0) {
        return r->at == rec->end ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
    }
    sx_assert(r->level_count < SX_FLAT_LEVELS_MAX);
    r->levels[r->level_count++] = (struct sx_flat_level){ .rec = *rec,
                                                          .elements = elements,
                                                          .outer_end = r->end,
                                                          .depth = (uint16_t)depth,
                                                          .no_nulls = no_nulls };
    r->end = rec->end;
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_walk_on(struct sx_flat_reader *r)
{
    while (r->level_count > 0) {
        struct sx_flat_level *const level = &r->levels[r->level_count - 1];

        if (level->index < level->rec.count) {
            const pmix_status_t rc = level_read(r, level);

            if (rc != PMIX_SUCCESS) {
                return rc;
            }
            continue;
        }
        if (r->at != level->rec.end) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        r->end = level->outer_end;
        r->level_count--;
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_walk_begin(struct sx_flat_reader *r,
                                 struct sx_flat_level levels[SX_FLAT_LEVELS_MAX],
                                 struct sx_cell *cell, const void *body, size_t size,
                                 uint64_t heap_max)
{
    *r = (struct sx_flat_reader){ .base = body == NULL ? (const void *)"" : body,
                                  .end = sx_align_up(cell->len, SX_FLAT_ALIGN),
                                  .heap_left = heap_max,
                                  .left = UINT64_MAX,
                                  .levels = levels };
    if (cell->len > size || cell->len > SX_FLAT_BODY_MAX || (cell->len > 0 && body == NULL)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    cell->flags &= SX_CELL_NULL;
    if (cell->len > 0 || cell->flags != 0) {
        cell->bits = 0; /* the container's; for this walk the body starts at 0 */
    }
    return PMIX_SUCCESS;
}
