/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pathlist_test.c - what lies between commas, and which of it names something. */
#include "base/pathlist.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <string.h>

#include "base/util.h"

Test(pathlist, paths_are_split_at_commas_and_lose_slashes_at_their_end)
{
    const char *at = ",/a,,/b/c//,relative,///,/a/./d,";
    static const char *const wanted[] = { "/a", "/b/c", "relative", "/", "/a/./d" };
    struct sx_path path;

    for (size_t i = 0; i < SX_COUNT(wanted); i++) {
        cr_assert(sx_pathlist_next(&at, &path), "%s", wanted[i]);
        cr_expect_eq(path.len, strlen(wanted[i]), "%s", wanted[i]);
        cr_expect_eq(memcmp(path.text, wanted[i], path.len), 0, "%s", wanted[i]);
    }
    cr_expect_not(sx_pathlist_next(&at, &path));
    cr_expect_not(sx_pathlist_next(&at, &path), "and so it stays");
}

static const struct {
    const char *path;
    size_t name_off;
    bool good;
} rows[] = {
    { "/a", 1, true },      { "/a/b/", 3, true },  { "/...", 1, true },  { "/a/.b", 3, true },
    { "/a/..b", 3, true },  { "//a//b", 5, true }, { "/../a", 4, true }, { "a", 0, false },
    { "a/b", 2, false },    { "./a", 2, false },   { "/", 1, false },    { "///", 1, false },
    { "/.", 1, false },     { "/..", 1, false },   { "/a/.", 3, false }, { "/a/../", 3, false },
    { "/a/.//", 3, false },
};

Test(pathlist, a_path_must_be_absolute_and_end_in_a_name)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const char *at = rows[i].path;
        struct sx_path path;

        cr_assert(sx_pathlist_next(&at, &path), "%s", rows[i].path);
        cr_expect_eq(path.name_off, rows[i].name_off, "%s: %zu", rows[i].path, path.name_off);
        cr_expect_eq(sx_path_fault(&path) == NULL, rows[i].good, "%s", rows[i].path);
    }
}

Test(pathlist, a_path_has_at_most_the_length_that_the_kernel_takes)
{
    static char text[PATH_MAX + 1];
    const char *at = text;
    struct sx_path path;

    memset(text, 'x', PATH_MAX);
    text[0] = '/';
    cr_assert(sx_pathlist_next(&at, &path));
    cr_expect_not_null(sx_path_fault(&path), "no room for its NUL");
    text[PATH_MAX - 1] = '\0';
    at = text;
    cr_assert(sx_pathlist_next(&at, &path));
    cr_expect_null(sx_path_fault(&path));
}
