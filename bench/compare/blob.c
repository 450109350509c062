/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* blob.c - a large value on its way from one rank to another.
 *
 * Question:  what does it cost to hand 1 MiB from every rank to a peer: Put, Commit, collecting
 *            Fence, Get?
 * Predict:   five copies (into the process's own store, into the window, out of it, into the shared
 *            store, out of it), of which three at the speed of a memcpy into fresh memory; fence
 *            and requests, some tens of microseconds, vanish beside them.
 * Method:    each round another key and fresh content; the ranks meet in a fence first.  The time
 *            of a round is from Put to the end of Get; the median of the rounds.
 * Varies:    ranks, bytes (argv[2]).  Control: memcpy of as many bytes into memory just mapped.
 * Every rank prints one line of JSON. */
#include <sys/mman.h>

#include "compare.h"

#include "../settle.h"

static double samples[ROUNDS_MAX];

/* The price of one copy: source in the caches or not as for the library, target never touched. */
static double copy_us(const char *bytes, size_t size, size_t rounds)
{
    unsigned sum = 0;

    for (size_t i = 0; i < rounds; i++) {
        const double begin = now_us();
        char *const to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                              0);

        if (to == MAP_FAILED) {
            must(PMIX_ERR_NOMEM, "mmap");
        }
        memcpy(to, bytes, size);
        samples[i] = now_us() - begin;
        sum += (unsigned char)to[size - 1];
        munmap(to, size);
    }
    if (sum == 1) {
        puts(""); /* the copies are needed */
    }
    return median(samples, rounds);
}

static double round_us(const pmix_proc_t *peer, size_t round, char *bytes, size_t size)
{
    pmix_value_t value, *got = NULL;
    char key[32];

    memset(bytes, (int)round + 1, size);
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes;
    value.data.bo.size = size;
    snprintf(key, sizeof(key), "blob.%zu", round);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    const double begin = now_us();

    must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    must(PMIx_Commit(), "commit");
    fence_collect();
    must(PMIx_Get(peer, key, NULL, 0, &got), "get");
    const double end = now_us();

    if (got->type != PMIX_BYTE_OBJECT || got->data.bo.size != size ||
        memcmp(got->data.bo.bytes, bytes, size) != 0) {
        fprintf(stderr, "blob: the peer's value is not what it put\n");
        exit(1);
    }
    free(got->data.bo.bytes);
    free(got);
    return end - begin;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 8);
    const size_t size = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : (size_t)1 << 20;
    char *const bytes = malloc(size > 0 ? size : 1);
    pmix_proc_t me, peer;

    must(PMIx_Init(&me, NULL, 0), "init");
    settle();
    if (bytes == NULL || size == 0) {
        fprintf(stderr, "blob: no memory, or no bytes\n");
        return 1;
    }
    peer = me;
    peer.rank = (me.rank + 1) % job_size(&me);
    memset(bytes, 1, size);
    const double copy = copy_us(bytes, size, 32);

    for (size_t i = 0; i < rounds; i++) {
        samples[i] = round_us(&peer, i, bytes, size);
    }
    const double blob = median(samples, rounds);

    printf("{\"rank\": %u, \"blob_us\": %.1f, \"copy_us\": %.1f, \"blob_copies\": %.2f}\n", me.rank,
           blob, copy, blob / copy);
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    free(bytes);
    return 0;
}
