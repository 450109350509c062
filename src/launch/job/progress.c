/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* progress.c - counts are compared each turn of the loop; a line is written when they differ. */
#include "launch/job/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/common/say.h"
#include "launch/job/state.h"
#include "launch/pmi/upcall.h"

#define PATIENCE_NS SX_NS_PER_SEC     /* a launch that ends sooner shows nothing */
#define PAUSE_NS (100 * SX_NS_PER_MS) /* between two lines */

void sx_run_progress_init(struct sx_run_progress *progress, bool wanted, uint64_t begin_ns)
{
    *progress = (struct sx_run_progress){ .on = wanted && isatty(STDERR_FILENO) == 1,
                                          .next_ns = sx_deadline_ns(begin_ns, PATIENCE_NS),
                                          .deadline_ns = SX_DEADLINE_NEVER };
}

/* Count the ranks of the command line that have been started.  Return: false when the launch is
 * over. */
static bool ranks_count(const struct sx_run_state *run, uint32_t *ret_up)
{
    uint32_t left = run->setup->options->rank_count;

    *ret_up = 0;
    for (uint32_t i = 0; i < run->jobs->count && left > 0; i++) {
        const struct sx_run_job *const job = run->jobs->at[i];

        if (job->ending || job->alive < job->spawned) {
            return false;
        }
        *ret_up += job->spawned;
        left -= job->rank_count;
    }
    return true;
}

static void line_show(struct sx_run_state *run, uint32_t up, uint32_t connected)
{
    char *const line = sx_cli_printf("shmix run: %u of %u ranks are up, %u connected", up,
                                     run->setup->options->rank_count, connected);

    sx_run_sink_show(run->sink_of[1], line, strlen(line));
    free(line);
}

void sx_run_progress_look(struct sx_run_state *run, uint64_t now_ns)
{
    struct sx_run_progress *const progress = &run->progress;
    const uint32_t all = run->setup->options->rank_count;
    uint32_t up;

    if (!progress->on) {
        return;
    }
    const uint32_t connected = sx_run_upcall_connected();

    progress->deadline_ns = SX_DEADLINE_NEVER;
    if (!ranks_count(run, &up) || connected >= all) {
        sx_run_sink_show(run->sink_of[1], "", 0);
        sx_run_upcall_await(run->awaited, false);
        progress->on = false;
    } else if (up == all && connected == 0) {
        sx_run_sink_show(run->sink_of[1], "", 0);
    } else if (up == progress->up && connected == progress->connected) {
        return;
    } else if (now_ns < progress->next_ns) {
        progress->deadline_ns = progress->next_ns;
    } else {
        line_show(run, up, connected);
        progress->up = up;
        progress->connected = connected;
        progress->next_ns = sx_deadline_ns(now_ns, PAUSE_NS);
    }
}
