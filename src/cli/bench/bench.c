/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bench.c - the command line of the instrument: checked here, carried out by a script.
 *
 *     PREFIX/bin/shmix --> PREFIX/share/shmix/bench/run        the script, and its data
 *                      \-> PREFIX/libexec/shmix/bench/   the programs (build tree: bench/) */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

#define RUNS_MAX 1000
#define RANKS_MAX 4096

struct wish {
    const char *size;
    const char *compare, *launcher, *old, *only, *ranks, *runs, *budget, *output, *json, *csv;
    bool ours_only;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool size_set(void *at, const char *value)
{
    *(const char **)at = value;
    return strcmp(value, "smoke") == 0 || strcmp(value, "quick") == 0 || strcmp(value, "full") == 0;
}

static bool runs_set(void *at, const char *value)
{
    int64_t number;

    *(const char **)at = value;
    return sx_cli_number(value, 1, RUNS_MAX, &number);
}

static bool budget_set(void *at, const char *value)
{
    uint64_t ns;

    *(const char **)at = value;
    return sx_cli_seconds(&ns, value);
}

/* "2,16,64" */
static bool ranks_set(void *at, const char *value)
{
    char *const list = sx_cli_strdup(value);
    bool good = value[0] != '\0' && value[strlen(value) - 1] != ',';
    char *rest = list;

    for (char *word; good && (word = strsep(&rest, ",")) != NULL;) {
        int64_t number;

        good = sx_cli_number(word, 1, RANKS_MAX, &number);
    }
    free(list);
    *(const char **)at = value;
    return good;
}

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    { "[SIZE]", NULL, NULL, NULL, "smoke, quick or full",
      "quick (the default) takes less than five minutes, full an hour; smoke tries everything once",
      size_set, OF(size) },
    { .help = "beside what (not said: mpirun.openmpi and the system's libpmix):" },
    { "--compare", NULL, "DIR", "/opt/openpmix/lib",
      "a folder with a libpmix.so.2, or a virtual environment in which pip has put Open MPI 5",
      NULL, sx_option_text, OF(compare) },
    { "--launcher", NULL, "COMMAND", "prterun", "the command that starts jobs of that library",
      "the command that starts jobs of that library; '-n N' and the program follow it",
      sx_option_text, OF(launcher) },
    { "--old", NULL, "DIR", "/opt/shmix-before", "the build or prefix of an older shmix",
      "beside an older shmix, the folder of whose build or installation this is", sx_option_text,
      OF(old) },
    { "--ours-only", NULL, NULL, NULL, NULL, "beside nothing", sx_option_flag, OF(ours_only) },
    { .help = "what is measured:" },
    { "--only", NULL, "NAMES", "fence,oneway", "names of experiments, with commas between", NULL,
      sx_option_text, OF(only) },
    { "--ranks", NULL, "LIST", "2,16,64", "numbers of ranks from 1 to 4096, with commas between",
      NULL, ranks_set, OF(ranks) },
    { "--runs", NULL, "N", "5", "a number from 1 to 1000", "how often each program runs", runs_set,
      OF(runs) },
    { "--budget", NULL, "SECONDS", "200", "a number of seconds",
      "after so long nothing runs for a second time", budget_set, OF(budget) },
    { .help = "what becomes of it:" },
    { "--output", NULL, "DIR", "shmix-bench", "a folder",
      "where report.html, the data and the percentiles go (./shmix-bench)", sx_option_text,
      OF(output) },
    { "--json", NULL, "FILE", "data.jsonl", "a file",
      "all that is measured, as lines of JSON (data.jsonl beside the report)", sx_option_text,
      OF(json) },
    { "--csv", NULL, "FILE", "data.csv", "a file", "the figures of each run, as a table",
      sx_option_text, OF(csv) },
};

static const char about[] =
    "usage: shmix bench [options] [smoke|quick|full]\n"
    "\n"
    "Run PMIx programs on this library and on another, in turns. Print the figures and their "
    "ratios,\n"
    "and write a report as one HTML page. Each program is bounded; one that hangs is a row.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix bench                            beside mpirun.openmpi: under five minutes\n"
    "  shmix bench --only fence --ranks 2,64  fences alone\n"
    "  shmix bench full --compare /opt/openpmix/lib --launcher 'prterun --map-by :OVERSUBSCRIBE'\n"
    "\n"
    "Exit code: 0 when all of ours was measured; 1 when not; 2 for a wrong option.\n";

const struct sx_verb sx_bench_verb = {
    .name = "shmix bench",
    .try_begin = "shmix bench",
    .try_end = " smoke",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- finding the instrument ------------------------------------------------------------- */

/* Return: the folder above the folder of this command; the caller frees it.  NULL, with a message:
 * none. */
static char *prefix_of_this(void)
{
    char *const exe = sx_proc_exe();

    for (int i = 0; exe != NULL && i < 2; i++) {
        char *const slash = strrchr(exe, '/');

        if (slash != NULL) {
            *slash = '\0';
        }
    }
    return exe;
}

/* Return: "@prefix/@a/@b" if it exists, else NULL. */
static char *there(const char *prefix, const char *a, const char *b, int mode)
{
    char *const path = sx_cli_printf("%s%s%s/%s", a[0] == '/' ? "" : prefix, a[0] == '/' ? "" : "/",
                                     a, b);

    if (access(path, mode) == 0) {
        return path;
    }
    free(path);
    return NULL;
}

/* ---- the command ------------------------------------------------------------------------ */

#define WORDS_MAX 40

struct command {
    char *words[WORDS_MAX + 1];
    size_t count;
};

static void add(struct command *command, const char *name, const char *value)
{
    if (value != NULL) {
        command->words[command->count++] = sx_cli_strdup(name);
        command->words[command->count++] = sx_cli_strdup(value);
    }
}

static_assert(SX_COUNT(rows) * 2 + 6 < WORDS_MAX, "all options have room");

/* The instrument has the same options with the same names. */
static void options_add(struct command *command, const struct wish *wish)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (rows[i].value != NULL) {
            add(command, rows[i].name,
                *(const char *const *)(const void *)((const char *)wish + rows[i].off));
        }
    }
    if (wish->ours_only) {
        command->words[command->count++] = sx_cli_strdup("--ours-only");
    }
}

int sx_cli_bench(char **words)
{
    struct wish wish = { .size = "quick", .output = "shmix-bench" };
    const int code = sx_options_take(&sx_bench_verb, &wish, NULL, &words);
    struct command command = { .count = 0 };

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    char *const prefix = prefix_of_this();

    if (prefix == NULL) {
        return SX_EXIT_FAILURE;
    }
    char *const script = there(prefix, SX_CLI_DATA_DIR, "shmix/bench/run", R_OK);
    char *programs = there(prefix, ".", "bench/compare-limits", X_OK);

    if (programs == NULL) {
        programs = there(prefix, SX_CLI_LIBEXEC_DIR, "shmix/bench/compare-limits", X_OK);
    }
    if (script == NULL || programs == NULL) {
        sx_say("the experiments are not installed in %s: configure with -DSHMIX_BENCH=ON, build "
               "and install again",
               prefix);
    } else {
        *strrchr(programs, '/') = '\0';
        command.words[command.count++] = sx_cli_strdup("python3");
        add(&command, script, wish.size);
        add(&command, "--shmix", prefix);
        add(&command, "--programs", programs);
        options_add(&command, &wish);
        execvp(command.words[0], command.words);
        sx_say("python3, which runs the experiments, cannot be started (%s)", strerror(errno));
    }
    while (command.count > 0) {
        free(command.words[--command.count]);
    }
    free(script);
    free(programs);
    free(prefix);
    return SX_EXIT_FAILURE;
}
