/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* many_keys.c - a peer that has put hundreds of keys, and its first Get.
 *
 * Question:  what do the commit of KEYS numbers, the collecting fence, the first Get of a peer that has put
 *            them, and the Gets of its other keys cost?
 * Predict:   nothing grows with the keys here but the commit and the fence.  With another library's
 *            client the first Get brings all of them: 300 ns a key more.
 * Method:    rounds, each with KEYS keys of its own: so a peer has KEYS more in each.  A sample is one
 *            call, or (others) the mean of the Gets of all further keys.  Ranks meet at a counter in shared
 *            memory before what is timed.
 * Varies:    ranks.  Fixed: KEYS 300, of 8 bytes.  Control: a Get of the same value again (again).
 * Rank 0 prints a line of JSON for each figure. */
#include "meeting.h"

#include "../settle.h"

#include "../hist.h"

#define KEYS 300

enum { PUT, COMMIT, EXCHANGE, FIRST, OTHERS, AGAIN, FIGURES };

static const char *const names[FIGURES] = {
    "put", "commit", "exchange", "first", "others", "again"
};
static struct hist hists[FIGURES];
static pmix_proc_t me;
static uint32_t size;

static const char *key_of(size_t round, size_t i)
{
    static char key[64];

    snprintf(key, sizeof(key), "many.%zu.%zu", round, i);
    return key;
}

static void put_all(size_t round)
{
    uint64_t begin_ns = hist_now_ns();

    for (size_t i = 0; i < KEYS; i++) {
        pmix_value_t value;

        memset(&value, 0, sizeof(value));
        value.type = PMIX_UINT64;
        value.data.uint64 = me.rank * KEYS + i;
        must(PMIx_Put(PMIX_GLOBAL, key_of(round, i), &value), "put");
    }
    hist_add(&hists[PUT], (hist_now_ns() - begin_ns) / KEYS);
    begin_ns = hist_now_ns();
    must(PMIx_Commit(), "commit");
    hist_add(&hists[COMMIT], hist_now_ns() - begin_ns);
}

static void get(size_t round, size_t i)
{
    pmix_proc_t peer = me;
    pmix_value_t *value = NULL;

    peer.rank = (me.rank + 1) % size;
    must(PMIx_Get(&peer, key_of(round, i), NULL, 0, &value), "get");
    if (value->type != PMIX_UINT64 || value->data.uint64 != peer.rank * KEYS + i) {
        fprintf(stderr, "many_keys: a value of rank %u is not what it has put\n", peer.rank);
        exit(1);
    }
    free(value);
}

static void exchange(size_t round)
{
    put_all(round);
    meet();
    uint64_t begin_ns = hist_now_ns();

    fence_collect();
    hist_add(&hists[EXCHANGE], hist_now_ns() - begin_ns);
    meet();
    begin_ns = hist_now_ns();
    get(round, 0);
    hist_add(&hists[FIRST], hist_now_ns() - begin_ns);
    begin_ns = hist_now_ns();
    for (size_t i = 1; i < KEYS; i++) {
        get(round, i);
    }
    hist_add(&hists[OTHERS], (hist_now_ns() - begin_ns) / (KEYS - 1));
    begin_ns = hist_now_ns();
    get(round, 0);
    hist_add(&hists[AGAIN], hist_now_ns() - begin_ns);
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 1);

    must(PMIx_Init(&me, NULL, 0), "init");
    settle();
    size = job_size(&me);
    meeting_open(&me);
    for (size_t i = 0; i < rounds; i++) {
        exchange(i + 1);
    }
    for (int figure = 0; figure < FIGURES && me.rank == 0; figure++) {
        hist_print(&hists[figure], names[figure], "");
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
