/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_process_test.c - the process that removes: it does what a packet says, reports what had
 * to stay, and ends with its socket. */
#include "server/cleanup/cleanup_queue.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/util.h"

static char base[256];
static pid_t pid;
static int fd;
static struct sx_cleanup_process_done *done;

static void begin(void)
{
    const char *const tmp = getenv("TMPDIR");

    snprintf(base, sizeof(base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(base), "%s", strerror(errno));
    done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(done != MAP_FAILED);
    pid = sx_cleanup_process_start(geteuid(), getegid(), done, &fd);
    cr_assert_gt(pid, 0, "%s", strerror(errno));
}

/* It ends with its socket, and a host that waits for any child does not find it. */
static void end(void)
{
    int status;

    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
    cr_expect_eq(errno, ECHILD);
    close(fd);
    cr_assert_eq(waitpid(pid, &status, __WALL), pid);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_eq(rmdir(base), 0, "%s", strerror(errno));
}

TestSuite(sweeper, .init = begin, .fini = end, .timeout = 60);

/* Append the wish to remove @name to the packet. */
static size_t add(char *packet, size_t at, const char *name)
{
    char path[300];
    struct sx_cleanup_unlink *const sweep = (void *)(packet + at);

    snprintf(path, sizeof(path), "%s/%s", base, name);
    const size_t size = sx_align_up(sizeof(*sweep) + strlen(path) + 1, 8);

    memset(sweep, 0, size);
    sweep->size_bytes = (uint32_t)size;
    memcpy(sweep->path, path, strlen(path) + 1);
    return at + size;
}

static void make(const char *name)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/%s", base, name);
    FILE *const file = fopen(path, "w");

    cr_assert_not_null(file);
    fclose(file);
}

Test(sweeper, does_what_a_packet_says_and_notifies_what_stays)
{
    static _Alignas(8) char packet[SX_CLEANUP_UNLINK_PACKET_MAX];
    struct sx_cleanup_unlink_report report;
    char path[300];
    struct stat st;
    size_t size = 0;

    make("a");
    make("b");
    snprintf(path, sizeof(path), "%s/dir", base);
    cr_assert_eq(mkdir(path, 0700), 0);
    size = add(packet, size, "a");
    size = add(packet, size, "dir"); /* no file */
    size = add(packet, size, "b");
    cr_assert_eq(send(fd, packet, size, 0), (ssize_t)size);
    cr_assert_eq(recv(fd, &report, sizeof(report), 0), (ssize_t)sizeof(report));
    cr_expect_eq(report.left_count, 1);
    cr_expect_str_eq(report.path, path);
    cr_expect_eq(rmdir(path), 0, "it is still there");
    static const char *const gone[] = { "a", "b" };

    for (size_t i = 0; i < SX_COUNT(gone); i++) {
        snprintf(path, sizeof(path), "%s/%s", base, gone[i]);
        cr_expect_eq(stat(path, &st), -1, "%s", path);
    }
}

Test(sweeper, that_is_asked_nothing_ends)
{
}

/* ---- one removal -----------------------------------------------------------------------------
 *
 * What is removed, what stays, and what is said of it; whatever the user
 * does in between, and with a kernel that has no openat2. */

/* ---- a directory of the test's own, entered ------------------------------------------------ */

static char unlink_base[256];

static void make_base(void)
{
    const char *tmp = getenv("TMPDIR");
    char made[200];

    snprintf(made, sizeof(made), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(made), "%s", strerror(errno));
    cr_assert_not_null(realpath(made, unlink_base));
    cr_assert_eq(chdir(unlink_base), 0);
}

static void remove_base(void)
{
    char command[300];

    snprintf(command, sizeof(command), "rm -rf '%s'", unlink_base);
    cr_expect_eq(system(command), 0);
}

static void file(const char *name)
{
    const int fd = open(name, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);

    cr_assert_geq(fd, 0, "%s: %s", name, strerror(errno));
    close(fd);
}

static void dir(const char *name)
{
    cr_assert_eq(mkdir(name, 0700), 0, "%s: %s", name, strerror(errno));
}

static bool there(const char *name)
{
    struct stat st;

    return lstat(name, &st) == 0;
}

static void need_root(void)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can make what belongs to others");
    }
}

/* Sweep @path under the unlink_base without what is @kept in it (names with '|' between them).  Return:
 * the report. */
static struct sx_cleanup_unlink_report sweep_but(const char *path, uint32_t flags, const char *kept)
{
    static _Alignas(8) char bytes[SX_CLEANUP_UNLINK_TEXT_MAX + 4096];
    struct sx_cleanup_unlink *wish = (struct sx_cleanup_unlink *)(void *)bytes;
    struct sx_cleanup_unlink_report report = { .left_count = 0 };

    wish->flags = flags;
    const int len = snprintf(wish->path, sizeof(bytes) - sizeof(*wish), "%s/%s|%s|", unlink_base,
                             path, kept);

    for (int i = 0; i <= len; i++) {
        wish->path[i] = wish->path[i] == '|' ? '\0' : wish->path[i];
    }
    wish->size_bytes = (uint32_t)((sizeof(*wish) + (size_t)len + 8) & ~(size_t)7);
    sx_cleanup_unlink_do(wish, geteuid(), &report);
    return report;
}

static struct sx_cleanup_unlink_report sweep(const char *path, uint32_t flags)
{
    return sweep_but(path, flags, "");
}

#define ALL (SX_CLEANUP_UNLINK_DIR | SX_CLEANUP_UNLINK_RECURSE)

/* a/ with a file, a link to keep/, and a/b/ with a file; keep/ with a file. */
static void make_tree(void)
{
    dir("keep");
    file("keep/file");
    dir("a");
    file("a/file");
    dir("a/b");
    file("a/b/file");
    cr_assert_eq(symlink("../keep", "a/link"), 0);
}

/* ---- what stays ---------------------------------------------------------------------------- */

static const struct {
    const char *why;
    uint32_t flags;
    const char *kept;
    bool file_left, inner_left, link_left;
} kept_rows[] = {
    { "a name, wherever it is", ALL, "file", true, true, false },
    { "a path", ALL, "/file", true, false, false },
    { "a path below", ALL, "/b/file", false, true, false },
    { "a directory with all in it", ALL, "/b", false, true, false },
    { "the name of a directory", ALL, "b", false, true, false },
    { "several, and a link", ALL, "none|/b/file|link", false, true, true },
    { "part of a name", ALL, "fil|/b/fil|/b/file/none|/bb/file|/file/", false, false, false },
    { "all files", SX_CLEANUP_UNLINK_DIR | SX_CLEANUP_UNLINK_RECURSE | SX_CLEANUP_UNLINK_EMPTY, "",
      true, true, true },
};

Test(sweep, leaves_what_is_to_stay, .init = make_base, .fini = remove_base)
{
    for (size_t i = 0; i < SX_COUNT(kept_rows); i++) {
        make_tree();
        const struct sx_cleanup_unlink_report report = sweep_but("a", kept_rows[i].flags,
                                                                 kept_rows[i].kept);

        cr_expect_eq(there("a/file"), kept_rows[i].file_left, "%s", kept_rows[i].why);
        cr_expect_eq(there("a/b/file"), kept_rows[i].inner_left, "%s", kept_rows[i].why);
        cr_expect_eq(there("a/link"), kept_rows[i].link_left, "%s", kept_rows[i].why);
        cr_expect_eq(report.left_count, 0, "%s", kept_rows[i].why);
        cr_assert_eq(system("rm -rf a keep"), 0);
    }
}

/* Directories that come to be empty go, too. */
Test(sweep, empty_directories_alone, .init = make_base, .fini = remove_base)
{
    make_tree();
    dir("a/c");
    dir("a/c/d");
    dir("e");
    cr_expect_eq(sweep("a", ALL | SX_CLEANUP_UNLINK_EMPTY).left_count, 0);
    cr_expect(!there("a/c") && there("a/b/file") && there("a/file"));
    (void)sweep("e", SX_CLEANUP_UNLINK_DIR | SX_CLEANUP_UNLINK_EMPTY);
    cr_expect(!there("e"));
    cr_assert_eq(system("rm -rf a keep"), 0);
}

/* ---- what is removed ----------------------------------------------------------------------- */

static const struct {
    const char *why, *path;
    uint32_t flags;
    bool file_left, inner_left, dir_left;
    int error; /* 0: nothing is said to be left */
} rows[] = {
    { "a file", "a/file", 0, false, true, true, 0 },
    { "a file that is a directory", "a", 0, true, true, true, EISDIR },
    { "a directory that is a file", "a/file", SX_CLEANUP_UNLINK_DIR, true, true, true, ENOTDIR },
    { "a directory that is a link", "a/link", ALL, true, true, true, ENOTDIR },
    { "what is not there", "a/none", 0, true, true, true, 0 },
    { "in what is not there", "a/none/file", 0, true, true, true, 0 },
    { "in what is a file", "a/file/none", 0, true, true, true, ENOTDIR },
    { "a tree", "a", ALL, false, false, false, 0 },
    { "the files of a directory", "a", SX_CLEANUP_UNLINK_DIR, false, true, true, 0 },
    { "a tree without its top", "a", ALL | SX_CLEANUP_UNLINK_LEAVE_TOP, false, false, true, 0 },
    { "with dots and slashes", ".//a/../a/./b/..//b/file", 0, true, false, true, 0 },
};

static void rows_hold(void)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        make_tree();
        const struct sx_cleanup_unlink_report report = sweep(rows[i].path, rows[i].flags);

        cr_expect_eq(there("a/file"), rows[i].file_left, "%s", rows[i].why);
        cr_expect_eq(there("a/b/file"), rows[i].inner_left, "%s", rows[i].why);
        cr_expect_eq(there("a"), rows[i].dir_left, "%s", rows[i].why);
        cr_expect(there("keep/file"), "%s: behind a link", rows[i].why);
        cr_expect_eq(report.left_count, rows[i].error != 0, "%s", rows[i].why);
        cr_expect_eq(report.error, rows[i].error, "%s: %s", rows[i].why, strerror(report.error));
        cr_assert_eq(system("rm -rf a keep"), 0);
    }
}

Test(sweep, removes_what_is_named_and_no_more, .init = make_base, .fini = remove_base)
{
    rows_hold();
}

Test(sweep, a_link_is_removed_and_not_what_is_behind_it, .init = make_base, .fini = remove_base)
{
    make_tree();
    cr_expect_eq(sweep("a/link", 0).left_count, 0);
    cr_expect_not(there("a/link"));
    cr_expect(there("keep/file"));
}

static void links_are_not_followed(int error)
{
    dir("real");
    file("real/file");
    dir("real/dir");
    cr_assert_eq(symlink("real", "link"), 0);
    cr_assert_eq(symlink(unlink_base, "home"), 0);
    static const char *const paths[] = { "link/file", "link/dir", "home/real/file",
                                         "home/link/file" };

    for (size_t i = 0; i < SX_COUNT(paths); i++) {
        const struct sx_cleanup_unlink_report report = sweep(paths[i], i == 1 ? ALL : 0);

        cr_expect_eq(report.left_count, 1, "%s", paths[i]);
        cr_expect_eq(report.error, error, "%s: %s", paths[i], strerror(report.error));
        cr_expect(there("real/file") && there("real/dir"), "%s", paths[i]);
    }
    cr_expect_eq(sweep("real/file", 0).left_count, 0);
    cr_expect_not(there("real/file"));
}

Test(sweep, no_link_is_followed_on_the_way, .init = make_base, .fini = remove_base)
{
    links_are_not_followed(ELOOP);
}

/* ---- without openat2 ----------------------------------------------------------------------- */

static bool refuse_openat2(unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = SX_COUNT(filter), .filter = filter };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
           syscall(SYS_openat2, 0, 0, 0, 0) == -1 && errno == (int)error;
}

Test(sweep, a_kernel_without_openat2_does_the_same, .init = make_base, .fini = remove_base)
{
    if (!refuse_openat2(ENOSYS)) {
        cr_skip_test("no seccomp filter can be installed here");
    }
    rows_hold();
    links_are_not_followed(ENOTDIR);
}

Test(sweep, a_filter_that_forbids_openat2_does_not_matter, .init = make_base, .fini = remove_base)
{
    if (!refuse_openat2(EPERM)) {
        cr_skip_test("no seccomp filter can be installed here");
    }
    rows_hold();
}

/* ---- what stays ---------------------------------------------------------------------------- */

Test(sweep, what_belongs_to_others_stays_and_is_counted, .init = make_base, .fini = remove_base)
{
    need_root();
    make_tree();
    file("a/theirs");
    dir("a/b/theirs");
    file("a/b/theirs/ours");
    cr_assert_eq(chown("a/theirs", 4242, 4242), 0);
    cr_assert_eq(chown("a/b/theirs", 4242, 4242), 0);
    const struct sx_cleanup_unlink_report report = sweep("a", ALL);

    cr_expect_eq(report.left_count, 2);
    cr_expect_eq(report.error, EPERM);
    cr_expect(there("a/theirs") && there("a/b/theirs/ours"), "what is below it as well");
    cr_expect_not(there("a/file"));
    cr_expect_not(there("a/b/file"));
    cr_expect_eq(sweep("a/theirs", 0).left_count, 1);
    cr_expect_eq(sweep("a/b/theirs", ALL).left_count, 1);
    cr_expect(there("a/theirs") && there("a/b/theirs/ours"));
}

Test(sweep, what_is_nested_too_deep_stays_and_is_notified, .init = make_base, .fini = remove_base)
{
    char path[4096] = "top";

    dir(path);
    for (unsigned i = 0; i < SX_CLEANUP_UNLINK_DEPTH_MAX + 1; i++) {
        strcat(path, "/d");
        dir(path);
    }
    const struct sx_cleanup_unlink_report report = sweep("top", ALL);

    cr_expect_eq(report.left_count, 1);
    cr_expect_eq(report.error, EOVERFLOW);
    cr_expect(there(path));
    cr_assert_eq(rmdir(path), 0);
    cr_expect_eq(sweep("top", ALL).left_count, 0, "one level less is not too deep");
    cr_expect_not(there("top"));
}

Test(sweep, a_mounted_file_system_is_not_entered, .init = make_base, .fini = remove_base)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        cr_skip_test("no right to mount");
    }
    make_tree();
    dir("a/mounted");
    cr_assert_eq(mount("none", "a/mounted", "tmpfs", 0, NULL), 0, "%s", strerror(errno));
    file("a/mounted/file");
    const struct sx_cleanup_unlink_report report = sweep("a", ALL);

    cr_expect_eq(report.left_count, 1);
    cr_expect_eq(report.error, EXDEV);
    cr_expect(there("a/mounted/file"));
    cr_expect_not(there("a/b"));
    cr_expect_eq(umount("a/mounted"), 0, "and no descriptor of it is left open");
}

Test(sweep, a_report_is_printable_and_says_why, .init = make_base, .fini = remove_base)
{
    char path[SX_CLEANUP_UNLINK_TEXT_MAX + 100] = "\033[2J\n/";

    memset(path + strlen(path), 'x', SX_CLEANUP_UNLINK_TEXT_MAX);
    dir("\033[2J\n");
    const struct sx_cleanup_unlink_report report = sweep(path, SX_CLEANUP_UNLINK_DIR);

    cr_expect_eq(report.left_count, 1, "the name is too long");
    cr_expect_eq(report.error, ENAMETOOLONG);
    cr_expect_eq(strlen(report.path), SX_CLEANUP_UNLINK_TEXT_MAX - 1);
    for (const char *at = report.path; *at != '\0'; at++) {
        cr_expect(*at >= ' ', "%d", *at);
    }
    cr_expect_str_eq(sx_cleanup_unlink_reason(ELOOP), "a link is on the way to it");
    cr_expect_str_eq(sx_cleanup_unlink_reason(ENOSPC), strerror(ENOSPC));
}

/* ---- a user who does not hold still -------------------------------------------------------- */

/* Before step @swap_at the directory `d` is exchanged with a link to `theirs`. */
static int step, swap_at = -1;

static void before_step(void)
{
    if (step++ == swap_at) {
        cr_assert_eq(renameat2(AT_FDCWD, "d", AT_FDCWD, "swap", RENAME_EXCHANGE), 0, "%s",
                     strerror(errno));
    }
}

int fstatat(int dir_fd, const char *name, struct stat *st, int flags)
{
    static int (*real)(int, const char *, struct stat *, int);

    if (real == NULL) {
        real = (int (*)(int, const char *, struct stat *, int))dlsym(RTLD_NEXT, "fstatat");
    }
    before_step();
    return real(dir_fd, name, st, flags);
}

int unlinkat(int dir_fd, const char *name, int flags)
{
    before_step();
    return (int)syscall(SYS_unlinkat, dir_fd, name, flags);
}

ssize_t getdents64(int fd, void *entries, size_t size)
{
    before_step();
    return syscall(SYS_getdents64, fd, entries, size);
}

/* Sweep with the exchange before each step in turn.  Return: how many steps there are. */
static int swap_everywhere(const char *path, uint32_t flags)
{
    for (swap_at = 0;; swap_at++) {
        dir("theirs");
        file("theirs/victim");
        dir("theirs/dir");
        dir("d");
        file("d/victim");
        dir("d/dir");
        file("d/dir/file");
        cr_assert_eq(symlink("theirs", "swap"), 0);
        step = 0;
        sweep(path, flags);
        cr_expect(there("theirs/victim") && there("theirs/dir"), "swapped before step %d", swap_at);
        if (swap_at >= step) {
            break;
        }
        cr_assert_eq(system("rm -rf theirs d swap"), 0);
    }
    swap_at = -1;
    cr_expect_not(there(path), "without a swap it goes");
    cr_assert_eq(system("rm -rf theirs d swap"), 0);
    return step;
}

Test(sweep, a_directory_that_becomes_a_link_at_any_step_leads_nowhere, .init = make_base,
     .fini = remove_base)
{
    dir("theirs");
    dir("d");
    const bool can = renameat2(AT_FDCWD, "d", AT_FDCWD, "theirs", RENAME_EXCHANGE) == 0;

    cr_assert_eq(system("rm -rf theirs d"), 0);
    if (!can) {
        cr_skip_test("this file system exchanges no names");
    }
    cr_expect_eq(swap_everywhere("d/victim", 0), 2);
    cr_expect_geq(swap_everywhere("d/dir", ALL), 6);
    cr_expect_geq(swap_everywhere("d", ALL), 10);
}
