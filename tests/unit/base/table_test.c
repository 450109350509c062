/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table_test.c - what was added is found by its hash, however the table has grown meanwhile. */
#include <criterion/criterion.h>

#include "base/table.h"
#include "base/util.h"

struct item {
    struct sx_table_node node;
    unsigned number;
};

static struct item *item_of(struct sx_table_node *node)
{
    return node == NULL ? NULL : SX_CONTAINER(node, struct item, node);
}

Test(table, an_empty_one_has_nothing)
{
    struct sx_table table = { .buckets = NULL };

    cr_expect_null(sx_table_first(&table, 0));
    cr_expect_null(sx_table_first(&table, 7));
    sx_table_deinit(&table);
    sx_table_deinit(&table);
}

Test(table, nodes_of_one_hash_come_in_the_order_of_adding)
{
    struct sx_table table = { .buckets = NULL };
    struct item items[3] = { { .number = 0 }, { .number = 1 }, { .number = 2 } };
    struct item other = { .number = 9 };

    cr_assert(sx_table_add(&table, &items[0].node, 5));
    cr_assert(sx_table_add(&table, &other.node, 5 + 16)); /* the same bucket, another hash */
    cr_assert(sx_table_add(&table, &items[1].node, 5));
    cr_assert(sx_table_add(&table, &items[2].node, 5));
    struct sx_table_node *node = sx_table_first(&table, 5);
    for (unsigned i = 0; i < SX_COUNT(items); i++) {
        cr_assert_not_null(node);
        cr_expect_eq(item_of(node)->number, i);
        node = sx_table_next(&table, node);
    }
    cr_expect_null(node);
    sx_table_remove(&table, &items[1].node);
    node = sx_table_next(&table, sx_table_first(&table, 5));
    cr_expect_eq(item_of(node), &items[2]);
    cr_expect_eq(item_of(sx_table_first(&table, 5 + 16)), &other);
    sx_table_deinit(&table);
}

Test(table, thousands_are_found_and_removed)
{
    enum { MANY = 5000 };
    static struct item items[MANY];
    struct sx_table table = { .buckets = NULL };

    for (unsigned i = 0; i < MANY; i++) {
        items[i].number = i;
        cr_assert(sx_table_add(&table, &items[i].node, i * UINT64_C(0x9e3779b97f4a7c15)));
    }
    cr_expect_geq(table.bucket_count, MANY, "chains stay short");
    for (unsigned i = 0; i < MANY; i += 2) {
        sx_table_remove(&table, &items[i].node);
    }
    cr_expect_eq(table.count, MANY / 2);
    for (unsigned i = 0; i < MANY; i++) {
        struct item *found = item_of(sx_table_first(&table, i * UINT64_C(0x9e3779b97f4a7c15)));

        cr_expect_eq(found, i % 2 == 0 ? NULL : &items[i], "%u", i);
    }
    sx_table_deinit(&table);
}

Test(table, one_node_takes_the_place_of_another)
{
    struct item items[3] = { { .number = 0 }, { .number = 1 }, { .number = 2 } };
    struct item by = { .number = 9 };
    struct sx_table table = { .buckets = NULL };

    for (unsigned i = 0; i < SX_COUNT(items); i++) {
        cr_assert(sx_table_add(&table, &items[i].node, 5));
    }
    sx_table_replace(&items[1].node, &by.node);
    struct sx_table_node *node = sx_table_first(&table, 5);

    cr_expect_eq(item_of(node), &items[0]);
    node = sx_table_next(&table, node);
    cr_expect_eq(item_of(node), &by);
    cr_expect_eq(item_of(sx_table_next(&table, node)), &items[2]);
    cr_expect_eq(table.count, SX_COUNT(items));
    sx_table_deinit(&table);
}
