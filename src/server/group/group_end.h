/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_end.h - members that end without having left their groups. */
#ifndef SX_SERVER_GROUP_GROUP_END_H
#define SX_SERVER_GROUP_GROUP_END_H

#include "server/model/membership.h"
#include "server/model/state.h"

/* @client has finalized, died or was removed by the host: remove it from all its groups. */
void sx_group_client_gone(struct sx_server *server, struct sx_client *client);

/* Return: SX_PARDON_*, which ends of members the makers of @group have pardoned. */
uint8_t sx_group_pardons(const struct sx_membership_entry *group);

#endif
