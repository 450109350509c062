/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias_test.c - the name of connected processes, in an event's targets, is each of them as long as
 * they are connected. */
#include <shmix.h>

#include "job.h"
#include "received.h"

#define CODE (-2100)
#define LAST (-2101)
#define STRANGER 1 /* of the three ranks it is the one that is not connected */

static pmix_proc_t me;

/* The name under which rank 0 is connected. */
static void name_of_both(char name[PMIX_MAX_NSLEN + 1])
{
    pmix_value_t *value;
    pmix_proc_t first;

    PMIx_Load_procid(&first, JOB_NSPACE, 0);
    CHECK_STATUS(PMIx_Get(&first, SHMIX_CONNECTED, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->size == 1);
    strcpy(name, ((const pmix_proc_t *)value->data.darray->array)->nspace);
    PMIx_Value_free(value, 1);
}

static int rank_of_targets(int rank)
{
    static const size_t want[] = { 1, 0, 2 };
    char name[PMIX_MAX_NSLEN + 1];
    pmix_proc_t both[2];

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&both[0], JOB_NSPACE, 0);
    PMIx_Load_procid(&both[1], JOB_NSPACE, 2);
    (void)receive_one(CODE);
    (void)receive_one(LAST);
    if (rank != STRANGER) {
        CHECK_STATUS(PMIx_Connect(both, 2, NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    name_of_both(name);
    rank_fence();
    if (rank == STRANGER) {
        publish_to_proc(CODE, name, 1);
        publish_to_proc(CODE, name, PMIX_RANK_WILDCARD);
        publish_event(LAST, PMIX_RANGE_LOCAL, 0);
    }
    received_wait(LAST, 1);
    CHECK(received_of(CODE) == want[rank]);
    rank_fence();
    if (rank != STRANGER) {
        CHECK_STATUS(PMIx_Disconnect(both, 2, NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    if (rank == STRANGER) {
        publish_to_proc(CODE, name, PMIX_RANK_WILDCARD);
        publish_event(LAST, PMIX_RANGE_LOCAL, 0);
    }
    received_wait(LAST, 2);
    CHECK(received_of(CODE) == want[rank]);
    return rank_end();
}

static const struct job_case cases[] = {
    { "targets", 3, rank_of_targets },
};

JOB_MAIN(cases)
