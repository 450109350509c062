/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lane_append.c
 * Question:  what does a submission cost its client, and the server that takes it, nobody asleep?
 * Predict:   about 10 ns an append of a small message, about the same a take; the doorbell of a
 *            server that is awake adds one ordered store (5-10 ns) and no system call.
 * Method:    one process with both mappings; batches that fit the lane, appended flat out, then
 *            taken; the best and the median batch count, in ns a message.
 * Varies:    body size.  Fixed: 2000 batches.  Control: the same appends with a doorbell each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "ring/lane.h"
#include "samples.h"

#define BATCHES_MAX 2000

static void report(const char *what, size_t size, double *ns, int count)
{
    samples_sort(ns, count);
    printf("%-16s %5zu bytes: best %6.1f ns, median %6.1f ns\n", what, size, ns[0], ns[count / 2]);
}

static double append_batch(struct sx_lane *lane, const struct iovec *iov, uint64_t messages,
                           bool ring)
{
    const uint64_t begin_ns = sx_now_ns();

    for (uint64_t i = 0; i < messages; i++) {
        sx_lane_append(lane, 1, iov, 1);
        if (ring) {
            sx_lane_doorbell(lane);
        }
    }
    return (double)(sx_now_ns() - begin_ns) / (double)messages;
}

static double take_batch(struct sx_lane_reader *reader, uint64_t messages, uint64_t *checksum)
{
    static uint8_t buf[SX_LANE_MESSAGE_MAX];
    const uint64_t begin_ns = sx_now_ns();
    uint32_t kind, len;

    while (sx_lane_take(reader, buf, &kind, &len) == PMIX_SUCCESS) {
        *checksum += len;
    }
    return (double)(sx_now_ns() - begin_ns) / (double)messages;
}

static uint64_t measure(struct sx_lane *lane, struct sx_lane_reader *reader, size_t size,
                        int batches)
{
    static double append_ns[BATCHES_MAX], bell_ns[BATCHES_MAX], take_ns[BATCHES_MAX];
    static uint8_t body[SX_LANE_MESSAGE_MAX];
    const uint64_t messages = SX_LANE_BYTES / 2 / (8 + sx_align_up(size, 8));
    const struct iovec iov = { body, size };
    uint64_t checksum = 0;

    for (int b = 0; b < batches; b++) {
        append_ns[b] = append_batch(lane, &iov, messages, false);
        take_ns[b] = take_batch(reader, messages, &checksum);
        bell_ns[b] = append_batch(lane, &iov, messages, true);
        take_batch(reader, messages, &checksum);
    }
    report("append", size, append_ns, batches);
    report("append, doorbell", size, bell_ns, batches);
    report("take", size, take_ns, batches);
    return checksum;
}

/* Return: false when the memory for it is not to be had. */
static bool open_both(struct sx_board *board, struct sx_board *view, struct sx_lane_reader *reader,
                      struct sx_lane *lane)
{
    uint32_t slot;
    int board_fd, lane_fd;

    if (sx_board_create(board, "bench", NULL) != PMIX_SUCCESS ||
        sx_board_slot_claim(board, &slot) != PMIX_SUCCESS ||
        sx_lane_create(reader, "bench.0", board, slot, NULL) != PMIX_SUCCESS ||
        sx_segment_share(&board->seg, &board_fd) != PMIX_SUCCESS ||
        sx_segment_share(&reader->seg, &lane_fd) != PMIX_SUCCESS ||
        sx_board_attach(view, board_fd) != PMIX_SUCCESS ||
        sx_lane_attach(lane, lane_fd, view, slot, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) !=
            PMIX_SUCCESS) {
        return false;
    }
    close(board_fd);
    close(lane_fd);
    return true;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 16, 64, 120, 504, 2000 };
    const int batches = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 3 : BATCHES_MAX;
    struct utsname host = { .release = "" };
    struct sx_board board, view;
    struct sx_lane_reader reader;
    struct sx_lane lane;
    uint64_t checksum = 0;

    uname(&host);
    printf("kernel %s, compiler %s, %d batches\n", host.release, __VERSION__, batches);
    if (!open_both(&board, &view, &reader, &lane)) {
        return 1;
    }
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        checksum += measure(&lane, &reader, sizes[i], batches);
    }
    printf("checksum %" PRIu64 "\n", checksum);
    sx_lane_detach(&lane);
    sx_lane_destroy(&reader);
    sx_board_deinit(&view);
    sx_board_deinit(&board);
    return 0;
}
