/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.h - the verb `shmix events`. */
#ifndef SX_CLI_EVENTS_EVENTS_H
#define SX_CLI_EVENTS_EVENTS_H

#include "launch/common/options.h"

extern const struct sx_verb sx_events_verb;

/* @words follow the verb, and end with NULL.  Return: the exit code of the command. */
int sx_cli_events(char **words);

#endif
