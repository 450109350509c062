/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer.h - a process answers an event of a group that is being built. */
#ifndef SX_SERVER_GROUP_GROUP_ANSWER_H
#define SX_SERVER_GROUP_GROUP_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

struct sx_client;
struct sx_frame;
struct sx_server;

/* GROUP_SAID.  An answer to a question that @client was not asked is ignored: the group may exist,
 * or be gone, by now.  Return: false for a breach of protocol. */
bool sx_group_on_said(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);

#endif
