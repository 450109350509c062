/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* late_nspace_test.c - a fence, a connect and a construct over a namespace that the host registers a moment
 * later: they wait for the registration, for their time limit, or for the end of a member. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define OTHER "test.other"
#define OTHER_SIZE 2
#define GROUP "coming"

static pmix_proc_t me;
static unsigned ended;
static pmix_status_t how;
static bool notifies_always; /* the host waits for calls of the second job, too */

/* ---- the ranks ------------------------------------------------------------------------------ */

static pmix_proc_t all_of(const char *nspace)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, PMIX_RANK_WILDCARD);
    return proc;
}

static void on_end(pmix_status_t status, void *cbdata)
{
    how = status;
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
}

static void on_group(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                     pmix_release_cbfunc_t release, void *release_cbdata)
{
    if (release != NULL) {
        release(release_cbdata);
    }
    on_end(status, cbdata);
}

/* The server has read all that this process has sent when it answers. */
static void server_has_read(void)
{
    pmix_pdata_t nothing;

    PMIX_PDATA_CONSTRUCT(&nothing);
    PMIx_Load_key(nothing.key, "nobody.publishes.this");
    CHECK_STATUS(PMIx_Lookup(&nothing, 1, NULL, 0), PMIX_ERR_NOT_FOUND);
    PMIX_PDATA_DESTRUCT(&nothing);
}

enum call { FENCE, CONNECT, CONSTRUCT };

/* The ranks of the first job begin before the other one is registered. */
static int rank_of(int rank, enum call call, pmix_status_t want)
{
    rank_begin(&me);
    const pmix_proc_t both[2] = { all_of(JOB_NSPACE), all_of(OTHER) };

    CHECK_STATUS(call == FENCE ? PMIx_Fence_nb(both, 2, NULL, 0, on_end, NULL)
                 : call == CONNECT
                     ? PMIx_Connect_nb(both, 2, NULL, 0, on_end, NULL)
                     : PMIx_Group_construct_nb(GROUP, both, 2, NULL, 0, on_group, NULL),
                 PMIX_SUCCESS);
    if (notifies_always || strcmp(me.nspace, JOB_NSPACE) == 0) {
        server_has_read();
        job_token_put(0);
    }
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        usleep(1000);
    }
    CHECK_STATUS(how, want);
    if (call == CONSTRUCT && want == PMIX_SUCCESS) {
        pmix_proc_t group;
        pmix_value_t *value;

        PMIx_Load_procid(&group, GROUP, PMIX_RANK_WILDCARD);
        CHECK_STATUS(PMIx_Get(&group, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
        CHECK(value->data.uint32 == 2 + OTHER_SIZE);
        PMIx_Value_free(value, 1);
    }
    return rank_end();
}

static int rank_of_fence(int rank)
{
    return rank_of(rank, FENCE, PMIX_SUCCESS);
}

static int rank_of_connect(int rank)
{
    return rank_of(rank, CONNECT, PMIX_SUCCESS);
}

/* Once the host is ready to keep its answer. */
static int rank_of_connect_while_asked(int rank)
{
    if (rank < 2) {
        job_token_get(1);
    }
    return rank_of(rank, CONNECT, PMIX_SUCCESS);
}

/* Rank 0 of the second job calls while the host still has the operation, rank 1 when it has
 * answered: both call for the one that the first job has opened. */
static int rank_of_called_while_asked(int rank)
{
    notifies_always = true;
    if (rank != 2) {
        job_token_get(1);
    }
    return rank_of(rank, CONNECT, PMIX_SUCCESS);
}

static int rank_of_construct(int rank)
{
    return rank_of(rank, CONSTRUCT, PMIX_SUCCESS);
}

static int host_of_coming(struct job *job)
{
    job_token_get(0);
    job_token_get(0);
    job_add(job, OTHER, OTHER_SIZE);
    for (int i = 0; i < job->size; i++) {
        CHECK(job_wait(job, i) == 0);
    }
    PMIx_server_deregister_nspace(OTHER, NULL, NULL);
    PMIx_server_deregister_nspace(JOB_NSPACE, NULL, NULL);
    return 0;
}

/* Nobody registers it. */
static int rank_of_limit(int rank)
{
    pmix_info_t info;

    rank_begin(&me);
    const pmix_proc_t both[2] = { me, all_of(OTHER) };

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &(int){ 1 }, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(both, 2, &info, 1), PMIX_ERR_TIMEOUT);
    return rank_end();
}

/* Rank 0 dies instead of calling. */
static int rank_of_death(int rank)
{
    if (rank == 0) {
        rank_begin(&me);
        job_token_get(1);
        raise(SIGKILL);
    }
    return rank_of(rank, FENCE, PMIX_ERR_LOST_CONNECTION);
}

static int host_of_death(struct job *job)
{
    job_token_get(0);
    job_token_put(1);
    return job_wait(job, 1);
}

/* What has been deregistered is waited for no more. */
static int rank_of_ended(int rank)
{
    rank_begin(&me);
    if (strcmp(me.nspace, OTHER) == 0) {
        return rank_end();
    }
    const pmix_proc_t both[2] = { me, all_of(OTHER) };

    job_token_get(1);
    CHECK_STATUS(PMIx_Fence(both, 2, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Connect(both, 2, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Group_construct(GROUP, both, 2, NULL, 0, NULL, NULL), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static int host_of_ended(struct job *job)
{
    job_add(job, OTHER, 1);
    CHECK(job_wait(job, 1) == 0);
    PMIx_server_deregister_nspace(OTHER, NULL, NULL);
    job_token_put(1);
    return job_wait(job, 0);
}

/* ---- the host ------------------------------------------------------------------------------- */

/* One of a single node: what comes from here is all there is.  It may keep its first answer. */
static struct {
    int holds; /* atomic */
    char *data;
    size_t ndata;
    pmix_modex_cbfunc_t cbfunc; /* NULL: it has none; written last */
    void *cbdata;
} held;

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    if (__atomic_exchange_n(&held.holds, 0, __ATOMIC_ACQ_REL)) {
        held.data = data;
        held.ndata = ndata;
        held.cbdata = cbdata;
        __atomic_store_n(&held.cbfunc, cbfunc, __ATOMIC_RELEASE);
        return PMIX_SUCCESS;
    }
    cbfunc(PMIX_SUCCESS, data, ndata, cbdata, free, data);
    return PMIX_SUCCESS;
}

/* The namespace and its clients are registered while the host has the operation. */
static int host_of_coming_while_asked(struct job *job)
{
    __atomic_store_n(&held.holds, 1, __ATOMIC_RELEASE);
    job_token_put(1);
    job_token_put(1);
    job_token_get(0);
    job_token_get(0);
    while (__atomic_load_n(&held.cbfunc, __ATOMIC_ACQUIRE) == NULL) {
        usleep(1000);
    }
    job_add(job, OTHER, OTHER_SIZE);
    held.cbfunc(PMIX_SUCCESS, held.data, held.ndata, held.cbdata, free, held.data);
    for (int i = 0; i < job->size; i++) {
        CHECK(job_wait(job, i) == 0);
    }
    return 0;
}

static int host_of_called_while_asked(struct job *job)
{
    __atomic_store_n(&held.holds, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < job->size; i++) {
        job_token_put(1);
    }
    for (int i = 0; i < 2; i++) {
        job_token_get(0);
    }
    while (__atomic_load_n(&held.cbfunc, __ATOMIC_ACQUIRE) == NULL) {
        usleep(1000);
    }
    job_add(job, OTHER, OTHER_SIZE);
    job_token_get(0);
    held.cbfunc(PMIX_SUCCESS, held.data, held.ndata, held.cbdata, free, held.data);
    job_token_put(1);
    for (int i = 0; i < job->size; i++) {
        CHECK(job_wait(job, i) == 0);
    }
    return 0;
}

int main(int argc, char **argv)
{
    enum { ALONE = 6, ALL = 11 };
    static const struct job_case cases[ALL] = {
        { "fence", 2, rank_of_fence, host_of_coming },
        { "connect", 2, rank_of_connect, host_of_coming },
        { "construct", 2, rank_of_construct, host_of_coming },
        { "until_its_time_limit", 1, rank_of_limit },
        { "until_a_member_ends", 2, rank_of_death, host_of_death, true },
        { "not_what_has_ended", 1, rank_of_ended, host_of_ended },
        /* of a host that has an entry for fences */
        { "fence_with_entry", 2, rank_of_fence, host_of_coming },
        { "connect_with_entry", 2, rank_of_connect, host_of_coming },
        { "connect_while_asked_with_entry", 2, rank_of_connect_while_asked,
          host_of_coming_while_asked },
        { "called_while_asked_with_entry", 2, rank_of_called_while_asked,
          host_of_called_while_asked },
        { "construct_with_entry", 2, rank_of_construct, host_of_coming },
    };

    if (argc > 1) {
        job_module.fence_nb = strstr(argv[argc - 1], "_with_entry") != NULL ? on_fence : NULL;
        return job_main(argc, argv, cases, ALL);
    }
    const int alone = job_main(argc, argv, cases, ALONE);

    job_module.fence_nb = on_fence;
    return alone != 0 ? alone : job_main(argc, argv, cases + ALONE, ALL - ALONE);
}
