/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debugger.c - a shell for each command, in which the numbers replace their names. */
#include "launch/job/debugger.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/end.h"
#include "launch/job/stack_report.h"
#include "launch/job/state.h"
#include "launch/pmi/host.h"

bool sx_run_debugger_is_wanted(const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_options *const options = job->options;

    return options->debugger != NULL &&
           (!options->debugger_one || options->debugger_rank == job->first + rank);
}

bool sx_run_debugger_is_first(const struct sx_run_job *job, uint32_t rank)
{
    return sx_run_debugger_is_wanted(job, rank) && !job->options->stop_in_init &&
           !job->options->stop_in_app;
}

/* @text with @word for each @name; malloc'ed. */
static char *replace(const char *text, const char *name, const char *word)
{
    char *all = sx_cli_strdup("");

    for (const char *found; (found = strstr(text, name)) != NULL; text = found + strlen(name)) {
        char *const more = sx_cli_printf("%s%.*s%s", all, (int)(found - text), text, word);

        free(all);
        all = more;
    }
    char *const whole = sx_cli_printf("%s%s", all, text);

    free(all);
    return whole;
}

static char *command_of(const struct sx_run_job *job, uint32_t rank, pid_t of)
{
    char pid[24], number[24];
    const char *const parts[][2] = { { "{pid}", pid },
                                     { "{rank}", number },
                                     { "{job}", job->nspace } };
    char *command = sx_cli_strdup(job->options->debugger);

    snprintf(pid, sizeof(pid), "%ld", (long)of);
    snprintf(number, sizeof(number), "%u", job->first + rank);
    for (size_t i = 0; i < SX_COUNT(parts); i++) {
        char *const whole = replace(command, parts[i][0], parts[i][1]);

        free(command);
        command = whole;
    }
    return command;
}

/* The debugger may have read, and been stopped for that, before it had the terminal. */
static void front_give(struct sx_run_debuggers *debuggers, pid_t pid)
{
    if (debuggers->front == 0 && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
        tcsetpgrp(STDIN_FILENO, pid) == 0) {
        debuggers->front = pid;
        kill(-pid, SIGCONT);
    }
}

static bool has_one(const struct sx_run_debuggers *debuggers, pid_t of)
{
    for (uint32_t i = 0; i < debuggers->count; i++) {
        if (debuggers->all[i].of == of) {
            return true;
        }
    }
    return false;
}

void sx_run_debugger_start(struct sx_run_job *job, uint32_t rank)
{
    static char shell[] = "sh", option[] = "-c";
    struct sx_run_debuggers *const debuggers = &job->run->debuggers;
    const pid_t of = sx_run_host_pid(job, rank);

    if (has_one(debuggers, of)) {
        return;
    }
    char *const command = command_of(job, rank, of);
    char *words[] = { shell, option, command, NULL };

    sx_run_say(job->run, "%srank %u (pid %ld): %s", job->prefix, rank, (long)of, command);
    const pid_t pid = sx_run_shell_start(words, false);

    if (pid < 0) {
        sx_run_say(job->run, "%srank %u has no debugger: /bin/sh cannot be started", job->prefix,
                   rank);
    } else {
        sx_janitor_group_add(job->run->setup->janitor, pid);
        if (debuggers->count == debuggers->room) {
            debuggers->room = 2 * debuggers->room + 4;
            debuggers->all = sx_cli_realloc(debuggers->all, debuggers->room,
                                            sizeof(*debuggers->all));
        }
        debuggers->all[debuggers->count++] = (struct sx_run_debugger){ pid, of, rank };
        front_give(debuggers, pid);
    }
    free(command);
}

/* Return: its index; the count when @pid is not a debugger. */
static uint32_t place_of(const struct sx_run_debuggers *debuggers, pid_t pid)
{
    uint32_t i = 0;

    while (i < debuggers->count && debuggers->all[i].pid != pid) {
        i++;
    }
    return i;
}

bool sx_run_debugger_is(const struct sx_run_state *run, pid_t pid)
{
    return place_of(&run->debuggers, pid) < run->debuggers.count;
}

void sx_run_debugger_ended(struct sx_run_state *run, pid_t pid)
{
    struct sx_run_debuggers *const debuggers = &run->debuggers;
    const uint32_t i = place_of(debuggers, pid);

    if (i == debuggers->count) {
        return;
    }
    const struct sx_run_debugger ended = debuggers->all[i];

    debuggers->all[i] = debuggers->all[--debuggers->count];
    sx_janitor_group_remove(run->setup->janitor, pid);
    if (debuggers->front == pid) {
        debuggers->front = 0;
        (void)tcsetpgrp(STDIN_FILENO, getpgrp());
    }
    if (sx_proc_state(ended.of) == 'T') {
        sx_run_say(run,
                   "the debugger of rank %u has ended, and pid %ld is stopped still: let it go on "
                   "with 'kill -CONT %ld'",
                   ended.rank, (long)ended.of, (long)ended.of);
    }
}

void sx_run_debuggers_end(struct sx_run_state *run, bool at_once)
{
    struct sx_run_debuggers *const debuggers = &run->debuggers;

    for (uint32_t i = 0; i < debuggers->count; i++) {
        kill(-debuggers->all[i].pid, at_once || debuggers->told ? SIGKILL : SIGTERM);
        kill(-debuggers->all[i].pid, SIGCONT);
    }
    debuggers->told = true;
}

void sx_run_debuggers_deinit(struct sx_run_state *run)
{
    sx_run_debuggers_end(run, true);
    free(run->debuggers.all);
    run->debuggers = (struct sx_run_debuggers){ .count = 0 };
}
