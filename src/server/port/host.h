/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - what the host is asked and told: each is an upcall with its infos. */
#ifndef SX_SERVER_PORT_HOST_H
#define SX_SERVER_PORT_HOST_H

#include "server/model/event_block.h"
#include "server/port/upcall.h"
#include "server/port/wishes.h"

/* ---- notices ------------------------------------------------------------------------------- */

/* Return: PMIX_SUCCESS, or the host's refusal. */
pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client);
void sx_host_client_finalized(struct sx_server *server, struct sx_client *client);

/* Nobody wants to hear of @code any more.  What the host says to it is logged and nothing else. */
void sx_host_deregister_event(struct sx_server *server, pmix_status_t code);

/* ---- questions ------------------------------------------------------------------------------ */

/* Return: as sx_upcall. */

struct sx_host_fence {
    const pmix_proc_t *procs;
    size_t nprocs;
    char *bytes; /* malloc'ed, the host's from here on whatever comes back */
    size_t size;
    pmix_status_t local;      /* how it went on this node */
    struct sx_wishes *wishes; /* empty afterwards */
};
/* Carry the bytes to the servers of all nodes that take part, and theirs back. */
pmix_status_t sx_host_fence(struct sx_server *server, const struct sx_host_fence *fence,
                            struct sx_asker *asker, sx_told_fn told);

/* Ask for the data of a process of another node; @key is the one wanted, and what the host itself
 * has kept of it is not if it is wanted @anew. */
pmix_status_t sx_host_direct_modex(struct sx_server *server, const pmix_proc_t *proc,
                                   const char *key, bool anew, struct sx_asker *asker,
                                   sx_told_fn told);

/* An event of @client (NULL: of a tool's) that concerns others than the processes of this node.
 * @told gets @id. */
pmix_status_t sx_host_notify(struct sx_server *server, struct sx_client *client,
                             const struct sx_event_block *block, uint64_t id, sx_told_fn told);

/* Somebody of this user and group wants to hear of @codes.  @told gets @id. */
pmix_status_t sx_host_register_events(struct sx_server *server, const pmix_status_t codes[],
                                      size_t count, uid_t uid, gid_t gid, uint64_t id,
                                      sx_told_fn told);

#endif
