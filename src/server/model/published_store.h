/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published_store.h - published values that processes of a user may read for themselves.
 *
 *     (none) --a process of the user asks for it--> a store, kept up to date until the server ends
 *
 * A store has the values that processes of its user have published for processes of that user
 * (shmem/published.h).  The store has a key only with all values that its readers may see under
 * that key.  Some values keep their key out: a value that others may not see, that is read once, or
 * to which another user gives access.  For such a key the server has to be asked.
 *
 * Memory: at most what is published once more, and as much garbage, for each of at most
 * SX_PUBLISHED_USERS_MAX users.  Loop thread. */
#ifndef SX_SERVER_MODEL_PUBLISHED_STORE_H
#define SX_SERVER_MODEL_PUBLISHED_STORE_H

#include "server/model/published.h"
#include "shmem/published.h"

#define SX_PUBLISHED_USERS_MAX 32u

struct sx_numa;

/* The store of @uid, made when it is first wanted, for a process of @nspace of that user to map.
 * Return: PMIX_SUCCESS, and *ret_fd is the caller's; PMIX_ERR_OUT_OF_RESOURCE; as sx_store_create
 * and sx_segment_share. */
pmix_status_t sx_published_share(struct sx_published *all, const struct sx_numa *numa, uid_t uid,
                                 const struct sx_publish_who *asker, int *ret_fd);

/* @nspace belongs to @session now; there is no such namespace any more. */
void sx_published_session_told(struct sx_published *all, const char *nspace, uint64_t session);
void sx_published_session_over(struct sx_published *all, const char *nspace);

/* All readers have gone.  Called before sx_published_deinit. */
void sx_published_shown_deinit(struct sx_published *all);

#endif
