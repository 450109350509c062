/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* generation_test.c - the operations of one signature by their age, whoever goes first. */
#include "server/collective/generation.h"

#include <criterion/criterion.h>
#include <string.h>

#define HASH 77
#define MANY 4096u

struct open {
    struct sx_generation generation;
    bool fits;
};

static struct sx_table table;
static struct open all[MANY];
static unsigned looks;

static bool fits(struct sx_generation *generation, void *arg)
{
    cr_expect_eq(arg, &table);
    looks++;
    return SX_CONTAINER(generation, struct open, generation)->fits;
}

static struct sx_generation *oldest(void)
{
    struct sx_table_node *const node = sx_table_first(&table, HASH);

    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_generation, node);
}

static void add(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_assert(sx_generation_add(&table, oldest(), &all[i].generation, HASH));
    }
}

static void take_out(size_t index)
{
    sx_generation_remove(&table, oldest(), &all[index].generation);
}

/* Of those that are open, the ones from @from on fit. */
static size_t first(size_t from)
{
    for (size_t i = 0; i < MANY; i++) {
        all[i].fits = i >= from;
    }
    looks = 0;
    struct sx_generation *const found = sx_generation_first(oldest(), fits, &table);

    return found == NULL ? MANY : (size_t)(SX_CONTAINER(found, struct open, generation) - all);
}

Test(generation, the_oldest_is_in_the_table_whichever_goes)
{
    /* Each order in which four can go. */
    for (size_t order = 0; order < 4 * 4 * 4 * 4; order++) {
        bool here[4] = { true, true, true, true };

        add(4);
        for (size_t step = 0, code = order; step < 4; step++, code /= 4) {
            size_t i = code % 4;

            while (!here[i]) {
                i = (i + 1) % 4;
            }
            here[i] = false;
            take_out(i);
            for (i = 0; i < 4 && !here[i]; i++) {
            }
            cr_assert_eq(oldest(), i < 4 ? &all[i].generation : NULL, "order %zu", order);
            cr_assert(i == 4 || sx_generation_is_oldest(oldest()));
            for (size_t from = 0; i < 4 && from < 5; from++) { /* and the others are in order */
                size_t want = from;

                while (want < 4 && !here[want]) {
                    want++;
                }
                cr_assert_eq(first(from), want < 4 ? want : MANY, "order %zu", order);
            }
        }
        cr_assert_eq(table.count, 0);
    }
    sx_table_deinit(&table);
}

Test(generation, the_next_one_of_a_client_is_found_with_a_few_looks)
{
    add(MANY);
    for (size_t from = 0; from <= MANY; from += 37) {
        cr_expect_eq(first(from), from);
        cr_expect_leq(looks, 14, "%u looks at %u operations", looks, MANY);
    }
    for (size_t i = 0; i < MANY; i++) {
        take_out(i);
    }
    sx_table_deinit(&table);
}

Test(generation, second_is_the_one_behind)
{
    add(2);
    cr_expect_eq(sx_generation_second(&all[0].generation), &all[1].generation);
    cr_expect_null(sx_generation_second(&all[1].generation));
    cr_expect_not(sx_generation_is_oldest(&all[1].generation));
    take_out(1);
    cr_expect_null(sx_generation_second(&all[0].generation));
    take_out(0);
    sx_table_deinit(&table);
}

Test(generation, any_older_one_is_looked_for)
{
    add(3);
    for (size_t fitting = 0; fitting < 3; fitting++) {
        for (size_t i = 0; i < 3; i++) {
            all[i].fits = i == fitting;
        }
        for (size_t i = 0; i < 3; i++) {
            cr_expect_eq(sx_generation_any_older(oldest(), &all[i].generation, fits, &table),
                         fitting < i);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        take_out(i);
    }
    sx_table_deinit(&table);
}
