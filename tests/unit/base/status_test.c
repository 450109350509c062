/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* status_test.c - raising keeps status and errno and says where; a broken invariant ends it all. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

/* What stderr gets while @body runs, as a string. */
static size_t capture(void (*body)(void), char *text, size_t size)
{
    int ends[2], saved = dup(STDERR_FILENO);
    ssize_t got;

    cr_assert_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);
    got = read(ends[0], text, size - 1);
    close(ends[0]);
    text[got < 0 ? 0 : got] = '\0';
    return got < 0 ? 0 : (size_t)got;
}

static void raise_timeout(void)
{
    errno = ENOENT;
    cr_assert_eq(SX_RAISE(PMIX_ERR_TIMEOUT, "waited for %d", 7), PMIX_ERR_TIMEOUT);
    cr_assert_eq(errno, ENOENT);
}

Test(status, raise_says_what_and_no_more)
{
    char text[2048], want[64];

    unsetenv("SHMIX_LOG");
    sx_log_set_name("tester");
    cr_assert_gt(capture(raise_timeout, text, sizeof(text)), 0u);
    snprintf(want, sizeof(want), "shmix[%d] error: waited for 7\n", (int)getpid());
    cr_assert_str_eq(text, want);
}

Test(status, raise_says_where_at_level_debug)
{
    char text[2048];

    setenv("SHMIX_LOG", "debug", 1);
    sx_log_set_name("tester");
    cr_assert_gt(capture(raise_timeout, text, sizeof(text)), 0u);
    cr_assert_not_null(strstr(text, "error: waited for 7 (raise_timeout, status_test.c:"));
    cr_assert_not_null(strstr(text, ", PMIX_ERR_TIMEOUT -24)\n"));
    cr_assert_eq(strchr(text, '\n'), text + strlen(text) - 1, "one line");
}

static bool is_digits(const char *text, size_t len)
{
    return strspn(text, "0123456789") >= len;
}

/* Such a log is read as a story: when, which process, which part of the job. */
Test(status, lines_of_a_detailed_log_have_a_time_and_a_speaker)
{
    char text[2048], want[64];

    setenv("SHMIX_LOG", "info", 1);
    sx_log_set_name("rank 3");
    cr_assert_gt(capture(raise_timeout, text, sizeof(text)), 0u);
    snprintf(want, sizeof(want), "Z shmix[%d rank 3] error: ", (int)getpid());
    cr_assert_eq(strstr(text, want), text + strlen("hh:mm:ss.mmm"), "%s", text);
    cr_assert(is_digits(text, 2) && text[2] == ':' && is_digits(text + 3, 2) && text[5] == ':' &&
                  is_digits(text + 6, 2) && text[8] == '.' && is_digits(text + 9, 3),
              "%s", text);
}

Test(status, raise_is_silent_when_notified_so)
{
    char text[2048];

    setenv("SHMIX_LOG", "none", 1);
    cr_assert_eq(capture(raise_timeout, text, sizeof(text)), 0);
}

static void log_long(void)
{
    char text[3000];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    sx_log(SX_LOG_WARN, "first\nsecond %s", text);
}

Test(status, a_long_line_is_cut_and_stays_one_line)
{
    char text[8192];
    size_t len;

    setenv("SHMIX_LOG", "WARN", 1);
    len = capture(log_long, text, sizeof(text));
    cr_assert_eq(len, 1024);
    cr_assert_eq(strchr(text, '\n'), text + len - 1);
}

Test(status, levels_include_those_above)
{
    setenv("SHMIX_LOG", "info", 1);
    cr_assert(sx_log_wants(SX_LOG_ERROR));
    cr_assert(sx_log_wants(SX_LOG_INFO));
    cr_assert_not(sx_log_wants(SX_LOG_DEBUG));
    cr_assert_not(sx_log_wants(SX_LOG_NONE));
}

Test(status, unknown_levels_mean_warn)
{
    setenv("SHMIX_LOG", "loud", 1);
    cr_assert(sx_log_wants(SX_LOG_WARN));
    cr_assert_not(sx_log_wants(SX_LOG_INFO));
}

Test(status, errno_becomes_what_it_means_to_a_caller)
{
    static const struct {
        int err;
        pmix_status_t want;
    } rows[] = {
        { 0, PMIX_SUCCESS },
        { ENOMEM, PMIX_ERR_OUT_OF_RESOURCE },
        { ENOSPC, PMIX_ERR_OUT_OF_RESOURCE },
        { EMFILE, PMIX_ERR_OUT_OF_RESOURCE },
        { EACCES, PMIX_ERR_NO_PERMISSIONS },
        { EPERM, PMIX_ERR_NO_PERMISSIONS },
        { ETIMEDOUT, PMIX_ERR_TIMEOUT },
        { ENOSYS, PMIX_ERR_NOT_SUPPORTED },
        { EOPNOTSUPP, PMIX_ERR_NOT_SUPPORTED },
        { EPIPE, PMIX_ERR_LOST_CONNECTION },
        { ECONNRESET, PMIX_ERR_LOST_CONNECTION },
        { EINVAL, PMIX_ERR_BAD_PARAM },
        { EXDEV, PMIX_ERROR },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_status_from_errno(rows[i].err), rows[i].want, "%s", strerror(rows[i].err));
    }
}

Test(status, a_broken_invariant_aborts, .signal = SIGABRT)
{
    sx_assert(1 + 1 == 3);
}
