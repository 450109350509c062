/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* say.c - each line is one write; allocation never returns NULL. */
#include "launch/common/say.h"

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

char *sx_say_line(const char *fmt, va_list args)
{
    char *const body = sx_cli_vprintf(fmt, args);
    char *const line = sx_cli_printf("%s: %s\n", say_name, body);

    free(body);
    return line;
}

void sx_say(const char *fmt, ...)
{
    va_list args;
    char *line;

    va_start(args, fmt);
    line = sx_say_line(fmt, args);
    va_end(args);
    (void)!write(STDERR_FILENO, line, strlen(line));
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
