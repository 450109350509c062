/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_data_test.c - the public functions on buffers, over all types, with good and bad
 * arguments. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "../samples.h"

Test(api_data, every_type_is_packed_unpacked_copied_and_printed)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *row = sx_type_find(type);

        for (unsigned seed = 0; sample_is_element_type(type) && seed < 12; seed++) {
            void *array = sample_array(type, 1, seed, SAMPLE_DEPTH), *copy = NULL;
            void *back = calloc(1, row->size_bytes), *given = array;
            pmix_data_buffer_t *b = PMIx_Data_buffer_create();
            char *text = NULL, *text_back = NULL;
            int32_t count = 1;

            if (type == PMIX_STRING) {
                given = *(char **)array; /* to copy and print, a string is itself */
            }
            cr_assert_eq(PMIx_Data_pack(NULL, b, array, 1, type), PMIX_SUCCESS, "%s", row->name);
            cr_assert_eq(PMIx_Data_unpack(NULL, b, back, &count, type), PMIX_SUCCESS);
            cr_assert_eq(count, 1);
            cr_assert_eq(PMIx_Data_print(&text, "> ", given, type), PMIX_SUCCESS);
            cr_assert_eq(strncmp(text, "> PMIX_", 7), 0, "%s", text);
            cr_assert_null(strchr(text, '\n'));
            if (given != NULL) {
                cr_assert_eq(PMIx_Data_copy(&copy, given, type), PMIX_SUCCESS, "%s", row->name);
                sx_elements_destruct(array, 1, type);
                cr_assert_eq(PMIx_Data_print(&text_back, "> ", copy, type), PMIX_SUCCESS);
                cr_assert_str_eq(text, text_back, "the copy is whole and its own");
                if (type != PMIX_STRING) {
                    sx_elements_destruct(copy, 1, type);
                }
            }
            sx_elements_destruct(back, 1, type);
            PMIx_Data_buffer_release(b);
            free(copy);
            free(back);
            free(text);
            free(text_back);
            free(array);
        }
    }
}

Test(api_data, bad_arguments_are_notified)
{
    pmix_data_buffer_t b = { .base_ptr = NULL }, unsound = { .bytes_used = 1 };
    pmix_byte_object_t none = { .bytes = NULL }, lying = { .size = 4 };
    int number = 7;
    int32_t count = 1;
    void *copy = &number;
    char *text;

    cr_expect_eq(PMIx_Data_pack(NULL, NULL, &number, 1, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_pack(NULL, &b, NULL, 1, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_pack(NULL, &b, &number, -1, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_pack(NULL, &unsound, &number, 1, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_pack(NULL, &b, &number, 1, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_expect_eq(PMIx_Data_unpack(NULL, &b, &number, &count, PMIX_INT),
                 PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    cr_expect_eq(count, 0);
    cr_expect_eq(PMIx_Data_unpack(NULL, &b, &number, NULL, PMIX_INT), PMIX_ERR_BAD_PARAM);
    count = -1;
    cr_expect_eq(PMIx_Data_unpack(NULL, &b, &number, &count, PMIX_INT), PMIX_ERR_BAD_PARAM);
    count = 1;
    cr_expect_eq(PMIx_Data_unpack(NULL, NULL, &number, &count, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Data_pack(NULL, &b, &number, 1, PMIX_INT), PMIX_SUCCESS);
    count = 1;
    cr_expect_eq(PMIx_Data_unpack(NULL, &b, NULL, &count, PMIX_INT), PMIX_ERR_BAD_PARAM);
    count = 1;
    cr_expect_eq(PMIx_Data_unpack(NULL, &b, &number, &count, PMIX_STRING), PMIX_ERR_PACK_MISMATCH);

    cr_expect_eq(PMIx_Data_copy(NULL, &number, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_copy(&copy, NULL, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_copy(&copy, &number, PMIX_UNDEF), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_expect_null(copy);
    cr_expect_eq(PMIx_Data_print(NULL, NULL, &number, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_print(&text, NULL, &number, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_expect_null(text);

    cr_expect_eq(PMIx_Data_copy_payload(NULL, &b), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_copy_payload(&b, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_copy_payload(&b, &unsound), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_load(NULL, &none), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_load(&b, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_load(&b, &lying), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_unload(NULL, &none), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_unload(&b, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_unload(&unsound, &none), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_embed(NULL, &none), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_embed(&b, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Data_embed(&b, &lying), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(b.bytes_used, 10, "what was packed is still there");
    PMIx_Data_buffer_destruct(&b);
}

Test(api_data, a_number_prints_with_its_type)
{
    int number = -7;
    char *text;

    cr_assert_eq(PMIx_Data_print(&text, NULL, &number, PMIX_INT), PMIX_SUCCESS);
    cr_expect_str_eq(text, "PMIX_INT: -7");
    free(text);
    cr_assert_eq(PMIx_Data_print(&text, "  ", "a text", PMIX_STRING), PMIX_SUCCESS);
    cr_expect_str_eq(text, "  PMIX_STRING: \"a text\"");
    free(text);
    cr_assert_eq(PMIx_Data_print(&text, "", NULL, PMIX_PROC), PMIX_SUCCESS);
    cr_expect_str_eq(text, "PMIX_PROC: NULL");
    free(text);
}

static int32_t next_number(pmix_data_buffer_t *b)
{
    int32_t number = -1, count = 1;

    cr_assert_eq(PMIx_Data_unpack(NULL, b, &number, &count, PMIX_INT32), PMIX_SUCCESS);
    return number;
}

/* A buffer with 0, 1, ... of which the first is already unpacked. */
static void begun_buffer(pmix_data_buffer_t *b, int32_t count)
{
    PMIx_Data_buffer_construct(b);
    for (int32_t i = 0; i < count; i++) {
        cr_assert_eq(PMIx_Data_pack(NULL, b, &i, 1, PMIX_INT32), PMIX_SUCCESS);
    }
    cr_assert_eq(next_number(b), 0);
}

Test(api_data, a_payload_is_what_is_not_yet_unpacked)
{
    pmix_data_buffer_t a, b;
    pmix_byte_object_t bytes;

    begun_buffer(&a, 3);
    begun_buffer(&b, 4);
    cr_assert_eq(PMIx_Data_copy_payload(&a, &b), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Data_copy_payload(&a, &a), PMIX_SUCCESS);
    cr_assert_eq(next_number(&b), 1, "the source stays as it is");
    for (int32_t round = 0; round < 2; round++) {
        for (int32_t i = 1; i < 6; i++) {
            cr_assert_eq(next_number(&a), i < 3 ? i : i - 2);
        }
    }
    cr_assert_eq(a.unpack_ptr, a.pack_ptr);

    cr_assert_eq(PMIx_Data_unload(&b, &bytes), PMIX_SUCCESS);
    cr_assert_eq(bytes.size, 20);
    cr_assert_null(b.base_ptr);
    cr_assert_eq(PMIx_Data_embed(&b, &bytes), PMIX_SUCCESS);
    cr_assert_eq(next_number(&b), 2);
    cr_assert_neq(b.base_ptr, bytes.bytes, "a copy");
    cr_assert_eq(PMIx_Data_load(&a, &bytes), PMIX_SUCCESS);
    cr_assert_null(bytes.bytes);
    cr_assert_eq(next_number(&a), 2);
    cr_assert_eq(next_number(&a), 3);
    cr_assert_eq(PMIx_Data_unload(&a, &bytes), PMIX_SUCCESS);
    cr_assert_null(bytes.bytes, "nothing is left");
    cr_assert_eq(bytes.size, 0);
    cr_assert_eq(PMIx_Data_unload(&a, &bytes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Data_embed(&b, &bytes), PMIX_SUCCESS);
    cr_assert_null(b.base_ptr);
    cr_assert_eq(PMIx_Data_load(&b, &bytes), PMIX_SUCCESS);
    PMIx_Data_buffer_destruct(&a);
    PMIx_Data_buffer_destruct(&b);
}

Test(api_data, a_loaded_buffer_can_be_packed_into)
{
    pmix_data_buffer_t b;
    pmix_byte_object_t bytes;
    int32_t number = 9;

    begun_buffer(&b, 2);
    cr_assert_eq(PMIx_Data_unload(&b, &bytes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Data_load(&b, &bytes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Data_pack(NULL, &b, &number, 1, PMIX_INT32), PMIX_SUCCESS);
    cr_assert_eq(next_number(&b), 1);
    cr_assert_eq(next_number(&b), 9);
    PMIx_Data_buffer_destruct(&b);
}

Test(api_data, what_gets_smaller_is_compressed_and_comes_back)
{
    static const size_t sizes[] = { 30, 1000, 100000, 3000000 };

    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        uint8_t *bytes = malloc(sizes[i]), *small, *back;
        size_t small_size, back_size;

        for (size_t j = 0; j < sizes[i]; j++) {
            bytes[j] = (uint8_t)(j / 1000);
        }
        cr_assert(PMIx_Data_compress(bytes, sizes[i], &small, &small_size), "%zu", sizes[i]);
        cr_assert_lt(small_size, sizes[i]);
        cr_assert(PMIx_Data_decompress(small, small_size, &back, &back_size));
        cr_assert_eq(back_size, sizes[i]);
        cr_assert_eq(memcmp(bytes, back, back_size), 0);
        free(back);
        for (size_t cut = 0; cut < small_size; cut += 1 + cut / 64) {
            cr_assert_not(PMIx_Data_decompress(small, cut, &back, &back_size), "%zu", cut);
            cr_assert_null(back);
        }
        for (size_t at = 0; at < small_size; at += 1 + at / 64) {
            small[at] ^= 0x10;
            /* Some streams of zlib's say the same in other words. */
            if (PMIx_Data_decompress(small, small_size, &back, &back_size)) {
                cr_assert(back_size == sizes[i] && memcmp(bytes, back, back_size) == 0, "%zu", at);
                free(back);
            }
            small[at] ^= 0x10;
        }
        free(bytes);
        free(small);
    }
}

Test(api_data, what_would_not_get_smaller_is_refused)
{
    uint8_t bytes[4096], *out = bytes;
    uint64_t state = 42;
    size_t size = 1;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        bytes[i] = (uint8_t)(state >> 33);
    }
    cr_expect_not(PMIx_Data_compress(bytes, sizeof(bytes), &out, &size));
    cr_expect_null(out);
    cr_expect_eq(size, 0);
    for (size_t i = 0; i < 12; i++) {
        cr_expect_not(PMIx_Data_compress(bytes, i, &out, &size));
    }
    cr_expect_not(PMIx_Data_compress(NULL, 100, &out, &size));
    cr_expect_not(PMIx_Data_compress(bytes, 100, NULL, &size));
    cr_expect_not(PMIx_Data_compress(bytes, 100, &out, NULL));
    cr_expect_not(PMIx_Data_decompress(NULL, 100, &out, &size));
    cr_expect_not(PMIx_Data_decompress(bytes, 100, NULL, &size));
    cr_expect_not(PMIx_Data_decompress(bytes, 100, &out, NULL));
    memset(bytes, 0xff, 8);
    cr_expect_not(PMIx_Data_decompress(bytes, 100, &out, &size), "more than memory holds");
}
