/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kinds.h - print what a segment of each kind holds, as docs/layout.md describes it.
 *
 * @segment is bounded by the published end.  Each prints indented lines to stdout and says so when
 * the segment contradicts itself. */
#ifndef SX_CLI_MEM_KINDS_H
#define SX_CLI_MEM_KINDS_H

#include "cli/mem/bytes.h"

#define SX_MEM_BODY_OFF 384u

void sx_mem_store_dump(struct sx_bytes segment);
void sx_mem_board_dump(struct sx_bytes segment);
void sx_mem_ring_dump(struct sx_bytes segment);
void sx_mem_ops_dump(struct sx_bytes segment);

/* One record of a named list of processes, on the line that is begun. */
void sx_mem_membership_print(struct sx_bytes record);

/* @board: the board of the lane's server, which knows how far the server has read; empty when it
 * was not found. */
void sx_mem_lane_dump(struct sx_bytes segment, struct sx_bytes board);

const char *sx_mem_collective_name(unsigned kind);

/* Say that @bytes were not what they should be, if so. */
void sx_mem_bad_print(const struct sx_bytes *bytes);

#endif
