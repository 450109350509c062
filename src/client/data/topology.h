/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.h - the node's hardware and this process's place on it, for the client's own files. */
#ifndef SX_CLIENT_DATA_TOPOLOGY_H
#define SX_CLIENT_DATA_TOPOLOGY_H

#include <hwloc.h>

#include <pmix_common.h>

/* A topology of the caller's own, for hwloc_topology_destroy: read from what the server has
 * published, without probing the machine; a process without a server probes it once.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_INIT; PMIX_ERR_NOT_FOUND when nothing was published;
 * PMIX_ERR_UNPACK_FAILURE; as sx_topology_node. */
pmix_status_t sx_topology_open(hwloc_topology_t *ret_topology);

/* The processors that the kernel lets the process (any of its threads) or the calling thread run
 * on, as a bitmap for hwloc_bitmap_free.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for another @envelope; as sx_status_from_errno. */
pmix_status_t sx_topology_binding(pmix_bind_envelope_t envelope, hwloc_bitmap_t *ret_bitmap);

#endif
