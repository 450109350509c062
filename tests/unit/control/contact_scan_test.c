/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_scan_test.c - which directories are looked through for contact files, and how far. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/contact_scan.h"

static char base[256];

static const char *path_of(const char *format, unsigned number)
{
    static char path[512];
    const int used = snprintf(path, sizeof(path), "%s/", base);

    snprintf(path + used, sizeof(path) - (size_t)used, format, number);
    return path;
}

static void begin(void)
{
    const char *const tmp = getenv("TMPDIR");

    snprintf(base, sizeof(base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(base));
}

TestSuite(contact_scan, .init = begin);

Test(contact_scan, a_directory_is_the_first_that_is_said)
{
    setenv("TMPDIR", "/tmp/of-all", 1);
    setenv(SX_ENV_SESSION_DIR, "/tmp/of-sessions", 1);
    unsetenv(SX_ENV_SYSTEM_DIR);
    cr_expect_str_eq(sx_contact_dir("/given", SX_ENV_SESSION_DIR), "/given");
    cr_expect_str_eq(sx_contact_dir(NULL, SX_ENV_SESSION_DIR), "/tmp/of-sessions");
    cr_expect_str_eq(sx_contact_dir("", SX_ENV_SYSTEM_DIR), "/tmp/of-all");
    setenv(SX_ENV_SESSION_DIR, "", 1);
    unsetenv("TMPDIR");
    cr_expect_str_eq(sx_contact_dir(NULL, SX_ENV_SESSION_DIR), "/tmp");
    rmdir(base);
}

struct seen {
    unsigned dirs, names;
    ino_t inos[8];
};

static void dir_see(void *arg, int dir_fd)
{
    struct seen *const seen = arg;
    struct stat st;

    cr_assert(fstat(dir_fd, &st) == 0 && seen->dirs < 8);
    seen->inos[seen->dirs++] = st.st_ino;
}

Test(contact_scan, this_users_launchers_have_directories_and_links_are_not_followed)
{
    const unsigned uid = geteuid();
    struct seen seen = { .dirs = 0 };
    struct stat own, launcher;

    cr_assert_eq(mkdir(path_of("shmix-%u-1-a", uid), 0700), 0);
    cr_assert_eq(stat(path_of("shmix-%u-1-a", uid), &launcher), 0);
    cr_assert_eq(mkdir(path_of("shmix-%u-1-a", uid + 1), 0700), 0);
    cr_assert_eq(mkdir(path_of("other", 0), 0700), 0);
    cr_assert_eq(symlink("other", path_of("shmix-%u-2-b", uid)), 0);
    cr_assert_eq(close(creat(path_of("shmix-%u-3-c", uid), 0600)), 0);
    cr_assert_eq(stat(base, &own), 0);
    cr_expect_eq(sx_contact_dirs_each(base, dir_see, &seen), 0);
    cr_expect_eq(seen.dirs, 2);
    cr_expect(seen.inos[0] == own.st_ino && seen.inos[1] == launcher.st_ino);
    cr_expect_eq(sx_contact_dirs_each(path_of("none", 0), dir_see, &seen), ENOENT);
    cr_expect_eq(sx_contact_dirs_each(path_of("shmix-%u-3-c", uid), dir_see, &seen), ENOTDIR);
    cr_expect_eq(seen.dirs, 2);

    unlink(path_of("shmix-%u-3-c", uid));
    unlink(path_of("shmix-%u-2-b", uid));
    rmdir(path_of("shmix-%u-1-a", uid));
    rmdir(path_of("shmix-%u-1-a", uid + 1));
    rmdir(path_of("other", 0));
    rmdir(base);
}

static void name_see(void *arg, int dir_fd, const char *name)
{
    (void)dir_fd, (void)name;
    ((struct seen *)arg)->names++;
}

Test(contact_scan, a_directory_that_somebody_has_filled_is_looked_at_so_far)
{
    struct seen seen = { .dirs = 0 };
    char first[512];

    strcpy(first, path_of("pmix.%u", 0));
    cr_assert_eq(close(creat(first, 0600)), 0);
    for (unsigned i = 1; i < SX_CONTACT_SCAN_MAX + 10; i++) { /* one file, for speed */
        cr_assert_eq(link(first, path_of("pmix.%u", i)), 0);
    }
    const int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < 2; i++) { /* from the beginning each time */
        seen.names = 0;
        sx_contact_names_each(fd, name_see, &seen);
        cr_expect_eq(seen.names, SX_CONTACT_SCAN_MAX);
    }
    close(fd);
    for (unsigned i = 0; i < SX_CONTACT_SCAN_MAX + 10; i++) {
        unlink(path_of("pmix.%u", i));
    }
    rmdir(base);
}
