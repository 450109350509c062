/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_polling.c
 * Question:  how long from PMIx_Notify_event in one rank to another that polls a native reader?
 * Predict:   at most 1 us from the server's publication to a reader on another CPU (ring_polling),
 *            and the wake of the server in front of that.
 * Method:    ping-pong of two ranks that call shmix_events_next until the number comes; half of a
 *            round trip is one sample, a tenth is warm-up.
 * Varies:    nothing.  Fixed: one number as payload.  Needs our library.
 * usage: event_polling [ROUNDS]   (2 ranks) */
#include <sched.h>
#include <shmix.h>

#include "event_common.h"

static struct hist hist;

static void send_number(uint64_t seq, uint32_t rank)
{
    struct event_infos e;

    event_infos_set(&e, seq, rank);
    must(PMIx_Notify_event(EVENT_CODE, &me, PMIX_RANGE_CUSTOM, e.info, 2, NULL, NULL), "notify");
}

static void take_number(shmix_events_t *events, uint64_t seq)
{
    shmix_event_t event;
    shmix_value_t value;
    pmix_status_t rc;

    while ((rc = shmix_events_next(events, &event)) == PMIX_ERR_NOT_FOUND) {
        sched_yield(); /* the server may need this CPU */
    }
    must(rc, "the next event");
    must(shmix_event_find(&event, EVENT_SEQ_KEY, &value), "its number");
    if (value.number.u64 != seq) {
        fprintf(stderr, "event_polling: not number %llu\n", (unsigned long long)seq);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    const pmix_status_t code = EVENT_CODE;
    shmix_events_t *events = NULL;

    job_begin();
    must(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events), "open");
    meet();
    for (uint64_t seq = 1; seq <= rounds && me.rank < 2; seq++) {
        const uint64_t begin_ns = hist_now_ns();

        if (me.rank == 0) {
            send_number(seq, 1);
            take_number(events, seq);
            if (seq > rounds / 10) {
                hist_add(&hist, (hist_now_ns() - begin_ns) / 2);
            }
        } else {
            take_number(events, seq);
            send_number(seq, 0);
        }
    }
    if (me.rank == 0) {
        hist_print(&hist, "polling", "");
    }
    must(shmix_events_close(events), "close");
    job_end();
    return 0;
}
