/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_info.h - data that a member of a group gives to the others: PMIX_GROUP_INFO,
 * PMIX_GROUP_LOCAL_CID, PMIX_GROUP_ENDPT_DATA.
 *
 * Each info is a value of its own.  All processes can get it once the group exists, and for a while
 * after the group has ended (group_values.h).  It is qualified by the context id, if there is
 * one. */
#ifndef SX_SERVER_GROUP_GROUP_INFO_H
#define SX_SERVER_GROUP_GROUP_INFO_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"

struct sx_membership_head;
struct sx_server;

/* Move the infos that a member gives, which @options point to, behind the *count infos at *all.
 * PMIX_INFO_FREE frees *all.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_gift_take(const struct sx_collective_options *options, pmix_info_t **all,
                                 size_t *count);

/* Make the infos that @proc gives in @group available to all.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; as sx_modex_give. */
pmix_status_t sx_group_gift_give(struct sx_server *server, const pmix_proc_t *proc,
                                 const pmix_info_t info[], size_t ninfo,
                                 const struct sx_membership_head *group);

#endif
