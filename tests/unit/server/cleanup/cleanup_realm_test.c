/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_realm_test.c - paths hang together by the mounts that this process sees. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "server/cleanup/cleanup_queue.h"

static const struct {
    const char *path, *folder;
    bool want;
} rows[] = {
    { "/a/b", "/a", true },  { "/a", "/a", true },     { "/a/b", "/a/", true },
    { "/a/b", "/", true },   { "/ab", "/a", false },   { "/a", "/a/b", false },
    { "/b/a", "/a", false }, { "/a/b/c", "/a", true }, { "/a", "", true },
};

Test(cleanup_realm, a_path_is_below_a_folder_by_whole_names)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_cleanup_unlink_is_below(rows[i].path, rows[i].folder), rows[i].want,
                     "'%s' below '%s'", rows[i].path, rows[i].folder);
    }
}

static bool is_mounted(const char *path)
{
    struct stat root, st;

    return stat("/", &root) == 0 && stat(path, &st) == 0 && root.st_dev != st.st_dev;
}

static void expect_realm(const char *path, const char *want)
{
    char *const realm = sx_cleanup_unlink_realm(path);

    cr_assert_not_null(realm);
    cr_expect_str_eq(realm, want, "of '%s': '%s'", path, realm);
    free(realm);
}

Test(cleanup_realm, is_the_mount_of_a_path)
{
    if (!is_mounted("/proc")) {
        cr_skip("there is no /proc");
    }
    expect_realm("/proc/self/nothing/nothing", "/proc");
}

Test(cleanup_realm, is_the_path_itself_where_something_is_mounted_below_it)
{
    if (!is_mounted("/dev/shm")) {
        cr_skip("nothing is mounted at /dev/shm");
    }
    expect_realm("/dev", "/dev");
    expect_realm("/dev/shm/file", "/dev/shm");
}

Test(cleanup_realm, is_the_folder_of_a_path_in_the_file_system_of_the_root)
{
    expect_realm("/nothing-is-here/job/file", "/nothing-is-here/job");
    expect_realm("/nothing-is-here", "");
}
