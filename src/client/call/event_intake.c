/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_intake.c - what the pump finds of events, and what it tells the server of them. */
#include "client/call/event.h"
#include "client/call/event_state.h"
#include "client/link/process.h"
#include "client/link/progress.h"
#include "ring/record.h"

/* Counted before the ring is read: what is counted has been read at its end.  Under lock. */
static uint64_t newest;

static void ring_begin(void)
{
    newest = sx_process.link.classes != 0 ? sx_event_published() : 0;
}

static void ring_lapped(void)
{
    sx_events.gap = sx_process.link.classes != 0;
}

/* Tell the server how far we have read, when it wants to know: a lane message, and nobody is woken.
 * Not while we still have to ask for events below, or wait for the kept ones of a registration: it
 * would not keep them.  When the lane is full or in use the next pump tries again. */
static void cursor_tell(struct sx_process *p)
{
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&p->link.ring.header->cursor_wanted,
                                                 memory_order_relaxed);
    struct sx_lane_cursor cursor = { .seq = p->link.cursor.seq_next - 1 };
    const struct iovec iov = { .iov_base = &cursor, .iov_len = sizeof(cursor) };

    if (wanted <= sx_events.cursor_told || cursor.seq < wanted || sx_events.ranges != 0 ||
        sx_events.registrations != 0 ||
        pthread_mutex_trylock(&p->link.lane_lock) != 0) { /* it comes before the lock we have */
        return;
    }
    if (sx_lane_append(&p->link.lane, SX_LANE_CURSOR, &iov, 1) == PMIX_SUCCESS) {
        sx_events.cursor_told = cursor.seq;
    }
    pthread_mutex_unlock(&p->link.lane_lock);
}

/* The server asks when somebody waits for it (server/engine/event_handled.h). */
static void handled_tell(struct sx_process *p)
{
    const uint64_t seq = p->link.cursor.seq_next - 1;
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&p->link.ring.header->handled_wanted,
                                                 memory_order_relaxed);

    if (wanted > sx_events.handled_told && seq >= wanted && sx_event_all_handled_locked()) {
        sx_events.handled_told = seq;
        sx_lane_handled(&p->link.lane, seq);
    }
}

static void ring_end(void)
{
    struct sx_process *const p = &sx_process;

    if (p->link.classes != 0) {
        sx_event_read_to_locked(newest);
        cursor_tell(p);
        handled_tell(p);
    }
}

/* Without a next one all that was read has been handled. */
static struct sx_task *take(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_task *const event = sx_event_take_locked();

    if (event == NULL && p->link.classes != 0 && sx_link_is_live(&p->link)) {
        handled_tell(p);
    }
    return event;
}

const struct sx_intake sx_event_intake = {
    .record_kind = SX_RECORD_EVENT,
    .ring_begin = ring_begin,
    .record = sx_event_record_locked,
    .ring_lapped = ring_lapped,
    .ring_end = ring_end,
    .server_lost = sx_event_unreached_locked,
    .garbled = sx_event_garbled_locked,
    .link_lost = sx_event_lost_locked,
    .take = take,
    .waits = sx_event_waits_locked,
};
