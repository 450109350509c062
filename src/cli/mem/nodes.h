/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.h - the NUMA nodes of a segment's pages. */
#ifndef SX_CLI_MEM_NODES_H
#define SX_CLI_MEM_NODES_H

#include <stdbool.h>

#include "cli/mem/bytes.h"

/* Print the number of pages of @used, which begins with a page, on each node that has some: as "0:3
 * 2:17", or as JSON: {"0":3,"2":17}.  Pages without an answer of the kernel are left out. */
void sx_mem_nodes_print(const struct sx_bytes *used, bool json);

#endif
