/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_share_test.c - spawns that wait: how many bytes of them an asker and a process may have. */
#include "launch/ask/spawn_request.h"

#include <criterion/criterion.h>
#include <pmix.h>

#include "base/util.h"

#define MIB ((size_t)1 << 20)
#define PROCESSES 64

static pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

/* Take as many shares of @bytes as @rank of @asker gets.  Return: how many bytes. */
static size_t take_all(const char *asker, pmix_rank_t rank, size_t bytes,
                       struct sx_spawn_share *shares, size_t *count)
{
    const pmix_proc_t proc = proc_of(asker, rank);
    size_t got = 0;

    while (sx_spawn_share_take(asker, &proc, bytes, &shares[*count])) {
        got += bytes;
        (*count)++;
    }
    return got;
}

/* Nine tenths of nine tenths are for the first process, and what an asker leaves is a tenth. */
Test(spawn_share, an_asker_leaves_a_tenth_however_many_processes_it_has)
{
    static struct sx_spawn_share shares[2048];
    const pmix_proc_t other = proc_of("other", 0);
    struct sx_spawn_share share;
    size_t count = 0, got, all;

    all = got = take_all("fat", 0, MIB, shares, &count);
    cr_expect_gt(got, SX_SPAWNS_BYTES_MAX * 8 / 10 - MIB);
    cr_expect_leq(got, SX_SPAWNS_BYTES_MAX * 81 / 100);
    for (pmix_rank_t rank = 1; rank < PROCESSES; rank++) {
        all += take_all("fat", rank, MIB / 16, shares, &count);
    }
    cr_expect_leq(all, SX_SPAWNS_BYTES_MAX * 9 / 10);
    cr_assert(sx_spawn_share_take("other", &other, 3 * MIB, &share), "the last tenth");
    sx_spawn_share_give_back(&share);
    while (count > 0) {
        sx_spawn_share_give_back(&shares[--count]);
    }
    cr_expect_eq(take_all("other", 0, MIB, shares, &count), got, "all has been given back");
    while (count > 0) {
        sx_spawn_share_give_back(&shares[--count]);
    }
}

Test(spawn_share, a_part_is_counted_until_it_goes)
{
    const pmix_proc_t proc = proc_of("fat", 0);
    const size_t most = SX_SPAWNS_BYTES_MAX * 4 / 5;
    struct sx_spawn_share share, part, more;

    cr_assert(sx_spawn_share_take("fat", &proc, most, &share));
    sx_spawn_share_part(&share, most / 2, &part);
    sx_spawn_share_give_back(&share);
    sx_spawn_share_give_back(&share);
    cr_expect_not(sx_spawn_share_take("fat", &proc, most, &more));
    sx_spawn_share_give_back(&part);
    cr_expect(sx_spawn_share_take("fat", &proc, most, &more));
    sx_spawn_share_give_back(&more);
}

Test(spawn_share, a_request_beyond_it_is_not_copied)
{
    char program[] = "true", *word = malloc(4 * MIB), *words[11] = { program };
    const pmix_proc_t parent = proc_of("fat", 0);
    const pmix_app_t app = { .cmd = program, .argv = words, .maxprocs = 1 };
    struct sx_run_request *first, *second, *third;

    memset(word, 'x', 4 * MIB - 1);
    word[4 * MIB - 1] = '\0';
    for (size_t i = 1; i < SX_COUNT(words) - 3; i++) {
        words[i] = word;
    }
    cr_assert_eq(sx_run_request_ask(&first, "fat", &parent, NULL, 0, &app, 1), PMIX_SUCCESS);
    cr_expect_not(first->over_share);
    cr_assert_eq(sx_run_request_ask(&second, "fat", &parent, NULL, 0, &app, 1), PMIX_SUCCESS);
    cr_expect(second->over_share);
    cr_expect_str_eq(second->apps[0].cmd, program);
    cr_expect_null(second->apps[0].argv);
    sx_run_request_free(first);
    cr_assert_eq(sx_run_request_ask(&third, "fat", &parent, NULL, 0, &app, 1), PMIX_SUCCESS);
    cr_expect_not(third->over_share, "the first has gone");
    sx_run_request_free(second);
    sx_run_request_free(third);
    free(word);
}
