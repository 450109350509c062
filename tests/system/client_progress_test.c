/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_progress_test.c - ranks that make their own progress, and never have a thread. */
#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

static int thread_count(void)
{
    DIR *const dir = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static void init(void)
{
    pmix_info_t info;

    info = info_flag(PMIX_EXTERNAL_PROGRESS);
    info.flags = PMIX_INFO_REQD;
    CHECK_STATUS(PMIx_Init(&me, &info, 1), PMIX_SUCCESS);
}

struct flag {
    bool up;
    pmix_status_t status;
    uint32_t number;
};

static void on_fence(pmix_status_t status, void *cbdata)
{
    struct flag *const flag = cbdata;

    *flag = (struct flag){ .up = true, .status = status };
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    struct flag *const flag = cbdata;

    *flag = (struct flag){ .up = true, .status = status };
    if (status == PMIX_SUCCESS) {
        flag->number = value->data.uint32;
    }
}

/* Bounded by the rank's alarm. */
static void progress_until(const struct flag *flag)
{
    while (!flag->up) {
        PMIx_Progress();
        sched_yield();
    }
    CHECK_STATUS(flag->status, PMIX_SUCCESS);
}

static void put_number(const char *key, uint32_t number)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
}

static int callbacks_wait_for_progress(int rank)
{
    struct flag fence = { .up = false }, value = { .up = false };
    pmix_proc_t other;

    init();
    other = me;
    other.rank = 1 - me.rank;
    CHECK_STATUS(PMIx_Get_nb(&other, "later", NULL, 0, on_value, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_fence, &fence), PMIX_SUCCESS);
    progress_until(&fence);
    CHECK(!value.up); /* both have asked, nobody has put */
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    put_number("later", 70 + (uint32_t)rank);
    progress_until(&value);
    CHECK(value.number == 70 + other.rank);
    CHECK(thread_count() == 1);
    return rank_end();
}

static struct flag lost;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    lost.up = status == PMIX_ERR_LOST_CONNECTION;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static int events_wait_for_progress(int rank)
{
    init();
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    job_token_put(0);
    progress_until(&lost);
    CHECK(thread_count() == 1);
    return rank_end();
}

static int end_the_server(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return 0;
}

static const struct job_case cases[] = {
    { "callbacks_wait_for_progress", 2, callbacks_wait_for_progress },
    { "events_wait_for_progress", 2, events_wait_for_progress, end_the_server },
};

JOB_MAIN(cases)
