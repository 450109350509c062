/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wakefd.h - clients that sleep in poll(2): a socket each, written once a sleep. */
#ifndef SX_SERVER_WAKEFD_H
#define SX_SERVER_WAKEFD_H

#include "server/server.h"

/* WAKE_GET.  Return: false for a breach of protocol. */
bool sx_wakefd_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);
/* The client goes; safe when it has none. */
void sx_wakefd_close(struct sx_client *client);

/* News of @class_bits for this client, or for all of the namespace, has been published.  At most
 * one system call a client that sleeps; none for others. */
void sx_wakefd_ring(struct sx_server *server, struct sx_client *client, uint32_t class_bits);
void sx_wakefd_ring_all(struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t class_bits);

#endif
