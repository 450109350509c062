/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handlers_add.h - a handler as PMIx_Register_event_handler adds it: what its infos ask for. */
#ifndef SX_TEST_HANDLERS_ADD_H
#define SX_TEST_HANDLERS_ADD_H

#include "base/call/handlers.h"

static inline pmix_status_t handlers_add(struct sx_handlers *table, const pmix_status_t codes[],
                                         size_t ncodes, const pmix_info_t info[], size_t ninfo,
                                         pmix_notification_fn_t fn, size_t *ret_id)
{
    struct sx_handler_options options = { 0 };
    const pmix_status_t rc = sx_options_read(SX_OF_REGISTER_HANDLER, info, ninfo, &options);

    return rc != PMIX_SUCCESS ? rc
                              : sx_handlers_add(table, "job", codes, ncodes, &options, fn, ret_id);
}

#endif
