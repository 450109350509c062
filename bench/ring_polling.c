/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring_polling.c
 * Question:  how long from a publication to a reader that polls the ring on another CPU?
 * Predict:   two cache line transfers: 0.1 to 0.6 us, p50 at most 1 us; nobody sleeps, no system call.
 * Method:    ping-pong of two threads, each the writer of one ring and the reader of the other,
 *            bound to two CPUs; half of a round trip is one sample, a hundred are warm-up.  Where both
 *            run on one CPU (only one is allowed) they yield in turns.
 * Varies:    body size.  Fixed: rings of 1 MiB.  Control: bench/ring_publish prices both ends.
 * usage: ring_polling [--smoke | ROUNDS] */
#include <pthread.h>
#include <stdlib.h>

#include "base/util.h"
#include "cpus.h"
#include "hist.h"
#include "ring/ring.h"

static cpu_set_t allowed; /* before anybody is bound */

#define OVER UINT64_MAX
#define WARM_UP 100
#define SECONDS_MAX 3 /* on a busy machine there are fewer rounds */

static bool alone; /* one CPU for both */

static void publish(struct sx_ring *ring, uint64_t number, size_t size)
{
    static _Thread_local uint8_t body[SX_RING_RECORD_MAX]; /* zeroed once: not what is measured */
    const struct iovec iov = { body, size };

    memcpy(body, &number, sizeof(number));
    if (sx_ring_publish(ring, 1, 1, &iov, 1, NULL) != PMIX_SUCCESS) {
        abort();
    }
}

/* Return: false for the number that ends it. */
static bool take(struct sx_ring_cursor *cursor, uint64_t number)
{
    _Alignas(8) uint8_t buf[SX_RING_RECORD_MAX];
    uint64_t lost, got;

    for (unsigned misses = 0; sx_ring_next(cursor, UINT32_MAX, buf, &lost) != PMIX_SUCCESS;) {
        if (alone || ++misses % 65536 == 0) {
            sched_yield(); /* somebody else may hold the other CPU */
        }
    }
    memcpy(&got, buf + sizeof(struct sx_record_header), sizeof(got));
    if (got != number && got != OVER) {
        abort();
    }
    return got != OVER;
}

struct side {
    struct sx_ring *out;
    const struct sx_ring *in;
    size_t size;
};

static void *answer(void *arg)
{
    const struct side *const side = arg;
    struct sx_ring_cursor cursor;

    cpus_bind(&allowed, 1);
    sx_ring_seek_oldest(&cursor, side->in);
    for (uint64_t i = 1; take(&cursor, i); i++) {
        publish(side->out, i, side->size);
    }
    return NULL;
}

static int measure(size_t size, uint64_t rounds)
{
    static struct hist hist;
    struct sx_ring there, back;
    struct sx_ring_cursor cursor;
    pthread_t thread;
    char more[64];

    if (sx_ring_create(&there, "there", 0, NULL) != PMIX_SUCCESS ||
        sx_ring_create(&back, "back", 0, NULL) != PMIX_SUCCESS) {
        return 1;
    }
    struct side side = { .out = &back, .in = &there, .size = size };

    memset(&hist, 0, sizeof(hist));
    cpus_bind(&allowed, 0);
    sx_ring_seek_oldest(&cursor, &back);
    if (pthread_create(&thread, NULL, answer, &side) != 0) {
        return 1;
    }
    const uint64_t end_ns = hist_now_ns() + SECONDS_MAX * UINT64_C(1000000000);
    uint64_t begin_ns = 0;

    for (uint64_t i = 1; i <= rounds && begin_ns < end_ns; i++) {
        begin_ns = hist_now_ns();
        publish(&there, i, size);
        take(&cursor, i);
        if (i > WARM_UP || rounds < WARM_UP) {
            hist_add(&hist, (hist_now_ns() - begin_ns) / 2);
        }
    }
    publish(&there, OVER, size);
    pthread_join(thread, NULL);
    snprintf(more, sizeof(more), ", \"bytes\": %zu, \"cpus\": %d", size, alone ? 1 : 2);
    hist_print(&hist, "ring_polling", more);
    sx_ring_deinit(&there);
    sx_ring_deinit(&back);
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 16, 120, 504 };
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const uint64_t rounds = smoke ? 20 : argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    int failed = 0;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return 1;
    }
    alone = CPU_COUNT(&allowed) < 2;
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        failed |= measure(sizes[i], rounds);
    }
    return failed;
}
