/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data_count_test.c - how often large data is copied, and what a rank of a job costs in allocations
 * when its data are registered.
 *
 * Counted by standing in front of the C library's functions, in the host and in the ranks alike:
 * copies are those by memcpy, write, writev, pwrite and pread of COPY_MIN bytes and more.  Pages are
 * those that one call takes for a copy. */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "job.h"
#include "support/allocations.h"

#define BLOB_BYTES ((size_t)1 << 20)
#define COPY_MIN (BLOB_BYTES / 2)
#define POPULATE_READ 22 /* MADV_POPULATE_READ, Linux 5.14 */
#define POPULATE_WRITE 23

static size_t copied_bytes, pwritten_bytes, populated_bytes, entered_bytes;

#if !SANITIZED
#pragma GCC visibility push(default) /* or the library would not find them */
void *memcpy(void *restrict to, const void *restrict from, size_t size);
ssize_t write(int fd, const void *from, size_t size);
ssize_t writev(int fd, const struct iovec *iov, int iov_count);
ssize_t pwrite(int fd, const void *from, size_t size, off_t off);
ssize_t pread(int fd, void *to, size_t size, off_t off);
int madvise(void *at, size_t size, int advice);

static void count_copy(size_t size)
{
    if (size >= COPY_MIN) {
        __atomic_add_fetch(&copied_bytes, size, __ATOMIC_RELAXED);
    }
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    /* By a pointer: the compiler knows that these do not overlap and would call memcpy. */
    static void *(*volatile const move)(void *, const void *, size_t) = memmove;

    count_copy(size);
    return move(to, from, size);
}

ssize_t write(int fd, const void *from, size_t size)
{
    count_copy(size);
    return syscall(SYS_write, fd, from, size);
}

ssize_t writev(int fd, const struct iovec *iov, int iov_count)
{
    size_t size = 0;

    for (int i = 0; i < iov_count; i++) {
        size += iov[i].iov_len;
    }
    count_copy(size);
    return syscall(SYS_writev, fd, iov, iov_count);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t off)
{
    count_copy(size);
    pwritten_bytes += size;
    return syscall(SYS_pwrite64, fd, from, size, off);
}

ssize_t pread(int fd, void *to, size_t size, off_t off)
{
    count_copy(size);
    return syscall(SYS_pread64, fd, to, size, off);
}

int madvise(void *at, size_t size, int advice)
{
    if (advice == POPULATE_WRITE && size >= COPY_MIN) {
        populated_bytes += size;
    }
    if (advice == POPULATE_READ && size >= COPY_MIN) {
        entered_bytes += size;
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}
#pragma GCC visibility pop
#endif

/* ---- a large value ------------------------------------------------------------------------ */

#define BLOBS 4 /* of rank 0 */

static void key_name(char key[32], int number)
{
    snprintf(key, 32, "blob.%d", number);
}

static void put_blobs(void)
{
    char *const bytes = malloc(BLOB_BYTES);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
    char key[32];

    CHECK(bytes != NULL);
    value.data.bo.bytes = bytes;
    value.data.bo.size = BLOB_BYTES;
    for (int i = 0; i < BLOBS; i++) {
        memset(bytes, i + 1, BLOB_BYTES);
        key_name(key, i);
        const size_t before = copied_bytes, pwritten_before = pwritten_bytes;
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        printf("Put and Commit: %zu KiB copied\n", (copied_bytes - before) >> 10);
        CHECK(copied_bytes - before >= 2 * BLOB_BYTES); /* else they are not counted at all */
        CHECK(copied_bytes - before <= 2 * (BLOB_BYTES + 4096));
        CHECK(i == 0 || pwritten_bytes == pwritten_before); /* the window's memory is there */
    }
    free(bytes);
}

static void get_blobs(const pmix_proc_t *from)
{
    pmix_info_t pointers;
    pmix_value_t *value;
    char key[32];

    pointers = info_flag(PMIX_GET_POINTER_VALUES);
    for (int i = 0; i < BLOBS; i++) {
        key_name(key, i);
        const size_t before = copied_bytes;
        CHECK_STATUS(PMIx_Get(from, key, &pointers, 1, &value), PMIX_SUCCESS);
        CHECK(copied_bytes == before);
        CHECK_STATUS(PMIx_Get(from, key, NULL, 0, &value), PMIX_SUCCESS);
        CHECK(copied_bytes - before <= BLOB_BYTES);
        CHECK(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == BLOB_BYTES);
        CHECK(value->data.bo.bytes[0] == i + 1 && value->data.bo.bytes[BLOB_BYTES - 1] == i + 1);
        free(value->data.bo.bytes);
        free(value);
    }
}

/* The memory of a value that is kept is taken in one call, that of one that was freed is there. */
static void get_into_new_and_old_memory(const pmix_proc_t *from)
{
    pmix_value_t *kept, *value;
    size_t before = populated_bytes;

    CHECK_STATUS(PMIx_Get(from, "blob.0", NULL, 0, &kept), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(from, "blob.1", NULL, 0, &value), PMIX_SUCCESS);
    printf("two Gets: %zu KiB of new memory in one call each\n", (populated_bytes - before) >> 10);
    CHECK(populated_bytes - before >= BLOB_BYTES - 4096); /* one may have found some */
    for (int i = 0; i < BLOBS; i++) {
        PMIX_VALUE_RELEASE(value);
        before = populated_bytes;
        CHECK_STATUS(PMIx_Get(from, "blob.1", NULL, 0, &value), PMIX_SUCCESS);
        CHECK(i == 0 || populated_bytes == before); /* the first may have come from a mapping */
    }
    PMIX_VALUE_RELEASE(value);
    PMIX_VALUE_RELEASE(kept);
}

/* Twice in its rank, twice in the server (the host's half of the case: out of the window, into the
 * store), once in the Get. */
static int a_blob_is_copied_at_most_five_times(int rank)
{
    pmix_proc_t me, from;
    pmix_info_t collect;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    collect = info_flag(PMIX_COLLECT_DATA);
    from = me;
    from.rank = 0;
    if (rank == 0) {
        put_blobs();
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, &collect, 1), PMIX_SUCCESS);
    CHECK(entered_bytes == 0); /* not all values may be read */
    get_blobs(&from);
    get_into_new_and_old_memory(&from);
    return rank_end();
}

static int the_server_copies_a_blob_twice(struct job *job)
{
    const size_t before = copied_bytes;

    for (int rank = 0; rank < job->size; rank++) {
        CHECK(job_wait(job, rank) == 0);
    }
    printf("server: %zu KiB copied\n", (copied_bytes - before) >> 10);
    CHECK(copied_bytes - before >= 2 * BLOBS * BLOB_BYTES); /* else they are not counted at all */
    CHECK(copied_bytes - before <= 2 * BLOBS * (BLOB_BYTES + 4096));
    return 0;
}

/* ---- registration ------------------------------------------------------------------------- */

#define RANK_KEYS 8

static void load_rank(pmix_info_t *info, uint32_t rank)
{
    static const char *const keys[RANK_KEYS] = {
        PMIX_RANK,   PMIX_APPNUM,   PMIX_GLOBAL_RANK, PMIX_APP_RANK, PMIX_LOCALITY_STRING,
        PMIX_CPUSET, PMIX_HOSTNAME, PMIX_NODEID,
    };
    pmix_info_t infos[RANK_KEYS];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = RANK_KEYS, .array = infos };

    for (int i = 0; i < RANK_KEYS; i++) {
        const bool text = i >= 4 && i <= 6;

        CHECK_STATUS(PMIx_Info_load(&infos[i], keys[i], text ? (const void *)"text" : &rank,
                                    text     ? PMIX_STRING
                                    : i == 0 ? PMIX_PROC_RANK
                                             : PMIX_UINT32),
                     PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Info_load(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    for (int i = 0; i < RANK_KEYS; i++) {
        PMIX_INFO_DESTRUCT(&infos[i]);
    }
}

static unsigned long registering(uint32_t ranks)
{
    pmix_nspace_t nspace = "another.job";
    pmix_info_t *infos;

    PMIX_INFO_CREATE(infos, ranks + 1);
    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &ranks, PMIX_UINT32), PMIX_SUCCESS);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        load_rank(&infos[1 + rank], rank);
    }
    const unsigned long before = allocations;
    const pmix_status_t rc = PMIx_server_register_nspace(nspace, 0, infos, ranks + 1, NULL, NULL);
    const unsigned long count = allocations - before;

    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    PMIx_server_deregister_nspace(nspace, NULL, NULL);
    PMIX_INFO_FREE(infos, ranks + 1);
    return count;
}

static int registering_a_rank_allocates_nothing(struct job *job)
{
    (void)registering(8); /* whatever the server keeps from now on */
    const unsigned long few = registering(100), many = registering(1100);

    printf("register_nspace: %lu allocations for 100 ranks, %lu for 1100\n", few, many);
    CHECK(few > 0 && many < few + 100);
    return 0;
}

static int nothing(int rank)
{
    pmix_proc_t me;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

static const struct job_case cases[] = {
    { "a_blob_is_copied_at_most_five_times", 2, a_blob_is_copied_at_most_five_times,
      the_server_copies_a_blob_twice },
    { "registering_a_rank_allocates_nothing", 1, nothing, registering_a_rank_allocates_nothing },
};

int main(int argc, char **argv)
{
#if SANITIZED
    puts("skipped: a sanitizer stands in front of these functions itself");
    return 77;
#endif
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
