/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directory.h - a directory of this test alone, removed with what is in it.  DIRECTORY_NAME, which
 * the test defines first, is a part of its name. */
#ifndef SX_TEST_DIRECTORY_H
#define SX_TEST_DIRECTORY_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/shmix-test-" DIRECTORY_NAME "-XXXXXX";
static int dir_fd;

static inline void directory_make(void)
{
    cr_assert_not_null(mkdtemp(dir));
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert(dir_fd >= 0);
}

static inline void directory_remove(void)
{
    char command[sizeof(dir) + 8] = "rm -rf ";

    cr_expect_eq(system(strcat(command, dir)), 0);
}

/* Make an empty file. */
static inline void touch(const char *name)
{
    const int fd = openat(dir_fd, name, O_CREAT | O_WRONLY, 0600);

    cr_assert(fd >= 0);
    close(fd);
}

static inline bool there(const char *name)
{
    return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

#endif
