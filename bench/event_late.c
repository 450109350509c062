/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_late.c
 * Question:  how soon has a handler that is registered late had the 512 events kept for it?
 * Predict:   200 us until the last call, all in order: one request, one copy, 512 calls.
 * Method:    rank 0 publishes 512 events to its node, a fence, then rank 1 registers; the time
 *            from there to the last call of the handler.  Again with another code, ROUNDS times;
 *            the registration is taken back each time.
 * Varies:    the library (bench/instrument).  Fixed: one number as payload.
 * usage: event_late [ROUNDS [EVENTS]]   (2 ranks) */
#include "event_common.h"

static struct hist hist;
static uint64_t events, next_seq, last_ns, got, out_of_order, missing;
static sem_t over;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    const uint64_t seq = event_seq(info, ninfo);

    (void)id;
    (void)status;
    (void)source;
    (void)results;
    (void)nresults;
    last_ns = hist_now_ns();
    if (seq != next_seq) {
        out_of_order++;
    }
    next_seq = seq + 1;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    if (++got == events) {
        sem_post(&over);
    }
}

/* Return: false when not all have come within two seconds. */
static bool wait_for_all(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    return sem_timedwait(&over, &until) == 0;
}

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
    char more[96];

    events = argc > 2 ? strtoull(argv[2], NULL, 10) : 512;
    sem_init(&over, 0, 0);
    job_begin();
    for (unsigned round = 0; round < rounds; round++) {
        pmix_status_t code = EVENT_CODE - (pmix_status_t)round;

        if (me.rank == 0) {
            for (uint64_t seq = 1; seq <= events; seq++) {
                struct event_infos e;

                event_infos_set(&e, seq, 0);
                must(PMIx_Notify_event(code, &me, PMIX_RANGE_LOCAL, e.info, 1, NULL, NULL),
                     "notify");
            }
        }
        meet();
        if (me.rank == 1) {
            got = 0;
            next_seq = 1;
            const uint64_t begin_ns = hist_now_ns();
            const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL,
                                                                 NULL);

            if (id < 0) {
                must(id, "registering a handler");
            }
            if (!wait_for_all()) {
                missing += events - got; /* a library that does not keep them */
            }
            hist_add(&hist, last_ns - begin_ns);
            must(PMIx_Deregister_event_handler((size_t)id, NULL, NULL), "taking a handler back");
        }
        meet();
    }
    if (me.rank == 1) {
        snprintf(more, sizeof(more), ", \"out_of_order\": %llu, \"missing\": %llu",
                 (unsigned long long)out_of_order, (unsigned long long)missing);
        hist_print(&hist, "late", more);
    }
    job_end();
    return 0;
}
