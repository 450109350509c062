/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.h - the state that the launcher has once for all of its jobs, and what the files of
 * launch/job do with it; one thread. */
#ifndef SX_LAUNCH_JOB_STATE_H
#define SX_LAUNCH_JOB_STATE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/clock.h"
#include "launch/ask/options.h"
#include "launch/ask/spawn_request.h"
#include "launch/job/diagnose.h"
#include "launch/job/janitor.h"
#include "launch/job/job.h"
#include "launch/job/looker.h"
#include "launch/job/loop.h"
#include "launch/job/record.h"
#include "launch/place/place.h"
#include "launch/place/program.h"
#include "launch/pmi/foreign.h"
#include "launch/pmi/host.h"
#include "launch/stdio/input.h"
#include "launch/stdio/output.h"

/* ---- exec ------------------------------------------------------------------------------------ */

/* Start one rank.
 *
 * Everything that needs memory or a lock is prepared before.  The launcher has a second thread by
 * then, so its child may only make system calls until it executes the program.  A rank leads a
 * process group of its own and dies with the launcher.  It has the standard descriptors, its
 * connection for PMI-1, and those that the launcher's own parent meant for it.  A failure before
 * exec is reported through a pipe that exec closes. */

/* The settings that all ranks have in common. */
struct sx_run_spawn {
    struct rlimit files; /* the limit that the user had */
    sigset_t ignored;    /* signals that ranks are not to ignore as the launcher does */
    int report_fd;       /* close-on-exec; receives struct sx_run_spawn_failure */
    pid_t launcher;
    const struct sx_janitor *janitor;
};

enum sx_run_spawn_stage {
    SX_RUN_SPAWN_PREPARE = 0,
    SX_RUN_SPAWN_BIND,
    SX_RUN_SPAWN_WDIR,
    SX_RUN_SPAWN_EXEC,
    SX_RUN_SPAWN_STOP,
};

struct sx_run_spawn_failure {
    uint32_t job, rank;
    uint32_t stage;
    int32_t error;
};

/* The settings of one rank; all pointers are borrowed. */
struct sx_run_spawn_rank {
    uint32_t job, rank; /* in reports of failure */
    const struct sx_run_program *program;
    char **argv; /* the rank's own words */
    const struct sx_run_place *place;
    char **env;
    const int *fds;   /* its three standard descriptors */
    int pmi1_fd;      /* the rank inherits this descriptor under its number */
    bool at_terminal; /* its input is a terminal, which becomes its controlling one */
    bool is_traced;   /* by any process of its user, even where the system forbids it (Yama) */
    bool apart;       /* a file system may hang: the launcher does not wait for exec */
    bool stops;       /* before the first instruction of its program, until SIGCONT or a debugger */
};

/* The signals that this process ignores; without SIGHUP if SIGHUP is to stay ignored (nohup). */
void sx_run_spawn_ignored(sigset_t *ret_ignored, bool keep_hup_ignored);

/* Start a rank.  Return: its pid, or -1 and errno.  If it is apart and stops, the caller asks until
 * it has stopped, or is gone. */
bool sx_run_spawn_has_stopped(pid_t pid);
pid_t sx_run_spawn_rank(const struct sx_run_spawn *spawn, const struct sx_run_spawn_rank *rank);

/* ---- orphans --------------------------------------------------------------------------------- */

/* Processes that the ranks of a job leave behind.
 *
 *   the last rank ends --killed and reaped, again and again--> none left --> the job is over
 *                           \--2 s--> a message names those that are left
 *
 * A process that has left its rank's process group, or its session, and loses its parent becomes a
 * child of the launcher (PR_SET_CHILD_SUBREAPER).  Its environment names its job.  When all jobs
 * are over, every such child is taken for an orphan, unless the launcher had children before it
 * began.  (A program that was executed in the place of a shell inherits the children of that
 * shell.)  Where the kernel does not show a process its children (CONFIG_PROC_CHILDREN), orphans
 * are left alone. */

struct sx_run_state;
struct sx_run_job;

struct sx_run_survivors {
    int children_fd;         /* -1: nothing is done */
    bool guests;             /* the launcher had children before */
    struct sx_run_hunt hunt; /* for those of all jobs */
};

/* Call this before the first rank starts.  Close is safe with children_fd -1, and twice. */
void sx_run_survivors_open(struct sx_run_state *run);
void sx_run_survivors_close(struct sx_run_state *run);

/* Kill the processes that the ranks of @job, which have ended, have left.  Return: true when none
 * is left, or the time is over; else call again in the next turn of the loop, which does not wait
 * for long. */
bool sx_run_survivors_end(struct sx_run_job *job);
/* The same for all jobs. */
bool sx_run_survivors_end_all(struct sx_run_state *run);

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Spawns, from their arrival until they are jobs (launch/job/lookup.c). */

struct sx_run_asker; /* a job of the command line, or the tools, and the spawns that wait */

/* Make a job of @request, which this call takes over; @parent: NULL for a tool. */
void sx_run_lookup_spawn(struct sx_run_state *run, struct sx_run_request *request,
                         struct sx_run_job *parent);
/* Whether a step can be made now; make some, for 2 ms at most and one step. */
bool sx_run_lookups_are_due(const struct sx_run_state *run);
void sx_run_lookups_step(struct sx_run_state *run);
/* Refuse the requests of jobs that are ending.  Return: @jobs_live; or true while requests wait
 * that may become jobs, for the time of one at most. */
bool sx_run_lookups_live(struct sx_run_state *run, bool jobs_live);
/* Refuse the requests of @tool, which has gone. */
void sx_run_lookups_tool_gone(struct sx_run_state *run, const pmix_proc_t *tool);
/* Whether @pid makes the processes that look up; it has been reaped, or any other has. */
bool sx_run_lookup_is(const struct sx_run_state *run, pid_t pid);
void sx_run_lookup_ended(struct sx_run_state *run, pid_t pid);
/* Answer all that wait, and release what is here. */
void sx_run_lookups_end(struct sx_run_state *run);

/* ---- life ------------------------------------------------------------------------------------ */

/* The life of the jobs: their ranks are started, watched, and ended, and their input and
 * output are served.
 *
 *   every job until it is over (launch/job/job.h) --> DRAINING the output --> the exit code
 *
 * The first cause decides the exit code.  Causes are a rank that was killed or exited non-zero, an
 * abort, a signal to the launcher, the timeout, or an output that nobody reads any more.  The last
 * three end all jobs; launch/job/state.h says whether a rank's end does. */

#define SX_RUN_EXIT_TIMEOUT 124
#define SX_RUN_EXIT_SIGNAL 128 /* plus the signal */

struct sx_proc_hang;
struct sx_run_look;
struct sx_run_record;

struct sx_run_setup {
    const struct sx_run_options *options;
    struct sx_run_jobs *jobs;
    const struct sx_run_machine *machine;
    struct sx_run_look *look;
    struct sx_janitor *janitor;
    struct sx_run_host *host;
    struct sx_run_record *record;
    const struct sx_session *session;
    const char *lib_dir; /* of the library that the ranks are to load */
    struct rlimit files; /* the user's own limit, which the ranks get */
    bool keep_hup_ignored;
    uint64_t begin_ns; /* when the launch began */
    int signal_fd;     /* all signals of sx_run_signals, blocked by the caller */
};

/* How many descriptors @job_count jobs take, with all ranks of @options. */
#define SX_RUN_FILES_MORE 128 /* for those who pull output, where the hard limit has them */
uint64_t sx_run_files(const struct sx_run_options *options, uint32_t job_count);

/* Run the jobs.  Return: the exit code. */
int sx_run_life(const struct sx_run_setup *setup);

/* The calls upwards: launch/job/life.c gives them to the files below it; tests give their own. */
struct sx_run_acts {
    int (*kill)(pid_t pid, int number);
    void (*start_rank)(struct sx_run_job *job, uint32_t rank); /* sx_run_start_rank */
    void (*started)(struct sx_run_job *job);                   /* sx_run_child_started */
    void (*acted)(struct sx_run_job *job);                     /* sx_run_child_acts */
    /* A client over PMI-1 asks for an abort, has gone, or spawns: launch/job/failure.c. */
    void (*abort)(struct sx_run_job *job, uint32_t rank, int status, const char *text);
    void (*lost)(struct sx_run_job *job, uint32_t rank);
    void (*spawn)(struct sx_run_state *run, struct sx_run_request *request,
                  struct sx_run_job *parent);
    /* SIGKILL does not end @rank: nobody waits for it any more. */
    void (*leave)(struct sx_run_rank *rank, const struct sx_proc_hang *hang);
    /* A tracer keeps the end of @rank, which @info describes: nobody waits for it any more. */
    void (*kept)(struct sx_run_rank *rank, const siginfo_t *info);
    void (*reap)(struct sx_run_state *run); /* all that have ended */
};

struct sx_run_state {
    const struct sx_run_setup *setup;
    const struct sx_run_acts *acts;
    struct sx_run_jobs *jobs;
    const char *all; /* the name of all jobs in messages */
    struct sx_run_loop loop;
    struct sx_run_sink sinks[2];
    struct sx_run_sink *sink_of[2]; /* one sink for both when they are the same file */
    struct sx_run_input input;
    struct sx_run_spawn spawn;
    struct sx_poll signals, news;
    struct sx_run_foreign foreign;
    struct sx_run_survivors survivors;
    pid_t *left; /* ranks that SIGKILL has not ended */
    uint32_t left_count;
    uint32_t watched;            /* ranks whose pidfd is open: launch/job/traced.c */
    struct sx_run_asker *askers; /* of spawns */
    struct sx_looker looker;
    uint64_t look_orders;         /* so many have been given */
    struct sx_timer lookups_last; /* no job is left, and spawns have this time */
    bool lookups_over;
    bool job_is_ending;   /* one more, or it has ended: its spawns no longer wait */
    bool terminals_suit;  /* the ranks, unless options or their jobs decide otherwise */
    uint32_t at_terminal; /* ranks that live and have a terminal */
    int no_terminal;      /* errno: there are no terminals; 0: none has failed so far */
    int null_fd;
    int xml_fd; /* of the topology, for clients that ask over PMI-1; -1: none has asked yet */
    struct sx_table by_pid; /* ranks that live */
    bool closing;           /* no further job is accepted */
    bool input_begun;
    struct sx_run_progress progress;
    struct sx_run_caused caused;
    uint32_t awaited; /* a message follows when so many ranks have connected; 0: none */
    bool give_up;
    int code;         /* of the first failure of any job */
    bool output_lost; /* a file of its output could not be written */
    struct sx_run_debuggers debuggers;
    struct sx_timer timeout; /* the time limit of all jobs */
    struct sx_timer drain;   /* the output has had the time that the user grants ... */
    bool drain_over;
    struct sx_run_late late; /* the report at the first deadline */
    char host[HOST_NAME_MAX + 1];
};

/* ---- the states of a job --------------------------------------------------------------------- */

/* The transitions that no cause makes (launch/job/job.c).  Started: if all ranks have been.  Over:
 * no process of it is left, and its deadlines are dropped.  Fail: it was never begun. */
void sx_run_job_started(struct sx_run_job *job);
void sx_run_job_over(struct sx_run_job *job);
void sx_run_job_fail(struct sx_run_job *job, pmix_status_t fate);
/* Drop its deadlines, in any state. */
void sx_run_job_stop(struct sx_run_job *job);

/* Ranks of @job, all or those that are unwanted, have been sent SIGKILL.  Those that it does not
 * end are left (acts->leave). */
void sx_run_stuck_await(struct sx_run_job *job, bool unwanted);

/* The processes of ranks that were left.  Ended: @pid has been reaped; any process. */
void sx_run_left_add(struct sx_run_state *run, pid_t pid);
bool sx_run_left_is(const struct sx_run_state *run, pid_t pid);
void sx_run_left_ended(struct sx_run_state *run, pid_t pid);
void sx_run_left_deinit(struct sx_run_state *run);

/* ---- traced ---------------------------------------------------------------------------------- */

/* Ranks that have ended while another process traces them (launch/job/traced.c).  Watch: @rank has
 * started, and all jobs need @files descriptors.  End: it has been reaped or left, or is given up;
 * safe twice.  Drop: the descriptors of all ranks are needed. */
void sx_run_traced_watch(struct sx_run_rank *rank, uint64_t files);
void sx_run_traced_end(struct sx_run_rank *rank);
void sx_run_traced_drop(struct sx_run_state *run);

/* ---- end ------------------------------------------------------------------------------------- */

/* Messages about jobs, signals to them, and the end of one job or of all.
 *
 *   running --the first cause--> ENDING: one message, one signal, a grace --> SIGKILL
 *                                   \--an event is the cause: handlers first-^ */

/* Between SIGTERM and SIGKILL, where --kill-grace does not say. */
#define SX_RUN_GRACE_NS (500 * SX_NS_PER_MS)       /* after a death or an abort */
#define SX_RUN_SIGNAL_GRACE_NS (2 * SX_NS_PER_SEC) /* after the user's signal */

/* Return: the time that --kill-grace gives, else @grace_ns. */
uint64_t sx_run_end_grace_ns(const struct sx_run_state *run, uint64_t grace_ns);

/* Send the signal to the process groups of all ranks of all jobs. */
void sx_run_signal(struct sx_run_state *run, int number);

/* Set the launcher's exit code, for the fate of @job, unless something earlier has decided it. */
void sx_run_code(const struct sx_run_job *job, int code);

/* Note why @job ends, unless the reason is known. */
void sx_run_end_fate(struct sx_run_job *job, pmix_status_t fate);

/* End the job with SIGTERM, and after it the jobs that it has spawned and that are not to outlive
 * it.  The first cause wins; its consequences are not reported. */
void sx_run_end(struct sx_run_job *job, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* End all jobs with signal @number; jobs that wait for handlers stop waiting.  Return: false when
 * all were ending already; then no message is written. */
bool sx_run_end_all(struct sx_run_state *run, int code, int number, uint64_t grace_ns,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Kill @job at once if it is ending: the user does not wait. */
void sx_run_end_hurry(struct sx_run_job *job);

/* As sx_run_end, but the job ends only after the handlers of the events that report the cause have
 * been called, or --event-grace is over.  @rank: the loss of its client is one of these events
 * (UINT32_MAX: no rank's is). */
void sx_run_end_notified(struct sx_run_job *job, int code, uint32_t rank, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* @rank's client is lost, and the loss has been published. */
void sx_run_end_loss_received(struct sx_run_job *job, uint32_t rank);
/* Ranks of @job depend on a rank of one of @dead, and that rank has died.  If that job ends, @job
 * ends with it. */
void sx_run_end_bereft(struct sx_run_job *job, const struct sx_run_job *dead);
/* All handlers have been called, or the launcher stops waiting for them. */
void sx_run_end_handled(struct sx_run_job *job);

/* Limit the time of @job to @limit_ns from now; 0: no limit. */
void sx_run_end_limit(struct sx_run_job *job, uint64_t limit_ns);

/* ---- start ----------------------------------------------------------------------------------- */

/* Ranks are started, job after job and a few each turn, so that signals and deaths are
 * handled meanwhile.  A rank that cannot be started ends its job. */

/* Open the descriptors that starting takes.  Return: 0 or errno. */
int sx_run_start_open(struct sx_run_state *run);
void sx_run_start_close(struct sx_run_state *run);

/* Whether a rank is still to be started. */
bool sx_run_is_starting(const struct sx_run_state *run);
void sx_run_start_some(struct sx_run_state *run);

/* Whether nothing here refers to @job any more, which is over. */
bool sx_run_start_is_done(const struct sx_run_job *job);

/* Start @rank once more, which has failed; not before sx_run_start_can allows it. */
static inline bool sx_run_start_can(const struct sx_run_job *job)
{
    /* Otherwise the remaining reports of former starts would be lost. */
    return job->report_fd >= 0 || job->reports.fd < 0;
}
void sx_run_start_rank(struct sx_run_job *job, uint32_t rank);

/* Handle reports of ranks that could not execute their program. */
void sx_run_start_reports(struct sx_run_state *run);
/* Ask which ranks of @job have stopped before their first instruction. */
void sx_run_start_stops(struct sx_run_job *job);

/* The ranks that live, by their processes.  A search returns NULL when @pid is not a rank's. */
void sx_run_bearer_add(struct sx_run_state *run, struct sx_run_rank *rank);
void sx_run_bearer_remove(struct sx_run_state *run, struct sx_run_rank *rank);
struct sx_run_rank *sx_run_bearer(const struct sx_run_state *run, pid_t pid);

/* ---- failure --------------------------------------------------------------------------------- */

/* The end of a rank, the loss of its client, and an abort may end the job.
 *
 *   --on-failure abort   a failure ends the job.  So does the loss of a client whose rank lives on
 *                        (a wrapper), after a moment in which the rank may end by itself and give
 *                        the reason.  An abort after a loss waits as long: it may be a reaction.
 *   --on-failure notify  a failure is reported, to the user and as an event to the job, which
 *                        continues without the rank.
 *   an abort of a part   ends those ranks, which is no failure, and answers when they have ended.
 *
 * Other jobs continue, except those that an abort names.  The first failure or abort of any job
 * decides the exit code. */

/* Answer the aborts. */
void sx_run_failure_deinit(struct sx_run_job *job);

/* Take and act on all news of the server. */
void sx_run_failure_news(struct sx_run_state *run);

/* @rank, which is a client over PMI-1 only, asks for the end of its job, as by PMIx_Abort. */
void sx_run_failure_abort(struct sx_run_job *job, uint32_t rank, int status, const char *text);
/* @rank's client has gone, which was a client over PMI-1 only. */
void sx_run_failure_lost(struct sx_run_job *job, uint32_t rank);

/* @rank, which has been reaped, ended as @info describes.  @good: with status 0 and no client. */
void sx_run_failure_rank_ended(struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                               bool good);

/* ---- restart --------------------------------------------------------------------------------- */

/* Ranks that have failed and are started again, as often as their application says.
 *
 *   FAILED --its limit is not reached--> PENDING --the server has its end, and its output is
 *       \                                   |       passed on--> it is started, with the number of
 *        \--the job judges (failure.c)      |                    its life (PMIX_REINCARNATION)
 *                                           \--an abort names it, the job ends--> it does not come
 *
 * The others receive the same event as when any rank ends, and their collective operations fail
 * until the rank is back.  A restarted rank reads no input. */

/* The first restart is immediate.  Before further restarts a rank whose lives are short pauses,
 * twice as long each time. */
#define SX_RUN_AGAIN_PAUSE_MIN_NS (10 * SX_NS_PER_MS)
#define SX_RUN_AGAIN_PAUSE_MAX_NS SX_NS_PER_SEC
#define SX_RUN_AGAIN_SHORT_NS SX_NS_PER_SEC

/* Return: how long a rank pauses that has been restarted @restarts times.  Its last pause was
 * @pause_ns, and it has lived for @lived_ns since. */
uint64_t sx_run_again_pause_ns(uint32_t restarts, uint64_t pause_ns, uint64_t lived_ns);

/* The first restarts of a job have a line each, and then the 64th, the 128th and so on.  Return:
 * whether the next restart has a line; *ret_unnotified: how many before it have none. */
#define SX_RUN_AGAIN_LINES 32u
bool sx_run_again_has_line(struct sx_run_job *job, uint32_t *ret_unnotified);
/* @rank has failed.  Return: whether it will be restarted. */
bool sx_run_again_note(struct sx_run_job *job, uint32_t rank);

/* Check in @delay_ns which ranks of @job can be restarted, if any is to be. */
void sx_run_again_look(struct sx_run_job *job, uint64_t delay_ns);

/* Whether @rank has ended, and will be restarted. */
bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank);

/* Whether any rank of @job will be. */
static inline bool sx_run_again_any(const struct sx_run_job *job)
{
    return !job->caused && job->again > 0;
}

/* ---- remove ---------------------------------------------------------------------------------- */

/* Remove jobs that are over.
 *
 *   OVER --its output has ended, nobody holds it--> gone
 *
 * A job that was spawned is removed with all that was made for it.  So the launcher's memory
 * depends on the jobs that live, however many there have been. */

/* Close the descriptors of @job; any job, and twice. */
void sx_run_past_close(struct sx_run_job *job);

/* Remove the jobs that can be removed. */
void sx_run_past_remove(struct sx_run_state *run);

/* ---- spawned --------------------------------------------------------------------------------- */

/* A job that another one, or a tool, has spawned.
 *
 *   request --judged, named, placed, registered--> STARTING --the last exec--> its caller continues
 *       \----------------------\------------- a cause ---------\--> its caller gets an error
 *
 * An error before the caller continues is the caller's to deal with: the user gets a message, and
 * the run has not failed.  A rank that runs and fails before the last one was started is not such
 * an error: the caller continues then, and receives the job's end.  Afterwards the job is like any
 * other.  Its failure is not a failure of its parent, unless they are connected.  It decides the
 * exit code if it is the first failure.  If the parent ends for a cause, the child ends with it
 * unless it was spawned as a separate job.  A parent that ends well leaves the child running. */

/* The steps of launch/job/lookup.c.  Each returns PMIX_SUCCESS, or why the spawn is refused, with
 * one line in @message.  Room: there is a number for one more job, and the asker may have it.
 * Judge: make the options of a request whose files were judged.  Env: the environment of one
 * application. */
pmix_status_t sx_run_child_room(struct sx_run_state *run, const struct sx_run_request *request,
                                const struct sx_run_job *parent, char *message);
pmix_status_t sx_run_child_judge(const struct sx_run_state *run, struct sx_run_request *request,
                                 const struct sx_run_job *parent, char *message);
pmix_status_t sx_run_child_env(const struct sx_run_state *run, const struct sx_run_request *request,
                               const struct sx_run_job *parent, uint32_t index, char ***ret_env,
                               char *message);
/* The environment that the spawn starts from; borrowed. */
char **sx_run_child_outer(const struct sx_run_request *request, const struct sx_run_job *parent);
/* Make the job; takes over the request and the programs.  Return: NULL if it is refused. */
struct sx_run_job *sx_run_child_make(struct sx_run_state *run, struct sx_run_request *request,
                                     struct sx_run_job *parent, struct sx_run_program *programs);
/* The caller gets @status, and the user the reason. */
void sx_run_child_refuse(struct sx_run_state *run, struct sx_run_request *request,
                         pmix_status_t status, const char *message);
/* The job that was to be started beside @job is refused. */
void sx_run_child_alone(struct sx_run_job *job);

/* All ranks of @job that could be started have been; any job. */
void sx_run_child_started(struct sx_run_job *job);
/* A rank of @job has done something that ends the job.  The caller of the spawn receives that the
 * job has started, even if not all of its ranks have.  Any job may be given. */
void sx_run_child_acts(struct sx_run_job *job);
/* Report how many ranks of @job run, once each period, if wanted; any job. */
void sx_run_child_progress(struct sx_run_job *job, uint64_t now_ns);
/* @rank has ended, and its end is noted; any job. */
void sx_run_child_rank_ended(const struct sx_run_job *job, uint32_t rank);
/* The last rank of @job has ended; any job. */
void sx_run_child_over(struct sx_run_job *job);
/* Free the parts that only a spawned job has; any job. */
void sx_run_child_deinit(struct sx_run_job *job);

/* Whether the caller of the spawn still waits. */
static inline bool sx_run_child_is_awaited(const struct sx_run_job *job)
{
    return job->request != NULL && job->request->fn != NULL;
}
/* Whether the end of @job has no effect on the launcher's exit code. */
static inline bool sx_run_child_ends_apart(const struct sx_run_job *job)
{
    return job->request != NULL && job->request->said.code_apart;
}
/* All jobs that @parent has spawned may outlive it. */
void sx_run_child_part(const struct sx_run_job *parent);
/* Whether @job may outlive its parent. */
static inline bool sx_run_child_is_separate(const struct sx_run_job *job)
{
    return job->request != NULL && job->request->said.separate;
}

#endif
