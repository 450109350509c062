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
#include "base/value/value.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "shmem/published.h"
#include "shmem/segment.h"

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
    char *const library = sx_proc_library(pid);

    if (library == NULL) {
        return sx_cli_strdup("the shmix beside the server's libpmix.so.2");
    }
    const char *const at = strchr(library, '/'), *const slash = strrchr(library, '/');
    char *const beside = sx_cli_printf("%.*s/../bin/shmix", (int)(slash - at), at);
    char *const command = access(beside, X_OK) == 0 ? sx_cli_strdup(beside)
                                                    : sx_cli_printf("the shmix of '%s'", at);

    free(beside);
    free(library);
    return command;
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

bool sx_cli_outside_nothing(void *arg, pid_t pid, int fd)
{
    (void)arg;
    (void)pid;
    (void)fd;
    return true;
}

bool sx_cli_outside_say_layout(pid_t pid)
{
    (void)sx_cli_outside_each(pid, "board:", sx_cli_outside_nothing, NULL);
    return sx_cli_outside_say(pid);
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* A store counts only for the process that has made it: another process can give a memfd
 * the name that servers use.  Bounded by the descriptors of the processes that the kernel lets the
 * caller read. */

struct each {
    void (*fn)(void *arg, pid_t server, const char *nspace, const struct sx_store *store);
    void *arg;
};

static bool is_newest_of(pid_t pid, const struct sx_store *store)
{
    return sx_store_successor(store) == 0 && sx_proc_has_made(pid, &store->seg);
}

/* The node's store has no name, and published data belong to no namespace. */
static bool has_nspace(const struct sx_store *store)
{
    const char *const name = sx_segment_header(&store->seg)->nspace;

    return name[0] != '\0' && strcmp(name, SX_PUBLISHED_NSPACE) != 0;
}

bool sx_cli_store_is_of_node(pid_t pid, const struct sx_store *store)
{
    return sx_segment_header(&store->seg)->nspace[0] == '\0' && is_newest_of(pid, store);
}

bool sx_cli_store_is_of_job(const struct sx_store *store)
{
    pmix_value_t value;

    /* If the host has not given this key of a job, the server has derived it. */
    if (sx_store_get(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_SIZE, &value) != PMIX_SUCCESS) {
        return false;
    }
    sx_value_destruct(&value);
    return true;
}

static bool store_take(void *arg, pid_t pid, int fd)
{
    const struct each *const each = arg;
    struct sx_store store;

    if (sx_store_attach(&store, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (has_nspace(&store) && is_newest_of(pid, &store)) {
        each->fn(each->arg, pid, sx_segment_header(&store.seg)->nspace, &store);
    }
    sx_store_detach(&store);
    return true;
}

bool sx_cli_stores_each(pid_t pid,
                        void (*each)(void *arg, pid_t server, const char *nspace,
                                     const struct sx_store *store),
                        void *arg)
{
    struct each wanted = { .fn = each, .arg = arg };

    return sx_cli_outside_each(pid, "store:", store_take, &wanted);
}
