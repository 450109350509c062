/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reply.c - answers to clients: one frame, and a ring of the bell. */
#include "server/port/port.h"

#include <sys/uio.h>

#include "server/model/state.h"

const struct sx_peer *sx_client_peer(const struct sx_client *client)
{
    static const struct sx_peer nobody = {
        .pid = -1, .uid = (uid_t)-1, .gid = (gid_t)-1, .pidfd = -1
    };

    return client->channel == NULL ? &nobody : &client->channel->peer;
}

/* @rc: the status of the send.  When the answer is too large for the memory left, a few bytes may
 * still be sent. */
static void reply_sent(struct sx_server *server, struct sx_client *client, uint32_t id,
                       pmix_status_t rc)
{
    const struct sx_reply reply = { .status = rc };
    const struct iovec instead = { .iov_base = (void *)(uintptr_t)&reply,
                                   .iov_len = sizeof(reply) };

    if (rc != PMIX_SUCCESS) {
        (void)sx_channel_send(client->channel, SX_MSG_REPLY, id, &instead, 1, NULL, 0);
    }
    sx_wake_client(server, client);
}

static void reply_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                       const struct iovec *iov, int iov_count, int fd)
{
    if (id == 0 || client->channel == NULL) {
        return;
    }
    const pmix_status_t rc = sx_channel_send(client->channel, SX_MSG_REPLY, id, iov, iov_count, &fd,
                                             fd >= 0 ? 1 : 0);

    reply_sent(server, client, id, rc);
}

void sx_reply(struct sx_server *server, struct sx_client *client, uint32_t id, pmix_status_t status,
              int fd)
{
    struct sx_reply reply = { .status = status };
    const struct iovec iov = { .iov_base = &reply, .iov_len = sizeof(reply) };

    reply_send(server, client, id, &iov, 1, fd);
}

void sx_reply_body(struct sx_server *server, struct sx_client *client, uint32_t id,
                   pmix_status_t status, const void *body, size_t size)
{
    struct sx_reply reply = { .status = status };
    const struct iovec iov[2] = {
        { .iov_base = &reply, .iov_len = sizeof(reply) },
        { .iov_base = (void *)(uintptr_t)body, .iov_len = size },
    };
    reply_send(server, client, id, iov, 2, -1);
}

void sx_reply_made(struct sx_server *server, struct sx_client *client, uint32_t id, int body_fd,
                   size_t size)
{
    if (id != 0 && client->channel != NULL) {
        reply_sent(server, client, id,
                   sx_channel_send_made(client->channel, SX_MSG_REPLY, id, body_fd, size));
    }
}

bool sx_reply_part(struct sx_client *client, uint32_t id, const void *body, size_t size)
{
    struct sx_reply reply = { .status = PMIX_SUCCESS };
    const struct iovec iov[2] = {
        { .iov_base = &reply, .iov_len = sizeof(reply) },
        { .iov_base = (void *)(uintptr_t)body, .iov_len = size },
    };
    return id != 0 && client->channel != NULL &&
           sx_channel_send_part(client->channel, SX_MSG_REPLY, id, iov, 2);
}

void sx_reply_read(struct sx_server *server, struct sx_client *client, const struct sx_frame *frame)
{
    if ((frame->header.flags & SX_FRAME_BULK) != 0 &&
        sx_reply_part(client, frame->header.id, NULL, 0)) {
        sx_wake_client(server, client);
    }
}
