/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_request.h - what PMIx_Group_invite and PMIx_Group_join say: whom they mean, and what their
 * callers give to the other members. */
#ifndef SX_SERVER_GROUP_INVITE_REQUEST_H
#define SX_SERVER_GROUP_INVITE_REQUEST_H

#include "base/call/directive_tables.h"
#include "base/message/signature.h"
#include "control/message.h"
#include "server/model/proc_list.h"

struct sx_client;
struct sx_guest;
struct sx_server;

/* Zeroed is empty. */
struct sx_invite_gifts {
    pmix_info_t *info;
    size_t ninfo;
    struct sx_collective_options options; /* which they are */
    size_t bytes;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE for a breach of protocol; as sx_options_read. */
pmix_status_t sx_invite_gifts_read(struct sx_invite_gifts *ret, const struct sx_opened *body,
                                   unsigned index, enum sx_function function);
/* @guest gives them.  Return: false when memory is out. */
bool sx_invite_gifts_take(struct sx_guest *guest, const struct sx_invite_gifts *gifts);
/* Safe on a zeroed one and twice. */
void sx_invite_gifts_clear(struct sx_invite_gifts *gifts);

/* An invitation as it has come.  Zeroed is empty. */
struct sx_invite_named {
    struct sx_group_invite head;
    struct sx_proc_list procs;
    size_t registered; /* the first of them are processes of this node that the host has told of */
    struct sx_invite_gifts gifts;
};

/* @client sends @body.  Return: PMIX_SUCCESS; as sx_invite_gifts_read; what is wrong with those it
 * names, told.  To be cleared in any case. */
pmix_status_t sx_invite_named_read(struct sx_invite_named *ret, struct sx_server *server,
                                   struct sx_client *client, const struct sx_opened *body);
/* Return: PMIX_SUCCESS when all are processes of this node; PMIX_ERR_WOULD_BLOCK when the host may
 * register one of them yet; PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_SUPPORTED, told, for one that is
 * nowhere, or on another node. */
pmix_status_t sx_invite_named_judge(struct sx_invite_named *named, struct sx_server *server);
/* Safe on a zeroed one and twice. */
void sx_invite_named_clear(struct sx_invite_named *named);

#endif
