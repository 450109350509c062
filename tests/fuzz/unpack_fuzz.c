/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unpack_fuzz.c - any bytes as a packed buffer.
 *
 * Input: a byte for the type asked for first, a byte for the room given, then the buffer.  What
 * follows the first pack is asked for by its own type, so that one input may hold many.  Promised:
 * a refused buffer is unchanged; what comes out can be copied, compared, printed, freed and packed
 * again into the very bytes it came from. */
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "base/value/pack.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define ROOM_MAX 4

/* Texts of hwloc's objects have other spellings, and their copies other addresses. */
static bool mentions_hwloc(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 5 <= size; i++) {
        if ((data[i] | 0x20) == 'h' && (data[i + 1] | 0x20) == 'w' && (data[i + 2] | 0x20) == 'l') {
            return true;
        }
    }
    return false;
}

static void judge_equal(void *elements, size_t count, pmix_data_type_t type, const char *from,
                        size_t from_size)
{
    pmix_data_array_t array = { .type = type, .size = count, .array = elements };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    pmix_data_buffer_t again = { .base_ptr = NULL };
    pmix_value_t copy;
    pmix_data_type_t packed;
    pmix_status_t rc;

    memcpy(&packed, from, sizeof(packed)); /* an integer may have been asked for as another */
    FUZZ_PROMISE(sx_pack(&again, elements, count, packed) == PMIX_SUCCESS);
    FUZZ_PROMISE(again.bytes_used == from_size);
    FUZZ_PROMISE(memcmp(again.base_ptr, from, from_size) == 0);
    free(again.base_ptr);
    rc = sx_value_copy(&copy, &value);
    if (rc == PMIX_SUCCESS) {
        FUZZ_PROMISE(sx_value_compare(&value, &copy) == 0);
        sx_value_destruct(&copy);
    } else {
        FUZZ_PROMISE(rc == PMIX_ERR_BAD_PARAM); /* the array is one level above the deepest */
    }
}

static void judge(void *elements, size_t count, pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    for (size_t i = 0; i < count; i++) {
        char *text = sx_element_print((char *)elements + i * row->size_bytes, type);

        FUZZ_PROMISE(text != NULL);
        free(text);
    }
}

/* Unpack one pack.  Return: false when there is none. */
static bool unpack_one(pmix_data_buffer_t *b, pmix_data_type_t type, size_t room, bool exact)
{
    const struct sx_type *row = sx_type_find(type);
    const pmix_data_buffer_t before = *b;
    void *elements = malloc(row == NULL ? 1 : room * row->size_bytes);
    size_t count = 0;
    const pmix_status_t rc = sx_unpack(b, elements, room, &count, type);

    FUZZ_PROMISE(sx_buffer_is_sound(b) && count <= room);
    if (rc == PMIX_SUCCESS) {
        FUZZ_PROMISE(b->unpack_ptr > before.unpack_ptr);
        if (exact) {
            judge_equal(elements, count, type, before.unpack_ptr,
                        (size_t)(b->unpack_ptr - before.unpack_ptr));
        }
    } else {
        FUZZ_PROMISE(memcmp(b, &before, sizeof(before)) == 0);
        FUZZ_PROMISE(rc == PMIX_ERR_UNPACK_INADEQUATE_SPACE || count == 0);
        FUZZ_PROMISE(rc != PMIX_ERR_OUT_OF_RESOURCE);
    }
    if (count > 0) {
        judge(elements, count, type);
        sx_elements_destruct(elements, count, type);
    }
    free(elements);
    return rc == PMIX_SUCCESS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pmix_data_buffer_t b = { .base_ptr = NULL };
    pmix_data_type_t type;
    size_t room;
    bool exact;

    if (size < 2) {
        return 0;
    }
    type = data[0];
    room = 1 + data[1] % ROOM_MAX;
    exact = !mentions_hwloc(data, size);
    /* Without a byte to spare, so that a sanitizer sees the first one too many. */
    b.base_ptr = b.unpack_ptr = malloc(size - 2 > 0 ? size - 2 : 1);
    b.pack_ptr = b.base_ptr + (size - 2);
    b.bytes_used = b.bytes_allocated = size - 2;
    memcpy(b.base_ptr, data + 2, size - 2);
    while (unpack_one(&b, type, room, exact) && sx_buffer_rest(&b) >= sizeof(type)) {
        memcpy(&type, b.unpack_ptr, sizeof(type));
    }
    free(b.base_ptr);
    return 0;
}
