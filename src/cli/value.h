/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.h - values and names that other processes have stored, sent or chosen, as text for a
 * terminal or as JSON. */
#ifndef SX_CLI_VALUE_H
#define SX_CLI_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

/* Print @value on stdout.  As text: on one line, with every byte escaped that is not printable
 * ASCII.  As JSON: numbers, booleans and strings as such, arrays as lists of these, a process as an
 * object with nspace and rank, and everything else as the string of its text. */
void sx_cli_value_print(const pmix_value_t *value, bool json);

/* Print "key", "name", "type" and "value", the fields of a JSON object. */
void sx_cli_item_print(const char *key, const pmix_value_t *value);

/* Print the Standard's name for @key, or @key itself. */
void sx_cli_key_print(const char *key, bool json);

/* ---- names ----------------------------------------------------------------------------------- */

/* Names that other processes have chosen, as text for a terminal or as JSON. */

/* Print @len bytes; every byte that is not printable ASCII is escaped. */
void sx_names_text_print(const char *text, size_t len);

/* Print a process, or all of a namespace: NSPACE.RANK, NSPACE.*, or an object with the two. */
void sx_names_proc_print(const char *nspace, size_t len, uint32_t rank, bool json);

#endif
