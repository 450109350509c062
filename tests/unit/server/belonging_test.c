/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* belonging_test.c - a client finds the lists that it is in, and nobody looks at those of others. */
#include "server/model/belonging.h"

#include <stdio.h>

#include "bare.h"
#include "server/engine/membership_end.h"

#define OTHERS 100u
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
                     struct sx_client *client)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);

    called++;
    cr_expect_eq(sx_memberships_leave(of, entry, &proc), PMIX_SUCCESS);
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

/* The job goes first: a list that outlives it names nobody here. */
Test(belonging, ends_with_the_client)
{
    struct sx_membership_entry *const one = connected("one", FIRST, SECOND);

    sx_nspace_remove(&server, job);
    cr_expect_eq(one->belongings.count, 3);
    sx_memberships_remove(&server, one);
}
