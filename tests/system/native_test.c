/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_test.c - native reads of what other processes publish: right, without a call, on the move.
 *
 * That a read makes no system call is shown by a process that the kernel would kill at the first
 * one; allocations are counted by standing in front of the C library's functions. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/allocations.h"
#include "support/no_calls.h"

static pmix_proc_t me;
static shmix_job_t *job;

static void begin(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(me.rank == (pmix_rank_t)rank);
    CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
}

static void end(void)
{
    CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

static void put(const char *key, pmix_value_t value)
{
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
}

/* What everybody has put is there for everybody. */
static void exchange(void)
{
    const bool collect = true;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
}

static const shmix_key_t *find(const char *key)
{
    const shmix_key_t *found;

    CHECK_STATUS(shmix_key_find(job, SHMIX_JOB, key, &found), PMIX_SUCCESS);
    return found;
}

/* Wait for the others without publishing anything. */
static void meet(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

/* ---- what others have put ------------------------------------------------------------------- */

static void put_all(void)
{
    uint32_t numbers[3] = { me.rank, me.rank + 1, me.rank + 2 };
    pmix_data_array_t array = { .type = PMIX_UINT32, .size = 3, .array = numbers };
    char text[32], bytes[4] = { 1, 0, (char)me.rank, 0 };

    snprintf(text, sizeof(text), "rank %u", me.rank);
    put("u64", (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = me.rank + 10 });
    put("i16", (pmix_value_t){ .type = PMIX_INT16, .data.int16 = (int16_t)(-1 - (int)me.rank) });
    put("f32", (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = (float)me.rank / 2 });
    put("flag", (pmix_value_t){ .type = PMIX_BOOL, .data.flag = me.rank % 2 == 0 });
    put("text", (pmix_value_t){ .type = PMIX_STRING, .data.string = text });
    put("bytes", (pmix_value_t){ .type = PMIX_BYTE_OBJECT,
                                 .data.bo = { .bytes = bytes, .size = sizeof(bytes) } });
    put("array", (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &array });
    put("proc", (pmix_value_t){ .type = PMIX_PROC, .data.proc = &me });
}

static void check_all(pmix_rank_t rank)
{
    const char want_bytes[4] = { 1, 0, (char)rank, 0 };
    const uint32_t *numbers;
    const void *at;
    const char *text;
    char want_text[32];
    shmix_value_t value;
    uint64_t u64;
    int64_t i64;
    double f64;
    size_t size;
    bool flag;

    CHECK_STATUS(shmix_read_u64(find("u64"), rank, &u64), PMIX_SUCCESS);
    CHECK(u64 == rank + 10);
    CHECK_STATUS(shmix_read_i64(find("i16"), rank, &i64), PMIX_SUCCESS);
    CHECK(i64 == -1 - (int64_t)rank);
    CHECK_STATUS(shmix_read_f64(find("f32"), rank, &f64), PMIX_SUCCESS);
    CHECK(f64 * 2 == rank);
    CHECK_STATUS(shmix_read_bool(find("flag"), rank, &flag), PMIX_SUCCESS);
    CHECK(flag == (rank % 2 == 0));
    snprintf(want_text, sizeof(want_text), "rank %u", rank);
    CHECK_STATUS(shmix_read_string(find("text"), rank, &text, &size), PMIX_SUCCESS);
    CHECK(size == strlen(want_text) && strcmp(text, want_text) == 0);
    CHECK_STATUS(shmix_read_bytes(find("bytes"), rank, &at, &size), PMIX_SUCCESS);
    CHECK(size == sizeof(want_bytes) && memcmp(at, want_bytes, size) == 0);
    CHECK_STATUS(shmix_read_array(find("array"), rank, PMIX_UINT32, &at, &size), PMIX_SUCCESS);
    numbers = at;
    CHECK(size == 3 && numbers[0] == rank && numbers[2] == rank + 2);
    CHECK_STATUS(shmix_read_value(find("proc"), rank, &value), PMIX_SUCCESS);
    const pmix_proc_t *const proc = value.data;
    CHECK(value.type == PMIX_PROC && value.count == 1 && proc->rank == rank);
    CHECK(strcmp(proc->nspace, JOB_NSPACE) == 0);
    CHECK_STATUS(shmix_read_u64(find("text"), rank, &u64), PMIX_ERR_TYPE_MISMATCH);
    CHECK_STATUS(shmix_read_u64(find("nothing"), rank, &u64), PMIX_ERR_NOT_FOUND);
}

static int every_rank_reads_every_other(int rank)
{
    uint64_t number;

    begin(rank);
    CHECK_STATUS(shmix_read_u64(find("u64"), 1, &number), PMIX_ERR_NOT_FOUND); /* a handle now */
    meet();
    put_all();
    exchange();
    for (pmix_rank_t other = 0; other < 4; other++) {
        check_all(other);
    }
    CHECK_STATUS(shmix_read_u64(find("u64"), 4, &number), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_read_u64(find("u64"), PMIX_RANK_WILDCARD, &number), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_read_u64(find(PMIX_JOB_SIZE), PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    CHECK(number == 4);
    CHECK_STATUS(shmix_read_u64(find(PMIX_LOCAL_RANK), 3, &number), PMIX_SUCCESS);
    CHECK(number == 3);
    meet();
    end();
    return 0;
}

/* What is this process's alone is not published. */
static int what_is_kept_is_not_published(int rank)
{
    pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = 1 };
    uint64_t number;

    begin(rank);
    CHECK_STATUS(PMIx_Store_internal(&me, "kept", &value), PMIX_SUCCESS);
    put("later", value);
    CHECK_STATUS(shmix_read_u64(find("kept"), me.rank, &number), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_read_u64(find("later"), me.rank, &number), PMIX_ERR_NOT_FOUND);
    exchange();
    CHECK_STATUS(shmix_read_u64(find("kept"), me.rank, &number), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_read_u64(find("later"), me.rank, &number), PMIX_SUCCESS);
    end();
    return 0;
}

static int the_server_knows_who_is_there(int rank)
{
    shmix_job_t *other = NULL, *same;
    const shmix_key_t *key;
    uint64_t number;

    begin(rank);
    CHECK_STATUS(shmix_job_open("no.such.job", &other), PMIX_ERR_NOT_FOUND);
    CHECK(other == NULL);
    CHECK_STATUS(shmix_job_open(JOB_NSPACE, &same), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(same, SHMIX_JOB, PMIX_JOB_SIZE, &key), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    CHECK(number == 1);
    end(); /* @same is left open */
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_job_close(same), PMIX_SUCCESS);
    return rank_end();
}

/* The host names a second job; a rank of the first one reads what was said of it. */
static int host_of_two_jobs(struct job *running)
{
    const pmix_proc_t first = { .nspace = "test.other", .rank = 0 };
    const uint32_t size = 7;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    pmix_status_t rc = PMIx_server_register_nspace(first.nspace, 1, &info, 1, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    /* Whose it is decides who may see it. */
    rc = PMIx_server_register_client(&first, getuid(), getgid(), NULL, NULL, NULL);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
    job_token_put(0);
    (void)job_wait(running, 0);
    return 0;
}

static int another_job_is_read_too(int rank)
{
    const shmix_key_t *key;
    shmix_job_t *other;
    uint64_t number;

    begin(rank);
    job_token_get(0);
    CHECK_STATUS(shmix_job_open("test.other", &other), PMIX_SUCCESS);
    CHECK_STATUS(shmix_key_find(other, SHMIX_JOB, PMIX_JOB_SIZE, &key), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    CHECK(number == 7);
    CHECK_STATUS(shmix_read_u64(find(PMIX_JOB_SIZE), PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    CHECK(number == 1);
    CHECK_STATUS(shmix_job_close(other), PMIX_SUCCESS);
    end();
    return 0;
}

/* ---- no call, no allocation ----------------------------------------------------------------- */

struct handles {
    const shmix_key_t *u64, *i16, *f32, *flag, *text, *bytes, *array, *proc, *nothing;
};

static bool read_everything(const struct handles *at, pmix_rank_t rank)
{
    const void *bytes;
    const char *text;
    shmix_value_t value;
    uint64_t u64;
    int64_t i64;
    double f64;
    size_t size;
    bool flag;

    return shmix_read_u64(at->u64, rank, &u64) == PMIX_SUCCESS && u64 == rank + 10 &&
           shmix_read_i64(at->i16, rank, &i64) == PMIX_SUCCESS &&
           shmix_read_f64(at->f32, rank, &f64) == PMIX_SUCCESS &&
           shmix_read_bool(at->flag, rank, &flag) == PMIX_SUCCESS &&
           shmix_read_string(at->text, rank, &text, &size) == PMIX_SUCCESS && size == 6 &&
           shmix_read_bytes(at->bytes, rank, &bytes, &size) == PMIX_SUCCESS && size == 4 &&
           shmix_read_array(at->array, rank, PMIX_UINT32, &bytes, &size) == PMIX_SUCCESS &&
           shmix_read_value(at->proc, rank, &value) == PMIX_SUCCESS &&
           shmix_read_u64(at->text, rank, &u64) == PMIX_ERR_TYPE_MISMATCH &&
           shmix_read_u64(at->u64, 1000, &u64) == PMIX_ERR_NOT_FOUND &&
           shmix_read_u64(at->nothing, rank, &u64) == PMIX_ERR_NOT_FOUND;
}

/* A forked process may go on reading. */
static int read_without_calls(void *arg)
{
    const struct handles *const at = arg;
    const unsigned long before = allocations;
    for (int i = 0; i < 100; i++) {
        for (pmix_rank_t rank = 0; rank < 2; rank++) {
            if (!read_everything(at, rank) || shmix_job_refresh(job) != PMIX_SUCCESS) {
                return 2;
            }
        }
    }
    return allocations == before ? 0 : 3;
}

static int a_read_makes_no_call_and_no_allocation(int rank)
{
    if (SANITIZED) {
        printf("skipped: a sanitizer allocates and calls as it likes\n");
        return JOB_SKIPPED;
    }
    begin(rank);
    put_all();
    exchange();
    /* Handles from before the values would do as well: every_rank_reads_every_other. */
    struct handles at = { find("u64"),   find("i16"),   find("f32"),  find("flag"),   find("text"),
                          find("bytes"), find("array"), find("proc"), find("nothing") };
    CHECK(no_calls_run(read_without_calls, &at) == 0);
    meet();
    end();
    return 0;
}

/* ---- a store that moves under its readers --------------------------------------------------- */

enum { BLOB = 200000, ROUNDS = 120, THREADS = 3 };

static atomic_bool stop;
static atomic_ulong reads_done;

/* Every blob is one of the writer's: all of its bytes are the same. */
static void *read_all_along(void *arg)
{
    const shmix_key_t *const blob = arg;

    while (!atomic_load(&stop)) {
        const void *bytes;
        size_t size;

        CHECK_STATUS(shmix_read_bytes(blob, 1, &bytes, &size), PMIX_SUCCESS);
        CHECK(size == BLOB);
        const char first = *(const char *)bytes;
        for (size_t i = 0; i < BLOB; i += 997) {
            CHECK(((const char *)bytes)[i] == first);
        }
        CHECK(((const char *)bytes)[BLOB - 1] == first);
        atomic_fetch_add(&reads_done, 1);
    }
    return NULL;
}

static int stores_mapped(void)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, "shmix:store") != NULL;
    }
    fclose(maps);
    return count;
}

static void write_rounds(void)
{
    char *const bytes = malloc(BLOB);

    CHECK(bytes != NULL);
    for (int round = 0; round < ROUNDS; round++) {
        memset(bytes, round, BLOB);
        put("blob", (pmix_value_t){ .type = PMIX_BYTE_OBJECT,
                                    .data.bo = { .bytes = bytes, .size = BLOB } });
        exchange();
        meet(); /* the reader has looked */
    }
    free(bytes);
}

static void read_round(const shmix_key_t *blob, int round)
{
    const void *bytes;
    size_t size;

    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_job_refresh(job), PMIX_SUCCESS);
    CHECK_STATUS(shmix_read_bytes(blob, 1, &bytes, &size), PMIX_SUCCESS);
    CHECK(size == BLOB && *(const char *)bytes == (char)round);
}

static void read_rounds(void)
{
    const shmix_key_t *const blob = find("blob");
    pthread_t threads[THREADS];
    uint64_t begun, ended;
    const char *first;
    const void *bytes;
    size_t size;

    CHECK_STATUS(shmix_job_generation(job, &begun), PMIX_SUCCESS);
    read_round(blob, 0);
    CHECK_STATUS(shmix_read_bytes(blob, 1, &bytes, &size), PMIX_SUCCESS);
    first = bytes;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, read_all_along, (void *)(uintptr_t)blob) == 0);
    }
    meet();
    for (int round = 1; round < ROUNDS; round++) {
        read_round(blob, round);
        meet();
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(atomic_load(&reads_done) >= THREADS);
    CHECK_STATUS(shmix_job_generation(job, &ended), PMIX_SUCCESS);
    CHECK(ended > begun + 1);
    for (size_t i = 0; i < BLOB; i++) { /* still there, three or more generations later */
        CHECK(first[i] == 0);
    }
    const int mapped = stores_mapped();
    CHECK(mapped > 2);
    CHECK_STATUS(shmix_job_unpin(job), PMIX_SUCCESS);
    CHECK(stores_mapped() == 1); /* the newest, for PMIx_Get as well */
    CHECK_STATUS(shmix_read_bytes(blob, 1, &bytes, &size), PMIX_SUCCESS);
    CHECK(*(const char *)bytes == ROUNDS - 1);
    printf("%lu reads in %lu generations\n", atomic_load(&reads_done),
           (unsigned long)(ended - begun + 1));
}

static int a_store_that_moves_is_read_all_along(int rank)
{
    begin(rank);
    if (rank == 0) {
        read_rounds();
    } else {
        write_rounds();
    }
    end();
    CHECK(stores_mapped() == 0);
    return 0;
}

static const struct job_case cases[] = {
    { "every_rank_reads_every_other", 4, every_rank_reads_every_other },
    { "what_is_kept_is_not_published", 1, what_is_kept_is_not_published },
    { "the_server_knows_who_is_there", 1, the_server_knows_who_is_there },
    { "another_job_is_read_too", 1, another_job_is_read_too, host_of_two_jobs },
    { "a_read_makes_no_call_and_no_allocation", 2, a_read_makes_no_call_and_no_allocation },
    { "a_store_that_moves_is_read_all_along", 2, a_store_that_moves_is_read_all_along },
};

JOB_MAIN(cases)
