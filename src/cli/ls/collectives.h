/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collectives.h - `shmix ls collectives`: the members that are missing in each operation, and since
 * when. */
#ifndef SX_CLI_LS_COLLECTIVES_H
#define SX_CLI_LS_COLLECTIVES_H

#include "cli/ls/ls.h"

/* Return: the exit code. */
int sx_ls_collectives(const struct sx_ls_wish *wish);

#endif
