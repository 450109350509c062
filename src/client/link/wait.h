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

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

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

/* True on the thread that runs callbacks. */
bool sx_progress_is_own_thread(void);

/* Queue @task and wake the progress thread.  The caller has started that thread. */
void sx_task_post(struct sx_task *task);

/* Run @task on a thread of its own that ends with it, for processes that are not clients; the end
 * of the server waits for it (base/call/callbacks.h).  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, and then the task is not run. */
pmix_status_t sx_task_run_alone(struct sx_task *task);

/* This process leaves: end all pending operations with all servers; every waiting thread has
 * returned before this does. */
void sx_links_close(void);

#endif
