/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_leave_test.c - events that should leave the node, and a host without notify_event; events of a
 * process's own when it finalizes. */
#include <sched.h>
#include <stdatomic.h>

#include "received.h"

#define SPANNING "test.spanning" /* two ranks here, one elsewhere */
#define CODE_A (-2080)
#define CODE_END (-2081)

static pmix_status_t publish(pmix_data_range_t range, const char *key, const void *value,
                             pmix_data_type_t type)
{
    pmix_info_t info;

    if (key == NULL) {
        return PMIx_Notify_event(CODE_A, NULL, range, NULL, 0, NULL, NULL);
    }
    CHECK_STATUS(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_Notify_event(CODE_A, NULL, range, &info, 1, NULL, NULL);

    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t publish_to(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t target = { .rank = rank };

    snprintf(target.nspace, sizeof(target.nspace), "%s", nspace);
    return publish(PMIX_RANGE_CUSTOM, PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC);
}

static const struct {
    const char *why;
    pmix_data_range_t range;
    const char *nspace; /* of the target; NULL: none */
    pmix_rank_t rank;
    pmix_status_t status;
    bool received; /* by the other rank of the job that is here */
} rows[] = {
    { "the job", PMIX_RANGE_NAMESPACE, NULL, 0, PMIX_ERR_PARTIAL_SUCCESS, true },
    { "the session", PMIX_RANGE_SESSION, NULL, 0, PMIX_ERR_PARTIAL_SUCCESS, true },
    { "all", PMIX_RANGE_GLOBAL, NULL, 0, PMIX_ERR_PARTIAL_SUCCESS, true },
    { "the node", PMIX_RANGE_LOCAL, NULL, 0, PMIX_SUCCESS, true },
    { "the process", PMIX_RANGE_PROC_LOCAL, NULL, 0, PMIX_SUCCESS, false },
    { "the manager, by its handlers", PMIX_RANGE_RM, NULL, 0, PMIX_SUCCESS, false },
    { "one who is here", PMIX_RANGE_CUSTOM, SPANNING, 1, PMIX_SUCCESS, true },
    { "one who is not", PMIX_RANGE_CUSTOM, SPANNING, 2, PMIX_ERR_PARTIAL_SUCCESS, false },
    { "all by name", PMIX_RANGE_CUSTOM, SPANNING, PMIX_RANK_WILDCARD, PMIX_ERR_PARTIAL_SUCCESS,
      true },
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static void check_rows(void)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const pmix_status_t rc = rows[i].nspace != NULL
                                     ? publish_to(rows[i].nspace, rows[i].rank)
                                     : publish(rows[i].range, NULL, NULL, PMIX_UNDEF);

        if (rc != rows[i].status) {
            fprintf(stderr, "for %s: %s, not %s\n", rows[i].why, PMIx_Error_string(rc),
                    PMIx_Error_string(rows[i].status));
            exit(99);
        }
    }
}

static pmix_status_t outcome = 1; /* under heard_lock */

static void notify_status(pmix_status_t status, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    outcome = status;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

/* The same by callback: the call itself has done what it can. */
static void check_callback(void)
{
    CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_GLOBAL, NULL, 0, notify_status, NULL),
                 PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    while (outcome == 1) {
        received_wait_locked("the callback of", CODE_A);
    }
    CHECK_STATUS(outcome, PMIX_ERR_PARTIAL_SUCCESS);
    pthread_mutex_unlock(&received_lock);
}

/* Of a job that is all here: what it says to all is for others once there are any. */
static int rank_of_here(void)
{
    listen_to_losses();
    for (int i = 0; i < 3; i++) {
        const bool others = i == 1;

        CHECK_STATUS(publish(PMIX_RANGE_NAMESPACE, NULL, NULL, PMIX_UNDEF), PMIX_SUCCESS);
        CHECK_STATUS(publish(PMIX_RANGE_GLOBAL, NULL, NULL, PMIX_UNDEF),
                     others ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        CHECK_STATUS(publish_to("job.elsewhere", 0),
                     others ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        server_has_it();
        if (i < 2) {
            job_token_put(0);
            job_token_get(1);
        }
    }
    lost_wait(0); /* whatever was lost was told in the answers */
    return 0;
}

/* EV42, EV55, X26: 0 is of a job that is all here; 1 publishes to a job that is not, 2 hears of it. */
static int rank_of_no_way(int rank)
{
    pmix_status_t codes[2] = { CODE_A, CODE_END };
    const bool yes = true;
    size_t want = 2; /* below */

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        rank_of_here();
    } else if (rank == 1) {
        job_token_get(2);
        check_rows();
        check_callback();
        CHECK_STATUS(publish(PMIX_RANGE_GLOBAL, PMIX_EVENT_STAYS_LOCAL, &yes, PMIX_BOOL),
                     PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Notify_event(CODE_END, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    } else {
        receive_codes(codes, 2, NULL);
        job_token_put(2);
        received_wait(CODE_END, 1);
        for (size_t i = 0; i < ROW_COUNT; i++) {
            want += rows[i].received;
        }
        /* GLOBAL events of rank 0 are among them, two of them or three. */
        size_t received_of_1 = 0;

        pthread_mutex_lock(&received_lock);
        for (size_t i = 0; i < received_count; i++) {
            received_of_1 += received[i].code == CODE_A &&
                             strcmp(received[i].source.nspace, SPANNING) == 0;
        }
        pthread_mutex_unlock(&received_lock);
        CHECK(received_of_1 == want);
    }
    return rank_end();
}

static int host_of_no_way(struct job *job)
{
    pmix_nspace_t spanning = SPANNING;

    job_token_get(0);
    job_elsewhere = 1;
    job_add(job, spanning, 2);
    job_elsewhere = 0;
    job_token_put(1);
    job_token_get(0);
    job_wait(job, 1);
    job_wait(job, 2);
    PMIx_server_deregister_nspace(spanning, NULL, NULL);
    job_token_put(1);
    return 0;
}

/* ---- events of a process's own that are on their way when it finalizes ------------------------- */

#define OWN_EVENTS 20000 /* many more than a good-bye takes to handle */

static atomic_uint own_handled;
static atomic_bool all_posted;

/* The first one holds up the others until all have been posted. */
static void on_own(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    while (!atomic_load(&all_posted)) {
        sched_yield();
    }
    CHECK(PMIx_Initialized() == 1); /* its calls work as ever */
    atomic_fetch_add(&own_handled, 1);
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

static void own_events_leave(bool external)
{
    pmix_status_t code = CODE_A;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Init(NULL, &info, 1), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_own, NULL, NULL) >= 0);
    for (int i = 0; i < OWN_EVENTS; i++) {
        CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    atomic_store(&all_posted, true);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(atomic_load(&own_handled) == OWN_EVENTS);
}

static int rank_of_own(int rank)
{
    own_events_leave(false);
    return 0;
}

static int rank_of_own_external(int rank)
{
    own_events_leave(true);
    return 0;
}

static const struct job_case cases[] = {
    { "no_way", 1, rank_of_no_way, host_of_no_way },
    { "own", 1, rank_of_own },
    { "own_external", 1, rank_of_own_external },
};

JOB_MAIN(cases)
