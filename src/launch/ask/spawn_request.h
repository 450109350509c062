/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_request.h - the request of a spawn, its asker's share of the bytes of all, the caller that
 * waits for its answer, and the words of --runtime-options that it may contain.
 *
 *   library's thread: infos and apps --copied, read--> request --news--> launcher's thread:
 *   judged (options of a job) --> its job's, until that goes; answered once */
#ifndef SX_LAUNCH_ASK_SPAWN_REQUEST_H
#define SX_LAUNCH_ASK_SPAWN_REQUEST_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/call/directive_tables.h"
#include "launch/ask/options.h"
#include "launch/job/diagnose.h"
#include "launch/job/loop.h"
#include "launch/pmi/pmi1_line.h"

/* ---- shares ---------------------------------------------------------------------------------- */

/* The bytes of spawns that wait to become jobs, or are jobs, and the share of each
 * asker.
 *
 *     take --> counted --give back: the job is over, or the spawn is refused--> not counted
 *
 * The rule is that of the server's tables (server/model/quota.h) on two levels.  An asker, which is
 * a job of the command line with all that it has spawned, or the tools, leaves room to other
 * askers.  A process leaves room to the others of its asker.  Each has at most nine tenths of what
 * the others leave.  Requests arrive on the server's thread and are dealt with on the launcher's,
 * so each process has one of these books, under a lock. */

#define SX_SPAWNS_BYTES_MAX ((size_t)48 << 20) /* of all that wait or are jobs */

struct sx_spawn_account;

/* The part of one request; zeroed: none. */
struct sx_spawn_share {
    struct sx_spawn_account *process;
    size_t bytes;
};

/* The memory of a request of these. */
size_t sx_spawn_bytes(const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps, size_t napps);

/* Count @bytes for @proc, one of @asker's.  Return: false when it may have no more. */
bool sx_spawn_share_take(const char *asker, const pmix_proc_t *proc, size_t bytes,
                         struct sx_spawn_share *ret);
/* Move the part @bytes of @share to another request's. */
void sx_spawn_share_part(struct sx_spawn_share *share, size_t bytes, struct sx_spawn_share *ret);
/* Safe on a zeroed share and twice. */
void sx_spawn_share_give_back(struct sx_spawn_share *share);

/* The directives of a spawn: launch/ask/spawn_directives.c has a row for each. */
struct sx_launch_options {
    /* Of an application, and of all of them when the job has it. */
    const char *wdir, *prefix, *pset;                      /* NULL: not given, as below */
    const char *hosts, *more_hosts, *hostfile, *more_file; /* this node is the only one */
    const pmix_info_t *envar;           /* one at least: environment.h reads them */
    const char *agent;                  /* executes the program */
    const char *files;                  /* with commas; are to be here */
    bool apart;                         /* a job of its own */
    bool index_argv;                    /* the rank behind the first word */
    struct sx_some_number restarts_max; /* of a rank that fails */
    /* Of the job. */
    const char *map, *bind, *ppr, *personality, *cpus, *mapper, *rank;
    struct sx_output_options output;
    struct sx_display_options display;
    bool dry;                           /* it is not started */
    bool progress;                      /* of its start is reported */
    bool separate;                      /* it outlives a parent that fails */
    bool goes_on;                       /* when a rank fails */
    uint8_t ends_nonzero;               /* enum sx_said: when one exits with another code than 0 */
    bool code_apart;                    /* the launcher's exit code does not depend on it */
    bool silent_end;                    /* notify_end, but not of a good one */
    bool not_here;                      /* but on other nodes */
    bool notify_end;                    /* its parent by an event, and of ... */
    bool notify_start;                  /* ... its begin, too */
    bool notify_launch;                 /* of that all are started */
    bool notify_ranks, notify_failures; /* of the end of each, of the bad ones */
    bool log_events, log_end;           /* the same, logged ... */
    bool log_ranks, log_failures;       /* ... to ... */
    const pmix_info_t *channel;         /* ... one of these at least */
    bool report_state, report_stacks;   /* of its ranks, when their time is over */
    bool session_cwd;                   /* wdir: the launcher's directory */
    const pmix_info_t *input_to, *input_for; /* which ranks have one: the first counts */
    bool not_over;                           /* subscribed: no more ranks than CPUs */
    const pmix_info_t *stop_on_exec, *stop_in_init, *stop_in_app; /* which ranks: the caller's */
    bool daemons;                             /* of a debugger, as many as ... */
    struct sx_some_number per_node, per_proc; /* ... these say where no number is given */
    struct sx_some_procs target;              /* the job that they look at */
    struct sx_some_number cpus_each;          /* cores or hardware threads for a rank */
    const char *target_job;                   /* the same, by its name alone */
    struct sx_some_procs beside;              /* ranks of these jobs, on their node, so many ... */
    struct sx_some_number beside_node, beside_proc; /* ... where no number is given */
    uint8_t pty;                              /* each stream of output is a terminal, with ... */
    const pmix_info_t *pty_termio, *pty_size; /* ... these settings */
    const char *search;      /* the folders that are searched first (SX_RUN_SEARCH) */
    const char *runtime;     /* some of these, in words */
    const pmix_info_t *kept; /* one at least: data of the job (launch/pmi/info.c) */
    uint64_t timeout_ns, spawn_timeout_ns, job_timeout_ns; /* 0: none */
};

extern const struct sx_directives sx_spawn_job_directives, sx_spawn_app_directives;

struct sx_run_request {
    pmix_proc_t parent; /* the requester */
    pmix_info_t *info;
    size_t ninfo;
    pmix_app_t *apps;
    size_t napps;
    struct sx_spawn_share share;       /* as long as it is there */
    bool over_share;                   /* it was not copied: the asker has its share */
    struct sx_launch_options said;     /* for the whole job */
    struct sx_launch_options *of_apps; /* for each application, with the job's values for all */
    struct sx_run_options options;     /* the same, as options of the launcher */
    char ***words;                     /* argv of each application */
    uint64_t started_ns;               /* when the request arrived */
    uint64_t progress_ns;              /* when the next progress report is due; 0: none */
    pmix_proc_t target;                /* the job of directives that name only a process */
    uint32_t target_count;             /* ranks of the job that a debugger's daemons examine */
    uint32_t beside_count;             /* ranks beside which others are to be placed */
    struct sx_run_late late;           /* the report on its ranks at the end of their time */
    bool is_found;                     /* its files have been judged: not again */
    bool over_pmi1;                    /* the request came over PMI-1, with ... */
    struct sx_run_pmi1_words preputs;  /* ... these pairs for its ranks; zeroed: none */
    bool has_started;                  /* the answer was a success */
    pmix_spawn_cbfunc_t fn;            /* NULL: answered */
    void *arg;
};

/* Copy and parse the request of @parent.  Return: PMIX_SUCCESS, and the caller sets fn and arg;
 * PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for a required directive that is not known;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_run_request_new(struct sx_run_request **ret_request, const pmix_proc_t *parent,
                                 const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps,
                                 size_t napps);
/* The same for a spawn of @asker, if that has bytes left.  Otherwise the request is over_share, and
 * has nothing but the name of its first program. */
pmix_status_t sx_run_request_ask(struct sx_run_request **ret_request, const char *asker,
                                 const pmix_proc_t *parent, const pmix_info_t *info, size_t ninfo,
                                 const pmix_app_t *apps, size_t napps);
struct sx_run_request *sx_run_request_free(struct sx_run_request *request);

/* Take out the applications that are to be a job of their own (PMIX_COSPAWN_APP), if others are
 * left.  Return: a request for them, whose answer is dropped; NULL: there are none. */
struct sx_run_request *sx_run_request_part(struct sx_run_request *request);

/* The ranks of @request examine the job @nspace, unless they examine another one. */
void sx_run_request_look_at(struct sx_run_request *request, const char *nspace);

/* Make the options of the request, on the node @host.  This reads the files that it names, unless
 * they are judged already (is_found).  Return: PMIX_SUCCESS, or why such a job is
 * impossible, with one line in @message. */
pmix_status_t sx_run_request_judge(struct sx_run_request *request, const char *host,
                                   char message[SX_RUN_MESSAGE_MAX]);

/* The ranks of @request start in @dir, the session's, if it wants that. */
void sx_run_request_set_cwd(struct sx_run_request *request, const char *dir);

/* Pack @request for a process that looks up what it names; its applications follow, each a pack of
 * its own.  Return: as sx_pack.  Unpack: the same request, without its share and its answer.
 * Return: as sx_unpack, or as sx_run_request_new. */
pmix_status_t sx_run_request_pack(const struct sx_run_request *request, pmix_data_buffer_t *buffer);
pmix_status_t sx_run_request_unpack(struct sx_run_request **ret_request,
                                    pmix_data_buffer_t *buffer);

/* Whether @rank is to stop where @info, one of the request's, says.  @info NULL: nowhere. */
bool sx_run_request_stops(const pmix_info_t *info, uint32_t rank);

/* Change @env as the request says for application @index.  Return: PMIX_SUCCESS, or as
 * sx_envar_apply. */
pmix_status_t sx_run_request_env(const struct sx_run_request *request, uint32_t index, char ***env);

/* Answer once: a second answer is dropped.  @nspace: NULL for an error. */
void sx_run_request_answer(struct sx_run_request *request, pmix_status_t status,
                           const char *nspace);

/* PMI-1: folders in which a program without one is searched first, as in PATH. */
#define SX_RUN_SEARCH "shmix.run.search"

/* ---- runtime options ------------------------------------------------------------------------- */

/* PMIX_RUNTIME_OPTIONS of a spawn: attributes in words,
 * "NAME[=VALUE],NAME...". */

/* Keys of words for which the Standard has no attribute. */
#define SX_RUN_AUTORESTART "shmix.run.autorestart"
#define SX_RUN_PROCTABLE "shmix.run.proctable"
#define SX_RUN_PROCTABLE_TO "shmix.run.proctable.to" /* a file, or "-", "+" for our streams */

/* Make the infos that @text stands for; the caller destructs and frees them.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM, with a line that names the word, for one that is unknown or has a value of
 * another kind. */
pmix_status_t sx_run_runtime_read(const char *text, pmix_info_t **ret_info, size_t *ret_ninfo);

#endif
