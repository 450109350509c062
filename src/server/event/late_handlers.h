/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* late_handlers.h - answers from the log to handlers that are registered late. */
#ifndef SX_SERVER_EVENT_LATE_HANDLERS_H
#define SX_SERVER_EVENT_LATE_HANDLERS_H

#include "server/model/state.h"

/* Handle EVENT_REGISTER, EVENT_DEREGISTER.  Return: false for a breach of protocol. */
bool sx_event_on_register(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
bool sx_event_on_deregister(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns);

#endif
