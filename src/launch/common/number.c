/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* number.c - strtoll and strtod, but without blanks, infinities, or text behind the number. */
#include "launch/common/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

bool sx_cli_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return isdigit((unsigned char)text[text[0] == '-']) && *end == '\0' && errno == 0 &&
           *ret >= min && *ret <= max;
}

bool sx_cli_seconds(void *ret_ns, const char *value)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = isdigit((unsigned char)value[0]) || value[0] == '.' ? strtod(value, &end) : 0.0;
    if (end == NULL || *end != '\0' || errno != 0 || !isfinite(seconds) ||
        seconds > (double)SX_CLI_SECONDS_MAX) {
        return false;
    }
    *(uint64_t *)ret_ns = (uint64_t)(seconds * (double)SX_NS_PER_SEC);
    return true;
}
