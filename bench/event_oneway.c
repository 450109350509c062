/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_oneway.c
 * Question:  how long from PMIx_Notify_event in one rank to the handler in another that sleeps?
 * Predict:   the wakes of the server and of the receiver, and 3 us for the rest.
 * Method:    ping-pong of two ranks, range PMIX_RANGE_CUSTOM, each reply sent inside the handler,
 *            so that all threads are asleep between two steps; half a round trip is one sample.
 *            A tenth of the rounds is warm-up.  `event_oneway wake` prices a futex wake in the same
 *            way: half of a ping-pong between two processes.
 * Varies:    the library (bench/instrument).  Fixed: one number as payload.
 * usage: event_oneway [ROUNDS | wake [ROUNDS]]   (2 ranks; wake: without a job) */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event_common.h"

static struct hist hist;

/* ---- the price of a wake ------------------------------------------------------------------------ */

static void futex_give(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_take(uint32_t *word, uint32_t value)
{
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        syscall(SYS_futex, word, FUTEX_WAIT, value - 1, NULL, NULL, 0);
    }
}

static int wake_measure(uint32_t rounds)
{
    uint32_t *const words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                 0);
    int status = 0;

    if (words == MAP_FAILED) {
        return 1;
    }
    const pid_t pid = fork();

    if (pid == 0) {
        for (uint32_t i = 1; i <= rounds; i++) {
            futex_take(&words[0], i);
            futex_give(&words[32], i);
        }
        _exit(0);
    }
    for (uint32_t i = 1; i <= rounds; i++) {
        const uint64_t begin_ns = hist_now_ns();

        futex_give(&words[0], i);
        futex_take(&words[32], i);
        if (i > rounds / 10) {
            hist_add(&hist, (hist_now_ns() - begin_ns) / 2);
        }
    }
    waitpid(pid, &status, 0);
    hist_print(&hist, "wake", "");
    return status == 0 ? 0 : 1;
}

/* ---- ping-pong -------------------------------------------------------------------------------------- */

#define IN_FLIGHT 64u

static uint64_t rounds, expected = 1, sent_ns;
static sem_t over;

static void sent(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    must(status, "notify");
}

static void send_number(uint64_t seq, uint32_t rank)
{
    static struct event_infos infos[IN_FLIGHT]; /* the library may read them until it calls back */
    struct event_infos *const e = &infos[seq % IN_FLIGHT];

    event_infos_set(e, seq, rank);
    must(PMIx_Notify_event(EVENT_CODE, &me, PMIX_RANGE_CUSTOM, e->info, 2, sent, NULL), "notify");
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    const uint64_t now_ns = hist_now_ns();
    const uint64_t seq = event_seq(info, ninfo);

    (void)id;
    (void)status;
    (void)source;
    (void)results;
    (void)nresults;
    if (seq != expected) {
        fprintf(stderr, "event_oneway: number %llu where %llu was due\n", (unsigned long long)seq,
                (unsigned long long)expected);
        exit(1);
    }
    expected++;
    if (me.rank == 0) {
        if (seq > rounds / 10) {
            hist_add(&hist, (now_ns - sent_ns) / 2);
        }
        if (seq < rounds) {
            sent_ns = hist_now_ns();
            send_number(seq + 1, 1);
        }
    } else {
        send_number(seq, 0);
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    if (seq == rounds) {
        sem_post(&over);
    }
}

int main(int argc, char **argv)
{
    const bool wake = argc > 1 && strcmp(argv[1], "wake") == 0;
    const char *const count = argc > 1 + wake ? argv[1 + wake] : "10000";

    rounds = strtoull(count, NULL, 10);
    if (rounds < 1) {
        fprintf(stderr, "event_oneway: rounds from 1\n");
        return 1;
    }
    if (wake) {
        return wake_measure((uint32_t)rounds);
    }
    sem_init(&over, 0, 0);
    job_begin();
    if (job_size < 2) {
        fprintf(stderr, "event_oneway: 2 ranks are needed\n");
        return 1;
    }
    if (me.rank < 2) {
        handle(EVENT_CODE, on_event);
    }
    meet();
    if (me.rank == 0) {
        sent_ns = hist_now_ns();
        send_number(1, 1);
    }
    if (me.rank < 2) {
        while (sem_wait(&over) != 0) {
        }
    }
    if (me.rank == 0) {
        hist_print(&hist, "oneway", "");
    }
    job_end();
    return 0;
}
