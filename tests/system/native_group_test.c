/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_group_test.c - handles of named lists: read without a call, whole while members go. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include <shmix.h>

#include "job.h"
#include "support/allocations.h"
#include "support/no_calls.h"

static pmix_proc_t me;
static pmix_nspace_t name;
static shmix_group_t *group;

/* All ranks become one namespace, which each has a handle of. */
static void begin(bool early)
{
    pmix_proc_t all;
    pmix_rank_t rank;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&all, JOB_NSPACE, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_CONNECT_EARLY_TERM_ALLOWED, &early, PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(shmix_connect(&all, 1, &info, 1, name, &rank), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_open(name, &group), PMIX_SUCCESS);
}

static void finish(void)
{
    CHECK_STATUS(shmix_group_close(group), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static shmix_group_facts_t look(const shmix_group_t *at)
{
    shmix_group_facts_t info;

    CHECK_STATUS(shmix_group_info(at, &info), PMIX_SUCCESS);
    return info;
}

/* ---- what a handle tells -------------------------------------------------------------------- */

static void check_members(uint32_t size)
{
    const shmix_group_facts_t info = look(group);
    pmix_proc_t proc;
    pmix_rank_t rank;

    CHECK(info.kind == SHMIX_GROUP_CONNECTED && info.size == size && info.member_count == size);
    CHECK(info.generation == 1 && !info.has_context_id && info.context_id == 0);
    for (pmix_rank_t i = 0; i < size; i++) {
        CHECK_STATUS(shmix_group_member(group, i, &proc), PMIX_SUCCESS);
        CHECK(strcmp(proc.nspace, JOB_NSPACE) == 0 && proc.rank == i);
        CHECK_STATUS(shmix_group_rank(group, &proc, &rank), PMIX_SUCCESS);
        CHECK(rank == i);
    }
    CHECK_STATUS(shmix_group_rank(group, NULL, &rank), PMIX_SUCCESS);
    CHECK(rank == me.rank);
    CHECK_STATUS(shmix_group_member(group, size, &proc), PMIX_ERR_NOT_FOUND);
    proc.rank = size;
    CHECK_STATUS(shmix_group_rank(group, &proc, &rank), PMIX_ERR_NOT_FOUND);
}

static int is_read_as_long_as_it_is_open(int rank)
{
    shmix_group_t *other;

    begin(false);
    check_members(3);
    CHECK_STATUS(shmix_group_refresh(group), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_wait(group, 0, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_wait(group, 1, 0), PMIX_ERR_TIMEOUT);
    CHECK_STATUS(shmix_disconnect(name, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_refresh(group), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_group_wait(group, 1, SHMIX_FOREVER), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_group_open(name, &other), PMIX_ERR_NOT_FOUND);
    CHECK(other == NULL);
    check_members(3);
    finish();
    return 0;
}

static int bad_arguments_are_refused(int rank)
{
    char too_long[PMIX_MAX_NSLEN + 2];
    shmix_group_facts_t info;
    shmix_group_t *other;
    pmix_proc_t endless;

    CHECK_STATUS(shmix_group_open("early", &other), PMIX_ERR_INIT);
    begin(false);
    memset(too_long, 'x', sizeof(too_long));
    too_long[sizeof(too_long) - 1] = '\0';
    memset(&endless, 'x', sizeof(endless));
    CHECK_STATUS(shmix_group_open(too_long, &other), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_open("", &other), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_open(NULL, &other), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_open(name, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_open(JOB_NSPACE, &other), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_group_info(NULL, &info), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_info(group, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_member(group, 0, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_rank(group, &endless, &me.rank), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_refresh(NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_wait(NULL, 0, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_group_close(NULL), PMIX_SUCCESS);
    rank_fence();
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_info(group, &info), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_group_refresh(group), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_group_close(group), PMIX_SUCCESS);
    return 0;
}

/* ---- what it costs -------------------------------------------------------------------------- */

static int read_without_calls(void *arg)
{
    const unsigned long before = allocations;
    shmix_group_facts_t info;
    pmix_proc_t proc;
    pmix_rank_t rank;

    for (int i = 0; i < 100; i++) {
        if (shmix_group_info(group, &info) != PMIX_SUCCESS ||
            shmix_group_member(group, 1, &proc) != PMIX_SUCCESS ||
            shmix_group_rank(group, &proc, &rank) != PMIX_SUCCESS || rank != 1 ||
            shmix_group_rank(group, NULL, &rank) != PMIX_SUCCESS ||
            shmix_group_refresh(group) != PMIX_SUCCESS ||
            shmix_group_wait(group, 0, SHMIX_FOREVER) != PMIX_SUCCESS) {
            return 2;
        }
    }
    return allocations == before ? 0 : 3;
}

static int a_read_makes_no_call_and_no_allocation(int rank)
{
    if (SANITIZED) {
        printf("skipped: a sanitizer allocates and calls as it likes\n");
        return JOB_SKIPPED;
    }
    begin(false);
    CHECK(no_calls_run(read_without_calls, NULL) == 0);
    rank_fence();
    finish();
    return 0;
}

/* ---- by PMIx's own calls -------------------------------------------------------------------- */

static bool number_is(pmix_rank_t rank, const char *key, uint32_t want)
{
    pmix_value_t *value;
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    if (PMIx_Get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS) {
        return false;
    }
    const bool is = value->data.uint32 == want;

    PMIx_Value_free(value, 1);
    return is;
}

static int ask_without_calls(void *arg)
{
    pmix_proc_t *procs;
    size_t count;
    char *nodes;

    if (!number_is(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 2) ||
        !number_is(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, 2) || !number_is(1, PMIX_RANK, 1) ||
        PMIx_Resolve_peers(NULL, name, &procs, &count) != PMIX_SUCCESS || count != 2 ||
        PMIx_Resolve_nodes(name, &nodes) != PMIX_SUCCESS) {
        return 2;
    }
    PMIx_Proc_free(procs, count);
    free(nodes);
    return 0;
}

static int what_follows_from_a_list_is_asked_of_nobody(int rank)
{
    if (SANITIZED) {
        printf("skipped: a sanitizer calls as it likes\n");
        return JOB_SKIPPED;
    }
    begin(false);
    CHECK(ask_without_calls(NULL) == 0); /* so that there is memory for it */
    CHECK(no_calls_run(ask_without_calls, NULL) == 0);
    rank_fence();
    finish();
    return 0;
}

/* ---- while members go ----------------------------------------------------------------------- */

struct waiter {
    sem_t ready;
    pmix_status_t status;
};

static void *wait_for_the_end(void *arg)
{
    struct waiter *const waiter = arg;
    shmix_group_t *mine;

    CHECK_STATUS(shmix_group_open(name, &mine), PMIX_SUCCESS);
    sem_post(&waiter->ready);
    do {
        waiter->status = shmix_group_wait(mine, look(mine).generation, SHMIX_FOREVER);
    } while (waiter->status == PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_close(mine), PMIX_SUCCESS);
    return NULL;
}

static int a_waiter_receives_of_the_end(int rank)
{
    struct waiter waiter = { .status = PMIX_ERROR };
    shmix_group_facts_t info;
    pmix_proc_t proc;
    pthread_t thread;

    begin(false);
    sem_init(&waiter.ready, 0, 0);
    CHECK(pthread_create(&thread, NULL, wait_for_the_end, &waiter) == 0);
    CHECK(sem_wait(&waiter.ready) == 0);
    CHECK_STATUS(shmix_disconnect(name, NULL, 0), PMIX_SUCCESS);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STATUS(waiter.status, PMIX_ERR_NOT_FOUND);
    info = look(group);
    CHECK(info.generation == 1 && info.member_count == 3);
    CHECK_STATUS(shmix_group_member(group, 2, &proc), PMIX_SUCCESS);
    finish();
    return 0;
}

#define READERS 3
#define LEAVERS 12 /* ranks behind rank 0 */

static atomic_bool over;

/* Nothing moves this thread's handle but the thread: what it reads fits together. */
static void check_snapshot(const shmix_group_t *at, bool is_mine)
{
    const shmix_group_facts_t info = look(at);
    uint32_t count = 0;
    pmix_proc_t proc;

    CHECK(info.size == 1 + LEAVERS);
    CHECK(info.member_count == info.size - (info.generation - 1));
    for (pmix_rank_t i = 0; i < info.size; i++) {
        const pmix_status_t rc = shmix_group_member(at, i, &proc);

        CHECK(rc == PMIX_ERR_NOT_FOUND || (rc == PMIX_SUCCESS && proc.rank == i));
        count += rc == PMIX_SUCCESS;
    }
    CHECK(is_mine ? count == info.member_count : count <= info.member_count);
}

/* One handle is the thread's own, the other is moved by everybody. */
static void *read_while_they_go(void *arg)
{
    shmix_group_t *mine;

    CHECK_STATUS(shmix_group_open(name, &mine), PMIX_SUCCESS);
    while (!over) {
        check_snapshot(mine, true);
        check_snapshot(group, false);
        CHECK_STATUS(shmix_group_refresh(mine), PMIX_SUCCESS);
        CHECK_STATUS(shmix_group_refresh(group), PMIX_SUCCESS);
    }
    CHECK_STATUS(shmix_group_close(mine), PMIX_SUCCESS);
    return NULL;
}

/* The others finalize, each on its own.  Rank 0 reads all the time, and sleeps for each. */
static int it_is_whole_while_members_leave(int rank)
{
    pthread_t threads[READERS];
    uint64_t generation = 1;
    pmix_rank_t own;

    begin(true);
    if (rank != 0) {
        job_token_get(0);
        finish();
        return 0;
    }
    for (int i = 0; i < READERS; i++) {
        CHECK(pthread_create(&threads[i], NULL, read_while_they_go, NULL) == 0);
    }
    for (int i = 0; i < LEAVERS; i++) {
        job_token_put(0);
    }
    while (generation < 1 + LEAVERS) {
        CHECK_STATUS(shmix_group_wait(group, generation, SHMIX_FOREVER), PMIX_SUCCESS);
        CHECK(look(group).generation > generation);
        generation = look(group).generation;
    }
    over = true;
    for (int i = 0; i < READERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(look(group).member_count == 1);
    CHECK_STATUS(shmix_group_rank(group, NULL, &own), PMIX_SUCCESS);
    CHECK(own == 0);
    finish();
    return 0;
}

static const struct job_case cases[] = {
    { .name = "read", .size = 3, .rank = is_read_as_long_as_it_is_open },
    { .name = "arguments", .size = 1, .rank = bad_arguments_are_refused },
    { .name = "no_call", .size = 2, .rank = a_read_makes_no_call_and_no_allocation },
    { .name = "no_message", .size = 2, .rank = what_follows_from_a_list_is_asked_of_nobody },
    { .name = "wait", .size = 3, .rank = a_waiter_receives_of_the_end },
    { .name = "leave", .size = 1 + LEAVERS, .rank = it_is_whole_while_members_leave },
};

JOB_MAIN(cases)
