/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* A file that the user names is written through links of the user and of root, and through no
 * other. */
#include "launch/common/file.h"

#include <errno.h>

#define DIRECTORY_NAME "file"
#include "unit/cli/directory.h"

#include "base/util.h"

#define OTHER ((uid_t)5001)

TestSuite(file, .init = directory_make, .fini = directory_remove);

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void link_make(const char *target, const char *name, uid_t owner)
{
    cr_assert_eq(symlinkat(target, dir_fd, name), 0);
    cr_assert_eq(fchownat(dir_fd, name, owner, (gid_t)-1, AT_SYMLINK_NOFOLLOW), 0);
}

/* What is in the file, with an end. */
static const char *text_of(const char *name)
{
    static char text[64];
    const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    close(fd);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

static int replace(const char *path, const char *text)
{
    struct sx_replace replace;

    if (!sx_replace_open(&replace, path)) {
        return errno;
    }
    fputs(text, replace.out);
    return sx_replace_end(&replace) ? 0 : errno;
}

static int file_write(const char *path, const char *text)
{
    const int fd = sx_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, true);

    if (fd < 0) {
        return errno;
    }
    cr_expect_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return 0;
}

static void links_make(void)
{
    const uid_t me = geteuid();

    cr_assert_eq(mkdirat(dir_fd, "folder", 0755), 0);
    link_make("folder/file", "mine", me);
    link_make("mine", "chain", me);
    link_make("folder", "through", me);
    link_make(path_of("folder/file"), "whole", me);
    link_make("loop", "loop", me);
}

/* Each path leads to folder/file, or is refused. */
static const struct {
    const char *path;
    int want;
} rows[] = {
    { "folder/file", 0 },
    { "folder//./file", 0 },
    { "folder/../folder/file", 0 },
    { "mine", 0 },
    { "chain", 0 },
    { "whole", 0 },
    { "through/file", 0 },
    { "through/../mine", 0 },
    { "loop", ELOOP },
    { "loop/file", ELOOP },
    { "folder", EISDIR },
    { "folder/", EISDIR },
    { "folder/file/", EISDIR },
};

Test(file, is_written_through_links_of_the_user)
{
    links_make();
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        for (int kind = 0; kind < 2; kind++) {
            char text[16];

            snprintf(text, sizeof(text), "%zu %d", i, kind);
            touch("folder/file");
            const int why = (kind == 0 ? replace : file_write)(path_of(rows[i].path), text);

            cr_expect_eq(why, rows[i].want, "%s: %s", rows[i].path, strerror(why));
            cr_expect(why != 0 || strcmp(text_of("folder/file"), text) == 0, "%s", rows[i].path);
        }
    }
    cr_expect_eq(replace("", "text"), ENOENT);
    cr_expect_eq(replace("/", "text"), EISDIR);
    cr_expect_eq(readlinkat(dir_fd, "mine", (char[16]){ 0 }, 16), 11, "the link is left");
    cr_expect(!there("folder/file/"));
}

static const char *const others[] = { "theirs", "hop", "way/file", "folder/way/new" };

Test(file, is_not_written_through_a_link_of_another_user)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can make what belongs to others");
    }
    links_make();
    cr_expect_eq(file_write(path_of("folder/file"), "secret"), 0);
    link_make("folder/file", "theirs", OTHER);
    link_make("theirs", "hop", 0);
    link_make("folder", "way", OTHER);
    link_make("..", "folder/way", OTHER);
    for (size_t i = 0; i < SX_COUNT(others); i++) {
        cr_expect_eq(replace(path_of(others[i]), "replaced"), ELOOP, "%s", others[i]);
        cr_expect_eq(file_write(path_of(others[i]), "written"), ELOOP, "%s", others[i]);
    }
    cr_expect_str_eq(text_of("folder/file"), "secret");
    cr_expect(!there("new"), "nothing is made either");
}

Test(file, that_is_replaced_keeps_owner_group_and_mode)
{
    struct stat st;

    if (geteuid() != 0) {
        cr_skip_test("only root can make what belongs to others");
    }
    touch("figures");
    cr_assert_eq(fchownat(dir_fd, "figures", OTHER, 4243, 0), 0);
    cr_assert_eq(fchmodat(dir_fd, "figures", 0640, 0), 0);
    cr_expect_eq(replace(path_of("figures"), "text"), 0);
    cr_assert_eq(fstatat(dir_fd, "figures", &st, 0), 0);
    cr_expect_eq(st.st_uid, OTHER);
    cr_expect_eq(st.st_gid, 4243);
    cr_expect_eq(st.st_mode & 07777, 0640);
}

Test(file, makes_the_folders_of_its_way_for_output)
{
    cr_expect_eq(replace(path_of("a/b/c"), "text"), ENOENT);
    cr_expect_eq(file_write(path_of("a/b/c"), "text"), 0);
    cr_expect_str_eq(text_of("a/b/c"), "text");
}

Test(file, that_is_a_descriptor_of_procfs_is_written_into)
{
    int fds[2];
    char path[64], text[8] = "";

    cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
    cr_expect_eq(replace(path, "text"), 0);
    cr_expect_eq(read(fds[0], text, sizeof(text)), 4);
    cr_expect_str_eq(text, "text");
}
