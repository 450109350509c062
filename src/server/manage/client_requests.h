/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_requests.h - requests that only the host answers: it gets the asker's identity, and its
 * answer is returned to the client. */
#ifndef SX_SERVER_MANAGE_CLIENT_REQUESTS_H
#define SX_SERVER_MANAGE_CLIENT_REQUESTS_H

#include "server/model/state.h"

/* Append the asker's identity, as given by the kernel, to the infos.  *info is another array then.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_ask_asker_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo);

/* Handle ASK_HOST.  Return: true, as this is not a breach of protocol. */
bool sx_ask_on_ask_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns);

/* Append the asker's identity, as given by the kernel, to the infos.  *info is another array then.
 * Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_ask_asker_add(const struct sx_client *client, pmix_info_t **info, size_t *ninfo);

#endif
