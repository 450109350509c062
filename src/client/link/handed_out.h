/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handed_out.h - values that were handed out as pointers and stay ours until PMIx_Finalize.
 *
 * A Get with PMIX_GET_POINTER_VALUES gives memory that its caller must not free.  Strings and byte
 * objects lie in the store itself; what has to be built in memory is kept here.  It grows with
 * every such Get: combine the directive with PMIX_GET_STATIC_VALUES where that matters. */
#ifndef SX_CLIENT_LINK_HANDED_OUT_H
#define SX_CLIENT_LINK_HANDED_OUT_H

#include <pmix_common.h>

/* Return: a zeroed value of ours, NULL when memory is out.  Any thread. */
pmix_value_t *sx_keep_value(void);

/* Take over what @value owns; the caller goes on using it.  Return: PMIX_SUCCESS, or
 * PMIX_ERR_OUT_OF_RESOURCE and @value destructed. */
pmix_status_t sx_keep_content(pmix_value_t *value);

/* Free everything. */
void sx_keep_deinit(void);

#endif
