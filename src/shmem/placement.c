/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement.c - ask the kernel to spread a mapping over the NUMA nodes.
 *
 * Two system calls, made directly: libnuma's constructor reads /sys in every process that loads
 * the library, and our clients are loaded by the hundred.  The policy belongs to the memfd, so it
 * holds for every process that maps it; it counts only for pages made after the call. */
#include "shmem/placement.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

#define SX_NODE_MAX 1024u /* the largest CONFIG_NODES_SHIFT of any architecture is 10 */
#define SX_NODE_WORDS (SX_NODE_MAX / (sizeof(unsigned long) * CHAR_BIT))

/* Numbers of the kernel's interface (man 2 mbind, man 2 get_mempolicy). */
#define SX_MPOL_INTERLEAVE 3
#define SX_MPOL_F_MEMS_ALLOWED 4ul

/* Return: the number of nodes in @mask, 0 when the kernel does not say. */
static unsigned sx_placement_nodes(unsigned long mask[SX_NODE_WORDS])
{
    unsigned count = 0;

    memset(mask, 0, SX_NODE_WORDS * sizeof(mask[0]));
    if (syscall(SYS_get_mempolicy, NULL, mask, (unsigned long)SX_NODE_MAX, NULL,
                SX_MPOL_F_MEMS_ALLOWED) != 0) {
        return 0;
    }
    for (size_t i = 0; i < SX_NODE_WORDS; i++) {
        count += (unsigned)__builtin_popcountl(mask[i]);
    }
    return count;
}

pmix_status_t sx_placement_interleave(void *at, size_t size)
{
    unsigned long mask[SX_NODE_WORDS];

    if (sx_placement_nodes(mask) < 2) {
        return PMIX_SUCCESS;
    }
    /* The kernel counts one bit less than it is told. */
    if (syscall(SYS_mbind, at, size, (unsigned long)SX_MPOL_INTERLEAVE, mask,
                (unsigned long)SX_NODE_MAX + 1, 0ul) != 0) {
        if (errno == ENOSYS || errno == EPERM) { /* containers often deny the call */
            sx_log(SX_LOG_INFO, "memory stays on one NUMA node: mbind: %s", strerror(errno));
            return PMIX_SUCCESS;
        }
        return SX_RAISE(sx_status_from_errno(errno), "mbind of %zu bytes: %s", size,
                        strerror(errno));
    }
    return PMIX_SUCCESS;
}

unsigned sx_placement_node_count(void)
{
    unsigned long mask[SX_NODE_WORDS];
    const unsigned count = sx_placement_nodes(mask);

    return count > 0 ? count : 1;
}
