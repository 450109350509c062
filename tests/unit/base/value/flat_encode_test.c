/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_encode_test.c - the flat format byte by byte, and what has no flat form. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/flat.h"
#include "base/value/value.h"

#include "../samples.h"

#define BODY_MAX 256

static void expect_flat(const char *why, const pmix_value_t *value, struct sx_cell want,
                        const void *bytes, size_t size)
{
    _Alignas(8) uint8_t body[BODY_MAX];
    struct sx_cell cell;
    size_t got;

    cr_assert_eq(sx_flat_size(value, &got), PMIX_SUCCESS, "%s", why);
    cr_assert_eq(got, size, "%s: %zu bytes, not %zu", why, got, size);
    memset(body, 0xee, sizeof(body));
    cr_assert_eq(sx_flat_encode(value, &cell, body, got), PMIX_SUCCESS, "%s", why);
    cr_expect_eq(cell.type, want.type, "%s: type", why);
    cr_expect_eq(cell.flags, want.flags, "%s: flags", why);
    cr_expect_eq(cell.len, want.len, "%s: len %u", why, cell.len);
    cr_expect_eq(cell.bits, want.bits, "%s: bits %llx", why, (unsigned long long)cell.bits);
    cr_expect_eq(memcmp(body, bytes, size), 0, "%s: body", why);
}

Test(flat_encode, scalars_lie_in_the_cell)
{
    pmix_value_t value = { .type = PMIX_UNDEF };

    expect_flat("undef", &value, (struct sx_cell){ .type = PMIX_UNDEF }, "", 0);
    value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = 7 };
    expect_flat("uint32", &value, (struct sx_cell){ .type = PMIX_UINT32, .bits = 7 }, "", 0);
    memset(&value, 0xff, sizeof(value)); /* bytes beside the member do not get out */
    value.type = PMIX_INT16;
    value.data.int16 = -2;
    expect_flat("int16", &value, (struct sx_cell){ .type = PMIX_INT16, .bits = 0xfffe }, "", 0);
    value.type = PMIX_BOOL;
    memset(&value.data, 0xff, sizeof(value.data));
    expect_flat("bool", &value, (struct sx_cell){ .type = PMIX_BOOL, .bits = 1 }, "", 0);
    value = (pmix_value_t){ .type = PMIX_DOUBLE, .data.dval = 1.0 };
    expect_flat("double", &value,
                (struct sx_cell){ .type = PMIX_DOUBLE, .bits = UINT64_C(0x3ff0000000000000) }, "",
                0);
}

Test(flat_encode, strings_keep_their_nul_and_are_padded)
{
    char seven[] = "1234567", eight[] = "12345678", none[] = "";
    pmix_value_t value = { .type = PMIX_STRING, .data.string = seven };

    expect_flat("7", &value, (struct sx_cell){ .type = PMIX_STRING, .len = 8 }, "1234567", 8);
    value.data.string = eight;
    expect_flat("8", &value, (struct sx_cell){ .type = PMIX_STRING, .len = 9 },
                "12345678\0\0\0\0\0\0\0", 16);
    value.data.string = none;
    expect_flat("0", &value, (struct sx_cell){ .type = PMIX_STRING, .len = 1 }, "\0\0\0\0\0\0\0",
                8);
    value.data.string = NULL;
    expect_flat("NULL", &value, (struct sx_cell){ .type = PMIX_STRING, .flags = SX_CELL_NULL }, "",
                0);
    value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = seven, .size = 3 } };
    expect_flat("bytes", &value, (struct sx_cell){ .type = PMIX_BYTE_OBJECT, .len = 3 },
                "123\0\0\0\0", 8);
    value.data.bo.size = 0;
    expect_flat("no bytes", &value,
                (struct sx_cell){ .type = PMIX_BYTE_OBJECT, .flags = SX_CELL_NULL }, "", 0);
}

Test(flat_encode, an_array_is_a_head_and_its_elements)
{
    uint16_t numbers[3] = { 0x1122, 0x3344, 0x5566 };
    char ab[] = "ab", *strings[2] = { ab, NULL };
    pmix_data_array_t array = { .type = PMIX_UINT16, .size = 3, .array = numbers };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    static const uint8_t want_numbers[] = {
        PMIX_UINT16, 0,    0,    0,    0,    0,    0, 0,
        3,           0,    0,    0,    0,    0,    0, 0, /* type, zero, count */
        0x22,        0x11, 0x44, 0x33, 0x66, 0x55, 0, 0,
    };
    static const uint8_t want_strings[] = {
        PMIX_STRING, 0,           0,
        0,           0,           0,
        0,           0,           2,
        0,           0,           0,
        0,           0,           0,
        0,           PMIX_STRING, 0,
        0,           0,           3,
        0,           0,           0,
        48,          0,           0,
        0,           0,           0,
        0,           0, /* cell: 3 bytes at 48 */
        PMIX_STRING, 0,           SX_CELL_NULL,
        0,           0,           0,
        0,           0,           0,
        0,           0,           0,
        0,           0,           0,
        0,           'a',         'b',
        0,           0,           0,
        0,           0,           0,
    };
    static const uint8_t want_empty[] = { PMIX_INFO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

    expect_flat("numbers", &value, (struct sx_cell){ .type = PMIX_DATA_ARRAY, .len = 24 },
                want_numbers, sizeof(want_numbers));
    array = (pmix_data_array_t){ .type = PMIX_STRING, .size = 2, .array = strings };
    expect_flat("strings", &value, (struct sx_cell){ .type = PMIX_DATA_ARRAY, .len = 56 },
                want_strings, sizeof(want_strings));
    array = (pmix_data_array_t){ .type = PMIX_INFO };
    expect_flat("empty", &value, (struct sx_cell){ .type = PMIX_DATA_ARRAY, .len = 16 }, want_empty,
                sizeof(want_empty));
    value.data.darray = NULL;
    expect_flat("NULL", &value, (struct sx_cell){ .type = PMIX_DATA_ARRAY, .flags = SX_CELL_NULL },
                "", 0);
}

Test(flat_encode, a_struct_is_an_array_of_one)
{
    char name[] = "PATH", text[] = "/bin";
    pmix_value_t value = { .type = PMIX_ENVAR,
                           .data.envar = { .envar = name, .value = text, .separator = ':' } };
    static const uint8_t want[] = {
        PMIX_ENVAR,  0,   0,   0,   0, 0, 0, 0, 1,   0,   0,   0,   0, 0, 0, 0,
        PMIX_STRING, 0,   0,   0,   5, 0, 0, 0, 56,  0,   0,   0,   0, 0, 0, 0,
        PMIX_STRING, 0,   0,   0,   5, 0, 0, 0, 64,  0,   0,   0,   0, 0, 0, 0,
        ':',         0,   0,   0,   0, 0, 0, 0, 'P', 'A', 'T', 'H', 0, 0, 0, 0,
        '/',         'b', 'i', 'n', 0, 0, 0, 0,
    };

    expect_flat("envar", &value, (struct sx_cell){ .type = PMIX_ENVAR, .len = sizeof(want) }, want,
                sizeof(want));
}

Test(flat_encode, an_info_is_its_key_flags_and_value)
{
    pmix_info_t info = { .key = "k", .flags = PMIX_INFO_REQD | PMIX_INFO_PERSISTENT };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &info };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    char text[] = "v";
    static const uint8_t want[] = {
        PMIX_INFO,   0, 0, 0, 0, 0, 0, 0, 1,   0, 0, 0, 0, 0, 0, 0,
        PMIX_STRING, 0, 0, 0, 2, 0, 0, 0, 56,  0, 0, 0, 0, 0, 0, 0, /* key */
        1,           0, 0, 0, 0, 0, 0, 0,                           /* flags */
        PMIX_STRING, 0, 0, 0, 2, 0, 0, 0, 64,  0, 0, 0, 0, 0, 0, 0, /* value */
        'k',         0, 0, 0, 0, 0, 0, 0, 'v', 0, 0, 0, 0, 0, 0, 0,
    };

    memset(info.key + 2, 'x', sizeof(info.key) - 3); /* rubbish behind the name stays here */
    info.value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    expect_flat("info", &value, (struct sx_cell){ .type = PMIX_DATA_ARRAY, .len = sizeof(want) },
                want, sizeof(want));
}

Test(flat_encode, a_proc_carries_nothing_behind_its_name)
{
    pmix_proc_t proc;
    pmix_value_t value = { .type = PMIX_PROC, .data.proc = &proc };
    uint8_t body[280];
    struct sx_cell cell;
    size_t size;

    memset(&proc, 'x', sizeof(proc));
    strcpy(proc.nspace, "job");
    proc.rank = 3;
    cr_assert_eq(sx_flat_size(&value, &size), PMIX_SUCCESS);
    cr_assert_eq(size, sizeof(body));
    cr_assert_eq(sx_flat_encode(&value, &cell, body, size), PMIX_SUCCESS);
    cr_assert_str_eq((char *)body + 16, "job");
    for (size_t i = 16 + 3; i < 16 + sizeof(pmix_nspace_t); i++) {
        cr_assert_eq(body[i], 0, "byte %zu", i);
    }
    cr_assert_eq(body[16 + 256], 3);
    cr_assert_eq(memcmp(body + 16 + 260, "\0\0\0\0", 4), 0);
}

static pmix_data_array_t array_null = { .type = PMIX_INT, .size = 1, .array = NULL };
static char one_byte[1];
static void *one_pointer[1];
static pmix_data_array_t array_pointers = { .type = PMIX_POINTER, .size = 1, .array = one_pointer };
static pmix_data_array_t array_unknown = { .type = 499, .size = 1, .array = one_byte };
static pmix_data_array_t array_huge = { .type = PMIX_BYTE, .size = UINT32_MAX, .array = one_byte };
static pmix_data_array_t array_overflow = { .type = PMIX_UINT64,
                                            .size = SIZE_MAX / 8,
                                            .array = one_byte };
static pmix_cpuset_t cpuset;

static const struct {
    const char *why;
    pmix_value_t value;
    pmix_status_t want;
} rows[] = {
    { "unknown type", { .type = 499 }, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "type without a C form", { .type = PMIX_BUFFER }, PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "pointer", { .type = PMIX_POINTER }, PMIX_ERR_NOT_SUPPORTED },
    { "cpuset", { .type = PMIX_PROC_CPUSET, .data.cpuset = &cpuset }, PMIX_ERR_NOT_SUPPORTED },
    { "topology", { .type = PMIX_TOPO }, PMIX_ERR_NOT_SUPPORTED },
    { "info as a value", { .type = PMIX_INFO }, PMIX_ERR_NOT_SUPPORTED },
    { "value as a value", { .type = PMIX_VALUE }, PMIX_ERR_NOT_SUPPORTED },
    { "bytes that are not there",
      { .type = PMIX_BYTE_OBJECT, .data.bo = { .size = 1 } },
      PMIX_ERR_BAD_PARAM },
    { "elements that are not there",
      { .type = PMIX_DATA_ARRAY, .data.darray = &array_null },
      PMIX_ERR_BAD_PARAM },
    { "array of pointers",
      { .type = PMIX_DATA_ARRAY, .data.darray = &array_pointers },
      PMIX_ERR_NOT_SUPPORTED },
    { "array of an unknown type",
      { .type = PMIX_DATA_ARRAY, .data.darray = &array_unknown },
      PMIX_ERR_UNKNOWN_DATA_TYPE },
    { "longer than a cell can say",
      { .type = PMIX_DATA_ARRAY, .data.darray = &array_huge },
      PMIX_ERR_OUT_OF_RESOURCE },
    { "size overflows",
      { .type = PMIX_DATA_ARRAY, .data.darray = &array_overflow },
      PMIX_ERR_OUT_OF_RESOURCE },
};

Test(flat_encode, what_has_no_flat_form_is_refused)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        size_t size = 4711;

        cr_expect_eq(sx_flat_size(&rows[i].value, &size), rows[i].want, "%s", rows[i].why);
        cr_expect_eq(size, 4711, "%s: outputs are written on success only", rows[i].why);
    }
}

Test(flat_encode, a_value_that_changed_since_it_was_measured_is_refused)
{
    char text[32] = "four";
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    _Alignas(8) uint8_t body[32];
    struct sx_cell cell;
    size_t size;

    cr_assert_eq(sx_flat_size(&value, &size), PMIX_SUCCESS);
    strcpy(text, "grown beyond a word");
    cr_assert_eq(sx_flat_encode(&value, &cell, body, size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_flat_size(&value, &size), PMIX_SUCCESS);
    strcpy(text, "four");
    cr_assert_eq(sx_flat_encode(&value, &cell, body, size), PMIX_ERR_BAD_PARAM);
}

Test(flat_encode, has_body_notifies_what_a_cell_cannot_hold)
{
    cr_assert(sx_flat_has_body(PMIX_STRING));
    cr_assert(sx_flat_has_body(PMIX_TIMEVAL));
    cr_assert(sx_flat_has_body(PMIX_PROC));
    cr_assert(sx_flat_has_body(PMIX_DATA_ARRAY));
    cr_assert(sx_flat_has_body(PMIX_ENVAR));
    cr_assert_not(sx_flat_has_body(PMIX_UINT64));
    cr_assert_not(sx_flat_has_body(PMIX_BOOL));
    cr_assert_not(sx_flat_has_body(PMIX_UNDEF));
    cr_assert_not(sx_flat_has_body(PMIX_POINTER));
    cr_assert_not(sx_flat_has_body(PMIX_INFO));
    cr_assert_not(sx_flat_has_body(499));
}

Test(flat_encode, what_is_borrowed_is_what_would_be_copied)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 30; seed++) {
            _Alignas(8) uint8_t body[65536];
            struct sx_cell cell, borrowed;
            const void *bytes;
            pmix_value_t value;
            size_t size;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            cr_assert_eq(sx_flat_size(&value, &size), PMIX_SUCCESS);
            cr_assert(size <= sizeof(body));
            cr_assert_eq(sx_flat_encode(&value, &cell, body, size), PMIX_SUCCESS);
            const unsigned kind = sx_type_find(type)->kind;

            cr_expect_eq(sx_flat_borrow(&value, &borrowed, &bytes),
                         (kind == SX_TYPE_STRING || kind == SX_TYPE_BYTES) && cell.len != 0,
                         "type %u seed %u", type, seed);
            if (sx_flat_borrow(&value, &borrowed, &bytes)) {
                cr_expect_eq(memcmp(&borrowed, &cell, sizeof(cell)), 0, "type %u", type);
                cr_expect_eq(memcmp(bytes, body, cell.len), 0, "type %u", type);
            }
            sx_value_destruct(&value);
        }
    }
}
