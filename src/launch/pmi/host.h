/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - the launcher as host of a PMIx server.  It uses the public server interface, and calls
 * of this library's server for which the Standard has none.
 *
 * The job info that it registers is made in launch/pmi/info.c.  The server's upcalls arrive
 * through launch/pmi/upcall.h. */
#ifndef SX_LAUNCH_PMI_HOST_H
#define SX_LAUNCH_PMI_HOST_H

#include <limits.h>
#include <pmix_common.h>
#include <sys/types.h>

#include "launch/ask/options.h"
#include "launch/job/job.h"
#include "launch/job/session.h"
#include "launch/place/place.h"
#include "launch/pmi/upcall.h"

/* ---- info ------------------------------------------------------------------------------------ */

/* The job info for the server: every reserved key that makes sense on one node.  Each has
 * the type that clients unload (Open MPI treats another integer type as an error).
 *
 * The array holds session, job and node values, one PMIX_APP_INFO_ARRAY for each application, one
 * PMIX_NODE_INFO_ARRAY, and one PMIX_PROC_DATA for each rank.  Its size and the time to build it
 * grow with the number of ranks. */

/* The map of this many ranks, for programs of MPICH: from node 0, on 1 node. */
#define SX_RUN_INFO_ANL_MAP "(vector,(0,1,%" PRIu32 "))"

struct sx_run_job_facts {
    const struct sx_run_options *options;
    const struct sx_run_jobs *jobs; /* all of them ... */
    const struct sx_run_job *job;   /* ... and the job that the facts are about */
    const struct sx_run_machine *machine;
    const struct sx_session *session;
    const char *host;
    char **wdirs; /* the absolute directory where the ranks of each application start */
    const char *server_nspace;
    const char *node_map; /* of PMIx_generate_regex */
    const char *proc_map; /* of PMIx_generate_ppn */
};

/* For PMIx_server_register_nspace. */
struct sx_run_info {
    pmix_info_t *all;
    size_t count;
    size_t own_count; /* the first ones own what they refer to; the others are of the ranks, ... */
    void *ranks;      /* ... and refer to this, and to the facts */
};

/* It lives no longer than @facts; sx_run_info_free releases it. */
struct sx_run_info sx_run_info_build(const struct sx_run_job_facts *facts);
void sx_run_info_free(struct sx_run_info *info);

/* "0,1,2" for @rank_count ranks, malloc'ed. */
char *sx_run_info_peers(uint32_t rank_count);

/* A command line in one string, words with blanks in quotes; malloc'ed. */
char *sx_run_info_command(char *const *argv);

/* The command lines of all applications of @job, with " : " between them; malloc'ed. */
char *sx_run_info_commands(const struct sx_run_job *job);

struct sx_run_host {
    int event_fd; /* readable: the mailbox has news */
    bool serving;
    struct sx_run_job_facts facts; /* the facts that are common to all jobs */
    char *server_nspace;
    char name[HOST_NAME_MAX + 1];
};

/* Set only the name of this node. */
void sx_run_host_name(struct sx_run_host *host);

/* Start the server and register all @jobs and their ranks.  One host for each process.  Return:
 * true; false with one line in @message.  Deinit in either case. */
bool sx_run_host_init(struct sx_run_host *host, const struct sx_run_options *options,
                      const struct sx_run_jobs *jobs, const struct sx_run_machine *machine,
                      const struct sx_session *session, char message[SX_RUN_MESSAGE_MAX]);
/* Register @job, which has been added to the jobs, and its ranks.  Return: true; false with one
 * line in @message. */
bool sx_run_host_add(struct sx_run_host *host, struct sx_run_job *job,
                     char message[SX_RUN_MESSAGE_MAX]);
/* Answer all requests that still wait, and end the server. */
void sx_run_host_deinit(struct sx_run_host *host);

/* Add to @env the variables that @rank needs to find the server.  Return: false with one line in
 * @message. */
bool sx_run_host_setup_fork(const struct sx_run_job *job, uint32_t rank, char ***env,
                            char message[SX_RUN_MESSAGE_MAX]);

/* True while a process of @rank is a client: it has called PMIx_Init, and PMIx_Finalize not yet.
 * The server reports a finalize before it answers, so the result is final after a rank's exit. */
bool sx_run_host_is_client(const struct sx_run_job *job, uint32_t rank);

/* The process to examine for @rank, which lives: its client if it has one, else the process that
 * was started.  The two differ where the started process is a wrapper, such as a shell. */
pid_t sx_run_host_pid(const struct sx_run_job *job, uint32_t rank);

/* @rank, which has ended, is about to be restarted: its data show this, and the state of its former
 * process is dropped. */
void sx_run_host_rank_again(const struct sx_run_job *job, uint32_t rank);

/* @rank has ended, or will never start: operations shall not wait for it any more.  The server has
 * noticed the end of its own clients itself. */
void sx_run_host_rank_gone(const struct sx_run_job *job, uint32_t rank);

/* The process of @rank is counted as ended, but lives: the server closes its connection. */
void sx_run_host_rank_left(const struct sx_run_job *job, uint32_t rank);

/* Give the server the ends of ranks that it has not received yet, for clients that query the table
 * of processes. */
void sx_run_host_notify_ends(struct sx_run_job *job);

/* Give the server the processes of the ranks started since the last call.  Queries then also show
 * ranks that do not call PMIx_Init. */
void sx_run_host_notify_pids(struct sx_run_job *job);

/* Publish the topology of @machine to @job, or that there is none.  The job's processes wait for
 * one or the other. */
void sx_run_host_notify_topology(const struct sx_run_job *job,
                                 const struct sx_run_machine *machine);

/* The last rank of @job has ended: deregister its namespace. */
void sx_run_host_job_over(struct sx_run_job *job);

/* Ask for news (SX_RUN_NEWS_HANDLED) when all ranks of @job that have handlers of events have
 * called them for all events published so far.  Return: false: there will be no news. */
bool sx_run_host_await_handlers(struct sx_run_job *job);

/* Send the parent of @job, which was spawned, the event @code: PMIX_EVENT_JOB_START,
 * PMIX_LAUNCH_COMPLETE, PMIX_READY_FOR_DEBUG (its ranks have stopped before their first
 * instruction), or PMIX_EVENT_JOB_END with the job's status. */
void sx_run_host_notify_parent(const struct sx_run_job *job, pmix_status_t code);

/* The same for PMIX_EVENT_PROC_TERMINATED: @rank has ended. */
void sx_run_host_notify_parent_rank(const struct sx_run_job *job, uint32_t rank);

/* @job, which was spawned, has failed: its parent stops waiting for data that the job would have
 * published (server/publish/publish.h). */
void sx_run_host_spawn_failed(const struct sx_run_job *job);

/* Send the job the event @code for the end of @rank; @exit_code is as a shell would have it. */
void sx_run_host_rank_failed(const struct sx_run_job *job, uint32_t rank, pmix_status_t code,
                             int exit_code);

#endif
