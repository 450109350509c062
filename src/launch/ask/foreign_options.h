/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_options.h - options that users of mpirun and srun type out of habit. */
#ifndef SX_LAUNCH_ASK_FOREIGN_OPTIONS_H
#define SX_LAUNCH_ASK_FOREIGN_OPTIONS_H

#include "launch/common/options.h"

extern const struct sx_habit sx_run_habits[]; /* ends with NULL */
/* The options that are taken with values of their own; the list ends with NULL. */
extern const struct sx_option sx_run_foreign_options[];

#endif
