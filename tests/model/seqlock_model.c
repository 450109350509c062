/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* seqlock_model.c - one who writes a row again and again, and one who reads it, in every order.
 *
 * words.h itself runs here.  One reader stands for any number: readers store nothing.  What has
 * to hold: words that were read belong together, and are no older than what was read before; a
 * writer that never makes another step leaves a row that is whole or is never taken for whole.
 *
 * usage: model-seqlock seqlock [--must-fail]  (--must-fail: some scenario has to be violated) */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "ring/words.h"

#define WORDS 2u
#define FACTOR UINT64_C(0x0101010101)

static struct {
    _Atomic uint64_t seq;
    _Atomic uint64_t words[WORDS];
} row;

static struct {
    uint64_t writes, reads;
    bool stops;
} scene;

struct writer {
    uint64_t written;
};

/* The words follow from the number of the write. */
static bool writer_turn(void *locals)
{
    struct writer *const writer = locals;
    uint64_t words[WORDS];

    writer->written++;
    for (uint64_t i = 0; i < WORDS; i++) {
        words[i] = writer->written * FACTOR + i;
    }
    if (scene.stops) {
        model_may_stop_here();
    }
    sx_seqlock_write(&row.seq, row.words, words, WORDS);
    return writer->written == scene.writes;
}

struct reader {
    uint64_t done, seen;
};

static bool reader_turn(void *locals)
{
    struct reader *const reader = locals;
    uint64_t words[WORDS];

    if (sx_seqlock_read(&row.seq, row.words, words, WORDS)) {
        const uint64_t number = words[0] / FACTOR;

        for (uint64_t i = 0; i < WORDS; i++) {
            model_need(words[i] == (number == 0 ? 0 : number * FACTOR + i));
        }
        model_need(number >= reader->seen);
        reader->seen = number;
    }
    return ++reader->done == scene.reads;
}

static bool scenario(const char *name, uint64_t writes, uint64_t reads, bool stops)
{
    struct writer writer = { .written = 0 };
    struct reader reader = { .done = 0 };
    const struct model_options options = {
        .name = name,
        .thread_count = 2,
        .turn = { writer_turn, reader_turn },
        .locals = { &writer, &reader },
        .locals_size = { sizeof(writer), sizeof(reader) },
    };

    scene.writes = writes;
    scene.reads = reads;
    scene.stops = stops;
    memset(&row, 0, sizeof(row));
    model_reset();
    model_location(&row.seq, 8, "seq", 0);
    for (uint64_t i = 0; i < WORDS; i++) {
        model_location(&row.words[i], 8, i == 0 ? "word[0]" : "word[1]", 0);
    }
    return model_explore(&options);
}

int main(int argc, char **argv)
{
    const bool must_fail = argc > 2 && strcmp(argv[2], "--must-fail") == 0;
    const bool good = scenario("a row is written and read", 3, 3, false) &&
                      scenario("a writer that stops", 2, 3, true);

    if (good == must_fail) {
        puts(must_fail ? "a broken step went unnoticed" : "violated");
        return 1;
    }
    return 0;
}
