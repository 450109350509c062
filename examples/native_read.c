/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_read.c - exchange addresses, then read everybody's in place.
 *
 * Build and run:   cc native_read.c $(pkg-config --cflags --libs shmix) -o native_read
 *                  shmix run -n 4 ./native_read */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>
#include <shmix.h>

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

/* Publish what a real program would have from its network. */
static void publish(const pmix_proc_t *me)
{
    char address[64];
    bool collect = true;
    pmix_value_t value = { .type = PMIX_STRING, .data.string = address };
    pmix_info_t info;

    snprintf(address, sizeof(address), "node:%u", 5000 + me->rank);
    need(PMIx_Put(PMIX_GLOBAL, "example.address", &value), "PMIx_Put");
    value.type = PMIX_UINT32;
    value.data.uint32 = 5000 + me->rank;
    need(PMIx_Put(PMIX_GLOBAL, "example.port", &value), "PMIx_Put");
    need(PMIx_Commit(), "PMIx_Commit");
    need(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), "PMIx_Info_load");
    need(PMIx_Fence(NULL, 0, &info, 1), "PMIx_Fence");
}

int main(void)
{
    const shmix_key_t *size_key, *port_key, *address_key;
    uint64_t size, port, sum = 0;
    const char *address;
    shmix_job_t *job;
    pmix_proc_t me;

    need(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    need(shmix_job_open(NULL, &job), "shmix_job_open");

    /* Once a key, before or after it is published. */
    need(shmix_key_find(job, SHMIX_JOB, PMIX_JOB_SIZE, &size_key), "shmix_key_find");
    need(shmix_key_find(job, SHMIX_JOB, "example.port", &port_key), "shmix_key_find");
    need(shmix_key_find(job, SHMIX_JOB, "example.address", &address_key), "shmix_key_find");

    publish(&me);
    need(shmix_job_refresh(job), "shmix_job_refresh"); /* what the fence brought */

    /* As often as you like: a read is a few loads. */
    need(shmix_read_u64(size_key, PMIX_RANK_WILDCARD, &size), "shmix_read_u64");
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        need(shmix_read_u64(port_key, rank, &port), "shmix_read_u64");
        need(shmix_read_string(address_key, rank, &address, NULL), "shmix_read_string");
        sum += port;
        if (me.rank == 0) {
            printf("rank %u listens at %s, port %" PRIu64 "\n", rank, address, port);
        }
    }
    if (sum != size * 5000 + size * (size - 1) / 2) {
        fprintf(stderr, "rank %u: the ports of %" PRIu64 " ranks add up to %" PRIu64 "\n", me.rank,
                size, sum);
        return 1;
    }

    need(shmix_job_close(job), "shmix_job_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
