/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement.h - where memory lies on a machine with several NUMA nodes. */
#ifndef SX_SHMEM_PLACEMENT_H
#define SX_SHMEM_PLACEMENT_H

#include <stddef.h>

#include <pmix_common.h>

/* Before its pages exist: spread [at, at + size) over all nodes with memory.  A machine with one
 * node, or a kernel without the calls: PMIX_SUCCESS and nothing done. */
pmix_status_t sx_placement_interleave(void *at, size_t size);

/* Nodes with memory that this process may use, at least 1. */
unsigned sx_placement_node_count(void);

#endif
