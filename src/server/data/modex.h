/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex.h - the values that ranks put and commit. */
#ifndef SX_SERVER_DATA_MODEX_H
#define SX_SERVER_DATA_MODEX_H

#include "server/model/state.h"

/* Store one committed value by its scope, after checking it.  *ret_kept: PMIX_SUCCESS, or why there
 * was no room for the value, which is counted for @client (board.h).  Return: PMIX_SUCCESS and
 * *ret_kept, or PMIX_ERR_BAD_PARAM for bytes that are not a put. */
pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client,
                           const struct sx_opened *body, pmix_status_t *ret_kept);
/* The same for a value that @client has sent in another way than by a put.  All processes may read
 * it at once, and other nodes receive it in that other way.  Return: PMIX_SUCCESS; the error of the
 * store, logged. */
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

#endif
