/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.h - `shmix get KEY`: print stored values of running jobs, from their servers' memory. */
#ifndef SX_CLI_GET_GET_H
#define SX_CLI_GET_GET_H

#include "launch/common/options.h"

extern const struct sx_verb sx_get_verb;

/* @words follow the verb, and end with NULL.  No request is sent to a server, so the verb works on
 * one that hangs or is stopped.  The kernel decides which memory the caller may read.  Return: the
 * exit code of the command. */
int sx_cli_get(char **words);

#endif
