/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* switch.c - one reading for all switches of the environment. */
#include "base/switch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

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
