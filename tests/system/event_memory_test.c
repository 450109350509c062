/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_memory_test.c - events while the server's process gets no memory: who is told what.
 *
 * malloc and its kin are this program's own, so the library's calls come here. */
#include <shmix.h>

#include "heard.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* ---- memory --------------------------------------------------------------------------------- */

static _Thread_local bool starved; /* this thread gets none at all */

#ifndef SANITIZED
#define SEEN_BY_ALL __attribute__((visibility("default")))
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
SEEN_BY_ALL void *malloc(size_t size);
SEEN_BY_ALL void *calloc(size_t count, size_t size);
SEEN_BY_ALL void *realloc(void *at, size_t size);

void *malloc(size_t size)
{
    return starved ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return starved ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    return starved ? NULL : __libc_realloc(at, size);
}
#endif

/* Whether memory can be refused here. */
static bool can_starve(void)
{
    starved = true;
    void *const at = malloc(16);

    starved = false;
    free(at);
    return at == NULL;
}

static int skip(void)
{
    printf("skipped: a sanitizer has the memory\n");
    return JOB_SKIPPED;
}

/* ---- the host drops a code ------------------------------------------------------------------ */

#define CODE 44 /* of no range of PMIx: the host is asked for it */

static int asked, dropped; /* under heard_lock */

static pmix_status_t host_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)codes, (void)ncodes, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    pthread_mutex_lock(&heard_lock);
    asked++;
    pthread_cond_broadcast(&heard_more);
    pthread_mutex_unlock(&heard_lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata)
{
    (void)codes, (void)ncodes, (void)cbfunc, (void)cbdata;
    pthread_mutex_lock(&heard_lock);
    dropped++;
    pthread_cond_broadcast(&heard_more);
    pthread_mutex_unlock(&heard_lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static int rank_of_drop(int rank)
{
    (void)rank;
    return can_starve() ? 0 : skip();
}

/* EV25: a handler of the host that leaves needs no memory to be taken back. */
static int host_of_drop(struct job *job)
{
    pmix_status_t code = CODE;

    (void)job;
    if (!can_starve()) {
        return 0;
    }
    const size_t id = hear_of(&code, 1, PMIX_EVENT_ENVIRO_LEVEL);

    pthread_mutex_lock(&heard_lock);
    while (asked == 0) {
        heard_wait_locked("the question of code", code);
    }
    pthread_mutex_unlock(&heard_lock);
    starved = true;
    const pmix_status_t rc = PMIx_Deregister_event_handler(id, NULL, NULL);

    starved = false;
    CHECK_STATUS(rc, PMIX_SUCCESS);
    pthread_mutex_lock(&heard_lock);
    while (dropped == 0) {
        heard_wait_locked("the drop of code", code);
    }
    CHECK(asked == 1 && dropped == 1);
    pthread_mutex_unlock(&heard_lock);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "the_host_drops_a_code", 1, rank_of_drop, host_of_drop, false },
    };

    job_module.register_events = host_register;
    job_module.deregister_events = host_deregister;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
