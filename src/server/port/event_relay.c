/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_relay.c - make the mark, read it, take it off: "ORIGIN RANGE SESSION", three numbers. */
#include "server/port/event_relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/status.h"

#define ADDED 3u /* infos */

void sx_event_relay_init(struct sx_server *server)
{
    uint64_t number[2];

    if (getrandom(number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        number[0] = sx_now_ns(); /* early in a boot; different enough */
        number[1] = (uint64_t)server->pid << 32 ^ (uintptr_t)server;
    }
    snprintf(server->relay_origin, sizeof(server->relay_origin), "%016" PRIx64 "%016" PRIx64,
             number[0], number[1]);
}

static bool is_added(const pmix_info_t *info)
{
    return strcmp(info->key, SX_EVENT_RELAY_KEY) == 0 ||
           (strcmp(info->key, PMIX_RANGE) == 0 && info->value.type == PMIX_UINT8);
}

pmix_status_t sx_event_relay_infos(const struct sx_server *server,
                                   const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo)
{
    const uint8_t range = ((const struct sx_event *)(const void *)block->bytes)->range;
    char mark[128];
    pmix_info_t *info = NULL, *all;
    size_t ninfo = 0, kept = 0;
    const pmix_status_t rc = sx_event_block_infos(block, &info, &ninfo);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    PMIX_INFO_CREATE(all, ninfo + ADDED);
    if (all == NULL) {
        PMIX_INFO_FREE(info, ninfo);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (is_added(&info[i])) { /* a sender's own would be read for ours */
            PMIX_INFO_DESTRUCT(&info[i]);
        } else {
            all[kept++] = info[i]; /* what it owns moves along */
        }
    }
    free(info);
    snprintf(mark, sizeof(mark), "%s %u %" PRIu64, server->relay_origin, range, block->session);
    /* Not as PMIX_DATA_RANGE, which ORTE cannot carry. */
    PMIX_INFO_LOAD(&all[kept], PMIX_RANGE, &range, PMIX_UINT8);
    PMIX_INFO_LOAD(&all[kept + 1], PMIX_EVENT_PROXY, &server->self, PMIX_PROC);
    PMIX_INFO_LOAD(&all[kept + 2], SX_EVENT_RELAY_KEY, mark, PMIX_STRING);
    *ret_info = all;
    *ret_ninfo = kept + ADDED;
    return PMIX_SUCCESS;
}

pmix_status_t sx_event_relay(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, uint64_t id, sx_told_fn told)
{
    const struct sx_event *event = (const struct sx_event *)(const void *)block->bytes;
    pmix_proc_t source;
    struct sx_upcall up = {
        .told = told,
        .id = id,
        .client = client,
        .proc = &source,
        .status = event->code,
        .range = event->range,
        .info_bytes = block->size,
    };
    pmix_status_t rc = sx_upcall_judge(server, SX_UPCALL_NOTIFY_EVENT, block->size);

    if (rc == PMIX_SUCCESS) {
        rc = sx_event_relay_infos(server, block, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        sx_event_block_source(block, &source);
        rc = sx_upcall(server, SX_UPCALL_NOTIFY_EVENT, &up);
        free(up.info);
    }
    return rc;
}

bool sx_event_relay_read(const struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                         struct sx_event_relay *ret)
{
    for (size_t i = 0; i < ninfo; i++) {
        char origin[sizeof(server->relay_origin)];
        unsigned range;

        if (strcmp(info[i].key, SX_EVENT_RELAY_KEY) == 0 && info[i].value.type == PMIX_STRING &&
            info[i].value.data.string != NULL &&
            sscanf(info[i].value.data.string, "%32s %u %" SCNu64, origin, &range, &ret->session) ==
                3 &&
            range <= PMIX_RANGE_CUSTOM) {
            ret->own = strcmp(origin, server->relay_origin) == 0;
            ret->range = (pmix_data_range_t)range;
            return true;
        }
    }
    return false;
}

pmix_info_t *sx_event_relay_strip(const pmix_info_t info[], size_t ninfo, size_t *ret_ninfo)
{
    pmix_info_t *kept = malloc(ninfo * sizeof(*kept));

    *ret_ninfo = 0;
    for (size_t i = 0; i < ninfo && kept != NULL; i++) {
        if (!is_added(&info[i])) {
            kept[(*ret_ninfo)++] = info[i];
        }
    }
    return kept;
}
