/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* grace_model.c - a writer that shows, retires and collects, and readers that look, in every order.
 *
 * grace.c itself runs here.  What is shown has a word that says whether it is mapped; the writer
 * clears it when the thing is over.  What has to hold: no reader stands in anything that is over,
 * and all that was retired is over once the readers have left.
 *
 * usage: model-grace grace [--must-fail]  (--must-fail: some scenario has to be violated) */
#include "engine.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"

#define sx_assert_failed(fact, file, line) model_violated(fact, line)

#include "client/data/epoch.c"

#define THINGS_MAX 5u
#define READERS_MAX 2u

static struct thing {
    struct sx_retired retired;
    _Atomic uint64_t mapped;
} things[THINGS_MAX];

static _Atomic uint64_t shown; /* index */
static uint64_t switch_count;

/* ---- the writer ----------------------------------------------------------------------------- */

struct writer {
    uint64_t shows;
    uint64_t epochs[THINGS_MAX]; /* of what waits; 0: of what does not */
};
static_assert(sizeof(struct writer) <= MODEL_LOCALS_MAX, "locals of a thread");

static void thing_over(struct sx_retired *retired)
{
    struct thing *const thing = SX_CONTAINER(retired, struct thing, retired);

    atomic_store_explicit(&thing->mapped, 0, memory_order_relaxed);
}

/* The list as this turn began with it: what is in it is the writer's own. */
static void list_begin(const struct writer *writer)
{
    retired_first = NULL;
    for (unsigned i = 0; i < THINGS_MAX; i++) {
        if (writer->epochs[i] != 0) {
            things[i].retired = (struct sx_retired){ .next = retired_first,
                                                     .epoch = writer->epochs[i],
                                                     .over = thing_over };
            retired_first = &things[i].retired;
        }
    }
}

static void list_end(struct writer *writer)
{
    memset(writer->epochs, 0, sizeof(writer->epochs));
    for (struct sx_retired *at = retired_first; at != NULL; at = at->next) {
        writer->epochs[SX_CONTAINER(at, struct thing, retired) - things] = at->epoch;
    }
}

static bool writer_turn(void *locals)
{
    struct writer *const writer = locals;
    struct thing *const old = &things[writer->shows];

    sx_grace_mine = NULL;
    list_begin(writer);
#ifdef MODEL_RETIRE_FIRST
    sx_grace_retire(&old->retired, thing_over);
    atomic_store_explicit(&shown, ++writer->shows, memory_order_release);
#else
    atomic_store_explicit(&shown, ++writer->shows, memory_order_release);
    sx_grace_retire(&old->retired, thing_over);
#endif
    sx_grace_collect();
    list_end(writer);
    return writer->shows == switch_count;
}

/* ---- readers -------------------------------------------------------------------------------- */

struct reader {
    uint64_t index, looks;
    bool twice; /* it enters twice */
};

static void look(void)
{
    /* As index and not as a pointer: what is loaded is a number here. */
    struct thing *const thing = &things[atomic_load_explicit(&shown, memory_order_acquire)];

    for (int i = 0; i < 2; i++) {
        (void)atomic_load_explicit(&thing->mapped, memory_order_relaxed);
        model_need(model_newest(&thing->mapped) == 1);
    }
}

static bool reader_turn(void *locals)
{
    struct reader *const reader = locals;

    sx_grace_mine = &readers[reader->index];
    const struct sx_grace grace = sx_grace_enter();
    look();
    if (reader->twice) {
        const struct sx_grace inner = sx_grace_enter();

        sx_grace_exit(&inner);
        look();
    }
    sx_grace_exit(&grace);
    return --reader->looks == 0;
}

/* ---- scenarios ------------------------------------------------------------------------------- */

static bool scenario(const char *name, bool membarrier, unsigned count, uint64_t looks, bool twice,
                     uint64_t switches)
{
    const struct writer writer = { .shows = 0 };
    struct reader all[READERS_MAX];
    struct model_options options = { .name = name,
                                     .thread_count = count + 1,
                                     .turn = { writer_turn },
                                     .locals = { &writer },
                                     .locals_size = { sizeof(writer) } };

    model_reset();
    memset(things, 0, sizeof(things));
    memset(readers, 0, sizeof(readers));
    shown = 0;
    switch_count = switches;
    reader_count = count;
    sx_grace_epoch = SX_GRACE_EPOCH_STEP | (membarrier ? 0 : SX_GRACE_FENCE);
    model_location(&shown, 8, "shown", 0);
    model_location(&sx_grace_epoch, 8, "epoch", 0);
    for (unsigned i = 0; i <= switches; i++) {
        things[i].mapped = 1;
        model_location(&things[i].mapped, 8, "mapped", 0);
    }
    for (unsigned i = 0; i < count; i++) {
        all[i] = (struct reader){ .index = i, .looks = looks, .twice = twice };
        options.turn[i + 1] = reader_turn;
        options.locals[i + 1] = &all[i];
        options.locals_size[i + 1] = sizeof(all[i]);
        model_location(&readers[i].epoch, 8, "inside", i + 1);
    }
    return model_explore(&options);
}

int main(int argc, char **argv)
{
    const bool must_fail = argc > 2 && strcmp(argv[2], "--must-fail") == 0;
    const bool good = scenario("one reader", true, 1, 2, false, 3) &&
                      scenario("a reader that looks often", true, 1, 3, false, 2) &&
                      scenario("a reader that makes the barrier", false, 1, 2, false, 3) &&
                      scenario("a reader that enters twice", true, 1, 1, true, 2) &&
                      scenario("two readers", true, 2, 1, false, 2) &&
                      scenario("two that make the barrier", false, 2, 1, false, 2);

    if (good == must_fail) {
        puts(must_fail ? "a broken step went unnoticed" : "violated");
        return 1;
    }
    return 0;
}
