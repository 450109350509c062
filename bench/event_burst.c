/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_burst.c
 * Question:  how many events a second does one rank publish to 1, 8, 64 others, and do they come?
 * Predict:   500,000 a second and more, whatever the number of receivers; each of them either has
 *            every event, in order, or is told how many it has not had.
 * Method:    rank 0 calls PMIx_Notify_event flat out (range PMIX_RANGE_LOCAL); every other rank
 *            counts in a handler and checks the order.  Published: events by the time until the last
 *            call has returned.  Delivered: by the time until the last rank has had its last one.
 * Varies:    receivers.  Fixed: one number as payload, 100,000 events.
 * usage: event_burst [EVENTS]   (2 ranks or more; one line of JSON by rank 0) */
#include "event_common.h"

#define DONE_CODE (EVENT_CODE - 1)

static uint64_t events, next_seq = 1, got, lost_count;
static sem_t over;

static void answer(pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Numbers that are missing are lost; what was said of that is in lost_count. */
static uint64_t gaps;

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
    if (seq < next_seq) {
        fprintf(stderr, "event_burst: number %llu after %llu\n", (unsigned long long)seq,
                (unsigned long long)next_seq - 1);
        exit(1);
    }
    gaps += seq - next_seq;
    next_seq = seq + 1;
    got++;
    answer(cbfunc, cbdata);
    if (seq == events) {
        sem_post(&over);
    }
}

static void on_loss(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (info[i].value.type == PMIX_UINT64) {
            lost_count += info[i].value.data.uint64;
        }
    }
    answer(cbfunc, cbdata);
}

static void publish_all(void)
{
    struct event_infos e;

    for (uint64_t seq = 1; seq <= events; seq++) {
        event_infos_set(&e, seq, 0);
        must(PMIx_Notify_event(EVENT_CODE, &me, PMIX_RANGE_LOCAL, e.info, 1, NULL, NULL), "notify");
    }
}

/* Put under our own name, so that rank 0 finds it after a collecting fence. */
static void put_number(const char *key, uint64_t number)
{
    pmix_value_t value;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_UINT64;
    value.data.uint64 = number;
    must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
}

static uint64_t get_number(uint32_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value = NULL;

    proc.rank = rank;
    must(PMIx_Get(&proc, key, NULL, 0, &value), "get");
    const uint64_t number = value->data.uint64;

    free(value);
    return number;
}

static void fence_collect(void)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    must(PMIx_Fence(NULL, 0, &info, 1), "collecting fence");
}

static int report(uint64_t begin_ns, uint64_t published_ns)
{
    uint64_t last_ns = published_ns, all_got = 0, all_gaps = 0, all_lost = 0;

    for (uint32_t rank = 1; rank < job_size; rank++) {
        const uint64_t end_ns = get_number(rank, "bench.end");

        last_ns = end_ns > last_ns ? end_ns : last_ns;
        all_got += get_number(rank, "bench.got");
        all_gaps += get_number(rank, "bench.gaps");
        all_lost += get_number(rank, "bench.lost");
    }
    printf("{\"what\": \"burst\", \"receivers\": %u, \"events\": %llu, \"published_per_s\": %.0f, "
           "\"delivered_per_s\": %.0f, \"received\": %llu, \"missing\": %llu, "
           "\"reported_lost\": %llu}\n",
           job_size - 1, (unsigned long long)events,
           (double)events * 1e9 / (double)(published_ns - begin_ns),
           (double)events * 1e9 / (double)(last_ns - begin_ns), (unsigned long long)all_got,
           (unsigned long long)all_gaps, (unsigned long long)all_lost);
    fflush(stdout);
    return all_gaps == all_lost && all_got + all_gaps == events * (job_size - 1) ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t begin_ns = 0, published_ns = 0;
    int rc = 0;

    events = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    sem_init(&over, 0, 0);
    job_begin();
    if (me.rank != 0) {
        handle(EVENT_CODE, on_event);
        handle(EVENT_LOST_CODE, on_loss);
    }
    meet();
    if (me.rank == 0) {
        begin_ns = hist_now_ns();
        publish_all();
        published_ns = hist_now_ns();
    } else {
        while (sem_wait(&over) != 0) {
        }
        put_number("bench.end", hist_now_ns());
        put_number("bench.got", got);
        put_number("bench.gaps", gaps);
        put_number("bench.lost", lost_count);
        must(PMIx_Commit(), "commit");
    }
    fence_collect();
    if (me.rank == 0) {
        rc = report(begin_ns, published_ns);
    }
    job_end();
    return rc;
}
