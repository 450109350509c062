/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* thread.h - the library's own threads: no signals, and a name and place if the program wants. */
#ifndef SX_CLIENT_LINK_THREAD_H
#define SX_CLIENT_LINK_THREAD_H

#include <pthread.h>

#include <pmix_common.h>

/* Take what PMIx_Init says about the progress thread: PMIX_PROGRESS_THREAD_NAME,
 * PMIX_BIND_PROGRESS_THREAD, PMIX_BIND_REQUIRED.  Call it before the thread is made.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_AVAILABLE when it must be bound to processors
 * that this process may not use. */
pmix_status_t sx_thread_choose(const pmix_info_t *info, size_t ninfo);

/* The progress thread, on the thread itself: take the name and the place. */
void sx_thread_settle(void);

/* True when @name is the progress thread's name. */
bool sx_thread_is_called(const char *name);

/* Make a thread with all signals blocked, so that the program's handlers run on the program's
 * threads.  Return: errno's value. */
int sx_thread_create(pthread_t *ret_thread, void *(*start)(void *), void *arg);

#endif
