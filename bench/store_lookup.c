/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_lookup.c
 * Question:  what does it cost to find one value in a shared store, by rank and key?
 * Predict:   hash, one probe, one cell: about 30 ns for 1,000 and for 64,000 cells, the latter
 *            one cache miss dearer; with the column at hand (a native key handle) a third of it.
 * Method:    a store written by this process and read through a second, read-only mapping; gets
 *            in seeded random order, each waiting for the last (the value picks the next), in
 *            batches; the best and the median batch, in ns a get.
 * Varies:    cells; by key, by column, absent key.  Fixed: 40 keys, seed 42.  Control: the same
 *            walk over the same random numbers without the store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "samples.h"
#include "shmem/store.h"

#define KEY_COUNT 40u
#define BATCHES_MAX 400
#define GETS_PER_BATCH 4096u

enum way { WAY_KEY, WAY_COLUMN, WAY_ABSENT, WAY_CONTROL, WAY_COUNT };
static const char *const way_names[] = { "by key", "by column", "absent key", "control" };

struct bench {
    struct sx_store store;
    uint32_t row_count;
    char keys[KEY_COUNT][24];
    sx_column columns[KEY_COUNT];
    uint64_t checksum;
};

/* The value of every cell is 0, so that it can be added to the next choice without changing it:
 * the processor cannot know and has to wait. */
static double batch(struct bench *bench, enum way way, uint64_t *state)
{
    struct sx_item item = { .cell = { .bits = 0 } };
    uint64_t wait = 0;
    const uint64_t begin_ns = sx_now_ns();

    for (unsigned i = 0; i < GETS_PER_BATCH; i++) {
        const uint64_t pick = samples_random(state) + wait;
        const uint32_t row = (uint32_t)((pick >> 32) % bench->row_count);
        const uint32_t key = (uint32_t)pick % KEY_COUNT;
        pmix_status_t rc = PMIX_SUCCESS;
        switch (way) {
        case WAY_KEY:
            rc = sx_store_find(&bench->store, SX_REALM_JOB, row, bench->keys[key], &item);
            break;
        case WAY_COLUMN:
            rc = sx_store_read(&bench->store, bench->columns[key], row, &item);
            break;
        case WAY_ABSENT:
            rc = sx_store_find(&bench->store, SX_REALM_NODE, row, bench->keys[key], &item);
            rc = rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR;
            break;
        default:
            break;
        }
        if (rc != PMIX_SUCCESS) {
            fprintf(stderr, "store_lookup: a get failed with %d\n", rc);
            exit(1);
        }
        wait = item.cell.bits;
        bench->checksum += row + key + wait;
    }
    return (double)(sx_now_ns() - begin_ns) / GETS_PER_BATCH;
}

static int fill(struct sx_store_writer *writer, struct bench *bench, uint32_t cells)
{
    const struct sx_store_options options = { .nspace = "bench", .row_count = cells / KEY_COUNT };
    const struct sx_cell cell = { .type = PMIX_UINT64 };
    int fd;

    bench->row_count = cells / KEY_COUNT;
    if (sx_store_create(writer, &options) != PMIX_SUCCESS) {
        return 1;
    }
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        snprintf(bench->keys[k], sizeof(bench->keys[k]), "pmix.bench.%u", k);
        for (uint32_t row = 0; row < bench->row_count; row++) {
            if (sx_store_put_flat(writer, SX_REALM_JOB, row, bench->keys[k], PMIX_GLOBAL, &cell,
                                  NULL) != PMIX_SUCCESS) {
                return 1;
            }
        }
    }
    if (sx_segment_share(&writer->view.seg, &fd) != PMIX_SUCCESS ||
        sx_store_attach(&bench->store, fd) != PMIX_SUCCESS) {
        return 1;
    }
    close(fd);
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        bench->columns[k] = sx_store_column(&bench->store, SX_REALM_JOB, bench->keys[k],
                                            strlen(bench->keys[k]));
    }
    return 0;
}

static void measure(struct bench *bench, enum way way, uint32_t cells, int batches)
{
    static double ns[BATCHES_MAX];
    uint64_t state = 42;

    batch(bench, way, &state); /* warm-up, discarded */
    for (int b = 0; b < batches; b++) {
        ns[b] = batch(bench, way, &state);
    }
    samples_sort(ns, batches);
    printf("%-12s %8" PRIu32 " cells: best %6.1f ns, median %6.1f ns\n", way_names[way], cells,
           ns[0], ns[batches / 2]);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 1000, 64000, 1024000 };
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;

    samples_machine("store_lookup");
    for (size_t i = 0; i < (smoke ? 1 : SX_COUNT(sizes)); i++) {
        static struct sx_store_writer writer;
        static struct bench bench;
        bench = (struct bench){ .store = SX_STORE_NULL };
        if (fill(&writer, &bench, sizes[i]) != 0) {
            fprintf(stderr, "store_lookup: cannot make a store of %" PRIu32 " cells\n", sizes[i]);
            return 1;
        }
        for (int way = 0; way < WAY_COUNT; way++) {
            measure(&bench, (enum way)way, sizes[i], smoke ? 2 : BATCHES_MAX);
        }
        printf("# checksum %" PRIu64 "\n", bench.checksum);
        sx_store_detach(&bench.store);
        sx_store_destroy(&writer);
    }
    return 0;
}
