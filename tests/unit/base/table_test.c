/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table_test.c - what was added is found by its hash, also while the table grows, which costs each
 * addition a few nodes. */
#include <criterion/criterion.h>

#include "base/table.h"
#include "base/util.h"

static bool is_refused;
#define ALLOCATION_REFUSED(size) is_refused
#include "support/allocations.h"
#include "support/sanitized.h"

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
    cr_expect_geq(2 * table.bucket_count, MANY, "chains stay short");
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

/* ---- while it grows ------------------------------------------------------------------------- */

#define SPLITS_MAX 2u /* buckets that an addition splits */

/* Each hash is of two nodes; neighbours share a bucket until it is split. */
static uint64_t hash_of(unsigned number)
{
    return number / 2;
}

static void fill(struct sx_table *table, struct item items[], unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        items[i].number = i;
        cr_assert(sx_table_add(table, &items[i].node, hash_of(i)));
    }
}

/* The nodes of @hash are those of @items from @first on that are in @table, and no others. */
static void expect_pair(const struct sx_table *table, const struct item *first, bool both)
{
    struct sx_table_node *const node = sx_table_first(table, hash_of(first->number));

    cr_assert_eq(item_of(node), first, "%u", first->number);
    cr_expect_eq(item_of(sx_table_next(table, node)), both ? first + 1 : NULL, "%u", first->number);
}

Test(table, an_addition_splits_few_buckets)
{
    enum { MANY = 1 << 14 };
    static struct item items[MANY];
    struct sx_table table = { .buckets = NULL };
    unsigned doubled = 0;

    for (unsigned i = 0; i < MANY; i++) {
        const struct sx_table before = table;

        fill(&table, items, i, i + 1);
        if (table.bucket_count == before.bucket_count) {
            cr_assert_leq(table.split_count - before.split_count, SPLITS_MAX, "%u", i);
        } else if (before.bucket_count != 0) {
            cr_assert_eq(table.bucket_count, 2 * before.bucket_count);
            cr_assert_leq(before.bucket_count - before.split_count, SPLITS_MAX, "%u", i);
            doubled++;
        }
        cr_assert(i < 16 || table.count <= 2 * table.bucket_count, "a bucket has few nodes");
    }
    cr_expect_geq(doubled, 9);
    for (unsigned i = 0; i < MANY; i += 2) {
        expect_pair(&table, &items[i], true);
    }
    sx_table_deinit(&table);
}

/* At each step of a growth: nodes are found, taken out, replaced and added again, in buckets that
 * are split and in those that are not. */
Test(table, it_is_whole_at_each_step_of_a_growth)
{
    enum { ALL = 128, BEGIN = 64 };
    static struct item items[ALL];
    unsigned steps = 0;

    for (unsigned end = BEGIN + 1; end <= ALL; end++) {
        struct sx_table table = { .buckets = NULL };
        struct item by[ALL] = { { .number = 0 } };

        memset(items, 0, sizeof(items));
        fill(&table, items, 0, end);
        steps += table.split_count > 0;
        for (unsigned i = 0; i + 1 < end; i += 2) {
            expect_pair(&table, &items[i], true);
            sx_table_remove(&table, &items[i + 1].node);
            expect_pair(&table, &items[i], false);
            by[i].number = i;
            sx_table_replace(&items[i].node, &by[i].node);
            cr_expect_eq(item_of(sx_table_first(&table, hash_of(i))), &by[i]);
            cr_expect_null(sx_table_next(&table, &by[i].node));
        }
        cr_expect_eq(table.count, end - end / 2);
        cr_expect_null(sx_table_first(&table, hash_of(ALL)));
        sx_table_deinit(&table);
    }
    cr_expect_geq(steps, BEGIN / 2 / SPLITS_MAX, "most were in the middle of it");
}

Test(table, any_leads_to_each_node_once)
{
    enum { ALL = 80 }; /* it grows from 64 buckets */
    static struct item items[ALL];
    struct sx_table table = { .buckets = NULL };
    struct sx_table_node *node;
    size_t bucket = 0;
    unsigned count = 0;

    cr_expect_null(sx_table_any(&table, &bucket));
    fill(&table, items, 0, ALL);
    cr_assert_gt(table.split_count, 0);
    while ((node = sx_table_any(&table, &bucket)) != NULL) {
        cr_expect_eq(item_of(node)->number / 2, node->hash);
        sx_table_remove(&table, node);
        count++;
    }
    cr_expect_eq(count, ALL);
    cr_expect_eq(table.count, 0);
    sx_table_deinit(&table);
}

/* It grows as soon as there is memory; in the middle of a growth it needs none. */
Test(table, without_memory_it_stays_as_it_was)
{
    enum { ALL = 200 };
    static struct item items[ALL];
    struct sx_table table = { .buckets = NULL };

    if (SANITIZED) {
        cr_skip_test("a sanitizer has the allocator");
    }
    is_refused = true;
    const bool added = sx_table_add(&table, &items[0].node, 0);
    is_refused = false;
    cr_expect_not(added);
    cr_expect_eq(table.count, 0);
    fill(&table, items, 0, 16);
    is_refused = true;
    fill(&table, items, 16, 60);
    is_refused = false;
    cr_expect_eq(table.bucket_count, 16);
    cr_expect_null(table.larger);
    fill(&table, items, 60, 62);
    const size_t split_count = table.split_count;
    cr_expect_gt(split_count, 0);
    is_refused = true;
    fill(&table, items, 62, 64);
    is_refused = false;
    cr_expect_gt(table.split_count, split_count);
    fill(&table, items, 64, ALL);
    for (unsigned i = 0; i < ALL; i += 2) {
        expect_pair(&table, &items[i], true);
    }
    sx_table_deinit(&table);
}
