/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_common.h - what the event experiments share; plain PMIx, so that they run on any library. */
#ifndef SX_BENCH_EVENT_COMMON_H
#define SX_BENCH_EVENT_COMMON_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "hist.h"
#include "settle.h"

#define EVENT_CODE (PMIX_EXTERNAL_ERR_BASE - 147)
#define EVENT_SEQ_KEY "bench.seq"
/* SHMIX_ERR_EVENTS_LOST of <shmix.h>, which other libraries never raise. */
#define EVENT_LOST_CODE (PMIX_EXTERNAL_ERR_BASE - 5001)

static pmix_proc_t me;
static uint32_t job_size;

static inline void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "%s.%u: %s: %d\n", me.nspace, me.rank, what, rc);
        exit(1);
    }
}

static inline void job_begin(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t job;

    must(PMIx_Init(&me, NULL, 0), "init");
    settle();
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    must(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "get of the job size");
    job_size = value->data.uint32;
    free(value);
}

static inline void meet(void)
{
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
}

static inline void job_end(void)
{
    meet();
    must(PMIx_Finalize(NULL, 0), "finalize");
}

/* Blocking: the library has the handler when this returns. */
static inline void handle(pmix_status_t code, pmix_notification_fn_t fn)
{
    const pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    if (rc < 0) {
        must(rc, "registering a handler");
    }
}

/* The number that the publisher gave it. */
static inline uint64_t event_seq(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, EVENT_SEQ_KEY) == 0) {
            return info[i].value.data.uint64;
        }
    }
    fprintf(stderr, "%s.%u: an event without its number\n", me.nspace, me.rank);
    exit(1);
}

/* An event's infos: its number, and for range CUSTOM whom it is for. */
struct event_infos {
    pmix_info_t info[2];
    pmix_proc_t target;
    pmix_data_array_t array;
};

static inline void event_infos_set(struct event_infos *e, uint64_t seq, uint32_t rank)
{
    memset(e, 0, sizeof(*e));
    strcpy(e->info[0].key, EVENT_SEQ_KEY);
    e->info[0].value.type = PMIX_UINT64;
    e->info[0].value.data.uint64 = seq;
    e->target = me;
    e->target.rank = rank;
    e->array = (pmix_data_array_t){ .type = PMIX_PROC, .size = 1, .array = &e->target };
    strcpy(e->info[1].key, PMIX_EVENT_CUSTOM_RANGE);
    e->info[1].value.type = PMIX_DATA_ARRAY;
    e->info[1].value.data.darray = &e->array;
}

#endif
