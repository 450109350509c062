/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival.c - the processes in order, and the values of the directives. */
#include "server/collective/operation.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/message/payloads.h"
#include "base/value/value.h"

/* A client sorts the list that its caller gave, so the server only compares each entry with the
 * next. */
static bool procs_are_canonical(const pmix_proc_t *procs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

static size_t bytes_of(const struct sx_arrival *arrival)
{
    size_t sum = arrival->proc_count * sizeof(arrival->procs[0]);
    size_t size;

    for (size_t i = 0; i < arrival->ninfo; i++) {
        sum += PMIx_Info_get_size(&arrival->info[i], &size) == PMIX_SUCCESS ? size : 0;
    }
    return sum;
}

void sx_arrival_clear(struct sx_arrival *arrival)
{
    free(arrival->procs);
    arrival->procs = NULL;
    sx_proc_list_clear(&arrival->sorted);
    free(arrival->order);
    arrival->order = NULL;
    if (arrival->info != NULL) {
        PMIX_INFO_FREE(arrival->info, arrival->ninfo);
    }
}

pmix_status_t sx_arrival_read(struct sx_arrival *ret, const struct sx_opened *body)
{
    const struct sx_lane_arrive *const head = body->head;

    *ret = (struct sx_arrival){ .kind = head->kind,
                                .op = head->op,
                                .open = head->open,
                                .options.collect = (head->flags & SX_ARRIVE_COLLECT) != 0,
                                .hears = head->flags & SX_ARRIVE_HEARS,
                                .proc_count = head->proc_count };
    pmix_status_t rc = (head->flags & ~(SX_ARRIVE_COLLECT | SX_ARRIVE_HEARS)) != 0
                           ? PMIX_ERR_BAD_PARAM
                           : sx_part_procs(&body->parts[SX_ARRIVE_PROCS], &ret->procs);

    if (rc == PMIX_SUCCESS) {
        ret->in_order = procs_are_canonical(ret->procs, ret->proc_count);
        rc = sx_body_infos(body, SX_ARRIVE_INFOS, &ret->info, &ret->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        ret->bytes = bytes_of(ret);
    } else {
        sx_arrival_clear(ret);
    }
    return rc == PMIX_ERR_UNPACK_FAILURE ? PMIX_ERR_BAD_PARAM : rc;
}
