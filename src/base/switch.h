/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* switch.h - switches in the environment: NAME=0 turns a feature off, NAME=N sets a bound. */
#ifndef SX_BASE_SWITCH_H
#define SX_BASE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

/* Whether the variable @name is 0.  Unset, empty and 1 are on; so is any other word, which is
 * warned of each time: callers keep the answer. */
bool sx_switch_is_off(const char *name);

/* Read the number that the variable @name is, from @min to @max; *ret stays as it is where the
 * variable is unset or empty.  Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM with a line that says
 * what is possible. */
pmix_status_t sx_switch_number(const char *name, uint64_t min, uint64_t max, uint64_t *ret);

#endif
