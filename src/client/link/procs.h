/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.h - process lists as they travel: {u32 rank, u32 nspace_len, nspace padded to 8}. */
#ifndef SX_CLIENT_LINK_PROCS_H
#define SX_CLIENT_LINK_PROCS_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "control/message.h"

/* Return: the namespace that @proc means: an empty one is ours. */
const char *sx_wire_nspace(const pmix_proc_t *proc);

/* Check @procs and compute the size of their encoding.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM for NULL with a count, for more than SX_PROCS_MAX (logged), for a namespace
 * without an end, or for our namespace before PMIx_Init. */
pmix_status_t sx_wire_procs_size(const pmix_proc_t *procs, size_t nprocs, size_t *ret_size);

/* Write exactly as many bytes as sx_wire_procs_size said.  Return: the byte after them. */
uint8_t *sx_wire_procs_write(uint8_t *at, const pmix_proc_t *procs, size_t nprocs);

/* Put @procs into the order in which a server takes the members of a collective (sx_proc_order,
 * each once).  Return: @procs itself if it has that order already; or a copy in which every
 * namespace has its name, its length in *nprocs, which the caller frees as *ret_copy; NULL when
 * memory is out. */
const pmix_proc_t *sx_wire_procs_sorted(const pmix_proc_t *procs, size_t *nprocs,
                                        pmix_proc_t **ret_copy);

/* Check whether a server takes the encoded infos at @at (sx_flat_infos_encode).  It takes what
 * unpacks to at most @heap_max bytes.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE (logged)
 * when they are too many. */
pmix_status_t sx_wire_infos_judge(const void *at, size_t size, uint64_t heap_max);

#endif
