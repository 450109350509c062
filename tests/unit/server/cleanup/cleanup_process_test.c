/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_process_test.c - the process that removes: it does what a packet says, reports what had
 * to stay, and ends with its socket. */
#include "server/cleanup/cleanup_process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "server/cleanup/cleanup_unlink.h"

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

Test(sweeper, does_what_a_packet_says_and_tells_what_stays)
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
