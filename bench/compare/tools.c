/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tools.c - tools come and go while a job fences and runs events.
 *
 * Question:  does a job feel tools that come, ask and go?
 * Predict:   no more than processes that come and go beside it and do nothing: a tool costs the
 *            server's thread some 50 us, and the ranks nothing.
 * Method:    three windows: nobody beside the job; processes that start and end, one every 5 ms;
 *            tools that do the same and meanwhile init, ask for the jobs and finalize.  All
 *            ranks fence, each fence is timed; every 16 fences rank 0 publishes an event with the
 *            time, and the handlers of the others say how old it is.
 * Varies:    ranks.  Control: the second window; what starts a process takes the CPUs as well.
 * argv[1]: processes, and tools.  Every rank but the first prints one line of JSON. */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tool.h"

#define IDLE "--idle"
#define BLOCK 16
#define PACE_US 5000 /* from the start of one process to that of the next, if it has ended */
#define QUIET_BLOCKS 512
#define SAMPLES_MAX 65536
#define CODE (PMIX_EXTERNAL_ERR_BASE - 71)
#define AT "bench.at"

static struct series {
    double all[SAMPLES_MAX];
    _Atomic size_t count;
} fences, events;

static void series_add(struct series *series, double sample)
{
    const size_t at = atomic_fetch_add(&series->count, 1);

    if (at < SAMPLES_MAX) {
        series->all[at] = sample;
    }
}

static double series_median(struct series *series)
{
    const size_t count = atomic_load(&series->count);

    return count == 0 ? 0 : median(series->all, count < SAMPLES_MAX ? count : SAMPLES_MAX);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const double now = now_us();

    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, AT) == 0) {
            series_add(&events, now - info[i].value.data.dval);
        }
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void event_publish(const pmix_proc_t *me)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, AT);
    info.value.type = PMIX_DOUBLE;
    info.value.data.dval = now_us();
    const pmix_status_t rc = PMIx_Notify_event(CODE, me, PMIX_RANGE_LOCAL, &info, 1, NULL, NULL);

    must(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, "notify");
}

/* ---- those beside the job -------------------------------------------------------------------- */

/* One after the other.  Return: the process that starts them. */
static pid_t others_start(const char *what, size_t count)
{
    char server[16];
    const pid_t launcher = getppid(), driver = fork();

    if (driver != 0) {
        return driver;
    }
    snprintf(server, sizeof(server), "%d", (int)launcher);
    for (size_t i = 0; i < count; i++) {
        const double next = now_us() + PACE_US;
        const pid_t pid = fork();
        int status;

        if (pid == 0) {
            tool_exec(what, server);
        }
        if (waitpid(pid, &status, 0) != pid || status != 0) {
            _exit(1);
        }
        const double left = next - now_us();

        usleep(left > 0 ? (useconds_t)left : 0);
    }
    _exit(0);
}

/* Rank 0 says whether there is another block; all hear it. */
static bool agree(const pmix_proc_t *me, bool more)
{
    static unsigned number;
    pmix_value_t value, *got = NULL;
    pmix_proc_t first = *me;
    char key[32];

    snprintf(key, sizeof(key), "more.%u", number++);
    if (me->rank == 0) {
        memset(&value, 0, sizeof(value));
        value.type = PMIX_BOOL;
        value.data.flag = more;
        must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
        must(PMIx_Commit(), "commit");
    }
    fence_collect();
    first.rank = 0;
    must(PMIx_Get(&first, key, NULL, 0, &got), "get");
    more = got->data.flag;
    free(got);
    return more;
}

/* @what: who comes and goes meanwhile, @count of them; NULL: nobody.  Return: seconds. */
static double window(const pmix_proc_t *me, const char *what, size_t count)
{
    const pid_t driver = me->rank == 0 && what != NULL ? others_start(what, count) : -1;
    const double begin = now_us();
    int status = 0;

    atomic_store(&fences.count, 0);
    atomic_store(&events.count, 0);
    for (unsigned block = 0;
         agree(me, what == NULL ? block < QUIET_BLOCKS : waitpid(driver, &status, WNOHANG) == 0);
         block++) {
        for (int i = 0; i < BLOCK; i++) {
            const double at = now_us();

            must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
            series_add(&fences, now_us() - at);
        }
        if (me->rank == 0) {
            event_publish(me);
        }
    }
    must(status == 0 ? PMIX_SUCCESS : PMIX_ERROR, "those beside the job");
    return (now_us() - begin) / 1e6;
}

int main(int argc, char **argv)
{
    pmix_status_t code = CODE;
    pmix_proc_t me;

    if (tool_is(argc, argv, IDLE)) {
        return 0;
    }
    if (tool_is(argc, argv, TOOL)) {
        (void)tool_live(argv[2]);
        return 0;
    }
    if (!host_is_rank()) {
        return host_run(argc > 2 ? (unsigned)atoi(argv[2]) : 2, argv);
    }
    const size_t count = rounds_of(argc, argv, 64);

    must(PMIx_Init(&me, NULL, 0), "init");
    if (me.rank != 0) {
        must(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0
                 ? PMIX_SUCCESS
                 : PMIX_ERROR,
             "handler");
    }
    (void)window(&me, NULL, 0);
    const double fence = series_median(&fences), event = series_median(&events);

    (void)window(&me, IDLE, count);
    const double fence_beside = series_median(&fences), event_beside = series_median(&events);
    const double seconds = window(&me, TOOL, count);

    if (me.rank != 0) {
        printf("{\"rank\": %u, \"fence_us\": %.1f, \"fence_beside_us\": %.1f, "
               "\"fence_tools_us\": %.1f, \"event_us\": %.1f, \"event_beside_us\": %.1f, "
               "\"event_tools_us\": %.1f, \"tools_per_s\": %.1f}\n",
               me.rank, fence, fence_beside, series_median(&fences), event, event_beside,
               series_median(&events), me.rank == 1 ? (double)count / seconds : 0);
        fflush(stdout);
    }
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
