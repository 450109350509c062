/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.c - the kernel gives the node of each page that is in our page table; reading a page puts
 * it there.  Only pages in use are read, so reading makes no page. */
#include "cli/mem/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define SX_MEM_NODE_MAX 1024u /* the largest number of nodes for which a kernel is built */
#define SX_MEM_PAGES 512u     /* in one call */

/* Add the pages from @at on, @count of them. */
static void count_some(const uint8_t *at, size_t count, uint64_t pages[SX_MEM_NODE_MAX])
{
    const void *where[SX_MEM_PAGES];
    int nodes[SX_MEM_PAGES];

    for (size_t i = 0; i < count; i++) {
        where[i] = at + i * SX_PAGE_BYTES;
        (void)*(const volatile uint8_t *)where[i];
    }
    if (syscall(SYS_move_pages, 0, count, where, NULL, nodes, 0) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (nodes[i] >= 0 && nodes[i] < (int)SX_MEM_NODE_MAX) { /* else an error number */
            pages[nodes[i]]++;
        }
    }
}

void sx_mem_nodes_print(const struct sx_bytes *used, bool json)
{
    uint64_t pages[SX_MEM_NODE_MAX] = { 0 };
    const uint64_t all = sx_align_up(used->size, SX_PAGE_BYTES) / SX_PAGE_BYTES;
    const char *between = "";

    for (uint64_t done = 0; done < all; done += SX_MEM_PAGES) {
        const uint64_t left = all - done;

        count_some(used->at + done * SX_PAGE_BYTES, left < SX_MEM_PAGES ? left : SX_MEM_PAGES,
                   pages);
    }
    for (unsigned node = 0; node < SX_MEM_NODE_MAX; node++) {
        if (pages[node] != 0) {
            printf(json ? "%s\"%u\":%" PRIu64 : "%s%u:%" PRIu64, between, node, pages[node]);
            between = json ? "," : " ";
        }
    }
}
