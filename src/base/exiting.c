/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exiting.c - every thread's word in /proc: its state, and the flag that do_exit sets first.
 *
 * The pidfd is the authority: it says that a process has gone, and under which number /proc shows
 * it.  A pid of ours may be somebody else's there, or nobody's: a container may have a pid
 * namespace of its own and the /proc of its parent. */
#include "base/exiting.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SX_THREAD_EXITING 0x4u /* PF_EXITING in field 9 of /proc/PID/stat */

/* Return: whether the kernel says that this thread is on its way out. */
static bool thread_is_exiting(const char *stat_path)
{
    FILE *file = fopen(stat_path, "re");
    char line[512];
    char state = 0;
    unsigned flags = 0;
    bool exiting = true;

    if (file == NULL) { /* gone already; or we are short of descriptors, which says nothing of it */
        return errno == ENOENT || errno == ESRCH;
    }
    if (fgets(line, sizeof(line), file) != NULL) {
        const char *after = strrchr(line, ')'); /* the name before it may hold anything */

        exiting = after == NULL ||
                  sscanf(after + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
                  state == 'Z' || state == 'X' || (flags & SX_THREAD_EXITING) != 0;
    }
    fclose(file);
    return exiting;
}

/* Return: the number of the process in this /proc; 0 when it is not there. */
static int number_in_proc(int pidfd)
{
    char path[64], line[256];
    int number = 0;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
    FILE *const file = fopen(path, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "Pid: %d", &number) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return number > 0 ? number : 0;
}

/* Whether the threads that /proc shows are all exiting; should another process have taken the
 * number meanwhile, ours has gone. */
static bool threads_are_exiting(int number)
{
    char path[300];
    bool exiting = true;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", number);
    DIR *const threads = opendir(path);

    if (threads == NULL) {
        return false;
    }
    while (exiting && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", number, entry->d_name);
            exiting = thread_is_exiting(path);
        }
    }
    closedir(threads);
    return exiting;
}

bool sx_process_is_exiting(int pidfd)
{
    struct pollfd gone = { .fd = pidfd, .events = POLLIN };

    if (pidfd < 0) {
        return false;
    }
    if (poll(&gone, 1, 0) > 0) {
        return true;
    }
    const int number = number_in_proc(pidfd);

    return number != 0 && threads_are_exiting(number);
}
