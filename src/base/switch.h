/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* switch.h - what the environment turns off: NAME=0. */
#ifndef SX_BASE_SWITCH_H
#define SX_BASE_SWITCH_H

#include <stdbool.h>

/* Whether the variable @name is 0.  Unset, empty and 1 are on; so is any other word, which is
 * warned of each time: callers keep the answer. */
bool sx_switch_is_off(const char *name);

#endif
