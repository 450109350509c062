/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* merged_infos.h - infos that the members of an operation give to the host: each key once.
 *
 * The value of a key is that of the member that sent it first.  A key is found by its hash, so no
 * member's list makes the server walk those of others.  The size of one member's infos is bounded
 * (SX_ARRIVE_HEAP_MAX). */
#ifndef SX_SERVER_COLLECTIVE_MERGED_INFOS_H
#define SX_SERVER_COLLECTIVE_MERGED_INFOS_H

#include <pmix_common.h>

#include "base/list.h"
#include "base/table.h"

struct sx_merged_infos {
    struct sx_list all; /* in the order in which they were sent */
    struct sx_table keys;
    size_t count;
};

void sx_merged_infos_init(struct sx_merged_infos *wishes);
void sx_merged_infos_clear(struct sx_merged_infos *wishes);

/* Take the infos with new keys out of @info.  Keys that the server sets itself are left (see
 * collective_upcall.c), and so are infos without a key, which were taken before.  @seed is secret
 * from clients.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_merged_infos_add(struct sx_merged_infos *wishes, pmix_info_t *info, size_t ninfo,
                                  uint64_t seed);

/* Move the infos into an array, behind room for @before others.  Return: NULL when memory is
 * out. */
pmix_info_t *sx_merged_infos_take(struct sx_merged_infos *wishes, size_t before, size_t *ret_count);

#endif
