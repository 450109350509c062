/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* core.h - the file that holds the memory image of a process that the kernel has killed
 * (core(5)). */
#ifndef SX_LAUNCH_JOB_CORE_H
#define SX_LAUNCH_JOB_CORE_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct sx_run_core {
    const char *pattern; /* /proc/sys/kernel/core_pattern */
    bool adds_pid;       /* core_uses_pid */
    const char *dir;     /* where the process was started; it may have left this directory */
    pid_t pid;
    int signal;
    time_t since; /* a file that is older belongs to another process */
};

/* Return: the file, if it exists; else the command that shows the image, or the program that
 * received it.  The text is malloc'ed.  NULL: not known. */
char *sx_run_core_find(const struct sx_run_core *core);

/* The same, with the pattern that this system has. */
char *sx_run_core_of(pid_t pid, int signal, const char *dir, time_t since);

#endif
