/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.h - the chapter on PMIx_Publish, PMIx_Lookup and PMIx_Unpublish: by the host's entries,
 * or by our own table.
 *
 *     publish.c         publish and unpublish, of clients, of the host, and of ranks that use
 *                       another protocol
 *     publish_call.c    what all calls have in common
 *     lookup.c          the search of a lookup, and lookups that wait
 *     lookup_answer.c   the answer to a lookup
 *     The table is model/published.c; model/published_access.c decides which process may look a
 *     value up.
 *
 *     lookup --enough keys are found, or it does not wait--> answered
 *        \--> WAITING --published: enough--> answered
 *        |       \--a job that its client has spawned has failed--> answered with that
 *        |       \--its time is over, or its client leaves--> answered, or dropped
 *        \--the search is long--> SEARCHING, a step in each turn of its client, and then as above
 *
 * A host that has the entry of a call is asked each time, with the caller's identity from the
 * kernel.  Without the entry the values are in server/model/published.h, and waiting lookups are
 * indexed by key.  Each key of a lookup is searched for once.  A later publication is matched with
 * the lookups that wait for it, in their order.  Beyond WAKE_LOOKUPS_MAX of them, each searches in
 * its own client's turns.  Removing many values continues in its caller's turns, too.  Memory: the
 * number of a client's waiting lookups is bounded (port/pending.c).  Loop thread. */
#ifndef SX_SERVER_PUBLISH_PUBLISH_H
#define SX_SERVER_PUBLISH_PUBLISH_H

#include <stddef.h>

#include <pmix_common.h>

#include "base/call/role.h"
#include "server/model/state.h"

/* Handle PUBLISH, LOOKUP, UNPUBLISH.  Return: true, as nothing in them is a breach of protocol. */
bool sx_publish_on_publish(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns);
bool sx_publish_on_lookup(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
bool sx_publish_on_unpublish(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame, uint64_t now_ns);

/* The data among @info have just been published, by @client unless it is NULL.  Answer the lookups
 * that wait for them, now or in their clients' turns. */
void sx_publish_wake(struct sx_server *server, struct sx_client *client, const pmix_info_t info[],
                     size_t ninfo);

/* The `publish` of struct sx_role_server. */
pmix_status_t sx_publish_by_host(const struct sx_role_publish *call, pmix_info_t **ret_info,
                                 size_t *ret_ninfo);

/* Get a descriptor of the store in which @client may search by itself.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the host has to be asked; as sx_published_share. */
pmix_status_t sx_publish_share(struct sx_server *server, struct sx_client *client, int *ret_fd);

/* The session of @nspace has become known. */
void sx_publish_session_notified(struct sx_server *server, const struct sx_nspace *nspace);

/* The job @nspace, which @spawner has spawned, has failed with @status.  An MPI library waits in a
 * lookup for a value of its child, which will not be published.  So the waiting lookups of @spawner
 * end with @status; if there is none, the next one that would wait does.  Nothing ends if a process
 * of @nspace has ever been connected with others.  Any thread.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when nothing was to be ended; PMIX_ERR_INIT without a server. */
pmix_status_t sx_publish_spawn_failed(const pmix_proc_t *spawner, const char *nspace,
                                      pmix_status_t status);

void sx_publish_init(struct sx_server *server);
/* Rows that end with a process, or with its job, are found by nobody from then on.  They leave the
 * table, and the stores that processes read for themselves, in steps, a turn each. */
void sx_publish_client_gone(struct sx_server *server, struct sx_client *client);
/* The same, after which its application may have ended with the job. */
void sx_publish_client_over(struct sx_server *server, struct sx_client *client);
void sx_publish_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_publish_deinit(struct sx_server *server);

/* ---- ranks that use another protocol ---------------------------------------------------------
 *
 * Published data for a host whose ranks also use another protocol than ours.
 *
 * A rank that uses another protocol with its host publishes in the same table as one that calls
 * PMIx_Publish.  It publishes under its own name, and finds what others have
 * published there.  Its values are texts.  Any thread. */

/* Publish @text as @proc under @key, in range and lifetime of the session.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM for a key that is reserved or empty; as sx_published_add; PMIX_ERR_NOT_FOUND
 * when there is no such namespace; PMIX_ERR_INIT without a server. */
pmix_status_t sx_publish_as(const pmix_proc_t *proc, const char *key, const char *text);

/* Read the value that @proc finds under @key.  Return: PMIX_SUCCESS, and the value in @ret_text;
 * PMIX_ERR_NOT_FOUND, also for a value that is not a text or does not fit in @size bytes;
 * PMIX_ERR_INIT. */
pmix_status_t sx_lookup_as(const pmix_proc_t *proc, const char *key, char *ret_text, size_t size);

/* Remove the value that @proc has published under @key for all of the session.  Return: as
 * sx_published_withdraw; PMIX_ERR_INIT. */
pmix_status_t sx_unpublish_as(const pmix_proc_t *proc, const char *key);

#endif
