/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_nodes.c - does the answer to a collecting fence have the bytes of all nodes?
 *
 * A server sends a section for each of its members, also for one that has put nothing, unless none
 * of its callers has asked for data: then its header says so, and nothing is known.  A host may
 * leave out the bytes of this node.  A single rank may have gone before its server sent them.  A
 * node is missing when none of its ranks has a section.  Without a map of the job, all other nodes
 * count as one. */
#include "server/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "server/model/blob.h"

/* A job of the fence, and its ranks on other nodes. */
struct job {
    struct sx_nspace *nspace;
    uint64_t *seen; /* a bit for each rank: it has a section */
    size_t seen_count, expected;
};

struct jobs {
    struct sx_server *server;
    struct job *all;
    size_t count, last; /* the one that was found last */
};

static bool is_seen(const struct job *job, uint32_t rank)
{
    return (job->seen[rank / 64] >> (rank % 64) & 1) != 0;
}

/* Return: the job of @name; NULL: it is not in the fence, or not known here. */
static struct job *job_find(struct jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *const job = &jobs->all[(jobs->last + i) % jobs->count];

        if (strcmp(job->nspace->name, name) == 0) {
            jobs->last = (size_t)(job - jobs->all);
            return job;
        }
    }
    return NULL;
}

static void section_count(const char *nspace, uint32_t rank, void *arg)
{
    struct job *const job = job_find(arg, nspace);

    if (job != NULL && rank < job->nspace->job_size && !is_seen(job, rank) &&
        sx_client_find(job->nspace, rank) == NULL) {
        job->seen[rank / 64] |= UINT64_C(1) << (rank % 64);
        job->seen_count++;
    }
}

/* Add the processes @rank of @nspace, the next ones of the fence's list.  Return: false when memory
 * is out. */
static bool proc_add(struct jobs *jobs, struct sx_client_run *run, struct sx_nspace *nspace,
                     uint32_t rank)
{
    struct job *job = jobs->count > 0 ? &jobs->all[jobs->count - 1] : NULL;

    if (job == NULL || job->nspace != nspace) {
        job = &jobs->all[jobs->count];
        *job = (struct job){ .nspace = nspace,
                             .seen = calloc(nspace->job_size / 64 + 1, sizeof(*job->seen)) };
        if (job->seen == NULL) {
            return false;
        }
        jobs->count++;
    }
    if (rank == PMIX_RANK_WILDCARD) { /* the last of its job */
        job->expected = nspace->job_size > nspace->client_count
                            ? nspace->job_size - nspace->client_count
                            : 0;
    } else if (sx_client_run_find(run, rank) == NULL) {
        job->expected++;
    }
    return true;
}

/* Return: false when memory is out. */
static bool jobs_list(struct jobs *jobs, const struct sx_alias_list *real)
{
    const size_t most = real->made != NULL ? real->made->part_count : real->count;
    struct sx_alias_walk walk = { .list = real };
    struct sx_nspace *nspace = NULL;
    struct sx_client_run run = { .nspace = NULL };
    bool ok = true;

    jobs->all = calloc(most + 1, sizeof(*jobs->all));
    while (jobs->all != NULL && ok && sx_alias_next(&walk)) {
        if (walk.is_new) {
            nspace = sx_nspace_find(jobs->server, walk.nspace);
            run = (struct sx_client_run){ .nspace = nspace };
        }
        if (nspace != NULL && nspace->has_store && nspace->job_size > 0) {
            ok = proc_add(jobs, &run, nspace, walk.rank);
        }
    }
    return jobs->all != NULL && ok;
}

static void jobs_clear(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free(jobs->all[i].seen);
    }
    free(jobs->all);
}

/* Return: the name of the rank's node, in the store; NULL: it is not known. */
static const char *host_of(const struct sx_nspace *nspace, uint32_t rank)
{
    struct sx_item item;

    return sx_store_find(&nspace->store.view, SX_REALM_JOB, rank, PMIX_HOSTNAME, &item) ==
                       PMIX_SUCCESS &&
                   item.cell.type == PMIX_STRING && item.cell.len > 0
               ? item.body
               : NULL;
}

/* Return: whether another rank of that node has a section; any other, when its node is not
 * known. */
static bool has_neighbour(const struct job *job, const char *host)
{
    bool found = false;

    for (uint32_t rank = 0; rank < job->nspace->job_size && !found; rank++) {
        const char *const its = is_seen(job, rank) ? host_of(job->nspace, rank) : NULL;

        found = is_seen(job, rank) && (host == NULL || its == NULL || strcmp(its, host) == 0);
    }
    return found;
}

static pmix_status_t rank_judge(const struct job *job, uint32_t rank)
{
    const char *const host = host_of(job->nspace, rank);

    if (is_seen(job, rank) || sx_client_find(job->nspace, rank) != NULL ||
        has_neighbour(job, host)) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_PARTIAL_SUCCESS,
                    "the host has completed a fence of %s without the bytes of node %s (of rank "
                    "%u): what its ranks have put is missing here; see what the host says of that "
                    "node, and whether it has fences of these processes",
                    job->nspace->name, host != NULL ? host : "?", rank);
}

/* Return: PMIX_ERR_PARTIAL_SUCCESS, logged, for the first member of @real whose node is missing. */
static pmix_status_t members_judge(struct jobs *jobs, const struct sx_alias_list *real)
{
    struct sx_alias_walk walk = { .list = real };
    const struct job *job = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && sx_alias_next(&walk)) {
        job = walk.is_new ? job_find(jobs, walk.nspace) : job;
        const bool all = walk.rank == PMIX_RANK_WILDCARD;
        const uint32_t first = all ? 0 : walk.rank;
        const uint32_t end = job == NULL ? 0 : all ? job->nspace->job_size : first + 1;

        for (uint32_t rank = first; rank < end && rank < job->nspace->job_size &&
                                    job->seen_count < job->expected && rc == PMIX_SUCCESS;
             rank++) {
            rc = rank_judge(job, rank);
        }
    }
    return rc;
}

/* Return: whether all servers have sent sections for their members. */
static bool sections_count(struct jobs *jobs, const struct sx_blob_piece pieces[], size_t count)
{
    size_t i = 0;

    while (i < count && sx_blob_sections(pieces[i].bytes, pieces[i].size, section_count, jobs)) {
        i++;
    }
    return i == count;
}

pmix_status_t sx_fence_nodes_judge(const struct sx_collective *collective,
                                   const struct sx_blob_piece pieces[], size_t piece_count)
{
    const struct sx_alias_list *const real = &collective->members.real;
    struct jobs jobs = { .server = collective->members.server };
    pmix_status_t rc = PMIX_SUCCESS;

    if (!collective->collect || collective->members.incomplete || collective->is_over) {
        return PMIX_SUCCESS;
    }
    if (!jobs_list(&jobs, real)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (sections_count(&jobs, pieces, piece_count)) {
        rc = members_judge(&jobs, real);
    }
    jobs_clear(&jobs);
    return rc;
}
