/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.c - process lists that a client sent: every length is bounded by what is there. */
#include "server/procs.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

pmix_status_t sx_procs_read(const char **at, size_t *left, uint32_t count,
                            pmix_proc_t **ret_procs)
{
    const char *next = *at;
    size_t rest = *left;
    pmix_proc_t *procs;

    *ret_procs = NULL;
    if (count == 0) {
        return PMIX_SUCCESS;
    }
    if (count > SX_PROCS_MAX || count > rest / 16) { /* the shortest entry takes 16 bytes */
        return PMIX_ERR_BAD_PARAM;
    }
    procs = calloc(count, sizeof(*procs));
    if (procs == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t head[2];

        if (rest < sizeof(head)) {
            goto fail;
        }
        memcpy(head, next, sizeof(head));
        const size_t padded = sx_align_up(head[1], 8);

        if (head[1] == 0 || head[1] > PMIX_MAX_NSLEN || padded > rest - sizeof(head) ||
            memchr(next + sizeof(head), '\0', head[1]) != NULL) {
            goto fail;
        }
        procs[i].rank = head[0];
        memcpy(procs[i].nspace, next + sizeof(head), head[1]);
        next += sizeof(head) + padded;
        rest -= sizeof(head) + padded;
    }
    *at = next;
    *left = rest;
    *ret_procs = procs;
    return PMIX_SUCCESS;

fail:
    free(procs);
    return PMIX_ERR_BAD_PARAM;
}
