/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* singleton_test.c - a process without a server: what still works, and what says so. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>

#include "../alone.h"

static pmix_proc_t me;

static void begin(void)
{
    alone_init(&me);
}

static uint32_t number_of(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value = NULL;

    proc.rank = rank;
    cr_assert_eq(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS, "%s", key);
    const uint32_t number = value->data.uint32;
    free(value);
    return number;
}

TestSuite(singleton, .init = begin, .fini = alone_end);

Test(singleton, has_a_name_and_rank_0)
{
    char host[256] = "", want[512];

    gethostname(host, sizeof(host) - 1);
    snprintf(want, sizeof(want), "singleton.%.127s.%ld", host, (long)getpid());
    cr_expect_str_eq(me.nspace, want);
    cr_expect_eq(me.rank, 0u);
}

Test(singleton, later_inits_succeed_and_are_counted)
{
    pmix_proc_t again;

    cr_assert_eq(PMIx_Init(&again, NULL, 0), PMIX_SUCCESS);
    cr_expect_str_eq(again.nspace, me.nspace);
    cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect(PMIx_Initialized());
    cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_not(PMIx_Initialized());
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Init(&again, NULL, 0), PMIX_ERR_UNREACH, "and all begins again");
}

Test(singleton, knows_the_job_it_is)
{
    pmix_value_t *value;

    cr_expect_eq(number_of(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 1u);
    cr_expect_eq(number_of(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), 1u);
    cr_expect_eq(number_of(0, PMIX_JOB_SIZE), 1u, "the job's cell serves its ranks");
    cr_assert_eq(PMIx_Get(&me, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_eq(value->type, PMIX_UINT16);
    free(value);
    cr_expect_eq(PMIx_Get(NULL, PMIX_MAX_PROCS, NULL, 0, &value), PMIX_SUCCESS);
    free(value);
    cr_expect_eq(PMIx_Get(&me, PMIX_TMPDIR, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
}

Test(singleton, puts_are_seen_at_once_and_replaced)
{
    pmix_value_t put = { .type = PMIX_UINT32 }, *value;

    for (uint32_t i = 0; i < 3000; i++) {
        put.data.uint32 = i;
        cr_assert_eq(PMIx_Put(PMIX_GLOBAL, "counter", &put), PMIX_SUCCESS);
        cr_assert_eq(number_of(0, "counter"), i);
    }
    cr_expect_eq(PMIx_Commit(), PMIX_SUCCESS);
    cr_expect_eq(number_of(0, "counter"), 2999u);
    cr_expect_eq(PMIx_Get(NULL, "counter", NULL, 0, &value), PMIX_SUCCESS, "whoever has it");
    free(value);
}

Test(singleton, fences_of_itself_are_over_at_once)
{
    const pmix_proc_t whole = { .nspace = "elsewhere", .rank = PMIX_RANK_WILDCARD };

    cr_expect_eq(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(PMIx_Fence(&me, 1, NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(PMIx_Fence(&whole, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
}

Test(singleton, what_needs_a_server_says_that_there_is_none)
{
    pmix_info_t info;
    pmix_value_t *value = NULL;
    const pmix_proc_t stranger = { .nspace = "elsewhere", .rank = 3 };

    PMIx_Info_load(&info, PMIX_JOB_CTRL_ID, "x", PMIX_STRING);
    cr_expect_eq(PMIx_Abort(1, "text", NULL, 0), PMIX_ERR_UNREACH);
    cr_expect_eq(PMIx_Job_control(&me, 1, &info, 1, NULL, NULL), PMIX_ERR_UNREACH);
    cr_expect_eq(PMIx_Job_control_nb(&me, 1, &info, 1, NULL, NULL), PMIX_ERR_UNREACH);
    cr_expect_eq(PMIx_Get(&stranger, "key", NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    cr_expect_null(value);
    PMIx_Info_destruct(&info);
}

Test(singleton, stores_for_itself_what_it_knows_of_others)
{
    const pmix_proc_t stranger = { .nspace = "elsewhere", .rank = 12345 };
    pmix_value_t put = { .type = PMIX_STRING, .data.string = (char *)"over there" }, *value;

    cr_assert_eq(PMIx_Store_internal(&stranger, "where", &put), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(&stranger, "where", NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_str_eq(value->data.string, "over there");
    PMIx_Value_destruct(value);
    free(value);
    cr_expect_eq(PMIx_Get(&stranger, "else", NULL, 0, &value), PMIX_ERR_NOT_FOUND);
}

Test(singleton, a_forked_child_has_the_same_data)
{
    pmix_value_t put = { .type = PMIX_UINT32, .data.uint32 = 7 };
    int status;

    cr_assert_eq(PMIx_Put(PMIX_GLOBAL, "seven", &put), PMIX_SUCCESS);
    const pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        put.data.uint32 = 8;
        const bool good = number_of(0, "seven") == 7 &&
                          PMIx_Put(PMIX_GLOBAL, "eight", &put) == PMIX_SUCCESS &&
                          PMIx_Finalize(NULL, 0) == PMIX_SUCCESS;
        _exit(good ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_eq(number_of(0, "seven"), 7u);
}

/* ---- callbacks ---------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned count;
    pmix_status_t status;
    uint32_t number;
} box = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void box_notify(pmix_status_t status, uint32_t number)
{
    pthread_mutex_lock(&box.lock);
    box.count++;
    box.status = status;
    box.number = number;
    pthread_cond_signal(&box.cond);
    pthread_mutex_unlock(&box.lock);
}

static void box_wait(unsigned count)
{
    pthread_mutex_lock(&box.lock);
    while (box.count < count) {
        pthread_cond_wait(&box.cond, &box.lock); /* bounded by the suite's timeout */
    }
    pthread_mutex_unlock(&box.lock);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)cbdata;
    box_notify(status, value != NULL ? value->data.uint32 : 0);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    box_notify(status, 0);
}

Test(singleton, callbacks_come_from_another_thread, .timeout = 60)
{
    cr_assert_eq(PMIx_Get_nb(&me, PMIX_JOB_SIZE, NULL, 0, on_value, NULL), PMIX_SUCCESS);
    box_wait(1);
    cr_expect_eq(box.status, PMIX_SUCCESS);
    cr_expect_eq(box.number, 1u);
    cr_assert_eq(PMIx_Get_nb(&me, "nothing", NULL, 0, on_value, NULL), PMIX_SUCCESS);
    box_wait(2);
    cr_expect_eq(box.status, PMIX_ERR_NOT_FOUND);
    cr_assert_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, NULL), PMIX_SUCCESS);
    box_wait(3);
    cr_expect_eq(box.status, PMIX_SUCCESS);
}

/* Every accepted call is called back, also when the process leaves at once. */
Test(singleton, finalize_delivers_what_is_queued, .timeout = 60)
{
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(PMIx_Get_nb(&me, PMIX_JOB_SIZE, NULL, 0, on_value, NULL), PMIX_SUCCESS);
    }
    cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(box.count, 100u);
}

static void on_op_finalize(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    (void)status;
    box_notify(PMIx_Finalize(NULL, 0), 0);
}

Test(singleton, finalize_inside_a_callback_works, .timeout = 60)
{
    cr_assert_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op_finalize, NULL), PMIX_SUCCESS);
    box_wait(1);
    cr_expect_eq(box.status, PMIX_SUCCESS);
    cr_expect_not(PMIx_Initialized());
    cr_assert_eq(PMIx_Init(&me, NULL, 0), PMIX_ERR_UNREACH);
    cr_assert_eq(PMIx_Get_nb(&me, PMIX_JOB_SIZE, NULL, 0, on_value, NULL), PMIX_SUCCESS);
    box_wait(2);
    cr_expect_eq(box.status, PMIX_SUCCESS);
}
