/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* push_test.c - what is pushed comes whole, in its order, to whom it is for and nobody else; and
 * who pushes hears of it once, when all have it. */
#include "launch/stdio/push.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"

#define BIG 200003u /* several times what a pipe holds */

/* A with three ranks, B with one, and C whose rank has no input. */
enum { A_0, A_1, A_2, B_0, FEEDS };

static struct sx_run_loop loop;
static struct sx_run_rank ranks[FEEDS + 1];
static char name_a[] = "A", name_b[] = "B", name_c[] = "C";
static struct sx_run_job job_a = { .nspace = name_a, .ranks = &ranks[A_0], .spawned = 3 },
                         job_b = { .nspace = name_b, .ranks = &ranks[B_0], .spawned = 1 },
                         job_c = { .nspace = name_c, .ranks = &ranks[FEEDS], .spawned = 1 };
static struct sx_run_job *all[] = { &job_a, &job_b, &job_c };
static const struct sx_run_jobs jobs = { .at = all, .count = SX_COUNT(all) };
static int from[FEEDS]; /* reading ends */

struct answer {
    unsigned count;
    pmix_status_t status;
};

static void begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(sx_run_loop_init(&loop), 0);
    for (int i = 0; i < FEEDS; i++) {
        int pair[2];

        cr_assert_eq(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
        from[i] = pair[0];
        ranks[i].feed = sx_run_feed_new(&loop, pair[1]);
    }
}

static void end(void)
{
    for (int i = 0; i < FEEDS; i++) {
        ranks[i].feed = sx_run_feed_free(ranks[i].feed);
        close(from[i]);
    }
    sx_run_loop_deinit(&loop);
}

TestSuite(run_push, .init = begin, .fini = end, .timeout = 60);

static void on_answer(pmix_status_t status, void *arg)
{
    struct answer *const answer = arg;

    answer->count++;
    answer->status = status;
}

static pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

/* @size 0: the end. */
static struct sx_run_push *push_new(const pmix_proc_t *targets, size_t count, const char *bytes,
                                    size_t size, struct answer *answer)
{
    const pmix_byte_object_t bo = { .bytes = (char *)(uintptr_t)bytes, .size = size };
    const pmix_info_t complete = { .key = PMIX_IOF_COMPLETE,
                                   .value = { .type = PMIX_BOOL, .data.flag = true } };
    struct sx_run_push *push;

    cr_assert_eq(sx_run_push_new(&push, targets, count, &complete, size == 0, &bo, on_answer,
                                 answer),
                 PMIX_SUCCESS);
    return push;
}

static void push(const pmix_proc_t *target, const char *bytes, size_t size, struct answer *answer)
{
    sx_run_push_deal(&jobs, push_new(target, 1, bytes, size, answer));
}

/* All that is there, as a text.  Return: false at the end. */
static bool take(int fd, char *text, size_t room)
{
    size_t used = 0;
    ssize_t got;

    while ((got = read(fd, text + used, room - 1 - used)) > 0) {
        used += (size_t)got;
    }
    text[used] = '\0';
    return got < 0;
}

static void expect_answer(const struct answer *answer, pmix_status_t status, const char *why)
{
    cr_expect_eq(answer->count, 1, "%s: answered %u times", why, answer->count);
    cr_expect_eq(answer->status, status, "%s: %s", why, PMIx_Error_string(answer->status));
}

/* The first piece is short, so that the pipe takes a part of another one; and each that waits is
 * behind those that came before. */
Test(run_push, bytes_come_whole_and_in_their_order_to_the_end)
{
    const pmix_proc_t target = proc_of("A", 1);
    struct answer first = { 0 }, big = { 0 }, last = { 0 }, the_end = { 0 };
    char *const sent = sx_cli_calloc(BIG + 4, 1), *const came = sx_cli_calloc(BIG + 4, 1);
    size_t at = 0;
    ssize_t got;

    sent[0] = '<';
    for (size_t i = 1; i <= BIG; i++) {
        sent[i] = (char)(i * 31 + i / 257);
    }
    sent[BIG + 1] = '>';
    push(&target, sent, 1, &first);
    push(&target, sent + 1, BIG, &big);
    push(&target, sent + 1 + BIG, 1, &last);
    expect_answer(&first, PMIX_SUCCESS, "what has room");
    cr_expect_eq(big.count + last.count, 0, "there is no room for it");
    push(&target, NULL, 0, &the_end);
    while ((got = read(from[A_1], came + at, BIG + 4 - at)) != 0) {
        if (got > 0) {
            at += (size_t)got;
        } else {
            cr_assert_eq(errno, EAGAIN);
            cr_assert_eq(sx_run_loop_turn(&loop, 0), 1, "at %zu nobody waits for room", at);
        }
    }
    cr_expect_eq(at, BIG + 2);
    cr_expect_eq(memcmp(sent, came, BIG + 2), 0);
    expect_answer(&big, PMIX_SUCCESS, "what has waited");
    expect_answer(&last, PMIX_SUCCESS, "what is behind it");
    expect_answer(&the_end, PMIX_SUCCESS, "the end");
    free(sent);
    free(came);
}

Test(run_push, room_is_not_waited_for_where_nothing_is_left)
{
    const pmix_proc_t target = proc_of("B", 0);
    static char big[BIG], rest[BIG + 1];
    struct answer answer = { 0 };

    push(&target, big, sizeof(big), &answer);
    while (answer.count == 0) {
        cr_assert(take(from[B_0], rest, sizeof(rest)));
        cr_assert_eq(sx_run_loop_turn(&loop, 0), 1);
    }
    cr_assert(take(from[B_0], rest, sizeof(rest)));
    cr_expect_eq(sx_run_loop_turn(&loop, 0), 0);
}

static const struct {
    const char *why;
    pmix_proc_t targets[3];
    size_t count;
    const char *want[FEEDS];
    pmix_status_t status;
} rows[] = {
    { "one", { { "A", 1 } }, 1, { "", "x", "", "" }, PMIX_SUCCESS },
    { "the first", { { "A", 0 } }, 1, { "x", "", "", "" }, PMIX_SUCCESS },
    { "all", { { "A", PMIX_RANK_WILDCARD } }, 1, { "x", "x", "x", "" }, PMIX_SUCCESS },
    { "another job", { { "B", 0 } }, 1, { "", "", "", "x" }, PMIX_SUCCESS },
    { "of two jobs", { { "B", 0 }, { "A", 2 } }, 2, { "", "", "x", "x" }, PMIX_SUCCESS },
    { "twice the same",
      { { "A", 2 }, { "A", PMIX_RANK_WILDCARD }, { "A", 2 } },
      3,
      { "x", "x", "x", "" },
      PMIX_SUCCESS },
    { "one is there", { { "A", 3 }, { "A", 0 } }, 2, { "x", "", "", "" }, PMIX_SUCCESS },
    { "no such rank", { { "A", 3 } }, 1, { "", "", "", "" }, PMIX_ERR_NOT_FOUND },
    { "no such job", { { "D", 0 } }, 1, { "", "", "", "" }, PMIX_ERR_NOT_FOUND },
    { "no input", { { "C", 0 } }, 1, { "", "", "", "" }, PMIX_ERR_NOT_FOUND },
};

Test(run_push, those_who_are_meant_have_it_once_and_nobody_else)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct answer answer = { 0 };

        sx_run_push_deal(&jobs, push_new(rows[i].targets, rows[i].count, "x", 1, &answer));
        expect_answer(&answer, rows[i].status, rows[i].why);
        for (int feed = 0; feed < FEEDS; feed++) {
            char text[8];

            cr_expect(take(from[feed], text, sizeof(text)), "%s", rows[i].why);
            cr_expect_str_eq(text, rows[i].want[feed], "%s: %d", rows[i].why, feed);
        }
    }
}

Test(run_push, input_that_nobody_reads_is_complete)
{
    const pmix_proc_t everybody = proc_of("A", PMIX_RANK_WILDCARD), first = proc_of("A", 0);
    struct answer answers[5] = { 0 };
    char text[8];

    close(from[A_0]);
    push(&first, "x", 1, &answers[0]);
    expect_answer(&answers[0], PMIX_ERR_IOF_COMPLETE, "it has closed its own");
    push(&everybody, "x", 1, &answers[1]);
    expect_answer(&answers[1], PMIX_SUCCESS, "others have it");
    push(&everybody, NULL, 0, &answers[2]);
    expect_answer(&answers[2], PMIX_SUCCESS, "the end");
    push(&everybody, "y", 1, &answers[3]);
    expect_answer(&answers[3], PMIX_ERR_IOF_COMPLETE, "behind the end");
    cr_expect_not(take(from[A_1], text, sizeof(text)));
    cr_expect_str_eq(text, "x");
    from[A_0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

Test(run_push, who_waits_is_answered_when_the_input_is_closed)
{
    static const char big[BIG];
    static char came[BIG + 1];
    const pmix_proc_t everybody = proc_of("A", PMIX_RANK_WILDCARD);
    struct answer waits = { 0 }, behind = { 0 };

    push(&everybody, big, sizeof(big), &waits);
    push(&everybody, "x", 1, &behind);
    for (int i = A_0; i <= A_2; i++) {
        cr_expect_eq(waits.count + behind.count, 0, "one of them still has an input");
        ranks[i].feed = sx_run_feed_free(ranks[i].feed);
        cr_expect_not(take(from[i], came, sizeof(came)), "there is more than it has read");
    }
    expect_answer(&waits, PMIX_ERR_IOF_COMPLETE, "none has it whole");
    expect_answer(&behind, PMIX_ERR_IOF_COMPLETE, "behind it");
}

Test(run_push, nobody_is_answered_by_a_server_that_has_ended)
{
    const pmix_proc_t first = proc_of("A", 0);
    struct answer answer = { 0 };

    sx_run_push_end(push_new(&first, 1, "x", 1, &answer), PMIX_ERR_JOB_CANCELED, false);
    cr_expect_eq(answer.count, 0);
    sx_run_push_end(push_new(&first, 1, "x", 1, &answer), PMIX_ERR_JOB_CANCELED, true);
    expect_answer(&answer, PMIX_ERR_JOB_CANCELED, "the launcher ends");
}
