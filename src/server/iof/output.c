/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.c - the bytes of an output, counted until they are released, and the host's callback.
 *
 * The host delivers on any thread, but only the loop's thread can find the user of a job.  It
 * stores the user with the job's record, which exists as long as some output of the job does.
 * Before that, the job has no user. */
#include "server/iof/output.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/value/value.h"

#define NOBODY ((uid_t)-1)

struct sx_output_job {
    struct sx_table_node node; /* jobs */
    pmix_nspace_t nspace;
    uid_t user;
    size_t count; /* outputs */
};

static pthread_mutex_t books_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_table jobs; /* under the lock, like the counts */
static struct sx_quota books;

static _Atomic uint64_t bytes_made;
static atomic_bool full_logged;

static pmix_status_t bytes_take(size_t size, bool *ret_is_alone)
{
    const uint64_t before = atomic_fetch_add(&bytes_made, size);

    *ret_is_alone = before == 0;
    if (before == 0 || before + size <= SX_OUTPUTS_BYTES_MAX) {
        return PMIX_SUCCESS;
    }
    atomic_fetch_sub(&bytes_made, size);
    if (!atomic_exchange(&full_logged, true)) {
        sx_log(SX_LOG_WARN,
               "%llu bytes of output have been delivered and wait for a slow reader: output is "
               "refused until there is room; let the host wait for the callback of "
               "PMIx_server_IOF_deliver",
               (unsigned long long)before);
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* Return: NULL when memory is out. */
static struct sx_output_job *job_obtain(const struct sx_server *server, const char *nspace)
{
    const uint64_t hash = XXH3_64bits_withSeed(nspace, strlen(nspace), server->seed);
    struct sx_table_node *it = sx_table_first(&jobs, hash);
    struct sx_output_job *job;

    for (; it != NULL; it = sx_table_next(&jobs, it)) {
        job = SX_CONTAINER(it, struct sx_output_job, node);
        if (strcmp(job->nspace, nspace) == 0) {
            return job;
        }
    }
    job = calloc(1, sizeof(*job));
    if (job == NULL || !sx_table_add(&jobs, &job->node, hash)) {
        free(job);
        return NULL;
    }
    job->user = NOBODY;
    PMIx_Load_nspace(job->nspace, nspace);
    return job;
}

static void job_free_unless_used(struct sx_output_job *job)
{
    if (job->count == 0) {
        sx_table_remove(&jobs, &job->node);
        free(job);
    }
}

static pmix_status_t share_take_locked(const struct sx_server *server, struct sx_output *output)
{
    struct sx_output_job *const job = job_obtain(server, output->source.nspace);

    if (job == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (books.what == NULL) {
        sx_quota_init(&books, "outputs that wait for readers", SX_OUTPUTS_MAX, SX_OUTPUTS_BYTES_MAX,
                      server->seed);
    }
    const struct sx_quota_owner owner = { .uid = job->user, .proc = output->source };
    const pmix_status_t rc = sx_quota_take(&books, &owner, false, output->size, &output->quota);

    if (rc != PMIX_SUCCESS) {
        job_free_unless_used(job);
        return rc;
    }
    job->count++;
    output->job = job;
    return PMIX_SUCCESS;
}

static pmix_status_t share_take(const struct sx_server *server, struct sx_output *output)
{
    pthread_mutex_lock(&books_lock);
    const pmix_status_t rc = share_take_locked(server, output);

    pthread_mutex_unlock(&books_lock);
    return rc;
}

static void share_give_back(struct sx_output *output)
{
    if (output->job == NULL) {
        return;
    }
    pthread_mutex_lock(&books_lock);
    sx_quota_give_back(&books, &output->quota);
    output->job->count--;
    job_free_unless_used(output->job);
    pthread_mutex_unlock(&books_lock);
}

void sx_output_user_set(struct sx_output *output, uid_t user)
{
    if (output->job != NULL) {
        pthread_mutex_lock(&books_lock);
        output->job->user = user;
        pthread_mutex_unlock(&books_lock);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* A single output may have any size, and one without bytes costs nothing. */
pmix_status_t sx_output_new(struct sx_server *server, const pmix_proc_t *source, const void *bytes,
                            size_t size, struct sx_output **ret)
{
    bool is_alone = false;
    pmix_status_t rc = bytes_take(size, &is_alone);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_output *const output = malloc(sizeof(*output) + size);

    if (output != NULL) {
        *output = (struct sx_output){
            .reference_count = 1, .server = server, .when = time(NULL), .size = size
        };
        PMIx_Proc_load(&output->source, source->nspace, source->rank);
        rc = size == 0 ? PMIX_SUCCESS : share_take(server, output);
    }
    if (output == NULL || (rc != PMIX_SUCCESS && !is_alone)) {
        atomic_fetch_sub(&bytes_made, size);
        free(output);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (size > 0) {
        memcpy(output->bytes, bytes, size);
    }
    *ret = output;
    return PMIX_SUCCESS;
}

void sx_output_release(struct sx_output *output)
{
    if (--output->reference_count == 0) {
        atomic_fetch_sub(&bytes_made, output->size);
        share_give_back(output);
        free(output);
    }
}

static void notify(void *arg, uint64_t now_ns)
{
    struct sx_output *const output = arg;
    const pmix_op_cbfunc_t taken = output->taken;

    (void)now_ns;
    output->taken = NULL;
    taken(PMIX_SUCCESS, output->cbdata);
    sx_output_release(output);
}

void sx_output_settle(struct sx_output *output)
{
    if (output->taken == NULL || output->hold_count > 0 || output->post.fn == notify) {
        return;
    }
    /* The callback runs in a later turn: it may end the pull that is releasing this output now. */
    output->reference_count++;
    output->post = (struct sx_loop_post){ .fn = notify, .arg = output };
    if (sx_loop_post(output->server->loop, &output->post) != PMIX_SUCCESS) {
        notify(output, 0);
    }
}
