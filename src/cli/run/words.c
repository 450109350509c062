/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.c - the words of other launchers, and Levenshtein's distance for slips. */
#include "cli/run/words.h"

#include <stdint.h>
#include <string.h>

#include "base/util.h"

/* What users of mpirun and srun type out of habit. */
static const struct habit {
    const char *word, *meant;
} habits[] = {
    { "-c", "-n" },
    { "--n", "-n" },
    { "--ntasks", "-n" },
    { "--export", "--env" },
    { "-wd", "--wdir" },
    { "--chdir", "--wdir" },
    { "-D", "--wdir" },
    { "-t", "--timeout" },
    { "--time", "--timeout" },
    { "-l", "--tag-output" },
    { "--label", "--tag-output" },
    { "--input", "--stdin" },
    { "-i", "--stdin" },
    { "--cpu-bind", "--bind-to" },
    { "--distribution", "--map-by" },
    { "-m", "--map-by" },
    { "--report-bindings", "--display bindings" },
    { "--display-map", "--display map" },
    { "--kill-on-bad-exit", "--on-failure" },
    { "-K", "--on-failure" },
    { "--enable-recovery", "--on-failure notify" },
};

#define NODES                                                                                      \
    "is about several nodes, and 'shmix run' starts all ranks on this one: leave it out (-n N is " \
    "the number of ranks), or use mpirun or srun, which can run over this library as well "        \
    "(LD_LIBRARY_PATH)"
#define TALK                                                                                   \
    "is no option here: --display map,bindings shows where ranks go, and with SHMIX_LOG=info " \
    "(or debug) in the environment the library says more"
#define HUSH                                                                                      \
    "is no option here: 'shmix run' says only what is wrong; SHMIX_LOG=error in the environment " \
    "leaves out the library's warnings"
#define DEBUG                                                                                  \
    "is no option here: with SHMIX_LOG=debug in the environment the library says more, and a " \
    "debugger is a program like any other (shmix run -n 2 xterm -e gdb PROGRAM)"

/* What has no option of ours in its place. */
static const struct habit answers[] = {
    { "-H", NODES },         { "--host", NODES },
    { "--hostfile", NODES }, { "--machinefile", NODES },
    { "-N", NODES },         { "--nodes", NODES },
    { "-w", NODES },         { "--nodelist", NODES },
    { "--npernode", NODES }, { "--ntasks-per-node", NODES },
    { "-ppn", NODES },       { "-v", TALK },
    { "--verbose", TALK },   { "-q", HUSH },
    { "--quiet", HUSH },     { "-d", DEBUG },
    { "--debug", DEBUG },    { "--debug-devel", DEBUG },
};

bool sx_run_words_name(const char *name, const char *word, size_t len)
{
    if (strncmp(name, "--", 2) == 0 && strncmp(word, "--", 2) != 0) {
        name++;
    }
    return strlen(name) == len && strncmp(word, name, len) == 0;
}

static const char *find(const struct habit *table, size_t count, const char *option)
{
    for (size_t i = 0; i < count; i++) {
        if (sx_run_words_name(table[i].word, option, strlen(option))) {
            return table[i].meant;
        }
    }
    return NULL;
}

const char *sx_run_words_habit(const char *option)
{
    return find(habits, SX_COUNT(habits), option);
}

const char *sx_run_words_answer(const char *option)
{
    return find(answers, SX_COUNT(answers), option);
}

/* Levenshtein's distance in one row, for words of at most SX_RUN_WORD_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[SX_RUN_WORD_MAX + 1];
    const size_t b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            const size_t change = diagonal + (a[i] != b[j]);
            size_t best = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;

            diagonal = row[j + 1];
            row[j + 1] = change < best ? change : best;
        }
    }
    return row[b_len];
}

const char *sx_run_suggest(const char *word, const char *const *list, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;

    if (strlen(word) > SX_RUN_WORD_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t len = strlen(list[i]), letters = len - strspn(list[i], "-");
        const size_t far = distance(word, list[i]);

        /* More than a third of the letters wrong is another word, not a slip; so is a single
         * letter for another. */
        if (far < best_distance && far * 3 <= len + 1 && far < letters) {
            best = list[i];
            best_distance = far;
        }
    }
    return best;
}
