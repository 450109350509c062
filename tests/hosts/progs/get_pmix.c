/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_pmix.c - what Gets that miss end with, one line each, in plain PMIx: for any library and
 * launcher, so nothing here is a macro that stands for a newer function.  Rank 0 of several prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static pmix_proc_t me;

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, rc);
        exit(1);
    }
}

static void put(const char *key, pmix_scope_t scope)
{
    pmix_value_t value;

    value.type = PMIX_UINT32;
    value.data.uint32 = 7;
    must(PMIx_Put(scope, key, &value), key);
}

/* @seconds: 0: no time limit.  @directive: NULL, or one that stands for itself. */
static void get(const char *why, const char *nspace, pmix_rank_t rank, const char *key, int seconds,
                const char *directive)
{
    pmix_value_t *value = (pmix_value_t *)&me;
    pmix_info_t infos[2];
    size_t count = 0;
    pmix_proc_t proc;

    memset(&proc, 0, sizeof(proc));
    strcpy(proc.nspace, nspace);
    proc.rank = rank;
    memset(infos, 0, sizeof(infos));
    if (seconds != 0) {
        strcpy(infos[count].key, PMIX_TIMEOUT);
        infos[count].value.type = PMIX_INT;
        infos[count++].value.data.integer = seconds;
    }
    if (directive != NULL) {
        strcpy(infos[count].key, directive);
        infos[count].value.type = PMIX_BOOL;
        infos[count++].value.data.flag = true;
    }
    const pmix_status_t rc = PMIx_Get(&proc, key, infos, count, &value);
    if (me.rank == 0) {
        printf("%s: %d%s\n", why, rc, rc != PMIX_SUCCESS && value != NULL ? ", but a value" : "");
    }
}

int main(void)
{
    char *mine;

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    mine = me.nspace;
    put("far", PMIX_REMOTE);
    put("near", PMIX_LOCAL);
    must(PMIx_Commit(), "PMIx_Commit");
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    if (me.rank == 0) {
        get("put", mine, 1, "near", 0, NULL);
        get("put, no namespace given", "", 1, "near", 0, NULL);
        get("not put, though it has committed", mine, 1, "never", 0, NULL);
        get("not put, with a time limit", mine, 1, "never", 1, NULL);
        get("not put, immediate", mine, 1, "never", 0, PMIX_IMMEDIATE);
        get("not put, optional", mine, 1, "never", 0, PMIX_OPTIONAL);
        get("put for other nodes", mine, 1, "far", 0, NULL);
        get("put for other nodes, with a time limit", mine, 1, "far", 30, NULL);
        get("our own, put for other nodes", mine, 0, "far", 0, NULL);
        get("our own rank", mine, PMIX_RANK_INVALID, PMIX_RANK, 0, NULL);
        get("reserved and not there, of a rank", mine, 1, PMIX_FABRIC_COORDINATES, 0, NULL);
        get("reserved and not there, of ours", mine, 0, PMIX_PARENT_ID, 0, NULL);
        get("reserved and not there, with a time limit", mine, 1, "pmix.no.such", 30, NULL);
        get("the server", mine, 0, PMIX_SERVER_URI, 0, NULL);
        get("processes of our node", mine, PMIX_RANK_WILDCARD, PMIX_MAX_PROCS, 0, PMIX_NODE_INFO);
        get("nodes of our node", mine, PMIX_RANK_WILDCARD, PMIX_NUM_NODES, 0, PMIX_NODE_INFO);
        get("processes of our app", mine, PMIX_RANK_WILDCARD, PMIX_MAX_PROCS, 0, PMIX_APP_INFO);
        get("nodes of our app", mine, PMIX_RANK_WILDCARD, PMIX_NUM_NODES, 0, PMIX_APP_INFO);
        get("slots of our session", mine, PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, 0, PMIX_SESSION_INFO);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
