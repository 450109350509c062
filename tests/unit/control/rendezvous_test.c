/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rendezvous_test.c - a client finds its server, nobody else does, and nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/system/process.h"
#include "control/rendezvous.h"
#include "control/socket.h"
#include "engines.h"

#define NOBODY 65534

/* ---- a directory of the test's own -------------------------------------------------------- */

static char base[256]; /* removed whole by the fixture */

static void make_base(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(base, sizeof(base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(base), "%s", strerror(errno));
    unsetenv(SX_ENV_SERVER_FD);
    unsetenv(SX_ENV_SERVER_URI);
}

static void remove_tree(int parent_fd, const char *name)
{
    const int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0) != 0) {
            remove_tree(fd, entry->d_name);
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    unlinkat(parent_fd, name, AT_REMOVEDIR);
}

static void remove_base(void)
{
    remove_tree(AT_FDCWD, base);
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int count = 0;

    cr_assert_not_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

static struct sx_rendezvous_options options_abstract(const char *dir)
{
    return (struct sx_rendezvous_options){ .dir = dir, .uid = geteuid(), .gid = getegid() };
}

/* With a directory that stays. */
static struct sx_rendezvous_options options_for(const char *dir)
{
    struct sx_rendezvous_options options = options_abstract(dir);

    options.keep_dir = true;
    return options;
}

static int accept_soon(const struct sx_rendezvous *rendezvous)
{
    struct pollfd poll_fd = { .fd = rendezvous->listen_fd, .events = POLLIN };

    cr_assert_eq(poll(&poll_fd, 1, 60000), 1, "nobody connects");
    return accept4(rendezvous->listen_fd, NULL, NULL, SOCK_CLOEXEC);
}

/* Run @body in a child that has become @uid; return its exit code. */
static int run_as(uid_t uid, int (*body)(const void *arg), const void *arg)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        if (uid != geteuid() && (setgroups(0, NULL) != 0 || setgid(uid) != 0 || setuid(uid) != 0)) {
            _exit(100);
        }
        _exit(body(arg));
    }
    cr_assert_gt(pid, 0);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status), "the child was killed: %#x", (unsigned)status);
    return WEXITSTATUS(status);
}

static void need_root(void)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can become another user");
    }
}

/* Exit code 0: connected; else the status, negated. */
static int try_connect(const void *arg)
{
    int fd;
    const pmix_status_t rc = sx_rendezvous_connect(&fd);

    (void)arg;
    return rc == PMIX_SUCCESS ? 0 : -rc;
}

/* ---- good ways ---------------------------------------------------------------------------- */

Test(rendezvous, a_client_connects_by_uri_and_nothing_stays, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous = { 0 };
    const struct sx_rendezvous_options options = options_for(base);
    struct stat st;
    int fd;

    sx_rendezvous_close(&rendezvous); /* zeroed */
    const int before = test_count_fds();

    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_expect_eq(rendezvous.abstract_fd, -1);
    cr_expect_eq(fcntl(rendezvous.path_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    cr_expect_null(rendezvous.fd_value);
    cr_assert_eq(fstat(rendezvous.dir_fd, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0700);
    cr_assert_eq(fstatat(rendezvous.dir_fd, "s", &st, 0), 0);
    cr_expect_eq(st.st_mode & 0177, 0, "only the owner may connect");
    cr_expect_eq(fcntl(rendezvous.listen_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    cr_expect_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(accept_soon(&rendezvous));
    close(fd);
    sx_rendezvous_close(&rendezvous);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(test_count_fds(), before);
    cr_expect_eq(count_entries(base), 0);
}

Test(rendezvous, a_path_of_300_characters_works_on_both_sides, .init = make_base,
     .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    char path[1024], name[101] = { 0 };
    int fd;

    memset(name, 'x', 100);
    snprintf(path, sizeof(path), "%s", base);
    for (int i = 0; i < 3; i++) {
        strcat(path, "/");
        strcat(path, name);
        cr_assert_eq(mkdir(path, 0700), 0);
    }
    cr_assert_gt(strlen(path), 300);
    const struct sx_rendezvous_options options = options_for(path);

    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    close(accept_soon(&rendezvous));
    close(fd);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(count_entries(path), 0);
}

Test(rendezvous, a_relative_directory_or_one_behind_a_link_works, .init = make_base,
     .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    int fd;

    cr_assert_eq(chdir(base), 0);
    cr_assert_eq(mkdir("real", 0700), 0);
    cr_assert_eq(symlink("real", "link"), 0);
    const struct sx_rendezvous_options options = options_for("link");

    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_assert_eq(chdir("/"), 0);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    close(fd);
    sx_rendezvous_close(&rendezvous);
}

Test(rendezvous, the_descriptor_alone_is_enough, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    struct sx_rendezvous_options options = options_for(base);
    int fd;

    options.inherit = true;
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_assert_geq(rendezvous.path_fd, 0);
    cr_expect_eq(fcntl(rendezvous.path_fd, F_GETFD), 0, "children inherit it");
    cr_assert_eq(unlinkat(rendezvous.dir_fd, "s", 0), 0);
    cr_assert_eq(unlinkat(rendezvous.parent_fd, rendezvous.dir_name, AT_REMOVEDIR), 0);
    setenv(SX_ENV_SERVER_FD, rendezvous.fd_value, 1);
    cr_expect_eq(run_as(geteuid(), try_connect, NULL), 0);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    cr_expect_eq(fcntl(rendezvous.path_fd, F_GETFD), 0, "later programs find it, too");
    close(accept_soon(&rendezvous));
    close(accept_soon(&rendezvous));
    close(fd);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH, "closed");
}

Test(rendezvous, a_descriptor_that_became_something_else_is_not_believed, .init = make_base,
     .fini = remove_base)
{
    static const char *const values[] = { "",         "x",      "-1:1:1",
                                          "0:0:0",    "3",      "3:1",
                                          "9999:1:1", "3:1:1x", "99999999999999999999:1:1" };
    struct sx_rendezvous rendezvous;
    struct sx_rendezvous_options options = options_for(base);
    const int log_fd = test_capture_stderr();
    int fd;

    options.inherit = true;
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(values); i++) {
        setenv(SX_ENV_SERVER_FD, values[i], 1);
        unsetenv(SX_ENV_SERVER_URI);
        cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH, "'%s'", values[i]);
        setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
        cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS, "'%s'", values[i]);
        close(fd);
    }
    /* The number is in use again, by another server's socket. */
    struct sx_rendezvous other;

    cr_assert_eq(sx_rendezvous_open(&other, &options), PMIX_SUCCESS);
    cr_assert_eq(dup2(other.path_fd, rendezvous.path_fd), rendezvous.path_fd);
    setenv(SX_ENV_SERVER_FD, rendezvous.fd_value, 1);
    unsetenv(SX_ENV_SERVER_URI);
    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH);
    cr_expect_gt(test_count_lines(log_fd, SX_ENV_SERVER_FD), 0);
    sx_rendezvous_close(&other);
    sx_rendezvous_close(&rendezvous);
}

/* ---- abstract names ----------------------------------------------------------------------- */

/* In place of the C library's: the next random numbers that are asked for, 1 each. */
static int foreseen;

ssize_t getrandom(void *buf, size_t size, unsigned flags)
{
    if (foreseen > 0 && size == sizeof(uint64_t)) {
        foreseen--;
        memcpy(buf, &(uint64_t){ 1 }, size);
        return (ssize_t)size;
    }
    return (ssize_t)syscall(SYS_getrandom, buf, size, flags);
}

static void name_of(char name[100], pid_t pid, uint64_t start_ticks, uint64_t random)
{
    snprintf(name, 100, "shmix-%u-%d-%" PRIu64 "-%016" PRIx64, (unsigned)geteuid(), (int)pid,
             start_ticks, random);
}

/* Listen at the abstract @name, as anybody can, and let SHMIX_SERVER_URI say so. */
static int squat(const char *name)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sx_address address;
    char uri[128];

    cr_assert(sx_address_of_name(&address, name));
    cr_assert_eq(sx_address_bind(fd, &address), 0, "%s", name);
    cr_assert_eq(listen(fd, 16), 0);
    snprintf(uri, sizeof(uri), "unix:@%s", name);
    setenv(SX_ENV_SERVER_URI, uri, 1);
    return fd;
}

Test(rendezvous, an_abstract_one_is_in_no_directory, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    const struct sx_rendezvous_options options = options_abstract(base);
    const int before = test_count_fds();
    int fd;

    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_expect_eq(count_entries(base), 0, "while it is open");
    cr_expect_eq(strncmp(rendezvous.uri, "unix:@shmix-", 12), 0, "%s", rendezvous.uri);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    cr_expect_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    struct pollfd poll_fd = { .fd = rendezvous.abstract_fd, .events = POLLIN };

    cr_expect_eq(poll(&poll_fd, 1, 60000), 1, "nobody connects");
    close(fd);
    cr_assert_eq(sx_rendezvous_connect_process(getpid(), &fd), PMIX_SUCCESS, "a tool");
    close(accept_soon(&rendezvous));
    close(fd);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH, "closed");
    cr_expect_eq(test_count_fds(), before);
}

Test(rendezvous, a_name_that_is_taken_is_left_to_who_has_it, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    const struct sx_rendezvous_options options = options_abstract(base);
    char name[100];
    int fd;

    name_of(name, getpid(), sx_process_start_ticks(), 1);
    const int squatter = squat(name);

    foreseen = 3;
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_expect_eq(foreseen, 0, "it has tried that name");
    cr_expect_null(strstr(rendezvous.uri, name), "%s", rendezvous.uri);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    close(fd);
    close(squatter);
    sx_rendezvous_close(&rendezvous);
}

Test(rendezvous, whoever_has_a_name_of_another_process_is_refused, .init = make_base,
     .fini = remove_base)
{
    const uint64_t start_ticks = sx_process_start_ticks();
    const struct {
        pid_t pid;
        uint64_t start_ticks;
        pmix_status_t want;
    } rows[] = {
        { getpid(), start_ticks, PMIX_SUCCESS },
        { getpid(), 0, PMIX_SUCCESS }, /* a server that does not know */
        { getpid() + 1, start_ticks, PMIX_ERR_NO_PERMISSIONS },
        { getpid(), start_ticks + 1, PMIX_ERR_NO_PERMISSIONS }, /* the number is in use again */
    };
    const int log_fd = test_capture_stderr();

    cr_assert_gt(start_ticks, 0);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char name[100];
        int client = -1;

        name_of(name, rows[i].pid, rows[i].start_ticks, i);
        const int fd = squat(name);

        cr_expect_eq(sx_rendezvous_connect(&client), rows[i].want, "row %zu", i);
        if (rows[i].want == PMIX_SUCCESS) {
            close(client);
        }
        close(fd);
    }
    cr_expect_eq(test_count_lines(log_fd, "another program has taken its name"), 2);
}

/* Return: 0, connected; 77: this may not be tried here; else a status, negated. */
static int try_connect_elsewhere(const void *arg)
{
    const int kind = *(const int *)arg;
    int status = 0;

    if (unshare(kind | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) {
        return 77;
    }
    const pid_t pid = fork(); /* which has the new pid namespace, if that is it */

    if (pid == 0) {
        _exit(try_connect(NULL));
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

Test(rendezvous, a_client_of_another_namespace_gets_in, .init = make_base, .fini = remove_base)
{
    static const int kinds[] = { CLONE_NEWNET, CLONE_NEWPID };
    struct sx_rendezvous rendezvous;
    struct sx_rendezvous_options options = options_abstract(base);

    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        options.inherit = i == 0;
        cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
        unsetenv(SX_ENV_SERVER_FD);
        setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
        const int by_uri = run_as(geteuid(), try_connect_elsewhere, &kinds[i]);

        if (by_uri == 77) {
            cr_skip_test("no right to make a namespace");
        }
        /* Who needs a user namespace for that may not look into a process outside of it. */
        const bool looks = kinds[i] == CLONE_NEWNET && geteuid() != 0;

        cr_expect_eq(by_uri, looks ? -PMIX_ERR_UNREACH : 0, "kind %zu", i);
        if (options.inherit) {
            unsetenv(SX_ENV_SERVER_URI);
            setenv(SX_ENV_SERVER_FD, rendezvous.fd_value, 1);
            cr_expect_eq(run_as(geteuid(), try_connect_elsewhere, &kinds[i]), 0);
        }
        sx_rendezvous_close(&rendezvous);
    }
}

/* ---- errors that say what to do ----------------------------------------------------------- */

struct failing {
    const char *dir;
    uid_t uid;
    pmix_status_t want;
    const char *says;
};

static int try_open(const void *arg)
{
    const struct failing *failing = arg;
    const struct sx_rendezvous_options options = options_for(failing->dir);
    struct sx_rendezvous rendezvous;
    const int log_fd = memfd_create("stderr", MFD_CLOEXEC);

    if (log_fd < 0 || dup2(log_fd, STDERR_FILENO) < 0) {
        return 1;
    }
    if (sx_rendezvous_open(&rendezvous, &options) != failing->want) {
        return 2;
    }
    sx_rendezvous_close(&rendezvous);
    char log[16384] = { 0 }, dir[33] = { 0 };

    snprintf(dir, sizeof(dir), "%.32s", failing->dir);
    if (pread(log_fd, log, sizeof(log) - 1, 0) < 0 || strstr(log, failing->says) == NULL) {
        return 3;
    }
    if (strstr(log, dir) == NULL) {
        return 4;
    }
    return strchr(log, '\n') == strrchr(log, '\n') ? 0 : 5; /* one line */
}

Test(rendezvous, an_error_names_directory_cause_and_remedy, .init = make_base, .fini = remove_base)
{
    static char missing[512], unwritable[512], file[512], endless[6000];
    const uid_t ordinary = geteuid() == 0 ? NOBODY : geteuid();

    snprintf(missing, sizeof(missing), "%s/missing", base);
    snprintf(unwritable, sizeof(unwritable), "%s/unwritable", base);
    snprintf(file, sizeof(file), "%s/file", base);
    memset(endless, 'x', sizeof(endless) - 1);
    endless[0] = '/';
    cr_assert_eq(chmod(base, 0755), 0);
    cr_assert_eq(mkdir(unwritable, 0555), 0);
    close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const struct failing rows[] = {
        { missing, geteuid(), PMIX_ERR_NOT_FOUND, "set TMPDIR to one that exists" },
        { file, geteuid(), PMIX_ERR_NOT_FOUND, "set TMPDIR to one that exists" },
        { unwritable, ordinary, PMIX_ERR_NO_PERMISSIONS, "set TMPDIR to a directory that you may" },
        { endless, geteuid(), PMIX_ERR_BAD_PARAM, "set TMPDIR to a shorter one" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(run_as(rows[i].uid, try_open, &rows[i]), 0, "row %zu", i);
    }
}

static int open_on_a_full_disk(const void *arg)
{
    const char *dir = arg;
    const struct failing failing = { dir, 0, PMIX_ERR_OUT_OF_RESOURCE, "free some space there" };

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", dir, "tmpfs", 0, "nr_inodes=1") != 0) {
        return 77;
    }
    return try_open(&failing);
}

Test(rendezvous, a_full_disk_is_named, .init = make_base, .fini = remove_base)
{
    const int rc = run_as(geteuid(), open_on_a_full_disk, base);

    if (rc == 77) {
        cr_skip_test("no right to mount a small file system");
    }
    cr_expect_eq(rc, 0);
}

static int open_without_descriptors(const void *arg)
{
    struct rlimit limit;
    const int lowest = dup(0), spare = (int)(intptr_t)arg;
    struct sx_rendezvous rendezvous;
    const struct sx_rendezvous_options options = options_for(base);
    const int log_fd = memfd_create("stderr", MFD_CLOEXEC);

    if (dup2(log_fd, STDERR_FILENO) < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1;
    }
    close(lowest);
    limit.rlim_cur = (rlim_t)(log_fd + spare);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1;
    }
    const pmix_status_t rc = sx_rendezvous_open(&rendezvous, &options);

    if (rc == PMIX_SUCCESS) {
        sx_rendezvous_close(&rendezvous);
        return 50;
    }
    return rc == PMIX_ERR_OUT_OF_RESOURCE && test_count_lines(log_fd, "ulimit -n") == 1 ? 0 : 2;
}

Test(rendezvous, a_shortage_of_descriptors_at_any_step_is_named_and_leaves_nothing,
     .init = make_base, .fini = remove_base)
{
    int rc = 0;

    for (int spare = 0; spare < 20 && rc == 0; spare++) {
        rc = run_as(geteuid(), open_without_descriptors, (const void *)(intptr_t)spare);
        cr_expect(rc == 0 || (rc == 50 && spare > 1), "%d spare descriptors: %d", spare, rc);
        cr_expect_eq(count_entries(base), 0, "%d spare descriptors", spare);
    }
    cr_expect_eq(rc, 50, "in the end there are enough");
}

Test(rendezvous, a_client_without_a_server_is_notified, .init = make_base, .fini = remove_base)
{
    const int log_fd = test_capture_stderr();
    char uri[512];
    int fd;

    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH);
    cr_expect_eq(test_count_lines(log_fd, ""), 0, "without a variable that is nothing unusual");
    snprintf(uri, sizeof(uri), "unix:%s/shmix-1-1-1/s", base);
    setenv(SX_ENV_SERVER_URI, uri, 1);
    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_UNREACH);
    cr_expect_eq(test_count_lines(log_fd, uri), 1);
    setenv(SX_ENV_SERVER_URI, "tcp://here:1", 1);
    cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(test_count_lines(log_fd, "tcp://here:1"), 1);
}

/* ---- other users -------------------------------------------------------------------------- */

Test(rendezvous, another_user_is_refused, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    struct sx_rendezvous_options options = options_for(base);

    need_root();
    options.inherit = true;
    cr_assert_eq(chmod(base, 0777), 0);
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_expect_eq(run_as(NOBODY, try_connect, NULL), -PMIX_ERR_NO_PERMISSIONS);
    unsetenv(SX_ENV_SERVER_URI);
    setenv(SX_ENV_SERVER_FD, rendezvous.fd_value, 1);
    cr_expect_eq(run_as(NOBODY, try_connect, NULL), -PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(run_as(0, try_connect, NULL), 0);
    sx_rendezvous_close(&rendezvous);
}

Test(rendezvous, root_can_serve_another_user, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    const struct sx_rendezvous_options options = {
        .dir = base, .uid = NOBODY, .gid = NOBODY, .keep_dir = true, .inherit = true
    };
    struct stat st;

    need_root();
    cr_assert_eq(chmod(base, 0755), 0);
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_assert_eq(fstat(rendezvous.dir_fd, &st), 0);
    cr_expect_eq(st.st_uid, NOBODY);
    cr_expect_eq(st.st_mode & 0777, 0700);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_expect_eq(run_as(NOBODY, try_connect, NULL), 0);
    unsetenv(SX_ENV_SERVER_URI);
    setenv(SX_ENV_SERVER_FD, rendezvous.fd_value, 1);
    cr_expect_eq(run_as(NOBODY, try_connect, NULL), 0);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(count_entries(base), 0);
}

/* What another user's process does, until the end of a pipe. */
struct foreign {
    int ready_fd, end_fd;
};

static int wait_for_end(const struct foreign *foreign, const char *uri)
{
    char byte;

    return write(foreign->ready_fd, uri, strlen(uri)) < 0 || read(foreign->end_fd, &byte, 1) != 0;
}

static int serve_as_other(const struct foreign *foreign)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous rendezvous;

    if (sx_rendezvous_open(&rendezvous, &options) != PMIX_SUCCESS) {
        return 1;
    }
    const int rc = wait_for_end(foreign, rendezvous.uri);

    sx_rendezvous_close(&rendezvous);
    return rc;
}

static int squat_as_other(const struct foreign *foreign)
{
    char name[100];

    name_of(name, getpid(), sx_process_start_ticks(), 2);
    const int fd = squat(name);

    return wait_for_end(foreign, getenv(SX_ENV_SERVER_URI)) + close(fd);
}

Test(rendezvous, a_server_of_another_user_is_not_believed, .init = make_base, .fini = remove_base)
{
    int (*const rows[])(const struct foreign *) = { serve_as_other, squat_as_other };

    need_root();
    cr_assert_eq(chmod(base, 0777), 0);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        int ready[2], end[2], fd, status;
        char uri[512] = { 0 };

        cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
        cr_assert_eq(pipe2(end, O_CLOEXEC), 0);
        const struct foreign foreign = { ready[1], end[0] };
        const pid_t pid = fork();

        if (pid == 0) {
            close(end[1]);
            _exit(setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0
                      ? 1
                      : rows[i](&foreign));
        }
        close(ready[1]);
        cr_assert_gt(read(ready[0], uri, sizeof(uri) - 1), 0);
        setenv(SX_ENV_SERVER_URI, uri, 1);
        cr_expect_eq(sx_rendezvous_connect(&fd), PMIX_ERR_NO_PERMISSIONS, "row %zu", i);
        close(end[1]);
        cr_assert_eq(waitpid(pid, &status, 0), pid);
        cr_expect_eq(status, 0);
    }
}

/* ---- what is left ------------------------------------------------------------------------- */

static int open_and_die(const void *arg)
{
    const struct sx_rendezvous_options options = options_for(base);
    static struct sx_rendezvous rendezvous;

    (void)arg;
    return sx_rendezvous_open(&rendezvous, &options) == PMIX_SUCCESS ? 0 : 1;
}

/* The path of the only entry of the test's directory. */
static void find_entry(char *ret_path, size_t size)
{
    DIR *dir = opendir(base);
    struct dirent *entry;

    cr_assert_not_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(ret_path, size, "%s/%s", base, entry->d_name);
        }
    }
    closedir(dir);
}

Test(rendezvous, the_next_server_removes_what_a_killed_one_left, .init = make_base,
     .fini = remove_base)
{
    struct sx_rendezvous live, next;
    const struct sx_rendezvous_options options = options_for(base);
    char path[600], similar[700];
    struct stat st;

    cr_assert_eq(run_as(geteuid(), open_and_die, NULL), 0);
    find_entry(path, sizeof(path));
    snprintf(similar, sizeof(similar), "%s.bak", path);
    cr_assert_eq(rename(path, similar), 0);
    cr_assert_eq(sx_rendezvous_open(&live, &options), PMIX_SUCCESS);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(run_as(geteuid(), open_and_die, NULL), 0);
    }
    cr_expect_eq(count_entries(base), 2 + 1, "each removed the one before");
    /* Not to be touched: a link, a name that only looks similar, a directory in the making. */
    snprintf(path, sizeof(path), "%s/precious", base);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/precious/s", base);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    snprintf(path, sizeof(path), "%s/shmix-%u-999999999-abcdef01", base, (unsigned)geteuid());
    cr_assert_eq(symlink("precious", path), 0);
    snprintf(path, sizeof(path), "%s/shmix-%u-999999998-abcdef01", base, (unsigned)geteuid());
    cr_assert_eq(mkdir(path, 0700), 0);

    cr_assert_eq(sx_rendezvous_open(&next, &options), PMIX_SUCCESS);
    cr_expect_eq(count_entries(base), 2 + 4, "two servers, four strangers");
    snprintf(path, sizeof(path), "%s/precious/s", base);
    cr_expect_eq(stat(path, &st), 0);
    cr_expect_eq(fstatat(live.dir_fd, "s", &st, 0), 0, "a live server stays");
    sx_rendezvous_close(&next);
    sx_rendezvous_close(&live);
}

Test(rendezvous, a_killed_container_s_is_removed_though_its_number_lives_here, .init = make_base,
     .fini = remove_base)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous next;
    char path[600], renamed[700];

    cr_assert_eq(run_as(geteuid(), open_and_die, NULL), 0);
    find_entry(path, sizeof(path));
    snprintf(renamed, sizeof(renamed), "%s/shmix-%u-%d-abcdef01", base, (unsigned)geteuid(),
             (int)getpid());
    cr_assert_eq(rename(path, renamed), 0);
    cr_assert_eq(sx_rendezvous_open(&next, &options), PMIX_SUCCESS);
    cr_expect_eq(count_entries(base), 1, "its own directory alone");
    sx_rendezvous_close(&next);
}

/* As open_and_die, but the socket goes on listening, held by a child that lives until the end of a
 * pipe: so it is with an io_uring that is torn down after its process has been reaped. */
static int open_and_die_held(const void *arg)
{
    const int *const hold = arg;

    if (open_and_die(NULL) != 0) {
        return 1;
    }
    if (fork() == 0) {
        char byte;

        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    return 0;
}

Test(rendezvous, a_killed_server_whose_socket_still_listens_is_removed_too, .init = make_base,
     .fini = remove_base)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous next;
    int hold[2];

    cr_assert_eq(pipe(hold), 0);
    cr_assert_eq(run_as(geteuid(), open_and_die_held, hold), 0);
    cr_assert_eq(count_entries(base), 1);
    cr_assert_eq(sx_rendezvous_open(&next, &options), PMIX_SUCCESS);
    cr_expect_eq(count_entries(base), 1, "its own directory alone");
    sx_rendezvous_close(&next);
    close(hold[1]);
    close(hold[0]);
}

/* In a container the first process may reap nobody. */
Test(rendezvous, a_killed_server_that_nobody_reaps_is_removed_too, .init = make_base,
     .fini = remove_base)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous next;
    siginfo_t info;
    int hold[2];

    cr_assert_eq(pipe(hold), 0);
    const pid_t pid = fork();

    if (pid == 0) {
        _exit(open_and_die_held(hold));
    }
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    cr_assert_eq(info.si_status, 0);
    cr_assert_eq(count_entries(base), 1);
    cr_assert_eq(sx_rendezvous_open(&next, &options), PMIX_SUCCESS);
    cr_expect_eq(count_entries(base), 1, "its own directory alone");
    sx_rendezvous_close(&next);
    close(hold[1]);
    close(hold[0]);
    waitpid(pid, NULL, 0);
}

/* In place of the C library's: what happens while a server is about to listen, and a process that
 * cannot be seen from here, as one in another container. */
static void (*before_listen)(void);
static bool nobody_lives;

int listen(int fd, int backlog)
{
    void (*const what)(void) = before_listen;

    before_listen = NULL;
    if (what != NULL) {
        what();
    }
    return (int)syscall(SYS_listen, fd, backlog);
}

int kill(pid_t pid, int number)
{
    if (nobody_lives) {
        errno = ESRCH;
        return -1;
    }
    return (int)syscall(SYS_kill, pid, number);
}

static void another_server_comes(void)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous other;

    nobody_lives = true;
    cr_assert_eq(sx_rendezvous_open(&other, &options), PMIX_SUCCESS);
    nobody_lives = false;
    cr_expect_eq(count_entries(base), 2, "both are there");
    sx_rendezvous_close(&other);
}

Test(rendezvous, a_server_that_does_not_listen_yet_is_not_taken_for_gone, .init = make_base,
     .fini = remove_base)
{
    const struct sx_rendezvous_options options = options_for(base);
    struct sx_rendezvous rendezvous;
    int fd;

    before_listen = another_server_comes;
    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_assert_null(before_listen, "it came");
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    close(fd);
    sx_rendezvous_close(&rendezvous);
    cr_expect_eq(count_entries(base), 0);
}

static int close_in_child(const void *arg)
{
    struct sx_rendezvous copy = *(const struct sx_rendezvous *)arg;

    sx_rendezvous_close(&copy);
    return 0;
}

Test(rendezvous, a_forked_child_removes_nothing, .init = make_base, .fini = remove_base)
{
    struct sx_rendezvous rendezvous;
    const struct sx_rendezvous_options options = options_for(base);
    int fd;

    cr_assert_eq(sx_rendezvous_open(&rendezvous, &options), PMIX_SUCCESS);
    cr_expect_eq(run_as(geteuid(), close_in_child, &rendezvous), 0);
    setenv(SX_ENV_SERVER_URI, rendezvous.uri, 1);
    cr_assert_eq(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    close(fd);
    sx_rendezvous_close(&rendezvous);
}
