/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - `shmix query KEY`: send a server a query, as PMIx_Query_info does. */
#ifndef SX_CLI_QUERY_QUERY_H
#define SX_CLI_QUERY_QUERY_H

#include "launch/common/options.h"

#define SX_EXIT_PARTIAL 3 /* some keys have an answer, and others have none */

extern const struct sx_verb sx_query_verb;

/* @words follow the verb, and end with NULL.  Return: the exit code of the command. */
int sx_cli_query(char **words);

#endif
