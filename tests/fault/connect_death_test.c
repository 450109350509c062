/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_death_test.c - one of three processes ends while they connect, are connected, or
 * disconnect: by kill -9, by PMIx_Finalize, or it stands still (SIGSTOP).  A table of states and
 * endings: each other process gets exactly one answer to each of its calls, and the event of that
 * end once or not at all, as the table says.  Who comes late to what the end has broken is answered
 * as those who waited, so that the next calls of all meet.  CN34 CN36 CN38 CN40 CN42 CN56 X22 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "obedient.h"

#define JOB OBEDIENT_JOB

/* ---- the processes --------------------------------------------------------------------------- */

enum {
    CONNECT = 1,
    CONNECT_BRIEFLY, /* with a time limit */
    CONNECT_EARLY,   /* members may end early */
    DISCONNECT,
    DISCONNECT_BRIEFLY,
    FENCE, /* of all that are connected */
    FENCE_BRIEFLY,
};

static char connected[PMIX_MAX_NSLEN + 1]; /* as the last answer said */

static void on_connected(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    if (status == PMIX_SUCCESS) {
        snprintf(connected, sizeof(connected), "%s", nspace);
    }
    obedient_answered(status, cbdata);
}

static void connect_as(uint32_t order)
{
    const int limit = LIMIT_SECONDS;
    const bool yes = true;
    pmix_proc_t all;
    pmix_info_t info;

    PMIx_Load_procid(&all, JOB, PMIX_RANK_WILDCARD);
    if (order == CONNECT_BRIEFLY) {
        PMIx_Info_load(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
    } else {
        PMIx_Info_load(&info, PMIX_CONNECT_EARLY_TERM_ALLOWED, &yes, PMIX_BOOL);
    }
    CHECK_STATUS(shmix_connect_nb(&all, 1, &info, order != CONNECT, on_connected, NULL),
                 PMIX_SUCCESS);
}

static void disconnect_as(uint32_t order)
{
    const int limit = LIMIT_SECONDS;
    pmix_info_t info;

    (void)atomic_load(&fault_shared->event_count[obedient_number]); /* the name came before it */
    PMIx_Info_load(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
    CHECK_STATUS(shmix_disconnect_nb(connected, &info, order == DISCONNECT_BRIEFLY,
                                     obedient_answered, NULL),
                 PMIX_SUCCESS);
}

static void fence_as(uint32_t order)
{
    const int limit = LIMIT_SECONDS;
    pmix_proc_t all;
    pmix_info_t info;

    (void)atomic_load(&fault_shared->event_count[obedient_number]); /* the name came before it */
    PMIx_Load_procid(&all, connected, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
    CHECK_STATUS(PMIx_Fence_nb(&all, 1, &info, order == FENCE_BRIEFLY, obedient_answered, NULL),
                 PMIX_SUCCESS);
}

static void act(uint32_t order)
{
    if (order < DISCONNECT) {
        connect_as(order);
    } else if (order < FENCE) {
        disconnect_as(order);
    } else {
        fence_as(order);
    }
}

static int role_obedient(const char *arg)
{
    pmix_status_t code = PMIX_ERR_PROC_TERM_WO_SYNC;

    return obedient_role(arg, &code, 1, act);
}

/* ---- a host that is late --------------------------------------------------------------------- */

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pmix_op_cbfunc_t owed; /* under it */
static void *owed_cbdata;

static pmix_status_t host_connects(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    pthread_mutex_lock(&host_lock);
    owed = cbfunc;
    owed_cbdata = cbdata;
    pthread_mutex_unlock(&host_lock);
    return PMIX_SUCCESS;
}

static bool host_is_asked(void)
{
    pthread_mutex_lock(&host_lock);
    const bool is_asked = owed != NULL;

    pthread_mutex_unlock(&host_lock);
    return is_asked;
}

static void host_answers(void)
{
    owed(PMIX_SUCCESS, owed_cbdata);
    owed = NULL;
}

static pmix_status_t host_disconnects(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- states and endings ---------------------------------------------------------------------- */

static void all_connect(uint32_t how)
{
    order_all(how);
    answered_all(PMIX_SUCCESS);
}

static void survivors_disconnect(void)
{
    order_survivors(DISCONNECT);
    answered_survivors(PMIX_SUCCESS);
}

static void all_disconnect(void)
{
    order_all(DISCONNECT);
    answered_all(PMIX_SUCCESS);
}

/* The others have called, the victim has not. */
static void before_its_call(enum ending ending)
{
    order_survivors(ending == STOP_AND_LIMIT ? CONNECT_BRIEFLY : CONNECT);
    end_victim(ending);
    if (ending == STOP) {
        victim_goes_on();
        order(VICTIM, CONNECT);
    }
    answered_survivors(status_of(ending));
    if (ending == STOP_AND_LIMIT) {
        victim_goes_on();
        all_connect(CONNECT);
    }
    if (!is_over(ending)) {
        all_disconnect();
    }
}

/* It is the only one that has called. */
static void alone(enum ending ending)
{
    order(VICTIM, CONNECT);
    end_victim(ending);
    order_survivors(ending == STOP_AND_LIMIT ? CONNECT_BRIEFLY : CONNECT);
    answered_survivors(is_over(ending) ? status_of(ending) : PMIX_SUCCESS);
    if (!is_over(ending)) {
        victim_goes_on();
        answered(VICTIM, PMIX_SUCCESS);
        all_disconnect();
    }
}

/* All have called; the host has not answered, and when it does, they are not all there any more. */
static void host_late(enum ending ending)
{
    order_all(CONNECT);
    WAIT_FOR(host_is_asked(), "the host's entry");
    end_victim(ending);
    host_answers();
    answered_survivors(is_over(ending) ? status_of(ending) : PMIX_SUCCESS);
    if (!is_over(ending)) {
        victim_goes_on();
        answered(VICTIM, PMIX_SUCCESS);
        all_disconnect();
    }
}

static void when_connected(enum ending ending)
{
    all_connect(CONNECT);
    end_victim(ending);
    if (is_over(ending)) {
        survivors_disconnect();
        return;
    }
    order_survivors(ending == STOP_AND_LIMIT ? DISCONNECT_BRIEFLY : DISCONNECT);
    if (ending == STOP_AND_LIMIT) {
        answered_survivors(PMIX_ERR_TIMEOUT);
        victim_goes_on();
        all_disconnect();
    } else {
        victim_goes_on();
        order(VICTIM, DISCONNECT);
        answered_all(PMIX_SUCCESS);
    }
}

/* The same where members may end early. */
static void when_connected_loosely(enum ending ending)
{
    all_connect(CONNECT_EARLY);
    end_victim(ending);
    if (!is_over(ending)) {
        victim_goes_on();
        all_disconnect();
    } else {
        survivors_disconnect();
    }
}

/* One waits for it in disconnect. */
static void half_disconnected(enum ending ending)
{
    all_connect(CONNECT);
    order(FIRST, ending == STOP_AND_LIMIT ? DISCONNECT_BRIEFLY : DISCONNECT);
    end_victim(ending);
    if (ending == STOP) {
        order(OTHER, DISCONNECT);
        victim_goes_on();
        order(VICTIM, DISCONNECT);
        answered_all(PMIX_SUCCESS);
        return;
    }
    answered(FIRST, status_of(ending));
    if (ending == STOP_AND_LIMIT) {
        victim_goes_on();
        all_disconnect();
        return;
    }
    order(OTHER, DISCONNECT); /* it is told the same, and meets no second try */
    answered(OTHER, status_of(ending));
    survivors_disconnect();
}

/* One waits for it in a fence under their common name. */
static void half_fenced(enum ending ending)
{
    all_connect(CONNECT);
    order(FIRST, ending == STOP_AND_LIMIT ? FENCE_BRIEFLY : FENCE);
    end_victim(ending);
    if (ending == STOP) {
        order(OTHER, FENCE);
        victim_goes_on();
        order(VICTIM, FENCE);
        answered_all(PMIX_SUCCESS);
        all_disconnect();
        return;
    }
    answered(FIRST, status_of(ending));
    if (ending == STOP_AND_LIMIT) {
        victim_goes_on();
        order_all(FENCE);
        answered_all(PMIX_SUCCESS);
        all_disconnect();
        return;
    }
    order(FIRST, FENCE); /* its next one, for which it waits */
    order(OTHER, FENCE);
    answered(OTHER, status_of(ending));
    order(OTHER, FENCE);
    answered_survivors(PMIX_SUCCESS);
    survivors_disconnect();
}

/* It has called disconnect, the others have not. */
static void disconnecting(enum ending ending)
{
    all_connect(CONNECT);
    order(VICTIM, DISCONNECT);
    end_victim(ending);
    survivors_disconnect();
    if (!is_over(ending)) {
        victim_goes_on();
        answered(VICTIM, PMIX_SUCCESS);
    }
}

static void disconnected(enum ending ending)
{
    all_connect(CONNECT);
    all_disconnect();
    end_victim(ending);
    if (!is_over(ending)) {
        victim_goes_on();
    }
}

static const struct state {
    const char *name;
    void (*play)(enum ending ending);
    bool is_notified; /* the others hear of an end without disconnect */
    bool host;        /* it has entries for connect and disconnect */
} states[] = {
    { "before its call", before_its_call, false, false },
    { "alone", alone, false, false },
    { "all there and the host late", host_late, false, true },
    { "connected", when_connected, true, false },
    { "connected, and early ends allowed", when_connected_loosely, false, false },
    { "one in disconnect", half_disconnected, true, false },
    { "one in a fence", half_fenced, true, false },
    { "itself in disconnect", disconnecting, false, false },
    { "disconnected", disconnected, false, false },
};

static int case_of(void)
{
    const enum ending ending = (enum ending)fault_case->arg;

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        const struct state *const state = &states[i];

        fault_say("%s", state->name);
        fault_module.connect = state->host ? host_connects : NULL;
        fault_module.disconnect = state->host ? host_disconnects : NULL;
        obedient_begin();
        state->play(ending);
        obedient_finish(state->is_notified && is_over(ending) ? 1 : 0, PMIX_ERR_PROC_TERM_WO_SYNC);
    }
    return 0;
}

/* ---- time limits that meet arrivals ---------------------------------------------------------- */

#define RACES 3

/* Both call until they meet; each comes when the other one's time is just over. */
static int role_racer(const char *arg)
{
    const int limit = LIMIT_SECONDS;
    uint64_t seed = (uint64_t)arg[0];
    pmix_proc_t all;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&all, JOB, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
    for (int race = 0; race < RACES; race++) {
        char name[PMIX_MAX_NSLEN + 1];
        pmix_status_t rc;
        pmix_rank_t rank;

        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        if (arg[0] == '1') {
            usleep(LIMIT_SECONDS * 1000000 - 1000 + (useconds_t)(fault_random(&seed) % 2000));
        }
        do {
            rc = shmix_connect(&all, 1, &info, 1, name, &rank);
            CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_TIMEOUT, "%s", PMIx_Error_string(rc));
        } while (rc != PMIX_SUCCESS);
        CHECK_STATUS(shmix_disconnect(name, NULL, 0), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* CN43 X21 */
static int case_raced(void)
{
    pid_t racers[2];

    fault_server_start();
    fault_job_start(JOB, 2);
    for (int i = 0; i < 2; i++) {
        racers[i] = fault_start(JOB, i, "racer", i == 0 ? "0" : "1");
    }
    for (int i = 0; i < 2; i++) {
        fault_wait_ok(racers[i], "a racer");
    }
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "kill", case_of, KILL }, { "finalize", case_of, FINALIZES },
    { "stop", case_of, STOP }, { "stop_and_limit", case_of, STOP_AND_LIMIT },
    { "raced", case_raced },
};

static const struct fault_role roles[] = {
    { "obedient", role_obedient },
    { "racer", role_racer },
};

FAULT_MAIN(cases, roles)
