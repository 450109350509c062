/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* report.c - a line for each rank, and a shell that asks for their stacks. */
#include "cli/run/report.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/proc.h"
#include "cli/run/end.h"
#include "cli/run/request.h"
#include "cli/say.h"

#define TRACES_NS (10 * SX_NS_PER_SEC)
#define TRACES_MAX 64u /* ranks, of the first ones */

extern char **environ;

/* ---- states ---------------------------------------------------------------------------------- */

static const char *state_of(pid_t pid)
{
    const char *const name = sx_proc_state_name(pid);

    return name != NULL                ? name
           : sx_proc_state(pid) == 'R' ? "running"
           : sx_proc_state(pid) == 'D' ? "waiting in the kernel"
                                       : "sleeping";
}

static void states_say(struct sx_run_job *job)
{
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        const struct sx_run_rank *const at = &job->ranks[rank];

        if (rank >= job->spawned) {
            sx_run_say(job->run, "state: %srank %u: not started", job->prefix, rank);
        } else if (!at->alive) {
            sx_run_say(job->run, "state: %srank %u: has ended, with code %d", job->prefix, rank,
                       at->exit_code);
        } else {
            sx_run_say(job->run, "state: %srank %u (pid %ld): %s, %s", job->prefix, rank,
                       (long)at->pid, state_of(at->pid),
                       sx_run_host_is_client(job, rank) ? "connected (PMIx_Init)"
                                                        : "not connected");
        }
    }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static char script[] = "for tool in eu-stack gstack gdb none; do\n"
                       "    command -v $tool >/dev/null 2>&1 && break\n"
                       "done\n"
                       "for pid do\n"
                       "    echo \"stack of process $pid ($tool):\"\n"
                       "    case $tool in\n"
                       "    eu-stack) eu-stack -p $pid ;;\n"
                       "    gstack) gstack $pid ;;\n"
                       "    gdb) gdb -nx -batch -p $pid -ex 'thread apply all bt' </dev/null ;;\n"
                       "    *) echo 'there is no eu-stack, gstack or gdb to show it' ;;\n"
                       "    esac\n"
                       "done\n";

/* The words of the shell; those behind the first three are malloc'ed. */
static char **words_make(const struct sx_run_job *job)
{
    static char shell[] = "sh", command[] = "-c";
    char **const words = sx_cli_calloc(TRACES_MAX + 5, sizeof(*words));
    uint32_t count = 0;

    words[count++] = shell;
    words[count++] = command;
    words[count++] = script;
    words[count++] = sx_cli_strdup("sh");
    for (uint32_t rank = 0; rank < job->spawned && count < TRACES_MAX + 4; rank++) {
        if (job->ranks[rank].alive) {
            words[count++] = sx_cli_printf("%ld", (long)job->ranks[rank].pid);
        }
    }
    return words;
}

/* Its output is our stderr.  Return: its pid, or -1. */
static pid_t shell_start(char **words)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    pid_t pid = -1;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&pid, "/bin/sh", &actions, &attributes, words, environ) != 0) {
        pid = -1;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void traces_over(void *arg, uint32_t events)
{
    struct sx_run_job *const job = arg;

    (void)events;
    sx_run_report_deinit(job);
    job->timeout_ns = sx_now_ns();
}

/* Without the watch it takes all of its time.  Return: false when there are none. */
static bool traces_begin(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;
    char **const words = words_make(job);
    const pid_t pid = shell_start(words);

    for (size_t i = 3; words[i] != NULL; i++) {
        free(words[i]);
    }
    free(words);
    if (pid < 0) {
        return false;
    }
    request->tracer = pid;
    sx_janitor_group_add(job->run->setup->janitor, pid);
    request->traces = (struct sx_run_watch){ .fd = (int)syscall(SYS_pidfd_open, pid, 0),
                                             .fn = traces_over,
                                             .arg = job };
    if (request->traces.fd >= 0) {
        (void)sx_run_loop_add(&job->run->loop, &request->traces, EPOLLIN);
    }
    job->timeout_ns = sx_deadline_ns(sx_now_ns(), TRACES_NS);
    return true;
}

/* ---- the doors ------------------------------------------------------------------------------- */

bool sx_run_report_late(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;

    if (request == NULL || request->reported || job->ending) {
        sx_run_report_deinit(job);
        return false;
    }
    request->reported = true;
    if (request->said.report_state) {
        states_say(job);
    }
    return request->said.report_stacks && traces_begin(job);
}

void sx_run_report_deinit(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;

    if (request == NULL || request->tracer == 0) {
        return;
    }
    struct pollfd ended = { .fd = request->traces.fd, .events = POLLIN };

    if (ended.fd >= 0) {
        if (poll(&ended, 1, 0) == 0) { /* it is there, and so its group is its own */
            kill(-request->tracer, SIGKILL);
        }
        sx_run_loop_remove(&job->run->loop, &request->traces);
        close(ended.fd);
    }
    sx_janitor_group_remove(job->run->setup->janitor, request->tracer);
    request->tracer = 0;
}
