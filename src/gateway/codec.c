/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* codec.c - the table of types, and the two walks over it: elements read and elements written.
 *
 * Destinations are zeroed before they are filled, and what is allocated is linked into them at
 * once: after a failure the ordinary destructor frees what there is. */
#include "gateway/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/util.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define FIELD(type, base, off) (*(type *)(void *)((char *)(base) + (off)))
#define CONST_FIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))
#define DECIMAL_CHARS_MAX 352  /* of the largest double as %f */
#define INFLATE_RATIO_MAX 1032 /* of zlib's format */
#define BLOCK_BYTES 32         /* of malloc, around and behind what was asked for */

/* ---- The table ------------------------------------------------------------------------------- */

/* How an element is written. */
enum how {
    NOT_CARRIED = 0,
    INTEGER,  /* as wide and signed as the base's type table says */
    NUMBERED, /* an INTEGER; in v3 the number of UINT64 lies before all that lie together */
    WORD,     /* signed, also for UINT, and 32 bits; in v3 the number of INT32 lies before them */
    PROCESS,  /* a pid: an unsigned integer; the number of UINT32 lies before them */
    MOMENT,   /* a time: an unsigned integer of 64 bits */
    DECIMAL,  /* a text of the number with six decimals */
    TEXT,     /* a STRING */
    BYTES,    /* a SIZE and as many bytes */
    MEMBERS,  /* each member of the base's row */
    NOTHING,  /* one byte, 1: a pointer means nothing in another process */
};

struct row {
    uint8_t how;
    bool not_v3; /* v3 has no such type */
};

#define BOTH(kind)    \
    {                 \
        (kind), false \
    }
#define V41(kind)    \
    {                \
        (kind), true \
    }

static const struct row rows[] = {
    [PMIX_BOOL] = BOTH(INTEGER),
    [PMIX_BYTE] = BOTH(INTEGER),
    [PMIX_STRING] = BOTH(TEXT),
    [PMIX_SIZE] = BOTH(NUMBERED),
    [PMIX_PID] = BOTH(PROCESS),
    [PMIX_INT] = BOTH(WORD),
    [PMIX_INT8] = BOTH(INTEGER),
    [PMIX_INT16] = BOTH(INTEGER),
    [PMIX_INT32] = BOTH(INTEGER),
    [PMIX_INT64] = BOTH(INTEGER),
    [PMIX_UINT] = BOTH(WORD),
    [PMIX_UINT8] = BOTH(INTEGER),
    [PMIX_UINT16] = BOTH(INTEGER),
    [PMIX_UINT32] = BOTH(INTEGER),
    [PMIX_UINT64] = BOTH(INTEGER),
    [PMIX_FLOAT] = BOTH(DECIMAL),
    [PMIX_DOUBLE] = BOTH(DECIMAL),
    [PMIX_TIMEVAL] = BOTH(MEMBERS),
    [PMIX_TIME] = BOTH(MOMENT),
    [PMIX_STATUS] = BOTH(INTEGER),
    [PMIX_VALUE] = BOTH(MEMBERS),
    [PMIX_PROC] = BOTH(MEMBERS),
    [PMIX_APP] = BOTH(MEMBERS),
    [PMIX_INFO] = BOTH(MEMBERS),
    [PMIX_PDATA] = BOTH(MEMBERS),
    [PMIX_BYTE_OBJECT] = BOTH(BYTES),
    [PMIX_PERSIST] = BOTH(INTEGER),
    [PMIX_POINTER] = BOTH(NOTHING),
    [PMIX_SCOPE] = BOTH(INTEGER),
    [PMIX_DATA_RANGE] = BOTH(INTEGER),
    [PMIX_INFO_DIRECTIVES] = BOTH(INTEGER),
    [PMIX_DATA_TYPE] = BOTH(INTEGER),
    [PMIX_PROC_STATE] = BOTH(INTEGER),
    [PMIX_PROC_INFO] = BOTH(MEMBERS),
    [PMIX_DATA_ARRAY] = BOTH(MEMBERS),
    [PMIX_PROC_RANK] = BOTH(INTEGER),
    [PMIX_QUERY] = BOTH(MEMBERS),
    [PMIX_COMPRESSED_STRING] = BOTH(BYTES),
    [PMIX_ALLOC_DIRECTIVE] = BOTH(INTEGER),
    [PMIX_IOF_CHANNEL] = BOTH(INTEGER),
    [PMIX_ENVAR] = BOTH(MEMBERS),
    [PMIX_COORD] = V41(MEMBERS),
    [PMIX_REGATTR] = V41(MEMBERS),
    [PMIX_JOB_STATE] = V41(INTEGER),
    [PMIX_LINK_STATE] = V41(INTEGER),
    [PMIX_GEOMETRY] = V41(MEMBERS),
    [PMIX_DEVICE_DIST] = V41(MEMBERS),
    [PMIX_ENDPOINT] = V41(MEMBERS),
    [PMIX_DEVTYPE] = V41(INTEGER),
    [PMIX_LOCTYPE] = V41(INTEGER),
    [PMIX_COMPRESSED_BYTE_OBJECT] = V41(BYTES),
    [PMIX_PROC_NSPACE] = V41(MEMBERS),
    [PMIX_STOR_MEDIUM] = V41(INTEGER),
    [PMIX_STOR_ACCESS] = V41(INTEGER),
    [PMIX_STOR_PERSIST] = V41(INTEGER),
    [PMIX_STOR_ACCESS_TYPE] = V41(INTEGER),
};

static enum how how_of(pmix_data_type_t type, enum sx_encoding encoding)
{
    if (type >= SX_COUNT(rows) || (encoding == SX_WIRE_V3 && rows[type].not_v3)) {
        return NOT_CARRIED;
    }
    return (enum how)rows[type].how;
}

bool sx_codec_carries(pmix_data_type_t type, enum sx_encoding encoding)
{
    return how_of(type, encoding) != NOT_CARRIED;
}

/* Releases up to 5.0 read an array of these, and cannot keep it: 4.2 crashes, even if its rank has
 * asked for another value. */
static bool is_kept_alone(pmix_data_type_t type)
{
    static const pmix_data_type_t types[] = {
        PMIX_DATA_TYPE,   PMIX_PROC_STATE,  PMIX_ALLOC_DIRECTIVE, PMIX_IOF_CHANNEL,
        PMIX_JOB_STATE,   PMIX_LINK_STATE,  PMIX_DEVTYPE,         PMIX_LOCTYPE,
        PMIX_STOR_MEDIUM, PMIX_STOR_ACCESS, PMIX_STOR_PERSIST,    PMIX_STOR_ACCESS_TYPE,
    };

    for (size_t i = 0; i < SX_COUNT(types); i++) {
        if (types[i] == type) {
            return true;
        }
    }
    return false;
}

/* A PROC_INFO has no exit code. */
static bool is_left_out(pmix_data_type_t owner, const struct sx_member *m)
{
    return owner == PMIX_PROC_INFO && m->off == offsetof(pmix_proc_info_t, exit_code);
}

/* The count before the texts of an ARGV: that of an APP's arguments is an INT. */
static pmix_data_type_t argv_count_type(pmix_data_type_t owner, const struct sx_member *m)
{
    return owner == PMIX_APP && m->off == offsetof(pmix_app_t, argv) ? PMIX_INT : PMIX_INT32;
}

/* The bytes of the smallest element, at least 1: a member takes a byte or more. */
static size_t least_bytes(pmix_data_type_t type)
{
    const struct sx_type *const row = sx_type_find(type);

    return row->number != SX_NUMBER_NONE || row->member_count == 0 ? 1 : row->member_count;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void get_elements(struct sx_wire_reader *r, void *dst, size_t count, pmix_data_type_t type,
                         unsigned depth);

static pmix_data_type_t get_type(struct sx_wire_reader *r)
{
    return (pmix_data_type_t)sx_wire_get_uint(r, sizeof(pmix_data_type_t));
}

/* Charge a block of @count elements to the message.  An info of three bytes takes 500, and a text
 * of two takes a block, so what a message may have is bounded.  Return: false, and a failure, when
 * that is exceeded. */
static bool charge(struct sx_wire_reader *r, size_t count, size_t size)
{
    const size_t left = SX_CODEC_MEMORY_MAX - r->memory;

    if (r->failed != PMIX_SUCCESS || left < BLOCK_BYTES || count > (left - BLOCK_BYTES) / size) {
        sx_wire_fail(r, PMIX_ERR_OUT_OF_RESOURCE);
        return false;
    }
    r->memory += BLOCK_BYTES + count * size;
    return true;
}

/* Zeroed memory for @count elements; NULL, and a failure, when there is none. */
static void *get_memory(struct sx_wire_reader *r, size_t count, size_t size)
{
    void *const memory = charge(r, count, size) ? calloc(count, size) : NULL;

    if (memory == NULL) {
        sx_wire_fail(r, PMIX_ERR_OUT_OF_RESOURCE);
    }
    return memory;
}

/* The bits of an integer that the base keeps as @row says, from one on the wire of @from. */
static uint64_t get_integer(struct sx_wire_reader *r, const struct sx_type *from,
                            const struct sx_type *row)
{
    const bool is_signed = from->number == SX_NUMBER_INT;
    const uint64_t number = is_signed ? (uint64_t)sx_wire_get_int(r, from->size_bytes)
                                      : sx_wire_get_uint(r, from->size_bytes);
    const unsigned spare = 64 - 8 * (unsigned)row->size_bytes;
    const uint64_t kept = is_signed ? (uint64_t)((int64_t)(number << spare) >> spare)
                                    : number << spare >> spare;

    if (kept != number) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    return row->number == SX_NUMBER_BOOL ? number != 0 : kept;
}

/* Read the number of a type before elements that have one, once for all of them.  Return: how each
 * is written; NULL: a failure. */
static const struct sx_type *get_wire_type(struct sx_wire_reader *r, enum how how,
                                           const struct sx_type *row)
{
    const struct sx_type *const type = how == PROCESS ? sx_type_find(PMIX_UINT32)
                                       : how == WORD  ? sx_type_find(PMIX_INT)
                                                      : row;
    const struct sx_type *found = type;

    if (how == PROCESS || ((how == NUMBERED || how == WORD) && r->form.encoding == SX_WIRE_V3)) {
        found = sx_type_find(get_type(r));
        if (found == NULL || found->number != type->number || (how == PROCESS && found != type)) {
            sx_wire_fail(r, PMIX_ERR_PACK_MISMATCH);
            return NULL;
        }
    }
    return found;
}

static void get_decimal(struct sx_wire_reader *r, void *dst, size_t size)
{
    const char *const text = sx_wire_get_text(r);
    const double number = text == NULL ? 0 : strtod(text, NULL);
    const float narrow = (float)number;

    memcpy(dst, size == sizeof(narrow) ? (const void *)&narrow : (const void *)&number, size);
}

static size_t get_size(struct sx_wire_reader *r)
{
    const struct sx_type *const row = sx_type_find(PMIX_SIZE);
    const struct sx_type *const from = get_wire_type(r, NUMBERED, row);

    return from == NULL ? 0 : (size_t)get_integer(r, from, row);
}

static void get_string(struct sx_wire_reader *r, char **out)
{
    const char *const text = sx_wire_get_text(r);

    if (text != NULL && charge(r, strlen(text) + 1, 1) && (*out = strdup(text)) == NULL) {
        sx_wire_fail(r, PMIX_ERR_OUT_OF_RESOURCE);
    }
}

static void get_name(struct sx_wire_reader *r, char *out, size_t size)
{
    const char *const text = sx_wire_get_text(r);
    const size_t len = text == NULL ? 0 : strlen(text);

    if (len >= size) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    } else if (text != NULL) {
        memcpy(out, text, len + 1);
    }
}

static void get_bytes(struct sx_wire_reader *r, pmix_byte_object_t *out)
{
    const size_t size = get_size(r);
    const uint8_t *const at = sx_wire_take(r, size);

    if (at == NULL || size == 0) {
        return;
    }
    out->bytes = get_memory(r, 1, size);
    if (out->bytes != NULL) {
        memcpy(out->bytes, at, size);
        out->size = size;
    }
}

static void get_argv(struct sx_wire_reader *r, char ***out, pmix_data_type_t count_type)
{
    int32_t count = 0;
    char **argv;

    get_elements(r, &count, 1, count_type, 0);
    if (count < 0) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    if (r->failed != PMIX_SUCCESS || sx_wire_count_check(r, (uint64_t)count, 1) == 0) {
        return;
    }
    argv = *out = get_memory(r, (size_t)count + 1, sizeof(char *));
    for (int32_t i = 0; i < count && r->failed == PMIX_SUCCESS; i++) {
        get_string(r, &argv[i]);
        if (argv[i] == NULL) { /* it would end the vector early */
            sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        }
    }
}

/* A SIZE, and as many elements. */
static void get_array(struct sx_wire_reader *r, void **out, size_t *out_count,
                      pmix_data_type_t type, unsigned depth)
{
    size_t count = get_size(r);

    if (r->failed != PMIX_SUCCESS || count == 0) {
        return;
    }
    if (depth >= SX_CODEC_DEPTH_MAX || !sx_codec_carries(type, r->form.encoding)) {
        sx_wire_fail(r, depth >= SX_CODEC_DEPTH_MAX ? PMIX_ERR_UNPACK_FAILURE
                                                    : PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    count = sx_wire_count_check(r, count, least_bytes(type));
    *out = get_memory(r, count, sx_type_find(type)->size_bytes);
    if (*out != NULL) {
        *out_count = count;
        get_elements(r, *out, count, type, depth + 1);
    }
}

/* An array without elements may have no type. */
static void get_typed(struct sx_wire_reader *r, void *element, const struct sx_member *m,
                      unsigned depth)
{
    const pmix_data_type_t type = get_type(r);

    if (sx_type_find(type) != NULL) {
        FIELD(pmix_data_type_t, element, m->type_off) = type;
    }
    get_array(r, &FIELD(void *, element, m->off), &FIELD(size_t, element, m->count_off), type,
              depth);
}

/* Replace compressed bytes, the plain length as a u32 and a zlib stream, by what they say.  There
 * is a NUL behind it. */
static void inflate_bytes(struct sx_wire_reader *r, pmix_byte_object_t *bytes)
{
    uint32_t plain = 0;
    uLongf size;
    uLong packed;
    char *text;

    if (bytes->size >= sizeof(plain)) {
        memcpy(&plain, bytes->bytes, sizeof(plain));
    }
    packed = bytes->size < sizeof(plain) ? 0 : (uLong)(bytes->size - sizeof(plain));
    if (packed == 0 || plain > SX_CODEC_INFLATED_MAX || plain / INFLATE_RATIO_MAX > packed) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        return;
    }
    text = get_memory(r, 1, (size_t)plain + 1);
    if (text == NULL) {
        return;
    }
    size = plain;
    if (uncompress2((Bytef *)text, &size, (const Bytef *)bytes->bytes + sizeof(plain), &packed) !=
            Z_OK ||
        size != plain) {
        free(text);
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        return;
    }
    free(bytes->bytes);
    *bytes = (pmix_byte_object_t){ .bytes = text, .size = plain };
}

/* A compressed value becomes a plain one: our side has no use for the other's form. */
static void get_compressed(struct sx_wire_reader *r, pmix_value_t *out)
{
    pmix_byte_object_t bytes = { .bytes = NULL, .size = 0 };
    const bool is_text = out->type == PMIX_COMPRESSED_STRING;

    out->type = PMIX_UNDEF;
    get_bytes(r, &bytes);
    if (r->failed == PMIX_SUCCESS) {
        inflate_bytes(r, &bytes);
    }
    if (r->failed == PMIX_SUCCESS && is_text && strlen(bytes.bytes) + 1 < bytes.size) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE); /* a NUL inside the text */
    }
    if (r->failed != PMIX_SUCCESS) {
        free(bytes.bytes);
    } else if (is_text) {
        out->type = PMIX_STRING;
        out->data.string = bytes.bytes;
    } else {
        out->type = PMIX_BYTE_OBJECT;
        out->data.bo = bytes;
    }
}

static void get_value(struct sx_wire_reader *r, pmix_value_t *out, unsigned depth)
{
    const pmix_data_type_t type = get_type(r);
    const struct sx_type *const row = sx_type_find(type);
    void *element = &out->data;

    if (r->failed != PMIX_SUCCESS || type == PMIX_UNDEF) {
        return;
    }
    if (!sx_codec_carries(type, r->form.encoding) ||
        (row->in_value != SX_WHERE_UNION && row->in_value != SX_WHERE_POINTER)) {
        sx_wire_fail(r, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    out->type = type;
    if (type == PMIX_COMPRESSED_STRING || type == PMIX_COMPRESSED_BYTE_OBJECT) {
        get_compressed(r, out);
        return;
    }
    if (row->in_value == SX_WHERE_POINTER) {
        element = out->data.ptr = get_memory(r, 1, row->size_bytes);
    }
    if (element != NULL) {
        get_elements(r, element, 1, type, depth);
    }
}

static void get_member(struct sx_wire_reader *r, void *element, const struct sx_member *m,
                       pmix_data_type_t owner, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        get_elements(r, &FIELD(char, element, m->off), 1, m->type, depth);
        break;
    case SX_MEMBER_NAME:
        get_name(r, &FIELD(char, element, m->off), m->size);
        break;
    case SX_MEMBER_STRING:
        get_string(r, &FIELD(char *, element, m->off));
        break;
    case SX_MEMBER_ARGV:
        get_argv(r, &FIELD(char **, element, m->off), argv_count_type(owner, m));
        break;
    case SX_MEMBER_BYTES:
        get_bytes(r, &FIELD(pmix_byte_object_t, element, m->off));
        break;
    case SX_MEMBER_VALUE:
        get_value(r, &FIELD(pmix_value_t, element, m->off), depth);
        break;
    case SX_MEMBER_ARRAY:
        get_array(r, &FIELD(void *, element, m->off), &FIELD(size_t, element, m->count_off),
                  m->type, depth);
        break;
    case SX_MEMBER_TYPED:
        get_typed(r, element, m, depth);
        break;
    case SX_MEMBER_BUFFER:
    case SX_MEMBER_OPAQUE: /* of no type in the table */
        sx_wire_fail(r, PMIX_ERR_UNKNOWN_DATA_TYPE);
        break;
    }
}

static void get_members(struct sx_wire_reader *r, void *element, const struct sx_type *row,
                        pmix_data_type_t type, unsigned depth)
{
    for (size_t i = 0; i < row->member_count && r->failed == PMIX_SUCCESS; i++) {
        if (!is_left_out(type, &row->members[i])) {
            get_member(r, element, &row->members[i], type, depth);
        }
    }
    if (type == PMIX_INFO) { /* the sender's memory: here the value would be taken for borrowed */
        ((pmix_info_t *)element)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    }
}

/* @from: get_wire_type. */
static void get_element(struct sx_wire_reader *r, void *dst, const struct sx_type *row,
                        const struct sx_type *from, pmix_data_type_t type, unsigned depth)
{
    uint64_t number = 0;

    switch (how_of(type, r->form.encoding)) {
    case INTEGER:
    case NUMBERED:
        number = get_integer(r, from, row);
        break;
    case WORD:
        number = get_integer(r, from, sx_type_find(PMIX_INT));
        break;
    case PROCESS:
        number = sx_wire_get_uint(r, sizeof(uint32_t));
        break;
    case MOMENT:
        number = sx_wire_get_uint(r, sizeof(uint64_t));
        break;
    case DECIMAL:
        get_decimal(r, dst, row->size_bytes);
        return;
    case TEXT:
        get_string(r, dst);
        return;
    case BYTES:
        get_bytes(r, dst);
        return;
    case MEMBERS:
        get_members(r, dst, row, type, depth);
        return;
    case NOTHING:
        sx_wire_take(r, 1);
        return;
    case NOT_CARRIED:
        sx_wire_fail(r, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    memcpy(dst, &number, row->size_bytes); /* little-endian, as base/value/pack.h asserts */
}

/* @dst is zeroed, and @type has a row in the base's table. */
static void get_elements(struct sx_wire_reader *r, void *dst, size_t count, pmix_data_type_t type,
                         unsigned depth)
{
    const struct sx_type *const row = sx_type_find(type);
    const struct sx_type *const from = count == 0
                                           ? NULL
                                           : get_wire_type(r, how_of(type, r->form.encoding), row);

    for (size_t i = 0; i < count && r->failed == PMIX_SUCCESS; i++) {
        get_element(r, (char *)dst + i * row->size_bytes, row, from, type, depth);
    }
}

bool sx_codec_unpack(struct sx_wire_reader *r, pmix_data_type_t type, void *dst, size_t count)
{
    const struct sx_type *const row = sx_type_find(type);

    memset(dst, 0, count * row->size_bytes);
    if (sx_wire_get_head(r, type) != count) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        return false;
    }
    get_elements(r, dst, count, type, 0);
    if (r->failed != PMIX_SUCCESS) {
        sx_elements_destruct(dst, count, type);
    }
    return r->failed == PMIX_SUCCESS;
}

size_t sx_codec_get_size(struct sx_wire_reader *r)
{
    size_t size = 0;

    return sx_codec_unpack(r, PMIX_SIZE, &size, 1) ? size : 0;
}

pmix_status_t sx_codec_get_status(struct sx_wire_reader *r)
{
    pmix_status_t status = PMIX_SUCCESS;

    return sx_codec_unpack(r, PMIX_STATUS, &status, 1) ? status : PMIX_ERROR;
}

uint32_t sx_codec_get_u32(struct sx_wire_reader *r, pmix_data_type_t type)
{
    uint32_t number = 0;

    return sx_codec_unpack(r, type, &number, 1) ? number : 0;
}

uint8_t sx_codec_get_u8(struct sx_wire_reader *r, pmix_data_type_t type)
{
    if (sx_wire_get_head(r, type) != 1) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    return (uint8_t)sx_wire_get_uint(r, 1);
}

const char *sx_codec_get_text(struct sx_wire_reader *r)
{
    if (sx_wire_get_head(r, PMIX_STRING) != 1) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    return sx_wire_get_text(r);
}

struct sx_wire_reader sx_codec_get_bytes(struct sx_wire_reader *r, pmix_data_type_t type)
{
    struct sx_wire_reader inner = { .form = r->form };
    size_t size;

    if (sx_wire_get_head(r, type) != 1) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    if (type == SX_CODEC_BUFFER) {
        inner.form.described = sx_wire_get_uint(r, 1) == SX_CODEC_DESCRIBED;
    }
    size = get_size(r);
    inner.at = sx_wire_take(r, size);
    inner.end = inner.at == NULL ? NULL : inner.at + size;
    inner.failed = r->failed;
    return inner;
}

bool sx_codec_get_array(struct sx_wire_reader *r, pmix_data_type_t type, void **ret_array,
                        size_t *ret_count)
{
    const size_t count = sx_wire_count_check(r, sx_codec_get_size(r), least_bytes(type));
    void *array = NULL;

    if (r->failed == PMIX_SUCCESS && count > 0) {
        array = get_memory(r, count, sx_type_find(type)->size_bytes);
        if (array != NULL && !sx_codec_unpack(r, type, array, count)) {
            free(array);
        }
    }
    *ret_array = r->failed != PMIX_SUCCESS ? NULL : array;
    *ret_count = r->failed != PMIX_SUCCESS ? 0 : count;
    return r->failed == PMIX_SUCCESS;
}

struct sx_codec_infos sx_codec_get_infos(struct sx_wire_reader *r)
{
    struct sx_codec_infos infos = { .at = NULL, .count = 0 };
    void *array;

    if (sx_codec_get_array(r, PMIX_INFO, &array, &infos.count)) {
        infos.at = array;
    }
    return infos;
}

struct sx_codec_procs sx_codec_get_procs(struct sx_wire_reader *r)
{
    struct sx_codec_procs procs = { .at = NULL, .count = 0 };
    void *array;

    if (sx_codec_get_array(r, PMIX_PROC, &array, &procs.count)) {
        procs.at = array;
    }
    return procs;
}

void sx_codec_infos_free(struct sx_codec_infos *infos)
{
    sx_elements_destruct(infos->at, infos->count, PMIX_INFO);
    free(infos->at);
    *infos = (struct sx_codec_infos){ .at = NULL, .count = 0 };
}

bool sx_codec_get_kval(struct sx_wire_reader *r, const char **ret_key, pmix_value_t *ret_value)
{
    memset(ret_value, 0, sizeof(*ret_value));
    if (sx_wire_get_head(r, SX_CODEC_KVAL) != 1) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    *ret_key = sx_wire_get_text(r);
    if (r->failed == PMIX_SUCCESS && *ret_key == NULL) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    if (r->failed == PMIX_SUCCESS) {
        get_value(r, ret_value, 0);
    }
    if (r->failed != PMIX_SUCCESS) {
        sx_value_destruct(ret_value);
    }
    return r->failed == PMIX_SUCCESS;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_elements(struct sx_wire_writer *w, const void *src, size_t count,
                         pmix_data_type_t type, unsigned depth);

static void put_failed(struct sx_wire_writer *w, pmix_status_t status)
{
    w->failed = w->failed != PMIX_SUCCESS ? w->failed : status;
}

static void put_type(struct sx_wire_writer *w, pmix_data_type_t type)
{
    sx_wire_put_uint(w, type, sizeof(type));
}

static void put_integer(struct sx_wire_writer *w, const void *src, const struct sx_type *row)
{
    const unsigned spare = 64 - 8 * (unsigned)row->size_bytes;
    uint64_t number = 0;

    memcpy(&number, src, row->size_bytes);
    if (row->number == SX_NUMBER_INT) {
        sx_wire_put_int(w, (int64_t)(number << spare) >> spare, row->size_bytes);
    } else {
        sx_wire_put_uint(w, number, row->size_bytes);
    }
}

/* Write the number of a type before elements that have one: get_wire_type. */
static void put_wire_type(struct sx_wire_writer *w, enum how how)
{
    if (how == PROCESS) {
        put_type(w, PMIX_UINT32);
    } else if (w->form.encoding == SX_WIRE_V3 && (how == NUMBERED || how == WORD)) {
        put_type(w, how == NUMBERED ? PMIX_UINT64 : PMIX_INT32);
    }
}

static void put_decimal(struct sx_wire_writer *w, const void *src, size_t size)
{
    char text[DECIMAL_CHARS_MAX];
    double number;
    float narrow;

    if (size == sizeof(narrow)) {
        memcpy(&narrow, src, size);
        number = (double)narrow;
    } else {
        memcpy(&number, src, size);
    }
    snprintf(text, sizeof(text), "%f", number);
    sx_wire_put_text(w, text);
}

static void put_size(struct sx_wire_writer *w, size_t size)
{
    put_wire_type(w, NUMBERED);
    put_integer(w, &size, sx_type_find(PMIX_SIZE));
}

static void put_bytes(struct sx_wire_writer *w, const pmix_byte_object_t *bytes)
{
    put_size(w, bytes->bytes == NULL ? 0 : bytes->size);
    if (bytes->bytes != NULL) {
        sx_wire_put(w, bytes->bytes, bytes->size);
    }
}

static void put_argv(struct sx_wire_writer *w, char *const *argv, pmix_data_type_t count_type)
{
    int32_t count = 0;

    while (argv != NULL && argv[count] != NULL) {
        count++;
    }
    put_elements(w, &count, 1, count_type, 0);
    put_elements(w, argv, (size_t)count, PMIX_STRING, 0);
}

static void put_array(struct sx_wire_writer *w, const void *array, size_t count,
                      pmix_data_type_t type, unsigned depth)
{
    if (depth >= SX_CODEC_DEPTH_MAX) {
        put_failed(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    put_size(w, array == NULL ? 0 : count);
    if (array != NULL) {
        put_elements(w, array, count, type, depth + 1);
    }
}

/* An array without elements has the type INFO: readers differ about one without a type. */
static void put_typed(struct sx_wire_writer *w, const void *element, const struct sx_member *m,
                      unsigned depth)
{
    const void *const array = CONST_FIELD(void *, element, m->off);
    const size_t count = array == NULL ? 0 : CONST_FIELD(size_t, element, m->count_off);
    const pmix_data_type_t type = CONST_FIELD(pmix_data_type_t, element, m->type_off);

    if (count > 0 && is_kept_alone(type)) {
        put_failed(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    put_type(w, count == 0 ? PMIX_INFO : type);
    put_array(w, array, count, type, depth);
}

static void put_value(struct sx_wire_writer *w, const pmix_value_t *value, unsigned depth)
{
    const struct sx_type *const row = sx_type_find(value->type);
    const void *element = &value->data;

    if (value->type == PMIX_UNDEF) {
        put_type(w, PMIX_UNDEF);
        return;
    }
    if (!sx_codec_carries(value->type, w->form.encoding) ||
        (row->in_value != SX_WHERE_UNION && row->in_value != SX_WHERE_POINTER)) {
        put_failed(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        return;
    }
    put_type(w, value->type);
    if (row->in_value == SX_WHERE_POINTER) {
        element = value->data.ptr;
    }
    if (element == NULL) {
        put_failed(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    put_elements(w, element, 1, value->type, depth);
}

static void put_member(struct sx_wire_writer *w, const void *element, const struct sx_member *m,
                       pmix_data_type_t owner, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        put_elements(w, &CONST_FIELD(char, element, m->off), 1, m->type, depth);
        break;
    case SX_MEMBER_NAME:
        if (memchr(&CONST_FIELD(char, element, m->off), '\0', m->size) == NULL) {
            put_failed(w, PMIX_ERR_BAD_PARAM);
            break;
        }
        sx_wire_put_text(w, &CONST_FIELD(char, element, m->off));
        break;
    case SX_MEMBER_STRING:
        sx_wire_put_text(w, CONST_FIELD(char *, element, m->off));
        break;
    case SX_MEMBER_ARGV:
        put_argv(w, CONST_FIELD(char **, element, m->off), argv_count_type(owner, m));
        break;
    case SX_MEMBER_BYTES:
        put_bytes(w, &CONST_FIELD(pmix_byte_object_t, element, m->off));
        break;
    case SX_MEMBER_VALUE:
        put_value(w, &CONST_FIELD(pmix_value_t, element, m->off), depth);
        break;
    case SX_MEMBER_ARRAY:
        put_array(w, CONST_FIELD(void *, element, m->off),
                  CONST_FIELD(size_t, element, m->count_off), m->type, depth);
        break;
    case SX_MEMBER_TYPED:
        put_typed(w, element, m, depth);
        break;
    case SX_MEMBER_BUFFER:
    case SX_MEMBER_OPAQUE:
        put_failed(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        break;
    }
}

static void put_element(struct sx_wire_writer *w, const void *src, const struct sx_type *row,
                        pmix_data_type_t type, unsigned depth)
{
    switch (how_of(type, w->form.encoding)) {
    case INTEGER:
    case NUMBERED:
        put_integer(w, src, row);
        break;
    case WORD:
        put_integer(w, src, sx_type_find(PMIX_INT));
        break;
    case PROCESS:
        put_integer(w, src, sx_type_find(PMIX_UINT32));
        break;
    case MOMENT:
        put_integer(w, src, sx_type_find(PMIX_UINT64));
        break;
    case DECIMAL:
        put_decimal(w, src, row->size_bytes);
        break;
    case TEXT:
        sx_wire_put_text(w, CONST_FIELD(char *, src, 0));
        break;
    case BYTES:
        put_bytes(w, src);
        break;
    case MEMBERS:
        for (size_t i = 0; i < row->member_count; i++) {
            if (!is_left_out(type, &row->members[i])) {
                put_member(w, src, &row->members[i], type, depth);
            }
        }
        break;
    case NOTHING:
        sx_wire_put_uint(w, 1, 1);
        break;
    case NOT_CARRIED:
        put_failed(w, PMIX_ERR_UNKNOWN_DATA_TYPE);
        break;
    }
}

static void put_elements(struct sx_wire_writer *w, const void *src, size_t count,
                         pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *const row = sx_type_find(type);

    if (count > 0) {
        put_wire_type(w, how_of(type, w->form.encoding));
    }
    for (size_t i = 0; i < count && w->failed == PMIX_SUCCESS; i++) {
        put_element(w, (const char *)src + i * (row == NULL ? 0 : row->size_bytes), row, type,
                    depth);
    }
}

void sx_codec_pack(struct sx_wire_writer *w, pmix_data_type_t type, const void *src, size_t count)
{
    sx_wire_put_head(w, type, count);
    put_elements(w, src, count, type, 0);
}

void sx_codec_put_size(struct sx_wire_writer *w, size_t size)
{
    sx_codec_pack(w, PMIX_SIZE, &size, 1);
}

void sx_codec_put_status(struct sx_wire_writer *w, pmix_status_t status)
{
    sx_codec_pack(w, PMIX_STATUS, &status, 1);
}

void sx_codec_put_u32(struct sx_wire_writer *w, pmix_data_type_t type, uint32_t number)
{
    sx_codec_pack(w, type, &number, 1);
}

void sx_codec_put_u8(struct sx_wire_writer *w, pmix_data_type_t type, uint8_t number)
{
    sx_wire_put_head(w, type, 1);
    sx_wire_put_uint(w, number, 1);
}

void sx_codec_put_text(struct sx_wire_writer *w, const char *text)
{
    sx_wire_put_head(w, PMIX_STRING, 1);
    sx_wire_put_text(w, text);
}

void sx_codec_put_bytes(struct sx_wire_writer *w, const struct sx_wire_writer *inner)
{
    sx_wire_put_head(w, PMIX_BYTE_OBJECT, 1);
    put_size(w, inner->size);
    sx_wire_put(w, inner->bytes, inner->size);
    put_failed(w, inner->failed);
}

void sx_codec_put_array(struct sx_wire_writer *w, pmix_data_type_t type, const void *array,
                        size_t count)
{
    sx_codec_put_size(w, count);
    if (count > 0) {
        sx_codec_pack(w, type, array, count);
    }
}

/* Forget what was written since @before if it was a value that cannot be carried. */
static bool keep_carried(struct sx_wire_writer *w, size_t before)
{
    if (w->failed == PMIX_ERR_UNKNOWN_DATA_TYPE || w->failed == PMIX_ERR_BAD_PARAM) {
        w->failed = PMIX_SUCCESS;
        w->size = before;
        return false;
    }
    return w->failed == PMIX_SUCCESS;
}

bool sx_codec_put_kval(struct sx_wire_writer *w, const char *key, const pmix_value_t *value)
{
    const size_t before = w->size;

    if (w->failed != PMIX_SUCCESS) {
        return false;
    }
    sx_wire_put_head(w, SX_CODEC_KVAL, 1);
    sx_wire_put_text(w, key);
    put_value(w, value, 0);
    return keep_carried(w, before);
}

static bool group_add(struct sx_codec_group *group, const char *key, pmix_info_directives_t flags,
                      const pmix_value_t *value)
{
    struct sx_wire_writer *const w = &group->elements;
    const size_t before = w->size;
    bool kept;

    if (w->failed != PMIX_SUCCESS) {
        return false;
    }
    sx_wire_put_text(w, key);
    sx_wire_put_uint(w, flags, sizeof(flags));
    put_value(w, value, 1);
    kept = keep_carried(w, before);
    group->count += kept;
    return kept;
}

bool sx_codec_group_add(struct sx_codec_group *group, const char *key, const pmix_value_t *value)
{
    return group_add(group, key, 0, value);
}

bool sx_codec_group_add_info(struct sx_codec_group *group, const pmix_info_t *info)
{
    return group_add(group, info->key, info->flags, &info->value);
}

void sx_codec_put_infos(struct sx_wire_writer *w, const pmix_info_t *infos, size_t count)
{
    struct sx_codec_group group = { .elements.form = w->form };

    for (size_t i = 0; i < count; i++) {
        sx_codec_group_add(&group, infos[i].key, &infos[i].value);
    }
    sx_codec_put_size(w, group.count);
    if (group.count > 0) {
        sx_wire_put_head(w, PMIX_INFO, group.count);
        sx_wire_put(w, group.elements.bytes, group.elements.size);
    }
    put_failed(w, group.elements.failed);
    sx_wire_writer_deinit(&group.elements);
}

void sx_codec_group_put(struct sx_wire_writer *w, const char *key, struct sx_codec_group *group)
{
    sx_wire_put_head(w, SX_CODEC_KVAL, 1);
    sx_wire_put_text(w, key);
    put_type(w, PMIX_DATA_ARRAY);
    put_type(w, PMIX_INFO);
    put_size(w, group->count);
    sx_wire_put(w, group->elements.bytes, group->elements.size);
    put_failed(w, group->elements.failed);
    sx_wire_writer_deinit(&group->elements);
    group->count = 0;
}

void sx_codec_put_kval_bytes(struct sx_wire_writer *w, const char *key,
                             const struct sx_wire_writer *inner)
{
    sx_wire_put_head(w, SX_CODEC_KVAL, 1);
    sx_wire_put_text(w, key);
    put_type(w, PMIX_BYTE_OBJECT);
    put_size(w, inner->size);
    sx_wire_put(w, inner->bytes, inner->size);
    put_failed(w, inner->failed);
}
