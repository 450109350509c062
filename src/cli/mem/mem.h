/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mem.h - `shmix mem`: list the segments of running servers, and print their contents. */
#ifndef SX_CLI_MEM_MEM_H
#define SX_CLI_MEM_MEM_H

#include "launch/common/options.h"

extern const struct sx_verb sx_mem_verb;

/* @words follow the verb, and end with NULL.  No request is sent to a server, so the verb works on
 * one that hangs or is stopped.  The kernel decides which memory the caller may read.  Return: the
 * exit code of the command. */
int sx_cli_mem(char **words);

#endif
