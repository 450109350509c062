/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* write_test.c - a client cannot write, resize or replace what others read: neither through the
 * descriptors it received nor through those it can open under /proc, whatever its uid.  And what it
 * may read tells it nothing about the server's own memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attack.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

static const char *const names[] = { "board", "lane", "doorbell", "ring", "store" };

/* All of these must fail; what succeeds is named. */
static void must_fail(bool failed, const char *how, const char *what)
{
    CHECK(failed, "%s of the %s has succeeded", how, what);
}

static void try_map(int fd, size_t size, const char *what)
{
    static const int prots[] = { PROT_WRITE, PROT_READ | PROT_WRITE,
                                 PROT_READ | PROT_WRITE | PROT_EXEC };

    for (size_t i = 0; i < sizeof(prots) / sizeof(prots[0]); i++) {
        must_fail(mmap(NULL, size, prots[i], MAP_SHARED, fd, 0) == MAP_FAILED, "a writable map",
                  what);
    }
    void *const map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

    CHECK(map != MAP_FAILED, "no readable map of the %s: %s", what, strerror(errno));
    must_fail(mprotect(map, size, PROT_READ | PROT_WRITE) != 0, "mprotect", what);
    must_fail(madvise(map, size, MADV_REMOVE) != 0, "MADV_REMOVE", what);
    /* The map of another process's memory file goes by the same rights as the map. */
    void *const moved = mremap(map, size, 2 * size, MREMAP_MAYMOVE);

    if (moved != MAP_FAILED) {
        must_fail(mprotect(moved, size, PROT_READ | PROT_WRITE) != 0, "mprotect after mremap",
                  what);
        munmap(moved, 2 * size);
    } else {
        munmap(map, size);
    }
}

static void try_write(int fd, const char *what)
{
    char byte = 'x';
    struct iovec iov = { &byte, 1 };
    int pipes[2];

    must_fail(pwrite(fd, &byte, 1, 100) != 1, "pwrite", what);
    must_fail(pwritev(fd, &iov, 1, 100) != 1, "pwritev", what);
    must_fail(lseek(fd, 0, SEEK_SET) != 0 || write(fd, &byte, 1) != 1, "write", what);
    CHECK(pipe2(pipes, O_CLOEXEC) == 0 && write(pipes[1], &byte, 1) == 1, "%s", strerror(errno));
    must_fail(splice(pipes[0], NULL, fd, &(loff_t){ 100 }, 1, SPLICE_F_NONBLOCK) != 1, "splice",
              what);
    close(pipes[0]);
    close(pipes[1]);
}

static void try_resize(int fd, off_t size, const char *what)
{
    static const struct {
        int mode;
        const char *name;
    } modes[] = {
        { FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punching a hole" },
        { FALLOC_FL_ZERO_RANGE, "zeroing" },
        { FALLOC_FL_COLLAPSE_RANGE, "collapsing" },
        { FALLOC_FL_INSERT_RANGE, "inserting" },
    };
    struct stat st;

    must_fail(ftruncate(fd, 0) != 0, "cutting to nothing", what);
    must_fail(ftruncate(fd, size - 4096) != 0, "cutting", what);
    must_fail(ftruncate(fd, size + 4096) != 0, "growing", what);
    must_fail(fallocate(fd, 0, size, 4096) != 0, "allocating behind the end", what);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        must_fail(fallocate(fd, modes[i].mode, 0, 4096) != 0, modes[i].name, what);
    }
    CHECK(fstat(fd, &st) == 0 && st.st_size == size, "the %s has %lld bytes, not %lld", what,
          (long long)st.st_size, (long long)size);
}

/* Every way of getting another descriptor of the same file. */
static void try_reopen(const char *path, off_t size, const char *what)
{
    static const int modes[] = {
        O_RDWR, O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_APPEND, O_WRONLY | O_TRUNC, O_RDWR | O_CREAT
    };

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const int fd = open(path, modes[i] | O_CLOEXEC, 0600);

        if (fd >= 0) {
            if ((modes[i] & O_ACCMODE) == O_RDWR) {
                try_map(fd, (size_t)size, what);
            }
            try_write(fd, what);
            try_resize(fd, size, what);
            close(fd);
        }
    }
    must_fail(truncate(path, 0) != 0, "truncate by path", what);
}

static void try_file(int fd, const char *what)
{
    char path[64];
    struct stat st;

    CHECK(fstat(fd, &st) == 0, "%s", strerror(errno));
    try_map(fd, (size_t)st.st_size, what);
    try_write(fd, what);
    try_resize(fd, st.st_size, what);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    try_reopen(path, st.st_size, what);
    must_fail(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0, "another seal", what);
    const int seals = fcntl(fd, F_GET_SEALS);

    CHECK((seals & F_SEAL_FUTURE_WRITE) != 0 && (seals & F_SEAL_SEAL) != 0, "the %s has seals %#x",
          what, seals);
    /* Taking the others' permissions away must not keep them out: see the jobs after this one. */
    if (fchmod(fd, 0) == 0) {
        try_reopen(path, st.st_size, what);
    }
}

/* A lane belongs to its client, but not its size. */
static void try_lane(int fd)
{
    struct stat st;

    CHECK(fstat(fd, &st) == 0, "%s", strerror(errno));
    must_fail(ftruncate(fd, 0) != 0, "cutting", "lane");
    must_fail(ftruncate(fd, st.st_size - 4096) != 0, "cutting", "lane");
    must_fail(ftruncate(fd, st.st_size + 4096) != 0, "growing", "lane");
    must_fail(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0, "another seal", "lane");
    must_fail(fallocate(fd, 0, st.st_size, 4096) != 0, "allocating behind the end", "lane");
}

/* What the descriptors of @pid lead to.  Return: how many segments there were. */
static unsigned try_process(pid_t pid, unsigned *ret_lanes)
{
    char path[300], link[PATH_MAX];
    const struct dirent *entry;
    unsigned count = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *const dir = opendir(path);

    CHECK(dir != NULL, "%s: %s", path, strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;

        snprintf(path, sizeof(path), "/proc/%d/fd/%.200s", (int)pid, entry->d_name);
        const ssize_t len = readlink(path, link, sizeof(link) - 1);

        if (len <= 0) {
            continue;
        }
        link[len] = '\0';
        if (strncmp(link, "/memfd:shmix:", 13) == 0 && stat(path, &st) == 0) {
            *ret_lanes += strncmp(link, "/memfd:shmix:lane", 17) == 0;
            try_reopen(path, st.st_size, link);
            count++;
        }
    }
    closedir(dir);
    return count;
}

static uint64_t sum_of(int fd)
{
    struct stat st;
    uint64_t sum = 0;

    CHECK(fstat(fd, &st) == 0, "%s", strerror(errno));
    /* Only the identity at the front: what is behind it changes while the others work. */
    uint64_t words[64 / sizeof(uint64_t)];

    CHECK(pread(fd, words, sizeof(words), 0) == sizeof(words), "%s", strerror(errno));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        sum = sum * 31 + words[i];
    }
    return sum;
}

static int role_writer(const char *arg)
{
    static const int received[] = { 0, 3, 4 }; /* board, ring, store */
    struct attacker attacker;
    unsigned lanes = 0;

    attack_begin(0, "writing what was received");
    attack_attach(&attacker);
    for (size_t i = 0; i < sizeof(received) / sizeof(received[0]); i++) {
        const int fd = attacker.fds[received[i]];
        const uint64_t before = sum_of(fd);

        try_file(fd, names[received[i]]);
        CHECK(sum_of(fd) == before, "the %s has changed", names[received[i]]);
    }
    try_lane(attacker.fds[1]);
    attack_detach(&attacker);
    attack_end();

    attack_begin(0, "writing what the server has open");
    attack_attach(&attacker);
    /* Once it answers, the server is done with the welcome. */
    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, 5, NULL, 0);
    (void)attack_expect_reply(attacker.socket_fd, 5, PMIX_SUCCESS);
    const unsigned count = try_process(getppid(), &lanes);

    CHECK(count >= 3, "only %u segments are open there: is that the server?", count);
    CHECK(lanes == 0, "the server keeps %u lanes open: anybody could take one", lanes);
    attack_detach(&attacker);
    attack_end();
    return 0;
}

/* ---- what a client can learn ---------------------------------------------------------------- */

#define SHADOW_BYTES \
    (UINT64_C(64) << 30) /* a sanitizer has maps of this size, which mean nothing */

/* Whether @word is an address that process @pid has something at. */
static bool is_address_in(pid_t pid, uint64_t word)
{
    char path[32], line[512];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const maps = fopen(path, "re");

    CHECK(maps != NULL, "%s: %s", path, strerror(errno));
    while (!found && fgets(line, sizeof(line), maps) != NULL) {
        unsigned long long begin, end;

        found = sscanf(line, "%llx-%llx", &begin, &end) == 2 && word >= begin && word < end &&
                end - begin < SHADOW_BYTES;
    }
    fclose(maps);
    return found;
}

/* Where the server's stacks, heap and libraries are is nobody's business. */
static int role_reader(const char *arg)
{
    struct attacker attacker;

    attack_begin(0, "looking for addresses of the server");
    attack_attach(&attacker);
    CHECK(sx_board_server_lives(&attacker.board), "nobody holds the life word");
    const uint64_t *const words = (const uint64_t *)(const void *)attacker.board.seg.base;
    const uint64_t used = atomic_load(&sx_segment_header(&attacker.board.seg)->used_bytes);
    unsigned seen = 0;

    for (uint64_t i = 0; i < used / sizeof(*words); i++) {
        seen += words[i] != 0;
        CHECK(words[i] <= UINT32_MAX || !is_address_in(getppid(), words[i]),
              "the board shows an address of the server at %llu: %#llx",
              (unsigned long long)(i * sizeof(*words)), (unsigned long long)words[i]);
    }
    CHECK(seen > 8, "only %u words are there: is that the board?", seen);
    attack_detach(&attacker);
    attack_end();
    return 0;
}

static const struct fault_case cases[] = {
    { "writer", attack_case },
    { "reader", attack_case },
};

static const struct fault_role roles[] = {
    { "writer", role_writer },
    { "reader", role_reader },
};

FAULT_MAIN(cases, roles)
