/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* forward.c - pulls, and deliveries that are not complete. */
#include "launch/stdio/forward.h"

#include <pmix.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/value/value.h"
#include "launch/common/say.h"
#include "launch/job/mailbox.h"

/* One call of the host's entry; once the launcher has taken it, a pull. */
struct pull {
    struct pull *next;
    pmix_proc_t *procs; /* in the order of sx_proc_order */
    size_t count;
    pmix_iof_channel_t channels;
    bool stops, redirects;
    pmix_op_cbfunc_t fn;
    void *arg;
};

/* A piece of output that is held until the server has room for more. */
struct delivery {
    struct delivery *next;
    struct sx_run_stream *stream; /* the stream that is held; NULL: none, or it has gone */
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    struct pull *asked, **last_asked; /* under lock */
    struct delivery *taken;           /* under lock */
    /* for the launcher's thread only: */
    const struct sx_run_jobs *jobs;
    struct pull *pulls;
    size_t bytes;     /* in all deliveries */
    unsigned waiting; /* streams that wait for room */
} forward = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .last_asked = &forward.asked,
};

static void pull_free(struct pull *pull)
{
    free(pull->procs);
    free(pull);
}

/* ---- the server's thread --------------------------------------------------------------------- */

pmix_status_t sx_run_forward_pull(const pmix_proc_t procs[], size_t nprocs,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    struct sx_iof_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_IOF_PULL, directives, ndirs, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct pull *const pull = sx_cli_calloc(1, sizeof(*pull));

    *pull = (struct pull){ .procs = sx_cli_calloc(nprocs, sizeof(*procs)),
                           .count = nprocs,
                           .channels = channels,
                           .stops = options.stop,
                           .redirects = options.redirect,
                           .fn = cbfunc,
                           .arg = cbdata };
    memcpy(pull->procs, procs, nprocs * sizeof(*procs));
    qsort(pull->procs, nprocs, sizeof(*procs), sx_proc_order);
    pthread_mutex_lock(&forward.lock);
    *forward.last_asked = pull;
    forward.last_asked = &pull->next;
    pthread_mutex_unlock(&forward.lock);
    sx_mailbox_wake();
    return PMIX_SUCCESS;
}

static void taken(pmix_status_t status, void *cbdata)
{
    struct delivery *const delivery = cbdata;

    (void)status;
    pthread_mutex_lock(&forward.lock);
    delivery->next = forward.taken;
    forward.taken = delivery;
    pthread_mutex_unlock(&forward.lock);
    sx_mailbox_wake();
}

/* ---- deliveries ------------------------------------------------------------------------------ */

static bool stream_ready(struct sx_run_stream *stream)
{
    if (forward.bytes < SX_RUN_FORWARD_BYTES) {
        return true;
    }
    forward.waiting++;
    sx_run_stream_hold(stream, NULL);
    return false;
}

/* @again: the bytes are not for pulls that exist already. */
static void stream_deliver(struct sx_run_stream *stream, const char *bytes, size_t size, bool again)
{
    const struct sx_run_source *const from = &stream->source;
    pmix_byte_object_t object = { .bytes = (char *)(uintptr_t)bytes, .size = size };
    struct delivery *const delivery = sx_cli_calloc(1, sizeof(*delivery));
    pmix_info_t info[3];
    pmix_proc_t source;

    memset(info, 0, sizeof(info));
    PMIx_Load_procid(&source, from->nspace, from->rank);
    PMIx_Info_load(&info[0], PMIX_HOSTNAME, from->host, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_PROC_PID, from->pid, PMIX_PID);
    PMIx_Info_load(&info[2], SX_IOF_AGAIN, &again, PMIX_BOOL);
    delivery->size = size;
    if (PMIx_server_IOF_deliver(&source, from->channel, &object, info, again ? 3 : 2, taken,
                                delivery) != PMIX_SUCCESS) {
        free(delivery);    /* the server is ending */
    } else if (size > 0) { /* after the end there is nothing to hold */
        delivery->stream = stream;
        forward.bytes += size;
        sx_run_stream_hold(stream, delivery);
    }
    PMIx_Info_destruct(&info[0]);
}

/* For a job that was removed: the process, or all processes, will have no more output. */
static void gone_end(const pmix_proc_t *source, pmix_iof_channel_t channel)
{
    const pmix_byte_object_t nothing = { .bytes = NULL };
    struct delivery *const delivery = sx_cli_calloc(1, sizeof(*delivery));
    const bool again = true;
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    PMIx_Info_load(&info, SX_IOF_AGAIN, &again, PMIX_BOOL);
    if (PMIx_server_IOF_deliver(source, channel, &nothing, &info, 1, taken, delivery) !=
        PMIX_SUCCESS) {
        free(delivery);
    }
}

static void stream_take(struct sx_run_stream *stream, const char *bytes, size_t size)
{
    stream_deliver(stream, bytes, size, false);
}

static void stream_gone(struct sx_run_stream *stream)
{
    struct delivery *const delivery = stream->delivery;

    if (delivery != NULL) {
        delivery->stream = NULL;
    } else {
        forward.waiting--;
    }
}

const struct sx_run_taker sx_run_forward_taker = { .ready = stream_ready,
                                                   .take = stream_take,
                                                   .gone = stream_gone };

static void delivery_end(struct delivery *delivery)
{
    if (delivery->stream != NULL) {
        sx_run_stream_go_on(delivery->stream);
    }
    forward.bytes -= delivery->size;
    free(delivery);
}

/* ---- the processes of a pull ----------------------------------------------------------------- */

static bool names(const struct pull *pull, const char *nspace, uint32_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return bsearch(&proc, pull->procs, pull->count, sizeof(proc), sx_proc_order) != NULL;
}

static bool is_about(const struct pull *pull, const struct sx_run_stream *stream)
{
    const struct sx_run_source *const from = &stream->source;

    return (pull->channels & from->channel) != 0 &&
           (names(pull, from->nspace, PMIX_RANK_WILDCARD) || names(pull, from->nspace, from->rank));
}

/* Count one more pull of @stream, or one less. */
static void stream_count(struct sx_run_stream *stream, const struct pull *pull, bool more)
{
    if (stream->source.taker == NULL || !is_about(pull, stream)) {
        return;
    }
    stream->pulled += more ? 1 : -1u;
    stream->redirected += !pull->redirects ? 0 : more ? 1 : -1u;
    if (more && stream->watch.fd < 0) {
        stream_deliver(stream, NULL, 0, true);
    }
}

void sx_run_forward_begin(struct sx_run_stream *stream, bool wanted)
{
    stream->pulled = wanted;
    for (const struct pull *pull = forward.pulls; pull != NULL; pull = pull->next) {
        stream_count(stream, pull, true);
    }
}

static void all_count(const struct pull *pull, bool more)
{
    for (uint32_t i = 0; i < forward.jobs->count; i++) {
        const struct sx_run_job *const job = forward.jobs->at[i];

        for (uint32_t rank = 0; rank < job->spawned; rank++) {
            stream_count(&job->ranks[rank].streams[0], pull, more);
            stream_count(&job->ranks[rank].streams[1], pull, more);
        }
    }
}

/* Whether the job exists, or existed. */
static bool is_ours(const pmix_proc_t *proc)
{
    const size_t len = strlen(forward.jobs->session);

    return strncmp(proc->nspace, forward.jobs->session, len) == 0 &&
           (proc->nspace[len] == '\0' || proc->nspace[len] == '.');
}

static const struct sx_run_job *job_of(const pmix_proc_t *proc)
{
    for (uint32_t i = 0; i < forward.jobs->count; i++) {
        if (strcmp(forward.jobs->at[i]->nspace, proc->nspace) == 0) {
            return forward.jobs->at[i];
        }
    }
    return NULL;
}

static bool has_rank(const pmix_proc_t *proc)
{
    const struct sx_run_job *const job = job_of(proc);

    return job == NULL ? is_ours(proc)
                       : proc->rank < job->rank_count || proc->rank == PMIX_RANK_WILDCARD;
}

/* Whether the name is one that a job of ours had. */
static bool is_gone(const pmix_proc_t *proc)
{
    const size_t len = strlen(forward.jobs->session);
    const bool numbered = proc->nspace[len] == '.';

    return job_of(proc) == NULL &&
           (!numbered || strtoul(proc->nspace + len + 1, NULL, 10) < forward.jobs->numbered);
}

/* Send the pull the end of output from jobs that were removed. */
static void gone_ends(const struct pull *pull)
{
    for (size_t i = 0; i < pull->count; i++) {
        const pmix_proc_t *const proc = &pull->procs[i];
        const bool gone = is_gone(proc);

        if (gone && (pull->channels & PMIX_FWD_STDOUT_CHANNEL) != 0) {
            gone_end(proc, PMIX_FWD_STDOUT_CHANNEL);
        }
        if (gone && (pull->channels & PMIX_FWD_STDERR_CHANNEL) != 0) {
            gone_end(proc, PMIX_FWD_STDERR_CHANNEL);
        }
    }
}

/* ---- the list of pulls ----------------------------------------------------------------------- */

static bool is_same(const struct pull *a, const struct pull *b)
{
    return a->channels == b->channels && a->redirects == b->redirects && a->count == b->count &&
           memcmp(a->procs, b->procs, a->count * sizeof(*a->procs)) == 0;
}

static void pull_stop(struct pull *stop)
{
    for (struct pull **at = &forward.pulls; *at != NULL; at = &(*at)->next) {
        struct pull *const pull = *at;

        if (is_same(pull, stop)) {
            *at = pull->next;
            all_count(pull, false);
            pull_free(pull);
            break;
        }
    }
    const pmix_op_cbfunc_t fn = stop->fn;
    void *const arg = stop->arg;

    pull_free(stop);
    if (fn != NULL) {
        fn(PMIX_SUCCESS, arg); /* nothing more is delivered for this pull */
    }
}

static void pull_begin(struct pull *pull)
{
    bool known = true;

    for (size_t i = 0; i < pull->count && known; i++) {
        known = has_rank(&pull->procs[i]);
    }
    const pmix_op_cbfunc_t fn = pull->fn;
    void *const arg = pull->arg;

    if (known) {
        pull->next = forward.pulls;
        forward.pulls = pull;
        all_count(pull, true);
        gone_ends(pull);
    } else {
        pull_free(pull);
    }
    if (fn != NULL) {
        fn(known ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, arg);
    }
}

/* Take everything that the other thread has queued. */
static void queues_take(void)
{
    pthread_mutex_lock(&forward.lock);
    struct pull *pull = forward.asked;
    struct delivery *delivery = forward.taken;

    forward.asked = NULL;
    forward.last_asked = &forward.asked;
    forward.taken = NULL;
    pthread_mutex_unlock(&forward.lock);
    while (pull != NULL) {
        struct pull *const next = pull->next;

        (pull->stops ? pull_stop : pull_begin)(pull);
        pull = next;
    }
    while (delivery != NULL) {
        struct delivery *const next = delivery->next;

        delivery_end(delivery);
        delivery = next;
    }
}

static void waiting_go_on(void)
{
    for (uint32_t i = 0; i < forward.jobs->count && forward.waiting > 0; i++) {
        const struct sx_run_job *const job = forward.jobs->at[i];

        for (uint32_t at = 0; at < 2 * job->spawned && forward.waiting > 0; at++) {
            struct sx_run_stream *const stream = &job->ranks[at / 2].streams[at % 2];

            if (stream->held && stream->delivery == NULL) {
                forward.waiting--;
                sx_run_stream_go_on(stream);
            }
        }
    }
}

void sx_run_forward_check(void)
{
    queues_take();
    if (forward.waiting > 0 && forward.bytes < SX_RUN_FORWARD_BYTES / 2) {
        waiting_go_on();
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_run_forward_open(const struct sx_run_jobs *jobs)
{
    forward.jobs = jobs;
}

void sx_run_forward_deinit(void)
{
    struct pull *const lists[] = { forward.pulls, forward.asked };

    for (size_t i = 0; i < 2; i++) {
        for (struct pull *pull = lists[i]; pull != NULL;) {
            struct pull *const next = pull->next;

            pull_free(pull);
            pull = next;
        }
    }
    for (struct delivery *delivery = forward.taken; delivery != NULL;) {
        struct delivery *const next = delivery->next;

        free(delivery);
        delivery = next;
    }
    forward.pulls = forward.asked = NULL;
    forward.last_asked = &forward.asked;
    forward.taken = NULL;
}
