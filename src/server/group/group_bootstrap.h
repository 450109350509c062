/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_bootstrap.h - a construct whose callers do not have the list of its members.
 *
 *     GATHERING --so many leaders have come, and all whom they have named--> as any construct
 *
 * A leader gives the number of leaders (PMIX_GROUP_BOOTSTRAP) and the processes that it adds
 * (PMIX_GROUP_ADD_MEMBERS).  A process that is added gives the name of the group and no processes.
 * Callers may call in any order: each is expected, and so are the processes that it names.  The
 * ranks follow namespaces and ranks.  All are on this node. */
#ifndef SX_SERVER_GROUP_GROUP_BOOTSTRAP_H
#define SX_SERVER_GROUP_GROUP_BOOTSTRAP_H

#include "server/collective/collective_kind.h"

/* Replace the processes of @arrival, if it is a call of such a construct, by @client and the
 * processes that it adds.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, for a caller that
 * names others in another way; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_read(struct sx_client *client, struct sx_arrival *arrival);

/* Return: whether both @open and @arrival are of such a construct. */
bool sx_group_bootstrap_both(const struct sx_collective *open, const struct sx_arrival *arrival);

/* Expect the processes of @arrival as well.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, for
 * one leader too many; PMIX_ERR_NOT_SUPPORTED, logged, for processes that are not here;
 * PMIX_ERR_OUT_OF_RESOURCE.  For a process that has ended, the status with which this ends the
 * construct for all. */
pmix_status_t sx_group_bootstrap_expect(struct sx_collective *open,
                                        const struct sx_arrival *arrival);

/* Make the plan of @collective, if there is none, and add what @arrival gives about leaders.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, when only some of the calls are of such a
 * construct; PMIX_ERR_NOT_SUPPORTED, logged, when it names processes of other nodes;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_take(struct sx_collective *collective,
                                      const struct sx_arrival *arrival);
bool sx_group_bootstrap_awaits(const struct sx_collective *collective);
/* All have called: the processes that were named are the members.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM, logged, when a process has called that no leader has named. */
pmix_status_t sx_group_bootstrap_settle(struct sx_collective *collective);

#endif
