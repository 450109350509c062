/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_servers.h - the servers of this node that this process might connect to as a tool. */
#ifndef SX_CLIENT_QUERY_QUERY_SERVERS_H
#define SX_CLIENT_QUERY_QUERY_SERVERS_H

#include <pmix_common.h>

/* The answer to PMIX_QUERY_AVAIL_SERVERS: a PMIX_SERVER_INFO_ARRAY for each.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is none; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_query_servers(pmix_value_t *ret);

#endif
