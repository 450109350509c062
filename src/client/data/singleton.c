/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* singleton.c - the job data of one process, written into its private store. */
#include "client/data/data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "client/data/view.h"

struct number {
    const char *key;
    pmix_data_type_t type;
    uint32_t number;
};

static const struct number job_numbers[] = {
    { PMIX_UNIV_SIZE, PMIX_UINT32, 1 },    { PMIX_JOB_SIZE, PMIX_UINT32, 1 },
    { PMIX_MAX_PROCS, PMIX_UINT32, 1 },    { PMIX_LOCAL_SIZE, PMIX_UINT32, 1 },
    { PMIX_NUM_NODES, PMIX_UINT32, 1 },    { PMIX_NODE_SIZE, PMIX_UINT32, 1 },
    { PMIX_JOB_NUM_APPS, PMIX_UINT32, 1 },
};

static const struct number rank_numbers[] = {
    { PMIX_LOCAL_RANK, PMIX_UINT16, 0 },     { PMIX_NODE_RANK, PMIX_UINT16, 0 },
    { PMIX_APPNUM, PMIX_UINT32, 0 },         { PMIX_APP_RANK, PMIX_PROC_RANK, 0 },
    { PMIX_GLOBAL_RANK, PMIX_PROC_RANK, 0 }, { PMIX_NODEID, PMIX_UINT32, 0 },
};

static pmix_status_t store_numbers(struct sx_view *view, uint32_t row, const struct number *numbers,
                                   size_t count)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        pmix_value_t value = { .type = numbers[i].type };

        if (value.type == PMIX_UINT16) {
            value.data.uint16 = (uint16_t)numbers[i].number;
        } else if (value.type == PMIX_PROC_RANK) {
            value.data.rank = numbers[i].number;
        } else {
            value.data.uint32 = numbers[i].number;
        }
        rc = sx_view_store(view, row, numbers[i].key, PMIX_SCOPE_UNDEF, &value);
    }
    return rc;
}

static pmix_status_t store_string(struct sx_view *view, uint32_t row, const char *key, char *text)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

    return sx_view_store(view, row, key, PMIX_SCOPE_UNDEF, &value);
}

pmix_status_t sx_singleton_open(struct sx_process *p, const pmix_proc_t *name)
{
    char hostname[128] = "localhost", peers[] = "0";

    (void)gethostname(hostname, sizeof(hostname) - 1); /* a longer name is cut */
    p->self = *name;
    if (name->nspace[0] == '\0') {
        p->self.rank = 0;
        snprintf(p->self.nspace, sizeof(p->self.nspace), "singleton.%s.%ld", hostname,
                 (long)getpid());
    }
    p->own = sx_view_open(p->self.nspace, NULL);
    if (p->own == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = store_numbers(p->own, SX_ROW_JOB, job_numbers, SX_COUNT(job_numbers));
    if (rc == PMIX_SUCCESS) {
        rc = store_numbers(p->own, p->self.rank, rank_numbers, SX_COUNT(rank_numbers));
    }
    if (rc == PMIX_SUCCESS) {
        rc = store_string(p->own, SX_ROW_JOB, PMIX_LOCAL_PEERS, peers);
    }
    if (rc == PMIX_SUCCESS) {
        rc = store_string(p->own, p->self.rank, PMIX_HOSTNAME, hostname);
    }
    return rc;
}
