/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mailbox.h - news for the launcher's thread, from any thread.
 *
 *   post --the queue, and the descriptor becomes readable--> deal: the row of its kind takes it
 *
 * News are dealt in the order in which they were posted.  A news holds the jobs that it names, so
 * these are not removed before.  Memory is bounded by the callers that wait for an answer; each
 * rank adds one loss and SX_RUN_BREAKPOINTS breakpoints (launch/pmi/upcall.h) at most, each tool
 * its end.  Upcalls carry no pointer to the launcher, so each process has one mailbox. */
#ifndef SX_LAUNCH_JOB_MAILBOX_H
#define SX_LAUNCH_JOB_MAILBOX_H

#include <pmix_common.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "launch/job/job.h"

struct sx_run_state;

#define SX_RUN_ABORT_TEXT_MAX 256

enum sx_run_news_kind {
    SX_RUN_NEWS_ABORT,   /* a request for an abort */
    SX_RUN_NEWS_CONTROL, /* a request for job control */
    SX_RUN_NEWS_LOST,    /* a process of @rank has gone without PMIx_Finalize */
    SX_RUN_NEWS_READY,   /* @rank waits for a debugger */
    SX_RUN_NEWS_SPAWN,   /* a request for a job */
    SX_RUN_NEWS_PUSH,    /* input for ranks */
    SX_RUN_NEWS_HANDLED, /* the event that sx_run_upcall_handled waits for has happened */
    SX_RUN_NEWS_GONE,    /* @tool, or a rank of a job that is not there, has gone */
    SX_RUN_NEWS_BEREFT,  /* ranks of the job depend on a rank of the job @by, which has died */
    SX_RUN_NEWS_KINDS,
};

/* One call of PMIx_Abort or PMIx_Job_control, and its news for each job that it names. */
struct sx_run_abort {
    struct sx_run_job *job; /* the caller's job, held; NULL: a tool */
    uint32_t rank;
    int status; /* of job control: a signal */
    bool ends;  /* of job control: the signal is to end the ranks ... */
    bool apart; /* ... and not the jobs that they have spawned */
    char text[SX_RUN_ABORT_TEXT_MAX];
    uint32_t open; /* news that have not been answered */
    pmix_op_cbfunc_t fn;
    pmix_info_cbfunc_t info_fn;
    void *arg;
};

struct sx_run_news {
    struct sx_run_news *next; /* in the queue; then for the owner's use */
    enum sx_run_news_kind kind;
    struct sx_run_job *job; /* held: the job of the ranks; of a spawn: the parent, or NULL */
    struct sx_run_request *request; /* of a spawn */
    struct sx_run_push *push;       /* of a push */
    pmix_proc_t *tool;              /* that has gone */
    struct sx_run_job *by;          /* the job that is named by BEREFT, held; NULL: none */
    uint32_t rank;
    bool after_loss; /* the job had lost a rank before: this may be a reaction of its peers */
    struct sx_run_abort *abort;
    bool whole; /* all ranks of the job; else ... */
    uint32_t *ranks;
    size_t rank_count;
};

/* The row of a kind.  @keeps: take answers or frees the news itself, now or later. */
struct sx_mailbox_row {
    void (*take)(struct sx_run_state *run, struct sx_run_news *news);
    bool keeps;
};

/* @event_fd is readable while there is news. */
void sx_mailbox_init(int event_fd);
/* Make the descriptor readable without news. */
void sx_mailbox_wake(void);
/* Take @news over. */
void sx_mailbox_post(struct sx_run_news *news);
/* Hand all news to the rows, one for each kind. */
void sx_mailbox_deal(struct sx_run_state *run, const struct sx_mailbox_row rows[SX_RUN_NEWS_KINDS]);
/* Answer all news that nobody has taken, while the server runs; then free those that came since. */
void sx_mailbox_answer_all(void);
void sx_mailbox_deinit(void);

/* Free the news.  Answer: the caller of an abort continues when it was the last news of it. */
void sx_run_news_answer(struct sx_run_news *news);
void sx_run_news_free(struct sx_run_news *news);
void sx_run_abort_free(struct sx_run_abort *abort);

/* Add a holder of @job (NULL: none), and remove one.  A caller of hold is a holder already, is the
 * launcher's thread, or has the lock under which a job is removed (launch/pmi/upcall.c). */
void sx_run_job_hold(struct sx_run_job *job);
void sx_run_job_drop(struct sx_run_job *job);

#endif
