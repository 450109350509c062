/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_access_test.c - who may map a namespace's store, and who may not (any more). */
#include "server/model/nspace.h"

#include <stdio.h>

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

TestSuite(visible, .init = begin, .fini = end);

/* A job of user 1 with @here processes, of which the last belongs to @last_uid. */
static const struct {
    const char *why;
    bool registered;
    uint32_t here;
    uid_t last_uid;
    bool visible;
} rows[] = {
    { "all processes are of the user", true, 2, 1, true },
    { "before it is registered, too", false, 2, 1, true },
    { "one process is another's", true, 2, 2, false },
    { "no process is here, the job is the user's", true, 0, 1, true },
    { "no process is here, the job is only named", false, 0, 1, false },
};

Test(visible, is_seen_by_its_own_and_by_its_user)
{
    struct sx_nspace *const own = bare_job(&server, "own", 1, 1);
    struct sx_client *const client = sx_client_find(own, 0);

    client->uid = 1;
    own->uid = 2;
    cr_expect(sx_nspace_visible(&server, own, client), "its own, whoever's that is");
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_nspace *const nspace = bare_job(&server, "job", 2, rows[i].here);

        nspace->registered = rows[i].registered;
        nspace->uid = 1;
        for (uint32_t rank = 0; rank < rows[i].here; rank++) {
            nspace->by_rank[rank]->uid = rank + 1 == rows[i].here ? rows[i].last_uid : 1;
        }
        cr_expect_eq(sx_nspace_visible(&server, nspace, client), rows[i].visible, "%s",
                     rows[i].why);
        client->uid = 3;
        cr_expect_not(sx_nspace_visible(&server, nspace, client), "%s: a stranger", rows[i].why);
        client->uid = 1;
        sx_nspace_remove(&server, nspace);
    }
}

Test(visible, is_seen_by_those_who_are_connected_with_its_processes_until_they_leave)
{
    static const enum sx_membership_kind kinds[] = { SX_MEMBERSHIP_CONNECTED, SX_MEMBERSHIP_GROUP,
                                                     SX_MEMBERSHIP_PSET };
    struct sx_nspace *const own = bare_job(&server, "own", 2, 2);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 2);
    const pmix_proc_t procs[] = { { "own", 1 }, { "job", 0 } };
    struct sx_client *const member = sx_client_find(own, 1), *const other = sx_client_find(own, 0);

    for (size_t i = 0; i < 2; i++) {
        own->by_rank[i]->uid = 1;
        job->by_rank[i]->uid = 2;
    }
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        const bool joins = kinds[i] != SX_MEMBERSHIP_PSET;
        const struct sx_membership_options options = {
            .name = "both", .kind = kinds[i], .procs = procs, .proc_count = 2
        };
        struct sx_membership_entry *both;

        cr_assert_eq(sx_memberships_add(&server, &options, &both), PMIX_SUCCESS);
        cr_expect_eq(sx_nspace_visible(&server, job, member), joins);
        cr_expect_not(sx_nspace_visible(&server, job, other), "it is no member");
        cr_expect_eq(sx_nspace_visible(&server, own, sx_client_find(job, 0)), joins);
        cr_assert_eq(sx_memberships_leave(&server, both, &procs[0]), PMIX_SUCCESS);
        cr_expect_not(sx_nspace_visible(&server, job, member), "it has left");
        sx_memberships_remove(&server, both);
    }
}

/* Whom a process of user 1 may end and control: a job's processes are all of a user, or all of them
 * are named. */
static const struct {
    const char *why;
    uid_t asker, last_uid;
    pmix_rank_t rank;
    bool foreign;
} commands[] = {
    { "its user's", 1, 1, PMIX_RANK_WILDCARD, false },
    { "one of its user's among others", 1, 2, 0, false },
    { "another user's", 1, 2, 1, true },
    { "some that are another user's", 1, 2, PMIX_RANK_WILDCARD, true },
    { "any, as root", 0, 2, PMIX_RANK_WILDCARD, false },
    { "one that is not here", 2, 1, 7, true },
};

Test(visible, are_foreign_to_all_but_their_user_and_root)
{
    struct sx_client *const client = sx_client_find(bare_job(&server, "own", 1, 1), 0);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 2);

    for (size_t i = 0; i < SX_COUNT(commands); i++) {
        pmix_proc_t procs[] = { { "elsewhere", 0 }, { "job", commands[i].rank } };
        const struct sx_alias_list list = { .all = procs, .count = 2 };

        client->uid = commands[i].asker;
        job->by_rank[0]->uid = 1;
        job->by_rank[1]->uid = commands[i].last_uid;
        cr_expect_eq(sx_procs_are_foreign(&server, client, &list), commands[i].foreign, "%s",
                     commands[i].why);
    }
    cr_expect_not(sx_procs_are_foreign(&server, client, &(struct sx_alias_list){ .all = NULL }),
                  "none");
}

/* ---- what a look costs
 * ------------------------------------------------------------------------ */

#define LISTS 800u

static void lists_add(uint32_t kind, const char *prefix, const pmix_proc_t *proc)
{
    for (unsigned i = 0; i < LISTS; i++) {
        char name[32];
        const struct sx_membership_options options = {
            .name = name, .kind = kind, .procs = proc, .proc_count = 1
        };
        struct sx_membership_entry *entry;

        snprintf(name, sizeof(name), "%s.%u", prefix, i);
        cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    }
}

/* Return: the units that @client has been charged for it. */
static int64_t look(struct sx_client *client, const struct sx_nspace *nspace)
{
    (void)sx_share_affords(&server, client);
    const int64_t before = client->share.units;

    cr_expect_not(sx_nspace_visible(&server, nspace, client));
    const int64_t units = before - client->share.units;

    server.turn.number += 1000;
    return units;
}

Test(visible, walks_the_lists_that_the_asker_is_in_and_the_asker_pays)
{
    struct sx_client *const client = sx_client_find(bare_job(&server, "own", 1, 1), 0);
    struct sx_nspace *const nspace = bare_job(&server, "job", 1, 1);
    const pmix_proc_t own = { .nspace = "own" }, foreign = { .nspace = "job" };

    client->uid = 1;
    cr_expect_eq(look(client, nspace), 0);
    lists_add(SX_MEMBERSHIP_GROUP, "others", &foreign);
    cr_expect_eq(look(client, nspace), 0, "groups of others");
    lists_add(SX_MEMBERSHIP_PSET, "sets", &own);
    cr_expect_eq(look(client, nspace), 0, "sets");
    lists_add(SX_MEMBERSHIP_GROUP, "own", &own);
    cr_expect_eq(look(client, nspace), LISTS / 8);
    sx_memberships_deinit(&server);
}

Test(visible, of_many_is_found_in_one_walk)
{
    struct sx_client *const client = sx_client_find(bare_job(&server, "own", 1, 1), 0);
    struct sx_nspace *const joined = bare_job(&server, "joined", 1, 1);
    struct sx_nspace *const other = bare_job(&server, "other", 1, 1);
    const pmix_proc_t both[] = { { .nspace = "own" }, { .nspace = "joined" } };

    client->uid = 1;
    (void)bare_connected(&server, "both", both, 2);
    const uint64_t mark = sx_memberships_mark(&server, client);

    cr_expect(sx_nspace_visible_marked(client->nspace, client, mark));
    cr_expect(sx_nspace_visible_marked(joined, client, mark));
    cr_expect_not(sx_nspace_visible_marked(other, client, mark));
    sx_memberships_remove(&server, sx_memberships_find(&server, "both"));
    cr_expect_not(sx_nspace_visible_marked(joined, client, sx_memberships_mark(&server, client)));
    sx_memberships_deinit(&server);
}
