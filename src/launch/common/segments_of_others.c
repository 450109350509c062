/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segments_of_others.c - one list of the segments that were left out, for the whole command. */
#include "launch/common/segments_of_others.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "launch/common/say.h"
#include "shmem/segment.h"
#include "shmem/segment_scan.h"

static struct sx_outside_left left;
static bool damaged; /* a segment contradicts itself */
static bool scans;

static bool may_write(enum sx_log_level level)
{
    const bool written = !scans || sx_log_wants(SX_LOG_DEBUG);

    damaged = damaged || (scans && level == SX_LOG_ERROR);
    return written;
}

void sx_cli_outside_quiet(void)
{
    sx_log_set_judge(may_write);
}

bool sx_cli_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                         void *arg)
{
    const bool before = scans; /* searches may nest */

    scans = true;
    const bool all = sx_outside_each(pid, kind, each, arg, &left);

    scans = before;
    return all;
}

/* ---- the command that fits ------------------------------------------------------------------- */

/* The library that process @pid has mapped.  Return: false when there is none. */
static bool library_find(pid_t pid, char ret[PATH_MAX])
{
    char path[32], line[PATH_MAX + 128];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const file = fopen(path, "re");

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
        const char *const at = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        found = at != NULL && strstr(at, "/libpmix.so") != NULL;
        if (found) {
            snprintf(ret, PATH_MAX, "%s", at);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* The command of the same version as the server @pid: the server's own file, or the command beside
 * its library.  Return: malloc'ed. */
static char *command_of(pid_t pid)
{
    char link[32], path[PATH_MAX] = "";

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    const bool known = readlink(link, path, sizeof(path) - 1) > 0;
    const char *const name = known ? strrchr(path, '/') : NULL;

    if (name != NULL && strcmp(name, "/shmix") == 0) {
        return sx_cli_strdup(path);
    }
    if (name != NULL && strcmp(name, "/shmix (deleted)") == 0) {
        return sx_cli_strdup(link);
    }
    if (library_find(pid, path)) {
        char *const slash = strrchr(path, '/');
        char *const beside = sx_cli_printf("%.*s/../bin/shmix", (int)(slash - path), path);

        if (access(beside, X_OK) == 0) {
            return beside;
        }
        free(beside);
        return sx_cli_printf("the shmix of '%s'", path);
    }
    return sx_cli_strdup("the shmix beside the server's libpmix.so.2");
}

/* ---- saying ---------------------------------------------------------------------------------- */

static void left_remove(unsigned i)
{
    left.at[i] = left.at[--left.count];
}

static void layout_say(pid_t pid, uint32_t layout)
{
    char *const command = command_of(pid);

    sx_say("the server %d has layout %u of the shared memory, and this command (shmix %s) reads "
           "layout %u: it is of another version; use %s",
           (int)pid, layout, SHMIX_VERSION, sx_segment_layout(SX_SEGMENT_MAGIC), command);
    free(command);
}

static void foreign_say(unsigned count, pid_t first)
{
    if (count == 1) {
        sx_say("process %d has memory that is named as shmix's and is not: left out", (int)first);
    } else if (count > 1) {
        sx_say("%u processes (%d is one) have memory that is named as shmix's and is not: left out",
               count, (int)first);
    }
}

bool sx_cli_outside_say(pid_t pid)
{
    unsigned foreign = 0;
    bool other = false;
    pid_t first = 0;

    for (unsigned i = left.count; i-- > 0;) {
        if (pid != 0 && left.at[i].pid != pid) {
            continue;
        }
        if (left.at[i].layout != 0) {
            layout_say(left.at[i].pid, left.at[i].layout);
            other = true;
        } else {
            foreign++;
            first = left.at[i].pid;
        }
        left_remove(i);
    }
    foreign_say(foreign, first);
    if (pid == 0 && damaged) {
        sx_say("damaged segments are left out; 'shmix mem' lists all");
        damaged = false;
    }
    return other;
}

static bool nothing_take(void *arg, pid_t pid, int fd)
{
    (void)arg;
    (void)pid;
    (void)fd;
    return true;
}

bool sx_cli_outside_say_layout(pid_t pid)
{
    (void)sx_cli_outside_each(pid, "board:", nothing_take, NULL);
    return sx_cli_outside_say(pid);
}
