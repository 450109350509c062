/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty_test.c - a rank's terminal is as it was asked for, and passes bytes on as they are. */
#include "launch/stdio/pty.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

static pmix_info_t info_of(void *bytes, size_t size)
{
    return (pmix_info_t){ .value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, size } } };
}

Test(run_pty, what_is_written_comes_as_it_is_and_ends)
{
    char got[8] = "";
    int pair[2];

    cr_assert_eq(sx_run_pty_open(pair, NULL, NULL), 0);
    cr_expect_eq(isatty(pair[1]), 1);
    cr_expect_eq(fcntl(pair[0], F_GETFD) & fcntl(pair[1], F_GETFD), FD_CLOEXEC);
    cr_expect_eq(read(pair[0], got, sizeof(got)), -1, "it does not block");
    cr_expect_eq(errno, EAGAIN);
    cr_assert_eq(write(pair[1], "a\nb", 3), 3);
    close(pair[1]);
    cr_expect_eq(read(pair[0], got, sizeof(got)), 3);
    cr_expect_str_eq(got, "a\nb");
    cr_expect_eq(read(pair[0], got, sizeof(got)), -1);
    cr_expect_eq(errno, EIO);
    close(pair[0]);
}

Test(run_pty, settings_and_size_are_those_given)
{
    struct winsize window = { .ws_row = 33, .ws_col = 99 }, its_window;
    struct termios settings, its_settings;
    int pair[2], first[2];

    cr_assert_eq(sx_run_pty_open(first, NULL, NULL), 0);
    cr_assert_eq(tcgetattr(first[1], &settings), 0);
    settings.c_lflag &= ~(tcflag_t)ECHO;
    settings.c_oflag |= OPOST;
    const pmix_info_t termio = info_of(&settings, sizeof(settings)),
                      size = info_of(&window, sizeof(window));

    cr_assert_eq(sx_run_pty_open(pair, &termio, &size), 0);
    cr_assert_eq(tcgetattr(pair[1], &its_settings), 0);
    cr_expect_eq(its_settings.c_lflag, settings.c_lflag);
    cr_expect_eq(its_settings.c_oflag, settings.c_oflag);
    cr_assert_eq(ioctl(pair[1], TIOCGWINSZ, &its_window), 0);
    cr_expect(its_window.ws_row == 33 && its_window.ws_col == 99);
    for (int i = 0; i < 2; i++) {
        close(pair[i]);
        close(first[i]);
    }
}

/* There is room for one end, and not for the other one. */
Test(run_pty, nothing_is_left_of_one_that_cannot_be)
{
    struct rlimit before, limit;
    int pair[2] = { -1, -1 };
    const int next = dup(STDIN_FILENO);

    cr_assert_geq(next, 0);
    close(next);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){ .rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max };
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const int why = sx_run_pty_open(pair, NULL, NULL), again = dup(STDIN_FILENO);

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_expect_eq(why, EMFILE);
    cr_expect_eq(again, next);
    cr_expect(pair[0] == -1 && pair[1] == -1);
    close(again);
}

Test(run_pty, a_value_of_another_size_is_none)
{
    struct winsize window;
    const pmix_info_t size = info_of(&window, sizeof(window)), less = info_of(&window, 7),
                      nothing = info_of(NULL, sizeof(window)),
                      other = { .value = { .type = PMIX_STRING,
                                           .data.bo = { (char *)&window, sizeof(window) } } };

    cr_expect(sx_run_pty_size_fits(NULL) && sx_run_pty_size_fits(&size));
    cr_expect_not(sx_run_pty_size_fits(&less));
    cr_expect_not(sx_run_pty_size_fits(&nothing));
    cr_expect_not(sx_run_pty_size_fits(&other));
    cr_expect(sx_run_pty_termio_fits(NULL));
    cr_expect_not(sx_run_pty_termio_fits(&size));
}
