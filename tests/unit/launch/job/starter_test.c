/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* starter_test.c - a child has this process's memory, and a child that is kept keeps one thread. */
#include "launch/job/starter.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* it keeps its own state in the memory that is shared */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

TestSuite(starter, .timeout = 60);

static atomic_int begun;

static int end_at_once(void *arg)
{
    atomic_fetch_add(&begun, *(const int *)arg);
    _exit(0);
    return 0;
}

static int be_kept(void *arg)
{
    (void)arg;
    for (;;) {
        pause();
    }
    return 0;
}

static pid_t start(int (*run)(void *arg), int number)
{
    int *const arg = malloc(sizeof(*arg));

    cr_assert(arg != NULL);
    *arg = number;
    const pid_t pid = sx_run_starter_begin(run, arg);

    if (pid < 0) {
        free(arg);
    }
    return pid;
}

/* A thread notices the end of its child somewhat later than we do. */
static pid_t start_when_free(int (*run)(void *arg), int number)
{
    pid_t pid;

    while ((pid = start(run, number)) < 0) {
        sched_yield();
    }
    return pid;
}

static void await(pid_t pid)
{
    cr_assert_gt(pid, 0);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(starter, a_child_has_the_memory_of_its_parent, .disabled = SANITIZED)
{
    for (int i = 0; i < 100; i++) {
        await(start_when_free(end_at_once, 1));
    }
    cr_expect_eq(atomic_load(&begun), 100);
}

Test(starter, a_child_that_is_kept_keeps_one_thread_until_it_is_killed, .disabled = SANITIZED)
{
    pid_t kept[SX_RUN_STARTERS_MAX];

    for (int i = 0; i < SX_RUN_STARTERS_MAX; i++) {
        await(start_when_free(end_at_once, 1));
        kept[i] = start_when_free(be_kept, 0);
    }
    cr_expect_lt(start(end_at_once, 1), 0, "more of them than there may be");
    for (int i = 0; i < SX_RUN_STARTERS_MAX; i++) {
        kill(kept[i], SIGKILL);
        await(kept[i]);
    }
    await(start_when_free(end_at_once, 1));
}
