/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* qualified.c - names for keys with qualifiers, and their values, put and restored.
 *
 * The name is the XXH3 of the key and of the sum of the XXH3s of the qualifiers, so that their
 * order does not matter; 128 bits, so that no two sets collide by chance.  A process that causes a
 * collision on purpose harms the values of its own job alone. */
#include "shmem/qualified.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/status.h"
#include "base/value/flat_layout.h"
#include "base/value/value.h"

#define QUALIFIER_STACK_BYTES 1024u

/* ---- names ---------------------------------------------------------------------------------- */

/* One qualifier: its key with the NUL, its cell, its body, at @bytes. */
static pmix_status_t qualifier_write(const pmix_info_t *info, size_t key_size, uint8_t *bytes,
                                     size_t body_size)
{
    const size_t key_room = sx_align_up(key_size, 8);
    struct sx_cell cell;

    memset(bytes, 0, key_room);
    memcpy(bytes, info->key, key_size);
    const pmix_status_t rc = sx_flat_encode(&info->value, &cell, bytes + key_room + sizeof(cell),
                                            body_size);

    memcpy(bytes + key_room, &cell, sizeof(cell));
    return rc;
}

static pmix_status_t qualifier_add(const pmix_info_t *info, XXH128_hash_t *sum)
{
    _Alignas(8) uint8_t stack[QUALIFIER_STACK_BYTES];
    uint8_t *bytes = stack;
    const size_t key_size = sx_name_len(info->key, sizeof(info->key)) + 1;
    size_t body_size;

    if (key_size > sizeof(info->key)) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_flat_size(&info->value, &body_size);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const size_t size = sx_align_up(key_size, 8) + sizeof(struct sx_cell) + body_size;
    if (size > sizeof(stack)) {
        bytes = malloc(size);
        if (bytes == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    rc = qualifier_write(info, key_size, bytes, body_size);
    if (rc == PMIX_SUCCESS) {
        const XXH128_hash_t hash = XXH3_128bits(bytes, size);

        sum->low64 += hash.low64;
        sum->high64 += hash.high64;
    }
    if (bytes != stack) {
        free(bytes);
    }
    return rc;
}

static void name_write(const char *key, size_t key_len, const XXH128_hash_t *sum,
                       char ret_name[SX_QUALIFIED_NAME_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[sizeof(*sum) + PMIX_MAX_KEYLEN];

    memcpy(bytes, sum, sizeof(*sum));
    memcpy(bytes + sizeof(*sum), key, key_len);
    const XXH128_hash_t hash = XXH3_128bits(bytes, sizeof(*sum) + key_len);

    for (unsigned i = 0; i < SX_QUALIFIED_NAME_LEN; i++) {
        const uint64_t word = i < SX_QUALIFIED_NAME_LEN / 2 ? hash.high64 : hash.low64;

        ret_name[i] = digits[word >> 4 * (15 - i % 16) & 15];
    }
    ret_name[SX_QUALIFIED_NAME_LEN] = '\0';
}

static bool is_qualifier(const pmix_info_t *info)
{
    return (info->flags & PMIX_INFO_QUALIFIER) != 0;
}

bool sx_qualified_asked(const pmix_info_t *info, size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (is_qualifier(&info[i])) {
            return true;
        }
    }
    return false;
}

pmix_status_t sx_qualified_name(const char *key, size_t key_len, const pmix_info_t *info,
                                size_t ninfo, char ret_name[SX_QUALIFIED_NAME_LEN + 1])
{
    XXH128_hash_t sum = { 0, 0 };

    for (size_t i = 0; i < ninfo; i++) {
        const pmix_status_t rc = is_qualifier(&info[i]) ? qualifier_add(&info[i], &sum)
                                                        : PMIX_SUCCESS;

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    name_write(key, key_len, &sum, ret_name);
    return PMIX_SUCCESS;
}

pmix_status_t sx_qualified_read(struct sx_qualified *ret, const pmix_value_t *value)
{
    const pmix_data_array_t *const array = value->data.darray;
    XXH128_hash_t sum = { 0, 0 };

    if (value->type != PMIX_DATA_ARRAY || array == NULL || array->type != PMIX_INFO ||
        array->array == NULL || array->size < 2) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a qualified value is an array of infos: key and value, then qualifiers");
    }
    const pmix_info_t *const infos = array->array;
    const size_t key_len = sx_name_len(infos[0].key, sizeof(infos[0].key));

    if (key_len == 0 || key_len > PMIX_MAX_KEYLEN) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "the key of a qualified value has 1 to %d bytes",
                        PMIX_MAX_KEYLEN);
    }
    for (size_t i = 1; i < array->size; i++) {
        const pmix_status_t rc = qualifier_add(&infos[i], &sum);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    *ret = (struct sx_qualified){ .key = infos[0].key,
                                  .key_len = key_len,
                                  .value = &infos[0].value,
                                  .infos = infos + 1,
                                  .count = array->size - 1 };
    name_write(ret->key, key_len, &sum, ret->name);
    return PMIX_SUCCESS;
}

/* ---- storing -------------------------------------------------------------------------------- */

void sx_qualified_legend_key(const char *name, char ret_key[SX_QUALIFIED_LEGEND_LEN + 1])
{
    memcpy(ret_key, name, SX_QUALIFIED_NAME_LEN);
    memcpy(ret_key + SX_QUALIFIED_NAME_LEN, ".q", sizeof(".q"));
}

pmix_status_t sx_qualified_legend(const struct sx_qualified *qualified, pmix_value_t *ret)
{
    pmix_data_array_t *const array = malloc(sizeof(*array));
    pmix_info_t *const infos = malloc((qualified->count + 1) * sizeof(*infos));

    if (array == NULL || infos == NULL) {
        free(array);
        free(infos);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memset(&infos[0], 0, sizeof(infos[0]));
    memcpy(infos[0].key, qualified->key, qualified->key_len);
    infos[0].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    memcpy(infos + 1, qualified->infos, qualified->count * sizeof(*infos));
    for (size_t i = 1; i <= qualified->count; i++) {
        infos[i].flags = PMIX_INFO_QUALIFIER;
    }
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = qualified->count + 1, .array = infos };
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

static pmix_status_t legend_put(struct sx_store_writer *writer,
                                const struct sx_qualified *qualified)
{
    char key[SX_QUALIFIED_LEGEND_LEN + 1];
    struct sx_item item;
    pmix_value_t legend;

    sx_qualified_legend_key(qualified->name, key);
    if (sx_store_find(&writer->view, SX_REALM_QUALIFIED, SX_ROW_JOB, key, &item) == PMIX_SUCCESS) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = sx_qualified_legend(qualified, &legend);

    if (rc == PMIX_SUCCESS) {
        rc = sx_store_put(writer, SX_REALM_QUALIFIED, SX_ROW_JOB, key, PMIX_SCOPE_UNDEF, &legend);
        free(legend.data.darray->array);
        free(legend.data.darray);
    }
    return rc;
}

pmix_status_t sx_qualified_put(struct sx_store_writer *writer, uint32_t row, pmix_scope_t scope,
                               const pmix_value_t *value, char *ret_name)
{
    struct sx_qualified qualified;
    pmix_status_t rc = sx_qualified_read(&qualified, value);

    if (rc == PMIX_SUCCESS) {
        rc = legend_put(writer, &qualified);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_put(writer, SX_REALM_QUALIFIED, row, qualified.name, scope, qualified.value);
    }
    if (rc == PMIX_SUCCESS && ret_name != NULL) {
        memcpy(ret_name, qualified.name, sizeof(qualified.name));
    }
    return rc;
}

uint64_t sx_qualifiers_bytes(const struct sx_flat_first *first)
{
    return first->rest_bytes + (first->count - 1) * sizeof(struct sx_flat_info);
}

pmix_status_t sx_qualified_begin(struct sx_store_writer *writer, const struct sx_cell *cell,
                                 const void *body, char ret_name[SX_QUALIFIED_NAME_LEN + 1],
                                 struct sx_flat_first *ret_first)
{
    struct sx_qualified qualified;
    pmix_info_t *infos;

    if (!sx_flat_infos_first(ret_first, cell, body)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (sx_qualifiers_bytes(ret_first) > SX_QUALIFIERS_BYTES_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = sx_flat_infos_rest(ret_first, body, &infos);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_data_array_t array = { PMIX_INFO, ret_first->count, infos };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    rc = sx_qualified_read(&qualified, &value);
    if (rc == PMIX_SUCCESS) {
        rc = legend_put(writer, &qualified);
        memcpy(ret_name, qualified.name, sizeof(qualified.name));
    }
    PMIX_INFO_FREE(infos, array.size);
    return rc;
}

pmix_status_t sx_qualified_whole(const struct sx_store *store, const char *name,
                                 const struct sx_item *item, pmix_value_t *ret)
{
    char key[SX_QUALIFIED_LEGEND_LEN + 1];
    pmix_value_t value;

    if (strlen(name) != SX_QUALIFIED_NAME_LEN) {
        return PMIX_ERR_NOT_FOUND;
    }
    sx_qualified_legend_key(name, key);
    pmix_status_t rc = sx_store_get(store, SX_REALM_QUALIFIED, SX_ROW_JOB, key, ret);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (ret->type != PMIX_DATA_ARRAY || ret->data.darray == NULL ||
        ret->data.darray->type != PMIX_INFO || ret->data.darray->size < 2) {
        rc = PMIX_ERR_UNPACK_FAILURE;
    } else {
        rc = sx_flat_decode(&value, &item->cell, item->body, item->cell.len);
    }
    if (rc != PMIX_SUCCESS) {
        sx_value_destruct(ret);
        return rc;
    }
    ((pmix_info_t *)ret->data.darray->array)[0].value = value; /* in place of true */
    return PMIX_SUCCESS;
}
