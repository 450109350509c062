/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* clients.h - `shmix ls clients`: the processes that are connected to servers. */
#ifndef SX_CLI_LS_CLIENTS_H
#define SX_CLI_LS_CLIENTS_H

#include "cli/ls/ls.h"

/* Return: the exit code of the command. */
int sx_ls_clients(const struct sx_ls_wish *wish);

#endif
