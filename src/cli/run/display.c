/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* display.c - a rank's place in words.  An unbound rank may use what the launcher may. */
#include "cli/run/display.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/say.h"

/* "rank 3, app 1 (./ice)", malloc'ed. */
static char *who(const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_app *app = sx_run_job_app(job, rank);

    return sx_cli_printf("%srank %u, app %u (%s)", job->prefix, rank, (unsigned)(app - job->apps),
                         app->program[0]);
}

/* "core 5", or "not bound"; malloc'ed. */
static char *bound_to(const struct sx_run_options *options, const struct sx_run_place *place)
{
    if (place->cpuset == NULL) {
        return sx_cli_strdup("not bound");
    }
    return sx_cli_printf("%s %u", sx_run_level_noun(options->bind), place->bind_number);
}

static const char *cpus(const struct sx_run_machine *machine, const struct sx_run_place *place)
{
    return place->cpuset == NULL ? machine->cpuset : place->cpuset;
}

char *sx_run_display_map(const struct sx_run_options *options, const struct sx_run_machine *machine,
                         const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_place *place = &job->places[rank];
    const char *part = options->map == SX_RUN_LEVEL_NONE ? "slot" : sx_run_level_noun(options->map);
    char *name = who(job, rank), *bound = bound_to(options, place);
    char *line = sx_cli_printf("map: %s, %s %u, %s%s, CPUs %s", name, part, place->map_number,
                               place->cpuset == NULL ? "" : "bound to ", bound,
                               cpus(machine, place));

    free(name);
    free(bound);
    return line;
}

char *sx_run_display_binding(const struct sx_run_options *options,
                             const struct sx_run_machine *machine, const struct sx_run_job *job,
                             uint32_t rank, pid_t pid)
{
    const struct sx_run_place *place = &job->places[rank];
    char *name = who(job, rank), *bound = bound_to(options, place);
    char *line = sx_cli_printf("bindings: %s, pid %ld, %s, CPUs %s", name, (long)pid, bound,
                               cpus(machine, place));

    free(name);
    free(bound);
    return line;
}
