/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - the launcher as host of a PMIx server: the public server interface, and one question
 * that it has no words for.
 *
 * What the server has to tell comes through launch/pmi/upcall.h. */
#ifndef SX_LAUNCH_PMI_HOST_H
#define SX_LAUNCH_PMI_HOST_H

#include <limits.h>
#include <sys/types.h>

#include "launch/ask/options.h"
#include "launch/job/job.h"
#include "launch/job/session.h"
#include "launch/place/place.h"
#include "launch/pmi/info.h"
#include "launch/pmi/upcall.h"

struct sx_run_host {
    int event_fd; /* readable: sx_run_host_take has something */
    bool serving;
    struct sx_run_job_facts facts; /* what is told of every job */
    char *server_nspace;
    char name[HOST_NAME_MAX + 1];
};

/* Set the name of this node alone. */
void sx_run_host_name(struct sx_run_host *host);

/* Start the server and register all @jobs and their ranks.  One host a process.  Return: true;
 * false with one line in @message.  Deinit in either case. */
bool sx_run_host_init(struct sx_run_host *host, const struct sx_run_options *options,
                      const struct sx_run_jobs *jobs, const struct sx_run_machine *machine,
                      const struct sx_session *session, char message[SX_RUN_MESSAGE_MAX]);
/* Register @job, which has been added to them, and its ranks.  Return: true; false with one line in
 * @message. */
bool sx_run_host_add(struct sx_run_host *host, struct sx_run_job *job,
                     char message[SX_RUN_MESSAGE_MAX]);
/* Answer who still waits, and end the server. */
void sx_run_host_deinit(struct sx_run_host *host);

/* Return: the oldest news of the server, the caller's now, or NULL. */
struct sx_run_news *sx_run_host_take(const struct sx_run_host *host);

/* Add to @env what @rank needs to find the server.  Return: false with one line in @message. */
bool sx_run_host_setup_fork(const struct sx_run_job *job, uint32_t rank, char ***env,
                            char message[SX_RUN_MESSAGE_MAX]);

/* True while a process of @rank is a client: it has called PMIx_Init, and PMIx_Finalize not yet.
 * The server reports a finalize before it answers it, so after a rank's exit this is settled. */
bool sx_run_host_is_client(const struct sx_run_job *job, uint32_t rank);

/* The process to look at for @rank, which lives: its client, if it has one, else the process that
 * was started.  They are two where that one is a wrapper, as a shell. */
pid_t sx_run_host_pid(const struct sx_run_job *job, uint32_t rank);

/* @rank, which has ended, is about to come again: its data say so, and what was heard of it is
 * forgotten. */
void sx_run_host_rank_again(const struct sx_run_job *job, uint32_t rank);

/* @rank has ended, or will never start: nobody shall wait for it any more.  The server has seen
 * the end of those that were its clients itself. */
void sx_run_host_rank_gone(const struct sx_run_job *job, uint32_t rank);

/* Tell the server how the ranks have ended that it was not told of yet: who asks it for the table
 * of processes shall know. */
void sx_run_host_tell_ends(struct sx_run_job *job);

/* Tell the server which processes the ranks are that have been started since the last time: whoever
 * asks shall see those, too, that do not call PMIx_Init. */
void sx_run_host_tell_pids(struct sx_run_job *job);

/* Publish the topology of @machine to @job, or that there is none: its processes wait for one or
 * the other. */
void sx_run_host_tell_topology(const struct sx_run_job *job, const struct sx_run_machine *machine);

/* The last rank of @job has ended: its namespace goes. */
void sx_run_host_job_over(struct sx_run_job *job);

/* News come (SX_RUN_NEWS_HANDLED) when all ranks of @job that have handlers of events have called
 * them for what was published so far.  Return: false: they do not come. */
bool sx_run_host_await_handlers(struct sx_run_job *job);

/* Tell the parent of @job, which was spawned, of the event @code: PMIX_EVENT_JOB_START,
 * PMIX_LAUNCH_COMPLETE, PMIX_READY_FOR_DEBUG (its ranks have stopped before their first
 * instruction), or PMIX_EVENT_JOB_END with how it has ended. */
void sx_run_host_tell_parent(const struct sx_run_job *job, pmix_status_t code);

/* The same of PMIX_EVENT_PROC_TERMINATED: @rank has ended. */
void sx_run_host_tell_parent_rank(const struct sx_run_job *job, uint32_t rank);

/* @job, which was spawned, has failed: its parent does not wait for what it would have published
 * (server/publish/publish.h). */
void sx_run_host_spawn_failed(const struct sx_run_job *job);

/* Tell the job with the event @code how @rank has ended; @exit_code as a shell would have it. */
void sx_run_host_rank_failed(const struct sx_run_job *job, uint32_t rank, pmix_status_t code,
                             int exit_code);

#endif
