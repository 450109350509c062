/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* codec.h - packs of every PMIx type in the other library's encodings.
 *
 * One table (codec.c) has a row for each type that is carried: how its elements are written.
 * Structs follow the members of the base's type table.  Bytes from outside are judged: arrays nest
 * SX_CODEC_DEPTH_MAX deep, a count is believed only if that many of the smallest elements fit into
 * the bytes left, and a compressed string is inflated to at most SX_CODEC_INFLATED_MAX bytes.  All
 * elements of one message, with those of its buckets, take at most SX_CODEC_MEMORY_MAX bytes.
 * Elements that come out are malloc's, as those of the public API, and are freed with
 * sx_elements_destruct or the macros of the Standard. */
#ifndef SX_GATEWAY_CODEC_H
#define SX_GATEWAY_CODEC_H

#include "gateway/wire.h"

/* Types of the wire that our headers do not have, and a kind of BUFFER. */
#define SX_CODEC_BUFFER 26
#define SX_CODEC_KVAL 28
#define SX_CODEC_COMMAND 34
#define SX_CODEC_DESCRIBED 2

#define SX_CODEC_DEPTH_MAX 8
#define SX_CODEC_INFLATED_MAX (UINT32_C(64) << 20)
#define SX_CODEC_MEMORY_MAX ((size_t)1 << 30)

struct sx_codec_infos {
    pmix_info_t *at;
    size_t count;
};

struct sx_codec_procs {
    pmix_proc_t *at;
    size_t count;
};

/* True if a pack of @type can be written in @encoding. */
bool sx_codec_carries(pmix_data_type_t type, enum sx_encoding encoding);

/* ---- Reading: false after a failure, which is in @r->failed; then nothing is left to free ---- */

/* A pack of exactly @count elements of @type into @dst (uninitialised). */
bool sx_codec_unpack(struct sx_wire_reader *r, pmix_data_type_t type, void *dst, size_t count);

/* A pack of one of these. */
size_t sx_codec_get_size(struct sx_wire_reader *r);
pmix_status_t sx_codec_get_status(struct sx_wire_reader *r);
uint32_t sx_codec_get_u32(struct sx_wire_reader *r, pmix_data_type_t type); /* type: RANK, UINT32 */
uint8_t sx_codec_get_u8(struct sx_wire_reader *r, pmix_data_type_t type);   /* SCOPE, COMMAND ... */
/* The text where it lies, with its NUL; NULL for a NULL string and after a failure. */
const char *sx_codec_get_text(struct sx_wire_reader *r);
/* The bytes where they lie: a reader of them.  They are a BYTE_OBJECT or a BUFFER. */
struct sx_wire_reader sx_codec_get_bytes(struct sx_wire_reader *r, pmix_data_type_t type);

/* A SIZE n and, unless it is 0, a pack of n: an array that the caller frees. */
bool sx_codec_get_array(struct sx_wire_reader *r, pmix_data_type_t type, void **ret_array,
                        size_t *ret_count);
struct sx_codec_infos sx_codec_get_infos(struct sx_wire_reader *r);
struct sx_codec_procs sx_codec_get_procs(struct sx_wire_reader *r);
void sx_codec_infos_free(struct sx_codec_infos *infos);

/* A pack of one KVAL.  @ret_key stays where it lies; the value is the caller's to destruct. */
bool sx_codec_get_kval(struct sx_wire_reader *r, const char **ret_key, pmix_value_t *ret_value);

/* ---- Writing: a failure is in @w->failed ---- */

void sx_codec_pack(struct sx_wire_writer *w, pmix_data_type_t type, const void *src, size_t count);
void sx_codec_put_size(struct sx_wire_writer *w, size_t size);
void sx_codec_put_status(struct sx_wire_writer *w, pmix_status_t status);
void sx_codec_put_u32(struct sx_wire_writer *w, pmix_data_type_t type, uint32_t number);
void sx_codec_put_u8(struct sx_wire_writer *w, pmix_data_type_t type, uint8_t number);
void sx_codec_put_text(struct sx_wire_writer *w, const char *text);
/* A BYTE_OBJECT of what @inner holds. */
void sx_codec_put_bytes(struct sx_wire_writer *w, const struct sx_wire_writer *inner);
/* A SIZE @count and, unless it is 0, a pack of them. */
void sx_codec_put_array(struct sx_wire_writer *w, pmix_data_type_t type, const void *array,
                        size_t count);
/* A KVAL.  A value that the encoding cannot carry is left away, and nothing is written.  Return:
 * whether it was written. */
bool sx_codec_put_kval(struct sx_wire_writer *w, const char *key, const pmix_value_t *value);

/* Infos that become the value of a KVAL.  Zeroed it is empty, with the form to be set. */
struct sx_codec_group {
    struct sx_wire_writer elements;
    size_t count;
};

/* Return: as sx_codec_put_kval. */
bool sx_codec_group_add(struct sx_codec_group *group, const char *key, const pmix_value_t *value);
/* With the flags of the info. */
bool sx_codec_group_add_info(struct sx_codec_group *group, const pmix_info_t *info);
/* SIZE n and, unless it is 0, a pack of those of @count infos that can be carried. */
void sx_codec_put_infos(struct sx_wire_writer *w, const pmix_info_t *infos, size_t count);
/* A KVAL with a DATA_ARRAY of them; then @group is empty. */
void sx_codec_group_put(struct sx_wire_writer *w, const char *key, struct sx_codec_group *group);
/* A KVAL with a BYTE_OBJECT of what @inner holds. */
void sx_codec_put_kval_bytes(struct sx_wire_writer *w, const char *key,
                             const struct sx_wire_writer *inner);

#endif
