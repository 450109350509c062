/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_end.h - who hears what of an invitation, who waits for it, and how it ends. */
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

/* The inviter hears what @guest has done, or become, and may say something to that.  While there is
 * none the next one will hear it. */
void sx_invite_ask(struct sx_server *server, struct sx_guest *guest);
/* New guests hear that they are invited. */
void sx_invite_tell(struct sx_server *server, struct sx_invitation *invitation);

/* ---- those who wait -------------------------------------------------------------------------- */

struct sx_invite_call {
    struct sx_pending pending;
    struct sx_list link;              /* invitation.calls, or server.invite_early */
    struct sx_invitation *invitation; /* NULL: it is early */
    struct sx_invite_named named;     /* what it says then */
    uint64_t subject;                 /* of the group that there is at the end */
};

/* Request @id of @client waits, and keeps @bytes.  Return: PMIX_SUCCESS; as sx_pending_begin. */
pmix_status_t sx_invite_call_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                                   size_t bytes, struct sx_invite_call **ret);
/* @timeout_ns 0: it has no limit. */
void sx_invite_call_limit(struct sx_invite_call *call, uint64_t timeout_ns, uint64_t now_ns);
void sx_invite_call_join(struct sx_invite_call *call, struct sx_invitation *invitation);
/* All of them get the same answer. */
void sx_invite_calls_answer(struct sx_invitation *invitation, pmix_status_t status,
                            uint64_t subject);

/* ---- the end --------------------------------------------------------------------------------- */

/* No leader is sought any more. */
void sx_invite_lead_end(struct sx_invitation *invitation);
/* @invitation is gone then, and its name is the group's, or free. */
void sx_invite_end(struct sx_server *server, struct sx_invitation *invitation,
                   pmix_status_t status);
/* It ends with PMIX_GROUP_CONSTRUCT_ABORT; some have heard so by @block. */
void sx_invite_abort(struct sx_server *server, struct sx_invitation *invitation,
                     const struct sx_event_block *block);
/* End it, if it has come to its end. */
void sx_invite_judge(struct sx_server *server, struct sx_invitation *invitation);

#endif
