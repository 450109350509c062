/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* servers.h - `shmix ls servers`: the servers of this node, and how busy they are. */
#ifndef SX_CLI_LS_SERVERS_H
#define SX_CLI_LS_SERVERS_H

#include "cli/ls/ls.h"

/* Return: the exit code of the command. */
int sx_ls_servers(const struct sx_ls_wish *wish);

#endif
