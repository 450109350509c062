/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cluster.h - "cluster:namespace" with the name of our own cluster is the namespace alone. */
#ifndef SX_CLIENT_DATA_CLUSTER_H
#define SX_CLIENT_DATA_CLUSTER_H

#include <stddef.h>

#include <pmix_common.h>

/* Take the name of our cluster (PMIX_CLUSTER_ID of our job) off the namespaces of @procs, which are
 * valid.  Return: @procs if none has it; or a copy, which the caller frees as *ret_copy; NULL when
 * memory is out. */
const pmix_proc_t *sx_cluster_strip(const pmix_proc_t *procs, size_t nprocs,
                                    pmix_proc_t **ret_copy);

#endif
