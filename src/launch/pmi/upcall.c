/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.c - upcalls and one event; each notes something under the lock and returns. */
#include "launch/pmi/upcall.h"

#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"
#include "launch/stdio/forward.h"
#include "launch/stdio/input.h"
#include "launch/stdio/log.h"

struct sx_run_client {
    bool is_client;
    bool counted;        /* among the ranks that have connected, in any way */
    uint8_t breakpoints; /* at which the rank has waited for a debugger */
};

/* The state of one job's clients. */
struct sx_run_clients {
    struct sx_run_job *job; /* only fields that do not change are read here */
    struct sx_run_client ranks[];
};

static struct {
    pthread_mutex_t mutex;
    struct sx_run_clients **clients; /* one for each job */
    uint32_t count, room;
    uint32_t connected, awaited; /* ranks */
    bool each_awaited;
    int come_fd; /* written when come_ranks have connected, or a tool has; 0: not wanted */
    uint32_t come_ranks;
    uint64_t come_number;
} upcall = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
};

/* Under the lock.  Return: NULL when @proc is not in any job. */
static struct sx_run_clients *clients_of(const pmix_proc_t *proc)
{
    for (uint32_t i = 0; i < upcall.count; i++) {
        if (strncmp(proc->nspace, upcall.clients[i]->job->nspace, PMIX_MAX_NSLEN) == 0) {
            return upcall.clients[i];
        }
    }
    return NULL;
}

/* Return: the job of @proc, held, or NULL. */
static struct sx_run_job *job_of(const pmix_proc_t *proc)
{
    struct sx_run_clients *clients;

    pthread_mutex_lock(&upcall.mutex);
    clients = clients_of(proc);
    if (clients != NULL) {
        sx_run_job_hold(clients->job);
    }
    pthread_mutex_unlock(&upcall.mutex);
    return clients == NULL ? NULL : clients->job;
}

/* Under the mutex. */
static void come_notify(void)
{
    if (upcall.come_fd > 0) {
        (void)!write(upcall.come_fd, &upcall.come_number, sizeof(upcall.come_number));
        upcall.come_fd = 0;
    }
}

void sx_run_upcall_notify_come(int fd, uint64_t number, uint32_t ranks)
{
    pthread_mutex_lock(&upcall.mutex);
    upcall.come_fd = fd;
    upcall.come_number = number;
    upcall.come_ranks = ranks;
    pthread_mutex_unlock(&upcall.mutex);
}

/* ---- clients --------------------------------------------------------------------------------- */

/* Return: whether this connection must be reported. */
static bool count_locked(struct sx_run_clients *clients, uint32_t rank)
{
    const bool before = clients->ranks[rank].counted;

    clients->ranks[rank].counted = true;
    upcall.connected += !before;
    if (upcall.connected >= upcall.come_ranks) {
        come_notify();
    }
    return !before && (upcall.each_awaited || upcall.connected == upcall.awaited);
}

void sx_run_upcall_count(const struct sx_run_job *job, uint32_t rank)
{
    bool wakes;

    pthread_mutex_lock(&upcall.mutex);
    wakes = count_locked(job->clients, rank);
    pthread_mutex_unlock(&upcall.mutex);
    if (wakes) {
        sx_mailbox_wake();
    }
}

bool sx_run_upcall_any_counted(const struct sx_run_job *job)
{
    bool any = false;

    pthread_mutex_lock(&upcall.mutex);
    for (uint32_t i = 0; i < job->rank_count && !any; i++) {
        any = job->clients->ranks[i].counted;
    }
    pthread_mutex_unlock(&upcall.mutex);
    return any;
}

/* Return: false when @proc is a tool, or the job is not there any more. */
static bool note_client(const pmix_proc_t *proc, bool is_client)
{
    struct sx_run_clients *clients;
    bool wakes = false;

    pthread_mutex_lock(&upcall.mutex);
    clients = clients_of(proc);
    if (clients != NULL && proc->rank < clients->job->rank_count) {
        clients->ranks[proc->rank].is_client = is_client;
        wakes = is_client && count_locked(clients, proc->rank);
    }
    pthread_mutex_unlock(&upcall.mutex);
    if (wakes) {
        sx_mailbox_wake();
    }
    return clients != NULL;
}

void sx_run_upcall_await(uint32_t awaited, bool each)
{
    pthread_mutex_lock(&upcall.mutex);
    upcall.awaited = awaited;
    upcall.each_awaited = each;
    pthread_mutex_unlock(&upcall.mutex);
}

uint32_t sx_run_upcall_connected(void)
{
    uint32_t connected;

    pthread_mutex_lock(&upcall.mutex);
    connected = upcall.connected;
    pthread_mutex_unlock(&upcall.mutex);
    return connected;
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *server_object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object;
    (void)cbfunc;
    (void)cbdata;
    (void)note_client(proc, true);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *server_object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object;
    (void)cbfunc;
    (void)cbdata;
    if (!note_client(proc, false)) {
        struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

        *news = (struct sx_run_news){ .kind = SX_RUN_NEWS_GONE,
                                      .tool = sx_cli_calloc(1, sizeof(*news->tool)) };
        *news->tool = *proc;
        sx_mailbox_post(news);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* The notes about @rank, at one moment. */
static struct sx_run_client notes_of(const struct sx_run_job *job, uint32_t rank)
{
    pthread_mutex_lock(&upcall.mutex);
    const struct sx_run_client notes = job->clients->ranks[rank];

    pthread_mutex_unlock(&upcall.mutex);
    return notes;
}

bool sx_run_upcall_is_client(const struct sx_run_job *job, uint32_t rank)
{
    return notes_of(job, rank).is_client;
}

bool sx_run_upcall_has_come(const struct sx_run_job *job, uint32_t rank)
{
    return notes_of(job, rank).counted;
}

void sx_run_upcall_forget(const struct sx_run_job *job, uint32_t rank)
{
    pthread_mutex_lock(&upcall.mutex);
    job->clients->ranks[rank].is_client = false;
    pthread_mutex_unlock(&upcall.mutex);
}

/* ---- abort ----------------------------------------------------------------------------------- */

static bool means_all(pmix_rank_t rank)
{
    return rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_LOCAL_NODE ||
           rank == PMIX_RANK_LOCAL_PEERS;
}

/* The news of @job among @list; made when @list has none. */
static struct sx_run_news *news_of(struct sx_run_news **list, struct sx_run_abort *abort,
                                   struct sx_run_job *job)
{
    struct sx_run_news **at = list;

    while (*at != NULL && (*at)->job != job) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        *at = sx_cli_calloc(1, sizeof(**at));
        **at = (struct sx_run_news){ .kind = abort->info_fn != NULL ? SX_RUN_NEWS_CONTROL
                                                                    : SX_RUN_NEWS_ABORT,
                                     .job = job,
                                     .abort = abort };
        sx_run_job_hold(job);
        abort->open++;
    }
    return *at;
}

static void name_rank(struct sx_run_news *news, pmix_rank_t rank)
{
    news->whole = news->whole || means_all(rank);
    if (!news->whole) {
        news->ranks = sx_cli_realloc(news->ranks, news->rank_count + 1, sizeof(*news->ranks));
        news->ranks[news->rank_count++] = rank;
    }
}

/* One news for each job that @procs name; without @procs, for the caller's job.  Return: false when
 * a process does not exist. */
static bool news_make(struct sx_run_news **list, struct sx_run_abort *abort,
                      struct sx_run_job *caller, const pmix_proc_t *procs, size_t count)
{
    if (count == 0 && caller == NULL) { /* a tool has no job */
        return false;
    }
    if (count == 0) {
        name_rank(news_of(list, abort, caller), PMIX_RANK_WILDCARD);
    }
    for (size_t i = 0; i < count; i++) {
        struct sx_run_job *const job = job_of(&procs[i]);
        const bool good = job != NULL &&
                          (procs[i].rank < job->rank_count || means_all(procs[i].rank));

        if (good) {
            name_rank(news_of(list, abort, job), procs[i].rank);
        }
        sx_run_job_drop(job);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* Post the news of @abort to the jobs that it names; @abort holds @caller.  Return: PMIX_SUCCESS,
 * and the abort will be answered; PMIX_ERR_NOT_FOUND. */
static pmix_status_t news_post(struct sx_run_abort *abort, struct sx_run_job *caller,
                               const pmix_proc_t *procs, size_t count)
{
    struct sx_run_news *list = NULL;
    const bool good = news_make(&list, abort, caller, procs, procs == NULL ? 0 : count);

    if (list == NULL) {
        sx_run_abort_free(abort);
    }
    while (list != NULL) {
        struct sx_run_news *const news = list;

        list = news->next;
        if (good) {
            sx_mailbox_post(news);
        } else {
            sx_run_news_free(news);
        }
    }
    return good ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t job_abort(const pmix_proc_t *proc, void *server_object, int status,
                               const char *msg, pmix_proc_t *procs, size_t count,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_run_job *const caller = job_of(proc);

    (void)server_object;
    if (caller == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_run_abort *const abort = sx_cli_calloc(1, sizeof(*abort));

    *abort = (struct sx_run_abort){
        .job = caller, .rank = proc->rank, .status = status, .fn = cbfunc, .arg = cbdata
    };
    snprintf(abort->text, sizeof(abort->text), "%s", msg == NULL ? "" : msg);
    return news_post(abort, caller, procs, count);
}

/* ---- job control ----------------------------------------------------------------------------- */

/* Find the signal for @options.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a request that is to
 * be cancelled, as all requests are done when they are answered; PMIX_ERR_BAD_PARAM for more than
 * one directive; PMIX_ERR_NOT_SUPPORTED. */
static pmix_status_t control_judge(const struct sx_control_options *options,
                                   struct sx_run_abort *ret)
{
    const int actions = options->kill + options->terminate + options->pause + options->resume +
                        options->signal.given;

    if (options->restart != NULL || options->checkpoint != NULL || options->event ||
        options->checkpoint_signal.given || options->methods != NULL || options->preemptible ||
        options->provision != NULL || options->image != NULL) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (options->cancel != NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    ret->ends = options->kill || options->terminate;
    ret->apart = options->apart;
    ret->status = options->kill        ? SIGKILL
                  : options->terminate ? SIGTERM
                  : options->pause     ? SIGSTOP
                  : options->resume    ? SIGCONT
                                       : (int)options->signal.number;
    return actions == 1 ? PMIX_SUCCESS : actions == 0 ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t job_control(const pmix_proc_t *proc, const pmix_proc_t *targets,
                                 size_t ntargets, const pmix_info_t *directives, size_t ndirs,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_control_options options = { 0 };
    struct sx_run_job *const caller = job_of(proc);
    struct sx_run_abort said = {
        .job = caller, .rank = proc->rank, .info_fn = cbfunc, .arg = cbdata
    };
    pmix_status_t rc = sx_options_read(SX_OF_JOB_CONTROL, directives, ndirs, &options);

    if (rc == PMIX_SUCCESS) {
        rc = control_judge(&options, &said);
    }
    if (rc != PMIX_SUCCESS) {
        sx_run_job_drop(caller);
        return rc;
    }
    struct sx_run_abort *const control = sx_cli_calloc(1, sizeof(*control));

    *control = said;
    return news_post(control, caller, targets, ntargets);
}

/* ---- spawn ----------------------------------------------------------------------------------- */

static pmix_status_t job_spawn(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                               const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t cbfunc,
                               void *cbdata)
{
    struct sx_run_job *const job = job_of(proc);
    struct sx_run_request *request;
    const pmix_status_t rc = sx_run_request_ask(&request, job == NULL ? "" : sx_run_job_root(job),
                                                proc, info, ninfo, apps, napps);

    if (rc != PMIX_SUCCESS) {
        sx_run_job_drop(job);
    } else {
        struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

        request->fn = cbfunc;
        request->arg = cbdata;
        *news = (struct sx_run_news){
            .kind = SX_RUN_NEWS_SPAWN, .job = job, .rank = proc->rank, .request = request
        };
        sx_mailbox_post(news);
    }
    return rc;
}

/* ---- input ----------------------------------------------------------------------------------- */

static pmix_status_t push_stdin(const pmix_proc_t *source, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                                const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_run_push *push;
    const pmix_status_t rc = sx_run_push_new(&push, targets, ntargets, directives, ndirs, bo,
                                             cbfunc, cbdata);

    (void)source;
    if (rc == PMIX_SUCCESS) {
        struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

        *news = (struct sx_run_news){ .kind = SX_RUN_NEWS_PUSH, .push = push };
        sx_mailbox_post(news);
    }
    return rc;
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* Accept any tool of this user and of root, under the name that it asks for; else the server names
 * it.  Other users' tools may find the file of a system server, and are refused. */
static void tool_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                           void *cbdata)
{
    pmix_proc_t proc = { .rank = PMIX_RANK_UNDEF };
    bool is_ours = true;

    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_USERID)) {
            is_ours = info[i].value.data.uint32 == 0 || info[i].value.data.uint32 == geteuid();
        } else if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) {
            PMIx_Load_nspace(proc.nspace, info[i].value.data.string);
        } else if (PMIx_Check_key(info[i].key, PMIX_RANK)) {
            proc.rank = info[i].value.data.rank;
        }
    }
    pthread_mutex_lock(&upcall.mutex);
    come_notify();
    pthread_mutex_unlock(&upcall.mutex);
    cbfunc(is_ours ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, &proc, cbdata);
}

pmix_server_module_t sx_run_upcall_module = {
    .tool_connected = tool_connected,
    .client_connected = client_connected,
    .client_finalized = client_finalized,
    .abort = job_abort,
    .log = sx_run_log,
    .job_control = job_control,
    .spawn = job_spawn,
    .iof_pull = sx_run_forward_pull,
    .push_stdin = push_stdin,
};

/* ---- events ---------------------------------------------------------------------------------- */

/* @job was held for this news. */
static void notify(enum sx_run_news_kind kind, struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

    *news = (struct sx_run_news){ .kind = kind, .job = job, .rank = rank };
    sx_mailbox_post(news);
}

/* Return: false when @rank of @job has used up its breakpoints, which it could publish for ever. */
static bool count_ready(struct sx_run_job *job, uint32_t rank)
{
    bool counts;

    pthread_mutex_lock(&upcall.mutex);
    counts = job->clients->ranks[rank].breakpoints < SX_RUN_BREAKPOINTS;
    job->clients->ranks[rank].breakpoints += counts;
    pthread_mutex_unlock(&upcall.mutex);
    return counts;
}

/* The library reports a loss here before it reports it to the peers. */
void sx_run_upcall_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    struct sx_run_job *const job = source == NULL ? NULL : job_of(source);
    const bool lost = status == PMIX_ERR_LOST_CONNECTION;

    (void)id;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    if (job != NULL && source->rank < job->rank_count && (lost || count_ready(job, source->rank))) {
        notify(lost ? SX_RUN_NEWS_LOST : SX_RUN_NEWS_READY, job, source->rank);
    } else {
        sx_run_job_drop(job);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

void sx_run_upcall_bereft(const pmix_proc_t *lost, const char *nspace)
{
    struct sx_run_job *const dead = job_of(lost);
    pmix_proc_t other;

    PMIx_Load_procid(&other, nspace, PMIX_RANK_WILDCARD);
    struct sx_run_job *const job = job_of(&other);

    if (dead != NULL && job != NULL) {
        struct sx_run_news *const news = sx_cli_calloc(1, sizeof(*news));

        *news = (struct sx_run_news){ .kind = SX_RUN_NEWS_BEREFT, .job = job, .by = dead };
        sx_mailbox_post(news);
    } else {
        sx_run_job_drop(job);
        sx_run_job_drop(dead);
    }
}

void sx_run_upcall_gone(pmix_status_t status, void *arg)
{
    (void)status;
    sx_run_job_drop(arg);
    sx_mailbox_wake(); /* the job may be removed now */
}

void sx_run_upcall_handled(pmix_status_t status, void *arg)
{
    (void)status;
    notify(SX_RUN_NEWS_HANDLED, arg, 0);
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_run_upcall_add(struct sx_run_job *job)
{
    struct sx_run_clients *const clients =
        sx_cli_calloc(1, sizeof(*clients) + job->rank_count * sizeof(clients->ranks[0]));

    clients->job = job;
    job->clients = clients;
    pthread_mutex_lock(&upcall.mutex);
    if (upcall.count == upcall.room) {
        upcall.room = 2 * upcall.room + 4;
        upcall.clients = sx_cli_realloc(upcall.clients, upcall.room, sizeof(*upcall.clients));
    }
    upcall.clients[upcall.count++] = clients;
    pthread_mutex_unlock(&upcall.mutex);
}

static void clients_remove(const struct sx_run_clients *clients)
{
    for (uint32_t i = 0; i < upcall.count; i++) {
        if (upcall.clients[i] == clients) {
            upcall.clients[i] = upcall.clients[--upcall.count];
            return;
        }
    }
}

bool sx_run_upcall_remove(struct sx_run_job *job)
{
    struct sx_run_clients *const clients = job->clients;
    bool held = false;

    if (clients != NULL) {
        pthread_mutex_lock(&upcall.mutex);
        /* R-holds <- D-holds (sx_run_job_drop). */
        held = atomic_load_explicit(&job->holds, memory_order_acquire) > 0;
        if (!held) {
            clients_remove(clients);
            job->clients = NULL;
        }
        pthread_mutex_unlock(&upcall.mutex);
    }
    if (!held) {
        free(clients);
    }
    return !held;
}

void sx_run_upcall_deinit(void)
{
    for (uint32_t i = 0; i < upcall.count; i++) {
        upcall.clients[i]->job->clients = NULL;
        free(upcall.clients[i]);
    }
    free(upcall.clients);
    upcall.clients = NULL;
    upcall.count = upcall.room = 0;
}
