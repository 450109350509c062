/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.h - what the user asked of `shmix run`.
 *
 *     shmix run [options] [--] program [arguments] [: [options] [--] program [arguments]]...
 *
 * Options end at the first word that is none, or at "--"; what follows, up to a lone ":" or the
 * end, is a program and its arguments: an application.  "--app FILE" stands in the place of one and
 * means those that the lines of a file name (launch/ask/appfile.h).  They are one job, or one each
 * (launch/job/job.h).  Some options are an application's own, the others hold for all and stand
 * before the first program.  Options that users of mpirun type without thinking are taken as
 * there. */
#ifndef SX_LAUNCH_ASK_OPTIONS_H
#define SX_LAUNCH_ASK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call/directive_tables.h"
#include "launch/common/options.h"

#define SX_RUN_RANKS_MAX 16384u /* of all jobs */
#define SX_RUN_JOBS_MAX 256u
#define SX_RUN_RESTARTS_MAX 1000000u
#define SX_RUN_MESSAGE_MAX 512
#define SX_RUN_GRACE_BY_CAUSE \
    UINT64_MAX /* how long it is depends on why a job ends: launch/job/end.h */

/* What ranks are dealt out to (--map-by) and bound to (--bind-to), from small to large. */
enum sx_run_level {
    SX_RUN_LEVEL_NONE = 0, /* map: slots; bind: nothing */
    SX_RUN_LEVEL_HWTHREAD,
    SX_RUN_LEVEL_CORE,
    SX_RUN_LEVEL_L3CACHE,
    SX_RUN_LEVEL_NUMA,
    SX_RUN_LEVEL_PACKAGE,
    SX_RUN_LEVEL_NODE, /* map alone */
};

#define SX_RUN_BIND_NOT_GIVEN SX_RUN_LEVEL_NODE /* which is for --map-by alone */

enum sx_run_stdin {
    SX_RUN_STDIN_RANK = 0, /* stdin_rank reads it, the others read nothing */
    SX_RUN_STDIN_ALL,
    SX_RUN_STDIN_NONE,
};

/* What ranks have as their standard output. */
enum sx_run_terminal {
    SX_RUN_TERMINAL_BY_READER = 0, /* what suits the launcher's: launch/stdio/pty.h */
    SX_RUN_TERMINAL_NO,            /* a pipe */
    SX_RUN_TERMINAL_YES,
    SX_RUN_TERMINAL_ALL, /* stderr as well, and the input of the rank that has it */
};

enum sx_run_on_failure {
    SX_RUN_ON_FAILURE_ABORT = 0, /* of one rank: the job ends */
    SX_RUN_ON_FAILURE_NOTIFY,    /* the others are told and go on */
};

/* One program and what is said about it alone; words are borrowed from argv, but for env. */
struct sx_run_app {
    uint32_t rank_count;   /* 0 while it is not known: as many as slots, or 1 */
    bool counted;          /* -n has said it, in these words */
    bool by_default;       /* nobody has said it */
    uint32_t slot_count;   /* that --host and --hostfile name */
    uint32_t first_rank;   /* in its job (launch/job/job.c) */
    const char *wdir;      /* NULL: the launcher's */
    uint32_t restarts_max; /* of a rank that fails */
    const char *pset;      /* the process set that its ranks are in; NULL: none */
    char **env;            /* words, in the order given, as below; owned */
    size_t env_count;
    char **program;   /* argv of its ranks, NULL-terminated */
    bool index_argv;  /* with "-RANK" behind the first word */
    const char *file; /* while options are read: an app file, in its place; NULL: a program */
};

/* A word of env is NAME=VALUE; NAME, with the value that it has here; or begins with one of these:
 * UNSET NAME; PREPEND or APPEND, a character, NAME=VALUE, with the character between that and what
 * there is. */
#define SX_RUN_ENV_UNSET '\1'
#define SX_RUN_ENV_PREPEND '\2'
#define SX_RUN_ENV_APPEND '\3'

/* Add @word, which is malloc'ed and then its own. */
void sx_run_app_env_add(struct sx_run_app *app, char *word);

struct sx_run_appfile;

struct sx_run_options {
    struct sx_run_app *apps;
    uint32_t app_count;
    struct sx_run_appfile *files; /* whose words the applications borrow */
    size_t file_count;
    uint32_t rank_count;         /* of all applications */
    bool separate_jobs;          /* each application is a job */
    enum sx_run_level map, bind; /* bind: what they are mapped by, unless it is given */
    uint32_t cpus_each;          /* cores or hardware threads for a rank; 0: not said */
    bool hwthreads;              /* they are hardware threads, unless bind says otherwise */
    bool overload;               /* cores and hardware threads may be shared by ranks */
    bool not_over;               /* there are to be no more ranks than CPUs */
    char *cpus;                  /* "0-3,8": on these alone; NULL: on all; owned */
    uint32_t per_node;           /* ranks of a program that are on a node at most; 0: any */
    uint32_t per_part;           /* neighbours that are dealt out to a part; 0: in turn */
    const char *rank_by;         /* NULL: not said */
    enum sx_run_stdin stdin_mode;
    uint32_t stdin_rank; /* counted through all jobs */
    enum sx_run_terminal terminal;
    struct sx_output_options output;
    char **output_words; /* in which the names of files lie; owned, output_count of them */
    size_t output_count;
    const char *log;  /* the file of records; NULL: none */
    const char *numa; /* where its memory lies: a policy, or NULL */
    bool system_server;
    const char *report_uri;      /* a contact file, "-" or "+"; NULL: none */
    const char *report_uri_file; /* the same, of which the server makes a file in any case */
    const char *report_pid;      /* a file, "-" or "+"; NULL: none */
    const char *report;          /* the file of the record of the run; NULL: none */
    struct sx_display_options display;
    bool verbose; /* tell the steps of the launch */
    bool quiet;   /* show no progress */
    bool dry_run; /* say what would run where, and start nothing */
    enum sx_run_on_failure on_failure;
    bool with_ft;            /* the ranks' MPI is to recover from failures; on_failure is NOTIFY */
    uint64_t event_grace_ns; /* for handlers of events, between a cause and SIGTERM */
    uint64_t kill_grace_ns;  /* between SIGTERM and SIGKILL; SX_RUN_GRACE_BY_CAUSE */
    const char *debugger;    /* a command with {pid} in it; NULL: none */
    bool debugger_one;       /* it is for this rank alone: */
    uint32_t debugger_rank;  /* counted through all jobs */
    bool stop_on_exec, stop_in_init, stop_in_app; /* all ranks, for a debugger */
    uint64_t timeout_ns;              /* 0: not given; SX_DEADLINE_NEVER: none is wanted */
    bool report_state, report_stacks; /* of the ranks, at the end of that time */
    const char *timeout_by;           /* what says so: the option, or the variable */
};

extern const struct sx_verb sx_run_verb;

/* Parse @argv (NULL-terminated, the words after "run"), which is cut into the applications' argv
 * where it has a ":".  Return: SX_OPTIONS_TAKEN, or the exit code, as sx_options_take.  Deinit in
 * either case. */
int sx_run_options_init(struct sx_run_options *options, char **argv);
void sx_run_options_deinit(struct sx_run_options *options);

/* Bind as they are mapped where nothing else is given.  Return: false: cpus_each does not go with
 * what they are bound to. */
bool sx_run_bind_default(struct sx_run_options *options);
/* Of a core or a hardware thread there is one for a rank. */
bool sx_run_level_is_cpu(enum sx_run_level level);

/* The policy of --map-by or --bind-to that @word names.  Return: false for another word. */
bool sx_run_map_read(const char *word, enum sx_run_level *ret_map);
bool sx_run_bind_read(const char *word, enum sx_run_level *ret_bind);

/* The word of a policy, as the user writes it: "core", "numa"; "none" is "slot" as a map. */
const char *sx_run_level_name(enum sx_run_level level);
const char *sx_run_map_name(enum sx_run_level map);
/* One of them in a sentence: "core", "NUMA node". */
const char *sx_run_level_noun(enum sx_run_level level);

#endif
