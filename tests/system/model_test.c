/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* model_test.c - programming models that PMIx_Init declares: each handler of the process hears
 * of each of them once, whenever it came; nobody else hears of them. */
#include "received.h"

#define MODELS 12u
#define HANDLERS 40u
#define CODE_END (-3599)

static void declare(uint32_t number)
{
    pmix_info_t infos[3];
    char name[16];

    snprintf(name, sizeof(name), "model %u", number);
    infos[0] = info_text(PMIX_PROGRAMMING_MODEL, name);
    infos[1] = info_text(PMIX_MODEL_LIBRARY_NAME, "a library");
    CHECK_STATUS(PMIx_Info_load(&infos[2], NUMBER_KEY, &number, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Init(NULL, infos, 3), PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
}

static size_t received_model(size_t id, uint32_t number)
{
    size_t count = 0;

    for (size_t i = 0; i < received_count; i++) {
        count += received[i].id == id && received[i].number == number &&
                 received[i].code == PMIX_MODEL_DECLARED;
    }
    return count;
}

/* Behind all that is queued. */
static void finish(void)
{
    (void)receive_one(CODE_END);
    CHECK_STATUS(PMIx_Notify_event(CODE_END, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    received_wait(CODE_END, 1);
    while (PMIx_Initialized()) {
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
}

/* ---- at once -------------------------------------------------------------------------------- */

static size_t ids[HANDLERS];

static void *register_all(void *arg)
{
    for (unsigned i = 0; i < HANDLERS; i++) {
        ids[i] = receive_one(PMIX_MODEL_DECLARED);
    }
    return NULL;
}

static int rank_of_at_once(int rank)
{
    pthread_t thread;

    declare(0);
    CHECK(pthread_create(&thread, NULL, register_all, NULL) == 0);
    for (uint32_t i = 1; i < MODELS; i++) {
        declare(i);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    received_wait(PMIX_MODEL_DECLARED, (size_t)MODELS * HANDLERS);
    finish();
    CHECK(received_of(PMIX_MODEL_DECLARED) == (size_t)MODELS * HANDLERS);
    for (unsigned i = 0; i < HANDLERS; i++) {
        for (uint32_t number = 0; number < MODELS; number++) {
            CHECK(received_model(ids[i], number) == 1);
        }
    }
    return 0;
}

/* ---- inside a handler ----------------------------------------------------------------------- */

static size_t inner;

/* X28: a handler that is registered at a model is not told of that one again, but of the others. */
static void receive_and_register(size_t id, pmix_status_t code, const pmix_proc_t *source,
                                 pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                                 size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                                 void *cbdata)
{
    if (inner == 0) {
        inner = receive_one(PMIX_MODEL_DECLARED);
    }
    receive(id, code, source, info, ninfo, results, nresults, done, cbdata);
}

static size_t acknowledged; /* under heard_lock */

static void registered(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    CHECK(received_by(id) == 0); /* EV3 */
    pthread_mutex_lock(&received_lock);
    acknowledged = id;
    pthread_mutex_unlock(&received_lock);
}

static int rank_of_inside(int rank)
{
    pmix_status_t codes[] = { PMIX_MODEL_DECLARED };

    declare(1);
    declare(2);
    const size_t other = receive_codes(NULL, 0, NULL); /* a default handler hears of none */
    CHECK_STATUS(PMIx_Register_event_handler(codes, 1, NULL, 0, receive_and_register, registered,
                                             NULL),
                 PMIX_SUCCESS);
    received_wait(PMIX_MODEL_DECLARED, 3);
    declare(3);
    received_wait(PMIX_MODEL_DECLARED, 5);
    finish();
    CHECK(received_of(PMIX_MODEL_DECLARED) == 5 && received_by(other) == 1);
    CHECK(received_by(acknowledged) == 3 && received_by(inner) == 2);
    CHECK(received_model(inner, 1) == 0);
    return 0;
}

/* ---- for nobody else ------------------------------------------------------------------------ */

static int rank_of_others(int rank)
{
    pmix_status_t codes[] = { PMIX_MODEL_DECLARED, CODE_END };
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        (void)receive_codes(codes, 2, NULL);
        job_token_put(1);
        received_wait(CODE_END, 1);
    } else {
        job_token_get(1);
        declare(1);
        CHECK_STATUS(PMIx_Notify_event(CODE_END, &self, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    finish();
    CHECK(received_of(PMIX_MODEL_DECLARED) == 0);
    return 0;
}

static const struct job_case cases[] = {
    { "at_once", 1, rank_of_at_once },
    { "inside_a_handler", 1, rank_of_inside },
    { "for_nobody_else", 2, rank_of_others },
};

JOB_MAIN(cases)
