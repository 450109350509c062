/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* file_monitor.h - look at a file once a period, and count the signs of life in the lane.
 *
 * The server misses them when they stop (server/manage/monitor.h).  It is the path that counts: a
 * file that is put in its place is looked at from then on, and that is a sign of life.  A file that
 * has gone, or cannot be looked at any more, shows none. */
#ifndef SX_CLIENT_MANAGE_FILE_MONITOR_H
#define SX_CLIENT_MANAGE_FILE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/call/directive_tables.h"

/* What a look sees, and what of it is life. */
struct sx_file_look {
    uint64_t device, inode, size_bytes;
    struct timespec accessed, modified;
};
struct sx_file_signs {
    bool grows, accessed, modified;
};

/* Whether something has happened between two looks that is life. */
bool sx_file_lives(const struct sx_file_signs *signs, const struct sx_file_look *before,
                   const struct sx_file_look *now);

/* Prepare to look at the file of @options.  Return: PMIX_SUCCESS, and its place, which is
 * that of its sign in the lane, and number, as sx_periodic_prepare; with a line that says why:
 * PMIX_ERR_BAD_PARAM when nothing in the file is to be looked at, PMIX_ERR_NOT_FOUND,
 * PMIX_ERR_NO_PERMISSIONS or as sx_status_from_errno when no file is to be seen;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_file_monitor_prepare(const struct sx_monitor_options *options, uint32_t *ret_place,
                                      uint64_t *ret_number);

#endif
