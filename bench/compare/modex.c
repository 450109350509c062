/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex.c - the address book of a job: put, exchange, and the first look at every peer.
 *
 * Question:  what does a rank pay for the data of its peers: Put and Commit of 64 bytes and of 4 KiB, the
 *            collecting fence, the very first Get, the first Get of each further peer, another key of a
 *            peer that is known; and the Get of a peer's value that no fence has collected?
 * Predict:   put and commit 1 us and no wake; the first Get a few us, as it makes the new pages its own;
 *            each further peer as any Get; without a fence, a request to the server and back.
 * Method:    rounds, each with keys of its own.  A sample is one call.  Ranks meet at a counter in shared
 *            memory before what is timed.  The value without a fence is put and committed a meeting
 *            before anybody asks.
 * Varies:    ranks.  Fixed: 64 bytes.  Control: a Get of the same value again (again).
 * Rank 0 prints a line of JSON for each figure. */
#include "meeting.h"

#include "../settle.h"

#include "../hist.h"

enum { PUT, PUT_4K, EXCHANGE, FIRST, FURTHER, SECOND_KEY, AGAIN, DIRECT, FIGURES };

static const char *const names[FIGURES] = { "put_commit", "put_commit_4k", "exchange", "first",
                                            "further",    "second_key",    "again",    "direct" };
static struct hist hists[FIGURES];
static pmix_proc_t me;
static uint32_t size;

static void put(const char *name, size_t round, size_t bytes, int figure)
{
    static char data[4096];
    pmix_value_t value;
    char key[64];

    memset(data, (int)round, sizeof(data));
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = data;
    value.data.bo.size = bytes;
    snprintf(key, sizeof(key), "modex.%s.%zu", name, round);
    const uint64_t begin_ns = hist_now_ns();

    must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    must(PMIx_Commit(), "commit");
    if (figure < FIGURES) {
        hist_add(&hists[figure], hist_now_ns() - begin_ns);
    }
}

static void get(uint32_t rank, const char *name, size_t round, int figure)
{
    pmix_proc_t peer = me;
    pmix_value_t *value = NULL;
    char key[64];

    peer.rank = rank % size;
    snprintf(key, sizeof(key), "modex.%s.%zu", name, round);
    const uint64_t begin_ns = hist_now_ns();

    must(PMIx_Get(&peer, key, NULL, 0, &value), key);
    hist_add(&hists[figure], hist_now_ns() - begin_ns);
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.bytes[0] != (char)round) {
        fprintf(stderr, "modex: the value of rank %u is not what it has put\n", peer.rank);
        exit(1);
    }
    free(value->data.bo.bytes);
    free(value);
}

static void exchange(size_t round)
{
    put("card", round, 64, PUT);
    put("more", round, 64, FIGURES);
    meet();
    const uint64_t begin_ns = hist_now_ns();

    fence_collect();
    hist_add(&hists[EXCHANGE], hist_now_ns() - begin_ns);
    get(me.rank + 1, "card", round, FIRST);
    for (uint32_t i = 2; i < size; i++) {
        get(me.rank + i, "card", round, FURTHER);
    }
    get(me.rank + 1, "more", round, SECOND_KEY);
    get(me.rank + 1, "card", round, AGAIN);
    put("late", round, 64, FIGURES);
    meet();
    get(me.rank + 1, "late", round, DIRECT);
    put("large", round, 4096, PUT_4K);
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 64);

    must(PMIx_Init(&me, NULL, 0), "init");
    settle();
    size = job_size(&me);
    meeting_open(&me);
    for (size_t i = 0; i < rounds; i++) {
        exchange(i + 1);
    }
    for (int figure = 0; figure < FIGURES && me.rank == 0; figure++) {
        if (hists[figure].count > 0) {
            hist_print(&hists[figure], names[figure], "");
        }
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
