/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segments_of_others.h - segments of servers (shmem/segment_scan.h), for the verbs that only read;
 * and what is said of those that this command cannot read: one line at the end, not one for
 * each. */
#ifndef SX_LAUNCH_COMMON_SEGMENTS_OF_OTHERS_H
#define SX_LAUNCH_COMMON_SEGMENTS_OF_OTHERS_H

#include <stdbool.h>
#include <sys/types.h>

/* As sx_outside_each; what it leaves out is kept for the functions below. */
bool sx_cli_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                         void *arg);

/* From now on the library logs nothing of damaged segments (at level debug: all the same), but
 * remembers them.  Not for a process that is a server. */
void sx_cli_outside_quiet(void);

/* Say which segments of @pid (0: of all processes) could not be read so far, and what to do.  What
 * was said once is not said again.  Return: whether there was something of another version. */
bool sx_cli_outside_say(pid_t pid);

/* Look for the board of process @pid, and say if its layout is another.  Return: as above. */
bool sx_cli_outside_say_layout(pid_t pid);

#endif
