/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* main.c - the command's verbs. */
#include <ctype.h>
#include <string.h>

#include "base/util.h"
#include "cli/verbs.h"
#include "launch/ask/options.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "launch/job/looker.h"
#include "launch/launch.h"
#include "launch/serve/serve.h"

static const struct sx_option rows[] = {
    { .help = "verbs:" },
    { .name = "run", .help = "start a job on this node" },
    { .name = "events", .help = "follow the events of a running job" },
    { .name = "ls",
      .help = "list jobs, processes, servers, groups, and what a hung fence is waiting for" },
    { .name = "get", .help = "print what is stored of running jobs, by key" },
    { .name = "query", .help = "ask a server about jobs, processes, and itself" },
    { .name = "ctl", .help = "act on running processes: pause, resume, signal or end them" },
    { .name = "log", .help = "log something where processes of a job log" },
    { .name = "mem", .help = "print the shared memory of running jobs" },
    { .name = "top", .help = "watch servers, jobs and ranks, as top(1) does processes" },
    { .name = "doctor", .help = "tell what is wrong or slow here, why it matters, what to do" },
    { .name = "stack", .help = "show in which functions the threads of ranks are" },
    { .name = "trace", .help = "run a job, and show its calls of PMIx as a timeline" },
    { .name = "serve", .help = "keep launchers ready, so that short jobs start sooner" },
    { .name = "ps, jobs, list, kill",
      .help = "other names: 'shmix ls procs', 'shmix ls' (two), 'shmix ctl term'" },
    { .name = "gateway",
      .help = "run a rank that carries another PMIx library, under a host with this one" },
    { .name = "wrap", .help = "run a program of a container's image with this library" },
    { .name = "bench", .help = "measure this library beside another, and draw a report" },
    { .name = "completion", .help = "print a script by which a shell completes verbs and options" },
    { .help = "options ('shmix VERB --help' and 'shmix help VERB' explain those of a verb, with "
              "examples):" },
};

static int completion(char **words);

static const struct sx_cli_verb verbs[] = {
    { &sx_run_verb, sx_submit },         { &sx_events_verb, sx_cli_events },
    { &sx_ls_verb, sx_cli_ls },          { &sx_get_verb, sx_cli_get },
    { &sx_query_verb, sx_cli_query },    { &sx_ctl_verb, sx_cli_ctl },
    { &sx_log_verb, sx_cli_log },        { &sx_mem_verb, sx_cli_mem },
    { &sx_top_verb, sx_cli_top },        { &sx_doctor_verb, sx_cli_doctor },
    { &sx_stack_verb, sx_cli_stack },    { &sx_trace_verb, sx_cli_trace },
    { &sx_serve_verb, sx_serve },        { &sx_gateway_verb, sx_cli_gateway },
    { &sx_wrap_verb, sx_cli_wrap },      { &sx_bench_verb, sx_cli_bench },
    { &sx_completion_verb, completion },
};

static int completion(char **words)
{
    return sx_cli_completion(words, verbs, SX_COUNT(verbs));
}

/* Names that users of other commands type: a verb, and its first word (empty: none). */
static struct {
    const char *name, *verb;
    char word[8];
    bool takes_signal; /* kill(1)'s -9 and -KILL */
} others[] = {
    { "ps", "ls", "procs", false },
    { "jobs", "ls", "jobs", false },
    { "list", "ls", "", false },
    { "kill", "ctl", "term", true },
};

static char signal_word[] = "signal";

static bool is_signal(const char *word)
{
    return word != NULL && word[0] == '-' &&
           (isdigit((unsigned char)word[1]) || isupper((unsigned char)word[1])) &&
           !sx_options_every_verb_has(word);
}

static const struct sx_habit habits[] = {
    { "squeue status show", "is 'shmix ls' here, and of processes 'shmix ls procs'", false },
    { "scancel stop end", "is 'shmix kill NAMESPACE | PID' here; 'shmix ls' has both", false },
    { "stacks pstack gstack bt",
      "is 'shmix stack' here; at a time limit 'shmix run --timeout SECONDS --get-stack-traces'",
      false },
    { "exec srun mpirun mpiexec", "is 'shmix run' here", false },
    { NULL, NULL, false },
};

/* All verbs except those with a launcher only read what servers have. */
static int verb_call(int (*fn)(char **words), char **words)
{
    if (fn != sx_submit && fn != sx_serve && fn != sx_cli_trace) {
        sx_cli_outside_quiet();
    }
    return fn(words);
}

static const struct sx_verb command = {
    .name = "shmix",
    .try_begin = "shmix",
    .try_end = " --help",
    .about = "usage: shmix VERB [options]\n"
             "       shmix [options] PROGRAM ...   (an option in place of the verb: shmix run)\n\n"
             "shmix is a PMIx library for one node whose data lies in shared memory.\n",
    .more = "\ntry:\n  shmix run -n 2 hostname\n",
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

/* @words: the name of the verb, and its words. */
static int verb_run(char **words)
{
    const char *name = words[0];

    words++;
    for (size_t i = 0; i < SX_COUNT(others); i++) {
        if (strcmp(name, others[i].name) == 0) {
            name = others[i].verb;
            if (others[i].takes_signal && is_signal(words[0])) {
                words[0]++;
                *--words = signal_word;
            } else if (others[i].word[0] != '\0') {
                *--words = others[i].word;
            }
        }
    }
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        if (strcmp(name, verbs[i].verb->name + strlen("shmix ")) == 0) {
            return verb_call(verbs[i].fn, words);
        }
    }
    if (strchr(name, '/') != NULL) {
        return sx_options_refuse(&command, NULL,
                                 "'%.200s' is no verb; a program is started by 'shmix run %.200s'",
                                 name, name);
    }
    return sx_options_refuse_unknown(&command, "verb", name, strlen(name));
}

int main(int argc, char **argv)
{
    static char help[] = "--help", version[] = "--version";
    char **words = argv + (argc > 0);
    int (*const named)(char **words) = argc > 0 ? sx_field_find(argv[0]) : NULL;

    if (sx_looker_is(argc, argv)) {
        return sx_looker_main(argv);
    }
    if (named != NULL) {
        return verb_call(named, words);
    }
    if (words[0] != NULL && words[0][0] == '-' && !sx_options_every_verb_has(words[0])) {
        return sx_submit(words);
    }
    if (words[0] != NULL && strcmp(words[0], "help") == 0 && words[1] != NULL) {
        words[0] = words[1];
        words[1] = help;
        words[2] = NULL;
        return verb_run(words);
    }
    if (words[0] != NULL && strcmp(words[0], "help") == 0) {
        words[0] = help;
    } else if (words[0] != NULL && strcmp(words[0], "version") == 0) {
        words[0] = version;
    }
    const int code = sx_options_take(&command, NULL, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] == NULL) {
        sx_options_help(&command);
        return SX_EXIT_USAGE;
    }
    return verb_run(words);
}
