/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members_test.c - who of a signature is here, who is missing, and who is waited for no more. */
#include "server/collective/operation.h"

#include <stdio.h>
#include <stdlib.h>

#include "../bare.h"
#include "server/collective/collective.h"

static struct sx_server server;
static struct sx_members members;
static const struct sx_member_ends ends = { .died = PMIX_ERR_LOST_CONNECTION,
                                            .departed = PMIX_ERR_PARTIAL_SUCCESS };

static void begin(void)
{
    bare_init(&server);
    members = (struct sx_members){ .server = &server };
}

static void end(void)
{
    sx_members_clear(&members);
    bare_deinit(&server);
}

TestSuite(members, .init = begin, .fini = end);

static void names(uint32_t rank, const char *name)
{
    pmix_proc_t *const grown = realloc(members.procs, (members.proc_count + 1) * sizeof(*grown));

    cr_assert_not_null(grown);
    members.procs = grown;
    PMIx_Load_procid(&members.procs[members.proc_count++], name, rank);
}

static struct sx_client *client_of(const char *name, uint32_t rank)
{
    struct sx_client *const client = sx_client_find(sx_nspace_find(&server, name), rank);

    cr_assert_not_null(client);
    return client;
}

Test(members, are_those_that_the_signature_names_each_once)
{
    bare_job(&server, "a", 3, 3);
    bare_job(&server, "b", 3, 3);
    names(1, "a");
    names(PMIX_RANK_WILDCARD, "a");
    names(2, "b");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect_eq(members.count, 4);
    for (uint32_t rank = 0; rank < 3; rank++) {
        cr_expect_not_null(sx_members_find(&members, client_of("a", rank)));
        cr_expect_eq(client_of("a", rank)->reference_count, 2, "retained once");
    }
    cr_expect_not_null(sx_members_find(&members, client_of("b", 2)));
    cr_expect_null(sx_members_find(&members, client_of("b", 1)));
    cr_expect_not(members.incomplete);
}

Test(members, of_an_unknown_namespace_are_not_found)
{
    names(0, "a");
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(members.count, 0);
    cr_expect_null(sx_members_find(&members, NULL), "nor in an array that is not there");
}

/* The signature has waited for @nspace, and waits no longer. */
static bool is_added(const struct sx_nspace *nspace)
{
    const bool awaited = sx_members_await(&members, nspace);

    if (awaited) {
        sx_members_look_again(&members);
    }
    return awaited;
}

Test(members, of_a_namespace_to_come_are_awaited_until_it_is_registered)
{
    bare_job(&server, "a", 1, 1);
    names(0, "a");
    names(1, "b");
    names(0, "c");
    members.awaits_unknown = true;
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect(sx_members_absent(&members).unknown);
    cr_expect_not(is_added(bare_job(&server, "other", 1, 1)));
    struct sx_nspace *const b = sx_nspace_obtain(&server, "b");

    cr_assert_not_null(sx_client_add(b, 0)); /* the host begins with the clients */
    cr_expect(sx_members_absent(&members).unknown);
    b->registered = true;
    b->job_size = b->local_count = 2;
    cr_expect(is_added(b));
    cr_expect(sx_members_absent(&members).unknown, "there is no c yet");
    cr_expect(is_added(bare_job(&server, "c", 1, 1)));
    cr_expect_not(sx_members_absent(&members).unknown);
    cr_expect_eq(sx_members_absent(&members).announced, 1);
    cr_expect_not(is_added(b), "all are known");
}

Test(members, of_a_namespace_that_has_ended_are_not_found_until_its_name_returns)
{
    bare_job(&server, "a", 1, 1);
    sx_nspace_end(&server, sx_nspace_find(&server, "a"));
    names(0, "a");
    members.awaits_unknown = true;
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_ERR_NOT_FOUND);
    for (unsigned i = 1; i < SX_ENDED_NAMES_MAX; i++) {
        char other[16];

        snprintf(other, sizeof(other), "x%u", i);
        sx_name_ended(&server, other);
    }
    cr_expect_not(sx_name_may_come(&server, "a"));
    sx_name_returns(&server, "a");
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    sx_name_ended(&server, "a");
    cr_expect_not(sx_name_may_come(&server, "a"));
    cr_expect(sx_name_may_come(&server, "never"));
}

/* Each of the walks over a long list costs a search for each name, not for each process. */
Test(members, of_few_namespaces_take_few_searches_however_many_are_named)
{
    const unsigned count = 1000;

    bare_job(&server, "a", count, 1);
    for (unsigned rank = 0; rank < count; rank++) {
        names(rank, "a");
    }
    names(0, "b");
    members.awaits_unknown = true;
    const uint64_t before = server.registry.lookups;

    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect(sx_members_absent(&members).unknown);
    cr_expect(is_added(bare_job(&server, "b", 1, 1)));
    cr_expect_eq(sx_members_catch_up(&members), PMIX_SUCCESS);
    cr_expect_leq(server.registry.lookups - before, 32, "%llu searches",
                  (unsigned long long)(server.registry.lookups - before));
}

Test(members, who_has_died_ends_it_and_who_has_departed_is_left_out)
{
    bare_job(&server, "a", 3, 3);
    client_of("a", 1)->departed = true;
    names(PMIX_RANK_WILDCARD, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect_eq(members.count, 2);
    cr_expect(members.incomplete);
    sx_members_clear(&members);
    members = (struct sx_members){ .server = &server };
    names(PMIX_RANK_WILDCARD, "a");
    client_of("a", 2)->state = SX_CLIENT_DEAD;
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_ERR_LOST_CONNECTION);
}

Test(members, that_have_gone_end_it_as_the_ends_of_its_kind_say)
{
    static const struct sx_member_ends lenient = { .died = PMIX_ERR_PARTIAL_SUCCESS,
                                                   .left = PMIX_ERR_PROC_TERM_WO_SYNC,
                                                   .departed = PMIX_ERR_TIMEOUT };

    bare_job(&server, "a", 3, 3);
    cr_expect_eq(sx_member_end(&lenient, client_of("a", 0)), PMIX_SUCCESS, "it is there");
    client_of("a", 1)->state = SX_CLIENT_DEAD;
    names(PMIX_RANK_WILDCARD, "a");
    cr_assert_eq(sx_members_gather(&members, &lenient), PMIX_SUCCESS);
    cr_expect_eq(members.count, 2);
    cr_expect(members.incomplete);
    sx_members_clear(&members);
    members = (struct sx_members){ .server = &server };
    names(PMIX_RANK_WILDCARD, "a");
    client_of("a", 1)->departed = true;
    cr_expect_eq(sx_members_gather(&members, &lenient), PMIX_ERR_TIMEOUT);
    client_of("a", 0)->left = true;
    cr_expect_eq(sx_member_end(&lenient, client_of("a", 0)), PMIX_ERR_PROC_TERM_WO_SYNC);
    cr_expect_eq(sx_member_end(&ends, client_of("a", 0)), PMIX_SUCCESS, "it may come again");
}

Test(members, arrive_and_what_they_bring_is_counted_until_the_end)
{
    bare_job(&server, "a", 2, 2);
    names(0, "a");
    names(1, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    struct sx_client *const client = client_of("a", 1);
    struct sx_member *const member = sx_members_find(&members, client);

    cr_expect_not(sx_members_somebody_waits(&members));
    sx_members_arrive(&members, member, 77, 1000);
    cr_expect(member->arrived);
    cr_expect_eq(member->op, 77);
    cr_expect_eq(members.arrived_count, 1);
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 1);
    cr_expect_eq(client->pending_bytes[SX_PENDING_ARRIVAL], 1000);
    cr_expect_not(sx_members_somebody_waits(&members), "it is not connected");
    client->state = SX_CLIENT_CONNECTED;
    cr_expect(sx_members_somebody_waits(&members));
    sx_members_clear(&members);
    members = (struct sx_members){ .server = &server };
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(client->pending_bytes[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(client->reference_count, 1);
}

Test(members, leave_and_the_others_are_found_as_before)
{
    bare_job(&server, "a", 3, 3);
    names(PMIX_RANK_WILDCARD, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    sx_members_arrive(&members, sx_members_find(&members, client_of("a", 1)), 77, 1000);
    sx_members_leave(&members, sx_members_find(&members, client_of("a", 1)));
    cr_expect_eq(members.arrived_count, 0);
    cr_expect_eq(client_of("a", 1)->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(client_of("a", 1)->pending_bytes[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(members.count, 2);
    cr_expect(members.incomplete);
    cr_expect_null(sx_members_find(&members, client_of("a", 1)));
    cr_expect_eq(client_of("a", 1)->reference_count, 1);
    cr_expect_not_null(sx_members_find(&members, client_of("a", 0)));
    cr_expect_not_null(sx_members_find(&members, client_of("a", 2)));
}

/* Each hangs at its client, in the order of the operations. */
static void expect_hung(const struct sx_members *first, const struct sx_members *second)
{
    for (size_t i = 0; i < second->count; i++) {
        struct sx_client *const client = second->all[i].client;
        struct sx_list *it = &client->operations;

        if (sx_members_find(first, client) != NULL) {
            it = it->next;
            cr_expect_eq(it, &sx_members_find(first, client)->of_client);
        }
        cr_expect_eq(it->next, &second->all[i].of_client);
        cr_expect_eq(client->operations.prev, &second->all[i].of_client);
    }
}

Test(members, that_move_hang_at_their_clients_beside_those_of_other_operations)
{
    struct sx_nspace *const job = bare_job(&server, "a", 40, 4);
    struct sx_members first;

    names(PMIX_RANK_WILDCARD, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    first = members;
    members = (struct sx_members){ .server = &server };
    names(PMIX_RANK_WILDCARD, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    expect_hung(&first, &members);
    sx_members_leave(&first, &first.all[0]);
    expect_hung(&first, &members);
    for (uint32_t rank = 4; rank < 40; rank++) { /* the lists move as they grow, and in them */
        struct sx_client *const client = sx_client_add(job, rank);

        cr_assert_eq(sx_members_expect(&first, client), PMIX_SUCCESS);
        cr_assert_eq(sx_members_expect(&members, client), PMIX_SUCCESS);
        expect_hung(&first, &members);
    }
    sx_members_clear(&first);
}

Test(members, that_are_registered_later_are_expected_when_they_are_named)
{
    struct sx_nspace *const nspace = bare_job(&server, "a", 4, 1);

    bare_job(&server, "b", 4, 1);
    names(0, "a");
    names(2, "a");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    for (uint32_t rank = 1; rank < 4; rank++) {
        cr_assert_eq(sx_members_expect(&members, sx_client_add(nspace, rank)), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_members_expect(&members, client_of("a", 2)), PMIX_SUCCESS, "again");
    cr_assert_eq(sx_members_expect(&members, client_of("b", 0)), PMIX_SUCCESS);
    cr_expect_eq(members.count, 2);
    cr_expect_not_null(sx_members_find(&members, client_of("a", 2)));
    cr_expect_null(sx_members_find(&members, client_of("a", 1)));
    cr_expect_null(sx_members_find(&members, client_of("b", 0)));
}

/* A job of @job_size, @announced of them here, @registered of these already; @rank is named. */
static const struct {
    const char *why;
    uint32_t job_size, announced, registered, rank;
    size_t want_announced;
    bool want_elsewhere;
} absences[] = {
    { "all are here", 2, 2, 2, PMIX_RANK_WILDCARD, 0, false },
    { "one is still to be registered", 2, 2, 1, PMIX_RANK_WILDCARD, 1, false },
    { "some are on other nodes", 4, 2, 2, PMIX_RANK_WILDCARD, 0, true },
    { "both", 4, 3, 1, PMIX_RANK_WILDCARD, 2, true },
    { "a rank that is here", 4, 2, 2, 1, 0, false },
    { "a rank that is elsewhere", 4, 2, 2, 3, 0, true },
    { "a rank that may be announced", 4, 3, 1, 3, 1, false },
    { "more registered than announced", 4, 1, 2, PMIX_RANK_WILDCARD, 0, true },
    { "a job of which nothing is known", 0, 0, 1, PMIX_RANK_WILDCARD, 0, false },
};

Test(members, that_are_missing_are_announced_here_or_elsewhere)
{
    for (size_t i = 0; i < SX_COUNT(absences); i++) {
        struct sx_nspace *const nspace = bare_job(&server, "a", absences[i].job_size,
                                                  absences[i].registered);

        struct sx_nspace *const gone = bare_job(&server, "gone", 1, 1);

        nspace->local_count = absences[i].announced;
        names(absences[i].rank, "a");
        names(0, "gone"); /* whose members are dead */
        cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
        sx_nspace_remove(&server, gone);
        const struct sx_absent absent = sx_members_absent(&members);

        cr_expect_eq(absent.announced, absences[i].want_announced, "%s", absences[i].why);
        cr_expect_eq(absent.elsewhere, absences[i].want_elsewhere, "%s", absences[i].why);
        sx_members_clear(&members);
        members = (struct sx_members){ .server = &server };
        sx_nspace_remove(&server, nspace);
    }
}

/* The group @name of ranks 0 to @count - 1 of @nspace. */
static void group_of(const char *name, const char *nspace, uint32_t count)
{
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));

    for (uint32_t rank = 0; rank < count; rank++) {
        PMIx_Load_procid(&procs[rank], nspace, rank);
    }
    bare_connected(&server, name, procs, count);
    free(procs);
}

#define MANY 100u

static const struct {
    const char *why;
    uint32_t announced, registered;
    bool all, is_to_come;
    uint32_t want_announced;
    bool want_elsewhere, want_unknown;
} many_absences[] = {
    { "all that are announced are registered", 3, 3, false, false, 0, true, false },
    { "some are announced", 5, 3, false, false, MANY - 3, false, false },
    { "none is here", 0, 0, false, false, 0, true, false },
    { "they are here", MANY, MANY, false, false, 0, false, false },
    { "their job is named besides", 5, 3, true, false, MANY - 3 + 2, true, false },
    { "their job is to come", 0, 3, false, true, 0, false, true },
};

/* As if they were named one by one. */
Test(members, of_a_large_group_that_are_missing_are_each_announced_here_or_elsewhere)
{
    for (size_t i = 0; i < SX_COUNT(many_absences); i++) {
        struct sx_nspace *const nspace = bare_job(&server, "a", 2 * MANY,
                                                  many_absences[i].registered);

        nspace->local_count = many_absences[i].announced;
        nspace->registered = !many_absences[i].is_to_come;
        members.awaits_unknown = many_absences[i].is_to_come;
        group_of("many", "a", MANY);
        if (many_absences[i].all) {
            names(PMIX_RANK_WILDCARD, "a");
        }
        names(PMIX_RANK_WILDCARD, "many");
        cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
        const struct sx_absent absent = sx_members_absent(&members);

        cr_expect_eq(absent.announced, many_absences[i].want_announced, "%s: %zu",
                     many_absences[i].why, absent.announced);
        cr_expect_eq(absent.elsewhere, many_absences[i].want_elsewhere, "%s", many_absences[i].why);
        cr_expect_eq(absent.unknown, many_absences[i].want_unknown, "%s", many_absences[i].why);
        sx_members_clear(&members);
        members = (struct sx_members){ .server = &server };
        sx_memberships_remove(&server, sx_memberships_find(&server, "many"));
        sx_nspace_remove(&server, nspace);
    }
}

/* ---- named by a connected namespace ---------------------------------------------------------- */

/* "both": b.0, a.0 and a.2. */
static struct sx_membership_entry *both_make(void)
{
    const pmix_proc_t procs[] = { { "b", 0 }, { "a", 0 }, { "a", 2 } };

    return bare_connected(&server, "both", procs, SX_COUNT(procs));
}

Test(members, of_a_connected_namespace_are_those_that_it_has_at_the_beginning)
{
    bare_job(&server, "a", 3, 3);
    bare_job(&server, "b", 2, 2);
    struct sx_membership_entry *const both = both_make();

    names(PMIX_RANK_WILDCARD, "both");
    names(1, "both"); /* a.0, once more */
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect_eq(members.count, 3);
    cr_expect_not_null(sx_members_find(&members, client_of("a", 0)));
    cr_expect_not_null(sx_members_find(&members, client_of("a", 2)));
    cr_expect_not_null(sx_members_find(&members, client_of("b", 0)));
    cr_expect_str_eq(members.procs[0].nspace, "both", "the signature is as it was written");
    sx_members_arrive(&members, sx_members_find(&members, client_of("b", 0)), 1, 1000);
    cr_expect_eq(sx_members_find(&members, client_of("b", 0))->bytes,
                 1000 + 3 * sizeof(pmix_proc_t), "and whom they mean");

    sx_memberships_remove(&server, both); /* meanwhile */
    const struct sx_absent absent = sx_members_absent(&members);

    cr_expect_eq(absent.announced, 0);
    cr_expect_not(absent.elsewhere);
    sx_members_clear(&members);
    members = (struct sx_members){ .server = &server };
    names(PMIX_RANK_WILDCARD, "both");
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_ERR_NOT_FOUND, "it is no more");
}

Test(members, of_a_connected_namespace_that_have_left_are_not_found)
{
    const pmix_proc_t gone = { "a", 0 };

    bare_job(&server, "a", 3, 3);
    bare_job(&server, "b", 2, 2);
    cr_assert_eq(sx_memberships_leave(&server, both_make(), &gone), PMIX_SUCCESS);
    names(PMIX_RANK_WILDCARD, "both");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect_eq(members.count, 2);
    cr_expect_not(members.incomplete, "nobody expects it");
    sx_members_clear(&members);
    members = (struct sx_members){ .server = &server };
    names(1, "both");
    cr_expect_eq(sx_members_gather(&members, &ends), PMIX_ERR_NOT_FOUND);
}

Test(members, of_a_connected_namespace_are_expected_and_missed_as_others_are)
{
    struct sx_nspace *const a = bare_job(&server, "a", 3, 1);

    bare_job(&server, "b", 2, 0); /* on another node */
    a->local_count = 3;
    both_make();
    names(PMIX_RANK_WILDCARD, "both");
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    cr_expect_eq(members.count, 1);
    struct sx_absent absent = sx_members_absent(&members);

    cr_expect_eq(absent.announced, 1);
    cr_expect(absent.elsewhere);
    for (uint32_t rank = 1; rank < 3; rank++) {
        cr_assert_eq(sx_members_expect(&members, sx_client_add(a, rank)), PMIX_SUCCESS);
    }
    cr_expect_eq(members.count, 2);
    cr_expect_null(sx_members_find(&members, client_of("a", 1)), "which is no member");
    absent = sx_members_absent(&members);
    cr_expect_eq(absent.announced, 0);
}

/* ---- their release --------------------------------------------------------------------------- */

/* The end of a collective is in the rings of those who wait, and they and
 * nobody else are woken. */

static struct sx_nspace *job;
static struct sx_ring_cursor cursor;

/* The first @connected of @ranks processes are connected, the last of these first. */
static void release_begin(uint32_t ranks, uint32_t connected)
{
    bare_init(&server);
    job = bare_job(&server, "job", ranks, ranks);
    while (connected-- > 0) {
        (void)bare_connect(&server, job, connected);
    }
    sx_ring_seek_now(&cursor, &job->ring);
}

/* The next record.  Return: false when there is none. */
static bool next(struct sx_record_done *ret_done, struct sx_record_done_entry *ret_entries)
{
    _Alignas(8) char record[SX_RING_RECORD_MAX];
    const char *const body = record + sizeof(struct sx_record_header);
    uint64_t lost;

    if (sx_ring_next(&cursor, 1u << SX_CLASS_COLLECTIVE, record, &lost) != PMIX_SUCCESS) {
        return false;
    }
    cr_assert_eq(((struct sx_record_header *)(void *)record)->kind, SX_RECORD_DONE);
    memcpy(ret_done, body, sizeof(*ret_done));
    memcpy(ret_entries, body + sizeof(*ret_done), ret_done->count * sizeof(*ret_entries));
    return true;
}

/* Ranks 0 to @arrived - 1 have arrived, each with 100 + its rank. */
static struct sx_members gather(uint32_t arrived)
{
    static const struct sx_member_ends ends = { .died = PMIX_ERR_LOST_CONNECTION };
    struct sx_members members = { .server = &server, .procs = calloc(1, sizeof(pmix_proc_t)) };

    cr_assert_not_null(members.procs);
    PMIx_Load_procid(&members.procs[members.proc_count++], "job", PMIX_RANK_WILDCARD);
    cr_assert_eq(sx_members_gather(&members, &ends), PMIX_SUCCESS);
    for (uint32_t rank = 0; rank < arrived; rank++) {
        cr_assert(sx_results_reserve(&sx_client_find(job, rank)->results, 1));
        sx_members_arrive(&members, sx_members_find(&members, sx_client_find(job, rank)),
                          100 + rank, 0);
    }
    return members;
}

static struct sx_record_done_entry entries[SX_RECORD_DONE_ENTRIES];

Test(members_release, notifies_those_who_have_arrived_in_the_order_of_their_slots)
{
    struct sx_record_done done;

    release_begin(8, 8);
    struct sx_members members = gather(4);
    const uint32_t doors = sx_door_epoch(&job->ring.header->doors[SX_CLASS_COLLECTIVE]);

    sx_client_find(job, 2)->state = SX_CLIENT_FINALIZED; /* it has arrived, and gone meanwhile */
    sx_members_release(&members, PMIX_ERR_TIMEOUT, 0x500000007);
    cr_assert(next(&done, entries));
    cr_expect_eq(done.status, PMIX_ERR_TIMEOUT);
    cr_expect_eq(done.subject, 0x500000007);
    cr_assert_eq(done.count, 3);
    static const uint32_t by_slot[] = { 3, 1, 0 };

    for (size_t i = 0; i < SX_COUNT(by_slot); i++) {
        const struct sx_client *const client = sx_client_find(job, by_slot[i]);

        cr_expect_eq(entries[i].slot, client->slot);
        cr_expect_eq(entries[i].op, 100 + client->rank);
        cr_expect_eq(sx_results_at(&client->results, 0).op, 100 + client->rank,
                     "and it may ask again");
        cr_expect_eq(sx_results_at(&client->results, 0).status, PMIX_ERR_TIMEOUT);
        cr_expect_eq(sx_results_at(&client->results, 0).subject, 0x500000007);
        cr_expect_eq(bare_rings(&server, client), 1);
    }
    cr_expect_eq(bare_rings(&server, sx_client_find(job, 4)), 0, "which has not arrived");
    cr_expect_eq(sx_client_find(job, 4)->results.count, 0);
    cr_expect_eq(sx_door_epoch(&job->ring.header->doors[SX_CLASS_COLLECTIVE]), doors, "a few only");
    cr_expect_not(next(&done, entries));
    sx_members_clear(&members);
    bare_deinit(&server);
}

Test(members_release, of_half_of_them_or_more_rings_one_door)
{
    release_begin(8, 8);
    struct sx_members members = gather(4);
    const uint32_t doors = sx_door_epoch(&job->ring.header->doors[SX_CLASS_COLLECTIVE]);

    sx_members_release(&members, PMIX_SUCCESS, 0);
    cr_expect_eq(sx_door_epoch(&job->ring.header->doors[SX_CLASS_COLLECTIVE]), doors + 1);
    cr_expect_eq(bare_rings(&server, sx_client_find(job, 0)), 0);
    sx_members_clear(&members);
    bare_deinit(&server);
}

Test(members_release, of_many_takes_several_records)
{
    const uint32_t ranks = SX_RECORD_DONE_ENTRIES + 3;
    struct sx_record_done done;

    release_begin(ranks, 1);
    for (uint32_t rank = 1; rank < ranks; rank++) { /* connected, but without a lane of their own */
        sx_client_find(job, rank)->state = SX_CLIENT_CONNECTED;
        sx_client_find(job, rank)->slot = rank;
        job->connected_count++;
    }
    struct sx_members members = gather(ranks);

    sx_members_release(&members, PMIX_SUCCESS, 0);
    cr_assert(next(&done, entries));
    cr_expect_eq(done.count, SX_RECORD_DONE_ENTRIES);
    cr_expect_eq(entries[SX_RECORD_DONE_ENTRIES - 1].slot, SX_RECORD_DONE_ENTRIES - 1);
    cr_assert(next(&done, entries));
    cr_expect_eq(done.count, 3);
    cr_expect_eq(entries[0].slot, SX_RECORD_DONE_ENTRIES);
    cr_expect_not(next(&done, entries));
    sx_members_clear(&members);
    bare_deinit(&server);
}

Test(members_release, nobody_is_notified_where_nobody_waits)
{
    struct sx_record_done done;

    release_begin(2, 2);
    struct sx_members members = gather(0);

    sx_members_release(&members, PMIX_SUCCESS, 0);
    cr_expect_not(next(&done, entries));
    cr_expect_eq(bare_rings(&server, sx_client_find(job, 0)), 0);
    sx_members_clear(&members);
    bare_deinit(&server);
}

Test(members_release, one_that_is_refused_receives_it_alone_and_its_last_results_are_kept)
{
    struct sx_record_done done;

    release_begin(2, 2);
    struct sx_client *const client = sx_client_find(job, 1);

    sx_server_set(&server);
    cr_assert(sx_results_reserve(&client->results, 16));
    for (uint32_t op = 0; op <= 16; op++) {
        sx_members_refuse(client, op, PMIX_ERR_NOT_FOUND);
        cr_assert(next(&done, entries));
        cr_expect_eq(done.status, PMIX_ERR_NOT_FOUND);
        cr_expect_eq(done.subject, 0, "there is none");
        cr_expect_eq(entries[0].slot, client->slot);
        cr_expect_eq(entries[0].op, op);
    }
    sx_server_set(NULL);
    cr_expect_eq(sx_results_count(&client->results), 16);
    cr_expect_eq(sx_results_at(&client->results, 0).op, 1);
    cr_expect_eq(sx_results_at(&client->results, 15).op, 16, "in the place of the oldest");
    cr_expect_eq(bare_rings(&server, client), 16 + 1);
    cr_expect_eq(bare_rings(&server, sx_client_find(job, 0)), 0);
    bare_deinit(&server);
}
