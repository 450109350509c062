/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias_test.c - whom processes mean that are named by a connected namespace or a group. */
#include "server/model/membership.h"

#include <stdio.h>
#include <stdlib.h>

#include "../bare.h"
#include "base/value/value.h"

static struct sx_server server;
static struct sx_membership_entry *both;

/* "both" are a.2, a.0, b.0 and b.1, in this order; b has two processes and a has three. */
static void begin(void)
{
    const pmix_proc_t procs[] = { { "a", 2 }, { "a", 0 }, { "b", 0 }, { "b", 1 } };
    bare_init(&server);
    bare_job(&server, "a", 3, 3);
    bare_job(&server, "b", 2, 2);
    both = bare_connected(&server, "both", procs, SX_COUNT(procs));
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(alias, .init = begin, .fini = end);

static char met[256];

static void meet(const char *nspace, uint32_t rank)
{
    char one[300];

    snprintf(one, sizeof(one), rank == PMIX_RANK_WILDCARD ? " %s.*" : " %s.%u", nspace, rank);
    cr_assert_lt(strlen(met) + strlen(one), sizeof(met));
    strcat(met, one);
}

/* Whom a list means, before its processes have names, and by these: both are the same. */
static void meet_all(struct sx_alias_list *list)
{
    struct sx_alias_walk walk = { .list = list };
    char before[sizeof(met)];
    size_t left = list->count;

    met[0] = '\0';
    while (sx_alias_next(&walk)) {
        meet(walk.nspace, walk.rank);
    }
    strcpy(before, met);
    cr_assert_eq(sx_alias_name(list, &left), PMIX_SUCCESS);
    met[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        meet(list->all[i].nspace, list->all[i].rank);
    }
    cr_expect_str_eq(met, before);
}

/* Whom @proc means, in met. */
static pmix_status_t meant_by(pmix_proc_t *proc)
{
    struct sx_alias_list list;
    const pmix_status_t rc = sx_alias_list(&server, NULL, 0, proc, 1, &list);

    met[0] = '\0';
    if (rc == PMIX_SUCCESS) {
        meet_all(&list);
    }
    sx_alias_list_clear(&list);
    return rc;
}

static const struct {
    const char *why, *nspace;
    uint32_t rank;
    const char *want;
    pmix_status_t want_rc;
} names[] = {
    { "a member", "both", 0, " a.2", PMIX_SUCCESS },
    { "the last one", "both", 3, " b.1", PMIX_SUCCESS },
    { "one too many", "both", 4, "", PMIX_ERR_NOT_FOUND },
    { "no rank", "both", PMIX_RANK_UNDEF, "", PMIX_ERR_NOT_FOUND },
    { "all: a job as a whole", "both", PMIX_RANK_WILDCARD, " a.0 a.2 b.*", PMIX_SUCCESS },
    { "a namespace", "a", PMIX_RANK_WILDCARD, " a.*", PMIX_SUCCESS },
    { "a process", "b", 7, " b.7", PMIX_SUCCESS },
    { "nobody's name", "neither", 1, " neither.1", PMIX_SUCCESS },
};

Test(alias, leads_to_its_members)
{
    for (size_t i = 0; i < SX_COUNT(names); i++) {
        pmix_proc_t proc, one;

        PMIx_Load_procid(&proc, names[i].nspace, names[i].rank);
        cr_expect_eq(meant_by(&proc), names[i].want_rc, "%s", names[i].why);
        cr_expect_str_eq(met, names[i].want, "%s", names[i].why);
        if (names[i].rank != PMIX_RANK_WILDCARD) {
            met[0] = '\0';
            cr_expect_eq(sx_alias_one(&server, 0, &proc, &one), names[i].want_rc, "%s",
                         names[i].why);
            if (names[i].want_rc == PMIX_SUCCESS) {
                meet(one.nspace, one.rank);
            }
            cr_expect_str_eq(met, names[i].want, "%s", names[i].why);
        }
    }
    const pmix_proc_t all = { "both", PMIX_RANK_WILDCARD };
    pmix_proc_t one;

    cr_expect_eq(sx_alias_one(&server, 0, &all, &one), PMIX_ERR_NOT_FOUND, "they are several");
}

Test(alias, has_none_for_who_has_left_and_is_nobodys_when_it_is_removed)
{
    const pmix_proc_t third = { "both", 2 }, gone = { "b", 0 };
    pmix_proc_t one, all = { "both", PMIX_RANK_WILDCARD };

    cr_assert_eq(sx_memberships_leave(&server, both, &gone), PMIX_SUCCESS);
    cr_expect_eq(sx_alias_one(&server, 0, &third, &one), PMIX_ERR_NOT_FOUND, "a gap");
    cr_expect_eq(meant_by(&all), PMIX_SUCCESS);
    cr_expect_str_eq(met, " a.0 a.2 b.1", "no job as a whole any more");
    sx_memberships_remove(&server, both);
    cr_expect_eq(meant_by(&all), PMIX_SUCCESS);
    cr_expect_str_eq(met, " both.*", "as any name that nobody knows");
}

/* Whom a process means, of the ranks 0 to 2 of "a": a bit each. */
static const struct {
    const char *nspace;
    uint32_t rank, want;
} meanings[] = {
    { "a", 1, 2 },
    { "a", PMIX_RANK_WILDCARD, 7 },
    { "b", PMIX_RANK_WILDCARD, 0 },
    { "both", 0, 4 },
    { "both", 1, 1 },
    { "both", 2, 0 },
    { "both", 9, 0 },
    { "both", PMIX_RANK_WILDCARD, 4 | 1 },
};

Test(alias, means_a_process_or_does_not)
{
    const struct sx_nspace *const a = sx_nspace_find(&server, "a");
    const pmix_proc_t all = { "both", PMIX_RANK_WILDCARD }, gone = { "a", 2 };

    for (size_t i = 0; i < SX_COUNT(meanings); i++) {
        uint32_t met_by = 0;
        pmix_proc_t proc;

        PMIx_Load_procid(&proc, meanings[i].nspace, meanings[i].rank);
        for (uint32_t rank = 0; rank < 3; rank++) {
            met_by |= (uint32_t)sx_alias_means(&server, 0, &proc, sx_client_find(a, rank)) << rank;
        }
        cr_expect_eq(met_by, meanings[i].want, "row %zu", i);
    }
    cr_assert_eq(sx_memberships_leave(&server, both, &gone), PMIX_SUCCESS);
    cr_expect_not(sx_alias_means(&server, 0, &all, sx_client_find(a, 2)), "it has left");
    cr_expect(sx_alias_means(&server, 0, &gone, sx_client_find(a, 2)), "and is itself");
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void expect_list(struct sx_alias_list *list, const char *want)
{
    meet_all(list);
    cr_expect_str_eq(met, want);
}

Test(alias, in_a_list_gives_way_to_its_members_each_once)
{
    pmix_proc_t procs[] = { { "both", 1 }, { "both", 0 }, { "a", 0 }, { "both", 0 } };
    pmix_proc_t plain[] = { { "b", 1 }, { "a", 0 } };
    pmix_proc_t behind[] = { { "both", 1 }, { "z", 0 } }; /* of names, the members come last */
    struct sx_alias_list list;

    cr_assert_eq(sx_alias_list(&server, NULL, 0, behind, 2, &list), PMIX_SUCCESS);
    expect_list(&list, " a.0 z.0");
    sx_alias_list_clear(&list);
    cr_assert_eq(sx_alias_list(&server, NULL, 0, plain, 2, &list), PMIX_SUCCESS);
    cr_expect_eq(list.all, plain, "as they were given");
    sx_alias_list_clear(&list);
    cr_assert_eq(sx_alias_list(&server, NULL, 0, procs, 4, &list), PMIX_SUCCESS);
    expect_list(&list, " a.0 a.2");
    sx_alias_list_clear(&list);
    sx_alias_list_clear(&list);
    procs[2] = (pmix_proc_t){ "both", 9 };
    cr_expect_eq(sx_alias_list(&server, NULL, 0, procs, 4, &list), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(sx_alias_list_found(&server, NULL, 0, procs, 4, &list), PMIX_SUCCESS);
    expect_list(&list, " a.0 a.2 both.9");
    sx_alias_list_clear(&list);
}

/* ---- those who make the server work
 * ------------------------------------------------------------ */

#define LARGE 4096u

/* @count lists of LARGE processes each, none of which is in two. */
static void large_make(unsigned count)
{
    pmix_proc_t *const procs = calloc(LARGE, sizeof(*procs));
    struct sx_membership_entry *entry;
    char name[32];

    cr_assert_not_null(procs);
    for (unsigned n = 0; n < count; n++) {
        snprintf(name, sizeof(name), "large.%u", n);
        for (uint32_t i = 0; i < LARGE; i++) {
            PMIx_Load_procid(&procs[i], "c", n * LARGE + i);
        }
        const struct sx_membership_options options = {
            .name = name, .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = LARGE
        };

        cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    }
    free(procs);
}

Test(alias, named_again_and_again_is_looked_up_once)
{
    struct sx_client *const client = bare_connect(&server, sx_nspace_find(&server, "a"), 0);
    pmix_proc_t procs[1000];
    struct sx_alias_list list;

    large_make(1);
    for (size_t i = 0; i < SX_COUNT(procs); i++) {
        procs[i] = (pmix_proc_t){ "large.0", PMIX_RANK_WILDCARD };
    }
    sx_share_begin(&server, client);
    cr_assert_eq(sx_alias_list(&server, client, 0, procs, SX_COUNT(procs), &list), PMIX_SUCCESS);
    cr_expect_eq(list.count, LARGE);
    cr_expect_geq(client->share.spent, LARGE / 64, "it has paid");
    cr_expect_leq(client->share.spent, LARGE / 64 + SX_COUNT(procs), "once");
    sx_alias_list_clear(&list);
}

Test(alias, that_stands_for_too_many_is_refused_and_paid_for)
{
    const unsigned count = SX_ALIAS_PROCS_MAX / LARGE + 1;
    struct sx_client *const client = bare_connect(&server, sx_nspace_find(&server, "a"), 0);
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));
    struct sx_alias_list list;

    cr_assert_not_null(procs);
    large_make(count);
    for (unsigned n = 0; n < count; n++) {
        snprintf(procs[n].nspace, sizeof(procs[n].nspace), "large.%u", n);
        procs[n].rank = PMIX_RANK_WILDCARD;
    }
    sx_share_begin(&server, client);
    cr_expect_eq(sx_alias_list(&server, client, 0, procs, count, &list), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_geq(client->share.spent, SX_ALIAS_PROCS_MAX / 64);
    cr_assert_eq(sx_alias_list(&server, NULL, 0, procs, count - 1, &list), PMIX_SUCCESS);
    cr_expect_eq(list.count, SX_ALIAS_PROCS_MAX);
    sx_alias_list_clear(&list);
    free(procs);
}

/* ---- many processes --------------------------------------------------------------------------- */

/* "odd" has the odd ranks of the job "c" below 2 * LARGE, the last first.  "even" has the others,
 * and one that "odd" has, too. */
static void halves_make(void)
{
    pmix_proc_t *const procs = calloc(LARGE + 1, sizeof(*procs));
    struct sx_membership_entry *entry;
    struct sx_membership_options options = {
        .name = "odd", .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = LARGE
    };

    for (uint32_t i = 0; i < LARGE; i++) {
        PMIx_Load_procid(&procs[i], "c", 2 * (LARGE - i) - 1);
    }
    cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    for (uint32_t i = 0; i < LARGE; i++) {
        PMIx_Load_procid(&procs[i], "c", 2 * i);
    }
    PMIx_Load_procid(&procs[LARGE], "c", 5);
    options.name = "even";
    options.proc_count = LARGE + 1;
    cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    free(procs);
}

Test(alias, of_many_processes_names_them_in_steps_and_is_as_a_list_of_these_names)
{
    const size_t step = SX_ALIAS_NAMED_PER_TURN, count = 2 * LARGE + 1;
    pmix_proc_t procs[] = { { "even", PMIX_RANK_WILDCARD },
                            { "odd", PMIX_RANK_WILDCARD },
                            { "a", 1 } };
    struct sx_alias_list list;
    unsigned steps = 0;
    pmix_status_t rc;

    halves_make();
    cr_assert_eq(sx_alias_list(&server, NULL, 0, procs, SX_COUNT(procs), &list), PMIX_SUCCESS);
    cr_assert_eq(list.count, count);
    const uint64_t hash = sx_alias_list_hash(&list, 7);

    do {
        size_t left = step;

        cr_expect_null(list.all, "not all have names");
        rc = sx_alias_name(&list, &left);
        steps++;
        cr_expect_eq(list.made->named, steps * step < count ? steps * step : count);
        cr_expect_eq(left, steps * step - list.made->named);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_expect_eq(rc, PMIX_SUCCESS);
    cr_expect_eq(steps, (count + step - 1) / step);
    cr_expect(strcmp(list.all[0].nspace, "a") == 0 && list.all[0].rank == 1);
    for (uint32_t i = 1; i < count; i++) {
        cr_assert(strcmp(list.all[i].nspace, "c") == 0 && list.all[i].rank == i - 1, "%u", i);
    }
    pmix_proc_t *const copy = malloc(count * sizeof(*copy));
    const struct sx_alias_list named = { .all = memcpy(copy, list.all, count * sizeof(*copy)),
                                         .count = count };

    cr_expect_eq(sx_alias_list_hash(&named, 7), hash);
    cr_expect(sx_alias_lists_are_equal(&named, &list) && sx_alias_lists_are_equal(&list, &named));
    copy[count - 1].rank++;
    cr_expect_not(sx_alias_lists_are_equal(&named, &list));
    free(copy);
    sx_alias_list_clear(&list);
}

/* Another owner of a list that was made shares it, and a walk passes what it has of a job at once. */
Test(alias, of_many_processes_is_shared_and_passed)
{
    pmix_proc_t procs[] = { { "even", PMIX_RANK_WILDCARD }, { "a", 1 } };
    struct sx_client *const client = bare_connect(&server, sx_nspace_find(&server, "a"), 1);
    struct sx_alias_list list, copy, named, other;
    size_t left = SIZE_MAX, count, here;

    halves_make();
    cr_assert_eq(sx_alias_list(&server, NULL, 0, procs, SX_COUNT(procs), &list), PMIX_SUCCESS);
    cr_assert_eq(sx_alias_name(&list, &left), PMIX_SUCCESS);
    cr_assert(sx_alias_list_copy(&copy, &list));
    cr_expect(copy.all == list.all && copy.made == list.made && list.made->references == 2);
    named = (struct sx_alias_list){ .all = list.all, .count = list.count };
    cr_assert(sx_alias_list_copy(&other, &named));
    cr_expect_neq(other.all, list.all);
    cr_expect(sx_alias_lists_are_equal(&other, &copy));
    sx_alias_list_free(&other);
    sx_alias_list_clear(&list);
    struct sx_alias_walk walk = { .list = &copy };

    cr_assert(sx_alias_next(&walk));
    cr_expect_not(sx_alias_skip(&walk, &client, 1, &count, &here), "a single one of \"a\"");
    cr_assert(sx_alias_next(&walk));
    cr_assert_str_eq(walk.nspace, "c");
    client->rank = 4; /* as if it were of "c" */
    cr_assert(sx_alias_skip(&walk, &client, 1, &count, &here));
    cr_expect_eq(count, LARGE + 1);
    cr_expect_eq(here, 1);
    cr_expect_not(sx_alias_next(&walk));
    client->rank = 1;
    sx_alias_list_free(&copy);
}

Test(alias, in_a_list_tells_whether_it_has_a_namespace_and_all_of_it)
{
    pmix_proc_t procs[] = { { "both", PMIX_RANK_WILDCARD } };
    pmix_proc_t plain[] = { { "a", 0 }, { "a", 2 }, { "b", PMIX_RANK_WILDCARD } };
    struct sx_alias_list lists[2];

    cr_assert_eq(sx_alias_list(&server, NULL, 0, procs, 1, &lists[0]), PMIX_SUCCESS);
    cr_assert_eq(sx_alias_list(&server, NULL, 0, plain, 3, &lists[1]), PMIX_SUCCESS);
    cr_expect(lists[0].made != NULL && lists[1].made == NULL);
    cr_expect(sx_alias_lists_are_equal(&lists[0], &lists[1]));
    for (size_t i = 0; i < SX_COUNT(lists); i++) {
        cr_expect(sx_alias_list_names(&lists[i], "a") && sx_alias_list_names(&lists[i], "b"));
        cr_expect_not(sx_alias_list_names(&lists[i], "both"));
        cr_expect_not(sx_alias_list_has_all(&lists[i], "a"));
        cr_expect(sx_alias_list_has_all(&lists[i], "b"));
        cr_expect_not(sx_alias_list_has_all(&lists[i], "c"));
        sx_alias_list_clear(&lists[i]);
    }
}

Test(alias, and_its_clients_are_found_in_one_walk)
{
    static const uint32_t here[] = { 3, 4, 5, 900, 901, 5000 };
    struct sx_nspace *const nspace = sx_nspace_obtain(&server, "walked");
    struct sx_client_run run = { .nspace = nspace };

    for (size_t i = 0; i < SX_COUNT(here); i++) {
        cr_assert_not_null(sx_client_add(nspace, here[i]));
    }
    for (uint32_t rank = 0; rank < 6000; rank += rank % 7 == 0 ? 3 : 1) {
        cr_assert_eq(sx_client_run_find(&run, rank), sx_client_find(nspace, rank), "%u", rank);
    }
    cr_expect_eq(run.next, SX_COUNT(here));
}
