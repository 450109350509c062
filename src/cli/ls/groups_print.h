/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* groups_print.h - one list of processes as a line of text, or of JSON. */
#ifndef SX_CLI_LS_GROUPS_PRINT_H
#define SX_CLI_LS_GROUPS_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shmem/membership.h"

struct sx_groups_line {
    pid_t server;
    uint64_t now_ns;
    const struct sx_membership *list;
    const char *change;                 /* the change of the list; NULL: not shown */
    const struct sx_membership *before; /* an earlier generation; NULL: none */
};

/* Print the headings of the columns. */
void sx_groups_heading_print(bool with_changes);

void sx_groups_line_print(const struct sx_groups_line *line, bool json);

#endif
