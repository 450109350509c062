/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_test.c - contact files: read with suspicion, made without replacing, and taken back.
 * TQ15 TQ16 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "control/contact.h"
#include "control/rendezvous.h"

static char base[256];
static struct sx_rendezvous server = { .listen_fd = -1 };
static struct sx_contact live, stale;

static struct sx_contact contact_of(const char *address, pid_t pid)
{
    struct sx_contact contact = {
        .server = { .nspace = "a.name", .rank = 3 }, .pid = pid, .uid = geteuid(), .gid = getegid()
    };

    snprintf(contact.uri, sizeof(contact.uri), "a.name.3;%s", address);
    return contact;
}

static pid_t dead_pid(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return pid;
}

static void begin(void)
{
    const char *const tmp = getenv("TMPDIR");

    snprintf(base, sizeof(base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(base));
    cr_assert_eq(sx_rendezvous_open(&server, &(struct sx_rendezvous_options){ .dir = base,
                                                                              .uid = geteuid(),
                                                                              .gid = getegid() }),
                 PMIX_SUCCESS);
    live = contact_of(server.uri, getpid());
    stale = contact_of("unix:@shmix-0-1-1-nobody", dead_pid());
}

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", base, name);
    return path;
}

static void end(void)
{
    DIR *const dir = opendir(base);
    const struct dirent *entry;

    sx_rendezvous_close(&server);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (unlink(path_of(entry->d_name)) != 0) {
            rmdir(path_of(entry->d_name));
        }
    }
    closedir(dir);
    rmdir(base);
}

TestSuite(contact, .init = begin, .fini = end);

static void write_file(const char *name, const char *text, size_t size, mode_t mode)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size && fchmod(fd, mode) == 0);
    close(fd);
}

static void leave(const char *name, const struct sx_contact *contact)
{
    char text[SX_CONTACT_BYTES_MAX];

    write_file(name, text, sx_contact_print(contact, text, sizeof(text)), 0600);
}

static bool is_there(const char *name)
{
    struct stat st;

    return lstat(path_of(name), &st) == 0;
}

static int entry_count(void)
{
    DIR *const dir = opendir(base);
    const struct dirent *entry;
    int count = 0;

    while ((entry = readdir(dir)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static pmix_status_t publish(struct sx_contact_file *file, const char *name,
                             const struct sx_contact *contact)
{
    const char *why = NULL;
    const struct sx_contact_place place = { .dir = base, .name = name, .mode = 0600 };
    const pmix_status_t rc = sx_contact_file_open(file, &place, contact, NULL, &why);

    cr_expect_not_null(why);
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------- */

Test(contact, says_what_was_written)
{
    struct sx_contact got;
    struct sx_contact_file file;
    const char *why;
    struct stat st;

    cr_assert_eq(publish(&file, "f", &live), PMIX_SUCCESS);
    cr_assert_eq(sx_contact_read(AT_FDCWD, path_of("f"), &got, &why), PMIX_SUCCESS);
    cr_expect_str_eq(got.uri, live.uri);
    cr_expect_str_eq(got.server.nspace, "a.name");
    cr_expect_eq(got.server.rank, 3);
    cr_expect_eq(got.pid, getpid());
    cr_expect_eq(got.uid, geteuid());
    cr_expect(stat(path_of("f"), &st) == 0 && (st.st_mode & 07777) == 0600);
    cr_expect_not(sx_contact_is_stale(&got));
    cr_expect(sx_contact_is_stale(&stale));
    sx_contact_file_close(&file);
    cr_expect_eq(entry_count(), 0);
}

#define GOOD "a.0;unix:@x\nshmix 1\n1\n0:0\n"

static const struct {
    const char *why, *text;
    pmix_status_t status;
} texts[] = {
    { "as it should be", GOOD, PMIX_SUCCESS },
    { "nothing", "", PMIX_ERR_BAD_PARAM },
    { "no line", "a.0;unix:@x", PMIX_ERR_BAD_PARAM },
    { "no more than an address", "a.0;unix:@x\n", PMIX_ERR_BAD_PARAM },
    { "another version", "a.0;unix:@x\nshmix 2\n1\n0:0\n", PMIX_ERR_BAD_PARAM },
    { "no process", "a.0;unix:@x\nshmix 1\n0\n0:0\n", PMIX_ERR_BAD_PARAM },
    { "more than there is", GOOD "more\n", PMIX_ERR_BAD_PARAM },
    { "something else", "[Desktop Entry]\nName=x\n", PMIX_ERR_BAD_PARAM },
    { "another library", "prte.0;tcp4://10.0.0.1:1234\nv5.0.3\n17\n0:0\n", PMIX_ERR_NOT_SUPPORTED },
};

Test(contact, is_read_only_as_it_should_be)
{
    struct sx_contact got;
    const char *why;

    for (size_t i = 0; i < SX_COUNT(texts); i++) {
        write_file("f", texts[i].text, strlen(texts[i].text), 0600);
        cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("f"), &got, &why), texts[i].status, "%s",
                     texts[i].why);
        unlink(path_of("f"));
    }
    write_file("zero", GOOD "\0", sizeof(GOOD), 0600);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("zero"), &got, &why), PMIX_ERR_BAD_PARAM);
}

Test(contact, of_an_unfit_file_is_not_believed)
{
    static char huge[SX_CONTACT_BYTES_MAX + 1];
    struct sx_contact got;
    const char *why;

    memset(huge, 'a', sizeof(huge));
    write_file("huge", huge, sizeof(huge), 0600);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("huge"), &got, &why), PMIX_ERR_BAD_PARAM);
    write_file("shared", GOOD, strlen(GOOD), 0620);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("shared"), &got, &why), PMIX_ERR_NO_PERMISSIONS);
    leave("good", &live);
    cr_assert_eq(symlink("good", path_of("link")), 0);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("link"), &got, &why), PMIX_ERR_NO_PERMISSIONS);
    cr_assert_eq(mkfifo(path_of("fifo"), 0600), 0);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("fifo"), &got, &why), PMIX_ERR_NO_PERMISSIONS);
    cr_assert_eq(mkdir(path_of("dir"), 0700), 0);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("dir"), &got, &why), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("none"), &got, &why), PMIX_ERR_NOT_FOUND);
    if (geteuid() == 0) {
        cr_assert_eq(chown(path_of("good"), 65534, 65534), 0);
        cr_expect_eq(sx_contact_read(AT_FDCWD, path_of("good"), &got, &why),
                     PMIX_ERR_NO_PERMISSIONS);
    }
}

/* ---- our own ------------------------------------------------------------------------------- */

Test(contact, replaces_what_a_dead_server_left_and_nothing_else)
{
    struct sx_contact_file file;

    leave("f", &stale);
    cr_assert_eq(publish(&file, "f", &live), PMIX_SUCCESS);
    struct sx_contact_file second;
    cr_expect_eq(publish(&second, "f", &live), PMIX_ERR_EXISTS);
    cr_expect_eq(second.dir_fd, -1);
    sx_contact_file_close(&second);
    cr_expect(is_there("f"));
    write_file("mine", "a letter", 8, 0600);
    cr_expect_eq(publish(&second, "mine", &live), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(publish(&second, "a/b", &live), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(symlink("nowhere", path_of("link")), 0);
    cr_expect_eq(publish(&second, "link", &live), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_not(is_there("nowhere"));
    sx_contact_file_close(&file);
    cr_expect_not(is_there("f"));
    cr_expect_eq(entry_count(), 2);
}

Test(contact, that_is_another_ones_by_now_stays)
{
    struct sx_contact_file file;

    cr_assert_eq(publish(&file, "f", &live), PMIX_SUCCESS);
    unlink(path_of("f"));
    leave("f", &live);
    sx_contact_file_close(&file);
    cr_expect(is_there("f"));
}

Test(contact, of_a_parent_is_not_removed_by_its_child)
{
    struct sx_contact_file file;

    cr_assert_eq(publish(&file, "f", &live), PMIX_SUCCESS);
    const pid_t pid = fork();

    if (pid == 0) {
        sx_contact_file_close(&file);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    cr_expect(is_there("f"));
    sx_contact_file_close(&file);
}

#define AT_ONCE 8

Test(contact, that_several_want_at_once_goes_to_one)
{
    pid_t pids[AT_ONCE];
    int won = 0, status;

    leave("f", &stale);
    for (int i = 0; i < AT_ONCE; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct sx_contact_file file;

            _exit(publish(&file, "f", &live) == PMIX_SUCCESS ? 1 : 0);
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
        cr_assert(WIFEXITED(status));
        won += WEXITSTATUS(status);
    }
    cr_expect_eq(won, 1, "%d", won);
    cr_expect_eq(entry_count(), 1);
}

Test(contact, of_the_dead_are_swept_away)
{
    char side[64];

    leave("pmix.h.tool.1", &stale);
    leave("pmix.h.tool.2", &live);
    leave("other", &stale);
    write_file("pmix.garbage", "x", 1, 0600);
    snprintf(side, sizeof(side), "pmix.new.%d.0000abcd", (int)stale.pid);
    write_file(side, "x", 1, 0600);
    snprintf(side, sizeof(side), "pmix.new.%d.0000abcd", (int)getpid());
    write_file(side, "x", 1, 0600);
    cr_assert_eq(symlink("other", path_of("pmix.link")), 0);
    sx_contact_sweep(base);
    cr_expect_not(is_there("pmix.h.tool.1"));
    cr_expect_eq(entry_count(), 5);
    sx_contact_sweep("/no/such/directory");
}

/* What an earlier call has left on the stack. */
__attribute__((noinline)) static size_t stack_spoil(void)
{
    char junk[16384];

    memset(junk, 'x', sizeof(junk) - 1);
    junk[sizeof(junk) - 1] = '\0';
    return strlen(junk);
}

/* As the janitor of a job does, whose server has ended in good order meanwhile. */
Test(contact, that_is_not_there_is_not_judged)
{
    cr_assert_eq(stack_spoil(), 16383);
    sx_contact_remove_stale(base, "never.there");
    leave("there", &stale);
    sx_contact_remove_stale(base, "there");
    cr_expect_not(is_there("there"));
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Which directories are looked through for contact files, and how far. */

static char scan_base[256];

static const char *scan_path(const char *format, unsigned number)
{
    static char path[512];
    const int used = snprintf(path, sizeof(path), "%s/", scan_base);

    snprintf(path + used, sizeof(path) - (size_t)used, format, number);
    return path;
}

static void scan_begin(void)
{
    const char *const tmp = getenv("TMPDIR");

    snprintf(scan_base, sizeof(scan_base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(scan_base));
}

TestSuite(contact_scan, .init = scan_begin);

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
    rmdir(scan_base);
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

    cr_assert_eq(mkdir(scan_path("shmix-%u-1-a", uid), 0700), 0);
    cr_assert_eq(stat(scan_path("shmix-%u-1-a", uid), &launcher), 0);
    cr_assert_eq(mkdir(scan_path("shmix-%u-1-a", uid + 1), 0700), 0);
    cr_assert_eq(mkdir(scan_path("other", 0), 0700), 0);
    cr_assert_eq(symlink("other", scan_path("shmix-%u-2-b", uid)), 0);
    cr_assert_eq(close(creat(scan_path("shmix-%u-3-c", uid), 0600)), 0);
    cr_assert_eq(stat(scan_base, &own), 0);
    cr_expect_eq(sx_contact_dirs_each(scan_base, dir_see, &seen), 0);
    cr_expect_eq(seen.dirs, 2);
    cr_expect(seen.inos[0] == own.st_ino && seen.inos[1] == launcher.st_ino);
    cr_expect_eq(sx_contact_dirs_each(scan_path("none", 0), dir_see, &seen), ENOENT);
    cr_expect_eq(sx_contact_dirs_each(scan_path("shmix-%u-3-c", uid), dir_see, &seen), ENOTDIR);
    cr_expect_eq(seen.dirs, 2);

    unlink(scan_path("shmix-%u-3-c", uid));
    unlink(scan_path("shmix-%u-2-b", uid));
    rmdir(scan_path("shmix-%u-1-a", uid));
    rmdir(scan_path("shmix-%u-1-a", uid + 1));
    rmdir(scan_path("other", 0));
    rmdir(scan_base);
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

    strcpy(first, scan_path("pmix.%u", 0));
    cr_assert_eq(close(creat(first, 0600)), 0);
    for (unsigned i = 1; i < SX_CONTACT_SCAN_MAX + 10; i++) { /* one file, for speed */
        cr_assert_eq(link(first, scan_path("pmix.%u", i)), 0);
    }
    const int fd = open(scan_base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < 2; i++) { /* from the beginning each time */
        seen.names = 0;
        sx_contact_names_each(fd, name_see, &seen);
        cr_expect_eq(seen.names, SX_CONTACT_SCAN_MAX);
    }
    close(fd);
    for (unsigned i = 0; i < SX_CONTACT_SCAN_MAX + 10; i++) {
        unlink(scan_path("pmix.%u", i));
    }
    rmdir(scan_base);
}
