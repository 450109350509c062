/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attributes.h - the attributes that the host's functions support, as the host declares them. */
#ifndef SX_SERVER_QUERY_ATTRIBUTES_H
#define SX_SERVER_QUERY_ATTRIBUTES_H

struct sx_server;

void sx_attributes_clear(struct sx_server *server);

#endif
