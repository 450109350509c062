/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exiting_test.c - a process that lives is not exiting; one that is dead and not reaped is. */
#include "base/exiting.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

Test(exiting, this_process_is_not)
{
    cr_expect_not(sx_process_is_exiting(getpid()));
}

Test(exiting, a_stopped_process_is_not_and_a_dead_one_is)
{
    const pid_t pid = fork();
    siginfo_t info;

    if (pid == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    cr_assert_gt(pid, 0);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
    cr_expect_not(sx_process_is_exiting(pid));
    kill(pid, SIGKILL);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_expect(sx_process_is_exiting(pid));
    waitpid(pid, NULL, 0);
}
