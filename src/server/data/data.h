/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data.h - the chapter on data: what ranks put and commit, and the Gets that wait for it.
 *
 *     modex.c          values go from lanes into the store
 *     dmodex.c         and, through the host, to the servers of other nodes that ask for a local
 *                      rank's data
 *     waiting_gets.c   requests of clients for values that are not in the store
 *     get_index.c      those requests, by the rank and key that they wait for
 *     remote_gets.c    ask the host for the data that ranks of other nodes have committed
 *
 *     put --> stored --commit--> answers Gets that wait, and requests of other nodes
 *     Get of what is not stored --> WAITING --> answered, as waiting_gets.c draws
 *
 * The chapter's own files share get_index.h. */
#ifndef SX_SERVER_DATA_DATA_H
#define SX_SERVER_DATA_DATA_H

#include "server/model/state.h"

/* ---- Gets that wait ------------------------------------------------------------------------- */

#define SX_GETS_PATIENCE_NS (2 * SX_NS_PER_SEC) /* unless the host or environment sets another */

/* Set how long a Get without a time limit waits for a key that its rank has not committed along
 * with others.  The host's value comes first, then the environment's SHMIX_GET_TIMEOUT. Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with one line. */
pmix_status_t sx_gets_init(struct sx_server *server, const struct sx_server_options *options);

bool sx_gets_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* The values of one commit of @client are complete: answer the Gets that wait for them.  @first:
 * the commit is its first. */
void sx_gets_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The host has registered the client: Gets that wait for its rank wait for it now. */
void sx_gets_client_added(struct sx_server *server, struct sx_client *client);
/* The client has a slot on the board now: set its flag if Gets wait for it. */
void sx_gets_client_connected(struct sx_server *server, struct sx_client *client);
/* The client puts no more data. */
void sx_gets_client_gone(struct sx_server *server, struct sx_client *client);
/* The host has given the namespace data. */
void sx_gets_nspace_filled(struct sx_nspace *nspace);
/* With these data the host has set @said (enum sx_said): whether the topology follows later. */
void sx_gets_nspace_coming(struct sx_server *server, struct sx_nspace *nspace, uint8_t said);
void sx_gets_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_gets_deinit(struct sx_server *server);

/* ---- the values that ranks put and commit --------------------------------------------------- */

/* Store one committed value by its scope, after checking it.  *ret_kept: PMIX_SUCCESS, or why there
 * was no room for the value, which is counted for @client (board.h).  Return: PMIX_SUCCESS and
 * *ret_kept, or PMIX_ERR_BAD_PARAM for bytes that are not a put. */
pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client,
                           const struct sx_opened *body, pmix_status_t *ret_kept);
/* A put in a bulk body: when its value is long, take the body and copy it in the client's turns.
 * The client has its answer at the end.  Return: false when it is for sx_modex_put. */
bool sx_modex_put_long(struct sx_server *server, struct sx_client *client, struct sx_frame *frame);
/* As sx_modex_put, for a value that @client has sent in another way than by a put.  All processes
 * may read it at once, and other nodes receive it in that other way.  Return: PMIX_SUCCESS; the
 * error of the store, logged. */
pmix_status_t sx_modex_give(struct sx_server *server, struct sx_client *client, const char *key,
                            const pmix_value_t *value);
/* The same for @rank, which is on another node. */
pmix_status_t sx_modex_give_elsewhere(struct sx_nspace *nspace, uint32_t rank, const char *key,
                                      const pmix_value_t *value);
/* As sx_modex_put, for a value from another node.  A value for which there is no room is counted in
 * server.modex_lost. */
pmix_status_t sx_modex_store(struct sx_nspace *nspace, uint32_t rank, const struct sx_opened *body);
/* The values of one commit are complete: answer the Gets that wait for them.  An event informs the
 * client how many values could not be kept. */
pmix_status_t sx_modex_commit(struct sx_server *server, struct sx_client *client);

/* The data put before belong to another process. */
void sx_modex_client_expected(struct sx_server *server, struct sx_client *client);
/* The client's turns are over. */
void sx_modex_client_gone(struct sx_server *server, struct sx_client *client);
void sx_modex_client_removed(struct sx_server *server, struct sx_client *client);

/* ---- servers of other nodes ask, through the host, for the data of a local rank ------------- */

/* The client has committed: answer the requests that waited for its first commit. */
void sx_dmodex_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The client is gone: answer its waiting requests with PMIX_ERR_NOT_FOUND. */
void sx_dmodex_client_gone(struct sx_server *server, struct sx_client *client);

#endif
