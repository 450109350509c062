/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exiting.c - every thread's word in /proc: its state, and the flag that do_exit sets first. */
#include "base/exiting.h"

#include <dirent.h>
#include <errno.h>
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

bool sx_process_is_exiting(pid_t pid)
{
    char path[300];
    bool exiting = true;
    struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);

    if (threads == NULL) {
        return errno == ENOENT && access("/proc/self/task", X_OK) == 0; /* else: not known */
    }
    while (exiting && (entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)pid, entry->d_name);
            exiting = thread_is_exiting(path);
        }
    }
    closedir(threads);
    return exiting;
}
