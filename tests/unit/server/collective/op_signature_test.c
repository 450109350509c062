/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_signature_test.c - the operations of one signature by their age, whoever goes first. */
#include "server/collective/operation.h"

#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "ring/record.h"
#include "server/collective/collective.h"
#include "server/model/state.h"

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

/* ---- rows ------------------------------------------------------------------------------------ */

/* Each kind has its row, and what is none has none. */

#define LOST PMIX_ERR_LOST_CONNECTION
#define UNSAID PMIX_ERR_PROC_TERM_WO_SYNC
#define WITHOUT PMIX_ERR_PARTIAL_SUCCESS

/* What becomes of it when a member dies, says good-bye, departs, or leaves the group; CN34, CN38,
 * GR54, X22. */
static const struct {
    uint32_t kind;
    struct sx_member_ends before, after;
    pmix_status_t incomplete;
} rows[] = {
    { SX_COLLECTIVE_FENCE,
      { LOST, PMIX_SUCCESS, WITHOUT, WITHOUT },
      { 0 },
      PMIX_ERR_PARTIAL_SUCCESS },
    { SX_COLLECTIVE_CONNECT,
      { LOST, UNSAID, UNSAID, UNSAID },
      { LOST, UNSAID, UNSAID, UNSAID },
      PMIX_SUCCESS },
    { SX_COLLECTIVE_DISCONNECT, { LOST, UNSAID, UNSAID, UNSAID }, { 0 }, PMIX_SUCCESS },
    { SX_COLLECTIVE_GROUP_CONSTRUCT,
      { LOST, UNSAID, UNSAID, UNSAID },
      { LOST, UNSAID, UNSAID, UNSAID },
      PMIX_SUCCESS },
    { SX_COLLECTIVE_GROUP_DESTRUCT, { LOST, UNSAID, UNSAID, WITHOUT }, { 0 }, PMIX_SUCCESS },
};

static const struct sx_server server = { .kinds = sx_kinds };

static void expect_ends(const struct sx_member_ends *ends, const struct sx_member_ends *want)
{
    cr_expect_eq(ends->died, want->died);
    cr_expect_eq(ends->left, want->left);
    cr_expect_eq(ends->departed, want->departed);
    cr_expect_eq(ends->withdrew, want->withdrew);
}

Test(collective_kind, says_what_becomes_of_it_when_a_member_goes)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_kind *const kind = sx_kind_of(&server, rows[i].kind);

        cr_assert_not_null(kind);
        expect_ends(&kind->before, &rows[i].before);
        expect_ends(&kind->after, &rows[i].after);
        cr_expect_eq(kind->incomplete, rows[i].incomplete, "%s", sx_collective_name(kind->number));
    }
}

Test(collective_kind, of_an_unknown_number_is_none)
{
    static const uint32_t numbers[] = { 0, SX_COLLECTIVE_GROUP_DESTRUCT + 1, UINT32_MAX };

    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        cr_expect_null(sx_kind_of(&server, numbers[i]), "%u", numbers[i]);
    }
}

#define FENCE SX_COLLECTIVE_FENCE
#define CONNECT SX_COLLECTIVE_CONNECT
#define DISCONNECT SX_COLLECTIVE_DISCONNECT

/* One directive each; those that are not required may say anything. */
static const struct {
    uint32_t kind;
    const char *key;
    pmix_data_type_t type;
    bool required;
    uint64_t number;
    pmix_status_t want;
    uint64_t timeout_ns;
    bool collect;
    uint8_t pardons;
} directives[] = {
    { FENCE, PMIX_TIMEOUT, PMIX_UINT64, false, 3, PMIX_SUCCESS, 3 * SX_NS_PER_SEC, false, 0 },
    { FENCE, PMIX_TIMEOUT, PMIX_UINT64, false, 0, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, PMIX_TIMEOUT, PMIX_UINT64, false, UINT64_MAX / 2, PMIX_SUCCESS, UINT64_MAX, false, 0 },
    { FENCE, PMIX_TIMEOUT, PMIX_INT64, false, UINT64_MAX, PMIX_ERR_BAD_PARAM, 0, false, 0 },
    { FENCE, PMIX_TIMEOUT, PMIX_DOUBLE, false, 0, PMIX_ERR_BAD_PARAM, 0, false, 0 },
    { FENCE, PMIX_COLLECT_DATA, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, true, 0 },
    { FENCE, PMIX_COLLECT_DATA, PMIX_BOOL, true, 0, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, PMIX_COLLECT_GENERATED_JOB_INFO, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, PMIX_COLLECTIVE_ALGO, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, PMIX_GROUP_FT_COLLECTIVE, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false,
      SX_PARDON_BEFORE },
    { FENCE, PMIX_GROUP_FT_COLLECTIVE, PMIX_BOOL, true, 0, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, "no.such.directive", PMIX_BOOL, false, 1, PMIX_SUCCESS, 0, false, 0 },
    { FENCE, "no.such.directive", PMIX_BOOL, true, 1, PMIX_ERR_NOT_SUPPORTED, 0, false, 0 },
    { CONNECT, PMIX_TIMEOUT, PMIX_UINT64, true, 3, PMIX_SUCCESS, 3 * SX_NS_PER_SEC, false, 0 },
    { CONNECT, "pmix.cnt.opt", PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false, SX_PARDON_BEFORE },
    { CONNECT, "pmix.cnt.opt", PMIX_BOOL, true, 0, PMIX_SUCCESS, 0, false, 0 },
    { CONNECT, "pmix.cnct.eterm", PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false, SX_PARDON_AFTER },
    { CONNECT, "pmix.cnt.id", PMIX_UINT64, false, 1, PMIX_ERR_BAD_PARAM, 0, false, 0 },
    { CONNECT, PMIX_GROUP_FT_COLLECTIVE, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false,
      SX_PARDON_BEFORE },
    { CONNECT, PMIX_COLLECT_DATA, PMIX_BOOL, true, 1, PMIX_ERR_NOT_SUPPORTED, 0, false, 0 },
    { DISCONNECT, PMIX_TIMEOUT, PMIX_UINT64, true, 3, PMIX_SUCCESS, 3 * SX_NS_PER_SEC, false, 0 },
    { DISCONNECT, PMIX_GROUP_FT_COLLECTIVE, PMIX_BOOL, true, 1, PMIX_SUCCESS, 0, false,
      SX_PARDON_BEFORE },
    { DISCONNECT, "pmix.cnt.opt", PMIX_BOOL, true, 1, PMIX_ERR_NOT_SUPPORTED, 0, false, 0 },
};

Test(collective_kind, obeys_its_directives_or_says_that_it_cannot)
{
    for (size_t i = 0; i < SX_COUNT(directives); i++) {
        pmix_info_t info;
        struct sx_collective_options options = { 0 };
        const struct sx_kind *const kind = sx_kind_of(&server, directives[i].kind);

        cr_assert_eq(PMIx_Info_load(&info, directives[i].key, &directives[i].number,
                                    directives[i].type),
                     PMIX_SUCCESS);
        if (directives[i].required) {
            PMIx_Info_required(&info);
        }
        cr_expect_eq(sx_options_read(kind->function, &info, 1, &options), directives[i].want,
                     "row %zu", i);
        cr_expect_eq(options.timeout_ns, directives[i].timeout_ns, "row %zu", i);
        cr_expect_eq(options.collect, directives[i].collect, "row %zu", i);
        cr_expect_eq(options.pardons, directives[i].pardons, "row %zu", i);
    }
}

/* Thousands of operations may end at once, the oldest first. */
Test(generation, that_ends_as_the_oldest_moves_no_other)
{
    add(MANY);
    struct sx_generation **const at = oldest()->younger;

    for (size_t i = 0; i + 1 < MANY; i++) {
        take_out(i);
        cr_assert_eq(oldest(), &all[i + 1].generation);
        cr_assert_eq(oldest()->younger, at + i + 1, "%zu", i);
    }
    take_out(MANY - 1);
    cr_expect_null(oldest());
}

Test(generation, takes_the_places_of_those_that_have_gone)
{
    size_t begin = 0, end = 0;

    for (size_t step = 0; step < 8 * MANY; step++) {
        const bool grows = step % 7 < (step / MANY % 2 == 0 ? 5 : 3);

        if (end == begin || (grows && end - begin < MANY)) {
            cr_assert(sx_generation_add(&table, oldest(), &all[end++ % MANY].generation, HASH));
        } else {
            take_out(begin++ % MANY);
        }
        if (end > begin) {
            cr_assert_eq(oldest(), &all[begin % MANY].generation);
            cr_assert_eq(sx_generation_youngest(oldest()), &all[(end - 1) % MANY].generation);
        }
    }
    while (end > begin) {
        take_out(begin++ % MANY);
    }
    cr_expect_null(oldest());
}
