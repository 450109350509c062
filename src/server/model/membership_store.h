/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_store.h - which named lists of processes a user's processes may read.
 *
 *     (none) --a process of the user asks for them--> a store, kept up to date
 *         ^--others ask, and no process of the user is connected--/
 *
 * Root, and the server's own user, read the node's store, which has all lists.  Other users have a
 * store each.  It has the lists that the host has made, root's process sets, those that processes
 * of the user have made, and the connected namespaces and groups in which the user has a process.
 *
 * Memory: the size of the shown lists once more.  Loop thread. */
#ifndef SX_SERVER_MODEL_MEMBERSHIP_STORE_H
#define SX_SERVER_MODEL_MEMBERSHIP_STORE_H

#include <stdbool.h>
#include <sys/types.h>

#include "server/model/membership.h"

struct sx_numa;

/* Make the node's store, unless it is there.  Return: PMIX_SUCCESS, as sx_store_create. */
pmix_status_t sx_memberships_open(struct sx_server *server);

/* Whether the host or root has made the list: then it is for all. */
bool sx_membership_is_hosts(const struct sx_membership_entry *entry);
/* Whether processes of user @uid may see @entry. */
bool sx_memberships_show(struct sx_server *server, const struct sx_membership_entry *entry,
                         uid_t uid);

/* Make the store that processes of user @uid read, when it is first wanted.  The store is filled in
 * steps of some @units (share.h).  Return: whether it is complete. */
bool sx_memberships_fill(struct sx_server *server, uid_t uid, uint64_t units, uint64_t *ret_units);
/* Complete the store of @uid.  Return: the store; NULL, logged, when it cannot be made; then no
 * list is visible. */
const struct sx_store *sx_memberships_store(struct sx_server *server, uid_t uid);
/* How many lists of @kind are in that store, once it is complete. */
uint32_t sx_memberships_count(struct sx_server *server, uid_t uid, enum sx_membership_kind kind);
/* The store for a process of @uid to map: a descriptor of its own.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; as sx_segment_share. */
pmix_status_t sx_memberships_share(struct sx_server *server, uid_t uid, int *ret_fd);

/* @entry has been made, has changed, or is removed. */
void sx_memberships_shown_update(struct sx_server *server, struct sx_membership_entry *entry);
void sx_memberships_shown_remove(struct sx_server *server, struct sx_membership_entry *entry);
void sx_memberships_shown_deinit(struct sx_server *server);

#endif
