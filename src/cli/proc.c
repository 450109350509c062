/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.c - a container or a chroot may have an empty /proc: then nothing is there, and it is not
 * for want of jobs. */
#include "cli/proc.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

char *sx_proc_exe(void)
{
    char exe[PATH_MAX] = "";

    if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0) {
        sx_say("cannot read /proc/self/exe (%s): is /proc mounted?", strerror(errno));
        return NULL;
    }
    return sx_cli_strdup(exe);
}

char sx_proc_state(pid_t pid)
{
    char path[32], line[512];
    char state = '\0';

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return '\0';
    }
    if (fgets(line, sizeof(line), file) != NULL) {
        const char *const after = strrchr(line, ')'); /* the name before it may hold anything */

        state = after != NULL && after[1] == ' ' ? after[2] : '\0';
    }
    fclose(file);
    return state;
}

bool sx_proc_has_ended(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

const char *sx_proc_state_name(pid_t pid)
{
    const char state = pid > 0 ? sx_proc_state(pid) : '\0';

    switch (state) {
    case 'T':
        return "stopped";
    case 't':
        return "held by a debugger";
    case 'Z':
    case 'X':
        return "ended";
    default:
        return pid > 0 && state == '\0' && sx_proc_has_ended(pid) ? "ended" : NULL;
    }
}

bool sx_proc_has_made(pid_t pid, const struct sx_segment *seg)
{
    return (pid_t)sx_segment_header(seg)->creator_pid == pid;
}

bool sx_proc_check(void)
{
    char *const exe = sx_proc_exe();
    const bool there = exe != NULL;

    free(exe);
    return there;
}
