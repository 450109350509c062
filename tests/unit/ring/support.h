/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* support.h - what the ring's tests share: seeded numbers, bounded waits, bodies that tell whether
 * they are whole, descriptors that travel, and how to see that a thread is asleep. */
#ifndef SX_TEST_RING_SUPPORT_H
#define SX_TEST_RING_SUPPORT_H

#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "shmem/segment.h"
#include "support/descriptors.h"

#define TEST_SEED UINT64_C(42)
#define TEST_PATIENCE_NS (60 * SX_NS_PER_SEC) /* then something hangs, however loaded we are */

/* splitmix64: one state word, any seed. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A body that is a function of its number alone. */
static inline size_t test_body_len(uint64_t number, size_t max)
{
    uint64_t state = number * 3 + TEST_SEED;
    const uint64_t shape = test_random(&state) % 16;

    return (size_t)(test_random(&state) % (shape == 0 ? max + 1 : (max < 200 ? max + 1 : 201)));
}

static inline void test_body_fill(uint64_t number, void *body, size_t len)
{
    uint8_t *bytes = body;
    uint64_t state = number;

    for (size_t i = 0; i < len; i += 8) {
        const uint64_t word = test_random(&state);

        memcpy(bytes + i, &word, len - i < 8 ? len - i : 8);
    }
}

static inline bool test_body_whole(uint64_t number, const void *body, size_t len)
{
    uint8_t want[1 << 15];

    if (len > sizeof(want)) {
        return false;
    }
    test_body_fill(number, want, len);
    return memcmp(body, want, len) == 0;
}

/* In forked children an exit code says what an assertion says in the test itself. */
#define TEST_CHILD_NEEDS(fact)                                                     \
    do {                                                                           \
        if (!(fact)) {                                                             \
            fprintf(stderr, "%s:%d: in a child: %s\n", __FILE__, __LINE__, #fact); \
            _exit(70);                                                             \
        }                                                                          \
    } while (0)

#define TEST_UNTIL(fact)                                                                       \
    do {                                                                                       \
        const uint64_t test_deadline_ns = sx_deadline_ns(sx_now_ns(), TEST_PATIENCE_NS);       \
        while (!(fact)) {                                                                      \
            if (sx_now_ns() > test_deadline_ns) {                                              \
                fprintf(stderr, "%s:%d: waited in vain for: %s\n", __FILE__, __LINE__, #fact); \
                abort();                                                                       \
            }                                                                                  \
            sched_yield();                                                                     \
        }                                                                                      \
    } while (0)

static inline int test_share(const struct sx_segment *seg)
{
    int fd = -1;

    if (sx_segment_share(seg, &fd) != PMIX_SUCCESS) {
        abort();
    }
    return fd;
}

/* Wait for @pid and return its exit code, or 128 and its signal. */
static inline int test_wait(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* True when thread @tid of this process is in a system call that sleeps. */
static inline bool test_asleep(pid_t tid)
{
    char path[64], text[512];
    const char *at;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    at = strrchr(text, ')');
    return at != NULL && at[1] == ' ' && at[2] == 'S';
}

static inline pid_t test_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

#endif
