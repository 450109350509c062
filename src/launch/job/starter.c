/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* starter.c - a thread clones, then sleeps on a word that the kernel clears.
 *
 * With CLONE_VFORK the kernel would put the thread to sleep itself, but as a thread that cannot be
 * stopped: neither a stop of the launcher nor a debugger would reach its end while a file system
 * hangs.  With CLONE_CHILD_CLEARTID the thread sleeps as any other does. */
#include "launch/job/starter.h"

#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/process.h"

#define STACK_BYTES 65536
#define FLAGS (CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

struct starter {
    sem_t ordered, begun;
    atomic_bool busy; /* until the child has its own memory */
    int (*run)(void *arg);
    void *arg;
    pid_t pid;                /* -1: there is no child */
    _Atomic uint32_t running; /* its pid, which the kernel clears */
    _Alignas(16) char stack[STACK_BYTES];
};

/* Of the launcher's thread. */
static struct starter *starters[SX_RUN_STARTERS_MAX];

/* The child may run on when clone returns, and has the errno of this thread: the calls here set
 * none until it is gone. */
static void child_await(struct starter *starter)
{
    uint32_t pid;

    /* A0 <- the kernel: the child does not access this memory any more. */
    while ((pid = atomic_load_explicit(&starter->running, memory_order_acquire)) != 0) {
        syscall(SYS_futex, &starter->running, FUTEX_WAIT, pid, NULL, NULL, 0);
    }
}

static void *starter_run(void *arg)
{
    struct starter *const starter = arg;

    for (;;) {
        while (sem_wait(&starter->ordered) != 0) {
        }
        starter->pid = clone(starter->run, starter->stack + STACK_BYTES, FLAGS, starter->arg,
                             &starter->running, NULL, &starter->running);
        const bool is_there = starter->pid > 0;

        sem_post(&starter->begun);
        if (is_there) {
            child_await(starter);
        }
        /* R1 -> A1 (starter_obtain): its memory can be used again. */
        atomic_store_explicit(&starter->busy, false, memory_order_release);
    }
    return NULL;
}

static struct starter *starter_new(void)
{
    struct starter *const starter = calloc(1, sizeof(*starter));

    if (starter != NULL) {
        sem_init(&starter->ordered, 0, 0);
        sem_init(&starter->begun, 0, 0);
        if (!sx_thread_detached(starter_run, starter)) {
            free(starter);
            return NULL;
        }
    }
    return starter;
}

/* Return: NULL when all of them are kept, or there is no further one. */
static struct starter *starter_obtain(void)
{
    for (size_t i = 0; i < SX_RUN_STARTERS_MAX; i++) {
        if (starters[i] == NULL) {
            return starters[i] = starter_new();
        }
        /* A1 <- R1 (starter_run) */
        if (!atomic_load_explicit(&starters[i]->busy, memory_order_acquire)) {
            free(starters[i]->arg);
            starters[i]->arg = NULL;
            return starters[i];
        }
    }
    return NULL;
}

pid_t sx_run_starter_begin(int (*run)(void *arg), void *arg)
{
    struct starter *const starter = starter_obtain();

    if (starter == NULL) {
        return -1;
    }
    starter->run = run;
    starter->arg = arg;
    /* relaxed: the semaphores order it. */
    atomic_store_explicit(&starter->busy, true, memory_order_relaxed);
    sem_post(&starter->ordered);
    while (sem_wait(&starter->begun) != 0) {
    }
    const pid_t pid = starter->pid;

    if (pid < 0) {
        starter->arg = NULL;
    }
    return pid;
}
