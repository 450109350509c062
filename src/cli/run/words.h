/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - what users of mpirun and srun type out of habit. */
#ifndef SX_CLI_RUN_WORDS_H
#define SX_CLI_RUN_WORDS_H

#include "cli/options.h"

extern const struct sx_habit sx_run_habits[]; /* ends with NULL */
/* Those that are taken with values of their own; ends with NULL. */
extern const struct sx_option sx_run_foreign_options[];

#endif
