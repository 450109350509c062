/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_queue_test.c - one process a user, which may hang, die or not start; nothing else
 * notices. */
#include "server/cleanup/cleanup.h"
#include "server/cleanup/cleanup_queue.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "server/model/state.h"
#include "unit/control/engines.h"

#define NOBODY 65534

/* ---- the process's side -------------------------------------------------------------------- */

static bool disarm(int dir_fd)
{
    char name[] = "armed1";

    for (; name[5] <= '9'; name[5]++) {
        if (syscall(SYS_unlinkat, dir_fd, name, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* In place of the C library's: some names stop or kill the process that would remove them. */
int unlinkat(int dir_fd, const char *name, int flags)
{
    if (strcmp(name, "stops") == 0) {
        (void)syscall(SYS_kill, getpid(), SIGSTOP);
    } else if (strcmp(name, "kills") == 0 ||
               /* As often as there are files named armed1 to armed9. */
               (strncmp(name, "kills while armed", 17) == 0 && disarm(dir_fd))) {
        (void)syscall(SYS_kill, getpid(), SIGKILL);
    }
    return (int)syscall(SYS_unlinkat, dir_fd, name, flags);
}

/* ---- the server's side --------------------------------------------------------------------- */

static struct bench_loop bench;
static struct sx_server server;
static char base[256];
static int log_fd;
static bool (*wanted)(void);
static bool ended;

/* A removal is nothing that the loop hears of, so it is looked for. */
static struct sx_timer tick;

static void look(void *arg, uint64_t now_ns)
{
    (void)arg;
    if (wanted()) {
        sx_loop_stop(bench.loop);
    } else {
        sx_timer_add(bench.loop, &tick, now_ns + SX_NS_PER_MS);
    }
}

static void run_until(bool (*fact)(void), const char *what)
{
    wanted = fact;
    tick.fn = look;
    cr_assert_eq(sx_timer_add(bench.loop, &tick, 0), PMIX_SUCCESS);
    test_loop_run(&bench, what);
}

static void begin(enum test_engine engine)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(base, sizeof(base), "%s/sxtest-XXXXXX", tmp != NULL ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(base), "%s", strerror(errno));
    cr_assert_eq(chmod(base, 0755), 0);
    test_loop_open(&bench, engine);
    server.loop = bench.loop;
    sx_cleanup_queues_init(&server.brooms);
    log_fd = test_capture_stderr();
}

static void on_ended(struct sx_server *which)
{
    cr_expect_eq(which, &server);
    ended = true;
}

static bool has_ended(void)
{
    return ended;
}

static void end(void)
{
    char command[300];

    sx_cleanup_queues_end(&server, on_ended);
    run_until(has_ended, "the end");
    cr_expect(sx_list_empty(&server.brooms.list));
    cr_expect_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1, "a child is left");
    test_loop_close(&bench);
    snprintf(command, sizeof(command), "rm -rf '%s'", base);
    cr_expect_eq(system(command), 0);
}

static void make(const char *name)
{
    char path[600];

    snprintf(path, sizeof(path), "%s/%s", base, name);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static bool there(const char *name)
{
    char path[600];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", base, name);
    return lstat(path, &st) == 0;
}

static struct sx_cleanup_queue_path *path_for(uid_t uid, const char *name)
{
    char path[600];

    snprintf(path, sizeof(path), "%s/%s", base, name);
    struct sx_cleanup_queue_path *made = sx_cleanup_queue_path_new(&server, uid, uid, path,
                                                                   strlen(path), 0);

    cr_assert_not_null(made);
    return made;
}

static void sweep(const char *name)
{
    sx_cleanup_queue_sweep(path_for(geteuid(), name));
    sx_cleanup_queues_go(&server);
}

static bool first_is_gone(void)
{
    return !there("first");
}

static bool second_is_gone(void)
{
    return !there("second");
}

static char elsewhere[64];

static bool elsewhere_is_gone(void)
{
    return access(elsewhere, F_OK) != 0;
}

static bool no_broom(void)
{
    return sx_list_empty(&server.brooms.list);
}

/* ---- tests --------------------------------------------------------------------------------- */

EACH_ENGINE(broom, one_process_serves_many_and_waits_some_time_for_more)
{
    begin(engine);
    struct sx_cleanup_queue_path *const kept = path_for(geteuid(), "kept");

    for (int i = 0; i < 20; i++) {
        make("first");
        sweep("first");
        run_until(first_is_gone, "a removal");
    }
    cr_expect_eq(waitpid(-1, NULL, __WALL | WNOHANG), 0, "it lives, as its user has more to come");
    cr_expect_not(no_broom());
    sx_cleanup_queue_path_free(kept);
    cr_expect_not(no_broom(), "it lingers");
    end();
}

static uint64_t later(void *arg)
{
    (void)arg;
    return sx_now_ns() + 2 * SX_CLEANUP_QUEUE_LINGER_NS;
}

EACH_ENGINE(broom, a_process_that_is_not_needed_any_more_ends)
{
    begin(engine);
    make("first");
    sweep("first");
    run_until(first_is_gone, "a removal");
    cr_expect_not(no_broom(), "it lingers");
    sx_loop_set_clock(bench.loop, later, NULL);
    run_until(no_broom, "its end");
    sx_loop_set_clock(bench.loop, NULL, NULL);
    make("second");
    sweep("second");
    run_until(second_is_gone, "a removal by the next one");
    end();
}

static bool one_has_rested(void)
{
    return !there("armed3");
}

/* As by Slurm's proctrack/linuxproc, which kills all children of its slurmstepd.  Nobody is warned:
 * a host's stderr may be the user's. */
EACH_ENGINE(broom, what_a_killed_process_has_not_done_is_anothers)
{
    begin(engine);
    make("armed1");
    make("first");
    make("kills while armed");
    make("second");
    sx_cleanup_queue_sweep(path_for(geteuid(), "first"));
    sx_cleanup_queue_sweep(path_for(geteuid(), "kills while armed"));
    sweep("second");
    run_until(second_is_gone, "what was behind it");
    cr_expect_not(there("first"));
    cr_expect_not(there("kills while armed"));
    cr_expect_eq(test_count_lines(log_fd, ""), 0);
    end();
}

static bool armed_is_gone(void)
{
    return !there("kills while armed");
}

EACH_ENGINE(broom, one_that_is_killed_again_and_again_goes_on_after_some_time)
{
    begin(engine);
    for (int i = 1; i <= 4; i++) {
        char name[8];

        snprintf(name, sizeof(name), "armed%d", i);
        make(name);
    }
    make("kills while armed");
    sweep("kills while armed");
    run_until(one_has_rested, "the third");
    sx_loop_set_clock(bench.loop, later, NULL);
    run_until(armed_is_gone, "the fifth");
    sx_loop_set_clock(bench.loop, NULL, NULL);
    cr_expect_eq(test_count_lines(log_fd, ""), 0);
    end();
}

EACH_ENGINE(broom, one_that_is_killed_again_and_again_goes_on_as_the_server_ends)
{
    begin(engine);
    for (int i = 1; i <= 5; i++) {
        char name[8];

        snprintf(name, sizeof(name), "armed%d", i);
        make(name);
    }
    make("kills while armed");
    sweep("kills while armed");
    run_until(one_has_rested, "the third");
    sx_cleanup_queues_end(&server, on_ended);
    run_until(has_ended, "the end");
    cr_expect_not(there("kills while armed"));
    cr_expect_eq(test_count_lines(log_fd, ""), 0);
    end();
}

EACH_ENGINE(broom, a_path_that_kills_each_process_is_left)
{
    begin(engine);
    make("kills");
    make("second");
    sweep("kills");
    sweep("second");
    sx_cleanup_queues_end(&server, on_ended);
    run_until(has_ended, "the end");
    cr_expect_not(there("second"), "what was behind it");
    cr_expect_eq(test_count_lines(log_fd, "kills' is left: 6 processes were killed over it"), 1);
    cr_expect(there("kills"));
    end();
}

/* A path that is stopped hangs, with all of its folder: nothing else is known of a file system that
 * is mounted at the root, or has all of them. */
EACH_ENGINE(broom, a_process_that_hangs_keeps_its_file_system_and_nothing_else)
{
    struct stat here, there_st;

    begin(engine);
    if (stat("/dev/shm", &there_st) != 0 || stat(base, &here) != 0 ||
        here.st_dev == there_st.st_dev) {
        end();
        cr_skip("there is no second file system at /dev/shm");
    }
    make("stops");
    make("second");
    snprintf(elsewhere, sizeof(elsewhere), "/dev/shm/sxtest-%ld", (long)getpid());
    close(open(elsewhere, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    sweep("stops");
    const pid_t pid = waitpid(-1, NULL, __WALL | WUNTRACED);

    cr_assert_gt(pid, 0, "%s", strerror(errno));
    sweep("second");
    sx_cleanup_queue_sweep(
        sx_cleanup_queue_path_new(&server, geteuid(), getegid(), elsewhere, strlen(elsewhere), 0));
    sx_cleanup_queues_go(&server);
    run_until(elsewhere_is_gone, "what lies in another file system");
    cr_expect(there("stops") && there("second"));
    cr_assert_eq(kill(pid, SIGCONT), 0);
    run_until(second_is_gone, "what was held");
    cr_expect_not(there("stops"));
    cr_expect_eq(test_count_lines(log_fd, ""), 0);
    end();
}

/* The server ends: what is left is named. */
EACH_ENGINE(broom, a_path_that_hangs_is_named_at_the_end)
{
    begin(engine);
    make("stops");
    make("second");
    sweep("stops");
    cr_assert_gt(waitpid(-1, NULL, __WALL | WUNTRACED), 0, "%s", strerror(errno));
    sweep("second");
    sx_cleanup_queues_end(&server, on_ended);
    run_until(has_ended, "the end");
    cr_expect_eq(test_count_lines(log_fd, "/stops' is left, with 1 more in '"), 1);
    cr_expect_eq(test_count_lines(log_fd, ""), 1);
    ended = false;
    end();
}

/* More than its socket takes: the queue waits for it, and is swept when it goes on. */
EACH_ENGINE(broom, a_process_that_hangs_keeps_its_queue_which_is_bounded)
{
    static char name[4001];
    size_t size_bytes = 0;

    begin(engine);
    make("stops");
    make("second");
    make("first");
    sweep("stops");
    const pid_t pid = waitpid(-1, NULL, __WALL | WUNTRACED);

    cr_assert_gt(pid, 0, "%s", strerror(errno));
    memset(name, 'x', 200); /* names nobody has, in directories that nobody has */
    for (size_t i = 200; i < sizeof(name) - 1; i++) {
        name[i] = i % 200 == 0 ? '/' : 'x';
    }
    name[0] = '/';
    sweep("second");
    while (size_bytes < SX_CLEANUP_QUEUE_QUEUE_MAX + (1u << 20)) {
        struct sx_cleanup_queue_path *const made = sx_cleanup_queue_path_new(&server, geteuid(),
                                                                             geteuid(), name,
                                                                             sizeof(name) - 1, 0);

        size_bytes += made->sweep.size_bytes;
        sx_cleanup_queue_sweep(made);
    }
    sx_cleanup_queues_go(&server);
    sweep("first");
    cr_expect_eq(test_count_lines(log_fd, "hangs in a file system"), 1, "told once");
    cr_expect(there("second") && there("stops"));
    cr_assert_eq(kill(pid, SIGCONT), 0);
    run_until(second_is_gone, "the queue");
    cr_expect_not(there("stops"));
    end();
}

EACH_ENGINE(broom, one_that_cannot_start_is_notified)
{
    struct rlimit limit, none;

    begin(engine);
    make("first");
    make("second");
    struct sx_cleanup_queue_path *const path = path_for(geteuid(), "first");

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 3;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    sx_cleanup_queue_sweep(path);
    sx_cleanup_queues_go(&server);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect(no_broom());
    cr_expect_eq(test_count_lines(log_fd, "1 paths are left: Too many open files"), 1);
    cr_expect(there("first"));
    sweep("second");
    run_until(second_is_gone, "another");
    end();
}

static bool is_notified(void)
{
    return test_count_lines(log_fd, "it is not that user's, or not to be removed") == 1;
}

EACH_ENGINE(broom, a_server_without_the_right_leaves_what_is_another_users)
{
    begin(engine);
    make("first");
    if (geteuid() == 0) {
        cr_assert_eq(chown(base, NOBODY, NOBODY), 0);
        cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
    }
    sx_cleanup_queue_sweep(path_for(NOBODY - 1, "first"));
    sx_cleanup_queues_go(&server);
    run_until(is_notified, "the line");
    cr_expect(there("first"));
    end();
}
