/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of `shmix events` for numbers, codes and ranges. */
#include "cli/events/words.h"

#include <stddef.h>
#include <string.h>

#include <pmix_common.h>

#include "base/util.h"
#include "base/value/names.h"
#include "launch/common/options.h"

bool sx_events_code_set(void *at, const char *value)
{
    return sx_cli_number(value, INT32_MIN, INT32_MAX, at) || sx_name_value(PMIX_STATUS, value, at);
}

bool sx_events_rank_set(void *at, const char *value)
{
    return sx_cli_number(value, 0, PMIX_RANK_VALID, at);
}

static const char *const range_names[] = { "undefined", "rm",     "local",  "namespace",
                                           "session",   "global", "custom", "proc-local" };

const char *sx_events_range_name(uint8_t range)
{
    return range < SX_COUNT(range_names) ? range_names[range] : NULL;
}

bool sx_events_range_set(void *at, const char *value)
{
    for (size_t i = 0; i < SX_COUNT(range_names); i++) {
        if (strcmp(value, range_names[i]) == 0) {
            *(int64_t *)at = (int64_t)i;
            return true;
        }
    }
    return false;
}
