/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_bound.c - count the lines of the client that is being served. */
#include "server/entry/log_bound.h"

#include "base/log.h"
#include "server/model/state.h"

/* Whoever is asked may log: then nobody is being served. */
static bool may_write(void)
{
    struct sx_server *const server = sx_server_get();

    if (server == NULL || !sx_loop_is_own_thread(server->loop)) {
        return true;
    }
    struct sx_client *const client = server->served;

    if (client == NULL || client->nspace == NULL) {
        return true; /* its namespace has gone meanwhile: so it soon will */
    }
    if (client->log_lines == SX_LOG_BOUND_LINES) {
        client->log_lines++;
        sx_log_bound_serve(server, NULL);
        sx_log(SX_LOG_WARN, "client %s.%u has caused %u lines: no more is written of what it does",
               client->nspace->name, client->rank, SX_LOG_BOUND_LINES);
        sx_log_bound_serve(server, client);
    }
    if (client->log_lines > SX_LOG_BOUND_LINES) {
        return false;
    }
    client->log_lines++;
    return true;
}

void sx_log_bound_begin(void)
{
    sx_log_set_judge(may_write);
}

void sx_log_bound_serve(struct sx_server *server, struct sx_client *client)
{
    server->served = client;
}

void sx_log_bound_client_expected(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    client->log_lines = 0;
}
