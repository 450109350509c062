/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.c - one thread, one piece at a time. */
#include "client/iof/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "base/log.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/thread.h"

#define BACKGROUND_MS 1000 /* a terminal that is not ours now: check again */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a push is answered, or no more is wanted */
    bool exists;            /* the thread is to be joined */
    bool over;              /* it has nothing more to do */
    bool stops;
    uintptr_t number; /* of the push that is under way */
    bool answered;
    pmix_status_t status; /* result of that push */
    int wake_fd;          /* readable once the thread must stop */
    pthread_t thread;
    /* used by the thread only: */
    pmix_proc_t *targets;
    size_t target_count;
    sx_input_push_fn push;
    sx_input_begun_fn begun;
    void *begun_arg;
    char bytes[SX_INPUT_BYTES];
} input = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .wake_fd = -1,
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void on_pushed(pmix_status_t status, void *cbdata)
{
    pthread_mutex_lock(&input.lock);
    if ((uintptr_t)cbdata == input.number) {
        input.answered = true;
        input.status = status;
        pthread_cond_broadcast(&input.changed);
    }
    pthread_mutex_unlock(&input.lock);
}

static bool stops(void)
{
    pthread_mutex_lock(&input.lock);
    const bool stops = input.stops;
    pthread_mutex_unlock(&input.lock);
    return stops;
}

/* Return: the result of the push; PMIX_ERR_LOST_CONNECTION when no more is wanted. */
static pmix_status_t answer_await(void)
{
    pthread_mutex_lock(&input.lock);
    while (!input.answered && !input.stops) {
        pthread_cond_wait(&input.changed, &input.lock);
    }
    const pmix_status_t status = input.answered ? input.status : PMIX_ERR_LOST_CONNECTION;

    pthread_mutex_unlock(&input.lock);
    return status;
}

/* Push @size bytes.  Without bytes: the end, or at first the targets alone, so that the server ends
 * their input when this process ends. */
static pmix_status_t piece_push(size_t size, bool complete)
{
    pmix_byte_object_t bytes = { .bytes = input.bytes, .size = size };
    pmix_info_t info[2];

    pthread_mutex_lock(&input.lock);
    const uintptr_t number = ++input.number;

    input.answered = false;
    pthread_mutex_unlock(&input.lock);
    PMIx_Info_load(&info[0], PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    const pmix_status_t rc = input.push(input.targets, input.target_count, &bytes, info,
                                        complete ? 2 : 1, on_pushed, (void *)number);

    return rc == PMIX_SUCCESS ? answer_await() : rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

/* Without a standard input, descriptor 0 may be another file, which a new program would not
 * inherit. */
static bool is_there(void)
{
    const int flags = fcntl(STDIN_FILENO, F_GETFD);

    return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

/* Return: the number of bytes, 0 at the end; -1 when no more is wanted. */
static ssize_t piece_read(void)
{
    struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                              { .fd = input.wake_fd, .events = POLLIN } };
    ssize_t got = 0;

    while (is_there() && !stops()) {
        (void)poll(ready, SX_COUNT(ready), -1);
        if (ready[1].revents != 0) {
            return -1;
        }
        got = read(STDIN_FILENO, input.bytes, sizeof(input.bytes));
        if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EIO)) {
            return got < 0 ? 0 : got;
        }
        if (errno == EIO && isatty(STDIN_FILENO)) {
            (void)poll(&ready[1], 1, BACKGROUND_MS);
        } else if (errno == EIO) {
            return 0;
        }
    }
    return is_there() ? -1 : 0;
}

static void *input_main(void *arg)
{
    pmix_status_t rc = piece_push(0, false);
    ssize_t got = 1;

    (void)arg;
    input.begun(input.begun_arg, rc);
    while (rc == PMIX_SUCCESS && got > 0) {
        got = piece_read();
        if (got >= 0) {
            rc = piece_push((size_t)got, got == 0);
        }
    }
    /* PMIX_ERR_IOF_COMPLETE: all targets have closed their input. */
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_IOF_COMPLETE && !stops()) {
        sx_log(SX_LOG_WARN, "the standard input is no longer pushed: %s", PMIx_Error_string(rc));
    }
    pthread_mutex_lock(&input.lock);
    input.over = true;
    pthread_mutex_unlock(&input.lock);
    return NULL;
}

/* ---- start and end --------------------------------------------------------------------------- */

static void end_locked(void)
{
    const bool exists = input.exists;

    input.exists = false;
    if (exists) {
        pthread_mutex_unlock(&input.lock);
        pthread_join(input.thread, NULL);
        pthread_mutex_lock(&input.lock);
        close(input.wake_fd);
        input.wake_fd = -1;
        free(input.targets);
        input.targets = NULL;
    }
}

static pmix_status_t start_locked(const pmix_proc_t targets[], size_t ntargets,
                                  sx_input_push_fn push, sx_input_begun_fn begun, void *arg)
{
    if (input.exists && !input.over) {
        return PMIX_ERR_RESOURCE_BUSY;
    }
    end_locked();
    input.targets = malloc(ntargets * sizeof(*targets));
    input.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    input.over = input.stops = false;
    input.target_count = ntargets;
    input.push = push;
    input.begun = begun;
    input.begun_arg = arg;
    if (input.targets != NULL && input.wake_fd >= 0) {
        memcpy(input.targets, targets, ntargets * sizeof(*targets));
        input.exists = sx_thread_create(&input.thread, input_main, NULL) == 0;
    }
    if (input.exists) {
        return PMIX_SUCCESS;
    }
    free(input.targets);
    input.targets = NULL;
    if (input.wake_fd >= 0) {
        close(input.wake_fd);
        input.wake_fd = -1;
    }
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no thread can be made for the standard input");
}

pmix_status_t sx_input_start(const pmix_proc_t targets[], size_t ntargets, sx_input_push_fn push,
                             sx_input_begun_fn begun, void *arg)
{
    pthread_mutex_lock(&input.lock);
    const pmix_status_t rc = start_locked(targets, ntargets, push, begun, arg);

    pthread_mutex_unlock(&input.lock);
    return rc;
}

void sx_input_stop(void)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&input.lock);
    input.stops = true;
    if (input.exists) {
        (void)!write(input.wake_fd, &one, sizeof(one));
    }
    pthread_cond_broadcast(&input.changed);
    end_locked();
    pthread_mutex_unlock(&input.lock);
}

void sx_input_forked(void)
{
    pthread_mutex_init(&input.lock, NULL);
    pthread_cond_init(&input.changed, NULL);
    input.exists = false;
    input.wake_fd = -1;
    input.targets = NULL;
}
