/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_request.h - the same calls in a server that is not a client: its host's own entries
 * answer. */
#ifndef SX_CLIENT_MANAGE_HOST_REQUEST_H
#define SX_CLIENT_MANAGE_HOST_REQUEST_H

#include <stdbool.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"

/* Whether this process is such a server. */
bool sx_ask_is_own(void);

/* Check the infos by the directives of @function, and call the host.  Return: PMIX_SUCCESS when
 * @cbfunc will be called (NULL: the caller wants no result); PMIX_OPERATION_SUCCEEDED when all is
 * done; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED when the host has no such entry; any status of
 * the entry. */
pmix_status_t sx_ask_own_nb(enum sx_function function, const struct sx_role_ask *ask,
                            pmix_info_cbfunc_t cbfunc, void *cbdata);
/* The same, and wait.  The results are the caller's, which may not want them (NULL). */
pmix_status_t sx_ask_own(enum sx_function function, const struct sx_role_ask *ask,
                         pmix_info_t **ret_info, size_t *ret_ninfo);

#endif
