/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_walk_test.c - what there is: keys, ranks, and jobs of other servers of this user.
 *
 * A store that this process makes and names stands for another server's: it is found as one, by its
 * name under /proc. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <shmix.h>

#include "../alone.h"
#include "base/util.h"
#include "shmem/store.h"

#define ROWS 300u
#define NOBODY 65534

static char nspace[64];

static void begin(void)
{
    snprintf(nspace, sizeof(nspace), "elsewhere.%d", (int)getpid());
    alone_begin();
}

TestSuite(native_walk, .init = begin, .fini = alone_end);

static void put(struct sx_store_writer *writer, uint32_t row, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    cr_assert_eq(sx_store_put(writer, SX_REALM_JOB, row, key, PMIX_GLOBAL, &value), PMIX_SUCCESS);
}

static void elsewhere_create(struct sx_store_writer *writer)
{
    const struct sx_store_options options = { .nspace = nspace,
                                              .row_count = ROWS,
                                              .reserve_bytes = 1 << 20 };

    cr_assert_eq(sx_store_create(writer, &options), PMIX_SUCCESS);
}

Test(native_walk, keys_come_sorted_and_by_realm)
{
    struct sx_store_writer writer;
    const pmix_value_t value = { .type = PMIX_BOOL, .data.flag = true };
    shmix_job_t *job;
    char **keys = NULL;
    size_t count = 9;

    elsewhere_create(&writer);
    cr_assert_eq(shmix_job_open(nspace, &job), PMIX_SUCCESS);
    cr_assert_eq(shmix_job_keys(job, SHMIX_JOB, &keys, &count), PMIX_SUCCESS);
    cr_expect(keys == NULL && count == 0, "a job of which nothing is known");
    put(&writer, 7, "b.rank", 1);
    put(&writer, SX_ROW_JOB, "c.job", 2);
    put(&writer, 3, "a.both", 3);
    put(&writer, SX_ROW_JOB, "a.both", 4);
    cr_assert_eq(sx_store_put(&writer, SX_REALM_NODE, 0, "d.node", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(shmix_job_keys(job, SHMIX_JOB, &keys, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 3);
    cr_expect_str_eq(keys[0], "a.both");
    cr_expect_str_eq(keys[1], "b.rank");
    cr_expect_str_eq(keys[2], "c.job");
    cr_expect_null(keys[3]);
    PMIx_Argv_free(keys);
    cr_assert_eq(shmix_job_keys(job, SHMIX_NODE, &keys, &count), PMIX_SUCCESS);
    cr_expect(count == 1 && strcmp(keys[0], "d.node") == 0);
    PMIx_Argv_free(keys);
    cr_expect_eq(shmix_job_keys(NULL, SHMIX_JOB, &keys, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(shmix_job_keys(job, (shmix_realm_t)4, &keys, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(shmix_job_keys(job, SHMIX_JOB, NULL, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(shmix_job_close(job), PMIX_SUCCESS);
    sx_store_destroy(&writer);
}

Test(native_walk, ranks_come_in_order)
{
    static const pmix_rank_t want[] = { 0, 1, 64, 65, 255, 256, ROWS - 1 };
    struct sx_store_writer writer;
    const shmix_key_t *key, *one, *none;
    pmix_rank_t rank = 77;
    shmix_job_t *job;
    size_t at = 0;

    elsewhere_create(&writer);
    cr_assert_eq(shmix_job_open(nspace, &job), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "many", &key), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "one", &one), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "none", &none), PMIX_SUCCESS);
    put(&writer, SX_ROW_JOB, "many", 0);
    put(&writer, SX_ROW_JOB, "none", 0);
    put(&writer, 200, "one", 0);
    for (size_t i = SX_COUNT(want); i > 0; i--) { /* the last one put first */
        put(&writer, want[i - 1], "many", (uint32_t)i);
    }
    cr_expect_eq(shmix_key_next(none, 0, &rank), PMIX_ERR_NOT_FOUND, "the job's own is no rank's");
    cr_expect_eq(rank, 77);
    cr_expect_eq(shmix_key_next(one, 0, &rank), PMIX_SUCCESS);
    cr_expect_eq(rank, 200);
    cr_expect_eq(shmix_key_next(one, 201, &rank), PMIX_ERR_NOT_FOUND);
    for (rank = 0; shmix_key_next(key, rank, &rank) == PMIX_SUCCESS; rank++) {
        cr_assert_lt(at, SX_COUNT(want));
        cr_expect_eq(rank, want[at], "rank %u", rank);
        at++;
    }
    cr_expect_eq(at, SX_COUNT(want));
    cr_expect_eq(shmix_key_next(key, PMIX_RANK_WILDCARD, &rank), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(shmix_key_next(NULL, 0, &rank), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(shmix_key_next(key, 0, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Finalize(NULL, 0);
    cr_expect_eq(shmix_key_next(key, 0, &rank), PMIX_ERR_INIT);
    cr_expect_eq(shmix_job_close(job), PMIX_SUCCESS);
    sx_store_destroy(&writer);
}

Test(native_walk, a_job_of_another_server_is_followed_to_its_end)
{
    struct sx_store_writer writer;
    const shmix_key_t *key;
    shmix_job_t *job = NULL;
    uint64_t number = 0, generation;

    cr_expect_eq(shmix_job_open(nspace, &job), PMIX_ERR_NOT_FOUND);
    elsewhere_create(&writer);
    put(&writer, 5, "key", 41);
    cr_assert_eq(shmix_job_open(nspace, &job), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "key", &key), PMIX_SUCCESS);
    cr_expect_eq(shmix_read_u64(key, 5, &number), PMIX_SUCCESS);
    cr_expect_eq(number, 41);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    put(&writer, 5, "key", 42);
    cr_expect_eq(shmix_job_refresh(job), PMIX_SUCCESS);
    cr_expect_eq(shmix_job_generation(job, &generation), PMIX_SUCCESS);
    cr_expect_eq(generation, 2);
    cr_expect_eq(shmix_read_u64(key, 5, &number), PMIX_SUCCESS);
    cr_expect_eq(number, 42);
    sx_store_end(&writer);
    cr_expect_eq(shmix_job_refresh(job), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(shmix_read_u64(key, 5, &number), PMIX_SUCCESS, "what was read stays readable");
    sx_store_destroy(&writer);
    cr_expect_eq(shmix_job_close(job), PMIX_SUCCESS);
}

/* Whoever can make a memfd can give it any name: what another user has made is none of ours. */
Test(native_walk, what_another_user_has_made_is_not_opened)
{
    shmix_job_t *job;
    int ready[2];
    char byte;

    if (geteuid() != 0) {
        cr_skip_test("only root can be another user");
    }
    cr_assert_eq(pipe(ready), 0);
    const pid_t other = fork();
    if (other == 0) {
        struct sx_store_writer writer;

        if (setuid(NOBODY) != 0) {
            _exit(1);
        }
        elsewhere_create(&writer);
        _exit(write(ready[1], "", 1) == 1 ? pause() : 1);
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_expect_eq(shmix_job_open(nspace, &job), PMIX_ERR_NOT_FOUND);
    cr_expect_null(job);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close(ready[0]);
}
