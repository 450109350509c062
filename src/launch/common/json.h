/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* json.h - print texts of other processes as JSON. */
#ifndef SX_LAUNCH_COMMON_JSON_H
#define SX_LAUNCH_COMMON_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Print @len bytes as a string of JSON.  UTF-8 stays as it is; control characters are escaped, and
 * a byte that belongs to no character becomes U+FFFD. */
void sx_json_string(const char *text, size_t len);
void sx_json_string_to(FILE *out, const char *text, size_t len);

#endif
