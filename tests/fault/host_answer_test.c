/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_answer_test.c - a thread of the host answers a question while another ends the server.
 *
 * The worst moment is between what the library takes and what it gives back inside the host's call.
 * So this program has the functions in between: whoever gives back a lock there has to find that
 * the answer is with the loop already, and the server is ended before that thread may go on. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shmix.h>

#include "fault.h"
#include "support/sanitized.h"

#define CODE 44 /* of no range of PMIx: the host is asked for it */

static _Atomic bool between, ended;
static _Thread_local bool answering;   /* this thread is in the host's call */
static _Thread_local unsigned written; /* it has woken the loop so often */
static unsigned written_between, written_later;

#if !SANITIZED_THREADS
#define SEEN_BY_ALL __attribute__((visibility("default")))
SEEN_BY_ALL int pthread_mutex_unlock(pthread_mutex_t *mutex);
SEEN_BY_ALL ssize_t write(int fd, const void *bytes, size_t size);

static void hold(void)
{
    answering = false;
    written_between = written;
    atomic_store(&between, true);
    while (!atomic_load(&ended)) {
        sched_yield();
    }
    answering = true;
    written = 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);

    if (real == NULL) {
        *(void **)(void *)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    }
    const int err = real(mutex);

    if (answering && !atomic_load(&between)) {
        hold();
    }
    return err;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    written += answering;
    return syscall(SYS_write, fd, bytes, size);
}
#endif

/* ---- the host ------------------------------------------------------------------------------- */

static pmix_op_cbfunc_t answer_fn;
static void *answer_data;
static _Atomic bool asked;

static void *answer(void *arg)
{
    answering = true;
    answer_fn(PMIX_SUCCESS, answer_data);
    answering = false;
    written_later = written;
    return NULL;
}

static pmix_status_t host_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    answer_fn = cbfunc;
    answer_data = cbdata;
    atomic_store(&asked, true);
    return PMIX_SUCCESS;
}

/* The host is asked for a code, by a handler of its own. */
static void have_asked(void)
{
    pmix_status_t code = CODE;
    const bool yes = true;
    pmix_info_t info;

    fault_module.register_events = host_register;
    fault_server_start();
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_ENVIRO_LEVEL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, &info, 1, fault_event_ignored, NULL, NULL) >= 0,
          "a handler");
    WAIT_FOR(atomic_load(&asked), "the question");
}

/* ---- cases ---------------------------------------------------------------------------------- */

static int case_while_ending(void)
{
#if SANITIZED_THREADS
    (void)answer, (void)ended;
    (void)written_between, (void)written_later;
    return fault_skip("ThreadSanitizer has to see the locks");
#else
    pthread_t thread;

    have_asked();
    CHECK(pthread_create(&thread, NULL, answer, NULL) == 0, "no thread");
    WAIT_FOR(atomic_load(&between), "the answer");
    fault_server_stop();
    atomic_store(&ended, true);
    CHECK(pthread_join(thread, NULL) == 0, "no end");
    CHECK(written_between == 1, "the loop was woken %u times", written_between);
    CHECK(written_later == 0, "the answer goes to a server that has ended");
    return 0;
#endif
}

/* An answer that comes twice is nobody's, nor is one after the end. */
static int case_too_late(void)
{
    atomic_store(&between, true); /* nothing is held up */
    have_asked();
    answer_fn(PMIX_SUCCESS, answer_data);
    answer_fn(PMIX_SUCCESS, answer_data);
    fault_server_stop();
    answer_fn(PMIX_SUCCESS, answer_data);
    return 0;
}

static const struct fault_case cases[] = {
    { "while_ending", case_while_ending },
    { "too_late", case_too_late },
};

FAULT_MAIN_OF_HOST(cases)
