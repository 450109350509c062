/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handed_out.h - values that the caller received as pointers; the library owns them until
 * PMIx_Finalize.
 *
 * A Get with PMIX_GET_POINTER_VALUES gives memory that its caller must not free.  Strings and byte
 * objects lie in the store itself.  Values that have to be built in memory are kept here.  The list
 * grows with every such Get.  Where that matters, combine the directive with
 * PMIX_GET_STATIC_VALUES. */
#ifndef SX_CLIENT_DATA_HANDED_OUT_H
#define SX_CLIENT_DATA_HANDED_OUT_H

#include <pmix_common.h>

/* Return: a zeroed value of the library, NULL when memory is out.  Any thread. */
pmix_value_t *sx_keep_value(void);

/* Take over the content of @value.  The caller continues to use it.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, and @value is destructed. */
pmix_status_t sx_keep_content(pmix_value_t *value);

/* Free everything. */
void sx_keep_deinit(void);

#endif
