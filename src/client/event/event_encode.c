/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_encode.c - the encoding of an event: struct sx_event and its variable part. */
#include <stdlib.h>

#include "base/message/payloads.h"
#include "client/event/event.h"
#include "client/link/link.h"

pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo, void **ret_bytes, size_t *ret_size)
{
    struct sx_event event;
    struct sx_draft draft;
    void *bytes = NULL;
    size_t size;

    if (options->range == PMIX_RANGE_CUSTOM && options->targets.count == 0) {
        return PMIX_ERR_BAD_PARAM; /* a custom range without targets */
    }
    sx_event_draft(&draft, &event, code, source, options, info, ninfo);
    draft.nspace = sx_process.self.nspace;
    pmix_status_t rc = sx_body_measure(&draft, &size);
    if (rc == PMIX_SUCCESS) {
        bytes = malloc(size);
        rc = bytes == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_body_write(&draft, bytes);
    }
    if (rc != PMIX_SUCCESS) {
        free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return PMIX_SUCCESS;
}
