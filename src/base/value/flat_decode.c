/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_decode.c - read a flat value, or only prove that it can be read.
 *
 * One walk does both: where there is nothing to fill (a NULL destination) it only checks.  The
 * reader's position is where the next body has to start; a cell that names another place, and a
 * record that does not end where its len says, are refused.  So no byte is read for two values and
 * the work is linear in the bytes given.  Destinations are zeroed before they are filled and linked
 * into the result at once: after a failure the ordinary destructor frees what there is.
 *
 * The walk does not recurse: each record that has been entered and not left is a level, and their
 * number is bounded.  So it can stop anywhere between two elements, or in a long text, and go on
 * later. */
#include "base/value/flat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/pages.h"
#include "base/util.h"
#include "base/value/flat_layout.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define FIELD(type, base, off) (*(type *)(void *)((char *)(base) + (off)))
/* The address of a member, or NULL when there is no struct to fill. */
#define DEST(type, base, off) ((base) == NULL ? NULL : &FIELD(type, base, off))

struct record {
    pmix_data_type_t type;
    const struct sx_type *row; /* NULL: type is UNDEF and count 0 */
    size_t count, flat_size;
    uint64_t off, end; /* of the first element; of the record with all that is below it */
};

/* A record whose elements are being read. */
struct level {
    struct record rec;
    void *elements;     /* to be filled; NULL: none are */
    size_t index;       /* of the next element ... */
    size_t member;      /* ... and of its next member, which lies ... */
    size_t member_off;  /* ... here in the element */
    uint64_t outer_end; /* of the record around it */
    uint16_t depth;     /* of its elements */
    bool no_nulls;      /* a NULL string is refused */
};

/* Each array may have a struct around it that is a value, and the innermost may be a vector. */
#define LEVELS_MAX (2 * SX_VALUE_DEPTH_MAX + 2)

struct reader {
    const uint8_t *base;
    uint64_t at;        /* where the next body starts, a multiple of 8 */
    uint64_t end;       /* of the enclosing record, a multiple of 8 */
    uint64_t heap_left; /* what may still be allocated; counted where nothing is filled, too */
    uint64_t left;      /* looks until the walk stops */
    uint64_t scanned;   /* bytes of the text that starts here, without a NUL */
    uint64_t shift;     /* not 0: cells get offsets that are so much less; all else was checked */
    struct level *levels;
    unsigned level_count;
    bool borrows; /* strings and bytes are left where they are, and pointed at */
};

/* How many bytes are scanned in the time of one look. */
#define BYTES_PER_LOOK 64u

static pmix_status_t record_enter(struct reader *r, const struct record *rec, void *elements,
                                  unsigned depth, bool no_nulls);

/* Account for an allocation of @size bytes.  Return: false when it would be too many. */
static bool heap_take(struct reader *r, uint64_t size)
{
    if (size > r->heap_left || r->heap_left - size < SX_FLAT_ALLOCATION_BYTES) {
        return false;
    }
    r->heap_left -= size + SX_FLAT_ALLOCATION_BYTES;
    return true;
}

/* Read a cell of a record.  A cell with a length has a body. */
static void cell_read(const struct reader *r, uint64_t off, struct sx_cell *ret)
{
    const uint8_t *const at = r->base + off;

    memcpy(ret, at, sizeof(*ret));
    if (r->shift != 0 && ret->len != 0) {
        ret->bits -= r->shift;
        memcpy((uint8_t *)(uintptr_t)at, ret, sizeof(*ret)); /* the mover's bytes are its owner's */
    }
}

static bool cell_is_null(const struct sx_cell *cell)
{
    return cell->flags == SX_CELL_NULL && cell->len == 0 && cell->bits == 0;
}

/* Move past a body.  Return: false when it does not start here or does not fit. */
static bool body_take(struct reader *r, const struct sx_cell *cell)
{
    const uint64_t padded = sx_align_up(cell->len, SX_FLAT_ALIGN);

    if (cell->flags != 0 || cell->len == 0 || cell->bits != r->at || padded > r->end - r->at) {
        return false;
    }
    r->at += padded;
    return true;
}

/* Whether the NUL of a text is its last byte.  Return: also PMIX_ERR_WOULD_BLOCK, when the walk has
 * to stop before that is known; the next scan goes on. */
static pmix_status_t text_scan(struct reader *r, const uint8_t *text, size_t len)
{
    if (r->shift != 0) {
        return PMIX_SUCCESS;
    }
    const uint64_t rest = len - r->scanned, looks = rest / BYTES_PER_LOOK;
    const uint64_t some = looks <= r->left ? rest : r->left * BYTES_PER_LOOK;
    const uint8_t *const nul = memchr(text + r->scanned, '\0', some);

    r->left -= looks <= r->left ? looks : r->left;
    r->scanned += some;
    if (nul == NULL && some < rest) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    r->scanned = 0;
    return nul == text + len - 1 ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t get_string(struct reader *r, const struct sx_cell *cell, char **out)
{
    const uint64_t at = r->at;
    const uint8_t *text = r->base + at;

    if (cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (!body_take(r, cell)) {
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
    if (!heap_take(r, cell->len)) {
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

static pmix_status_t get_name(struct reader *r, const struct sx_cell *cell, char *out, size_t size)
{
    const uint8_t *text = r->base + r->at;

    if (!body_take(r, cell) || cell->len > size ||
        memchr(text, '\0', cell->len) != text + cell->len - 1) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (out != NULL) {
        memcpy(out, text, cell->len);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t get_bytes(struct reader *r, const struct sx_cell *cell,
                               pmix_byte_object_t *out)
{
    const uint8_t *bytes = r->base + r->at;

    if (cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (!body_take(r, cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (r->borrows) {
        *out = (pmix_byte_object_t){ .bytes = (char *)(uintptr_t)bytes, .size = cell->len };
        return PMIX_SUCCESS;
    }
    if (!heap_take(r, cell->len)) {
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

static pmix_status_t get_buffer(struct reader *r, const struct sx_cell *cell,
                                pmix_data_buffer_t *out)
{
    pmix_byte_object_t bytes = { .bytes = NULL, .size = 0 };
    const pmix_status_t rc = get_bytes(r, cell, out == NULL ? NULL : &bytes);

    if (rc == PMIX_SUCCESS && bytes.bytes != NULL) {
        out->base_ptr = out->unpack_ptr = bytes.bytes;
        out->pack_ptr = bytes.bytes + bytes.size;
        out->bytes_allocated = out->bytes_used = bytes.size;
    }
    return rc;
}

/* Enter the record of @cell: its head is judged, its elements lie inside the record. */
static pmix_status_t record_open(struct reader *r, const struct sx_cell *cell, struct record *rec)
{
    const uint64_t off = r->at;
    struct sx_flat_record head;

    if (cell->len < sizeof(head) || cell->len % SX_FLAT_ALIGN != 0 || !body_take(r, cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&head, r->base + off, sizeof(head));
    *rec = (struct record){ .type = head.type,
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
static pmix_status_t record_alloc(struct reader *r, const struct record *rec, size_t extra,
                                  void **ret_block)
{
    size_t size;
    void *block;

    if (!sx_add_size(rec->count, extra, &size) || !sx_mul_size(size, rec->row->size_bytes, &size) ||
        !heap_take(r, size)) {
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
static pmix_status_t get_array(struct reader *r, const struct sx_cell *cell, pmix_data_type_t type,
                               pmix_data_array_t *out, unsigned depth)
{
    struct record rec;
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

static pmix_status_t get_argv(struct reader *r, const struct sx_cell *cell, char ***out,
                              unsigned depth)
{
    struct record rec;
    pmix_status_t rc;

    if (cell_is_null(cell)) {
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

/* @flags and @len are those of the cell.  All is passed in registers: reading a struct that was
 * written in parts just before stalls a CPU for as long as a probe takes. */
static inline pmix_status_t get_scalar(pmix_data_type_t type, unsigned flags, uint32_t len,
                                       uint64_t bits, size_t size, pmix_value_t *out)
{
    const unsigned width = 8 * (unsigned)size;

    if (flags != 0 || len != 0 || (width < 64 && bits >> width != 0) ||
        (type == PMIX_BOOL && bits > 1)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (out != NULL) {
        out->type = type;
        memcpy(&out->data, &bits, sizeof(bits)); /* beyond @size they are 0, as is @out */
    }
    return PMIX_SUCCESS;
}
static_assert(sizeof(((pmix_value_t *)NULL)->data) >= sizeof(uint64_t), "room for a cell's bits");

/* A struct or a long plain type: a record with this one element. */
static pmix_status_t get_single(struct reader *r, const struct sx_cell *cell,
                                const struct sx_type *row, pmix_value_t *out, unsigned depth)
{
    struct record rec;
    pmix_status_t rc = record_open(r, cell, &rec);
    void *element = NULL;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (rec.count != 1 || rec.type != cell->type) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (row->in_value == SX_WHERE_POINTER && !heap_take(r, row->size_bytes)) {
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

/* @out is zeroed. */
static pmix_status_t get_value(struct reader *r, const struct sx_cell *cell, pmix_value_t *out,
                               unsigned depth)
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
        return get_scalar(cell->type, cell->flags, cell->len, cell->bits, scalar_size, out);
    }
    if (out != NULL) {
        out->type = cell->type;
    }
    if (row->kind == SX_TYPE_STRING) {
        return get_string(r, cell, out == NULL ? NULL : &out->data.string);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return get_bytes(r, cell, out == NULL ? NULL : &out->data.bo);
    }
    if (row->in_value == SX_WHERE_POINTER && cell_is_null(cell)) {
        return PMIX_SUCCESS;
    }
    if (cell->type == PMIX_DATA_ARRAY) {
        if (!heap_take(r, row->size_bytes)) {
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
static pmix_status_t get_member_array(struct reader *r, const struct sx_cell *cell,
                                      const struct sx_member *m, void *element, unsigned depth)
{
    pmix_data_array_t array = { .type = PMIX_UNDEF };
    pmix_status_t rc;

    if (m->kind == SX_MEMBER_ARRAY && cell->type == PMIX_DATA_ARRAY && cell_is_null(cell)) {
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

static pmix_status_t get_member(struct reader *r, const struct sx_cell *cell,
                                const struct sx_member *m, void *element, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_NAME:
        if (cell->type != PMIX_STRING) {
            break;
        }
        return get_name(r, cell, DEST(char, element, m->off), m->size);
    case SX_MEMBER_STRING:
        if (cell->type != PMIX_STRING) {
            break;
        }
        return get_string(r, cell, DEST(char *, element, m->off));
    case SX_MEMBER_BYTES:
        if (cell->type != PMIX_BYTE_OBJECT) {
            break;
        }
        return get_bytes(r, cell, DEST(pmix_byte_object_t, element, m->off));
    case SX_MEMBER_BUFFER:
        if (cell->type != PMIX_BYTE_OBJECT) {
            break;
        }
        return get_buffer(r, cell, DEST(pmix_data_buffer_t, element, m->off));
    case SX_MEMBER_ARGV:
        if (cell->type != PMIX_DATA_ARRAY) {
            break;
        }
        return get_argv(r, cell, DEST(char **, element, m->off), depth);
    case SX_MEMBER_VALUE:
        return get_value(r, cell, DEST(pmix_value_t, element, m->off), depth);
    case SX_MEMBER_ARRAY:
    case SX_MEMBER_TYPED:
        return get_member_array(r, cell, m, element, depth);
    default:
        break;
    }
    return PMIX_ERR_UNPACK_FAILURE;
}

/* The one at @off; @info is NULL or zeroed. */
static pmix_status_t get_info(struct reader *r, uint64_t off, pmix_info_t *info, unsigned depth)
{
    const uint64_t at = r->at;
    struct sx_flat_info flat;

    memcpy(&flat, r->base + off, sizeof(flat));
    if (r->shift != 0) {
        cell_read(r, off + offsetof(struct sx_flat_info, key), &flat.key);
        cell_read(r, off + offsetof(struct sx_flat_info, value), &flat.value);
    }
    if (info != NULL) {
        /* Else memory allocated for it here would be taken for borrowed memory. */
        info->flags = flat.flags & ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    }
    pmix_status_t rc = flat.key.type == PMIX_STRING
                           ? get_name(r, &flat.key, info == NULL ? NULL : info->key,
                                      sizeof(info->key))
                           : PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = get_value(r, &flat.value, info == NULL ? NULL : &info->value, depth);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) {
        r->at = at; /* from its key again */
    }
    return rc;
}

/* The members of the next element from the next one on, up to one that enters a record. */
static pmix_status_t get_struct(struct reader *r, struct level *level, void *element)
{
    const struct record *const rec = &level->rec;
    const unsigned level_count = r->level_count;

    if (rec->type == PMIX_INFO) {
        const pmix_status_t rc = get_info(r, rec->off + level->index * rec->flat_size, element,
                                          level->depth);

        level->index += rc == PMIX_SUCCESS; /* but for a record that it has entered */
        return rc;
    }
    while (level->member < rec->row->member_count) {
        const struct sx_member *const m = &rec->row->members[level->member];
        const uint64_t off = rec->off + level->index * rec->flat_size + level->member_off;

        if (m->kind != SX_MEMBER_PLAIN) {
            struct sx_cell cell;

            cell_read(r, off, &cell);
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
static pmix_status_t get_cell(struct reader *r, struct level *level, void *element)
{
    const struct record *const rec = &level->rec;
    const bool is_string = rec->row->kind == SX_TYPE_STRING;
    struct sx_cell cell;

    cell_read(r, rec->off + level->index * rec->flat_size, &cell);
    if (cell.type != (is_string ? PMIX_STRING : PMIX_BYTE_OBJECT) ||
        (level->no_nulls && (cell.flags & SX_CELL_NULL) != 0)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_status_t rc = is_string ? get_string(r, &cell, element)
                                       : get_bytes(r, &cell, element);

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
static bool are_named(const struct record *rec, const uint8_t *from, size_t count)
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
static pmix_status_t get_plain(struct reader *r, struct level *level)
{
    const struct record *const rec = &level->rec;
    const size_t per_look = rec->flat_size < BYTES_PER_LOOK ? BYTES_PER_LOOK / rec->flat_size : 1;
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
static pmix_status_t level_read(struct reader *r, struct level *level)
{
    const struct record *const rec = &level->rec;
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
static pmix_status_t record_enter(struct reader *r, const struct record *rec, void *elements,
                                  unsigned depth, bool no_nulls)
{
    if (rec->count == 0) {
        return r->at == rec->end ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
    }
    sx_assert(r->level_count < LEVELS_MAX);
    r->levels[r->level_count++] = (struct level){ .rec = *rec,
                                                  .elements = elements,
                                                  .outer_end = r->end,
                                                  .depth = (uint16_t)depth,
                                                  .no_nulls = no_nulls };
    r->end = rec->end;
    return PMIX_SUCCESS;
}

/* Read all records that have been entered.  Return: also PMIX_ERR_WOULD_BLOCK, when there are no
 * looks left. */
static pmix_status_t walk_on(struct reader *r)
{
    while (r->level_count > 0) {
        struct level *const level = &r->levels[r->level_count - 1];

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

/* Begin the walk over a whole value.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE. */
static pmix_status_t walk_begin(struct reader *r, struct level levels[LEVELS_MAX],
                                struct sx_cell *cell, const void *body, size_t size,
                                uint64_t heap_max)
{
    *r = (struct reader){ .base = body == NULL ? (const void *)"" : body,
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

/* The walk over a whole value; @out is NULL or zeroed. */
static pmix_status_t flat_walk(pmix_value_t *out, const struct sx_cell *at, const void *body,
                               size_t size, uint64_t heap_max)
{
    struct level levels[LEVELS_MAX];
    /* One copy, so that what is judged is what is used. */
    struct sx_cell cell = *at;
    struct reader r;
    pmix_status_t rc = walk_begin(&r, levels, &cell, body, size, heap_max);

    if (rc == PMIX_SUCCESS) {
        rc = get_value(&r, &cell, out, 0);
    }
    return rc == PMIX_SUCCESS ? walk_on(&r) : rc;
}

/* ---- in steps ------------------------------------------------------------------------------- */

struct sx_flat_checker {
    struct reader reader;
    struct sx_cell cell; /* of the value */
    bool is_begun;       /* the value has been entered */
    pmix_status_t status;
    struct level levels[LEVELS_MAX];
};

struct sx_flat_checker *sx_flat_checker_new(const struct sx_cell *cell, const void *body,
                                            size_t size, uint64_t heap_max)
{
    struct sx_flat_checker *const checker = malloc(sizeof(*checker));

    if (checker != NULL) {
        checker->cell = *cell;
        checker->is_begun = false;
        checker->status = walk_begin(&checker->reader, checker->levels, &checker->cell, body, size,
                                     heap_max);
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
    struct reader *const r = &checker->reader;

    r->left = *looks;
    if (checker->status == PMIX_SUCCESS && !checker->is_begun) {
        checker->status = get_value(r, &checker->cell, NULL, 0);
        checker->is_begun = checker->status == PMIX_SUCCESS;
    }
    if (checker->status == PMIX_SUCCESS) {
        checker->status = walk_on(r);
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
        return get_scalar(cell->type, cell->flags & SX_CELL_NULL, cell->len, cell->bits,
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
    struct level levels[LEVELS_MAX];
    struct reader r = { .base = body,
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
        rc = get_info(&r, sizeof(struct sx_flat_record) + i * sizeof(flat), &infos[i], 1);
        rc = rc == PMIX_SUCCESS ? walk_on(&r) : rc;
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
    struct level levels[LEVELS_MAX];
    struct reader r = { .base = (const uint8_t *)at + sizeof(struct sx_cell),
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
        if (get_info(&r, sizeof(head) + i * sizeof(struct sx_flat_info), &infos[i], 1) !=
                PMIX_SUCCESS ||
            walk_on(&r) != PMIX_SUCCESS) {
            return false; /* what needs memory gets none */
        }
    }
    return r.at == r.end;
}
