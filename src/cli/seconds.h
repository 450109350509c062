/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* seconds.h - a time on the command line: seconds, with decimals if need be. */
#ifndef SX_CLI_SECONDS_H
#define SX_CLI_SECONDS_H

#include <stdbool.h>
#include <stdint.h>

#define SX_CLI_SECONDS_MAX 100000000u /* three years */

/* Return: false when @value is no number of seconds from 0 to SX_CLI_SECONDS_MAX. */
bool sx_cli_seconds(const char *value, uint64_t *ret_ns);

#endif
