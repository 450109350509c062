/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* traced.h - run a rank's work in a process that this one traces, and look at its system calls.
 *
 * The work says by traced_mark where the looking begins, and by a second one where it ends. */
#ifndef SX_TESTS_TRACED_H
#define SX_TESTS_TRACED_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/job.h"

/* Looks at one call of @pid, before it is made. */
typedef void (*traced_fn)(void *arg, pid_t pid, const struct __ptrace_syscall_info *info);

static inline void traced_mark(void)
{
    (void)syscall(SYS_getpgrp);
}

/* Return: a child that stops before it does @work. */
static inline pid_t traced_start(int (*work)(int rank), int rank)
{
    int status;

    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(JOB_SECONDS);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(JOB_SKIPPED);
        }
        raise(SIGSTOP);
        _exit(work(rank));
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == JOB_SKIPPED) {
        printf("skipped: ptrace is refused here\n");
        exit(JOB_SKIPPED);
    }
    CHECK(WIFSTOPPED(status));
    CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
    return child;
}

/* Do @work, which must end well; @look sees each call between its marks. */
static inline void traced_run(int (*work)(int rank), int rank, traced_fn look, void *arg)
{
    const pid_t child = traced_start(work, rank);
    struct __ptrace_syscall_info info;
    int status, signal_number = 0;
    bool looking = false;

    for (;;) {
        CHECK(ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal_number) == 0);
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSTOPPED(status)) {
            break;
        }
        signal_number = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        if (signal_number != 0 ||
            ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info) <= 0 ||
            info.op != PTRACE_SYSCALL_INFO_ENTRY) {
            continue;
        }
        if (info.entry.nr == SYS_getpgrp) {
            looking = !looking;
        } else if (looking) {
            look(arg, child, &info);
        }
    }
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

#endif
