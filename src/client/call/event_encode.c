/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_encode.c - an event as it travels: struct sx_event and what follows it. */
#include <stdlib.h>
#include <string.h>

#include "base/flat.h"
#include "base/value.h"
#include "client/call/event.h"
#include "client/link/procs.h"
#include "ring/record.h"

/* A list that may be empty. */
static pmix_status_t procs_size(const struct sx_some_procs *procs, size_t *ret_size)
{
    *ret_size = 0;
    return procs->count == 0 ? PMIX_SUCCESS
                             : sx_wire_procs_size(procs->all, procs->count, ret_size);
}

static uint8_t *procs_write(uint8_t *at, const struct sx_some_procs *procs)
{
    return procs->count == 0 ? at : sx_wire_procs_write(at, procs->all, procs->count);
}

pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo, void **ret_bytes, size_t *ret_size)
{
    const size_t name_len = sx_name_len(source->nspace, PMIX_MAX_NSLEN);
    size_t targets_size = 0, affected_size = 0, info_size = 0;

    if (options->range == PMIX_RANGE_CUSTOM && options->targets.count == 0) {
        return PMIX_ERR_BAD_PARAM; /* for whom? */
    }
    pmix_status_t rc = procs_size(&options->targets, &targets_size);
    if (rc == PMIX_SUCCESS) {
        rc = procs_size(&options->affected, &affected_size);
    }
    if (rc == PMIX_SUCCESS && ninfo > 0) {
        rc = sx_flat_infos_size(info, ninfo, &info_size);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const struct sx_event event = {
        .code = code,
        .source_rank = source->rank,
        .range = options->range,
        .flags = sx_event_flags(options),
        .source_len = (uint16_t)name_len,
        .target_count = (uint32_t)options->targets.count,
        .affected_count = (uint32_t)options->affected.count,
        .info_size = (uint32_t)info_size,
    };
    const size_t size = sizeof(event) + sx_align_up(name_len, 8) + targets_size + affected_size +
                        info_size;
    uint8_t *const bytes = info_size > UINT32_MAX - 8 ? NULL : malloc(size);

    if (bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    uint8_t *at = bytes + sizeof(event);

    memset(at, 0, size - sizeof(event) - info_size); /* the padding; infos write their own */
    memcpy(bytes, &event, sizeof(event));
    memcpy(at, source->nspace, name_len);
    at += sx_align_up(name_len, 8);
    at = procs_write(procs_write(at, &options->targets), &options->affected);
    if (info_size > 0) {
        rc = sx_flat_infos_encode(info, ninfo, at, info_size);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_infos_judge(at, info_size, SX_EVENT_HEAP_MAX);
    }
    if (rc != PMIX_SUCCESS) {
        free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return PMIX_SUCCESS;
}
