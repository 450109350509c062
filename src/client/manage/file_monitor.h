/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* file_monitor.h - check a file once a period, and count the signs of life in the lane.
 *
 * The server notices when they stop (server/manage/monitor.h).  The monitor follows the path: a
 * file that replaces the first one is checked from then on, and the replacement is a sign of life.
 * A file that was removed, or cannot be read any more, gives none. */
#ifndef SX_CLIENT_MANAGE_FILE_MONITOR_H
#define SX_CLIENT_MANAGE_FILE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/call/directive_tables.h"

/* The state that a check reads, and which changes are signs of life. */
struct sx_file_look {
    uint64_t device, inode, size_bytes;
    struct timespec accessed, modified;
};
struct sx_file_signs {
    bool grows, accessed, modified;
};

/* Whether a sign of life has happened between two checks. */
bool sx_file_lives(const struct sx_file_signs *signs, const struct sx_file_look *before,
                   const struct sx_file_look *now);

/* Prepare to check the file of @options.  Return: PMIX_SUCCESS, and as sx_periodic_prepare its
 * number and its place, which is that of its sign in the lane.  Or with a line that says why:
 * PMIX_ERR_BAD_PARAM when no property of the file is to be checked, PMIX_ERR_NOT_FOUND,
 * PMIX_ERR_NO_PERMISSIONS or as sx_status_from_errno when the file cannot be read;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_file_monitor_prepare(const struct sx_monitor_options *options, uint32_t *ret_place,
                                      uint64_t *ret_number);

#endif
