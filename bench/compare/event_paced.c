/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_paced.c - events at a rate: one way, to one receiver or to many, on idle CPUs or busy ones.
 *
 * Question:  how long from the moment at which an event is due until its handler runs, in each receiver
 *            (each) and in the last of them (last), when events come at a rate?
 * Predict:   one receiver, asleep: the wakes of the server and of the receiver, and 3 us. The last of 64:
 *            64 wakes by as many CPUs. Under load: what the scheduler adds.
 * Method:    rank 0 publishes to the node (Open MPI's mpirun takes no namespace for a range) when an
 *            event is due, however late it is with that itself: so a stall is in the times of all
 *            events that it has delayed, and nothing is left out (coordinated omission).  The clock is
 *            the node's; times lie in shared memory, which no library knows.  Half a second at the
 *            same rate is warm-up and thrown away.
 * Varies:    receivers (ranks less one); rate (argv[2], events/s); busy processes, children of rank 0
 *            that compute (argv[3]).  Fixed: one number as payload.  Control: how late rank 0 is itself
 *            (late); it spends the last tenth of a millisecond looking at the clock, as timers are late.
 * usage: event_paced [EVENTS [RATE [BUSY]]]   (2 ranks or more; lines of JSON by rank 0) */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "meeting.h"

#include "../hist.h"

#define CODE (PMIX_EXTERNAL_ERR_BASE - 153)
#define EVENTS_MAX 4096u
#define BUSY_MAX 64
#define EYES_NS 100000u
#define GRACE_NS UINT64_C(5000000000) /* for the last events to come */

/* Written by the receivers. */
static struct table {
    _Atomic uint64_t got, last_ns[EVENTS_MAX];
    _Atomic uint32_t steps[HIST_ROWS * HIST_STEPS];
} * table;

static pmix_proc_t me;
static uint64_t due_ns[EVENTS_MAX], warm;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    const uint64_t now_ns = hist_now_ns();
    uint64_t number = EVENTS_MAX, due = 0;

    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, "paced.number") == 0) {
            number = info[i].value.data.uint64;
        } else if (strcmp(info[i].key, "paced.due") == 0) {
            due = info[i].value.data.uint64;
        }
    }
    if (number < EVENTS_MAX) {
        uint64_t last = atomic_load(&table->last_ns[number]);

        while (last < now_ns &&
               !atomic_compare_exchange_weak(&table->last_ns[number], &last, now_ns)) {
        }
        if (number >= warm) {
            atomic_fetch_add(&table->steps[hist_step(now_ns - due)], 1);
        }
        atomic_fetch_add(&table->got, 1);
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void table_open(void)
{
    char name[PMIX_MAX_NSLEN + 32];

    snprintf(name, sizeof(name), "/bench-paced.%s", me.nspace);
    for (char *at = name + 1; *at != '\0'; at++) {
        *at = *at == '/' ? '.' : *at;
    }
    const int fd = shm_open(name, O_RDWR | O_CREAT, 0600);

    if (fd < 0 || ftruncate(fd, sizeof(*table)) != 0) {
        must(PMIX_ERR_NOMEM, "shm_open");
    }
    table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(table == MAP_FAILED ? PMIX_ERR_NOMEM : PMIX_SUCCESS, "mmap");
    close(fd);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence"); /* all have opened it */
    shm_unlink(name);
}

static void sleep_until(uint64_t ns)
{
    const struct timespec until = { .tv_sec = (time_t)(ns / 1000000000u),
                                    .tv_nsec = (long)(ns % 1000000000u) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

static void publish(uint64_t number)
{
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], "paced.number", &number, PMIX_UINT64);
    PMIX_INFO_LOAD(&info[1], "paced.due", &due_ns[number], PMIX_UINT64);
    const pmix_status_t rc = PMIx_Notify_event(CODE, &me, PMIX_RANGE_LOCAL, info, 2, NULL, NULL);

    must(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, "notify");
}

static void report(uint64_t events, uint64_t rate, int busy, uint32_t receivers)
{
    static struct hist each, last;
    char more[160];

    snprintf(more, sizeof(more),
             ", \"receivers\": %u, \"rate\": %llu, \"busy\": %d, \"missing\": %llu", receivers,
             (unsigned long long)rate, busy,
             (unsigned long long)(events * receivers - atomic_load(&table->got)));
    for (unsigned i = 0; i < HIST_ROWS * HIST_STEPS; i++) {
        for (uint32_t k = atomic_load(&table->steps[i]); k > 0; k--) {
            hist_add(&each, hist_value(i));
        }
    }
    for (uint64_t i = warm; i < events; i++) {
        const uint64_t at_ns = atomic_load(&table->last_ns[i]);

        if (at_ns != 0) {
            hist_add(&last, at_ns - due_ns[i]);
        }
    }
    hist_print(&each, "each", more);
    hist_print(&last, "last", more);
}

static void publish_all(uint64_t events, uint64_t rate, int busy, uint32_t receivers)
{
    const uint64_t begin_ns = hist_now_ns() + 20000000;
    static struct hist late;

    prctl(PR_SET_TIMERSLACK, 1);
    pid_t pids[BUSY_MAX];

    for (int i = 0; i < busy; i++) {
        pids[i] = fork();
        while (pids[i] == 0) {
            (void)hist_now_ns();
        }
    }
    for (uint64_t i = 0; i < events; i++) {
        due_ns[i] = begin_ns + i * 1000000000u / rate;
        sleep_until(due_ns[i] - EYES_NS);
        while (hist_now_ns() < due_ns[i]) {
        }
        if (i >= warm) {
            hist_add(&late, hist_now_ns() - due_ns[i]);
        }
        publish(i);
    }
    const uint64_t end_ns = hist_now_ns() + GRACE_NS;

    while (atomic_load(&table->got) < events * receivers && hist_now_ns() < end_ns) {
        sleep_until(hist_now_ns() + 1000000);
    }
    for (int i = 0; i < busy; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    report(events, rate, busy, receivers);
    hist_print(&late, "late", "");
}

int main(int argc, char **argv)
{
    const uint64_t asked = rounds_of(argc, argv, 1000);
    const uint64_t rate = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const int busy = argc > 3 ? atoi(argv[3]) : 0;
    pmix_status_t code = CODE;

    if (rate < 1 || busy < 0 || busy > BUSY_MAX) {
        fprintf(stderr, "event_paced: a rate from 1, busy processes from 0 to %d\n", BUSY_MAX);
        return 1;
    }
    warm = rate / 2 < asked / 2 ? rate / 2 : asked / 2;
    must(PMIx_Init(&me, NULL, 0), "init");
    const uint32_t size = job_size(&me);

    table_open();
    if (me.rank != 0) {
        const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL,
                                                             NULL);

        must(id < 0 ? id : PMIX_SUCCESS, "registering a handler");
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    if (me.rank == 0 && size > 1) {
        publish_all(asked, rate, busy, size - 1);
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
