/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* threads_test.c - a rank calls everything from many threads at once, and forks while it does.
 *
 * usage: threads_test [CASE]
 *
 * The threads of `at_once` begin together behind a barrier and check what each call gives, not
 * when.  A forked child reads what its parent reads, is refused what needs the server, and leaves
 * its parent alone. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/job.h"

#define THREADS 16
#define ROUNDS 100
#define FORKS 20
#define FORK_THREADS 4
#define CHILD_SECONDS 120

static pmix_proc_t self, peer, job_proc;
static pthread_barrier_t barrier;

/* ---- one thing each -------------------------------------------------------------------------- */

static void int_put(const char *key, int number)
{
    pmix_value_t value = { .type = PMIX_INT, .data.integer = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
}

static void int_expect(const pmix_proc_t *proc, const char *key, int number)
{
    pmix_value_t *value = NULL;

    CHECK_STATUS(PMIx_Get(proc, key, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value != NULL && value->type == PMIX_INT && value->data.integer == number);
    PMIX_VALUE_RELEASE(value);
}

static void size_expect(unsigned size)
{
    pmix_value_t *value = NULL;

    CHECK_STATUS(PMIx_Get(&job_proc, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == size);
    PMIX_VALUE_RELEASE(value);
}

/* A namespace of the thread's own, which nobody else knows of. */
static void internal_check(int thread, int round)
{
    pmix_value_t value = { .type = PMIX_INT, .data.integer = 1000 * thread + round };
    char key[32], nspace[32];
    pmix_proc_t proc;

    snprintf(nspace, sizeof(nspace), "internal.%d", thread);
    snprintf(key, sizeof(key), "round.%d", round);
    PMIX_LOAD_PROCID(&proc, nspace, (pmix_rank_t)round);
    CHECK_STATUS(PMIx_Store_internal(&proc, key, &value), PMIX_SUCCESS);
    int_expect(&proc, key, value.data.integer);
    CHECK_STATUS(PMIx_Store_internal(&self, nspace, &value), PMIX_SUCCESS);
    int_expect(&self, nspace, value.data.integer);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void handler_check(int thread)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - thread;
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);

    CHECK(id >= 0);
    CHECK_STATUS(PMIx_Deregister_event_handler((size_t)id, NULL, NULL), PMIX_SUCCESS);
    CHECK(PMIx_Deregister_event_handler((size_t)id, NULL, NULL) != PMIX_SUCCESS);
}

/* ---- what answers by callback --------------------------------------------------------------- */

struct answer {
    atomic_int calls;
    pmix_status_t status;
    int number;
};

static void answer_wait(struct answer *answer)
{
    while (atomic_load(&answer->calls) == 0) { /* bounded by the alarm of the rank */
        sched_yield();
    }
}

static void on_op(pmix_status_t status, void *cbdata)
{
    struct answer *const answer = cbdata;

    answer->status = status;
    atomic_fetch_add(&answer->calls, 1);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    struct answer *const answer = cbdata;

    answer->status = status;
    answer->number = status == PMIX_SUCCESS ? value->data.integer : -1;
    atomic_fetch_add(&answer->calls, 1);
}

/* One of all ranks and one of this one; the answers are kept to be counted at the end. */
static void fences_check(struct answer *whole, struct answer *own)
{
    CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, whole), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence_nb(&self, 1, NULL, 0, on_op, own), PMIX_SUCCESS);
    answer_wait(whole);
    answer_wait(own);
    CHECK_STATUS(whole->status, PMIX_SUCCESS);
    CHECK_STATUS(own->status, PMIX_SUCCESS);
}

/* ---- all at once ----------------------------------------------------------------------------- */

static struct answer wholes[THREADS][ROUNDS], owns[THREADS][ROUNDS], gets[THREADS][ROUNDS];

static void *thread_main(void *arg)
{
    const int thread = (int)(intptr_t)arg;
    char key[32];

    (void)pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) {
        struct answer *const get = &gets[thread][round];

        snprintf(key, sizeof(key), "%d.%d", thread, round);
        int_put(key, 100 * thread + round);
        int_expect(&self, key, 100 * thread + round);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Get_nb(&peer, key, NULL, 0, on_value, get), PMIX_SUCCESS);
        size_expect(2);
        internal_check(thread, round);
        handler_check(thread);
        fences_check(&wholes[thread][round], &owns[thread][round]);
        /* Without naming a fence: the peer's commit is waited for. */
        int_expect(&peer, key, 100 * thread + round);
        answer_wait(get);
        CHECK_STATUS(get->status, PMIX_SUCCESS);
        CHECK(get->number == 100 * thread + round);
    }
    return NULL;
}

static void begin(void)
{
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    PMIX_LOAD_PROCID(&peer, self.nspace, 1 - self.rank);
    PMIX_LOAD_PROCID(&job_proc, self.nspace, PMIX_RANK_WILDCARD);
}

static int rank_at_once(int rank)
{
    pthread_t threads[THREADS];
    char key[32];

    begin();
    CHECK((int)self.rank == rank);
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, thread_main, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    for (int thread = 0; thread < THREADS; thread++) {
        for (int round = 0; round < ROUNDS; round++) {
            snprintf(key, sizeof(key), "%d.%d", thread, round);
            int_expect(&peer, key, 100 * thread + round);
        }
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    for (int thread = 0; thread < THREADS; thread++) {
        for (int round = 0; round < ROUNDS; round++) {
            CHECK(wholes[thread][round].calls == 1 && owns[thread][round].calls == 1 &&
                  gets[thread][round].calls == 1);
        }
    }
    return 0;
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void never_called(pmix_status_t status, void *cbdata)
{
    fprintf(stderr, "a callback after an error\n");
    _exit(99);
}

/* A token for the server that the child does not have: refused, and at once. */
static void child_is_refused(void)
{
    pmix_value_t value = { .type = PMIX_INT, .data.integer = -1 };
    pmix_value_t *got = NULL;

    CHECK(PMIx_Fence(NULL, 0, NULL, 0) < 0);
    CHECK(PMIx_Fence_nb(NULL, 0, NULL, 0, never_called, NULL) < 0);
    if (PMIx_Put(PMIX_GLOBAL, "from.the.child", &value) == PMIX_SUCCESS) {
        CHECK(PMIx_Commit() < 0);
    }
    CHECK(PMIx_Get(&peer, "nobody.puts.this", NULL, 0, &got) < 0);
    CHECK(PMIx_Abort(1, "from the child", NULL, 0) < 0);
}

static void child_reads(void)
{
    int_expect(&self, "before", (int)self.rank);
    int_expect(&peer, "before", (int)peer.rank);
    size_expect(2);
}

/* Return: how the child ended. */
static int child_run(void (*first)(void), void (*then)(void), bool finalize)
{
    int status;
    const pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        first();
        if (then != NULL) {
            then();
        }
        _exit(finalize && PMIx_Finalize(NULL, 0) != PMIX_SUCCESS ? 98 : 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void fork_begin(void)
{
    struct answer answer = { .calls = 0 };

    begin();
    int_put("before", (int)self.rank);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    /* There are a handler and a thread at the fork. */
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_Fence_nb(&self, 1, NULL, 0, on_op, &answer), PMIX_SUCCESS);
    answer_wait(&answer);
}

/* The parent lives on as if nothing had been. */
static void fork_end(void)
{
    pmix_info_t optional;
    pmix_value_t *got = NULL;

    int_put("after", 10 + (int)self.rank);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    int_expect(&peer, "after", 10 + (int)peer.rank);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_Get(&peer, "from.the.child", &optional, 1, &got), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static int rank_fork(int rank)
{
    fork_begin();
    CHECK(child_run(child_reads, child_is_refused, true) == 0);
    CHECK(child_run(child_is_refused, child_reads, false) == 0);
    fork_end();
    return 0;
}

static atomic_bool stop;

static void *fork_thread_main(void *arg)
{
    const int thread = (int)(intptr_t)arg;
    char key[32];

    snprintf(key, sizeof(key), "busy.%d", thread);
    for (int round = 0; !atomic_load(&stop); round++) {
        int_put(key, round);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        int_expect(&self, key, round);
        internal_check(thread, round % 50);
        handler_check(thread);
    }
    return NULL;
}

/* Whatever lock a thread holds at the fork, the child can read. */
static int rank_fork_busy(int rank)
{
    pthread_t threads[FORK_THREADS];

    fork_begin();
    for (intptr_t i = 0; i < FORK_THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, fork_thread_main, (void *)i) == 0);
    }
    for (int i = 0; i < FORKS; i++) {
        CHECK(child_run(child_reads, NULL, false) == 0);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < FORK_THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    fork_end();
    return 0;
}

static const struct job_case cases[] = {
    { "at_once", 2, rank_at_once },
    { "fork", 2, rank_fork },
    { "fork_busy", 2, rank_fork_busy },
};

JOB_MAIN(cases)
