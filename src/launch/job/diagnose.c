/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* diagnose.c - the report writes a line for each rank, and starts a shell that reports the rest. */
#include "launch/job/diagnose.h"

#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/pmi/host.h"
#include "launch/pmi/pmi1.h"
#include "launch/pmi/upcall.h"

#define TRACES_NS (10 * SX_NS_PER_SEC)
#define TRACES_MAX 1024u /* the first ranks only, as many as 'shmix stack' looks at */

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

/* $1: the command; $2: the server whose open collectives are listed, empty if they are not wanted.
 * The processes whose stacks are wanted follow. */
static char script[] = "command=$1\n"
                       "[ -z \"$2\" ] || \"$command\" ls collectives \"$2\"\n"
                       "shift 2\n"
                       "[ $# = 0 ] || exec \"$command\" stack --timeout 8 --within 8 \"$@\"\n";

#define WORDS_FIXED 6 /* sh, -c, the script, its name, the command, the server */

struct words {
    char *all[WORDS_FIXED + TRACES_MAX + 1];
    uint32_t count;
};

/* The words behind the first four are malloc'ed. */
static void words_begin(struct words *words, bool collectives)
{
    static char shell[] = "sh", command[] = "-c";
    char *const exe = sx_proc_exe();
    char *const server = collectives ? sx_cli_printf("%ld", (long)getpid()) : sx_cli_strdup("");

    *words = (struct words){ .all = { shell, command, script, shell,
                                      exe == NULL ? sx_cli_strdup("shmix") : exe, server },
                             .count = WORDS_FIXED };
}

static void words_add(struct words *words, const struct sx_run_job *job)
{
    for (uint32_t rank = 0; rank < job->spawned; rank++) {
        if (job->ranks[rank].alive && words->count < WORDS_FIXED + TRACES_MAX) {
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

/* The time limit's function is called once more. */
static void limit_again(const struct sx_run_late *late, uint64_t delay_ns)
{
    sx_run_after(&late->run->loop, late->timer, delay_ns, late->timer->fn, late->timer->arg);
}

static void traces_over(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_run_late *const late = arg;

    (void)revents;
    (void)now_ns;
    sx_run_report_deinit(late);
    limit_again(late, 0);
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
    late->watch = (struct sx_poll){ .fd = (int)syscall(SYS_pidfd_open, pid, 0),
                                    .fn = traces_over,
                                    .arg = late };
    if (late->watch.fd >= 0) {
        (void)sx_run_watch(&late->run->loop, &late->watch, POLLIN);
    }
    limit_again(late, TRACES_NS);
    return true;
}

/* ---- entry points ---------------------------------------------------------------------------- */

/* Return: false when the report has been made before. */
static bool late_begin(struct sx_run_late *late, struct sx_run_state *run, struct sx_timer *timer)
{
    if (late->reported) {
        sx_run_report_deinit(late);
        return false;
    }
    late->reported = true;
    late->run = run;
    late->timer = timer;
    return true;
}

bool sx_run_report_late(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;
    struct words words;

    if (request == NULL || job->caused || !late_begin(&request->late, job->run, &job->timeout)) {
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
        !late_begin(&run->late, run, &run->timeout)) {
        return false;
    }
    words_begin(&words, options->report_state);
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        if (options->report_state && job->state != SX_RUN_OVER) {
            states_say(job);
        }
        if (options->report_stacks && job->state != SX_RUN_OVER) {
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
        sx_run_unwatch(&late->watch);
        close(ended.fd);
    }
    sx_janitor_group_remove(late->run->setup->janitor, late->tracer);
    late->tracer = 0;
}

/* ---- core ------------------------------------------------------------------------------------ */

/* The kernel's pattern becomes one of glob(7): '*' stands for each unknown part. */

#define WHERE_MAX 512 /* bytes: a longer name is not shown */

static void literal_put(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("*?[\\", *text) != NULL) {
            putc('\\', out);
        }
        putc(*text, out);
    }
}

/* Write what @word, the letter behind a '%' of the pattern, stands for. */
static void word_put(FILE *out, char word, const struct sx_run_core *core)
{
    char host[65] = "";

    switch (word) {
    case '%':
        putc('%', out);
        break;
    case 'p':
    case 'i':
        fprintf(out, "%ld", (long)core->pid);
        break;
    case 's':
        fprintf(out, "%d", core->signal);
        break;
    case 'u':
        fprintf(out, "%ld", (long)getuid());
        break;
    case 'g':
        fprintf(out, "%ld", (long)getgid());
        break;
    case 'h':
        (void)gethostname(host, sizeof(host) - 1);
        literal_put(out, host);
        break;
    default:
        putc('*', out);
        break;
    }
}

/* Malloc'ed. */
static char *glob_make(const struct sx_run_core *core)
{
    char *made = NULL;
    size_t size;
    FILE *const out = open_memstream(&made, &size);

    if (out == NULL) {
        sx_cli_no_memory();
    }
    if (core->pattern[0] != '/') {
        literal_put(out, core->dir);
        putc('/', out);
    }
    for (const char *at = core->pattern; *at != '\0'; at++) {
        const char one[2] = { *at, '\0' };

        if (*at != '%') {
            literal_put(out, one);
        } else if (at[1] != '\0') {
            word_put(out, *++at, core);
        }
    }
    if (core->adds_pid && strstr(core->pattern, "%p") == NULL) {
        fprintf(out, ".%ld", (long)core->pid);
    }
    if (fclose(out) != 0 || made == NULL) {
        sx_cli_no_memory();
    }
    return made;
}

static char *file_find(const struct sx_run_core *core)
{
    char *const pattern = glob_make(core), *found = NULL;
    glob_t names = { 0 };
    struct stat st;

    if (glob(pattern, GLOB_NOSORT, NULL, &names) == 0 && names.gl_pathc == 1 &&
        lstat(names.gl_pathv[0], &st) == 0 && S_ISREG(st.st_mode) && st.st_mtime >= core->since &&
        strlen(names.gl_pathv[0]) < WHERE_MAX) {
        found = sx_cli_strdup(names.gl_pathv[0]);
    }
    globfree(&names);
    free(pattern);
    return found;
}

char *sx_run_core_find(const struct sx_run_core *core)
{
    const size_t len = strcspn(core->pattern, " ");

    if (strstr(core->pattern, "systemd-coredump") != NULL ||
        strstr(core->pattern, "systemd/coredump") != NULL) {
        return sx_cli_printf("coredumpctl info %ld", (long)core->pid);
    }
    if (core->pattern[0] == '|' || core->pattern[0] == '@') {
        return len < WHERE_MAX ? sx_cli_printf("given to %.*s", (int)len - 1, core->pattern + 1)
                               : NULL;
    }
    return core->pattern[0] == '\0' ? NULL : file_find(core);
}

/* The first line of @path. */
static void line_read(const char *path, char line[WHERE_MAX])
{
    FILE *const file = fopen(path, "re");

    line[0] = '\0';
    if (file != NULL && fgets(line, WHERE_MAX, file) == NULL) {
        line[0] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
    if (file != NULL) {
        fclose(file);
    }
}

char *sx_run_core_of(pid_t pid, int signal, const char *dir, time_t since)
{
    char pattern[WHERE_MAX], adds_pid[WHERE_MAX];
    char *const whole = realpath(dir == NULL ? "." : dir, NULL);

    line_read("/proc/sys/kernel/core_pattern", pattern);
    line_read("/proc/sys/kernel/core_uses_pid", adds_pid);
    const struct sx_run_core core = { .pattern = pattern,
                                      .adds_pid = adds_pid[0] == '1',
                                      .dir = whole == NULL ? "" : whole,
                                      .pid = pid,
                                      .signal = signal,
                                      .since = since };
    char *const found = whole == NULL ? NULL : sx_run_core_find(&core);

    free(whole);
    return found;
}

/* ---- debugger -------------------------------------------------------------------------------- */

/* A shell for each command, in which the numbers replace their names. */

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
        kill(-debuggers->all[i].pid, at_once || debuggers->notified ? SIGKILL : SIGTERM);
        kill(-debuggers->all[i].pid, SIGCONT);
    }
    debuggers->notified = true;
}

void sx_run_debuggers_deinit(struct sx_run_state *run)
{
    sx_run_debuggers_end(run, true);
    free(run->debuggers.all);
    run->debuggers = (struct sx_run_debuggers){ .count = 0 };
}
