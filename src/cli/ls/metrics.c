/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* metrics.c - the sample of `shmix top` as OpenMetrics text, in a file that a collector reads.
 *
 *     FILE.PID --all is written--> renamed to FILE: a reader sees the old text or the new one
 *
 * A file that could not be written is removed, and FILE stays as it was.  A FILE that is a pipe or
 * a device is not replaced: the text is written into it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ls/ls.h"
#include "cli/top/top.h"
#include "launch/common/say.h"

/* Return: false, with errno, when the text could not be written. */
static bool text_write(const struct sx_top_sample *sample, const char *path, int flags)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
    FILE *const out = fd < 0 ? NULL : fdopen(fd, "w");

    if (out == NULL) {
        return false;
    }
    sx_top_metrics(sample, out);
    const bool written = fflush(out) == 0 && !ferror(out);
    const int why = errno;
    const bool closed = fclose(out) == 0;

    errno = written ? errno : why;
    return written && closed;
}

static int file_write(const struct sx_top_sample *sample, const char *path)
{
    char *const real = realpath(path, NULL); /* a link stays one */
    char *const before = sx_cli_printf("%s.%d", real != NULL ? real : path, (int)getpid());
    struct stat st;
    const bool is_file = real == NULL || stat(real, &st) != 0 || S_ISREG(st.st_mode);
    const bool good = is_file ? text_write(sample, before, O_CREAT | O_EXCL) &&
                                    rename(before, real != NULL ? real : path) == 0
                              : text_write(sample, real, 0);

    if (!good) {
        sx_say("cannot write '%.255s' (%s)%s", path, strerror(errno),
               is_file ? "; no part of it was replaced" : "");
        (void)(is_file && unlink(before));
    }
    free(before);
    free(real);
    return good ? 0 : SX_EXIT_FAILURE;
}

int sx_ls_metrics(const struct sx_ls_wish *wish)
{
    struct sx_top_sample sample;
    int code = 0;

    sx_top_take(wish->server, wish->whose.nspace, NULL, &sample);
    if (wish->server != 0 && sample.server_count == 0) {
        code = sx_ls_nobody(wish, sample.denied);
    } else if (wish->metrics_path != NULL) {
        code = file_write(&sample, wish->metrics_path);
    } else {
        sx_top_metrics(&sample, stdout);
        code = fflush(stdout) == 0 && !ferror(stdout) ? 0 : SX_EXIT_FAILURE;
    }
    sx_top_free(&sample);
    return code;
}
