/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* args_values.c - the values that every kind of argument is tried with.
 *
 * Each call runs in a process of its own, so nothing made here is ever freed.  Objects are blocks
 * of exactly their size, and text without a NUL ends where readable memory ends: whoever reads
 * too far is caught by the address sanitizer or by the processor. */
#include "args.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_COUNT ((uint64_t)1 << 40)
#define LONG_TEXT 65536
#define NESTED 100000 /* arrays in arrays: more than a stack has frames for */

pmix_proc_t args_self;

static void *made(size_t size)
{
    void *const block = calloc(1, size);

    if (block == NULL) {
        _exit(98);
    }
    return block;
}

static void *copy_of(const void *from, size_t size)
{
    return memcpy(made(size), from, size);
}

/* @size times 'x', after which nothing can be read. */
static char *fenced(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                          0);

    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0) {
        _exit(98);
    }
    memset(at + page - size, 'x', size);
    return at + page - size;
}

static char *text_of(size_t len)
{
    char *const text = made(len + 1);

    memset(text, 'x', len);
    return text;
}

/* ---- what any pointer and any number can be ------------------------------------------------- */

static void make_null(struct arg *arg, struct arg *count, long detail)
{
    arg->pointer = NULL;
    arg->function = NULL;
    if (count != NULL) {
        count->number = detail == -1 ? SIZE_MAX : detail == 40 ? HUGE_COUNT : (uint64_t)detail;
    }
}

static void make_number(struct arg *arg, struct arg *count, long detail)
{
    arg->number = (uint64_t)detail;
}

static void make_size(struct arg *arg, struct arg *count, long detail)
{
    arg->number = detail == -1 ? SIZE_MAX : detail == -2 ? SIZE_MAX / 16 : (uint64_t)1 << detail;
}

static void make_text(struct arg *arg, struct arg *count, long detail)
{
    arg->pointer = text_of((size_t)detail);
}

static void make_fenced(struct arg *arg, struct arg *count, long detail)
{
    arg->pointer = fenced((size_t)detail);
}

/* A whole pmix_key_t or pmix_nspace_t: the good one was of the right size. */
static void make_name(struct arg *arg, struct arg *count, long detail)
{
    memset(arg->pointer, (int)detail, arg->number);
}

static void make_none_of_one(struct arg *arg, struct arg *count, long detail)
{
    /* stays good */
    if (count != NULL) {
        count->number = (uint64_t)detail;
    }
}

/* ---- values and infos -------------------------------------------------------------------- */

static void value_of_type(pmix_value_t *value, pmix_data_type_t type)
{
    memset(value, 0, sizeof(*value));
    value->type = type;
}

/* An array of one array of one array ... */
static void value_nested(pmix_value_t *value)
{
    pmix_data_array_t *inner = made(sizeof(*inner));

    inner->type = PMIX_INT;
    for (int i = 0; i < NESTED; i++) {
        pmix_data_array_t *const outer = made(sizeof(*outer));

        outer->type = PMIX_DATA_ARRAY;
        outer->size = 1;
        outer->array = inner;
        inner = outer;
    }
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = inner;
}

static void value_empty_array(pmix_value_t *value, size_t size, pmix_data_type_t type)
{
    pmix_data_array_t *const array = made(sizeof(*array));

    array->type = type;
    array->size = size;
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = array;
}

enum value_kind {
    VALUE_INT_NEGATIVE,
    VALUE_UINT64_HUGE,
    VALUE_BOOL,
    VALUE_STRING_NULL,
    VALUE_STRING_LONG,
    VALUE_STRING_EMPTY,
    VALUE_PROC_NULL,
    VALUE_ARRAY_NULL,
    VALUE_ARRAY_HUGE,
    VALUE_ARRAY_OF_NULL_STRINGS,
    VALUE_ARRAY_OF_UNKNOWN,
    VALUE_BYTES_HUGE,
    VALUE_UNKNOWN,
    VALUE_KINDS
};

static const char *const value_names[VALUE_KINDS] = {
    "int -1",
    "uint64 max",
    "bool",
    "NULL string",
    "string of 64 KiB",
    "empty string",
    "NULL proc",
    "NULL array",
    "array of 2^40 at NULL",
    "array of NULL strings",
    "array of type 500",
    "SIZE_MAX bytes at NULL",
    "type 9999",
};

static void value_make(pmix_value_t *value, enum value_kind kind)
{
    static const pmix_data_type_t types[VALUE_KINDS] = {
        PMIX_INT,
        PMIX_UINT64,
        PMIX_BOOL,
        PMIX_STRING,
        PMIX_STRING,
        PMIX_STRING,
        PMIX_PROC,
        PMIX_DATA_ARRAY,
        PMIX_DATA_ARRAY,
        PMIX_DATA_ARRAY,
        PMIX_DATA_ARRAY,
        PMIX_BYTE_OBJECT,
        9999,
    };

    value_of_type(value, types[kind]);
    if (kind == VALUE_INT_NEGATIVE) {
        value->data.integer = -1;
    } else if (kind == VALUE_UINT64_HUGE) {
        value->data.uint64 = UINT64_MAX;
    } else if (kind == VALUE_STRING_LONG || kind == VALUE_STRING_EMPTY) {
        value->data.string = text_of(kind == VALUE_STRING_LONG ? LONG_TEXT : 0);
    } else if (kind == VALUE_ARRAY_HUGE) {
        value_empty_array(value, HUGE_COUNT, PMIX_INFO);
    } else if (kind == VALUE_ARRAY_OF_NULL_STRINGS) {
        value_empty_array(value, 3, PMIX_STRING);
        value->data.darray->array = made(3 * sizeof(char *));
    } else if (kind == VALUE_ARRAY_OF_UNKNOWN) {
        value_empty_array(value, 3, 500);
        value->data.darray->array = made(64);
    } else if (kind == VALUE_BYTES_HUGE) {
        value->data.bo.size = SIZE_MAX;
    }
}

pmix_info_t *args_info_make(const char *key, size_t which, const char **ret_name)
{
    if (which >= VALUE_KINDS) {
        return NULL;
    }
    pmix_info_t *const info = made(sizeof(*info));

    memcpy(info->key, key, strnlen(key, PMIX_MAX_KEYLEN));
    value_make(&info->value, (enum value_kind)which);
    *ret_name = value_names[which];
    return info;
}

static void make_value_type(struct arg *arg, struct arg *count, long detail)
{
    value_of_type(arg->pointer, (pmix_data_type_t)detail);
}

static void make_value_kind(struct arg *arg, struct arg *count, long detail)
{
    value_make(arg->pointer, (enum value_kind)detail);
}

static void make_value_nested(struct arg *arg, struct arg *count, long detail)
{
    value_nested(arg->pointer);
}

static void make_info_type(struct arg *arg, struct arg *count, long detail)
{
    pmix_info_t *const info = arg->pointer;

    value_of_type(&info->value, (pmix_data_type_t)detail);
}

static void make_info_kind(struct arg *arg, struct arg *count, long detail)
{
    pmix_info_t *const info = arg->pointer;

    value_make(&info->value, (enum value_kind)detail);
}

static void make_info_nested(struct arg *arg, struct arg *count, long detail)
{
    pmix_info_t *const info = arg->pointer;

    value_nested(&info->value);
}

static void make_info_key(struct arg *arg, struct arg *count, long detail)
{
    pmix_info_t *const info = arg->pointer;

    memset(info->key, 0, sizeof(info->key));
    memset(info->key, 'x', (size_t)detail);
}

static void make_info_required(struct arg *arg, struct arg *count, long detail)
{
    pmix_info_t *const info = arg->pointer;

    strcpy(info->key, "args.nobody.knows");
    info->flags = PMIX_INFO_REQD;
}

/* ---- other structures ---------------------------------------------------------------------- */

static void make_proc_rank(struct arg *arg, struct arg *count, long detail)
{
    pmix_proc_t *const proc = arg->pointer;

    proc->rank = (pmix_rank_t)detail;
}

static void make_proc_nspace(struct arg *arg, struct arg *count, long detail)
{
    pmix_proc_t *const proc = arg->pointer;

    memset(proc->nspace, 0, sizeof(proc->nspace));
    memset(proc->nspace, 'x', (size_t)detail);
}

static void make_buffer(struct arg *arg, struct arg *count, long detail)
{
    pmix_data_buffer_t *const buffer = arg->pointer;

    if (detail == -1) { /* claims bytes and has none */
        buffer->bytes_allocated = buffer->bytes_used = SIZE_MAX;
    } else { /* bytes that mean nothing */
        buffer->base_ptr = buffer->unpack_ptr = text_of((size_t)detail);
        buffer->pack_ptr = buffer->base_ptr + detail;
        buffer->bytes_allocated = buffer->bytes_used = (size_t)detail;
    }
}

static void make_bytes_object(struct arg *arg, struct arg *count, long detail)
{
    pmix_byte_object_t *const object = arg->pointer;

    object->size = detail == -1 ? SIZE_MAX : (size_t)detail;
    object->bytes = detail == -1 ? NULL : text_of((size_t)detail);
}

static void make_array_type(struct arg *arg, struct arg *count, long detail)
{
    pmix_data_array_t *const array = arg->pointer;

    array->type = (pmix_data_type_t)detail;
    array->size = HUGE_COUNT;
    array->array = NULL;
}

/* A source nobody knows, or the known one with nothing behind it. */
static void make_source(struct arg *arg, struct arg *count, long detail)
{
    char **const source = arg->pointer; /* the first member of cpusets and topologies */

    *source = detail == -1 ? strdup("hwloc") : text_of((size_t)detail);
}

static void make_vector(struct arg *arg, struct arg *count, long detail)
{
    char **const vector = made(sizeof(*vector) * 3);

    if (detail >= 0) {
        vector[0] = text_of((size_t)detail);
        vector[1] = text_of((size_t)detail);
    }
    arg->pointer = vector;
}

static void make_vector_in_out(struct arg *arg, struct arg *count, long detail)
{
    char ***const place = made(sizeof(*place));

    if (detail >= -1) { /* else a vector that is not there yet */
        make_vector(arg, count, detail);
        *place = arg->pointer;
    }
    arg->pointer = place;
}

static void make_out(struct arg *arg, struct arg *count, long detail)
{
    int32_t *const place = made(64); /* room for any result, and a pointer it may write through */

    *place = (int32_t)detail;
    arg->pointer = place;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define NULLS                      \
    {                              \
        "NULL", make_null, 0, true \
    }
#define COUNTED_NULLS                                                                  \
    { "NULL, count 0", make_null, 0, false }, { "NULL, count 1", make_null, 1, true }, \
        { "NULL, count 2^40", make_null, 40, true },                                   \
        { "NULL, count SIZE_MAX", make_null, -1, true },                               \
    {                                                                                  \
        "count 0", make_none_of_one, 0, false                                          \
    }

static const struct variant number_variants[] = {
    { "-1", make_number, -1, false },
    { "0", make_number, 0, false },
    { "127", make_number, 127, false },
    { "255", make_number, 255, false },
    { "9999", make_number, 9999, false },
    { "INT32_MIN", make_number, INT32_MIN, false },
    { "INT32_MAX", make_number, INT32_MAX, false },
};
static const struct variant type_variants[] = {
    { "type 0", make_number, 0, false },
    { "type 9999", make_number, 9999, true },
    { "type 500", make_number, 500, true },
    { "type 29", make_number, 29, false },
    { "type 44", make_number, 44, true },
    { "type 65535", make_number, 65535, true },
    { "type STRING", make_number, PMIX_STRING, false },
    { "type DATA_ARRAY", make_number, PMIX_DATA_ARRAY, false },
    { "type PROC", make_number, PMIX_PROC, false },
    { "type INFO", make_number, PMIX_INFO, false },
    { "type TOPO", make_number, PMIX_TOPO, false },
    { "type BYTE_OBJECT", make_number, PMIX_BYTE_OBJECT, false },
};
static const struct variant rank_variants[] = {
    { "UNDEF", make_number, PMIX_RANK_UNDEF, false },
    { "WILDCARD", make_number, PMIX_RANK_WILDCARD, false },
    { "INVALID", make_number, PMIX_RANK_INVALID, false },
    { "2^31", make_number, 1L << 31, false },
};
static const struct variant size_variants[] = {
    { "2^0", make_size, 0, false },          { "2^40", make_size, 40, false },
    { "2^61", make_size, 61, false },        { "SIZE_MAX", make_size, -1, false },
    { "SIZE_MAX/16", make_size, -2, false }, { "0", make_number, 0, false },
};
static const struct variant text_variants[] = {
    NULLS,
    { "empty", make_text, 0, false },
    { "64 KiB", make_text, LONG_TEXT, false },
};
static const struct variant key_variants[] = {
    NULLS,
    { "empty", make_text, 0, false },
    { "511 characters", make_text, 511, false },
    { "512 characters", make_text, 512, true },
    { "64 KiB", make_text, LONG_TEXT, true },
    { "512 characters without a NUL", make_fenced, 512, true },
};
static const struct variant nspace_variants[] = {
    NULLS,
    { "empty", make_text, 0, false },
    { "255 characters", make_text, 255, false },
    { "64 KiB", make_text, LONG_TEXT, true },
    { "256 characters without a NUL", make_fenced, 256, true },
};
static const struct variant pointer_variants[] = { NULLS };
static const struct variant token_variants[] = { { "NULL", make_null, 0, false } };
static const struct variant counted_variants[] = { COUNTED_NULLS };
static const struct variant name_variants[] = {
    NULLS,
    { "empty", make_name, 0, false },
    { "without a NUL", make_name, 'x', false },
};
static const struct variant out_number_variants[] = {
    NULLS,
    { "holding 1", make_out, 1, false },
    { "holding -1", make_out, -1, false },
};
static const struct variant vector_variants[] = {
    NULLS,
    { "empty", make_vector, -1, false },
    { "empty strings", make_vector, 0, false },
    { "strings of 64 KiB", make_vector, LONG_TEXT, false },
};
static const struct variant vector_in_out_variants[] = {
    NULLS,
    { "to NULL", make_vector_in_out, -2, false },
    { "to an empty one", make_vector_in_out, -1, false },
    { "to empty strings", make_vector_in_out, 0, false },
    { "to strings of 64 KiB", make_vector_in_out, LONG_TEXT, false },
};

#define PROC_VARIANTS                                                       \
    { "rank WILDCARD", make_proc_rank, PMIX_RANK_WILDCARD, false },         \
        { "rank UNDEF", make_proc_rank, PMIX_RANK_UNDEF, false },           \
        { "rank INVALID", make_proc_rank, PMIX_RANK_INVALID, false },       \
        { "rank LOCAL_NODE", make_proc_rank, PMIX_RANK_LOCAL_NODE, false }, \
        { "rank 2^31", make_proc_rank, 1L << 31, false },                   \
        { "rank nobody has", make_proc_rank, 77777, false },                \
        { "no nspace", make_proc_nspace, 0, false },                        \
        { "an nspace nobody has", make_proc_nspace, 255, false },           \
    {                                                                       \
        "an nspace without a NUL", make_proc_nspace, 256, true              \
    }

static const struct variant proc_variants[] = { NULLS, PROC_VARIANTS };
static const struct variant procs_variants[] = { COUNTED_NULLS, PROC_VARIANTS };

/* A function that passes a value on need not judge it: @wrong is for functions about values. An
 * array at NULL is empty, whatever its size. */
#define VALUE_VARIANTS(type_of, kind_of, nested, wrong)                                            \
    { "type 0", type_of, 0, false }, { "type 9999", type_of, 9999, wrong },                        \
        { "type 500", type_of, 500, wrong }, { "type 29", type_of, 29, false },                    \
        { "type 44", type_of, 44, wrong }, { "a NULL string", kind_of, VALUE_STRING_NULL, false }, \
        { "a string of 64 KiB", kind_of, VALUE_STRING_LONG, false },                               \
        { "a NULL proc", kind_of, VALUE_PROC_NULL, false },                                        \
        { "a NULL array", kind_of, VALUE_ARRAY_NULL, false },                                      \
        { "an array of 2^40 at NULL", kind_of, VALUE_ARRAY_HUGE, false },                          \
        { "an array of NULL strings", kind_of, VALUE_ARRAY_OF_NULL_STRINGS, false },               \
        { "an array of type 500", kind_of, VALUE_ARRAY_OF_UNKNOWN, wrong },                        \
        { "SIZE_MAX bytes at NULL", kind_of, VALUE_BYTES_HUGE, wrong },                            \
    {                                                                                              \
        "arrays 100,000 deep", nested, 0, wrong                                                    \
    }

#define INFO_VARIANTS                                             \
    { "an empty key", make_info_key, 0, false },                  \
        { "a key of 511 characters", make_info_key, 511, false }, \
        { "a key without a NUL", make_info_key, 512, false },     \
        { "required and unknown", make_info_required, 0, true },  \
        VALUE_VARIANTS(make_info_type, make_info_kind, make_info_nested, false)

static const struct variant value_variants[] = {
    NULLS,
    VALUE_VARIANTS(make_value_type, make_value_kind, make_value_nested, true),
};
static const struct variant values_variants[] = {
    COUNTED_NULLS,
    VALUE_VARIANTS(make_value_type, make_value_kind, make_value_nested, true),
};
static const struct variant info_variants[] = { NULLS, INFO_VARIANTS };
static const struct variant infos_variants[] = { COUNTED_NULLS, INFO_VARIANTS };
static const struct variant buffer_variants[] = {
    NULLS,
    { "SIZE_MAX bytes at NULL", make_buffer, -1, true },
    { "1 byte", make_buffer, 1, false },
    { "64 KiB of nothing", make_buffer, LONG_TEXT, false },
};
static const struct variant bytes_variants[] = {
    NULLS,
    { "SIZE_MAX bytes at NULL", make_bytes_object, -1, true },
    { "64 KiB", make_bytes_object, LONG_TEXT, false },
};
static const struct variant array_variants[] = {
    NULLS,
    { "2^40 infos at NULL", make_array_type, PMIX_INFO, false },
    { "2^40 of type 500 at NULL", make_array_type, 500, false },
};
static const struct variant source_variants[] = {
    NULLS,
    { "hwloc, nothing behind it", make_source, -1, false },
    { "an unknown source", make_source, 1, false },
    { "a source of 64 KiB", make_source, LONG_TEXT, false },
};

struct object {
    const char *type;
    bool counted;
    const struct variant *variants;
    size_t count;
};

#define TABLE(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static const struct object objects[] = {
    { "pmix_proc_t", false, TABLE(proc_variants) },
    { "pmix_proc_t", true, TABLE(procs_variants) },
    { "pmix_value_t", false, TABLE(value_variants) },
    { "pmix_value_t", true, TABLE(values_variants) },
    { "pmix_info_t", false, TABLE(info_variants) },
    { "pmix_info_t", true, TABLE(infos_variants) },
    { "pmix_data_buffer_t", false, TABLE(buffer_variants) },
    { "pmix_byte_object_t", false, TABLE(bytes_variants) },
    { "pmix_data_array_t", false, TABLE(array_variants) },
    { "pmix_cpuset_t", false, TABLE(source_variants) },
    { "pmix_topology_t", false, TABLE(source_variants) },
};

static const struct object kinds[] = {
    [KIND_NUMBER] = { NULL, false, TABLE(number_variants) },
    [KIND_TYPE] = { NULL, false, TABLE(type_variants) },
    [KIND_RANK] = { NULL, false, TABLE(rank_variants) },
    [KIND_SIZE] = { NULL, false, TABLE(size_variants) },
    [KIND_COUNT] = { NULL, false, NULL, 0 },
    [KIND_TEXT] = { NULL, false, TABLE(text_variants) },
    [KIND_KEY] = { NULL, false, TABLE(key_variants) },
    [KIND_NSPACE] = { NULL, false, TABLE(nspace_variants) },
    [KIND_BYTES] = { NULL, false, TABLE(pointer_variants) },
    [KIND_DATA] = { NULL, false, TABLE(pointer_variants) },
    [KIND_OBJECT] = { NULL, false, TABLE(pointer_variants) },
    [KIND_NAME] = { NULL, false, TABLE(name_variants) },
    [KIND_OUT] = { NULL, false, TABLE(pointer_variants) },
    [KIND_OUT_NUMBER] = { NULL, false, TABLE(out_number_variants) },
    [KIND_VECTOR] = { NULL, false, TABLE(vector_variants) },
    [KIND_VECTOR_IN_OUT] = { NULL, false, TABLE(vector_in_out_variants) },
    [KIND_LIST] = { NULL, false, TABLE(pointer_variants) },
    [KIND_TOKEN] = { NULL, false, TABLE(token_variants) },
    [KIND_CALLBACK] = { NULL, false, TABLE(pointer_variants) },
};

size_t args_variants(const struct parameter *parameter, const struct variant **ret_variants)
{
    const struct object *found = &kinds[parameter->kind];
    const struct object counted = { NULL, true, TABLE(counted_variants) };

    if (parameter->counted) {
        found = &counted;
    }
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (parameter->kind == KIND_OBJECT && parameter->counted == objects[i].counted &&
            strcmp(parameter->type, objects[i].type) == 0) {
            found = &objects[i];
        }
    }
    *ret_variants = found->variants;
    return found->count;
}

/* ---- good values --------------------------------------------------------------------------- */

static void *good_object(const struct parameter *parameter)
{
    const char *const type = parameter->type;
    void *const object = made(parameter->size);

    if (strcmp(type, "pmix_proc_t") == 0) {
        memcpy(object, &args_self, sizeof(args_self));
    } else if (strcmp(type, "pmix_value_t") == 0) {
        const pmix_value_t value = { .type = PMIX_INT, .data.integer = 42 };
        memcpy(object, &value, sizeof(value));
    } else if (strcmp(type, "pmix_info_t") == 0) {
        pmix_info_t *const info = object;
        strcpy(info->key, PMIX_OPTIONAL); /* lets no call wait */
        info->value.type = PMIX_BOOL;
        info->value.data.flag = true;
    } else if (strcmp(type, "pmix_pdata_t") == 0) {
        strcpy(((pmix_pdata_t *)object)->key, ARGS_KEY);
    } else if (strcmp(type, "pmix_app_t") == 0) {
        ((pmix_app_t *)object)->cmd = strdup("true");
    } else if (strcmp(type, "pmix_byte_object_t") == 0) {
        const pmix_byte_object_t bytes = { .bytes = text_of(7), .size = 8 };
        memcpy(object, &bytes, sizeof(bytes));
    }
    return object;
}

void args_good(const struct parameter *parameter, struct arg *arg, struct arg *count)
{
    static int tokens;

    *arg = (struct arg){ .number = parameter->kind == KIND_TYPE ? PMIX_INT : 1 };
    switch (parameter->kind) {
    case KIND_TEXT:
        arg->pointer = strdup("0");
        break;
    case KIND_KEY:
        arg->pointer = strcpy(made(PMIX_MAX_KEYLEN + 1), ARGS_KEY);
        break;
    case KIND_NSPACE:
        arg->pointer = copy_of(args_self.nspace, sizeof(args_self.nspace));
        break;
    case KIND_NAME:
        arg->pointer = made(parameter->size);
        memcpy(arg->pointer, "good", 4);
        arg->number = parameter->size;
        break;
    case KIND_BYTES:
        arg->pointer = made(ARGS_ARRAY_COUNT);
        break;
    case KIND_DATA:
        arg->pointer = made(4096);
        break;
    case KIND_OBJECT:
        arg->pointer = good_object(parameter);
        break;
    case KIND_OUT:
    case KIND_OUT_NUMBER:
        arg->pointer = made(64);
        break;
    case KIND_VECTOR:
        make_vector(arg, NULL, 3);
        break;
    case KIND_VECTOR_IN_OUT:
        make_vector_in_out(arg, NULL, 3);
        break;
    case KIND_LIST:
        arg->pointer = PMIx_Info_list_start();
        break;
    case KIND_TOKEN:
        arg->pointer = &tokens;
        break;
    case KIND_CALLBACK:
        arg->function = parameter->callback;
        break;
    default:
        break;
    }
    if (count != NULL) {
        count->number = ARGS_ARRAY_COUNT;
    }
}
