/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.h - PMIx_Publish, PMIx_Lookup and PMIx_Unpublish: the host's entries, or our own table.
 *
 *     lookup --enough is found, or it does not wait--> answered
 *        \--> WAITING --published: enough--> answered
 *        |       \--a job that its client has spawned has failed--> answered with that
 *        |       \--its time is over, or its client goes--> answered, or dropped
 *        \--there is much to look at--> SEARCHING, a step in each turn of its client, and then so
 *
 * A host that has the entry of a call is asked each time, and told who asks as the kernel says.
 * Without it the values lie in server/model/published.h, and what waits for a key is found by that
 * key.  Each key of a lookup is looked for once.  What is published later is compared with those
 * that wait for it, the first first; beyond WAKE_LOOKUPS_MAX of them each looks in its own turns.
 * Taking back much goes on in its caller's turns, too.
 * Memory: a client has so many lookups that wait (port/pending.c).  Loop thread. */
#ifndef SX_SERVER_PUBLISH_PUBLISH_H
#define SX_SERVER_PUBLISH_PUBLISH_H

#include "base/call/role.h"
#include "server/model/state.h"

/* PUBLISH, LOOKUP, UNPUBLISH.  Return: true, it is no breach. */
bool sx_publish_on_publish(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns);
bool sx_publish_on_lookup(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
bool sx_publish_on_unpublish(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame, uint64_t now_ns);

/* The data among @info have just been published, by @client unless it is NULL: who waits for them
 * is answered, now or in its turns. */
void sx_publish_wake(struct sx_server *server, struct sx_client *client, const pmix_info_t info[],
                     size_t ninfo);

/* The `publish` of struct sx_role_server. */
pmix_status_t sx_publish_by_host(const struct sx_role_publish *call, pmix_info_t **ret_info,
                                 size_t *ret_ninfo);

/* A descriptor of the store in which @client may look for itself.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the host has to be asked; as sx_published_share. */
pmix_status_t sx_publish_share(struct sx_server *server, struct sx_client *client, int *ret_fd);

/* It is known now to which session @nspace belongs. */
void sx_publish_session_told(struct sx_server *server, const struct sx_nspace *nspace);

/* The job @nspace, which @spawner has spawned, has failed with @status.  An MPI library waits in a
 * lookup for what its child publishes, which nobody will: unless a process of @nspace has ever been
 * connected with others, the lookups of @spawner that wait end with @status; if there is none, the
 * next one that would wait.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when that was
 * not to be done; PMIX_ERR_INIT without a server. */
pmix_status_t sx_publish_spawn_failed(const pmix_proc_t *spawner, const char *nspace,
                                      pmix_status_t status);

void sx_publish_client_gone(struct sx_server *server, struct sx_client *client);
/* The same, and its application may have ended with it. */
void sx_publish_client_over(struct sx_server *server, struct sx_client *client);
void sx_publish_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_publish_deinit(struct sx_server *server);

#endif
