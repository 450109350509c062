/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_test.c - a process that lives is not exiting; one that is dead and not reaped is; each is
 * known by its start; under a number that /proc does not know, all of it is still true.  The name
 * of the node is whole. */
#include "base/system/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

Test(process, this_process_is_not)
{
    const int pidfd = open_pidfd(getpid());

    cr_assert_geq(pidfd, 0, "%s", strerror(errno));
    cr_expect_not(sx_process_is_exiting(pidfd));
    close(pidfd);
    cr_expect_not(sx_process_is_exiting(-1), "not known");
}

Test(process, a_stopped_process_is_not_and_a_dead_one_is)
{
    const pid_t pid = fork();
    siginfo_t info;

    if (pid == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    cr_assert_gt(pid, 0);
    const int pidfd = open_pidfd(pid);

    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
    cr_expect_not(sx_process_is_exiting(pidfd));
    kill(pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_expect(sx_process_is_exiting(pidfd), "dead and not reaped");
    cr_expect(sx_process_has_ended(pid), "dead and not reaped");
    waitpid(pid, NULL, 0);
    cr_expect(sx_process_is_exiting(pidfd), "gone");
    cr_expect(sx_process_has_ended(pid), "gone");
    cr_expect_not(sx_process_has_ended(getpid()));
    close(pidfd);
}

/* Return: 0 when this process is known by its start, and by no other. */
static int judge_own_start(void)
{
    const uint64_t ticks = sx_process_start_ticks();

    return !sx_process_has_started_at(getpid(), ticks) ||
           sx_process_has_started_at(getpid(), ticks + 1);
}

Test(process, is_known_by_its_start)
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_gt(sx_process_start_ticks(), 0);
    cr_expect_eq(judge_own_start(), 0);
    cr_expect_not(sx_process_has_started_at(pid, sx_process_start_ticks()), "it has gone");
}

/* ---- a pid namespace that sees its parent's /proc -------------------------------------------- */

#define CANNOT 77

/* A number that is nobody's in the /proc that we see. */
static pid_t unknown_number(void)
{
    char path[32];
    pid_t pid = 32000;

    do {
        snprintf(path, sizeof(path), "/proc/%d", (int)--pid);
    } while (pid > 1 && access(path, F_OK) == 0);
    return pid;
}

/* ---- a thread that a tracer keeps at its exit ------------------------------------------------- */

static int told[2], released[2];

static void *stand(void *arg)
{
    const pid_t tid = (pid_t)syscall(SYS_gettid);

    if (write(told[1], &tid, sizeof(tid)) == sizeof(tid)) {
        pause();
    }
    return arg;
}

/* A child with one more thread.  It ends with 0 when it is released. */
static pid_t threaded_start(pid_t *ret_thread)
{
    pthread_t thread;
    char byte;

    cr_assert(pipe(told) == 0 && pipe(released) == 0);
    const pid_t pid = fork();

    if (pid == 0) {
        if (pthread_create(&thread, NULL, stand, NULL) == 0 && read(released[0], &byte, 1) == 1) {
            _exit(0);
        }
        _exit(1);
    }
    cr_assert_eq(read(told[0], ret_thread, sizeof(*ret_thread)), sizeof(*ret_thread));
    return pid;
}

static void held_end(bool is_killed, enum sx_process_end wanted)
{
    pid_t thread;
    int status;
    const pid_t pid = threaded_start(&thread);
    const int pidfd = open_pidfd(pid);

    cr_expect_eq(sx_process_end(pidfd), SX_PROCESS_LIVES);
    if (ptrace(PTRACE_SEIZE, thread, NULL, PTRACE_O_TRACEEXIT) != 0) {
        kill(pid, SIGKILL);
        cr_skip_test("ptrace is refused here");
    }
    if (is_killed) {
        kill(pid, SIGKILL);
    } else {
        cr_assert_eq(write(released[1], "", 1), 1);
    }
    cr_assert_eq(waitpid(thread, &status, __WALL), thread);
    while (sx_process_end(pidfd) == SX_PROCESS_LIVES) { /* the main thread is on its way */
        sched_yield();
    }
    cr_expect_eq(sx_process_end(pidfd), wanted);
    cr_expect_eq(sx_process_is_exiting(pidfd), wanted == SX_PROCESS_EXITS);
    cr_assert_eq(ptrace(PTRACE_DETACH, thread, NULL, NULL), 0);
    waitpid(pid, NULL, 0);
    cr_expect_eq(sx_process_end(pidfd), SX_PROCESS_EXITS);
    close(pidfd);
}

Test(process, a_killed_one_exits_whatever_its_threads_do)
{
    held_end(true, SX_PROCESS_EXITS);
}

Test(process, the_end_of_a_main_thread_is_not_one_of_the_others)
{
    held_end(false, SX_PROCESS_MAIN_EXITS);
}

/* Fork a process that has the number @pid here.  Return: as fork. */
static pid_t fork_as(pid_t pid)
{
    struct clone_args args = { .exit_signal = SIGCHLD,
                               .set_tid = (uint64_t)(uintptr_t)&pid,
                               .set_tid_size = 1 };

    return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Process 1 of the namespace.  Return: its exit code. */
static int ask_inside(void)
{
    if (judge_own_start() != 0) {
        return 4;
    }
    const pid_t pid = fork_as(unknown_number());

    if (pid == 0) {
        pause();
        _exit(0);
    }
    if (pid < 0) {
        return CANNOT;
    }
    const int pidfd = open_pidfd(pid);
    struct pollfd gone = { .fd = pidfd, .events = POLLIN };

    if (pidfd < 0 || sx_process_is_exiting(pidfd)) {
        return 1;
    }
    kill(pid, SIGKILL);
    return poll(&gone, 1, -1) == 1 && sx_process_is_exiting(pidfd) ? 0 : 2;
}

Test(process, one_that_proc_shows_under_another_number_is_known)
{
    const int flags = CLONE_NEWPID | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
    int status = 0;
    const pid_t outer = fork();

    if (outer == 0) {
        if (unshare(flags) != 0) {
            _exit(CANNOT);
        }
        const pid_t first = fork();

        if (first == 0) {
            _exit(ask_inside());
        }
        _exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
    }
    cr_assert_eq(waitpid(outer, &status, 0), outer);
    cr_assert(WIFEXITED(status), "%#x", (unsigned)status);
    if (WEXITSTATUS(status) == CANNOT) {
        cr_skip_test("no right to make a pid namespace, or no clone3 with a number");
    }
    cr_expect_neq(WEXITSTATUS(status), 1, "the live process is taken for gone");
    cr_expect_neq(WEXITSTATUS(status), 4, "its start is taken for another's");
    cr_expect_eq(WEXITSTATUS(status), 0);
}

/* Return: 0, or a number that says what is wrong. */
static int name_of_length(size_t len)
{
    char name[HOST_NAME_MAX + 1], got[HOST_NAME_MAX + 1];

    memset(name, 'n', len);
    name[len] = '\0';
    if (sethostname(name, len) != 0) {
        return CANNOT;
    }
    sx_process_nodename(got);
    return strcmp(got, len == 0 ? "localhost" : name) == 0 ? 0 : 1;
}

Test(process, the_name_of_the_node_is_whole)
{
    static const size_t lengths[] = { 0, 1, HOST_NAME_MAX - 1, HOST_NAME_MAX };
    const int flags = CLONE_NEWUTS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        int status = 0;
        const pid_t pid = fork();

        if (pid == 0) {
            _exit(unshare(flags) != 0 ? CANNOT : name_of_length(lengths[i]));
        }
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
            cr_skip_test("no right to make a namespace for names");
        }
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%zu characters", lengths[i]);
    }
}
