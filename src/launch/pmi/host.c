/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - one server for all jobs: it receives their data at the start and then their ranks'
 * ends. */
#include "launch/pmi/host.h"

#include <errno.h>
#include <limits.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <shmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/system/process.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "server/collective/collective.h"
#include "server/event/event.h"
#include "server/publish/publish.h"
#include "shmem/nspace_read.h"

/* Registrations that have not completed. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    uint32_t left;
    pmix_status_t status;
} registrations = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

/* ---- registration ---------------------------------------------------------------------------- */

static void client_registered(pmix_status_t status, void *arg)
{
    (void)arg;
    pthread_mutex_lock(&registrations.mutex);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        registrations.status = status;
    }
    if (--registrations.left == 0) {
        pthread_cond_signal(&registrations.done);
    }
    pthread_mutex_unlock(&registrations.mutex);
}

/* All registrations run at the same time: one wait for thousands of ranks. */
static pmix_status_t register_clients(const struct sx_run_job *job)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    pmix_proc_t proc;
    pmix_status_t status;

    registrations.left = job->rank_count;
    registrations.status = PMIX_SUCCESS;
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        PMIx_Load_procid(&proc, job->nspace, rank);
        status = PMIx_server_register_client(&proc, uid, gid, NULL, client_registered, NULL);
        if (status != PMIX_SUCCESS) {
            client_registered(status, NULL); /* the callback is not called then */
        }
    }
    pthread_mutex_lock(&registrations.mutex);
    while (registrations.left > 0) {
        pthread_cond_wait(&registrations.done, &registrations.mutex);
    }
    status = registrations.status;
    pthread_mutex_unlock(&registrations.mutex);
    return status;
}

static pmix_status_t register_data(struct sx_run_job_facts *facts)
{
    const struct sx_run_job *const job = facts->job;
    char *node_map = NULL, *proc_map = NULL, *peers = sx_run_info_peers(job->rank_count);
    struct sx_run_info info = { .all = NULL };
    pmix_status_t status = PMIx_generate_regex(facts->host, &node_map);

    if (status == PMIX_SUCCESS) {
        status = PMIx_generate_ppn(peers, &proc_map);
    }
    if (status == PMIX_SUCCESS) {
        facts->node_map = node_map;
        facts->proc_map = proc_map;
        info = sx_run_info_build(facts);
        status = PMIx_server_register_nspace(job->nspace, (int)job->rank_count, info.all,
                                             info.count, NULL, NULL);
    }
    sx_run_info_free(&info);
    free(node_map);
    free(proc_map);
    free(peers);
    return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
}

/* The directory in which the ranks of each application start.  A rank has chosen those of a spawn,
 * and none of them is looked at here: its file system may not answer. */
static char **wdirs_make(const struct sx_run_job *job)
{
    char **wdirs = sx_cli_calloc(job->app_count, sizeof(*wdirs));

    for (uint32_t i = 0; i < job->app_count; i++) {
        const char *wdir = job->apps[i].wdir;

        wdirs[i] = job->request != NULL && wdir != NULL ? NULL
                                                        : realpath(wdir == NULL ? "." : wdir, NULL);
        if (wdirs[i] == NULL) {
            wdirs[i] = sx_cli_strdup(wdir == NULL ? "." : wdir);
        }
    }
    return wdirs;
}

static pmix_status_t register_job(struct sx_run_job_facts *facts, const char **ret_what)
{
    pmix_status_t status;

    facts->wdirs = wdirs_make(facts->job);
    *ret_what = "take the job's data";
    status = register_data(facts);
    if (status == PMIX_SUCCESS) {
        *ret_what = "register the ranks";
        status = register_clients(facts->job);
    }
    for (uint32_t i = 0; i < facts->job->app_count; i++) {
        free(facts->wdirs[i]);
    }
    free(facts->wdirs);
    return status;
}

/* Register which directives of a spawn are honoured (launch/ask/spawn_request.h), for clients that
 * query the list. */
static pmix_status_t spawn_register(void)
{
    const struct sx_directives *const table = &sx_spawn_job_directives;
    char function[] = "spawn", **names = sx_cli_calloc(table->count + 1, sizeof(*names));
    pmix_status_t status;

    for (size_t i = 0; i < table->count; i++) {
        names[i] = (char *)(uintptr_t)table->rows[i].name;
    }
    status = PMIx_Register_attributes(function, names);
    free(names);
    return status;
}

/* The server's directives about tools. */
static size_t tools_load(pmix_info_t info[4], const struct sx_run_options *options,
                         const struct sx_session *session)
{
    const bool yes = true;
    size_t count = 0;

    PMIx_Info_load(&info[count++], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    if (options->system_server) {
        PMIx_Info_load(&info[count++], PMIX_SERVER_SYSTEM_SUPPORT, &yes, PMIX_BOOL);
        PMIx_Info_load(&info[count++], PMIX_SYSTEM_TMPDIR, sx_session_system_dir(session),
                       PMIX_STRING);
    }
    if (options->report_uri_file != NULL) {
        PMIx_Info_load(&info[count++], PMIX_LAUNCHER_RENDEZVOUS_FILE, options->report_uri_file,
                       PMIX_STRING);
    }
    return count;
}

static pmix_status_t serve(struct sx_run_host *host, const struct sx_run_options *options,
                           const struct sx_session *session, const char *server_nspace)
{
    pmix_info_t info[13];
    bool yes = true, no = false, records = options->log != NULL;
    pmix_rank_t rank = 0;
    pmix_status_t status;
    size_t count;

    memset(info, 0, sizeof(info));
    PMIx_Info_load(&info[0], PMIX_SERVER_TMPDIR, session->dir, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SERVER_NSPACE, server_nspace, PMIX_STRING);
    PMIx_Info_load(&info[2], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIx_Info_load(&info[3], SX_SERVER_INHERIT_FD, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[4], SX_SERVER_LOG_STREAMS, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[5], SX_SERVER_LOG_RECORDS, &records, PMIX_BOOL);
    /* The launcher gives the server its topology (launch/place/device_probe.h), so the server need
     * not discover it. */
    PMIx_Info_load(&info[6], PMIX_SERVER_SHARE_TOPOLOGY, &no, PMIX_BOOL);
    /* The launcher has a gateway of its own (launch/pmi/foreign.h). */
    PMIx_Info_load(&info[7], SHMIX_SERVER_GATEWAY, &no, PMIX_BOOL);
    count = 8 + tools_load(&info[8], options, session);
    if (options->numa != NULL) {
        PMIx_Info_load(&info[count++], SHMIX_SERVER_NUMA, options->numa, PMIX_STRING);
    }
    status = PMIx_server_init(&sx_run_upcall_module, info, count);
    host->serving = status == PMIX_SUCCESS;
    if (host->serving) {
        pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
        const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, sx_run_upcall_event,
                                                             NULL, NULL);

        status = id < 0 ? id : sx_connect_watch(sx_run_upcall_bereft);
        if (status == PMIX_SUCCESS && (options->stop_in_init || options->stop_in_app)) {
            code = PMIX_READY_FOR_DEBUG;
            status = PMIx_Register_event_handler(&code, 1, NULL, 0, sx_run_upcall_event, NULL,
                                                 NULL);
            status = status < 0 ? status : PMIX_SUCCESS;
        }
        if (status == PMIX_SUCCESS) {
            status = spawn_register();
        }
    }
    sx_elements_destruct(info, SX_COUNT(info), PMIX_INFO);
    return status;
}

/* ---- process sets ---------------------------------------------------------------------------- */

static bool is_in(const struct sx_run_app *app, const char *set)
{
    return app->pset != NULL && strcmp(app->pset, set) == 0;
}

/* The ranks of all jobs whose application is in @set. */
static size_t set_members(const struct sx_run_jobs *jobs, const char *set, pmix_proc_t *members)
{
    size_t count = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct sx_run_job *const job = jobs->at[i];

        for (uint32_t rank = 0; rank < job->rank_count && job->state != SX_RUN_OVER; rank++) {
            if (is_in(sx_run_job_app(job, rank), set)) {
                PMIx_Load_procid(&members[count++], job->nspace, rank);
            }
        }
    }
    return count;
}

/* The set of application @index, unless an earlier one has named it. */
static const char *set_of(const struct sx_run_options *options, uint32_t index)
{
    const char *const set = options->apps[index].pset;

    for (uint32_t i = 0; i < index && set != NULL; i++) {
        if (is_in(&options->apps[i], set)) {
            return NULL;
        }
    }
    return set;
}

static pmix_status_t define_sets(const struct sx_run_options *options,
                                 const struct sx_run_jobs *jobs)
{
    pmix_proc_t *members = sx_cli_calloc(sx_run_jobs_places(jobs), sizeof(*members));
    pmix_status_t status = PMIX_SUCCESS;

    for (uint32_t i = 0; i < options->app_count && status == PMIX_SUCCESS; i++) {
        const char *const set = set_of(options, i);

        if (set != NULL) {
            status = PMIx_server_define_process_set(members, set_members(jobs, set, members), set);
        }
    }
    free(members);
    return status;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool could_not(const char *what, pmix_status_t status, char *message)
{
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "the PMIx server could not %s: %s; SHMIX_LOG=info "
             "tells more",
             what, PMIx_Error_string(status));
    return false;
}

static bool start(struct sx_run_host *host, char *message)
{
    struct sx_run_job_facts *const facts = &host->facts;
    const char *what = "start";
    pmix_status_t status = serve(host, facts->options, facts->session, facts->server_nspace);

    for (uint32_t i = 0; i < facts->jobs->count && status == PMIX_SUCCESS; i++) {
        facts->job = facts->jobs->at[i];
        status = register_job(facts, &what);
    }
    if (status == PMIX_SUCCESS) {
        what = "define the process sets";
        status = define_sets(facts->options, facts->jobs);
    }
    return status == PMIX_SUCCESS || could_not(what, status, message);
}

bool sx_run_host_add(struct sx_run_host *host, struct sx_run_job *job,
                     char message[SX_RUN_MESSAGE_MAX])
{
    const char *what = "take the job";
    pmix_status_t status;

    sx_run_upcall_add(job);
    host->facts.job = job;
    status = register_job(&host->facts, &what);
    if (status == PMIX_SUCCESS) {
        what = "define the process sets";
        status = define_sets(job->options, host->facts.jobs);
    }
    return status == PMIX_SUCCESS || could_not(what, status, message);
}

void sx_run_host_name(struct sx_run_host *host)
{
    sx_process_nodename(host->name);
}

bool sx_run_host_init(struct sx_run_host *host, const struct sx_run_options *options,
                      const struct sx_run_jobs *jobs, const struct sx_run_machine *machine,
                      const struct sx_session *session, char message[SX_RUN_MESSAGE_MAX])
{
    *host = (struct sx_run_host){ .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    if (host->event_fd < 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "eventfd: %s", strerror(errno));
        return false;
    }
    sx_mailbox_init(host->event_fd);
    for (uint32_t i = 0; i < jobs->count; i++) {
        sx_run_upcall_add(jobs->at[i]);
    }
    sx_run_host_name(host);
    host->server_nspace = sx_cli_printf("%s.server", session->nspace);
    host->facts = (struct sx_run_job_facts){ .options = options,
                                             .jobs = jobs,
                                             .machine = machine,
                                             .session = session,
                                             .host = host->name,
                                             .server_nspace = host->server_nspace };
    return start(host, message);
}

void sx_run_host_deinit(struct sx_run_host *host)
{
    sx_mailbox_answer_all();
    if (host->serving) {
        PMIx_server_finalize();
        host->serving = false;
    }
    sx_mailbox_deinit();
    sx_run_upcall_deinit();
    free(host->server_nspace);
    host->server_nspace = NULL;
    if (host->event_fd >= 0) {
        close(host->event_fd);
        host->event_fd = -1;
    }
}

/* ---- one job --------------------------------------------------------------------------------- */

bool sx_run_host_setup_fork(const struct sx_run_job *job, uint32_t rank, char ***env,
                            char message[SX_RUN_MESSAGE_MAX])
{
    pmix_proc_t proc;
    pmix_status_t status;

    PMIx_Load_procid(&proc, job->nspace, rank);
    status = PMIx_server_setup_fork(&proc, env);
    if (status != PMIX_SUCCESS) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "the PMIx server has no environment for %srank %u: %s", job->prefix, rank,
                 PMIx_Error_string(status));
        return false;
    }
    return true;
}

bool sx_run_host_is_client(const struct sx_run_job *job, uint32_t rank)
{
    return sx_run_upcall_is_client(job, rank);
}

pid_t sx_run_host_pid(const struct sx_run_job *job, uint32_t rank)
{
    pid_t pid = job->ranks[rank].pid;
    pmix_value_t *value = NULL;
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, job->nspace, rank);
    if (sx_run_host_is_client(job, rank) &&
        PMIx_Get(&proc, PMIX_PROC_PID, NULL, 0, &value) == PMIX_SUCCESS) {
        pid = value->type == PMIX_PID && value->data.pid > 0 ? value->data.pid : pid;
        PMIx_Value_free(value, 1);
    }
    return pid;
}

static void nothing_more(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

/* Do not wait for the deregistration: there may be thousands. */
void sx_run_host_rank_left(const struct sx_run_job *job, uint32_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, job->nspace, rank);
    PMIx_server_deregister_client(&proc, nothing_more, NULL);
}

void sx_run_host_rank_gone(const struct sx_run_job *job, uint32_t rank)
{
    if (!sx_run_host_is_client(job, rank)) {
        sx_run_host_rank_left(job, rank);
    }
}

void sx_run_host_rank_again(const struct sx_run_job *job, uint32_t rank)
{
    const pmix_proc_state_t state = PMIX_PROC_STATE_RUNNING;
    const int none = 0;
    pmix_info_t its[4], info;
    pmix_data_array_t array = { .type = PMIX_INFO, .size = SX_COUNT(its), .array = its };

    pmix_proc_t proc;

    sx_run_upcall_forget(job, rank);
    /* The server accepts a rank that it has cut off only when the rank is registered again. */
    PMIx_Load_procid(&proc, job->nspace, rank);
    (void)PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
    PMIx_Info_load(&its[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIx_Info_load(&its[1], PMIX_REINCARNATION, &job->ranks[rank].restarts, PMIX_UINT32);
    PMIx_Info_load(&its[2], PMIX_PROC_STATE_STATUS, &state, PMIX_PROC_STATE);
    PMIx_Info_load(&its[3], PMIX_EXIT_CODE, &none, PMIX_INT);
    PMIx_Info_load(&info, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    (void)PMIx_server_register_nspace(job->nspace, (int)job->rank_count, &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
}

/* The infos that a registration adds to a job. */
struct notified {
    size_t count;
    pmix_info_t all[];
};

static void notified_free(pmix_status_t status, void *arg)
{
    struct notified *const notified = arg;

    (void)status;
    sx_elements_destruct(notified->all, notified->count, PMIX_INFO);
    free(notified);
}

static void news_register(const struct sx_run_job *job, struct notified *news)
{
    if (PMIx_server_register_nspace(job->nspace, (int)job->rank_count, news->all, news->count,
                                    notified_free, news) != PMIX_SUCCESS) {
        notified_free(PMIX_SUCCESS, news); /* the callback is not called then */
    }
}

static void end_load(pmix_info_t *info, pmix_rank_t number, const struct sx_run_rank *rank)
{
    pmix_info_t its[3];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = SX_COUNT(its), .array = its };

    PMIx_Info_load(&its[0], PMIX_RANK, &number, PMIX_PROC_RANK);
    PMIx_Info_load(&its[1], PMIX_EXIT_CODE, &rank->exit_code, PMIX_INT);
    PMIx_Info_load(&its[2], PMIX_PROC_STATE_STATUS, &rank->state, PMIX_PROC_STATE);
    PMIx_Info_load(info, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
}

void sx_run_host_notify_pids(struct sx_run_job *job)
{
    const uint32_t first = job->pids_notified;
    struct notified *notified;

    if (sx_run_job_is_starting(job)) {
        return; /* all at once is cheaper */
    }
    if (first == job->spawned || job->alive == 0) {
        return;
    }
    job->pids_notified = job->spawned;
    notified = sx_cli_calloc(1,
                             sizeof(*notified) + (job->spawned - first) * sizeof(notified->all[0]));
    for (pmix_rank_t rank = first; rank < job->spawned; rank++) {
        pmix_info_t its[2];
        pmix_data_array_t array = { .type = PMIX_INFO, .size = SX_COUNT(its), .array = its };

        if (job->ranks[rank].alive) {
            PMIx_Info_load(&its[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
            PMIx_Info_load(&its[1], SX_STARTED_PID, &job->ranks[rank].pid, PMIX_PID);
            PMIx_Info_load(&notified->all[notified->count++], PMIX_PROC_INFO_ARRAY, &array,
                           PMIX_DATA_ARRAY);
        }
    }
    if (notified->count > 0) {
        news_register(job, notified);
    } else {
        free(notified);
    }
}

/* One registration reports many ends, as many end at once.  The last ends are not reported: the job
 * ends with them. */
void sx_run_host_notify_ends(struct sx_run_job *job)
{
    struct notified *notified;

    if (job->unnotified == 0 || job->alive == 0) {
        return;
    }
    notified = sx_cli_calloc(1, sizeof(*notified) + job->unnotified * sizeof(notified->all[0]));
    for (uint32_t rank = 0; rank < job->rank_count; rank++) {
        if (job->ranks[rank].unnotified) {
            end_load(&notified->all[notified->count++], rank, &job->ranks[rank]);
            job->ranks[rank].unnotified = false;
        }
    }
    job->unnotified = 0;
    news_register(job, notified);
}

void sx_run_host_notify_topology(const struct sx_run_job *job, const struct sx_run_machine *machine)
{
    const bool no = false;
    struct notified *const news = sx_cli_calloc(1, sizeof(*news) + (SX_TOPOLOGY_KEY_COUNT + 2) *
                                                                       sizeof(news->all[0]));

    for (size_t i = 0; machine->xml != NULL && i < SX_TOPOLOGY_KEY_COUNT; i++) {
        PMIx_Info_load(&news->all[news->count++], sx_topology_keys[i], machine->xml, PMIX_STRING);
    }
    if (machine->sign != NULL) {
        PMIx_Info_load(&news->all[news->count++], SX_NSPACE_MACHINE, machine->sign, PMIX_STRING);
    }
    PMIx_Info_load(&news->all[news->count++], SX_NSPACE_COMING, &no, PMIX_BOOL);
    news_register(job, news);
}

void sx_run_host_job_over(struct sx_run_job *job)
{
    sx_run_job_hold(job); /* for news that the server may still have of the job */
    PMIx_server_deregister_nspace(job->nspace, sx_run_upcall_gone, job);
}

bool sx_run_host_await_handlers(struct sx_run_job *job)
{
    bool comes;

    sx_run_job_hold(job); /* of the news */
    comes = sx_eventhandled_ask(job->nspace, sx_run_upcall_handled, job) == PMIX_SUCCESS;
    if (!comes) {
        sx_run_job_drop(job);
    }
    return comes;
}

void sx_run_host_rank_failed(const struct sx_run_job *job, uint32_t rank, pmix_status_t code,
                             int exit_code)
{
    const bool yes = true; /* a default handler might end a rank that is to continue */
    pmix_info_t info[3];
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, job->nspace, rank);
    memset(info, 0, sizeof(info));
    PMIx_Info_load(&info[0], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    PMIx_Info_load(&info[1], PMIX_EXIT_CODE, &exit_code, PMIX_INT);
    PMIx_Info_load(&info[2], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    (void)PMIx_Notify_event(code, &proc, PMIX_RANGE_NAMESPACE, info, SX_COUNT(info), NULL, NULL);
    sx_elements_destruct(info, SX_COUNT(info), PMIX_INFO);
}

/* ---- spawned jobs ---------------------------------------------------------------------------- */

/* How many other jobs of the same tree have not ended. */
static uint32_t tree_active(const struct sx_run_job *job)
{
    const struct sx_run_jobs *const jobs = job->run->jobs;
    uint32_t active = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct sx_run_job *const other = jobs->at[i];

        active += other != job && other->state != SX_RUN_OVER && other->nspace != NULL &&
                  strcmp(sx_run_job_root(other), sx_run_job_root(job)) == 0;
    }
    return active;
}

static size_t end_say(const struct sx_run_job *job, pmix_info_t *info)
{
    const uint32_t active = tree_active(job);
    const time_t now = time(NULL);
    pmix_proc_t failed;
    size_t count = 0;

    PMIx_Info_load(&info[count++], PMIX_JOB_TERM_STATUS, &job->fate, PMIX_STATUS);
    PMIx_Info_load(&info[count++], PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME);
    if (job->failed_rank != UINT32_MAX) {
        PMIx_Load_procid(&failed, job->nspace, job->failed_rank);
        PMIx_Info_load(&info[count++], PMIX_PROCID, &failed, PMIX_PROC);
    }
    PMIx_Info_load(&info[count++], PMIX_EXIT_CODE, &job->failed_code, PMIX_INT);
    PMIx_Info_load(&info[count++], PMIX_SPAWN_TREE_ROOT, sx_run_job_root(job), PMIX_STRING);
    PMIx_Info_load(&info[count++], PMIX_SPAWN_TREE_ACTIVE, &active, PMIX_UINT32);
    return count;
}

static size_t rank_end_say(const struct sx_run_rank *rank, pmix_info_t *info)
{
    const time_t now = time(NULL);

    PMIx_Info_load(&info[0], PMIX_EXIT_CODE, &rank->exit_code, PMIX_INT);
    PMIx_Info_load(&info[1], PMIX_PROC_STATE_STATUS, &rank->state, PMIX_PROC_STATE);
    PMIx_Info_load(&info[2], PMIX_EVENT_TIMESTAMP, &now, PMIX_TIME);
    return 3;
}

/* About @rank of @job, or about all of its ranks. */
static void notify_parent(const struct sx_run_job *job, pmix_rank_t rank, pmix_status_t code)
{
    const bool yes = true;
    size_t count = 0;
    pmix_info_t info[10];
    pmix_proc_t about;

    memset(info, 0, sizeof(info));
    PMIx_Load_procid(&about, job->nspace, rank);
    PMIx_Info_load(&info[count++], PMIX_EVENT_CUSTOM_RANGE, &job->request->parent, PMIX_PROC);
    PMIx_Info_load(&info[count++], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[count++], PMIX_NSPACE, job->nspace, PMIX_STRING);
    PMIx_Info_load(&info[count++], PMIX_EVENT_AFFECTED_PROC, &about, PMIX_PROC);
    if (code == PMIX_EVENT_JOB_END) {
        count += end_say(job, &info[count]);
    } else if (code == PMIX_READY_FOR_DEBUG) {
        PMIx_Info_load(&info[count++], PMIX_BREAKPOINT, "exec", PMIX_STRING);
    } else if (code == PMIX_EVENT_PROC_TERMINATED) {
        count += rank_end_say(&job->ranks[rank], &info[count]);
    }
    (void)PMIx_Notify_event(code, &about, PMIX_RANGE_CUSTOM, info, count, NULL, NULL);
    sx_elements_destruct(info, SX_COUNT(info), PMIX_INFO);
}

void sx_run_host_spawn_failed(const struct sx_run_job *job)
{
    (void)sx_publish_spawn_failed(&job->request->parent, job->nspace, job->fate);
}

void sx_run_host_notify_parent(const struct sx_run_job *job, pmix_status_t code)
{
    notify_parent(job, PMIX_RANK_WILDCARD, code);
}

void sx_run_host_notify_parent_rank(const struct sx_run_job *job, uint32_t rank)
{
    notify_parent(job, rank, PMIX_EVENT_PROC_TERMINATED);
}
