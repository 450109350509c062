/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* closer.c - a list of sockets, and threads that empty the list.
 *
 * A socket is emptied before it is closed: the last reference to it may be an engine's, which
 * releases it on its own thread.  By then the socket must be empty. */
#include "control/closer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/system/process.h"
#include "control/socket.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *waiting; /* newest last; under lock, as all below */
static size_t waiting_count, waiting_capacity;
static unsigned thread_count;

static void empty(int fd)
{
    enum sx_socket_next next;
    char byte;

    while ((next = sx_socket_look(fd)) == SX_SOCKET_MESSAGE || next == SX_SOCKET_RIGHTS) {
        (void)!recv(fd, &byte, 1, MSG_DONTWAIT); /* frees its descriptors; this thread may wait */
    }
}

static void *closer_run(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (waiting_count > 0) {
        const int fd = waiting[--waiting_count];

        pthread_mutex_unlock(&lock);
        empty(fd);
        close(fd);
        pthread_mutex_lock(&lock);
    }
    thread_count--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under lock.  Return: false when memory is out. */
static bool waiting_add(int fd)
{
    if (waiting_count == waiting_capacity) {
        const size_t capacity = waiting_capacity == 0 ? 16 : 2 * waiting_capacity;
        int *const grown = realloc(waiting, capacity * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        waiting = grown;
        waiting_capacity = capacity;
    }
    waiting[waiting_count++] = fd;
    return true;
}

void sx_closer_close(int fd)
{
    pthread_mutex_lock(&lock);
    if (!waiting_add(fd)) {
        sx_log(SX_LOG_WARN, "no memory to close a connection later: it stays open");
    } else if (thread_count < SX_CLOSER_THREADS_MAX && sx_thread_detached(closer_run, NULL)) {
        thread_count++;
    }
    pthread_mutex_unlock(&lock);
}
