/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_ask.h - a tool that wants in, while the host is asked whether it may.
 *
 *     HELLO --the host is asked--> ASKED --its answer--> decided
 *        \--it takes no tools: its status   \--the tool goes, says something, or the server ends-->
 *                                                                                        closed
 *
 * The host receives the tool's identity from the kernel, and the name that the tool wants.  An
 * answer that arrives after the tool has gone is dropped. port/upcall.c bounds how many answers a
 * host may owe. */
#ifndef SX_SERVER_ENTRY_TOOL_ASK_H
#define SX_SERVER_ENTRY_TOOL_ASK_H

#include "server/entry/connection.h"

/* The decision about the tool behind @connection, whose HELLO had @flags and number @id.  The tool
 * is @client from now on.  When @client is NULL, the tool is refused with @status because it
 * @why. */
typedef void (*sx_tool_decided_fn)(struct sx_connection *connection, struct sx_client *client,
                                   uint32_t flags, uint32_t id, pmix_status_t status,
                                   const char *why);

/* Return: PMIX_SUCCESS when @decided will be called, unless the tool disconnects; until then this
 * file owns the connection.  Else the tool is refused now, with this status and *ret_why. */
pmix_status_t sx_tool_ask(struct sx_connection *connection, const struct sx_hello *hello,
                          uint32_t id, sx_tool_decided_fn decided, const char **ret_why);

/* The server ends. */
void sx_tool_ask_end_all(struct sx_server *server);

#endif
