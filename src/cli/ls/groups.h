/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups.h - `shmix ls groups`: the members of connected namespaces, groups and process sets. */
#ifndef SX_CLI_LS_GROUPS_H
#define SX_CLI_LS_GROUPS_H

#include "cli/ls/ls.h"

/* Return: the exit code. */
int sx_ls_groups(const struct sx_ls_wish *wish);
/* The same, only for process sets: `shmix ls sets`. */
int sx_ls_sets(const struct sx_ls_wish *wish);

#endif
