/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input_test.c - every reader gets every byte, at the pace of the slowest. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/common/say.h"
#include "launch/stdio/input.h"
#include "unit/launch/turn.h"

#define READERS 3
#define BIG 1000003u

static struct sx_run_loop loop;
static struct sx_run_input input;
static int from_input[READERS]; /* reading ends */

static char byte_at(size_t at)
{
    return (char)(at * 31 + at / 257);
}

static void open_input(int fd)
{
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(sx_run_loop_init(&loop), 0);
    sx_run_input_init(&input, &loop, fd, READERS);
    for (int i = 0; i < READERS; i++) {
        int pair[2];

        cr_assert_eq(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
        from_input[i] = pair[0];
        sx_run_input_add(&input, pair[1]);
    }
    sx_run_input_start(&input);
}

/* Read what is there for @reader and check it.  Return: false at the end of its input. */
static bool take(int reader, size_t *at)
{
    char bytes[4096];
    ssize_t got;

    while ((got = read(from_input[reader], bytes, sizeof(bytes))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            cr_assert_eq(bytes[i], byte_at(*at + (size_t)i), "reader %d at %zu", reader, *at);
        }
        *at += (size_t)got;
    }
    return got != 0;
}

static void expect_copies(size_t size)
{
    size_t at[READERS] = { 0 };
    bool open[READERS] = { true, true, true };

    while (open[0] || open[1] || open[2]) {
        turn(&loop, 10);
        for (int i = 0; i < READERS; i++) {
            open[i] = open[i] && take(i, &at[i]);
        }
    }
    for (int i = 0; i < READERS; i++) {
        cr_expect_eq(at[i], size, "reader %d got %zu", i, at[i]);
    }
}

Test(run_input, a_file_reaches_all_readers, .timeout = 120)
{
    FILE *file = tmpfile();

    cr_assert_not_null(file);
    for (size_t i = 0; i < BIG; i++) {
        fputc(byte_at(i), file);
    }
    rewind(file);
    cr_assert_eq(lseek(fileno(file), 0, SEEK_SET), 0);
    open_input(fileno(file));
    expect_copies(BIG);
    sx_run_input_deinit(&input);
}

Test(run_input, a_pipe_reaches_all_readers, .timeout = 120)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    if (fork() == 0) {
        close(pair[0]);
        for (size_t i = 0; i < BIG; i++) {
            const char byte = byte_at(i);

            if (i < 1000) {
                (void)!write(pair[1], &byte, 1);
                continue;
            }
            static char rest[BIG];
            for (; i < BIG; i++) {
                rest[i] = byte_at(i);
            }
            for (size_t off = 1000; off < BIG;) {
                const ssize_t n = write(pair[1], rest + off, BIG - off);

                off += n > 0 ? (size_t)n : 0;
            }
        }
        _exit(0);
    }
    close(pair[1]);
    open_input(pair[0]);
    expect_copies(BIG);
    sx_run_input_deinit(&input);
}

Test(run_input, the_slowest_sets_the_pace, .timeout = 120)
{
    static char zeros[65536];
    size_t written = 0;
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    open_input(pair[0]);
    /* Two readers drain all they get, the third reads nothing: the source backs up in the end. */
    for (int idle = 0; idle < 100;) {
        const ssize_t n = write(pair[1], zeros, sizeof(zeros));
        char bytes[65536];

        written += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        turn(&loop, 0);
        while (read(from_input[0], bytes, sizeof(bytes)) > 0 ||
               read(from_input[1], bytes, sizeof(bytes)) > 0) {
        }
        cr_assert_lt(written, 64u << 20, "nothing holds the source back");
    }
    /* The slow one goes away: the others get the rest. */
    close(from_input[2]);
    for (int moved = 0; moved < 2;) {
        cr_assert(turn(&loop, 20000));
        for (int i = 0; i < 2; i++) {
            char bytes[65536];

            moved += read(from_input[i], bytes, sizeof(bytes)) > 0;
        }
    }
    sx_run_input_deinit(&input);
}

Test(run_input, nobody_left_reads_no_more, .timeout = 60)
{
    int pair[2], left = 0;

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    open_input(pair[0]);
    for (int i = 0; i < READERS; i++) {
        close(from_input[i]);
    }
    cr_assert_eq(write(pair[1], "x", 1), 1);
    for (int i = 0; i < 10 && input.reading; i++) {
        turn(&loop, 20000);
    }
    cr_expect_eq(input.live, 0);
    cr_expect_not(input.reading);
    cr_assert_eq(write(pair[1], "y", 1), 1);
    turn(&loop, 0);
    cr_expect_eq(ioctl(pair[0], FIONREAD, &left), 0);
    cr_expect_eq(left, 1, "nothing is read");
    sx_run_input_deinit(&input);
    sx_run_input_deinit(&input);
}

/* ---- a terminal ------------------------------------------------------------------------------ */

/* What @fd brings next, a byte. */
static char byte_from(int fd)
{
    char byte = '\0';

    return read(fd, &byte, 1) == 1 ? byte : '\0';
}

/* The time to poll the terminal has come. */
static void look_now(void)
{
    sx_timer_remove(&input.look);
    input.look.fn(input.look.arg, 0);
}

/* A job in the background of the terminal @tty.  It says when it has been refused a read, and reads
 * on in the front, though no signal tells it.  Return: an exit code. */
static int be_job(int tty, int to_shell, int from_shell)
{
    char got[8] = "";
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTTIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    open_input(tty);
    while (!sx_run_is_awaited(&input.look)) {
        turn(&loop, 10);
    }
    look_now();
    if (input.reading || !sx_run_is_awaited(&input.look)) {
        return 2; /* it is still behind */
    }
    if (write(to_shell, "r", 1) != 1 || byte_from(from_shell) != 'f') {
        return 3;
    }
    look_now();
    while (read(from_input[0], got, sizeof(got) - 1) <= 0) {
        turn(&loop, 10);
    }
    return strcmp(got, "word\n") == 0 && !sx_run_is_awaited(&input.look) ? 0 : 5;
}

/* A shell, to which "fg" is typed while its job is in the background.  Return: an exit code. */
static int be_shell(int terminal, int tty)
{
    int to_shell[2], to_job[2], status = 0;
    char typed[8];
    pid_t job;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody stays behind a test that has failed */
    if (setsid() < 0 || ioctl(tty, TIOCSCTTY, 0) != 0 || pipe(to_shell) != 0 || pipe(to_job) != 0 ||
        signal(SIGTTOU, SIG_IGN) == SIG_ERR) {
        return 10;
    }
    job = fork();
    if (job == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0);
        _exit(be_job(tty, to_shell[1], to_job[0]));
    }
    setpgid(job, job);
    close(to_shell[1]);
    if (write(terminal, "fg\n", 3) != 3) {
        return 11;
    }
    if (byte_from(to_shell[0]) == 'r' &&
        (read(tty, typed, sizeof(typed)) != 3 || tcsetpgrp(tty, job) != 0 ||
         write(terminal, "word\n", 5) != 5 || write(to_job[1], "f", 1) != 1)) {
        return 12;
    }
    return waitpid(job, &status, 0) == job && WIFEXITED(status) ? WEXITSTATUS(status) : 13;
}

Test(run_input, a_terminal_is_read_again_in_the_front, .timeout = 120)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    int status = 0;

    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        cr_skip_test("no pseudo terminal");
    }
    const int tty = open(ptsname(terminal), O_RDWR | O_NOCTTY);

    cr_assert(tty >= 0);
    const pid_t shell = fork();

    if (shell == 0) {
        _exit(be_shell(terminal, tty));
    }
    cr_assert_eq(waitpid(shell, &status, 0), shell);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", (unsigned)status);
}

/* ---- what is pushed comes whole, in order, to its targets; the pusher has one answer --------- */

#define PUSH_BIG 200003u /* several times what a pipe holds */

/* A with three ranks, B with one, and C whose rank has no input. */
enum { A_0, A_1, A_2, B_0, FEEDS };

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
static bool push_take(int fd, char *text, size_t room)
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
    char *const sent = sx_cli_calloc(PUSH_BIG + 4, 1), *const came = sx_cli_calloc(PUSH_BIG + 4, 1);
    size_t at = 0;
    ssize_t got;

    sent[0] = '<';
    for (size_t i = 1; i <= PUSH_BIG; i++) {
        sent[i] = (char)(i * 31 + i / 257);
    }
    sent[PUSH_BIG + 1] = '>';
    push(&target, sent, 1, &first);
    push(&target, sent + 1, PUSH_BIG, &big);
    push(&target, sent + 1 + PUSH_BIG, 1, &last);
    expect_answer(&first, PMIX_SUCCESS, "what has room");
    cr_expect_eq(big.count + last.count, 0, "there is no room for it");
    push(&target, NULL, 0, &the_end);
    while ((got = read(from[A_1], came + at, PUSH_BIG + 4 - at)) != 0) {
        if (got > 0) {
            at += (size_t)got;
        } else {
            cr_assert_eq(errno, EAGAIN);
            cr_assert(turn(&loop, 20000), "at %zu nobody waits for room", at);
        }
    }
    cr_expect_eq(at, PUSH_BIG + 2);
    cr_expect_eq(memcmp(sent, came, PUSH_BIG + 2), 0);
    expect_answer(&big, PMIX_SUCCESS, "what has waited");
    expect_answer(&last, PMIX_SUCCESS, "what is behind it");
    expect_answer(&the_end, PMIX_SUCCESS, "the end");
    free(sent);
    free(came);
}

Test(run_push, room_is_not_waited_for_where_nothing_is_left)
{
    const pmix_proc_t target = proc_of("B", 0);
    static char big[PUSH_BIG], rest[PUSH_BIG + 1];
    struct answer answer = { 0 };

    push(&target, big, sizeof(big), &answer);
    while (answer.count == 0) {
        cr_assert(push_take(from[B_0], rest, sizeof(rest)));
        cr_assert(turn(&loop, 20000));
    }
    cr_assert(push_take(from[B_0], rest, sizeof(rest)));
    turn(&loop, 0);
    cr_expect_eq(answer.count, 1);
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

            cr_expect(push_take(from[feed], text, sizeof(text)), "%s", rows[i].why);
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
    cr_expect_not(push_take(from[A_1], text, sizeof(text)));
    cr_expect_str_eq(text, "x");
    from[A_0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

Test(run_push, who_waits_is_answered_when_the_input_is_closed)
{
    static const char big[PUSH_BIG];
    static char came[PUSH_BIG + 1];
    const pmix_proc_t everybody = proc_of("A", PMIX_RANK_WILDCARD);
    struct answer waits = { 0 }, behind = { 0 };

    push(&everybody, big, sizeof(big), &waits);
    push(&everybody, "x", 1, &behind);
    for (int i = A_0; i <= A_2; i++) {
        cr_expect_eq(waits.count + behind.count, 0, "one of them still has an input");
        ranks[i].feed = sx_run_feed_free(ranks[i].feed);
        cr_expect_not(push_take(from[i], came, sizeof(came)), "there is more than it has read");
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
