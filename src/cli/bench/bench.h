/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bench.h - `shmix bench`: find the instrument that was installed with this command, and run it. */
#ifndef SX_CLI_BENCH_BENCH_H
#define SX_CLI_BENCH_BENCH_H

#include "launch/common/options.h"

extern const struct sx_verb sx_bench_verb;

/* @words follow the verb, and end with NULL.  Return: the exit code, if the instrument could not be
 * started; else this process becomes the instrument. */
int sx_cli_bench(char **words);

#endif
