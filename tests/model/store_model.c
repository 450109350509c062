/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_model.c - one writer that puts and one reader that looks, in every order.
 *
 * heap.c, column.c and store.c themselves run here, on a heap of which each word is a location;
 * the few plain reads of the heap are made relaxed loads by CMakeLists.txt, and memcpy copies word by
 * word.  One reader stands for any number: readers store nothing.
 *
 * What has to hold: a value that is found is one that was put, whole, with the body of its own cell;
 * the values of one cell come in the order in which they were put; nothing contradicts itself, and
 * what was found once is found until it is withdrawn.
 *
 * usage: model-store store [--must-fail]  (--must-fail: some scenario has to be violated) */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define sx_assert_failed(fact, file, line) model_violated(fact, line)

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shmem/store_layout.h"

/* The scene takes no memory from the kernel. */
#define sx_segment_back(seg, end) ((end) <= (seg)->size_bytes ? PMIX_SUCCESS : PMIX_ERROR)

#define memcpy model_copy
#define memcmp model_compare
#include "shmem/column.c"
#include "shmem/heap.c"
#include "shmem/store.c"
#undef memcpy
#undef memcmp

#define HEAP_WORDS 36u /* behind what the scene begins with */
#define ARENA_BYTES 8192u
#define BODY_BYTES 16u

static _Alignas(SX_CACHELINE_BYTES) uint8_t arena[ARENA_BYTES];
static struct sx_store_writer writer, begun;
static struct sx_store store;

/* ---- what is put ------------------------------------------------------------------------------ */

/* One step of the writer; version 0 withdraws. */
struct step {
    uint32_t row;
    uint64_t version;
    bool has_body;
};

static const struct step *steps;
static uint64_t step_count;

static struct sx_put put_of(const struct step *step)
{
    return (struct sx_put){
        .realm = SX_REALM_JOB,
        .row = step->row,
        .key = "k",
        .key_len = 1,
        .hash = 3,
        .cell = { .type = step->has_body ? PMIX_STRING : PMIX_UINT64,
                  .len = step->has_body ? BODY_BYTES : 0,
                  .bits = step->has_body ? 0 : step->version },
    };
}

/* ---- the writer ------------------------------------------------------------------------------- */

struct putter {
    uint64_t step, next_off, garbage_bytes;
};

static bool putter_turn(void *locals)
{
    struct putter *const putter = locals;
    const struct step *const step = &steps[putter->step];
    const uint64_t body[BODY_BYTES / 8] = { step->version, ~step->version };
    struct sx_put put = put_of(step);

    writer = begun;
    writer.heap.seg = &writer.view.seg;
    writer.heap.next_off = putter->next_off;
    writer.garbage_bytes = putter->garbage_bytes;
    put.body = body;
    struct sx_column_record *const record = putter->step > 0 ? sx_column_find(&writer, &put) : NULL;
    if (step->version == 0) { /* as sx_store_unset */
        struct sx_words *const words = sx_column_words(&writer, record, step->row);

        atomic_store_explicit(&words->word0, SX_CELL_MOVED | (SX_STORE_ABSENT_OFF / 8) << 16,
                              memory_order_release);
    } else {
        sx_column_put(&writer, record, &put);
    }
    putter->next_off = writer.heap.next_off;
    putter->garbage_bytes = writer.garbage_bytes;
    return ++putter->step == step_count;
}

/* ---- the reader ------------------------------------------------------------------------------- */

struct looker {
    uint64_t looks, last;
    uint32_t row;
};

/* Return: the version that @item is, whole. */
static uint64_t version_of(const struct sx_item *item)
{
    const struct step like = { .has_body = item->body != NULL };
    const struct sx_put put = put_of(&like);
    uint64_t body[BODY_BYTES / 8];

    model_need(item->cell.type == put.cell.type && item->cell.len == put.cell.len);
    if (item->body == NULL) {
        return item->cell.bits;
    }
    model_copy(body, item->body, sizeof(body));
    model_need(body[1] == ~body[0]);
    return body[0];
}

/* Did somebody put @version in @row? */
static bool was_put(uint32_t row, uint64_t version, bool has_body)
{
    for (uint64_t i = 0; i < step_count; i++) {
        if (steps[i].row == row && steps[i].version == version && version != 0 &&
            steps[i].has_body == has_body) {
            return true;
        }
    }
    return false;
}

static bool is_withdrawn(uint32_t row)
{
    return step_count > 0 && steps[step_count - 1].row == row && steps[step_count - 1].version == 0;
}

static bool looker_turn(void *locals)
{
    struct looker *const looker = locals;
    struct sx_reach reach = sx_reach_init(&store);
    struct sx_item item;
    sx_column column;

    pmix_status_t rc = sx_dictionary_find(&reach, 3, SX_REALM_JOB, "k", 1, &column);
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_read(&store, column, looker->row, &item);
    }
    model_need(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND);
    if (rc == PMIX_SUCCESS) {
        const uint64_t version = version_of(&item);

        model_need(was_put(looker->row, version, item.body != NULL));
        model_need(version >= looker->last);
        looker->last = version;
    } else {
        model_need(looker->last == 0 || is_withdrawn(looker->row));
    }
    return --looker->looks == 0;
}

/* ---- scenarios --------------------------------------------------------------------------------- */

static void scene_begin(void)
{
    model_reset();
    memset(arena, 0, sizeof(arena));
    memset(&begun, 0, sizeof(begun));
    begun.view.seg = (struct sx_segment){ .base = arena,
                                          .size_bytes = ARENA_BYTES,
                                          .backed_bytes = ARENA_BYTES,
                                          .owner = true,
                                          .fd = -1 };
    begun.row_count = 2;
    model_need(sx_store_format(&begun, begun.row_count, 0) == PMIX_SUCCESS);
    store.seg = begun.view.seg;
}

static void locations_begin(void)
{
    struct sx_segment_header *const header = sx_segment_header(&begun.view.seg);
    const uint64_t slots_off = sx_dictionary_word(&begun) & ~SX_DICTIONARY_SHIFT_MASK;
    static char names[HEAP_WORDS][16];

    model_location(&header->used_bytes, 8, "used_bytes", 0);
    model_location(&header->garbage_bytes, 8, "garbage", 0);
    model_location(&sx_writer_store(&begun)->column_count, 8, "column_count", 0);
    model_location(arena + slots_off + 3 * sizeof(struct sx_slot), 8, "tag", 0);
    model_location(arena + slots_off + 3 * sizeof(struct sx_slot) + 8, 8, "column", 0);
    for (unsigned i = 0; i < HEAP_WORDS; i++) {
        snprintf(names[i], sizeof(names[i]), "heap[%u]", i * 8);
        model_location(arena + begun.heap.next_off + UINT64_C(8) * i, 8, names[i], 0);
    }
}

static bool scenario(const char *name, const struct step *what, uint64_t count, uint32_t row,
                     uint64_t looks)
{
    struct putter putter = { .step = 0 };
    const struct looker looker = { .looks = looks, .row = row };

    steps = what;
    step_count = count;
    scene_begin();
    putter.next_off = begun.heap.next_off;
    locations_begin();
    const struct model_options options = { .name = name,
                                           .thread_count = 2,
                                           .turn = { putter_turn, looker_turn },
                                           .locals = { &putter, &looker },
                                           .locals_size = { sizeof(putter), sizeof(looker) } };
    return model_explore(&options);
}

int main(int argc, char **argv)
{
    static const struct step fresh[] = { { 0, 1, true } };
    static const struct step again[] = { { 0, 1, true }, { 0, 2, true }, { 0, 3, false } };
    static const struct step numbers[] = { { 0, 1, false }, { 0, 2, false }, { 0, 3, true } };
    static const struct step job[] = { { SX_ROW_JOB, 1, true }, { SX_ROW_JOB, 2, true } };
    static const struct step chunk[] = { { 0, 1, false }, { 1, 1, true }, { 1, 2, true } };
    static const struct step gone[] = { { 0, 1, true }, { 0, 2, true }, { 0, 0, false } };
    const bool must_fail = argc > 2 && strcmp(argv[2], "--must-fail") == 0;
    const bool good = scenario("a fresh key", fresh, SX_COUNT(fresh), 0, 2) &&
                      scenario("a value put again", again, SX_COUNT(again), 0, 3) &&
                      scenario("numbers", numbers, SX_COUNT(numbers), 0, 3) &&
                      scenario("the job's", job, SX_COUNT(job), SX_ROW_JOB, 3) &&
                      scenario("a second rank", chunk, SX_COUNT(chunk), 1, 3) &&
                      scenario("a value withdrawn", gone, SX_COUNT(gone), 0, 3);

    if (good == must_fail) {
        puts(must_fail ? "a broken step went unnoticed" : "violated");
        return 1;
    }
    return 0;
}
