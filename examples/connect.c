/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.c - all processes of the node become one namespace, whichever job they are of: they read
 * each other's data through it, meet in a fence, and part.
 *
 * Build and run:   cc connect.c $(pkg-config --cflags --libs shmix) -o connect
 *                  shmix run --separate-jobs -n 2 ./connect : -n 2 ./connect */
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>
#include <shmix.h>

static pmix_proc_t me;

static void must(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "rank %u of %s: %s: %s\n", me.rank, me.nspace, what,
                PMIx_Error_string(status));
        exit(1);
    }
}

/* Who this process is, for everybody to read. */
static void put_name(void)
{
    char name[PMIX_MAX_NSLEN + 32];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = name };

    snprintf(name, sizeof(name), "rank %u of %s", me.rank, me.nspace);
    must(PMIx_Put(PMIX_GLOBAL, "example.name", &value), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
}

int main(void)
{
    const pmix_data_array_t *procs;
    pmix_value_t *value, *name;
    pmix_proc_t job, all;
    pmix_rank_t rank;

    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    put_name();

    /* The processes of this node, of this job and of all others. */
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Get(&job, PMIX_LOCAL_PROCS, NULL, 0, &value), "PMIx_Get of all processes");
    procs = value->data.darray;

    must(shmix_connect(procs->array, procs->size, NULL, 0, all.nspace, &rank), "shmix_connect");
    printf("rank %u of %s is rank %u of %s\n", me.rank, me.nspace, rank, all.nspace);

    for (all.rank = 0; all.rank < procs->size; all.rank++) {
        must(PMIx_Get(&all, "example.name", NULL, 0, &name), "PMIx_Get of a name");
        printf("rank %u reads of rank %u: %s\n", rank, all.rank, name->data.string);
        PMIX_VALUE_RELEASE(name);
    }

    all.rank = PMIX_RANK_WILDCARD;
    must(PMIx_Fence(&all, 1, NULL, 0), "PMIx_Fence");
    must(shmix_disconnect(all.nspace, NULL, 0), "shmix_disconnect");

    PMIX_VALUE_RELEASE(value);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
