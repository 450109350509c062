/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* support.h - which functions there are, and which attributes each of them acts upon: the answer to
 * PMIX_QUERY_ATTRIBUTE_SUPPORT, from the tables of directives.
 *
 *     PMIX_CLIENT_FUNCTIONS    the names of the functions, with commas
 *     PMIX_CLIENT_ATTRIBUTES   an info for each function that is wanted: its name, and an array of
 *                              PMIX_REGATTR
 *
 * and so for _TOOL_, _SERVER_ and _HOST_.  What the host supports it has registered itself. */
#ifndef SX_BASE_CALL_SUPPORT_H
#define SX_BASE_CALL_SUPPORT_H

#include <pmix_common.h>

#define SX_SUPPORT_HOST_FUNCTIONS_MAX 256u

/* What a host has said of its functions. */
struct sx_support_host {
    struct {
        char *function;
        char **attributes; /* NULL-ended */
    } all[SX_SUPPORT_HOST_FUNCTIONS_MAX];
    size_t count;
};

/* What the qualifiers of @query ask for, an array of one info for each of the keys above that is
 * there; all attributes of all four when none is.  @host NULL: only clients and tools are known
 * here.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when
 * something is asked for that is not known here; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_support_find(const pmix_query_t *query, const struct sx_support_host *host,
                              pmix_value_t *ret);

#endif
