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
 * waits for (pending.h). */
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
    struct sx_list of_client;  /* client.guests; in no list once its process has ended */
    struct sx_invitation *invitation;
    struct sx_client *client; /* retained */
    enum sx_guest_state state;
    bool is_new;   /* set by invite.c: the event that invites it is still to be sent */
    uint8_t hears; /* SX_HEARS_*: questions that it can answer, once it has accepted */
    /* A question about this guest that the inviter has been asked, and not answered. */
    struct sx_list asked; /* invitation.asked; in no list: no question */
    uint64_t question;
    uint64_t told; /* number of that event, among those of the inviter's home */
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
    uint8_t hears;                  /* SX_HEARS_*: questions that the inviter can answer */
    struct sx_list calls;           /* of invite.c: calls that wait for the end */
    struct sx_client *inviter;      /* retained */
    struct sx_proc_list leaders;    /* process of the inviter, last; before it those of earlier
                                     * inviters */
    struct sx_group_lead *lead;     /* of invite.c: the inviter has ended, and the next one is
                                     * sought; else NULL */
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

/* Return: the open invitation to the group @name; NULL: there is none. */
struct sx_invitation *sx_invitation_find(const struct sx_server *server, const char *name);
/* Return: NULL when @client is not invited. */
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

/* The inviter is asked about @guest, possibly once more; @awaited: the answer is awaited. */
void sx_guest_ask(struct sx_guest *guest, uint64_t question, bool awaited);
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

#endif
