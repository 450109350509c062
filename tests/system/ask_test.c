/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ask_test.c - requests that the host answers: it is told what was asked and who asks, and whatever
 * it answers reaches the caller: at once, late, never, refused, or a MiB of it. */
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define LARGE ((size_t)1 << 20)
#define RESULT "host.result"

static pmix_info_t bytes_of(const char *key, size_t size)
{
    pmix_byte_object_t object = { .bytes = malloc(size), .size = size };
    pmix_info_t info;

    CHECK(object.bytes != NULL);
    memset(object.bytes, 'x', size);
    CHECK_STATUS(PMIx_Info_load(&info, key, &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    free(object.bytes);
    return info;
}

/* ---- the host: the first info of a call says how it is to answer ------------------------------- */

/* An answer that it owes. */
static struct {
    pmix_info_cbfunc_t info;
    void *cbdata;
} unanswered;
static sem_t unanswered_more; /* one, since the last look */

/* Who asks stands behind what is asked. */
static void asker_check(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo)
{
    CHECK(proc->rank == 0 && strcmp(proc->nspace, JOB_NSPACE) == 0 && ninfo == 3);
    CHECK(PMIx_Check_key(info[1].key, PMIX_USERID) && info[1].value.type == PMIX_UINT32);
    CHECK(PMIx_Check_key(info[2].key, PMIX_GRPID) && info[2].value.type == PMIX_UINT32);
    CHECK(info[1].value.data.uint32 == geteuid() && info[2].value.data.uint32 == getegid());
}

static pmix_status_t answer(const char *how, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (strcmp(how, "refuse") == 0) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (strcmp(how, "done") == 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (strcmp(how, "late") == 0 || strncmp(how, "never", 5) == 0) {
        unanswered.info = cbfunc;
        unanswered.cbdata = cbdata;
        sem_post(&unanswered_more);
        return PMIX_SUCCESS;
    }
    pmix_info_t result = strcmp(how, "large") == 0 ? bytes_of(RESULT, LARGE)
                                                   : info_text(RESULT, how);

    cbfunc(strcmp(how, "fail") == 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS, &result, 1, cbdata,
           NULL, NULL);
    PMIx_Info_destruct(&result);
    return PMIX_SUCCESS;
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    asker_check(client, info, ninfo);
    CHECK(directive == PMIX_ALLOC_EXTEND && PMIx_Check_key(info[0].key, PMIX_ALLOC_REQ_ID));
    CHECK((info[0].flags & PMIX_INFO_REQD) != 0);
    return answer(info[0].value.data.string, cbfunc, cbdata);
}

/* ---- the calls --------------------------------------------------------------------------------- */

static sem_t answered;
static pmix_status_t answered_status;
static size_t answered_count;

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    CHECK(cbdata == &answered && (ninfo == 0 || PMIx_Check_key(info[0].key, RESULT)));
    answered_status = status;
    answered_count = ninfo;
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
    sem_post(&answered);
}

static pmix_status_t allocate(pmix_info_t *info, pmix_info_t **results, size_t *nresults)
{
    return PMIx_Allocation_request(PMIX_ALLOC_EXTEND, info, 1, results, nresults);
}

static pmix_status_t allocate_nb(pmix_info_t *info)
{
    return PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, info, 1, on_answer, &answered);
}

static const struct call {
    const char *name, *key;
    pmix_status_t (*blocking)(pmix_info_t *info, pmix_info_t **results, size_t *nresults);
    pmix_status_t (*nonblocking)(pmix_info_t *info);
} calls[] = {
    { "allocation", PMIX_ALLOC_REQ_ID, allocate, allocate_nb },
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static const struct {
    const char *how;
    pmix_status_t status;
    size_t count, size; /* of the results, and of the first one */
} ways[] = {
    { "at once", PMIX_SUCCESS, 1, 0 },           { "done", PMIX_SUCCESS, 0, 0 },
    { "refuse", PMIX_ERR_NO_PERMISSIONS, 0, 0 }, { "fail", PMIX_ERR_OUT_OF_RESOURCE, 1, 0 },
    { "large", PMIX_SUCCESS, 1, LARGE },
};

static pmix_info_t wish(const struct call *call, const char *how)
{
    pmix_info_t info = info_text(call->key, how);

    info.flags = PMIX_INFO_REQD;
    return info;
}

static pmix_status_t answered_wait(void)
{
    job_sem_wait(&answered);
    return answered_status;
}

static void ask_in_a_way(const struct call *call, unsigned way)
{
    pmix_info_t info = wish(call, ways[way].how), *results;
    size_t nresults;

    CHECK_STATUS(call->blocking(&info, &results, &nresults), ways[way].status);
    CHECK(nresults == ways[way].count);
    CHECK(nresults == 0 || PMIx_Check_key(results[0].key, RESULT));
    CHECK(ways[way].size == 0 || results[0].value.data.bo.size == ways[way].size);
    if (results != NULL) {
        PMIx_Info_free(results, nresults);
    }
    CHECK_STATUS(call->nonblocking(&info), PMIX_SUCCESS);
    (void)answered_wait();
    CHECK(answered_status == ways[way].status && answered_count == ways[way].count);
    PMIx_Info_destruct(&info);
}

static int rank_asks(int rank)
{
    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        for (unsigned way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
            ask_in_a_way(&calls[i], way);
        }
    }
    return rank_end();
}

/* The host answers when the caller has gone on to something else. */
static int rank_asks_late(int rank)
{
    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        pmix_info_t info = wish(&calls[i], "late");

        CHECK_STATUS(calls[i].nonblocking(&info), PMIX_SUCCESS);
        PMIx_Info_destruct(&info);
        CHECK(answered_wait() == PMIX_ERR_NOT_FOUND && answered_count == 1);
    }
    return rank_end();
}

static int host_is_late(struct job *job)
{
    pmix_info_t result = info_text(RESULT, "late");

    for (unsigned i = 0; i < CALLS; i++) {
        job_sem_wait(&unanswered_more);
        unanswered.info(PMIX_ERR_NOT_FOUND, &result, 1, unanswered.cbdata, NULL, NULL);
    }
    PMIx_Info_destruct(&result);
    return 0;
}

/* Whoever leaves is told. */
static int rank_asks_in_vain(int rank)
{
    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        pmix_info_t info = wish(&calls[i], "never");

        CHECK_STATUS(calls[i].nonblocking(&info), PMIX_SUCCESS);
        PMIx_Info_destruct(&info);
    }
    rank_end();
    for (unsigned i = 0; i < CALLS; i++) {
        CHECK(answered_wait() != PMIX_SUCCESS && answered_count == 0);
    }
    return 0;
}

/* More than one frame holds; it goes through the window that all requests share. */
static pmix_info_t large_wish(const struct call *call, const char *how)
{
    char *const padded = malloc(LARGE);

    CHECK(padded != NULL);
    memset(padded, ' ', LARGE);
    padded[LARGE - 1] = '\0';
    memcpy(padded, how, strlen(how));
    pmix_info_t info = wish(call, padded);

    free(padded);
    return info;
}

/* What the host does not answer is in nobody's way. */
static int rank_asks_large_in_vain(int rank)
{
    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        pmix_info_t never = large_wish(&calls[i], "never"), now = large_wish(&calls[i], "now");
        pmix_info_t *results;
        size_t nresults;

        CHECK_STATUS(calls[i].nonblocking(&never), PMIX_SUCCESS);
        CHECK_STATUS(calls[i].blocking(&now, &results, &nresults), PMIX_SUCCESS);
        CHECK(nresults == 1);
        PMIx_Info_free(results, nresults);
        PMIx_Info_destruct(&never);
        PMIx_Info_destruct(&now);
    }
    rank_end();
    for (unsigned i = 0; i < CALLS; i++) {
        CHECK(answered_wait() != PMIX_SUCCESS);
    }
    return 0;
}

static int rank_asks_badly(int rank)
{
    pmix_info_t unknown = info_text("nobody.knows.it", ""), endless = unknown, *results;
    size_t nresults;

    unknown.flags = PMIX_INFO_REQD;
    memset(endless.key, 'k', sizeof(endless.key));
    for (unsigned i = 0; i < CALLS; i++) {
        CHECK_STATUS(calls[i].blocking(&unknown, &results, &nresults), PMIX_ERR_INIT);
    }
    rank_begin(NULL);
    for (unsigned i = 0; i < CALLS; i++) {
        pmix_info_t huge = bytes_of(calls[i].key, 8 * LARGE);

        CHECK_STATUS(calls[i].blocking(&unknown, &results, &nresults), PMIX_ERR_NOT_SUPPORTED);
        CHECK_STATUS(calls[i].nonblocking(&unknown), PMIX_ERR_NOT_SUPPORTED);
        CHECK_STATUS(calls[i].blocking(&endless, &results, &nresults), PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(calls[i].blocking(NULL, &results, &nresults), PMIX_ERR_BAD_PARAM);
        CHECK_STATUS(calls[i].blocking(&huge, &results, &nresults), PMIX_ERR_OUT_OF_RESOURCE);
        PMIx_Info_destruct(&huge);
    }
    CHECK_STATUS(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, NULL, 0, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&unknown);
    return rank_end();
}

static int rank_of_no_entry(int rank)
{
    rank_begin(NULL);
    for (unsigned i = 0; i < CALLS; i++) {
        pmix_info_t info = wish(&calls[i], "at once"), *results;
        size_t nresults;

        CHECK_STATUS(calls[i].blocking(&info, &results, &nresults), PMIX_ERR_NOT_SUPPORTED);
        CHECK(results == NULL && nresults == 0);
        PMIx_Info_destruct(&info);
    }
    return rank_end();
}

static const struct job_case without_entry = { "no_entry", 1, rank_of_no_entry };
static const struct job_case cases[] = {
    { "asks", 1, rank_asks },          { "late", 1, rank_asks_late, host_is_late },
    { "never", 1, rank_asks_in_vain }, { "large_in_vain", 1, rank_asks_large_in_vain },
    { "badly", 1, rank_asks_badly },
};

int main(int argc, char **argv)
{
    const int failed = argc == 1 || strcmp(argv[argc == 5 ? 2 : 1], without_entry.name) == 0
                           ? job_main(argc, argv, &without_entry, 1)
                           : 0;

    sem_init(&unanswered_more, 0, 0);
    job_module.allocate = on_allocate;
    return failed | job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
