/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_death_test.c - kill -9 of a publisher, of a reader, of the server in the middle of a burst
 * of events: the survivors have had an exact beginning of it, whole events only, and nothing stays
 * behind.  (EV59: the loss of the server is an event, once.) */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

#define SEED UINT64_C(20260901)
#define ROUNDS (fault_is_sanitized() ? 8u : 50u)
#define BURST 1500           /* events; they fit into a ring, so nobody is lapped */
#define ROUND_NUMBERS 100000 /* each round has numbers of its own */
#define SURVIVOR_SECONDS 120
enum { PUBLISHER, READER, VICTIM, SIZE };
enum { READY = 1, DONE = 2 };

static size_t body_size(uint64_t number)
{
    return (size_t)(number * 37 % 150);
}

static void publish(uint64_t number)
{
    events_publish_many(PUBLISHER, number, 1, body_size(number));
}

/* ---- who dies ------------------------------------------------------------------------------- */

/* Another thread kills the process when a word has reached a count, and some turns of a loop
 * later: the first decides between which events, the second where inside one. */
struct killer {
    _Atomic uint64_t *word;
    unsigned long count;
    unsigned turns;
};

static void *killer_main(void *arg)
{
    struct killer *killer = arg;

    while (atomic_load(killer->word) < killer->count) {
    }
    for (volatile unsigned i = 0; i < killer->turns; i = i + 1) {
    }
    raise(SIGKILL);
    return NULL;
}

static void killer_start(struct killer *killer, _Atomic uint64_t *word, const char *arg)
{
    pthread_t thread;

    killer->word = word;
    CHECK(sscanf(arg, "%lu/%u", &killer->count, &killer->turns) == 2, "%s", arg);
    CHECK(pthread_create(&thread, NULL, killer_main, killer) == 0, "no thread");
}

__attribute__((noreturn)) static void until_killed(void)
{
    for (;;) {
        pause();
    }
}

static void killed(pid_t pid)
{
    const int status = fault_wait(pid);

    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it ended with %#x",
          (unsigned)status);
}

/* ---- roles ---------------------------------------------------------------------------------- */

/* Publishes the burst of a round until it dies. */
static int role_dying_publisher(const char *arg)
{
    static struct killer killer;
    const uint64_t first = fault_shared->round[PUBLISHER] * (uint64_t)ROUND_NUMBERS + 1;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    killer_start(&killer, &fault_shared->event_sent[PUBLISHER], arg);
    for (uint64_t i = 0; i < BURST; i++) {
        publish(first + i);
    }
    until_killed();
}

static int role_reader(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_read(READER, PMIX_ERR_LOST_CONNECTION);
    atomic_store(&fault_shared->state[READER], READY);
    WAIT_FOR(atomic_load(&fault_shared->go) == 2, arg);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int role_dying_reader(const char *arg)
{
    static struct killer killer;

    events_read_afresh(VICTIM);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    killer_start(&killer, &fault_shared->event_count[VICTIM], arg);
    events_read(VICTIM, 0);
    until_killed();
}

/* Never so far ahead of the reader that the ring could lap it. */
static int role_steady_publisher(const char *arg)
{
    uint64_t number = 1;

    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    for (; atomic_load(&fault_shared->go) == 0; number++) {
        WAIT_FOR(atomic_load(&fault_shared->event_last[READER]) + BURST > number, "the reader");
        publish(number);
    }
    WAIT_FOR(atomic_load(&fault_shared->event_last[READER]) == number - 1, "the reader's rest");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Both ends of a burst whose server dies. */
static int role_bereft_publisher(const char *arg)
{
    pmix_status_t rc = PMIX_SUCCESS;

    alarm(SURVIVOR_SECONDS);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    WAIT_FOR(atomic_load(&fault_shared->state[READER]) == READY, "the reader");
    for (uint64_t number = 1; rc == PMIX_SUCCESS; number++) {
        rc = events_publish(number, body_size(number));
        atomic_fetch_add(&fault_shared->event_sent[PUBLISHER], 1);
    }
    CHECK(rc == PMIX_ERR_LOST_CONNECTION, "the publisher was told %d (%s)", rc,
          PMIx_Error_string(rc));
    CHECK_STATUS(events_publish(1, 0), PMIX_ERR_LOST_CONNECTION);
    (void)PMIx_Finalize(NULL, 0);
    return 0;
}

static int role_bereft_reader(const char *arg)
{
    alarm(SURVIVOR_SECONDS);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    events_read(READER, PMIX_ERR_LOST_CONNECTION_TO_SERVER);
    atomic_store(&fault_shared->state[READER], READY);
    WAIT_FOR(atomic_load(&fault_shared->event_ended[READER]) != 0, "the loss of the server");
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    (void)PMIx_Finalize(NULL, 0);
    CHECK(atomic_load(&fault_shared->event_ended[READER]) == 1, "it was told %u times",
          atomic_load(&fault_shared->event_ended[READER]));
    return 0;
}

static int role_dying_host(const char *arg)
{
    static struct killer killer;
    char nspace[64];

    snprintf(nspace, sizeof(nspace), "%.60s", fault_shared->text);
    fault_server_start();
    fault_job_start(nspace, 2);
    killer_start(&killer, &fault_shared->event_sent[PUBLISHER], arg);
    atomic_store(&fault_shared->pid[READER],
                 (uint32_t)fault_start(nspace, READER, "bereft_reader", ""));
    atomic_store(&fault_shared->pid[PUBLISHER],
                 (uint32_t)fault_start(nspace, PUBLISHER, "bereft_publisher", ""));
    until_killed();
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void death_arg(char arg[64], uint64_t *seed)
{
    snprintf(arg, 64, "%u/%u", (unsigned)(1 + fault_random(seed) % BURST),
             (unsigned)(fault_random(seed) % 4000));
}

/* What the server held for the dead one is given back. */
static void given_back(unsigned fds, unsigned maps)
{
    WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds, "the descriptors of the dead");
    WAIT_FOR(fault_map_count(FAULT_SELF) <= maps, "the maps of the dead");
}

static int case_publisher(void)
{
    uint64_t seed = SEED, all = 0;
    char arg[64];

    fault_log_begin();
    fault_server_start();
    fault_job_start("burst.job", 2);
    const pid_t reader = fault_start("burst.job", READER, "reader", "the last round");

    WAIT_FOR(atomic_load(&fault_shared->state[READER]) == READY, "the reader");
    const unsigned fds = fault_fd_count(FAULT_SELF), maps = fault_map_count(FAULT_SELF);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t had = atomic_load(&fault_shared->event_count[READER]);

        atomic_store(&fault_shared->round[PUBLISHER], round);
        atomic_store(&fault_shared->event_sent[PUBLISHER], 0);
        fault_rank_admit("burst.job", PUBLISHER);
        death_arg(arg, &seed);
        killed(fault_start("burst.job", PUBLISHER, "dying_publisher", arg));
        WAIT_FOR(atomic_load(&fault_shared->event_ended[READER]) > round, "news of its death");
        const uint64_t sent = atomic_load(&fault_shared->event_sent[PUBLISHER]);
        const uint64_t now = atomic_load(&fault_shared->event_count[READER]) - had;
        const uint64_t last = atomic_load(&fault_shared->event_last[READER]);

        CHECK(atomic_load(&fault_shared->event_ended[READER]) == round + 1, "it was told twice");
        CHECK(now >= sent && now <= sent + 1, "round %u: %llu of %llu events arrived", round,
              (unsigned long long)now, (unsigned long long)sent);
        CHECK(last == round * (uint64_t)ROUND_NUMBERS + now,
              "round %u: the last is %llu, not "
              "number %llu",
              round, (unsigned long long)last, (unsigned long long)now);
        given_back(fds, maps);
        all += now;
    }
    CHECK(atomic_load(&fault_shared->event_lost[READER]) == 0, "some were lost");
    fault_say("%u deaths, %llu events", ROUNDS, (unsigned long long)all);
    atomic_store(&fault_shared->go, 2);
    fault_wait_ok(reader, "the reader");
    fault_job_end("burst.job");
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

static int case_reader(void)
{
    uint64_t seed = SEED + 1;
    char arg[64];
    pid_t pids[2];

    fault_log_begin();
    setenv("SHMIX_SERVER_CACHE_BYTES", "262144", 1); /* what each new reader is given first */
    fault_server_start();
    fault_job_start("burst.job", SIZE);
    pids[READER] = fault_start("burst.job", READER, "reader", "the last round");
    WAIT_FOR(atomic_load(&fault_shared->state[READER]) == READY, "the reader");
    pids[PUBLISHER] = fault_start("burst.job", PUBLISHER, "steady_publisher", "");
    WAIT_FOR(atomic_load(&fault_shared->event_last[READER]) > 0, "the publisher");
    const unsigned fds = fault_fd_count(FAULT_SELF), maps = fault_map_count(FAULT_SELF);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        fault_rank_admit("burst.job", VICTIM);
        death_arg(arg, &seed);
        killed(fault_start("burst.job", VICTIM, "dying_reader", arg));
        WAIT_FOR(atomic_load(&fault_shared->event_ended[READER]) == round + 1, "news of its death");
        given_back(fds, maps);
    }
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pids[PUBLISHER], "the publisher");
    CHECK(events_accounted(READER, atomic_load(&fault_shared->event_sent[PUBLISHER])),
          "the reader that lived has not had them all");
    CHECK(atomic_load(&fault_shared->event_lost[READER]) == 0, "some were lost");
    fault_say("%u deaths, %llu events", ROUNDS,
              (unsigned long long)atomic_load(&fault_shared->event_count[READER]));
    atomic_store(&fault_shared->go, 2);
    fault_wait_ok(pids[READER], "the reader");
    fault_job_end("burst.job");
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

static void server_dies(uint32_t round, uint64_t *seed)
{
    char arg[64];
    int status = 0;

    snprintf(fault_shared->text, sizeof(fault_shared->text), "burst.%d.%u", (int)getpid(), round);
    events_read_afresh(READER);
    atomic_store(&fault_shared->event_sent[PUBLISHER], 0);
    atomic_store(&fault_shared->state[READER], 0);
    death_arg(arg, seed);
    const pid_t host = fault_start(NULL, 0, "dying_host", arg);

    status = fault_wait(host);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
        exit(FAULT_SKIP);
    }
    CHECK(WIFSIGNALED(status), "the host ended with %#x", (unsigned)status);
    fault_wait_ok((pid_t)atomic_load(&fault_shared->pid[PUBLISHER]), "the publisher");
    fault_wait_ok((pid_t)atomic_load(&fault_shared->pid[READER]), "the reader");
    const uint64_t had = atomic_load(&fault_shared->event_count[READER]);
    const uint64_t lost = atomic_load(&fault_shared->event_lost[READER]);
    const uint64_t last = atomic_load(&fault_shared->event_last[READER]);

    /* What the ring took away had a place before what came after it. */
    CHECK(had + lost == last, "round %u: %llu events and %llu lost, up to number %llu", round,
          (unsigned long long)had, (unsigned long long)lost, (unsigned long long)last);
    CHECK(last <= atomic_load(&fault_shared->event_sent[PUBLISHER]),
          "number %llu came from "
          "nowhere",
          (unsigned long long)last);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "a process is left");
}

static int case_server(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    uint64_t seed = SEED + 2, all = 0;
    char arg[64];

    fault_log_begin();
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "%s", strerror(errno));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        server_dies(round, &seed);
        all += atomic_load(&fault_shared->event_count[READER]);
    }
    fault_say("%u deaths, %llu events", ROUNDS, (unsigned long long)all);
    CHECK(all > 0, "no reader had any event");
    snprintf(arg, sizeof(arg), "burst.%d.", (int)getpid());
    CHECK(fault_segment_holders(arg) == 0, "segments of the jobs are still mapped");
    CHECK(fault_dir_count(tmpdir, NULL) == 0, "%u files stayed", fault_dir_count(tmpdir, NULL));
    return 0;
}

static const struct fault_case cases[] = {
    { "publisher", case_publisher },
    { "reader", case_reader },
    { "server", case_server },
};

static const struct fault_role roles[] = {
    { "dying_publisher", role_dying_publisher },
    { "reader", role_reader },
    { "dying_reader", role_dying_reader },
    { "steady_publisher", role_steady_publisher },
    { "bereft_publisher", role_bereft_publisher },
    { "bereft_reader", role_bereft_reader },
    { "dying_host", role_dying_host },
};

FAULT_MAIN(cases, roles)
