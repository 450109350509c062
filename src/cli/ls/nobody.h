/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nobody.h - the server that is meant, and what is said when there is none. */
#ifndef SX_CLI_LS_NOBODY_H
#define SX_CLI_LS_NOBODY_H

#include <sys/types.h>

#include "cli/ls/ls.h"

/* @denied: some processes could not be looked into.  Return: the exit code. */
int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied);

/* The server that is meant, 0 for every one.  Return: false when it is not there, which has been
 * said. */
bool sx_ls_server_of(const struct sx_ls_wish *wish, pid_t *ret);

#endif
