/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.c - three upcalls and one event; each notes something under the lock and returns. */
#include "cli/run/upcall.h"

#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

static struct {
    pthread_mutex_t mutex;
    uint32_t rank_count;
    char nspace[PMIX_MAX_NSLEN + 1];
    int event_fd;
    bool *is_client; /* one per rank */
    bool lost;       /* a rank is gone without a good-bye */
    struct sx_run_news *first, **last;
} upcall = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .event_fd = -1,
    .last = &upcall.first,
};

/* ---- clients --------------------------------------------------------------------------------- */

static bool is_ours(const pmix_proc_t *proc)
{
    return strncmp(proc->nspace, upcall.nspace, PMIX_MAX_NSLEN) == 0;
}

static void note_client(const pmix_proc_t *proc, bool is_client)
{
    pthread_mutex_lock(&upcall.mutex);
    if (upcall.is_client != NULL && proc->rank < upcall.rank_count && is_ours(proc)) {
        upcall.is_client[proc->rank] = is_client;
    }
    pthread_mutex_unlock(&upcall.mutex);
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *server_object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object;
    (void)cbfunc;
    (void)cbdata;
    note_client(proc, true);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *server_object,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object;
    (void)cbfunc;
    (void)cbdata;
    note_client(proc, false);
    return PMIX_OPERATION_SUCCEEDED;
}

bool sx_run_upcall_is_client(uint32_t rank)
{
    bool is_client;

    pthread_mutex_lock(&upcall.mutex);
    is_client = rank < upcall.rank_count && upcall.is_client[rank];
    pthread_mutex_unlock(&upcall.mutex);
    return is_client;
}

/* ---- news ------------------------------------------------------------------------------------ */

static void news_add(struct sx_run_news *news)
{
    const uint64_t one = 1;

    news->next = NULL;
    pthread_mutex_lock(&upcall.mutex);
    news->after_loss = upcall.lost;
    upcall.lost = upcall.lost || news->kind == SX_RUN_NEWS_LOST;
    *upcall.last = news;
    upcall.last = &news->next;
    pthread_mutex_unlock(&upcall.mutex);
    (void)!write(upcall.event_fd, &one, sizeof(one));
}

struct sx_run_news *sx_run_upcall_take(void)
{
    struct sx_run_news *news;

    pthread_mutex_lock(&upcall.mutex);
    news = upcall.first;
    if (news != NULL) {
        upcall.first = news->next;
        if (upcall.first == NULL) {
            upcall.last = &upcall.first;
        }
        news->next = NULL;
    }
    pthread_mutex_unlock(&upcall.mutex);
    return news;
}

void sx_run_news_answer(struct sx_run_news *news)
{
    if (news->fn != NULL) {
        news->fn(PMIX_SUCCESS, news->arg);
    }
    sx_run_news_free(news);
}

void sx_run_news_free(struct sx_run_news *news)
{
    free(news->ranks);
    free(news);
}

/* ---- abort ----------------------------------------------------------------------------------- */

static bool means_all(const pmix_proc_t *proc)
{
    return is_ours(proc) &&
           (proc->rank == PMIX_RANK_WILDCARD || proc->rank == PMIX_RANK_LOCAL_NODE ||
            proc->rank == PMIX_RANK_LOCAL_PEERS);
}

/* Whom @procs name.  Return: PMIX_SUCCESS, news->ranks staying NULL when it is the whole job;
 * PMIX_ERR_NOT_FOUND when there is no such process. */
static pmix_status_t read_procs(struct sx_run_news *news, const pmix_proc_t *procs, size_t count)
{
    bool all = procs == NULL || count == 0;

    for (size_t i = 0; i < count && !all; i++) {
        all = means_all(&procs[i]);
    }
    if (all) {
        return PMIX_SUCCESS;
    }
    news->ranks = calloc(count, sizeof(*news->ranks));
    if (news->ranks == NULL) {
        return PMIX_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(&procs[i]) || procs[i].rank >= upcall.rank_count) {
            return PMIX_ERR_NOT_FOUND;
        }
        news->ranks[news->rank_count++] = procs[i].rank;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t job_abort(const pmix_proc_t *proc, void *server_object, int status,
                               const char *msg, pmix_proc_t *procs, size_t count,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_run_news *news = calloc(1, sizeof(*news));
    pmix_status_t rc;

    (void)server_object;
    if (news == NULL) {
        return PMIX_ERR_NOMEM;
    }
    rc = read_procs(news, procs, count);
    if (rc != PMIX_SUCCESS) {
        sx_run_news_free(news);
        return rc;
    }
    news->kind = SX_RUN_NEWS_ABORT;
    news->rank = proc->rank;
    news->status = status;
    news->fn = cbfunc;
    news->arg = cbdata;
    snprintf(news->text, sizeof(news->text), "%s", msg == NULL ? "" : msg);
    news_add(news);
    return PMIX_SUCCESS;
}

pmix_server_module_t sx_run_upcall_module = {
    .client_connected = client_connected,
    .client_finalized = client_finalized,
    .abort = job_abort,
};

/* ---- losses ---------------------------------------------------------------------------------- */

/* The library tells of a loss before it lets the peers know. */
void sx_run_upcall_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id;
    (void)status;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    if (source != NULL && is_ours(source) && source->rank < upcall.rank_count) {
        struct sx_run_news *news = sx_cli_calloc(1, sizeof(*news));

        news->kind = SX_RUN_NEWS_LOST;
        news->rank = source->rank;
        news_add(news);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

void sx_run_upcall_handled(pmix_status_t status, void *arg)
{
    struct sx_run_news *news = sx_cli_calloc(1, sizeof(*news));

    (void)status;
    (void)arg;
    news->kind = SX_RUN_NEWS_HANDLED;
    news_add(news);
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_run_upcall_init(const char *nspace, uint32_t rank_count, int event_fd)
{
    upcall.event_fd = event_fd;
    upcall.rank_count = rank_count;
    upcall.is_client = sx_cli_calloc(rank_count, sizeof(*upcall.is_client));
    snprintf(upcall.nspace, sizeof(upcall.nspace), "%s", nspace);
}

void sx_run_upcall_answer_all(void)
{
    struct sx_run_news *news;

    while ((news = sx_run_upcall_take()) != NULL) {
        sx_run_news_answer(news);
    }
}

void sx_run_upcall_deinit(void)
{
    struct sx_run_news *news;

    while ((news = sx_run_upcall_take()) != NULL) { /* came after the last answer */
        sx_run_news_free(news);
    }
    free(upcall.is_client);
    upcall.is_client = NULL;
    upcall.rank_count = 0;
}
