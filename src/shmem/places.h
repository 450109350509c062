/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* places.h - the lists of the node's store that contain a process: found on request. */
#ifndef SX_SHMEM_PLACES_H
#define SX_SHMEM_PLACES_H

#include "shmem/membership.h"

/* The value of @key for the process @rank of @nspace, the oldest list first:
 *
 *     SHMIX_CONNECTED    the namespaces that connect has made, and its rank in each
 *     PMIX_GROUP_NAMES   the names of its groups
 *     PMIX_PSET_NAMES    the names of its process sets
 *
 * Reads each list of that kind, without a lock.  *ret (uninitialised) owns its content.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for another key, or when the process is in none;
 * PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE when the store contradicts itself. */
pmix_status_t sx_places_find(const struct sx_store *store, const char *key, const char *nspace,
                             uint32_t rank, pmix_value_t *ret);

/* Whether the process @rank of @nspace is in a connected namespace or a group together with a
 * process of @other.  Reads each of them, without a lock. */
bool sx_places_join(const struct sx_store *store, const char *nspace, uint32_t rank,
                    const char *other);

#endif
