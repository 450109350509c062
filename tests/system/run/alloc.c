/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alloc.c - a program that asks its scheduler for nodes, for more of them, and gives them back.
 *
 * Written after the Standard alone: it knows nothing of this library.  It prints what became of each
 * call, and exits with 0 when all went well, or when there is no scheduler at all. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static char allocation[PMIX_MAX_KEYLEN + 1]; /* its id, once there is one */

static pmix_info_t *request_new(size_t *ret_count)
{
    const uint64_t nodes = 2;
    const uint32_t seconds = 600;
    pmix_info_t *info;

    *ret_count = 3;
    PMIX_INFO_CREATE(info, *ret_count);
    PMIX_INFO_LOAD(&info[0], PMIX_ALLOC_REQ_ID, "my request", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    PMIX_INFO_LOAD(&info[2], PMIX_ALLOC_TIME, &seconds, PMIX_UINT32);
    PMIX_INFO_REQUIRED(&info[1]);
    return info;
}

/* The one that there is; @nodes 0: all of it. */
static pmix_info_t *request_about(uint64_t nodes, size_t *ret_count)
{
    pmix_info_t *info;

    *ret_count = nodes > 0 ? 2 : 1;
    PMIX_INFO_CREATE(info, *ret_count);
    PMIX_INFO_LOAD(&info[0], PMIX_ALLOC_ID, allocation, PMIX_STRING);
    if (nodes > 0) {
        PMIX_INFO_LOAD(&info[1], PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    }
    return info;
}

static void look(const pmix_info_t *results, size_t nresults)
{
    for (size_t i = 0; i < nresults; i++) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_ALLOC_ID)) {
            snprintf(allocation, sizeof(allocation), "%s", results[i].value.data.string);
            printf("id: %s\n", allocation);
        } else if (PMIX_CHECK_KEY(&results[i], PMIX_ALLOC_NUM_NODES)) {
            printf("nodes: %lu\n", (unsigned long)results[i].value.data.uint64);
        }
    }
}

static pmix_status_t ask(const char *what, pmix_alloc_directive_t directive, pmix_info_t *info,
                         size_t ninfo)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    const pmix_status_t rc = PMIx_Allocation_request(directive, info, ninfo, &results, &nresults);

    printf("%s: %s\n", what, PMIx_Error_string(rc));
    look(results, nresults);
    PMIX_INFO_FREE(results, nresults);
    PMIX_INFO_FREE(info, ninfo);
    return rc;
}

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool is_there;
    pmix_status_t status;
};

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct answer *const answer = cbdata;

    look(info, ninfo);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
    pthread_mutex_lock(&answer->lock);
    answer->is_there = true;
    answer->status = status;
    pthread_cond_signal(&answer->came);
    pthread_mutex_unlock(&answer->lock);
}

static pmix_status_t ask_nb(const char *what, pmix_alloc_directive_t directive, pmix_info_t *info,
                            size_t ninfo)
{
    struct answer answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER };
    pmix_status_t rc = PMIx_Allocation_request_nb(directive, info, ninfo, on_answer, &answer);

    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&answer.lock);
        while (!answer.is_there) {
            pthread_cond_wait(&answer.came, &answer.lock);
        }
        pthread_mutex_unlock(&answer.lock);
        rc = answer.status;
    }
    printf("%s: %s\n", what, PMIx_Error_string(rc));
    PMIX_INFO_FREE(info, ninfo);
    return rc;
}

int main(void)
{
    pmix_proc_t me;
    size_t count;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    pmix_info_t *info = request_new(&count);
    const pmix_status_t first = ask("request", PMIX_ALLOC_NEW, info, count);
    int failed = first != PMIX_SUCCESS;

    info = request_about(3, &count);
    failed |= ask_nb("extend", PMIX_ALLOC_EXTEND, info, count) != PMIX_SUCCESS;
    info = request_about(1000, &count);
    failed |= ask("too much", PMIX_ALLOC_EXTEND, info, count) == PMIX_SUCCESS;
    info = request_about(0, &count);
    failed |= ask_nb("release", PMIX_ALLOC_RELEASE, info, count) != PMIX_SUCCESS;
    if (PMIx_Finalize(NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    return first != PMIX_ERR_NOT_SUPPORTED && failed;
}
