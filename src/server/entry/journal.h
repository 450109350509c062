/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* journal.h - the log lines of a successful run, for SHMIX_LOG=info and debug.
 *
 * info has the lives of the server, its namespaces and its clients; debug has each request of a
 * client, too.  The end of a collective is logged where it ends (collective/collective.c), and so
 * are events (event/event.c) and calls of the host (port/upcall.c). */
#ifndef SX_SERVER_ENTRY_JOURNAL_H
#define SX_SERVER_ENTRY_JOURNAL_H

#include "server/model/state.h"

void sx_journal_server_started(const struct sx_server *server);

/* As struct sx_family has them. */
void sx_journal_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_journal_client_connected(struct sx_server *server, struct sx_client *client);
void sx_journal_client_left(struct sx_server *server, struct sx_client *client);
void sx_journal_client_departed(struct sx_server *server, struct sx_client *client);
void sx_journal_client_lost(struct sx_server *server, struct sx_client *client);

/* @nspace has been registered for the first time. */
void sx_journal_nspace_registered(const struct sx_nspace *nspace);
/* @client has sent @frame, which is judged. */
void sx_journal_frame(const struct sx_client *client, const struct sx_frame *frame);

#endif
