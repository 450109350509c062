/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawned_test.c - what is said of spawned jobs: how far a start is, once a period; lines that ranks
 * cause, up to a bound; and who may have one more. */
#include "launch/job/state.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/common/say.h"
#include "launch/job/record.h"

#define BEGIN_NS 1000
#define LINES 64 /* in a minute */

static struct sx_run_record record;
static const struct sx_run_setup setup = { .record = &record };
static struct sx_run_state run = { .setup = &setup };
static int out_fd;

/* Return: what has been said since. */
static const char *said(void)
{
    static char text[256];
    const ssize_t got = read(out_fd, text, sizeof(text) - 1);

    text[got < 0 ? 0 : got] = '\0';
    return text;
}

static void open_all(void)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
    out_fd = pair[0];
    cr_assert_eq(sx_run_loop_init(&run.loop), 0);
    cr_assert_eq(sx_run_sink_init(&run.sinks[1], &run.loop, pair[1]), 0);
    run.sink_of[1] = &run.sinks[1];
    sx_say_set_name("shmix run");
}

static void close_all(void)
{
    sx_run_sink_deinit(&run.sinks[1]);
    sx_run_loop_deinit(&run.loop);
}

Test(run_child, a_text_of_a_rank_is_neither_a_second_line_nor_an_escape)
{
    open_all();
    sx_run_say(&run, "cannot spawn '%s'", "a\nshmix run: \x1b[31m\tb\x7f\xc2\x9b \xc3\xbc");
    cr_expect_str_eq(said(), "shmix run: cannot spawn 'a shmix run: ?[31m b??? \xc3\xbc'\n");
    close_all();
}

Test(run_child, lines_that_ranks_cause_have_a_bound_and_those_left_out_are_counted)
{
    struct sx_run_request request = { .said.progress = true };
    struct sx_run_job child = { .run = &run, .request = &request }, first = { .run = &run };

    open_all();
    for (int i = 0; i < LINES; i++) {
        (i % 2 == 0 ? sx_run_say_caused(&run, "%d", i) : sx_run_say_of(&child, "%d", i));
        cr_expect_str_neq(said(), "", "line %d", i);
    }
    sx_run_say_caused(&run, "one more");
    cr_expect_str_eq(said(), "shmix run: ranks have caused 64 lines in 60 s: more are counted "
                             "(SHMIX_LOG_LINES)\n");
    sx_run_say_of(&child, "one more");
    cr_expect_str_eq(said(), "");
    sx_run_say_of(&first, "of the command line");
    cr_expect_str_eq(said(), "shmix run: of the command line\n");
    sx_run_caused_end(&run);
    cr_expect_str_eq(said(), "shmix run: 2 lines that ranks caused were left out\n");
    sx_run_caused_end(&run);
    cr_expect_str_eq(said(), "");
    close_all();
}

#define MANY 230

/* Nine tenths of the 255 that the other one leaves are 229. */
Test(run_child, a_job_of_the_command_line_leaves_the_last_tenth_of_the_jobs_to_others)
{
    static char busy[] = "s.0", idle[] = "s.1";
    static struct sx_run_job all[MANY + 1];
    static struct sx_run_job *at[MANY + 1];
    const struct sx_run_machine machine = { .cpu_count = 1 };
    const struct sx_run_setup with_machine = { .record = &record, .machine = &machine };
    struct sx_run_jobs jobs = { .at = at };
    struct sx_run_request request = { .over_pmi1 = false };
    char message[SX_RUN_MESSAGE_MAX] = "";

    run.setup = &with_machine;
    run.jobs = &jobs;
    for (uint32_t i = 0; i <= MANY; i++) {
        all[i] = (struct sx_run_job){ .nspace = i == 0 ? idle : busy, .root = NULL };
        at[i] = &all[i];
    }
    jobs.count = MANY;
    cr_expect_eq(sx_run_child_room(&run, &request, &all[1], message),
                 PMIX_ERR_JOB_INSUFFICIENT_RESOURCES);
    cr_expect_not_null(strstr(message, "share"), "%s", message);
    cr_expect_eq(sx_run_child_room(&run, &request, &all[0], message), PMIX_SUCCESS,
                 "the other one: %s", message);
    jobs.count--;
    cr_expect_eq(sx_run_child_room(&run, &request, &all[1], message), PMIX_SUCCESS, "%s", message);
    jobs.count++;
    all[0].state = SX_RUN_OVER;
    cr_expect_eq(sx_run_child_room(&run, &request, &all[1], message), PMIX_SUCCESS,
                 "nobody else is there: %s", message);
    run.setup = &setup;
    run.jobs = NULL;
}

Test(run_child, how_far_it_is_is_notified_once_a_period)
{
    char name[] = "job 1";
    struct sx_run_request request = { .said.progress = true };
    struct sx_run_job job = {
        .run = &run, .request = &request, .name = name, .rank_count = 9, .spawned = 3, .alive = 3
    };

    open_all();
    sx_run_child_progress(&job, BEGIN_NS);
    cr_expect_str_eq(said(), "", "it has just begun");
    sx_run_child_progress(&job, BEGIN_NS + SX_NS_PER_SEC);
    cr_expect_str_eq(said(), "shmix run: job 1: 3 of 9 ranks are up\n");
    job.spawned = job.alive = 8;
    sx_run_child_progress(&job, BEGIN_NS + 2 * SX_NS_PER_SEC - 1);
    cr_expect_str_eq(said(), "", "not yet");
    sx_run_child_progress(&job, BEGIN_NS + 2 * SX_NS_PER_SEC);
    cr_expect_str_eq(said(), "shmix run: job 1: 8 of 9 ranks are up\n");
    job.spawned = job.alive = 9;
    sx_run_child_progress(&job, BEGIN_NS + 8 * SX_NS_PER_SEC);
    cr_expect_str_eq(said(), "", "all are");
    job.spawned = job.alive = 8;
    request.said.progress = false;
    sx_run_child_progress(&job, BEGIN_NS + 9 * SX_NS_PER_SEC);
    cr_expect_str_eq(said(), "", "nobody wants to know");
    close_all();
}
