/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.h - /proc, where this command finds itself and the memory of servers. */
#ifndef SX_CLI_PROC_H
#define SX_CLI_PROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "shmem/segment.h"

/* Whether /proc can be read; if not, that has been said. */
bool sx_proc_check(void);

/* The path of this command's own file.  Return: malloc'ed, or NULL when that has been said. */
char *sx_proc_exe(void);

/* The letter of the state of process @pid, as in /proc/PID/stat: 'T' stopped, 'Z' ended.  Return:
 * '\0' when /proc does not show it. */
char sx_proc_state(pid_t pid);
/* The same as a word: "stopped", "held by a debugger", "ended".  Return: NULL when @pid runs, or
 * when it is not known. */
const char *sx_proc_state_name(pid_t pid);

/* Whether there is no process @pid any more. */
bool sx_proc_has_ended(pid_t pid);

#define SX_PROC_JANITOR "shmix-janitor"

/* Whether the environment of process @pid has @name with @value, or @or_more with a dot and more
 * behind it.  @ret_known: false when there is no environment to be seen. */
bool sx_proc_has_variable(pid_t pid, const char *name, const char *value, bool or_more,
                          bool *ret_known);
/* Whether @pid, which nobody else reaps, is on its way out. */
bool sx_proc_is_exiting(pid_t pid);
/* Whether @pid calls itself the janitor of a launcher. */
bool sx_proc_is_janitor(pid_t pid);

/* Whether @pid, which holds @seg open, is the process that has made it. */
bool sx_proc_has_made(pid_t pid, const struct sx_segment *seg);

#endif
