/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_memory_test.c - events while the server's process gets no memory: who is told what.
 *
 * malloc and its kin are this program's own, so the library's calls come here. */
#include <stdatomic.h>

#include "received.h"

/* ---- memory --------------------------------------------------------------------------------- */

static _Thread_local bool starved; /* this thread gets none at all */
static atomic_bool no_large;       /* nobody gets a large piece */

#define LARGE 9000 /* bytes of an event that a lane carries */

#define ALLOCATION_REFUSED(size) (starved || ((size) >= LARGE && atomic_load(&no_large)))
#include "support/allocations.h"

/* Whether memory can be refused here. */
static bool can_starve(void)
{
    static void *(*volatile const get)(size_t) = malloc; /* no compiler knows what it gives */

    starved = true;
    void *const at = get(16);

    starved = false;
    free(at);
    return at == NULL;
}

static int skip(void)
{
    printf("skipped: a sanitizer has the memory\n");
    return JOB_SKIPPED;
}

/* ---- the host drops a code ------------------------------------------------------------------ */

#define CODE 44 /* of no range of PMIx: the host is asked for it */

static int asked, dropped; /* under heard_lock */

static pmix_status_t host_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    asked++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    dropped++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static int rank_of_drop(int rank)
{
    return can_starve() ? 0 : skip();
}

/* EV25: a handler of the host that leaves needs no memory to be taken back. */
static int host_of_drop(struct job *job)
{
    pmix_status_t code = CODE;

    if (!can_starve()) {
        return 0;
    }
    const size_t id = receive_codes(&code, 1, PMIX_EVENT_ENVIRO_LEVEL);

    pthread_mutex_lock(&received_lock);
    while (asked == 0) {
        received_wait_locked("the question of code", code);
    }
    pthread_mutex_unlock(&received_lock);
    starved = true;
    const pmix_status_t rc = PMIx_Deregister_event_handler(id, NULL, NULL);

    starved = false;
    CHECK_STATUS(rc, PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    while (dropped == 0) {
        received_wait_locked("the drop of code", code);
    }
    CHECK(asked == 1 && dropped == 1);
    pthread_mutex_unlock(&received_lock);
    return 0;
}

/* ---- an event in a lane --------------------------------------------------------------------- */

static void publish_large(uint32_t number)
{
    static char text[LARGE + 1];

    memset(text, 'a', LARGE);
    publish_with(CODE, PMIX_RANGE_LOCAL, number, "test.text", text, PMIX_STRING);
}

/* EV42: PMIx_Notify_event has returned long before the server finds that it has no memory; the
 * publisher is told of its loss.  The next one arrives. */
static int rank_of_lane(int rank)
{
    if (!can_starve()) {
        return skip();
    }
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    receive_one(CODE);
    listen_to_losses();
    job_token_put(0);
    job_token_get(1); /* memory is short there */
    publish_large(1);
    lost_wait(1);
    publish_large(2);
    publish_large(3);
    lost_wait(3);
    job_token_put(0);
    job_token_get(1);
    publish_large(4);
    received_wait(CODE, 1);
    CHECK(received[0].number == 4 && received_of(CODE) == 1);
    server_has_it();
    lost_wait(3);
    return rank_end();
}

static int host_of_lane(struct job *job)
{
    if (!can_starve()) {
        return 0;
    }
    job_token_get(0);
    atomic_store(&no_large, true);
    job_token_put(1);
    job_token_get(0);
    atomic_store(&no_large, false);
    job_token_put(1);
    return 0;
}

/* ---- an event about many -------------------------------------------------------------------- */

#define MANY 64 /* processes, which take more than LARGE bytes */

static bool goes_on; /* under heard_lock */

/* A handler that stays in the first event until it goes on. */
static void receive_and_stay(size_t id, pmix_status_t code, const pmix_proc_t *source,
                             pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                             size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                             void *cbdata)
{
    receive(id, code, source, info, ninfo, results, nresults, done, cbdata);
    pthread_mutex_lock(&received_lock);
    while (!goes_on) {
        received_wait_locked("going on after code", code);
    }
    pthread_mutex_unlock(&received_lock);
}

static void publish_of_many(uint32_t number)
{
    static pmix_proc_t procs[MANY];
    pmix_data_array_t array = { .type = PMIX_PROC, .size = MANY, .array = procs };

    for (uint32_t i = 0; i < MANY; i++) {
        PMIx_Load_procid(&procs[i], "many", i);
    }
    publish_with(CODE, PMIX_RANGE_PROC_LOCAL, number, PMIX_EVENT_AFFECTED_PROCS, &array,
                 PMIX_DATA_ARRAY);
}

/* A process without memory for an event has lost that one; its server has said nothing wrong. */
static int rank_of_many(int rank)
{
    if (!can_starve()) {
        return skip();
    }
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler((pmix_status_t[]){ CODE }, 1, NULL, 0, receive_and_stay, NULL,
                                      NULL) >= 0);
    receive_one(PMIX_ERR_COMM_FAILURE);
    publish_event(CODE, PMIX_RANGE_PROC_LOCAL, 1);
    received_wait(CODE, 1);
    publish_of_many(2); /* which is read when the handler returns */
    pthread_mutex_lock(&received_lock);
    atomic_store(&no_large, true);
    goes_on = true;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    publish_event(CODE, PMIX_RANGE_PROC_LOCAL, 3);
    received_wait(CODE, 2);
    publish_event(CODE, PMIX_RANGE_PROC_LOCAL, 4); /* behind what the second one may have caused */
    received_wait(CODE, 3);
    atomic_store(&no_large, false);
    publish_of_many(5);
    received_wait(CODE, 4);
    CHECK(received[1].number == 3 && received[2].number == 4 && received[3].number == 5);
    CHECK(received_of(PMIX_ERR_COMM_FAILURE) == 0);
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "the_host_drops_a_code", 1, rank_of_drop, host_of_drop },
        { "an_event_in_a_lane", 1, rank_of_lane, host_of_lane },
        { "an_event_about_many", 1, rank_of_many },
    };

    job_module.register_events = host_register;
    job_module.deregister_events = host_deregister;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
