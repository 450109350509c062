/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invitation.h - groups by invitation: the guests, and the answer of each.
 *
 *     a guest:    ASKED --joins--> ACCEPTED --its process ends--> LOST
 *                  | ^ \---------its process ends-----------------^ |
 *                  | |<--------------------invited again------------/
 *                  \-|----declines--> DECLINED
 *                    \--invited again----/
 *
 *     the whole:  OPEN --somebody has accepted, and nobody is asked any more--> the group
 *                   \--all have declined, or are lost--> fails
 *
 * The inviter is a guest that has accepted from the start.  It may be asked to decide on each of
 * these ends of an arrow.  Nothing is decided before it has given each answer that is awaited.
 * When the inviter ends, another guest may invite in its place.  Other ends, and the events to all,
 * are in group/invite.c.  Memory: the guests that a client invites count like requests that it
 * waits for (pending.c). */
#ifndef SX_SERVER_GROUP_INVITATION_H
#define SX_SERVER_GROUP_INVITATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/call/directive_tables.h"
#include "base/message/signature.h"
#include "control/message.h"
#include "server/group/group.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"
#include "server/port/port.h"

struct sx_group_lead;

enum sx_guest_state {
    SX_GUEST_ASKED,
    SX_GUEST_ACCEPTED,
    SX_GUEST_DECLINED,
    SX_GUEST_LOST,
    SX_GUEST_STATES,
};

struct sx_guest {
    struct sx_table_node node; /* server.guests */
    struct sx_list link;       /* invitation.guests, in the order in which they were named */
    struct sx_list of_client;  /* client.guests; then server.lost, while its loss is not acted on */
    struct sx_invitation *invitation;
    struct sx_client *client; /* retained */
    uint32_t process;         /* client.guest_process when it was invited: another one has ended */
    enum sx_guest_state state;
    bool is_new;      /* set by invite.c: the event that invites it is still to be sent */
    bool is_lost;     /* its process has ended, which is not acted on yet */
    uint8_t receives; /* SX_HEARS_*: questions that it can answer, once it has accepted */
    /* A question about this guest that the inviter has been asked, and not answered. */
    struct sx_list
        asked; /* invitation.asked; server.missed: it is lost, and asked again soon; in no
                           * list: no question */
    uint64_t question;
    uint64_t notified; /* number of that event, among those of the inviter's home */
    bool is_awaited;
    pmix_info_t *gifts; /* data that it gives to the other members */
    size_t gift_count;
};

struct sx_invitation {
    struct sx_table_node node; /* server.invitations */
    struct sx_list guests;
    size_t counts[SX_GUEST_STATES]; /* number of guests per state */
    struct sx_list asked;           /* guests with an open question, the oldest question first */
    size_t awaited;                 /* how many of them are awaited */
    uint8_t receives;               /* SX_HEARS_*: questions that the inviter can answer */
    struct sx_list calls;           /* of invite.c: calls that wait for the end */
    struct sx_client *inviter;      /* retained */
    struct sx_proc_list leaders;    /* process of the inviter, last; before it those of earlier
                                     * inviters */
    struct sx_group_lead *lead;     /* of invite.c: the inviter has ended, and the next one is
                                     * sought; else NULL */
    struct sx_users users;          /* of the inviters and those that have accepted: the name is
                                     * theirs */
    uint8_t group;                  /* SX_GROUP_* */
    char name[PMIX_MAX_NSLEN + 1];
};

/* Return: NULL when memory is out. */
struct sx_invitation *sx_invitation_new(struct sx_server *server, const char *name,
                                        struct sx_client *inviter);
/* The guest @client becomes the inviter.  Return: false when memory is out. */
bool sx_invitation_lead(struct sx_invitation *invitation, struct sx_client *client);
/* Return: the process that invites, or that was the last to do so. */
static inline const pmix_proc_t *sx_invitation_leader(const struct sx_invitation *invitation)
{
    return &invitation->leaders.all[invitation->leaders.count - 1];
}
/* Free the name, and remove the guests from the lists of their clients. */
void sx_invitation_close(struct sx_server *server, struct sx_invitation *invitation);
/* Free @invitation, which is closed and has no call that waits. */
void sx_invitation_free(struct sx_invitation *invitation);

/* The open invitation to a group @name behind @invitation, the first for NULL, in no order.
 * Return: NULL at the end. */
struct sx_invitation *sx_invitation_next(const struct sx_server *server, const char *name,
                                         const struct sx_invitation *invitation);
/* Return: the one in which a process of user @uid takes part; NULL: there is none. */
struct sx_invitation *sx_invitation_find_of(const struct sx_server *server, uid_t uid,
                                            const char *name);
/* Return: NULL when @client is not invited.  If that was the process before, the guest is lost. */
struct sx_guest *sx_invitation_guest(const struct sx_server *server,
                                     const struct sx_invitation *invitation,
                                     const struct sx_client *client);

/* Invite @client, also again if it has declined or was lost.  Return: false when memory is out. */
bool sx_invitation_ask(struct sx_server *server, struct sx_invitation *invitation,
                       struct sx_client *client);

/* Store the answer of @guest, which is ASKED. */
void sx_guest_answer(struct sx_guest *guest, bool accepts);
/* The process of @guest has ended.  Return: whether this changes its state. */
bool sx_guest_lose(struct sx_guest *guest);

/* @guest leaves the list that it is in: its client's, or that of the losses, when its end has been
 * acted on or needs no action any more. */
void sx_guest_unlink(struct sx_guest *guest);
/* The process of @client has ended: all that have invited it have lost a guest, which is in
 * server.lost, and no guest is looked at yet. */
void sx_guests_end(struct sx_server *server, struct sx_client *client);
/* Look whether the process of @guest has ended.  If that matters, the guest is_lost from here on,
 * and nothing is decided before this is acted on; if not, it leaves server.lost.  Return: whether
 * it was not known, and matters. */
bool sx_guest_look(struct sx_guest *guest);
/* The same for all guests of @invitation. */
bool sx_invitation_look(struct sx_invitation *invitation);

/* The inviter is asked about @guest, possibly once more; @awaited: the answer is awaited. */
void sx_guest_ask(struct sx_guest *guest, uint64_t question, bool awaited);
/* The inviter will be asked about @guest: nothing is decided before. */
void sx_guest_ask_later(struct sx_guest *guest);
/* The question about @guest needs no answer any more. */
void sx_guest_settle(struct sx_guest *guest);
/* Return: the guest that @question is about; NULL: there is none.  *ret_looks: number of guests
 * searched. */
struct sx_guest *sx_invitation_asked(const struct sx_invitation *invitation, uint64_t question,
                                     size_t *ret_looks);

/* Return: PMIX_ERR_WOULD_BLOCK while a guest is asked, or an answer is awaited; PMIX_SUCCESS when
 * those who have accepted can form a group; PMIX_GROUP_INVITE_DECLINED when there is only the
 * inviter; PMIX_GROUP_INVITE_FAILED when all the others are lost. */
pmix_status_t sx_invitation_verdict(const struct sx_invitation *invitation);

/* ---- requests -------------------------------------------------------------------------------- */

/* The requests of PMIx_Group_invite and PMIx_Group_join: the processes that they
 * name, and the data that their callers give to the other members. */

/* Data that a member gives.  Zeroed is empty. */
struct sx_invite_gifts {
    pmix_info_t *info;
    size_t ninfo;
    struct sx_collective_options options; /* the directives with that data */
    size_t bytes;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE for a breach of protocol; as sx_options_read. */
pmix_status_t sx_invite_gifts_read(struct sx_invite_gifts *ret, const struct sx_opened *body,
                                   unsigned index, enum sx_function function);
/* Move @gifts to @guest.  Return: false when memory is out. */
bool sx_invite_gifts_take(struct sx_guest *guest, const struct sx_invite_gifts *gifts);
/* Safe on zeroed @gifts and twice. */
void sx_invite_gifts_clear(struct sx_invite_gifts *gifts);

/* An invitation as it was received.  Zeroed is empty. */
struct sx_invite_named {
    struct sx_group_invite head;
    struct sx_proc_list procs;
    size_t registered; /* how many of the first are processes that the host has registered */
    struct sx_invite_gifts gifts;
};

/* Read @body from @client.  Return: PMIX_SUCCESS; as sx_invite_gifts_read; for names that are
 * invalid, the status, logged.  The caller clears @ret in any case. */
pmix_status_t sx_invite_named_read(struct sx_invite_named *ret, struct sx_server *server,
                                   struct sx_client *client, const struct sx_opened *body);
/* Return: PMIX_SUCCESS when all are processes of this node; PMIX_ERR_WOULD_BLOCK when the host may
 * still register one of them; PMIX_ERR_NOT_FOUND, logged, for a process that is nowhere;
 * PMIX_ERR_NOT_SUPPORTED, logged, for one on another node. */
pmix_status_t sx_invite_named_judge(struct sx_invite_named *named, struct sx_server *server);
/* Safe on a zeroed @named and twice. */
void sx_invite_named_clear(struct sx_invite_named *named);

/* ---- events, calls that wait, and the end ---------------------------------------------------- */

/* The events and the end of an invitation, and the calls that wait for it. */

/* ---- events ---------------------------------------------------------------------------------- */

/* Send the inviter an event about the change of @guest; the inviter may answer it.  While there is
 * no inviter, the next one will receive it. */
void sx_invite_ask(struct sx_server *server, struct sx_guest *guest);
/* Send the new guests the event that invites them. */
void sx_invite_notify(struct sx_server *server, struct sx_invitation *invitation);

/* ---- calls that wait ------------------------------------------------------------------------- */

struct sx_invite_call {
    struct sx_pending pending;
    struct sx_list link;              /* invitation.calls, or server.invite_early */
    struct sx_invitation *invitation; /* NULL: the call waits for processes to be registered */
    struct sx_invite_named named;     /* the request, until then */
    uint64_t subject;                 /* of the group that is made at the end */
};

/* Let request @id of @client wait, charged with @bytes.  Return: PMIX_SUCCESS; as
 * sx_pending_begin. */
pmix_status_t sx_invite_call_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                                   size_t bytes, struct sx_invite_call **ret);
/* Set the time limit of @call; @timeout_ns 0: no limit. */
void sx_invite_call_limit(struct sx_invite_call *call, uint64_t timeout_ns, uint64_t now_ns);
void sx_invite_call_join(struct sx_invite_call *call, struct sx_invitation *invitation);
/* Answer all waiting calls with the same status. */
void sx_invite_calls_answer(struct sx_invitation *invitation, pmix_status_t status,
                            uint64_t subject);

/* ---- the end --------------------------------------------------------------------------------- */

/* End the search for a leader. */
void sx_invite_lead_end(struct sx_invitation *invitation);
/* End and free @invitation.  Its name then belongs to the group, or is free. */
void sx_invite_end(struct sx_server *server, struct sx_invitation *invitation,
                   pmix_status_t status);
/* End @invitation with PMIX_GROUP_CONSTRUCT_ABORT, which some have received already as @block. */
void sx_invite_abort(struct sx_server *server, struct sx_invitation *invitation,
                     const struct sx_event_block *block);
/* End @invitation if all have answered. */
void sx_invite_judge(struct sx_server *server, struct sx_invitation *invitation);

/* ---- the inviter ends ------------------------------------------------------------------------ */

/* The inviter has ended: its guests choose the next one (leader_failover.h).
 *
 * The guests that have accepted are asked, and may answer.  Nothing else is decided until then. */

/* The inviter is lost: seek the next one.  The invitation ends when no guest can answer. */
void sx_invite_lead_seek(struct sx_server *server, struct sx_invitation *invitation);
/* The guest @client is lost, whether a leader is sought or not. */
void sx_invite_lead_forget(struct sx_invitation *invitation, const struct sx_client *client);
/* A leader is sought, and @client answers with @said: @invitation may be gone afterwards. */
void sx_invite_lead_receive(struct sx_invitation *invitation, struct sx_client *client,
                            const struct sx_group_said *said);

#endif
