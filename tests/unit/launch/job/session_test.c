/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session_test.c - the job's directory is private, named in time, and goes with all it holds. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/job/session.h"

#define DIRECTORY_NAME "session"
#include "../../cli/directory.h"

Test(session, is_private_and_removed, .init = directory_make, .fini = directory_remove)
{
    char message[SX_RUN_MESSAGE_MAX] = "";
    struct sx_session session;
    char inner[512];
    struct stat st;

    cr_assert(sx_session_init(&session, dir, message), "%s", message);
    cr_expect_not(there(session.name), "made before the janitor could hear of it");
    cr_assert(sx_session_make(&session, message), "%s", message);
    cr_assert_eq(fstatat(dir_fd, session.name, &st, 0), 0);
    cr_expect_eq(st.st_mode & 07777, 0700);
    snprintf(inner, sizeof(inner), "%s/%s", session.dir, session.nspace);
    cr_assert(sx_session_make_inner(inner, message), "%s", message);
    cr_assert_eq(stat(inner, &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0700);
    cr_expect_eq(strncmp(session.name, "shmix-", 6), 0);
    sx_session_deinit(&session);
    cr_expect_eq(system("test -z \"$(ls /tmp/shmix-test-session-*/ | grep shmix-)\""), 0);
    sx_session_deinit(&session);
}

static const struct {
    const char *tmpdir;
    const char *says[3];
} refused[] = {
    { "/no/such/place", { "/no/such/place", "TMPDIR", "No such file" } },
    { "/dev/null", { "/dev/null", "Not a directory", "TMPDIR" } },
    { "/proc", { "/proc", "TMPDIR", "write" } },
};

Test(session, names_an_inner_directory_that_cannot_be_made)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_expect_not(sx_session_make_inner("/no/such/place/job", message));
    cr_expect_not_null(strstr(message, "/no/such/place/job': No such file"), "%s", message);
}

Test(session, names_the_cause_and_the_remedy)
{
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        char message[SX_RUN_MESSAGE_MAX] = "";
        struct sx_session session;

        cr_expect_not(sx_session_init(&session, refused[i].tmpdir, message) &&
                          sx_session_make(&session, message),
                      "row %zu", i);
        for (size_t k = 0; k < SX_COUNT(refused[i].says); k++) {
            cr_expect_not_null(strstr(message, refused[i].says[k]), "row %zu: %s", i, message);
        }
        sx_session_deinit(&session);
    }
}

Test(session, takes_a_tmpdir_of_any_length, .init = directory_make, .fini = directory_remove)
{
    char path[400], message[SX_RUN_MESSAGE_MAX] = "";
    struct sx_session session;

    snprintf(path, sizeof(path), "%s/%0140d", dir, 1);
    cr_assert_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/%0140d/%0140d", dir, 1, 2);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert(sx_session_init(&session, path, message), "%s", message);
    cr_assert(sx_session_make(&session, message), "%s", message);
    sx_session_deinit(&session);
    cr_expect_eq(rmdir(path), 0);
}

/* Make a session in a process that then ends without a word, and say its name. */
static void make_deserted(char name[64])
{
    int ends[2], status;

    cr_assert_eq(pipe(ends), 0);
    const pid_t pid = fork();

    if (pid == 0) {
        char message[SX_RUN_MESSAGE_MAX];
        struct sx_session session;

        char inner[512];

        _exit(sx_session_init(&session, dir, message) && sx_session_make(&session, message) &&
                      snprintf(inner, sizeof(inner), "%s/%s.2", session.dir, session.nspace) > 0 &&
                      sx_session_make_inner(inner, message) &&
                      sx_session_make_inner(strcat(inner, "/shmix"), message) &&
                      write(ends[1], session.name, strlen(session.name)) > 0
                  ? 0
                  : 1);
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
    const ssize_t got = read(ends[0], name, 63);

    cr_assert_gt(got, 0);
    name[got] = '\0';
    close(ends[0]);
    close(ends[1]);
}

static char deserted[2][64]; /* names of jobs */
static unsigned deserted_count;

static void on_deserted(const char *nspace)
{
    cr_assert_lt(deserted_count, SX_COUNT(deserted));
    snprintf(deserted[deserted_count++], sizeof(deserted[0]), "%s", nspace);
}

Test(session, what_a_killed_launcher_left_is_removed_by_the_next, .init = directory_make,
     .fini = directory_remove)
{
    static const char *const strangers[] = { "shmix-%u-7-abcdef01", "shmix-%u-7-abcdef.bak",
                                             "shmix-1%u-7-abcdef" };
    char message[SX_RUN_MESSAGE_MAX] = "", name[64], dead[64];
    struct sx_session live, next;

    cr_assert(sx_session_init(&live, dir, message), "%s", message);
    cr_assert(sx_session_make(&live, message), "%s", message);
    for (size_t i = 0; i < SX_COUNT(strangers); i++) {
        snprintf(name, sizeof(name), strangers[i], (unsigned)geteuid());
        cr_assert_eq(mkdirat(dir_fd, name, 0700), 0);
    }
    make_deserted(dead);
    cr_assert(there(dead));
    cr_assert(sx_session_init(&next, dir, message), "%s", message);
    next.job_deserted = on_deserted;
    cr_assert(sx_session_make(&next, message), "%s", message);
    cr_expect_not(there(dead));
    char job[64];

    snprintf(job, sizeof(job), "shmix-%s.2", strchr(strchr(dead, '-') + 1, '-') + 1);
    cr_expect_eq(deserted_count, 1);
    cr_expect_str_eq(deserted[0], job);
    cr_expect(there(live.name), "a launcher that lives");
    for (size_t i = 0; i < SX_COUNT(strangers); i++) {
        snprintf(name, sizeof(name), strangers[i], (unsigned)geteuid());
        cr_expect(there(name), "%s", name);
    }
    sx_session_deinit(&next);
    sx_session_deinit(&live);
}

Test(session, removal_follows_no_link, .init = directory_make, .fini = directory_remove)
{
    touch("outside");
    cr_assert_eq(mkdirat(dir_fd, "elsewhere", 0700), 0);
    touch("elsewhere/kept");
    cr_assert_eq(mkdirat(dir_fd, "tree", 0700), 0);
    cr_assert_eq(mkdirat(dir_fd, "tree/deep", 0700), 0);
    touch("tree/deep/file");
    cr_assert_eq(symlinkat("../outside", dir_fd, "tree/link"), 0);
    cr_assert_eq(symlinkat("../elsewhere", dir_fd, "tree/dirlink"), 0);
    cr_expect(sx_session_remove_tree(dir_fd, "tree", geteuid()));
    cr_expect_not(there("tree"));
    cr_expect(there("outside"));
    cr_expect(there("elsewhere/kept"));
    /* nor is a link in place of the tree itself followed */
    cr_assert_eq(symlinkat("elsewhere", dir_fd, "tree"), 0);
    cr_expect_not(sx_session_remove_tree(dir_fd, "tree", geteuid()));
    cr_expect(there("elsewhere/kept"));
}

Test(session, removal_leaves_other_users_files, .init = directory_make, .fini = directory_remove)
{
    cr_assert_eq(mkdirat(dir_fd, "tree", 0700), 0);
    touch("tree/file");
    cr_expect_not(sx_session_remove_tree(dir_fd, "tree", geteuid() + 1));
    cr_expect(there("tree/file"));
}

Test(session, removal_opens_what_was_closed, .init = directory_make, .fini = directory_remove)
{
    cr_assert_eq(mkdirat(dir_fd, "tree", 0700), 0);
    cr_assert_eq(mkdirat(dir_fd, "tree/closed", 0700), 0);
    touch("tree/closed/file");
    cr_assert_eq(fchmodat(dir_fd, "tree/closed", 0, 0), 0);
    cr_expect(sx_session_remove_tree(dir_fd, "tree", geteuid()));
    cr_expect_not(there("tree"));
}

/* ---- leftovers test -------------------------------------------------------------------------- */

/* Open MPI's files of a job go, and those of others stay.  The names are those
 * that Open MPI 4.1.4 and 5.0.8 gave their files in a job of that name. */

#define NSPACE "shmix-10500-5ff248"

static const struct {
    const char *name; /* %u: this user's number, and one more */
    bool goes;
} files[] = {
    { "vader_segment.test.0.e6db2fa9.0", true }, { "sm_segment.test.%u.49720000.0", true },
    { "osc_sm.test.e6db2fa9.0.3", true },        { "osc_sm.test.49720000.0.3", true },
    { "osc_rdma.test.e6db2fa9.0.3", true },      { "osc_rdma.test.49720000.0.3", true },
    { "sm_segment.test.9%u.49720000.0", false }, { "sm_segment.test.%u.49720001.0", false },
    { "sm_segment.test.%u.e6db2fa9.0", false },  { "other.test.%u.49720000.0", false },
};

static const char *path_of(size_t file)
{
    static char path[128];
    char name[96];

    snprintf(name, sizeof(name), files[file].name, (unsigned)geteuid()); // NOLINT: a table
    snprintf(path, sizeof(path), "/dev/shm/%s", name);
    return path;
}

Test(run_leftovers, of_one_job_go)
{
    struct stat st;

    for (size_t i = 0; i < SX_COUNT(files); i++) {
        const int fd = open(path_of(i), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        cr_assert_geq(fd, 0);
        close(fd);
    }
    sx_run_leftovers_sweep(NSPACE);
    for (size_t i = 0; i < SX_COUNT(files); i++) {
        cr_expect_eq(stat(path_of(i), &st) != 0, files[i].goes, "%s", path_of(i));
        (void)unlink(path_of(i));
    }
}
