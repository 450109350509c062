/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* numa_calls.c - the calls of libnuma (base/system/library.h), by servers on machines with several
 * nodes alone.  Without libnuma the nodes are unknown, and memory lies on the node that first
 * touches it. */
#include <numa.h>

#include "base/system/library.h"

#define CALL(refused, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBNUMA, refused, int, name, params, args)

CALL(-1, numa_available, (void), ())
CALL(0, numa_num_configured_cpus, (void), ())
CALL(-1, numa_node_of_cpu, (int cpu), (cpu))
CALL(0, numa_distance, (int a, int b), (a, b))
