/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get.h - `shmix get KEY`: print what is stored of running jobs, out of their servers' memory. */
#ifndef SX_CLI_GET_GET_H
#define SX_CLI_GET_GET_H

#include "launch/common/options.h"

extern const struct sx_verb sx_get_verb;

/* @words follow the verb, and end with NULL.  Asks no server for anything, so it works on one that
 * hangs or is stopped; what can be seen is what the kernel grants to the caller.  Return: the exit
 * code of the command. */
int sx_cli_get(char **words);

#endif
