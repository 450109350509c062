/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fabric_test.c - a fabric is registered, brought up to date and let go; what the host says of it
 * comes at once, late, never, or not at all, and a call that fails changes nothing. */
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define LARGE ((size_t)1 << 20)
#define INDEX ((size_t)7)
#define RESULT PMIX_FABRIC_VENDOR

/* ---- the host: the plane that is asked for says how it is to answer ---------------------------- */

static struct {
    pmix_info_cbfunc_t info;
    void *cbdata;
} unanswered;
static sem_t unanswered_more;
static char huge[LARGE];

static void describe(const char *vendor, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const size_t index = INDEX;
    pmix_info_t results[] = { info_text(RESULT, vendor), info_text("unused", "") };

    PMIx_Info_destruct(&results[1]);
    CHECK_STATUS(PMIx_Info_load(&results[1], PMIX_FABRIC_INDEX, &index, PMIX_SIZE), PMIX_SUCCESS);
    cbfunc(PMIX_SUCCESS, results, 2, cbdata, NULL, NULL);
    PMIx_Info_destruct(&results[0]);
    PMIx_Info_destruct(&results[1]);
}

static pmix_status_t on_fabric(const pmix_proc_t *proc, pmix_fabric_operation_t operation,
                               const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                               void *cbdata)
{
    static unsigned updates;

    CHECK(proc->rank == 0 && ninfo == 3 && info[1].value.data.uint32 == geteuid());
    CHECK(PMIx_Check_key(info[1].key, PMIX_USERID) && PMIx_Check_key(info[2].key, PMIX_GRPID));
    if (operation == PMIX_FABRIC_UPDATE_INFO) { /* every second one is refused */
        CHECK(PMIx_Check_key(info[0].key, PMIX_FABRIC_INDEX));
        CHECK(info[0].value.type == PMIX_SIZE && info[0].value.data.size == INDEX);
        if (updates++ % 2 == 1) {
            return PMIX_ERR_NOT_AVAILABLE;
        }
        describe("newer", cbfunc, cbdata);
        return PMIX_SUCCESS;
    }
    const char *const how = info[0].value.data.string;

    if (strcmp(how, "late") == 0) {
        unanswered.info = cbfunc;
        unanswered.cbdata = cbdata;
        sem_post(&unanswered_more);
    } else if (strcmp(how, "now") == 0) {
        describe("first", cbfunc, cbdata);
    } else if (strcmp(how, "large") == 0) {
        describe(huge, cbfunc, cbdata);
    }
    return strcmp(how, "refuse") == 0 ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
}

static int host_is_late(struct job *job)
{
    job_sem_wait(&unanswered_more);
    describe("late", unanswered.info, unanswered.cbdata);
    return 0;
}

/* ---- the ranks --------------------------------------------------------------------------------- */

static sem_t answered;
static pmix_status_t answered_status;

static void on_op(pmix_status_t status, void *cbdata)
{
    CHECK(cbdata == &answered);
    answered_status = status;
    sem_post(&answered);
}

static pmix_status_t answered_wait(void)
{
    job_sem_wait(&answered);
    return answered_status;
}

static pmix_status_t fabric_register(pmix_fabric_t *fabric, const char *plane)
{
    pmix_info_t info = info_text(PMIX_FABRIC_PLANE, plane);

    info.flags = PMIX_INFO_REQD;
    const pmix_status_t rc = PMIx_Fabric_register(fabric, &info, 1);

    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t fabric_register_nb(pmix_fabric_t *fabric, const char *plane)
{
    pmix_info_t info = info_text(PMIX_FABRIC_PLANE, plane);
    const pmix_status_t rc = PMIx_Fabric_register_nb(fabric, &info, 1, on_op, &answered);

    PMIx_Info_destruct(&info);
    return rc;
}

static void is_described(const pmix_fabric_t *fabric, const char *vendor)
{
    CHECK(fabric->index == INDEX && fabric->ninfo == 2);
    CHECK(PMIx_Check_key(fabric->info[0].key, RESULT));
    CHECK(strcmp(fabric->info[0].value.data.string, vendor) == 0);
}

static void is_empty(const pmix_fabric_t *fabric)
{
    CHECK(fabric->index == 0 && fabric->ninfo == 0 && fabric->info == NULL);
    CHECK(fabric->module == NULL);
}

static int rank_of_host(int rank)
{
    pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT, other = PMIX_FABRIC_STATIC_INIT;

    rank_begin(NULL);
    sem_init(&answered, 0, 0);
    CHECK_STATUS(fabric_register(&fabric, "refuse"), PMIX_ERR_NO_PERMISSIONS);
    is_empty(&fabric);
    CHECK_STATUS(fabric_register(&fabric, "now"), PMIX_SUCCESS);
    is_described(&fabric, "first");
    CHECK_STATUS(fabric_register(&fabric, "now"), PMIX_ERR_EXISTS);
    CHECK_STATUS(PMIx_Fabric_update(&fabric), PMIX_SUCCESS);
    is_described(&fabric, "newer");
    CHECK_STATUS(PMIx_Fabric_update(&fabric), PMIX_ERR_NOT_AVAILABLE);
    is_described(&fabric, "newer");
    CHECK_STATUS(PMIx_Fabric_update_nb(&fabric, on_op, &answered), PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fabric_deregister(&fabric), PMIX_SUCCESS);
    is_empty(&fabric);
    CHECK_STATUS(PMIx_Fabric_deregister(&fabric), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Fabric_update(&fabric), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(fabric_register(&fabric, "large"), PMIX_SUCCESS);
    is_described(&fabric, huge);
    CHECK_STATUS(PMIx_Fabric_deregister_nb(&fabric, on_op, &answered), PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    is_empty(&fabric);
    CHECK_STATUS(fabric_register_nb(&fabric, "late"), PMIX_SUCCESS);
    CHECK_STATUS(answered_wait(), PMIX_SUCCESS);
    is_described(&fabric, "late");
    CHECK_STATUS(fabric_register_nb(&other, "never"), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fabric_deregister(&fabric), PMIX_SUCCESS);
    rank_end();
    CHECK(answered_wait() != PMIX_SUCCESS);
    is_empty(&other);
    return 0;
}

static int rank_of_no_host(int rank)
{
    pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;
    pmix_info_t unknown = info_text("nobody.knows.it", "");

    unknown.flags = PMIX_INFO_REQD;
    CHECK_STATUS(fabric_register(&fabric, "now"), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Fabric_update(&fabric), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Fabric_deregister(&fabric), PMIX_ERR_INIT);
    rank_begin(NULL);
    CHECK_STATUS(fabric_register(&fabric, "now"), PMIX_ERR_NOT_SUPPORTED);
    is_empty(&fabric);
    CHECK_STATUS(PMIx_Fabric_register(&fabric, &unknown, 1), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Fabric_register(&fabric, NULL, 1), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Fabric_register(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Fabric_register_nb(&fabric, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Fabric_update(NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Fabric_deregister(NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&unknown);
    return rank_end();
}

static const struct job_case host_case = { "host", 1, rank_of_host, host_is_late };
static const struct job_case no_host_case = { "no_host", 1, rank_of_no_host };

int main(int argc, char **argv)
{
    const bool is_rank = argc > 1;

    memset(huge, 'v', sizeof(huge) - 1);
    sem_init(&unanswered_more, 0, 0);
    if (is_rank) {
        return job_main(argc, argv,
                        strcmp(argv[argc == 5 ? 2 : 1], host_case.name) == 0 ? &host_case
                                                                             : &no_host_case,
                        1);
    }
    const int failed = job_main(argc, argv, &no_host_case, 1);

    job_module.fabric = on_fabric;
    return failed | job_main(argc, argv, &host_case, 1);
}
