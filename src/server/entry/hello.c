/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello.c - a process that has connected and not yet sent HELLO, and the check of its HELLO.
 *
 *     SILENT --it sends something--> READY --its turn: HELLO, and it may be so--> welcomed
 *        ^                             | \--anything else: one log line, closed
 *        \-----nothing was there------/
 *     SILENT --too many are: the oldest go--> closed
 *
 * A stranger is such a process; it costs one struct sx_connection and one descriptor.  At the end
 * of a turn there are at most SX_STRANGERS_MAX of them.  The peer's identity is the kernel's
 * credentials.  The message only names the rank that the peer wants to be, or states that the peer
 * is a tool (tool.c). */
#include "server/entry/entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/port/port.h"

#define REFUSAL_UNITS 20 /* of a peer that is refused, or leaves without a message */

static void stranger_remove(struct sx_connection *connection)
{
    sx_list_remove(&connection->link);
    if (--connection->server->entry.strangers.count == 0) {
        connection->server->entry.strangers.crowd_logged = false;
    }
}

static void stranger_end(struct sx_connection *connection)
{
    stranger_remove(connection);
    sx_connection_end(connection);
}

/* ---- refusals ------------------------------------------------------------------------------ */

#define ACCEPT_REST_NS (SX_TURN_STRANGER_UNITS * SX_TURN_REST * SX_TURN_UNIT_NS)

static pmix_status_t accept_start(struct sx_server *server)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < SX_COUNT(server->entry.strangers.accepts) && rc == PMIX_SUCCESS; i++) {
        struct sx_accept *accept = &server->entry.strangers.accepts[i];

        if (accept->fd >= 0 && accept->source.loop == NULL) {
            rc = sx_accept_add(server->loop, accept);
        }
    }
    return rc;
}

static void accept_stop(struct sx_server *server)
{
    for (size_t i = 0; i < SX_COUNT(server->entry.strangers.accepts); i++) {
        sx_accept_remove(&server->entry.strangers.accepts[i]);
    }
}

static void accept_again(void *arg, uint64_t now_ns);

/* A refused peer may connect again at once.  So when refused peers have used up a share of a turn,
 * accepting rests for ten times as long.  A peer that connects meanwhile waits in the backlog.
 * Accepted peers are served on. */
static void accept_rest(struct sx_server *server, uint64_t now_ns)
{
    struct sx_strangers *strangers = &server->entry.strangers;

    strangers->accept_rest.fn = accept_again;
    strangers->accept_rest.arg = server;
    if (sx_timer_add(server->loop, &strangers->accept_rest, now_ns + ACCEPT_REST_NS) ==
        PMIX_SUCCESS) {
        accept_stop(server);
        strangers->refused_units -= strangers->refused_units < SX_TURN_STRANGER_UNITS
                                        ? strangers->refused_units
                                        : SX_TURN_STRANGER_UNITS;
    }
}

static void accept_again(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    if (server->entry.strangers.refused_units >=
            SX_TURN_STRANGER_UNITS || /* accepted before the rest */
        accept_start(server) != PMIX_SUCCESS) {
        accept_rest(server, now_ns);
    }
}

static void refusal_charge(struct sx_server *server, uint64_t now_ns)
{
    sx_share_charge_strangers(server, REFUSAL_UNITS);
    server->entry.strangers.refused_units += REFUSAL_UNITS;
    if (server->entry.strangers.refused_units >= SX_TURN_STRANGER_UNITS &&
        server->entry.strangers.accept_rest.source.loop == NULL) {
        accept_rest(server, now_ns);
    }
}

/* ---- HELLO --------------------------------------------------------------------------------- */

/* Return: the registered client that the peer may become, or NULL with *ret_status and *ret_why. */
static struct sx_client *client_judge(struct sx_server *server, const struct sx_hello *hello,
                                      const struct sx_peer *peer, pmix_status_t *ret_status,
                                      const char **ret_why)
{
    struct sx_nspace *nspace = sx_nspace_find(server, hello->nspace);
    struct sx_client *client = nspace == NULL || nspace->is_ending
                                   ? NULL
                                   : sx_client_find(nspace, hello->rank);

    *ret_status = PMIX_ERR_NOT_FOUND;
    *ret_why = "wants to be a rank that the host has not registered here";
    if (client == NULL || client->is_tool) {
        return NULL;
    }
    *ret_why =
        "wants to be a rank that was cut off, or taken away: the host has to register it again";
    if (client->state == SX_CLIENT_DEAD && !client->died) {
        return NULL;
    }
    *ret_status = PMIX_ERR_NO_PERMISSIONS;
    *ret_why = "belongs to another user than the rank it wants to be";
    if (peer->uid != client->uid) {
        return NULL;
    }
    *ret_status = PMIX_EXISTS;
    *ret_why = "wants to be a rank that is connected already";
    if (client->is_asked ||
        (client->state == SX_CLIENT_CONNECTED && !server->consumer->replaced(server, client))) {
        return NULL;
    }
    return client;
}

static void refusal_log(const struct sx_peer *peer, const char *why)
{
    sx_log(SX_LOG_WARN, "connection of pid %d uid %u refused: it %s", (int)peer->pid,
           (unsigned)peer->uid, why);
}

static pmix_status_t client_welcome(struct sx_server *server, struct sx_client *client,
                                    struct sx_connection *connection, uint32_t flags, uint32_t id)
{
    const pmix_status_t rc = sx_connection_welcome(server, client, connection, flags, id);

    if (rc != PMIX_SUCCESS) {
        sx_host_client_lost(server, client);
        sx_tool_forget(server, client);
    }
    return rc;
}

/* The decision about @connection, which is a stranger no more: its identity, or a refusal.
 * Without a connection @client has gone, and the host has welcomed it. */
static void decided(struct sx_connection *connection, struct sx_client *client, uint32_t flags,
                    uint32_t id, pmix_status_t status, const char *why)
{
    if (connection == NULL) {
        sx_reaper_client_lost(sx_server_get(), client);
        return;
    }
    struct sx_server *const server = connection->server;

    if (client != NULL) {
        status = client_welcome(server, client, connection, flags, id);
        why = status == PMIX_ERR_OUT_OF_RESOURCE
                  ? "could not be equipped: the server has no descriptor or memory left for it; "
                    "raise the server's limits (ulimit -n)"
                  : "could not be equipped";
    }
    if (status == PMIX_SUCCESS) {
        sx_share_charge_strangers(server, sx_message_cost(SX_MSG_HELLO, sizeof(struct sx_hello)));
        return;
    }
    struct sx_welcome refusal = { .status = status };
    const struct iovec iov = { .iov_base = &refusal, .iov_len = sizeof(refusal) };

    snprintf(refusal.nspace, sizeof(refusal.nspace), "%s", why);
    refusal_log(&connection->channel.peer, why); /* first: who reads the refusal finds the line */
    sx_channel_send(&connection->channel, SX_MSG_WELCOME, id, &iov, 1, NULL, 0);
    refusal_charge(server, sx_now_ns());
    sx_connection_end(connection);
}

/* @hello has been checked: its names end. */
static void hello_take(struct sx_connection *connection, const struct sx_hello *hello, uint32_t id)
{
    struct sx_server *const server = connection->server;
    const struct sx_peer *const peer = &connection->channel.peer;
    struct sx_client *client = NULL;
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    const char *why = "is neither client nor tool";
    char versions[160];

    connection->pid = hello->pid;
    connection->library = hello->library;
    if (hello->protocol != SX_PROTOCOL_VERSION) {
        status = PMIX_ERR_NOT_SUPPORTED;
        why = versions;
        snprintf(versions, sizeof(versions),
                 "has a libpmix.so.2 of shmix with protocol %" PRIu32
                 ", and this server (shmix %s) has protocol %u: give both the same libpmix.so.2",
                 hello->protocol, SHMIX_VERSION, SX_PROTOCOL_VERSION);
    } else if (hello->role == SX_PEER_CLIENT) {
        client = client_judge(server, hello, peer, &status, &why);
        status = client == NULL ? status : sx_client_ask(connection, hello, id, client, decided);
        if (client != NULL && status == PMIX_SUCCESS) {
            return;
        }
        if (client != NULL && status != PMIX_ERR_NOT_SUPPORTED) {
            client = NULL;
            why = "could not be announced to the host: the server has no memory left for it";
        }
    } else if (hello->role == SX_PEER_COMMAND) {
        client = sx_tool_admit(server, hello, peer, &status, &why);
    } else if (hello->role == SX_PEER_TOOL) {
        status = sx_tool_ask(connection, hello, id, decided, &why);
        if (status == PMIX_SUCCESS) {
            return;
        }
    }
    decided(connection, client, hello->flags, id, status, why);
}

/* The first frame of a connection: HELLO, or something else, or nothing. */
static void stranger_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct sx_connection *connection = arg;
    struct sx_server *server = connection->server;
    const struct sx_peer peer = connection->channel.peer;

    (void)why;
    stranger_remove(connection);
    if (frame != NULL && frame->header.kind == SX_MSG_HELLO) {
        hello_take(connection, frame->opened.head, frame->header.id);
        return;
    }
    refusal_charge(server, now_ns);
    if (frame != NULL) {
        refusal_log(&peer, "did not say who it is");
    }
    sx_connection_end(connection);
}

/* ---- strangers that send nothing ----------------------------------------------------------- */

/* Welcomed clients need descriptors, too. */
static size_t strangers_max(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 > SX_STRANGERS_MAX) {
        return SX_STRANGERS_MAX;
    }
    return limit.rlim_cur / 4 < SX_STRANGERS_MIN ? SX_STRANGERS_MIN : limit.rlim_cur / 4;
}

/* At the end of a turn, after each peer accepted in it has had a chance to send HELLO. */
static void crowd_thin_out(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;
    struct sx_strangers *strangers = &server->entry.strangers;
    const size_t max = strangers_max();

    strangers->crowd_posted = false;
    while (strangers->count > max && !sx_list_empty(&strangers->silent)) {
        struct sx_connection *oldest = SX_LIST_ENTRY(strangers->silent.next, struct sx_connection,
                                                     link);

        if (!strangers->crowd_logged) {
            strangers->crowd_logged = true;
            sx_log(SX_LOG_WARN,
                   "more than %zu connections do not say who they are: the oldest "
                   "are closed (one is of pid %d uid %u)",
                   max, (int)oldest->channel.peer.pid, (unsigned)oldest->channel.peer.uid);
        }
        stranger_end(oldest);
        refusal_charge(server, now_ns);
    }
}

static void stranger_is_ready(void *arg, uint64_t now_ns)
{
    struct sx_connection *connection = arg;

    (void)now_ns;
    sx_list_remove(&connection->link);
    sx_list_append(&connection->server->turn.strangers, &connection->link);
}

void sx_stranger_take(struct sx_server *server, uint64_t now_ns)
{
    struct sx_connection *connection = SX_LIST_ENTRY(sx_list_pop(&server->turn.strangers),
                                                     struct sx_connection, link);

    sx_list_append(&server->entry.strangers.silent,
                   &connection->link); /* the socket may be empty after all */
    const struct sx_log_cause before = sx_log_bound_serve(server, connection->channel.peer.uid);

    sx_channel_take(&connection->channel, now_ns);
    sx_log_bound_served(server, before);
}

static void accepted(void *arg, int fd, uint64_t now_ns)
{
    struct sx_server *server = arg;
    struct sx_strangers *strangers = &server->entry.strangers;
    struct sx_connection *connection = calloc(1, sizeof(*connection));

    (void)now_ns;
    if (connection == NULL) {
        sx_channel_refuse(fd);
        return;
    }
    connection->server = server;
    sx_list_init(&connection->link);
    if (sx_channel_open(&connection->channel, server->loop, fd, stranger_on_frame, connection) !=
        PMIX_SUCCESS) {
        free(connection);
        return;
    }
    connection->channel.on_ready = stranger_is_ready;
    sx_list_append(&strangers->silent, &connection->link);
    if (++strangers->count > strangers_max() && !strangers->crowd_posted) {
        strangers->crowd = (struct sx_loop_post){ .fn = crowd_thin_out, .arg = server };
        strangers->crowd_posted = sx_loop_post(server->loop, &strangers->crowd) == PMIX_SUCCESS;
    }
}

/* Without accept4 no peer could ever connect.  Called for an invalid descriptor, it accepts no
 * connection. */
static pmix_status_t accept_judge(void)
{
    if (accept4(-1, NULL, NULL, SOCK_CLOEXEC) >= 0 || errno == EBADF) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "accept4: %s: no process can connect%s",
                    strerror(errno), sx_refused_advice(errno));
}

pmix_status_t sx_strangers_listen(struct sx_server *server)
{
    const int fds[] = { server->rendezvous.listen_fd, server->rendezvous.abstract_fd };

    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        server->entry.strangers.accepts[i] = (struct sx_accept){ .fd = fds[i],
                                                                 .fn = accepted,
                                                                 .arg = server };
    }
    const pmix_status_t rc = accept_judge();

    return rc == PMIX_SUCCESS ? accept_start(server) : rc;
}

static void close_all(struct sx_list *connections)
{
    SX_LIST_EACH(it, connections) {
        stranger_end(SX_LIST_ENTRY(it, struct sx_connection, link));
    }
}

void sx_strangers_end(struct sx_server *server)
{
    accept_stop(server);
    sx_timer_remove(&server->entry.strangers.accept_rest);
    close_all(&server->entry.strangers.silent);
    close_all(&server->turn.strangers);
    sx_tool_ask_end_all(server);
}
