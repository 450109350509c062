/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_events.c - read events in order, without a handler and without a thread.
 *
 * Build and run:   cc native_events.c $(pkg-config --cflags --libs shmix) -o native_events
 *                  shmix run -n 4 ./native_events */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>
#include <shmix.h>

#define NEWS (PMIX_EXTERNAL_ERR_BASE - 1)

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

/* Every rank says something. */
static void publish(const pmix_proc_t *me)
{
    uint32_t number = 100 + me->rank;
    pmix_info_t info;

    need(PMIx_Info_load(&info, "example.number", &number, PMIX_UINT32), "PMIx_Info_load");
    need(PMIx_Notify_event(NEWS, me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
         "PMIx_Notify_event");
}

int main(void)
{
    const pmix_status_t code = NEWS;
    const shmix_key_t *size_key;
    shmix_events_t *events;
    shmix_event_t event;
    shmix_value_t value;
    shmix_job_t *job;
    pmix_proc_t me;
    uint64_t size;

    need(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    need(shmix_job_open(NULL, &job), "shmix_job_open");
    need(shmix_key_find(job, SHMIX_JOB, PMIX_JOB_SIZE, &size_key), "shmix_key_find");
    need(shmix_read_u64(size_key, PMIX_RANK_WILDCARD, &size), "shmix_read_u64");

    /* Those from before are still in the ring, however late we are. */
    need(shmix_events_open(SHMIX_EVENTS_OLDEST, &code, 1, &events), "shmix_events_open");
    publish(&me);
    for (uint64_t i = 0; i < size; i++) {
        need(shmix_events_wait(events, SHMIX_FOREVER, &event), "shmix_events_wait");
        need(shmix_event_find(&event, "example.number", &value), "shmix_event_find");
        if (me.rank == 0) { /* in every rank the same order */
            printf("event %" PRIu64 ": rank %u says %" PRIu64 "\n", event.number, event.source.rank,
                   value.number.u64);
        }
    }

    need(shmix_events_close(events), "shmix_events_close");
    need(shmix_job_close(job), "shmix_job_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
