/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unclaimed.c - output without a pull: kept by job, and given to the first pull that matches. */
#include "server/iof/pull.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/iof/output.h"
#include "server/model/nspace.h"
#include "server/model/proc_list.h"
#include "server/model/share.h"

#define LOOKS_PER_UNIT 2u /* kept outputs checked, and the handling of each */

/* ---- kept output -----------------------------------------------------------------------------
 *
 * A list of jobs, each with a list of outputs, the oldest first. */

struct kept_job {
    struct sx_list link;       /* server.iof.kept */
    struct sx_table_node node; /* server.iof.kept_jobs */
    pmix_nspace_t nspace;
    struct sx_list outputs;
    size_t bytes, count; /* of those that are counted */
};

static struct kept_job *kept_job_of(struct sx_list *it)
{
    return SX_LIST_ENTRY(it, struct kept_job, link);
}

static struct sx_output *kept_output_of(struct sx_list *it)
{
    return SX_LIST_ENTRY(it, struct sx_output, kept);
}

static uint64_t kept_hash(const struct sx_server *server, const char *nspace)
{
    return XXH3_64bits_withSeed(nspace, strlen(nspace), server->seed);
}

static struct kept_job *kept_job_find(struct sx_server *server, const char *nspace)
{
    const struct sx_table *const kept = &server->iof.kept_jobs;
    struct sx_table_node *it = sx_table_first(kept, kept_hash(server, nspace));

    for (; it != NULL; it = sx_table_next(kept, it)) {
        struct kept_job *const job = SX_CONTAINER(it, struct kept_job, node);

        if (strcmp(job->nspace, nspace) == 0) {
            return job;
        }
    }
    return NULL;
}

/* Return: NULL when memory is out. */
static struct kept_job *kept_job_obtain(struct sx_server *server, const char *nspace)
{
    struct kept_job *job = kept_job_find(server, nspace);

    if (job != NULL) {
        return job;
    }
    job = calloc(1, sizeof(*job));
    if (job == NULL ||
        !sx_table_add(&server->iof.kept_jobs, &job->node, kept_hash(server, nspace))) {
        free(job);
        return NULL;
    }
    PMIx_Load_nspace(job->nspace, nspace);
    sx_list_init(&job->outputs);
    sx_list_append(&server->iof.kept, &job->link);
    return job;
}

static void kept_drop(struct sx_server *server, struct kept_job *job, struct sx_output *output)
{
    sx_list_remove(&output->kept);
    if (!output->again) {
        job->bytes -= output->size;
        job->count--;
        server->iof.kept_bytes -= output->size;
        server->iof.kept_count--;
    }
    sx_output_release(output);
}

static void kept_job_free_if_empty(struct sx_server *server, struct kept_job *job)
{
    if (sx_list_empty(&job->outputs)) {
        sx_list_remove(&job->link);
        sx_table_remove(&server->iof.kept_jobs, &job->node);
        free(job);
    }
}

/* ---- dropping kept output -------------------------------------------------------------------- */

/* The job with the most bytes, or pieces; among equal ones, the oldest. */
static struct kept_job *largest_find(struct sx_server *server, bool by_bytes)
{
    struct kept_job *largest = NULL;

    SX_LIST_EACH(it, &server->iof.kept) {
        struct kept_job *const job = kept_job_of(it);

        if (largest == NULL ||
            (by_bytes ? job->bytes > largest->bytes : job->count > largest->count)) {
            largest = job;
        }
    }
    return largest;
}

/* The oldest output with bytes, else the oldest end.  Return: NULL when none is counted. */
static struct sx_output *oldest_find(struct kept_job *job)
{
    struct sx_output *end = NULL;

    SX_LIST_EACH(it, &job->outputs) {
        struct sx_output *const output = kept_output_of(it);

        if (output->size > 0) {
            return output;
        }
        end = end == NULL && !output->again ? output : end;
    }
    return end;
}

static void bound(struct sx_server *server)
{
    while (server->iof.kept_bytes > SX_KEPT_BYTES || server->iof.kept_count > SX_KEPT_COUNT) {
        struct kept_job *const job = largest_find(server, server->iof.kept_bytes > SX_KEPT_BYTES);

        kept_drop(server, job, oldest_find(job));
        kept_job_free_if_empty(server, job);
    }
}

/* ---- the list of kept outputs ---------------------------------------------------------------- */

void sx_kept_init(struct sx_server *server)
{
    sx_list_init(&server->iof.kept);
}

void sx_kept_add(struct sx_server *server, struct sx_output *output)
{
    struct kept_job *const job = kept_job_obtain(server, output->source.nspace);

    if (job == NULL) {
        return;
    }
    output->reference_count++;
    sx_list_append(&job->outputs, &output->kept);
    if (!output->again) {
        job->bytes += output->size;
        job->count++;
        server->iof.kept_bytes += output->size;
        server->iof.kept_count++;
        bound(server);
    }
}

void sx_kept_each(struct sx_server *server, bool (*takes)(void *arg, struct sx_output *output),
                  void *arg)
{
    SX_LIST_EACH(it, &server->iof.kept) {
        struct kept_job *const job = kept_job_of(it);

        SX_LIST_EACH(at, &job->outputs) {
            if (takes(arg, kept_output_of(at))) {
                kept_drop(server, job, kept_output_of(at));
            }
        }
        kept_job_free_if_empty(server, job);
    }
}

void sx_kept_forget(struct sx_server *server, const char *nspace)
{
    struct kept_job *const job = kept_job_find(server, nspace);

    if (job == NULL) {
        return;
    }
    SX_LIST_EACH(it, &job->outputs) {
        kept_drop(server, job, kept_output_of(it));
    }
    kept_job_free_if_empty(server, job);
}

static bool takes_all(void *arg, struct sx_output *output)
{
    (void)arg;
    (void)output;
    return true;
}

void sx_kept_clear(struct sx_server *server)
{
    sx_kept_each(server, takes_all, NULL);
    sx_table_deinit(&server->iof.kept_jobs);
}

/* ---- a pull that claims it ------------------------------------------------------------------- */

bool sx_pull_may_have(struct sx_server *server, const struct sx_pull *pull,
                      const struct sx_nspace *nspace, const struct sx_output *output)
{
    struct sx_client *const client = pull->client;

    if (!sx_pull_is_open(pull)) {
        return true;
    }
    return nspace != NULL ? sx_nspace_reachable(server, nspace, client)
                          : client->uid == 0 || client->uid == output->user;
}

/* A kept end of a channel that the pull has received. */
struct end {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
};

struct giving {
    struct sx_server *server;
    struct sx_pull *pull;
    bool has_agreed; /* the host */
    bool is_open;
    struct end *ends; /* at most SX_KEPT_COUNT; NULL: memory is out, or none is kept */
    size_t end_count;
    bool in_order;  /* the ends are sorted */
    uint64_t looks; /* kept outputs checked */
    /* Kept outputs are ordered by job: */
    pmix_nspace_t nspace; /* the last one's job; empty: none yet */
    bool is_here;         /* registered; else each output has its user */
    bool may_have;        /* output of the job, if it is registered */
    size_t first, end;    /* range in the pull's processes: those of the job */
};

/* The index of the first of the pull's processes that is not before @proc. */
static size_t lower_bound(const struct sx_pull *pull, const pmix_proc_t *proc)
{
    size_t low = 0, high = pull->proc_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sx_proc_order(&pull->procs[middle], proc) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void job_set(struct giving *giving, const struct sx_output *output)
{
    const char *const name = output->source.nspace;
    struct sx_pull *const pull = giving->pull;
    pmix_proc_t from, to;

    if (strcmp(giving->nspace, name) == 0) {
        return;
    }
    const struct sx_nspace *const nspace = sx_nspace_find(giving->server, name);

    PMIx_Load_nspace(giving->nspace, name);
    giving->is_here = nspace != NULL;
    giving->may_have = giving->is_here && sx_pull_may_have(giving->server, pull, nspace, output);
    PMIx_Load_procid(&from, name, 0);
    PMIx_Load_procid(&to, name, UINT32_MAX);
    giving->first = lower_bound(pull, &from);
    giving->end = lower_bound(pull, &to);
}

/* Whether the output matches by name and channel, and the pull's process may have it. */
static bool is_about(struct giving *giving, const struct sx_output *output)
{
    const struct sx_pull *const pull = giving->pull;

    job_set(giving, output);
    const bool may = giving->is_here ? giving->may_have
                                     : sx_pull_may_have(giving->server, pull, NULL, output);
    size_t low = giving->first, high = giving->end;

    if (!giving->has_agreed || !may || (pull->channels & output->channel) == 0 || low == high) {
        return false;
    }
    if (pull->procs[high - 1].rank == PMIX_RANK_WILDCARD) {
        return true; /* the wildcard is sorted after all ranks */
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (pull->procs[middle].rank < output->source.rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < giving->end && pull->procs[low].rank == output->source.rank;
}

/* The end of a whole job (PMIX_RANK_WILDCARD) compares as equal to that of any process of it. */
static int end_order(const void *left, const void *right)
{
    const struct end *const a = left, *const b = right;
    const int names = strcmp(a->source.nspace, b->source.nspace);

    if (names != 0 || a->channel != b->channel) {
        return names != 0 ? names : a->channel < b->channel ? -1 : 1;
    }
    if (a->source.rank == PMIX_RANK_WILDCARD || a->source.rank == b->source.rank) {
        return 0;
    }
    return a->source.rank < b->source.rank ? -1 : 1;
}

static void end_note(struct giving *giving, const struct sx_output *output)
{
    if (giving->ends != NULL) {
        giving->ends[giving->end_count++] = (struct end){ .source = output->source,
                                                          .channel = output->channel };
        giving->in_order = false;
    }
}

/* Whether the pull has received the end that is repeated.  The end of a whole job is not sent to a
 * pull that has received the end of one of its processes. */
static bool has_had(struct giving *giving, const struct sx_output *again)
{
    const struct end end = { .source = again->source, .channel = again->channel };

    if (giving->end_count == 0) {
        return false;
    }
    if (!giving->in_order) {
        qsort(giving->ends, giving->end_count, sizeof(*giving->ends), end_order);
        giving->in_order = true;
    }
    return bsearch(&end, giving->ends, giving->end_count, sizeof(end), end_order) != NULL;
}

/* The first pull that matches takes the output.  An output that is repeated for this pull is
 * dropped even if the pull could not be opened. */
static bool kept_takes(void *arg, struct sx_output *output)
{
    struct giving *const giving = arg;

    giving->looks++;
    if ((!giving->is_open && !output->again) || !is_about(giving, output)) {
        return false;
    }
    if (giving->is_open && !(output->again && has_had(giving, output))) {
        sx_pull_put(giving->pull, output);
        if (output->size == 0 && !output->again) {
            end_note(giving, output);
        }
    }
    return true;
}

void sx_kept_give(struct sx_server *server, struct sx_pull *pull, bool has_agreed)
{
    struct giving giving = {
        .server = server, .pull = pull, .has_agreed = has_agreed, .is_open = sx_pull_is_open(pull)
    };

    giving.ends = server->iof.kept_count == 0
                      ? NULL
                      : calloc(server->iof.kept_count, sizeof(*giving.ends));
    sx_kept_each(server, kept_takes, &giving);
    free(giving.ends);
    sx_share_charge(server, pull->client, giving.looks / LOOKS_PER_UNIT);
    if (giving.is_open) {
        sx_pull_send_soon(pull);
    }
}
