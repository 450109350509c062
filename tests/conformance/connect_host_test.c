/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host_test.c - connect and disconnect of a host that has entries for them, or has none: it
 * is called once, when all have called, is told what they have said, and its word is everybody's.
 * And what it says of its cluster. */
#include "connect.h"

#define ID "an id"
#define CLUSTER "north"

/* ---- the host ------------------------------------------------------------------------------- */

/* What its entries do; by the number of the case. */
enum answer { IN_THE_CALL, LATER, DONE, REFUSES, CANNOT, REFUSES_LATER };

static enum answer mode;
static pthread_t answerer;
static struct {
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    pmix_status_t status;
} unanswered;
static unsigned connects, disconnects; /* under heard_lock, as the rest */
static bool said[4];                   /* of the connect: what its infos held */
static bool all_had_called, names_all;

static void *answer_later(void *arg)
{
    unanswered.cbfunc(unanswered.status, unanswered.cbdata);
    return NULL;
}

static pmix_status_t answer(pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    switch (mode) {
    case IN_THE_CALL:
        cbfunc(PMIX_SUCCESS, cbdata);
        return PMIX_SUCCESS;
    case DONE:
        return PMIX_OPERATION_SUCCEEDED;
    case REFUSES:
        return PMIX_ERR_NO_PERMISSIONS;
    case CANNOT:
        return PMIX_ERR_NOT_SUPPORTED;
    default:
        unanswered.cbfunc = cbfunc;
        unanswered.cbdata = cbdata;
        unanswered.status = mode == LATER ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS;
        CHECK(pthread_create(&answerer, NULL, answer_later, NULL) == 0);
        pthread_detach(answerer);
        return PMIX_SUCCESS;
    }
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    static const char *const keys[4] = { "test.of.0", "test.of.1", PMIX_CONNECT_ID,
                                         PMIX_LOCAL_COLLECTIVE_STATUS };

    pthread_mutex_lock(&received_lock);
    if (connects++ == 0) {
        all_had_called = token_is_there(0) && token_is_there(1);
        names_all = nprocs == 1 && strcmp(procs[0].nspace, JOB_NSPACE) == 0 &&
                    procs[0].rank == WILDCARD;
        for (size_t i = 0; i < ninfo; i++) {
            for (size_t k = 0; k < 4; k++) {
                said[k] |= strcmp(info[i].key, keys[k]) == 0;
            }
        }
    }
    pthread_mutex_unlock(&received_lock);
    return answer(cbfunc, cbdata);
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    disconnects++;
    pthread_mutex_unlock(&received_lock);
    return answer(cbfunc, cbdata);
}

/* CN11 CN12 CN13 */
static int host_that_has_been_asked(struct job *job)
{
    const bool succeeds = mode == IN_THE_CALL || mode == LATER || mode == DONE;

    for (int rank = 0; rank < job->size; rank++) {
        (void)job_wait(job, rank);
    }
    pthread_mutex_lock(&received_lock);
    CHECK(connects == 1 && disconnects == (succeeds ? 1 : 0));
    CHECK(all_had_called && names_all);
    for (size_t k = 0; k < 4; k++) {
        CHECK(said[k]);
    }
    connects = disconnects = 0;
    pthread_mutex_unlock(&received_lock);
    return 0;
}

/* ---- the ranks ------------------------------------------------------------------------------ */

static pmix_status_t connect_saying(int rank, struct call *call)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    const uint32_t number = 7;
    const struct words words = and_say(and_id(NO_WORDS, ID), rank == 0 ? "test.of.0" : "test.of.1",
                                       &number, PMIX_UINT32);

    rank_begin(&me);
    job_token_put(rank); /* the host looks for it */
    return connect_by(&all, 1, words, call);
}

/* CN15 CN16 */
static int succeeds(int rank)
{
    struct call call;

    CHECK_STATUS(connect_saying(rank, &call), PMIX_SUCCESS);
    CHECK(call.rank == (pmix_rank_t)rank && call.nspace[0] != '\0');
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static int is_refused(int rank)
{
    struct call call;

    CHECK_STATUS(connect_saying(rank, &call), PMIX_ERR_NO_PERMISSIONS);
    CHECK(call.nspace[0] == '\0');
    CHECK_STATUS(newest_get(&call), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

static int cannot(int rank)
{
    struct call call;

    CHECK_STATUS(connect_saying(rank, &call), PMIX_ERR_NOT_SUPPORTED);
    return rank_end();
}

/* CN14: processes of other nodes, and a host that can reach none. */
static int nobody_can(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD),
                      here[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct call call;

    rank_begin(&me);
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(connect_by(here, 2, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* ---- clusters ------------------------------------------------------------------------------- */

/* CN61 */
static int knows_its_cluster(int rank)
{
    const pmix_proc_t clustered = proc_of("clustered.job", WILDCARD);
    char cluster[512];

    rank_begin(&me);
    job_token_get(0);
    CHECK_STATUS(get_text(&clustered, PMIX_CLUSTER_ID, cluster), PMIX_SUCCESS);
    CHECK(strcmp(cluster, CLUSTER) == 0);
    return rank_end();
}

static int host_of_a_cluster(struct job *job)
{
    const uint32_t size = 1;
    pmix_info_t infos[2];

    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_CLUSTER_ID, CLUSTER, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace("clustered.job", 1, infos, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&infos[1]);
    job_token_put(0);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "answers_in_the_call", 2, succeeds, host_that_has_been_asked },
        { "answers_later", 2, succeeds, host_that_has_been_asked },
        { "has_done_it", 2, succeeds, host_that_has_been_asked },
        { "refuses", 2, is_refused, host_that_has_been_asked },
        { "cannot", 2, cannot, host_that_has_been_asked },
        { "refuses_later", 2, is_refused, host_that_has_been_asked },
        { "nobody_can", 2, nobody_can },
        { "cluster", 1, knows_its_cluster, host_of_a_cluster },
    };
    int failed = 0;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mode = i;
        job_module.connect = i <= REFUSES_LATER ? on_connect : NULL;
        job_module.disconnect = i <= REFUSES_LATER ? on_disconnect : NULL;
        job_elsewhere = cases[i].rank == nobody_can ? 1 : 0;
        memset(said, 0, sizeof(said));
        if (argc == 1) {
            failed |= job_main(argc, argv, &cases[i], 1);
        }
    }
    return argc > 1 ? job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0])) : failed;
}
