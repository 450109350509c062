/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_values.h - values that members of groups have given each other, kept while there is room.
 *
 *     given --its group ends--> kept --the job has too much, and it is the oldest--> gone
 *
 * Programs end a group at once and read the values of their peers when they first send to them.  So
 * values outlive their groups, until all those in the store of a job take more bytes than
 * SHMIX_SERVER_GROUP_BYTES.  Values of a living group stay.  Loop thread. */
#ifndef SX_SERVER_GROUP_GROUP_VALUES_H
#define SX_SERVER_GROUP_GROUP_VALUES_H

#include "server/model/state.h"

#define SX_GROUP_BYTES_DEFAULT (UINT64_C(16) << 20)

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an invalid bound in the environment. */
pmix_status_t sx_group_values_init(struct sx_server *server);

/* Note a value that the group of @subject is about to give: @rank's, under the @name of a qualified
 * value (shmem/qualified.h).  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and nothing is
 * noted. */
pmix_status_t sx_group_values_expect(struct sx_nspace *nspace, uint64_t subject, uint32_t rank,
                                     const char *name);
/* The noted value takes @bytes of the store of @nspace.  Older values may be removed. */
void sx_group_values_add(struct sx_server *server, struct sx_nspace *nspace, uint64_t bytes);

/* The store of @nspace is about to be removed. */
void sx_group_values_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

#endif
