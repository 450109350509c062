/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wait.h - sleep until something arrives, take it in, run callbacks.
 *
 * Every wait is one loop: read the watched words, pump, check the condition, sleep while the words
 * still have the values read.  The thread that pumps completes the operations of all threads.
 *
 * No thread has to notify another one that it has pumped.  The server publishes first and rings
 * afterwards.  So each sleeper is woken by that ring, or has read the word after the ring.  In both
 * cases it pumps, or waits for the lock of the thread that does, before it checks its condition.
 * The local door is only for news from this process itself. */
#ifndef SX_CLIENT_LINK_WAIT_H
#define SX_CLIENT_LINK_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "client/link/link.h"

/* Take in everything that has arrived.  Any thread. */
void sx_pump(void);

/* Wait until @done(@arg) returns true; it is called under lock.  Before the first sleep, the thread
 * yields its CPU @yield_count times, and checks @done after each.  If the server or other ranks
 * wait for this CPU, they are often done by then, and no process has to be woken.  Return:
 * PMIX_SUCCESS; PMIX_ERR_TIMEOUT; as sx_link_status when @link is not LIVE (any more); as
 * sx_role_may_wait. */
pmix_status_t sx_wait_until(struct sx_link *link, bool (*done)(void *arg), void *arg,
                            unsigned yield_count, uint64_t deadline_ns);

/* Make sure that the progress thread runs.  With PMIX_EXTERNAL_PROGRESS there is no thread, and
 * tasks wait for sx_progress_run.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when no
 * thread can be made. */
pmix_status_t sx_progress_start(void);

/* Run the queued tasks and end the thread.  If the progress thread itself calls this, it runs the
 * queued tasks, and ends when it returns to its loop. */
void sx_progress_stop(void);

/* With PMIX_EXTERNAL_PROGRESS: take in what has arrived and run the tasks that are there, unless
 * another thread does or a task calls this. */
void sx_progress_run(void);

/* A thread waits at the local door until another one leaves sx_progress_run, whose end rings from
 * the first of these calls to the second. */
void sx_progress_watch(void);
void sx_progress_unwatch(void);

/* True on the thread that runs callbacks. */
bool sx_progress_is_own_thread(void);

/* Queue @task and wake the progress thread.  The caller has started that thread. */
void sx_task_post(struct sx_task *task);

/* Run @task on a thread of its own that ends with it, for processes that are not clients; the end
 * of the server waits for it (base/call/role.h).  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, and then the task is not run. */
pmix_status_t sx_task_run_alone(struct sx_task *task);

/* This process leaves: end all pending operations with all servers; every waiting thread has
 * returned before this does. */
void sx_links_close(void);

/* ---- waking ---------------------------------------------------------------------------------- */

/* Wake every waiting thread, which checks its condition again.  Under lock. */
void sx_local_ring_locked(void);

/* ---- shmix_fd -------------------------------------------------------------------------------- */

/* One descriptor that is readable when this process has something to do.
 *
 * It is for a program that sleeps in poll(2).  When it wakes, it calls PMIx_Progress and reads each
 * reader of events to its end.  A thread that polls for news arms the descriptor first and polls
 * then, so later news ring again.  All of this costs one comparison in a process that has not asked
 * for the descriptor. */

struct sx_link;

/* Whether the program has asked for the descriptor.  Any thread. */
bool sx_wakefd_is_used(void);

/* Sleep from here on, for all classes that are wanted in this process.  The caller polls for news
 * afterwards.  Return: false when the process sleeps already, and there was nothing to silence.
 * Under lock. */
bool sx_wakefd_arm_locked(void);

/* There is news from this process itself.  Make the descriptor readable, if it is not readable
 * already.  Under lock. */
void sx_wakefd_write_locked(void);

/* From here on this process waits for one more class of news, which is published later.  Under
 * lock. */
void sx_wakefd_want_locked(void);

/* There is one more reader.  The reader may have something to read at once.  Under lock. */
void sx_wakefd_reader_opened_locked(void);

/* Open the descriptor; one thread at a time may do so.  `begin` is true for the thread that may.
 * `open` takes over @server_fd, which the server of @link writes to (-1: there is no server).
 * In any case that thread then calls `end`.  `end` returns the descriptor, or -1, and rings for
 * the others. Under lock. */
bool sx_wakefd_begin(void *arg);
pmix_status_t sx_wakefd_open_locked(struct sx_link *link, int server_fd);
int sx_wakefd_end_locked(void);

/* PMIx_Finalize: close it. */
void sx_wakefd_deinit(void);

/* A forked child: the sockets are the parent's to read.  Under no lock. */
void sx_wakefd_forget(void);

/* ---- threads --------------------------------------------------------------------------------- */

/* The library's own threads: no signals, and a name and place if the program wants. */

/* Store the directives of PMIx_Init for the progress thread.  Call it before the thread is made.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for CPUs that do not exist; PMIX_ERR_NOT_AVAILABLE when
 * it must be bound to processors that this process may not use. */
pmix_status_t sx_thread_choose(const struct sx_init_options *options);

/* Called on the progress thread: set its name and its CPUs. */
void sx_thread_settle(void);

/* True when @name is the progress thread's name. */
bool sx_thread_is_called(const char *name);

/* Make a thread with all signals blocked, so that the program's handlers run on the program's
 * threads.  Return: errno's value. */
int sx_thread_create(pthread_t *ret_thread, void *(*start)(void *), void *arg);

#endif
