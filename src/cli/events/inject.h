/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inject.h - `shmix events inject`. */
#ifndef SX_CLI_EVENTS_INJECT_H
#define SX_CLI_EVENTS_INJECT_H

/* @argv[0] is "inject".  Return: the exit code. */
int sx_cli_events_inject(int argc, char **argv);

#endif
