/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.h - the node's hardware: discovered once in a process, handed on as hwloc's XML.
 *
 * Discovery costs 3 to 15 ms and hundreds of files of /sys; reading the XML costs 0.1 ms here, 1 ms
 * on 128 processors, and opens none.  So one process of a node discovers (a server, or a process
 * without one), and all others read the XML that it has published. */
#ifndef SX_BASE_SYSTEM_TOPOLOGY_H
#define SX_BASE_SYSTEM_TOPOLOGY_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

/* The keys under which a job's data has the text: programs ask for either. */
#define SX_TOPOLOGY_KEY_COUNT 2
extern const char *const sx_topology_keys[SX_TOPOLOGY_KEY_COUNT];
bool sx_topology_is_key(const char *key);

/* Look at this machine, devices included; hwloc_topology_destroy takes the result.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when hwloc sees nothing; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_topology_discover(hwloc_topology_t *ret_topology);

/* The same without devices, whose configuration takes long to read: CPUs, caches and memory. */
pmix_status_t sx_topology_discover_cpus(hwloc_topology_t *ret_topology);

/* Read @xml of @size_bytes, its NUL included, as a description of this machine.  Any thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE when hwloc does not take it;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_topology_read(const char *xml, size_t size_bytes, hwloc_topology_t *ret_topology);

/* The same for a description of any machine, with all that is in it. */
pmix_status_t sx_topology_read_any(const char *xml, size_t size_bytes,
                                   hwloc_topology_t *ret_topology);

/* Write @topology as XML of hwloc 2, malloc'ed.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_topology_write(hwloc_topology_t topology, char **ret_xml);

/* A malloc'ed copy of this node's XML: the one given, else the one found by looking, which is done
 * by the first call in the process and kept until it ends.  Any thread.
 * Return: PMIX_SUCCESS; as sx_topology_discover. */
pmix_status_t sx_topology_node(char **ret_xml);

/* Set the node's XML from a better source, malloc'ed and taken over; NULL removes an earlier one.
 * Any thread. */
void sx_topology_node_give(char *xml);

#endif
