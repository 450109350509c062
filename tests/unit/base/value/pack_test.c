/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pack_test.c - what was packed is unpacked, whole, in order and once; what was not is refused and
 * leaves the buffer as it was.
 *
 * Run under AddressSanitizer these tests also show that no byte outside a buffer is read: each
 * damaged buffer is a heap block without a byte to spare. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/pack.h"

#include "../samples.h"

static const pmix_data_buffer_t buffer_null;

static void buffer_free(pmix_data_buffer_t *b)
{
    free(b->base_ptr);
    *b = buffer_null;
}

/* A buffer that owns a copy of @size bytes, in a block of exactly that size. */
static pmix_data_buffer_t buffer_of(const void *bytes, size_t size)
{
    char *block = malloc(size == 0 ? 1 : size);

    memcpy(block, bytes, size);
    return (pmix_data_buffer_t){ .base_ptr = block,
                                 .unpack_ptr = block,
                                 .pack_ptr = block + size,
                                 .bytes_allocated = size,
                                 .bytes_used = size };
}

/* 0 when both arrays are equal. */
static int elements_order(void *a, void *b, size_t count, pmix_data_type_t type)
{
    pmix_data_array_t arrays[2] = { { .type = type, .size = count, .array = a },
                                    { .type = type, .size = count, .array = b } };
    const pmix_value_t x = { .type = PMIX_DATA_ARRAY, .data.darray = &arrays[0] };
    const pmix_value_t y = { .type = PMIX_DATA_ARRAY, .data.darray = &arrays[1] };

    return sx_value_compare(&x, &y);
}

/* The one who writes what comes out again writes the same bytes. */
static void expect_same_bytes(const void *elements, size_t count, pmix_data_type_t type,
                              const char *bytes, size_t size)
{
    pmix_data_buffer_t again = buffer_null;

    cr_assert_eq(sx_pack(&again, elements, count, type), PMIX_SUCCESS, "type %u", type);
    cr_assert_eq(again.bytes_used, size, "type %u: %zu %zu", type, again.bytes_used, size);
    cr_assert_eq(memcmp(again.base_ptr, bytes, size), 0, "one encoding, type %u", type);
    buffer_free(&again);
}

static void round_trip(void *elements, size_t count, pmix_data_type_t type)
{
    const size_t size_bytes = sx_type_find(type)->size_bytes;
    char *back = malloc(count * size_bytes + 1);
    pmix_data_buffer_t b = buffer_null, exact;
    size_t got = 99;

    memset(back, 0x5a, count * size_bytes + 1);
    cr_assert_eq(sx_pack(&b, elements, count, type), PMIX_SUCCESS, "type %u", type);
    cr_assert(sx_buffer_is_sound(&b));
    exact = buffer_of(b.base_ptr, b.bytes_used);
    cr_assert_eq(sx_unpack(&exact, back, count, &got, type), PMIX_SUCCESS, "type %u", type);
    cr_assert_eq(got, count);
    cr_assert_eq(sx_buffer_rest(&exact), 0, "type %u: %zu left", type, sx_buffer_rest(&exact));
    cr_assert_eq(back[count * size_bytes], 0x5a);
    cr_assert_eq(elements_order(elements, back, count, type), 0, "type %u", type);
    expect_same_bytes(back, count, type, b.base_ptr, b.bytes_used);
    sx_elements_destruct(back, count, type);
    free(back);
    buffer_free(&b);
    buffer_free(&exact);
}

Test(pack, elements_of_every_type_survive_the_round_trip)
{
    unsigned tried = 0;

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < 60; seed++, tried++) {
            const size_t count = seed % 5;
            void *array = sample_array(type, count, seed, SAMPLE_DEPTH);

            round_trip(array, count, type);
            if (array != NULL) {
                sx_elements_destruct(array, count, type);
            }
            free(array);
        }
    }
    cr_assert_gt(tried, 55u * 60u);
}

Test(pack, values_of_every_type_survive_the_round_trip)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 60; seed++) {
            pmix_value_t value;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            round_trip(&value, 1, PMIX_VALUE);
            sx_value_destruct(&value);
        }
    }
}

/* TQ87, and copied in value_test. */
Test(pack, arrays_of_every_type_survive_inside_a_value)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < 20; seed++) {
            pmix_value_t value;

            sample_array_value(&value, type, seed % 5, seed);
            round_trip(&value, 1, PMIX_VALUE);
            round_trip(value.data.darray, 1, PMIX_DATA_ARRAY);
            sx_value_destruct(&value);
        }
    }
}

/* Four plain elements of @type, @size bytes together, come out as they went in. */
static void expect_round_trip(const void *four, size_t size, pmix_data_type_t type)
{
    pmix_data_buffer_t b = buffer_null;
    char back[4 * sizeof(uint64_t)];
    size_t got;

    cr_assert_eq(sx_pack(&b, four, 4, type), PMIX_SUCCESS);
    cr_assert_eq(sx_unpack(&b, back, 4, &got, type), PMIX_SUCCESS);
    cr_assert_eq(got, 4);
    cr_assert_arr_eq(back, four, size, "type %u", type);
    buffer_free(&b);
}

Test(pack, packs_come_out_in_their_order)
{
    pmix_data_buffer_t b = buffer_null;
    char *texts[2] = { "a", NULL }, *got_texts[4];
    uint64_t numbers[3] = { 1, UINT64_MAX, 3 }, got_numbers[3];
    size_t got;

    cr_assert_eq(sx_pack(&b, numbers, 3, PMIX_UINT64), PMIX_SUCCESS);
    cr_assert_eq(sx_pack(&b, NULL, 0, PMIX_INFO), PMIX_SUCCESS);
    cr_assert_eq(sx_pack(&b, texts, 2, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(sx_unpack(&b, got_numbers, 3, &got, PMIX_UINT64), PMIX_SUCCESS);
    cr_assert_eq(memcmp(numbers, got_numbers, sizeof(numbers)), 0);
    cr_assert_eq(sx_unpack(&b, NULL, 0, &got, PMIX_INFO), PMIX_SUCCESS);
    cr_assert_eq(got, 0);
    cr_assert_eq(sx_unpack(&b, got_texts, 4, &got, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(got, 2, "what is there, not what there is room for");
    cr_assert_str_eq(got_texts[0], "a");
    cr_assert_null(got_texts[1]);
    cr_assert_eq(sx_unpack(&b, got_texts, 4, &got, PMIX_STRING),
                 PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    free(got_texts[0]);
    buffer_free(&b);
}

Test(pack, the_format_is_the_one_that_the_header_draws)
{
    static const unsigned char want[] = {
        24, 0,                           /* PMIX_INFO */
        1,  0, 0, 0,                     /* one */
        2,  0, 0, 0, 0, 0, 0, 0, 'k', 0, /* key */
        1,  0, 0, 0,                     /* PMIX_INFO_REQD, without PMIX_INFO_PERSISTENT */
        39, 0, 1,                        /* a data array, present */
        22, 0, 1, 0, 0, 0, 0, 0, 0,   0, /* one PMIX_PROC */
        3,  0, 0, 0, 0, 0, 0, 0, 'n', 's', 0, 7, 0, 0, 0,
    };
    pmix_proc_t proc = { .nspace = "ns", .rank = 7 };
    pmix_data_array_t array = { .type = PMIX_PROC, .size = 1, .array = &proc };
    pmix_info_t info = { .key = "k",
                         .flags = PMIX_INFO_REQD | PMIX_INFO_PERSISTENT,
                         .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };

    expect_same_bytes(&info, 1, PMIX_INFO, (const char *)want, sizeof(want));
}

/* TQ83, TQ84: ranks to the very top, and numbers that only their makers know. */
Test(pack, plain_numbers_pass_as_they_are)
{
    const pmix_rank_t ranks[] = { 0, PMIX_RANK_LOCAL_NODE, PMIX_RANK_UNDEF, PMIX_RANK_WILDCARD };
    const pmix_status_t statuses[] = { PMIX_EXTERNAL_ERR_BASE - 7, 12345, INT32_MIN, INT32_MAX };
    const uint8_t bytes[] = { 0, 77, 200, UINT8_MAX };
    const uint16_t types[] = { 0, 499, 501, UINT16_MAX };

    cr_assert_eq(sizeof(pmix_rank_t), sizeof(uint32_t));
    cr_assert_eq(ranks[3] & ranks[2] & ranks[1] & 0xffffff00, 0xffffff00, "at the top");
    expect_round_trip(ranks, sizeof(ranks), PMIX_PROC_RANK);
    expect_round_trip(statuses, sizeof(statuses), PMIX_STATUS);
    expect_round_trip(bytes, sizeof(bytes), PMIX_SCOPE);
    expect_round_trip(bytes, sizeof(bytes), PMIX_DATA_RANGE);
    expect_round_trip(bytes, sizeof(bytes), PMIX_PERSIST);
    expect_round_trip(types, sizeof(types), PMIX_DATA_TYPE);
}

/* TQ85 */
Test(pack, directives_stay_required)
{
    pmix_info_t info[2] = { { .key = "a", .flags = PMIX_INFO_REQD },
                            { .key = "b", .flags = PMIX_INFO_REQD_PROCESSED } },
                back[2];
    pmix_data_buffer_t b = buffer_null;
    size_t got;

    cr_assert_eq(sx_pack(&b, info, 2, PMIX_INFO), PMIX_SUCCESS);
    cr_assert_eq(sx_unpack(&b, back, 2, &got, PMIX_INFO), PMIX_SUCCESS);
    cr_assert_eq(back[0].flags, info[0].flags);
    cr_assert_eq(back[1].flags, info[1].flags);
    buffer_free(&b);
}

Test(pack, too_little_room_gives_what_fits_and_can_be_tried_again)
{
    pmix_data_buffer_t b = buffer_null;
    char *texts[3] = { "one", "two", "three" }, *got_texts[3] = { NULL };
    size_t got = 0;

    cr_assert_eq(sx_pack(&b, texts, 3, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(sx_unpack(&b, NULL, 0, &got, PMIX_STRING), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    cr_assert_eq(got, 0);
    cr_assert_eq(sx_unpack(&b, got_texts, 2, &got, PMIX_STRING), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    cr_assert_eq(got, 2);
    cr_assert_str_eq(got_texts[1], "two");
    cr_assert_null(got_texts[2]);
    sx_elements_destruct(got_texts, 2, PMIX_STRING);
    cr_assert_eq(sx_unpack(&b, got_texts, 3, &got, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_str_eq(got_texts[2], "three");
    sx_elements_destruct(got_texts, 3, PMIX_STRING);
    buffer_free(&b);
}

static const struct {
    pmix_data_type_t packed, wanted;
    pmix_status_t want;
} mismatches[] = {
    { PMIX_INT32, PMIX_INT32, PMIX_SUCCESS },
    { PMIX_PROC_RANK, PMIX_UINT32, PMIX_SUCCESS },
    { PMIX_PROC_RANK, PMIX_INT32, PMIX_ERR_PACK_MISMATCH },
    { PMIX_STATUS, PMIX_INT, PMIX_SUCCESS },
    { PMIX_BYTE, PMIX_UINT8, PMIX_SUCCESS },
    { PMIX_SIZE, PMIX_UINT64, PMIX_SUCCESS },
    { PMIX_INT32, PMIX_UINT32, PMIX_ERR_PACK_MISMATCH },
    { PMIX_UINT32, PMIX_UINT64, PMIX_ERR_PACK_MISMATCH },
    { PMIX_BOOL, PMIX_BYTE, PMIX_ERR_PACK_MISMATCH },
    { PMIX_FLOAT, PMIX_INT32, PMIX_ERR_PACK_MISMATCH },
    { PMIX_FLOAT, PMIX_DOUBLE, PMIX_ERR_PACK_MISMATCH },
    { PMIX_STRING, PMIX_BYTE_OBJECT, PMIX_ERR_PACK_MISMATCH },
    { PMIX_BYTE_OBJECT, PMIX_REGEX, PMIX_ERR_PACK_MISMATCH },
    { PMIX_INFO, PMIX_VALUE, PMIX_ERR_PACK_MISMATCH },
    { PMIX_PROC, PMIX_PROC_NSPACE, PMIX_ERR_PACK_MISMATCH },
    { PMIX_INT, 499, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { PMIX_INT, PMIX_UNDEF, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { PMIX_INT, PMIX_POINTER, PMIX_ERR_NOT_SUPPORTED },
};

Test(pack, another_type_is_a_mismatch_and_costs_nothing)
{
    for (size_t i = 0; i < SX_COUNT(mismatches); i++) {
        _Alignas(8) char zeros[1024] = { 0 }, back[1024];
        pmix_data_buffer_t b = buffer_null;
        size_t got;

        cr_assert_eq(sx_pack(&b, zeros, 1, mismatches[i].packed), PMIX_SUCCESS);
        cr_expect_eq(sx_unpack(&b, back, 1, &got, mismatches[i].wanted), mismatches[i].want,
                     "row %zu", i);
        if (mismatches[i].want != PMIX_SUCCESS) {
            cr_expect_eq(b.unpack_ptr, b.base_ptr, "row %zu", i);
            cr_expect_eq(sx_unpack(&b, back, 1, &got, mismatches[i].packed), PMIX_SUCCESS);
        }
        buffer_free(&b);
    }
}

/* One element of @type packed, with whatever a sample of it holds. */
static pmix_data_buffer_t sample_buffer(pmix_data_type_t type, unsigned seed)
{
    void *array = sample_array(type, 2, seed, SAMPLE_DEPTH);
    pmix_data_buffer_t b = buffer_null;

    cr_assert_eq(sx_pack(&b, array, 2, type), PMIX_SUCCESS);
    sx_elements_destruct(array, 2, type);
    free(array);
    return b;
}

/* Unpack @size bytes as elements of @type; in success they pack to the same bytes. */
static pmix_status_t unpack_exact(const void *bytes, size_t size, pmix_data_type_t type)
{
    _Alignas(8) char back[4 * 1024];
    pmix_data_buffer_t b = buffer_of(bytes, size), before = b;
    size_t got = 99;
    const pmix_status_t rc = sx_unpack(&b, back, 2, &got, type);

    if (rc == PMIX_SUCCESS) {
        const size_t taken = size - sx_buffer_rest(&b);
        pmix_data_type_t packed;

        memcpy(&packed, bytes, sizeof(packed));
        expect_same_bytes(back, got, packed, bytes, taken);
        sx_elements_destruct(back, got, type);
    } else {
        cr_assert_eq(memcmp(&b, &before, sizeof(b)), 0, "type %u: the buffer has moved", type);
        if (rc == PMIX_ERR_UNPACK_INADEQUATE_SPACE) {
            sx_elements_destruct(back, got, type);
        } else {
            cr_assert_eq(got, 99, "type %u: a count without elements", type);
        }
    }
    buffer_free(&b);
    return rc;
}

Test(pack, a_buffer_that_ends_early_says_so_wherever_it_ends)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < 8; seed++) {
            pmix_data_buffer_t b = sample_buffer(type, seed);

            for (size_t cut = 0; cut < b.bytes_used; cut++) {
                cr_assert_eq(unpack_exact(b.base_ptr, cut, type),
                             PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER, "type %u at %zu of %zu", type,
                             cut, b.bytes_used);
            }
            buffer_free(&b);
        }
    }
}

Test(pack, no_damaged_byte_is_followed_out_of_the_buffer)
{
    static const unsigned char damages[] = { 0x01, 0x80, 0xff };
    unsigned refused = 0, taken = 0;

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < 4; seed++) {
            pmix_data_buffer_t b = sample_buffer(type, seed);

            for (size_t i = 0; i < b.bytes_used * SX_COUNT(damages); i++) {
                const size_t at = i / SX_COUNT(damages);
                pmix_status_t rc;

                b.base_ptr[at] = (char)(b.base_ptr[at] ^ damages[i % SX_COUNT(damages)]);
                rc = unpack_exact(b.base_ptr, b.bytes_used, type);
                refused += rc != PMIX_SUCCESS;
                taken += rc == PMIX_SUCCESS;
                cr_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_UNPACK_FAILURE ||
                              rc == PMIX_ERR_PACK_MISMATCH ||
                              rc == PMIX_ERR_UNPACK_INADEQUATE_SPACE ||
                              rc == PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
                          "type %u at %zu: %d", type, at, rc);
                b.base_ptr[at] = (char)(b.base_ptr[at] ^ damages[i % SX_COUNT(damages)]);
            }
            buffer_free(&b);
        }
    }
    cr_assert(refused > 1000 && taken > 1000, "%u refused, %u taken", refused, taken);
}

#define U64(n) n, 0, 0, 0, 0, 0, 0, 0
#define MANY 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define HEAD(type) type, 0, 1, 0, 0, 0
#define EMPTY_INFO U64(1), 0, 0, 0, 0, 0

static const struct {
    const char *why;
    pmix_data_type_t type;
    pmix_status_t want;
    size_t size;
    unsigned char bytes[64];
} hostile[] = {
    { "more than an int32 can count",
      PMIX_BYTE,
      PMIX_ERR_UNPACK_FAILURE,
      6,
      { PMIX_BYTE, 0, 0, 0, 0, 0x80 } },
    { "more elements than bytes",
      PMIX_BYTE,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      7,
      { PMIX_BYTE, 0, 2, 0, 0, 0, 1 } },
    { "a billion empty infos",
      PMIX_INFO,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      21,
      { PMIX_INFO, 0, 0, 0, 0, 0x40, EMPTY_INFO } },
    { "a bool of 2", PMIX_BOOL, PMIX_ERR_UNPACK_FAILURE, 7, { HEAD(PMIX_BOOL), 2 } },
    { "a string without a NUL",
      PMIX_STRING,
      PMIX_ERR_UNPACK_FAILURE,
      15,
      { HEAD(PMIX_STRING), U64(1), 'a' } },
    { "a string with two",
      PMIX_STRING,
      PMIX_ERR_UNPACK_FAILURE,
      16,
      { HEAD(PMIX_STRING), U64(2), 0, 0 } },
    { "a string of all lengths",
      PMIX_STRING,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      15,
      { HEAD(PMIX_STRING), MANY, 0 } },
    { "a byte object of all lengths",
      PMIX_BYTE_OBJECT,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      15,
      { HEAD(PMIX_BYTE_OBJECT), MANY, 0 } },
    { "a name that is NULL",
      PMIX_PROC,
      PMIX_ERR_UNPACK_FAILURE,
      19,
      { HEAD(PMIX_PROC), U64(0), 0, 0, 0, 0, 0 } },
    { "a value of an unknown type",
      PMIX_VALUE,
      PMIX_ERR_UNPACK_FAILURE,
      8,
      { HEAD(PMIX_VALUE), 0xff, 0xff } },
    { "a pointer in a value",
      PMIX_VALUE,
      PMIX_ERR_UNPACK_FAILURE,
      16,
      { HEAD(PMIX_VALUE), PMIX_POINTER, 0 } },
    { "a cpuset in a value",
      PMIX_VALUE,
      PMIX_ERR_UNPACK_FAILURE,
      25,
      { HEAD(PMIX_VALUE), PMIX_PROC_CPUSET, 0, 1 } },
    { "an info as a value",
      PMIX_VALUE,
      PMIX_ERR_UNPACK_FAILURE,
      40,
      { HEAD(PMIX_VALUE), PMIX_INFO, 0 } },
    { "half present",
      PMIX_VALUE,
      PMIX_ERR_UNPACK_FAILURE,
      40,
      { HEAD(PMIX_VALUE), PMIX_PROC, 0, 2 } },
    { "an info whose value is somebody else's",
      PMIX_INFO,
      PMIX_ERR_UNPACK_FAILURE,
      21,
      { HEAD(PMIX_INFO), U64(1), 0, 0x10, 0, 0, 0, 0 } },
    { "elements of no type",
      PMIX_DATA_ARRAY,
      PMIX_ERR_UNPACK_FAILURE,
      24,
      { HEAD(PMIX_DATA_ARRAY), PMIX_UNDEF, 0, U64(1) } },
    { "no elements of no type",
      PMIX_DATA_ARRAY,
      PMIX_SUCCESS,
      16,
      { HEAD(PMIX_DATA_ARRAY), PMIX_UNDEF, 0, U64(0) } },
    { "no elements of an unknown type",
      PMIX_DATA_ARRAY,
      PMIX_ERR_UNPACK_FAILURE,
      16,
      { HEAD(PMIX_DATA_ARRAY), 0xff, 0, U64(0) } },
    { "an array of pointers",
      PMIX_DATA_ARRAY,
      PMIX_ERR_UNPACK_FAILURE,
      24,
      { HEAD(PMIX_DATA_ARRAY), PMIX_POINTER, 0, U64(1) } },
    { "an array of topologies that are not there",
      PMIX_DATA_ARRAY,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      24,
      { HEAD(PMIX_DATA_ARRAY), PMIX_TOPO, 0, U64(1) } },
    { "count times size overflows",
      PMIX_DATA_ARRAY,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      24,
      { HEAD(PMIX_DATA_ARRAY), PMIX_UINT64, 0, 1, 0, 0, 0, 0, 0, 0, 0x20 } },
    { "an argv of all lengths",
      PMIX_QUERY,
      PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
      22,
      { HEAD(PMIX_QUERY), MANY } },
    { "an argv with a NULL inside",
      PMIX_QUERY,
      PMIX_ERR_UNPACK_FAILURE,
      40,
      { HEAD(PMIX_QUERY), U64(2), U64(0) } },
    { "a foreign cpuset",
      PMIX_PROC_CPUSET,
      PMIX_ERR_UNPACK_FAILURE,
      26,
      { HEAD(PMIX_PROC_CPUSET), U64(2), 'x', 0, U64(2), '1', 0 } },
    { "a cpuset without a source",
      PMIX_PROC_CPUSET,
      PMIX_ERR_UNPACK_FAILURE,
      24,
      { HEAD(PMIX_PROC_CPUSET), U64(0), U64(2), '1', 0 } },
};

Test(pack, hostile_bytes_are_refused_before_memory_is_taken)
{
    for (size_t i = 0; i < SX_COUNT(hostile); i++) {
        cr_expect_eq(unpack_exact(hostile[i].bytes, hostile[i].size, hostile[i].type),
                     hostile[i].want, "%s", hostile[i].why);
    }
}

Test(pack, memory_taken_is_proportional_to_the_bytes_given)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        char zeros[1024] = { 0 };
        pmix_data_buffer_t b = buffer_null;

        if (!sample_is_element_type(type)) {
            continue;
        }
        cr_assert_eq(sx_pack(&b, zeros, 1, type), PMIX_SUCCESS);
        /* 6 bytes of head; the rest is the smallest element there is. */
        cr_assert_leq(sx_type_find(type)->size_bytes, SX_PACK_EXPANSION_MAX * (b.bytes_used - 6),
                      "type %u", type);
        buffer_free(&b);
    }
}

/* @depth arrays in each other around one number. */
static void nested_value(pmix_value_t *value, unsigned depth)
{
    int number = 7;

    sx_value_load(value, &number, PMIX_INT);
    for (unsigned i = 0; i < depth; i++) {
        pmix_data_array_t *array = calloc(1, sizeof(*array));
        pmix_value_t *inner = calloc(1, sizeof(*inner));

        *inner = *value;
        *array = (pmix_data_array_t){ .type = PMIX_VALUE, .size = 1, .array = inner };
        *value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    }
}

Test(pack, nesting_has_a_bound_on_both_sides)
{
    static const unsigned char level[] = { PMIX_DATA_ARRAY, 0, 1, PMIX_VALUE, 0, U64(1) };
    enum { LEVELS = 5000 };
    unsigned char *bytes = malloc(6 + LEVELS * sizeof(level) + 2);
    pmix_data_buffer_t b = buffer_null;
    pmix_value_t value, inner;

    nested_value(&value, SX_VALUE_DEPTH_MAX);
    round_trip(&value, 1, PMIX_VALUE);
    sx_value_destruct(&value);

    nested_value(&value, SX_VALUE_DEPTH_MAX + 1);
    cr_assert_eq(sx_pack(&b, &value, 1, PMIX_VALUE), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(b.bytes_used, 0);
    buffer_free(&b);
    inner = *(pmix_value_t *)value.data.darray->array; /* no walk follows that deep */
    sx_value_destruct(&inner);
    free(value.data.darray->array);
    free(value.data.darray);

    memcpy(bytes, (const unsigned char[]){ HEAD(PMIX_VALUE) }, 6);
    for (size_t i = 0; i < LEVELS; i++) {
        memcpy(bytes + 6 + i * sizeof(level), level, sizeof(level));
    }
    memset(bytes + 6 + LEVELS * sizeof(level), 0, 2);
    cr_assert_eq(unpack_exact(bytes, 6 + LEVELS * sizeof(level) + 2, PMIX_VALUE),
                 PMIX_ERR_UNPACK_FAILURE);
    free(bytes);
}

static pmix_proc_t unterminated;
static pmix_data_buffer_t unsound = { .bytes_used = 1 };
static pmix_data_array_t null_array = { .type = PMIX_INT, .size = 3 };
static pmix_data_array_t no_type = { .type = 499 };
static pmix_byte_object_t null_bytes = { .size = 9 };
static pmix_value_t values[] = {
    { .type = PMIX_POINTER },
    { .type = PMIX_TOPO },
    { .type = PMIX_INFO },
    { .type = 499 },
};
static pmix_app_t null_infos = { .ninfo = 2 };
static pmix_cpuset_t foreign = { .source = (char *)"foreign", .bitmap = &values };

static const struct {
    const char *why;
    const void *src;
    size_t count;
    pmix_data_type_t type;
    pmix_status_t want;
} bad[] = {
    { "no source", NULL, 1, PMIX_INT, PMIX_ERR_BAD_PARAM },
    { "no type", &bad, 1, PMIX_UNDEF, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "an unknown type", &bad, 1, 499, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "a pointer", &bad, 1, PMIX_POINTER, PMIX_ERR_NOT_SUPPORTED },
    { "too many", &bad, (size_t)INT32_MAX + 1, PMIX_BYTE, PMIX_ERR_BAD_PARAM },
    { "an unterminated name", &unterminated, 1, PMIX_PROC, PMIX_ERR_BAD_PARAM },
    { "a NULL array", &null_array, 1, PMIX_DATA_ARRAY, PMIX_ERR_BAD_PARAM },
    { "an array of an unknown type", &no_type, 1, PMIX_DATA_ARRAY, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "NULL infos", &null_infos, 1, PMIX_APP, PMIX_ERR_BAD_PARAM },
    { "NULL bytes", &null_bytes, 1, PMIX_BYTE_OBJECT, PMIX_ERR_BAD_PARAM },
    { "an unsound buffer", &unsound, 1, PMIX_DATA_BUFFER, PMIX_ERR_BAD_PARAM },
    { "a value that is a pointer", &values[0], 1, PMIX_VALUE, PMIX_ERR_NOT_SUPPORTED },
    { "a borrowed value", &values[1], 1, PMIX_VALUE, PMIX_ERR_NOT_SUPPORTED },
    { "an info in a value", &values[2], 1, PMIX_VALUE, PMIX_ERR_NOT_SUPPORTED },
    { "a value of an unknown type", &values[3], 1, PMIX_VALUE, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "a foreign cpuset", &foreign, 1, PMIX_PROC_CPUSET, PMIX_ERR_NOT_SUPPORTED },
};

Test(pack, what_cannot_be_packed_leaves_the_buffer_as_it_was)
{
    memset(&unterminated, 'x', sizeof(unterminated));
    for (size_t i = 0; i < SX_COUNT(bad); i++) {
        pmix_data_buffer_t b = buffer_null;
        uint8_t seven = 7, back = 0;
        size_t got;

        cr_expect_eq(sx_pack(&b, bad[i].src, bad[i].count, bad[i].type), bad[i].want, "%s",
                     bad[i].why);
        cr_expect(sx_buffer_is_sound(&b) && b.bytes_used == 0, "%s", bad[i].why);
        cr_assert_eq(sx_pack(&b, &seven, 1, PMIX_BYTE), PMIX_SUCCESS);
        cr_expect_eq(sx_pack(&b, bad[i].src, bad[i].count, bad[i].type), bad[i].want);
        cr_assert_eq(sx_unpack(&b, &back, 1, &got, PMIX_BYTE), PMIX_SUCCESS);
        cr_expect_eq(back, 7);
        cr_expect_eq(sx_buffer_rest(&b), 0, "%s", bad[i].why);
        buffer_free(&b);
    }
}

Test(pack, a_buffer_is_not_packed_into_itself)
{
    pmix_data_buffer_t b = buffer_null, twin;
    int number = 7;

    cr_assert_eq(sx_pack(&b, &number, 1, PMIX_INT), PMIX_SUCCESS);
    twin = b;
    cr_assert_eq(sx_pack(&b, &b, 1, PMIX_DATA_BUFFER), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_pack(&b, &twin, 1, PMIX_DATA_BUFFER), PMIX_ERR_BAD_PARAM);
    buffer_free(&b);
}

Test(pack, a_buffer_whose_fields_disagree_is_not_touched)
{
    char memory[64] = { 0 };
    const pmix_data_buffer_t odd[] = {
        { .bytes_used = 5 },
        { .pack_ptr = memory },
        { .unpack_ptr = memory },
        { .base_ptr = memory,
          .pack_ptr = memory + 9,
          .unpack_ptr = memory + 10,
          .bytes_used = 9,
          .bytes_allocated = 64 },
        { .base_ptr = memory,
          .pack_ptr = memory + 9,
          .unpack_ptr = memory,
          .bytes_used = 8,
          .bytes_allocated = 64 },
        { .base_ptr = memory,
          .pack_ptr = memory + 9,
          .unpack_ptr = memory,
          .bytes_used = 9,
          .bytes_allocated = 8 },
        { .base_ptr = memory + 8,
          .pack_ptr = memory + 16,
          .unpack_ptr = memory,
          .bytes_used = 8,
          .bytes_allocated = 8 },
        { .base_ptr = memory, .pack_ptr = memory + 9, .bytes_used = 9, .bytes_allocated = 64 },
    };

    for (size_t i = 0; i < SX_COUNT(odd); i++) {
        pmix_data_buffer_t b = odd[i];
        int number = 0;
        size_t got;

        cr_expect_eq(sx_pack(&b, &number, 1, PMIX_INT), PMIX_ERR_BAD_PARAM, "row %zu", i);
        cr_expect_eq(sx_unpack(&b, &number, 1, &got, PMIX_INT), PMIX_ERR_BAD_PARAM, "row %zu", i);
        cr_expect_eq(memcmp(&b, &odd[i], sizeof(b)), 0, "row %zu", i);
    }
}

Test(pack, a_growing_buffer_moves_a_logarithmic_number_of_times)
{
    pmix_data_buffer_t b = buffer_null;
    size_t moves = 0, allocated = 0, got;
    uint64_t back;

    for (uint64_t i = 0; i < 100000; i++) {
        cr_assert_eq(sx_pack(&b, &i, 1, PMIX_UINT64), PMIX_SUCCESS);
        moves += b.bytes_allocated != allocated;
        allocated = b.bytes_allocated;
    }
    cr_assert_leq(moves, 21, "%zu moves", moves);
    cr_assert_leq(b.bytes_allocated, 2 * b.bytes_used);
    for (uint64_t i = 0; i < 100000; i++) {
        cr_assert_eq(sx_unpack(&b, &back, 1, &got, PMIX_UINT64), PMIX_SUCCESS);
        cr_assert_eq(back, i);
    }
    cr_assert_eq(sx_buffer_reserve(&b, SIZE_MAX), PMIX_ERR_OUT_OF_RESOURCE);
    cr_assert_eq(sx_buffer_reserve(&b, PTRDIFF_MAX), PMIX_ERR_OUT_OF_RESOURCE);
    buffer_free(&b);
}
