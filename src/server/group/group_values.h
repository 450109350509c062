/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_values.h - what the members of groups have given each other, while there is room for it.
 *
 *     given --its group ends--> kept --the job has too much, and it is the oldest--> gone
 *
 * Programs end a group at once and read the values of their peers when they first talk to them.  So
 * values outlive their groups, until all those in the store of a job take more bytes than
 * SHMIX_SERVER_GROUP_BYTES; those of a living group stay.  Loop thread. */
#ifndef SX_SERVER_GROUP_GROUP_VALUES_H
#define SX_SERVER_GROUP_GROUP_VALUES_H

#include "server/model/state.h"

#define SX_GROUP_BYTES_DEFAULT (UINT64_C(16) << 20)

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a bound of the environment that cannot be. */
pmix_status_t sx_group_values_init(struct sx_server *server);

/* The group of @subject is about to give a value: @rank's, under the @name of a qualified value
 * (shmem/qualified.h).  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and nothing is noted. */
pmix_status_t sx_group_values_expect(struct sx_nspace *nspace, uint64_t subject, uint32_t rank,
                                     const char *name);
/* It takes @bytes of the store of @nspace.  Older ones may go. */
void sx_group_values_add(struct sx_server *server, struct sx_nspace *nspace, uint64_t bytes);

/* The store of @nspace goes. */
void sx_group_values_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

#endif
