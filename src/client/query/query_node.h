/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_node.h - queries of the resources of this node and their usage.
 *
 * The process reads them itself, with its own rights.  Each returns PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the question is about something else, or there is no answer;
 * PMIX_ERR_OUT_OF_RESOURCE. */
#ifndef SX_CLIENT_QUERY_QUERY_NODE_H
#define SX_CLIENT_QUERY_QUERY_NODE_H

#include "base/call/query.h"

/* PMIX_QUERY_DEVICES: an array of pmix_device_t. */
pmix_status_t sx_query_devices(const struct sx_question *question, pmix_value_t *ret);

/* PMIX_QUERY_NODE_RESOURCE_USAGE, PMIX_QUERY_PROC_RESOURCE_USAGE: an array of infos, one for the
 * node, or for each process of it that is meant.  @node: the name of the node that is meant, NULL
 * for this one. */
pmix_status_t sx_query_usage(const struct sx_question *question, const char *node,
                             pmix_value_t *ret);

/* PMIX_QUERY_STORAGE_LIST, and the kernel's data of one of them. */
pmix_status_t sx_query_storage(const struct sx_question *question, pmix_value_t *ret);

#endif
