/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - the chapter on queries: those that a client does not answer itself.
 *
 *     query.c         one call: answer what the server has, and ask the host for the rest; and the
 *                     attributes that the host's functions support
 *     query_keys.c    the keys that the server answers itself, a row for each
 *     query_procs.c   processes of a job, in the form that queries return
 *     query_cache.c   the host's answers, kept for processes that repeat the question
 *
 *     QUERY --> what the server has ----all of it--> results
 *                 |   ^--\            \--some is missing--> the host's `query`, if any --> results
 *                 \------/ a step a turn, while there is more
 *
 * The chapter's own files share query_keys.h. */
#ifndef SX_SERVER_QUERY_QUERY_H
#define SX_SERVER_QUERY_QUERY_H

#include "server/model/state.h"

struct sx_queries;

bool sx_query_on_query(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* Answer the host's own query from the data of this server, without asking the host.  Any thread.
 * Return: as sx_query_known. */
pmix_status_t sx_query_by_host(struct sx_queries *queries);

/* Drop the host's answers about this namespace; all of them. */
void sx_query_kept_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_query_kept_clear(struct sx_server *server);

/* Forget the attributes that the host has declared with PMIx_Register_attributes. */
void sx_attributes_clear(struct sx_server *server);

#endif
