/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* number.h - numbers on the command line: integers, and seconds that may have decimals. */
#ifndef SX_LAUNCH_COMMON_NUMBER_H
#define SX_LAUNCH_COMMON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define SX_CLI_SECONDS_MAX 100000000u /* three years */

/* Return: false when @text is not a number from @min to @max. */
bool sx_cli_number(const char *text, int64_t min, int64_t max, int64_t *ret);

/* The setter (options.h) of a uint64_t of nanoseconds.  Return: false when @value is not a number
 * of seconds from 0 to SX_CLI_SECONDS_MAX. */
bool sx_cli_seconds(void *ret_ns, const char *value);

#endif
