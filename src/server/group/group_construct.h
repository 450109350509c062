/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct.h - the rows of a group's construct and destruct.
 *
 *     all have called construct --> a group (group.h) --all have called destruct--> gone
 *
 * A construct is known by the name of the group: its callers write the members in any order, and
 * with names or wildcards that mean them.  A name is taken from the first call on, and free again
 * when the construct has failed.  A destruct is known by {name, WILDCARD}. */
#ifndef SX_SERVER_GROUP_GROUP_CONSTRUCT_H
#define SX_SERVER_GROUP_GROUP_CONSTRUCT_H

#include "server/collective/collective_kind.h"

/* Find out whom @client means, one by one.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM without a
 * name; PMIX_ERR_EXISTS, told, for a name that is taken, also by a construct of others, or one that
 * @client has called already; PMIX_ERR_NOT_FOUND, as sx_alias_each; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_construct_aim(struct sx_server *server, struct sx_client *client,
                                     struct sx_arrival *arrival);
/* Return: as sx_group_plan_take; PMIX_ERR_BAD_PARAM, told, for other members than the first caller
 * has named. */
pmix_status_t sx_group_construct_takes(struct sx_collective *collective, struct sx_client *client,
                                       struct sx_arrival *arrival);
/* A namespace that it names has been registered: its wildcard means the processes that it has.
 * Return: as sx_group_construct_aim. */
pmix_status_t sx_group_construct_nspace_added(struct sx_collective *collective);
/* Return: as sx_group_make and sx_group_plan_give; PMIX_ERR_PARTIAL_SUCCESS, with a subject, when
 * somebody who was named is no member. */
pmix_status_t sx_group_construct_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is no such group; PMIX_ERR_BAD_PARAM when
 * @client is no member; PMIX_ERR_INVALID_OPERATION when it has called already. */
pmix_status_t sx_group_destruct_aim(struct sx_server *server, struct sx_client *client,
                                    struct sx_arrival *arrival);
pmix_status_t sx_group_destruct_conclude(struct sx_collective *collective, uint64_t *ret_subject);

#endif
