/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_bootstrap.h - a construct of processes that do not know of each other.
 *
 *     GATHERING --so many leaders have come, and all whom they have named--> as any construct
 *
 * A leader says how many leaders there are (PMIX_GROUP_BOOTSTRAP) and whom it adds
 * (PMIX_GROUP_ADD_MEMBERS); whoever is added gives the name of the group and no processes.  In
 * whichever order they come: each that comes is expected with those whom it names.  The ranks
 * follow namespaces and ranks.  All are on this node. */
#ifndef SX_SERVER_GROUP_GROUP_BOOTSTRAP_H
#define SX_SERVER_GROUP_GROUP_BOOTSTRAP_H

#include "server/collective/collective_kind.h"

/* Put @client and those whom it adds in place of the processes of @arrival, if that is of such a
 * construct.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, told, for one who names others in another
 * way; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_read(struct sx_client *client, struct sx_arrival *arrival);

/* Whether @open and @arrival are of that sort. */
bool sx_group_bootstrap_both(const struct sx_collective *open, const struct sx_arrival *arrival);

/* Expect those of @arrival as well.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, told, for one leader
 * too many; PMIX_ERR_NOT_SUPPORTED, told, for processes that are not here; what one that has ended
 * ends it with, for all; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_expect(struct sx_collective *open,
                                        const struct sx_arrival *arrival);

/* Make the plan of @collective, if there is none, and take in what @arrival says of leaders.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, told, when it is not of that sort and the others are;
 * PMIX_ERR_NOT_SUPPORTED, told, when it names processes of other nodes;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_take(struct sx_collective *collective,
                                      const struct sx_arrival *arrival);
bool sx_group_bootstrap_awaits(const struct sx_collective *collective);
/* All have come: those who were named are the members.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM,
 * told, when somebody has come whom nobody has named. */
pmix_status_t sx_group_bootstrap_settle(struct sx_collective *collective);

#endif
