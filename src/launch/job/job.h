/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.h - one of the launcher's jobs: a namespace, its programs, its ranks and their fate.
 *
 * The states of a job, and what changes them, are drawn in launch/job/job.c.
 *
 * The programs of a command line are one job, or with --separate-jobs one job each.  These jobs
 * stay until all are removed.  Further jobs can be added, and are removed when they are over
 * (launch/job/state.h).  Ranks begin at 0 in every job.  Resources that all jobs share are
 * assigned in one order through the jobs that live: @first + rank is a rank's place in this order
 * (PMIX_GLOBAL_RANK). */
#ifndef SX_LAUNCH_JOB_JOB_H
#define SX_LAUNCH_JOB_JOB_H

#include <pmix_common.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "launch/ask/options.h"
#include "launch/stdio/output.h"

/* For --report: sums over all processes that a rank has been.  Only the end is the last
 * process's. */
struct sx_run_past_life {
    uint64_t begun_ns, ended_ns; /* 0: not yet */
    uint64_t user_us, system_us, rss_max_kib;
    int signal; /* the signal that has killed it; 0: none */
    bool core_dumped;
    bool has_come, has_left; /* PMIx_Init has been called; the client has gone */
};

/* Processes that ranks have left are killed until none is left: launch/job/orphans.c. */
struct sx_run_hunt {
    bool begun;
    uint64_t until_ns;    /* if begun: no longer than that */
    struct sx_timer look; /* the next pass */
};

struct sx_run_rank {
    struct sx_run_job *job;    /* once it has been started */
    struct sx_table_node node; /* while it lives: launch/job/start.c */
    pid_t pid;
    bool alive;
    bool stops;              /* it is to stop before its first instruction, and has not yet */
    bool unwanted;           /* an abort names it: its end is no failure */
    bool lost;               /* its client has gone, and the process that was started lives */
    bool loss_received;      /* its client has gone, and the loss has been published */
    bool aborts;             /* it has called PMIx_Abort */
    bool unnotified;         /* it has ended, and the server has not been given the status */
    bool again;              /* it has failed and is to be started again: launch/job/job.c */
    uint32_t restarts;       /* how often the rank has been restarted */
    uint64_t again_ns;       /* if again: when the restart is given up */
    uint64_t again_from_ns;  /* if again: the restart is not before this time */
    uint64_t pause_ns;       /* the pause before this life */
    uint64_t begun_ns;       /* when this life began, if it is not the first */
    uint64_t killed_ns;      /* when it was sent SIGKILL first; 0: it was not */
    struct sx_poll end;      /* its pidfd: launch/job/traced.c */
    uint64_t kept_ns;        /* when it ended, if its tracer keeps the end; 0: none does */
    pmix_proc_state_t state; /* how the rank ended */
    int exit_code;           /* as a shell would have it */
    struct sx_run_past_life past;
    struct sx_run_stream streams[2]; /* of stdout and stderr */
    bool at_terminal;                /* a terminal is all three of its standard descriptors */
    struct sx_run_feed *feed;        /* of stdin, for input that others push; NULL: none */
};

enum sx_run_job_state {
    SX_RUN_STARTING, /* some ranks have not been started */
    SX_RUN_RUNNING,  /* all have, and some live */
    SX_RUN_ENDING,   /* there is a cause: its ranks get a signal, and are then killed */
    SX_RUN_OVER,     /* no process is left */
};

struct sx_run_job {
    uint32_t number; /* from 0, in the order in which the jobs were made */
    const struct sx_run_options *options;
    struct sx_run_app *apps; /* those applications of the options that belong to this job */
    uint32_t app_count, rank_count;
    uint32_t first;                  /* its ranks' places among those of all jobs begin here */
    struct sx_run_program *programs; /* one for each application */
    struct sx_run_place *places;     /* one for each rank; owned elsewhere */
    char *nspace, *dir;              /* dir: for files that the libraries of its ranks leave */
    char *name, *prefix; /* in messages: "the job" and ""; of several jobs "job 1" and "job 1, " */

    struct sx_run_request *request; /* the request of the spawn; NULL: the user's command line */
    struct sx_run_job *parent;      /* the job that has spawned this one; NULL: a tool, or none */
    char *root;                     /* namespace at the root of all spawns; NULL: this job's own */

    struct sx_run_state *run;
    _Atomic uint32_t holds; /* by news and answers that are under way: launch/job/mailbox.h */
    bool loss_posted;       /* a rank has gone without PMIx_Finalize; under the mailbox's lock */
    struct sx_run_clients *clients; /* launch/pmi/upcall.c; NULL: the job receives no upcalls */
    struct sx_run_rank *ranks;
    struct sx_run_pmi1 *pmi1; /* launch/pmi/pmi1.c; NULL before the first rank starts */
    uint32_t spawned, alive, unnotified, again; /* how many ranks */
    uint32_t pids_notified;                     /* the server has the pids of lower ranks */
    uint32_t restarts, restarts_unnotified;     /* of all ranks; since the last line about them */
    enum sx_run_job_state state;                /* launch/job/job.c alone changes it */
    bool caused; /* there is a cause for its end; also once it is over */
    bool killed;
    struct sx_poll reports;      /* of ranks that could not execute their program */
    uint32_t stops;              /* ranks that have not stopped yet */
    bool held;                   /* until it is known whether the one beside it can start */
    bool started_unnotified;     /* ... which acts->started waits for */
    int report_fd;               /* writing end of reports, while ranks start; -1: none */
    uint64_t begun_ns, ended_ns; /* job made, last rank ended; 0: not yet */
    pmix_status_t fate;          /* why the job ended: the first cause decides */
    uint32_t *bereft_by;         /* jobs on whose dead ranks some ranks here depend */
    uint32_t bereft_count;
    uint32_t failed_rank;       /* the first rank that failed; UINT32_MAX: none */
    int failed_code;            /* how, as a shell would have it */
    int end_code;               /* why the job ends, as a shell would have it; 0: no cause */
    struct sx_timer timeout;    /* its time limit */
    struct sx_timer term;       /* the handlers that run before the end have their time */
    struct sx_timer kill;       /* the grace after the signal is over */
    struct sx_timer stuck;      /* ranks that SIGKILL has not ended are checked */
    struct sx_timer kept;       /* ranks whose end a tracer keeps are checked */
    uint32_t loss_awaited;      /* rank whose loss is published first; UINT32_MAX: none */
    struct sx_run_news *aborts; /* taken and not answered yet */
    const struct sx_run_news *reaction_to; /* an abort that may be a reaction to a cause ... */
    struct sx_timer reaction;              /* ... which may be known until then */
    struct sx_timer unwanted;              /* unwanted ranks are killed */
    struct sx_timer lost;                  /* lost ranks are checked */
    struct sx_timer restart;               /* ranks that are to be started again are checked */
    struct sx_run_hunt hunt;               /* for what its ranks have left */
};

struct sx_run_jobs {
    struct sx_run_job **at;
    uint32_t count, room;
    uint32_t numbered;         /* the number of the next job */
    const char *session, *dir; /* names begin with these; borrowed */
};

/* Make the jobs that @options ask for, and number the ranks of their applications.  The options own
 * the applications, and the caller the options.  Deinit is safe on zeroed jobs and twice. */
void sx_run_jobs_init(struct sx_run_jobs *jobs, const struct sx_run_options *options);
void sx_run_jobs_deinit(struct sx_run_jobs *jobs);

/* Return: the namespace at the root of the spawns that led to @job; its own, if nobody has spawned
 * it. */
static inline const char *sx_run_job_root(const struct sx_run_job *job)
{
    return job->root != NULL ? job->root : job->nspace;
}

/* Name their namespaces after the session's name, and directories of the same names in @dir. */
void sx_run_jobs_name(struct sx_run_jobs *jobs, const char *session, const char *dir);

/* Add one job, of all applications of @options.  Its namespace is named here, so the other jobs
 * must have their names. */
struct sx_run_job *sx_run_jobs_add(struct sx_run_jobs *jobs, const struct sx_run_options *options);

/* Remove @job, which was added. */
void sx_run_jobs_remove(struct sx_run_jobs *jobs, struct sx_run_job *job);

/* How many places the ranks of the jobs that are not over take in the order of all jobs. */
uint32_t sx_run_jobs_places(const struct sx_run_jobs *jobs);
/* The same, with one more job of @rank_count ranks.  It begins at @ret_first (unless NULL), in the
 * first gap that has room for it. */
uint32_t sx_run_jobs_places_with(const struct sx_run_jobs *jobs, uint32_t rank_count,
                                 uint32_t *ret_first);

/* The application of @rank, which is one of the job's. */
const struct sx_run_app *sx_run_job_app(const struct sx_run_job *job, uint32_t rank);

static inline bool sx_run_job_is_starting(const struct sx_run_job *job)
{
    return job->state == SX_RUN_STARTING && job->spawned < job->rank_count;
}

#endif
