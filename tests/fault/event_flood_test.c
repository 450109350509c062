/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_flood_test.c - a publisher that floods, and a reader that is stopped meanwhile: whoever has
 * a full lane waits, everybody else goes on, the server's memory is bounded, and at the end each
 * event was handed out or counted as lost. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

#define JOB "flood.job"
#define HISTORY_KIB 1024 /* of events that the server may keep */
enum { FLOODER, READER, STOPPED, SIZE };
enum { PING = 10, PONG = 11 }; /* numbers of the ranks of a job that goes on meanwhile */
enum { READY = 1, DONE = 2 };

/* ---- roles ---------------------------------------------------------------------------------- */

static void ready(int who)
{
    atomic_store(&fault_shared->pid[who], (uint32_t)getpid());
    atomic_store(&fault_shared->state[who], READY);
}

/* Publishes what the argument says, or (0) until it is to stop. */
static int role_flooder(const char *arg)
{
    const uint64_t count = strtoull(arg, NULL, 10);

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    ready(FLOODER);
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the host's word to begin");
    for (uint64_t i = 1; count == 0 ? atomic_load(&fault_shared->go) == 1 : i <= count; i++) {
        events_publish_many(FLOODER, i, 1, 0);
    }
    atomic_store(&fault_shared->state[FLOODER], DONE);
    WAIT_FOR(atomic_load(&fault_shared->go) == 3, "the end");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int role_reader(const char *arg)
{
    const int who = atoi(arg);

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_read(who, 0);
    ready(who);
    WAIT_FOR(atomic_load(&fault_shared->go) == 3, "the end");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* One of two ranks that answer each other's events, one at a time. */
static int role_pingpong(const char *arg)
{
    const int who = atoi(arg), other = who == PING ? PONG : PING;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_read(who, 0);
    ready(who);
    WAIT_FOR(atomic_load(&fault_shared->state[other]) == READY, "the other one");
    for (uint64_t number = 1; atomic_load(&fault_shared->go) != 3; number++) {
        if (number % 2 == (who == PING)) {
            events_publish_many(who, number, 1, 100);
        }
        WAIT_FOR(atomic_load(&fault_shared->event_last[who]) >= number ||
                     atomic_load(&fault_shared->go) == 3,
                 "the other's answer");
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

/* The loop stands still in here: nobody takes anything out of a lane. */
static pmix_status_t hold_up(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                             pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    atomic_store(&fault_shared->state[20], READY);
    while (atomic_load(&fault_shared->go) != 2) { /* not WAIT_FOR: the case itself waits, too */
        fault_pause();
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int role_holder(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Notify_event(EVENTS_CODE - 1, NULL, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static void server_start(void)
{
    char bytes[32];

    fault_log_begin();
    snprintf(bytes, sizeof(bytes), "%u", HISTORY_KIB << 10);
    setenv("SHMIX_SERVER_CACHE_BYTES", bytes, 1);
    fault_server_start();
}

static void job_start(pid_t pids[SIZE], uint64_t count, int size)
{
    char arg[32];

    fault_job_start(JOB, size);
    for (int rank = READER; rank < size; rank++) {
        snprintf(arg, sizeof(arg), "%d", rank);
        pids[rank] = fault_start(JOB, rank, "reader", arg);
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == READY, "a reader");
    }
    snprintf(arg, sizeof(arg), "%llu", (unsigned long long)count);
    pids[FLOODER] = fault_start(JOB, FLOODER, "flooder", arg);
    WAIT_FOR(atomic_load(&fault_shared->state[FLOODER]) == READY, "the flooder");
}

static void job_end(const pid_t pids[SIZE], int size)
{
    atomic_store(&fault_shared->go, 3);
    for (int rank = 0; rank < size; rank++) {
        fault_wait_ok(pids[rank], "a rank of the flooded job");
    }
    fault_job_end(JOB);
}

/* While nobody takes anything the flooder gets as far as its lane is long and sleeps in its call;
 * afterwards it goes on where it was, and nothing of it is missing. */
static int case_lane_full(void)
{
    const uint64_t count = 4000;
    pid_t pids[SIZE];

    fault_module.notify_event = hold_up;
    server_start();
    fault_job_start("holder.job", 1);
    job_start(pids, count, 2);
    const pid_t holder = fault_start("holder.job", 0, "holder", "");

    WAIT_FOR(atomic_load(&fault_shared->state[20]) == READY, "the loop to stand still");
    atomic_store(&fault_shared->go, 1);
    WAIT_FOR(atomic_load(&fault_shared->event_sent[FLOODER]) > 100 && fault_sleeps(pids[FLOODER]),
             "the flooder to wait");
    const uint64_t sent = atomic_load(&fault_shared->event_sent[FLOODER]);

    fault_say("the flooder waits after %llu events", (unsigned long long)sent);
    CHECK(sent < 65536 / 64, "%llu events in a lane of 64 KiB", (unsigned long long)sent);
    CHECK(atomic_load(&fault_shared->event_count[READER]) == 0, "somebody took them");
    atomic_store(&fault_shared->go, 2);
    WAIT_FOR(atomic_load(&fault_shared->state[FLOODER]) == DONE, "the flooder to go on");
    WAIT_FOR(events_accounted(READER, count), "the reader");
    CHECK(atomic_load(&fault_shared->event_lost[READER]) == 0, "fewer than a ring holds");
    fault_wait_ok(holder, "the one that held it up");
    fault_job_end("holder.job");
    job_end(pids, 2);
    fault_server_stop();
    return 0;
}

/* The others do their fences and events while the flooder is at it from beginning to end. */
static int case_others_go_on(void)
{
    const uint64_t begin_kib = (server_start(), fault_memory_kib(FAULT_SELF));
    pid_t pids[SIZE], others[2];

    fault_good_start();
    fault_job_start("other.job", 2);
    others[0] = fault_start("other.job", 0, "pingpong", "10");
    others[1] = fault_start("other.job", 1, "pingpong", "11");
    WAIT_FOR(atomic_load(&fault_shared->event_last[PING]) >= 2, "the others");
    job_start(pids, 0, 2);
    atomic_store(&fault_shared->go, 1);
    WAIT_FOR(atomic_load(&fault_shared->event_sent[FLOODER]) >= 1000, "the flood to begin");
    for (int round = 0; round < 10; round++) {
        const uint64_t sent = atomic_load(&fault_shared->event_sent[FLOODER]);
        const uint64_t last = atomic_load(&fault_shared->event_last[PING]);

        fault_good_wait(3);
        WAIT_FOR(atomic_load(&fault_shared->event_last[PING]) >= last + 6, "events of others");
        WAIT_FOR(atomic_load(&fault_shared->event_sent[FLOODER]) > sent, "the flood to go on");
    }
    const uint64_t after_kib = fault_memory_kib(FAULT_SELF);

    fault_say("%llu events of the flood, memory %llu KiB before, %llu KiB after",
              (unsigned long long)atomic_load(&fault_shared->event_sent[FLOODER]),
              (unsigned long long)begin_kib, (unsigned long long)after_kib);
    CHECK(after_kib <= begin_kib + 8 * HISTORY_KIB + fault_memory_slack_kib(), "memory has grown");
    atomic_store(&fault_shared->go, 2);
    WAIT_FOR(atomic_load(&fault_shared->state[FLOODER]) == DONE, "the flooder to stop");
    WAIT_FOR(events_accounted(READER, atomic_load(&fault_shared->event_sent[FLOODER])),
             "the reader of the flood");
    job_end(pids, 2);
    for (int i = 0; i < 2; i++) {
        fault_wait_ok(others[i], "a rank of the other job");
    }
    fault_job_end("other.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* EV: one reader sleeps through it all; what it has missed is counted when it goes on. */
static int case_reader_stopped(void)
{
    const uint64_t count = events_how_many(200000);
    int status;
    pid_t pids[SIZE];

    server_start();
    const uint64_t begin_kib = fault_memory_kib(FAULT_SELF);

    fault_good_start();
    job_start(pids, count, 3);
    CHECK(kill(pids[STOPPED], SIGSTOP) == 0 &&
              waitpid(pids[STOPPED], &status, WUNTRACED) == pids[STOPPED] && WIFSTOPPED(status),
          "the reader does not stop");
    const uint64_t begin_ns = fault_now_ns();

    atomic_store(&fault_shared->go, 1);
    WAIT_FOR(atomic_load(&fault_shared->state[FLOODER]) == DONE, "the flooder");
    const uint64_t end_ns = fault_now_ns();

    fault_good_wait(3);
    WAIT_FOR(events_accounted(READER, count), "the reader that was not stopped");
    const uint64_t after_kib = fault_memory_kib(FAULT_SELF);

    CHECK(atomic_load(&fault_shared->event_count[STOPPED]) == 0, "it was stopped");
    CHECK(after_kib <= begin_kib + 8 * HISTORY_KIB + fault_memory_slack_kib(),
          "memory has grown: %llu KiB before, %llu KiB after", (unsigned long long)begin_kib,
          (unsigned long long)after_kib);
    CHECK(kill(pids[STOPPED], SIGCONT) == 0, "kill");
    WAIT_FOR(events_accounted(STOPPED, count), "the reader that was stopped");
    fault_say("%llu events in %llu ms; lost: %llu by the one, %llu by the one that was stopped; "
              "memory %llu KiB before, %llu KiB after",
              (unsigned long long)count, (unsigned long long)(end_ns - begin_ns) / 1000000,
              (unsigned long long)atomic_load(&fault_shared->event_lost[READER]),
              (unsigned long long)atomic_load(&fault_shared->event_lost[STOPPED]),
              (unsigned long long)begin_kib, (unsigned long long)after_kib);
    CHECK(atomic_load(&fault_shared->event_lost[STOPPED]) > 0, "%llu events were kept in %u KiB",
          (unsigned long long)count, HISTORY_KIB);
    job_end(pids, 3);
    fault_good_stop();
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "lane_full", case_lane_full },
    { "others_go_on", case_others_go_on },
    { "reader_stopped", case_reader_stopped },
};

static const struct fault_role roles[] = {
    { "flooder", role_flooder },
    { "reader", role_reader },
    { "pingpong", role_pingpong },
    { "holder", role_holder },
};

FAULT_MAIN(cases, roles)
