/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* seconds.c - strtod without its signs, blanks, infinities and what follows the number. */
#include "cli/seconds.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

bool sx_cli_seconds(const char *value, uint64_t *ret_ns)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = isdigit((unsigned char)value[0]) || value[0] == '.' ? strtod(value, &end) : 0.0;
    if (end == NULL || *end != '\0' || errno != 0 || !isfinite(seconds) ||
        seconds > (double)SX_CLI_SECONDS_MAX) {
        return false;
    }
    *ret_ns = (uint64_t)(seconds * (double)SX_NS_PER_SEC);
    return true;
}
