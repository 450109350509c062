/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_alias.h - events from, for, or about members of connected namespaces and groups. */
#ifndef SX_SERVER_EVENT_EVENT_ALIAS_H
#define SX_SERVER_EVENT_EVENT_ALIAS_H

#include "server/model/event_block.h"
#include "server/model/state.h"

/* Rewrite *block so that it names real processes where it named them through a connected namespace
 * or a group.  The infos stay unchanged, and other nodes read them.  *block may be replaced; its
 * reference moves to the new one.  @payer, NULL for a host, is charged for a long list.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then *block is unchanged. */
pmix_status_t sx_event_unalias(struct sx_server *server, struct sx_client *payer,
                               struct sx_event_block **block);

#endif
