/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events_find.c - look through /proc for rings that their makers hold open.
 *
 * A ring is a memfd named after its namespace; the kernel lets the caller open it who may look into
 * the process: its user, and root.  It is mapped read-only, its seals and its geometry are judged
 * by the library's own reader.  Bounded by the descriptors of those processes. */
#include "cli/events_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/proc.h"
#include "cli/say.h"

#define RING_PREFIX "/memfd:shmix:ring:"
#define BOARD_PREFIX "/memfd:shmix:board:"

struct search {
    const char *nspace; /* NULL: any */
    pid_t pid;          /* 0: any */
    struct sx_events_job *job;
    unsigned count;
    bool denied;
};

/* Call @each with a descriptor for every memfd of @pid whose name begins with @prefix. */
static void each_memfd(struct search *search, pid_t pid, const char *prefix,
                       void (*each)(struct search *search, pid_t pid, int fd))
{
    char path[64], link[320];
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);
    if (dir == NULL) {
        search->denied = search->denied || errno == EACCES || errno == EPERM;
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        char *const name = sx_cli_printf("%s/%s", path, entry->d_name);
        const ssize_t len = readlink(name, link, sizeof(link));

        if (len > (ssize_t)strlen(prefix) && memcmp(link, prefix, strlen(prefix)) == 0) {
            const int fd = open(name, O_RDONLY | O_CLOEXEC);

            search->denied = search->denied || (fd < 0 && (errno == EACCES || errno == EPERM));
            if (fd >= 0) {
                each(search, pid, fd);
                close(fd);
            }
        }
        free(name);
    }
    closedir(dir);
}

static bool is_made_by(const struct sx_segment *seg, pid_t pid)
{
    return (pid_t)sx_segment_header(seg)->creator_pid == pid;
}

static void ring_take(struct search *search, pid_t pid, int fd)
{
    struct sx_ring ring;

    if (sx_ring_attach(&ring, fd) != PMIX_SUCCESS) {
        return;
    }
    const char *const name = sx_segment_header(&ring.seg)->nspace;

    if (is_made_by(&ring.seg, pid) &&
        (search->nspace == NULL || strncmp(name, search->nspace, SX_SEGMENT_NSPACE_BYTES) == 0)) {
        search->count++;
        if (search->count == 1) {
            search->job->ring = ring;
            search->job->server_pid = pid; /* of the first one found */
            return;                        /* kept */
        }
        if (search->count == 2) {
            sx_say("there is more than one job; name one by its namespace:");
            fprintf(stderr, "  %.255s\n", sx_segment_header(&search->job->ring.seg)->nspace);
        }
        fprintf(stderr, "  %.255s\n", name);
    }
    sx_ring_deinit(&ring);
}

static void board_take(struct search *search, pid_t pid, int fd)
{
    struct sx_board board;

    if (search->job->board.header != NULL || sx_board_attach(&board, fd) != PMIX_SUCCESS) {
        return;
    }
    if (is_made_by(&board.seg, pid)) {
        search->job->board = board;
    } else {
        sx_board_deinit(&board);
    }
}

static void search_all(struct search *search)
{
    const struct dirent *entry;
    DIR *const dir = opendir("/proc");

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            each_memfd(search, (pid_t)strtol(entry->d_name, NULL, 10), RING_PREFIX, ring_take);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

bool sx_events_find(const char *wanted, struct sx_events_job *ret_job)
{
    struct search search = { .job = ret_job, .nspace = wanted };

    *ret_job = (struct sx_events_job){ .ring = SX_RING_NULL, .board = SX_BOARD_NULL };
    if (wanted != NULL && wanted[0] != '\0' && wanted[strspn(wanted, "0123456789")] == '\0') {
        search.nspace = NULL;
        search.pid = (pid_t)strtol(wanted, NULL, 10);
    } else if (wanted == NULL) {
        search.nspace = getenv("PMIX_NAMESPACE");
    }
    if (!sx_proc_check()) {
        return false;
    }
    if (search.pid != 0) {
        each_memfd(&search, search.pid, RING_PREFIX, ring_take);
    } else {
        search_all(&search);
    }
    if (search.count == 1) {
        each_memfd(&search, ret_job->server_pid, BOARD_PREFIX, board_take);
    }
    if (search.count == 1 && ret_job->board.header != NULL) {
        return true;
    }
    if (search.count <= 1) {
        sx_say("no job %s%.255s%s; 'shmix mem' lists what there is",
               wanted != NULL ? "of " : "runs", wanted != NULL ? wanted : "",
               search.denied ? " among the processes that you may look into" : "");
    }
    sx_events_job_close(ret_job);
    return false;
}

void sx_events_job_close(struct sx_events_job *job)
{
    sx_ring_deinit(&job->ring);
    sx_board_deinit(&job->board);
}
