/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* memory.h - how much memory this process has taken for itself. */
#ifndef SX_TESTS_MEMORY_H
#define SX_TESTS_MEMORY_H

#include <stdio.h>

/* Return: anonymous memory in KiB, as the kernel counts it; 0 when it does not tell. */
static inline unsigned long memory_kib(void)
{
    FILE *const file = fopen("/proc/self/smaps_rollup", "r");
    unsigned long anonymous = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "Anonymous: %lu kB", &anonymous);
    }
    if (file != NULL) {
        fclose(file);
    }
    return anonymous;
}

#endif
