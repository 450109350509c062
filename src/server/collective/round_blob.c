/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* round_blob.c - entries into bytes; the signature of the body opens them. */
#include "server/collective/round_blob.h"

#include <string.h>

#include "base/message/payloads.h"
#include "base/util.h"

const struct sx_signature sx_round_entry_body = {
    .head_size = sizeof(struct sx_round_entry),
    .parts = { [SX_ROUND_ID] = SX_TEXT_PART(struct sx_round_entry, id_len, SX_ARRIVE_INFOS_MAX),
               [SX_ROUND_CONTRIBUTION] = SX_ARRAY_PART(struct sx_round_entry, size, char, 0) },
};

pmix_status_t sx_round_blob_add(struct sx_blob *blob, const struct sx_round_entry *head,
                                const char *id, const struct sx_blob *contribution)
{
    struct sx_draft draft = {
        .signature = &sx_round_entry_body,
        .head = head,
        .nspace = "",
        .parts = { [SX_ROUND_ID] = { id, id == NULL ? 0 : strlen(id) + 1 },
                   [SX_ROUND_CONTRIBUTION] = { contribution->bytes, contribution->size } },
    };
    size_t size;
    pmix_status_t rc = sx_body_measure(&draft, &size);
    char *const at = rc == PMIX_SUCCESS ? sx_blob_extend(blob, sx_align_up(size, 8)) : NULL;

    if (at == NULL) {
        return rc == PMIX_SUCCESS ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    }
    rc = sx_body_write(&draft, at);
    sx_blob_seal(blob);
    return rc;
}
