/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias.c - find a name among the lists of the node, and the answers that follow from its list. */
#include "client/data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "shmem/wanted.h"

#define RANK_DIGITS 11u /* of a number with a comma */

/* ---- members -------------------------------------------------------------------------------- */

static bool size_take(void *arg, const char *nspace, const struct sx_store *store,
                      const struct sx_membership *members)
{
    (void)nspace, (void)store;
    *(uint32_t *)arg = members != NULL ? sx_membership_size(members) : 0;
    return false;
}

uint32_t sx_alias_size(const char *name)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_members_look look;
    uint32_t here = 0;

    if (server != NULL) {
        (void)server->each_store(name, size_take, &here);
    }
    if (here != 0 || !sx_process_ready()) {
        return here;
    }
    if (sx_members_open(name, &look) != PMIX_SUCCESS) {
        return 0;
    }
    const uint32_t size = sx_membership_size(&look.found);

    sx_members_close(&look);
    return size;
}

pmix_status_t sx_alias_member(const char *name, uint32_t rank, pmix_proc_t *ret)
{
    struct sx_members_look look;
    pmix_status_t rc = sx_members_open(name, &look);

    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_member(&look.found, rank, ret);
        sx_members_close(&look);
    }
    return rc;
}

/* Return: PMIX_RANK_INVALID when no list has that name, or this process is not in it. */
static uint32_t own_rank(const char *name)
{
    const pmix_proc_t *const self = &sx_process.self;
    struct sx_members_look look;

    if (!sx_process_ready() || sx_members_open(name, &look) != PMIX_SUCCESS) {
        return PMIX_RANK_INVALID;
    }
    const uint32_t rank = sx_membership_rank(&look.found, self->nspace, self->rank);

    sx_members_close(&look);
    return rank;
}

bool sx_alias_holds_self(const pmix_proc_t *proc)
{
    const uint32_t rank = own_rank(proc->nspace);

    return rank != PMIX_RANK_INVALID && (proc->rank == rank || proc->rank == PMIX_RANK_WILDCARD);
}

/* ---- answers from the list ------------------------------------------------------------------ */

/* As in a job, members that have ended are counted. */
static pmix_status_t size_find(const char *name, pmix_value_t *ret)
{
    const uint32_t size = sx_alias_size(name);

    return size != 0 ? sx_value_load(ret, &size, PMIX_UINT32) : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t local_size_find(const char *name, pmix_value_t *ret)
{
    pmix_proc_t *procs;
    size_t count;
    const pmix_status_t rc = PMIx_Resolve_peers(NULL, name, &procs, &count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const uint32_t size = (uint32_t)count;

    free(procs);
    return sx_value_load(ret, &size, PMIX_UINT32);
}

static pmix_status_t local_peers_find(const char *name, pmix_value_t *ret)
{
    pmix_proc_t *procs;
    size_t count, used = 0;
    const pmix_status_t rc = PMIx_Resolve_peers(NULL, name, &procs, &count);
    char *const text = rc == PMIX_SUCCESS ? malloc(count * RANK_DIGITS + 1) : NULL;

    if (text != NULL) {
        text[0] = '\0';
        for (size_t i = 0; i < count; i++) {
            used += (size_t)sprintf(text + used, i == 0 ? "%u" : ",%u", procs[i].rank);
        }
        memset(ret, 0, sizeof(*ret));
        ret->type = PMIX_STRING;
        ret->data.string = text;
    }
    if (rc == PMIX_SUCCESS) {
        free(procs);
    }
    return rc == PMIX_SUCCESS && text == NULL ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

static pmix_status_t node_count_find(const char *name, pmix_value_t *ret)
{
    char *nodes;
    uint32_t count = 1;
    const pmix_status_t rc = PMIx_Resolve_nodes(name, &nodes);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (const char *at = nodes; (at = strchr(at, ',')) != NULL; at++) {
        count++;
    }
    free(nodes);
    return sx_value_load(ret, &count, PMIX_UINT32);
}

static pmix_status_t name_find(const char *name, pmix_value_t *ret)
{
    return sx_value_load(ret, name, PMIX_STRING);
}

static const struct {
    const char *key;
    pmix_status_t (*find)(const char *name, pmix_value_t *ret);
} of_all[] = {
    { PMIX_JOB_SIZE, size_find },         { PMIX_MAX_PROCS, size_find },
    { PMIX_LOCAL_SIZE, local_size_find }, { PMIX_LOCAL_PEERS, local_peers_find },
    { PMIX_NUM_NODES, node_count_find },  { PMIX_JOBID, name_find },
};

pmix_status_t sx_alias_find(const char *name, const struct sx_wanted *wanted, pmix_value_t *ret)
{
    if (wanted->realm != SX_REALM_JOB || wanted->key == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    for (size_t i = 0; i < SX_COUNT(of_all); i++) {
        if (strcmp(wanted->key, of_all[i].key) == 0) {
            return of_all[i].find(name, ret);
        }
    }
    /* A call without a rank means the calling process. */
    const struct sx_site nowhere = { .self = wanted->rank < PMIX_RANK_VALID ? PMIX_RANK_INVALID
                                                                            : own_rank(name) };

    return sx_wanted_name(wanted, &nowhere, name, ret);
}
