/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage_test.c - what processes and the node use: in the results of PMIx_Process_monitor, and again
 * and again in events. */
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

static pmix_proc_t me;

/* An empty array: every field, as programs ask for it. */
static pmix_info_t of(const char *key, pmix_data_array_t *empty)
{
    pmix_info_t info = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = empty } };

    *empty = (pmix_data_array_t){ .type = PMIX_PROC };
    PMIx_Load_key(info.key, key);
    return info;
}

/* The process @rank of the job, or all. */
static pmix_info_t target(pmix_rank_t rank)
{
    pmix_proc_t proc = me;
    pmix_info_t info;
    pmix_data_array_t array = { .type = PMIX_PROC, .size = 1, .array = &proc };

    proc.rank = rank;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_MONITOR_TARGET_PROCS, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    return info;
}

static const pmix_value_t *field_of(const pmix_info_t *report, const char *key)
{
    const pmix_info_t *const info = report->value.data.darray->array;
    const pmix_value_t *found = NULL;

    for (size_t i = 0; i < report->value.data.darray->size; i++) {
        if (strcmp(info[i].key, key) == 0) {
            found = &info[i].value;
        }
    }
    CHECK(found != NULL);
    return found;
}

/* Ranks of the reports on processes, a bit each. */
static unsigned ranks_of(const pmix_info_t info[], size_t ninfo)
{
    unsigned ranks = 0;

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_PROC_RESOURCE_USAGE) == 0) {
            const pmix_proc_t *const proc = field_of(&info[i], PMIX_PROCID)->data.proc;

            CHECK(strcmp(proc->nspace, me.nspace) == 0);
            CHECK((field_of(&info[i], PMIX_PROC_PID)->data.pid == getpid()) ==
                  (proc->rank == me.rank));
            CHECK(field_of(&info[i], PMIX_PROC_RSS)->data.fval > 0);
            ranks |= 1u << proc->rank;
        }
    }
    return ranks;
}

/* ---- once ------------------------------------------------------------------------------------ */

static unsigned ask(const pmix_info_t directives[], size_t ndirs)
{
    pmix_data_array_t empty;
    const pmix_info_t processes = of(PMIX_MONITOR_PROC_RESOURCE_USAGE, &empty);
    pmix_info_t *results;
    size_t nresults;
    unsigned ranks = 0;
    const pmix_status_t rc = PMIx_Process_monitor(&processes, PMIX_SUCCESS, directives, ndirs,
                                                  &results, &nresults);

    if (rc != PMIX_SUCCESS) {
        CHECK_STATUS(rc, PMIX_ERR_NOT_FOUND);
        CHECK(results == NULL && nresults == 0);
    } else {
        ranks = ranks_of(results, nresults);
        PMIx_Info_free(results, nresults);
    }
    return ranks;
}

static sem_t answered;

static void on_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                      pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    CHECK(cbdata == NULL && ranks_of(info, ninfo) == 2);
    release_fn(release_cbdata);
    sem_post(&answered);
}

static int rank_of_once(int rank)
{
    pmix_data_array_t empty;
    pmix_info_t processes, node, directives[2], *results;
    size_t nresults;

    rank_begin(&me);
    rank_fence();
    if (rank == 0) {
        CHECK(ask(NULL, 0) == 7);
        directives[0] = target(1);
        CHECK(ask(directives, 1) == 2);
        processes = of(PMIX_MONITOR_PROC_RESOURCE_USAGE, &empty);
        sem_init(&answered, 0, 0);
        CHECK_STATUS(PMIx_Process_monitor_nb(&processes, PMIX_SUCCESS, directives, 1, on_answer,
                                             NULL),
                     PMIX_SUCCESS);
        job_sem_wait(&answered);
        PMIx_Info_destruct(&directives[0]);
        directives[0] = target(PMIX_RANK_WILDCARD);
        directives[1] = target(0); /* the last one counts */
        CHECK(ask(directives, 2) == 1);
        PMIx_Info_destruct(&directives[0]);
        PMIx_Info_destruct(&directives[1]);
        directives[0] = target(99);
        CHECK(ask(directives, 1) == 0);
        PMIx_Info_destruct(&directives[0]);
        node = of(PMIX_MONITOR_NODE_RESOURCE_USAGE, &empty);
        CHECK_STATUS(PMIx_Process_monitor(&node, PMIX_SUCCESS, NULL, 0, &results, &nresults),
                     PMIX_SUCCESS);
        CHECK(nresults == 1 && strcmp(results[0].key, PMIX_NODE_RESOURCE_USAGE) == 0);
        CHECK(field_of(&results[0], PMIX_NODE_MEM_TOTAL)->data.fval > 0);
        PMIx_Info_free(results, nresults);
        /* Of another node nobody but a host can tell. */
        directives[0] = info_u32(PMIX_MONITOR_TARGET_NODES, 1);
        CHECK_STATUS(PMIx_Process_monitor(&node, PMIX_SUCCESS, directives, 1, &results, &nresults),
                     PMIX_ERR_NOT_SUPPORTED);
        CHECK(results == NULL && nresults == 0);
        directives[0] = info_u32("nobody.knows.it", 1);
        directives[0].flags = PMIX_INFO_REQD;
        CHECK_STATUS(PMIx_Process_monitor(&node, PMIX_SUCCESS, directives, 1, NULL, NULL),
                     PMIX_ERR_NOT_SUPPORTED);
    }
    rank_fence();
    return rank_end();
}

/* ---- devices --------------------------------------------------------------------------------- */

/* How many there are of @names (NULL: of all). */
static size_t devices(const char *key, const char *target_key, const char *id_key, char *name)
{
    pmix_data_array_t empty, array = { .type = PMIX_STRING, .size = 1, .array = &name };
    const pmix_info_t monitored = of(key, &empty);
    pmix_info_t directive, *results;
    size_t nresults;

    CHECK_STATUS(PMIx_Info_load(&directive, target_key, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    PMIx_Info_required(&directive);
    const pmix_status_t rc = PMIx_Process_monitor(&monitored, PMIX_SUCCESS, &directive,
                                                  name != NULL, &results, &nresults);

    CHECK(rc == PMIX_SUCCESS || (rc == PMIX_ERR_NOT_FOUND && nresults == 0));
    for (size_t i = 0; name != NULL && i < nresults; i++) {
        CHECK(strcmp(field_of(&results[i], id_key)->data.string, name) == 0);
    }
    PMIx_Info_free(results, nresults);
    PMIx_Info_destruct(&directive);
    return nresults;
}

static int rank_of_devices(int rank)
{
    static char lo[] = "lo", none[] = "no such device";
    pmix_data_array_t empty, array = { .type = PMIX_PROC, .size = 1, .array = &me };
    const pmix_info_t nets = of(PMIX_MONITOR_NET_RESOURCE_USAGE, &empty);
    pmix_info_t directive, *results;
    size_t nresults;

    rank_begin(&me);
    const size_t all = devices(PMIX_MONITOR_NET_RESOURCE_USAGE, PMIX_MONITOR_TARGET_NETS,
                               PMIX_NETWORK_ID, NULL);

    CHECK(devices(PMIX_MONITOR_NET_RESOURCE_USAGE, PMIX_MONITOR_TARGET_NETS, PMIX_NETWORK_ID, lo) ==
          (all > 0));
    CHECK(devices(PMIX_MONITOR_NET_RESOURCE_USAGE, PMIX_MONITOR_TARGET_NETS, PMIX_NETWORK_ID,
                  none) == 0);
    CHECK(devices(PMIX_MONITOR_DISK_RESOURCE_USAGE, PMIX_MONITOR_TARGET_DISKS, PMIX_DISK_ID,
                  none) == 0);
    CHECK_STATUS(PMIx_Info_load(&directive, PMIX_MONITOR_TARGET_NETS, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Process_monitor(&nets, PMIX_SUCCESS, &directive, 1, &results, &nresults),
                 PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&directive);
    return rank_end();
}

/* ---- again and again ------------------------------------------------------------------------- */

static sem_t outcome;

static void on_notified(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t *before, size_t nbefore,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    bool named = false;

    CHECK(code == PMIX_MONITOR_RESUSAGE_UPDATE && source->rank == me.rank && me.rank == 0);
    CHECK(ranks_of(info, ninfo) == 1);
    for (size_t i = 0; i < ninfo; i++) {
        named |= strcmp(info[i].key, PMIX_MONITOR_ID) == 0 &&
                 strcmp(info[i].value.data.string, "mine") == 0;
    }
    CHECK(named);
    sem_post(&outcome);
    done(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

/* The first report is the result; nobody but the asker hears of the others. */
static int rank_of_rate(int rank)
{
    pmix_status_t code = PMIX_MONITOR_RESUSAGE_UPDATE;
    pmix_info_t cancel, directives[3];

    rank_begin(&me);
    sem_init(&outcome, 0, 0);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_notified, NULL, NULL) >= 0);
    rank_fence();
    if (rank == 0) {
        directives[0] = target(0);
        directives[1] = info_u32(PMIX_MONITOR_RESOURCE_RATE, 1);
        directives[2] = info_text(PMIX_MONITOR_ID, "mine");
        CHECK(ask(directives, 3) == 1);
        for (int i = 0; i < 2; i++) {
            job_sem_wait(&outcome);
        }
        cancel = info_text(PMIX_MONITOR_CANCEL, "mine");
        CHECK_STATUS(PMIx_Process_monitor(&cancel, PMIX_SUCCESS, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Process_monitor(&cancel, PMIX_SUCCESS, NULL, 0, NULL, NULL),
                     PMIX_ERR_NOT_FOUND);
        CHECK(ask(directives, 3) == 1); /* and it leaves while it goes on */
        PMIx_Info_destruct(&cancel);
        PMIx_Info_destruct(&directives[0]);
        PMIx_Info_destruct(&directives[2]);
    }
    rank_fence();
    return rank_end();
}

static const struct job_case cases[] = {
    { "once", 3, rank_of_once },
    { "devices", 1, rank_of_devices },
    { "rate", 2, rank_of_rate },
};

JOB_MAIN(cases)
