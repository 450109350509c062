/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.c - process lists that a client sent: every length is bounded by what is there. */
#include "server/model/procs.h"

#include <stdlib.h>
#include <string.h>

#include "ring/record.h"

pmix_status_t sx_procs_read(const char **at, size_t *left, uint32_t count, pmix_proc_t **ret_procs)
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
        struct sx_proc_ref proc;
        const size_t size = sx_proc_ref_read(next, rest, &proc);

        if (size == 0) {
            free(procs);
            return PMIX_ERR_BAD_PARAM;
        }
        procs[i].rank = proc.rank;
        memcpy(procs[i].nspace, proc.name, proc.name_len);
        next += size;
        rest -= size;
    }
    *at = next;
    *left = rest;
    *ret_procs = procs;
    return PMIX_SUCCESS;
}
