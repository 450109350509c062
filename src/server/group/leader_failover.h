/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leader_failover.h - a group that is being built loses a builder, and the others decide what then.
 *
 *     (none) --one ends--> ASKED --somebody: go on-----------> (none), without it
 *                            |-----somebody leads from now on-> (none), without the old leader
 *                            |-----somebody: abort------------> over, CONSTRUCT_ABORT
 *                            |-----all have said nothing, or have ended--> over, as its end would
 *                            |                                end it
 *                            \-----time limit (the owner's)---> over, TIMEOUT
 *
 * There is one question per builder that has ended.  The leader is asked; without a leader, or
 * about the leader, all are asked.  Builders that have called and have a handler for the event are
 * awaited, and others may answer.  Questions that an old leader has not answered are put to the new
 * one.  An answer counts by the number of its question, so answers about an earlier group of the
 * same name are ignored.
 *
 * The owner supplies the builders and carries out the verdict.  It is a construct
 * (group_construct.c) or an invitation (invite_end.c). */
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

/* A process that builds the group. */
struct sx_group_builder {
    struct sx_client *client;
    bool has_called;
    uint8_t receives; /* SX_HEARS_* */
};

/* The verdict on a building; zeroed: no change. */
struct sx_group_verdict {
    bool is_over;
    pmix_status_t status;   /* if it is over */
    struct sx_client *lost; /* else builder to continue without; NULL: keep waiting ... */
    pmix_proc_t proc;       /* ... and its process, also for a building that is over */
    bool is_choice;         /* a leader is chosen ... */
    pmix_proc_t leader;     /* ... this one; of rank PMIX_RANK_INVALID: there is no leader */
};

struct sx_group_building {
    /* Return: the builder behind @at (NULL: the first one), described in *ret; NULL: there is
     * none. */
    void *(*next)(void *owner, void *at, struct sx_group_builder *ret);
    /* Carry out a verdict: the last builder that could answer has ended.  The owner may be gone
     * afterwards. */
    void (*decide)(void *owner, const struct sx_group_verdict *verdict);
};

/* A builder whose answer is awaited. */
struct sx_group_asked {
    struct sx_client *client; /* a builder */
    uint64_t
        notified; /* number of its event, among those of its home; 0: the event is not sent yet, or
                    * was lost */
};

/* A builder that has ended, and those who decide what then. */
struct sx_group_question {
    uint64_t number;
    struct sx_client *lost; /* retained by the owner ... */
    pmix_proc_t proc;       /* ... and its process */
    pmix_status_t end;      /* status with which this end would end the building */
    pmix_status_t code;     /* PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED */
    bool is_notified;
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
    struct sx_timer notify; /* sends events in the loop's next turn: other processes may be ending
                           * now */
};

/* Begin without a leader, and without questions. */
void sx_group_lead_init(struct sx_group_lead *lead, const struct sx_group_building *building,
                        void *owner, struct sx_server *server, const char *name);
/* Safe on a zeroed @lead. */
void sx_group_lead_clear(struct sx_group_lead *lead);

/* @client, a builder, has ended; this would end the building with @end.  Return: PMIX_SUCCESS when
 * the others have to decide; @end; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_lead_lose(struct sx_group_lead *lead, struct sx_client *client,
                                 pmix_status_t end);
/* Stop waiting for answers of @client, and ask no question about its end. */
void sx_group_lead_forget(struct sx_group_lead *lead, const struct sx_client *client);

/* @client has lost events of number @first to @next - 1: questions in them are sent to it again. */
void sx_group_lead_missed(struct sx_group_lead *lead, const struct sx_client *client,
                          uint64_t first, uint64_t next);

/* @client answers with @said.  An answer to a question that @client was not asked is ignored. */
struct sx_group_verdict sx_group_lead_receive(struct sx_group_lead *lead, struct sx_client *client,
                                              const struct sx_group_said *said);

/* List the builders that get events of @code, sorted and without @but (NULL: all).  @ret is empty
 * before, and the caller clears it. */
void sx_group_lead_hearers(const struct sx_group_lead *lead, pmix_status_t code,
                           const struct sx_client *but, struct sx_proc_list *ret);

/* Send @to an event that names the leader of the group @name, or the status with which it ended
 * without one. */
void sx_group_lead_selected(struct sx_server *server, const char *name,
                            const struct sx_group_verdict *verdict, const struct sx_proc_list *to);

#endif
