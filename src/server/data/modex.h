/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex.h - what ranks put and commit. */
#ifndef SX_SERVER_DATA_MODEX_H
#define SX_SERVER_DATA_MODEX_H

#include "server/model/state.h"

/* One committed value: checked, then stored by its scope.  *ret_kept: PMIX_SUCCESS, or why there
 * was no room for it, which is counted for @client (board.h).  Return: PMIX_SUCCESS and *ret_kept,
 * or PMIX_ERR_BAD_PARAM for bytes that are no put. */
pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client,
                           const struct sx_opened *body, pmix_status_t *ret_kept);
/* The same for a value that @client has given in another way than by a put: for everybody, at once.
 * Other nodes hear of it by that way.  Return: PMIX_SUCCESS; what the store says, told. */
pmix_status_t sx_modex_give(struct sx_server *server, struct sx_client *client, const char *key,
                            const pmix_value_t *value);
/* The same of @rank, which is on another node. */
pmix_status_t sx_modex_give_elsewhere(struct sx_nspace *nspace, uint32_t rank, const char *key,
                                      const pmix_value_t *value);
/* As sx_modex_put, for a value that came from another node.  One that there is no room for is
 * counted in server.modex_lost. */
pmix_status_t sx_modex_store(struct sx_nspace *nspace, uint32_t rank, const struct sx_opened *body);
/* The values of one commit are complete: answer who waited for them, and tell the client by an
 * event how many could not be kept. */
pmix_status_t sx_modex_commit(struct sx_server *server, struct sx_client *client);

/* What was put before was another process's. */
void sx_modex_client_expected(struct sx_server *server, struct sx_client *client);
/* Its turns are over. */
void sx_modex_client_gone(struct sx_server *server, struct sx_client *client);
void sx_modex_client_removed(struct sx_server *server, struct sx_client *client);

#endif
