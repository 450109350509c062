/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement.c - two system calls, made directly: libnuma's wrappers of them would map the library,
 * and read /sys, also on the many machines that have one node. */
#include "shmem/placement.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

/* Numbers of the kernel's interface (man 2 mbind, man 2 get_mempolicy). */
#define SX_MPOL_PREFERRED 1
#define SX_MPOL_INTERLEAVE 3
#define SX_MPOL_F_MEMS_ALLOWED 4ul

unsigned sx_node_set_count(const struct sx_node_set *set)
{
    unsigned count = 0;

    for (size_t i = 0; i < SX_NODE_WORDS; i++) {
        count += (unsigned)__builtin_popcountl(set->words[i]);
    }
    return count;
}

unsigned sx_placement_nodes(struct sx_node_set *ret)
{
    memset(ret, 0, sizeof(*ret));
    if (syscall(SYS_get_mempolicy, NULL, ret->words, (unsigned long)SX_NODE_MAX, NULL,
                SX_MPOL_F_MEMS_ALLOWED) != 0) {
        return 1;
    }
    const unsigned count = sx_node_set_count(ret);

    return count > 0 ? count : 1;
}

void sx_placement_apply(const struct sx_placement *placement, void *at, size_t size)
{
    if (placement == NULL || placement->kind == SX_PLACE_ANYWHERE) {
        return;
    }
    const unsigned long mode = placement->kind == SX_PLACE_NEAR ? SX_MPOL_PREFERRED
                                                                : SX_MPOL_INTERLEAVE;
    /* The kernel uses one bit less than the given count. */
    if (syscall(SYS_mbind, at, size, mode, placement->nodes.words, (unsigned long)SX_NODE_MAX + 1,
                0ul) != 0) {
        /* Containers often deny the call, and nodes can be taken away from a running process. */
        sx_log(SX_LOG_INFO, "memory lies where it is touched first: mbind of %zu bytes: %s", size,
               strerror(errno));
    }
}
