/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ask.c - one row per request: the entry of the host's module that answers it. */
#include "server/engine/ask.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

static const enum sx_upcall_kind upcalls[SX_ASK_KINDS] = {
    [SX_ASK_ALLOCATION] = SX_UPCALL_ALLOCATE,
};

/* The infos of the call, and behind them who asks, as the kernel has told.  What they hold moves on
 * with the upcall.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t infos_take(const struct sx_client *client, const struct sx_opened *body,
                                pmix_info_t **ret_info, size_t *ret_ninfo)
{
    const uint32_t uid = client->uid, gid = client->gid;
    pmix_info_t *given;
    size_t count;
    const pmix_status_t rc = sx_body_infos(body, SX_ASK_INFOS, &given, &count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_info_t *const info = calloc(count + 2, sizeof(*info));

    if (info == NULL) {
        PMIX_INFO_FREE(given, count);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (count > 0) {
        memcpy(info, given, count * sizeof(*info));
    }
    free(given);
    PMIx_Info_load(&info[count++], PMIX_USERID, &uid, PMIX_UINT32);
    PMIx_Info_load(&info[count++], PMIX_GRPID, &gid, PMIX_UINT32);
    *ret_info = info;
    *ret_ninfo = count;
    return PMIX_SUCCESS;
}

bool sx_ask_on_ask_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_ask *const ask = frame->opened.head;
    struct sx_upcall up = { .status = (int)ask->detail, .info_bytes = frame->opened.size };

    (void)now_ns;
    const pmix_status_t rc = ask->kind < SX_COUNT(upcalls)
                                 ? infos_take(client, &frame->opened, &up.info, &up.ninfo)
                                 : PMIX_ERR_NOT_SUPPORTED;

    if (rc == PMIX_SUCCESS) {
        sx_pending_ask_host(server, client, frame->header.id, upcalls[ask->kind], &up);
        free(up.info);
    } else {
        sx_reply(server, client, frame->header.id, rc, -1);
    }
    return true;
}
