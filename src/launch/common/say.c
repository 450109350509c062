/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* say.c - a message is one write; allocation never returns NULL. */
#include "launch/common/say.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

static const char *say_name = "shmix";

void sx_say_set_name(const char *name)
{
    say_name = name;
}

void sx_cli_no_memory(void)
{
    static const char text[] = "shmix: out of memory\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(SX_EXIT_FAILURE);
}

static char *line_make(const char *body)
{
    return sx_cli_printf("%s: %s\n", say_name, body);
}

void sx_say_plain(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        if (*at < ' ' || *at == 0x7f) {
            *at = *at == '\n' || *at == '\t' ? ' ' : '?';
        } else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) {
            at[0] = at[1] = '?'; /* terminals obey these characters as well */
        }
    }
}

char *sx_say_line(const char *fmt, va_list args)
{
    char *const body = sx_cli_vprintf(fmt, args);

    sx_say_plain(body);
    char *const line = line_make(body);

    free(body);
    return line;
}

void sx_say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    char *const body = sx_cli_vprintf(fmt, args); /* the command's own, and may have two lines */
    va_end(args);
    char *const line = line_make(body);

    (void)!write(STDERR_FILENO, line, strlen(line));
    free(body);
    free(line);
}

void *sx_cli_calloc(size_t count, size_t size_bytes)
{
    void *at = calloc(count == 0 ? 1 : count, size_bytes);

    if (at == NULL) {
        sx_cli_no_memory();
    }
    return at;
}

void *sx_cli_realloc(void *at, size_t count, size_t size_bytes)
{
    void *moved = reallocarray(at, count == 0 ? 1 : count, size_bytes);

    if (moved == NULL) {
        sx_cli_no_memory();
    }
    return moved;
}

char *sx_cli_strdup(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        sx_cli_no_memory();
    }
    return copy;
}

char *sx_cli_vprintf(const char *fmt, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, fmt, args) < 0) {
        sx_cli_no_memory();
    }
    return text;
}

char *sx_cli_printf(const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = sx_cli_vprintf(fmt, args);
    va_end(args);
    return text;
}

/* ---- json ------------------------------------------------------------------------------------ */

/* JSON is UTF-8, but texts that a process has published need not be. */

size_t sx_utf8_read(const unsigned char *text, size_t left, uint32_t *ret)
{
    static const uint32_t first_of[] = { 0, 0, 0x80, 0x800,
                                         0x10000 }; /* by length: no shorter form */
    const unsigned char lead = text[0];
    const size_t len = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = len == 1 ? lead : lead & (0x7fu >> len);

    if (len == 0 || len > left || lead > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < first_of[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        return 0;
    }
    *ret = code;
    return len;
}

void sx_json_string_to(FILE *out, const char *text, size_t len)
{
    putc('"', out);
    for (size_t at = 0; at < len;) {
        uint32_t code = 0xfffd;
        const size_t size = sx_utf8_read((const unsigned char *)text + at, len - at, &code);

        if (size == 1 && (code == '"' || code == '\\')) {
            fprintf(out, "\\%c", (char)code);
        } else if (size == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
            fprintf(out, "\\u%04x", (unsigned)code); /* terminals obey some of these */
        } else {
            fwrite(text + at, 1, size, out);
        }
        at += size == 0 ? 1 : size;
    }
    putc('"', out);
}

void sx_json_string(const char *text, size_t len)
{
    sx_json_string_to(stdout, text, len);
}
