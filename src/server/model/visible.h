/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* visible.h - who may see what a namespace's processes have put. */
#ifndef SX_SERVER_MODEL_VISIBLE_H
#define SX_SERVER_MODEL_VISIBLE_H

#include <stdbool.h>

struct sx_client;
struct sx_nspace;
struct sx_server;

/* Whether @client may map the namespace's store: its own, its home's, one whose processes here are
 * all of its own user, or, without any, whose user is its own, or one with whose processes it is
 * connected or in a group. */
bool sx_nspace_visible(struct sx_server *server, const struct sx_nspace *nspace,
                       struct sx_client *client);

#endif
