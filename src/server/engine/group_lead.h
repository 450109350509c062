/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_lead.h - a group that is being built loses a member, and its builders say what then.
 *
 *     (none) --a member ends--> ASKED --somebody: go on-----------> (none), without the member
 *                                 |-----somebody leads from now on-> (none), without the old leader
 *                                 |-----somebody: abort------------> over, CONSTRUCT_ABORT
 *                                 |-----all have said nothing, or have ended--> over, as the
 *                                 |                                 member's end would end it
 *                                 \-----time limit (the engine's)--> over, TIMEOUT
 *
 * One question per member that has ended.  Asked are the leader, or without one, and about the
 * leader, all: those who have called and have a handler for the event are waited for, others may
 * answer.  The member stays among the members as one that has not called, so nothing is complete.
 * What its end asked of an old leader is asked of the new one.  Nobody is asked where there is no
 * leader and nobody has asked for PMIX_GROUP_NOTIFY_TERMINATION. */
#ifndef SX_SERVER_ENGINE_GROUP_LEAD_H
#define SX_SERVER_ENGINE_GROUP_LEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "control/message.h"
#include "server/model/proc_list.h"
#include "server/port/members.h"

struct sx_arrival;
struct sx_collective;

/* @client, a member, calls.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, told, when it wants to lead and
 * somebody else does (X11). */
pmix_status_t sx_group_lead_take(struct sx_collective *collective, struct sx_client *client,
                                 const struct sx_arrival *arrival);

/* struct sx_kind's. */
pmix_status_t sx_group_lead_lost(struct sx_collective *collective, struct sx_member *member,
                                 pmix_status_t end);

/* What an answer comes to: nothing as it is. */
struct sx_group_verdict {
    bool is_over;
    pmix_status_t status;   /* then */
    struct sx_client *lost; /* else it goes on without this one; NULL: it waits on ... */
    pmix_proc_t proc;       /* ... which was this process, also of one that is over */
    bool is_choice;         /* of a leader ... */
    pmix_proc_t leader;     /* ... this one; of rank PMIX_RANK_INVALID: nobody leads */
};
/* @client says @said.  What it was not asked is passed over. */
struct sx_group_verdict sx_group_lead_hear(struct sx_collective *collective,
                                           struct sx_client *client,
                                           const struct sx_group_said *said);

/* Those who are to hear of @code, sorted and without @but (NULL: all), in @ret, which is empty and
 * the caller's to clear. */
void sx_group_lead_hearers(const struct sx_collective *collective, pmix_status_t code,
                           const struct sx_client *but, struct sx_proc_list *ret);

#endif
