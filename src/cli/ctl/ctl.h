/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ctl.h - `shmix ctl`: act on running processes, as PMIx_Job_control does. */
#ifndef SX_CLI_CTL_CTL_H
#define SX_CLI_CTL_CTL_H

#include "launch/common/options.h"

extern const struct sx_verb sx_ctl_verb;

/* @words: behind the verb.  Return: the exit code. */
int sx_cli_ctl(char **words);

#endif
