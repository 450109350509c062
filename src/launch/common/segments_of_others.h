/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segments_of_others.h - segments of servers (shmem/segment.h), for the verbs that only read.
 * Segments that this command cannot read are reported in one line at the end, not in one line
 * each.  The stores among them have functions of their own. */
#ifndef SX_LAUNCH_COMMON_SEGMENTS_OF_OTHERS_H
#define SX_LAUNCH_COMMON_SEGMENTS_OF_OTHERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "shmem/store.h"

/* As sx_outside_each; the segments that it leaves out are kept for the functions below. */
bool sx_cli_outside_each(pid_t pid, const char *kind, bool (*each)(void *arg, pid_t pid, int fd),
                         void *arg);
/* For those that want only the segments that are left out.  Return: true, to go on. */
bool sx_cli_outside_nothing(void *arg, pid_t pid, int fd);

/* From now on the library does not log damaged segments (except at level debug), but remembers
 * them.  Not for a process that is a server. */
void sx_cli_outside_quiet(void);

/* Report which segments of @pid (0: of all processes) could not be read so far, and what to do.
 * Each report is printed once.  Return: whether a segment was of another version. */
bool sx_cli_outside_say(pid_t pid);

/* Search the board of process @pid, and report if its layout differs.  Return: as above. */
bool sx_cli_outside_say_layout(pid_t pid);

/* ---- stores ---------------------------------------------------------------------------------- */

/* The stores of running jobs, found through /proc. */

/* Whether @store is the node's newest store, made by the server @pid. */
bool sx_cli_store_is_of_node(pid_t pid, const struct sx_store *store);

/* Whether @store is of a job that a host has registered: tools have a namespace with a store,
 * too. */
bool sx_cli_store_is_of_job(const struct sx_store *store);

/* Call @each for the newest store of each namespace of the server @pid (0: of every server);
 * @nspace is its name.  Return: false when some process could not be examined. */
bool sx_cli_stores_each(pid_t pid,
                        void (*each)(void *arg, pid_t server, const char *nspace,
                                     const struct sx_store *store),
                        void *arg);

#endif
