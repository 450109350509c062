/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct.h - the rows of a group's construct and destruct.
 *
 *     all have called construct --> a group (group.h) --all have called destruct--> gone
 *
 * A construct is found by the name of the group.  Its callers may write the members in any order,
 * and with names or wildcards that mean them.  A name is taken from the first call on, and free
 * again when the construct has failed.  A destruct is found by {name, WILDCARD}. */
#ifndef SX_SERVER_GROUP_GROUP_CONSTRUCT_H
#define SX_SERVER_GROUP_GROUP_CONSTRUCT_H

#include "server/collective/collective_kind.h"

/* Resolve the processes that @client names to single ones.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM without a name; PMIX_ERR_EXISTS, logged, for a name that is taken, also by a
 * construct of others, or by one that @client has called already; PMIX_ERR_NOT_FOUND, as
 * sx_alias_each; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_construct_aim(struct sx_server *server, struct sx_client *client,
                                     struct sx_arrival *arrival);
/* Return: as sx_group_plan_take; PMIX_ERR_BAD_PARAM, logged, for other members than the first
 * caller has named. */
pmix_status_t sx_group_construct_takes(struct sx_collective *collective, struct sx_client *client,
                                       struct sx_arrival *arrival);
/* A namespace that the construct names has been registered: its wildcard means the processes that
 * the namespace has.  Return: as sx_group_construct_aim. */
pmix_status_t sx_group_construct_nspace_added(struct sx_collective *collective);
/* Return: as sx_group_make and sx_group_plan_give; PMIX_ERR_PARTIAL_SUCCESS, with a subject, when a
 * process that was named is not a member. */
pmix_status_t sx_group_construct_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is no such group; PMIX_ERR_NOT_A_MEMBER when
 * @client is not a member; PMIX_ERR_INVALID_OPERATION when it has called already. */
pmix_status_t sx_group_destruct_aim(struct sx_server *server, struct sx_client *client,
                                    struct sx_arrival *arrival);
pmix_status_t sx_group_destruct_conclude(struct sx_collective *collective, uint64_t *ret_subject);

#endif
