/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* credential.h - credentials of kind "sx": what the kernel says of a process, for those it trusts.
 *
 *     "sx:" server ":" secret ":" rank ":" namespace      server, secret: hexadecimal
 *
 * Each process has one while it is connected, made when it first asks.  Its server keeps it and
 * compares: no other server can say whose it is.  So there is no key, and nothing to sign.
 * Whoever has it can show it, as its owner can. */
#ifndef SX_SERVER_MANAGE_CREDENTIAL_H
#define SX_SERVER_MANAGE_CREDENTIAL_H

#include "server/model/state.h"

/* Answer request @id of @client, whose infos are @info. */
void sx_credential_give(struct sx_server *server, struct sx_client *client, uint32_t id,
                        const pmix_info_t info[], size_t ninfo);
/* The same; the first of @info is the credential, with a value of that type. */
void sx_credential_validate(struct sx_server *server, struct sx_client *client, uint32_t id,
                            const pmix_info_t info[], size_t ninfo);

/* The same for a host that is no client; *ret_info is PMIx_Info_create's.  Return: PMIX_SUCCESS;
 * PMIX_ERR_INVALID_CRED; PMIX_ERR_UNREACH for one that another server has made;
 * PMIX_ERR_NOT_SUPPORTED for another kind; PMIX_ERR_INIT; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_credential_by_host(const pmix_info_t info[], size_t ninfo, pmix_info_t **ret_info,
                                    size_t *ret_ninfo);

/* What it has is nobody's any more. */
void sx_credential_client_gone(struct sx_server *server, struct sx_client *client);

#endif
