/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* block_build.h - an event as PMIx_Notify_event makes it: what its infos ask for, and its bytes. */
#ifndef SX_TEST_BLOCK_BUILD_H
#define SX_TEST_BLOCK_BUILD_H

#include "server/model/event_log.h"

static inline pmix_status_t block_build(pmix_status_t code, const pmix_proc_t *source,
                                        pmix_data_range_t range, const pmix_info_t info[],
                                        size_t ninfo, struct sx_event_block **ret)
{
    struct sx_notify_options options = { .range = range };
    const pmix_status_t rc = sx_options_read(SX_OF_NOTIFY, info, ninfo, &options);

    return rc != PMIX_SUCCESS ? rc : sx_event_block_build(code, source, &options, info, ninfo, ret);
}

#endif
