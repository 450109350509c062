/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.h - one of the launcher's jobs: a namespace, its programs, its ranks and their fate.
 *
 *   STARTING --all started--> RUNNING --the last rank has ended--> OVER
 *       \------------------------\-- a cause --> ENDING (signal, grace, SIGKILL) --/
 *
 * The programs of a command line are one job, or with --separate-jobs one each, and stay where they
 * are until all go; jobs can be added to them, and go when they are over (launch/job/remove.h).
 * Ranks begin at 0 in every job.  What all jobs share is dealt out in one order through those that
 * live: @first + rank is a rank's place in it (PMIX_GLOBAL_RANK). */
#ifndef SX_LAUNCH_JOB_JOB_H
#define SX_LAUNCH_JOB_JOB_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "launch/ask/options.h"
#include "launch/stdio/output.h"

/* For --report; of all processes that a rank has been, but for the end, which is the last one's. */
struct sx_run_past_life {
    uint64_t begun_ns, ended_ns; /* 0: not yet */
    uint64_t user_us, system_us, rss_max_kib;
    int signal; /* that has killed it; 0: none */
    bool core_dumped;
    bool has_come, has_left; /* it has called PMIx_Init, and is no client any more */
};

struct sx_run_rank {
    struct sx_run_job *job;    /* once it has been started */
    struct sx_table_node node; /* while it lives: launch/job/start.c */
    pid_t pid;
    bool alive;
    bool unwanted;           /* an abort names it: its end is no failure */
    bool lost;               /* its client has gone, and the process that was started has not yet */
    bool loss_heard;         /* its client has gone, and the others have been told */
    bool aborts;             /* it has called PMIx_Abort */
    bool untold;             /* it has ended, and the server does not know how */
    bool again;              /* it has failed and is to be started again: launch/job/restart.c */
    uint32_t restarts;       /* how often it has been */
    uint64_t again_ns;       /* again: when that is given up */
    uint64_t again_from_ns;  /* again: not before */
    uint64_t pause_ns;       /* before this life */
    uint64_t begun_ns;       /* this life, if it is not the first */
    pmix_proc_state_t state; /* how */
    int exit_code;           /* as a shell would have it */
    struct sx_run_past_life past;
    struct sx_run_stream streams[2]; /* of stdout and stderr */
    bool at_terminal;                /* which is all three of its standard descriptors */
    struct sx_run_feed *feed;        /* of stdin, for what others push; NULL: none */
};

struct sx_run_job {
    uint32_t number; /* from 0, in the order in which they came */
    const struct sx_run_options *options;
    struct sx_run_app *apps; /* of the options; those of this job */
    uint32_t app_count, rank_count;
    uint32_t first;                  /* its ranks' places among those of all jobs begin here */
    struct sx_run_program *programs; /* one an application, as ... */
    struct sx_run_place *places;     /* ... one a rank, and somebody else's */
    char *nspace, *dir;              /* dir: its own, for what its ranks' libraries leave there */
    char *name, *prefix; /* in messages, "the job" and "", or "job 1" and "job 1, " of several */

    struct sx_run_request *request; /* what a spawn has asked for; NULL: the user has */
    struct sx_run_job *parent;      /* of the spawn; NULL: a tool, or none */
    char *root;                     /* namespace at the root of all spawns; NULL: its own */

    struct sx_run_state *run;
    struct sx_run_clients *clients; /* launch/pmi/upcall.c; NULL: it hears nothing of the job */
    struct sx_run_rank *ranks;
    struct sx_run_pmi1 *pmi1; /* launch/pmi/pmi1.c; NULL before the first rank starts */
    uint32_t spawned, alive, untold, again; /* how many ranks */
    uint32_t pids_told;                     /* of the ranks below it the server knows the pid */
    uint32_t restarts, restarts_untold; /* of all ranks; those without a line since the last one */
    bool ending, killed, over;
    struct sx_run_watch reports; /* of ranks that could not execute their program; its ... */
    int report_fd;               /* ... writing end, while ranks are started; -1: none */
    uint64_t begun_ns, ended_ns; /* it was made, and its last rank had ended; 0: not yet */
    pmix_status_t fate;          /* why it ended, as the first cause has it */
    uint32_t *bereft_by;         /* numbers of jobs on whose dead ranks some here depend */
    uint32_t bereft_count;
    uint32_t failed_rank;       /* the first that failed; UINT32_MAX: none */
    int failed_code;            /* how, as a shell would have it */
    int end_code;               /* what it ends for, as a shell would have it; 0: for nothing */
    uint64_t timeout_ns;        /* deadline */
    uint64_t kill_ns;           /* deadlines */
    uint64_t term_ns;           /* the same: those who are told of the end first */
    uint32_t loss_awaited;      /* by them, of this rank; UINT32_MAX: of none */
    struct sx_run_news *aborts; /* taken and not answered */
    const struct sx_run_news *reaction; /* of them, one that may have a cause ... */
    uint64_t reaction_ns;               /* ... until then */
    uint64_t unwanted_ns;               /* when unwanted ranks are killed */
    uint64_t lost_ns;                   /* when lost ranks are looked at */
    uint64_t survivors_ns;              /* until when what its ranks have left is killed */
};

struct sx_run_jobs {
    struct sx_run_job **at;
    uint32_t count, room;
    uint32_t numbered;         /* the next one gets this number */
    const char *session, *dir; /* names begin with these; borrowed */
};

/* Make the jobs that @options ask for, and number the ranks of their applications, which stay the
 * options', as these do.  Deinit is safe on zeroed ones and twice. */
void sx_run_jobs_init(struct sx_run_jobs *jobs, const struct sx_run_options *options);
void sx_run_jobs_deinit(struct sx_run_jobs *jobs);

/* Return: the namespace at the root of what has spawned @job; its own, if nobody has. */
static inline const char *sx_run_job_root(const struct sx_run_job *job)
{
    return job->root != NULL ? job->root : job->nspace;
}

/* Name their namespaces after the session's name, and directories of the same names in @dir. */
void sx_run_jobs_name(struct sx_run_jobs *jobs, const char *session, const char *dir);

/* One more, of all applications of @options; after the others were named, as this one is. */
struct sx_run_job *sx_run_jobs_add(struct sx_run_jobs *jobs, const struct sx_run_options *options);

/* @job, which was added, goes. */
void sx_run_jobs_remove(struct sx_run_jobs *jobs, struct sx_run_job *job);

/* How many places there are among those of all jobs: ranks of jobs that are not over yet. */
uint32_t sx_run_jobs_places(const struct sx_run_jobs *jobs);
/* The same, with a job of @rank_count ranks more, which begins at @ret_first (unless NULL): in the
 * first gap that has room for it. */
uint32_t sx_run_jobs_places_with(const struct sx_run_jobs *jobs, uint32_t rank_count,
                                 uint32_t *ret_first);

/* The application of @rank, which is one of the job's. */
const struct sx_run_app *sx_run_job_app(const struct sx_run_job *job, uint32_t rank);

static inline bool sx_run_job_is_starting(const struct sx_run_job *job)
{
    return !job->ending && job->spawned < job->rank_count;
}

#endif
