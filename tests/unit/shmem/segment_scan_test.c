/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment_scan_test.c - which segments of a process are found. */
#include "shmem/segment.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool count(void *arg, pid_t pid, int fd)
{
    cr_expect_eq(pid, getpid());
    cr_expect_geq(fd, 0);
    ++*(int *)arg;
    return true;
}

static int found(const char *kind)
{
    int found = 0;

    cr_expect(sx_outside_each(getpid(), kind, count, &found, NULL));
    return found;
}

/* What a maker has done so far, step by step; the magic is last. */
Test(outside, finds_no_segment_that_is_still_being_made)
{
    const uint64_t magic = SX_SEGMENT_MAGIC;
    const int fd = memfd_create("shmix:store:job", MFD_CLOEXEC);

    cr_assert_geq(fd, 0);
    cr_expect_eq(found("store:"), 0, "it is empty");
    cr_assert_eq(ftruncate(fd, 8192), 0);
    cr_expect_eq(found("store:"), 0, "it has no magic");
    cr_assert_eq(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
    cr_expect_eq(found("store:"), 1);
    cr_expect_eq(found("ring:"), 0);
    close(fd);
    cr_expect_eq(found("store:"), 0);
}

/* As a server's while it is shared. */
Test(outside, finds_a_segment_once_however_often_it_is_held)
{
    const uint64_t magic = SX_SEGMENT_MAGIC;
    char path[64];
    int fds[4];

    for (size_t i = 0; i < 2; i++) {
        fds[i] = memfd_create("shmix:store:job", MFD_CLOEXEC);
        cr_assert_eq(pwrite(fds[i], &magic, sizeof(magic), 0), sizeof(magic));
    }
    cr_expect_eq(found("store:"), 2);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
    fds[2] = open(path, O_RDONLY | O_CLOEXEC);
    fds[3] = dup(fds[1]);
    cr_expect_eq(found("store:"), 2);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(close(fds[i]), 0);
    }
}

static bool stop(void *arg, pid_t pid, int fd)
{
    (void)count(arg, pid, fd);
    return false;
}

Test(outside, goes_on_until_it_is_stopped)
{
    const uint64_t magic = SX_SEGMENT_MAGIC;
    int found = 0;

    for (int i = 0; i < 3; i++) {
        const int fd = memfd_create("shmix:ring:job", MFD_CLOEXEC);

        cr_assert_eq(pwrite(fd, &magic, sizeof(magic), 0), sizeof(magic));
    }
    cr_expect(sx_outside_each(getpid(), "ring:", stop, &found, NULL));
    cr_expect_eq(found, 1);
}

/* A server of another version, and a program that names its memory as we do. */
Test(outside, lists_what_it_cannot_read)
{
    const uint64_t magics[] = { SX_SEGMENT_MAGIC + 1, SX_SEGMENT_MAGIC + 1, 4711 };
    struct sx_outside_left left = { .count = 0 };
    int found = 0;

    for (size_t i = 0; i < SX_COUNT(magics); i++) {
        const int fd = memfd_create("shmix:ring:job", MFD_CLOEXEC);

        cr_assert_eq(pwrite(fd, &magics[i], sizeof(magics[i]), 0), sizeof(magics[i]));
    }
    cr_expect(sx_outside_each(getpid(), "ring:", count, &found, &left));
    cr_expect_eq(found, 0);
    cr_assert_eq(left.count, 2u, "each process once for a layout");
    for (unsigned i = 0; i < left.count; i++) {
        cr_expect_eq(left.at[i].pid, getpid());
    }
    cr_expect_eq(left.at[0].layout + left.at[1].layout, sx_segment_layout(SX_SEGMENT_MAGIC) + 1);
}
