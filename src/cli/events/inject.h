/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inject.h - `shmix events inject`. */
#ifndef SX_CLI_EVENTS_INJECT_H
#define SX_CLI_EVENTS_INJECT_H

#include "launch/common/options.h"

extern const struct sx_verb sx_events_inject_verb;

/* @words follow the verb, and end with NULL.  Return: the exit code of the command. */
int sx_cli_events_inject(char **words);

#endif
