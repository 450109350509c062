/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* identity_test.c - who one is is what the kernel says: another uid does not reach a rendezvous in a
 * directory, and where it reaches one it is refused. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define NOBODY 65534
#define NOTIFIED 64   /* refusals of other users that the server tells of */
#define TRIES 70      /* more than these */
#define SOCKET_FD 230 /* an O_PATH descriptor of the server's socket, inherited */

static const char *socket_path(void)
{
    const char *uri = getenv("SHMIX_SERVER_URI");

    CHECK(uri != NULL && strncmp(uri, "unix:", 5) == 0, "no server is named");
    return uri + 5;
}

/* ---- roles ---------------------------------------------------------------------------------- */

static int role_refused(const char *arg)
{
    struct stat st;

    CHECK(geteuid() == NOBODY, "uid %u", (unsigned)geteuid());
    CHECK(stat(socket_path(), &st) != 0 && errno == EACCES, "the socket can be seen");
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NO_PERMISSIONS);
    CHECK(PMIx_Initialized() == 0, "initialized");
    return 0;
}

/* The path's permissions are out of the way; those of the socket are not. */
static int role_handed(const char *arg)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    char value[64];
    struct stat st;

    CHECK(fd >= 0, "%s", strerror(errno));
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", SOCKET_FD);
    CHECK(connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0 &&
              errno == EACCES,
          "another user can connect");
    close(fd);
    CHECK(fstat(SOCKET_FD, &st) == 0, "%s", strerror(errno));
    snprintf(value, sizeof(value), "%d:%llu:%llu", SOCKET_FD, (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("SHMIX_SERVER_FD", value, 1);
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NO_PERMISSIONS);
    return 0;
}

/* Nothing stops it from connecting, so it gets as far as its HELLO, as often as it likes. */
static int role_stranger(const char *arg)
{
    CHECK(geteuid() == NOBODY, "uid %u", (unsigned)geteuid());
    for (int i = 0; i < TRIES; i++) {
        CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NO_PERMISSIONS);
    }
    CHECK(PMIx_Initialized() == 0, "initialized");
    return 0;
}

/* A client that stands for another process, as a gateway does: @arg is that process, and the one
 * that the server takes it for (0: the client's own). */
static int role_stands(const char *arg)
{
    const uint32_t library = 0x040202;
    uint32_t pid;
    int taken;
    pmix_info_t infos[2];
    pmix_value_t *value;
    pmix_proc_t self;

    CHECK(sscanf(arg, "%u %d", &pid, &taken) == 2, "'%s'", arg);
    PMIX_INFO_LOAD(&infos[0], "shmix.stands.for", &pid, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], "shmix.stands.library", &library, PMIX_UINT32);
    CHECK_STATUS(PMIx_Init(&self, infos, 2), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&self, PMIX_PROC_PID, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.pid == (taken != 0 ? taken : getpid()), "pid %d is taken for %d", (int)pid,
          (int)value->data.pid);
    PMIX_VALUE_RELEASE(value);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* Root itself is not the user that the rank belongs to. */
static int role_wrong_rank(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NO_PERMISSIONS);
    return 0;
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void begin(const char *rendezvous)
{
    CHECK(setenv("SHMIX_RENDEZVOUS", rendezvous, 1) == 0, "%s", strerror(errno));
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("mine.job", 2);
}

static void end(void)
{
    CHECK(atomic_load(&fault_shared->connected) == 2, "%u have connected",
          atomic_load(&fault_shared->connected));
    fault_job_end("mine.job");
    fault_good_stop();
    fault_server_stop();
}

/* The server refuses first and writes its line then. */
static void notified_once(void)
{
    WAIT_FOR(fault_log_lines(FAULT_SELF, "another user") == 1, "the server's line");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 1, "%u lines", fault_log_lines(FAULT_SELF, NULL));
}

static int need_root(void)
{
    return geteuid() == 0 ? 0 : fault_skip("only root can become another user");
}

static int case_another_uid(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    begin("directory");
    /* The directory above lets everybody in, so that it is ours that does not. */
    CHECK(chmod(getenv("TMPDIR"), 0755) == 0, "%s", strerror(errno));
    fault_wait_ok(fault_start_as(NOBODY, "mine.job", 0, "refused", ""), "another user");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 0, "it has reached the server");
    end();
    return 0;
}

static int case_socket_handed_over(void)
{
    pmix_proc_t proc = { .nspace = "mine.job" };
    char **env = NULL;
    int fd = -1;

    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    begin("directory");
    CHECK_STATUS(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (char **at = env; *at != NULL; at++) {
        if (strncmp(*at, "SHMIX_SERVER_URI=unix:", 22) == 0) {
            fd = open(*at + 22, O_PATH);
        }
        free(*at);
    }
    free(env);
    CHECK(fd >= 0 && dup2(fd, SOCKET_FD) == SOCKET_FD, "%s", strerror(errno));
    close(fd);
    fault_wait_ok(fault_start_as(NOBODY, "mine.job", 0, "handed", ""), "another user");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 0, "it has reached the server");
    close(SOCKET_FD);
    end();
    return 0;
}

static int case_hello_of_another_uid(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    unsetenv("SHMIX_LOG_LINES");
    begin("abstract");
    fault_wait_ok(fault_start_as(NOBODY, "mine.job", 0, "stranger", ""), "another user");
    end();
    const unsigned notified = fault_log_lines(FAULT_SELF,
                                              "another user than the rank it wants to be");
    const unsigned long left_out = fault_log_sum(FAULT_SELF,
                                                 "lines that user 65534 caused were left out");

    CHECK(notified >= NOTIFIED && notified + left_out == TRIES, "%u lines, %lu left out", notified,
          left_out);
    return 0;
}

static int case_rank_of_another_uid(void)
{
    const pmix_proc_t proc = { .nspace = "theirs.job", .rank = 0 };

    begin("abstract");
    CHECK_STATUS(PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    CHECK_STATUS(PMIx_server_register_client(&proc, geteuid() + 1, getegid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    fault_wait_ok(fault_start(proc.nspace, 0, "wrong_rank", ""), "the wrong user");
    notified_once();
    fault_job_end(proc.nspace);
    end();
    return 0;
}

static pid_t sleeper(uid_t uid)
{
    const pid_t pid = fork();

    if (pid == 0) {
        CHECK(setresuid(uid, uid, uid) == 0, "%s", strerror(errno));
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* behind setresuid, which clears it */
        atomic_store(&fault_shared->go, 1);
        pause();
        _exit(0);
    }
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "a process");
    atomic_store(&fault_shared->go, 0);
    return pid;
}

static void stand(int rank, pid_t pid, pid_t taken)
{
    char arg[64];

    snprintf(arg, sizeof(arg), "%d %d", (int)pid, (int)taken);
    fault_wait_ok(fault_start("mine.job", rank, "stands", arg), "a client that stands for another");
}

static int case_stands_for(void)
{
    if (need_root() != 0) {
        return FAULT_SKIP;
    }
    begin("abstract");
    const pid_t own = sleeper(0), other = sleeper(NOBODY), gone = fork();

    if (gone == 0) {
        _exit(0);
    }
    fault_wait(gone);
    stand(0, own, own);
    stand(1, other, 0);
    stand(0, gone, 0);
    kill(own, SIGKILL);
    kill(other, SIGKILL);
    fault_wait(own);
    fault_wait(other);
    fault_job_end("mine.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "another_uid", case_another_uid },
    { "socket_handed_over", case_socket_handed_over },
    { "hello_of_another_uid", case_hello_of_another_uid },
    { "rank_of_another_uid", case_rank_of_another_uid },
    { "stands_for", case_stands_for },
};

static const struct fault_role roles[] = {
    { "refused", role_refused },   { "stands", role_stands },         { "handed", role_handed },
    { "stranger", role_stranger }, { "wrong_rank", role_wrong_rank },
};

FAULT_MAIN(cases, roles)
