/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* switch.c - one reading for all switches of the environment. */
#include "base/switch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/status.h"

bool sx_switch_is_off(const char *name)
{
    const char *const text = getenv(name);

    if (text == NULL || text[0] == '\0' || strcmp(text, "1") == 0) {
        return false;
    }
    if (strcmp(text, "0") == 0) {
        return true;
    }
    sx_log(SX_LOG_WARN, "%s=%s is neither 0 nor 1: not used", name, text);
    return false;
}

pmix_status_t sx_switch_number(const char *name, uint64_t min, uint64_t max, uint64_t *ret)
{
    const char *const text = getenv(name);
    char *end = NULL;

    if (text == NULL || text[0] == '\0') {
        return PMIX_SUCCESS;
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);

    if (errno != 0 || *end != '\0' || text[0] == '-' || number < min || number > max) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s=%s is no number from %" PRIu64 " to %" PRIu64, name,
                        text, min, max);
    }
    *ret = number;
    return PMIX_SUCCESS;
}
