/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leader_failover.h - a group that is being built loses somebody, and its builders say what then.
 *
 *     (none) --one ends--> ASKED --somebody: go on-----------> (none), without it
 *                            |-----somebody leads from now on-> (none), without the old leader
 *                            |-----somebody: abort------------> over, CONSTRUCT_ABORT
 *                            |-----all have said nothing, or have ended--> over, as its end would
 *                            |                                end it
 *                            \-----time limit (the owner's)---> over, TIMEOUT
 *
 * One question per builder that has ended.  Asked are the leader, or without one, and about the
 * leader, all: those who have called and have a handler for the event are waited for, others may
 * answer.  What an end asked of an old leader is asked of the new one.  An answer counts by the
 * number of its question: those of an earlier group of the same name are passed over.
 *
 * Who builds, and what becomes of it, is the owner's: a construct (group_construct_leader.c), an
 * invitation (invite_leader.c). */
#ifndef SX_SERVER_GROUP_LEADER_FAILOVER_H
#define SX_SERVER_GROUP_LEADER_FAILOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "control/loop.h"
#include "control/message.h"
#include "server/model/proc_list.h"

struct sx_client;
struct sx_server;

/* One who builds the group. */
struct sx_group_builder {
    struct sx_client *client;
    bool has_called;
    uint8_t hears; /* SX_HEARS_* */
};

/* What becomes of it: nothing as it is. */
struct sx_group_verdict {
    bool is_over;
    pmix_status_t status;   /* then */
    struct sx_client *lost; /* else it goes on without this one; NULL: it waits on ... */
    pmix_proc_t proc;       /* ... which was this process, also of one that is over */
    bool is_choice;         /* of a leader ... */
    pmix_proc_t leader;     /* ... this one; of rank PMIX_RANK_INVALID: nobody leads */
};

struct sx_group_building {
    /* Return: the builder behind @at (NULL: the first one), told in *ret; NULL: there is none. */
    void *(*next)(void *owner, void *at, struct sx_group_builder *ret);
    /* The last one who could answer has ended.  The owner may be gone then. */
    void (*decide)(void *owner, const struct sx_group_verdict *verdict);
};

/* Who is waited for. */
struct sx_group_asked {
    struct sx_client *client; /* a builder */
    uint64_t told; /* the number of its event, among those of its home; 0: it has not been told, or
                      has lost that */
};

/* A builder that has ended, and who is to say what then. */
struct sx_group_question {
    uint64_t number;
    struct sx_client *lost; /* the owner keeps it ... */
    pmix_proc_t proc;       /* ... and which process it was */
    pmix_status_t end;      /* what its end ends the building with */
    pmix_status_t code;     /* PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED */
    bool is_told;
    struct sx_group_asked *asked;
    size_t asked_count;
};

struct sx_group_lead {
    const struct sx_group_building *building;
    void *owner;
    struct sx_server *server;
    const char *name;         /* of the group; the owner's */
    struct sx_client *leader; /* a builder; NULL: none */
    struct sx_group_question *questions;
    size_t count;
    struct sx_timer tell; /* events go out when the loop is next: here others may be ending */
};

/* Nobody leads, and nobody has ended. */
void sx_group_lead_init(struct sx_group_lead *lead, const struct sx_group_building *building,
                        void *owner, struct sx_server *server, const char *name);
/* Safe on a zeroed one. */
void sx_group_lead_clear(struct sx_group_lead *lead);

/* @client, a builder, has ended; this would end the building with @end.  Return: PMIX_SUCCESS when
 * the others have to say; @end; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_lead_lose(struct sx_group_lead *lead, struct sx_client *client,
                                 pmix_status_t end);
/* Nothing is to be heard of @client any more, and nobody is asked what then. */
void sx_group_lead_forget(struct sx_group_lead *lead, const struct sx_client *client);

/* @client has lost events of number @first to @next - 1: what they have asked it is asked again. */
void sx_group_lead_missed(struct sx_group_lead *lead, const struct sx_client *client,
                          uint64_t first, uint64_t next);

/* @client says @said.  What it was not asked is passed over. */
struct sx_group_verdict sx_group_lead_hear(struct sx_group_lead *lead, struct sx_client *client,
                                           const struct sx_group_said *said);

/* Those who are to hear of @code, sorted and without @but (NULL: all), in @ret, which is empty and
 * the caller's to clear. */
void sx_group_lead_hearers(const struct sx_group_lead *lead, pmix_status_t code,
                           const struct sx_client *but, struct sx_proc_list *ret);

/* Tell @to who leads the group @name, or that nobody does and how it has ended.  The host may end
 * the job inside: last. */
void sx_group_lead_selected(struct sx_server *server, const char *name,
                            const struct sx_group_verdict *verdict, const struct sx_proc_list *to);

#endif
