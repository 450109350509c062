/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* journal.c - a log line for each step in the life of the server, its namespaces and its
 * clients. */
#include "server/entry/entry.h"

#include "base/log.h"
#include "control/message.h"
#include "server/port/port.h"

void sx_journal_server_started(const struct sx_server *server)
{
    sx_log(SX_LOG_INFO, "server %s.%u has started: %s, listens at %s", server->self.nspace,
           server->self.rank, sx_loop_engine(server->loop), server->rendezvous.uri);
}

void sx_journal_nspace_registered(const struct sx_nspace *nspace)
{
    sx_log(SX_LOG_INFO, "namespace %s is registered: size %u, of which %u here", nspace->name,
           nspace->job_size, nspace->local_count);
}

void sx_journal_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    (void)server;
    sx_log(SX_LOG_DEBUG, "namespace %s has ended", nspace->name);
}

static const char *noun_of(const struct sx_client *client)
{
    return client->is_tool ? "tool" : "rank";
}

void sx_journal_client_connected(struct sx_server *server, struct sx_client *client)
{
    const struct sx_peer *const peer = sx_client_peer(client);

    (void)server;
    sx_log(SX_LOG_INFO, "%s %u of %s has connected: pid %d, user %u", noun_of(client), client->rank,
           client->nspace->name, (int)peer->pid, (unsigned)peer->uid);
    if (!client->is_tool && !client->nspace->registered && !client->nspace->unregistered_logged) {
        client->nspace->unregistered_logged = true;
        sx_log(SX_LOG_WARN,
               "rank %u of %s has connected, and the host has not registered %s: its fences wait "
               "until PMIx_server_register_nspace has succeeded",
               client->rank, client->nspace->name, client->nspace->name);
    }
}

void sx_journal_client_left(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    sx_log(SX_LOG_INFO, "%s %u of %s has finalized", noun_of(client), client->rank,
           client->nspace->name);
}

void sx_journal_client_departed(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    sx_log(SX_LOG_DEBUG, "%s %u of %s has exited", noun_of(client), client->rank,
           client->nspace->name);
}

void sx_journal_client_lost(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    sx_log(SX_LOG_INFO, "%s %u of %s is lost: it ended without PMIx_Finalize", noun_of(client),
           client->rank, client->nspace->name);
}

void sx_journal_frame(const struct sx_client *client, const struct sx_frame *frame)
{
    const struct sx_message_spec *const spec = sx_message_spec(frame->header.kind);

    if (!sx_log_wants(SX_LOG_DEBUG)) {
        return;
    }
    if (frame->header.kind == SX_MSG_GET) {
        const struct sx_get *const get = frame->opened.head;
        const char *const key = sx_part_text(&frame->opened.parts[SX_GET_KEY]);

        sx_log(SX_LOG_DEBUG, "%s %u of %s asks for \"%.128s\" of %.255s.%u", noun_of(client),
               client->rank, client->nspace->name, key == NULL ? "" : key, get->nspace, get->rank);
        return;
    }
    sx_log(SX_LOG_DEBUG, "%s %u of %s sends %s, %zu bytes", noun_of(client), client->rank,
           client->nspace->name, spec == NULL ? "an unknown request" : spec->name,
           (size_t)frame->body_size);
}
