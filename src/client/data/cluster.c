/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cluster.c - a call without a colon in its names costs a search of each name, and nothing else. */
#include "client/data/cluster.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/data/epoch.h"
#include "client/data/lookup.h"
#include "client/data/private_value.h"

static bool has_colon(const pmix_proc_t *procs, size_t nprocs)
{
    size_t i = 0;

    while (i < nprocs && strchr(procs[i].nspace, ':') == NULL) {
        i++;
    }
    return i < nprocs;
}

/* The name of our cluster and a colon.  Return: its length; 0 when the cluster has no name. */
static size_t own_prefix(char ret[PMIX_MAX_NSLEN + 2])
{
    pmix_proc_t job = sx_process.self;
    struct sx_lookup lookup;
    struct sx_item item;
    size_t len = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (sx_lookup_init(&lookup, &job, PMIX_CLUSTER_ID, NULL, 0) != PMIX_SUCCESS) {
        return 0;
    }
    const struct sx_grace grace = sx_grace_enter();

    if (sx_lookup_find(&lookup, &item) == PMIX_SUCCESS && sx_box_of(&item) == NULL &&
        item.cell.type == PMIX_STRING && item.cell.len > 1 && item.cell.len <= PMIX_MAX_NSLEN) {
        len = item.cell.len; /* with the NUL, in place of which the colon stands */
        memcpy(ret, item.body, len - 1);
        ret[len - 1] = ':';
    }
    sx_grace_exit(&grace);
    return len;
}

const pmix_proc_t *sx_cluster_strip(const pmix_proc_t *procs, size_t nprocs, pmix_proc_t **ret_copy)
{
    char prefix[PMIX_MAX_NSLEN + 2];
    const size_t len = has_colon(procs, nprocs) ? own_prefix(prefix) : 0;

    *ret_copy = NULL;
    if (len == 0) {
        return procs;
    }
    pmix_proc_t *const copy = calloc(nprocs, sizeof(*copy));

    for (size_t i = 0; copy != NULL && i < nprocs; i++) {
        const char *const nspace = procs[i].nspace;
        const bool is_ours = strncmp(nspace, prefix, len) == 0 && nspace[len] != '\0';

        PMIx_Load_procid(&copy[i], is_ours ? nspace + len : nspace, procs[i].rank);
    }
    return *ret_copy = copy;
}
