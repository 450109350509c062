/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log_test.c - lines of the log. */
#include "base/log.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *text, *want;
} rows[] = {
    { "a group", "a group\n" },
    { "two\nlines", "two lines\n" },
    { "a\ttab", "a tab\n" },
    { "\033[31mred\033[0m", "?[31mred?[0m\n" },
    { "bell\a, back\b, delete\177", "bell?, back?, delete?\n" },
    { "caf\303\251", "caf\303\251\n" },
};

/* Write one line of @text.  Return: its size, in @line. */
static size_t logged(const char *text, char *line, size_t size)
{
    const int kept = dup(STDERR_FILENO);
    int ends[2];

    cr_assert(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    sx_log(SX_LOG_ERROR, "%s", text);
    cr_assert(dup2(kept, STDERR_FILENO) >= 0);
    close(ends[1]);
    const ssize_t count = read(ends[0], line, size - 1);

    close(ends[0]);
    close(kept);
    cr_assert_gt(count, 0);
    line[count] = '\0';
    return (size_t)count;
}

Test(log, a_name_cannot_control_a_terminal_or_forge_a_line)
{
    char line[512];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t size = logged(rows[i].text, line, sizeof(line));
        const size_t want = strlen(rows[i].want);

        cr_assert_geq(size, want);
        cr_expect_str_eq(line + size - want, rows[i].want, "row %zu: %s", i, line);
    }
}
