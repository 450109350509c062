/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* core.h - where the kernel has left the memory image of a process that it has killed (core(5)). */
#ifndef SX_LAUNCH_JOB_CORE_H
#define SX_LAUNCH_JOB_CORE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct sx_run_core {
    const char *pattern; /* /proc/sys/kernel/core_pattern */
    bool adds_pid;       /* core_uses_pid */
    const char *dir;     /* in which the process was started; it may have left it */
    pid_t pid;
    int signal;
    time_t since; /* an older file is another one's */
};

/* Return: the file, if it is there; else who has been given it; malloc'ed, NULL: not known. */
char *sx_run_core_find(const struct sx_run_core *core);

/* The same by what this system says. */
char *sx_run_core_of(pid_t pid, int signal, const char *dir, time_t since);

#endif
