/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups_watch.h - `shmix ls groups --watch`: the lists that exist, and each change. */
#ifndef SX_CLI_LS_GROUPS_WATCH_H
#define SX_CLI_LS_GROUPS_WATCH_H

#include <sys/types.h>

#include "cli/ls/ls.h"

/* Watch the lists of the server @pid; 0: of the only server.  It continues until that server ends.
 * Return: the exit code. */
int sx_groups_watch(const struct sx_ls_wish *wish, pid_t pid);

#endif
