/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input_test.c - every reader gets every byte, at the pace of the slowest. */
#include "launch/stdio/input.h"

#include <criterion/criterion.h>
#include <fcntl.h>
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
        sx_run_loop_turn(&loop, 10);
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
        sx_run_loop_turn(&loop, 0);
        while (read(from_input[0], bytes, sizeof(bytes)) > 0 ||
               read(from_input[1], bytes, sizeof(bytes)) > 0) {
        }
        cr_assert_lt(written, 64u << 20, "nothing holds the source back");
    }
    /* The slow one goes away: the others get the rest. */
    close(from_input[2]);
    for (int moved = 0; moved < 2;) {
        cr_assert(sx_run_loop_turn(&loop, 20000) > 0);
        for (int i = 0; i < 2; i++) {
            char bytes[65536];

            moved += read(from_input[i], bytes, sizeof(bytes)) > 0;
        }
    }
    sx_run_input_deinit(&input);
}

Test(run_input, nobody_left_reads_no_more, .timeout = 60)
{
    int pair[2];

    cr_assert_eq(pipe2(pair, O_CLOEXEC), 0);
    open_input(pair[0]);
    for (int i = 0; i < READERS; i++) {
        close(from_input[i]);
    }
    cr_assert_eq(write(pair[1], "x", 1), 1);
    for (int i = 0; i < 10 && input.reading; i++) {
        sx_run_loop_turn(&loop, 20000);
    }
    cr_expect_eq(input.live, 0);
    cr_expect_not(input.reading);
    cr_assert_eq(write(pair[1], "y", 1), 1);
    cr_expect_eq(sx_run_loop_turn(&loop, 0), 0);
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
    while (sx_run_input_deadline_ns(&input) == SX_DEADLINE_NEVER) {
        sx_run_loop_turn(&loop, 10);
    }
    sx_run_input_check(&input, sx_run_input_deadline_ns(&input));
    if (input.reading || sx_run_input_deadline_ns(&input) == SX_DEADLINE_NEVER) {
        return 2; /* it is still behind */
    }
    if (write(to_shell, "r", 1) != 1 || byte_from(from_shell) != 'f') {
        return 3;
    }
    sx_run_input_check(&input, sx_run_input_deadline_ns(&input) - 1);
    if (input.reading) {
        return 4; /* it is not time yet */
    }
    sx_run_input_check(&input, sx_run_input_deadline_ns(&input));
    while (read(from_input[0], got, sizeof(got) - 1) <= 0) {
        sx_run_loop_turn(&loop, 10);
    }
    return strcmp(got, "word\n") == 0 && sx_run_input_deadline_ns(&input) == SX_DEADLINE_NEVER ? 0
                                                                                               : 5;
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
