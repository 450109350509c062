/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* segment_test.c - who can do what to a segment, and what its limits do. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/util.h"
#include "shmem/segment.h"

#define TEST_BYTES (UINT64_C(1) << 20)

static struct sx_segment_options test_options(enum sx_segment_kind kind)
{
    return (struct sx_segment_options){ .kind = kind,
                                        .nspace = "job.7",
                                        .size_bytes = TEST_BYTES,
                                        .generation = 3,
                                        .client_writable = kind == SX_SEGMENT_LANE };
}

/* Run @step in a child.  Return: what it returned, or 1000 + the signal that ended it. */
static int test_child(int (*step)(void *arg), void *arg)
{
    int status;
    const pid_t pid = fork();

    cr_assert_geq(pid, 0);
    if (pid == 0) {
        alarm(60);
        _exit(step(arg));
    }
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

Test(segment, the_header_names_its_creator)
{
    struct sx_segment seg;
    const struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    char text[1024], *at;

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    const struct sx_segment_header *const header = sx_segment_header(&seg);
    cr_expect_eq(header->magic, 0, "not before publish");
    sx_segment_publish(&seg);
    cr_expect_eq(header->magic, SX_SEGMENT_MAGIC);
    cr_expect_eq(header->size_bytes, TEST_BYTES);
    cr_expect_eq(header->creator_pid, (uint32_t)getpid());
    cr_expect_eq(header->kind, SX_SEGMENT_STORE);
    cr_expect_eq(header->generation, 3);
    cr_expect_eq(header->features, 0);
    cr_expect_eq(header->used_bytes, SX_SEGMENT_BODY_OFF);
    cr_expect_eq(header->successor, 0);
    cr_expect_str_eq(header->nspace, "job.7");

    FILE *const file = fopen("/proc/self/stat", "r");
    cr_assert_not_null(file);
    cr_assert_not_null(fgets(text, sizeof(text), file));
    fclose(file);
    at = strrchr(text, ')') + 2;
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ') + 1;
    }
    cr_expect_eq(header->creator_start_ticks, strtoull(at, NULL, 10));
    sx_segment_deinit(&seg);
    sx_segment_deinit(&seg);
}

Test(segment, the_memfd_is_called_after_kind_and_namespace)
{
    struct sx_segment seg;
    struct sx_segment_options options = test_options(SX_SEGMENT_BOARD);
    char path[64], target[256], name[SX_SEGMENT_NSPACE_BYTES];
    ssize_t len;

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", seg.fd);
    len = readlink(path, target, sizeof(target) - 1);
    cr_assert_gt(len, 0);
    target[len] = '\0';
    cr_expect_str_eq(target, "/memfd:shmix:board:job.7 (deleted)");
    cr_expect_neq(fcntl(seg.fd, F_GETFD) & FD_CLOEXEC, 0);
    sx_segment_deinit(&seg);

    /* The longest name does not fit the memfd's; the header has it whole. */
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    options.nspace = name;
    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    cr_expect_str_eq(sx_segment_header(&seg)->nspace, name);
    sx_segment_deinit(&seg);
}

Test(segment, create_refuses_what_makes_no_sense)
{
    struct sx_segment seg;
    char name[SX_SEGMENT_NSPACE_BYTES + 1];

    memset(name, 'n', sizeof(name));
    const struct sx_segment_options rows[] = {
        { .kind = 0, .nspace = "n", .size_bytes = 4096 },
        { .kind = SX_SEGMENT_OPS + 1, .nspace = "n", .size_bytes = 4096 },
        { .kind = SX_SEGMENT_STORE, .nspace = NULL, .size_bytes = 4096 },
        { .kind = SX_SEGMENT_STORE, .nspace = name, .size_bytes = 4096 },
        { .kind = SX_SEGMENT_STORE, .nspace = "n", .size_bytes = UINT64_MAX },
        { .kind = SX_SEGMENT_STORE, .nspace = "n", .size_min_bytes = UINT64_MAX },
    };
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_segment_create(&seg, &rows[i]), PMIX_ERR_BAD_PARAM, "%zu", i);
        cr_expect_null(seg.base);
        sx_segment_deinit(&seg);
    }
}

Test(segment, what_is_shared_can_be_read_and_grows_no_further)
{
    struct sx_segment seg, view;
    const struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    int fd;

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_publish(&seg);
    cr_assert_eq(sx_segment_share(&seg, &fd), PMIX_SUCCESS);
    cr_expect_neq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    cr_assert_eq(sx_segment_attach(&view, fd, SX_SEGMENT_STORE), PMIX_SUCCESS);
    cr_expect_eq(view.size_bytes, TEST_BYTES);
    cr_expect_eq(view.fd, -1);
    cr_expect_not(view.owner);
    cr_assert_eq(sx_segment_back(&seg, 70000), PMIX_SUCCESS);
    seg.base[69999] = 7;
    cr_expect_eq(view.base[69999], 7);
    cr_expect_eq(sx_segment_back(&seg, TEST_BYTES), PMIX_SUCCESS);
    cr_expect_eq(sx_segment_back(&seg, TEST_BYTES + 1), PMIX_ERR_OUT_OF_RESOURCE);
    sx_segment_deinit(&view);
    close(fd);
    sx_segment_deinit(&seg);
}

/* Memory that was taken counts as blocks of the file; holes do not. */
Test(segment, memory_is_taken_ahead_of_use_in_steps)
{
    struct sx_segment seg;
    struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    struct stat st;

    options.size_bytes = UINT64_C(64) << 20;
    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    cr_expect_eq(seg.backed_bytes, 65536);
    cr_assert_eq(fstat(seg.fd, &st), 0);
    cr_expect_eq((uint64_t)st.st_blocks * 512, 65536);
    cr_assert_eq(sx_segment_back(&seg, 65537), PMIX_SUCCESS);
    cr_assert_geq(seg.backed_bytes, 65537);
    cr_assert_eq(fstat(seg.fd, &st), 0);
    cr_expect_eq((uint64_t)st.st_blocks * 512, seg.backed_bytes);
    cr_assert_eq(sx_segment_back(&seg, 10000001), PMIX_SUCCESS);
    cr_expect_geq(seg.backed_bytes, 10000001);
    sx_segment_deinit(&seg);
}

/* It goes as far as its owner has taken memory, and says so; a hole stays one. */
Test(segment, a_reader_takes_pages_in_by_the_step)
{
    struct sx_segment seg, view;
    struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    struct stat before, after;
    int fd;

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_back(&seg, 70000), PMIX_SUCCESS);
    atomic_store(&sx_segment_header(&seg)->used_bytes, 70000);
    sx_segment_publish(&seg);
    cr_assert_eq(sx_segment_share(&seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_attach(&view, fd, SX_SEGMENT_STORE), PMIX_SUCCESS);
    cr_assert_eq(fstat(seg.fd, &before), 0);
    cr_expect_eq(sx_segment_prefault(&view, 0), 131072);
    cr_expect_leq(131072, seg.backed_bytes);
    cr_expect_eq(sx_segment_prefault(&view, 131072), 131072, "nothing new");
    cr_assert_eq(fstat(seg.fd, &after), 0);
    cr_expect_eq(before.st_blocks, after.st_blocks);
    sx_segment_deinit(&view);
    close(fd);
    sx_segment_deinit(&seg);
}

/* ---- who can write ------------------------------------------------------------------------ */

struct test_attack {
    int fd;
    bool other_uid;
};

/* Try each way to write or resize what was handed out.  Return: 0, or which one succeeded. */
static int test_attack(void *arg)
{
    const struct test_attack *const attack = arg;
    char path[64];

    if (attack->other_uid && (setgid(65534) != 0 || setuid(65534) != 0)) {
        return 99;
    }
    if (mmap(NULL, TEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, attack->fd, 0) != MAP_FAILED) {
        return 1;
    }
    void *const at = mmap(NULL, TEST_BYTES, PROT_READ, MAP_SHARED, attack->fd, 0);
    if (at == MAP_FAILED) {
        return 2;
    }
    if (mprotect(at, TEST_BYTES, PROT_READ | PROT_WRITE) == 0) {
        return 3;
    }
    if (pwrite(attack->fd, "x", 1, 0) == 1) {
        return 4;
    }
    if (ftruncate(attack->fd, 4096) == 0 || ftruncate(attack->fd, 2 * TEST_BYTES) == 0) {
        return 5;
    }
    if (fallocate(attack->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0) {
        return 6;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", attack->fd);
    const int again = open(path, O_RDWR | O_CLOEXEC);
    if (again >= 0) {
        if (mmap(NULL, TEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED) {
            return 7;
        }
        if (pwrite(again, "x", 1, 0) == 1) {
            return 8;
        }
        if (ftruncate(again, 4096) == 0 || ftruncate(again, 2 * TEST_BYTES) == 0) {
            return 9;
        }
        if (fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0) {
            return 10;
        }
        if (fcntl(again, F_ADD_SEALS, F_SEAL_WRITE) == 0) {
            return 11;
        }
        close(again);
    }
    return 0;
}

Test(segment, nobody_else_can_write_or_resize_it)
{
    struct sx_segment seg;
    const struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    struct test_attack attack = { .other_uid = false };

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_publish(&seg);
    cr_assert_eq(sx_segment_share(&seg, &attack.fd), PMIX_SUCCESS);
    const int seals = fcntl(seg.fd, F_GET_SEALS);
    if ((seals & 0x10) == 0) {
        cr_skip_test("this kernel has no F_SEAL_FUTURE_WRITE: only the file mode protects");
    }
    cr_expect_eq(test_child(test_attack, &attack), 0);
    if (geteuid() == 0) {
        attack.other_uid = true;
        cr_expect_eq(test_child(test_attack, &attack), 0);
    }
    cr_expect_eq(sx_segment_header(&seg)->magic, SX_SEGMENT_MAGIC);
    close(attack.fd);
    sx_segment_deinit(&seg);
}

Test(segment, a_lane_is_writable_by_its_client_and_keeps_its_size)
{
    struct sx_segment seg, view;
    const struct sx_segment_options options = test_options(SX_SEGMENT_LANE);
    int fd;

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_publish(&seg);
    cr_assert_eq(sx_segment_share(&seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_attach(&view, fd, SX_SEGMENT_LANE), PMIX_SUCCESS);
    view.base[5000] = 9;
    cr_expect_eq(seg.base[5000], 9);
    cr_expect_neq(ftruncate(fd, 4096), 0);
    sx_segment_deinit(&view);
    close(fd);
    sx_segment_deinit(&seg);
}

static int test_touch(void *arg)
{
    unsigned char resident;
    /* mincore says ENOMEM for memory that is not mapped. */
    return mincore(arg, 4096, &resident) == 0 ? 1 : errno == ENOMEM ? 0 : 2;
}

Test(segment, a_forked_child_inherits_no_writable_map)
{
    struct sx_segment seg;
    struct sx_segment_options options = test_options(SX_SEGMENT_STORE);

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    cr_expect_eq(test_child(test_touch, seg.base), 0);
    sx_segment_deinit(&seg);
    options.private_memory = true;
    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    cr_expect_eq(test_child(test_touch, seg.base), 1, "private memory is the child's own copy");
    sx_segment_deinit(&seg);
}

/* As in a container without /proc: the creator's own descriptor goes out, the seal protects. */
static int test_without_proc(void *arg)
{
    struct sx_segment seg, view;
    const struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    struct test_attack attack = { .other_uid = false };

    if (chroot(arg) != 0 || chdir("/") != 0) {
        return 101;
    }
    if (sx_segment_create(&seg, &options) != PMIX_SUCCESS) {
        return 102;
    }
    if (sx_segment_header(&seg)->creator_start_ticks != 0) {
        return 103;
    }
    sx_segment_publish(&seg);
    if (sx_segment_share(&seg, &attack.fd) != PMIX_SUCCESS || attack.fd == seg.fd) {
        return 104;
    }
    if (sx_segment_attach(&view, attack.fd, SX_SEGMENT_STORE) != PMIX_SUCCESS) {
        return 105;
    }
    return test_attack(&attack);
}

Test(segment, without_proc_it_is_shared_and_protected_all_the_same)
{
    char path[] = "/tmp/shmix-test-XXXXXX";

    if (geteuid() != 0) {
        cr_skip_test("only root can leave /proc behind");
    }
    cr_assert_not_null(mkdtemp(path));
    cr_expect_eq(test_child(test_without_proc, path), 0);
    rmdir(path);
}

/* ---- limits ------------------------------------------------------------------------------- */

static int test_file_size_limit(void *arg)
{
    const struct rlimit limit = { 300000, 300000 };
    struct sx_segment seg;
    struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    sigset_t pending;

    (void)arg;
    options.size_bytes = UINT64_C(256) << 20;
    options.size_min_bytes = 65536;
    signal(SIGXFSZ, SIG_DFL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    if (sx_segment_create(&seg, &options) != PMIX_SUCCESS) {
        return 2;
    }
    if (seg.size_bytes != 262144) {
        return 3;
    }
    if (sx_segment_back(&seg, seg.size_bytes) != PMIX_SUCCESS) {
        return 4;
    }
    sx_segment_deinit(&seg);
    options.size_min_bytes = 400000;
    if (sx_segment_create(&seg, &options) != PMIX_ERR_OUT_OF_RESOURCE) {
        return 5;
    }
    return sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ) ? 0 : 6;
}

Test(segment, a_file_size_limit_makes_it_smaller_and_kills_nobody)
{
    cr_expect_eq(test_child(test_file_size_limit, NULL), 0);
}

static int test_address_space_limit(void *arg)
{
    struct sx_segment seg;
    struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    unsigned long pages = 0;

    options.private_memory = *(const bool *)arg;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        return 1;
    }
    fclose(file);
    const rlim_t room = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (24u << 20);
    const struct rlimit limit = { room, room };
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 2;
    }
    options.size_bytes = UINT64_C(256) << 20;
    options.size_min_bytes = 65536;
    if (sx_segment_create(&seg, &options) != PMIX_SUCCESS) {
        return 3;
    }
    if (seg.size_bytes > 24u << 20 || seg.size_bytes < 4u << 20) {
        return 4;
    }
    sx_segment_deinit(&seg);
    options.size_min_bytes = UINT64_C(64) << 20;
    return sx_segment_create(&seg, &options) == PMIX_ERR_OUT_OF_RESOURCE ? 0 : 5;
}

Test(segment, an_address_space_limit_makes_it_smaller)
{
    bool private_memory = false;

    cr_expect_eq(test_child(test_address_space_limit, &private_memory), 0);
    private_memory = true;
    cr_expect_eq(test_child(test_address_space_limit, &private_memory), 0);
}

static int test_no_descriptors(void *arg)
{
    struct rlimit limit;
    struct sx_segment seg, more;
    const struct sx_segment_options options = test_options(SX_SEGMENT_STORE);
    int fd;

    (void)arg;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        sx_segment_create(&seg, &options) != PMIX_SUCCESS) {
        return 1;
    }
    limit.rlim_cur = 64;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1;
    }
    do {
        fd = dup(seg.fd);
    } while (fd >= 0);
    if (sx_segment_create(&more, &options) != PMIX_ERR_OUT_OF_RESOURCE) {
        return 2;
    }
    return sx_segment_share(&seg, &fd) == PMIX_ERR_OUT_OF_RESOURCE ? 0 : 3;
}

Test(segment, no_descriptors_left_is_a_status)
{
    cr_expect_eq(test_child(test_no_descriptors, NULL), 0);
}

/* ---- attach: nothing is believed ---------------------------------------------------------- */

static struct sx_segment_header test_header(void)
{
    struct sx_segment_header header = { .magic = SX_SEGMENT_MAGIC,
                                        .size_bytes = 8192,
                                        .kind = SX_SEGMENT_STORE,
                                        .generation = 1,
                                        .used_bytes = SX_SEGMENT_BODY_OFF,
                                        .nspace = "job" };
    return header;
}

static int test_memfd(const struct sx_segment_header *header, off_t size, int seals)
{
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, size), 0);
    if (size >= (off_t)sizeof(*header)) {
        cr_assert_eq(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
    }
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

Test(segment, attach_refuses_a_header_that_lies)
{
    static const struct {
        const char *why;
        size_t off, len;
        uint64_t value;
        pmix_status_t want;
    } rows[] = {
#define FIELD(field) \
    offsetof(struct sx_segment_header, field), sizeof(((struct sx_segment_header *)0)->field)
        { "as it should be", FIELD(generation), 2, PMIX_SUCCESS },
        { "not finished", FIELD(magic), 0, PMIX_ERR_BAD_PARAM },
        { "something else", FIELD(magic), 0x464c457f, PMIX_ERR_BAD_PARAM },
        { "another layout", FIELD(magic), SX_SEGMENT_MAGIC + 1, PMIX_ERR_NOT_SUPPORTED },
        { "another kind", FIELD(kind), SX_SEGMENT_RING, PMIX_ERR_BAD_PARAM },
        { "no kind", FIELD(kind), 77, PMIX_ERR_BAD_PARAM },
        { "unknown feature", FIELD(features), UINT64_C(1) << 63, PMIX_ERR_NOT_SUPPORTED },
        { "larger than it is", FIELD(size_bytes), 8193, PMIX_ERR_BAD_PARAM },
        { "smaller than it is", FIELD(size_bytes), 4096, PMIX_ERR_BAD_PARAM },
        { "uses more than it has", FIELD(used_bytes), 8193, PMIX_ERR_BAD_PARAM },
        { "uses all it has", FIELD(used_bytes), 8192, PMIX_SUCCESS },
        { "uses less than its header", FIELD(used_bytes), 383, PMIX_ERR_BAD_PARAM },
    };
    struct sx_segment view;

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_segment_header header = test_header();
        memcpy((char *)&header + rows[i].off, &rows[i].value, rows[i].len);
        const int fd = test_memfd(&header, 8192, F_SEAL_SHRINK | F_SEAL_GROW);
        cr_expect_eq(sx_segment_attach(&view, fd, SX_SEGMENT_STORE), rows[i].want, "%s",
                     rows[i].why);
        sx_segment_deinit(&view);
        close(fd);
    }
    struct sx_segment_header header = test_header();
    memset(header.nspace, 'n', sizeof(header.nspace));
    const int fd = test_memfd(&header, 8192, F_SEAL_SHRINK | F_SEAL_GROW);
    cr_expect_eq(sx_segment_attach(&view, fd, SX_SEGMENT_STORE), PMIX_ERR_BAD_PARAM);
    close(fd);
}

Test(segment, attach_refuses_a_file_that_could_shrink_under_it)
{
    static const struct {
        const char *why;
        off_t size;
        int seals;
    } rows[] = {
        { "no seals", 8192, 0 },
        { "may grow", 8192, F_SEAL_SHRINK },
        { "may shrink", 8192, F_SEAL_GROW },
        { "empty", 0, F_SEAL_SHRINK | F_SEAL_GROW },
        { "shorter than a header", 383, F_SEAL_SHRINK | F_SEAL_GROW },
    };
    const struct sx_segment_header header = test_header();
    struct sx_segment view;
    int ends[2];

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const int fd = test_memfd(&header, rows[i].size, rows[i].seals);
        cr_expect_eq(sx_segment_attach(&view, fd, SX_SEGMENT_STORE), PMIX_ERR_BAD_PARAM, "%s",
                     rows[i].why);
        close(fd);
    }
    cr_assert_eq(pipe(ends), 0);
    cr_expect_eq(sx_segment_attach(&view, ends[0], SX_SEGMENT_STORE), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_segment_attach(&view, -1, SX_SEGMENT_STORE), PMIX_ERR_BAD_PARAM);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    cr_expect_eq(sx_segment_attach(&view, file, SX_SEGMENT_STORE), PMIX_ERR_BAD_PARAM);
    sx_segment_deinit(&view);
    close(file);
    close(ends[0]);
    close(ends[1]);
}

/* ---- placement -------------------------------------------------------------------------------
 *
 * Asking for placement is safe on every machine. */

Test(placement, a_machine_has_a_node)
{
    struct sx_node_set nodes;
    const unsigned count = sx_placement_nodes(&nodes);

    cr_expect_geq(count, 1);
    cr_expect_leq(count, SX_NODE_MAX);
    cr_expect_leq(sx_node_set_count(&nodes), count);
}

Test(placement, sets_hold_the_first_and_the_last_node)
{
    struct sx_node_set set = { .words = { 0 } };

    sx_node_set_add(&set, 0);
    sx_node_set_add(&set, 64);
    sx_node_set_add(&set, SX_NODE_MAX - 1);
    cr_expect(sx_node_set_has(&set, 0) && sx_node_set_has(&set, SX_NODE_MAX - 1));
    cr_expect(!sx_node_set_has(&set, 1) && !sx_node_set_has(&set, SX_NODE_MAX - 2));
    cr_expect_eq(sx_node_set_count(&set), 3);
}

/* What the kernel takes, and what it refuses: memory is there in any case. */
Test(placement, placed_memory_can_be_used)
{
    static const struct {
        enum sx_placement_kind kind;
        int node; /* -1: none */
    } rows[] = {
        { SX_PLACE_ANYWHERE, -1 }, { SX_PLACE_NEAR, 0 },   { SX_PLACE_NEAR, SX_NODE_MAX - 1 },
        { SX_PLACE_NEAR, -1 },     { SX_PLACE_SPREAD, 0 }, { SX_PLACE_SPREAD, SX_NODE_MAX - 1 },
        { SX_PLACE_SPREAD, -1 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const size_t size = 1 << 20;
        unsigned char *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct sx_placement placement = { .kind = rows[i].kind };

        cr_assert_neq(at, MAP_FAILED);
        if (rows[i].node >= 0) {
            sx_node_set_add(&placement.nodes, (unsigned)rows[i].node);
        }
        sx_placement_apply(&placement, at, size);
        for (size_t byte = 0; byte < size; byte += 4096) {
            at[byte] = 1;
        }
        munmap(at, size);
    }
    sx_placement_apply(NULL, NULL, 0);
}

Test(placement, a_segment_can_ask_for_it)
{
    struct sx_placement placement = { .kind = SX_PLACE_SPREAD };
    struct sx_segment seg;

    (void)sx_placement_nodes(&placement.nodes);
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_STORE, .nspace = "numa", .size_bytes = 1 << 20, .placement = &placement
    };

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_deinit(&seg);
}
