/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_death_test.c - kill -9 of the host, server included: whoever waits for it ends with an
 * error, and nothing stays behind. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define SURVIVOR_SECONDS 120
#define SIZE 5
enum { READY = 1, NOTIFIED = 2 };
enum { IN_FENCE, IN_GET, IN_FENCE_NB, IN_INIT, ABSENT }; /* ranks of the job */
static const char *const doing[] = { "in a fence", "in a Get", "in Fence_nb", "in PMIx_Init" };

/* A name that no other run of this test has. */
static void job_name(char name[64], pid_t case_pid)
{
    snprintf(name, 64, "dying.%d", (int)case_pid);
}

/* ---- roles ---------------------------------------------------------------------------------- */

static int role_host(const char *arg)
{
    static const char *const roles[] = { "fence", "get", "fence_nb" };
    const char *const nspace = arg;

    fault_server_start();
    fault_job_start(nspace, SIZE);
    for (int rank = 0; rank < IN_INIT; rank++) {
        (void)fault_start(nspace, rank, roles[rank], "");
    }
    pmix_proc_t proc = { .rank = IN_INIT };
    char **env = NULL;

    snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (char **at = env; *at != NULL; at++) {
        if (strncmp(*at, "SHMIX_SERVER_URI=", 17) == 0) {
            snprintf(fault_shared->text, sizeof(fault_shared->text), "%s", *at + 17);
        }
    }
    atomic_store(&fault_shared->state[SIZE], READY);
    for (;;) {
        pause(); /* until the end */
    }
}

static void ready(int rank)
{
    alarm(SURVIVOR_SECONDS);
    atomic_store(&fault_shared->pid[rank], (uint32_t)getpid());
    atomic_store(&fault_shared->state[rank], READY);
}

static int notified(int rank, pmix_status_t status)
{
    atomic_store(&fault_shared->time_ns[rank], fault_now_ns());
    atomic_store(&fault_shared->status[rank], status);
    atomic_store(&fault_shared->state[rank], NOTIFIED);
    CHECK(status != PMIX_SUCCESS, "it has succeeded");
    return 0;
}

/* After the end of the server: what fails says so, what needs no server works. */
static void after_the_end(const pmix_proc_t *self)
{
    pmix_proc_t whole = *self;
    pmix_value_t *value;

    whole.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Get(&whole, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.uint32 == SIZE, "%u", value->data.uint32);
    PMIX_VALUE_RELEASE(value);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    (void)PMIx_Finalize(NULL, 0);
    CHECK(PMIx_Initialized() == 0, "still initialized");
}

static int role_fence(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    ready(IN_FENCE);
    (void)notified(IN_FENCE, PMIx_Fence(NULL, 0, NULL, 0));
    after_the_end(&self);
    return 0;
}

static int role_get(const char *arg)
{
    pmix_proc_t self, other;
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    other = self;
    other.rank = ABSENT;
    ready(IN_GET);
    (void)notified(IN_GET, PMIx_Get(&other, "never.put", NULL, 0, &value));
    after_the_end(&self);
    return 0;
}

static _Atomic uint32_t nb_done;

static void nb_ended(pmix_status_t status, void *cbdata)
{
    (void)notified(IN_FENCE_NB, status);
    atomic_store(&nb_done, 1);
}

static int role_fence_nb(const char *arg)
{
    pmix_proc_t self, procs[2];

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    procs[0] = procs[1] = self;
    procs[1].rank = ABSENT;
    CHECK_STATUS(PMIx_Fence_nb(procs, 2, NULL, 0, nb_ended, NULL), PMIX_SUCCESS);
    ready(IN_FENCE_NB);
    WAIT_FOR(atomic_load(&nb_done) != 0, "the callback");
    after_the_end(&self);
    return 0;
}

/* Started when the server is stopped: it has connected and waits for the welcome. */
static int role_init(const char *arg)
{
    setenv("PMIX_NAMESPACE", arg, 1);
    setenv("PMIX_RANK", "3", 1);
    setenv("SHMIX_SERVER_URI", fault_shared->text, 1);
    atomic_store(&fault_shared->round[IN_INIT], fault_fd_count(getpid()));
    ready(IN_INIT);
    (void)notified(IN_INIT, PMIx_Init(NULL, NULL, 0));
    CHECK(PMIx_Initialized() == 0, "initialized");
    return 0;
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void wait_for_blocked(int rank)
{
    WAIT_FOR(atomic_load(&fault_shared->state[rank]) == READY, "a rank to get ready");
    WAIT_FOR(fault_sleeps((pid_t)atomic_load(&fault_shared->pid[rank])), "a rank to wait");
}

static void nothing_stays(const char *nspace, pid_t host, const char *tmpdir)
{
    static const char *const places[] = { "/tmp", "/dev/shm", "/run" };
    char name[64];

    CHECK(fault_segment_holders(nspace) == 0, "segments of the job are still mapped");
    snprintf(name, sizeof(name), "shmix-server.%d", (int)host);
    CHECK(fault_segment_holders(name) == 0, "segments of the server are still mapped");
    snprintf(name, sizeof(name), "-%d-", (int)host);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        CHECK(access(places[i], R_OK) != 0 || fault_dir_count(places[i], name) == 0,
              "something stayed in %s", places[i]);
    }
    CHECK(fault_dir_count(tmpdir, NULL) == 0, "%u files stayed in TMPDIR",
          fault_dir_count(tmpdir, NULL));
}

static int case_host(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    char nspace[64];
    int status;

    job_name(nspace, getpid());
    fault_log_begin();
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "%s", strerror(errno));
    const pid_t host = fault_start(NULL, 0, "host", nspace);

    WAIT_FOR(atomic_load(&fault_shared->state[SIZE]) == READY ||
                 waitpid(host, &status, WNOHANG) == host,
             "the host");
    if (atomic_load(&fault_shared->state[SIZE]) != READY) {
        return WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP ? FAULT_SKIP : 1;
    }
    for (int rank = 0; rank < IN_INIT; rank++) {
        wait_for_blocked(rank);
    }
    CHECK(kill(host, SIGSTOP) == 0 && waitpid(host, &status, WUNTRACED) == host &&
              WIFSTOPPED(status),
          "the host does not stop");
    const pid_t init = fault_start(NULL, 0, "init", nspace);

    WAIT_FOR(atomic_load(&fault_shared->state[IN_INIT]) == READY, "a process");
    /* It had one more when it counted, that of /proc. */
    WAIT_FOR(fault_fd_count(init) >= atomic_load(&fault_shared->round[IN_INIT]), "its connection");
    wait_for_blocked(IN_INIT);
    const uint64_t killed_ns = fault_now_ns();

    CHECK(kill(host, SIGKILL) == 0, "%s", strerror(errno));
    CHECK(WIFSIGNALED(fault_wait(host)), "the host has not died of it");
    for (int rank = 0; rank <= IN_INIT; rank++) {
        fault_wait_ok((pid_t)atomic_load(&fault_shared->pid[rank]), doing[rank]);
        fault_say("a rank %s was told %s after %.1f ms", doing[rank],
                  PMIx_Error_string(atomic_load(&fault_shared->status[rank])),
                  (double)(atomic_load(&fault_shared->time_ns[rank]) - killed_ns) / 1e6);
    }
    nothing_stays(nspace, host, tmpdir);
    return 0;
}

/* ---- shmix run ------------------------------------------------------------------------------ */

static int role_launched(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    snprintf(fault_shared->text, sizeof(fault_shared->text), "%s", self.nspace);
    ready((int)self.rank);
    if (self.rank == 0) {
        (void)PMIx_Fence(NULL, 0, NULL, 0);
    }
    for (;;) {
        pause();
    }
}

/* Return: true when no process has that number any more, reaping it if it is ours. */
static bool is_gone(pid_t pid)
{
    (void)waitpid(pid, NULL, WNOHANG);
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static void launch(const char *command, const char *role)
{
    execl(command, command, "run", "-n", "2", fault_program(), "--role", role, "x", (char *)NULL);
    _exit(127);
}

static int case_launcher(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    const char *const command = getenv("SHMIX_COMMAND");
    char nspace[256];

    if (command == NULL || access(command, X_OK) != 0) {
        return fault_skip("there is no shmix command (SHMIX_COMMAND)");
    }
    fault_log_begin();
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "%s", strerror(errno));
    const pid_t launcher = fork();

    CHECK(launcher >= 0, "%s", strerror(errno));
    if (launcher == 0) {
        launch(command, "launched");
    }
    for (int rank = 0; rank < 2; rank++) {
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == READY, "the ranks of shmix run");
    }
    WAIT_FOR(fault_sleeps((pid_t)atomic_load(&fault_shared->pid[0])), "rank 0 to wait");
    CHECK(fault_dir_count(tmpdir, NULL) > 0, "shmix run does not use TMPDIR: %s", tmpdir);
    snprintf(nspace, sizeof(nspace), "%.200s", fault_shared->text);
    const uint64_t killed_ns = fault_now_ns();

    CHECK(kill(launcher, SIGKILL) == 0, "%s", strerror(errno));
    CHECK(WIFSIGNALED(fault_wait(launcher)), "shmix run has not died of it");
    for (int rank = 0; rank < 2; rank++) {
        WAIT_FOR(is_gone((pid_t)atomic_load(&fault_shared->pid[rank])), "the end of the ranks");
    }
    fault_say("the ranks were gone after %.1f ms", (double)(fault_now_ns() - killed_ns) / 1e6);
    WAIT_FOR(fault_dir_count(tmpdir, NULL) == 0, "the janitor to empty TMPDIR");
    fault_say("all was gone after %.1f ms", (double)(fault_now_ns() - killed_ns) / 1e6);
    WAIT_FOR(fault_segment_holders(nspace) == 0, "the segments to go");
    while (waitpid(-1, NULL, WNOHANG) > 0) { /* the janitor */
    }
    return 0;
}

/* ---- a container ---------------------------------------------------------------------------- */

static int role_finishes(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* The first process of a pid namespace, with which the kernel kills all others, the janitor too. */
static int case_container(void)
{
    const char *const tmpdir = fault_tmpdir_make();
    const char *const command = getenv("SHMIX_COMMAND");

    if (command == NULL || access(command, X_OK) != 0) {
        return fault_skip("there is no shmix command (SHMIX_COMMAND)");
    }
    fault_log_begin();
    const pid_t first = (pid_t)syscall(SYS_clone,
                                       (geteuid() == 0 ? 0 : CLONE_NEWUSER) | CLONE_NEWPID |
                                           SIGCHLD,
                                       NULL, NULL, NULL, 0);

    if (first < 0) {
        return fault_skip("no right to make a pid namespace");
    }
    if (first == 0) {
        if (fork() == 0) {
            launch(command, "launched");
        }
        for (;;) {
            pause();
        }
    }
    for (int rank = 0; rank < 2; rank++) {
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == READY, "the ranks in the container");
    }
    CHECK(kill(first, SIGKILL) == 0, "%s", strerror(errno));
    CHECK(WIFSIGNALED(fault_wait(first)), "the container has not died of it");
    CHECK(fault_dir_count(tmpdir, NULL) == 1, "%u files in TMPDIR, one of them the job's",
          fault_dir_count(tmpdir, NULL));
    const pid_t next = fork();

    CHECK(next >= 0, "%s", strerror(errno));
    if (next == 0) {
        launch(command, "finishes");
    }
    fault_wait_ok(next, "the next shmix run");
    CHECK(fault_dir_count(tmpdir, NULL) == 0, "%u files stayed in TMPDIR",
          fault_dir_count(tmpdir, NULL));
    return 0;
}

static const struct fault_case cases[] = {
    { "host", case_host },
    { "launcher", case_launcher },
    { "container", case_container },
};

static const struct fault_role roles[] = {
    { "host", role_host },         { "fence", role_fence }, { "get", role_get },
    { "fence_nb", role_fence_nb }, { "init", role_init },   { "launched", role_launched },
    { "finishes", role_finishes },
};

FAULT_MAIN(cases, roles)
