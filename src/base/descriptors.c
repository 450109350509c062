/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* descriptors.c - one call where the kernel has it (5.9), else one a number. */
#include "base/descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

#define SX_DESCRIPTOR_MAX 65536 /* looked at where the limit says more, or nothing */

void sx_descriptors_close_from(int first)
{
    const long limit = sysconf(_SC_OPEN_MAX);
    const int end = limit > 0 && limit < SX_DESCRIPTOR_MAX ? (int)limit : SX_DESCRIPTOR_MAX;

    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) {
        return;
    }
    for (int fd = first; fd < end; fd++) {
        close(fd);
    }
}
