/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wake.c - ring a client's bell; write one byte to each client that sleeps in poll(2) and wants the
 * news.
 *
 *     NONE --WAKE_GET--> a pair of sockets, one end the client's --client goes--> NONE
 *
 * A socket is used, not an eventfd.  A client shares the flags and the counter of an eventfd, and
 * could make a write to it wait for ever.  A client also receives the end of a socket when the
 * server dies.  The words that mark sleepers are in ring/sleeper.h.  When memory for a byte is
 * short, the byte is sent SX_WAKE_AGAIN_NS later, because no other news may follow. */
#include "server/port/port.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "ring/sleeper.h"
#include "server/model/state.h"

#define SX_WAKE_AGAIN_NS (10 * SX_NS_PER_MS)

pmix_status_t sx_wake_fd_open(struct sx_server *server, struct sx_client *client, int *ret_fd)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "a socket to wake %s.%u: %s (raise ulimit -n)",
                        client->nspace->name, client->rank, strerror(errno));
    }
    if (!sx_sleeper_open(client->lane.line, &server->board.slots[client->slot], fds[0])) {
        close(fds[0]);
        close(fds[1]);
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory to wake %s.%u", client->nspace->name,
                        client->rank);
    }
    /* One way: bytes that a client sends here could make the server's end hard to close. */
    shutdown(fds[0], SHUT_RD);
    client->wake_fd = fds[0];
    sx_list_append(&client->home->pollers, &client->poller);
    *ret_fd = fds[1];
    return PMIX_SUCCESS;
}

void sx_wake_fd_close(struct sx_client *client)
{
    sx_timer_remove(&client->wake_again);
    client->wake_owed = 0;
    if (client->wake_fd >= 0) {
        close(client->wake_fd);
        client->wake_fd = -1;
        sx_list_remove(&client->poller);
    }
}

static void ring_again(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;
    const uint32_t owed = client->wake_owed;

    (void)now_ns;
    client->wake_owed = 0;
    sx_wake_ring(sx_server_get(), client, owed);
}

void sx_wake_ring(struct sx_server *server, struct sx_client *client, uint32_t class_bits)
{
    if (client->wake_fd < 0 || client->lane.line == NULL ||
        client->slot >= server->board.slot_count ||
        sx_sleeper_ring(client->lane.line, &server->board.slots[client->slot], class_bits,
                        client->wake_fd)) {
        return;
    }
    client->wake_owed |= class_bits;
    client->wake_again.fn = ring_again;
    client->wake_again.arg = client;
    (void)sx_timer_add(server->loop, &client->wake_again, sx_now_ns() + SX_WAKE_AGAIN_NS);
}

void sx_wake_all(struct sx_server *server, const struct sx_nspace *nspace, uint32_t class_bits)
{
    SX_LIST_EACH(it, &nspace->pollers) {
        sx_wake_ring(server, SX_LIST_ENTRY(it, struct sx_client, poller), class_bits);
    }
}

void sx_wake_client(struct sx_server *server, struct sx_client *client)
{
    const uint32_t rank_class = 1u << SX_CLASS_OF_RANK(client->rank);

    if (client->slot >= server->board.slot_count) {
        return; /* a client that is not connected has no bell */
    }
    sx_door_ring(&server->board.slots[client->slot].bell, SX_BELL_ALL, 1);
    if (client->no_waitv) {
        sx_door_ring(&client->home->ring.header->any, rank_class, 1);
    }
    sx_wake_ring(server, client, UINT32_MAX);
}
