/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - rank 0 says something, and a handler in every other rank hears it.
 *
 * Build and run:   cc event.c $(pkg-config --cflags --libs pmix) -o event
 *                  shmix run -n 4 ./event */
#include <semaphore.h>
#include <stdio.h>

#include <pmix.h>

#define NEWS (PMIX_EXTERNAL_ERR_BASE - 1)

static sem_t received;

static void on_news(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)info, (void)ninfo, (void)results, (void)nresults;
    printf("rank %u says %d\n", source->rank, code);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    sem_post(&received);
}

int main(void)
{
    pmix_status_t code = NEWS;
    pmix_proc_t me;

    sem_init(&received, 0, 0);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    if (me.rank != 0) { /* a handler may come late: what was said before it is kept for it */
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_news, NULL, NULL);
        sem_wait(&received);
    } else {
        PMIx_Notify_event(NEWS, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL);
    }
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 1;
}
