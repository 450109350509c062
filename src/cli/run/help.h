/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* help.h - what `shmix run --help` teaches. */
#ifndef SX_CLI_RUN_HELP_H
#define SX_CLI_RUN_HELP_H

/* Print to stdout.  Return: the exit code, not 0 when the text could not be written. */
int sx_run_help(void);
int sx_run_version(void);

#endif
