/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_end.h - the events and the end of an invitation, and the calls that wait for it. */
#ifndef SX_SERVER_GROUP_INVITE_END_H
#define SX_SERVER_GROUP_INVITE_END_H

#include <stddef.h>
#include <stdint.h>

#include "server/group/invite_request.h"
#include "server/port/pending.h"

struct sx_event_block;
struct sx_guest;
struct sx_invitation;

/* ---- events ---------------------------------------------------------------------------------- */

/* Send the inviter an event about the change of @guest; the inviter may answer it.  While there is
 * no inviter, the next one will receive it. */
void sx_invite_ask(struct sx_server *server, struct sx_guest *guest);
/* Send the new guests the event that invites them. */
void sx_invite_tell(struct sx_server *server, struct sx_invitation *invitation);

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

#endif
