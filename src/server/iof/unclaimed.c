/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unclaimed.c - a list of jobs, each with a list of outputs, the oldest first. */
#include "server/iof/unclaimed.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

struct job {
    struct sx_list link;       /* server.kept */
    struct sx_table_node node; /* server.kept_jobs */
    pmix_nspace_t nspace;
    struct sx_list outputs;
    size_t bytes, count; /* of those that are counted */
};

static struct job *job_of(struct sx_list *it)
{
    return SX_LIST_ENTRY(it, struct job, link);
}

static struct sx_output *output_of(struct sx_list *it)
{
    return SX_LIST_ENTRY(it, struct sx_output, kept);
}

static uint64_t hash_of(const struct sx_server *server, const char *nspace)
{
    return XXH3_64bits_withSeed(nspace, strlen(nspace), server->seed);
}

static struct job *job_find(struct sx_server *server, const char *nspace)
{
    const struct sx_table *const jobs = &server->kept_jobs;
    struct sx_table_node *it = sx_table_first(jobs, hash_of(server, nspace));

    for (; it != NULL; it = sx_table_next(jobs, it)) {
        struct job *const job = SX_CONTAINER(it, struct job, node);

        if (strcmp(job->nspace, nspace) == 0) {
            return job;
        }
    }
    return NULL;
}

/* Return: NULL when memory is out. */
static struct job *job_obtain(struct sx_server *server, const char *nspace)
{
    struct job *job = job_find(server, nspace);

    if (job != NULL) {
        return job;
    }
    job = calloc(1, sizeof(*job));
    if (job == NULL || !sx_table_add(&server->kept_jobs, &job->node, hash_of(server, nspace))) {
        free(job);
        return NULL;
    }
    PMIx_Load_nspace(job->nspace, nspace);
    sx_list_init(&job->outputs);
    sx_list_append(&server->kept, &job->link);
    return job;
}

static void job_drop(struct sx_server *server, struct job *job, struct sx_output *output)
{
    sx_list_remove(&output->kept);
    if (!output->again) {
        job->bytes -= output->size;
        job->count--;
        server->kept_bytes -= output->size;
        server->kept_count--;
    }
    sx_output_release(output);
}

static void job_free_if_empty(struct sx_server *server, struct job *job)
{
    if (sx_list_empty(&job->outputs)) {
        sx_list_remove(&job->link);
        sx_table_remove(&server->kept_jobs, &job->node);
        free(job);
    }
}

/* ---- dropping
 * ---------------------------------------------------------------------------------- */

/* The job with the most bytes, or pieces; among equal ones, the oldest. */
static struct job *largest_find(struct sx_server *server, bool by_bytes)
{
    struct job *largest = NULL;

    SX_LIST_EACH(it, &server->kept) {
        struct job *const job = job_of(it);

        if (largest == NULL ||
            (by_bytes ? job->bytes > largest->bytes : job->count > largest->count)) {
            largest = job;
        }
    }
    return largest;
}

/* The oldest output with bytes, else the oldest end.  Return: NULL when none is counted. */
static struct sx_output *oldest_find(struct job *job)
{
    struct sx_output *end = NULL;

    SX_LIST_EACH(it, &job->outputs) {
        struct sx_output *const output = output_of(it);

        if (output->size > 0) {
            return output;
        }
        end = end == NULL && !output->again ? output : end;
    }
    return end;
}

static void bound(struct sx_server *server)
{
    while (server->kept_bytes > SX_KEPT_BYTES || server->kept_count > SX_KEPT_COUNT) {
        struct job *const job = largest_find(server, server->kept_bytes > SX_KEPT_BYTES);

        job_drop(server, job, oldest_find(job));
        job_free_if_empty(server, job);
    }
}

/* ---- the list of outputs --------------------------------------------------------------------- */

void sx_kept_init(struct sx_server *server)
{
    sx_list_init(&server->kept);
}

void sx_kept_add(struct sx_server *server, struct sx_output *output)
{
    struct job *const job = job_obtain(server, output->source.nspace);

    if (job == NULL) {
        return;
    }
    output->reference_count++;
    sx_list_append(&job->outputs, &output->kept);
    if (!output->again) {
        job->bytes += output->size;
        job->count++;
        server->kept_bytes += output->size;
        server->kept_count++;
        bound(server);
    }
}

void sx_kept_each(struct sx_server *server, bool (*takes)(void *arg, struct sx_output *output),
                  void *arg)
{
    SX_LIST_EACH(it, &server->kept) {
        struct job *const job = job_of(it);

        SX_LIST_EACH(at, &job->outputs) {
            if (takes(arg, output_of(at))) {
                job_drop(server, job, output_of(at));
            }
        }
        job_free_if_empty(server, job);
    }
}

void sx_kept_forget(struct sx_server *server, const char *nspace)
{
    struct job *const job = job_find(server, nspace);

    if (job == NULL) {
        return;
    }
    SX_LIST_EACH(it, &job->outputs) {
        job_drop(server, job, output_of(it));
    }
    job_free_if_empty(server, job);
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
    sx_table_deinit(&server->kept_jobs);
}
