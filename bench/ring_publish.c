/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring_publish.c
 * Question:  what does one record cost the writer of a ring, and one reader of the backlog?
 * Predict:   5-10 ns to publish a small record, about the same to read it; no system call.
 * Method:    one process; batches of records that fit the ring, published flat out, then read
 *            back; the best and the median batch count, in ns a record.
 * Varies:    body size.  Fixed: ring of 1 MiB, 200 batches.  Control: memcpy of the same bytes
 *            into the same amount of memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/util.h"
#include "ring/ring.h"
#include "samples.h"

#define BATCHES_MAX 200

static void report(const char *what, size_t size, double *ns, int count)
{
    samples_sort(ns, count);
    printf("%-10s %5zu bytes: best %6.1f ns, median %6.1f ns\n", what, size, ns[0], ns[count / 2]);
}

static uint64_t measure(struct sx_ring *ring, size_t size, int batches)
{
    static double publish_ns[BATCHES_MAX], read_ns[BATCHES_MAX], copy_ns[BATCHES_MAX];
    static uint8_t body[SX_RING_RECORD_MAX], buf[SX_RING_RECORD_MAX];
    static uint8_t plain[SX_RING_BYTES];
    const uint64_t span = sx_align_up(sizeof(struct sx_record_header) + size, 8);
    const uint64_t records = SX_RING_BYTES / 2 / span;
    const struct iovec iov = { body, size };
    struct sx_ring_cursor cursor;
    uint64_t checksum = 0, lost = 0, at = 0;

    sx_ring_seek_now(&cursor, ring);
    for (int b = 0; b < batches; b++) {
        uint64_t begin_ns = sx_now_ns();

        for (uint64_t i = 0; i < records; i++) {
            memcpy(body, &i, size < 8 ? size : 8);
            sx_ring_publish(ring, 1, (uint16_t)(i % SX_RING_CLASS_MAX), &iov, 1, NULL);
        }
        publish_ns[b] = (double)(sx_now_ns() - begin_ns) / (double)records;

        begin_ns = sx_now_ns();
        while (sx_ring_next(&cursor, UINT32_MAX, buf, &lost) == PMIX_SUCCESS) {
            checksum += buf[sizeof(struct sx_record_header)];
        }
        read_ns[b] = (double)(sx_now_ns() - begin_ns) / (double)records;

        begin_ns = sx_now_ns();
        for (uint64_t i = 0; i < records; i++) {
            memcpy(body, &i, size < 8 ? size : 8);
            at = at + span > sizeof(plain) ? 0 : at;
            memcpy(plain + at, body, size);
            __asm__ volatile("" : : "r"(plain) : "memory");
            at += span;
        }
        copy_ns[b] = (double)(sx_now_ns() - begin_ns) / (double)records;
    }
    report("publish", size, publish_ns, batches);
    report("read", size, read_ns, batches);
    report("memcpy", size, copy_ns, batches);
    return checksum;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 16, 48, 120, 504, 2000 };
    const int batches = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 3 : BATCHES_MAX;
    struct utsname host = { .release = "" };
    struct sx_ring ring;
    uint64_t checksum = 0;

    uname(&host);
    printf("kernel %s, compiler %s, %d batches\n", host.release, __VERSION__, batches);
    if (sx_ring_create(&ring, "bench", 0, NULL) != PMIX_SUCCESS) {
        return 1;
    }
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        checksum += measure(&ring, sizes[i], batches);
    }
    printf("checksum %" PRIu64 "\n", checksum);
    sx_ring_deinit(&ring);
    return 0;
}
