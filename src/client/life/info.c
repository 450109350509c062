/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info.c - the version of this library, and progress by hand. */
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "client/link/link.h"
#include "client/link/wait.h"

/* Open MPI refuses a library whose version begins with a character below '3'. */
const char *PMIx_Get_version(void)
{
    return "shmix " SHMIX_VERSION " (PMIx 4.2 ABI)";
}

/* If callbacks have a thread of their own, this only reads what has arrived. */
void PMIx_Progress(void)
{
    if (sx_process_ready()) {
        if (!sx_process.external) {
            sx_pump();
        }
        sx_progress_run();
    }
}

/* End the thread after its queued tasks; tasks that other threads queue meanwhile need a new
 * one. */
static void thread_stop(struct sx_process *p)
{
    static pthread_mutex_t stopping = PTHREAD_MUTEX_INITIALIZER;

    if (sx_progress_is_own_thread()) {
        (void)SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "a callback cannot stop the thread that runs it");
        return;
    }
    if (pthread_mutex_trylock(&stopping) != 0) {
        return; /* another thread does it */
    }
    sx_progress_stop();
    pthread_mutex_lock(&p->lock);
    const bool again = !sx_list_empty(&p->tasks);
    pthread_mutex_unlock(&p->lock);
    if (again) {
        (void)sx_progress_start();
    }
    pthread_mutex_unlock(&stopping);
}

/* The next call that needs a thread starts another one. */
void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
    struct sx_thread_stop_options options = { .thread_name = NULL };

    if (sx_process_ready() && !sx_process.external &&
        sx_options_read(SX_OF_PROGRESS_THREAD_STOP, info, ninfo, &options) == PMIX_SUCCESS &&
        (options.thread_name == NULL || sx_thread_is_called(options.thread_name))) {
        thread_stop(&sx_process);
    }
}
