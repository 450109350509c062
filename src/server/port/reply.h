/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reply.h - answers to clients. */
#ifndef SX_SERVER_PORT_REPLY_H
#define SX_SERVER_PORT_REPLY_H

#include "server/model/nspace.h"

/* The client's credentials from the kernel; pid -1 when it is not connected. */
const struct sx_peer *sx_client_peer(const struct sx_client *client);

/* Answer a request and ring the client's bell.  @fd < 0: none.  Request id 0 needs no answer, and a
 * client that is not connected gets none. */
void sx_reply(struct sx_server *server, struct sx_client *client, uint32_t id, pmix_status_t status,
              int fd);
void sx_reply_body(struct sx_server *server, struct sx_client *client, uint32_t id,
                   pmix_status_t status, const void *body, size_t size);
/* The same with a body of @size bytes, a reply and what follows it, that was made before
 * (sx_channel_body_make). */
void sx_reply_made(struct sx_server *server, struct sx_client *client, uint32_t id, int body_fd,
                   size_t size);
/* The first part of an answer, or a further one; the last rings the bell.  Return: as
 * sx_channel_send_part. */
bool sx_reply_part(struct sx_client *client, uint32_t id, const void *body, size_t size);

/* The request of @frame has been read, and its answer may take long.  If the request used the
 * client's window, return the window to the client for other requests. */
void sx_reply_read(struct sx_server *server, struct sx_client *client,
                   const struct sx_frame *frame);

#endif
