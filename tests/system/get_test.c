/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_test.c - what a Get finds, waits for and gives up, with a server and with peers. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

static void put_u32(const char *key, uint32_t number, pmix_scope_t scope)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
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
    rank_begin(&me);
    if (rank == 2) {
        put_u32("card", 77, PMIX_GLOBAL);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    rank_fence();
    expect_u32(JOB_NSPACE, PMIX_RANK_WILDCARD, "card", 77);
    expect_u32("", PMIX_RANK_WILDCARD, "card", 77);
    expect_u32("", 2, "card", 77);
    expect_status(JOB_NSPACE, PMIX_RANK_WILDCARD, "never", PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static int a_rank_knows_itself_its_peers_and_its_server(int rank)
{
    pmix_value_t *value;

    rank_begin(&me);
    put_u32("pid", (uint32_t)getpid(), PMIX_GLOBAL);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    value = get(JOB_NSPACE, PMIX_RANK_INVALID, PMIX_RANK);
    CHECK(value->type == PMIX_PROC_RANK && value->data.rank == (pmix_rank_t)rank);
    drop(value);
    rank_fence();
    for (pmix_rank_t peer = 0; peer < 2; peer++) {
        value = get(JOB_NSPACE, peer, PMIX_PROC_PID);
        CHECK(value->type == PMIX_PID);
        expect_u32(JOB_NSPACE, peer, "pid", (uint32_t)value->data.pid);
        drop(value);
    }
    value = get(JOB_NSPACE, (pmix_rank_t)rank, PMIX_SERVER_URI);
    CHECK(value->type == PMIX_STRING && strstr(value->data.string, ";unix:@") != NULL);
    drop(value);
    rank_fence();
    return rank_end();
}

/* As MPICH asks for them: of each rank, with no directive. */
static int a_reserved_key_that_is_not_there_is_not_waited_for(int rank)
{
    rank_begin(&me);
    expect_status(JOB_NSPACE, 1 - (pmix_rank_t)rank, PMIX_FABRIC_COORDINATES, PMIX_ERR_NOT_FOUND);
    expect_status(JOB_NSPACE, (pmix_rank_t)rank, PMIX_PARENT_ID, PMIX_ERR_NOT_FOUND);
    rank_fence();
    return rank_end();
}

/* ---- how long is waited --------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned count;
    pmix_status_t last;
} answers = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static void on_answer(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    CHECK((status == PMIX_SUCCESS) == (value != NULL));
    pthread_mutex_lock(&answers.lock);
    answers.count++;
    answers.last = status;
    pthread_cond_broadcast(&answers.cond);
    pthread_mutex_unlock(&answers.lock);
}

static unsigned answer_count(void)
{
    pthread_mutex_lock(&answers.lock);
    const unsigned count = answers.count;
    pthread_mutex_unlock(&answers.lock);
    return count;
}

/* Return: the status of the newest answer. */
static pmix_status_t answer_wait(unsigned count)
{
    pthread_mutex_lock(&answers.lock);
    while (answers.count < count) {
        pthread_cond_wait(&answers.cond, &answers.lock);
    }
    const pmix_status_t last = answers.last;
    pthread_mutex_unlock(&answers.lock);
    return last;
}

static void get_nb(pmix_rank_t rank, const char *key)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, rank);

    CHECK_STATUS(PMIx_Get_nb(&proc, key, NULL, 0, on_answer, NULL), PMIX_SUCCESS);
}

static void get_within(pmix_rank_t rank, const char *key, int seconds, pmix_status_t want)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, rank);
    pmix_value_t *value = NULL;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&proc, key, &info, 1, &value), want);
    CHECK(value == NULL);
}

static void commit(void)
{
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

/* The server's patience is a fifth of a second here: a whole one passes, and nothing is given up. */
static int a_rank_that_has_not_committed_is_waited_for(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        job_token_get(0);
        put_u32("late", 5, PMIX_GLOBAL);
        commit();
    } else {
        get_nb(1, "late");
        get_within(1, "never", 1, PMIX_ERR_TIMEOUT);
        CHECK(answer_count() == 0);
        job_token_put(0);
        CHECK_STATUS(answer_wait(1), PMIX_SUCCESS);
    }
    rank_fence();
    return rank_end();
}

static int what_a_commit_did_not_bring_is_given_up(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        job_token_get(0);
        put_u32("else", 5, PMIX_GLOBAL);
        commit();
        job_token_put(1);
    } else {
        get_nb(1, "never"); /* before the commit, and after it */
        job_token_put(0);
        CHECK_STATUS(answer_wait(1), PMIX_ERR_TIMEOUT);
        job_token_get(1);
        expect_status(JOB_NSPACE, 1, "never", PMIX_ERR_TIMEOUT);
    }
    rank_fence();
    return rank_end();
}

static int a_commit_of_nothing_is_one(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        commit();
        job_token_put(0);
    } else {
        job_token_get(0);
        expect_status(JOB_NSPACE, 1, "never", PMIX_ERR_TIMEOUT);
    }
    rank_fence();
    return rank_end();
}

/* Its process could come again, or a wrapper's next one in its place. */
static int a_rank_that_has_finalized_is_given_up(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        CHECK(rank_end() == 0);
        job_token_put(0);
        job_token_get(1);
        return 0;
    }
    job_token_get(0);
    expect_status(JOB_NSPACE, 1, "never", PMIX_ERR_TIMEOUT);
    job_token_put(1);
    return rank_end();
}

/* Its host never removes it. */
static int a_rank_that_has_finalized_and_exited_has_nothing(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        CHECK(rank_end() == 0);
        job_token_put(0);
        return 0;
    }
    job_token_get(0);
    get_within(1, "never", JOB_SECONDS, PMIX_ERR_NOT_FOUND);
    expect_status(JOB_NSPACE, 1, "never", PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* The own value is answered behind the other, which has been sent by then. */
static void get_nb_sent(pmix_rank_t rank, const char *key)
{
    put_u32("own", 1, PMIX_INTERNAL);
    get_nb(rank, key);
    get_nb(me.rank, "own");
    CHECK_STATUS(answer_wait(1), PMIX_SUCCESS);
}

static int what_is_for_other_nodes_is_not_waited_for(int rank)
{
    rank_begin(&me);
    if (rank == 1) {
        put_u32("far", 5, PMIX_REMOTE);
        commit();
        job_token_put(0);
        job_token_get(1);
        put_u32("far too", 5, PMIX_REMOTE);
        put_u32("both", 5, PMIX_REMOTE);
        put_u32("both", 6, PMIX_LOCAL);
        commit();
    } else {
        job_token_get(0);
        expect_status(JOB_NSPACE, 1, "far", PMIX_ERR_NOT_FOUND);
        get_within(1, "far", JOB_SECONDS, PMIX_ERR_NOT_FOUND);
        get_nb_sent(1, "far too");
        job_token_put(1);
        CHECK_STATUS(answer_wait(2), PMIX_ERR_NOT_FOUND);
        expect_u32(JOB_NSPACE, 1, "both", 6);
    }
    rank_fence();
    return rank_end();
}

/* No fence has made the server take what the ranks have sent. */
static int what_anybody_has_sent_is_found(int rank)
{
    enum { ROUNDS = 30 };
    char key[32];

    rank_begin(&me);
    for (int round = 0; round < ROUNDS; round++) {
        for (int of = 1; of < 3; of++) {
            snprintf(key, sizeof(key), "of %d in %d", of, round);
            if (rank == of) {
                put_u32(key, 5, PMIX_GLOBAL);
                commit();
                job_token_put(0);
                job_token_get(of);
            }
        }
        if (rank == 0) {
            job_token_get(0);
            job_token_get(0);
            expect_u32(JOB_NSPACE, PMIX_RANK_WILDCARD, key, 5);
            snprintf(key, sizeof(key), "of 1 in %d", round);
            expect_u32(JOB_NSPACE, PMIX_RANK_UNDEF, key, 5);
            job_token_put(1);
            job_token_put(2);
        }
    }
    if (rank == 0) {
        get_within(PMIX_RANK_WILDCARD, "never", JOB_SECONDS, PMIX_ERR_NOT_FOUND);
    }
    rank_fence();
    return rank_end();
}

/* ---- what is to be fresh -------------------------------------------------------------------- */

/* Return: the value of rank 1, which is to be fresh. */
static uint32_t get_fresh_u32(const char *key)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, 1);
    pmix_value_t *value = NULL;
    pmix_info_t info;

    info = info_flag(PMIX_GET_REFRESH_CACHE);
    CHECK_STATUS(PMIx_Get(&proc, key, &info, 1, &value), PMIX_SUCCESS);
    const uint32_t number = value->data.uint32;
    drop(value);
    return number;
}

/* Nobody wakes the server for what is committed, and no fence does.  What a process has stored of
 * another itself is its own to know. */
static int what_a_peer_has_committed_again_is_fresh(int rank)
{
    const pmix_proc_t one = proc_of(JOB_NSPACE, 1);
    pmix_value_t own = { .type = PMIX_UINT32, .data.uint32 = 77 };

    rank_begin(&me);
    for (uint32_t round = 0; round < 30; round++) {
        if (rank == 1) {
            put_u32("again", round, PMIX_GLOBAL);
            commit();
            job_token_put(0);
            job_token_get(1);
        } else {
            job_token_get(0);
            CHECK(get_fresh_u32("again") == round);
            job_token_put(1);
        }
    }
    CHECK_STATUS(PMIx_Store_internal(&one, "kept", &own), PMIX_SUCCESS);
    CHECK(get_fresh_u32("kept") == 77);
    rank_fence();
    return rank_end();
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

    rank_begin(&me);
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
    rank_fence();
    return rank_end();
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

    CHECK_STATUS(PMIx_Info_load(&user, PMIX_USERID, &other, PMIX_UINT32), PMIX_SUCCESS);
    register_far("far.job", NULL);
    register_far("far.job.of.another", &user);
    job_token_put(0);
    return 0;
}

static int a_job_without_a_rank_here_is_read_by_its_user(int rank)
{
    rank_begin(&me);
    job_token_get(0);
    expect_u32("far.job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 3);
    expect_status("far.job.of.another", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static const struct job_case cases[] = {
    { "anybody_may_have_put_it", 3, anybody_may_have_put_it },
    { "a_rank_knows_itself_its_peers_and_its_server", 2,
      a_rank_knows_itself_its_peers_and_its_server },
    { "a_reserved_key_that_is_not_there_is_not_waited_for", 2,
      a_reserved_key_that_is_not_there_is_not_waited_for },
    { "a_rank_that_has_not_committed_is_waited_for", 2,
      a_rank_that_has_not_committed_is_waited_for },
    { "what_a_commit_did_not_bring_is_given_up", 2, what_a_commit_did_not_bring_is_given_up },
    { "a_commit_of_nothing_is_one", 2, a_commit_of_nothing_is_one },
    { "a_rank_that_has_finalized_is_given_up", 2, a_rank_that_has_finalized_is_given_up },
    { "a_rank_that_has_finalized_and_exited_has_nothing", 2,
      a_rank_that_has_finalized_and_exited_has_nothing },
    { "what_is_for_other_nodes_is_not_waited_for", 2, what_is_for_other_nodes_is_not_waited_for },
    { "what_anybody_has_sent_is_found", 3, what_anybody_has_sent_is_found },
    { "what_a_peer_has_committed_again_is_fresh", 2, what_a_peer_has_committed_again_is_fresh },
    { "more_gets_than_the_server_takes_wait_in_the_client", 2,
      more_gets_than_the_server_takes_wait_in_the_client },
    { "a_job_without_a_rank_here_is_read_by_its_user", 1,
      a_job_without_a_rank_here_is_read_by_its_user, host_with_jobs_elsewhere },
};

int main(int argc, char **argv)
{
    setenv("SHMIX_GET_TIMEOUT", "0.2", 1); /* for the host, before its server starts */
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
