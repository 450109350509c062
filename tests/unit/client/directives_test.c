/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* directives_test.c - what Init, Get and Fence are told besides, and values nobody has stored. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "alone.h"

static pmix_proc_t me;

TestSuite(directives, .init = alone_forget, .fini = alone_end);

static void init(pmix_info_t *info, size_t ninfo)
{
    cr_assert_eq(PMIx_Init(&me, info, ninfo), PMIX_ERR_UNREACH);
}

static void load(pmix_info_t *info, const char *key, const void *data, pmix_data_type_t type)
{
    cr_assert_eq(PMIx_Info_load(info, key, data, type), PMIX_SUCCESS);
}

static void drop(pmix_value_t *value)
{
    PMIx_Value_destruct(value);
    free(value);
}

/* ---- values that follow from the question --------------------------------------------------- */

Test(directives, a_process_knows_its_name_by_every_key)
{
    const pmix_proc_t stranger = { .nspace = "elsewhere", .rank = 0 };
    pmix_proc_t beyond;
    pmix_value_t *value;

    init(NULL, 0);
    cr_assert_eq(PMIx_Get(&me, PMIX_NSPACE, NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_str_eq(value->data.string, me.nspace);
    drop(value);
    cr_assert_eq(PMIx_Get(NULL, PMIX_PROCID, NULL, 0, &value), PMIX_SUCCESS);
    cr_assert_eq(value->type, PMIX_PROC);
    cr_expect(PMIx_Check_procid(value->data.proc, &me));
    drop(value);
    cr_assert_eq(PMIx_Get(&me, PMIX_RANK, NULL, 0, &value), PMIX_SUCCESS);
    cr_assert_eq(value->type, PMIX_PROC_RANK);
    cr_expect_eq(value->data.rank, me.rank);
    drop(value);
    beyond = me;
    beyond.rank = 1;
    cr_expect_eq(PMIx_Get(&beyond, PMIX_PROCID, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    beyond.rank = PMIX_RANK_WILDCARD;
    cr_expect_eq(PMIx_Get(&beyond, PMIX_RANK, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(PMIx_Get(&stranger, PMIX_NSPACE, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
}

Test(directives, what_follows_is_handed_over_as_it_is_asked_for)
{
    pmix_value_t storage, *at = &storage, *none = NULL, *value;
    pmix_info_t infos[2];

    init(NULL, 0);
    load(&infos[0], PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL);
    load(&infos[1], PMIX_GET_POINTER_VALUES, NULL, PMIX_BOOL);
    cr_assert_eq(PMIx_Get(&me, PMIX_NSPACE, infos, 1, &at), PMIX_SUCCESS);
    cr_expect_str_eq(storage.data.string, me.nspace);
    PMIx_Value_destruct(&storage);
    cr_assert_eq(PMIx_Get(&me, PMIX_PROCID, infos, 2, &at), PMIX_SUCCESS);
    cr_expect(PMIx_Check_procid(storage.data.proc, &me), "it is the library's");
    cr_assert_eq(PMIx_Get(&me, PMIX_PROCID, infos + 1, 1, &value), PMIX_SUCCESS);
    cr_expect(PMIx_Check_procid(value->data.proc, &me), "it is the library's");
    cr_expect_eq(PMIx_Get(&me, PMIX_PROCID, infos, 1, &none), PMIX_ERR_BAD_PARAM);
}

Test(directives, whoever_is_oneself_is_near_unless_somebody_says_otherwise)
{
    pmix_value_t far = { .type = PMIX_UINT16, .data.uint16 = 1 }, *value;

    init(NULL, 0);
    cr_assert_eq(PMIx_Get(&me, PMIX_LOCALITY, NULL, 0, &value), PMIX_SUCCESS);
    cr_assert_eq(value->type, PMIX_UINT16);
    cr_expect(value->data.uint16 & PMIX_LOCALITY_SHARE_NODE);
    drop(value);
    cr_assert_eq(PMIx_Store_internal(&me, PMIX_LOCALITY, &far), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(&me, PMIX_LOCALITY, NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_eq(value->data.uint16, 1u);
    drop(value);
}

/* ---- realms, waiting, collectives ----------------------------------------------------------- */

static const struct {
    const char *key;
    int number;
    pmix_status_t want;
} waits[] = {
    { PMIX_WAIT, 0, PMIX_SUCCESS },
    { PMIX_WAIT, 1, PMIX_SUCCESS },
    { PMIX_WAIT, 2, PMIX_ERR_BAD_PARAM },
    { PMIX_WAIT, -1, PMIX_ERR_BAD_PARAM },
};

Test(directives, a_get_waits_for_as_many_values_as_there_can_be)
{
    pmix_value_t put = { .type = PMIX_UINT32, .data.uint32 = 3 };

    init(NULL, 0);
    cr_assert_eq(PMIx_Put(PMIX_GLOBAL, "key", &put), PMIX_SUCCESS);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        pmix_value_t *value = NULL;
        pmix_info_t info;

        load(&info, waits[i].key, &waits[i].number, PMIX_INT);
        PMIx_Info_required(&info);
        cr_expect_eq(PMIx_Get(&me, "key", &info, 1, &value), waits[i].want, "row %zu", i);
        if (value != NULL) {
            drop(value);
        }
    }
}

Test(directives, the_jobs_realm_is_the_jobs_alone)
{
    pmix_proc_t job;
    pmix_value_t *value;
    pmix_info_t info;

    init(NULL, 0);
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    load(&info, PMIX_JOB_INFO, NULL, PMIX_BOOL);
    PMIx_Info_required(&info);
    cr_assert_eq(PMIx_Get(&job, PMIX_JOB_SIZE, &info, 1, &value), PMIX_SUCCESS);
    drop(value);
}

Test(directives, a_fence_has_one_algorithm)
{
    pmix_info_t infos[3];
    bool no = false;

    init(NULL, 0);
    load(&infos[0], PMIX_COLLECTIVE_ALGO, "ring,tree", PMIX_STRING);
    load(&infos[1], PMIX_COLLECTIVE_ALGO_REQD, &no, PMIX_BOOL);
    load(&infos[2], PMIX_ALL_CLONES_PARTICIPATE, NULL, PMIX_BOOL);
    PMIx_Info_required(&infos[1]);
    PMIx_Info_required(&infos[2]);
    cr_expect_eq(PMIx_Fence(NULL, 0, infos, 3), PMIX_SUCCESS, "a wish");
    infos[1].value.data.flag = true;
    cr_expect_eq(PMIx_Fence(NULL, 0, infos, 3), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_Fence(NULL, 0, infos + 1, 2), PMIX_SUCCESS, "nothing is chosen");
    PMIx_Info_required(&infos[0]);
    cr_expect_eq(PMIx_Fence(NULL, 0, infos, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&infos[0]);
}

/* ---- the progress thread -------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* The thread that goes by @name, 0 when there is none. */
static pid_t thread_called(const char *name)
{
    DIR *const dir = opendir("/proc/self/task");
    struct dirent *entry;
    pid_t found = 0;

    cr_assert_not_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[300], line[64] = "";

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        FILE *const file = fopen(path, "r");
        if (file != NULL && fgets(line, sizeof(line), file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            if (strcmp(line, name) == 0) {
                found = (pid_t)atoi(entry->d_name);
            }
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    closedir(dir);
    return found;
}

static void on_op(pmix_status_t status, void *cbdata)
{
    (void)status;
    *(_Atomic int *)cbdata = 1;
}

/* Until something ran there, the thread may not have got its name yet. */
static void run_something(void)
{
    _Atomic int done = 0;

    cr_assert_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, (void *)&done), PMIX_SUCCESS);
    while (done == 0) {
        sched_yield();
    }
}

static int some_cpu(void)
{
    cpu_set_t allowed;
    int cpu = 0;

    cr_assert_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    while (!CPU_ISSET(cpu, &allowed)) {
        cpu++;
    }
    return cpu;
}

Test(directives, the_progress_thread_has_its_name_and_place_and_can_be_stopped, .timeout = 60)
{
    char cpus[32];
    cpu_set_t place;
    pmix_info_t infos[3];

    snprintf(cpus, sizeof(cpus), "%d", some_cpu());
    load(&infos[0], "pmix.pthrdnm", "a-name-that-is-too-long", PMIX_STRING); /* as in 7.0 */
    load(&infos[1], PMIX_BIND_PROGRESS_THREAD, cpus, PMIX_STRING);
    load(&infos[2], PMIX_BIND_REQUIRED, NULL, PMIX_BOOL);
    for (size_t i = 0; i < 3; i++) {
        PMIx_Info_required(&infos[i]);
    }
    init(infos, 3);
    cr_assert_eq(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL), 1);
    run_something();
    const pid_t thread = thread_called("a-name-that-is-");
    cr_assert_neq(thread, 0);
    cr_assert_eq(sched_getaffinity(thread, sizeof(place), &place), 0);
    cr_expect_eq(CPU_COUNT(&place), 1);
    cr_expect(CPU_ISSET(atoi(cpus), &place));

    pmix_info_t other;
    load(&other, PMIX_PROGRESS_THREAD_NAME, "another", PMIX_STRING);
    PMIx_Progress_thread_stop(&other, 1);
    cr_expect_eq(thread_called("a-name-that-is-"), thread, "another was meant");
    PMIx_Progress_thread_stop(infos, 1);
    while (thread_called("a-name-that-is-") == thread) { /* /proc has it a moment longer */
        sched_yield();
    }
    cr_expect_eq(thread_called("a-name-that-is-"), 0);
    PMIx_Progress_thread_stop(NULL, 0);
    run_something();
    cr_expect_neq(thread_called("a-name-that-is-"), 0, "there is one when it is needed");
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
    PMIx_Info_destruct(&other);
}

Test(directives, a_place_that_is_none_is_refused)
{
    pmix_info_t infos[2];

    load(&infos[0], PMIX_BIND_PROGRESS_THREAD, "here", PMIX_STRING);
    load(&infos[1], PMIX_BIND_REQUIRED, NULL, PMIX_BOOL);
    cr_expect_eq(PMIx_Init(&me, infos, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&infos[0]);
    load(&infos[0], PMIX_BIND_PROGRESS_THREAD, "1023", PMIX_STRING);
    cr_expect_eq(PMIx_Init(&me, infos, 2), PMIX_ERR_NOT_AVAILABLE);
    init(infos, 1);
    PMIx_Info_destruct(&infos[0]);
}
