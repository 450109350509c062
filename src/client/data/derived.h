/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived.h - values that are not stored because they follow from the process that is asked
 * about. */
#ifndef SX_CLIENT_DATA_DERIVED_H
#define SX_CLIENT_DATA_DERIVED_H

#include "client/data/lookup.h"

/* Derive the answer to a key that was not found.  PMIX_NSPACE, PMIX_RANK and PMIX_PROCID are the
 * name of the process or namespace.  PMIX_LOCALITY is the place of a process of our job relative to
 * this one.  PMIX_DEVICE_DISTANCES are its distances from the node's devices, and SHMIX_CONNECTED
 * its connections.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_implied_find(const struct sx_lookup *lookup, pmix_value_t *ret);
/* Whether @key is such a key: then no store and no server has it. */
bool sx_implied_is_key(const char *key);

#endif
