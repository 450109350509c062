/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack_report.c - write a line for each rank, and start a shell that reports the rest. */
#include "launch/job/stack_report.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/end.h"
#include "launch/pmi/pmi1.h"
#include "launch/pmi/upcall.h"

#define TRACES_NS (10 * SX_NS_PER_SEC)
#define TRACES_MAX 64u /* the first ranks only */

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

/* The state of the rank's client, as the server or PMI-1 has it. */
static const char *presence_of(const struct sx_run_job *job, uint32_t rank)
{
    return sx_run_host_is_client(job, rank)    ? "connected (PMIx_Init)"
           : sx_run_pmi1_is_client(job, rank)  ? "connected (PMI_Init)"
           : sx_run_upcall_has_come(job, rank) ? "has called PMIx_Finalize"
                                               : "has not called PMIx_Init";
}

static void states_say(struct sx_run_job *job)
{
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        const struct sx_run_rank *const at = &job->ranks[rank];
        const pid_t pid = at->alive ? sx_run_host_pid(job, rank) : 0;

        if (rank >= job->spawned) {
            sx_run_say(job->run, "state: %srank %u: not started", job->prefix, rank);
        } else if (!at->alive) {
            sx_run_say(job->run, "state: %srank %u: has ended, with code %d", job->prefix, rank,
                       at->exit_code);
        } else {
            sx_run_say(job->run, "state: %srank %u (pid %ld): %s, %s", job->prefix, rank, (long)pid,
                       state_of(pid), presence_of(job, rank));
        }
    }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* $1 and $2: the command, and the server whose open collectives are listed; "": not wanted.  A name
 * and a process for each rank follow. */
static char script[] = "[ -z \"$1\" ] || \"$1\" ls collectives \"$2\"\n"
                       "shift 2\n"
                       "for tool in eu-stack gstack pstack gdb none; do\n"
                       "    command -v $tool >/dev/null 2>&1 && break\n"
                       "done\n"
                       "[ $# = 0 ] || [ $tool != none ] || echo 'shmix run: no stack traces:"
                       " install eu-stack (elfutils), gstack, pstack or gdb'\n"
                       "[ $tool != none ] || exit 0\n"
                       "while [ $# -gt 1 ]; do\n"
                       "    pid=$2\n"
                       "    echo \"stack of $1, process $pid ($tool):\"\n"
                       "    shift 2\n"
                       "    case $tool in\n"
                       "    eu-stack) eu-stack -p $pid ;;\n"
                       "    gdb) gdb -nx -batch -p $pid -ex 'thread apply all bt' </dev/null ;;\n"
                       "    *) $tool $pid ;;\n"
                       "    esac ||\n"
                       "        echo 'no stack: may processes be traced here?"
                       " (/proc/sys/kernel/yama/ptrace_scope)'\n"
                       "done\n";

#define WORDS_FIXED 6 /* sh, -c, the script, its name, the command, the server */

struct words {
    char *all[WORDS_FIXED + 2 * TRACES_MAX + 1];
    uint32_t count;
};

/* The words behind the first four are malloc'ed. */
static void words_begin(struct words *words, bool collectives)
{
    static char shell[] = "sh", command[] = "-c";
    char *const exe = collectives ? sx_proc_exe() : NULL;

    *words = (struct words){ .all = { shell, command, script, shell,
                                      exe == NULL ? sx_cli_strdup("") : exe,
                                      sx_cli_printf("%ld", (long)getpid()) },
                             .count = WORDS_FIXED };
}

static void words_add(struct words *words, const struct sx_run_job *job)
{
    for (uint32_t rank = 0; rank < job->spawned; rank++) {
        if (job->ranks[rank].alive && words->count < WORDS_FIXED + 2 * TRACES_MAX) {
            words->all[words->count++] = sx_cli_printf("%srank %u", job->prefix, rank);
            words->all[words->count++] = sx_cli_printf("%ld", (long)sx_run_host_pid(job, rank));
        }
    }
}

static void words_free(struct words *words)
{
    for (uint32_t i = 4; i < words->count; i++) {
        free(words->all[i]);
    }
}

pid_t sx_run_shell_start(char **words, bool reports)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    pid_t pid = -1;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    if (reports) {
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    }
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
    struct sx_run_late *const late = arg;

    (void)events;
    sx_run_report_deinit(late);
    *late->deadline_ns = sx_now_ns();
}

/* If the watch fails, the report takes all of its time.  Return: false when there are no traces. */
static bool traces_begin(struct sx_run_late *late, struct words *words)
{
    const pid_t pid = sx_run_shell_start(words->all, true);

    words_free(words);
    if (pid < 0) {
        return false;
    }
    late->tracer = pid;
    sx_janitor_group_add(late->run->setup->janitor, pid);
    late->watch = (struct sx_run_watch){ .fd = (int)syscall(SYS_pidfd_open, pid, 0),
                                         .fn = traces_over,
                                         .arg = late };
    if (late->watch.fd >= 0) {
        (void)sx_run_loop_add(&late->run->loop, &late->watch, EPOLLIN);
    }
    *late->deadline_ns = sx_deadline_ns(sx_now_ns(), TRACES_NS);
    return true;
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* Return: false when the report has been made before. */
static bool late_begin(struct sx_run_late *late, struct sx_run_state *run, uint64_t *deadline_ns)
{
    if (late->reported) {
        sx_run_report_deinit(late);
        return false;
    }
    late->reported = true;
    late->run = run;
    late->deadline_ns = deadline_ns;
    return true;
}

bool sx_run_report_late(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;
    struct words words;

    if (request == NULL || job->ending || !late_begin(&request->late, job->run, &job->timeout_ns)) {
        return false;
    }
    if (request->said.report_state) {
        states_say(job);
    }
    if (!request->said.report_stacks) {
        return false;
    }
    words_begin(&words, false);
    words_add(&words, job);
    return traces_begin(&request->late, &words);
}

bool sx_run_report_all_late(struct sx_run_state *run)
{
    const struct sx_run_options *const options = run->setup->options;
    struct words words;

    if ((!options->report_state && !options->report_stacks) ||
        !late_begin(&run->late, run, &run->timeout_ns)) {
        return false;
    }
    words_begin(&words, options->report_state);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        if (options->report_state && !job->over) {
            states_say(job);
        }
        if (options->report_stacks && !job->over) {
            words_add(&words, job);
        }
    }
    return traces_begin(&run->late, &words);
}

void sx_run_report_deinit(struct sx_run_late *late)
{
    if (late->tracer == 0) {
        return;
    }
    struct pollfd ended = { .fd = late->watch.fd, .events = POLLIN };

    if (ended.fd >= 0) {
        if (poll(&ended, 1, 0) == 0) { /* the process has not ended, so the group is its own */
            kill(-late->tracer, SIGKILL);
        }
        sx_run_loop_remove(&late->run->loop, &late->watch);
        close(ended.fd);
    }
    sx_janitor_group_remove(late->run->setup->janitor, late->tracer);
    late->tracer = 0;
}
