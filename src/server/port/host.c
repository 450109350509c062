/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - notices to the host, which need no answer. */
#include "server/port/port.h"

pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client)
{
    const enum sx_upcall_kind kind = server->module.client_connected2 != NULL
                                         ? SX_UPCALL_CLIENT_CONNECTED2
                                         : SX_UPCALL_CLIENT_CONNECTED;
    const pmix_status_t rc = client->is_tool /* the host has not registered a tool */
                                 ? PMIX_SUCCESS
                                 : sx_upcall(server, kind, &(struct sx_upcall){ .client = client });

    /* A host without use for the notice returns NOT_SUPPORTED; that is not a refusal. */
    return rc == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS : rc;
}

void sx_host_client_finalized(struct sx_server *server, struct sx_client *client)
{
    if (!client->is_tool || client->is_hosts_tool) {
        (void)sx_upcall(server, SX_UPCALL_CLIENT_FINALIZED,
                        &(struct sx_upcall){ .client = client });
    }
}

void sx_host_client_lost(struct sx_server *server, struct sx_client *client)
{
    if (client->is_hosts_tool) {
        sx_host_client_finalized(server, client);
    }
}
