/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remote_gets.h - ask the host for the data that ranks of other nodes have committed. */
#ifndef SX_SERVER_DATA_REMOTE_GETS_H
#define SX_SERVER_DATA_REMOTE_GETS_H

#include "server/data/get_index.h"

/* Whether @rank can be a process of another node for which the host may be asked. */
bool sx_remote_is_there(const struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t rank);

/* @wait is for such a rank, and `patient` if it has a time limit within which the value may still
 * be committed.  It is answered, now or later. */
void sx_remote_wait(struct sx_wait *wait, uint64_t now_ns);

/* @client wants @key of @proc, whose namespace is not registered here.  The host, which may
 * register it, is asked, unless a former question was in vain.  Return: true when request @id is
 * answered later. */
bool sx_remote_ask_unknown(struct sx_server *server, struct sx_client *client, uint32_t id,
                           const pmix_proc_t *proc, const char *key, uint64_t deadline_ns);

#endif
