/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.c - a container or a chroot may have an empty /proc: then nothing is there, and it is not
 * for want of jobs. */
#include "cli/proc.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
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

bool sx_proc_check(void)
{
    char *const exe = sx_proc_exe();
    const bool there = exe != NULL;

    free(exe);
    return there;
}
