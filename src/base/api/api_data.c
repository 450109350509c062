/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_data.c - PMIx_Data_*: the public face of packing, and compression.
 *
 * There is one format, so the process a buffer is meant for makes no difference, and no function
 * needs the library to be initialised.  The format of a buffer is drawn in pack.h.  A compressed
 * block is the u64 size of the original, little-endian, and zlib's stream.
 *
 * An element is given by its address, but a string to copy or to print is given as the char *
 * itself, as programs do. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/pack.h"
#include "base/value/type.h"
#include "base/value/value.h"

/* zlib's best: a length code of 258 bytes takes at least two bits. */
#define SX_DEFLATE_RATIO_MAX 1032

pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer, void *src,
                             int32_t num_vals, pmix_data_type_t type)
{
    (void)target;
    if (buffer == NULL || num_vals < 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    return sx_pack(buffer, src, (size_t)num_vals, type);
}

pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer, void *dest,
                               int32_t *max_num_values, pmix_data_type_t type)
{
    size_t count = 0;
    int32_t max;
    pmix_status_t rc;

    (void)source;
    if (max_num_values == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    max = *max_num_values;
    *max_num_values = 0;
    if (buffer == NULL || max < 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    rc = sx_unpack(buffer, dest, (size_t)max, &count, type);
    *max_num_values = (int32_t)count;
    return rc;
}

/* @src: the address of an element, but of a string its first character.  Return: the address of
 * the element, which for a string is @string. */
static const void *element_of(void *src, pmix_data_type_t type, char **string)
{
    *string = src;
    return type == PMIX_STRING ? (const void *)string : src;
}

static pmix_status_t element_copy(void *src, const struct sx_type *row, pmix_data_type_t type,
                                  void **ret_copy)
{
    void *block = malloc(row->size_bytes);
    pmix_status_t rc;

    if (block == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_elements_copy(block, src, 1, type);
    if (rc != PMIX_SUCCESS) {
        free(block);
        return rc;
    }
    *ret_copy = block;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    sx_results_none(dest, NULL);
    if (dest == NULL || src == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (type == PMIX_STRING) {
        char *copy = strdup(src);

        if (copy == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        *dest = copy;
        return PMIX_SUCCESS;
    }
    return element_copy(src, row, type, dest);
}

pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src, pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);
    char *text, *string;

    sx_results_none(output, NULL);
    if (output == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    text = src == NULL ? strdup("NULL") : sx_element_print(element_of(src, type, &string), type);
    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (asprintf(output, "%s%s: %s", prefix == NULL ? "" : prefix, row->name, text) < 0) {
        *output = NULL;
    }
    free(text);
    return *output == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest, pmix_data_buffer_t *src)
{
    size_t rest;
    pmix_status_t rc;

    if (dest == NULL || src == NULL || !sx_buffer_is_sound(dest) || !sx_buffer_is_sound(src)) {
        return PMIX_ERR_BAD_PARAM;
    }
    rest = sx_buffer_rest(src);
    if (rest == 0) {
        return PMIX_SUCCESS;
    }
    /* First the room, so that the bytes do not move when both are one buffer. */
    rc = sx_buffer_reserve(dest, rest);
    return rc == PMIX_SUCCESS ? sx_buffer_append(dest, src->unpack_ptr, rest) : rc;
}

pmix_status_t PMIx_Data_load(pmix_data_buffer_t *dest, pmix_byte_object_t *src)
{
    if (dest == NULL || src == NULL || (src->bytes == NULL && src->size > 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    PMIx_Data_buffer_load(dest, src->bytes, src->size);
    *src = (pmix_byte_object_t){ .bytes = NULL, .size = 0 };
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *src, pmix_byte_object_t *dest)
{
    pmix_byte_object_t rest = { .bytes = NULL, .size = 0 };

    if (src == NULL || dest == NULL || !sx_buffer_is_sound(src)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (sx_buffer_rest(src) > 0) {
        PMIx_Data_buffer_unload(src, &rest.bytes, &rest.size);
        if (rest.bytes == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    PMIx_Data_buffer_destruct(src);
    *dest = rest;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer, const pmix_byte_object_t *payload)
{
    pmix_data_buffer_t made = { .base_ptr = NULL };
    pmix_status_t rc;

    if (buffer == NULL || payload == NULL || (payload->bytes == NULL && payload->size > 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    /* The payload may be what the buffer holds now, so that goes last. */
    rc = sx_buffer_append(&made, payload->bytes, payload->size);
    if (rc == PMIX_SUCCESS) {
        PMIx_Data_buffer_destruct(buffer);
        *buffer = made;
    }
    return rc;
}

bool PMIx_Data_compress(const uint8_t *inbytes, size_t size, uint8_t **outbytes, size_t *nbytes)
{
    const uint64_t original = size;
    uint8_t *block, *fitted;
    uLongf stream_size;

    sx_results_none(outbytes, nbytes);
    if (outbytes == NULL || nbytes == NULL) {
        return false;
    }
    if (inbytes == NULL || size <= sizeof(original) + 1) {
        return false;
    }
    /* zlib is given less room than the original takes and stops when that does not do. */
    block = malloc(size - 1);
    if (block == NULL) {
        return false;
    }
    stream_size = size - 1 - sizeof(original);
    if (compress2(block + sizeof(original), &stream_size, inbytes, size, Z_DEFAULT_COMPRESSION) !=
        Z_OK) {
        free(block);
        return false;
    }
    memcpy(block, &original, sizeof(original));
    fitted = realloc(block, sizeof(original) + stream_size);
    *outbytes = fitted == NULL ? block : fitted;
    *nbytes = sizeof(original) + stream_size;
    return true;
}

bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size, uint8_t **outbytes, size_t *nbytes)
{
    uint64_t original;
    uLong stream_size;
    uLongf made;
    uint8_t *block;

    sx_results_none(outbytes, nbytes);
    if (outbytes == NULL || nbytes == NULL) {
        return false;
    }
    if (inbytes == NULL || size <= sizeof(original)) {
        return false;
    }
    memcpy(&original, inbytes, sizeof(original));
    stream_size = size - sizeof(original);
    /* Memory is taken for no more than the stream could hold. */
    if (original == 0 || original / SX_DEFLATE_RATIO_MAX > stream_size) {
        return false;
    }
    block = malloc(original);
    if (block == NULL) {
        return false;
    }
    made = original;
    if (uncompress2(block, &made, inbytes + sizeof(original), &stream_size) != Z_OK ||
        made != original || stream_size != size - sizeof(original)) {
        free(block);
        return false;
    }
    *outbytes = block;
    *nbytes = original;
    return true;
}
