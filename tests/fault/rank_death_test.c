/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rank_death_test.c - kill -9 of a rank at any point: the others' fences end with an error, the
 * server goes on and gives back what it held for the dead one. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define SEED UINT64_C(20260802)
#define SURVIVOR_SECONDS 120
#define SIZE 3 /* rank 0 dies */

/* ---- the victim ----------------------------------------------------------------------------- */

/* Another thread kills the process after so many library calls and so many turns of a loop: the
 * first decides between which calls, the second where inside one. */
struct killer {
    uint32_t calls;
    uint32_t turns;
    _Atomic uint32_t calls_begun;
};

static void *killer_main(void *arg)
{
    struct killer *killer = arg;

    while (atomic_load(&killer->calls_begun) < killer->calls) {
    }
    for (volatile uint32_t i = 0; i < killer->turns; i = i + 1) {
    }
    raise(SIGKILL);
    return NULL;
}

/* A rank at work until it dies.  The argument: which of its calls, how far into it. */
static int role_victim(const char *arg)
{
    struct killer killer = { .calls = 0 };
    unsigned calls, turns;
    pmix_value_t value = { .type = PMIX_STRING };
    pmix_proc_t self;
    pthread_t thread;
    char key[32], text[600];

    CHECK(sscanf(arg, "%u/%u", &calls, &turns) == 2, "%s", arg);
    killer.calls = calls;
    killer.turns = turns;
    memset(text, 'v', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    value.data.string = text;
    CHECK(pthread_create(&thread, NULL, killer_main, &killer) == 0, "no thread");
    atomic_fetch_add(&killer.calls_begun, 1);
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 0;; i++) {
        snprintf(key, sizeof(key), "victim.%u", i % 50);
        atomic_fetch_add(&killer.calls_begun, 1);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
        atomic_fetch_add(&killer.calls_begun, 1);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        atomic_fetch_add(&killer.calls_begun, 1);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
}

/* Fences until it is told that one cannot end any more.  That it is told at all is the point. */
static int role_survivor(const char *arg)
{
    pmix_status_t rc;
    pmix_proc_t self;

    alarm(SURVIVOR_SECONDS);
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    do {
        rc = PMIx_Fence(NULL, 0, NULL, 0);
    } while (rc == PMIX_SUCCESS);
    CHECK(rc == PMIX_ERR_LOST_CONNECTION, "the fence ended with %d (%s)", rc,
          PMIx_Error_string(rc));
    /* The server is still there for what does not need the dead one. */
    CHECK_STATUS(PMIx_Fence(&self, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

/* One job whose rank 0 is killed.  What the host hears of the end of its children it passes on, as
 * every host does: a rank that dies before its HELLO is known to nobody else. */
static void kill_once(unsigned round, unsigned calls, unsigned turns)
{
    char nspace[64], arg[32];
    pmix_proc_t dead;
    pid_t pids[SIZE];

    snprintf(nspace, sizeof(nspace), "death.%u.%u.%u", round, calls, turns);
    snprintf(arg, sizeof(arg), "%u/%u", calls, turns);
    fault_job_start(nspace, SIZE);
    for (int rank = 0; rank < SIZE; rank++) {
        pids[rank] = fault_start(nspace, rank, rank == 0 ? "victim" : "survivor", arg);
    }
    const int status = fault_wait(pids[0]);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: the victim ended with %#x",
          nspace, (unsigned)status);
    memset(&dead, 0, sizeof(dead));
    memcpy(dead.nspace, nspace, strlen(nspace));
    PMIx_server_deregister_client(&dead, NULL, NULL);
    for (int rank = 1; rank < SIZE; rank++) {
        fault_wait_ok(pids[rank], nspace);
    }
    fault_job_end(nspace);
}

static void kill_many(unsigned rounds, unsigned calls_min, unsigned calls_range,
                      unsigned turns_range)
{
    uint64_t seed = SEED;

    fault_log_begin();
    fault_server_start();
    fault_good_start();
    const unsigned fds = fault_fd_count(FAULT_SELF), maps = fault_map_count(FAULT_SELF);
    const uint64_t memory_kib = fault_memory_kib(FAULT_SELF);

    for (unsigned round = 0; round < rounds; round++) {
        const unsigned calls = calls_min + (unsigned)(fault_random(&seed) % calls_range);

        kill_once(round, calls, (unsigned)(fault_random(&seed) % turns_range));
        fault_good_wait(1);
        WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds, "the descriptors of a dead rank");
        WAIT_FOR(fault_map_count(FAULT_SELF) <= maps, "the maps of a dead rank");
    }
    const uint64_t after_kib = fault_memory_kib(FAULT_SELF);

    fault_say("%u deaths, %u of ranks that had connected; memory %llu KiB before, %llu KiB after",
              rounds, atomic_load(&fault_shared->connected) - 2 - rounds * (SIZE - 1),
              (unsigned long long)memory_kib, (unsigned long long)after_kib);
    CHECK(after_kib <= memory_kib + fault_memory_slack_kib(), "memory has grown");
    fault_good_stop();
    fault_job_whole("after.job", 4, 5);
    fault_server_stop();
}

/* The first call is PMIx_Init. */
static int case_in_init(void)
{
    kill_many(25, 1, 1, 400000);
    return 0;
}

static int case_in_put(void)
{
    kill_many(25, 2, 60, 4000);
    return 0;
}

static int case_in_fence(void)
{
    kill_many(25, 4, 90, 60000);
    return 0;
}

/* Dead while it waits in a fence: the others are not there yet, and come to a fence that cannot
 * succeed. */
static int role_waits(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    if (self.rank != 0) {
        atomic_store(&fault_shared->state[self.rank], 1);
        WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go");
        alarm(SURVIVOR_SECONDS);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        return 0;
    }
    atomic_store(&fault_shared->state[0], 1);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return 1;
}

static int case_while_waiting(void)
{
    pid_t pids[SIZE];

    fault_log_begin();
    fault_server_start();
    fault_job_start("waits.job", SIZE);
    for (int rank = 0; rank < SIZE; rank++) {
        pids[rank] = fault_start("waits.job", rank, "waits", "");
    }
    for (int rank = 0; rank < SIZE; rank++) {
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == 1, "the ranks");
    }
    WAIT_FOR(fault_sleeps(pids[0]), "rank 0 to wait in its fence");
    CHECK(kill(pids[0], SIGKILL) == 0, "kill");
    WAIT_FOR(atomic_load(&fault_shared->lost) == 1, "the host to hear of it");
    atomic_store(&fault_shared->go, 1);
    (void)fault_wait(pids[0]);
    fault_wait_ok(pids[1], "rank 1");
    fault_wait_ok(pids[2], "rank 2");
    fault_job_end("waits.job");
    fault_job_whole("after.job", 4, 5);
    fault_server_stop();
    return 0;
}

/* ---- a rank whose end a tracer keeps -------------------------------------------------------- */

static void *stands(void *arg)
{
    atomic_store(&fault_shared->pid[0], (uint32_t)syscall(SYS_gettid));
    for (;;) {
        pause();
    }
    return arg;
}

static int role_waits_with_thread(const char *arg)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, stands, NULL) == 0, "no thread");
    return role_waits(arg);
}

/* A tracer keeps one thread of a killed rank at its exit, so the pidfd says nothing.  That the main
 * thread ends by the signal shows that all of them do: the server looks at no thread by its own. */
static int case_held(void)
{
    struct utsname kernel;
    unsigned major = 0, minor = 0;
    pid_t pids[2];
    int status;

    CHECK(uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2, "uname");
    if (major * 1000 + minor < 6007) {
        return fault_skip("this kernel has no futex wait in io_uring (6.7)");
    }
    fault_log_begin();
    fault_server_start();
    fault_job_start("held.job", 2);
    pids[0] = fault_start("held.job", 0, "waits_with_thread", "");
    pids[1] = fault_start("held.job", 1, "waits", "");
    for (int rank = 0; rank < 2; rank++) {
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == 1, "the ranks");
    }
    WAIT_FOR(fault_sleeps(pids[0]), "rank 0 to wait in its fence");
    WAIT_FOR(atomic_load(&fault_shared->pid[0]) != 0, "its thread");
    const pid_t thread = (pid_t)atomic_load(&fault_shared->pid[0]);

    if (ptrace(PTRACE_SEIZE, thread, NULL, PTRACE_O_TRACEEXIT) != 0) {
        return fault_skip("ptrace is refused here");
    }
    CHECK(kill(pids[0], SIGKILL) == 0, "kill");
    CHECK(waitpid(thread, &status, __WALL) == thread &&
              status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8),
          "%#x", (unsigned)status);
    WAIT_FOR(atomic_load(&fault_shared->lost) == 1, "the host to hear of it");
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pids[1], "rank 1");
    CHECK(ptrace(PTRACE_DETACH, thread, NULL, NULL) == 0, "detach");
    (void)fault_wait(pids[0]);
    fault_job_end("held.job");
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

/* ---- ranks that live, and that the host removes --------------------------------------------- */

/* Waits for rank 2, which never comes, and for nothing that the end of another rank ends. */
static int role_removed(const char *arg)
{
    pmix_proc_t self, both[2];

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    both[0] = both[1] = self;
    both[1].rank = 2;
    atomic_store(&fault_shared->state[self.rank], 1);
    CHECK_STATUS(PMIx_Fence(both, 2, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    return 0;
}

/* The server lives, and so the rank does not report that it is gone. */
static int case_removed(void)
{
    const char removed[] = "its host has removed the process or its job";
    pmix_proc_t first;
    pid_t pids[2];

    fault_log_begin();
    fault_server_start();
    fault_job_start("removed.job", 3);
    for (int rank = 0; rank < 2; rank++) {
        pids[rank] = fault_start("removed.job", rank, "removed", "");
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == 1, "a rank");
    }
    PMIx_Load_procid(&first, "removed.job", 0);
    PMIx_server_deregister_client(&first, NULL, NULL);
    CHECK(fault_wait(pids[0]) == 0, "the rank alone");
    fault_job_end("removed.job");
    CHECK(fault_wait(pids[1]) == 0, "the rank with its job");
    fault_server_stop();
    for (int rank = 0; rank < 2; rank++) {
        CHECK(fault_log_lines(pids[rank], removed) == 1, "rank %d does not report it", rank);
        CHECK(fault_log_lines(pids[rank], "is gone") == 0, "rank %d misses its server", rank);
    }
    return 0;
}

static const struct fault_case cases[] = {
    { "in_init", case_in_init },   { "in_put", case_in_put },
    { "in_fence", case_in_fence }, { "while_waiting", case_while_waiting },
    { "removed", case_removed },   { "held", case_held },
};

static const struct fault_role roles[] = {
    { "victim", role_victim },
    { "survivor", role_survivor },
    { "waits", role_waits },
    { "removed", role_removed },
    { "waits_with_thread", role_waits_with_thread },
};

FAULT_MAIN(cases, roles)
