/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unsupported.c - the functions of the PMIx ABI that this library does not support.
 *
 * They are exported, because a program that only might call one must still load, and each answers
 * PMIX_ERR_NOT_SUPPORTED: no callback is kept, no output is written.  docs/support lists them,
 * and a test holds that list against this file.  To implement one, take its line out here. */
#include <src/include/pmix_frameworks.h>

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <shmix.h>

/* The parameters are named for the reader of this list and not used. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SX_UNSUPPORTED(name, ...)      \
    pmix_status_t name(__VA_ARGS__)    \
    {                                  \
        return PMIX_ERR_NOT_SUPPORTED; \
    }

/* Resource blocks: a scheduler's, and the host's module ends before the entry. */
SX_UNSUPPORTED(PMIx_Resource_block, pmix_resource_block_directive_t directive, char *block,
               const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
               size_t ninfo)
SX_UNSUPPORTED(PMIx_Resource_block_nb, pmix_resource_block_directive_t directive, char *block,
               const pmix_resource_unit_t *units, size_t nunits, const pmix_info_t *info,
               size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)

/* Host functions beyond one plain job. */
SX_UNSUPPORTED(PMIx_server_collect_job_info, pmix_proc_t *procs, size_t nprocs,
               pmix_data_buffer_t *buffer)

/* ---- frameworks ------------------------------------------------------------------------------ */

/* The list that Open MPI 5 wants to see: there are no plugin frameworks here. */

__attribute__((visibility("default"))) char *pmix_framework_names[] = { 0 };
