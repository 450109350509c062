/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_bound.h - how many lines one user can make the server write in a time.
 *
 *     FREE --a line--> OPEN --SHMIX_LOG_LINES lines--> FULL, lines are counted
 *      ^                \--the period ends--> FREE      |
 *      \--the period ends: one line says how many-------/
 *
 * Refusals are logged, and a client can have the same request refused for ever, or connect again
 * under other names.  So the lines that come about while the server serves a process count against
 * that process's user.  Lines of the loop that belong to no user have a share of their own; so do,
 * together, the users for whom there is no more room.  Errors and warnings have SHMIX_LOG_LINES in
 * each period, lines of the other levels SX_LOG_BOUND_DETAILS times as many.  Clients receive each
 * status in any case. */
#ifndef SX_SERVER_ENTRY_LOG_BOUND_H
#define SX_SERVER_ENTRY_LOG_BOUND_H

#include "server/model/state.h"

#define SX_LOG_BOUND_LINES 64u    /* without SHMIX_LOG_LINES */
#define SX_LOG_BOUND_DETAILS 256u /* a thousand ranks that come, go, and have some fences */
#define SX_LOG_BOUND_OTHERS 8u    /* shares of the lines of no user */
#define SX_LOG_BOUND_NS UINT64_C(60000000000)

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when SHMIX_LOG_LINES is not such a number. */
pmix_status_t sx_log_bound_init(struct sx_server *server);

/* For this process, and for good: without a server nothing is held back. */
void sx_log_bound_begin(void);

/* Lines logged from now on count for a process of @uid, until a second call with the value that the
 * first returned.  Loop thread. */
struct sx_log_cause sx_log_bound_serve(struct sx_server *server, uint32_t uid);
void sx_log_bound_served(struct sx_server *server, struct sx_log_cause before);

/* The server ends: log how many lines have been left out.  No other thread uses @server any
 * more. */
void sx_log_bound_end(struct sx_server *server);

#endif
