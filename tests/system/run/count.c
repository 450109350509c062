/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* count.c - run a launcher and count its system calls, and those of its children until they execute
 * a program.
 * usage: count COMMAND ARGS...; prints both counts, and ends with the command's exit code */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launched.h"

#define TASKS_MAX 4096

#define CHECK(what)                                                   \
    do {                                                              \
        if (!(what)) {                                                \
            fprintf(stderr, "count: line %d: %s\n", __LINE__, #what); \
            exit(1);                                                  \
        }                                                             \
    } while (0)

struct task {
    pid_t tid;
    unsigned long calls;
    bool is_launcher, entered;
};

static struct task tasks[TASKS_MAX];
static size_t task_count;
static unsigned long launcher_calls, child_calls;

static bool is_thread_of(pid_t tid, pid_t process)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)tid);
    return access(path, F_OK) == 0;
}

static struct task *task_of(pid_t tid, pid_t launcher)
{
    for (size_t i = 0; i < task_count; i++) {
        if (tasks[i].tid == tid) {
            return &tasks[i];
        }
    }
    CHECK(task_count < TASKS_MAX);
    tasks[task_count] = (struct task){ .tid = tid, .is_launcher = is_thread_of(tid, launcher) };
    return &tasks[task_count++];
}

/* @task has stopped.  Let it go on, with the signal that it got. */
static void stopped(struct task *task, int status)
{
    const int event = status >> 16, number = WSTOPSIG(status);
    long signal_number = 0;

    if (number == (SIGTRAP | 0x80)) {
        task->calls += !task->entered;
        task->entered = !task->entered;
    } else if (event == PTRACE_EVENT_EXEC && !task->is_launcher) {
        child_calls += task->calls;
        (void)ptrace(PTRACE_DETACH, task->tid, NULL, NULL);
        task->tid = -1;
        return;
    } else if (event == 0 && number != SIGSTOP && number != SIGTRAP) {
        signal_number = number;
    }
    (void)ptrace(PTRACE_SYSCALL, task->tid, NULL, (void *)signal_number);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    const pid_t launcher = launched(argv + 1, PTRACE_SYSCALL);
    int status, code = -1;

    CHECK(launcher > 0);
    while (code < 0) {
        const pid_t tid = waitpid(-1, &status, __WALL);

        CHECK(tid > 0);
        if (WIFSTOPPED(status)) {
            stopped(task_of(tid, launcher), status);
        } else if (tid == launcher) {
            code = launched_code(status);
        }
    }
    for (size_t i = 0; i < task_count; i++) {
        launcher_calls += tasks[i].is_launcher ? tasks[i].calls : 0;
    }
    printf("%lu %lu\n", launcher_calls, child_calls);
    return code;
}
