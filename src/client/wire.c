/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wire.c - write process lists; judged first, so that writing cannot fail. */
#include "client/wire.h"

#include <string.h>

#include "base/util.h"
#include "base/value.h"

static size_t nspace_len(const pmix_proc_t *proc)
{
    return sx_name_len(proc->nspace, sizeof(proc->nspace));
}

pmix_status_t sx_wire_procs_size(const pmix_proc_t *procs, size_t nprocs, size_t *ret_size)
{
    size_t size = 0;

    if ((procs == NULL && nprocs != 0) || nprocs > SX_WIRE_PROCS_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < nprocs; i++) {
        const size_t len = nspace_len(&procs[i]);

        if (len == 0 || len >= sizeof(procs[i].nspace)) {
            return PMIX_ERR_BAD_PARAM;
        }
        size += 2 * sizeof(uint32_t) + sx_align_up(len, 8);
    }
    *ret_size = size;
    return PMIX_SUCCESS;
}

uint8_t *sx_wire_procs_write(uint8_t *at, const pmix_proc_t *procs, size_t nprocs)
{
    for (size_t i = 0; i < nprocs; i++) {
        const size_t len = nspace_len(&procs[i]);
        const uint32_t head[2] = { procs[i].rank, (uint32_t)len };
        const size_t padded = sx_align_up(len, 8);

        memcpy(at, head, sizeof(head));
        at += sizeof(head);
        memset(at, 0, padded);
        memcpy(at, procs[i].nspace, len);
        at += padded;
    }
    return at;
}
