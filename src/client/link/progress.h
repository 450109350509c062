/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* progress.h - take in what arrives, sleep until something does, run callbacks.
 *
 * Every wait is one loop: read the watched words, pump, look at what is waited for, sleep while
 * the words still have the values read.  Whoever pumps completes everybody's calls.  No thread
 * ever has to be told of another one's pumping: the server publishes first and rings afterwards,
 * so each sleeper either is woken by that ring or has read the word after it, and pumps (or waits
 * for the lock of who does) before it looks.  The local door is for news of this process alone. */
#ifndef SX_CLIENT_LINK_PROGRESS_H
#define SX_CLIENT_LINK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/list.h"

/* Something for the progress thread to do, without any lock held.  @run may free the task. */
struct sx_task {
    struct sx_list node;
    void (*run)(struct sx_task *task);
};

/* Take in everything that has arrived.  Any thread. */
void sx_pump(void);

/* Wait until @done(@arg), which is asked under lock, says true.  Before the first sleep the CPU is
 * handed over @yield_count times: where the server or the other ranks wait for this very CPU, they
 * are often done by then, and nobody has to be woken.  Return: PMIX_SUCCESS; PMIX_ERR_TIMEOUT;
 * what sx_link_status says when the link is not LIVE (any more). */
pmix_status_t sx_wait_until(bool (*done)(void *arg), void *arg, unsigned yield_count,
                            uint64_t deadline_ns);

/* The progress thread runs from the first call to this on; with PMIX_EXTERNAL_PROGRESS there is
 * none, and tasks wait for sx_progress_run.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE when no thread can be made. */
pmix_status_t sx_progress_start(void);

/* Run what is queued and end the thread.  On the progress thread itself: run what is queued here;
 * the thread ends when it gets back to its loop. */
void sx_progress_stop(void);

/* With PMIX_EXTERNAL_PROGRESS: take in what has arrived and run the tasks that are there, unless
 * another thread does or a task calls this. */
void sx_progress_run(void);

/* True on the thread that runs callbacks. */
bool sx_progress_is_own_thread(void);

/* Queue @task and wake the progress thread, which the caller has started. */
void sx_task_post(struct sx_task *task);
/* The same under lock, while pumping: what is pumped has its own bell. */
void sx_task_post_locked(struct sx_task *task);

/* Run @task on a thread of its own that ends with it, for processes that are no clients; the end of
 * the server waits for it (base/callbacks.h).
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then the task is not run. */
pmix_status_t sx_task_run_alone(struct sx_task *task);

/* The server is gone: end all that is pending, now and later.  Under lock. */
void sx_link_lost_locked(const char *why);

/* We leave: end what is pending and let every waiting thread go before this returns. */
void sx_link_close(void);

#endif
