/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* member_left.h - what the end of a named list of processes, or of a member, means to those who
 * do something together under its name. */
#ifndef SX_SERVER_COLLECTIVE_MEMBER_LEFT_H
#define SX_SERVER_COLLECTIVE_MEMBER_LEFT_H

#include "base/message/payloads.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"

/* Whether @client is a member, here or gone. */
bool sx_membership_has(const struct sx_membership_entry *entry, const struct sx_client *client);

/* It is no more, for all, and @entry is freed.  What its members still do under its name ends with
 * PMIX_ERR_NOT_FOUND when the loop is next: here others may be ending. */
void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry);

/* Whether @client waits for the others to end it by this @kind of operation. */
bool sx_membership_is_waited_for(const struct sx_server *server,
                                 const struct sx_membership_entry *entry, struct sx_client *client,
                                 enum sx_collective_kind kind);

/* The members that are left, in @ret, which is the caller's to clear.  Return: whether one of them
 * is here. */
bool sx_membership_left(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_proc_list *ret);

/* @proc is a member no more; when no other one is here, the list ends as well.  @left, empty, gets
 * those who are left, and is the caller's to clear.  Return: as sx_memberships_leave. */
pmix_status_t sx_membership_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                  const pmix_proc_t *proc, struct sx_proc_list *left);

#define SX_LEAVE_MAX 32u           /* lists that a client leaves in one turn ... */
#define SX_LEAVE_MEMBERS_MAX 4096u /* ... until they have had so many members in all */

struct sx_leaver;
typedef void (*sx_leaver_fn)(struct sx_server *server, struct sx_membership_entry *entry,
                             const struct sx_leaver *leaver);

/* A client that goes. */
struct sx_leaver {
    pmix_proc_t proc;
    struct sx_client *client; /* its nspace is NULL once it is no client any more */
    sx_leaver_fn fn;
    /* Of one whose lists take several turns: */
    struct sx_list link;  /* memberships.leavers */
    struct sx_list lists; /* of struct sx_belonging: what it has not left */
    bool owes;            /* an answer ... */
    uint32_t id;          /* ... to this frame */
};

/* What the end of a member means to the others. */
struct sx_member_gone {
    const char *name;                 /* of the list, a copy: its record changes */
    uint8_t pardons;                  /* SX_PARDON_*, to what they do under the name */
    pmix_status_t code;               /* of the event that they hear; PMIX_SUCCESS: none ... */
    bool is_quiet;                    /* ... that only the servers of other nodes hear ... */
    const struct sx_event_note *note; /* ... and what it says besides */
};
/* Its member @leaver has ended: there is a gap, or nothing when no other member is here.  The
 * engine, which hears of the end next, is told what it means there: without pardons, that what
 * names the list waits for it in vain. */
void sx_membership_member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                               const struct sx_leaver *leaver, const struct sx_member_gone *gone);

/* Call @fn for each list of @kind that @client, which goes, is in.  It takes @client out, or ends
 * the list.  Lists in whose name @client does something are done before this returns, and
 * SX_LEAVE_MAX others; the rest in later turns, as many in each, whatever becomes of @client. */
void sx_membership_each_of(struct sx_server *server, struct sx_client *client,
                           enum sx_membership_kind kind, sx_leaver_fn fn);
/* Frame @id of @client is answered with PMIX_SUCCESS when it has left all of its lists, if it is
 * finalized and connected then.  Return: false when it has left them already. */
bool sx_membership_answers_later(struct sx_server *server, const struct sx_client *client,
                                 uint32_t id);
/* Nobody leaves step by step any more, and what is not done is not done. */
void sx_membership_leavers_deinit(struct sx_server *server);

#endif
