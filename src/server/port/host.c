/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - the infos that go with each upcall. */
#include "server/port/host.h"

#include <stdlib.h>

#include "base/status.h"
#include "base/util.h"
#include "server/port/event_relay.h"

/* ---- notices ------------------------------------------------------------------------------- */

pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client)
{
    const enum sx_upcall_kind kind = server->module.client_connected2 != NULL
                                         ? SX_UPCALL_CLIENT_CONNECTED2
                                         : SX_UPCALL_CLIENT_CONNECTED;
    const pmix_status_t rc = client->is_tool /* the host knows nothing of it */
                                 ? PMIX_SUCCESS
                                 : sx_upcall(server, kind, &(struct sx_upcall){ .client = client });

    /* A host without use for the notice says NOT_SUPPORTED; that is no refusal. */
    return rc == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS : rc;
}

void sx_host_client_finalized(struct sx_server *server, struct sx_client *client)
{
    if (!client->is_tool) {
        (void)sx_upcall(server, SX_UPCALL_CLIENT_FINALIZED,
                        &(struct sx_upcall){ .client = client });
    }
}

static void code_dropped(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker;
    if (answer->status != PMIX_SUCCESS && answer->status != PMIX_OPERATION_SUCCEEDED) {
        sx_log(SX_LOG_INFO, "the host does not drop code %d: status %d", (int)answer->id,
               answer->status);
    }
}

void sx_host_deregister_event(struct sx_server *server, pmix_status_t code)
{
    const struct sx_upcall up = {
        .told = code_dropped, .id = (uint64_t)code, .codes = &code, .ncodes = 1
    };
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_DEREGISTER_EVENTS, &up);

    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_SUPPORTED) {
        sx_log(SX_LOG_INFO, "the host does not drop code %d: status %d", code, rc);
    }
}

/* ---- questions ----------------------------------------------------------------------------- */

pmix_status_t sx_host_fence(struct sx_server *server, const struct sx_host_fence *fence,
                            struct sx_asker *asker, sx_told_fn told)
{
    const bool collect = true, sorted = true; /* members are kept in order */
    struct sx_upcall up = {
        .told = told,
        .asker = asker,
        .procs = (pmix_proc_t *)(uintptr_t)fence->procs,
        .nprocs = fence->nprocs,
        .bytes = fence->bytes,
        .size = fence->size,
    };

    up.info = sx_wishes_take(fence->wishes, 3, &up.ninfo);
    if (up.info == NULL) {
        free(fence->bytes);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    /* Always there, with at least a header of data: some hosts make no barrier without.  It stands
     * first because others look at nothing else. */
    PMIX_INFO_LOAD(&up.info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    PMIX_INFO_LOAD(&up.info[1], PMIX_LOCAL_COLLECTIVE_STATUS, &fence->local, PMIX_STATUS);
    PMIX_INFO_LOAD(&up.info[2], PMIX_SORTED_PROC_ARRAY, &sorted, PMIX_BOOL);
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_FENCE_NB, &up);

    free(up.info);
    return rc;
}

pmix_status_t sx_host_direct_modex(struct sx_server *server, const pmix_proc_t *proc,
                                   const char *key, bool anew, struct sx_asker *asker,
                                   sx_told_fn told)
{
    pmix_info_t info[2];
    const struct sx_upcall up = {
        .told = told, .asker = asker, .proc = proc, .info = info, .ninfo = anew ? 2 : 1
    };

    PMIX_INFO_LOAD(&info[0], PMIX_REQUIRED_KEY, key, PMIX_STRING);
    if (anew) { /* PRRTE answers out of what it has itself, else */
        PMIX_INFO_LOAD(&info[1], PMIX_GET_REFRESH_CACHE, &anew, PMIX_BOOL);
    }
    return sx_upcall(server, SX_UPCALL_DIRECT_MODEX, &up);
}

pmix_status_t sx_host_register_events(struct sx_server *server, const pmix_status_t codes[],
                                      size_t count, uid_t uid, gid_t gid, uint64_t id,
                                      sx_told_fn told)
{
    const uint32_t user = uid;
    const uint32_t group = gid;
    pmix_info_t info[2];
    const struct sx_upcall up = { .told = told,
                                  .id = id,
                                  .codes = (pmix_status_t *)(uintptr_t)codes,
                                  .ncodes = count,
                                  .info = info,
                                  .ninfo = 2 };

    PMIX_INFO_LOAD(&info[0], PMIX_USERID, &user, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_GRPID, &group, PMIX_UINT32);
    return sx_upcall(server, SX_UPCALL_REGISTER_EVENTS, &up);
}

pmix_status_t sx_host_notify(struct sx_server *server, struct sx_client *client,
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
