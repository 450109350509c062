/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival.c - every length in the message is bounded by what is there. */
#include "server/model/arrival.h"

#include <stdlib.h>
#include <string.h>

#include "base/flat.h"
#include "base/util.h"
#include "base/value.h"
#include "ring/record.h"
#include "server/model/procs.h"

/* A client sorts the list that its caller gave: it costs the server one look at each. */
static bool procs_are_canonical(const pmix_proc_t *procs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

void sx_arrival_clear(struct sx_arrival *arrival)
{
    free(arrival->procs);
    arrival->procs = NULL;
    if (arrival->info != NULL) {
        PMIX_INFO_FREE(arrival->info, arrival->ninfo);
    }
}

pmix_status_t sx_arrival_read(struct sx_arrival *ret, const void *body, size_t size)
{
    const struct sx_lane_arrive *message = body;
    const char *at = (const char *)(message + 1);
    size_t left = size - sizeof(*message);
    pmix_status_t rc;

    memset(ret, 0, sizeof(*ret));
    if (size < sizeof(*message) || message->proc_count == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    ret->kind = message->kind;
    ret->op = message->op;
    ret->open = message->open;
    rc = sx_procs_read(&at, &left, message->proc_count, &ret->procs);
    if (rc == PMIX_SUCCESS) {
        ret->proc_count = message->proc_count;
        if (message->info_size > left || message->info_size > SX_ARRIVE_INFOS_MAX ||
            !procs_are_canonical(ret->procs, ret->proc_count)) {
            rc = PMIX_ERR_BAD_PARAM;
        } else if (message->info_size > 0) {
            rc = sx_flat_infos_decode_within(at, message->info_size, SX_ARRIVE_HEAP_MAX, &ret->info,
                                             &ret->ninfo);
        }
    }
    if (rc != PMIX_SUCCESS) {
        sx_arrival_clear(ret);
    }
    return rc == PMIX_ERR_UNPACK_FAILURE ? PMIX_ERR_BAD_PARAM : rc;
}
