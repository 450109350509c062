/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - queries that a client does not answer itself. */
#ifndef SX_SERVER_QUERY_QUERY_H
#define SX_SERVER_QUERY_QUERY_H

#include "server/model/state.h"

struct sx_queries;

bool sx_query_on_query(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* Answer the host's own query from the data of this server, without asking the host.  Any thread.
 * Return: as sx_query_known. */
pmix_status_t sx_query_by_host(struct sx_queries *queries);

#endif
