/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flood_test.c - thousands of connections that say nothing, descriptors that run out, and requests
 * that are refused for ever: whoever belongs to a job still gets in, the server comes back to what
 * it was, and its log stays short. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fault.h"

#define MANY 3000

/* ---- roles ---------------------------------------------------------------------------------- */

static int connect_silently(void)
{
    const char *uri = getenv("SHMIX_SERVER_URI");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    CHECK(uri != NULL && strncmp(uri, "unix:@", 6) == 0, "no server is named");
    CHECK(fd >= 0, "socket: %s", strerror(errno));
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s", uri + 6);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(uri + 5));

    while (connect(fd, (const struct sockaddr *)(const void *)&address, size) != 0) {
        CHECK(errno == EINTR, "connect: %s", strerror(errno));
    }
    return fd;
}

/* Open as many connections as the argument says, then hold them until it may go. */
static int role_silent(const char *arg)
{
    const unsigned count = (unsigned)atoi(arg);

    CHECK(fault_files_raise(count + 100), "no descriptors");
    for (unsigned i = 1; i <= count; i++) {
        (void)connect_silently();
        atomic_store(&fault_shared->state[10], i);
    }
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the host's word to go");
    return 0;
}

static int role_come_and_go(const char *arg)
{
    const unsigned count = (unsigned)atoi(arg);

    for (unsigned i = 1; i <= count; i++) {
        close(connect_silently());
        atomic_store(&fault_shared->state[10], i);
    }
    return 0;
}

static void *init_and_fence(void *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[1], 1);
    return NULL;
}

/* The thread that attached ends: its life word says that somebody has died, and nobody has. */
static int role_thread_ends(const char *arg)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, init_and_fence, NULL) == 0, "no thread");
    atomic_store(&fault_shared->state[0], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go");
    CHECK(pthread_join(thread, NULL) == 0, "join");
    for (unsigned i = 0; i < 300; i++) {
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        fault_pause();
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Have as many groups refused as the argument says: their name is a namespace's. */
static int role_refused(const char *arg)
{
    pmix_proc_t me;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    for (int i = atoi(arg); i > 0; i--) {
        CHECK_STATUS(PMIx_Group_construct(me.nspace, &me, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void back_to(unsigned fds, uint64_t memory_kib)
{
    WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds, "the server's descriptors");
    const uint64_t after_kib = fault_memory_kib(FAULT_SELF);

    fault_say("memory %llu KiB before, %llu KiB after", (unsigned long long)memory_kib,
              (unsigned long long)after_kib);
    CHECK(after_kib <= memory_kib + fault_memory_slack_kib(), "memory has grown");
}

/* Hold @count silent connections while a whole job comes, works and goes. */
static void hold_silent(unsigned count)
{
    char arg[16];

    fault_log_begin();
    fault_server_start();
    fault_good_start();
    const unsigned fds = fault_fd_count(FAULT_SELF);
    const uint64_t memory_kib = fault_memory_kib(FAULT_SELF);

    snprintf(arg, sizeof(arg), "%u", count);
    fault_job_start("silent.job", 1);
    const pid_t pid = fault_start("silent.job", 0, "silent", arg);

    WAIT_FOR(atomic_load(&fault_shared->state[10]) == count, "silent connections");
    fault_job_whole("beside.job", 4, 20);
    fault_good_wait(5);
    const uint64_t during_kib = fault_memory_kib(FAULT_SELF);

    fault_say("%u descriptors and %llu KiB with %u silent connections", fault_fd_count(FAULT_SELF),
              (unsigned long long)during_kib, count);
    CHECK(during_kib <= memory_kib + (16u << 10) + fault_memory_slack_kib(), "%llu KiB",
          (unsigned long long)during_kib);
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pid, "the silent one");
    fault_job_end("silent.job");
    back_to(fds, memory_kib);
    CHECK(fault_log_lines(FAULT_SELF, NULL) <= 10, "%u log lines",
          fault_log_lines(FAULT_SELF, NULL));
    fault_good_stop();
    fault_job_whole("after.job", 4, 3);
    fault_server_stop();
}

static int case_silent(void)
{
    if (!fault_files_raise(2 * MANY + 1000)) {
        return fault_skip("the hard limit of open files is below %d (ulimit -Hn)", 2 * MANY + 1000);
    }
    hold_silent(MANY);
    return 0;
}

/* More than there are descriptors for. */
static int case_crowded(void)
{
    fault_files_limit(512);
    hold_silent(1000);
    return 0;
}

static int case_come_and_go(void)
{
    char arg[16];

    fault_log_begin();
    fault_server_start();
    fault_good_start();
    const unsigned fds = fault_fd_count(FAULT_SELF);
    const uint64_t memory_kib = fault_memory_kib(FAULT_SELF);

    snprintf(arg, sizeof(arg), "%u", MANY);
    fault_job_start("visitor.job", 1);
    const pid_t pid = fault_start("visitor.job", 0, "come_and_go", arg);

    fault_job_whole("beside.job", 4, 20);
    fault_wait_ok(pid, "the visitor");
    fault_job_end("visitor.job");
    back_to(fds, memory_kib);
    CHECK(fault_log_lines(FAULT_SELF, NULL) <= 10, "%u log lines",
          fault_log_lines(FAULT_SELF, NULL));
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* How many of @all lines with @why have been written in so many periods as have passed; the others
 * have been counted. */
static void expect_bound(const char *why, unsigned long all, uint64_t since_ns)
{
    const unsigned written = fault_log_lines(FAULT_SELF, why);
    const unsigned long left_out = fault_log_sum(FAULT_SELF, "caused were left out");
    const uint64_t periods = 1 + (fault_now_ns() - since_ns) / UINT64_C(60000000000);

    CHECK(written + left_out == all, "%u lines and %lu left out", written, left_out);
    CHECK(written >= 64 && written <= 64 * periods, "%u lines", written);
    CHECK(fault_log_lines(FAULT_SELF, "has caused 64 lines in 60 s") >= 1, "not told");
}

/* What the processes of a user have refused again and again is written so often, and then counted;
 * those of another user have lines of their own. */
static int case_refused(void)
{
    const char *const why = "is a namespace's or a group's already";
    const uint64_t since_ns = fault_now_ns();

    unsetenv("SHMIX_LOG_LINES");
    fault_log_begin();
    fault_server_start();
    fault_job_start("refused.job", 2);
    fault_wait_ok(fault_start("refused.job", 0, "refused", "500"), "rank 0");
    fault_wait_ok(fault_start("refused.job", 1, "refused", "30"), "rank 1");
    fault_job_end("refused.job");
    fault_server_stop();
    expect_bound(why, 530, since_ns);
    return 0;
}

/* ---- a host that has used up its descriptors ------------------------------------------------ */

#define FILES 256
static int taken[FILES];
static unsigned taken_count;

static void take_all(void)
{
    int fd;

    while (taken_count < FILES && (fd = dup(STDIN_FILENO)) >= 0) {
        taken[taken_count++] = fd;
    }
    CHECK(errno == EMFILE, "dup: %s", strerror(errno));
}

static void give_back(unsigned count)
{
    while (count-- > 0 && taken_count > 0) {
        close(taken[--taken_count]);
    }
}

/* Ranks that come while there are none left wait, and get in when there are some again. */
static int case_exhausted(void)
{
    pid_t pids[2];

    fault_files_limit(FILES);
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("late.job", 2);
    for (int rank = 0; rank < 2; rank++) {
        pids[rank] = fault_start("late.job", rank, "late", "");
    }
    const unsigned fds = fault_fd_count(FAULT_SELF);

    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1 && atomic_load(&fault_shared->state[1]) == 1,
             "two ranks before their PMIx_Init");
    take_all();
    atomic_store(&fault_shared->go, 1);
    fault_good_wait(20); /* who is in already needs none */
    WAIT_FOR(fault_log_lines(FAULT_SELF, "cannot accept connections") > 0, "the refusal to accept");
    give_back(FILES);
    fault_wait_ok(pids[0], "late rank 0");
    fault_wait_ok(pids[1], "late rank 1");
    CHECK(fault_log_lines(FAULT_SELF, "cannot accept connections") == 1, "%u lines name the cause",
          fault_log_lines(FAULT_SELF, "cannot accept connections"));
    CHECK(fault_log_lines(FAULT_SELF, "ulimit -n") == 1, "what to do is not said");
    fault_job_end("late.job");
    WAIT_FOR(fault_fd_count(FAULT_SELF) <= fds, "the server's descriptors");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

static int role_late(const char *arg)
{
    pmix_proc_t self;

    atomic_store(&fault_shared->state[atoi(getenv("PMIX_RANK"))], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go");
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Where there stay none left, ranks hear of it well before they would give up by themselves. */
static int case_exhausted_for_long(void)
{
    pid_t pids[2];

    fault_files_limit(FILES);
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("poor.job", 2);
    for (int rank = 0; rank < 2; rank++) {
        pids[rank] = fault_start("poor.job", rank, "turned_away", "");
    }
    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1 && atomic_load(&fault_shared->state[1]) == 1,
             "two ranks before their PMIx_Init");
    take_all();
    atomic_store(&fault_shared->go, 1);
    for (int rank = 0; rank < 2; rank++) {
        fault_wait_ok(pids[rank], "a rank that is turned away");
        CHECK(fault_log_lines(pids[rank], "the server refuses rank") == 1 &&
                  fault_log_lines(pids[rank], "ulimit -n") == 1,
              "rank %d does not say why, or not what to do", rank);
    }
    fault_good_wait(20);
    give_back(FILES);
    fault_job_end("poor.job");
    fault_job_whole("after.job", 2, 3);
    fault_good_stop();
    fault_server_stop();
    return 0;
}

static int role_turned_away(const char *arg)
{
    pmix_proc_t self;

    atomic_store(&fault_shared->state[atoi(getenv("PMIX_RANK"))], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host's word to go");
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_ERR_OUT_OF_RESOURCE);
    return 0;
}

/* A server that cannot look whether a client lives does not take it for dead. */
static int case_exhausted_spares_the_living(void)
{
    fault_files_limit(FILES);
    fault_log_begin();
    fault_server_start();
    fault_job_start("threads.job", 1);
    const pid_t pid = fault_start("threads.job", 0, "thread_ends", "");

    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1 && atomic_load(&fault_shared->state[1]) == 1,
             "the rank, which has its descriptors");
    take_all();
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(pid, "the rank whose thread has ended");
    CHECK(atomic_load(&fault_shared->lost) == 0, "it was taken for dead");
    give_back(FILES);
    fault_job_end("threads.job");
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "silent", case_silent },
    { "crowded", case_crowded },
    { "come_and_go", case_come_and_go },
    { "refused", case_refused },
    { "exhausted", case_exhausted },
    { "exhausted_for_long", case_exhausted_for_long },
    { "exhausted_spares_the_living", case_exhausted_spares_the_living },
};

static const struct fault_role roles[] = {
    { "silent", role_silent },           { "come_and_go", role_come_and_go },
    { "refused", role_refused },         { "late", role_late },
    { "turned_away", role_turned_away }, { "thread_ends", role_thread_ends },
};

FAULT_MAIN(cases, roles)
