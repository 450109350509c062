/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawned.c - make one more job while others run, as launch/job/run.c does for a command line. */
#include "launch/job/state.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/job/session.h"
#include "launch/place/display.h"
#include "launch/place/program.h"
#include "launch/pmi/upcall.h"
#include "launch/stdio/log.h"

#define PROGRESS_PERIOD_NS SX_NS_PER_SEC

extern char **environ;

void sx_run_child_part(const struct sx_run_job *parent)
{
    for (uint32_t i = 0; i < parent->run->jobs->count; i++) {
        struct sx_run_job *const job = parent->run->jobs->at[i];

        if (job->parent == parent && job->request != NULL) {
            job->request->said.separate = true;
        }
    }
}

/* ---- before it is a job ---------------------------------------------------------------------- */

/* Count the jobs that hold resources: also those that are over, while something of them is left. */
static uint32_t jobs_held(const struct sx_run_jobs *jobs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        count += jobs->at[i]->state != SX_RUN_OVER || jobs->at[i]->request != NULL;
    }
    return count;
}

/* Take the parent's marks, unless the output has marks of its own. */
static void marks_inherit(struct sx_output_options *output, const struct sx_run_job *parent)
{
    if (output->inherits && parent != NULL && !sx_marks_any(&output->marks)) {
        output->marks = parent->options->output.marks;
    }
}

/* The jobs have shares, as the rows of the server's tables (SECURITY.md): a job of the command
 * line, with all that it has spawned, has at most nine tenths of what the others leave. */
static bool has_share(const struct sx_run_jobs *jobs, const struct sx_run_job *parent)
{
    const char *const root = parent == NULL ? "" : sx_run_job_root(parent);
    uint32_t own = 0, others = 0;
    bool shared = false; /* with others that may spawn */

    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct sx_run_job *const job = jobs->at[i];
        const bool is_own = strcmp(sx_run_job_root(job), root) == 0;

        if (job->state != SX_RUN_OVER || job->request != NULL) {
            own += is_own;
            others += !is_own;
            shared = shared || (!is_own && job->state != SX_RUN_OVER);
        }
    }
    return !shared || own < (SX_RUN_JOBS_MAX - others) * 9 / 10;
}

pmix_status_t sx_run_child_room(struct sx_run_state *run, const struct sx_run_request *request,
                                const struct sx_run_job *parent, char *message)
{
    const uint32_t jobs = jobs_held(run->jobs);
    const struct sx_run_options all = {
        .rank_count = sx_run_jobs_places_with(run->jobs, request->options.rank_count, NULL),
        .stdin_mode = request->options.stdin_mode,
        .output = request->options.output
    };
    const uint64_t files = sx_run_files(&all, jobs + 1);
    struct rlimit limit;

    if (run->closing || (parent != NULL && parent->caused)) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "the job that asks for it is ending");
        return PMIX_ERR_JOB_CANCELED;
    }
    if (jobs >= SX_RUN_JOBS_MAX || all.rank_count > SX_RUN_RANKS_MAX) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there would be %u jobs with %u ranks; possible are %u with %u", jobs + 1,
                 all.rank_count, SX_RUN_JOBS_MAX, SX_RUN_RANKS_MAX);
        return PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
    }
    if (!has_share(run->jobs, parent)) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "its first job and all that it has spawned have their share of the %u jobs of a "
                 "launcher: nine tenths of what the others leave",
                 SX_RUN_JOBS_MAX);
        return PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
    }
    if ((request->said.not_over || request->options.not_over) &&
        all.rank_count > run->setup->machine->cpu_count) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "there would be %u ranks on %u CPUs, and PMIX_NO_OVERSUBSCRIBE forbids it",
                 all.rank_count, run->setup->machine->cpu_count);
        return PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && files + run->watched > limit.rlim_cur) {
        if (files + run->watched > limit.rlim_max) {
            sx_run_traced_drop(run);
        }
        const uint64_t wanted = files + run->watched + SX_RUN_FILES_MORE;

        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        if (files > limit.rlim_cur) {
            snprintf(message, SX_RUN_MESSAGE_MAX,
                     "about %llu open files would be needed, and the limit is %llu (ulimit -Hn)",
                     (unsigned long long)files, (unsigned long long)limit.rlim_cur);
            return PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
        }
    }
    return PMIX_SUCCESS;
}

static struct sx_run_program *programs_free(struct sx_run_program *programs, uint32_t count)
{
    for (uint32_t i = 0; programs != NULL && i < count; i++) {
        sx_run_program_deinit(&programs[i]);
    }
    free(programs);
    return NULL;
}

/* The environment that a spawn starts from.  For a rank it is that of the rank's program, with what
 * the user has set for it.  A tool has no program here, so it gets the launcher's. */
char **sx_run_child_outer(const struct sx_run_request *request, const struct sx_run_job *parent)
{
    if (parent == NULL || parent->programs == NULL || request->parent.rank >= parent->rank_count) {
        return environ;
    }
    const size_t index = (size_t)(sx_run_job_app(parent, request->parent.rank) - parent->apps);

    return parent->programs[index].env;
}

pmix_status_t sx_run_child_env(const struct sx_run_state *run, const struct sx_run_request *request,
                               const struct sx_run_job *parent, uint32_t index, char ***ret_env,
                               char *message)
{
    const uint32_t all = sx_run_jobs_places_with(run->jobs, request->options.rank_count, NULL);
    char **env = sx_run_env_build(sx_run_child_outer(request, parent),
                                  &request->options.apps[index], run->setup->lib_dir,
                                  all > run->setup->machine->cpu_count);
    const pmix_status_t rc = sx_run_request_env(request, index, &env);

    if (rc != PMIX_SUCCESS) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "a directive for its environment: %s",
                 PMIx_Error_string(rc));
        env = sx_run_env_free(env);
    }
    *ret_env = env;
    return rc;
}

/* ---- the job --------------------------------------------------------------------------------- */

static void job_set_out(struct sx_run_job *job)
{
    const struct sx_launch_options *const said = &job->request->said;
    const uint64_t spawn_ns = said->spawn_timeout_ns != 0 ? said->spawn_timeout_ns
                                                          : said->timeout_ns;

    if (spawn_ns != 0) {
        const uint64_t gone_ns = sx_now_ns() - job->request->started_ns;

        sx_run_end_limit(job, spawn_ns > gone_ns ? spawn_ns - gone_ns : 1);
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        sx_run_env_put_job(&job->programs[i].env, job, &job->apps[i],
                           sx_run_jobs_places(job->run->jobs));
    }
}

static void job_display(struct sx_run_job *job)
{
    const struct sx_run_display display = { job->options, job->run->setup->machine,
                                            job->run->host };

    sx_run_display_say(&display, job->run, sx_run_display_node(&display));
    sx_run_display_job(&display, job->run, job);
}

/* Mark a job that was over before it began. */
static pmix_status_t job_fail(struct sx_run_job *job, pmix_status_t status)
{
    sx_run_job_fail(job, status);
    return status;
}

static pmix_status_t job_make(struct sx_run_job *job, struct sx_run_place *places, char *message)
{
    struct sx_run_state *const run = job->run;

    job->places = places;
    job_set_out(job);
    if (job->request->said.dry) {
        job_display(job);
        sx_run_request_answer(job->request, PMIX_SUCCESS, job->nspace);
        return job_fail(job, PMIX_SUCCESS);
    }
    run->all = "all jobs";
    sx_run_leftovers_announce(run->setup->janitor, job);
    if (!sx_session_make_inner(job->dir, message)) {
        return job_fail(job, PMIX_ERR_JOB_SYS_OP_FAILED);
    }
    if (!sx_run_host_add(run->setup->host, job, message)) {
        sx_run_host_job_over(job);
        return job_fail(job, PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    }
    job_display(job);
    return PMIX_SUCCESS;
}

/* The places of the job's ranks; NULL with one line in @message. */
static struct sx_run_place *places_find(const struct sx_run_machine *machine,
                                        const struct sx_run_request *request, char *message)
{
    const struct sx_run_options *const options = &request->options;

    const char *const cpus = request->said.cpus != NULL ? request->said.cpus : options->cpus;

    return cpus == NULL ? sx_run_machine_place(machine, options, message)
                        : sx_run_machine_place_on(machine, cpus, options, message);
}

pmix_status_t sx_run_child_judge(const struct sx_run_state *run, struct sx_run_request *request,
                                 const struct sx_run_job *parent, char *message)
{
    request->is_found = true;
    const pmix_status_t rc = sx_run_request_judge(request, run->host, message);

    if (rc == PMIX_SUCCESS) {
        marks_inherit(&request->options.output, parent);
        sx_run_request_set_cwd(request, run->setup->session->dir);
    }
    return rc;
}

/* Return: PMIX_SUCCESS when the job is being started, or the error, with one line in @message.
 * @ret_job: the job, if it was made; it owns the request and the programs from then on. */
static pmix_status_t make(struct sx_run_state *run, struct sx_run_request *request,
                          struct sx_run_job *parent, struct sx_run_program *programs,
                          struct sx_run_job **ret_job, char *message)
{
    struct sx_run_place *places = NULL;
    pmix_status_t rc = sx_run_child_room(run, request, parent, message);

    if (rc == PMIX_SUCCESS) {
        places = places_find(run->setup->machine, request, message);
        rc = places == NULL ? PMIX_ERR_JOB_FAILED_TO_MAP : PMIX_SUCCESS;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *ret_job = sx_run_jobs_add(run->jobs, &request->options);
    (*ret_job)->run = run;
    (*ret_job)->request = request;
    (*ret_job)->parent = parent;
    (*ret_job)->root = sx_cli_strdup(parent == NULL ? request->parent.nspace
                                                    : sx_run_job_root(parent));
    (*ret_job)->programs = programs;
    sx_log(SX_LOG_INFO, "job %s of %u ranks is spawned for rank %u of %s", (*ret_job)->nspace,
           (*ret_job)->rank_count, request->parent.rank, request->parent.nspace);
    return job_make(*ret_job, places, message);
}

void sx_run_child_refuse(struct sx_run_state *run, struct sx_run_request *request,
                         pmix_status_t status, const char *message)
{
    sx_run_say_caused(run, "cannot spawn '%.100s' for rank %u of %s: %s",
                      request->apps[0].cmd == NULL ? "" : request->apps[0].cmd,
                      request->parent.rank, request->parent.nspace, message);
    sx_run_request_answer(request, status, NULL);
}

struct sx_run_job *sx_run_child_make(struct sx_run_state *run, struct sx_run_request *request,
                                     struct sx_run_job *parent, struct sx_run_program *programs)
{
    char message[SX_RUN_MESSAGE_MAX] = "";
    struct sx_run_job *job = NULL;
    const pmix_status_t rc = make(run, request, parent, programs, &job, message);

    if (rc != PMIX_SUCCESS) {
        sx_run_child_refuse(run, request, rc, message);
    }
    if (job == NULL) {
        programs_free(programs, request->options.app_count);
        sx_run_request_free(request);
    }
    return rc == PMIX_SUCCESS ? job : NULL;
}

void sx_run_child_alone(struct sx_run_job *job)
{
    sx_run_end(job, SX_EXIT_FAILURE, "%s ends, as not all of its spawn can be started", job->name);
}

/* ---- its life -------------------------------------------------------------------------------- */

void sx_run_child_started(struct sx_run_job *job)
{
    if (sx_run_child_is_awaited(job) && job->caused) {
        sx_run_request_answer(job->request, job->fate, NULL);
    }
    sx_run_child_acts(job);
}

/* The directives that a spawn gave in its own infos. */
static void words_follow(struct sx_run_job *job)
{
    const struct sx_run_request *const request = job->request;
    const pmix_info_t *const table = sx_info_find(request->info, request->ninfo, SX_RUN_PROCTABLE);
    const pmix_info_t *const to = sx_info_find(request->info, request->ninfo, SX_RUN_PROCTABLE_TO);
    const pmix_info_t *const again = sx_info_find(request->info, request->ninfo,
                                                  SX_RUN_AUTORESTART);
    bool may_restart = false;

    if (table != NULL && sx_value_is_true(&table->value)) {
        sx_run_display_processes(job->run, job,
                                 to != NULL && to->value.type == PMIX_STRING &&
                                         to->value.data.string != NULL
                                     ? to->value.data.string
                                     : "-");
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        may_restart = may_restart || job->apps[i].restarts_max > 0;
    }
    if (again != NULL && sx_value_is_true(&again->value) && !may_restart) {
        sx_run_say_of(job,
                      "%s: autorestart without a number starts nothing again, as with prterun: "
                      "add max-restarts=N",
                      job->name);
    }
}

void sx_run_child_acts(struct sx_run_job *job)
{
    struct sx_run_request *const request = job->request;

    if (!sx_run_child_is_awaited(job)) {
        return;
    }
    sx_run_end_limit(job, request->said.job_timeout_ns);
    if (request->said.progress && !job->caused) {
        sx_run_say_of(job, "%s: all %u ranks are up", job->name, job->rank_count);
    }
    words_follow(job);
    sx_run_note(job, PMIX_EVENT_JOB_START, PMIX_RANK_WILDCARD);
    sx_run_note(job, PMIX_LAUNCH_COMPLETE, PMIX_RANK_WILDCARD);
    if (request->said.notify_start) {
        sx_run_host_notify_parent(job, PMIX_EVENT_JOB_START);
    }
    if (request->said.stop_on_exec != NULL) {
        sx_run_host_notify_parent(job, PMIX_READY_FOR_DEBUG);
    }
    if (request->said.notify_start || request->said.notify_launch) {
        sx_run_host_notify_parent(job, PMIX_LAUNCH_COMPLETE);
    }
    sx_run_request_answer(request, PMIX_SUCCESS, job->nspace);
}

void sx_run_child_progress(struct sx_run_job *job, uint64_t now_ns)
{
    struct sx_run_request *const request = job->request;

    if (request == NULL || !request->said.progress || !sx_run_job_is_starting(job) ||
        now_ns < request->progress_ns) {
        return;
    }
    if (request->progress_ns != 0) {
        sx_run_say_of(job, "%s: %u of %u ranks are up", job->name, job->alive, job->rank_count);
    }
    request->progress_ns = sx_deadline_ns(now_ns, PROGRESS_PERIOD_NS);
}

void sx_run_child_rank_ended(const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_request *const request = job->request;
    const bool good = job->ranks[rank].state == PMIX_PROC_STATE_TERMINATED;

    sx_run_note(job, PMIX_EVENT_PROC_TERMINATED, rank);
    if (request != NULL &&
        (request->said.notify_ranks || (request->said.notify_failures && !good))) {
        sx_run_host_notify_parent_rank(job, rank);
    }
}

/* Whether @job, over PMI-1, has failed by a rank that has not called PMI's init.  MPICH's parent
 * then waits for a connection, and makes no request that could be answered. */
static bool leaves_parent_waiting(const struct sx_run_job *job)
{
    return job->request->over_pmi1 && job->failed_rank != UINT32_MAX &&
           !sx_run_upcall_has_come(job, job->failed_rank);
}

/* The parent of @job, which has failed, may be waiting for it in MPI_Comm_spawn. */
static void parent_let_go(const struct sx_run_job *job)
{
    struct sx_run_job *const parent = job->parent;

    if (!job->request->has_started || job->fate == PMIX_SUCCESS) {
        return;
    }
    if (!job->request->over_pmi1) {
        sx_run_host_spawn_failed(job);
    } else if (leaves_parent_waiting(job) && parent != NULL && parent->state != SX_RUN_OVER) {
        sx_run_end_notified(
            parent, job->failed_code, UINT32_MAX,
            "%s ends: rank %u of %s, which it has spawned, has failed before it called "
            "PMI_Init (MPI_Init)",
            parent->name, job->failed_rank, job->name);
    }
}

void sx_run_child_over(struct sx_run_job *job)
{
    const struct sx_run_request *const request = job->request;

    if (request == NULL) {
        return;
    }
    sx_run_child_started(job); /* if the last exec has not been noticed */
    parent_let_go(job);
    if (job->spawned > 0) {
        sx_run_note(job, PMIX_EVENT_JOB_END, PMIX_RANK_WILDCARD);
    }
    if (job->spawned > 0 && (request->said.notify_end || request->said.notify_start) &&
        !(request->said.silent_end && job->fate == PMIX_SUCCESS)) {
        sx_run_host_notify_parent(job, PMIX_EVENT_JOB_END);
    }
}

void sx_run_child_deinit(struct sx_run_job *job)
{
    if (job->request != NULL) {
        job->programs = programs_free(job->programs, job->app_count);
        job->places = sx_run_places_free(job->places, job->rank_count);
        job->request = sx_run_request_free(job->request);
    }
}
