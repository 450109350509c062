/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lists.h - all groups, or all process sets, of the node's store: their number, their names, and
 * the members of one. */
#ifndef SX_SHMEM_LISTS_H
#define SX_SHMEM_LISTS_H

#include "shmem/membership.h"

/* The answer to the query of @key:
 *
 *     PMIX_QUERY_NUM_PSETS, _NUM_GROUPS               PMIX_SIZE
 *     PMIX_QUERY_PSET_NAMES                           PMIX_STRING, with commas
 *     PMIX_QUERY_GROUP_NAMES                          an array of PMIX_STRING
 *     PMIX_QUERY_PSET_MEMBERSHIP, _GROUP_MEMBERSHIP   an array of PMIX_PROC, in their ranks' order:
 *                                                     the members of the list @name
 *
 * Names come in an order that does not change while their lists are there.  @store NULL: there are
 * no lists.  Reads without a lock.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for another key, and when no list has the name; PMIX_ERR_OUT_OF_RESOURCE;
 * PMIX_ERR_UNPACK_FAILURE when the store contradicts itself. */
pmix_status_t sx_lists_find(const struct sx_store *store, const char *key, const char *name,
                            pmix_value_t *ret);

#endif
