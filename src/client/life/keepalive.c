/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* keepalive.c - a thread that reads a pipe to its end.
 *
 *     NONE --PMIx_tool_init, the variable is set--> WATCHED --closed--> event, once
 *                                                      \--the last finalize--> NONE
 *
 * Bytes that are written into the pipe mean nothing. */
#include "client/life/life.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix.h>

#include "base/log.h"
#include "client/link/link.h"
#include "client/link/wait.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread; /* under lock, as the next; its arguments are constant while it runs */
static bool has_thread;
static int pipe_fd = -1, stop_fd = -1;

/* The affected process has the name of the variable: so a handler can distinguish this from a job's
 * end. */
static void notify(void)
{
    pmix_proc_t affected;
    pmix_info_t infos[2];
    const bool yes = true;

    PMIx_Load_procid(&affected, PMIX_KEEPALIVE_PIPE, PMIX_RANK_UNDEF);
    pmix_status_t rc = PMIx_Info_load(&infos[0], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&infos[1], PMIX_EVENT_AFFECTED_PROC, &affected, PMIX_PROC);
        if (rc == PMIX_SUCCESS) {
            rc = PMIx_Notify_event(PMIX_EVENT_JOB_END, &sx_process.self, PMIX_RANGE_PROC_LOCAL,
                                   infos, 2, NULL, NULL);
            PMIx_Info_destruct(&infos[1]);
        }
        PMIx_Info_destruct(&infos[0]);
    }
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_INIT) { /* the process is just ending */
        sx_log(SX_LOG_WARN, "who has started this tool is gone, and nobody can be told: %s",
               PMIx_Error_string(rc));
    }
}

/* Return: false when the pipe has been closed. */
static bool pipe_drain(void)
{
    char bytes[256];
    const ssize_t size = read(pipe_fd, bytes, sizeof(bytes));

    return size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN));
}

static void *watch(void *arg)
{
    struct pollfd fds[] = { { .fd = stop_fd, .events = POLLIN },
                            { .fd = pipe_fd, .events = POLLIN } };

    (void)arg;
    while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
        if (fds[0].revents != 0) {
            break;
        }
        if (fds[1].revents != 0 && !pipe_drain()) {
            notify();
            break;
        }
    }
    return NULL;
}

/* Return: a pipe, or another stream to wait for; -1: the variable names none. */
static int fd_of(const char *text)
{
    char *end;
    const long number = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : -1;

    return number >= 0 && number <= INT32_MAX && *end == '\0' &&
                   fcntl((int)number, F_SETFD, FD_CLOEXEC) == 0
               ? (int)number
               : -1;
}

static void fds_close(void)
{
    close(stop_fd);
    close(pipe_fd);
    stop_fd = pipe_fd = -1;
}

static bool watch_begin(int fd)
{
    stop_fd = eventfd(0, EFD_CLOEXEC);
    pipe_fd = fd;
    has_thread = stop_fd >= 0 && sx_thread_create(&thread, watch, NULL) == 0;
    if (!has_thread) {
        fds_close();
    }
    return has_thread;
}

void sx_keepalive_begin(void)
{
    const char *const text = getenv(PMIX_KEEPALIVE_PIPE);

    pthread_mutex_lock(&lock);
    if (text != NULL && !has_thread) {
        const int fd = fd_of(text);

        if (fd < 0 || !watch_begin(fd)) {
            sx_log(SX_LOG_WARN,
                   "'%.64s' in %s cannot be watched: the end of the process that has "
                   "started this tool will not be heard of",
                   text, PMIX_KEEPALIVE_PIPE);
        }
        unsetenv(PMIX_KEEPALIVE_PIPE);
    }
    pthread_mutex_unlock(&lock);
}

void sx_keepalive_end(void)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&lock);
    if (has_thread) {
        (void)!write(stop_fd, &one, sizeof(one));
        pthread_join(thread, NULL);
        fds_close();
    }
    has_thread = false;
    pthread_mutex_unlock(&lock);
}

void sx_keepalive_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    if (has_thread) {
        fds_close();
    }
    has_thread = false;
}
