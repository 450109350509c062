/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_test.c - the table of handlers: numbers, names, places. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "../alone.h"
#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/wait.h"

static char said[256];
static unsigned said_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

TestSuite(event, .init = alone_begin, .fini = alone_end, .timeout = 60);

/* Says the name it was registered with; ends the chain when that is "stop". */
static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    const char *const name = ninfo > 0 ? info[0].value.data.string : "?";
    pmix_status_t rc = PMIX_EVENT_NO_ACTION_TAKEN;

    (void)id;
    (void)source;
    (void)results;
    if (ninfo > 0 && strcmp(name, "stop") == 0) {
        rc = PMIX_EVENT_ACTION_COMPLETE;
    }
    pthread_mutex_lock(&lock);
    snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s(%d,%zu) ", name, status,
             nresults);
    said_count++;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    cbfunc(rc, NULL, 0, NULL, NULL, cbdata);
}

static void wait_for(unsigned count)
{
    pthread_mutex_lock(&lock);
    while (said_count < count) {
        pthread_cond_wait(&cond, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static pmix_status_t add(const char *name, pmix_status_t *codes, size_t ncodes,
                         const char *directive, const char *value)
{
    bool yes = true;
    pmix_info_t infos[2];

    PMIx_Info_load(&infos[0], PMIX_EVENT_HDLR_NAME, name, PMIX_STRING);
    if (directive != NULL && value != NULL) {
        PMIx_Info_load(&infos[1], directive, value, PMIX_STRING);
    } else if (directive != NULL) {
        PMIx_Info_load(&infos[1], directive, &yes, PMIX_BOOL);
    }
    const pmix_status_t rc = PMIx_Register_event_handler(codes, ncodes, infos,
                                                         directive != NULL ? 2 : 1, on_event, NULL,
                                                         NULL);
    PMIx_Info_destruct(&infos[0]);
    if (directive != NULL) {
        PMIx_Info_destruct(&infos[1]);
    }
    return rc;
}

/* What the loss of the server would do. */
static void server_lost(void)
{
    pthread_mutex_lock(&sx_process.lock);
    sx_event_lost_locked(sx_primary());
    pthread_mutex_unlock(&sx_process.lock);
    /* any later callback wakes the thread */
    PMIx_Deregister_event_handler(999, NULL, NULL);
    pthread_mutex_lock(&sx_process.lock);
    sx_local_ring_locked();
    pthread_mutex_unlock(&sx_process.lock);
}

Test(event, numbers_count_up_and_are_not_reused)
{
    cr_expect_eq(add("a", NULL, 0, NULL, NULL), 1); /* 0 is what callers take for no handler */
    cr_expect_eq(add("b", NULL, 0, NULL, NULL), 2);
    cr_expect_eq(PMIx_Deregister_event_handler(2, NULL, NULL), PMIX_SUCCESS);
    cr_expect_eq(add("c", NULL, 0, NULL, NULL), 3);
    cr_expect_eq(PMIx_Deregister_event_handler(2, NULL, NULL), PMIX_ERR_BAD_PARAM);
}

Test(event, a_name_or_place_is_given_once)
{
    cr_expect_eq(add("a", NULL, 0, PMIX_EVENT_HDLR_FIRST, NULL), 1);
    cr_expect_eq(add("a", NULL, 0, NULL, NULL), PMIX_ERR_EVENT_REGISTRATION);
    cr_expect_eq(add("b", NULL, 0, PMIX_EVENT_HDLR_FIRST, NULL), PMIX_ERR_EVENT_REGISTRATION);
    cr_expect_eq(add("b", NULL, 0, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL), 2);
    cr_expect_eq(add("c", NULL, 0, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL),
                 PMIX_ERR_EVENT_REGISTRATION);
    cr_expect_eq(add("c", NULL, 0, PMIX_EVENT_HDLR_BEFORE, "unknown"), PMIX_ERR_EVENT_REGISTRATION);
}

Test(event, an_unknown_directive_is_refused_when_required)
{
    pmix_info_t info;
    bool yes = true;

    PMIx_Info_load(&info, "no.such.directive", &yes, PMIX_BOOL);
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, &info, 1, on_event, NULL, NULL), 1);
    info.flags |= PMIX_INFO_REQD;
    cr_expect_eq(PMIx_Register_event_handler(NULL, 0, &info, 1, on_event, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
}

Test(event, handlers_are_notified_in_their_order)
{
    pmix_status_t one[] = { PMIX_ERR_LOST_CONNECTION };
    pmix_status_t two[] = { PMIX_ERR_TIMEOUT, -101 };
    pmix_status_t other[] = { PMIX_ERR_TIMEOUT };

    cr_assert_geq(add("any1", NULL, 0, NULL, NULL), 0);
    cr_assert_geq(add("any2", NULL, 0, NULL, NULL), 0);
    cr_assert_geq(add("any3", NULL, 0, PMIX_EVENT_HDLR_APPEND, NULL), 0);
    cr_assert_geq(add("any4", NULL, 0, PMIX_EVENT_HDLR_AFTER, "any2"), 0);
    cr_assert_geq(add("two", two, 2, NULL, NULL), 0);
    cr_assert_geq(add("one", one, 1, NULL, NULL), 0);
    cr_assert_geq(add("other", other, 1, NULL, NULL), 0);
    cr_assert_geq(add("last", NULL, 0, PMIX_EVENT_HDLR_LAST, NULL), 0);
    cr_assert_geq(add("first", NULL, 0, PMIX_EVENT_HDLR_FIRST, NULL), 0);
    server_lost();
    wait_for(8);
    cr_expect_str_eq(said, "first(-61,0) one(-61,1) two(-101,2) any2(-61,3) any4(-61,4) "
                           "any1(-61,5) any3(-61,6) last(-61,7) ");
}

Test(event, a_handler_can_end_the_chain)
{
    cr_assert_geq(add("never", NULL, 0, NULL, NULL), 0);
    cr_assert_geq(add("stop", NULL, 0, NULL, NULL), 0);
    cr_assert_geq(add("go", NULL, 0, NULL, NULL), 0);
    server_lost();
    wait_for(2);
    cr_assert_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS); /* all that is queued has run */
    cr_expect_str_eq(said, "go(-61,0) stop(-61,1) ");
    cr_assert_eq(PMIx_Init(NULL, NULL, 0), PMIX_ERR_UNREACH);
}
