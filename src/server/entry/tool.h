/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool.h - tools: clients that the host has not registered.
 *
 *     HELLO, and it may --> a client of its own, as any other --its connection ends--> forgotten
 *
 * There are two kinds.  A command of this library is admitted when its user is the server's or
 * root.  The host receives no notice of it, and the command may read the ring and the store of a
 * job, its home.  About any other tool the host is asked first (tool_ask.h), and may give it a
 * name.
 *
 * A namespace of tools belongs to one user.  Each user has one for tools without a name, in which
 * each tool takes the lowest free rank.  The namespace ends with its last tool; when the host
 * registers a namespace of that name, all of its tools are removed (model/claim.c).
 *
 * A user has at most SX_TOOLS_MAX tools, including those about which the host is still asked.  A
 * tool is refused when others would miss its descriptors: see sx_tool_judge_room. */
#ifndef SX_SERVER_ENTRY_TOOL_H
#define SX_SERVER_ENTRY_TOOL_H

#include "control/message.h"
#include "server/model/state.h"

#define SX_TOOLS_MAX 64u         /* of one user, at once */
#define SX_CLIENT_DESCRIPTORS 4u /* of one that is connected: socket, process, lane, bell */

/* strangers.asked: a tool about which the host is asked. */
struct sx_tool_asked {
    struct sx_list link;
    uid_t uid;
};

/* Whether one more tool of @uid can connect.  Descriptors for processes that the host has
 * announced, and that have not connected yet, are not for tools.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE with *ret_why. */
pmix_status_t sx_tool_judge_room(struct sx_server *server, uid_t uid, const char **ret_why);

/* Admit a command of this library.  Return: the client that the peer is from now on, or NULL with
 * *ret_status and *ret_why. */
struct sx_client *sx_tool_admit(struct sx_server *server, const struct sx_hello *hello,
                                const struct sx_peer *peer, pmix_status_t *ret_status,
                                const char **ret_why);

/* The same for a tool that the host calls @proc; without a namespace, or a rank, it it is given
 * one. */
struct sx_client *sx_tool_take(struct sx_server *server, const pmix_proc_t *proc,
                               const struct sx_peer *peer, pmix_status_t *ret_status,
                               const char **ret_why);

/* @client, which need not be a tool, has no connection any more. */
void sx_tool_forget(struct sx_server *server, struct sx_client *client);

/* Return: a tool that is in @nspace, or reads what it has; NULL: there is none. */
struct sx_client *sx_tool_of(const struct sx_server *server, const struct sx_nspace *nspace);

#endif
