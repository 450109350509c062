/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* merged_infos.h - what the members of an operation tell the host: each key once, as who came first
 * had it.
 *
 * A key is found by its hash: no member's list makes the server walk those of others.  What one
 * member can bring is bounded (SX_ARRIVE_HEAP_MAX). */
#ifndef SX_SERVER_COLLECTIVE_MERGED_INFOS_H
#define SX_SERVER_COLLECTIVE_MERGED_INFOS_H

#include <pmix_common.h>

#include "base/list.h"
#include "base/table.h"

struct sx_merged_infos {
    struct sx_list all; /* in the order in which they came */
    struct sx_table keys;
    size_t count;
};

void sx_merged_infos_init(struct sx_merged_infos *wishes);
void sx_merged_infos_clear(struct sx_merged_infos *wishes);

/* Take out of @info what is new.  The keys that the server says itself are left, see host.c, and
 * infos without one: somebody has taken them.
 * @seed is one that no client knows.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_merged_infos_add(struct sx_merged_infos *wishes, pmix_info_t *info, size_t ninfo,
                                  uint64_t seed);

/* Move them into an array, behind room for @before others.  Return: NULL when memory is out. */
pmix_info_t *sx_merged_infos_take(struct sx_merged_infos *wishes, size_t before, size_t *ret_count);

#endif
