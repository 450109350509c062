/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.h - the scenarios of who sleeps in poll(2). */
#ifndef SX_TESTS_MODEL_SLEEPER_H
#define SX_TESTS_MODEL_SLEEPER_H

#include <stdbool.h>

/* Return: true when nothing was violated. */
bool model_sleeping(void);

#endif
