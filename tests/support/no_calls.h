/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* no_calls.h - run work where the kernel kills whoever makes a system call. */
#ifndef SX_TESTS_NO_CALLS_H
#define SX_TESTS_NO_CALLS_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_CALLS_SKIPPED 77

/* From now on every system call but the one that ends the process kills it. */
static inline bool no_calls_from_here(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Run @work in a forked child, which shares what is mapped and may make no call.  Return: what @work
 * returns, -1 when it was killed.  Ends the test as skipped where seccomp is refused. */
static inline int no_calls_run(int (*work)(void *arg), void *arg)
{
    int status;

    fflush(NULL);
    const pid_t child = fork();

    if (child == 0) {
        const int code = no_calls_from_here() ? work(arg) : NO_CALLS_SKIPPED;

        (void)syscall(SYS_exit_group, code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return -1;
    }
    if (WEXITSTATUS(status) == NO_CALLS_SKIPPED) {
        printf("skipped: seccomp is refused here\n");
        exit(NO_CALLS_SKIPPED);
    }
    return WEXITSTATUS(status);
}

#endif
