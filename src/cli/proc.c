/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.c - a container or a chroot may have an empty /proc: then nothing is there, and it is not
 * for want of jobs. */
#include "cli/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"
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

#define ENVIRON_BYTES_MAX ((size_t)8 << 20) /* more than the kernel lets a program have */

/* What /proc says of @pid in @file.  Return: malloc'ed bytes with a zero behind them, or NULL. */
static char *proc_read(pid_t pid, const char *file, size_t max, size_t *ret_size)
{
    size_t used = 0, room = 16384;
    char path[64], *bytes = sx_cli_calloc(room, 1);
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used < max && (got = read(fd, bytes + used, room - 1 - used)) > 0) {
        used += (size_t)got;
        if (used == room - 1) {
            room *= 2;
            bytes = sx_cli_realloc(bytes, room, 1);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    bytes[used] = '\0';
    *ret_size = used;
    return bytes;
}

bool sx_proc_has_variable(pid_t pid, const char *name, const char *value, bool or_more,
                          bool *ret_known)
{
    char *const wanted = sx_cli_printf("%s=%s", name, value);
    const size_t len = strlen(wanted);
    size_t size;
    char *const words = proc_read(pid, "environ", ENVIRON_BYTES_MAX, &size);
    bool has = false;

    for (const char *at = words; at < words + size && !has; at += strlen(at) + 1) {
        has = strncmp(at, wanted, len) == 0 && (at[len] == '\0' || (or_more && at[len] == '.'));
    }
    *ret_known = size > 0;
    free(words);
    free(wanted);
    return has;
}

bool sx_proc_is_janitor(pid_t pid)
{
    size_t size;
    char *const name = proc_read(pid, "comm", 64, &size);
    const bool is = strcmp(name, SX_PROC_JANITOR "\n") == 0;

    free(name);
    return is;
}

bool sx_proc_is_exiting(pid_t pid)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    const bool exiting = sx_process_is_exiting(pidfd);

    if (pidfd >= 0) {
        close(pidfd);
    }
    return exiting;
}
