/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wakefd.c - write one byte to who sleeps in poll(2) and wants what there is.
 *
 *     NONE --WAKE_GET--> a pair of sockets, one end the client's --client goes--> NONE
 *
 * A socket, not an eventfd: an eventfd's flags and counter are shared with the client, who could
 * make a write to it wait for ever; and the client hears the end of a socket when the server dies.
 * The words that say who sleeps are ring/sleeper.h's. */
#include "server/wakefd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status.h"
#include "ring/sleeper.h"
#include "server/connection.h"

bool sx_wakefd_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    int fds[2] = { -1, -1 };
    pmix_status_t rc = PMIX_SUCCESS;

    (void)now_ns;
    sx_wakefd_close(client);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) {
        rc = SX_RAISE(sx_status_from_errno(errno), "a socket to wake %s.%u: %s (raise ulimit -n)",
                      client->nspace->name, client->rank, strerror(errno));
    } else {
        client->wake_fd = fds[0];
        client->nspace->wake_count++;
        /* It has not slept yet. */
        sx_sleeper_rung(&server->board.slots[client->slot],
                        atomic_load_explicit(&client->lane.line->wake_wanted,
                                             memory_order_relaxed));
    }
    sx_connection_reply(server, client, frame->header.id, rc, fds[1]);
    if (fds[1] >= 0) {
        close(fds[1]);
    }
    return true;
}

void sx_wakefd_close(struct sx_client *client)
{
    if (client->wake_fd >= 0) {
        close(client->wake_fd);
        client->wake_fd = -1;
        if (client->nspace != NULL) {
            client->nspace->wake_count--;
        }
    }
}

void sx_wakefd_ring(struct sx_server *server, struct sx_client *client, uint32_t class_bits)
{
    uint32_t wanted;

    if (client->wake_fd < 0 || client->lane.line == NULL ||
        client->slot >= server->board.slot_count) {
        return;
    }
    struct sx_board_slot *const slot = &server->board.slots[client->slot];

    if (sx_sleeper_is_due(client->lane.line, slot, class_bits, &wanted)) {
        /* A full socket is readable already; one whose other end is gone has nobody to wake. */
        while (send(client->wake_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR) {
        }
        sx_sleeper_rung(slot, wanted);
    }
}

void sx_wakefd_ring_all(struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t class_bits)
{
    for (size_t i = 0; nspace->wake_count > 0 && i < nspace->client_count; i++) {
        sx_wakefd_ring(server, nspace->by_rank[i], class_bits);
    }
}
