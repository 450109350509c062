/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* refused_test.c - a container's filter or an old kernel refuses io_uring or futex_waitv: jobs run
 * all the same. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "support/sanitized.h"

/* The same on every architecture. */
#define NR_IO_URING_SETUP 425
#define NR_IO_URING_ENTER 426
#define NR_IO_URING_REGISTER 427
#define NR_FUTEX_WAITV 449
#define NR_FACCESSAT2 439
#define NR_EPOLL_PWAIT2 441

/* From now on the kernel answers system call @number with @err, here and in children. */
static bool refuse(unsigned number, unsigned err)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
                                        .filter = filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(number, 0, 0, 0, 0, 0) == -1 && errno == (int)err;
}

/* ---- io_uring ------------------------------------------------------------------------------- */

/* A host whose system call of that number is answered with that error; "-" behind them:
 * SHMIX_LOOP=uring. */
static int role_without_uring(const char *arg)
{
    static pmix_server_module_t module;
    unsigned number = 0, err = 0;
    char forced = '\0';

    CHECK(sscanf(arg, "%u:%u%c", &number, &err, &forced) >= 2, "%s", arg);
    if (!refuse(number, err)) {
        return FAULT_SKIP;
    }
    if (forced != '\0') {
        setenv("SHMIX_LOOP", "uring", 1);
        CHECK_STATUS(PMIx_server_init(&module, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
        return 0;
    }
    unsetenv("SHMIX_LOOP");
    fault_server_start();
    fault_job_whole("filtered.job", 4, 10);
    fault_server_stop();
    return 0;
}

static int case_uring(void)
{
    static const struct {
        unsigned number, err;
    } rows[] = {
        { NR_IO_URING_SETUP, EPERM },    { NR_IO_URING_SETUP, ENOSYS },
        { NR_IO_URING_SETUP, EACCES },   { NR_IO_URING_SETUP, ENOMEM },
        { NR_IO_URING_ENTER, EPERM },    { NR_IO_URING_ENTER, ENOSYS },
        { NR_IO_URING_REGISTER, EPERM }, { NR_IO_URING_REGISTER, ENOSYS },
    };
    char arg[32];

    fault_log_begin();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("SHMIX_LOG", "debug", 1);
        snprintf(arg, sizeof(arg), "%u:%u", rows[i].number, rows[i].err);
        const pid_t pid = fault_start(NULL, 0, "without_uring", arg);
        const int status = fault_wait(pid);

        if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
            return fault_skip("no seccomp filter can be installed here");
        }
        CHECK(status == 0, "system call %u answered with %s: %#x", rows[i].number,
              strerror((int)rows[i].err), (unsigned)status);
        CHECK(fault_log_lines(pid, "using epoll") == 1, "it does not use epoll");

        setenv("SHMIX_LOG", "warn", 1);
        snprintf(arg, sizeof(arg), "%u:%u-", rows[i].number, rows[i].err);
        const pid_t forced = fault_start(NULL, 0, "without_uring", arg);

        fault_wait_ok(forced, "a host that insists on io_uring");
        CHECK(fault_log_lines(forced, NULL) == 1 &&
                  fault_log_lines(forced, "unset SHMIX_LOOP") == 1,
              "not one line that says what to do");
    }
    return 0;
}

/* Kernels before 5.12 charge rings to RLIMIT_MEMLOCK. */
static int role_without_memlock(const char *arg)
{
    const struct rlimit none = { 0, 0 };

    CHECK(setrlimit(RLIMIT_MEMLOCK, &none) == 0, "%s", strerror(errno));
    fault_server_start();
    fault_job_whole("unlocked.job", 4, 10);
    fault_server_stop();
    return 0;
}

static int case_memlock(void)
{
    fault_log_begin();
    const int status = fault_wait(fault_start(NULL, 0, "without_memlock", ""));

    if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
        return FAULT_SKIP; /* io_uring was forced and refused: said there */
    }
    CHECK(status == 0, "%#x", (unsigned)status);
    return 0;
}

/* ---- the loop's wait, later ------------------------------------------------------------------- */

#define WAIT_CALLS 4u

/* From now on the kernel refuses what a loop waits by, in all threads of this process. */
static bool waits_refuse(void)
{
    static const unsigned calls[WAIT_CALLS] = {
        NR_IO_URING_ENTER,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#else
        SYS_epoll_pwait,
#endif
        SYS_epoll_pwait,
        NR_EPOLL_PWAIT2,
    };
    struct sock_filter filter[WAIT_CALLS + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    const struct sock_fprog program = { .len = WAIT_CALLS + 3, .filter = filter };

    for (uint8_t i = 0; i < WAIT_CALLS; i++) {
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i],
                                                     (uint8_t)(WAIT_CALLS - i), 0);
    }
    filter[WAIT_CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[WAIT_CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
                                                          SECCOMP_RET_ERRNO | EPERM);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* Waits for rank 2, which never comes. */
static int role_loses_server(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[self.rank], 1);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
    return 0;
}

/* The host hears of each rank, whose calls have ended; it registers and finalizes as ever. */
static int role_host_refused(const char *arg)
{
    pid_t pids[2];

    fault_server_start();
    fault_job_start("later.job", 3);
    for (int rank = 0; rank < 2; rank++) {
        pids[rank] = fault_start("later.job", rank, "loses_server", "");
        WAIT_FOR(atomic_load(&fault_shared->state[rank]) == 1, "a rank");
    }
    if (!waits_refuse()) {
        kill(pids[0], SIGKILL);
        kill(pids[1], SIGKILL);
        return FAULT_SKIP;
    }
    fault_job_start("after.job", 1); /* which wakes the loop */
    fault_wait_ok(pids[0], "rank 0");
    fault_wait_ok(pids[1], "rank 1");
    WAIT_FOR(atomic_load(&fault_shared->lost) == 2, "the host to hear of both");
    fault_job_end("later.job");
    fault_job_end("after.job");
    fault_server_stop();
    return 0;
}

static int case_later(void)
{
    fault_log_begin();
    const pid_t pid = fault_start(NULL, 0, "host_refused", "");
    const int status = fault_wait(pid);

    if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
        return fault_skip("no filter can be installed here, or io_uring is refused");
    }
    CHECK(status == 0, "%#x", (unsigned)status);
    CHECK(fault_log_lines(pid, "the loop cannot wait any longer") == 1, "not one line");
    CHECK(fault_log_lines(pid, "(seccomp) has to allow it") == 1, "no advice");
    return 0;
}

/* ---- futex_waitv ---------------------------------------------------------------------------- */

static int role_without_waitv(const char *arg)
{
    unsigned err = ENOSYS;

    if (strcmp(arg, "late") == 0) {
        /* It was there when the library first asked. */
        CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    } else if (strcmp(arg, "eperm") == 0) {
        err = EPERM;
    }
    if (strcmp(arg, "none") != 0 && strcmp(arg, "with_late") != 0 && !refuse(NR_FUTEX_WAITV, err)) {
        return FAULT_SKIP;
    }
    if (strcmp(arg, "late") != 0) {
        CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    /* The server was told otherwise at the HELLO and rings the wrong door: a sleeper looks again
     * after a second. */
    fault_rank_whole(strcmp(arg, "late") == 0 || strcmp(arg, "with_late") == 0 ? 1 : 30);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* One job whose ranks take these arguments in turn. */
static bool waitv_job(const char *nspace, const char *first, const char *second)
{
    pid_t pids[4];
    bool skipped = false;

    fault_job_start(nspace, 4);
    for (int rank = 0; rank < 4; rank++) {
        pids[rank] = fault_start(nspace, rank, "without_waitv", rank % 2 == 0 ? first : second);
    }
    for (int rank = 0; rank < 4; rank++) {
        const int status = fault_wait(pids[rank]);

        skipped |= WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP;
        CHECK(status == 0 || skipped, "%s rank %d: %#x", nspace, rank, (unsigned)status);
    }
    fault_job_end(nspace);
    return !skipped;
}

static int case_waitv(void)
{
    fault_log_begin();
    fault_server_start();
    fault_good_start(); /* with futex_waitv, where the kernel has it */
    if (!waitv_job("enosys.job", "enosys", "enosys")) {
        fault_good_stop();
        return fault_skip("no seccomp filter can be installed here");
    }
    (void)waitv_job("eperm.job", "eperm", "eperm");
    (void)waitv_job("mixed.job", "enosys", "none");
    (void)waitv_job("late.job", "late", "late");
    (void)waitv_job("late-mixed.job", "late", "with_late");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

/* ---- calls that nothing can replace ----------------------------------------------------------- */

/* The launcher, whose system call of that number is answered with that error. */
static int role_launcher_without(const char *arg)
{
    const char *const command = getenv("SHMIX_COMMAND");
    unsigned number = 0, err = 0;

    CHECK(sscanf(arg, "%u:%u", &number, &err) == 2, "%s", arg);
    if (!refuse(number, err)) {
        return FAULT_SKIP;
    }
    execl(command, command, "run", "true", NULL);
    return FAULT_SKIP;
}

static const struct needed {
    long number;
    const char *line;
    bool by_launcher; /* otherwise by the library */
    bool replaced;    /* ENOSYS: something else is used */
    int code;         /* that the launcher ends with; 0: 1 */
} needed[] = {
    { SYS_sched_getaffinity, "sched_getaffinity: ", false, false, 0 },
    { SYS_accept4, "accept4: ", false, false, 0 },
    { SYS_eventfd2, "eventfd2: ", true, false, 0 },
    { SYS_getrandom, "getrandom: ", false, false, 0 },
    { SYS_memfd_create, "memfd_create for shmix:board:", false, false, 0 },
    { SYS_fallocate, "no memory for a segment of shmix-", false, true, 0 },
    { SYS_madvise, "madvise: ", false, false, 0 },
    { SYS_clone3, "the server's thread (clone3): ", false, true, 0 },
    { SYS_clone, "the janitor (socketpair, clone): ", true, false, 0 },
    { SYS_socketpair, "the janitor (socketpair, clone): ", true, false, 0 },
    { SYS_signalfd4, "signalfd4: ", true, false, 0 },
    { SYS_prlimit64, "prlimit64: ", true, false, 0 },
    { SYS_waitid, "waitid: ", true, false, 0 },
    { SYS_wait4, "wait4: ", true, false, 0 },
    { SYS_pipe2, "no pipes (pipe2): ", true, false, 0 },
    { SYS_epoll_create1, "no loop (epoll), ", true, false, 0 },
    { SYS_mkdirat, "cannot make a directory for this job in ", true, false, 0 },
    { SYS_bind, "cannot make a socket in ", false, false, 0 },
    { SYS_listen, "cannot listen in ", false, false, 0 },
    { NR_FACCESSAT2, "is not executable: ", true, true, 126 },
};

/* Return: false where no filter can be installed. */
static bool needed_refuse(const struct needed *call, unsigned err)
{
    const bool starts = call->replaced && err == ENOSYS;
    const int want = starts ? 0 : call->code != 0 ? call->code : 1;
    char arg[32];

    CHECK(ftruncate(STDERR_FILENO, 0) == 0, "%s", strerror(errno)); /* lines of calls before */
    snprintf(arg, sizeof(arg), "%ld:%u", call->number, err);
    const pid_t pid = fault_start(NULL, 0, "launcher_without", arg);
    const int status = fault_wait(pid);

    if (WIFEXITED(status) && WEXITSTATUS(status) == FAULT_SKIP) {
        return false;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == want, "%s%s: %#x", call->line,
          strerror((int)err), (unsigned)status);
    const pid_t by = call->by_launcher ? FAULT_LAUNCHER : pid;

    CHECK(fault_log_lines(by, call->line) == !starts, "%sno line", call->line);
    CHECK(fault_log_lines(by, "(seccomp) has to allow it") == !starts, "%sno advice", call->line);
    return true;
}

/* The sanitizer starts its search for leaks by clone, waits for it, and reads a limit first. */
static bool sanitizer_needs(long number)
{
    return SANITIZED && (number == SYS_clone || number == SYS_wait4 || number == SYS_prlimit64);
}

static int case_needed(void)
{
    fault_log_begin();
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (sanitizer_needs(needed[i].number)) {
            continue;
        }
        if (!needed_refuse(&needed[i], EPERM)) {
            return fault_skip("no seccomp filter can be installed here");
        }
        (void)needed_refuse(&needed[i], ENOSYS);
    }
    return 0;
}

static const struct fault_case cases[] = {
    { "uring", case_uring }, { "memlock", case_memlock }, { "later", case_later },
    { "waitv", case_waitv }, { "needed", case_needed },
};

static const struct fault_role roles[] = {
    { "without_uring", role_without_uring }, { "without_memlock", role_without_memlock },
    { "loses_server", role_loses_server },   { "host_refused", role_host_refused },
    { "without_waitv", role_without_waitv }, { "launcher_without", role_launcher_without },
};

FAULT_MAIN(cases, roles)
