/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.h - facts about a process from the kernel: whether it is exiting (freeing a large one's
 * memory takes seconds), and its start time, which with its pid identifies it for ever.  Also the
 * name of the node, and what this process has of the kernel: threads and descriptors. */
#ifndef SX_BASE_SYSTEM_PROCESS_H
#define SX_BASE_SYSTEM_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether the process behind @pidfd has gone, threads and all; not known (-1): false. */
bool sx_process_has_gone(int pidfd);

/* Whether there is no process @pid any more, or one that has ended and is not reaped yet. */
bool sx_process_has_ended(pid_t pid);

/* The end of a process as the kernel reports it.  SX_PROCESS_MAIN_EXITS: its main thread exits; of
 * the other threads nothing is known. */
enum sx_process_end { SX_PROCESS_LIVES, SX_PROCESS_MAIN_EXITS, SX_PROCESS_EXITS };

/* Ask the kernel for the end of the process behind @pidfd by one line of /proc, whatever the number
 * of its threads.  No thread is looked up: /proc would keep a name for it, which the kernel removes
 * with the thread and with the process.  On one CPU the two removals wait for each other, and the
 * parent of the process stays in its wait for as long.  Return: SX_PROCESS_LIVES also when the
 * kernel does not report it: there is no pidfd (-1), no /proc, or a /proc that does not show this
 * process. */
enum sx_process_end sx_process_end(int pidfd);

/* Ask the kernel whether all threads of the process behind @pidfd are exiting, or have.  Return:
 * false when the kernel does not report it, as above.  After SX_PROCESS_MAIN_EXITS each thread is
 * looked up. */
bool sx_process_is_exiting(int pidfd);

/* When the calling process started, in clock ticks since the machine did.  Return: 0 when there is
 * no /proc. */
uint64_t sx_process_start_ticks(void);

/* Whether process @pid started at @ticks.  Return: true also when the kernel does not report it, as
 * above; false when there is no such process. */
bool sx_process_has_started_at(pid_t pid, uint64_t ticks);

/* The name of this node, as the kernel has it: at most HOST_NAME_MAX characters, and its end.  It
 * is "localhost" where the kernel has none. */
void sx_process_nodename(char ret[HOST_NAME_MAX + 1]);

/* Whether process @pid lives and its effective user is @uid.  Return: false when the kernel does
 * not report it. */
bool sx_process_is_of(pid_t pid, uid_t uid);

/* The parent of process @pid.  Return: 0 when the kernel does not report it, and for one outside of
 * our namespace of processes. */
pid_t sx_process_parent(pid_t pid);

/* Run @run in a detached thread of this process, which receives none of its signals; with a small
 * stack, unless it calls functions of others.  Return: false when there is none. */
bool sx_thread_detached(void *(*run)(void *), void *arg);
bool sx_thread_detached_for_others(void *(*run)(void *), void *arg);

/* ---- descriptors ----------------------------------------------------------------------------- */

/* How many a process has and may have; and for a forked child that keeps few of its parent's. */

/* Of this process: how many it has, and how many it may have (RLIMIT_NOFILE). */
struct sx_descriptors {
    size_t used, limit;
};

/* Read both from the kernel.  When it does not report them, none are used and there is no limit. */
struct sx_descriptors sx_descriptors_look(void);

/* Close descriptor @first and all above.  Safe in the child of a process with threads. */
void sx_descriptors_close_from(int first);

#endif
