/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_unlink.h - remove what one path names, and report what had to stay.
 *
 * This runs in a process of its own (cleanup_process.h) that has the rights of the user who asked.
 * It is safe in the child of a process with threads: nothing is allocated, no lock is taken. */
#ifndef SX_SERVER_CLEANUP_CLEANUP_UNLINK_H
#define SX_SERVER_CLEANUP_CLEANUP_UNLINK_H

#include <stdint.h>
#include <sys/types.h>

#define SX_CLEANUP_UNLINK_DEPTH_MAX 32u /* directories inside directories; one descriptor each */
#define SX_CLEANUP_UNLINK_TEXT_MAX 256u

#define SX_CLEANUP_UNLINK_DIR 0x1u       /* a directory with the files in it; else a file */
#define SX_CLEANUP_UNLINK_RECURSE 0x2u   /* and its subdirectories */
#define SX_CLEANUP_UNLINK_LEAVE_TOP 0x4u /* keep the directory itself */
#define SX_CLEANUP_UNLINK_EMPTY 0x8u     /* only directories that are or become empty */

/* One request, as it is sent to that process. */
struct sx_cleanup_unlink {
    uint32_t size_bytes; /* of all of it, a multiple of 8 */
    uint32_t flags;      /* SX_CLEANUP_UNLINK_* */
    /* Absolute, with its NUL.  Then names to keep may follow, with a NUL each.  They are paths from
     * the directory on, which begin with a slash, or the name of any entry.  One more NUL, or the
     * end, terminates them. */
    char path[];
};

/* The number of paths that stay, and the reason for the first of them. */
struct sx_cleanup_unlink_report {
    uint64_t left_count;
    int32_t error;                         /* errno, as sx_cleanup_unlink_reason reads it */
    char path[SX_CLEANUP_UNLINK_TEXT_MAX]; /* path of the request, cut off; printable */
};

/* Remove what @sweep names as far as it belongs to @uid.  Links are removed, never followed, also
 * on the way to the path.  No file system that is mounted inside a directory is entered.  A missing
 * path is not a failure.  Adds to @report. */
void sx_cleanup_unlink_do(const struct sx_cleanup_unlink *sweep, uid_t uid,
                          struct sx_cleanup_unlink_report *report);

/* Count @sweep as left because of @error. */
void sx_cleanup_unlink_leave(const struct sx_cleanup_unlink *sweep, int error,
                             struct sx_cleanup_unlink_report *report);

/* Return: the meaning of @error here, for a message. */
const char *sx_cleanup_unlink_reason(int error);

#endif
