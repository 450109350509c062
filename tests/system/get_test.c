/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_test.c - what a Get finds, waits for and gives up, with a server and with peers. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

static void init(void)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
}

static void finalize(void)
{
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

static void put_u32(const char *key, uint32_t number, pmix_scope_t scope)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

static void fence(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

/* Return: the value, to be freed with drop. */
static pmix_value_t *get(const char *nspace, pmix_rank_t rank, const char *key)
{
    const pmix_proc_t proc = proc_of(nspace, rank);
    pmix_value_t *value = NULL;

    CHECK_STATUS(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS);
    return value;
}

static void drop(pmix_value_t *value)
{
    PMIx_Value_destruct(value);
    free(value);
}

static void expect_u32(const char *nspace, pmix_rank_t rank, const char *key, uint32_t want)
{
    pmix_value_t *const value = get(nspace, rank, key);

    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == want);
    drop(value);
}

static void expect_status(const char *nspace, pmix_rank_t rank, const char *key, pmix_status_t want)
{
    const pmix_proc_t proc = proc_of(nspace, rank);
    pmix_value_t *value = (pmix_value_t *)&me;

    CHECK_STATUS(PMIx_Get(&proc, key, NULL, 0, &value), want);
    CHECK(value == NULL);
}

/* ---- what can be named ---------------------------------------------------------------------- */

static int anybody_may_have_put_it(int rank)
{
    init();
    if (rank == 2) {
        put_u32("card", 77, PMIX_GLOBAL);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    fence();
    expect_u32(JOB_NSPACE, PMIX_RANK_WILDCARD, "card", 77);
    expect_u32("", PMIX_RANK_WILDCARD, "card", 77);
    expect_u32("", 2, "card", 77);
    expect_status(JOB_NSPACE, PMIX_RANK_WILDCARD, "never", PMIX_ERR_NOT_FOUND);
    finalize();
    return 0;
}

static int a_rank_knows_itself_its_peers_and_its_server(int rank)
{
    pmix_value_t *value;

    init();
    put_u32("pid", (uint32_t)getpid(), PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    value = get(JOB_NSPACE, PMIX_RANK_INVALID, PMIX_RANK);
    CHECK(value->type == PMIX_PROC_RANK && value->data.rank == (pmix_rank_t)rank);
    drop(value);
    fence();
    for (pmix_rank_t peer = 0; peer < 2; peer++) {
        value = get(JOB_NSPACE, peer, PMIX_PROC_PID);
        CHECK(value->type == PMIX_PID);
        expect_u32(JOB_NSPACE, peer, "pid", (uint32_t)value->data.pid);
        drop(value);
    }
    value = get(JOB_NSPACE, (pmix_rank_t)rank, PMIX_SERVER_URI);
    CHECK(value->type == PMIX_STRING && strstr(value->data.string, ";unix:/") != NULL);
    drop(value);
    fence();
    finalize();
    return 0;
}

/* As MPICH asks for them: of each rank, with no directive. */
static int a_reserved_key_that_is_not_there_is_not_waited_for(int rank)
{
    init();
    expect_status(JOB_NSPACE, 1 - (pmix_rank_t)rank, PMIX_FABRIC_COORDINATES, PMIX_ERR_NOT_FOUND);
    expect_status(JOB_NSPACE, (pmix_rank_t)rank, PMIX_PARENT_ID, PMIX_ERR_NOT_FOUND);
    fence();
    finalize();
    return 0;
}

/* ---- many at once --------------------------------------------------------------------------- */

/* More than the server lets one client have waiting. */
enum { MANY = 3000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned answered, found, timed_out;
} many = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    const uint32_t number = (uint32_t)(uintptr_t)cbdata;

    CHECK(status == PMIX_SUCCESS || status == PMIX_ERR_TIMEOUT);
    CHECK(status != PMIX_SUCCESS || value->data.uint32 == number);
    pthread_mutex_lock(&many.lock);
    many.answered++;
    many.found += status == PMIX_SUCCESS;
    many.timed_out += status == PMIX_ERR_TIMEOUT;
    pthread_cond_broadcast(&many.cond);
    pthread_mutex_unlock(&many.lock);
}

static void wait_for_answers(unsigned count)
{
    pthread_mutex_lock(&many.lock);
    while (many.answered < count) {
        pthread_cond_wait(&many.cond, &many.lock);
    }
    pthread_mutex_unlock(&many.lock);
}

static void ask_for(pmix_rank_t rank, uint32_t number, const pmix_info_t *info, size_t ninfo)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, rank);
    char key[32];

    snprintf(key, sizeof(key), "many.%u", number);
    CHECK_STATUS(PMIx_Get_nb(&proc, key, info, ninfo, on_value, (void *)(uintptr_t)number),
                 PMIX_SUCCESS);
}

/* The one with a time limit is at the end of the queue; a blocking Get does not stand behind it. */
static int more_gets_than_the_server_takes_wait_in_the_client(int rank)
{
    const pmix_proc_t other = proc_of(JOB_NSPACE, 1);
    pmix_value_t *value = NULL;
    const int seconds = 1;
    pmix_info_t info;
    char key[32];

    init();
    if (rank == 1) {
        job_token_get(0);
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(key, sizeof(key), "many.%u", i);
            put_u32(key, i, PMIX_GLOBAL);
        }
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT), PMIX_SUCCESS);
        for (uint32_t i = 0; i < MANY; i++) {
            ask_for(1, i, NULL, 0);
        }
        ask_for(1, MANY, &info, 1);
        wait_for_answers(1);
        CHECK(many.timed_out == 1);
        CHECK_STATUS(PMIx_Get(&other, "never", &info, 1, &value), PMIX_ERR_TIMEOUT);
        CHECK(many.answered == 1);
        job_token_put(0);
        wait_for_answers(MANY + 1);
        CHECK(many.found == MANY);
    }
    fence();
    finalize();
    return 0;
}

/* ---- jobs elsewhere ------------------------------------------------------------------------- */

static void register_far(const char *name, const pmix_info_t *user)
{
    const uint32_t size = 3;
    pmix_info_t infos[2];
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    if (user != NULL) {
        infos[1] = *user;
    }
    const pmix_status_t rc = PMIx_server_register_nspace(nspace, 0, infos, user != NULL ? 2 : 1,
                                                         NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

static int host_with_jobs_elsewhere(struct job *job)
{
    const uint32_t other = (uint32_t)geteuid() + 1;
    pmix_info_t user;

    (void)job;
    CHECK_STATUS(PMIx_Info_load(&user, PMIX_USERID, &other, PMIX_UINT32), PMIX_SUCCESS);
    register_far("far.job", NULL);
    register_far("far.job.of.another", &user);
    job_token_put(0);
    return 0;
}

static int a_job_without_a_rank_here_is_read_by_its_user(int rank)
{
    (void)rank;
    init();
    job_token_get(0);
    expect_u32("far.job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 3);
    expect_status("far.job.of.another", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_ERR_NOT_FOUND);
    finalize();
    return 0;
}

static const struct job_case cases[] = {
    { "anybody_may_have_put_it", 3, anybody_may_have_put_it, NULL, false },
    { "a_rank_knows_itself_its_peers_and_its_server", 2,
      a_rank_knows_itself_its_peers_and_its_server, NULL, false },
    { "a_reserved_key_that_is_not_there_is_not_waited_for", 2,
      a_reserved_key_that_is_not_there_is_not_waited_for, NULL, false },
    { "more_gets_than_the_server_takes_wait_in_the_client", 2,
      more_gets_than_the_server_takes_wait_in_the_client, NULL, false },
    { "a_job_without_a_rank_here_is_read_by_its_user", 1,
      a_job_without_a_rank_here_is_read_by_its_user, host_with_jobs_elsewhere, false },
};

int main(int argc, char **argv)
{
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
