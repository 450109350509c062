/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kinds.h - print the contents of a segment of each kind, as docs/layout.md describes them.
 *
 * @segment is bounded by the published end.  Each function prints indented lines to stdout, and a
 * note when the segment contradicts itself. */
#ifndef SX_CLI_MEM_KINDS_H
#define SX_CLI_MEM_KINDS_H

#include "cli/mem/bytes.h"

#define SX_MEM_BODY_OFF 384u

void sx_mem_store_dump(struct sx_bytes segment);
void sx_mem_board_dump(struct sx_bytes segment);
void sx_mem_ring_dump(struct sx_bytes segment);
void sx_mem_ops_dump(struct sx_bytes segment);

/* Print one record of a named list of processes, on the current line. */
void sx_mem_membership_print(struct sx_bytes record);

/* @board: the board of the lane's server, with the position up to which the server has read; empty
 * when it was not found. */
void sx_mem_lane_dump(struct sx_bytes segment, struct sx_bytes board);

const char *sx_mem_collective_name(unsigned kind);

/* Print a note if @bytes were bad. */
void sx_mem_bad_print(const struct sx_bytes *bytes);

#endif
