/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* obedient.c - a word for each process: its order, and which one it has obeyed. */
#include "obedient.h"

#include <signal.h>
#include <string.h>

#define ORDER_BITS 8

/* ---- the processes --------------------------------------------------------------------------- */

int obedient_number;

void obedient_answered(pmix_status_t status, void *cbdata)
{
    atomic_store(&fault_shared->status[obedient_number], status);
    atomic_fetch_add(&fault_shared->event_count[obedient_number], 1);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(strcmp(source->nspace, OBEDIENT_JOB) == 0 && source->rank == VICTIM, "it is of %s.%u",
          source->nspace, source->rank);
    atomic_store(&fault_shared->event_last[obedient_number], (uint64_t) - (int64_t)status);
    atomic_fetch_add(&fault_shared->event_lost[obedient_number], 1);
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

/* Return: false when that was the last one. */
static bool obey(uint32_t what, void (*act)(uint32_t order))
{
    if (what < FINALIZE) {
        act(what);
        server_has_it();
        return true;
    }
    if (PMIx_Initialized()) {
        if (what == LEAVE) {
            server_has_it(); /* and what it has sent is here: the ring comes first */
        }
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
    return what != LEAVE;
}

int obedient_role(const char *arg, pmix_status_t codes[], size_t code_count,
                  void (*act)(uint32_t order))
{
    uint32_t seen = 0, now;

    obedient_number = arg[0] - '0';
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(codes, code_count, NULL, 0, on_event, NULL, NULL) >= 0,
          "no handler");
    do {
        atomic_store(&fault_shared->state[obedient_number], seen + 1); /* done; 1: it is there */
        WAIT_FOR((now = atomic_load(&fault_shared->round[obedient_number])) != seen, "an order");
        seen = now;
    } while (obey(now & ((1u << ORDER_BITS) - 1), act));
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

static pid_t pids[OBEDIENT_SIZE];
static unsigned calls[OBEDIENT_SIZE]; /* that want an answer */

static void wait_obeyed(int who)
{
    WAIT_FOR(atomic_load(&fault_shared->state[who]) == atomic_load(&fault_shared->round[who]) + 1,
             "that an order is obeyed");
}

void order(int who, uint32_t what)
{
    const uint32_t before = atomic_load(&fault_shared->round[who]) >> ORDER_BITS;

    calls[who] += what < FINALIZE;
    atomic_store(&fault_shared->round[who], (before + 1) << ORDER_BITS | what);
    if (what != LEAVE) {
        wait_obeyed(who);
    }
}

void order_survivors(uint32_t what)
{
    order(FIRST, what);
    order(OTHER, what);
}

void order_all(uint32_t what)
{
    order_survivors(what);
    order(VICTIM, what);
}

void answered(int who, pmix_status_t want)
{
    WAIT_FOR(atomic_load(&fault_shared->event_count[who]) == calls[who], "an answer");
    const pmix_status_t got = atomic_load(&fault_shared->status[who]);

    CHECK(got == want, "process %d: %s, not %s", who, PMIx_Error_string(got),
          PMIx_Error_string(want));
}

void answered_survivors(pmix_status_t want)
{
    answered(FIRST, want);
    answered(OTHER, want);
}

void answered_all(pmix_status_t want)
{
    answered_survivors(want);
    answered(VICTIM, want);
}

void end_victim(enum ending ending)
{
    switch (ending) {
    case KILL:
        CHECK(kill(pids[VICTIM], SIGKILL) == 0, "kill");
        (void)fault_wait(pids[VICTIM]);
        pids[VICTIM] = 0;
        /* What the others do next comes behind it. */
        WAIT_FOR(atomic_load(&fault_shared->lost) != 0, "the loss of a process");
        break;
    case FINALIZES:
        order(VICTIM, FINALIZE);
        break;
    default:
        CHECK(kill(pids[VICTIM], SIGSTOP) == 0, "kill");
        break;
    }
}

void victim_goes_on(void)
{
    CHECK(kill(pids[VICTIM], SIGCONT) == 0, "kill");
}

bool is_over(enum ending ending)
{
    return ending != STOP && ending != STOP_AND_LIMIT;
}

pmix_status_t status_of(enum ending ending)
{
    static const pmix_status_t statuses[] = { [KILL] = PMIX_ERR_LOST_CONNECTION,
                                              [FINALIZES] = PMIX_ERR_PROC_TERM_WO_SYNC,
                                              [STOP] = PMIX_SUCCESS,
                                              [LEAVES] = PMIX_ERR_PARTIAL_SUCCESS,
                                              [STOP_AND_LIMIT] = PMIX_ERR_TIMEOUT };

    return statuses[ending];
}

void obedient_begin(void)
{
    memset(calls, 0, sizeof(calls));
    for (int i = 0; i < OBEDIENT_SIZE; i++) {
        atomic_store(&fault_shared->round[i], 0);
        atomic_store(&fault_shared->state[i], 0);
        atomic_store(&fault_shared->event_count[i], 0);
        atomic_store(&fault_shared->event_lost[i], 0);
    }
    atomic_store(&fault_shared->lost, 0);
    fault_server_start();
    fault_job_start(OBEDIENT_JOB, OBEDIENT_SIZE);
    for (int i = 0; i < OBEDIENT_SIZE; i++) {
        const char arg[2] = { (char)('0' + i), '\0' };

        pids[i] = fault_start(OBEDIENT_JOB, i, "obedient", arg);
    }
    for (int i = 0; i < OBEDIENT_SIZE; i++) {
        wait_obeyed(i);
    }
}

void obedient_finish(uint64_t notified, pmix_status_t code)
{
    for (int i = 0; i < SURVIVORS && notified != 0; i++) {
        WAIT_FOR(atomic_load(&fault_shared->event_lost[i]) != 0, "the event of the end");
        CHECK(atomic_load(&fault_shared->event_last[i]) == (uint64_t) - (int64_t)code,
              "it is -%llu", (unsigned long long)atomic_load(&fault_shared->event_last[i]));
    }
    for (int i = 0; i < OBEDIENT_SIZE; i++) {
        if (pids[i] != 0) {
            order(i, LEAVE);
            fault_wait_ok(pids[i], "a process");
            CHECK(atomic_load(&fault_shared->event_count[i]) == calls[i],
                  "process %d has %llu answers to %u calls", i,
                  (unsigned long long)atomic_load(&fault_shared->event_count[i]), calls[i]);
        }
    }
    for (int i = 0; i < SURVIVORS; i++) {
        CHECK(atomic_load(&fault_shared->event_lost[i]) == notified,
              "process %d heard of %llu ends", i,
              (unsigned long long)atomic_load(&fault_shared->event_lost[i]));
    }
    fault_server_stop();
}
