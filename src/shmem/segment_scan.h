/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment_scan.h - segments of servers, found without their help.
 *
 * The segments are found through /proc, by the names of the memfds that processes hold open, and
 * opened read-only.  The kernel decides which processes the caller may inspect: its user's, or all
 * for root.  The cost is a visit of every descriptor of these. */
#ifndef SX_SHMEM_SEGMENT_SCAN_H
#define SX_SHMEM_SEGMENT_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SX_OUTSIDE_LEFT_MAX 16

/* The processes whose segments this library cannot read, each once for a layout. */
struct sx_outside_left {
    struct {
        pid_t pid;
        uint32_t layout; /* 0: another program's, with a name of this form */
    } at[SX_OUTSIDE_LEFT_MAX];
    unsigned count; /* further ones are not listed */
};

/* Call @each with a descriptor for each memfd of the process @pid (0: of every process) whose name
 * begins with "shmix:" and @kind, as "ring:", but for those that are still being made; once,
 * however many descriptors of it the process has.  The descriptor is closed afterwards; @each
 * returns false to stop.  Those of another layout, or another program, are added to @left (or
 * NULL).  Return: false when some process could not be inspected. */
bool sx_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                     void *arg, struct sx_outside_left *left);

#endif
