/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* engines.h - run a test on every engine of the loop, with a guard against waiting for ever. */
#ifndef SX_TEST_ENGINES_H
#define SX_TEST_ENGINES_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "control/loop.h"
#include "control/loop_engine.h"
#include "support/descriptors.h"

enum test_engine { TEST_URING, TEST_EPOLL };

/* A test body that runs on io_uring and on epoll. */
#define EACH_ENGINE(suite, name)                         \
    static void suite##_##name(enum test_engine engine); \
    Test(suite, name##_on_uring)                         \
    {                                                    \
        suite##_##name(TEST_URING);                      \
    }                                                    \
    Test(suite, name##_on_epoll)                         \
    {                                                    \
        suite##_##name(TEST_EPOLL);                      \
    }                                                    \
    static void suite##_##name(enum test_engine engine)

#define TEST_GUARD_NS (60 * SX_NS_PER_SEC)

struct bench_loop {
    struct sx_loop *loop;
    struct sx_timer guard;
    bool expired;
};

static inline void test_set_engine(enum test_engine engine)
{
    setenv("SHMIX_LOOP", engine == TEST_EPOLL ? "epoll" : "uring", 1);
}

/* A loop on @engine; the test is skipped where the kernel refuses io_uring. */
static inline void test_loop_open(struct bench_loop *bench, enum test_engine engine)
{
    *bench = (struct bench_loop){ .loop = NULL };
    test_set_engine(engine);
    const pmix_status_t rc = sx_loop_new(&bench->loop);

    if (rc == PMIX_ERR_NOT_SUPPORTED && engine != TEST_EPOLL) {
        cr_skip_test("io_uring is refused on this machine, see the line above");
    }
    cr_assert_eq(rc, PMIX_SUCCESS);
    cr_assert_str_eq(sx_loop_engine(bench->loop), engine == TEST_EPOLL ? "epoll" : "io_uring");
}

static inline void test_guard_expired(void *arg, uint64_t now_ns)
{
    struct bench_loop *bench = arg;

    (void)now_ns;
    bench->expired = true;
    sx_loop_stop(bench->loop);
}

/* Run until a callback stops the loop; fail when none does. */
static inline void test_loop_run(struct bench_loop *bench, const char *what)
{
    bench->guard.fn = test_guard_expired;
    bench->guard.arg = bench;
    cr_assert_eq(sx_timer_add(bench->loop, &bench->guard, sx_now_ns() + TEST_GUARD_NS),
                 PMIX_SUCCESS);
    sx_loop_run(bench->loop);
    sx_timer_remove(&bench->guard);
    cr_assert(!bench->expired, "waited in vain for: %s", what);
}

static inline void test_stop_turn(void *arg, uint64_t now_ns)
{
    struct bench_loop *bench = arg;

    (void)now_ns;
    sx_loop_stop(bench->loop);
}

/* A few turns, so that what is queued or cancelled gets done. */
static inline void test_loop_settle(struct bench_loop *bench)
{
    for (int i = 0; i < 4; i++) {
        struct sx_loop_post post = { .fn = test_stop_turn, .arg = bench };

        cr_assert(sx_loop_post(bench->loop, &post) == PMIX_SUCCESS ||
                  true); /* stopped: the run below starts it again */
        struct sx_timer now = { .fn = test_stop_turn, .arg = bench };

        cr_assert_eq(sx_timer_add(bench->loop, &now, 0), PMIX_SUCCESS);
        test_loop_run(bench, "a turn");
        sx_timer_remove(&now);
    }
}

static inline void test_loop_close(struct bench_loop *bench)
{
    bench->loop = sx_loop_free(bench->loop);
}

static inline int test_count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    cr_assert_not_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static inline void test_socket_pair(int ret[2])
{
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ret), 0);
}

/* From now on stderr goes to a file whose lines can be counted. */
static inline int test_capture_stderr(void)
{
    const int fd = memfd_create("stderr", MFD_CLOEXEC);

    cr_assert_geq(fd, 0);
    cr_assert_geq(dup2(fd, STDERR_FILENO), 0);
    return fd;
}

/* Count the lines that contain @text. */
static inline int test_count_lines(int fd, const char *text)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *all = malloc((size_t)size + 1);
    int count = 0;

    cr_assert_not_null(all);
    cr_assert_eq(pread(fd, all, (size_t)size, 0), (ssize_t)size);
    all[size] = '\0';
    for (char *save, *line = strtok_r(all, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        count += strstr(line, text) != NULL;
    }
    free(all);
    return count;
}

#endif
