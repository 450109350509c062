/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_info.h - what a member of a group gives to the others: PMIX_GROUP_INFO,
 * PMIX_GROUP_LOCAL_CID, PMIX_GROUP_ENDPT_DATA.
 *
 * Each info is a value of its own.  Everybody can get it once the group is there, and for a while
 * after it is gone (group_values.h): qualified by the context id, if there is one. */
#ifndef SX_SERVER_GROUP_GROUP_INFO_H
#define SX_SERVER_GROUP_GROUP_INFO_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"

struct sx_membership_head;
struct sx_server;

/* Take what @options say out of the infos that they were read from, behind the *count infos at
 * *all, which PMIX_INFO_FREE frees.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_gift_take(const struct sx_collective_options *options, pmix_info_t **all,
                                 size_t *count);

/* Let everybody get what @proc gives in @group.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as
 * sx_modex_give. */
pmix_status_t sx_group_gift_give(struct sx_server *server, const pmix_proc_t *proc,
                                 const pmix_info_t info[], size_t ninfo,
                                 const struct sx_membership_head *group);

#endif
