/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.h - the options of the user for `shmix run`.
 *
 *     shmix run [options] [--] program [arguments] [: [options] [--] program [arguments]]...
 *
 * Options end at "--", or at the first word that is not an option.  An application follows: a
 * program and its arguments, up to a lone ":" or the end.  "--app FILE" may replace an application,
 * and stands for those in the lines of the file (launch/ask/sources.h).  The applications are one
 * job, or one job each (launch/job/job.h).  Some options belong to one application; the others are
 * for all and stand before the first program.  Options that users of mpirun type out of habit have
 * the meaning that they have there. */
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
    UINT64_MAX /* the grace period depends on why a job ends: launch/job/state.h */

/* Objects to which ranks are assigned (--map-by) and bound (--bind-to), from small to large. */
enum sx_run_level {
    SX_RUN_LEVEL_NONE = 0, /* map: slots; bind: nothing */
    SX_RUN_LEVEL_HWTHREAD,
    SX_RUN_LEVEL_CORE,
    SX_RUN_LEVEL_L3CACHE,
    SX_RUN_LEVEL_NUMA,
    SX_RUN_LEVEL_PACKAGE,
    SX_RUN_LEVEL_NODE, /* for map only */
};

#define SX_RUN_BIND_NOT_GIVEN SX_RUN_LEVEL_NODE /* NODE is for --map-by only */

enum sx_run_stdin {
    SX_RUN_STDIN_RANK = 0, /* stdin_rank reads the input, the others have none */
    SX_RUN_STDIN_ALL,
    SX_RUN_STDIN_NONE,
};

/* The kind of standard output that ranks have. */
enum sx_run_terminal {
    SX_RUN_TERMINAL_BY_READER = 0, /* as the launcher's output suggests: launch/stdio/pty.h */
    SX_RUN_TERMINAL_NO,            /* a pipe */
    SX_RUN_TERMINAL_YES,
    SX_RUN_TERMINAL_ALL, /* stderr as well, and the input of the rank that reads it */
};

enum sx_run_on_failure {
    SX_RUN_ON_FAILURE_ABORT = 0, /* if a rank fails, the job ends */
    SX_RUN_ON_FAILURE_NOTIFY,    /* the others receive an event and continue */
};

/* One program and its own options; words are borrowed from argv, except env. */
struct sx_run_app {
    uint32_t rank_count;   /* 0 while unknown: then as many as slots, or 1 */
    bool counted;          /* -n has given the number, in these words */
    bool by_default;       /* no option has given the number */
    uint32_t slot_count;   /* named by --host and --hostfile */
    uint32_t first_rank;   /* in its job (launch/job/jobs.c) */
    const char *wdir;      /* NULL: the launcher's */
    uint32_t restarts_max; /* of a rank that fails */
    const char *pset;      /* the process set of its ranks; NULL: none */
    char **env;            /* words in the order given, as described below; owned */
    size_t env_count;
    char **program;     /* argv of its ranks, NULL-terminated */
    bool index_argv;    /* the first word has "-RANK" appended */
    const char *file;   /* while options are read: the app file in this place; NULL: a program */
    const char *search; /* folders that are searched before PATH; borrowed, NULL: none */
};

/* A word of env is NAME=VALUE; or NAME, with its value here; or begins with one of these
 * characters.  UNSET is followed by NAME.  PREPEND or APPEND is followed by a character and
 * NAME=VALUE; the character separates VALUE from the present value. */
#define SX_RUN_ENV_UNSET '\1'
#define SX_RUN_ENV_PREPEND '\2'
#define SX_RUN_ENV_APPEND '\3'

struct sx_run_appfile;

struct sx_run_options {
    struct sx_run_app *apps;
    uint32_t app_count;
    struct sx_run_appfile *files; /* the applications borrow their words */
    size_t file_count;
    uint32_t rank_count;         /* of all applications */
    bool separate_jobs;          /* each application is a job */
    enum sx_run_level map, bind; /* bind: the value of map, unless given */
    uint32_t cpus_each;          /* cores or hardware threads for a rank; 0: not given */
    bool hwthreads;              /* cpus_each counts these, unless bind decides otherwise */
    bool overload;               /* cores and hardware threads may be shared by ranks */
    bool not_over;               /* refuse more ranks than CPUs */
    char *cpus;                  /* "0-3,8": only on these; NULL: on all; owned */
    uint32_t per_node;           /* ranks of a program on a node at most; 0: any number */
    bool per_node_by_map;        /* --map-by ppr has given it */
    uint32_t per_part;           /* neighbours assigned to one part; 0: one part after the other */
    const char *rank_by;         /* NULL: not given */
    enum sx_run_stdin stdin_mode;
    uint32_t stdin_rank; /* counted through all jobs */
    enum sx_run_terminal terminal;
    struct sx_output_options output;
    char **output_words; /* contain the names of files; owned, output_count of them */
    size_t output_count;
    const char *log;  /* the file of records; NULL: none */
    const char *numa; /* the policy for its memory, or NULL */
    bool system_server;
    const char *report_uri;      /* a contact file, "-" or "+"; NULL: none */
    const char *report_uri_file; /* the same, always a file that the server writes */
    const char *report_pid;      /* a file, "-" or "+"; NULL: none */
    const char *report;          /* the file of the record of the run; NULL: none */
    struct sx_display_options display;
    bool verbose;          /* report the steps of the launch */
    bool quiet;            /* show no progress */
    bool by_server, alone; /* launch/serve/serve.h reads them before the others */
    bool dry_run;          /* report what would run where, and start nothing */
    enum sx_run_on_failure on_failure;
    bool with_ft;            /* the ranks' MPI shall recover from failures; on_failure is NOTIFY */
    uint64_t event_grace_ns; /* for the handlers of events, between a cause and SIGTERM */
    uint64_t kill_grace_ns;  /* between SIGTERM and SIGKILL; SX_RUN_GRACE_BY_CAUSE */
    const char *debugger;    /* a command with {pid} in it; NULL: none */
    bool debugger_one;       /* for one rank only: */
    uint32_t debugger_rank;  /* counted through all jobs */
    bool stop_on_exec, stop_in_init, stop_in_app; /* all ranks, for a debugger */
    uint64_t timeout_ns;                          /* 0: not given; SX_DEADLINE_NEVER: no limit */
    bool report_state, report_stacks;             /* report the ranks at the end of that time */
    const char *timeout_by;                       /* the option or variable that has set it */
};

extern const struct sx_verb sx_run_verb;

/* Parse @argv (NULL-terminated, the words after "run").  At each ":" it is cut into the argv of the
 * applications.  Return: SX_OPTIONS_TAKEN, or the exit code, as sx_options_take.  Deinit in either
 * case. */
int sx_run_options_init(struct sx_run_options *options, char **argv);
void sx_run_options_deinit(struct sx_run_options *options);

#endif
