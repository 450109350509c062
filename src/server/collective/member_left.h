/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* member_left.h - effects of the end of a named list of processes, or of a member, on operations
 * under its name. */
#ifndef SX_SERVER_COLLECTIVE_MEMBER_LEFT_H
#define SX_SERVER_COLLECTIVE_MEMBER_LEFT_H

#include "base/message/payloads.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"

/* Return: whether @client is a member, also one that has ended. */
bool sx_membership_has(const struct sx_membership_entry *entry, const struct sx_client *client);

/* End the list for all, and free @entry.  Operations under its name end with PMIX_ERR_NOT_FOUND in
 * the loop's next turn, since other operations may be ending now. */
void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry);

/* Return: whether @client waits for the others in an operation of @kind that ends the list. */
bool sx_membership_is_waited_for(const struct sx_server *server,
                                 const struct sx_membership_entry *entry, struct sx_client *client,
                                 enum sx_collective_kind kind);

/* List the remaining members in @ret, which the caller clears.  Return: whether one of them is
 * here. */
bool sx_membership_left(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_proc_list *ret);

/* Remove @proc from the list.  When no other member is here, the list ends as well.  @left, which
 * is empty before, gets the remaining members; the caller clears it.  Return: as
 * sx_memberships_leave. */
pmix_status_t sx_membership_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                  const pmix_proc_t *proc, struct sx_proc_list *left);

#define SX_LEAVE_MAX 32u           /* lists that a client leaves in one turn ... */
#define SX_LEAVE_MEMBERS_MAX 4096u /* ... or fewer, at this number of members in all */

struct sx_leaver;
typedef void (*sx_leaver_fn)(struct sx_server *server, struct sx_membership_entry *entry,
                             const struct sx_leaver *leaver);

/* A client that leaves its lists. */
struct sx_leaver {
    pmix_proc_t proc;
    struct sx_client *client; /* its nspace is NULL once it is not a client any more */
    sx_leaver_fn fn;
    /* For a client whose lists take several turns: */
    struct sx_list link;  /* memberships.leavers */
    struct sx_list lists; /* of struct sx_belonging: lists that it has still to leave */
    bool owes;            /* a reply is due ... */
    uint32_t id;          /* ... to this frame */
};

/* Effects of a member's end on the others. */
struct sx_member_gone {
    const char *name;                 /* of the list; a copy, because the record changes */
    uint8_t pardons;                  /* SX_PARDON_*, for operations under the name */
    pmix_status_t code;               /* of the event to the others; PMIX_SUCCESS: none ... */
    bool is_quiet;                    /* ... sent only to the servers of other nodes ... */
    const struct sx_event_note *note; /* ... with this info besides */
};
/* The member @leaver has ended: its place becomes a gap.  If no other member is here, the list
 * ends.  The engine handles the end of the client next.  It is given the effect on operations under
 * the name: without pardons, they wait for the member in vain. */
void sx_membership_member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                               const struct sx_leaver *leaver, const struct sx_member_gone *gone);

/* Call @fn for each list of @kind that has @client, which ends.  @fn removes @client, or ends the
 * list.  Lists in whose name @client has operations are left before this returns, and SX_LEAVE_MAX
 * others.  The rest is left in later turns, as many in each, no matter what happens to @client. */
void sx_membership_each_of(struct sx_server *server, struct sx_client *client,
                           enum sx_membership_kind kind, sx_leaver_fn fn);
/* Frame @id of @client is answered with PMIX_SUCCESS when @client has left all of its lists, if it
 * is finalized and connected then.  Return: false when it has left them already. */
bool sx_membership_answers_later(struct sx_server *server, const struct sx_client *client,
                                 uint32_t id);
/* Free all clients that are leaving lists step by step; the lists that remain are not left. */
void sx_membership_leavers_deinit(struct sx_server *server);

#endif
