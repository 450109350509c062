/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.h - groups: their names, their context ids, how they are made and ended.
 *
 *     (none) --all have called construct------------> a group --all have called destruct--> gone
 *        \------all invited processes have answered--^  | ^ \--its last member here goes----^
 *                                                       \-/ a member leaves, or ends: a gap
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

#include "control/channel.h"
#include "server/collective/collective.h"
#include "server/model/event_log.h"
#include "server/model/membership.h"
#include "server/model/state.h"

struct sx_invitation;

/* ---- groups ---------------------------------------------------------------------------------- */

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

/* Check that a process of user @uid may give a new group this @name.  Return: PMIX_SUCCESS;
 * PMIX_ERR_EXISTS, logged, for the name of a namespace, for one that is kept (model/claim.c), and
 * for that of a group which exists or is being built for this user; PMIX_ERR_BAD_PARAM, logged. */
pmix_status_t sx_group_name_judge(struct sx_server *server, uid_t uid, const char *name);

/* The host takes @name: the lists of that name end, as sx_membership_end.  Open constructs of that
 * name end too, with PMIX_ERR_EXISTS. */
void sx_group_name_claimed(struct sx_server *server, const char *name);

/* Return: the open construct of @name that a process of user @uid has called; NULL: there is
 * none. */
struct sx_collective *sx_group_being_built(const struct sx_server *server, uid_t uid,
                                           const char *name);
/* The open construct of @name behind @open, the first for NULL, in no order.  Return: NULL at the
 * end. */
struct sx_collective *sx_group_construct_next(const struct sx_server *server, const char *name,
                                              const struct sx_collective *open);
/* Return: the space of a construct of @name that a process of user @uid opens. */
uint64_t sx_group_construct_space(struct sx_server *server, uid_t uid, const char *name);

/* Write the name of the group that @block is about (PMIX_GROUP_ID) to @ret of PMIX_MAX_NSLEN + 1
 * bytes.  Return: false when @block names no group. */
bool sx_group_event_name(const struct sx_event_block *block, char *ret);

/* Return: a context id that no other group has had or will have; not 0, and it fits in size_t. */
uint64_t sx_group_context_id(struct sx_server *server);

/* ---- members that end, that leave ------------------------------------------------------------ */

/* Members that leave a group, or end without having left it.
 *
 *     member --leaves: the others get PMIX_GROUP_LEFT-----------------------------\
 *       |                                                                          > a gap
 *       \--ends: PMIX_GROUP_MEMBER_FAILED, if the group has events for it---------/
 *
 * The group ends with its last member here. */

/* Remove a member that has ended from @group. */
void sx_group_member_gone(struct sx_server *server, struct sx_membership_entry *group,
                          const struct sx_leaver *leaver);
/* @client has finalized, died or was removed by the host: remove it from all its groups. */
void sx_group_client_gone(struct sx_server *server, struct sx_client *client);

/* Return: SX_PARDON_*, which ends of members the makers of @group have pardoned. */
uint8_t sx_group_pardons(const struct sx_membership_entry *group);

/* GROUP_LEAVE.  The reply is sent after the event to the others is published: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is no such group; PMIX_ERR_NOT_A_MEMBER when @client is not a
 * member; PMIX_ERR_OUT_OF_RESOURCE, and then @client still is one.  Return: true, it is no
 * breach. */
bool sx_group_on_leave(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* A member has left or ended on another node, whose server has sent this event. */
void sx_group_event_relayed(struct sx_server *server, const struct sx_event_block *block);

/* ---- construct and destruct ------------------------------------------------------------------ */

/* The rows of a group's construct and destruct.
 *
 *     all have called construct --> a group --all have called destruct--> gone
 *
 * A construct is found by the name of the group, for each user.  A process of another user joins it
 * if it names that process, and the process names the same members.  Its callers may write the
 * members in any order, and with names or wildcards that mean them.  A name is taken from the first
 * call on, and free again when the construct has failed.  A destruct is found by {name,
 * WILDCARD}. */

/* Read the members that a caller names, a step of it for each call, before sx_group_construct_aim
 * does the rest.  Return: PMIX_ERR_WOULD_BLOCK when another step is needed; as
 * sx_group_construct_aim. */
pmix_status_t sx_group_construct_prepare(struct sx_server *server, struct sx_arrival *arrival);
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

/* ---- a member of a construct ends ------------------------------------------------------------ */

/* The members of a construct decide how it continues when one of them ends (leader_failover.h).
 *
 * The member that ended stays in the list as one that has not called, so the construct is not
 * complete.  Members are not asked while the host has the request for all of them.  Nor are they
 * asked when there is no leader and no caller has given PMIX_GROUP_NOTIFY_TERMINATION. */

/* @client, a member, calls.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, logged, when @client wants to
 * lead and another member leads already (X11). */
pmix_status_t sx_group_construct_join(struct sx_collective *collective, struct sx_client *client,
                                      const struct sx_arrival *arrival);

/* As struct sx_kind requires. */
pmix_status_t sx_group_construct_lost(struct sx_collective *collective, struct sx_member *member,
                                      pmix_status_t end);

/* @client answers with @said: the construct may be gone afterwards. */
void sx_group_construct_receive(struct sx_collective *collective, struct sx_client *client,
                                const struct sx_group_said *said);

/* struct sx_family's events_missed: questions that @client has lost are sent to it again. */
void sx_group_construct_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                               uint64_t next);

/* ---- members on other nodes ------------------------------------------------------------------ */

/* The rows of a group's construct and destruct that concern members on other nodes.
 *
 * If the host has the `group` entry, it is called when members are elsewhere.  It is also called
 * for a context id when all members are here, unless PMIX_GROUP_LOCAL_ONLY is given.  The host may
 * give the context id.  The further steps are in collective/agreement.h, and the servers' messages
 * to each other in group_construct.h. */

bool sx_group_construct_host_always(const struct sx_collective *collective);
pmix_status_t sx_group_construct_host_ask(struct sx_collective *collective,
                                          sx_answered_fn answered);
bool sx_group_construct_host_answered(struct sx_collective *collective,
                                      const struct sx_host_answer *answer,
                                      pmix_status_t *ret_status);
/* The members have their answer, and the host still has the construct: it gets
 * PMIX_GROUP_CANCEL. */
void sx_group_construct_host_cancel(const struct sx_collective *collective);
pmix_status_t sx_group_construct_contribute(struct sx_collective *collective, struct sx_blob *blob);

/* The host's answer goes to sx_disconnect_host_answered, the servers' blobs to
 * sx_disconnect_contribute. */
pmix_status_t sx_group_destruct_host_ask(struct sx_collective *collective, sx_answered_fn answered);
void sx_group_destruct_host_cancel(const struct sx_collective *collective);

/* GROUP_SAID.  An answer to a question that @client was not asked is ignored: the group may exist,
 * or be gone, by now.  Return: false for a breach of protocol. */
bool sx_group_on_said(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);

/* ---- groups by invitation -------------------------------------------------------------------- */

/* Groups by invitation: PMIx_Group_invite and PMIx_Group_join.
 *
 *     INVITE --the host has registered all, and they get INVITED--> OPEN
 *     OPEN --all have answered--> a group of those who have accepted
 *      |--the same inviter invites more, or again--> OPEN
 *      |--nobody accepts-------> INVITE_DECLINED or INVITE_FAILED
 *      |--the inviter says so--> CONSTRUCT_ABORT
 *      |--a caller's time limit--> TIMEOUT
 *      |--the inviter ends, and a guest leads--> OPEN
 *      \--the inviter ends-----> LEADER_FAILED
 *
 * The inviter and the guests that have accepted wait for the end, which is the same for all of
 * them.  The others receive events.  The invited receive INVITED.  The inviter receives
 * INVITE_ACCEPTED, INVITE_DECLINED and INVITE_FAILED (a guest has ended).  At the end the members
 * receive CONTEXT_ID_ASSIGNED and CONSTRUCT_COMPLETE, or the guests receive LEADER_FAILED or
 * CONSTRUCT_ABORT.  The states of guests are in group/invitation.h.  All are processes of this
 * node. */

/* GROUP_INVITE, GROUP_JOIN.  Return: false for a breach of protocol. */
bool sx_invite_on_invite(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                         uint64_t now_ns);
bool sx_invite_on_join(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* @client answers with @said: @invitation may be gone afterwards.  An answer to a question that
 * @client was not asked is ignored. */
void sx_invite_receive(struct sx_server *server, struct sx_invitation *invitation,
                       struct sx_client *client, const struct sx_group_said *said);

/* As struct sx_family requires: ends the invitation of @client to the group that @block names. */
void sx_invite_aborted(struct sx_server *server, struct sx_client *client,
                       const struct sx_event_block *block);

/* As struct sx_family requires: invitations that wait for the host to register processes of this
 * node are checked again, and may begin or fail. */
void sx_invite_client_added(struct sx_server *server, struct sx_client *client);
void sx_invite_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* The host takes @name: invitations to groups of that name end with PMIX_ERR_EXISTS. */
void sx_invite_name_claimed(struct sx_server *server, const char *name);

/* struct sx_family's events_missed: questions that @client has lost are sent to it again, in steps,
 * for which it is charged. */
void sx_invite_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                      uint64_t next);
/* Ask up to *@left of them, and count it down.  Return: whether none is left. */
bool sx_invite_asks_again(struct sx_server *server, size_t *left);

/* @client ends: it no longer invites, and is no longer a guest.  When there are many invitations,
 * the inviters are informed in steps, a turn each. */
void sx_invite_client_gone(struct sx_server *server, struct sx_client *client);
/* Act on up to *@left losses, and count it down.  Return: whether none is left. */
bool sx_invite_losses_act(struct sx_server *server, size_t *left);
/* @client loses its name: the rest is done at once. */
void sx_invite_client_removed(struct sx_server *server, struct sx_client *client);

void sx_invites_init(struct sx_server *server);
void sx_invites_stop(struct sx_server *server);
void sx_invites_deinit(struct sx_server *server);

/* ---- values of groups ------------------------------------------------------------------------ */

/* Values that members of groups have given each other, kept while there is room.
 *
 *     given --its group ends--> kept --the job has too much, and it is the oldest--> gone
 *
 * Programs end a group at once and read the values of their peers when they first send to them.  So
 * values outlive their groups, until all those in the store of a job take more bytes than
 * SHMIX_SERVER_GROUP_BYTES.  Values of a living group stay.  Loop thread. */

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
