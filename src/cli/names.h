/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names.h - names that other processes have chosen, as text for a terminal or as JSON. */
#ifndef SX_CLI_NAMES_H
#define SX_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Print @len bytes; every byte that is not printable ASCII is escaped. */
void sx_names_text_print(const char *text, size_t len);

/* Print a process, or all of a namespace: NSPACE.RANK, NSPACE.*, or an object with the two. */
void sx_names_proc_print(const char *nspace, size_t len, uint32_t rank, bool json);

#endif
