/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* completion.h - `shmix completion`: scripts of shells, made of the tables of all verbs. */
#ifndef SX_CLI_COMPLETION_COMPLETION_H
#define SX_CLI_COMPLETION_COMPLETION_H

#include <stddef.h>

#include "launch/common/options.h"

/* A verb of the command, and the function that runs it. */
struct sx_cli_verb {
    const struct sx_verb *verb;
    int (*fn)(char **words);
};

/* Print the script for the shell in @words.  Return: the exit code. */
int sx_cli_completion(char **words, const struct sx_cli_verb *verbs, size_t count);

#endif
