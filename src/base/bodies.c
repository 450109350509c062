/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bodies.c - a signature each. */
#include "base/bodies.h"

#include "base/util.h"
#include "base/value.h"

const struct sx_signature sx_put_body = {
    .head_size = sizeof(struct sx_lane_put),
    .parts = { [SX_PUT_KEY] = SX_NAME_PART(struct sx_lane_put, key_len, 1, PMIX_MAX_KEYLEN),
               [SX_PUT_VALUE] = SX_VALUE_PART(struct sx_lane_put, cell) },
};

const char *sx_collective_name(uint32_t kind)
{
    static const char *const names[] = {
        [SX_COLLECTIVE_FENCE] = "fence",
        [SX_COLLECTIVE_CONNECT] = "connect",
        [SX_COLLECTIVE_DISCONNECT] = "disconnect",
        [SX_COLLECTIVE_GROUP_CONSTRUCT] = "group construct",
        [SX_COLLECTIVE_GROUP_DESTRUCT] = "group destruct",
    };

    return kind < SX_COUNT(names) ? names[kind] : NULL;
}

const struct sx_signature sx_arrive_body = {
    .head_size = sizeof(struct sx_lane_arrive),
    .parts = { [SX_ARRIVE_PROCS] = SX_PROCS_PART(struct sx_lane_arrive, proc_count, 1),
               [SX_ARRIVE_INFOS] = { .kind = SX_PART_INFOS,
                                     .decoded = true,
                                     .max = SX_ARRIVE_INFOS_MAX,
                                     SX_PART_WORD(struct sx_lane_arrive, info_size),
                                     .thing = "the directives of a fence",
                                     .advice = "what is for the other processes belongs in "
                                               "PMIx_Put" } },
    .heap_max = SX_ARRIVE_HEAP_MAX,
};

const struct sx_signature sx_cursor_body = { .head_size = sizeof(struct sx_lane_cursor) };

const struct sx_signature sx_event_body = SX_EVENT_SIGNATURE;

void sx_event_draft(struct sx_draft *ret, struct sx_event *event, pmix_status_t code,
                    const pmix_proc_t *source, const struct sx_notify_options *options,
                    const pmix_info_t info[], size_t ninfo)
{
    *event = (struct sx_event){
        .code = code,
        .source_rank = source->rank,
        .range = options->range,
        .flags = (uint8_t)((options->non_default ? SX_EVENT_NON_DEFAULT : 0) |
                           (options->do_not_cache ? SX_EVENT_DO_NOT_CACHE : 0) |
                           (options->stays_local ? SX_EVENT_STAYS_LOCAL : 0)),
    };
    *ret = (struct sx_draft){
        .signature = &sx_event_body,
        .head = event,
        .nspace = "",
        .parts = { [SX_EVENT_SOURCE] = { source->nspace,
                                         sx_name_len(source->nspace, PMIX_MAX_NSLEN) },
                   [SX_EVENT_TARGETS] = { options->targets.all, options->targets.count },
                   [SX_EVENT_AFFECTED] = { options->affected.all, options->affected.count },
                   [SX_EVENT_INFOS] = { info, ninfo } },
    };
}
