/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - queries: what this folder answers without a request.
 *
 *     PMIx_Query_info --> here: the library, shared memory, this node --the rest--> the server
 *                     <-- the memory of processes, which the server names
 *
 * All of it serves this folder alone. */
#ifndef SX_CLIENT_QUERY_QUERY_H
#define SX_CLIENT_QUERY_QUERY_H

#include <pmix_common.h>

#include "base/call/query.h"

/* ---- this node ------------------------------------------------------------------------------- */

/* Queries of the resources of this node and their usage.
 *
 * The process reads them itself, with its own rights.  Each returns PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the question is about something else, or there is no answer;
 * PMIX_ERR_OUT_OF_RESOURCE. */

/* PMIX_QUERY_DEVICES: an array of pmix_device_t. */
pmix_status_t sx_query_devices(const struct sx_question *question, pmix_value_t *ret);

/* PMIX_QUERY_NODE_RESOURCE_USAGE, PMIX_QUERY_PROC_RESOURCE_USAGE: an array of infos, one for the
 * node, or for each process of it that is meant.  @node: the name of the node that is meant, NULL
 * for this one. */
pmix_status_t sx_query_usage(const struct sx_question *question, const char *node,
                             pmix_value_t *ret);

/* PMIX_QUERY_STORAGE_LIST, and the kernel's data of one of them. */
pmix_status_t sx_query_storage(const struct sx_question *question, pmix_value_t *ret);

/* ---- servers --------------------------------------------------------------------------------- */

/* The servers of this node that this process might connect to as a tool.  The answer to
 * PMIX_QUERY_AVAIL_SERVERS: a PMIX_SERVER_INFO_ARRAY for each.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is none; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_query_servers(pmix_value_t *ret);

/* ---- the memory of processes ----------------------------------------------------------------- */

/* The memory that clients use, which the server does not measure.
 *
 *     the server: which processes are meant --> the querying process: /proc of these
 *
 * There may be many processes, and each is a file to be opened.  So the querying process reads
 * them, with its own rights. */

/* Put figures in the place of the processes that the server has named as the answers to
 * PMIX_CLIENT_AVG_MEMORY and PMIX_QUERY_MEMORY_USAGE.  A key becomes unanswered again when none of
 * its processes can be read.  Keys that ask the same are measured once. */
void sx_query_memory_measure(struct sx_queries *queries);

#endif
