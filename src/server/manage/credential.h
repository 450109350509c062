/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* credential.h - credentials of kind "sx": a process's identity from the kernel, for those it
 * trusts.
 *
 *     "sx:" server ":" secret ":" rank ":" namespace      server, secret: hexadecimal
 *
 * Each process has one while it is connected, made at its first request.  Its server keeps and
 * compares it; no other server can validate it.  So there is no key, and nothing to sign.  Any
 * process that obtains it can present it, as its owner can. */
#ifndef SX_SERVER_MANAGE_CREDENTIAL_H
#define SX_SERVER_MANAGE_CREDENTIAL_H

#include "server/model/state.h"

/* Answer request @id of @client, whose infos are @info. */
void sx_credential_give(struct sx_server *server, struct sx_client *client, uint32_t id,
                        const pmix_info_t info[], size_t ninfo);
/* Validate for @client.  The first of @info is the credential, with a value of that type. */
void sx_credential_validate(struct sx_server *server, struct sx_client *client, uint32_t id,
                            const pmix_info_t info[], size_t ninfo);

/* Validate for a host, which is not a client; *ret_info is PMIx_Info_create's.  Return:
 * PMIX_SUCCESS; PMIX_ERR_INVALID_CRED; PMIX_ERR_UNREACH for a credential of another server;
 * PMIX_ERR_NOT_SUPPORTED for another kind; PMIX_ERR_INIT; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_credential_by_host(const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                                    size_t *ret_ninfo);

/* The credential of the client becomes invalid. */
void sx_credential_client_gone(struct sx_server *server, struct sx_client *client);

#endif
