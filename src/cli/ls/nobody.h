/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nobody.h - the message when no server matches. */
#ifndef SX_CLI_LS_NOBODY_H
#define SX_CLI_LS_NOBODY_H

#include <stdbool.h>

#include "cli/ls/ls.h"

/* @denied: some processes could not be examined.  Return: the exit code. */
int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied);

#endif
