/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run.h - `shmix run`: start a job on this node, with its PMIx data in shared memory. */
#ifndef SX_LAUNCH_JOB_RUN_H
#define SX_LAUNCH_JOB_RUN_H

/* @words follow the verb, and end with NULL.  Return: the exit code of the command. */
int sx_cli_run(char **words);

#endif
