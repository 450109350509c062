/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* metrics.c - the sample of `shmix top` as OpenMetrics text, on stdout or in a file of a
 * collector. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cli/ls/ls.h"
#include "cli/top/top.h"
#include "launch/common/file.h"
#include "launch/common/say.h"

static int file_write(const struct sx_top_sample *sample, const char *path)
{
    struct sx_replace replace;

    if (sx_replace_open(&replace, path)) {
        sx_top_metrics(sample, replace.out);
        if (sx_replace_end(&replace)) {
            return 0;
        }
    }
    sx_say("cannot write '%.255s' (%s); a file is as it was", path, sx_file_cause(errno));
    return SX_EXIT_FAILURE;
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
        signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
        sx_top_metrics(&sample, stdout);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            sx_say("cannot write to stdout (%s)", strerror(errno));
            code = SX_EXIT_FAILURE;
        }
    }
    sx_top_free(&sample);
    return code;
}
