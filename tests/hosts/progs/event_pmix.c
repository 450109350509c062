/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_pmix.c - an event from rank 0 to its whole namespace, over all nodes; every rank hears it once.
 *
 * Two events follow each other on one way, so when the second is here the first has come as often as it
 * ever will.  A host that carries no events makes rank 0 be told PMIX_ERR_PARTIAL_SUCCESS: then its own
 * node alone hears them.  Exit status: 1 if anything was wrong. */
#include <pmix.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEWS (-3301)
#define LAST (-3302)

static pmix_proc_t me;
static atomic_int news_count;
static sem_t last_is_here, is_notified;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    if (status == NEWS) {
        atomic_fetch_add(&news_count, 1);
    } else {
        sem_post(&last_is_here);
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        printf("rank %u: %s: %s (%d)\n", me.rank, what, PMIx_Error_string(rc), rc);
        exit(1);
    }
}

static void on_notified(pmix_status_t status, void *cbdata)
{
    *(pmix_status_t *)cbdata = status;
    sem_post(&is_notified);
}

/* With a callback: without one OpenPMIx does not wait for its server's answer. */
static pmix_status_t notify(pmix_status_t code)
{
    pmix_status_t status;
    const pmix_status_t rc = PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, NULL, 0,
                                               on_notified, &status);

    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    }
    sem_wait(&is_notified);
    return status;
}

/* Rank 0's word on how far its events went, told by a value. */
static pmix_status_t reach_notify(pmix_status_t reach)
{
    pmix_value_t value, *got = NULL;
    pmix_proc_t first = me;
    pmix_info_t info;

    if (me.rank == 0) {
        memset(&value, 0, sizeof(value));
        value.type = PMIX_INT32;
        value.data.int32 = reach;
        must(PMIx_Put(PMIX_GLOBAL, "event.reach", &value), "put");
        must(PMIx_Commit(), "commit");
    }
    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    must(PMIx_Fence(NULL, 0, &info, 1), "fence");
    first.rank = 0;
    must(PMIx_Get(&first, "event.reach", NULL, 0, &got), "get");
    reach = got->data.int32;
    PMIX_VALUE_RELEASE(got);
    return reach;
}

/* Does rank 0 live on this node? */
static int is_near(void)
{
    pmix_proc_t *peers = NULL;
    size_t count = 0;
    int near = 0;

    must(PMIx_Resolve_peers(NULL, me.nspace, &peers, &count), "local peers");
    for (size_t i = 0; i < count; i++) {
        near |= peers[i].rank == 0;
    }
    free(peers);
    return near;
}

int main(void)
{
    pmix_status_t codes[] = { NEWS, LAST }, reach = PMIX_SUCCESS;
    struct timespec until;

    sem_init(&last_is_here, 0, 0);
    sem_init(&is_notified, 0, 0);
    must(PMIx_Init(&me, NULL, 0), "init");
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, NULL, NULL) < 0) {
        must(PMIX_ERROR, "a handler");
    }
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    if (me.rank == 0) {
        reach = notify(NEWS);
        const pmix_status_t rc = notify(LAST);
        reach = reach == PMIX_SUCCESS ? rc : reach;
    }
    reach = reach_notify(reach);
    if (reach != PMIX_ERR_PARTIAL_SUCCESS) {
        must(reach, "notify");
    }
    int wrong = 0;
    if (reach == PMIX_SUCCESS || is_near()) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 30;
        wrong = sem_timedwait(&last_is_here, &until) != 0 || atomic_load(&news_count) != 1;
    }
    printf("rank %u: reach %d, heard %d times: %s\n", me.rank, reach, atomic_load(&news_count),
           wrong ? "WRONG" : "ok");
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return wrong;
}
