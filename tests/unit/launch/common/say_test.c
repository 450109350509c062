/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* json_test.c - characters pass, and what is none does not get through. */
#include "launch/common/say.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

static void written(const char *text, size_t len, char out[256])
{
    const int file = memfd_create("output", MFD_CLOEXEC), before = dup(STDOUT_FILENO);

    fflush(stdout);
    cr_assert(file >= 0 && dup2(file, STDOUT_FILENO) >= 0);
    sx_json_string(text, len);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    memset(out, 0, 256);
    cr_assert_geq(pread(file, out, 255, 0), 0);
    close(file);
}

Test(json, utf8_passes_and_everything_else_is_escaped)
{
    static const struct {
        const char *why, *text, *want;
    } rows[] = {
        { "nothing", "", "\"\"" },
        { "ASCII", "plain", "\"plain\"" },
        { "what JSON means something by", "\"\\\n\x01", "\"\\\"\\\\\\u000a\\u0001\"" },
        { "two, three and four bytes", "\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80",
          "\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "the last character", "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },
        { "what a terminal obeys", "\x1b \x7f \xc2\x9b", "\"\\u001b \\u007f \\u009b\"" },
        { "no lead", "a\xbf", "\"a\\ufffd\"" },
        { "no continuation", "\xc3(", "\"\\ufffd(\"" },
        { "cut off", "\xe2\x82", "\"\\ufffd\\ufffd\"" },
        { "a longer form than needed", "\xc0\xaf \xe0\x80\x80",
          "\"\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"" },
        { "a surrogate", "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
        { "behind the last", "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
        { "no such lead", "\xf8\xff", "\"\\ufffd\\ufffd\"" },
    };
    char out[256];

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        written(rows[i].text, strlen(rows[i].text), out);
        cr_expect_str_eq(out, rows[i].want, "%s: %s", rows[i].why, out);
    }
    written("a\0b", 3, out);
    cr_expect_str_eq(out, "\"a\\u0000b\"");
}
