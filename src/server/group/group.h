/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.h - groups: their names, their context ids, how they are made and ended.
 *
 *     (none) --all have called construct--> a group --all have called destruct--> gone
 *
 * A group is a membership (server/model/membership.h).  Its members have the ranks 0 and up, in the
 * order that its makers have written.  A context id is unique to its group for ever: this server's
 * random half and a number. */
#ifndef SX_SERVER_GROUP_GROUP_H
#define SX_SERVER_GROUP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_collective;
struct sx_event_block;
struct sx_membership_entry;
struct sx_server;

struct sx_group_options {
    const char *name;
    bool notify;              /* SX_MEMBERSHIP_NOTIFY */
    bool goes_on;             /* SX_MEMBERSHIP_GOES_ON */
    bool wants_context;       /* the group gets a context id ... */
    uint64_t context_id;      /* ... the host's; 0: one of this server */
    const pmix_proc_t *procs; /* members in the order of their ranks, no wildcard, no duplicates */
    size_t proc_count;
};

/* Publish a group.  Return: as sx_memberships_add. */
pmix_status_t sx_group_make(struct sx_server *server, const struct sx_group_options *options,
                            struct sx_membership_entry **ret);

/* End @group for all, as sx_membership_end. */
void sx_group_end(struct sx_server *server, struct sx_membership_entry *group);

/* Check that a new group may have this @name.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, logged, for
 * the name of a namespace, or of a group that exists, is being built or is kept (model/claim.h);
 * PMIX_ERR_BAD_PARAM, logged. */
pmix_status_t sx_group_name_judge(struct sx_server *server, const char *name);

/* The host takes @name: the list of that name ends, as sx_membership_end.  An open construct of
 * that name ends too, with PMIX_ERR_EXISTS. */
void sx_group_name_claimed(struct sx_server *server, const char *name);

/* Return: the open construct of @name; NULL: there is none. */
struct sx_collective *sx_group_being_built(const struct sx_server *server, const char *name);

/* Write the name of the group that @block is about (PMIX_GROUP_ID) to @ret of PMIX_MAX_NSLEN + 1
 * bytes.  Return: false when @block names no group. */
bool sx_group_event_name(const struct sx_event_block *block, char *ret);

/* Return: a context id that no other group has had or will have; not 0, and it fits in size_t. */
uint64_t sx_group_context_id(struct sx_server *server);

#endif
