/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* say.h - the command's messages, texts as JSON, and allocation that succeeds or ends the command.
 *
 * Running out of memory ends the process with a message.  This is safe at any time: for the janitor
 * (launch/job/janitor.h) any end without a goodbye is a crash, and it cleans up. */
#ifndef SX_LAUNCH_COMMON_SAY_H
#define SX_LAUNCH_COMMON_SAY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SX_EXIT_FAILURE 1
#define SX_EXIT_USAGE 2

/* Write "shmix run: MESSAGE\n" to stderr in one write(2).  The name is set once by the verb. */
void sx_say_set_name(const char *name);
void sx_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A text that a process chose must neither end a line nor control the reader's terminal: in @text,
 * ends of lines and tabs become blanks, and other control characters '?', as in the library's own
 * lines (base/log.c). */
void sx_say_plain(char *text);

/* The same line as a malloc'ed string, for callers that queue it; its message is made plain. */
char *sx_say_line(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/* Print a message and exit; the functions below call it when memory is out. */
__attribute__((noreturn)) void sx_cli_no_memory(void);

/* Return: zeroed memory, a copy, a formatted string: never NULL, free() releases it. */
void *sx_cli_calloc(size_t count, size_t size_bytes);
void *sx_cli_realloc(void *at, size_t count, size_t size_bytes);
char *sx_cli_strdup(const char *text);
char *sx_cli_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *sx_cli_vprintf(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/* ---- json ------------------------------------------------------------------------------------ */

/* Print texts of other processes as JSON. */

/* The character of UTF-8 at @text, of @left bytes, into @ret.  Return: how many bytes it has; 0: it
 * is not a character. */
size_t sx_utf8_read(const unsigned char *text, size_t left, uint32_t *ret);

/* Print @len bytes as a string of JSON.  UTF-8 stays as it is; control characters are escaped, and
 * a byte that belongs to no character becomes U+FFFD. */
void sx_json_string(const char *text, size_t len);
void sx_json_string_to(FILE *out, const char *text, size_t len);

#endif
