/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pack.h - elements of any type as a stream of bytes in a pmix_data_buffer_t, and back.
 *
 * A buffer holds packs one behind the other, so that buffers can be joined.  A pack is
 *
 *   0        2            6
 *   +--------+------------+----------------------------------
 *   | type   | count      | count elements, one behind the other
 *   +--------+------------+----------------------------------
 *
 * All numbers are little-endian and nothing is aligned.  A "length" is a u64.  Elements by type:
 *   numbers (BOOL, INT, SIZE, STATUS, ...): the bytes they have in memory on a 64-bit machine;
 *       a BOOL is one byte, 0 or 1.
 *   STRING: a length that counts the NUL, and as many bytes, the last one the only NUL; NULL is
 *       length 0.
 *   BYTE_OBJECT, the compressed ones, REGEX: a length and as many bytes; length 0 is NULL.
 *   VALUE: the u16 type; UNDEF ends here.  Types kept by pointer: a byte, 0 for NULL, else 1.  Then
 *       the element.
 *   DATA_ARRAY: the u16 type of the elements, a length counting them, the elements; UNDEF is a type
 *       only of an array without elements.
 *   all else: their members in the order of the type table:
 *     PLAIN, STRING, VALUE, TYPED: as an element of that type (TYPED: DATA_ARRAY);
 *     NAME: a STRING that is not NULL;  BYTES: a BYTE_OBJECT;
 *     BUFFER: a BYTE_OBJECT of what is not yet unpacked of it;
 *     ARGV: length 0 for NULL, else the number of strings plus 1 and the strings, none NULL;
 *     ARRAY: a length counting the elements, and the elements;
 *     OPAQUE: the STRING of opaque.h; it is NULL when there is no object.  Behind the text of a
 *       TOPO comes its u64 hash.
 *
 * POINTER never leaves its process, nor do TOPO and PROC_CPUSET inside a VALUE, which only borrows
 * them.  hwloc's reader of XML trusts its input, so a TOPO is taken only if the caller asks for
 * one, never inside an array, and only undamaged: a caller that unpacks one trusts its sender.
 * PMIX_INFO_PERSISTENT speaks of the sender's memory and is 0.  Arrays nest SX_VALUE_DEPTH_MAX
 * deep.  Every element has one encoding (processors of a cpuset may be listed in several ways), and
 * any other bytes are refused.  A count is accepted only if that many of the smallest elements
 * would fit behind it; so memory taken in unpacking is at most SX_PACK_EXPANSION_MAX times the
 * bytes given, hwloc's topologies excepted.
 *
 * A buffer's memory is malloc's and its own; it at least doubles when it grows.  Each function
 * checks the buffer's pointers, which lie in the caller's hands, against each other.  A function
 * that fails leaves the buffer's contents and what is unpacked of it as they were.  Any thread may
 * call; a buffer serves one at a time. */
#ifndef SX_BASE_VALUE_PACK_H
#define SX_BASE_VALUE_PACK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are packed as in memory");

#define SX_PACK_EXPANSION_MAX 64

/* Append @count elements of @type at @src, which does not lie in the buffer.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM (an invalid buffer, an unterminated name, a NULL array with a count, nested
 * too deep, a count above INT32_MAX); PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_NOT_SUPPORTED (pointers,
 * borrowed and foreign objects, topologies in an array); PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_pack(pmix_data_buffer_t *buffer, const void *src, size_t count,
                      pmix_data_type_t type);

/* Take the next pack off the buffer: its elements, at most @max, go to storage at @dst
 * (uninitialised, caller's), what they own is malloc's (sx_elements_destruct).  @type is the type
 * that was packed, or another integer of the same size and signedness.
 * Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_INADEQUATE_SPACE when there are more: @max of them were
 * unpacked, but the buffer stands where it stood; on all others nothing was unpacked:
 * PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER for an empty buffer or one that ends too early;
 * PMIX_ERR_PACK_MISMATCH for another type; PMIX_ERR_UNPACK_FAILURE for bytes that no sx_pack
 * writes; PMIX_ERR_BAD_PARAM, PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_ERR_NOT_SUPPORTED and
 * PMIX_ERR_OUT_OF_RESOURCE as for sx_pack.  @ret_count is written in the first two cases. */
pmix_status_t sx_unpack(pmix_data_buffer_t *buffer, void *dst, size_t max, size_t *ret_count,
                        pmix_data_type_t type);

/* True when the fields of @buffer agree with each other. */
bool sx_buffer_is_sound(const pmix_data_buffer_t *buffer);

/* Bytes of a sound buffer that are not yet unpacked. */
size_t sx_buffer_rest(const pmix_data_buffer_t *buffer);

/* Make room for @size bytes behind what a sound buffer holds; its memory may move.
 * Return: PMIX_SUCCESS or PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_buffer_reserve(pmix_data_buffer_t *buffer, size_t size);

/* Append @size bytes, which do not lie in the buffer's own memory, to a sound buffer.
 * Return: as sx_buffer_reserve. */
pmix_status_t sx_buffer_append(pmix_data_buffer_t *buffer, const void *bytes, size_t size);

#endif
