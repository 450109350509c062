/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output_test.c - whole lines, bounded memory, and nothing lost. */
#include "launch/stdio/output.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"
#include "unit/launch/turn.h"

static struct sx_run_loop loop;
static struct sx_run_sink sink;
static struct sx_run_stream streams[2];
static int to_streams[2]; /* writing ends */
static int out_fd;        /* reading end of the sink */
static pid_t pid = 7;
static const struct sx_marks no_marks, tags = { .tag = true };

#define A "[A,3]<out>: " /* the mark of the first stream's lines */

static void open_sink(int write_fd)
{
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(sx_run_loop_init(&loop), 0);
    cr_assert_eq(sx_run_sink_init(&sink, &loop, write_fd), 0);
}

static void open_streams(const struct sx_marks *marks, bool raw)
{
    for (int i = 0; i < 2; i++) {
        int pair[2];

        cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        to_streams[i] = pair[1];
        cr_assert_eq(sx_run_stream_init(&streams[i], &sink, pair[0],
                                        &(struct sx_run_source){ .nspace = i == 0 ? "A" : "B",
                                                                 .host = "here",
                                                                 .name = "out",
                                                                 .rank = 3,
                                                                 .pid = &pid,
                                                                 .marks = marks,
                                                                 .raw = raw }),
                     0);
    }
}

static void setup(void)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    out_fd = pair[0];
    fcntl(out_fd, F_SETFL, O_NONBLOCK);
    open_sink(pair[1]);
}

/* When lines that have not ended are checked. */
static uint64_t show_ns(void)
{
    return sx_run_is_awaited(&sink.show) ? sink.show.deadline_ns : SX_DEADLINE_NEVER;
}

static void show_check(uint64_t now_ns)
{
    if (now_ns >= show_ns()) {
        sx_timer_remove(&sink.show);
        sink.show.fn(sink.show.arg, now_ns);
    }
}

static void feed(int which, const char *text)
{
    sx_run_stream_feed(&streams[which], text, strlen(text));
}

static void expect_out(const char *want)
{
    char got[4096] = "";
    ssize_t n;

    sx_run_sink_flush(&sink);
    n = read(out_fd, got, sizeof(got) - 1);
    got[n < 0 ? 0 : n] = '\0';
    cr_expect_str_eq(got, want);
}

Test(run_output, lines_wait_for_their_end, .init = setup)
{
    open_streams(&no_marks, false);
    feed(0, "hel");
    feed(1, "wor");
    expect_out("");
    feed(1, "ld\n");
    feed(0, "lo\nmore");
    expect_out("world\nhello\n");
    sx_run_stream_deinit(&streams[1]);
    sx_run_stream_deinit(&streams[0]);
    expect_out("more");
}

/* The end of what has been waited for, whatever the clock says. */
static void wait_over(void)
{
    show_check(SX_DEADLINE_NEVER - 1);
}

Test(run_output, a_prompt_is_shown_when_nothing_follows, .init = setup)
{
    open_streams(&no_marks, false);
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER);
    feed(0, "whole\nEnter n : ");
    feed(1, "10 %");
    const uint64_t deadline_ns = show_ns();

    show_check(deadline_ns - 1);
    expect_out("whole\n");
    show_check(deadline_ns);
    expect_out("Enter n : ");
    wait_over();
    expect_out("\n10 %");
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER, "all is shown");
    feed(1, "\r20 %");
    wait_over();
    expect_out("\r20 %");
    feed(1, "\r30 %\nnext");
    feed(0, "42\n");
    expect_out("\r30 %\n42\n");
    sx_run_stream_deinit(&streams[1]);
    sx_run_stream_deinit(&streams[0]);
    expect_out("next");
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER, "a stream that has ended");
}

Test(run_output, a_prompt_has_its_mark_once, .init = setup)
{
    open_streams(&tags, false);
    feed(0, "Enter n : ");
    wait_over();
    feed(0, "got it\nnext ");
    wait_over();
    expect_out(A "Enter n : got it\n" A "next ");
    feed(1, "between\n");
    feed(0, "one\n");
    expect_out("\n[B,3]<out>: between\n" A "one\n");
}

Test(run_output, a_line_whose_end_is_in_the_pipe_stays_whole, .init = setup)
{
    open_streams(&no_marks, false);
    feed(0, "one ");
    cr_assert_eq(write(to_streams[0], "line\nof", 7), 7);
    show_check(show_ns());
    expect_out("one line\n");
    feed(0, " two\n");
    expect_out("of two\n");
    feed(1, "10 %");
    cr_assert_eq(write(to_streams[1], "\r20 %", 5), 5);
    wait_over();
    expect_out("10 %\r20 %");
}

/* A full buffer cuts lines anywhere, and nobody has flushed it. */
Test(run_output, whole_blocks_are_no_prompt, .init = setup)
{
    char block[4096 + 1];

    open_streams(&no_marks, false);
    memset(block, 'b', 4096);
    block[4096] = '\0';
    block[100] = '\n';
    feed(0, block);
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER);
    block[100] = 'b';
    feed(0, block);
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER);
    feed(0, "more");
    cr_expect_neq(show_ns(), SX_DEADLINE_NEVER);
}

Test(run_output, elements_of_xml_are_whole, .init = setup)
{
    open_streams(&(struct sx_marks){ .xml = true }, false);
    feed(0, "Enter n : ");
    cr_expect_eq(show_ns(), SX_DEADLINE_NEVER);
}

Test(run_output, an_unfinished_line_is_ended_before_another_begins, .init = setup)
{
    open_streams(&no_marks, false);
    feed(0, "no newline");
    sx_run_stream_deinit(&streams[0]);
    feed(1, "next\n");
    expect_out("no newline\nnext\n");
}

Test(run_output, tags_stand_before_every_line, .init = setup)
{
    open_streams(&tags, false);
    feed(0, "one\ntwo\nth");
    feed(1, "\n");
    feed(0, "ree");
    sx_run_stream_deinit(&streams[0]);
    expect_out(A "one\n" A "two\n[B,3]<out>: \n" A "three\n");
}

Test(run_output, all_marks_of_a_line, .init = setup)
{
    static const struct {
        const char *why, *want;
        struct sx_marks marks;
    } rows[] = {
        { "rank", "[3]<out>: one\n[3]<out>: two\n", { .rank = true } },
        { "detailed", "[A,3][here:7]<out>: one\n[A,3][here:7]<out>: two\n", { .detailed = true } },
        { "detailed, which is a tag as well",
          "[A,3][here:7]<out>: one\n[A,3][here:7]<out>: two\n",
          { .detailed = true, .tag = true } },
        { "XML",
          "<out nspace=\"A\" rank=\"3\">one</out>\n<out nspace=\"A\" rank=\"3\">two</out>\n",
          { .xml = true } },
        { "XML with all",
          "<out nspace=\"A\" rank=\"3\" process=\"here:7\">one</out>\n"
          "<out nspace=\"A\" rank=\"3\" process=\"here:7\">two</out>\n",
          { .xml = true, .detailed = true } },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        open_streams(&rows[i].marks, true);
        feed(0, "on");
        feed(0, "e\ntw");
        feed(0, "o\n");
        expect_out(rows[i].want);
        sx_run_stream_deinit(&streams[0]);
        sx_run_stream_deinit(&streams[1]);
    }
}

Test(run_output, the_time_stands_before_a_line, .init = setup)
{
    const struct sx_marks stamp = { .stamp = true, .rank = true };
    char got[100] = "";

    open_streams(&stamp, false);
    feed(0, "one\n");
    sx_run_sink_flush(&sink);
    cr_assert_gt(read(out_fd, got, sizeof(got) - 1), 30);
    cr_expect(got[4] == '-' && got[10] == 'T' && got[13] == ':', "%s", got);
    cr_expect_str_eq(got + 24, " [3]<out>: one\n");
}

/* Its mark says whose the rest of the line is. */
Test(run_output, a_line_that_another_has_cut_is_marked_again, .init = setup)
{
    static char most[SX_RUN_LINE_MAX];
    static char got[2 * SX_RUN_LINE_MAX];
    ssize_t size;

    open_streams(&tags, false);
    fcntl(out_fd, F_SETPIPE_SZ, 4 * SX_RUN_LINE_MAX);
    memset(most, 'x', sizeof(most));
    sx_run_stream_feed(&streams[0], most, sizeof(most));
    feed(1, "b\n");
    feed(0, "end\n");
    sx_run_sink_flush(&sink);
    size = read(out_fd, got, sizeof(got) - 1);
    cr_assert_gt(size, (ssize_t)sizeof(most));
    cr_expect_str_eq(got + strlen(A) + sizeof(most), "\n[B,3]<out>: b\n" A "end\n");
}

Test(run_output, a_lone_rank_is_passed_on_as_it_writes, .init = setup)
{
    open_streams(&no_marks, true);
    feed(0, "prompt> ");
    expect_out("prompt> ");
    feed(1, "to stderr, ");
    feed(0, "and on\n");
    expect_out("to stderr, and on\n");
}

Test(run_output, a_line_that_never_ends_is_cut_at_the_bound)
{
    char *long_line = sx_cli_calloc(SX_RUN_LINE_MAX + 1, 1), *got;
    FILE *file = tmpfile();
    size_t size = SX_RUN_LINE_MAX;

    cr_assert_not_null(file);
    open_sink(fileno(file));
    open_streams(&tags, false);
    memset(long_line, 'x', size);
    sx_run_stream_feed(&streams[0], long_line, size - 1);
    cr_expect_eq(sink.used, 0);
    sx_run_stream_feed(&streams[0], long_line, 1);
    sx_run_sink_flush(&sink);
    cr_expect_eq(streams[0].line_used, 0);
    feed(0, "end\n");
    feed(1, "b\n");
    sx_run_sink_flush(&sink);
    got = sx_cli_calloc(size + 100, 1);
    cr_assert_eq(pread(fileno(file), got, size + 99, 0), (ssize_t)(size + 2 * strlen(A) + 6));
    cr_expect_eq(memcmp(got, A "xxx", strlen(A "xxx")), 0);
    cr_expect_str_eq(got + strlen(A) + size, "end\n[B,3]<out>: b\n");
    free(got);
    free(long_line);
    fclose(file);
}

/* Read all that comes until the streams have ended and the sink is empty. */
static size_t pump(size_t stop_at)
{
    static char bytes[65536];
    size_t total = 0;

    while (total < stop_at) {
        const ssize_t got = read(out_fd, bytes, sizeof(bytes));

        if (got > 0) {
            total += (size_t)got;
        } else {
            cr_assert(turn(&loop, 20000), "stuck after %zu bytes", total);
        }
    }
    return total;
}

Test(run_output, a_slow_reader_holds_the_ranks_back, .init = setup, .timeout = 120)
{
    static char line[1000];
    size_t written = 0, turns = 0;

    memset(line, 'y', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\n';
    open_streams(&no_marks, false);
    fcntl(to_streams[0], F_SETFL, O_NONBLOCK);
    while (!sink.paused || turns < 100) {
        const ssize_t n = write(to_streams[0], line, sizeof(line));

        written += n > 0 ? (size_t)n : 0;
        turn(&loop, 0);
        turns += sink.paused;
        cr_assert_lt(written, 16u << 20, "nothing holds the writer back");
    }
    cr_expect_leq(sink.used - sink.head, SX_RUN_QUEUE_HIGH + SX_RUN_LINE_MAX);
    /* Not a byte is lost: a partial write at the end may have cut the last line. */
    close(to_streams[0]);
    cr_expect_geq(pump(written - written % sizeof(line)), written - written % sizeof(line));
    cr_expect_not(sink.paused);
}

Test(run_output, a_reader_that_has_gone_is_an_error_not_a_signal, .init = setup)
{
    open_streams(&no_marks, false);
    close(out_fd);
    feed(0, "to nobody\n");
    sx_run_sink_flush(&sink);
    cr_expect_eq(sink.error, EPIPE);
    feed(0, "more\n");
    sx_run_sink_flush(&sink);
    cr_expect_eq(sink.used, 0);
}

Test(run_output, a_full_disk_is_an_error)
{
    const int fd = open("/dev/full", O_WRONLY);

    if (fd < 0) {
        cr_skip_test("no /dev/full here");
    }
    open_sink(fd);
    open_streams(&no_marks, false);
    feed(0, "x\n");
    sx_run_sink_flush(&sink);
    cr_expect_eq(sink.error, ENOSPC);
}

Test(run_output, sockets_are_written_to_without_blocking, .timeout = 60)
{
    static char line[1000];
    int pair[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    open_sink(pair[0]);
    open_streams(&no_marks, false);
    memset(line, 'z', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < 5000; i++) {
        sx_run_stream_feed(&streams[0], line, sizeof(line));
    }
    sx_run_sink_flush(&sink); /* would hang here */
    cr_expect(sink.armed);
    cr_expect(sink.paused);
}

Test(run_output, the_shared_descriptor_stays_blocking, .init = setup)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    sx_run_sink_deinit(&sink);
    cr_assert_eq(sx_run_sink_init(&sink, &loop, pair[1]), 0);
    cr_expect_eq(fcntl(pair[1], F_GETFL) & O_NONBLOCK, 0);
    cr_expect(sink.out.own);
    sx_run_sink_deinit(&sink);
    sx_run_sink_deinit(&sink);
    cr_expect_neq(fcntl(pair[1], F_GETFD), -1);
}
