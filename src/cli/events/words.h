/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - setters (options.h) for words on the command line.  Each sets an int64_t; SX_EVENTS_ANY
 * stands for an option that was not given. */
#ifndef SX_CLI_EVENTS_WORDS_H
#define SX_CLI_EVENTS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define SX_EVENTS_ANY INT64_MIN

/* A number, or a name as "PMIX_ERR_PROC_ABORTED". */
bool sx_events_code_set(void *at, const char *value);
bool sx_events_rank_set(void *at, const char *value);
/* "global" for PMIX_RANGE_GLOBAL. */
bool sx_events_range_set(void *at, const char *value);

/* The word for a range; NULL when there is none. */
const char *sx_events_range_name(uint8_t range);

#endif
