/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* descriptors.h - how many a process has and may have; and for a forked child that keeps few of its
 * parent's. */
#ifndef SX_BASE_SYSTEM_DESCRIPTORS_H
#define SX_BASE_SYSTEM_DESCRIPTORS_H

#include <stddef.h>

/* Of this process: how many it has, and how many it may have (RLIMIT_NOFILE). */
struct sx_descriptors {
    size_t used, limit;
};

/* Read both from the kernel.  When it does not report them, none are used and there is no limit. */
struct sx_descriptors sx_descriptors_look(void);

/* Close descriptor @first and all above.  Safe in the child of a process with threads. */
void sx_descriptors_close_from(int first);

#endif
