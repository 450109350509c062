/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - what words on the command line mean.  Each returns false for one that it does
 * not know. */
#ifndef SX_CLI_EVENTS_WORDS_H
#define SX_CLI_EVENTS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

bool sx_events_number(const char *text, int64_t min, int64_t max, int64_t *ret);
/* A number, or a name as "PMIX_ERR_PROC_ABORTED". */
bool sx_events_code(const char *text, int32_t *ret);

/* "global" for PMIX_RANGE_GLOBAL; NULL when there is none. */
const char *sx_events_range_name(uint8_t range);
bool sx_events_range_find(const char *name, uint8_t *ret_range);

#endif
