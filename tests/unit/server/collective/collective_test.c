/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_test.c - an arrival finds its operation; nobody looks at those of others.  No process
 * of the job is connected, so nobody is told of an end: what is counted is who waits still. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hosted.h"
#include "../opened.h"
#include "server/collective/collective.h"
#include "server/collective/engine.h"
#include "server/entry/entry.h"
#include "server/group/group.h"
#include "server/model/state.h"

#define NSPACE "fences"
#define RANKS 40u
#define GENERATIONS 100u

static void begin(void)
{
    hosted_begin();
    hosted_job_of(NSPACE, RANKS, RANKS);
}

TestSuite(collective, .init = begin, .fini = hosted_end);

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, NSPACE), rank);
}

/* @rank comes to the fence of the ranks 0 to @last. */
static void arrive(struct sx_server *server, uint32_t rank, uint32_t last)
{
    static uint32_t op;
    _Alignas(8) char message[sizeof(struct sx_lane_arrive) + RANKS * 16] = { 0 };
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE,
                                         .op = ++op,
                                         .proc_count = last + 1 };
    char *at = message + sizeof(head);

    memcpy(message, &head, sizeof(head));
    for (uint32_t i = 0; i <= last; i++, at += 16) {
        const uint32_t proc[2] = { i, (uint32_t)strlen(NSPACE) };

        memcpy(at, proc, sizeof(proc));
        memcpy(at + sizeof(proc), NSPACE, strlen(NSPACE));
    }
    cr_assert_eq(sx_collective_arrive(server, client_of(server, rank),
                                      opened(&sx_arrive_body, message, (size_t)(at - message))),
                 PMIX_SUCCESS);
}

static pmix_status_t counted(struct sx_server *server, void *arg)
{
    (void)arg;
    arrive(server, 0, 2);
    arrive(server, 0, 2); /* its next fence, which the others come to later */
    arrive(server, 1, 2);
    cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_ARRIVAL], 2);
    cr_expect_eq(client_of(server, 0)->pending_bytes[SX_PENDING_ARRIVAL], 6 * sizeof(pmix_proc_t));
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], 1);
    arrive(server, 2, 2);
    cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_ARRIVAL], 1,
                 "the first has ended");
    cr_expect_eq(client_of(server, 0)->pending_bytes[SX_PENDING_ARRIVAL], 3 * sizeof(pmix_proc_t));
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(client_of(server, 2)->pending_counts[SX_PENDING_ARRIVAL], 0);
    arrive(server, 2, 2);
    arrive(server, 1, 2);
    cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect(sx_list_empty(&server->collective.all));
    cr_expect_eq(server->collective.signatures.count, 0);
    return PMIX_SUCCESS;
}

Test(collective, who_waits_is_counted_until_the_operation_ends)
{
    hosted_call(counted, NULL);
}

static pmix_status_t untouched(struct sx_server *server, void *arg)
{
    (void)arg;
    for (uint32_t last = 2; last < RANKS; last++) {
        arrive(server, 0, last);
    }
    /* Whoever walks the list of all operations does not come back. */
    const struct sx_list all = server->collective.all;

    server->collective.all = (struct sx_list){ NULL, NULL };
    for (uint32_t last = 2; last < RANKS; last++) {
        arrive(server, 1, last);
    }
    server->collective.all = all;
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], RANKS - 2,
                 "it has found them all");
    cr_expect_eq(server->collective.signatures.count, RANKS - 2);
    return PMIX_SUCCESS;
}

Test(collective, an_arrival_walks_no_operations)
{
    hosted_call(untouched, NULL);
}

/* Rank 0 is far ahead; the others follow one by one, each in the order of rank 0's calls. */
static pmix_status_t in_order(struct sx_server *server, void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        arrive(server, 0, 2);
    }
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        arrive(server, 1, 2);
        cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], i + 1);
    }
    cr_expect_eq(server->collective.signatures.count, 1, "one signature");
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        arrive(server, 2, 2);
        cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_ARRIVAL], GENERATIONS - i - 1);
        cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], GENERATIONS - i - 1);
        cr_expect_eq(client_of(server, 2)->pending_counts[SX_PENDING_ARRIVAL], 0,
                     "each call meets those of the others");
    }
    cr_expect_eq(server->collective.signatures.count, 0);
    return PMIX_SUCCESS;
}

Test(collective, many_calls_of_one_signature_meet_in_their_order)
{
    hosted_call(in_order, NULL);
}

/* ---- written in another way
 * ------------------------------------------------------------------- */

/* Ranks 1 and 0 of the job, in this order. */
static pmix_status_t arrive_turned(struct sx_server *server, uint8_t kind)
{
    struct {
        struct sx_lane_arrive head;
        struct {
            uint32_t rank, name_len;
            char name[8];
        } procs[2];
    } message = { { .kind = kind, .op = 1, .proc_count = 2 },
                  { { 1, sizeof(NSPACE) - 1, NSPACE }, { 0, sizeof(NSPACE) - 1, NSPACE } } };

    return sx_collective_arrive(server, client_of(server, 0),
                                opened(&sx_arrive_body, &message, sizeof(message)));
}

static pmix_status_t turned(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect_eq(arrive_turned(server, SX_COLLECTIVE_FENCE), PMIX_ERR_BAD_PARAM, "a breach");
    cr_expect_eq(arrive_turned(server, SX_COLLECTIVE_GROUP_DESTRUCT), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(arrive_turned(server, 0), PMIX_ERR_BAD_PARAM, "there is no such kind");
    cr_expect_eq(arrive_turned(server, SX_COLLECTIVE_GROUP_CONSTRUCT), PMIX_SUCCESS);
    cr_expect(sx_list_empty(&server->collective.all), "it has no name, and is refused for that");
    return PMIX_SUCCESS;
}

Test(collective, processes_are_in_order_unless_their_order_means_something)
{
    hosted_call(turned, NULL);
}

/* ---- named by connected ranks
 * ------------------------------------------------------------------ */

/* @rank comes to the fence of all of "some". */
static void arrive_at_some(struct sx_server *server, uint32_t rank)
{
    struct {
        struct sx_lane_arrive head;
        uint32_t rank, name_len;
        char name[8];
    } message = {
        { .kind = SX_COLLECTIVE_FENCE, .op = 1, .proc_count = 1 }, PMIX_RANK_WILDCARD, 4, "some"
    };

    cr_assert_eq(sx_collective_arrive(server, client_of(server, rank),
                                      opened(&sx_arrive_body, &message, sizeof(message))),
                 PMIX_SUCCESS);
}

/* The ranks 3, 1 and 2 are connected; rank 2 dies, and then leaves. */
static pmix_status_t bereaved(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = { { NSPACE, 3 }, { NSPACE, 1 }, { NSPACE, 2 } };
    const struct sx_membership_options options = {
        .name = "some", .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = 3
    };
    struct sx_client *const victim = client_of(server, 2);
    struct sx_membership_entry *some;

    (void)arg;
    cr_assert_eq(sx_memberships_add(server, &options, &some), PMIX_SUCCESS);
    arrive_at_some(server, 1);
    arrive_at_some(server, 3);
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], 1);
    victim->state = SX_CLIENT_DEAD;
    sx_collective_client_gone(server, victim);
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], 0, "it has ended");
    cr_assert_eq(sx_memberships_leave(server, some, &procs[2]), PMIX_SUCCESS);
    arrive_at_some(server, 1);
    cr_expect_eq(client_of(server, 1)->pending_counts[SX_PENDING_ARRIVAL], 1, "but without it");
    arrive_at_some(server, 3);
    cr_expect(sx_list_empty(&server->collective.all));
    victim->state = SX_CLIENT_REGISTERED;
    return PMIX_SUCCESS;
}

Test(collective, of_connected_ranks_goes_on_without_who_has_left_and_ends_with_who_dies)
{
    hosted_call(bereaved, NULL);
}

/* ---- arrivals that name many processes ------------------------------------------------------- */

#define MANY (2 * SX_ARRIVE_AT_ONCE_MAX)

/* A frame of @rank's arrival at an operation of ranks 0 and 1, and of many of a job to come. */
static struct sx_frame long_frame(uint32_t kind, uint32_t id)
{
    static const char later[] = "later";
    const struct sx_lane_arrive head = { .kind = (uint8_t)kind, .op = id, .proc_count = MANY + 2 };
    struct sx_pages pages = { .at = NULL };

    cr_assert(sx_pages_grow(&pages, 0, sizeof(head) + head.proc_count * 16));
    memset(pages.at, 0, pages.size);
    memcpy(pages.at, &head, sizeof(head));
    for (uint32_t i = 0; i < head.proc_count; i++) {
        uint8_t *const at = pages.at + sizeof(head) + i * 16;
        const char *const name = i < 2 ? NSPACE : later;
        const bool all = kind == SX_COLLECTIVE_GROUP_CONSTRUCT && i + 1 == head.proc_count;
        const uint32_t rank = i < 2 ? i : all ? PMIX_RANK_WILDCARD : i - 2;
        const uint32_t proc[2] = { rank, (uint32_t)strlen(name) };

        memcpy(at, proc, sizeof(proc));
        memcpy(at + sizeof(proc), name, strlen(name));
    }
    struct sx_frame frame = opened_frame(SX_MSG_ARRIVE_BULK, id, pages.at, pages.size);

    frame.bulk_pages = pages;
    return frame;
}

static void long_begins(struct sx_server *server, uint32_t kind, uint32_t rank)
{
    struct sx_frame frame = long_frame(kind, rank + 1);
    struct sx_client *const client = client_of(server, rank);

    cr_assert(sx_collective_arrive_long(server, client, &frame));
    cr_expect_null(frame.bulk_pages.at, "it owns them now");
    cr_expect_not(sx_list_empty(&client->share.works));
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 1);
}

/* It charges what it has read, so that its client has no second step in that turn. */
static void long_steps(struct sx_server *server, uint32_t rank)
{
    struct sx_client *const client = client_of(server, rank);
    const uint32_t before = server->turn.units;

    sx_share_work_step(client);
    cr_expect_geq(server->turn.units - before, MANY / SX_ARRIVE_PROCS_PER_UNIT);
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 1);
}

static pmix_status_t over_turns(struct sx_server *server, void *arg)
{
    struct sx_client *const first = client_of(server, 0), *const second = client_of(server, 1);

    (void)arg;
    long_begins(server, SX_COLLECTIVE_FENCE, 0);
    cr_expect(sx_list_empty(&server->collective.all));
    long_steps(server, 0);
    cr_expect(sx_list_empty(&server->collective.all), "it is read, and no more");
    long_steps(server, 0);
    cr_expect(sx_list_empty(&first->share.works));
    cr_assert_eq(server->collective.signatures.count, 1);
    long_begins(server, SX_COLLECTIVE_FENCE, 1);
    long_steps(server, 1);
    sx_pending_client_gone(server, second);
    cr_expect(sx_list_empty(&second->share.works), "nothing is left of one that has gone");
    cr_expect_eq(second->pending_counts[SX_PENDING_ARRIVAL], 0);
    long_begins(server, SX_COLLECTIVE_FENCE, 1);
    long_steps(server, 1);
    long_steps(server, 1);
    cr_expect_eq(server->collective.signatures.count, 1, "they have met");
    struct sx_collective *const fence = SX_LIST_ENTRY(server->collective.all.next,
                                                      struct sx_collective, link);

    cr_expect_eq(fence->members.arrived_count, 2);
    return PMIX_SUCCESS;
}

Test(collective, a_long_arrival_is_read_in_one_turn_and_joins_in_another)
{
    hosted_call(over_turns, NULL);
}

/* A group's members are in its callers' order: their list is read, copied, and sorted in a turn of
 * its own each. */
static pmix_status_t sorted_between(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, 0);

    (void)arg;
    long_begins(server, SX_COLLECTIVE_GROUP_CONSTRUCT, 0);
    for (unsigned step = 0; step < 4; step++) {
        long_steps(server, 0);
        cr_expect_not(sx_list_empty(&client->share.works), "it has not joined yet: %u", step);
    }
    sx_pending_client_gone(server, client);
    cr_expect(sx_list_empty(&client->share.works));
    /* What it has read is read anew when a namespace is registered meanwhile. */
    long_begins(server, SX_COLLECTIVE_GROUP_CONSTRUCT, 0);
    for (unsigned step = 0; step < 7; step++) {
        server->collective.registrations += step == 3;
        long_steps(server, 0);
        cr_expect_not(sx_list_empty(&client->share.works), "%u", step);
    }
    sx_pending_client_gone(server, client);
    return PMIX_SUCCESS;
}

Test(collective, a_long_list_of_a_group_is_read_in_steps)
{
    hosted_call(sorted_between, NULL);
}

enum { LATER_RANKS = MANY + 5 };

static struct sx_collective *only_one(const struct sx_server *server)
{
    return SX_LIST_ENTRY(server->collective.all.next, struct sx_collective, link);
}

/* The first process constructs a group with many of @later, and all of it. */
static void group_begins(struct sx_server *server, const char *later)
{
    static pmix_proc_t procs[MANY + 2];
    struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_GROUP_CONSTRUCT, .op = 1 };
    struct sx_client *const client = client_of(server, 0);
    struct sx_pages pages = { .at = NULL };
    pmix_info_t id;
    size_t size;

    for (uint32_t i = 0; i < MANY + 2; i++) {
        PMIx_Load_procid(&procs[i], i == 0 ? NSPACE : later, i < MANY + 1 ? i : PMIX_RANK_WILDCARD);
    }
    PMIx_Info_load(&id, PMIX_GROUP_ID, "group", PMIX_STRING);
    struct sx_draft draft = { .head = &head,
                              .signature = &sx_arrive_body,
                              .nspace = "",
                              .parts[SX_ARRIVE_PROCS] = { procs, MANY + 2 },
                              .parts[SX_ARRIVE_INFOS] = { &id, 1 } };

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert(sx_pages_grow(&pages, 0, size));
    cr_assert_eq(sx_body_write(&draft, pages.at), PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_ARRIVE_BULK, 1, pages.at, size);

    frame.bulk_pages = pages;
    cr_assert(sx_collective_arrive_long(server, client, &frame));
    while (!sx_list_empty(&client->share.works)) {
        sx_share_work_step(client);
    }
    PMIx_Info_destruct(&id);
}

/* The list with the wildcard of a namespace that has been registered now is not read at once, and
 * who waits pays for each step. */
static pmix_status_t registered_late(struct sx_server *server, void *arg)
{
    (void)arg;
    group_begins(server, "later");
    cr_assert_eq(only_one(server)->members.arrived_count, 1);
    cr_assert_eq(only_one(server)->members.proc_count, MANY + 2);
    struct sx_nspace *const later = sx_nspace_obtain(server, "later");
    const uint32_t before = server->turn.units;

    later->job_size = later->local_count = LATER_RANKS;
    later->registered = true;
    sx_collective_nspace_registered(server, later);
    cr_expect_not(sx_list_empty(&server->collective.unread));
    cr_expect_eq(only_one(server)->members.proc_count, MANY + 2, "it is not read yet");
    cr_expect(sx_members_absent(&only_one(server)->members).unknown, "and waits as before");
    cr_expect_geq(server->turn.units - before, MANY / 8);
    return PMIX_SUCCESS;
}

static pmix_status_t is_all_read(struct sx_server *server, void *arg)
{
    *(bool *)arg = sx_list_empty(&server->collective.unread);
    return PMIX_SUCCESS;
}

static pmix_status_t read_meanwhile(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect_eq(only_one(server)->members.proc_count, LATER_RANKS + 1);
    cr_expect_not(sx_members_absent(&only_one(server)->members).unknown);
    return PMIX_SUCCESS;
}

Test(collective, a_list_that_waited_for_a_namespace_is_read_in_several_turns)
{
    bool is_read = false;

    hosted_call(registered_late, NULL);
    for (unsigned turn = 0; turn < 1000 && !is_read; turn++) {
        hosted_call(is_all_read, &is_read);
    }
    cr_expect(is_read);
    hosted_call(read_meanwhile, NULL);
}

/* ---- members by the names of groups ---------------------------------------------------------- */

#define MOST SX_PROCS_MAX

/* Make the group @name of @count processes of a job to come, @first of them first. */
static void group_add(struct sx_server *server, const char *name, uint32_t first, uint32_t count)
{
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));
    const struct sx_membership_options options = {
        .name = name, .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = count
    };
    struct sx_membership_entry *entry;

    for (uint32_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], "later", first + i);
    }
    cr_assert_eq(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
    free(procs);
}

/* Read as members "later.1", then all groups of @names, @count times. */
static pmix_status_t members_read(struct sx_server *server, struct sx_arrival *arrival,
                                  const char *const names[2], size_t count)
{
    pmix_proc_t *const procs = calloc(2 * count + 1, sizeof(*procs));
    pmix_status_t rc;

    *arrival = (struct sx_arrival){ .client = client_of(server, 0),
                                    .kind = SX_COLLECTIVE_GROUP_CONSTRUCT,
                                    .procs = procs,
                                    .proc_count = 2 * count + 1 };
    PMIx_Load_procid(&procs[0], "later", 1);
    for (size_t i = 0; i < 2 * count; i++) {
        PMIx_Load_procid(&procs[i + 1], names[i % 2], PMIX_RANK_WILDCARD);
    }
    do {
        rc = sx_group_construct_prepare(server, arrival);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    return rc;
}

static pmix_status_t by_groups(struct sx_server *server, void *arg)
{
    static const char *const fit[] = { "low", "high" }, *const exceed[] = { "high", "more" };
    struct sx_arrival arrival;
    const uint32_t before = server->turn.units;

    (void)arg;
    group_add(server, "low", 0, 10000);
    group_add(server, "high", 6000, MOST - 6000);
    group_add(server, "more", 5999, 6001);
    cr_assert_eq(members_read(server, &arrival, fit, 1), PMIX_SUCCESS);
    cr_assert_eq(arrival.listed.count, MOST, "each once");
    for (uint32_t i = 0; i < MOST; i++) {
        cr_assert_eq(arrival.listed.all[i].rank, i == 0 ? 1 : i == 1 ? 0 : i, "%u", i);
    }
    cr_expect_eq(arrival.sorted.count, MOST);
    cr_expect_geq(server->turn.units - before, (MOST + 4000) / 64, "it has paid");
    sx_arrival_clear(&arrival);
    cr_expect_eq(members_read(server, &arrival, exceed, 1), PMIX_SUCCESS);
    cr_expect_eq(arrival.listed.count, MOST - 5999 + 1);
    sx_arrival_clear(&arrival);
    group_add(server, "end", MOST, 1);
    group_add(server, "all", 0, MOST);
    cr_expect_eq(members_read(server, &arrival, (const char *const[]){ "all", "end" }, 1),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(arrival.listed.count, MOST, "it goes no further");
    sx_arrival_clear(&arrival);
    cr_expect_eq(members_read(server, &arrival, (const char *const[]){ "all", "all" }, 1),
                 PMIX_ERR_BAD_PARAM, "named too often");
    cr_expect_eq(arrival.listed.count, MOST);
    sx_arrival_clear(&arrival);
    return PMIX_SUCCESS;
}

Test(collective, a_group_of_groups_has_each_process_once_and_no_more_than_a_message)
{
    hosted_call(by_groups, NULL);
}

/* The first process constructs a group with itself and the group "all", by its lane: it names both,
 * or adds the others as the leader of a bootstrap. */
static void constructed(struct sx_server *server, uint32_t op, bool is_bootstrap)
{
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_GROUP_CONSTRUCT, .op = op };
    pmix_proc_t procs[] = { { NSPACE, 0 }, { "all", PMIX_RANK_WILDCARD } };
    pmix_data_array_t added = { .type = PMIX_PROC, .size = 1, .array = &procs[1] };
    const size_t leaders = 1;
    pmix_info_t info[3];
    struct sx_opened body;
    _Alignas(8) uint8_t bytes[1024];
    size_t size;

    PMIx_Info_load(&info[0], PMIX_GROUP_ID, "group", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_SIZE);
    PMIx_Info_load(&info[2], PMIX_GROUP_ADD_MEMBERS, &added, PMIX_DATA_ARRAY);
    struct sx_draft draft = { .head = &head,
                              .signature = &sx_arrive_body,
                              .nspace = "",
                              .parts[SX_ARRIVE_PROCS] = { procs, is_bootstrap ? 1 : 2 },
                              .parts[SX_ARRIVE_INFOS] = { info, is_bootstrap ? 3 : 1 } };

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(bytes));
    cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
    cr_assert_null(sx_body_open(&body, &sx_arrive_body, bytes, size));
    cr_assert_eq(sx_collective_arrive(server, client_of(server, 0), &body), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(info); i++) {
        PMIx_Info_destruct(&info[i]);
    }
}

static void all_constructed(struct sx_server *server, uint32_t op)
{
    constructed(server, op, false);
}

/* What names of groups mean is read, copied, and sorted in a turn of its own each. */
static pmix_status_t by_lane(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, 0);

    (void)arg;
    group_add(server, "all", 0, MOST - 1);
    all_constructed(server, 1);
    for (unsigned step = 0; step < 3; step++) {
        cr_expect(sx_list_empty(&server->collective.all), "it has not joined yet: %u", step);
        cr_assert_not(sx_list_empty(&client->share.works));
        cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 1);
        sx_share_work_step(client);
    }
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 1, "of the construct now");
    cr_assert_not(sx_list_empty(&server->collective.all));
    cr_expect_eq(only_one(server)->members.arrived_count, 1);
    cr_expect_eq(only_one(server)->members.proc_count, MOST);
    cr_expect_str_eq(only_one(server)->id, "group");
    return PMIX_SUCCESS;
}

Test(collective, a_list_that_names_of_groups_stand_for_is_read_in_steps)
{
    hosted_call(by_lane, NULL);
}

/* So are those that a bootstrap adds. */
static pmix_status_t by_bootstrap(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, 0);

    (void)arg;
    group_add(server, "all", 0, MOST - 1);
    constructed(server, 1, true);
    for (unsigned step = 0; step < 3; step++) {
        cr_expect(sx_list_empty(&server->collective.all), "it has not joined yet: %u", step);
        cr_assert_not(sx_list_empty(&client->share.works));
        sx_share_work_step(client);
    }
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(only_one(server)->members.arrived_count, 1);
    cr_expect_eq(only_one(server)->members.proc_count, MOST);
    return PMIX_SUCCESS;
}

Test(collective, a_list_that_a_bootstrap_adds_is_read_in_steps)
{
    hosted_call(by_bootstrap, NULL);
}

/* A hostile client has a request with the number that messages of lanes have. */
static pmix_status_t by_lane_of_zero(struct sx_server *server, void *arg)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_GET };
    struct sx_pending *const zero = calloc(1, sizeof(*zero));
    struct sx_client *const client = client_of(server, 0);

    (void)arg;
    cr_assert_not_null(zero);
    cr_assert_eq(sx_pending_begin(server, client, 0, &kind, zero), PMIX_SUCCESS);
    group_add(server, "all", 0, MOST - 1);
    all_constructed(server, 1);
    cr_expect(sx_list_empty(&server->collective.all), "it has not joined yet");
    cr_expect_not(sx_list_empty(&client->share.works));
    while (!sx_list_empty(&client->share.works)) {
        sx_share_work_step(client);
    }
    cr_expect_eq(only_one(server)->members.arrived_count, 1);
    cr_expect(sx_pending_uses(server, client, 0), "its own request waits still");
    sx_pending_drop(zero);
    cr_expect_eq(client->pending_counts[SX_PENDING_GET], 0);
    return PMIX_SUCCESS;
}

Test(collective, a_list_is_read_in_steps_though_its_client_uses_the_number_of_its_lane)
{
    hosted_call(by_lane_of_zero, NULL);
}

/* Its client has gone, or a group of its list has ended, before it joins. */
static pmix_status_t by_lane_in_vain(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, 0);
    const uint64_t results = client->results.count;

    (void)arg;
    group_add(server, "all", 0, MOST - 1);
    all_constructed(server, 1);
    sx_share_work_step(client);
    sx_pending_client_gone(server, client);
    cr_expect(sx_list_empty(&client->share.works), "nothing is left of one that has gone");
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 0);
    all_constructed(server, 1);
    sx_share_work_step(client);
    sx_memberships_remove(server, sx_memberships_find(server, "all"));
    server->collective.registrations++;
    while (!sx_list_empty(&client->share.works)) {
        sx_share_work_step(client);
    }
    cr_expect_eq(client->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect(sx_list_empty(&server->collective.all));
    cr_expect_eq(client->results.count, results + 1, "its call has ended");
    return PMIX_SUCCESS;
}

Test(collective, a_list_of_groups_that_is_wrong_when_it_is_read_again_ends_its_call)
{
    hosted_call(by_lane_in_vain, NULL);
}

/* ---- ranks that a job cannot have ------------------------------------------------------------ */

/* The first step of a list is its judgement: it is not copied. */
static pmix_status_t beyond(struct sx_server *server, void *arg)
{
    static const uint32_t kinds[] = { SX_COLLECTIVE_FENCE, SX_COLLECTIVE_CONNECT,
                                      SX_COLLECTIVE_GROUP_CONSTRUCT };
    pmix_proc_t procs[3] = { { .nspace = NSPACE, .rank = PMIX_RANK_WILDCARD },
                             { .nspace = NSPACE, .rank = RANKS - 1 },
                             { .nspace = NSPACE, .rank = RANKS } };

    (void)arg;
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        const struct sx_kind *const kind = sx_kind_of(server, kinds[i]);
        struct sx_arrival arrival = { .client = client_of(server, 0),
                                      .kind = kinds[i],
                                      .procs = procs,
                                      .proc_count = SX_COUNT(procs) };

        cr_assert(kind->prepare != NULL || kind->aim != NULL, "kind %u", kinds[i]);
        cr_expect_eq(kind->prepare != NULL ? kind->prepare(server, &arrival)
                                           : kind->aim(server, arrival.client, &arrival),
                     PMIX_ERR_NOT_FOUND, "kind %u", kinds[i]);
        cr_expect_eq(arrival.procs, procs);
        cr_expect_eq(arrival.listed.count, 0);
    }
    cr_expect_eq(sx_ranks_judge(server, SX_COLLECTIVE_FENCE, procs, 2), PMIX_SUCCESS);
    procs[2] = (pmix_proc_t){ .nspace = "unknown", .rank = RANKS };
    cr_expect_eq(sx_ranks_judge(server, SX_COLLECTIVE_FENCE, procs, 3), PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

Test(collective, that_names_a_rank_beyond_the_last_of_its_job_is_refused)
{
    hosted_call(beyond, NULL);
}

/* A fence, and a group, of ranks of a namespace to come, which has fewer. */
static pmix_status_t beyond_later(struct sx_server *server, void *arg)
{
    (void)arg;
    long_begins(server, SX_COLLECTIVE_FENCE, 0);
    while (!sx_list_empty(&client_of(server, 0)->share.works)) {
        sx_share_work_step(client_of(server, 0));
    }
    group_begins(server, "later");
    struct sx_nspace *const later = sx_nspace_obtain(server, "later");

    later->job_size = later->local_count = MANY / 2;
    later->registered = true;
    sx_collective_nspace_registered(server, later);
    return PMIX_SUCCESS;
}

static pmix_status_t none_is_open(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect(sx_list_empty(&server->collective.all));
    return PMIX_SUCCESS;
}

Test(collective, that_names_such_a_rank_ends_when_its_job_is_registered)
{
    bool is_read = false;

    hosted_call(beyond_later, NULL);
    for (unsigned turn = 0; turn < 1000 && !is_read; turn++) {
        hosted_call(is_all_read, &is_read);
    }
    cr_expect(is_read);
    hosted_call(none_is_open, NULL);
}

/* A group of ranks of a namespace that is registered while their list is read. */
static pmix_status_t beyond_meanwhile(struct sx_server *server, void *arg)
{
    struct sx_arrival arrival = { .client = client_of(server, 0),
                                  .kind = SX_COLLECTIVE_GROUP_CONSTRUCT,
                                  .procs = calloc(2, sizeof(pmix_proc_t)),
                                  .proc_count = 2 };
    pmix_status_t rc;

    (void)arg;
    cr_assert_not_null(arrival.procs);
    PMIx_Load_procid(&arrival.procs[0], NSPACE, 0);
    PMIx_Load_procid(&arrival.procs[1], "later", 1);
    cr_assert_eq(sx_group_construct_prepare(server, &arrival), PMIX_ERR_WOULD_BLOCK);
    struct sx_nspace *const later = sx_nspace_obtain(server, "later");

    later->job_size = later->local_count = 1;
    later->registered = true;
    sx_collective_nspace_registered(server, later);
    do {
        rc = sx_group_construct_prepare(server, &arrival);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_expect_eq(rc, PMIX_ERR_NOT_FOUND);
    sx_arrival_clear(&arrival);
    return PMIX_SUCCESS;
}

Test(collective, that_names_such_a_rank_is_refused_when_its_job_is_registered_meanwhile)
{
    hosted_call(beyond_meanwhile, NULL);
}

/* ---- a process in many operations goes ------------------------------------------------------- */

#define OPENERS 17u
#define EACH 4096u /* as many as a process may have open */
#define GOES 0u
#define OTHER 30u
#define THIRD 31u
#define PER_TURN 1500u

/* @rank calls an operation of @kind with @other. */
static void arrive_with(struct sx_server *server, uint8_t kind, uint32_t rank, uint32_t other)
{
    static uint32_t op;
    struct {
        struct sx_lane_arrive head;
        struct {
            uint32_t rank, name_len;
            char name[8];
        } procs[2];
    } message = { .head = { .kind = kind, .op = ++op, .proc_count = 2 } };

    for (unsigned i = 0; i < 2; i++) {
        message.procs[i].rank = (i == 0) == (rank < other) ? rank : other;
        message.procs[i].name_len = sizeof(NSPACE) - 1;
        memcpy(message.procs[i].name, NSPACE, sizeof(NSPACE) - 1);
    }
    cr_assert_eq(sx_collective_arrive(server, client_of(server, rank),
                                      opened(&sx_arrive_body, &message, sizeof(message))),
                 PMIX_SUCCESS);
}

static pmix_status_t many_open(struct sx_server *server, void *arg)
{
    (void)arg;
    for (uint32_t rank = 1; rank < OPENERS; rank++) {
        for (unsigned i = 0; i < EACH / 4; i++) {
            arrive_with(server, SX_COLLECTIVE_FENCE, rank, GOES);
        }
    }
    return PMIX_SUCCESS;
}

/* What is left at the end of each turn. */
static struct {
    struct sx_loop_post post;
    struct sx_server *server;
    size_t left;
} open_watch;

static void turn_is_over(void *arg, uint64_t now_ns)
{
    const size_t left = open_watch.server->collective.open_count;

    (void)arg, (void)now_ns;
    cr_expect_leq(open_watch.left - left, PER_TURN);
    open_watch.left = left;
    if (left > 0) {
        cr_assert_eq(sx_loop_post(open_watch.server->loop, &open_watch.post), PMIX_SUCCESS);
    }
}

/* The last of its operations is a connect, in which it waits.  The other calls it meanwhile. */
static pmix_status_t goes(struct sx_server *server, void *arg)
{
    const size_t before = server->collective.open_count;

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_CONNECT, GOES, OTHER);
    sx_client_take_away(server, client_of(server, GOES));
    cr_expect_eq(server->collective.open_count, before + 1 - PER_TURN, "some in the first turn");
    arrive_with(server, SX_COLLECTIVE_CONNECT, OTHER, GOES);
    cr_expect_eq(client_of(server, OTHER)->pending_counts[SX_PENDING_ARRIVAL], 1);
    cr_expect_eq(server->memberships.names.count, 0, "the dead are not connected");
    open_watch.server = server;
    open_watch.left = server->collective.open_count;
    open_watch.post = (struct sx_loop_post){ .fn = turn_is_over };
    return sx_loop_post(server->loop, &open_watch.post);
}

static pmix_status_t is_over(struct sx_server *server, void *arg)
{
    *(bool *)arg = server->collective.open_count == 0;
    return PMIX_SUCCESS;
}

static pmix_status_t none_is_left(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect_eq(client_of(server, OTHER)->pending_counts[SX_PENDING_ARRIVAL], 0);
    cr_expect_eq(server->memberships.names.count, 0);
    cr_expect(sx_list_empty(&server->collective.ends));
    return PMIX_SUCCESS;
}

Test(collective, the_operations_of_one_that_goes_end_in_steps)
{
    bool over = false;

    hosted_call(many_open, NULL);
    hosted_call(goes, NULL);
    while (!over) { /* bounded by the suite */
        hosted_call(is_over, &over);
    }
    hosted_call(none_is_left, NULL);
}

/* A member leaves before its end has been acted on: nothing is left to be done for that. */
static pmix_status_t leaves_first(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, GOES);

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_FENCE, OTHER, GOES);
    struct sx_collective *const open = SX_LIST_ENTRY(server->collective.all.next,
                                                     struct sx_collective, link);

    *sx_steps_left(&server->collective.ending) = 0;
    sx_client_take_away(server, client);
    cr_expect_eq(open->unlooked, 1);
    sx_members_leave(&open->members, sx_members_find(&open->members, client));
    cr_expect_eq(open->unlooked, 0);
    cr_expect(sx_list_empty(&client->unlooked));
    return PMIX_SUCCESS;
}

Test(collective, of_one_that_goes_forget_a_member_that_has_left)
{
    hosted_call(leaves_first, NULL);
}

/* A look within another one, which it keeps or frees the operation for. */
static pmix_status_t looked_at_twice(struct sx_server *server, void *arg)
{
    bool is_freed = false;

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_FENCE, OTHER, GOES);
    struct sx_collective *const open = SX_LIST_ENTRY(server->collective.all.next,
                                                     struct sx_collective, link);

    open->ret_freed = &is_freed;
    cr_assert(sx_collective_engine.resume(open));
    cr_expect_eq(open->ret_freed, &is_freed);
    cr_expect_not(is_freed);
    open->is_late = true;
    open->late = PMIX_ERR_TIMEOUT;
    cr_expect_not(sx_collective_engine.resume(open));
    cr_expect(is_freed);
    return PMIX_SUCCESS;
}

Test(collective, that_a_look_within_another_one_frees_is_not_looked_at_any_more)
{
    hosted_call(looked_at_twice, NULL);
}

/* Another process comes in its place before all have been looked at: none of them waits for it. */
static pmix_status_t comes_back(struct sx_server *server, void *arg)
{
    struct sx_client *const client = client_of(server, GOES);

    (void)arg;
    sx_client_take_away(server, client);
    cr_expect_gt(server->collective.open_count, 0);
    hosted_client(NSPACE, GOES);
    cr_expect_eq(server->collective.open_count, 0);
    cr_expect(sx_list_empty(&server->collective.ends));
    return PMIX_SUCCESS;
}

Test(collective, end_before_another_process_comes_in_its_place)
{
    hosted_call(many_open, NULL);
    hosted_call(comes_back, NULL);
}

/* The processes go one after the other, in a turn that has acted on enough ends.  The end of the
 * second one ends all that the first one has, and that has still to be seen. */
static pmix_status_t end_of_others(struct sx_server *server, void *arg)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_CONNECT, 1, 2);
    arrive_with(server, SX_COLLECTIVE_CONNECT, 3, 4);
    *sx_steps_left(&server->collective.ending) = 0;
    for (uint32_t rank = 1; rank <= 3; rank++) {
        sx_client_take_away(server, client_of(server, rank));
    }
    hosted_client(NSPACE, 2);
    cr_expect_eq(server->collective.open_count, 1);
    cr_expect_eq(sx_collective_nspace_looks(server, nspace, 1), 1, "there is one more");
    cr_expect_eq(server->collective.open_count, 0);
    cr_expect_eq(sx_collective_nspace_looks(server, nspace, 1), 0);
    return PMIX_SUCCESS;
}

Test(collective, of_a_job_that_ends_are_looked_at_to_the_last_one)
{
    hosted_call(end_of_others, NULL);
}

/* What a tool has departed from ends before the tool is forgotten. */
static pmix_status_t tool_departs(struct sx_server *server, void *arg)
{
    struct sx_client *const tool = sx_client_retain(client_of(server, GOES));

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_CONNECT, OTHER, GOES);
    *sx_steps_left(&server->collective.ending) = 0;
    tool->is_tool = true;
    sx_reaper_client_departed(server, tool);
    cr_expect_eq(server->collective.open_count, 1);
    sx_tool_forget(server, tool);
    cr_expect_eq(server->collective.open_count, 0);
    cr_expect(sx_list_empty(&server->collective.ends));
    sx_client_release(tool);
    return PMIX_SUCCESS;
}

Test(collective, end_before_a_tool_is_forgotten)
{
    hosted_call(tool_departs, NULL);
}

/* Whoever walks the list of all operations does not come back. */
static pmix_status_t others_untouched(struct sx_server *server, void *arg)
{
    pmix_proc_t procs[2];
    struct sx_membership_entry *entry;
    const struct sx_membership_options options = {
        .name = "both", .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = 2
    };

    (void)arg;
    arrive_with(server, SX_COLLECTIVE_FENCE, 1, GOES);
    PMIx_Load_procid(&procs[0], NSPACE, OTHER);
    PMIx_Load_procid(&procs[1], NSPACE, THIRD);
    cr_assert_eq(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
    const struct sx_list all = server->collective.all;

    client_of(server, THIRD)->state = SX_CLIENT_CONNECTED;
    server->collective.all = (struct sx_list){ NULL, NULL };
    sx_connect_client_gone(server, client_of(server, OTHER));
    sx_collective_client_gone(server, client_of(server, OTHER));
    sx_collective_client_withdrew(server, client_of(server, OTHER), 0);
    sx_collective_client_connected(server, client_of(server, OTHER));
    sx_group_construct_missed(server, client_of(server, OTHER), 1, 2);
    server->collective.all = all;
    client_of(server, THIRD)->state = SX_CLIENT_REGISTERED;
    return PMIX_SUCCESS;
}

Test(collective, of_others_are_not_looked_at_when_one_goes_or_comes)
{
    hosted_call(others_untouched, NULL);
}

/* ---- a process comes ------------------------------------------------------------------------- */

#define THEIRS "theirs" /* a job of four, of which the last is still to be registered */

static void connect_of(struct sx_server *server, struct sx_client *client,
                       const pmix_proc_t procs[2], uint32_t count)
{
    static uint32_t op;
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_CONNECT, .op = ++op };
    struct sx_draft draft = { .head = &head,
                              .signature = &sx_arrive_body,
                              .nspace = "",
                              .parts[SX_ARRIVE_PROCS] = { procs, count } };
    _Alignas(8) uint8_t bytes[256];
    size_t size;

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(bytes));
    cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
    cr_assert_eq(sx_collective_arrive(server, client, opened(&sx_arrive_body, bytes, size)),
                 PMIX_SUCCESS);
}

static void comer_add(struct sx_server *server, const char *name, uint32_t rank)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(server, name);

    nspace->job_size = nspace->local_count = 4;
    nspace->registered = true;
    struct sx_client *const client = sx_client_add(nspace, rank);

    cr_assert_not_null(client);
    sx_collective_client_added(server, client);
}

static const struct {
    const char *why;
    uint32_t count;
    pmix_proc_t procs[2];
    bool is_of_theirs, is_known, is_expected; /* who calls; the job, when it is named; who comes */
} comers[] = {
    { "all of its own job", 1, { { THEIRS, PMIX_RANK_WILDCARD } }, true, true, true },
    { "it, and one of its job", 2, { { THEIRS, 0 }, { THEIRS, 3 } }, true, true, true },
    { "others of its job", 2, { { THEIRS, 0 }, { THEIRS, 2 } }, true, true, false },
    { "it, of two jobs", 2, { { NSPACE, 1 }, { THEIRS, 3 } }, false, true, true },
    { "all of two jobs", 2, { { NSPACE, 1 }, { THEIRS, PMIX_RANK_WILDCARD } }, false, true, true },
    { "others of two jobs", 2, { { NSPACE, 1 }, { THEIRS, 2 } }, false, true, false },
    { "it, of a job to come", 2, { { NSPACE, 1 }, { THEIRS, 3 } }, false, false, true },
    { "all of a job to come",
      2,
      { { NSPACE, 1 }, { THEIRS, PMIX_RANK_WILDCARD } },
      false,
      false,
      true },
    { "a list with it", 1, { { "with", PMIX_RANK_WILDCARD } }, false, true, true },
    { "a list without it", 1, { { "without", PMIX_RANK_WILDCARD } }, false, true, false },
    { "a list without it, and it", 2, { { THEIRS, 3 }, { "without", 0 } }, false, true, true },
};

static void lists_add(struct sx_server *server)
{
    static const pmix_proc_t procs[][2] = { { { NSPACE, 1 }, { THEIRS, 3 } },
                                            { { NSPACE, 1 }, { THEIRS, 2 } } };
    struct sx_membership_options options = { .kind = SX_MEMBERSHIP_CONNECTED, .proc_count = 2 };
    struct sx_membership_entry *entry;

    for (size_t i = 0; i < 2; i++) {
        options.name = i == 0 ? "with" : "without";
        options.procs = procs[i];
        cr_assert_eq(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
    }
}

static pmix_status_t comes(struct sx_server *server, void *arg)
{
    const size_t i = *(const size_t *)arg;

    lists_add(server);
    for (uint32_t rank = 0; rank < 3 && comers[i].is_known; rank++) {
        comer_add(server, THEIRS, rank);
    }
    connect_of(server,
               comers[i].is_of_theirs ? sx_client_find(sx_nspace_find(server, THEIRS), 0)
                                      : client_of(server, 1),
               comers[i].procs, comers[i].count);
    cr_assert_not(sx_list_empty(&server->collective.all), "%s", comers[i].why);
    const struct sx_collective *const open = only_one(server);
    const size_t before = open->members.count;

    comer_add(server, THEIRS, 3);
    cr_expect_eq(open->members.count, before + comers[i].is_expected, "%s", comers[i].why);
    sx_collective_client_added(server, sx_client_find(sx_nspace_find(server, THEIRS), 3));
    cr_expect_eq(open->members.count, before + comers[i].is_expected, "%s: once", comers[i].why);
    return PMIX_SUCCESS;
}

Test(collective, expects_who_comes_by_all_that_may_name_it)
{
    for (size_t i = 0; i < SX_COUNT(comers); i++) {
        hosted_call(comes, &i);
        hosted_end();
        begin();
    }
}

/* The job of the last one goes before that has come. */
static pmix_status_t never_comes(struct sx_server *server, void *arg)
{
    const size_t i = *(const size_t *)arg;

    lists_add(server);
    for (uint32_t rank = 0; rank < 3; rank++) {
        comer_add(server, THEIRS, rank);
    }
    connect_of(server,
               comers[i].is_of_theirs ? sx_client_find(sx_nspace_find(server, THEIRS), 0)
                                      : client_of(server, 1),
               comers[i].procs, comers[i].count);
    sx_name_ended(server, THEIRS);
    sx_collective_nspace_gone(server, sx_nspace_find(server, THEIRS));
    cr_expect_eq(sx_list_empty(&server->collective.all), comers[i].is_expected, "%s",
                 comers[i].why);
    return PMIX_SUCCESS;
}

Test(collective, ends_without_who_does_not_come_by_all_that_may_name_it)
{
    for (size_t i = 0; i < SX_COUNT(comers); i++) {
        hosted_call(never_comes, &i);
        hosted_end();
        begin();
    }
}

/* No process of an operation is looked at that names several jobs, and not that of who comes, or
 * whose job goes: be they here, or still to come, or read again. */
static pmix_status_t others_of_many(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[3] = { { NSPACE, 0 }, { THEIRS, 0 }, { "unknown", 0 } };
    struct sx_proc_list again = { .all = NULL };

    (void)arg;
    comer_add(server, THEIRS, 0);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t other = i == 0 ? 2 : 1;

        connect_of(server, client_of(server, 0), (pmix_proc_t[]){ procs[0], procs[other] }, 2);
        struct sx_members *const members = &only_one(server)->members;

        if (i == 2) {
            cr_assert(sx_proc_list_append(&again, members->procs, members->proc_count));
            sx_members_rename(members, &again);
        }
        const struct sx_members kept = *members;

        members->procs = NULL;
        members->real.all = NULL;
        comer_add(server, "comes", i);
        sx_name_ended(server, "comes");
        sx_collective_nspace_gone(server, sx_nspace_find(server, "comes"));
        members->procs = kept.procs;
        members->real = kept.real;
        sx_collective_close(only_one(server));
    }
    return PMIX_SUCCESS;
}

Test(collective, of_other_jobs_are_not_searched_for_who_comes)
{
    hosted_call(others_of_many, NULL);
}

/* Each process stays below its own limit. */
static pmix_status_t all_open(struct sx_server *server, void *arg)
{
    struct sx_client *const other = client_of(server, OTHER);

    (void)arg;
    for (uint32_t rank = 1; rank <= OPENERS; rank++) {
        for (unsigned i = 0; i < EACH; i++) {
            arrive_with(server, SX_COLLECTIVE_FENCE, rank, GOES);
        }
    }
    cr_expect_leq(server->collective.open_count, SX_COLLECTIVES_FREE + SX_COLLECTIVES_MAX);
    cr_expect_lt(client_of(server, OPENERS)->pending_counts[SX_PENDING_ARRIVAL], EACH);
    other->uid += 7;
    arrive_with(server, SX_COLLECTIVE_FENCE, OTHER, THIRD);
    cr_expect_eq(other->pending_counts[SX_PENDING_ARRIVAL], 1, "there is room for another user");
    sx_collective_client_gone(server, client_of(server, GOES));
    return PMIX_SUCCESS;
}

Test(collective, are_shared_by_the_users_of_a_node)
{
    hosted_call(all_open, NULL);
}
