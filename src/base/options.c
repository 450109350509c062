/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.c - the tables: a directive is a row, a function that takes directives an entry. */
#include "base/options.h"

#include <shmix.h>

#include "base/util.h"

/* A directive that goes into a field; a field of another type than its kind's does not compile. */
#define FIELD(kind, options, field)                                        \
    SX_DIRECTIVE_##kind,                                                   \
        .off = (uint16_t)(offsetof(struct sx_##options##_options, field) + \
                          SAME_TYPE(((struct sx_##options##_options *)NULL)->field, TYPE_##kind))
#define SAME_TYPE(field, type) \
    (0 * sizeof(char[__builtin_types_compatible_p(__typeof__(field), type) ? 1 : -1]))
#define TYPE_BOOL bool
#define TYPE_SECONDS uint64_t
#define TYPE_INFO const pmix_info_t *

#define IDLE .kind = SX_DIRECTIVE_NOTHING, .effect = SX_DIRECTIVE_IDLE

/* ---- collectives --------------------------------------------------------------------------- */

static const struct sx_directive fence[] = {
    { PMIX_TIMEOUT, FIELD(SECONDS, fence, timeout_ns) },
    { PMIX_COLLECT_DATA, FIELD(BOOL, fence, collect) },
    { PMIX_COLLECTIVE_ALGO, FIELD(INFO, fence, algorithm) },
    { PMIX_COLLECTIVE_ALGO_REQD, FIELD(BOOL, fence, algorithm_required) },
    { PMIX_COLLECT_GENERATED_JOB_INFO, IDLE }, /* job data are always complete */
    { PMIX_ALL_CLONES_PARTICIPATE, IDLE },     /* a process has no clones */
};

/* ---- the list ------------------------------------------------------------------------------ */

#define ENTRY(name, table)                                            \
    {                                                                 \
        .function = (name), .rows = (table), .count = SX_COUNT(table) \
    }

const struct sx_directives sx_directives_of[SX_FUNCTION_COUNT] = {
    [SX_OF_FENCE] = ENTRY("PMIx_Fence", fence),
};
