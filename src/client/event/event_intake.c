/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_intake.c - the events that the pump finds, and the server's notice of how far they are
 * read. */
#include "client/event/event.h"
#include "client/event/event_state.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "ring/record.h"

static void ring_begin(struct sx_link *link)
{
    link->events.newest = link->classes != 0 ? sx_event_published(link) : 0;
}

static void ring_lapped(struct sx_link *link)
{
    link->events.gap = link->classes != 0;
}

/* Report to the server how far events are read, when it asks for that: a lane message that wakes no
 * process.  Not while older events are still to be requested, or a registration waits for kept
 * ones: the server would not keep them.  When the lane is full or in use the next pump tries
 * again. */
static void cursor_tell(struct sx_link *link)
{
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&link->ring.header->cursor_wanted,
                                                 memory_order_relaxed);
    struct sx_lane_cursor cursor = { .seq = link->cursor.seq_next - 1 };
    const struct iovec iov = { .iov_base = &cursor, .iov_len = sizeof(cursor) };

    if (wanted <= link->events.cursor_told || cursor.seq < wanted || link->events.ranges != 0 ||
        sx_events.registrations != 0 ||
        pthread_mutex_trylock(&link->lane_lock) != 0) { /* its order is before the held lock */
        return;
    }
    if (sx_lane_append(&link->lane, SX_LANE_CURSOR, &iov, 1) == PMIX_SUCCESS) {
        link->events.cursor_told = cursor.seq;
    }
    pthread_mutex_unlock(&link->lane_lock);
}

/* The server asks when a process waits for the handlers (server/event/event.h). */
static void handled_tell(struct sx_link *link)
{
    const uint64_t seq = link->cursor.seq_next - 1;
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&link->ring.header->handled_wanted,
                                                 memory_order_relaxed);

    if (wanted > link->events.handled_told && seq >= wanted && sx_event_all_handled_locked()) {
        link->events.handled_told = seq;
        sx_lane_handled(&link->lane, seq);
    }
}

static void ring_end(struct sx_link *link)
{
    if (link->classes != 0) {
        sx_event_read_to_locked(link);
        cursor_tell(link);
        handled_tell(link);
    }
}

/* If no event is queued, all events that were read have been handled. */
static struct sx_task *take(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_task *const event = sx_event_take_locked();

    for (unsigned i = 0; event == NULL && i < p->link_count; i++) {
        if (p->links[i]->classes != 0 && sx_link_is_live(p->links[i])) {
            handled_tell(p->links[i]);
        }
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
