/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.h - read connected namespaces and groups in the node's store.
 *
 * The store is mapped when it is first wanted: a process that never asks never maps it.  From then
 * on a search costs no message, unless the server has replaced the store. */
#ifndef SX_CLIENT_DATA_MEMBERSHIP_H
#define SX_CLIENT_DATA_MEMBERSHIP_H

#include "client/data/epoch.h"
#include "client/data/mapped_store.h"
#include "shmem/membership.h"

struct sx_link;

/* The list that was found, and the reader that keeps it mapped until sx_members_close. */
struct sx_members_look {
    struct sx_membership found;
    struct sx_grace grace;
};

/* Return: PMIX_SUCCESS, to be closed; PMIX_ERR_NOT_FOUND when no list has that name; as
 * sx_view_fetch when the store cannot be mapped; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_members_open(const char *name, struct sx_members_look *ret);
/* The same for the list that the end of a collective operation at @link has named (struct
 * sx_op). */
pmix_status_t sx_members_open_subject(struct sx_link *link, uint64_t subject,
                                      struct sx_members_look *ret);

/* The answer to @key for the process @rank of @nspace (shmem/membership.h).  Return: as
 * sx_places_find; as sx_members_open. */
pmix_status_t sx_members_places(const char *key, const char *nspace, uint32_t rank,
                                pmix_value_t *ret);

/* Whether this process is in a connected namespace or a group together with one of @nspace.  False
 * too when the store cannot be mapped. */
bool sx_members_join(const char *nspace);

/* The answer to the query of @key, about the list @name (shmem/membership.h).  Return: as
 * sx_lists_find; as sx_members_open. */
pmix_status_t sx_members_lists(const char *key, const char *name, pmix_value_t *ret);

void sx_members_close(const struct sx_members_look *look);

/* The newest store of @link's server in which lists are, with a reference of the caller's own;
 * under view_lock.  Return: as sx_view_fetch. */
pmix_status_t sx_members_retain_locked(struct sx_link *link, struct sx_mapped_store **ret);

/* Whether a search costs no message. */
bool sx_members_are_at_hand(void);

/* A separate copy of the list @name that does not change; freed with sx_members_free.  Return: as
 * sx_members_open; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_copy(const char *name, struct sx_membership *ret);
void sx_members_free(struct sx_membership *copy);

#endif
