/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* type.h - the one table of PMIx data types, from which every operation on values follows.
 *
 * A type is either plain (its bytes are its value), a string, or a struct described member by
 * member; copy, free, compare, print, flatten and size are each one walk over the description.
 * The table is constant and may be read by any thread. */
#ifndef SX_BASE_VALUE_TYPE_H
#define SX_BASE_VALUE_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

enum sx_member_kind {
    SX_MEMBER_PLAIN,  /* @size bytes as they are; @type says what they mean */
    SX_MEMBER_NAME,   /* char[@size], NUL-terminated within (pmix_key_t, pmix_nspace_t) */
    SX_MEMBER_STRING, /* char *, may be NULL, owned */
    SX_MEMBER_ARGV,   /* char **, NULL-terminated, may be NULL, owned */
    SX_MEMBER_BYTES,  /* pmix_byte_object_t in place, owned */
    SX_MEMBER_VALUE,  /* pmix_value_t in place */
    SX_MEMBER_ARRAY,  /* @type *, as many as the size_t at @count_off says, owned, one block */
    SX_MEMBER_TYPED,  /* void *, of the pmix_data_type_t at @type_off: a data array */
    SX_MEMBER_BUFFER, /* pmix_data_buffer_t in place: what is not yet unpacked of it, owned */
    SX_MEMBER_OPAQUE, /* a pointer that only its owner understands: base/value/opaque.h */
};

struct sx_member {
    uint16_t kind; /* enum sx_member_kind */
    uint16_t off, size;
    uint16_t count_off, type_off;
    pmix_data_type_t type;
};

enum sx_type_kind {
    SX_TYPE_NONE = 0, /* unknown or without a C representation */
    SX_TYPE_PLAIN,    /* its members, if it has any, only say how to check and compare it */
    SX_TYPE_STRING,   /* char * */
    SX_TYPE_BYTES,    /* pmix_byte_object_t */
    SX_TYPE_STRUCT,
    SX_TYPE_POINTER, /* void *: copied as the number it is, never crosses a process */
};

/* Where a pmix_value_t keeps a datum of the type. */
enum sx_where {
    SX_WHERE_NOWHERE = 0,
    SX_WHERE_UNION,    /* in the union itself */
    SX_WHERE_POINTER,  /* by a pointer to one malloc'ed element, owned */
    SX_WHERE_BORROWED, /* by a pointer that stays its owner's: neither copied nor freed */
};

/* How the bytes of a plain type read as a number. */
enum sx_number {
    SX_NUMBER_NONE = 0,
    SX_NUMBER_BOOL,
    SX_NUMBER_UINT,
    SX_NUMBER_INT,
    SX_NUMBER_FLOAT, /* float or double, by size */
};

struct sx_type {
    const char *name;    /* "PMIX_UINT32" */
    uint16_t kind;       /* enum sx_type_kind */
    uint16_t size_bytes; /* of one element in an array of this type */
    uint8_t in_value;    /* enum sx_where */
    uint8_t member_count;
    uint8_t number; /* enum sx_number */
    const struct sx_member *members;
};

/* Return: the row of @type, or NULL when it is unknown (PMIX_UNDEF included). */
const struct sx_type *sx_type_find(pmix_data_type_t type);

/* The size of the scalar that @type keeps inside the value union, or 0 if it keeps none there or
 * one that no other process could use (pointers) or that is longer than 8 bytes (timeval). */
size_t sx_type_scalar_size(pmix_data_type_t type);
/* The same of a type whose row is known. */
static inline size_t sx_type_row_scalar_size(const struct sx_type *row)
{
    return row->kind == SX_TYPE_PLAIN && row->in_value == SX_WHERE_UNION &&
                   row->size_bytes <= sizeof(uint64_t)
               ? row->size_bytes
               : 0;
}

#endif
