/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_words.c - the words of other launchers, and Levenshtein's distance for slips. */
#include "cli/run_words.h"

#include <stdint.h>
#include <string.h>

#include "base/util.h"

/* What users of mpirun and srun type out of habit. */
static const struct habit {
    const char *word, *meant;
} habits[] = {
    { "-c", "-n" },
    { "-np", "-n" },
    { "--np", "-n" },
    { "--n", "-n" },
    { "--ntasks", "-n" },
    { "-x", "--env" },
    { "--export", "--env" },
    { "-wd", "--wdir" },
    { "-wdir", "--wdir" },
    { "--chdir", "--wdir" },
    { "-D", "--wdir" },
    { "-t", "--timeout" },
    { "--time", "--timeout" },
    { "-l", "--tag-output" },
    { "--label", "--tag-output" },
    { "-stdin", "--stdin" },
    { "--input", "--stdin" },
    { "-i", "--stdin" },
    { "--cpu-bind", "--bind-to" },
    { "-bind-to", "--bind-to" },
    { "-map-by", "--map-by" },
    { "--distribution", "--map-by" },
    { "-m", "--map-by" },
    { "--report-bindings", "--display bindings" },
    { "-report-bindings", "--display bindings" },
    { "--display-map", "--display map" },
    { "-display-map", "--display map" },
    { "--kill-on-bad-exit", "--on-failure" },
    { "-K", "--on-failure" },
    { "--enable-recovery", "--on-failure notify" },
};

static const char *const node_words[] = {
    "-H",           "-host",         "--host",     "-hostfile",         "--hostfile",
    "-machinefile", "--machinefile", "-N",         "--nodes",           "-w",
    "--nodelist",   "-npernode",     "--npernode", "--ntasks-per-node", "-ppn",
};

const char *sx_run_words_habit(const char *option)
{
    for (size_t i = 0; i < SX_COUNT(habits); i++) {
        if (strcmp(option, habits[i].word) == 0) {
            return habits[i].meant;
        }
    }
    return NULL;
}

bool sx_run_words_means_nodes(const char *option)
{
    for (size_t i = 0; i < SX_COUNT(node_words); i++) {
        if (strcmp(option, node_words[i]) == 0) {
            return true;
        }
    }
    return false;
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
        const size_t far = distance(word, list[i]);

        /* More than a third of the letters wrong is another word, not a slip. */
        if (far < best_distance && far * 3 <= strlen(list[i]) + 1) {
            best = list[i];
            best_distance = far;
        }
    }
    return best;
}
