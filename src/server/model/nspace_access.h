/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_access.h - which users' processes may read, reach and control which. */
#ifndef SX_SERVER_MODEL_NSPACE_ACCESS_H
#define SX_SERVER_MODEL_NSPACE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

struct sx_client;
struct sx_nspace;
struct sx_server;

/* Whether all processes of @nspace that are here are @uid's; without any, whether the job is. */
bool sx_nspace_is_of(const struct sx_nspace *nspace, uid_t uid);

/* Whether @client may map the namespace's store.  It may map its own and its home's, and one whose
 * processes here are all of its own user.  It may also map one without processes here whose user is
 * its own, and one with whose processes it is connected or in a group. */
bool sx_nspace_visible(struct sx_server *server, const struct sx_nspace *nspace,
                       struct sx_client *client);
/* The same for a caller that asks about many namespaces: @mark is what sx_memberships_mark has
 * returned for @client in this turn. */
bool sx_nspace_visible_marked(const struct sx_nspace *nspace, const struct sx_client *client,
                              uint64_t mark);

/* Whether values that @client publishes or pushes may reach processes of @nspace, and their output
 * may reach @client: as sx_nspace_visible, and root may.  @client pays for the check of another
 * namespace. */
bool sx_nspace_reachable(struct sx_server *server, const struct sx_nspace *nspace,
                         struct sx_client *client);

/* Whether one of the @count processes at @procs is here and is of another user than @client, which
 * therefore may neither end nor control all of them.  Root may.  @client pays. */
bool sx_procs_are_foreign(struct sx_server *server, struct sx_client *client,
                          const pmix_proc_t procs[], size_t count);

#endif
