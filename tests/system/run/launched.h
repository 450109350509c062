/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* launched.h - a command that is traced from its first instruction on, with all whom it starts. */
#ifndef SX_TEST_LAUNCHED_H
#define SX_TEST_LAUNCHED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define LAUNCHED_SKIPPED 77
#define LAUNCHED_OPTIONS                                                                    \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
     PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/* Start the command @argv, which stands in front of its execve and goes on with @request, PTRACE_CONT
 * or PTRACE_SYSCALL.  Where tracing is refused this says so, and ends the test as skipped.
 * Return: its process; -1 with errno. */
static inline pid_t launched(char **argv, int request)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(LAUNCHED_SKIPPED);
        }
        raise(SIGSTOP);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        return -1;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == LAUNCHED_SKIPPED) {
        printf("skipped: ptrace is refused here\n");
        exit(LAUNCHED_SKIPPED);
    }
    return ptrace(PTRACE_SETOPTIONS, pid, NULL, LAUNCHED_OPTIONS) == 0 &&
                   ptrace(request, pid, NULL, NULL) == 0
               ? pid
               : -1;
}

/* Return: the exit code that a shell would give to @status. */
static inline int launched_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
