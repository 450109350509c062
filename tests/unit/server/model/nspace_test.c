/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_test.c - namespaces and clients are found by name and rank, made once, counted, and gone
 * when nobody holds them; the ends of a client's collectives. */
#include "server/model/nspace.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "../bare.h"

static struct sx_server server;

static void begin(void)
{
    bare_init(&server);
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(nspace, .init = begin, .fini = end);

Test(nspace, is_made_on_its_first_mention_and_found_ever_after)
{
    char longest[PMIX_MAX_NSLEN + 1] = { 0 }, longer[300] = { 0 };
    struct sx_nspace *const nspace = sx_nspace_obtain(&server, "job");

    memset(longest, 'n', PMIX_MAX_NSLEN);
    memset(longer, 'n', sizeof(longer) - 1);
    cr_assert_not_null(nspace);
    cr_expect_eq(sx_nspace_obtain(&server, "job"), nspace);
    cr_expect_eq(sx_nspace_find(&server, "job"), nspace);
    cr_expect_null(sx_nspace_find(&server, "jo"));
    cr_expect_null(sx_nspace_find(&server, "job2"));
    cr_expect_not_null(sx_nspace_obtain(&server, longest));
    cr_expect_null(sx_nspace_obtain(&server, longer));
    cr_expect_null(sx_nspace_obtain(&server, ""));
    cr_expect_eq(nspace->session, SX_SESSION_UNKNOWN);
}

/* Each message finds some by name: however many a user has spawned, few are compared. */
Test(nspace, among_many_is_found_without_a_walk)
{
    const unsigned count = 4096;
    char name[32];

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "job-%u", i);
        cr_assert_not_null(sx_nspace_obtain(&server, name));
    }
    const uint64_t before = server.registry.walked;

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "job-%u", i);
        cr_assert_str_eq(sx_nspace_find(&server, name)->name, name);
    }
    cr_expect_leq(server.registry.walked - before, 2 * count, "%llu",
                  (unsigned long long)(server.registry.walked - before));
    sx_nspace_remove(&server, sx_nspace_find(&server, "job-7"));
    cr_expect_null(sx_nspace_find(&server, "job-7"));
    cr_expect_not_null(sx_nspace_obtain(&server, "job-7"));
}

/* Of more than are kept, the oldest count as names to come; one that returned leaves its place. */
Test(nspace, names_that_have_ended_are_kept_until_newer_ones_need_their_place)
{
    char name[32];

    for (unsigned i = 0; i < SX_ENDED_NAMES_MAX + 10; i++) {
        snprintf(name, sizeof(name), "job-%u", i);
        sx_name_ended(&server, name);
        sx_name_ended(&server, name);
    }
    cr_expect_not(sx_name_has_ended(&server, "job-9"));
    cr_expect(sx_name_has_ended(&server, "job-10"));
    cr_expect_not(sx_name_may_come(&server, "job-10"));
    cr_expect_eq(server.registry.ended_names.count, SX_ENDED_NAMES_MAX);
    sx_name_returns(&server, "job-10");
    sx_name_returns(&server, "job-10");
    cr_expect(sx_name_may_come(&server, "job-10"));
    sx_name_ended(&server, "another");
    cr_expect(sx_name_has_ended(&server, "another"));
    cr_expect(sx_name_has_ended(&server, "job-11"));
    cr_expect_eq(server.registry.ended_names.count, SX_ENDED_NAMES_MAX);
}

/* A list that names a job's processes one by one is searched for once. */
Test(nspace, of_a_run_of_equal_names_is_searched_once)
{
    struct sx_nspace *const job = bare_job(&server, "job", 1, 1);
    struct sx_nspace_run run = { .server = &server };
    pmix_proc_t procs[64];

    for (uint32_t i = 0; i < SX_COUNT(procs); i++) {
        PMIx_Load_procid(&procs[i], i < 60 ? "job" : "none", i);
    }
    const uint64_t before = server.registry.lookups;

    for (uint32_t i = 0; i < SX_COUNT(procs); i++) {
        cr_expect_eq(sx_nspace_run_next(&run, procs[i].nspace), i == 0 || i == 60, "%u", i);
        cr_expect_eq(run.nspace, i < 60 ? job : NULL, "%u", i);
    }
    cr_expect_eq(server.registry.lookups - before, 2);
}

Test(nspace, finds_its_clients_by_rank_in_whatever_order_they_came)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(&server, "job");
    const uint32_t step = 37, count = 100; /* more than its first room */

    for (uint32_t i = 0; i < count; i++) {
        cr_assert_null(sx_client_find(nspace, 2 * (i * step % count)));
        cr_assert_not_null(sx_client_add(nspace, 2 * (i * step % count)));
    }
    for (uint32_t rank = 0; rank < 2 * count; rank++) {
        const struct sx_client *const client = sx_client_find(nspace, rank);

        cr_expect_eq(client != NULL, rank % 2 == 0, "%u", rank);
        cr_expect(client == NULL || (client->rank == rank && client->nspace == nspace));
    }
    cr_expect_null(sx_client_find(nspace, PMIX_RANK_WILDCARD));
}

Test(nspace, leaves_its_clients_to_who_holds_them)
{
    struct sx_nspace *const nspace = bare_job(&server, "job", 2, 2);
    struct sx_client *const client = sx_client_retain(sx_client_find(nspace, 1));

    sx_nspace_remove(&server, nspace);
    cr_expect_null(sx_nspace_find(&server, "job"));
    cr_expect_null(client->nspace);
    cr_expect_eq(client->reference_count, 1);
    cr_expect_null(sx_client_release(client));
}

Test(nspace, has_a_ring_where_its_processes_are)
{
    struct sx_nspace *const nspace = bare_job(&server, "job", 4, 0);

    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_expect(nspace->has_store);
    cr_expect_not(sx_nspace_has_ring(nspace), "nobody would read it");
    const void *const store = nspace->store.view.seg.base;

    cr_assert_not_null(sx_client_add(nspace, 0));
    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_expect(sx_nspace_has_ring(nspace));
    const void *const ring = nspace->ring.header;

    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_expect_eq(nspace->store.view.seg.base, store, "each once");
    cr_expect_eq(nspace->ring.header, ring, "each once");
}

Test(nspace, that_comes_again_goes_on_counting_its_store)
{
    struct sx_nspace *nspace = bare_job(&server, "job", 1, 1);

    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    const uint64_t generation = nspace->store.generation;

    sx_nspace_end(&server, nspace);
    cr_expect_geq(server.data.generation_last, generation);
    nspace = bare_job(&server, "job", 1, 1);
    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_expect_gt(nspace->store.generation, generation);
}

Test(nspace, is_notified_what_its_host_has_not_said_and_nothing_else)
{
    struct sx_nspace *const nspace = bare_job(&server, "job", 1, 1);
    const pmix_value_t first = { .type = PMIX_UINT32, .data.uint32 = 1 };
    const pmix_value_t second = { .type = PMIX_UINT32, .data.uint32 = 2 };
    struct sx_item item;

    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_expect_eq(sx_nspace_fill(nspace, SX_REALM_JOB, 0, "key", &first), PMIX_SUCCESS);
    cr_expect_eq(sx_nspace_fill(nspace, SX_REALM_JOB, 0, "key", &second), PMIX_SUCCESS);
    cr_assert_eq(sx_store_find(&nspace->store.view, SX_REALM_JOB, 0, "key", &item), PMIX_SUCCESS);
    cr_expect_eq(item.cell.bits, 1);
}

/* ---- families -------------------------------------------------------------------------------- */

static char notified[64];

static void notify(const char *what)
{
    strncat(notified, what, sizeof(notified) - strlen(notified) - 1);
}

static void on_added(struct sx_server *which, struct sx_nspace *nspace)
{
    cr_expect_null(sx_nspace_find(which, nspace->name), "it is not found yet");
    notify("added ");
}

static void on_opened(struct sx_server *which, struct sx_nspace *nspace)
{
    (void)which;
    cr_expect(sx_nspace_has_ring(nspace));
    notify("opened ");
}

static void on_gone(struct sx_server *which, struct sx_nspace *nspace)
{
    cr_expect_eq(sx_nspace_find(which, nspace->name), nspace, "it is still found");
    notify("gone ");
}

static void on_removed(struct sx_server *which, struct sx_client *client)
{
    (void)which;
    cr_expect_not_null(client->nspace);
    notify("removed ");
}

Test(nspace, notifies_the_families_of_its_life)
{
    static const struct sx_family families[] = { { .name = "silent" },
                                                 { .name = "all",
                                                   .nspace_added = on_added,
                                                   .nspace_opened = on_opened,
                                                   .nspace_gone = on_gone,
                                                   .client_removed = on_removed },
                                                 { .name = NULL } };

    server.families = families;
    struct sx_nspace *const nspace = bare_job(&server, "job", 1, 1);

    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    cr_assert_eq(sx_nspace_open(&server, nspace), PMIX_SUCCESS);
    sx_nspace_end(&server, nspace);
    cr_expect_str_eq(notified, "added opened gone removed ");
}

/* ---- the newest ends of a client's collectives ----------------------------------------------- */

/* The newest @kept of @count are there. */
static void expect(const struct sx_results *results, size_t kept, uint32_t count)
{
    cr_assert_eq(sx_results_count(results), kept);
    for (size_t i = 0; i < kept; i++) {
        cr_expect_eq(sx_results_at(results, i).op, count - kept + i);
        cr_expect_eq(sx_results_at(results, i).status, -(int32_t)(count - kept + i));
        cr_expect_eq(sx_results_at(results, i).subject, UINT64_C(1) << 32 | (count - kept + i));
    }
}

Test(results, are_kept_in_their_order_also_when_there_is_room_for_more)
{
    static const size_t under_way[] = { 1, 16, 17, 1000, 3 };
    struct sx_results results = { .all = NULL };
    uint32_t count = 0;
    size_t room = 0, kept = 0;

    for (size_t i = 0; i < sizeof(under_way) / sizeof(under_way[0]); i++) {
        cr_assert(sx_results_reserve(&results, under_way[i]));
        cr_expect_geq(results.capacity, under_way[i]);
        cr_expect_geq(results.capacity, room, "it does not shrink");
        room = results.capacity;
        expect(&results, kept, count);
        for (size_t n = 0; n < 2 * room + 1; n++, count++) {
            sx_results_keep(&results, (struct sx_result){ .op = count,
                                                          .status = -(int32_t)count,
                                                          .subject = UINT64_C(1) << 32 | count });
            kept += kept < room;
            expect(&results, kept, count + 1);
        }
    }
    sx_results_clear(&results);
    cr_expect_eq(sx_results_count(&results), 0);
}

Test(results, of_a_client_that_has_never_arrived_are_not_kept)
{
    struct sx_results results = { .all = NULL };

    sx_results_keep(&results, (struct sx_result){ .op = 1 });
    cr_expect_eq(sx_results_count(&results), 0);
}
