/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_rfc_test.c - a program in the spelling of RFC0003. */
#define PMIX_RFC0003
#include <pmix.h>
#include <semaphore.h>
#include <string.h>

#include "job.h"

static sem_t done;
static pmix_status_t how;
static char given[PMIX_MAX_NSLEN + 1];
static pmix_rank_t place;

static void on_connect(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    (void)cbdata;
    how = status;
    strcpy(given, nspace);
    place = rank;
    sem_post(&done);
}

static void on_disconnect(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    how = status;
    sem_post(&done);
}

static void await(pmix_status_t want)
{
    while (sem_wait(&done) != 0) {
    }
    CHECK_STATUS(how, want);
}

static int rank_of_rfc(int rank)
{
    const pmix_connect_cbfunc_t callback = on_connect;
    char newnspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t newrank;
    pmix_proc_t procs[1];
    pmix_info_t info;

    sem_init(&done, 0, 0);
    CHECK_STATUS(PMIx_Init(procs, NULL, 0), PMIX_SUCCESS);
    procs[0].rank = PMIX_RANK_WILDCARD;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_CONNECT_ID, "myconnect", PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect(procs, 1, &info, 1, newnspace, &newrank), PMIX_SUCCESS);
    CHECK(newrank == (pmix_rank_t)rank && newnspace[0] != '\0');
    CHECK_STATUS(PMIx_Disconnect(newnspace, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect_nb(procs, 1, &info, 1, callback, NULL), PMIX_SUCCESS);
    await(PMIX_SUCCESS);
    CHECK(place == newrank && strcmp(given, newnspace) != 0);
    CHECK_STATUS(PMIx_Disconnect_nb(given, NULL, 0, on_disconnect, NULL), PMIX_SUCCESS);
    await(PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = { { "rfc_spelling", 2, rank_of_rfc, NULL, false } };

    return job_main(argc, argv, cases, 1);
}
