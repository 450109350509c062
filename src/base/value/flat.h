/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat.h - a value as position-independent bytes: one encoding for store, lane, ring and control.
 *
 * A flat value is a 16-byte cell and, for what does not fit in it, a body of bytes that the
 * cell refers to by offset.  All numbers are little-endian and of fixed width.
 *
 *   cell: 0        2        4                8                       16
 *         +--------+--------+----------------+-----------------------+
 *         | type   | flags  | len            | scalar, or body offset|
 *         +--------+--------+----------------+-----------------------+
 *
 * len is the length of the body in bytes (0: no body).  The meaning by type:
 *   UNDEF: len 0, bits 0.
 *   scalars (<= 8 bytes in the value union): len 0, the bits in `bits`, zero-extended; signed
 *       numbers are stored as their own width, zero-extended; a bool is 0 or 1.
 *   STRING: body is the bytes with their NUL, len counts the NUL; NULL has SX_CELL_NULL.
 *   BYTE_OBJECT, the compressed ones, REGEX: body is the bytes, len their number; size 0 has
 *       SX_CELL_NULL.
 *   DATA_ARRAY: body is the array record of its elements; a NULL pointer has SX_CELL_NULL.
 *   all else (PROC, TIMEVAL, ENVAR, PROC_INFO ...): body is an array record of one element of that
 *       type; a NULL pointer has SX_CELL_NULL.
 * A cell with SX_CELL_NULL has len 0 and bits 0.  A body longer than SX_FLAT_BODY_MAX bytes is
 * refused.  POINTER, PROC_CPUSET and TOPO cannot leave a process (PMIX_ERR_NOT_SUPPORTED); VALUE,
 * INFO, APP, PDATA and QUERY are elements of arrays, never values.
 *
 * An array record starts 8-aligned and is a multiple of 8 bytes long, all of which its len counts:
 *   {u16 element type, u16 0, u32 0, u64 count}, then the elements one after the other, zeroed to a
 *   multiple of 8, then the bodies of the cells among them.  UNDEF is an element type only of an
 *   array with count 0.
 *   Elements of plain types (type.h: the numbers, PROC, PROC_NSPACE, TIMEVAL) are their bytes as in
 *   memory, a PROC 260 of them, the bytes behind the NUL of a name zeroed.
 *   Elements of STRING, BYTE_OBJECT, ...: a cell each.  Elements of structs: their members in the
 *   order of the type table:
 *     PLAIN: bytes as they are, zeroed to a multiple of 8;  NAME: cell of a STRING, never NULL;
 *     STRING, VALUE: cell;  BYTES: cell of a BYTE_OBJECT;
 *     BUFFER: cell of a BYTE_OBJECT with the bytes not yet unpacked;
 *     ARGV: cell of a DATA_ARRAY of STRING without NULL strings, or SX_CELL_NULL;
 *     ARRAY: cell of a DATA_ARRAY of the member's type, SX_CELL_NULL when it has no elements;
 *     TYPED: cell of a DATA_ARRAY, never NULL (it keeps the type of an empty array);
 *     OPAQUE: refused with PMIX_ERR_NOT_SUPPORTED.
 *   PMIX_INFO_PERSISTENT speaks of the sender's memory and is cleared in the flags of an info.
 *
 * The bits of a cell inside a record are the offset of its body from the start of the outermost
 * body, so a body can be moved as a block.  The bodies of a record's cells follow in the order of
 * the cells, each with its own nested bodies directly behind it (depth first), each 8-aligned, with
 * no gap and no sharing: every value has exactly one encoding of its structure, a decoder can
 * compute where each body has to start, and its allocations are proportional to the given bytes.
 *
 * Every decoder treats body and cell as hostile: each offset, count and length is bounded by the
 * enclosing body, strings end where their len says, bools are 0 or 1, names are terminated, arrays
 * nest at most SX_VALUE_DEPTH_MAX deep.  Any thread may call. */
#ifndef SX_BASE_VALUE_FLAT_H
#define SX_BASE_VALUE_FLAT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_cell {
    uint16_t type;  /* pmix_data_type_t */
    uint16_t flags; /* SX_CELL_* */
    uint32_t len;   /* bytes of the body, padding not counted */
    uint64_t bits;  /* the scalar, or the body's offset from a base the container names */
};
static_assert(sizeof(struct sx_cell) == 16, "fixed by the flat format");

#define SX_CELL_NULL 0x0001u  /* a NULL string, pointer or byte object */
#define SX_CELL_SCOPE_SHIFT 4 /* bits 4-7: pmix_scope_t, used by the store */
#define SX_CELL_SCOPE_MASK 0x00f0u
#define SX_FLAT_BODY_MAX (UINT32_MAX - 8)

/* Bytes that the body of @value takes (a multiple of 8; 0 when the cell holds it all).
 * Return: PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_NOT_SUPPORTED (pointers, opaque
 * members); PMIX_ERR_BAD_PARAM (nested too deep, unterminated name, NULL array with a count);
 * PMIX_ERR_OUT_OF_RESOURCE when longer than SX_FLAT_BODY_MAX. */
pmix_status_t sx_flat_size(const pmix_value_t *value, size_t *ret_size);

/* Encode into @body (8-aligned, exactly the size sx_flat_size gave); padding is zeroed.
 * ret_cell->bits is 0 where there is a body: the caller adds the body's offset.  @value must not
 * change between the two calls; sizes are checked again.  Return: as sx_flat_size. */
pmix_status_t sx_flat_encode(const pmix_value_t *value, struct sx_cell *ret_cell, void *body,
                             size_t size);

/* True when the body of @value is memory of its owner as it stands (a string, bytes): then
 * *ret_cell and *ret_body, which is cell.len bytes and not padded, are what sx_flat_encode would
 * have copied. */
bool sx_flat_borrow(const pmix_value_t *value, struct sx_cell *ret_cell, const void **ret_body);

/* Decode into @ret (uninitialised): malloc'ed deep copies, PMIx_Value_destruct frees them; after a
 * failure it is PMIX_UNDEF.  @cell->bits is ignored where there is a body, and so are all flags but
 * SX_CELL_NULL; @body are its @size >= cell->len bytes, of any alignment.  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE for bytes that are not a flat value; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_flat_decode(pmix_value_t *ret, const struct sx_cell *cell, const void *body,
                             size_t size);

/* Prove that sx_flat_decode would succeed, without allocating: for bytes a client sent, before
 * they are stored.  Return: PMIX_SUCCESS or PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_flat_check(const struct sx_cell *cell, const void *body, size_t size);

/* The same, of which the decoded form may take no more than @heap_max bytes of memory, where an
 * allocation counts as SX_FLAT_ALLOCATION_BYTES more (its time is bounded by that, too).  The check
 * refuses exactly what the decoder refuses.  Return: also PMIX_ERR_OUT_OF_RESOURCE when it would
 * take more. */
#define SX_FLAT_ALLOCATION_BYTES 256u
pmix_status_t sx_flat_decode_within(pmix_value_t *ret, const struct sx_cell *cell, const void *body,
                                    size_t size, uint64_t heap_max);
pmix_status_t sx_flat_check_within(const struct sx_cell *cell, const void *body, size_t size,
                                   uint64_t heap_max);

struct sx_flat_checker;
/* The same check in steps, for one that is long.  The body stays where it is until the end.  One
 * look, of 30 ns, is an element, or 64 bytes of a text or of plain elements.  Return: NULL without
 * memory. */
struct sx_flat_checker *sx_flat_checker_new(const struct sx_cell *cell, const void *body,
                                            size_t size, uint64_t heap_max);
struct sx_flat_checker *sx_flat_checker_free(struct sx_flat_checker *checker);
/* Take no more than *looks, at least 2, and leave in it what has not been used.  Return:
 * PMIX_ERR_WOULD_BLOCK while another step is needed; at the end as sx_flat_check_within. */
pmix_status_t sx_flat_checker_step(struct sx_flat_checker *checker, uint64_t *looks);

/* The first info of an array of infos, whose value may be long. */
struct sx_flat_first {
    struct sx_cell value;          /* its bits are 0 where there is a body */
    uint64_t off;                  /* of that body, in the array's */
    uint64_t rest_off, rest_bytes; /* of the bodies of the infos behind the first */
    size_t count;                  /* of all infos */
};
/* @cell and @body have been checked.  Return: false when they are not an array of infos. */
bool sx_flat_infos_first(struct sx_flat_first *ret, const struct sx_cell *cell, const void *body);
/* Decode the infos, but for the value of the first.  Return: as sx_flat_infos_decode. */
pmix_status_t sx_flat_infos_rest(const struct sx_flat_first *first, const void *body,
                                 pmix_info_t **ret_info);
/* Make a value of its own of that of the first, whose body begins at @body now: a checker whose
 * steps write new offsets, for a value that has been checked. */
struct sx_flat_checker *sx_flat_mover_new(const struct sx_flat_first *first, void *body);

/* True when a value of @type has a body (unless NULL). */
bool sx_flat_has_body(pmix_data_type_t type);

/* An info array as one flat value, a DATA_ARRAY of PMIX_INFO (SX_CELL_NULL when there is none): for
 * messages.  The cell and the body lie back to back at @at (8-aligned), cell.bits is
 * sizeof(struct sx_cell) where there is a body.  Return: as their namesakes above; a decoder
 * accepts bytes behind the value. */
pmix_status_t sx_flat_infos_size(const pmix_info_t *info, size_t ninfo, size_t *ret_size);
pmix_status_t sx_flat_infos_encode(const pmix_info_t *info, size_t ninfo, void *at, size_t size);
/* Return: also *ret_info malloc'ed (NULL when none), for PMIX_INFO_FREE. */
pmix_status_t sx_flat_infos_decode(const void *at, size_t size, pmix_info_t **ret_info,
                                   size_t *ret_ninfo);
pmix_status_t sx_flat_infos_decode_within(const void *at, size_t size, uint64_t heap_max,
                                          pmix_info_t **ret_info, size_t *ret_ninfo);
/* The same without an allocation, for infos that need none: into @infos, whose strings and bytes
 * lie in @at.  Not for PMIX_INFO_FREE.  Return: false when it takes sx_flat_infos_decode, to fill
 * them or to say what is wrong with them, or, with *ret_ninfo > @room, more room. */
bool sx_flat_infos_borrow(const void *at, size_t size, pmix_info_t infos[], size_t room,
                          size_t *ret_ninfo);

#endif
