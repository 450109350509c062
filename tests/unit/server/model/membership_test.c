/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_test.c - lists are found, change and go, and what they took is given back. */
#include "server/model/membership.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bare.h"

static struct sx_server server;
static pmix_proc_t procs[8];

static void begin(void)
{
    bare_init(&server);
    for (uint32_t i = 0; i < SX_COUNT(procs); i++) {
        PMIx_Load_procid(&procs[i], i < 5 ? "job" : "another", i);
    }
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(memberships, .init = begin, .fini = end);

static pmix_status_t add(const char *name, size_t count, struct sx_membership_entry **ret)
{
    const struct sx_membership_options options = { .name = name,
                                                   .kind = SX_MEMBERSHIP_CONNECTED,
                                                   .flags = SX_MEMBERSHIP_EARLY_TERM,
                                                   .id = "tag",
                                                   .procs = procs,
                                                   .proc_count = count };

    return sx_memberships_add(&server, &options, ret);
}

Test(memberships, are_found_by_name_and_subject_until_they_are_removed)
{
    struct sx_membership_entry *one, *two, *again;
    struct sx_membership shown;

    cr_expect_null(sx_memberships_find(&server, "one"));
    cr_expect_null(sx_memberships_next(&server, NULL));
    cr_assert_eq(add("one", 3, &one), PMIX_SUCCESS);
    cr_assert_eq(add("two", 8, &two), PMIX_SUCCESS);
    const uint64_t subject = one->published.head.subject;

    cr_expect_str_eq(one->id, "tag");
    cr_expect_eq(sx_memberships_find(&server, "one"), one);
    cr_expect_eq(sx_memberships_of(&server, subject), one);
    cr_expect_eq(sx_memberships_next(&server, one), two);
    cr_expect_null(sx_memberships_next(&server, two));
    cr_assert_eq(sx_membership_of(&server.memberships.store.view, subject, &shown), PMIX_SUCCESS);
    cr_expect_eq(sx_membership_size(&shown), 3);
    cr_expect_eq(shown.head.flags, SX_MEMBERSHIP_EARLY_TERM);

    sx_memberships_remove(&server, one);
    cr_expect_null(sx_memberships_find(&server, "one"));
    cr_expect_null(sx_memberships_of(&server, subject));
    cr_expect_eq(sx_membership_of(&server.memberships.store.view, subject, &shown),
                 PMIX_ERR_NOT_FOUND);
    cr_assert_eq(add("one", 2, &again), PMIX_SUCCESS);
    cr_expect_eq(sx_membership_row(again->published.head.subject), sx_membership_row(subject),
                 "the row is used again");
    cr_expect_neq(again->published.head.subject, subject, "and the serial is not");
    cr_expect_null(sx_memberships_of(&server, subject));
}

Test(memberships, have_names_that_nobody_else_has)
{
    static char long_name[257];
    struct sx_membership_entry *entry;

    (void)bare_job(&server, "job", 2, 2);
    cr_assert_eq(add("one", 3, &entry), PMIX_SUCCESS);
    memset(long_name, 'x', 256);
    cr_expect_eq(add("one", 3, &entry), PMIX_ERR_EXISTS);
    cr_expect_eq(add("job", 3, &entry), PMIX_ERR_EXISTS, "a namespace");
    cr_expect_eq(add("", 3, &entry), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(add(long_name, 3, &entry), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(add(long_name + 1, 3, &entry), PMIX_SUCCESS);
    cr_expect_eq(add(SX_MEMBERSHIP_ROWS, 3, &entry), PMIX_ERR_BAD_PARAM);
    procs[1] = procs[0];
    cr_expect_eq(add("two", 3, &entry), PMIX_ERR_BAD_PARAM, "a process twice");
    cr_expect_null(sx_memberships_find(&server, "two"));
    cr_expect_eq(server.memberships.names.count, 2);
}

Test(memberships, change_by_generations_that_keep_the_places)
{
    struct sx_membership_entry *entry;
    struct sx_membership shown;

    cr_assert_eq(add("one", 8, &entry), PMIX_SUCCESS);
    const uint64_t subject = entry->published.head.subject;

    cr_assert_eq(sx_memberships_leave(&server, entry, &procs[2]), PMIX_SUCCESS);
    cr_expect_eq(sx_memberships_leave(&server, entry, &procs[2]), PMIX_ERR_NOT_FOUND, "twice");
    cr_assert_eq(sx_membership_of(&server.memberships.store.view, subject, &shown), PMIX_SUCCESS);
    cr_expect_eq(shown.head.generation, 2);
    cr_expect_eq(sx_membership_rank(&shown, "job", 2), PMIX_RANK_INVALID);
    cr_expect_eq(sx_membership_rank(&shown, "another", 7), 7);

    pmix_proc_t *const members = sx_memberships_procs(entry);

    cr_assert_not_null(members);
    cr_expect_eq(members[2].rank, PMIX_RANK_INVALID);
    cr_expect_eq(members[7].rank, 7);
    cr_assert_eq(sx_memberships_change(&server, entry, members, 7), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_of(&server.memberships.store.view, subject, &shown), PMIX_SUCCESS);
    cr_expect_eq(shown.head.generation, 3);
    cr_expect_eq(sx_membership_size(&shown), 7);
    members[6] = members[0];
    cr_expect_eq(sx_memberships_change(&server, entry, members, 7), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(entry->published.head.generation, 3, "nothing has changed");
    cr_expect_eq(sx_memberships_find(&server, "one"), entry);
    free(members);
}

Test(memberships, that_come_and_go_take_the_memory_of_those_that_are_there)
{
    struct sx_membership_entry *stays, *entry;
    const struct sx_memberships *const all = &server.memberships;
    uint64_t used_max = 0;
    char name[64];

    cr_assert_eq(add("stays", 8, &stays), PMIX_SUCCESS);
    for (unsigned i = 0; i < 40000; i++) {
        snprintf(name, sizeof(name), "a-connected-namespace.%u", i);
        cr_assert_eq(add(name, 8, &entry), PMIX_SUCCESS);
        cr_assert_eq(sx_memberships_leave(&server, entry, &procs[i % 8]), PMIX_SUCCESS);
        sx_memberships_remove(&server, entry);
        if (all->store.heap.next_off > used_max) {
            used_max = all->store.heap.next_off;
        }
    }
    cr_expect_gt(all->store.generation, 1, "it was renewed");
    cr_expect_lt(used_max, 3 * SX_STORE_GARBAGE_MIN_BYTES, "%lu bytes", (unsigned long)used_max);
    cr_expect_eq(all->slot_count, 2);
    cr_assert_eq(sx_store_renew(&server.memberships.store), PMIX_SUCCESS);
    cr_expect_lt(all->store.heap.next_off, 8192,
                 "neither columns nor slots of those that are gone");
    cr_expect_eq(sx_memberships_find(&server, "stays"), stays);
}

/* Nor does one of them cost more because of the others: neither the store nor a table is copied as
 * a whole. */
Test(memberships, are_at_most_so_many_at_once)
{
    const struct sx_memberships *const all = &server.memberships;
    struct sx_membership_entry *entry, *last = NULL;
    uint64_t copied_max = 0, split_max = 0;
    char name[32];

    for (unsigned i = 0; i < SX_MEMBERSHIPS_MAX; i++) {
        const uint64_t copied = all->store.copied_bytes, split = all->names.split_count;

        snprintf(name, sizeof(name), "%u", i);
        cr_assert_eq(add(name, 2, &last), PMIX_SUCCESS);
        if (all->store.copied_bytes - copied > copied_max) {
            copied_max = all->store.copied_bytes - copied;
        }
        if (all->names.split_count > split + split_max) {
            split_max = all->names.split_count - split;
        }
    }
    cr_expect_leq(copied_max, SX_STORE_COPY_MAX_BYTES, "%lu bytes", (unsigned long)copied_max);
    cr_expect_leq(split_max, 2, "%lu buckets", (unsigned long)split_max);
    cr_expect_eq(add("more", 2, &entry), PMIX_ERR_OUT_OF_RESOURCE);
    sx_memberships_remove(&server, last);
    cr_expect_eq(add("more", 2, &entry), PMIX_SUCCESS);
}

/* A process, a user, and all that they do: others go on beside it. */
Test(memberships, of_one_owner_leave_room_for_those_of_others)
{
    struct sx_quota_owner owner = { .uid = 1000, .proc = { "job", 0 } };
    struct sx_membership_options options = {
        .kind = SX_MEMBERSHIP_PSET, .procs = procs, .proc_count = 1, .owner = &owner
    };
    struct sx_membership_entry *entry, *last = NULL;
    char name[32];
    unsigned count = 0;

    options.name = name;
    for (owner.proc.rank = 0; owner.proc.rank < 64; owner.proc.rank++) {
        do {
            snprintf(name, sizeof(name), "%u", count);
        } while (sx_memberships_add(&server, &options, &last) == PMIX_SUCCESS &&
                 ++count < SX_MEMBERSHIPS_MAX);
    }
    cr_expect_gt(count, SX_MEMBERSHIPS_MAX / 10 * 9 - 100, "a user that is alone has much: %u",
                 count);
    cr_expect_leq(count, SX_MEMBERSHIPS_MAX * 9 / 10);
    cr_assert_eq(add("the hosts", 3, &entry), PMIX_SUCCESS);
    owner.uid = 1001;
    for (count = 0; count < 1000; count++) {
        snprintf(name, sizeof(name), "other.%u", count);
        cr_assert_eq(sx_memberships_add(&server, &options, &last), PMIX_SUCCESS);
    }
}

/* A group is its first member's that is here. */
Test(memberships, of_clients_are_their_users)
{
    struct sx_nspace *const nspace = bare_job(&server, "job", 4, 4);
    struct sx_membership_entry *entry;
    uid_t uid = 0;

    sx_client_find(nspace, 2)->uid = 1002;
    procs[0] = (pmix_proc_t){ "elsewhere", 0 };
    procs[1].rank = 2;
    cr_assert_eq(add("group", 2, &entry), PMIX_SUCCESS);
    cr_assert(sx_quota_uid(&entry->quota, &uid));
    cr_expect_eq(uid, 1002);
    cr_expect_eq(entry->quota.process->proc.rank, 2);
    cr_assert_eq(add("elsewhere alone", 1, &entry), PMIX_SUCCESS);
    cr_expect_not(sx_quota_uid(&entry->quota, &uid));
}

Test(memberships, take_no_more_memory_than_their_owners_share)
{
    enum { MEMBERS = 1000 };
    const struct sx_quota_owner owner = { .uid = 1000, .proc = { "job", 0 } };
    static pmix_proc_t many[MEMBERS];
    struct sx_membership_options options = {
        .kind = SX_MEMBERSHIP_PSET, .procs = many, .proc_count = MEMBERS, .owner = &owner
    };
    struct sx_quota *const quota = &server.memberships.quota;
    struct sx_membership_entry *last = NULL;
    unsigned count = 0;
    char name[32];

    for (uint32_t i = 0; i < MEMBERS; i++) {
        PMIx_Load_procid(&many[i], "job", i);
    }
    quota->max[SX_QUOTA_BYTES] = 1 << 20; /* of less memory than a server has, for speed */
    options.name = name;
    do {
        snprintf(name, sizeof(name), "%u", count);
    } while (sx_memberships_add(&server, &options, &last) == PMIX_SUCCESS && ++count < 1000);
    cr_expect_gt(count, 10);
    cr_expect_lt(count, (1 << 20) / (MEMBERS * 40), "each of its members takes memory: %u", count);
    cr_expect_gt(last->quota.bytes, MEMBERS * 40);
    options.proc_count = 1;
    cr_expect_eq(sx_memberships_add(&server, &options, &last), PMIX_SUCCESS, "a smaller one");
    sx_memberships_remove(&server, last);
    options.owner = NULL;
    options.proc_count = MEMBERS;
    for (unsigned i = 0; i < 30; i++, count++) {
        snprintf(name, sizeof(name), "%u", count);
        cr_assert_eq(sx_memberships_add(&server, &options, &last), PMIX_SUCCESS, "the host");
    }
}

/* ---- without memory -------------------------------------------------------------------------- */

/* The store may not grow beyond what it has.  Return: 0, or the step that went wrong. */
static int starve(void)
{
    struct sx_membership_entry *first, *entry;
    struct rlimit limit;
    pmix_status_t rc = PMIX_SUCCESS;
    unsigned made = 0;
    char name[32];

    if (add("first", 8, &first) != PMIX_SUCCESS || getrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    limit.rlim_cur = 1 << 16;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 2;
    }
    for (; rc == PMIX_SUCCESS && made < 1000000; made++) {
        snprintf(name, sizeof(name), "%u", made);
        rc = add(name, 8, &entry);
    }
    if (rc != PMIX_ERR_OUT_OF_RESOURCE || sx_memberships_find(&server, name) != NULL) {
        return 3;
    }
    do {
        rc = sx_memberships_leave(&server, first, &procs[3]);
    } while (rc == PMIX_SUCCESS);
    if (first->published.head.generation > 2 || sx_memberships_find(&server, "first") != first) {
        return 4;
    }
    snprintf(name, sizeof(name), "%u", made - 2);
    sx_memberships_remove(&server, sx_memberships_find(&server, name));
    return sx_memberships_find(&server, name) == NULL ? 0 : 5;
}

Test(memberships, that_there_is_no_memory_for_are_refused_and_the_rest_stay)
{
    int status;
    const pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        alarm(60);
        _exit(starve());
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status));
    cr_expect_eq(WEXITSTATUS(status), 0, "step %d", WEXITSTATUS(status));
}

/* ---- what users see
 * --------------------------------------------------------------------------- */

#define MINE 54321
#define THEIRS 54322

static pmix_status_t make(const char *name, enum sx_membership_kind kind, const pmix_proc_t *of,
                          const struct sx_client *owner, struct sx_membership_entry **ret)
{
    const struct sx_quota_owner by = owner != NULL ? sx_quota_owner_of(owner)
                                                   : (struct sx_quota_owner){ .uid = 0 };
    const struct sx_membership_options options = { .name = name,
                                                   .kind = kind,
                                                   .procs = of,
                                                   .proc_count = kind == SX_MEMBERSHIP_PSET ? 1 : 2,
                                                   .owner = owner != NULL ? &by : NULL };

    return sx_memberships_add(&server, &options, ret);
}

/* Return: the namespace of its first member; "" when user @uid does not see it. */
static const char *seen(uid_t uid, enum sx_membership_kind kind, const char *name)
{
    static pmix_proc_t proc;
    const struct sx_store *const store = sx_memberships_store(&server, uid);
    struct sx_membership list;

    cr_assert_not_null(store);
    return sx_membership_find(store, sx_membership_realm(kind), name, strlen(name), &list) ==
                       PMIX_SUCCESS &&
                   sx_membership_member(&list, 0, &proc) == PMIX_SUCCESS
               ? proc.nspace
               : "";
}

static void expect_seen(enum sx_membership_kind kind, const char *name, const char *by_mine,
                        const char *by_theirs, const char *by_root)
{
    cr_expect_str_eq(seen(MINE, kind, name), by_mine, "%s", name);
    cr_expect_str_eq(seen(THEIRS, kind, name), by_theirs, "%s", name);
    cr_expect_str_eq(seen(0, kind, name), by_root, "%s", name);
}

/* The second user comes when the lists are there; names of sets are each user's own. */
Test(memberships, of_others_are_not_seen)
{
    const pmix_proc_t both[] = { { "mine", 0 }, { "theirs", 0 } };
    const pmix_proc_t own[] = { { "mine", 0 }, { "mine", 1 } };
    const pmix_proc_t roots[] = { { "root", 0 }, { "far", 0 } };
    struct sx_client *mine, *theirs, *root;
    struct sx_membership_entry *set, *second, *group, *other;

    mine = sx_client_find(bare_job(&server, "mine", 2, 2), 0);
    theirs = sx_client_find(bare_job(&server, "theirs", 1, 1), 0);
    root = sx_client_find(bare_job(&server, "root", 1, 1), 0);
    mine->uid = MINE;
    theirs->uid = THEIRS;
    server.live = (struct sx_client *[]){ mine, theirs };
    server.live_count = 2;
    cr_assert_not_null(sx_memberships_store(&server, MINE)); /* and the other when they are there */
    cr_assert_eq(make("hosts", SX_MEMBERSHIP_PSET, &both[1], NULL, &other), PMIX_SUCCESS);
    cr_assert_eq(make("set", SX_MEMBERSHIP_PSET, &both[0], mine, &set), PMIX_SUCCESS);
    cr_assert_eq(make("set", SX_MEMBERSHIP_PSET, &both[1], theirs, &second), PMIX_SUCCESS);
    cr_assert_eq(make("both", SX_MEMBERSHIP_GROUP, both, mine, &group), PMIX_SUCCESS);
    cr_assert_eq(make("own", SX_MEMBERSHIP_GROUP, own, mine, &other), PMIX_SUCCESS);
    cr_assert_eq(make("roots", SX_MEMBERSHIP_PSET, &both[0], root, &other), PMIX_SUCCESS);
    cr_assert_eq(make("of root", SX_MEMBERSHIP_GROUP, roots, root, &other), PMIX_SUCCESS);
    expect_seen(SX_MEMBERSHIP_PSET, "roots", "mine", "mine", "mine");
    expect_seen(SX_MEMBERSHIP_GROUP, "of root", "", "", "root");
    cr_expect_eq(make("set", SX_MEMBERSHIP_PSET, &both[0], mine, &other), PMIX_EXISTS);
    cr_expect_eq(make("hosts", SX_MEMBERSHIP_PSET, &both[0], mine, &other), PMIX_EXISTS);

    expect_seen(SX_MEMBERSHIP_PSET, "hosts", "theirs", "theirs", "theirs");
    expect_seen(SX_MEMBERSHIP_PSET, "set", "mine", "theirs", "mine");
    expect_seen(SX_MEMBERSHIP_PSET, "set@54322", "", "", "theirs");
    expect_seen(SX_MEMBERSHIP_GROUP, "both", "mine", "mine", "mine");
    expect_seen(SX_MEMBERSHIP_GROUP, "own", "mine", "", "mine");

    cr_expect_eq(sx_memberships_count(&server, MINE, SX_MEMBERSHIP_PSET), 3);
    cr_expect_eq(sx_memberships_count(&server, THEIRS, SX_MEMBERSHIP_GROUP), 1);
    cr_expect_eq(sx_memberships_count(&server, 0, SX_MEMBERSHIP_PSET), 4);
    cr_assert_eq(sx_memberships_leave(&server, group, &both[1]), PMIX_SUCCESS);
    cr_expect_eq(sx_memberships_count(&server, THEIRS, SX_MEMBERSHIP_GROUP), 0);
    expect_seen(SX_MEMBERSHIP_GROUP, "both", "mine", "", "mine");
    sx_memberships_remove(&server, set);
    expect_seen(SX_MEMBERSHIP_PSET, "set", "", "theirs", "");
    cr_assert_eq(make("set@54322", SX_MEMBERSHIP_PSET, &both[0], mine, &set), PMIX_SUCCESS);
    expect_seen(SX_MEMBERSHIP_PSET, "set@54322", "mine", "", "theirs");
    expect_seen(SX_MEMBERSHIP_PSET, "set@54322@54321", "", "", "mine");
    sx_memberships_remove(&server, second);
    expect_seen(SX_MEMBERSHIP_PSET, "set@54322", "mine", "", "");
    server.live = NULL;
    server.live_count = 0;
}

#define ROOTS 3

/* A group of the process of "job USER". */
static struct sx_membership_entry *group_of(unsigned user, const char *name)
{
    char job[16];
    pmix_proc_t of[2] = { { "far", user } };
    struct sx_membership_entry *group;

    snprintf(job, sizeof(job), "job %u", user);
    PMIx_Load_procid(&of[1], job, 0);
    return make(name, SX_MEMBERSHIP_GROUP, of, NULL, &group) == PMIX_SUCCESS ? group : NULL;
}

/* In the node's store each has a name of its own; root's is always that which root gave. */
Test(memberships, of_one_name_are_found_by_their_users)
{
    char name[PMIX_MAX_NSLEN + 1], longest[PMIX_MAX_NSLEN + 1];
    struct sx_membership_entry *groups[ROOTS + 1];

    for (unsigned user = 0; user <= ROOTS; user++) {
        snprintf(name, sizeof(name), "job %u", user);
        sx_client_find(bare_job(&server, name, 1, 1), 0)->uid = user == ROOTS ? 0 : MINE + user;
    }
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    cr_assert_not_null(group_of(1, "name@54321"), "what would be the first one's alias");
    for (unsigned user = 0; user <= ROOTS; user++) {
        groups[user] = group_of(user, "name");
        cr_assert_not_null(groups[user]);
        cr_expect_null(group_of(user, "name"), "it has one");
        cr_expect_not_null(group_of(user, longest), "and a long one");
        cr_expect_null(group_of(user, longest));
    }
    for (unsigned user = 0; user <= ROOTS; user++) {
        const uid_t uid = user == ROOTS ? 0 : MINE + user;

        cr_expect_eq(sx_memberships_find_of(&server, uid, "name"), groups[user]);
        cr_expect_eq(sx_memberships_name_judge(&server, uid, "name"), PMIX_ERR_EXISTS);
    }
    cr_expect_null(sx_memberships_find_of(&server, MINE + ROOTS, "name"), "a user without");
    cr_expect_eq(sx_memberships_name_judge(&server, MINE + ROOTS, "name"), PMIX_SUCCESS);
    cr_expect_null(sx_memberships_find_of(&server, MINE, "name@54322"), "root's word");
    cr_expect_eq(sx_memberships_find(&server, "name@54322"), groups[1]);
    cr_expect_eq(sx_memberships_find(&server, "name@54321.2"), groups[0], "it made room for root");
    cr_expect_eq(sx_memberships_find_with(&server, "name", &(pmix_proc_t){ "job 2", 0 }),
                 groups[2]);
    sx_memberships_remove(&server, groups[ROOTS]);
    cr_expect_null(sx_memberships_find(&server, "name"), "root's is gone, the others stay");
    cr_expect_eq(sx_memberships_find_of(&server, MINE, "name"), groups[0]);
    cr_expect_eq(sx_memberships_store_name_free(&server, "name@54322"), PMIX_SUCCESS);
    cr_expect_null(sx_memberships_find(&server, "name@54322"), "the host's");
    cr_expect_eq(sx_memberships_find(&server, "name@54322.2"), groups[1]);
}

/* No user can keep another from a name by taking all that the alias could be. */
Test(memberships, have_an_alias_that_nobody_takes_before)
{
    char name[64];

    for (unsigned user = 0; user < 2; user++) {
        snprintf(name, sizeof(name), "job %u", user);
        sx_client_find(bare_job(&server, name, 1, 1), 0)->uid = MINE + user;
    }
    cr_assert_not_null(group_of(0, "name"));
    cr_assert_not_null(group_of(0, "name@54322"));
    for (unsigned i = 2; i < 100; i++) {
        snprintf(name, sizeof(name), "name@54322.%u", i);
        cr_assert_not_null(group_of(0, name));
    }
    cr_expect_not_null(group_of(1, "name"));
}

/* Who comes when there are many lists is not shown all of them in one turn; what changes meanwhile
 * is as it has become. */
Test(memberships, of_many_are_shown_in_steps)
{
    enum { LISTS = 10000, UNITS = 400 };
    const pmix_proc_t proc = { "mine", 0 };
    struct sx_membership_entry *first = NULL, *last = NULL;
    unsigned steps = 1;
    uint64_t units;
    char name[16];

    for (unsigned i = 0; i < LISTS; i++) {
        snprintf(name, sizeof(name), "set.%u", i);
        cr_assert_eq(make(name, SX_MEMBERSHIP_PSET, &proc, NULL, &last), PMIX_SUCCESS);
        first = first == NULL ? last : first;
    }
    for (; !sx_memberships_fill(&server, MINE, UNITS, &units); steps++) {
        cr_assert_leq(units, UNITS + 10);
        if (steps == 1) {
            sx_memberships_remove(&server, first);
            sx_memberships_remove(&server, last);
        }
    }
    cr_expect_gt(steps, 2);
    cr_expect_eq(sx_memberships_count(&server, MINE, SX_MEMBERSHIP_PSET), LISTS - 2);
    expect_seen(SX_MEMBERSHIP_PSET, "set.1", "mine", "mine", "mine");
    expect_seen(SX_MEMBERSHIP_PSET, "set.0", "", "", "");
}

/* What a user that has gone saw is not kept up to date for nobody. */
Test(memberships, are_shown_to_users_who_are_here)
{
    enum { USERS = 8 };
    struct sx_client *live[1] = { NULL };
    struct sx_nspace *const job = bare_job(&server, "mine", USERS, USERS);

    server.live = live;
    server.live_count = 1;
    for (uint32_t rank = 0; rank < USERS; rank++) {
        live[0] = sx_client_find(job, rank);
        live[0]->uid = MINE + rank;
        cr_assert_not_null(sx_memberships_store(&server, live[0]->uid));
        cr_expect_eq(server.memberships.views.next, server.memberships.views.prev, "rank %u", rank);
    }
    server.live = NULL;
    server.live_count = 0;
}

/* ---- what they leave ------------------------------------------------------------------------- */

#define SMALL_LISTS 1000u

/* malloc keeps small blocks that are freed, and joins all of them in one later call. */
Test(memberships, of_one_process_leave_no_small_blocks)
{
    const struct sx_quota_owner owner = { .uid = 7, .proc = procs[0] };
    struct sx_membership_entry *all[SMALL_LISTS];
    char name[32];

    for (unsigned i = 0; i < SMALL_LISTS; i++) {
        const struct sx_membership_options options = { .name = name,
                                                       .kind = SX_MEMBERSHIP_GROUP,
                                                       .owner = &owner,
                                                       .procs = procs,
                                                       .proc_count = 1 };

        snprintf(name, sizeof(name), "small.%u", i);
        cr_assert_eq(sx_memberships_add(&server, &options, &all[i]), PMIX_SUCCESS);
    }
    const size_t before = mallinfo2().smblks;

    for (unsigned i = 0; i < SMALL_LISTS; i++) {
        sx_memberships_remove(&server, all[i]);
    }
    cr_expect_lt(mallinfo2().smblks, before + SMALL_LISTS / 10);
}
