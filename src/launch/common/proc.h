/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc.h - /proc, in which this command finds itself and the memory of servers. */
#ifndef SX_LAUNCH_COMMON_PROC_H
#define SX_LAUNCH_COMMON_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shmem/segment.h"

/* Whether /proc can be read; if not, a message has been printed. */
bool sx_proc_check(void);

/* The path of this command's own file.  Return: malloc'ed, or NULL when a message has been
 * printed. */
char *sx_proc_exe(void);

/* The fields of /proc/PID/stat. */
struct sx_proc_stat {
    char state;
    pid_t parent;
    uint64_t cpu_ns, start_ticks, rss_bytes;
    int wait_status; /* of a zombie, as wait returns it; 0 also if we may not see it */
};
bool sx_proc_stat(pid_t pid, struct sx_proc_stat *ret);
/* Whether we may see all fields of process @pid, a zombie. */
bool sx_proc_shows_end(pid_t pid);

/* The launcher of the job that `shmix run`, process @pid, has handed to a server: the command keeps
 * a file in memory that is named after it.  Return: @pid for any other process. */
#define SX_PROC_LAUNCHER "shmix-launcher:"
pid_t sx_proc_launcher(pid_t pid);

/* The age of a process that began at @start_ticks. */
uint64_t sx_proc_age_ns(uint64_t start_ticks);

/* The user of process @pid.  Return: false when there is no such process. */
bool sx_proc_user(pid_t pid, uid_t *ret);

/* The command line of process @pid, with blanks between the words.  Return: malloc'ed, or NULL. */
char *sx_proc_command(pid_t pid);

/* The file of libpmix that process @pid has mapped, as /proc/PID/maps has it: "08:01 4711
 * /usr/lib/libpmix.so.2", device and inode before the path, and " (deleted)" behind the path of a
 * replaced file.  Return: malloc'ed; NULL when there is none, or /proc does not show it. */
char *sx_proc_library(pid_t pid);

/* The rank as which process @pid was started, from its environment, so even before it has
 * connected.  Return: false when it is not a rank, or the environment cannot be read. */
bool sx_proc_rank(pid_t pid, char ret_nspace[SX_SEGMENT_NSPACE_BYTES], uint32_t *ret_rank);

/* Call @each with the children of process @pid. */
void sx_proc_children_each(pid_t pid, void (*each)(void *arg, pid_t child), void *arg);

/* The letter of the state of process @pid, as in /proc/PID/stat: 'T' stopped, 'Z' ended.  Return:
 * '\0' when /proc does not show it. */
char sx_proc_state(pid_t pid);
/* The same as a word: "stopped", "held by a debugger", "ended".  Return: NULL when @pid runs, or
 * the state is unknown. */
const char *sx_proc_state_name(pid_t pid);

/* The process that traces @pid, also when @pid is a zombie.  Return: 0 if none is seen here. */
pid_t sx_proc_tracer(pid_t pid);

/* Whether process @pid does not exist any more. */
bool sx_proc_has_ended(pid_t pid);

#define SX_PROC_JANITOR "shmix-janitor"

/* Whether the environment of process @pid has @name with @value, or with @value, a dot and more if
 * @or_more.  @ret_known: false when the environment cannot be read. */
bool sx_proc_has_variable(pid_t pid, const char *name, const char *value, bool or_more,
                          bool *ret_known);
/* Whether @pid, which only we reap, is about to end. */
bool sx_proc_is_exiting(pid_t pid);
/* Wait for the end of child @pid, for @limit_ns at most, and reap it.  Return: false when it has
 * not ended. */
bool sx_proc_reap(pid_t pid, uint64_t limit_ns);
/* Kill child @pid and reap it in the same way.  Return: false when it has not ended, as a file
 * system keeps it in the kernel. */
bool sx_proc_kill(pid_t pid, uint64_t limit_ns);
/* A thread of a process that does not end: its state, '\0' if it is not known, and the function of
 * the kernel in which it waits, empty if that is not known. */
struct sx_proc_hang {
    char state;
    char where[64];
};
/* Whether process @pid works on, or has ended and is to be reaped.  Otherwise *ret_hang is one of
 * its threads; one that cannot be interrupted if there is any. */
bool sx_proc_works(pid_t pid, struct sx_proc_hang *ret_hang);
/* Whether the name of process @pid is @name, of 15 bytes at most; or a launcher's janitor's. */
bool sx_proc_is_named(pid_t pid, const char *name);
bool sx_proc_is_janitor(pid_t pid);

/* Whether @pid, which holds @seg open, is the process that has made it. */
bool sx_proc_has_made(pid_t pid, const struct sx_segment *seg);

#endif
