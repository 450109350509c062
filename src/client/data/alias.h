/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias.h - the name of a connected namespace where a call names a namespace.
 *
 *     {name, rank}                 the member of that rank, as if it had been named itself
 *     {name, PMIX_RANK_WILDCARD}   the connected namespace: what follows from its list of members
 *
 * A namespace that the process has mapped is not a connected one, so callers do not ask for it
 * here. */
#ifndef SX_CLIENT_DATA_ALIAS_H
#define SX_CLIENT_DATA_ALIAS_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_wanted; /* shmem/wanted.h */

/* The number of ranks of the list @name; 0 when no list has that name. */
uint32_t sx_alias_size(const char *name);

/* The process that {@name, @rank} is.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is no
 * such list or member (any more); as sx_members_open. */
pmix_status_t sx_alias_member(const char *name, uint32_t rank, pmix_proc_t *ret);

/* Whether @proc names this process, perhaps among others, by such a list. */
bool sx_alias_holds_self(const pmix_proc_t *proc);

/* A key that describes the connected namespace @name, or names one of its members: the keys of
 * docs/support.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for any other key; PMIX_ERR_OUT_OF_RESOURCE; as sx_members_open. */
pmix_status_t sx_alias_find(const char *name, const struct sx_wanted *wanted, pmix_value_t *ret);

#endif
