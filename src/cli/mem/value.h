/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.h - print flat values as docs/layout.md, section 2, describes them. */
#ifndef SX_CLI_MEM_VALUE_H
#define SX_CLI_MEM_VALUE_H

#include "cli/mem/bytes.h"

struct sx_mem_cell {
    uint16_t type, flags;
    uint32_t len;
    uint64_t bits;
};

struct sx_mem_cell sx_mem_cell_at(struct sx_bytes *bytes, uint64_t off);

/* Print type and value on stdout, on one line.  @body are the cell.len bytes of its body.  A note
 * replaces bytes that are not a value. */
void sx_mem_value_print(const struct sx_mem_cell *cell, struct sx_bytes body);

/* Print @len bytes as a quoted text; bytes that are not printable are escaped. */
void sx_mem_text_print(const uint8_t *text, uint64_t len);

const char *sx_mem_scope_name(unsigned scope);

#endif
