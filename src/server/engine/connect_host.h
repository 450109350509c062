/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_host.h - the rows of connect and disconnect: the way to members on other nodes.
 *
 *     all here have called --host has the entry--> ASKED --all are here--> ended
 *             |                                      |  \--it refuses--> ended, with its status
 *             \------some are elsewhere, no entry--\ |
 *                                                   AGREEING, in rounds --> ended
 *
 * The host's entry is asked once, with the infos of all callers here, even if all are here.  It has
 * the first word: what it refuses is refused.  All that it answers is a status.  So the servers
 * then agree among themselves in rounds (rounds.h), through its fence: who has connected, under
 * which name, and what is known of the jobs.  The entry is not held up by the rounds of the same
 * processes: it might be what another node waits for. */
#ifndef SX_SERVER_ENGINE_CONNECT_HOST_H
#define SX_SERVER_ENGINE_CONNECT_HOST_H

#include "server/engine/collective_kind.h"

/* Whether the servers reach each other. */
bool sx_connect_host_reaches(const struct sx_server *server);
bool sx_connect_host_hears(const struct sx_server *server);
pmix_status_t sx_connect_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_connect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status);
pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob);

bool sx_disconnect_host_hears(const struct sx_server *server);
pmix_status_t sx_disconnect_host_ask(struct sx_collective *collective, sx_told_fn told);
bool sx_disconnect_host_said(struct sx_collective *collective, const struct sx_host_answer *answer,
                             pmix_status_t *ret_status);
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob);

#endif
