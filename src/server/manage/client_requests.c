/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_requests.c - one row per request: the entry of the host's module that answers it, and what
 * this server can do without that entry. */
#include "server/manage/client_requests.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/util.h"
#include "server/manage/credential.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

/* The function by which this server answers itself when its host has no such entry. */
typedef void (*own_fn)(struct sx_server *server, struct sx_client *client, uint32_t id,
                       const pmix_info_t info[], size_t ninfo);

static const struct {
    enum sx_upcall_kind upcall;
    const char *argument; /* NULL, or the key of the first info: bytes */
    own_fn own;           /* NULL: this server cannot answer */
} rows[SX_ASK_KINDS] = {
    [SX_ASK_ALLOCATION] = { SX_UPCALL_ALLOCATE, NULL, NULL },
    [SX_ASK_FABRIC] = { SX_UPCALL_FABRIC, NULL, NULL },
    [SX_ASK_CREDENTIAL] = { SX_UPCALL_GET_CREDENTIAL, NULL, sx_credential_give },
    [SX_ASK_VALIDATION] = { SX_UPCALL_VALIDATE_CREDENTIAL, PMIX_CREDENTIAL,
                            sx_credential_validate },
};

pmix_status_t sx_ask_asker_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo)
{
    const uint32_t uid = client->uid, gid = client->gid;
    pmix_info_t *const grown = realloc(*info, (*ninfo + 2) * sizeof(*grown));

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Info_load(&grown[*ninfo], PMIX_USERID, &uid, PMIX_UINT32);
    PMIx_Info_load(&grown[*ninfo + 1], PMIX_GRPID, &gid, PMIX_UINT32);
    *info = grown;
    *ninfo += 2;
    return PMIX_SUCCESS;
}

static pmix_status_t argument_judge(const char *key, const pmix_info_t info[], size_t ninfo)
{
    return key == NULL ||
                   (ninfo > 0 && PMIx_Check_key(info[0].key, key) &&
                    info[0].value.type == PMIX_BYTE_OBJECT && info[0].value.data.bo.bytes != NULL)
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

bool sx_ask_on_ask_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_ask *const ask = frame->opened.head;
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .status = (int)ask->detail, .info_bytes = frame->opened.size };

    (void)now_ns;
    if (ask->kind >= SX_COUNT(rows)) {
        sx_reply(server, client, id, PMIX_ERR_NOT_SUPPORTED, -1);
        return true;
    }
    const enum sx_upcall_kind upcall = rows[ask->kind].upcall;
    const own_fn own = sx_upcall_judge(server, upcall, 0) == PMIX_ERR_NOT_SUPPORTED
                           ? rows[ask->kind].own
                           : NULL;
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_ASK_INFOS, &up.info, &up.ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = argument_judge(rows[ask->kind].argument, up.info, up.ninfo);
    }
    if (rc == PMIX_SUCCESS && own == NULL) {
        rc = sx_ask_asker_add(client, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && own == NULL) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, id, upcall, &up);
        free(up.info);
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        own(server, client, id, up.info, up.ninfo);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    return true;
}
