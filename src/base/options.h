/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.h - the directives of every function, and what each function gets of them.
 *
 * The list of docs/support.md ("Directives of each function") is compared with these tables. */
#ifndef SX_BASE_OPTIONS_H
#define SX_BASE_OPTIONS_H

#include "base/directives.h"

/* Those that take directives. */
enum sx_function {
    SX_OF_FENCE,
    SX_FUNCTION_COUNT,
};

extern const struct sx_directives sx_directives_of[SX_FUNCTION_COUNT];

/* Return: as sx_directives_read. */
static inline pmix_status_t sx_options_read(enum sx_function function, const pmix_info_t *info,
                                            size_t ninfo, void *options)
{
    return sx_directives_read(&sx_directives_of[function], info, ninfo, options);
}

struct sx_fence_options {
    uint64_t timeout_ns; /* 0: none */
    bool collect;
    bool algorithm_required;
    const pmix_info_t *algorithm; /* may be required by its own mark as well */
};

#endif
