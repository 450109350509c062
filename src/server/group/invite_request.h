/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_request.h - the requests of PMIx_Group_invite and PMIx_Group_join: the processes that they
 * name, and the data that their callers give to the other members. */
#ifndef SX_SERVER_GROUP_INVITE_REQUEST_H
#define SX_SERVER_GROUP_INVITE_REQUEST_H

#include "base/call/directive_tables.h"
#include "base/message/signature.h"
#include "control/message.h"
#include "server/model/proc_list.h"

struct sx_client;
struct sx_guest;
struct sx_server;

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

#endif
