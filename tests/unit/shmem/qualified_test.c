/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* qualified_test.c - one key, several values: named by their qualifiers, put together again. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"
#include "shmem/nspace_read.h"
#include "shmem/qualified.h"
#include "shmem/store_layout.h"
#include "store_util.h"

static void number(pmix_info_t *info, const char *key, uint64_t value)
{
    cr_assert_eq(PMIx_Info_load(info, key, &value, PMIX_UINT64), PMIX_SUCCESS);
    PMIx_Info_qualifier(info);
}

static void name_of(char name[SX_QUALIFIED_NAME_LEN + 1], const char *key, const pmix_info_t *infos,
                    size_t count)
{
    cr_assert_eq(sx_qualified_name(key, strlen(key), infos, count, name), PMIX_SUCCESS);
    cr_assert_eq(strlen(name), SX_QUALIFIED_NAME_LEN);
}

/* What the names under rows of qualifiers have to do with that of {a: 1, b: 2}. */
Test(qualified, a_name_follows_from_the_key_and_the_marked_infos_in_any_order)
{
    char want[SX_QUALIFIED_NAME_LEN + 1], got[SX_QUALIFIED_NAME_LEN + 1];
    pmix_info_t infos[3];
    uint32_t narrow = 2;

    number(&infos[0], "a", 1);
    number(&infos[1], "b", 2);
    name_of(want, "key", infos, 2);
    number(&infos[0], "b", 2);
    number(&infos[1], "a", 1);
    name_of(got, "key", infos, 2);
    cr_expect_str_eq(got, want, "the order does not matter");
    number(&infos[2], "c", 3);
    infos[2].flags = 0;
    name_of(got, "key", infos, 3);
    cr_expect_str_eq(got, want, "what is not marked is a directive");
    name_of(got, "other", infos, 2);
    cr_expect_str_neq(got, want, "another key");
    name_of(got, "key", infos, 1);
    cr_expect_str_neq(got, want, "fewer");
    number(&infos[0], "b", 3);
    name_of(got, "key", infos, 2);
    cr_expect_str_neq(got, want, "another value");
    number(&infos[0], "a", 2);
    number(&infos[1], "b", 1);
    name_of(got, "key", infos, 2);
    cr_expect_str_neq(got, want, "values exchanged");
    cr_assert_eq(PMIx_Info_load(&infos[0], "b", &narrow, PMIX_UINT32), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[0]);
    number(&infos[1], "a", 1);
    name_of(got, "key", infos, 2);
    cr_expect_str_neq(got, want, "another type");
}

/* A qualifier that takes more than the stack has. */
Test(qualified, a_qualifier_may_be_long)
{
    char text[4096], one[SX_QUALIFIED_NAME_LEN + 1], other[SX_QUALIFIED_NAME_LEN + 1];
    pmix_info_t info;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_assert_eq(PMIx_Info_load(&info, "a", text, PMIX_STRING), PMIX_SUCCESS);
    PMIx_Info_qualifier(&info);
    name_of(one, "key", &info, 1);
    info.value.data.string[4000] = 'y';
    name_of(other, "key", &info, 1);
    cr_expect_str_neq(one, other);
    PMIx_Info_destruct(&info);
}

Test(qualified, what_is_none_is_refused)
{
    pmix_info_t infos[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    struct sx_qualified qualified;

    number(&infos[0], "key", 1);
    number(&infos[1], "a", 2);
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_SUCCESS);
    array.size = 1;
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "no qualifier");
    array.size = 2;
    array.type = PMIX_VALUE;
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "no infos");
    array.type = PMIX_INFO;
    array.array = NULL;
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "nothing");
    array.array = infos;
    infos[0].key[0] = '\0';
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "no key");
    memset(infos[1].key, 'x', sizeof(infos[1].key));
    infos[0].key[0] = 'k';
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "an endless key");
    value = (pmix_value_t){ .type = PMIX_UINT64 };
    cr_expect_eq(sx_qualified_read(&qualified, &value), PMIX_ERR_BAD_PARAM, "no array");
}

static void put(struct sx_store_writer *writer, uint32_t row, uint64_t primary, uint64_t qualifier)
{
    pmix_info_t infos[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    number(&infos[0], "key", primary);
    infos[0].flags = 0;
    number(&infos[1], "which", qualifier);
    cr_assert_eq(sx_qualified_put(writer, row, PMIX_GLOBAL, &value, NULL), PMIX_SUCCESS);
}

static void expect(const struct sx_store *store, uint32_t row, uint64_t qualifier, uint64_t want)
{
    char name[SX_QUALIFIED_NAME_LEN + 1];
    struct sx_item item;
    pmix_info_t info;

    number(&info, "which", qualifier);
    name_of(name, "key", &info, 1);
    cr_assert_eq(sx_store_find(store, SX_REALM_QUALIFIED, row, name, &item), PMIX_SUCCESS);
    cr_expect_eq(item.cell.bits, want);
    cr_expect_eq(sx_item_scope(&item), PMIX_GLOBAL);
}

Test(qualified, values_of_one_key_lie_side_by_side_and_come_back_whole)
{
    struct sx_store_writer writer;
    const struct sx_site site = { .shared = &writer.view };
    uint64_t columns, sum = 0;
    pmix_value_t value;

    test_store_create(&writer, 4, 0, true);
    for (uint32_t row = 0; row < 4; row++) {
        put(&writer, row, row + 100, 1);
        put(&writer, row, row + 200, 2);
    }
    put(&writer, 1, 301, 2); /* replaced */
    expect(&writer.view, 0, 1, 100);
    expect(&writer.view, 1, 1, 101);
    expect(&writer.view, 1, 2, 301);
    columns = atomic_load(&((const struct sx_store_header *)(const void *)(writer.view.seg.base +
                                                                           SX_SEGMENT_BODY_OFF))
                               ->column_count);
    cr_expect_eq(columns, 4u, "a column and a legend for each set, whatever the ranks");

    cr_assert_eq(test_put_text(&writer, 1, "plain", 24, 1), PMIX_SUCCESS);
    cr_assert_eq(sx_collect(&site, SX_REALM_JOB, 1, PMIX_SCOPE_UNDEF, &value), PMIX_SUCCESS);
    cr_assert_eq(value.data.darray->size, 3u);
    for (size_t i = 0; i < 3; i++) {
        const pmix_info_t *const info = (const pmix_info_t *)value.data.darray->array + i;

        if (strcmp(info->key, "plain") != 0) {
            cr_assert_str_eq(info->key, PMIX_QUALIFIED_VALUE);
            const pmix_info_t *const parts = info->value.data.darray->array;

            cr_assert_eq(info->value.data.darray->size, 2u);
            cr_expect_str_eq(parts[0].key, "key");
            cr_expect_eq(parts[0].flags, 0u);
            cr_expect_str_eq(parts[1].key, "which");
            cr_expect(PMIx_Info_is_qualifier(&parts[1]));
            sum += parts[0].value.data.uint64 * parts[1].value.data.uint64;
        }
    }
    cr_expect_eq(sum, 101u * 1 + 301u * 2);
    sx_value_destruct(&value);
    sx_store_destroy(&writer);
}

/* The server's own: nobody else reads it, so nothing old has to stay. */
Test(qualified, a_store_that_is_alone_stays_small)
{
    static uint8_t bytes[64 << 10];
    const struct sx_store_options options = {
        .nspace = "job.7", .row_count = 4, .private_memory = true, .alone = true
    };
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = sizeof(bytes) };
    struct sx_store_writer writer;

    cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
    for (unsigned i = 0; i < 1000; i++) {
        bytes[i % sizeof(bytes)]++;
        cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_JOB, 0, "again", PMIX_REMOTE, &cell,
                                       bytes),
                     PMIX_SUCCESS);
    }
    cr_expect_eq(writer.retired_count, 0u);
    cr_expect_leq(writer.view.seg.size_bytes, SX_STORE_PRIVATE_RESERVE_BYTES);
    sx_store_destroy(&writer);
}
