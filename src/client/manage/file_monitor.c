/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* file_monitor.c - stat(2), by a path that a chdir of the program does not change. */
#include "client/manage/file_monitor.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"
#include "client/manage/periodic.h"

struct file_monitor {
    struct sx_periodic periodic;
    struct sx_file_signs signs;
    struct sx_file_look seen;
    char id[PMIX_MAX_KEYLEN + 1];
    char path[];
};

/* ---- checks ---------------------------------------------------------------------------------- */

static bool moment_differs(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec;
}

bool sx_file_lives(const struct sx_file_signs *signs, const struct sx_file_look *before,
                   const struct sx_file_look *now)
{
    return before->device != now->device || before->inode != now->inode ||
           (signs->grows && now->size_bytes > before->size_bytes) ||
           (signs->accessed && moment_differs(&now->accessed, &before->accessed)) ||
           (signs->modified && moment_differs(&now->modified, &before->modified));
}

/* Return: 0, or errno's value. */
static int file_look(const char *path, struct sx_file_look *ret)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return errno;
    }
    *ret = (struct sx_file_look){ .device = st.st_dev,
                                  .inode = st.st_ino,
                                  .size_bytes = (uint64_t)st.st_size,
                                  .accessed = st.st_atim,
                                  .modified = st.st_mtim };
    return 0;
}

static void sign_count(unsigned sign)
{
    struct sx_link *const link = sx_primary();

    pthread_mutex_lock(&link->lane_lock);
    if (sx_link_is_live(link)) {
        sx_lane_sign(&link->lane, sign);
    }
    pthread_mutex_unlock(&link->lane_lock);
}

static void monitor_run(struct sx_periodic *periodic)
{
    struct file_monitor *const monitor = SX_CONTAINER(periodic, struct file_monitor, periodic);
    struct sx_file_look now;

    if (file_look(monitor->path, &now) == 0) {
        if (sx_file_lives(&monitor->signs, &monitor->seen, &now)) {
            sign_count(periodic->place);
        }
        monitor->seen = now;
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

static void monitor_free(struct sx_periodic *periodic)
{
    struct file_monitor *const monitor = SX_CONTAINER(periodic, struct file_monitor, periodic);

    free(monitor);
}

static bool is_said(const pmix_info_t *info)
{
    return info != NULL && (info->value.type != PMIX_BOOL || info->value.data.flag);
}

/* Return: the monitor with its path and no sign yet; NULL when memory is out. */
static struct file_monitor *monitor_new(const char *path)
{
    const bool is_relative = path[0] != '/' && path[0] != '\0';
    char *const here = is_relative ? getcwd(NULL, 0) : NULL; /* without it the file is not found */
    const size_t size = strlen(path) + 2 + (here != NULL ? strlen(here) : 0);
    struct file_monitor *const monitor = calloc(1, sizeof(*monitor) + size);

    if (monitor != NULL) {
        snprintf(monitor->path, size, "%s%s%s", here != NULL ? here : "", here != NULL ? "/" : "",
                 path);
    }
    free(here);
    return monitor;
}

static pmix_status_t monitor_begin(struct file_monitor *monitor, uint32_t *ret_place,
                                   uint64_t *ret_number)
{
    const int err = file_look(monitor->path, &monitor->seen);

    if (err != 0) {
        return SX_RAISE(err == ENOENT || err == ENOTDIR ? PMIX_ERR_NOT_FOUND
                                                        : sx_status_from_errno(err),
                        "the file \"%s\" cannot be monitored: %s", monitor->path, strerror(err));
    }
    return sx_periodic_prepare(&monitor->periodic, ret_place, ret_number);
}
static_assert(SX_PERIODICS_MAX <= SX_LANE_SIGNS, "a place has its sign");

pmix_status_t sx_file_monitor_prepare(const struct sx_monitor_options *options, uint32_t *ret_place,
                                      uint64_t *ret_number)
{
    const struct sx_file_signs signs = { .grows = options->file_grows,
                                         .accessed = is_said(options->file_accessed),
                                         .modified = is_said(options->file_modified) };

    if (!signs.grows && !signs.accessed && !signs.modified) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "what is life in the file \"%s\"?  Say \"%s\", \"%s\" or \"%s\"",
                        options->file, PMIX_MONITOR_FILE_SIZE, PMIX_MONITOR_FILE_ACCESS,
                        PMIX_MONITOR_FILE_MODIFY);
    }
    struct file_monitor *const monitor = monitor_new(options->file);

    if (monitor == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    monitor->signs = signs;
    monitor->periodic = (struct sx_periodic){ .period_ns = options->period_s.number * SX_NS_PER_SEC,
                                              .id = monitor->id,
                                              .run = monitor_run,
                                              .free = monitor_free };
    snprintf(monitor->id, sizeof(monitor->id), "%s", options->id != NULL ? options->id : "");
    const pmix_status_t rc = monitor_begin(monitor, ret_place, ret_number);

    if (rc != PMIX_SUCCESS) {
        free(monitor);
    }
    return rc;
}
