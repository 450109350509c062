/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps.c - the seven steps of the hot paths, for bench/lines/instructions to count.
 *
 * Question:  how many instructions are a Get that hits, a Get of a number that a peer has put under a key that the
 *            caller has put as well, a number read by its handle, an event read from the ring, one handed to a
 *            handler, an append to a lane and a publication in a ring?
 * Predict:   either Get 400 (two probes, a malloc and a free), native 60, event 300, append and publication 100.
 * Found:     968, 1,101, 141, 447, 1,739, 164 and 177: Get is the one that was thought too cheap.
 * Method:    rank 0 of two under valgrind's callgrind; each step has a function of its own, whose instructions are
 *            counted and divided by COUNT.  Counts do not depend on the load, so a test bounds them.  Rank 1 only
 *            puts its number.
 * Varies:    nothing.  Fixed: bodies of 64 bytes.  Control: a loop of as many turns that does nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix.h>
#include <shmix.h>

#include "ring/board.h"
#include "ring/lane.h"
#include "ring/ring.h"

#define COUNT 256u
#define NUMBER_KEY "steps.number"
#define CODE (PMIX_EXTERNAL_ERR_BASE - 155)
#define STEP __attribute__((noinline)) static void

static pmix_proc_t job, peer;
static const shmix_key_t *key;
static shmix_events_t *events;
static struct sx_lane lane;
static struct sx_ring ring;
static uint8_t body[64];
static volatile uint64_t checksum, handled;

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "steps: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

STEP step_nothing(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        checksum += i;
    }
}

STEP step_get(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        pmix_value_t *value = NULL;

        need(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "PMIx_Get");
        checksum += value->data.uint32;
        free(value);
    }
}

STEP step_get_peer(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        pmix_value_t *value = NULL;

        need(PMIx_Get(&peer, NUMBER_KEY, NULL, 0, &value), "PMIx_Get");
        checksum += value->data.uint64;
        free(value);
    }
}

STEP step_native_read(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t number;

        need(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), "shmix_read_u64");
        checksum += number;
    }
}

STEP step_event_read(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        shmix_event_t event;

        need(shmix_events_next(events, &event), "shmix_events_next");
        checksum += event.number;
    }
}

STEP step_event_handle(void)
{
    PMIx_Progress();
}

STEP step_lane_append(void)
{
    const struct iovec iov = { body, sizeof(body) };

    for (unsigned i = 0; i < COUNT; i++) {
        checksum += sx_lane_append(&lane, 1, &iov, 1) == PMIX_SUCCESS;
    }
}

STEP step_ring_publish(void)
{
    const struct iovec iov = { body, sizeof(body) };

    for (unsigned i = 0; i < COUNT; i++) {
        need(sx_ring_publish(&ring, 1, 1, &iov, 1, NULL), "sx_ring_publish");
    }
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)results;
    (void)nresults;
    handled += ninfo;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Put a number, and have the numbers of all ranks. */
static void numbers_exchange(void)
{
    pmix_value_t number = { .type = PMIX_UINT64, .data.uint64 = 42 };
    pmix_info_t collect;
    bool yes = true;

    need(PMIx_Put(PMIX_GLOBAL, NUMBER_KEY, &number), "PMIx_Put");
    need(PMIx_Commit(), "PMIx_Commit");
    need(PMIx_Info_load(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL), "PMIx_Info_load");
    need(PMIx_Fence(NULL, 0, &collect, 1), "PMIx_Fence");
}

static int finish(void)
{
    need(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

/* Publish COUNT events and wait until the last is in the ring. */
static void events_make(void)
{
    const pmix_status_t code = CODE;
    shmix_events_t *watch;
    shmix_event_t event;
    pmix_info_t info;

    if (PMIx_Register_event_handler((pmix_status_t *)(uintptr_t)&code, 1, NULL, 0, on_event, NULL,
                                    NULL) < 0) {
        need(PMIX_ERROR, "PMIx_Register_event_handler");
    }
    need(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events), "shmix_events_open");
    need(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &watch), "shmix_events_open");
    for (uint64_t i = 0; i < COUNT; i++) {
        need(PMIx_Info_load(&info, "steps.number", &i, PMIX_UINT64), "PMIx_Info_load");
        need(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL), "notify");
    }
    for (unsigned i = 0; i < COUNT; i++) {
        need(shmix_events_wait(watch, SHMIX_FOREVER, &event), "shmix_events_wait");
    }
    need(shmix_events_close(watch), "shmix_events_close");
}

static void lane_make(void)
{
    static struct sx_board board, view;
    static struct sx_lane_reader reader;
    int board_fd, lane_fd;
    uint32_t slot;

    need(sx_board_create(&board, "steps", NULL), "sx_board_create");
    need(sx_board_slot_claim(&board, &slot), "sx_board_slot_claim");
    need(sx_lane_create(&reader, "steps.0", &board, slot, NULL), "sx_lane_create");
    need(sx_segment_share(&board.seg, &board_fd), "sx_segment_share");
    need(sx_segment_share(&reader.seg, &lane_fd), "sx_segment_share");
    need(sx_board_attach(&view, board_fd), "sx_board_attach");
    need(sx_lane_attach(&lane, lane_fd, &view, slot, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
         "sx_lane_attach");
    close(board_fd);
    close(lane_fd);
}

int main(void)
{
    shmix_job_t *handle;
    pmix_info_t external;

    /* So that this thread calls the handler. */
    need(PMIx_Info_load(&external, PMIX_EXTERNAL_PROGRESS, NULL, PMIX_BOOL), "PMIx_Info_load");
    need(PMIx_Init(&job, &external, 1), "PMIx_Init");
    numbers_exchange();
    if (job.rank != 0) {
        return finish();
    }
    peer = job;
    peer.rank = 1;
    job.rank = PMIX_RANK_WILDCARD;
    need(shmix_job_open(NULL, &handle), "shmix_job_open");
    need(shmix_key_find(handle, SHMIX_JOB, PMIX_JOB_SIZE, &key), "shmix_key_find");
    events_make();
    lane_make();
    need(sx_ring_create(&ring, "steps", 0, NULL), "sx_ring_create");
    step_nothing();
    step_get();
    step_get_peer();
    step_native_read();
    step_event_read();
    step_event_handle();
    need(handled == COUNT ? PMIX_SUCCESS : PMIX_ERROR, "the handler");
    step_lane_append();
    step_ring_publish();
    printf("%u of each, checksum %" PRIu64 "\n", COUNT, checksum);
    fflush(stdout);
    return finish();
}
