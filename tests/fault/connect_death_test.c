/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_death_test.c - one of three processes ends while they connect, are connected, or
 * disconnect: by kill -9, by PMIx_Finalize, or it stands still (SIGSTOP).  A table of states and
 * endings: each other process gets exactly one answer to each of its calls, and the event of that
 * end once or not at all, as the table says.
 *
 * The processes obey: the host tells each which call to make, none of which blocks.  CN34 CN36 CN38
 * CN40 CN42 CN56 X22 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "fault.h"

#define JOB "mortal.job"
enum { FIRST, OTHER, VICTIM, SIZE };
#define SURVIVORS 2
#define LIMIT_SECONDS 1

/* ---- the processes --------------------------------------------------------------------------- */

enum order {
    CONNECT = 1,
    CONNECT_BRIEFLY, /* with a time limit */
    CONNECT_EARLY,   /* members may end early */
    DISCONNECT,
    DISCONNECT_BRIEFLY,
    FINALIZE,
    LEAVE, /* finalize, unless that is done, and exit */
};
#define ORDER_BITS 8

static int number;                         /* of this process */
static char connected[PMIX_MAX_NSLEN + 1]; /* as the last answer said */

static void on_connected(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    (void)rank, (void)cbdata;
    if (status == PMIX_SUCCESS) {
        snprintf(connected, sizeof(connected), "%s", nspace);
    }
    atomic_store(&fault_shared->status[number], status);
    atomic_fetch_add(&fault_shared->event_count[number], 1);
}

static void on_disconnected(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    atomic_store(&fault_shared->status[number], status);
    atomic_fetch_add(&fault_shared->event_count[number], 1);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (status == PMIX_ERR_PROC_TERM_WO_SYNC) {
        CHECK(strcmp(source->nspace, JOB) == 0 && source->rank == VICTIM, "it is of %s.%u",
              source->nspace, source->rank);
        atomic_fetch_add(&fault_shared->event_lost[number], 1);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* A request, which goes behind all that was said before. */
static void server_has_it(void)
{
    pmix_status_t code = -3999;
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);

    CHECK(id >= 0, "%d", id);
    CHECK_STATUS(PMIx_Deregister_event_handler((size_t)id, NULL, NULL), PMIX_SUCCESS);
}

static void connect_as(enum order order)
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

static void disconnect_as(enum order order)
{
    const int limit = LIMIT_SECONDS;
    pmix_info_t info;

    (void)atomic_load(&fault_shared->event_count[number]); /* the name came before it */
    PMIx_Info_load(&info, PMIX_TIMEOUT, &limit, PMIX_INT);
    CHECK_STATUS(shmix_disconnect_nb(connected, &info, order == DISCONNECT_BRIEFLY, on_disconnected,
                                     NULL),
                 PMIX_SUCCESS);
}

/* Return: false when that was the last one. */
static bool obey(enum order order)
{
    switch (order) {
    case CONNECT:
    case CONNECT_BRIEFLY:
    case CONNECT_EARLY:
        connect_as(order);
        server_has_it();
        return true;
    case DISCONNECT:
    case DISCONNECT_BRIEFLY:
        disconnect_as(order);
        server_has_it();
        return true;
    case FINALIZE:
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        return true;
    default:
        if (PMIx_Initialized()) {
            server_has_it(); /* and what it has sent is here: the ring comes first */
            CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        }
        return false;
    }
}

static int role_obedient(const char *arg)
{
    pmix_status_t code = PMIX_ERR_PROC_TERM_WO_SYNC;
    uint32_t seen = 0, now;

    number = arg[0] - '0';
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0, "no handler");
    do {
        atomic_store(&fault_shared->state[number], seen + 1); /* done; 1: it is there */
        WAIT_FOR((now = atomic_load(&fault_shared->round[number])) != seen, "an order");
        seen = now;
    } while (obey((enum order)(now & ((1u << ORDER_BITS) - 1))));
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

static pid_t pids[SIZE];
static unsigned calls[SIZE]; /* that want an answer */

static void wait_obeyed(int who)
{
    WAIT_FOR(atomic_load(&fault_shared->state[who]) == atomic_load(&fault_shared->round[who]) + 1,
             "that an order is obeyed");
}

static void order(int who, enum order what)
{
    const uint32_t before = atomic_load(&fault_shared->round[who]) >> ORDER_BITS;

    calls[who] += what < FINALIZE;
    atomic_store(&fault_shared->round[who], (before + 1) << ORDER_BITS | what);
    if (what != LEAVE) {
        wait_obeyed(who);
    }
}

static void order_survivors(enum order what)
{
    order(FIRST, what);
    order(OTHER, what);
}

static void order_all(enum order what)
{
    order_survivors(what);
    order(VICTIM, what);
}

static void answered(int who, pmix_status_t want)
{
    WAIT_FOR(atomic_load(&fault_shared->event_count[who]) == calls[who], "an answer");
    const pmix_status_t got = atomic_load(&fault_shared->status[who]);

    CHECK(got == want, "process %d: %s, not %s", who, PMIx_Error_string(got),
          PMIx_Error_string(want));
}

static void answered_survivors(pmix_status_t want)
{
    answered(FIRST, want);
    answered(OTHER, want);
}

static void answered_all(pmix_status_t want)
{
    answered_survivors(want);
    answered(VICTIM, want);
}

/* ---- a host that is late --------------------------------------------------------------------- */

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pmix_op_cbfunc_t owed; /* under it */
static void *owed_cbdata;

static pmix_status_t host_connects(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
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
    (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

/* ---- states and endings ---------------------------------------------------------------------- */

enum ending { KILL, FINALIZES, STOP, STOP_AND_LIMIT };

static void end_victim(enum ending ending)
{
    switch (ending) {
    case KILL:
        CHECK(kill(pids[VICTIM], SIGKILL) == 0, "kill");
        (void)fault_wait(pids[VICTIM]);
        pids[VICTIM] = 0;
        break;
    case FINALIZES:
        order(VICTIM, FINALIZE);
        break;
    default:
        CHECK(kill(pids[VICTIM], SIGSTOP) == 0, "kill");
        break;
    }
}

static void victim_goes_on(void)
{
    CHECK(kill(pids[VICTIM], SIGCONT) == 0, "kill");
}

static bool is_over(enum ending ending)
{
    return ending == KILL || ending == FINALIZES;
}

/* What the call of the others ends with that waits for the victim. */
static pmix_status_t status_of(enum ending ending)
{
    static const pmix_status_t statuses[] = { [KILL] = PMIX_ERR_LOST_CONNECTION,
                                              [FINALIZES] = PMIX_ERR_PROC_TERM_WO_SYNC,
                                              [STOP] = PMIX_SUCCESS,
                                              [STOP_AND_LIMIT] = PMIX_ERR_TIMEOUT };

    return statuses[ending];
}

static void all_connect(enum order how)
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
    if (ending == KILL) { /* the server has heard of it */
        WAIT_FOR(atomic_load(&fault_shared->lost) != 0, "the loss of a process");
    }
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
    } else {
        survivors_disconnect();
    }
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
    bool is_told; /* the others hear of an end without disconnect */
    bool host;    /* it has entries for connect and disconnect */
} states[] = {
    { "before its call", before_its_call, false, false },
    { "alone", alone, false, false },
    { "all there and the host late", host_late, false, true },
    { "connected", when_connected, true, false },
    { "connected, and early ends allowed", when_connected_loosely, false, false },
    { "one in disconnect", half_disconnected, true, false },
    { "itself in disconnect", disconnecting, false, false },
    { "disconnected", disconnected, false, false },
};

static void begin(const struct state *state)
{
    memset(calls, 0, sizeof(calls));
    for (int i = 0; i < SIZE; i++) {
        atomic_store(&fault_shared->round[i], 0);
        atomic_store(&fault_shared->state[i], 0);
        atomic_store(&fault_shared->event_count[i], 0);
        atomic_store(&fault_shared->event_lost[i], 0);
    }
    atomic_store(&fault_shared->lost, 0);
    fault_module.connect = state->host ? host_connects : NULL;
    fault_module.disconnect = state->host ? host_disconnects : NULL;
    fault_server_start();
    fault_job_start(JOB, SIZE);
    for (int i = 0; i < SIZE; i++) {
        const char arg[2] = { (char)('0' + i), '\0' };

        pids[i] = fault_start(JOB, i, "obedient", arg);
    }
    for (int i = 0; i < SIZE; i++) {
        wait_obeyed(i);
    }
}

/* Everybody leaves; what was said by then was all. */
static void finish(const struct state *state, enum ending ending)
{
    const uint64_t told = state->is_told && is_over(ending) ? 1 : 0;

    for (int i = 0; i < SURVIVORS && told != 0; i++) {
        WAIT_FOR(atomic_load(&fault_shared->event_lost[i]) != 0, "the event of the end");
    }
    for (int i = 0; i < SIZE; i++) {
        if (pids[i] != 0) {
            order(i, LEAVE);
            fault_wait_ok(pids[i], "a process");
            CHECK(atomic_load(&fault_shared->event_count[i]) == calls[i],
                  "process %d has %llu answers to %u calls", i,
                  (unsigned long long)atomic_load(&fault_shared->event_count[i]), calls[i]);
        }
    }
    for (int i = 0; i < SURVIVORS; i++) {
        CHECK(atomic_load(&fault_shared->event_lost[i]) == told, "process %d heard of %llu ends", i,
              (unsigned long long)atomic_load(&fault_shared->event_lost[i]));
    }
    fault_server_stop();
}

static int case_of(enum ending ending)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        fault_say("%s", states[i].name);
        begin(&states[i]);
        states[i].play(ending);
        finish(&states[i], ending);
    }
    return 0;
}

static int case_kill(void)
{
    return case_of(KILL);
}

static int case_finalize(void)
{
    return case_of(FINALIZES);
}

static int case_stop(void)
{
    return case_of(STOP);
}

static int case_stop_and_limit(void)
{
    return case_of(STOP_AND_LIMIT);
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

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = {
        { "kill", case_kill },   { "finalize", case_finalize },
        { "stop", case_stop },   { "stop_and_limit", case_stop_and_limit },
        { "raced", case_raced },
    };
    static const struct fault_role roles[] = {
        { "obedient", role_obedient },
        { "racer", role_racer },
    };

    return fault_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), roles,
                      sizeof(roles) / sizeof(roles[0]));
}
