/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_decode_test.c - what was encoded comes back; what was not is refused, whatever it is.
 *
 * Run under AddressSanitizer these tests also show that no byte outside the body is touched: each
 * body is a heap block of exactly the size the decoder is told. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/flat.h"
#include "base/value/flat_layout.h"
#include "base/value/value.h"

#include "../samples.h"

struct flat {
    struct sx_cell cell;
    uint8_t *body;
    size_t size;
};

static struct flat flat_of(const pmix_value_t *value)
{
    struct flat flat = { .body = NULL };

    cr_assert_eq(sx_flat_size(value, &flat.size), PMIX_SUCCESS, "type %u", value->type);
    cr_assert_eq(flat.size % 8, 0);
    flat.body = malloc(flat.size + 1);
    memset(flat.body, 0xa5, flat.size + 1);
    cr_assert_eq(sx_flat_encode(value, &flat.cell, flat.body, flat.size), PMIX_SUCCESS);
    cr_assert_eq(flat.body[flat.size], 0xa5, "an encoder stays inside");
    cr_assert(flat.cell.len <= flat.size && flat.size < (size_t)flat.cell.len + 8);
    return flat;
}

/* The check in steps of so many looks. */
static pmix_status_t check_in_steps(const struct flat *flat, const uint8_t *body, size_t size,
                                    uint64_t looks, unsigned *ret_steps)
{
    struct sx_flat_checker *checker = sx_flat_checker_new(&flat->cell, body, size, UINT64_MAX);
    pmix_status_t rc;

    cr_assert_not_null(checker);
    *ret_steps = 0;
    do {
        uint64_t left = looks;

        rc = sx_flat_checker_step(checker, &left);
        cr_assert_leq(left, looks);
        ++*ret_steps;
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    sx_flat_checker_free(checker);
    return rc;
}

/* A copy in a block without a byte to spare. */
static pmix_status_t decode_exact(const struct flat *flat, size_t size, pmix_value_t *ret)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    pmix_status_t rc, checked, stepped;
    unsigned steps;

    memcpy(exact, flat->body, size);
    rc = sx_flat_decode(ret, &flat->cell, exact, size);
    checked = sx_flat_check(&flat->cell, exact, size);
    stepped = check_in_steps(flat, exact, size, 2, &steps);
    free(exact);
    cr_assert_eq(rc, checked, "check and decode agree: %d %d", rc, checked);
    cr_assert_eq(rc, stepped, "a check in steps agrees: %d %d", rc, stepped);
    cr_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_UNPACK_FAILURE, "status %d", rc);
    if (rc != PMIX_SUCCESS) {
        cr_assert_eq(ret->type, PMIX_UNDEF);
    }
    return rc;
}

static void round_trip(const pmix_value_t *value)
{
    struct flat flat = flat_of(value), again;
    pmix_value_t back;
    int order;

    cr_assert_eq(decode_exact(&flat, flat.cell.len, &back), PMIX_SUCCESS, "type %u", value->type);
    order = sx_value_compare(value, &back);
    cr_assert_eq(order, 0, "type %u, %zu bytes, order %d", value->type, flat.size, order);
    again = flat_of(&back);
    cr_assert_eq(flat.size, again.size);
    cr_assert_eq(memcmp(flat.body, again.body, flat.size), 0, "one encoding for one value");
    sx_value_destruct(&back);
    free(flat.body);
    free(again.body);
}

Test(flat, every_type_survives_the_round_trip)
{
    unsigned tried = 0;

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 90; seed++, tried++) {
            pmix_value_t value;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            round_trip(&value);
            sx_value_destruct(&value);
        }
    }
    cr_assert_gt(tried, 50u * 90u);
}

/* TQ87 */
Test(flat, arrays_of_every_type_survive_the_round_trip)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_element_type(type) && seed < 30; seed++) {
            pmix_value_t value;

            sample_array_value(&value, type, seed % 5, seed);
            round_trip(&value);
            sx_value_destruct(&value);
        }
    }
}

Test(flat, absent_things_stay_absent)
{
    pmix_value_t value, back;
    struct flat flat;

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        if (!sx_flat_has_body(type)) {
            continue;
        }
        if (sx_type_find(type)->kind == SX_TYPE_STRUCT &&
            sx_type_find(type)->in_value == SX_WHERE_UNION) {
            continue; /* lies in the union, cannot be absent */
        }
        if (sx_type_find(type)->kind == SX_TYPE_PLAIN &&
            sx_type_find(type)->in_value == SX_WHERE_UNION) {
            continue;
        }
        memset(&value, 0, sizeof(value));
        value.type = type;
        flat = flat_of(&value);
        cr_assert_eq(flat.size, 0);
        cr_assert_eq(flat.cell.flags, SX_CELL_NULL);
        flat.cell.bits = 4711; /* a container may write what it likes there */
        flat.cell.flags |= 2u << SX_CELL_SCOPE_SHIFT;
        cr_assert_eq(sx_flat_decode(&back, &flat.cell, NULL, 0), PMIX_SUCCESS);
        cr_assert_eq(back.type, type);
        cr_assert_null(back.data.ptr);
        sx_value_destruct(&back);
        free(flat.body);
    }
}

/* Values with everything in them: names, strings, arrays in arrays, byte objects. */
static void rich_value(pmix_value_t *value, unsigned which)
{
    static const pmix_data_type_t types[] = {
        PMIX_INFO,  PMIX_APP,        PMIX_PROC_INFO,  PMIX_REGATTR,
        PMIX_PDATA, PMIX_NODE_STATS, PMIX_GEOMETRY,   PMIX_ENDPOINT,
        PMIX_PROC,  PMIX_BOOL,       PMIX_DATA_ARRAY, PMIX_STRING,
    };

    sample_array_value(value, types[which % SX_COUNT(types)], 4, 12 + which);
}

#define RICH_COUNT 24

Test(flat, no_prefix_is_a_value)
{
    for (unsigned which = 0; which < RICH_COUNT; which++) {
        pmix_value_t value, back;
        struct flat flat;

        rich_value(&value, which);
        flat = flat_of(&value);
        for (size_t size = 0; size < flat.cell.len; size++) {
            cr_assert_neq(decode_exact(&flat, size, &back), PMIX_SUCCESS);
        }
        /* nor is it one when the cell is cut to the same length */
        for (uint32_t len = 0; len < flat.cell.len; len++) {
            struct flat cut = flat;

            cut.cell.len = len;
            cr_assert_neq(decode_exact(&cut, len, &back), PMIX_SUCCESS, "len %u of %u", len,
                          flat.cell.len);
        }
        sx_value_destruct(&value);
        free(flat.body);
    }
}

Test(flat, a_changed_byte_is_an_error_or_another_value)
{
    static const uint8_t masks[] = { 0x01, 0x04, 0x08, 0x10, 0x80, 0xff };
    unsigned refused = 0;

    for (unsigned which = 0; which < RICH_COUNT; which++) {
        pmix_value_t value, back;
        struct flat flat;

        rich_value(&value, which);
        flat = flat_of(&value);
        for (size_t i = 0; i < flat.cell.len; i++) {
            for (size_t j = 0; j < SX_COUNT(masks); j++) {
                flat.body[i] ^= masks[j];
                if (decode_exact(&flat, flat.cell.len, &back) == PMIX_SUCCESS) {
                    size_t size;

                    /* it is a value in every respect */
                    cr_assert_eq(sx_flat_size(&back, &size), PMIX_SUCCESS);
                    free(sx_value_print(&back));
                    sx_value_destruct(&back);
                } else {
                    refused++;
                }
                flat.body[i] ^= masks[j];
            }
        }
        sx_value_destruct(&value);
        free(flat.body);
    }
    cr_assert_gt(refused, 1000u);
}

Test(flat, a_changed_cell_is_an_error_or_another_value)
{
    for (unsigned which = 0; which < RICH_COUNT; which++) {
        pmix_value_t value, back;
        struct flat flat, changed;

        rich_value(&value, which);
        flat = flat_of(&value);
        for (unsigned type = 0; type <= SAMPLE_TYPES; type++) {
            for (uint16_t flags = 0; flags < 4; flags++) {
                changed = flat;
                changed.cell.type = (uint16_t)type;
                changed.cell.flags = flags;
                if (decode_exact(&changed, flat.cell.len, &back) == PMIX_SUCCESS) {
                    sx_value_destruct(&back);
                }
            }
        }
        sx_value_destruct(&value);
        free(flat.body);
    }
}

Test(flat, random_bytes_are_never_trusted)
{
    uint64_t state = 42;

    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[96];
        struct flat flat = { .body = bytes, .size = sizeof(bytes) };
        pmix_value_t back;

        for (size_t i = 0; i < sizeof(bytes); i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[i] = (state >> 60) < 11 ? 0 : (uint8_t)(state >> 33);
        }
        bytes[0] = (uint8_t)(round % 80); /* a type that has a chance, a count that fits */
        memset(bytes + 1, 0, 15);
        bytes[8] = (uint8_t)(round % 3);
        flat.cell.type = round % 2 ? PMIX_DATA_ARRAY : bytes[0];
        flat.cell.len = (round / 80) % 2 ? sizeof(bytes) : 16 + 8 * (round % 11);
        if (decode_exact(&flat, flat.cell.len, &back) == PMIX_SUCCESS) {
            sx_value_destruct(&back);
        }
    }
}

static const struct {
    const char *why;
    uint16_t type;
    uint64_t count;
    uint32_t len;
    pmix_status_t want;
} rows[] = {
    { "empty array", PMIX_INT, 0, 16, PMIX_SUCCESS },
    { "two numbers fill a word", PMIX_INT, 2, 24, PMIX_SUCCESS },
    { "a word too many", PMIX_INT, 2, 32, PMIX_ERR_UNPACK_FAILURE },
    { "one number more than fits", PMIX_INT, 3, 24, PMIX_ERR_UNPACK_FAILURE },
    { "count times size overflows to 0", PMIX_UINT64, UINT64_C(1) << 61, 24,
      PMIX_ERR_UNPACK_FAILURE },
    { "count times size overflows to the right size", PMIX_UINT64, (UINT64_C(1) << 61) + 1, 24,
      PMIX_ERR_UNPACK_FAILURE },
    { "count of all ones", PMIX_BYTE, UINT64_MAX, 24, PMIX_ERR_UNPACK_FAILURE },
    { "count of all ones, structs", PMIX_INFO, UINT64_MAX, 64, PMIX_ERR_UNPACK_FAILURE },
    { "unknown type", 499, 1, 24, PMIX_ERR_UNPACK_FAILURE },
    { "unknown type, no elements", 499, 0, 16, PMIX_ERR_UNPACK_FAILURE },
    { "no type, no elements", PMIX_UNDEF, 0, 16, PMIX_SUCCESS },
    { "no type, an element", PMIX_UNDEF, 1, 24, PMIX_ERR_UNPACK_FAILURE },
    { "pointers", PMIX_POINTER, 1, 24, PMIX_ERR_UNPACK_FAILURE },
    { "cpusets", PMIX_PROC_CPUSET, 1, 48, PMIX_ERR_UNPACK_FAILURE },
    { "no room for the head", PMIX_INT, 0, 8, PMIX_ERR_UNPACK_FAILURE },
    { "length is no multiple of 8", PMIX_BYTE, 3, 19, PMIX_ERR_UNPACK_FAILURE },
};

Test(flat, a_record_is_refused_unless_it_fits_exactly)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_flat_record head = { .type = rows[i].type, .count = rows[i].count };
        const struct sx_cell cell = { .type = PMIX_DATA_ARRAY, .len = rows[i].len };
        uint8_t bytes[64] = { 0 };
        pmix_value_t back;

        memcpy(bytes, &head, sizeof(head));
        cr_expect_eq(sx_flat_check(&cell, bytes, sizeof(bytes)), rows[i].want, "%s", rows[i].why);
        cr_expect_eq(sx_flat_decode(&back, &cell, bytes, sizeof(bytes)), rows[i].want, "%s",
                     rows[i].why);
        sx_value_destruct(&back);
    }
}

Test(flat, two_cells_may_not_share_a_body)
{
    char *strings[2] = { "same", "same" };
    pmix_data_array_t array = { .type = PMIX_STRING, .size = 2, .array = strings };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    struct flat flat = flat_of(&value);
    pmix_value_t back;

    cr_assert_eq(sx_flat_check(&flat.cell, flat.body, flat.size), PMIX_SUCCESS);
    memcpy(flat.body + 32, flat.body + 16, 16); /* the second cell is now the first */
    cr_assert_eq(decode_exact(&flat, flat.cell.len, &back), PMIX_ERR_UNPACK_FAILURE);
    free(flat.body);
}

Test(flat, a_scalar_cell_holds_nothing_else)
{
    pmix_value_t back;
    struct sx_cell cell = { .type = PMIX_UINT16, .bits = 0xffff };

    cr_assert_eq(sx_flat_decode(&back, &cell, NULL, 0), PMIX_SUCCESS);
    cr_assert_eq(back.data.uint16, 0xffff);
    cell.bits = 0x10000;
    cr_assert_eq(sx_flat_check(&cell, NULL, 0), PMIX_ERR_UNPACK_FAILURE);
    cell = (struct sx_cell){ .type = PMIX_BOOL, .bits = 2 };
    cr_assert_eq(sx_flat_check(&cell, NULL, 0), PMIX_ERR_UNPACK_FAILURE);
    cell = (struct sx_cell){ .type = PMIX_POINTER, .bits = 2 };
    cr_assert_eq(sx_flat_check(&cell, NULL, 0), PMIX_ERR_UNPACK_FAILURE);
    cell = (struct sx_cell){ .type = PMIX_INFO };
    cr_assert_eq(sx_flat_check(&cell, NULL, 0), PMIX_ERR_UNPACK_FAILURE);
}

Test(flat, an_unterminated_name_never_gets_in)
{
    pmix_proc_t proc;
    pmix_value_t value = { .type = PMIX_PROC, .data.proc = &proc }, back;
    struct flat flat;

    memset(&proc, 'x', sizeof(proc));
    cr_assert_eq(sx_flat_size(&value, &flat.size), PMIX_ERR_BAD_PARAM);
    proc.nspace[PMIX_MAX_NSLEN] = '\0';
    flat = flat_of(&value);
    cr_assert_eq(decode_exact(&flat, flat.cell.len, &back), PMIX_SUCCESS);
    sx_value_destruct(&back);
    flat.body[16 + PMIX_MAX_NSLEN] = 'x';
    cr_assert_eq(decode_exact(&flat, flat.cell.len, &back), PMIX_ERR_UNPACK_FAILURE);
    free(flat.body);
}

/* @depth arrays in each other around one number. */
static void nested_value(pmix_value_t *value, unsigned depth)
{
    int number = 7;

    sx_value_load(value, &number, PMIX_INT);
    for (unsigned i = 0; i < depth; i++) {
        pmix_data_array_t *array = calloc(1, sizeof(*array));
        pmix_info_t *info = calloc(1, sizeof(*info));

        strcpy(info->key, "nested");
        info->value = *value;
        *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = 1, .array = info };
        *value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    }
}

Test(flat, nesting_has_a_bound_on_both_sides)
{
    pmix_value_t value, back;
    struct flat flat;
    size_t size;

    nested_value(&value, SX_VALUE_DEPTH_MAX);
    round_trip(&value);
    flat = flat_of(&value);
    sx_value_destruct(&value);

    nested_value(&value, SX_VALUE_DEPTH_MAX + 1);
    cr_assert_eq(sx_flat_size(&value, &size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_value_copy(&back, &value), PMIX_ERR_BAD_PARAM);
    /* One level is freed by hand, since no walk follows that deep. */
    back = ((pmix_info_t *)value.data.darray->array)->value;
    sx_value_destruct(&back);
    free(value.data.darray->array);
    free(value.data.darray);
    free(flat.body);
}

Test(flat, deeper_bytes_than_any_encoder_writes_are_refused)
{
    /* Arrays of arrays: a head of 16 bytes and one cell a level. */
    enum { LEVELS = 5000, LEVEL_BYTES = 32 };
    uint8_t *bytes = calloc(LEVELS + 1, LEVEL_BYTES);
    const size_t total = (size_t)LEVELS * LEVEL_BYTES + 16;
    struct flat flat = { .body = bytes,
                         .size = total,
                         .cell = { .type = PMIX_DATA_ARRAY, .len = (uint32_t)total } };
    pmix_value_t back;

    for (size_t i = 0; i < LEVELS; i++) {
        const struct sx_flat_record head = { .type = PMIX_DATA_ARRAY, .count = 1 };
        const struct sx_cell cell = { .type = PMIX_DATA_ARRAY,
                                      .bits = (i + 1) * LEVEL_BYTES,
                                      .len = (uint32_t)(total - (i + 1) * LEVEL_BYTES) };

        memcpy(bytes + i * LEVEL_BYTES, &head, sizeof(head));
        memcpy(bytes + i * LEVEL_BYTES + 16, &cell, sizeof(cell));
    }
    cr_assert_eq(decode_exact(&flat, total, &back), PMIX_ERR_UNPACK_FAILURE);
    free(bytes);
}

/* The bound is met exactly, and the check says what the decoder says. */
Test(flat, what_bytes_unfold_to_has_a_bound)
{
    static char *const texts[] = { "one", "two" };
    pmix_data_array_t array = { .type = PMIX_STRING, .size = 2, .array = (void *)texts };
    const pmix_value_t values[] = {
        { .type = PMIX_STRING, .data.string = "text" },
        { .type = PMIX_DATA_ARRAY, .data.darray = &array },
    };
    /* What is allocated: the text; the array's head, two pointers, two texts of 4 bytes. */
    const uint64_t heap[] = {
        5 + SX_FLAT_ALLOCATION_BYTES,
        sizeof(array) + 2 * sizeof(char *) + 2 * 4 + 4 * SX_FLAT_ALLOCATION_BYTES,
    };

    for (size_t i = 0; i < 2; i++) {
        const struct flat flat = flat_of(&values[i]);
        pmix_value_t value;

        for (uint64_t less = 0; less < 2; less++) {
            const pmix_status_t want = less == 0 ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

            cr_expect_eq(sx_flat_check_within(&flat.cell, flat.body, flat.size, heap[i] - less),
                         want, "value %zu", i);
            cr_expect_eq(sx_flat_decode_within(&value, &flat.cell, flat.body, flat.size,
                                               heap[i] - less),
                         want, "value %zu", i);
            PMIX_VALUE_DESTRUCT(&value);
        }
        free(flat.body);
    }
}

#define LONG_ELEMENTS 100000u
#define LONG_LOOKS 1000u

static const struct {
    const char *why;
    pmix_data_type_t type; /* of the elements */
    size_t element_bytes;
    unsigned per_look;
} long_rows[] = {
    { "values", PMIX_VALUE, sizeof(pmix_value_t), 1 },
    { "strings", PMIX_STRING, sizeof(char *), 1 },
    { "infos", PMIX_INFO, sizeof(pmix_info_t), 1 },
    { "processes, with their names", PMIX_PROC, sizeof(pmix_proc_t), 1 },
    { "bools", PMIX_BOOL, sizeof(bool), 64 },
};

/* The time of a step depends on its looks alone, not on the length of the value. */
Test(flat, a_check_in_steps_looks_at_no_more_than_it_may)
{
    for (size_t i = 0; i < SX_COUNT(long_rows); i++) {
        void *const elements = calloc(LONG_ELEMENTS, long_rows[i].element_bytes);
        pmix_data_array_t array = { long_rows[i].type, LONG_ELEMENTS, elements };
        const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
        struct flat flat = flat_of(&value);
        unsigned steps;

        cr_assert_eq(check_in_steps(&flat, flat.body, flat.size, LONG_LOOKS, &steps), PMIX_SUCCESS);
        cr_expect_geq(steps, LONG_ELEMENTS / long_rows[i].per_look / LONG_LOOKS, "%s: %u steps",
                      long_rows[i].why, steps);
        free(flat.body);
        free(elements);
    }
}

Test(flat, a_long_text_is_checked_in_steps)
{
    const size_t size = 64 * LONG_LOOKS * 10;
    char *const text = malloc(size);
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    unsigned steps;

    memset(text, 'x', size);
    text[size - 1] = '\0';
    struct flat flat = flat_of(&value);
    cr_assert_eq(check_in_steps(&flat, flat.body, flat.size, LONG_LOOKS, &steps), PMIX_SUCCESS);
    cr_expect(steps >= 9 && steps <= 12, "%u steps", steps);
    flat.body[size - 2] = '\0';
    cr_assert_eq(check_in_steps(&flat, flat.body, flat.size, LONG_LOOKS, &steps),
                 PMIX_ERR_UNPACK_FAILURE);
    free(flat.body);
    free(text);
}

/* @value as the first of three infos; its own part becomes what it would be alone. */
static void first_moves(const pmix_value_t *value)
{
    pmix_info_t infos[3] = { { .key = "first", .value = *value }, { .key = "second" } };
    pmix_data_array_t array = { PMIX_INFO, SX_COUNT(infos), infos };
    const pmix_value_t all = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    struct sx_flat_first first;
    pmix_info_t *rest;
    char text[] = "a qualifier";

    infos[1].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    memcpy(infos[2].key, "third", sizeof("third"));
    infos[2].value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = 3 };
    struct flat flat = flat_of(&all), alone = flat_of(value);

    cr_assert(sx_flat_infos_first(&first, &flat.cell, flat.body));
    cr_assert_eq(first.count, SX_COUNT(infos));
    cr_assert_eq(sx_flat_infos_rest(&first, flat.body, &rest), PMIX_SUCCESS);
    cr_expect_str_eq(rest[0].key, "first");
    cr_expect_eq(rest[0].value.type, PMIX_UNDEF);
    for (size_t i = 1; i < SX_COUNT(infos); i++) {
        cr_expect_str_eq(rest[i].key, infos[i].key);
        cr_expect_eq(sx_value_compare(&rest[i].value, &infos[i].value), 0);
    }
    PMIX_INFO_FREE(rest, SX_COUNT(infos));

    struct sx_flat_checker *mover = sx_flat_mover_new(&first, flat.body + first.off);
    uint64_t looks = 2;

    cr_assert_not_null(mover);
    while (sx_flat_checker_step(mover, &looks) == PMIX_ERR_WOULD_BLOCK) {
        looks = 2;
    }
    sx_flat_checker_free(mover);
    cr_expect_eq(memcmp(&first.value, &alone.cell, sizeof(alone.cell)), 0, "type %u", value->type);
    cr_expect_eq(memcmp(flat.body + first.off, alone.body, alone.size), 0, "type %u", value->type);
    free(flat.body);
    free(alone.body);
}

Test(flat, the_first_of_some_infos_can_be_a_value_of_its_own)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 30; seed++) {
            pmix_value_t value;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            first_moves(&value);
            sx_value_destruct(&value);
        }
    }
}

/* TQ85: over the wire as well. */
Test(flat, infos_travel_as_one_block)
{
    pmix_info_t *infos = sample_array(PMIX_INFO, 5, 3, SAMPLE_DEPTH), *back;
    size_t size, count;
    uint8_t *block;

    infos[1].flags = PMIX_INFO_REQD | PMIX_INFO_PERSISTENT;
    cr_assert_eq(sx_flat_infos_size(infos, 5, &size), PMIX_SUCCESS);
    block = aligned_alloc(8, size);
    cr_assert_eq(sx_flat_infos_encode(infos, 5, block, size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(infos, 4, block, size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_flat_infos_encode(infos, 5, block, size - 8), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(sx_flat_infos_encode(infos, 5, block, size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_decode(block, size, &back, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 5);
    cr_assert_str_eq(back[4].key, infos[4].key);
    cr_assert_eq(back[1].flags, PMIX_INFO_REQD, "a copy owns its value");
    for (size_t cut = 0; cut < size; cut++) {
        pmix_info_t *none;
        size_t nnone;

        cr_assert_eq(sx_flat_infos_decode(block, cut, &none, &nnone), PMIX_ERR_UNPACK_FAILURE);
    }
    sx_elements_destruct(back, count, PMIX_INFO);
    free(back);
    infos[1].flags = 0;
    sx_elements_destruct(infos, 5, PMIX_INFO);
    free(infos);
    free(block);
}

Test(flat, no_infos_are_a_bare_cell)
{
    _Alignas(8) uint8_t block[16];
    pmix_info_t *back = (pmix_info_t *)block;
    size_t size, count = 1;

    cr_assert_eq(sx_flat_infos_size(NULL, 0, &size), PMIX_SUCCESS);
    cr_assert_eq(size, sizeof(block));
    cr_assert_eq(sx_flat_infos_encode(NULL, 0, block, size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_decode(block, size, &back, &count), PMIX_SUCCESS);
    cr_assert_null(back);
    cr_assert_eq(count, 0);
    cr_assert_eq(sx_flat_infos_size(NULL, 1, &size), PMIX_ERR_BAD_PARAM);
    block[0] = PMIX_INT;
    cr_assert_eq(sx_flat_infos_decode(block, size, &back, &count), PMIX_ERR_UNPACK_FAILURE);
}

/* Strings and bytes are pointed at where they lie; what needs memory of its own is for the
 * decoder. */
Test(flat, infos_are_borrowed_when_they_need_no_memory)
{
    static char text[] = "some text", bytes[] = "12345";
    pmix_proc_t proc = { .nspace = "job", .rank = 3 };
    pmix_info_t infos[] = {
        { .key = "number", .value = { .type = PMIX_UINT32, .data.uint32 = 7 } },
        { .key = "text", .value = { .type = PMIX_STRING, .data.string = text } },
        { .key = "bytes",
          .value = { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = bytes, .size = 5 } } },
        { .key = "proc", .value = { .type = PMIX_PROC, .data.proc = &proc } },
    };
    pmix_info_t got[3];
    _Alignas(8) uint8_t block[1024];
    size_t size, count;

    cr_assert_eq(sx_flat_infos_size(infos, 3, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(block));
    cr_assert_eq(sx_flat_infos_encode(infos, 3, block, size), PMIX_SUCCESS);
    cr_expect_not(sx_flat_infos_borrow(block, size, got, 2, &count));
    cr_expect_eq(count, 3, "the room that it takes");
    memset(got, 0xff, sizeof(got));
    cr_assert(sx_flat_infos_borrow(block, size, got, 3, &count));
    cr_expect_eq(count, 3);
    cr_expect_str_eq(got[1].key, "text");
    cr_expect_eq(got[0].value.data.uint32, 7u);
    cr_expect_str_eq(got[1].value.data.string, text);
    cr_expect((uint8_t *)got[1].value.data.string > block &&
              (uint8_t *)got[1].value.data.string < block + size);
    cr_expect_eq(got[2].value.data.bo.size, 5u);
    cr_expect_eq(memcmp(got[2].value.data.bo.bytes, bytes, 5), 0);
    for (size_t cut = 0; cut < size; cut++) {
        cr_expect_not(sx_flat_infos_borrow(block, cut, got, 3, &count));
    }
    cr_assert_eq(sx_flat_infos_size(&infos[3], 1, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(&infos[3], 1, block, size), PMIX_SUCCESS);
    cr_expect_not(sx_flat_infos_borrow(block, size, got, 3, &count), "a process is allocated");
}
