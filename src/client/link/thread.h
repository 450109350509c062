/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* thread.h - the library's own threads: no signals, and a name and place if the program wants. */
#ifndef SX_CLIENT_LINK_THREAD_H
#define SX_CLIENT_LINK_THREAD_H

#include <pthread.h>

#include "base/call/directive_tables.h"

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
