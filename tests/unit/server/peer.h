/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* peer.h - the other end of a connection that a bare server has accepted: what it says and
 * hears. */
#ifndef SX_TEST_PEER_H
#define SX_TEST_PEER_H

#include <criterion/criterion.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bare.h"
#include "control/channel.h"
#include "server/entry/entry.h"

struct peer {
    struct sx_server *server;
    int fd;
    _Alignas(8) char bytes[SX_FRAME_MAX];
    struct sx_frame frame; /* the last that was heard */
};

/* A bare server with a loop and turns, to which nobody can connect but with peer_connect. */
static inline void peer_server(struct sx_server *server, const struct sx_consumer *consumer)
{
    static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];

    bare_init(server);
    bare_loop(server);
    sx_endings_init(server);
    sx_list_init(&server->entry.strangers.silent);
    sx_list_init(&server->entry.strangers.asked);
    sx_list_init(&server->entry.strangers.joining);
    sx_list_init(&server->port.host.calls);
    server->rendezvous = SX_RENDEZVOUS_NULL;
    server->consumer = consumer;
    server->port.lane_buffer = buffer;
    sx_turn_hook(server);
    cr_assert_eq(sx_strangers_listen(server), PMIX_SUCCESS);
    sx_server_set(server);
}

static inline void peer_connect(struct peer *peer, struct sx_server *server)
{
    int fds[2];

    *peer = (struct peer){ .server = server };
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    peer->fd = fds[1];
    server->entry.strangers.accepts[0].fn(server, fds[0], 0);
}

static inline void peer_say(struct peer *peer, uint16_t kind, const void *body, size_t size)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)body, .iov_len = size };

    cr_assert_eq(sx_frame_send(peer->fd, kind, 7, &iov, 1, UINT64_MAX), PMIX_SUCCESS);
}

static inline void peer_stop(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)revents, (void)now_ns;
    sx_loop_stop(arg);
}

/* Let the server work until it says something, or ends the connection: then false. */
static inline bool peer_receive(struct peer *peer)
{
    struct sx_poll poll = {
        .fd = peer->fd, .events = POLLIN, .fn = peer_stop, .arg = peer->server->loop
    };

    sx_frame_release(&peer->frame);
    cr_assert_eq(sx_poll_add(peer->server->loop, &poll), PMIX_SUCCESS);
    sx_loop_run(peer->server->loop);
    sx_poll_remove(&poll);
    const pmix_status_t rc = sx_frame_receive(peer->fd, peer->bytes, &peer->frame, 0);

    cr_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_LOST_CONNECTION, "%d", rc);
    return rc == PMIX_SUCCESS;
}

/* Say HELLO.  Return: the welcome, whose descriptors are in peer->frame. */
static inline const struct sx_welcome *peer_hello(struct peer *peer, const struct sx_hello *hello)
{
    peer_say(peer, SX_MSG_HELLO, hello, sizeof(*hello));
    cr_assert(peer_receive(peer));
    cr_assert_eq(peer->frame.header.kind, SX_MSG_WELCOME);
    cr_assert_eq(peer->frame.header.id, 7);
    return peer->frame.body;
}

static inline void peer_leave(struct peer *peer)
{
    sx_frame_release(&peer->frame);
    close(peer->fd);
}

#endif
