/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_relay.c - write the mark of a relayed event, and read it. */
#include "server/event/event_route.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "base/status.h"
#include "server/model/blob.h"

#define ADDED 3u /* infos that are added */

/* The event's bytes follow. */
struct mark {
    char origin[40]; /* padded with zeros */
    uint64_t session;
    uint32_t user;
    uint32_t has_user; /* 0 or 1 */
};
static_assert(sizeof(((struct sx_server *)NULL)->relay_origin) <=
                  sizeof(((struct mark *)NULL)->origin),
              "it fits");

void sx_event_relay_init(struct sx_server *server)
{
    uint64_t number[2];

    if (getrandom(number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        number[0] = sx_now_ns(); /* nanoseconds since boot: different enough between servers */
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

/* Create *ret.  Return: false when memory is out. */
static bool mark_load(const struct sx_server *server, const struct sx_event_block *block,
                      pmix_info_t *ret)
{
    struct mark mark = { .session = block->session,
                         .user = block->user,
                         .has_user = block->has_user };
    char *const bytes = malloc(sizeof(mark) + block->size);

    if (bytes == NULL) {
        return false;
    }
    memcpy(mark.origin, server->relay_origin, sizeof(server->relay_origin));
    memcpy(bytes, &mark, sizeof(mark));
    memcpy(bytes + sizeof(mark), block->bytes, block->size);
    *ret = (pmix_info_t){ .flags = 0 };
    PMIx_Load_key(ret->key, SX_EVENT_RELAY_KEY);
    ret->value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT,
                                 .data.bo = { bytes, sizeof(mark) + block->size } };
    return true;
}

pmix_status_t sx_event_relay_infos(const struct sx_server *server,
                                   const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo)
{
    const uint8_t range = ((const struct sx_event *)(const void *)block->bytes)->range;
    pmix_info_t *info = NULL, *all, mark;
    size_t ninfo = 0, kept = 0;
    const pmix_status_t rc = sx_event_block_infos(block, &info, &ninfo);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    PMIX_INFO_CREATE(all, ninfo + ADDED);
    if (all == NULL || !mark_load(server, block, &mark)) {
        PMIX_INFO_FREE(all, ninfo + ADDED);
        PMIX_INFO_FREE(info, ninfo);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (is_added(&info[i])) { /* an info of the sender with this key would be read as ours */
            PMIX_INFO_DESTRUCT(&info[i]);
        } else {
            all[kept++] = info[i]; /* the ownership of its value moves with it */
        }
    }
    free(info);
    /* Not as PMIX_DATA_RANGE, which ORTE cannot carry. */
    PMIX_INFO_LOAD(&all[kept], PMIX_RANGE, &range, PMIX_UINT8);
    PMIX_INFO_LOAD(&all[kept + 1], PMIX_EVENT_PROXY, &server->self, PMIX_PROC);
    all[kept + 2] = mark;
    *ret_info = all;
    *ret_ninfo = kept + ADDED;
    return PMIX_SUCCESS;
}

pmix_status_t sx_event_relay(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, pmix_proc_t *source, uint64_t id,
                             sx_answered_fn answered)
{
    const struct sx_event *event = (const struct sx_event *)(const void *)block->bytes;
    struct sx_upcall up = {
        .answered = answered,
        .id = id,
        .client = client,
        .proc = source,
        .status = event->code,
        .range = event->range,
        .info_bytes = block->size,
    };
    pmix_status_t rc = sx_upcall_judge(server, SX_UPCALL_NOTIFY_EVENT, block->size);

    if (rc == PMIX_SUCCESS) {
        rc = sx_event_relay_infos(server, block, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_upcall(server, SX_UPCALL_NOTIFY_EVENT, &up);
        free(up.info);
    }
    return rc;
}

bool sx_event_relay_read(const struct sx_server *server, const pmix_info_t info[], size_t ninfo,
                         struct sx_event_relay *ret)
{
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_byte_object_t *const bo = &info[i].value.data.bo;
        struct mark mark;

        if (strcmp(info[i].key, SX_EVENT_RELAY_KEY) == 0 &&
            info[i].value.type == PMIX_BYTE_OBJECT && bo->bytes != NULL &&
            bo->size > sizeof(mark)) {
            memcpy(&mark, bo->bytes, sizeof(mark));
            *ret = (struct sx_event_relay){
                .own = strncmp(mark.origin, server->relay_origin, sizeof(mark.origin)) == 0,
                .session = mark.session,
                .user = mark.user,
                .has_user = mark.has_user != 0,
                .bytes = bo->bytes + sizeof(mark),
                .size = bo->size - sizeof(mark),
            };
            return true;
        }
    }
    return false;
}

pmix_status_t sx_event_relay_open(const struct sx_event_relay *relay, const pmix_proc_t *source,
                                  struct sx_event_block **ret)
{
    const char *bytes = relay->bytes;
    struct sx_opened body;
    char *copy;
    pmix_status_t rc = sx_blob_align(&bytes, relay->size, &copy);

    if (rc == PMIX_SUCCESS) {
        rc = sx_body_open(&body, &sx_event_body, bytes, relay->size) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : sx_event_block_judge(source, &body, ret);
    }
    if (rc == PMIX_SUCCESS) {
        (*ret)->session = relay->session;
        (*ret)->user = relay->user;
        (*ret)->has_user = relay->has_user;
    } else if (rc != PMIX_ERR_OUT_OF_RESOURCE) {
        rc = sx_blob_refuse(relay->size, "an event", source->nspace);
    }
    free(copy);
    return rc;
}
