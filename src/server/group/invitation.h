/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invitation.h - groups to which somebody invites: who is asked, and what each has said.
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
 * Who invites is a guest that has accepted from the start.  It may be asked what it says to each of
 * these ends of an arrow; nothing is decided before it has answered what it is waited for.  When it
 * ends, another guest may invite in its place.  What else ends it, and who is told, is
 * group/invite.c's.  Memory: what a client invites counts as what it waits for (pending.h). */
#ifndef SX_SERVER_GROUP_INVITATION_H
#define SX_SERVER_GROUP_INVITATION_H

#include "server/model/proc_list.h"
#include "server/model/state.h"

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
    struct sx_list of_client;  /* client.guests; in no list when its process has ended */
    struct sx_invitation *invitation;
    struct sx_client *client; /* retained */
    enum sx_guest_state state;
    bool is_new;   /* the engine's: it has to hear that it is invited */
    uint8_t hears; /* SX_HEARS_*: what it can answer, once it has accepted */
    /* What the inviter has been asked about it, and not answered. */
    struct sx_list asked; /* invitation.asked; in no list: nothing */
    uint64_t question;
    uint64_t told; /* the number of that event, among those of the inviter's home */
    bool is_awaited;
    pmix_info_t *gifts; /* what it gives to the other members */
    size_t gift_count;
};

struct sx_invitation {
    struct sx_table_node node; /* server.invitations */
    struct sx_list guests;
    size_t counts[SX_GUEST_STATES]; /* of guests */
    struct sx_list asked;           /* guests, the oldest question first */
    size_t awaited;                 /* of them */
    uint8_t hears;                  /* SX_HEARS_*: what the inviter can answer */
    struct sx_list calls;           /* the engine's: those who wait for the end */
    struct sx_client *inviter;      /* retained */
    struct sx_proc_list leaders;    /* which process that is, behind those who were it before */
    struct sx_group_lead *lead;     /* the engine's: the inviter has ended, and the next one is
                                       sought; else NULL */
    uint8_t group;                  /* SX_GROUP_* */
    char name[PMIX_MAX_NSLEN + 1];
};

/* Return: NULL when memory is out. */
struct sx_invitation *sx_invitation_new(struct sx_server *server, const char *name,
                                        struct sx_client *inviter);
/* Its guest @client invites from now on.  Return: false when memory is out. */
bool sx_invitation_lead(struct sx_invitation *invitation, struct sx_client *client);
/* Return: the process that invites, or has done so last. */
static inline const pmix_proc_t *sx_invitation_leader(const struct sx_invitation *invitation)
{
    return &invitation->leaders.all[invitation->leaders.count - 1];
}
/* The name is free, and the guests' clients know nothing of it. */
void sx_invitation_close(struct sx_server *server, struct sx_invitation *invitation);
/* It is closed, and nobody waits for it. */
void sx_invitation_free(struct sx_invitation *invitation);

/* Return: the open invitation to the group @name; NULL: there is none. */
struct sx_invitation *sx_invitation_find(const struct sx_server *server, const char *name);
/* Return: NULL when @client is not invited. */
struct sx_guest *sx_invitation_guest(const struct sx_server *server,
                                     const struct sx_invitation *invitation,
                                     const struct sx_client *client);

/* Invite @client, or again if it has declined or was lost.  Return: false when memory is out. */
bool sx_invitation_ask(struct sx_server *server, struct sx_invitation *invitation,
                       struct sx_client *client);

/* It is ASKED. */
void sx_guest_answer(struct sx_guest *guest, bool accepts);
/* Its process has ended.  Return: whether that changes anything. */
bool sx_guest_lose(struct sx_guest *guest);

/* The inviter is asked about it, once more perhaps; @awaited: its answer is waited for. */
void sx_guest_ask(struct sx_guest *guest, uint64_t question, bool awaited);
/* That needs no answer any more. */
void sx_guest_settle(struct sx_guest *guest);
/* Return: the guest about whom this was asked; NULL: there is none.  *ret_looks: at so many. */
struct sx_guest *sx_invitation_asked(const struct sx_invitation *invitation, uint64_t question,
                                     size_t *ret_looks);

/* Return: PMIX_ERR_WOULD_BLOCK while somebody is asked, or awaited; PMIX_SUCCESS when there can be
 * a group of those who have accepted; PMIX_GROUP_INVITE_DECLINED when there is nobody but the
 * inviter, or PMIX_GROUP_INVITE_FAILED when all the others are lost. */
pmix_status_t sx_invitation_verdict(const struct sx_invitation *invitation);

#endif
