/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.c - write process lists.  They are checked first, so that writing cannot fail. */
#include "client/link/procs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/flat.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value.h"
#include "client/link/process.h"

/* Programs that know only their own job leave the namespace empty. */
const char *sx_wire_nspace(const pmix_proc_t *proc)
{
    return proc->nspace[0] != '\0' ? proc->nspace : sx_process.self.nspace;
}

static size_t nspace_len(const pmix_proc_t *proc)
{
    return sx_name_len(sx_wire_nspace(proc), sizeof(proc->nspace));
}

pmix_status_t sx_wire_procs_size(const pmix_proc_t *procs, size_t nprocs, size_t *ret_size)
{
    size_t size = 0;

    if (procs == NULL && nprocs != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (nprocs > SX_PROCS_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a list of %zu processes: at most %u can be named; name a whole namespace "
                        "with PMIX_RANK_WILDCARD",
                        nprocs, SX_PROCS_MAX);
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

static bool is_sorted(const pmix_proc_t *procs, size_t nprocs)
{
    for (size_t i = 1; i < nprocs; i++) {
        if (procs[i - 1].nspace[0] == '\0' || sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

const pmix_proc_t *sx_wire_procs_sorted(const pmix_proc_t *procs, size_t *nprocs,
                                        pmix_proc_t **ret_copy)
{
    size_t kept = 0;

    *ret_copy = NULL;
    if (is_sorted(procs, *nprocs)) {
        return procs;
    }
    pmix_proc_t *const copy = malloc(*nprocs * sizeof(*copy));

    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < *nprocs; i++) {
        memcpy(copy[i].nspace, sx_wire_nspace(&procs[i]), sizeof(copy[i].nspace));
        copy[i].rank = procs[i].rank;
    }
    qsort(copy, *nprocs, sizeof(*copy), sx_proc_order);
    for (size_t i = 0; i < *nprocs; i++) {
        if (kept == 0 || sx_proc_order(&copy[kept - 1], &copy[i]) != 0) {
            copy[kept++] = copy[i];
        }
    }
    *nprocs = kept;
    return *ret_copy = copy;
}

/* So few bytes can never unpack to more than a server takes. */
#define ALWAYS_FAIR_BYTES 4096u

pmix_status_t sx_wire_infos_judge(const void *at, size_t size, uint64_t heap_max)
{
    struct sx_cell cell;

    if (size <= ALWAYS_FAIR_BYTES) {
        return PMIX_SUCCESS;
    }
    memcpy(&cell, at, sizeof(cell));
    const pmix_status_t rc = sx_flat_check_within(&cell, (const uint8_t *)at + sizeof(cell),
                                                  size - sizeof(cell), heap_max);

    if (rc != PMIX_ERR_OUT_OF_RESOURCE) {
        return rc;
    }
    return SX_RAISE(rc,
                    "infos of %zu bytes, which unfold to more than %" PRIu64
                    ": give fewer of them, or one array of numbers instead of many small values",
                    size, heap_max);
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
        memcpy(at, sx_wire_nspace(&procs[i]), len);
        at += padded;
    }
    return at;
}
