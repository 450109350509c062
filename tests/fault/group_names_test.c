/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_names_test.c - names of groups are each user's own.
 *
 * The ranks of two users make groups of one name at the same time: by construct and by invitation.
 * Each user has its own group under that name, and root sees both.  A group of both users has its
 * name for both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "fault.h"
#include "server/group/group.h"
#include "server/group/group_construct.h"
#include "server/group/invitation.h"
#include "server/model/state.h"

#define RANKS 2
#define NAME "same"

enum who { ONE, TWO, ROOT, WHOS };

static const struct {
    const char *job;
    uid_t uid;
} whos[WHOS] = {
    [ONE] = { "one.job", 54321 }, [TWO] = { "two.job", 54322 }, [ROOT] = { "root.job", 0 }
};

/* State of a rank: how far it is. */
enum { BEGUN = 1, MADE, LOST, BOTH, DONE };

static _Atomic uint32_t *state_of(enum who who, int rank)
{
    return &fault_shared->state[(int)who * RANKS + rank];
}

static void wait_state(enum who who, int rank, uint32_t state)
{
    WAIT_FOR(atomic_load(state_of(who, rank)) >= state, "a rank");
}

/* The host lets the ranks go on one step after the other. */
static void wait_go(uint32_t step)
{
    WAIT_FOR(atomic_load(&fault_shared->go) >= step, "the host");
}

/* ---- what a rank sees --------------------------------------------------------------------- */

static enum who me;
static pmix_proc_t self;

static void members_of(enum who who, pmix_proc_t ret[RANKS])
{
    for (pmix_rank_t rank = 0; rank < RANKS; rank++) {
        PMIx_Load_procid(&ret[rank], whos[who].job, rank);
    }
}

static void rank_begin(const char *arg)
{
    pmix_value_t value = { .type = PMIX_STRING };

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    me = (enum who)atoi(arg);
    value.data.string = self.nspace;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "job", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    atomic_store(state_of(me, (int)self.rank), BEGUN);
}

static pmix_status_t construct(const char *name, const pmix_proc_t procs[], size_t count)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    const pmix_status_t rc = PMIx_Group_construct(name, procs, count, NULL, 0, &results, &nresults);

    PMIx_Info_free(results, nresults);
    return rc;
}

static void fence(const char *name)
{
    pmix_proc_t all;

    PMIx_Load_procid(&all, name, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Fence(&all, 1, NULL, 0), PMIX_SUCCESS);
}

/* Member @rank of the group is of the job @want. */
static void expect_get(const char *name, pmix_rank_t rank, const char *want)
{
    pmix_value_t *value = NULL;
    pmix_proc_t member;

    PMIx_Load_procid(&member, name, rank);
    CHECK_STATUS(PMIx_Get(&member, "job", NULL, 0, &value), PMIX_SUCCESS);
    CHECK(strcmp(value->data.string, want) == 0, "%s.%u is of %s, not %s", name, rank,
          value->data.string, want);
    PMIx_Value_free(value, 1);
}

static pmix_status_t query_one(const char *key, const char *group, pmix_info_t **ret_info,
                               size_t *ret_count)
{
    pmix_query_t query;

    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (group != NULL) {
        PMIx_Query_qualifiers_create(&query, 1);
        PMIx_Info_load(&query.qualifiers[0], PMIX_GROUP_ID, group, PMIX_STRING);
    }
    const pmix_status_t rc = PMIx_Query_info(&query, 1, ret_info, ret_count);

    PMIx_Query_destruct(&query);
    return rc;
}

/* The names of all groups that this process sees, in any order: @want has @count. */
static void expect_names(const char *const want[], size_t count)
{
    pmix_info_t *info = NULL;
    size_t ninfo = 0;

    CHECK_STATUS(query_one(PMIX_QUERY_GROUP_NAMES, NULL, &info, &ninfo), PMIX_SUCCESS);
    const pmix_data_array_t *const array = info[0].value.data.darray;
    char *const *const names = array->array;

    CHECK(array->size == count, "%zu groups, not %zu", array->size, count);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        while (at < count && strcmp(names[at], want[i]) != 0) {
            at++;
        }
        CHECK(at < count, "there is no %s", want[i]);
    }
    PMIx_Info_free(info, ninfo);
}

/* Group @name has @count members, all of @job. */
static void expect_members(const char *name, const char *job, size_t count)
{
    pmix_info_t *info = NULL;
    size_t ninfo = 0;

    CHECK_STATUS(query_one(PMIX_QUERY_GROUP_MEMBERSHIP, name, &info, &ninfo), PMIX_SUCCESS);
    const pmix_data_array_t *const array = info[0].value.data.darray;
    const pmix_proc_t *const procs = array->array;

    CHECK(array->size == count, "%s has %zu members, not %zu", name, array->size, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(PMIx_Check_nspace(procs[i].nspace, job), "%s has %s.%u", name, procs[i].nspace,
              procs[i].rank);
    }
    PMIx_Info_free(info, ninfo);
}

/* All members call. */
static void expect_own(void)
{
    static const char *const names[] = { NAME };

    fence(NAME);
    expect_get(NAME, 0, whos[me].job);
    expect_get(NAME, 1, whos[me].job);
    expect_names(names, 1);
    expect_members(NAME, whos[me].job, RANKS);
    fence(NAME);
}

/* ---- roles --------------------------------------------------------------------------------- */

/* Rank 1 of the first user leaves, the second user's group ends by a destruct. */
static void ending(void)
{
    if (me == TWO) {
        wait_go(2); /* nothing of the other group's end is seen here */
        expect_own();
        CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_leave(NAME, NULL, 0), PMIX_ERR_NOT_FOUND);
        return;
    }
    if (self.rank == 1) {
        CHECK_STATUS(PMIx_Group_leave(NAME, NULL, 0), PMIX_SUCCESS);
        return;
    }
    wait_state(ONE, 1, DONE);
    expect_members(NAME, whos[me].job, 1);
    fence(NAME);
    CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
}

static void rank_end(void)
{
    atomic_store(state_of(me, (int)self.rank), DONE);
    wait_go(3);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static int role_maker(const char *arg)
{
    pmix_proc_t own[RANKS];

    rank_begin(arg);
    members_of(me, own);
    CHECK_STATUS(construct(NAME, own, RANKS), PMIX_SUCCESS);
    CHECK_STATUS(construct(NAME, own, RANKS), PMIX_ERR_EXISTS);
    expect_own();
    atomic_store(state_of(me, (int)self.rank), MADE);
    wait_go(1);
    ending();
    rank_end();
    return 0;
}

/* Rank 0 invites rank 1, which waits for the host. */
static int role_host_or_guest(const char *arg)
{
    pmix_proc_t own[RANKS];
    pmix_info_t *results = NULL;
    size_t count = 0;

    rank_begin(arg);
    members_of(me, own);
    if (self.rank == 0) {
        CHECK_STATUS(PMIx_Group_invite(NAME, own, RANKS, NULL, 0, &results, &count), PMIX_SUCCESS);
    } else {
        wait_go(me == TWO ? 1 : 2);
        CHECK_STATUS(PMIx_Group_join(NAME, &own[0], PMIX_GROUP_ACCEPT, NULL, 0, &results, &count),
                     PMIX_SUCCESS);
    }
    PMIx_Info_free(results, count);
    expect_own();
    rank_end();
    return 0;
}

/* Root's group of the name is "same" for root, whoever has it. */
static int role_overseer(const char *arg)
{
    static const char *const before[] = { NAME, NAME "@54321" };
    static const char *const names[] = { NAME, NAME "@54321", NAME "@54322" };

    rank_begin(arg);
    expect_names(before, 2);
    expect_members(NAME, whos[TWO].job, RANKS); /* it was there first */
    expect_members(NAME "@54321", whos[ONE].job, RANKS);
    CHECK_STATUS(construct(NAME, &self, 1), PMIX_SUCCESS);
    expect_names(names, 3);
    expect_members(NAME, whos[ROOT].job, 1);
    expect_members(NAME "@54321", whos[ONE].job, RANKS);
    expect_members(NAME "@54322", whos[TWO].job, RANKS);
    expect_get(NAME, 0, whos[ROOT].job);
    fence(NAME);
    CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
    expect_members(NAME "@54321", whos[ONE].job, RANKS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Rank 1 of the second user dies; the first user's group stays whole. */
static int role_mortal(const char *arg)
{
    pmix_proc_t own[RANKS];

    rank_begin(arg);
    members_of(me, own);
    CHECK_STATUS(construct(NAME, own, RANKS), PMIX_SUCCESS);
    expect_own();
    atomic_store(state_of(me, (int)self.rank), MADE);
    wait_go(1);
    if (me == TWO && self.rank == 1) {
        _exit(0);
    }
    if (me == TWO) {
        WAIT_FOR(atomic_load(&fault_shared->lost) > 0, "the end of the other");
        expect_members(NAME, whos[me].job, 1);
        fence(NAME);
        CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
    } else {
        wait_state(TWO, 0, DONE);
        expect_own();
        CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
    }
    rank_end();
    return 0;
}

/* The first user's construct and invitation name a process of the second user, which has the name
 * for itself all the same.  Then both make one group, and its name is both users'. */
static int role_named(const char *arg)
{
    pmix_proc_t own[RANKS], both[RANKS];
    pmix_info_t *results = NULL;
    size_t count = 0;

    rank_begin(arg);
    members_of(me, own);
    PMIx_Load_procid(&both[0], whos[ONE].job, 0);
    PMIx_Load_procid(&both[1], whos[TWO].job, 0);
    if (me == ONE && self.rank == 0) {
        CHECK_STATUS(construct(NAME, both, RANKS), PMIX_SUCCESS);
        CHECK_STATUS(construct(NAME ".2", own, 1), PMIX_SUCCESS);
    } else if (me == ONE) {
        pmix_proc_t two = both[1];

        CHECK_STATUS(PMIx_Group_invite(NAME ".2", &two, 1, NULL, 0, &results, &count),
                     PMIX_GROUP_INVITE_DECLINED);
    } else {
        CHECK_STATUS(construct(NAME, own, RANKS), PMIX_SUCCESS);
        CHECK_STATUS(construct(NAME ".2", own, RANKS), PMIX_SUCCESS);
        expect_get(NAME, 1, whos[me].job);
    }
    if (me == TWO && self.rank == 0) {
        CHECK_STATUS(construct(NAME, both, RANKS), PMIX_ERR_EXISTS);
        CHECK_STATUS(PMIx_Group_join(NAME ".2", NULL, PMIX_GROUP_ACCEPT, NULL, 0, &results, &count),
                     PMIX_ERR_EXISTS);
        CHECK_STATUS(PMIx_Group_join(NAME ".2", NULL, PMIX_GROUP_DECLINE, NULL, 0, &results,
                                     &count),
                     PMIX_SUCCESS);
    }
    if (me == TWO) {
        CHECK_STATUS(PMIx_Group_destruct(NAME, NULL, 0), PMIX_SUCCESS);
        atomic_store(state_of(me, (int)self.rank), LOST);
        wait_state(TWO, 1, LOST);
    }
    if (me == TWO && self.rank == 0) {
        CHECK_STATUS(construct(NAME, both, RANKS), PMIX_SUCCESS);
        expect_get(NAME, 0, whos[ONE].job);
        atomic_store(state_of(me, 0), BOTH);
    } else if (me == TWO) {
        wait_state(TWO, 0, BOTH);
        CHECK_STATUS(construct(NAME, &self, 1), PMIX_ERR_EXISTS);
    }
    rank_end();
    return 0;
}

/* Nobody adds a process of another user to a bootstrap: its processes find each other by the name
 * alone. */
static int role_leader(const char *arg)
{
    pmix_proc_t other;
    pmix_data_array_t array = { .type = PMIX_PROC, .size = 1, .array = &other };
    const uint32_t leaders = 1;
    pmix_info_t info[2];
    pmix_info_t *results = NULL;
    size_t count = 0;

    rank_begin(arg);
    PMIx_Load_procid(&other, whos[TWO].job, 0);
    PMIx_Info_load(&info[0], PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_UINT32);
    PMIx_Info_load(&info[1], PMIX_GROUP_ADD_MEMBERS, &array, PMIX_DATA_ARRAY);
    CHECK_STATUS(PMIx_Group_construct(NAME, &self, 1, info, 2, &results, &count),
                 PMIX_ERR_NO_PERMISSIONS);
    PMIx_Info_destruct(&info[1]);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------ */

static pid_t pids[WHOS][RANKS];

/* Return: 0; FAULT_SKIP. */
static int begin(void)
{
    if (geteuid() != 0) {
        return fault_skip("only root can become other users");
    }
    CHECK(setenv("SHMIX_RENDEZVOUS", "abstract", 1) == 0, "setenv");
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    for (int who = 0; who < WHOS; who++) {
        fault_job_start_for(whos[who].uid, whos[who].job, who == ROOT ? 1 : RANKS);
    }
    return 0;
}

static void start(enum who who, int rank, const char *role)
{
    char arg[8];

    snprintf(arg, sizeof(arg), "%d", (int)who);
    pids[who][rank] = fault_start_as(whos[who].uid, whos[who].job, rank, role, arg);
}

static void end(void)
{
    atomic_store(&fault_shared->go, 3);
    for (int who = 0; who < ROOT; who++) {
        for (int rank = 0; rank < RANKS; rank++) {
            fault_wait_ok(pids[who][rank], whos[who].job);
        }
    }
    fault_server_stop();
}

struct wanted {
    uid_t uid;
    const char *name;
};

static pmix_status_t is_open(struct sx_server *server, void *arg)
{
    const struct wanted *const wanted = arg;

    return sx_group_being_built(server, wanted->uid, wanted->name) != NULL ||
                   sx_invitation_find_of(server, wanted->uid, wanted->name) != NULL
               ? PMIX_SUCCESS
               : PMIX_ERR_NOT_FOUND;
}

static void wait_open(enum who who, const char *name)
{
    struct wanted wanted = { .uid = whos[who].uid, .name = name };

    WAIT_FOR(sx_server_call(sx_server_get(), is_open, &wanted) == PMIX_SUCCESS,
             "its open operation");
}

static int case_construct(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    start(ONE, 0, "maker");
    wait_open(ONE, NAME);
    start(TWO, 0, "maker");
    start(TWO, 1, "maker");
    wait_state(TWO, 0, MADE);
    wait_state(TWO, 1, MADE);
    start(ONE, 1, "maker");
    wait_state(ONE, 0, MADE);
    wait_state(ONE, 1, MADE);
    start(ROOT, 0, "overseer");
    fault_wait_ok(pids[ROOT][0], "root");
    atomic_store(&fault_shared->go, 1);
    wait_state(ONE, 0, DONE);
    atomic_store(&fault_shared->go, 2);
    wait_state(TWO, 0, DONE);
    end();
    return 0;
}

static int case_invite(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    for (int who = 0; who < ROOT; who++) {
        start((enum who)who, 0, "host_or_guest");
        wait_open((enum who)who, NAME);
        start((enum who)who, 1, "host_or_guest");
    }
    atomic_store(&fault_shared->go, 1); /* the later one ends first */
    wait_state(TWO, 0, DONE);
    wait_state(TWO, 1, DONE);
    atomic_store(&fault_shared->go, 2);
    end();
    return 0;
}

static int case_death(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    for (int who = 0; who < ROOT; who++) {
        for (int rank = 0; rank < RANKS; rank++) {
            start((enum who)who, rank, "mortal");
        }
    }
    for (int who = 0; who < ROOT; who++) {
        wait_state((enum who)who, 0, MADE);
        wait_state((enum who)who, 1, MADE);
    }
    atomic_store(&fault_shared->go, 1);
    wait_state(ONE, 0, DONE);
    end();
    return 0;
}

static int case_several(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    start(ONE, 0, "named");
    wait_open(ONE, NAME);
    start(ONE, 1, "named");
    wait_open(ONE, NAME ".2");
    start(TWO, 0, "named");
    start(TWO, 1, "named");
    wait_state(TWO, 1, DONE);
    end();
    return 0;
}

static int case_bootstrap(void)
{
    if (begin() == FAULT_SKIP) {
        return FAULT_SKIP;
    }
    start(ONE, 0, "leader");
    fault_wait_ok(pids[ONE][0], whos[ONE].job);
    fault_server_stop();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = {
        { "construct", case_construct }, { "invite", case_invite },       { "death", case_death },
        { "several", case_several },     { "bootstrap", case_bootstrap },
    };
    static const struct fault_role roles[] = {
        { "maker", role_maker },       { "host_or_guest", role_host_or_guest },
        { "overseer", role_overseer }, { "mortal", role_mortal },
        { "named", role_named },       { "leader", role_leader },
    };

    return fault_main(argc, argv, cases, SX_COUNT(cases), roles, SX_COUNT(roles));
}
