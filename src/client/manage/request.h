/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.h - a call that only the host can answer. */
#ifndef SX_CLIENT_MANAGE_REQUEST_H
#define SX_CLIENT_MANAGE_REQUEST_H

#include "base/call/directive_tables.h"
#include "client/link/op.h"
#include "control/message.h"

/* Functions for the row of such a call. */
#define SX_ASK_KIND SX_RESULTS_KIND(SX_MSG_ASK_HOST)

/* Check @info by the directives of @function, and send the request: @results is on the caller's
 * stack.  Return: as sx_op_ask; PMIX_ERR_INIT; as sx_options_read; PMIX_ERR_NOT_SUPPORTED when the
 * host has no such entry. */
pmix_status_t sx_ask_host(struct sx_results_op *results, enum sx_function function,
                          const struct sx_ask *ask, const pmix_info_t info[], size_t ninfo);

#endif
