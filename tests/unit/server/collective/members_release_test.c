/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members_release_test.c - the end of a collective is in the rings of those who wait, and they and
 * nobody else are woken. */
#include <stdlib.h>

#include "../bare.h"
#include "server/collective/members.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_ring_cursor cursor;

/* The first @connected of @ranks processes are connected, the last of these first. */
static void begin(uint32_t ranks, uint32_t connected)
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

Test(members_release, tells_those_who_have_arrived_in_the_order_of_their_slots)
{
    struct sx_record_done done;

    begin(8, 8);
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
    begin(8, 8);
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

    begin(ranks, 1);
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

Test(members_release, nobody_is_told_where_nobody_waits)
{
    struct sx_record_done done;

    begin(2, 2);
    struct sx_members members = gather(0);

    sx_members_release(&members, PMIX_SUCCESS, 0);
    cr_expect_not(next(&done, entries));
    cr_expect_eq(bare_rings(&server, sx_client_find(job, 0)), 0);
    sx_members_clear(&members);
    bare_deinit(&server);
}

Test(members_release, one_that_is_refused_hears_it_alone_and_its_last_results_are_kept)
{
    struct sx_record_done done;

    begin(2, 2);
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
