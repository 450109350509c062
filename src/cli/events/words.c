/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of `shmix events` for numbers, codes and ranges. */
#include "cli/events/words.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_common.h>

#include "base/names.h"
#include "base/util.h"

bool sx_events_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    const long long number = strtoll(text, &end, 10);
    *ret = number;
    return errno == 0 && end != text && *end == '\0' && number >= min && number <= max;
}

bool sx_events_code(const char *text, int32_t *ret)
{
    int64_t number;

    if (!sx_events_number(text, INT32_MIN, INT32_MAX, &number) &&
        !sx_name_value(PMIX_STATUS, text, &number)) {
        return false;
    }
    *ret = (int32_t)number;
    return true;
}

static const char *const range_names[] = { "undefined", "rm",     "local",  "namespace",
                                           "session",   "global", "custom", "proc-local" };

const char *sx_events_range_name(uint8_t range)
{
    return range < SX_COUNT(range_names) ? range_names[range] : NULL;
}

bool sx_events_range_find(const char *name, uint8_t *ret_range)
{
    for (uint8_t i = 0; i < SX_COUNT(range_names); i++) {
        if (strcmp(name, range_names[i]) == 0) {
            *ret_range = i;
            return true;
        }
    }
    return false;
}
