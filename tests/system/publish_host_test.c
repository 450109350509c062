/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_host_test.c - a host with entries for published data: it is told what was asked and who
 * asks, and whatever it answers reaches the caller: at once, late, twice, never, refused, nonsense. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static sem_t outcome;

static void begin(void)
{
    pmix_proc_t me;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    sem_init(&outcome, 0, 0);
}

static void wait_notified(void)
{
    while (sem_wait(&outcome) != 0) {
    }
}

/* ---- the host: the first key of a call says how it is to answer ---------------------------------- */

static struct {
    pmix_lookup_cbfunc_t lookup;
    pmix_op_cbfunc_t op;
    void *cbdata;
} unanswered;
static pthread_mutex_t unanswered_lock = PTHREAD_MUTEX_INITIALIZER; /* the case reads it, too */

static void asker_check(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo)
{
    CHECK(proc->rank < 2 && strcmp(proc->nspace, JOB_NSPACE) == 0 && ninfo >= 2);
    CHECK(PMIx_Check_key(info[ninfo - 2].key, PMIX_USERID));
    CHECK(PMIx_Check_key(info[ninfo - 1].key, PMIX_GRPID));
    CHECK(info[ninfo - 2].value.type == PMIX_UINT32 && info[ninfo - 1].value.type == PMIX_UINT32);
    CHECK(info[ninfo - 2].value.data.uint32 == geteuid());
    CHECK(info[ninfo - 1].value.data.uint32 == getegid());
}

static void owe(pmix_lookup_cbfunc_t lookup, pmix_op_cbfunc_t op, void *cbdata)
{
    pthread_mutex_lock(&unanswered_lock);
    unanswered.lookup = lookup;
    unanswered.op = op;
    unanswered.cbdata = cbdata;
    pthread_mutex_unlock(&unanswered_lock);
}

static pmix_status_t answer_op(const char *how, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (strcmp(how, "refuse") == 0) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (strcmp(how, "done") == 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (strcmp(how, "late") == 0) {
        owe(NULL, cbfunc, cbdata);
        return PMIX_SUCCESS;
    }
    if (unanswered.op != NULL) { /* the next call, from another rank, lets the first one end */
        unanswered.op(PMIX_SUCCESS, unanswered.cbdata);
        unanswered.op = NULL;
    }
    cbfunc(strcmp(how, "fail") == 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS, cbdata);
    if (strcmp(how, "twice") == 0) {
        cbfunc(PMIX_ERR_NOT_FOUND, cbdata);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    asker_check(proc, info, ninfo);
    CHECK(ninfo == 4 && PMIx_Check_key(info[1].key, PMIX_RANGE));
    CHECK(info[1].value.data.range == PMIX_RANGE_RM); /* the host's to know */
    CHECK(strcmp(info[0].value.data.string, "value") == 0);
    return answer_op(info[0].key, cbfunc, cbdata);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    asker_check(proc, info, ninfo);
    CHECK(keys == NULL || keys[1] == NULL);
    return answer_op(keys == NULL ? "everything" : keys[0], cbfunc, cbdata);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t info[],
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    pmix_pdata_t data;
    const char *const how = keys[0];

    asker_check(proc, info, ninfo);
    CHECK(strcmp(keys[1], "other") == 0 && keys[2] == NULL);
    for (size_t i = 0; i < ninfo; i++) { /* what is no range is the session's */
        CHECK(!PMIx_Check_key(info[i].key, PMIX_RANGE) ||
              info[i].value.data.range == PMIX_RANGE_SESSION);
    }
    if (strcmp(how, "refuse") == 0) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (strcmp(how, "done") == 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (strcmp(how, "never") == 0) {
        owe(cbfunc, NULL, cbdata);
        return PMIX_SUCCESS;
    }
    PMIx_Pdata_construct(&data);
    PMIx_Load_procid(&data.proc, "far.away", 7);
    PMIx_Load_key(data.key, how);
    PMIx_Value_load(&data.value, how, PMIX_STRING);
    if (strcmp(how, "nothing") == 0) {
        cbfunc(PMIX_SUCCESS, NULL, 5, cbdata);
    } else if (strcmp(how, "nonsense") == 0) {
        PMIx_Value_destruct(&data.value);
        data.value = (pmix_value_t){ .type = PMIX_POINTER, .data.ptr = &data };
        cbfunc(PMIX_SUCCESS, &data, 1, cbdata);
        data.value.type = PMIX_UNDEF;
    } else if (strcmp(how, "endless") == 0) {
        memset(data.key, 'k', sizeof(data.key));
        cbfunc(PMIX_SUCCESS, &data, 1, cbdata);
    } else {
        cbfunc(PMIX_ERR_PARTIAL_SUCCESS, &data, 1, cbdata);
    }
    if (strcmp(how, "twice") == 0) {
        cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata);
    }
    PMIx_Pdata_destruct(&data);
    return PMIX_SUCCESS;
}

/* ---- what the callers get -------------------------------------------------------------------------- */

static pmix_status_t publish(const char *key)
{
    const pmix_data_range_t range = PMIX_RANGE_RM;
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], key, "value", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    return PMIx_Publish(info, 2);
}

static pmix_status_t unpublish(const char *key)
{
    char *keys[] = { (char *)(uintptr_t)key, NULL };

    return PMIx_Unpublish(keys, NULL, 0);
}

static pmix_status_t lookup(const char *key)
{
    const pmix_data_range_t odd = 199;
    pmix_pdata_t data[2];
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_RANGE, &odd, PMIX_DATA_RANGE);
    PMIx_Pdata_construct(&data[0]);
    PMIx_Pdata_construct(&data[1]);
    PMIx_Load_key(data[0].key, key);
    PMIx_Load_key(data[1].key, "other");
    const pmix_status_t rc = PMIx_Lookup(data, 2, &info, 1);

    CHECK(data[1].value.type == PMIX_UNDEF);
    if (rc == PMIX_ERR_PARTIAL_SUCCESS) {
        CHECK(strcmp(data[0].value.data.string, key) == 0);
        CHECK(data[0].proc.rank == 7 && strcmp(data[0].proc.nspace, "far.away") == 0);
    } else {
        CHECK(data[0].value.type == PMIX_UNDEF);
    }
    PMIx_Pdata_destruct(&data[0]);
    return rc;
}

static int rank_answers(int rank)
{
    static const struct {
        const char *how;
        pmix_status_t op, lookup;
    } ways[] = {
        { "at once", PMIX_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS },
        { "twice", PMIX_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS },
        { "done", PMIX_SUCCESS, PMIX_ERR_NOT_FOUND },
        { "refuse", PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS },
        { "fail", PMIX_ERR_OUT_OF_RESOURCE, PMIX_ERR_PARTIAL_SUCCESS },
        { "nothing", PMIX_SUCCESS, PMIX_ERR_NOT_FOUND },
        { "nonsense", PMIX_SUCCESS, PMIX_ERR_NOT_SUPPORTED },
        { "endless", PMIX_SUCCESS, PMIX_ERR_BAD_PARAM },
    };

    begin();
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        CHECK_STATUS(publish(ways[i].how), ways[i].op);
        CHECK_STATUS(unpublish(ways[i].how), ways[i].op);
        CHECK_STATUS(lookup(ways[i].how), ways[i].lookup);
    }
    CHECK_STATUS(PMIx_Unpublish(NULL, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- answers that come late, or never ---------------------------------------------------------------- */

static void on_notified(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    sem_post(cbdata);
}

static void on_never(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    CHECK(status != PMIX_SUCCESS && data == NULL && ndata == 0);
}

static int rank_late(int rank)
{
    char *keys[] = { (char *)"late", NULL }, *never[] = { (char *)"never", (char *)"other", NULL };

    begin();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Unpublish_nb(keys, NULL, 0, on_notified, &outcome), PMIX_SUCCESS);
        /* One connection is read in order: with this answer the host has seen the call before it. The
         * fence alone does not say so, because it is not a message. */
        CHECK_STATUS(lookup("behind"), PMIX_ERR_PARTIAL_SUCCESS);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    if (rank == 1) {
        CHECK_STATUS(unpublish("now"), PMIX_SUCCESS); /* behind it the host answers the other */
        CHECK_STATUS(PMIx_Lookup_nb(never, NULL, 0, on_never, NULL), PMIX_SUCCESS);
    } else {
        wait_notified();
    }
    return rank_end();
}

static int host_late(struct job *job)
{
    CHECK(job_wait(job, 0) == 0 && job_wait(job, 1) == 0);
    pthread_mutex_lock(&unanswered_lock);
    const pmix_lookup_cbfunc_t answer = unanswered.lookup;
    void *const cbdata = unanswered.cbdata;

    pthread_mutex_unlock(&unanswered_lock);
    if (answer != NULL) { /* behind the end of who has asked */
        answer(PMIX_SUCCESS, NULL, 0, cbdata);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "answers", 1, rank_answers },
        { "late", 2, rank_late, host_late },
    };

    job_module.publish = on_publish;
    job_module.lookup = on_lookup;
    job_module.unpublish = on_unpublish;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
