/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* support.h - the functions, and the attributes that each of them acts upon: the answer to
 * PMIX_QUERY_ATTRIBUTE_SUPPORT, from the tables of directives.
 *
 *     PMIX_CLIENT_FUNCTIONS    the names of the functions, with commas
 *     PMIX_CLIENT_ATTRIBUTES   an info for each function that is wanted: its name, and an array of
 *                              PMIX_REGATTR
 *
 * and so for _TOOL_, _SERVER_ and _HOST_.  The host has registered its own support itself. */
#ifndef SX_BASE_CALL_SUPPORT_H
#define SX_BASE_CALL_SUPPORT_H

#include <pmix_common.h>

#define SX_SUPPORT_HOST_FUNCTIONS_MAX 256u

/* The support that a host has registered for its functions. */
struct sx_support_host {
    struct {
        char *function;
        char **attributes; /* NULL-ended */
    } all[SX_SUPPORT_HOST_FUNCTIONS_MAX];
    size_t count;
};

/* The answer for the qualifiers of @query: an array of one info for each of the keys above that it
 * has; without any, all attributes of all four.  @host NULL: only clients and tools are known here.
 * *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when the answer
 * is not known here; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_support_find(const pmix_query_t *query, const struct sx_support_host *host,
                              pmix_value_t *ret);

#endif
