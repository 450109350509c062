/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_host_test.c - fences that reach beyond this node: a host that is slow to answer, and what it
 * is told. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define SIZE 2
#define ROUNDS 3
#define WISH "a.wish"
#define LARGE (16 << 10)
#define MANY 200
#define OWED_MAX 256 /* fences of one client that have not gone: SHMIX_SERVER_COLLECTIVES */

/* ---- the host ------------------------------------------------------------------------------- */

/* It answers inside the call, unless it holds back, or never. */
static struct {
    pthread_mutex_t lock;
    bool holds, two_at_once, is_silent;
    unsigned asked;
    pmix_modex_cbfunc_t cbfunc; /* of the question that it holds; NULL: none */
    void *cbdata;
    char *bytes;
    size_t size;
    pmix_status_t local; /* what it was told last: how it went here, and a member's wish */
    char wish[32];
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .holds = true };

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    pthread_mutex_lock(&host.lock);
    const bool is_silent = host.is_silent;
    const bool holds = host.holds && !is_silent;

    CHECK(ninfo > 0 && strcmp(info[0].key, PMIX_COLLECT_DATA) == 0);
    host.wish[0] = '\0';
    for (size_t i = 1; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS) == 0) {
            host.local = info[i].value.data.status;
        } else if (strcmp(info[i].key, WISH) == 0) {
            snprintf(host.wish, sizeof(host.wish), "%s", info[i].value.data.string);
        }
    }

    host.asked++;
    host.two_at_once |= host.cbfunc != NULL;
    if (holds) {
        host.cbfunc = cbfunc;
        host.cbdata = cbdata;
        host.bytes = data;
        host.size = ndata;
    }
    pthread_mutex_unlock(&host.lock);
    if (is_silent) {
        free(data);
    } else if (!holds) { /* the only node's data come back to it */
        cbfunc(PMIX_SUCCESS, data, ndata, cbdata, free, data);
    }
    return PMIX_SUCCESS;
}

static void host_answers(void)
{
    pthread_mutex_lock(&host.lock);
    const pmix_modex_cbfunc_t cbfunc = host.cbfunc;

    host.cbfunc = NULL;
    host.holds = false;
    pthread_mutex_unlock(&host.lock);
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, host.bytes, host.size, host.cbdata, free, host.bytes);
    }
}

/* When both ranks have ended.  It holds back again, for the next case. */
static void host_is_done(struct job *job, unsigned *ret_asked)
{
    CHECK(job_wait(job, 0) == 0 && job_wait(job, 1) == 0);
    pthread_mutex_lock(&host.lock);
    *ret_asked = host.asked;
    host.asked = 0;
    CHECK(!host.two_at_once);
    host.holds = true;
    pthread_mutex_unlock(&host.lock);
}

/* ---- the ranks ------------------------------------------------------------------------------ */

static void fence_done(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    __atomic_add_fetch((unsigned *)cbdata, 1, __ATOMIC_RELEASE);
}

/* All are under way when the host answers the first. */
static int rank_of_several(int rank)
{
    static unsigned done;

    rank_begin(NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, fence_done, &done), PMIX_SUCCESS);
    }
    job_token_put(0);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < ROUNDS) {
        usleep(1000);
    }
    return rank_end();
}

static int host_of_several(struct job *job)
{
    unsigned asked;

    job_token_get(0);
    job_token_get(0);
    host_answers();
    host_is_done(job, &asked);
    CHECK(asked == ROUNDS);
    return 0;
}

static int rank_of_late(int rank)
{
    const int second = 1;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &second, PMIX_INT), PMIX_SUCCESS);
    rank_begin(NULL);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_ERR_TIMEOUT);
    job_token_put(0);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* The first answer comes when nobody waits for it; it ends nothing but its own fence. */
static int host_of_late(struct job *job)
{
    unsigned asked;

    job_token_get(0);
    job_token_get(0);
    host_answers();
    host_is_done(job, &asked);
    return 0;
}

static pmix_status_t fence_with(const pmix_info_t *info, size_t ninfo)
{
    return PMIx_Fence(NULL, 0, info, ninfo);
}

/* Rank 1 alone has a wish; then it leaves. */
static int rank_of_notifying(int rank)
{
    pmix_info_t info;

    rank_begin(NULL);
    CHECK_STATUS(PMIx_Info_load(&info, WISH, "rank 1's", PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(fence_with(&info, rank == 1), PMIX_SUCCESS);
    job_token_put(rank);
    if (rank == 0) {
        job_token_get(2);
        CHECK_STATUS(fence_with(NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    }
    rank_end();
    PMIx_Info_destruct(&info);
    return 0;
}

static void expect_notified(pmix_status_t local, const char *wish)
{
    pthread_mutex_lock(&host.lock);
    CHECK_STATUS(host.local, local);
    CHECK(strcmp(host.wish, wish) == 0);
    pthread_mutex_unlock(&host.lock);
}

static int host_of_notifying(struct job *job)
{
    unsigned asked;

    host_answers();
    job_token_get(0);
    job_token_get(1);
    expect_notified(PMIX_SUCCESS, "rank 1's");
    job_token_put(2);
    host_is_done(job, &asked);
    expect_notified(PMIX_ERR_PARTIAL_SUCCESS, "");
    return 0;
}

/* What a fence may bring is bounded; what it may not bring leaves nothing behind. */
static int rank_of_too_much(int rank)
{
    static char large[LARGE];
    pmix_info_t *const info = PMIx_Info_create(MANY);

    rank_begin(NULL);
    memset(large, 'x', sizeof(large) - 1);
    info[0] = info_text(WISH, large);
    CHECK_STATUS(fence_with(info, 1), PMIX_ERR_OUT_OF_RESOURCE);
    large[LARGE - 512] = '\0';
    PMIx_Info_destruct(&info[0]);
    info[0] = info_text(WISH, large);
    CHECK_STATUS(fence_with(info, 1), PMIX_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        PMIx_Info_destruct(&info[i]);
        info[i] = info_flag(WISH);
    }
    CHECK_STATUS(fence_with(info, MANY), PMIX_ERR_OUT_OF_RESOURCE);
    info[0].flags = PMIX_INFO_REQD;
    CHECK_STATUS(fence_with(info, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_free(info, MANY);
    return rank_end();
}

static int host_of_too_much(struct job *job)
{
    unsigned asked;

    host_answers();
    host_is_done(job, &asked);
    CHECK(asked == 1);
    return 0;
}

static void fence_over(pmix_status_t status, void *cbdata)
{
    __atomic_store_n((int *)cbdata, status, __ATOMIC_RELEASE);
}

/* With rank 0 and the @nth process elsewhere; *ret_over is 1 until its status is there. */
static void fence_with_far(int nth, pmix_info_t *info, int *ret_over)
{
    const pmix_proc_t procs[] = { { .nspace = JOB_NSPACE, .rank = 0 },
                                  { .nspace = JOB_NSPACE, .rank = (pmix_rank_t)(SIZE + nth) } };

    *ret_over = 1;
    CHECK_STATUS(PMIx_Fence_nb(procs, 2, info, 1, fence_over, ret_over), PMIX_SUCCESS);
}

static void expect_over(int *over, pmix_status_t want)
{
    while (__atomic_load_n(over, __ATOMIC_ACQUIRE) == 1) {
        usleep(1000);
    }
    CHECK_STATUS(*over, want);
}

/* What the host owes the answer to is kept, and bounded: a client that gives up and asks again is
 * refused in the end. */
static int rank_of_silence(int rank)
{
    static int over[OWED_MAX + 1];
    const int second = 1;
    pmix_info_t info;

    if (rank != 0) {
        return 0;
    }
    rank_begin(NULL);
    job_token_get(0);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &second, PMIX_INT), PMIX_SUCCESS);
    for (int i = 0; i < OWED_MAX; i++) {
        fence_with_far(i, &info, &over[i]);
    }
    for (int i = 0; i < OWED_MAX; i++) {
        expect_over(&over[i], PMIX_ERR_TIMEOUT);
    }
    fence_with_far(OWED_MAX, &info, &over[OWED_MAX]);
    expect_over(&over[OWED_MAX], PMIX_ERR_OUT_OF_RESOURCE);
    return rank_end();
}

static void host_is_silent(bool yes)
{
    pthread_mutex_lock(&host.lock);
    host.is_silent = yes;
    pthread_mutex_unlock(&host.lock);
}

static int host_of_silence(struct job *job)
{
    unsigned asked;

    host_is_silent(true);
    job_token_put(0);
    host_is_done(job, &asked);
    host_is_silent(false);
    CHECK(asked == OWED_MAX);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "several_at_once", SIZE, rank_of_several, host_of_several },
        { "an_answer_too_late", SIZE, rank_of_late, host_of_late },
        { "what_it_is_told", SIZE, rank_of_notifying, host_of_notifying },
        { "bringing_too_much", SIZE, rank_of_too_much, host_of_too_much },
        { "a_host_that_never_answers", SIZE, rank_of_silence, host_of_silence },
    };

    job_module.fence_nb = on_fence;
    job_elsewhere = OWED_MAX + 1;
    setenv("SHMIX_SERVER_COLLECTIVES", "256", 1);
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
