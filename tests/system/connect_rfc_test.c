/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_rfc_test.c - a program in the spelling of RFC0003. */
#define PMIX_RFC0003
#include <pmix.h>
#include <semaphore.h>
#include <string.h>

#include "job.h"

#pragma GCC diagnostic error "-Wincompatible-pointer-types"

/* The RFC's own words: another type would be an error. */
typedef void (*pmix_connect_cbfunc_t)(pmix_status_t status, char nspace[], int rank, void *cbdata);
PMIX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                                       const pmix_info_t info[], size_t ninfo, char nspace[],
                                       pmix_rank_t *newrank);
PMIX_EXPORT pmix_status_t PMIx_Disconnect(const char nspace[], const pmix_info_t info[],
                                          size_t ninfo);
PMIX_EXPORT pmix_status_t PMIx_Disconnect_nb(const char nspace[], const pmix_info_t info[],
                                             size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

static sem_t done;
static pmix_status_t how;
static char given[PMIX_MAX_NSLEN + 1];
static int place;

static void on_connect(pmix_status_t status, char nspace[], int rank, void *cbdata)
{
    how = status;
    strcpy(given, nspace);
    place = rank;
    sem_post(&done);
}

static void on_disconnect(pmix_status_t status, void *cbdata)
{
    how = status;
    sem_post(&done);
}

static void await(pmix_status_t want)
{
    job_sem_wait(&done);
    CHECK_STATUS(how, want);
}

/* The RFC's example, without what is published and looked up. */
static void example(char mynspace[], char newnspace[], pmix_rank_t *newrank)
{
    char myid[PMIX_MAX_NSLEN + 1], myclusterid[PMIX_MAX_NSLEN + 1] = "here";
    pmix_proc_t procs[1];
    pmix_info_t *info;

    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(myid, myclusterid, mynspace);
    CHECK(strncmp(myid, "here:", 5) == 0);
    PMIX_PROC_LOAD(&procs[0], mynspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_CREATE(info, 1);
    PMIX_INFO_LOAD(&info[0], PMIX_CONNECT_ID, "myconnect", PMIX_STRING);
    CHECK_STATUS(PMIx_Connect(procs, 1, info, 1, newnspace, newrank), PMIX_SUCCESS);
    PMIX_INFO_FREE(info, 1);
}

static int rank_of_rfc(int rank)
{
    const pmix_connect_cbfunc_t callback = on_connect;
    char newnspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t newrank;
    pmix_proc_t proc;

    sem_init(&done, 0, 0);
    CHECK_STATUS(PMIx_Init(&proc, NULL, 0), PMIX_SUCCESS);
    example(proc.nspace, newnspace, &newrank);
    CHECK(newrank == (pmix_rank_t)rank && newnspace[0] != '\0');
    CHECK_STATUS(PMIx_Disconnect(newnspace, NULL, 0), PMIX_SUCCESS);
    proc.rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Connect_nb(&proc, 1, NULL, 0, callback, NULL), PMIX_SUCCESS);
    await(PMIX_SUCCESS);
    CHECK(place == rank && strcmp(given, newnspace) != 0);
    CHECK_STATUS(PMIx_Disconnect_nb(given, NULL, 0, on_disconnect, NULL), PMIX_SUCCESS);
    await(PMIX_SUCCESS);
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = { { "rfc_spelling", 2, rank_of_rfc } };

    return job_main(argc, argv, cases, 1);
}
