/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* belonging_test.c - a client finds the lists that it is in, and nobody looks at those of
 * others. */
#include "server/model/membership.h"

#include <stdio.h>

#include "../bare.h"
#include "control/loop_engine.h"
#include "server/collective/collective.h"

#define OTHERS SX_LEAVE_MAX /* as many as are left at once */
#define MANY (3 * SX_LEAVE_MAX + 4)
#define SIZE 4u
enum { FIRST, SECOND, THIRD, FOURTH };

static struct sx_server server;
static struct sx_nspace *job;
static unsigned called;

static void begin(void)
{
    bare_init(&server);
    job = bare_job(&server, "job", SIZE, SIZE);
    called = 0;
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(belonging, .init = begin, .fini = end);

static struct sx_membership_entry *connected(const char *name, uint32_t one, uint32_t another)
{
    const pmix_proc_t procs[] = { { "job", one }, { "job", another }, { "elsewhere", 0 } };

    return bare_connected(&server, name, procs, SX_COUNT(procs));
}

static void take_out(struct sx_server *of, struct sx_membership_entry *entry,
                     const struct sx_leaver *leaver)
{
    called++;
    cr_expect_eq(sx_memberships_leave(of, entry, &leaver->proc), PMIX_SUCCESS);
}

/* Return: from how many lists @rank goes. */
static unsigned goes(uint32_t rank)
{
    called = 0;
    sx_membership_each_of(&server, sx_client_find(job, rank), SX_MEMBERSHIP_CONNECTED, take_out);
    return called;
}

Test(belonging, who_goes_looks_at_no_list_of_others)
{
    char name[32];

    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(name, sizeof(name), "others.%u", i);
        (void)connected(name, THIRD, FOURTH);
    }
    (void)connected("one", FIRST, SECOND);
    (void)connected("two", FIRST, THIRD);
    /* Whoever walks all lists does not come back. */
    struct sx_membership_slot *const slots = server.memberships.slots;

    server.memberships.slots = NULL;
    cr_expect_eq(goes(FIRST), 2);
    cr_expect_eq(goes(FIRST), 0, "it is in none any more");
    cr_expect_eq(goes(SECOND), 1);
    cr_expect_eq(goes(FOURTH), OTHERS);
    server.memberships.slots = slots;
}

/* A list that was made of ranks: of its members some are here, fewer or more than those of its
 * part. */
Test(belonging, of_a_list_of_ranks_is_that_of_its_members_here)
{
    static const uint32_t many[] = { 1, 3, 10, 11, 12, 13, 14 }, one[] = { 0 };
    const struct sx_alias_run runs[] = { { "job", many, SX_COUNT(many) },
                                         { "elsewhere", many, SX_COUNT(many) },
                                         { "job", one, SX_COUNT(one) } };
    struct sx_membership_entry *entries[2];
    struct sx_quota_owner owner;
    struct sx_alias_list list;

    for (size_t i = 0; i < SX_COUNT(entries); i++) {
        cr_assert(sx_alias_list_of(&runs[2 * i], i == 0 ? 3 : 1, &list));
        const struct sx_membership_options options = { .name = i == 0 ? "long" : "short",
                                                       .kind = SX_MEMBERSHIP_CONNECTED,
                                                       .made = &list };

        cr_assert_eq(sx_memberships_add(&server, &options, &entries[i]), PMIX_SUCCESS);
        sx_alias_list_clear(&list);
    }
    cr_expect_eq(sx_membership_size(&entries[0]->published), 15);
    cr_expect_eq(sx_membership_rank(&entries[0]->published, "job", 1), 8);
    owner = sx_quota_owner_of(sx_client_find(job, FIRST));
    for (size_t i = 0; i < SX_COUNT(entries); i++) {
        cr_expect_eq(entries[i]->quota.process->proc.rank, owner.proc.rank, "%zu", i);
        cr_expect_str_eq(entries[i]->quota.process->proc.nspace, owner.proc.nspace);
    }
    cr_expect_eq(goes(THIRD), 0);
    cr_expect_eq(goes(SECOND), 1);
    cr_expect_eq(goes(FOURTH), 1);
    cr_expect_eq(goes(FIRST), 2);
}

Test(belonging, is_of_one_kind)
{
    const pmix_proc_t proc = { "job", FIRST };
    const struct sx_membership_options group = {
        .name = "group", .kind = SX_MEMBERSHIP_GROUP, .procs = &proc, .proc_count = 1
    };
    struct sx_membership_entry *entry;

    cr_assert_eq(sx_memberships_add(&server, &group, &entry), PMIX_SUCCESS);
    (void)connected("one", FIRST, SECOND);
    cr_expect_eq(goes(FIRST), 1);
    cr_expect_eq(sx_membership_rank(&entry->published, "job", FIRST), 0, "it is in the group");
}

Test(belonging, changes_and_ends_with_the_list)
{
    struct sx_membership_entry *const one = connected("one", FIRST, SECOND);
    struct sx_membership_entry *const two = connected("two", FIRST, SECOND);
    const pmix_proc_t procs[] = { { .rank = PMIX_RANK_INVALID }, { "job", SECOND }, { "job", 2 } };

    cr_assert_eq(sx_memberships_change(&server, one, procs, SX_COUNT(procs)), PMIX_SUCCESS);
    sx_memberships_remove(&server, two);
    cr_expect_eq(goes(FIRST), 0);
    cr_expect_eq(goes(SECOND), 1);
    cr_expect_eq(goes(THIRD), 1);
}

/* Run the loop until the last list is left.  Return: how many steps that took. */
static uint64_t steps_run(void)
{
    const uint64_t before = atomic_load(&server.loop->posts_run);

    bare_leave(&server);
    return atomic_load(&server.loop->posts_run) - before;
}

static void many_begin(void)
{
    char name[32];

    bare_loop(&server);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many.%u", i);
        (void)connected(name, FIRST, SECOND);
    }
}

Test(belonging, many_are_left_in_steps)
{
    many_begin();
    cr_expect_eq(goes(FIRST), SX_LEAVE_MAX);
    cr_expect_eq(steps_run(), 3);
    cr_expect_eq(called, MANY);
    cr_expect_eq(goes(FIRST), 0);
    cr_expect_eq(sx_client_find(job, FIRST)->reference_count, 1);
    cr_expect_eq(goes(SECOND), MANY, "at once: the loop has stopped");
}

Test(belonging, nobody_leaves_when_the_server_has_ended)
{
    many_begin();
    cr_expect_eq(goes(FIRST), SX_LEAVE_MAX);
    sx_membership_leavers_deinit(&server);
    cr_expect(sx_list_empty(&server.collective.leavers));
    cr_expect_eq(sx_client_find(job, FIRST)->reference_count, 1);
    cr_expect_eq(called, SX_LEAVE_MAX);
}

/* The lists go before those who still leave them, and a step of that is in the loop's queue. */
Test(belonging, a_step_that_was_posted_finds_no_list)
{
    many_begin();
    cr_expect_eq(goes(FIRST), SX_LEAVE_MAX);
    sx_memberships_deinit(&server);
    sx_connects_deinit(&server);
    cr_expect_eq(sx_client_find(job, FIRST)->reference_count, 1);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(called, SX_LEAVE_MAX);
}

Test(belonging, many_are_left_without_the_client)
{
    many_begin();
    cr_expect_eq(goes(FIRST), SX_LEAVE_MAX);
    sx_nspace_remove(&server, job);
    cr_expect_eq(steps_run(), 3);
    cr_expect_eq(called, MANY);
}

Test(belonging, long_ones_are_fewer_in_a_step)
{
    static pmix_proc_t procs[SX_LEAVE_MEMBERS_MAX];

    bare_loop(&server);
    for (size_t i = 0; i < SX_COUNT(procs); i++) {
        PMIx_Load_procid(&procs[i], i == 0 ? "job" : "long", (pmix_rank_t)i);
    }
    (void)bare_connected(&server, "one", procs, SX_COUNT(procs));
    (void)bare_connected(&server, "two", procs, SX_COUNT(procs));
    (void)bare_connected(&server, "three", procs, SX_COUNT(procs));
    cr_expect_eq(goes(FIRST), 1);
    cr_expect_eq(steps_run(), 2);
    cr_expect_eq(called, 3);
}

/* Who goes pays while it is here, and then who owns the lists: their first member, or another
 * process of its user. */
Test(belonging, that_are_left_are_paid_for)
{
    static const struct {
        const char *why;
        enum sx_client_state leaver, owner;
        uint32_t payer;
    } rows[] = {
        { "it is here", SX_CLIENT_FINALIZED, SX_CLIENT_CONNECTED, SECOND },
        { "it has gone", SX_CLIENT_DEAD, SX_CLIENT_CONNECTED, FIRST },
        { "both have gone", SX_CLIENT_DEAD, SX_CLIENT_DEAD, THIRD },
    };
    static pmix_proc_t procs[SX_LEAVE_MEMBERS_MAX];
    struct sx_client *live[] = { sx_client_find(job, FOURTH), sx_client_find(job, THIRD) };

    bare_loop(&server);
    server.live = live;
    server.live_count = SX_COUNT(live);
    live[0]->uid = 8;
    for (size_t i = 0; i < SX_COUNT(procs); i++) {
        PMIx_Load_procid(&procs[i], i < 2 ? "job" : "long", (pmix_rank_t)i);
    }
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_client *const payer = sx_client_find(job, rows[i].payer);
        const uint32_t before = payer->share.spent, all = server.turn.units;
        const uint32_t units = 1 + SX_LEAVE_MEMBERS_MAX / SX_MEMBERS_PER_UNIT;
        struct sx_membership_entry *const list = bare_connected(&server, "long", procs,
                                                                SX_COUNT(procs));

        sx_client_find(job, FIRST)->state = rows[i].owner;
        sx_client_find(job, SECOND)->state = rows[i].leaver;
        cr_expect_eq(goes(SECOND), 1);
        cr_expect_eq(payer->share.spent - before, units, "%s", rows[i].why);
        cr_expect_eq(server.turn.units - all, units, "%s: nobody else pays", rows[i].why);
        sx_memberships_remove(&server, list);
    }
    server.live = NULL;
    server.live_count = 0;
}

static struct sx_membership_entry *last_left;

static void take_out_and_note(struct sx_server *of, struct sx_membership_entry *entry,
                              const struct sx_leaver *leaver)
{
    if (strcmp(sx_membership_name(&entry->published), "busy") == 0) {
        last_left = entry;
    }
    take_out(of, entry, leaver);
}

/* What becomes of the operation depends on what the list says of the client. */
Test(belonging, one_in_whose_name_something_is_done_is_left_at_once)
{
    struct sx_client *const client = sx_client_find(job, FIRST);
    struct sx_member member = { .client = client };
    pmix_proc_t list = { "busy", PMIX_RANK_WILDCARD };
    struct sx_collective collective = { .members = { .server = &server,
                                                     .all = &member,
                                                     .count = 1,
                                                     .procs = &list,
                                                     .proc_count = 1 } };

    many_begin();
    struct sx_membership_entry *const busy = connected("busy", FIRST, SECOND);

    member.members = &collective.members;
    sx_list_append(&client->operations, &member.of_client);
    sx_membership_each_of(&server, client, SX_MEMBERSHIP_CONNECTED, take_out_and_note);
    sx_list_remove(&member.of_client);
    cr_expect_eq(last_left, busy);
    cr_expect_eq(called, SX_LEAVE_MAX + 1);
    (void)steps_run();
    cr_expect_eq(called, MANY + 1);
}

/* The job goes first: a list that outlives it names nobody here. */
Test(belonging, ends_with_the_client)
{
    struct sx_membership_entry *const one = connected("one", FIRST, SECOND);

    sx_nspace_remove(&server, job);
    cr_expect_eq(one->belongings.count, 3);
    sx_memberships_remove(&server, one);
}
