/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* payloads.c - a signature each. */
#include "base/message/payloads.h"

#include <shmix.h>

#include "base/util.h"
#include "base/value/value.h"

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
                                     .thing = "the directives of a fence, a connect or a group",
                                     .advice = "what is for the other processes belongs in "
                                               "PMIx_Put" } },
    .heap_max = SX_ARRIVE_HEAP_MAX,
};

const struct sx_signature sx_cursor_body = { .head_size = sizeof(struct sx_lane_cursor) };

const struct sx_signature sx_event_body = SX_EVENT_SIGNATURE;

/* Codes from @first down to @last. */
static const struct {
    pmix_status_t first, last;
} hosts_codes[] = {
    { PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_PROC_REQUESTED_ABORT },
    { PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE },
    { PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION },
    { PMIX_ERR_LOST_CONNECTION_TO_SERVER, PMIX_ERR_LOST_CONNECTION_TO_SERVER },
    { PMIX_EVENT_JOB_END, PMIX_EVENT_JOB_END },
    { PMIX_ERR_JOB_APP_NOT_EXECUTABLE, PMIX_EVENT_SESSION_END },
    { PMIX_EVENT_PROC_TERMINATED, PMIX_EVENT_PROC_TERMINATED },
    { PMIX_EVENT_SYS_BASE, PMIX_EVENT_SYS_OTHER }, /* PMIX_ERR_JOB_WDIR_NOT_FOUND and others, too */
    { PMIX_ERR_PROC_KILLED_BY_CMD, PMIX_ERR_PROC_FAILED_TO_START },
    { PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED, PMIX_ERR_EXIT_NONZERO_TERM },
    { SHMIX_ERR_EVENTS_LOST, SHMIX_ERR_VALUES_LOST },
};

bool sx_event_code_is_hosts(pmix_status_t code)
{
    for (size_t i = 0; i < SX_COUNT(hosts_codes); i++) {
        if (code <= hosts_codes[i].first && code >= hosts_codes[i].last) {
            return true;
        }
    }
    return false;
}

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
