/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.h - `shmix log`: log a text from a shell, as a process does with PMIx_Log. */
#ifndef SX_CLI_LOG_LOG_H
#define SX_CLI_LOG_LOG_H

#include "launch/common/options.h"

extern const struct sx_verb sx_log_verb;

/* @words: behind the verb.  Return: the exit code. */
int sx_cli_log(char **words);

#endif
