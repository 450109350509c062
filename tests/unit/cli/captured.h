/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* captured.h - a verb is called here, and what it writes to stdout is kept. */
#ifndef SX_TEST_CAPTURED_H
#define SX_TEST_CAPTURED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAPTURED_MAX (4u << 20)

/* Call @verb with @words; @want is its exit code.  Return: what it wrote, malloc'ed. */
static inline char *captured(int (*verb)(char **words), char **words, int want)
{
    const int file = memfd_create("output", MFD_CLOEXEC);
    const int before = dup(STDOUT_FILENO);

    cr_assert_geq(file, 0);
    fflush(stdout);
    cr_assert_geq(dup2(file, STDOUT_FILENO), 0);
    const int code = verb(words);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    cr_expect_eq(code, want, "code %d", code);
    char *const text = calloc(1, CAPTURED_MAX);
    cr_assert_geq(pread(file, text, CAPTURED_MAX - 1, 0), 0);
    close(file);
    return text;
}

#endif
