/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_requests.h - requests that a host makes through a client's functions: its own entries
 * answer.
 *
 *     sx_own_ask --refused, or all is done--> its status
 *         \--the host's entry is called--> ASKED --it calls back--> answered, once
 *                                            \--the server ends--> PMIX_ERR_NOT_AVAILABLE */
#ifndef SX_SERVER_MANAGE_HOST_REQUESTS_H
#define SX_SERVER_MANAGE_HOST_REQUESTS_H

#include "base/call/role.h"
#include "server/model/state.h"

/* The `ask` of struct sx_role_server. */
pmix_status_t sx_own_ask(const struct sx_role_ask *ask, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* The server ends: the host is not asked any more. */
void sx_own_asks_stop(struct sx_server *server);

#endif
