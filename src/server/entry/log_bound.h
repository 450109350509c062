/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_bound.h - how much one client can make the server write.
 *
 * What is refused is told in the log, and a client can have the same thing refused for ever.  So of
 * the errors and warnings that come about while the server serves a client, the first
 * SX_LOG_BOUND_LINES are written, and that no more will be.  Nothing else is held back: the client
 * itself is told each status. */
#ifndef SX_SERVER_ENTRY_LOG_BOUND_H
#define SX_SERVER_ENTRY_LOG_BOUND_H

struct sx_client;
struct sx_server;

#define SX_LOG_BOUND_LINES 64u

/* For this process, and for good: without a server nothing is held back. */
void sx_log_bound_begin(void);

/* What is logged from now on is caused by @client; NULL: by nobody.  Loop thread. */
void sx_log_bound_serve(struct sx_server *server, struct sx_client *client);

/* The host has registered it again, for another process, which begins with none. */
void sx_log_bound_client_expected(struct sx_server *server, struct sx_client *client);

#endif
