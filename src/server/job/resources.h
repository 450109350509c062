/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resources.h - data that belong to no job, such as a session's or a node's: in every job's
 * store. */
#ifndef SX_SERVER_JOB_RESOURCES_H
#define SX_SERVER_JOB_RESOURCES_H

#include "server/model/state.h"

#define SX_RESOURCE_COUNT_MAX 65536u

/* The namespace has its data now: the resources fill in values that it does not have. */
pmix_status_t sx_resource_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

/* Add the data that a host delivers of nodes to the jobs that have this node.  They replace data
 * delivered before of a node of that name.  They are arrays PMIX_NODE_INFO_ARRAY with a
 * PMIX_HOSTNAME; other infos are ignored.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE above
 * SX_INVENTORY_BYTES_MAX, logged; as sx_jobinfo_apply. */
#define SX_INVENTORY_BYTES_MAX (UINT64_C(16) << 20)
pmix_status_t sx_resources_deliver(struct sx_server *server, const pmix_info_t info[],
                                   size_t ninfo);

/* The server ends: free the resources. */
void sx_resource_clear(struct sx_server *server);

#endif
