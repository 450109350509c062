/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wait_test.c - who runs callbacks, and what PMIx_Init is told about it. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#ifdef __SANITIZE_THREAD__
#define THREADS_BESIDE 1 /* ThreadSanitizer's own comes along with a process's first */
#else
#define THREADS_BESIDE 0
#endif

static pmix_proc_t me;
static unsigned called;

static unsigned thread_count(void)
{
    DIR *const dir = opendir("/proc/self/task");
    unsigned count = 0;

    cr_assert_not_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static pmix_status_t init(const char *key, bool yes, bool required)
{
    pmix_info_t info;

    unsetenv("PMIX_NAMESPACE");
    cr_assert_eq(PMIx_Info_load(&info, key, &yes, PMIX_BOOL), PMIX_SUCCESS);
    info.flags = required ? PMIX_INFO_REQD : 0;
    return PMIx_Init(&me, &info, 1);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    called += status == PMIX_SUCCESS;
    if (cbdata != NULL) { /* one more, and it must not be run in here */
        cr_assert_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, NULL), PMIX_SUCCESS);
        PMIx_Progress();
        cr_expect_eq(called, 1u);
    }
}

static void fence_nb(void *cbdata)
{
    cr_assert_eq(PMIx_Fence_nb(NULL, 0, NULL, 0, on_done, cbdata), PMIX_SUCCESS);
}

Test(progress, is_the_programs_when_it_says_so)
{
    const unsigned threads = thread_count();

    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_UNREACH);
    fence_nb(NULL);
    fence_nb(NULL);
    cr_expect_eq(thread_count(), threads);
    cr_expect_eq(called, 0u);
    PMIx_Progress();
    cr_expect_eq(called, 2u);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(thread_count(), threads);
}

Test(progress, does_not_call_back_inside_a_callback)
{
    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, false), PMIX_ERR_UNREACH);
    fence_nb(&called);
    PMIx_Progress();
    cr_expect_eq(called, 2u, "the second one comes after the first");
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

Test(progress, runs_what_is_left_at_the_end)
{
    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_UNREACH);
    fence_nb(NULL);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(called, 1u);
}

Test(progress, is_chosen_by_the_first_init)
{
    const unsigned threads = thread_count();

    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, false, true), PMIX_ERR_UNREACH);
    cr_expect_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(init(PMIX_EXTERNAL_PROGRESS, true, false), PMIX_SUCCESS);
    fence_nb(NULL);
    cr_expect_eq(thread_count(), threads + 1 + THREADS_BESIDE);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    cr_expect_eq(called, 1u);
    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_UNREACH, "a new choice");
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

Test(init_directives, that_are_required_and_unknown_are_refused)
{
    cr_expect_eq(init("pmix.no.such.key", true, true), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_not(PMIx_Initialized());
    cr_expect_eq(init(PMIX_EVENT_BASE, true, true), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(init("pmix.no.such.key", true, false), PMIX_ERR_UNREACH);
    cr_expect_eq(init("pmix.no.such.key", true, true), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "the refused one is not counted");
    cr_expect_not(PMIx_Initialized());
}

/* ---- a programming model ------------------------------------------------------------------ */

static char notified[256]; /* the strings among the infos, in their order */
static unsigned model_events, default_events;

static void on_model(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)results;
    (void)nresults;
    if (status == PMIX_MODEL_DECLARED && PMIx_Check_procid(source, &me)) {
        model_events++;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (info[i].value.type == PMIX_STRING) {
            strcat(strcat(strcat(notified, info[i].key), "="), info[i].value.data.string);
        }
    }
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void on_default(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    default_events++;
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t declare(const char *model)
{
    pmix_info_t infos[4];

    PMIx_Info_load(&infos[3], PMIX_EXTERNAL_PROGRESS, NULL, PMIX_BOOL);
    PMIx_Info_load(&infos[0], PMIX_PROGRAMMING_MODEL, model, PMIX_STRING);
    PMIx_Info_load(&infos[1], PMIX_EVENT_BASE, &infos, PMIX_POINTER); /* cannot be copied */
    PMIx_Info_load(&infos[2], PMIX_THREADING_MODEL, "posix", PMIX_STRING);
    infos[0].flags = infos[2].flags = PMIX_INFO_REQD;
    const pmix_status_t rc = PMIx_Init(&me, infos, 4);

    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[2]);
    return rc;
}

/* A late handler hears of each model once, whenever that was declared, and however often. */
Test(model, that_any_init_declared_is_notified_to_those_who_ask_late)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;

    cr_assert_eq(declare("first"), PMIX_ERR_UNREACH);
    cr_assert_eq(declare("second"), PMIX_SUCCESS);
    cr_assert_eq(declare("first"), PMIX_SUCCESS);
    cr_assert_geq(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_default, NULL, NULL), 0);
    cr_assert_eq(declare("third"), PMIX_SUCCESS);
    for (unsigned i = 1; i <= 2; i++) {
        cr_assert_geq(PMIx_Register_event_handler(&code, 1, NULL, 0, on_model, NULL, NULL), 0);
        PMIx_Progress();
        cr_expect_eq(model_events, 3 * i, "%u", model_events);
    }
    cr_expect_str_eq(notified, "pmix.pgm.model=firstpmix.threads=posix"
                               "pmix.pgm.model=secondpmix.threads=posix"
                               "pmix.pgm.model=thirdpmix.threads=posix"
                               "pmix.pgm.model=firstpmix.threads=posix"
                               "pmix.pgm.model=secondpmix.threads=posix"
                               "pmix.pgm.model=thirdpmix.threads=posix");
    cr_expect_eq(default_events, 0u);
    while (PMIx_Initialized()) {
        cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
    model_events = 0;
    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_UNREACH);
    cr_assert_geq(PMIx_Register_event_handler(&code, 1, NULL, 0, on_model, NULL, NULL), 0);
    PMIx_Progress();
    cr_expect_eq(model_events, 0u, "of an earlier life");
    cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

Test(model, that_a_later_init_declares_is_notified_to_those_who_asked)
{
    pmix_status_t code = PMIX_MODEL_DECLARED;

    cr_assert_eq(init(PMIX_EXTERNAL_PROGRESS, true, true), PMIX_ERR_UNREACH);
    cr_assert_eq(declare("OpenMP"), PMIX_SUCCESS);
    cr_assert_geq(PMIx_Register_event_handler(&code, 1, NULL, 0, on_model, NULL, NULL), 0);
    cr_assert_geq(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_default, NULL, NULL), 0);
    cr_assert_eq(declare("MPI"), PMIX_SUCCESS);
    cr_assert_eq(init("pmix.no.model", true, false), PMIX_SUCCESS);
    PMIx_Progress();
    cr_expect_eq(model_events, 2u);
    cr_expect_eq(default_events, 0u);
    cr_expect_str_eq(notified, "pmix.pgm.model=OpenMPpmix.threads=posix"
                               "pmix.pgm.model=MPIpmix.threads=posix");
    while (PMIx_Initialized()) {
        cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    }
}
