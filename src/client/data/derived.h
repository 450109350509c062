/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived.h - values that nobody stores because they follow from who is asked about. */
#ifndef SX_CLIENT_DATA_DERIVED_H
#define SX_CLIENT_DATA_DERIVED_H

#include "client/data/lookup.h"

/* What was not found, if it is the name of a process or namespace (PMIX_NSPACE, PMIX_RANK,
 * PMIX_PROCID), where a process of our job is seen from here (PMIX_LOCALITY), how far it is from
 * the node's devices (PMIX_DEVICE_DISTANCES), or what it is connected to (SHMIX_CONNECTED).  *ret
 * (uninitialised) owns its content.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_implied_find(const struct sx_lookup *lookup, pmix_value_t *ret);
/* Whether it says so of a key: then nobody else knows. */
bool sx_implied_is_key(const char *key);

#endif
