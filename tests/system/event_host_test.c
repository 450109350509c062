/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_host_test.c - the host's part in events: its own handlers, the environment, what it refuses,
 * and what becomes of a namespace that it takes away. */
#include <shmix.h>

#include "received.h"

#define CODE_ENV PMIX_EVENT_NODE_DOWN
#define CODE_REFUSED 44       /* at once */
#define CODE_REFUSED_LATER 45 /* by callback */
#define CODE_UNKNOWN 46       /* the host cannot; that is no refusal */
#define CODE_SLOW 47          /* taken, in another thread */
#define CODE_JOINED 48        /* refused in another thread; the second time at once */
#define CODE_END 143 /* behind the others: a registration is asked for by its lowest code */

/* ---- the host's entries -------------------------------------------------------------------- */

static struct {
    pmix_status_t code;
    int asked, dropped;
} asked[] = {
    { CODE_ENV, 0, 0 },     { CODE_REFUSED, 0, 0 }, { CODE_REFUSED_LATER, 0, 0 },
    { CODE_UNKNOWN, 0, 0 }, { CODE_SLOW, 0, 0 },    { CODE_JOINED, 0, 0 }
}; /* under heard_lock */

static int slow_begun, slow_ended; /* the threads that answer for CODE_SLOW; under heard_lock */

static void count(const pmix_status_t codes[], size_t ncodes, bool drop)
{
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < ncodes; i++) {
        for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
            asked[k].asked += asked[k].code == codes[i] && !drop;
            asked[k].dropped += asked[k].code == codes[i] && drop;
        }
    }
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

struct answer {
    pmix_status_t status;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
};

static void *answer_slowly(void *arg)
{
    const struct answer answer = *(struct answer *)arg;

    free(arg);
    job_token_get(3); /* the rank has seen that nothing has come yet */
    answer.cbfunc(answer.status, answer.cbdata);
    pthread_mutex_lock(&received_lock);
    slow_ended++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return NULL;
}

static pmix_status_t think(pmix_status_t status, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct answer *answer = malloc(sizeof(*answer));
    pthread_t thread;

    CHECK(answer != NULL);
    *answer = (struct answer){ status, cbfunc, cbdata };
    pthread_mutex_lock(&received_lock);
    slow_begun++;
    pthread_mutex_unlock(&received_lock);
    CHECK(pthread_create(&thread, NULL, answer_slowly, answer) == 0);
    pthread_detach(thread);
    return PMIX_SUCCESS;
}

static int asked_joined; /* loop thread */

static pmix_status_t host_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    count(codes, ncodes, false);
    switch (codes[0]) { /* sorted */
    case CODE_REFUSED:
        return PMIX_ERR_NO_PERMISSIONS;
    case CODE_REFUSED_LATER:
        cbfunc(PMIX_ERR_NOT_AVAILABLE, cbdata);
        return PMIX_SUCCESS;
    case CODE_UNKNOWN:
        return PMIX_ERR_NOT_SUPPORTED;
    case CODE_SLOW:
        return think(PMIX_SUCCESS, cbfunc, cbdata);
    case CODE_JOINED:
        return asked_joined++ == 0 ? think(PMIX_ERR_NO_PERMISSIONS, cbfunc, cbdata)
                                   : PMIX_ERR_NOT_AVAILABLE;
    default:
        return PMIX_OPERATION_SUCCEEDED;
    }
}

static pmix_status_t host_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata)
{
    count(codes, ncodes, true);
    return PMIX_OPERATION_SUCCEEDED;
}

static void check_asked(pmix_status_t code, int want_asked, int want_dropped)
{
    pthread_mutex_lock(&received_lock);
    for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
        while (asked[k].code == code && asked[k].dropped < want_dropped) {
            received_wait_locked("the drop of code", code);
        }
        CHECK(asked[k].code != code ||
              (asked[k].asked == want_asked && asked[k].dropped == want_dropped));
    }
    pthread_mutex_unlock(&received_lock);
}

static void asked_forget(void)
{
    pthread_mutex_lock(&received_lock);
    for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
        asked[k].asked = asked[k].dropped = 0;
    }
    pthread_mutex_unlock(&received_lock);
}

/* ---- ranks --------------------------------------------------------------------------------- */

static void notify_host(pmix_status_t code, pmix_data_range_t range)
{
    /* X6: hosts name the resource manager by NULL or by an empty namespace. */
    const pmix_proc_t manager = { .nspace = "", .rank = 0 };

    CHECK_STATUS(PMIx_Notify_event(code, &manager, range, NULL, 0, NULL, NULL), PMIX_SUCCESS);
}

/* ---- the host's handlers that come late ----------------------------------------------------- */

static int rank_of_late(int rank)
{
    const bool yes = true;

    rank_begin(NULL);
    for (uint32_t i = 0; i < 3; i++) {
        publish_event(-2050, PMIX_RANGE_GLOBAL, i);
    }
    publish_with(-2050, PMIX_RANGE_GLOBAL, 99, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    publish_event(-2051, PMIX_RANGE_RM, 3);
    publish_event(-2052, PMIX_RANGE_NAMESPACE, 4);
    publish_to_proc(-2053, JOB_NSPACE, 0);
    server_has_it();
    job_token_put(0);
    job_token_get(1);
    publish_event(-2050, PMIX_RANGE_GLOBAL, 5);
    publish_event(CODE_END, PMIX_RANGE_GLOBAL, 6);
    server_has_it();
    return rank_end();
}

static bool acknowledged; /* under heard_lock */
static size_t acknowledged_id;

/* EV3: none of its events is handed out while this runs.  No wait can show that it never would be;
 * the server's loop does all it can meanwhile. */
static void acknowledge(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    notify_host(-2054, PMIX_RANGE_LOCAL);
    received_wait(-2054, 1); /* the loop has gone round */
    CHECK(received_by(id) == 0);
    pthread_mutex_lock(&received_lock);
    acknowledged = true;
    acknowledged_id = id;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

/* EV62, EV63, EV64, EV65, EV67, EV74 for a host, EV3, EO58, EO59: kept ones in order, once per
 * registration; what was for others, or was not to be kept, is not among them. */
static int host_of_late(struct job *job)
{
    pmix_status_t codes[5] = { -2050, -2051, -2052, -2053, CODE_END };
    size_t ids[3];

    job_token_get(0);
    const size_t probe = receive_one(-2054);

    CHECK_STATUS(PMIx_Register_event_handler(codes, 5, NULL, 0, receive, acknowledge, NULL),
                 PMIX_SUCCESS);
    received_wait(-2050, 3);
    pthread_mutex_lock(&received_lock);
    CHECK(acknowledged);
    ids[0] = acknowledged_id;
    pthread_mutex_unlock(&received_lock);
    ids[1] = receive_one(-2050);
    ids[2] = receive_codes(NULL, 0, NULL); /* hears of what is addressed to the host */
    received_wait(-2051, 2);
    received_wait(-2050, 6);
    job_token_put(1);
    received_wait(CODE_END, 1);
    job_wait(job, 0);
    uint32_t next[3] = { 0, 0, 3 };

    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count; i++) {
        for (size_t k = 0; k < 3 && received[i].code != -2054; k++) {
            if (received[i].id == ids[k]) {
                CHECK(received[i].number == next[k]);
                /* 0 1 2 kept, 3 for the manager, 5 live, 6 the end */
                next[k] = k == 1 && next[k] == 2 ? 5 : next[k] == 3 ? 5 : next[k] + 1;
            }
        }
        if (received[i].number == 5) { /* EO59: the one of a single code first */
            CHECK((received[i].id == ids[1]) == (received[i].nresults == 0));
        }
    }
    CHECK(next[0] == 7 && next[1] == 6 && next[2] == 5);
    pthread_mutex_unlock(&received_lock);
    for (size_t k = 0; k < 3; k++) {
        CHECK_STATUS(PMIx_Deregister_event_handler(ids[k], NULL, NULL), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Deregister_event_handler(probe, NULL, NULL), PMIX_SUCCESS);
    received_forget();
    return 0;
}

/* ---- the environment ------------------------------------------------------------------------ */

/* EV11, EV12, EV13, EV14: three ranks, one level each; rank 2 asks for both. */
static int rank_of_environment(int rank)
{
    pmix_status_t codes[2] = { CODE_ENV, CODE_END };
    const bool yes = true;
    pmix_info_t info[2];

    rank_begin(NULL);
    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_EVENT_ENVIRO_LEVEL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_EVENT_JOB_LEVEL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(codes, 1, rank == 0 ? &info[1] : info,
                                      rank == 0 ? 1 : (size_t)rank, receive, NULL, NULL) >= 0);
    const size_t plain = receive_codes(codes, 2, PMIX_EVENT_JOB_LEVEL);
    job_token_put(0);
    received_wait(CODE_END, 1);
    CHECK(received_of(CODE_ENV) == (rank == 0 ? 0 : 1));
    CHECK(received_by(plain) == 1); /* the end: it is no system event */
    CHECK(rank == 0 || (received[0].source.nspace[0] == '\0' &&
                        received[0].source.rank == PMIX_RANK_UNDEF && !received[0].has_infos));
    CHECK_STATUS(PMIx_Deregister_event_handler(plain, NULL, NULL), PMIX_SUCCESS);
    job_token_put(0);
    job_token_get(1);
    return rank_end();
}

/* EV13, EV14, EV25, X6: asked once for two ranks and the host itself; dropped when none is left. */
static int host_of_environment(struct job *job)
{
    for (int i = 0; i < job->size; i++) {
        job_token_get(0);
    }
    pmix_status_t code = CODE_ENV;
    const size_t own = receive_codes(&code, 1, PMIX_EVENT_ENVIRO_LEVEL);
    const size_t plain = receive_codes(&code, 1, PMIX_EVENT_JOB_LEVEL);

    notify_host(CODE_ENV, PMIX_RANGE_SESSION);
    received_wait(CODE_ENV, 1);
    CHECK(received_by(plain) == 0 && received_by(own) == 1);
    notify_host(CODE_END, PMIX_RANGE_SESSION);
    for (int i = 0; i < job->size; i++) {
        job_token_get(0);
    }
    check_asked(CODE_ENV, 1, 0);
    for (int i = 0; i < job->size; i++) {
        job_token_put(1);
    }
    for (int i = 0; i < job->size; i++) {
        job_wait(job, i);
    }
    notify_host(CODE_ENV, PMIX_RANGE_SESSION); /* EV25: the host itself still wants it */
    received_wait(CODE_ENV, 2);
    check_asked(CODE_ENV, 1, 0);
    CHECK_STATUS(PMIx_Deregister_event_handler(own, NULL, NULL), PMIX_SUCCESS);
    check_asked(CODE_ENV, 1, 1);
    CHECK_STATUS(PMIx_Deregister_event_handler(plain, NULL, NULL), PMIX_SUCCESS);
    received_forget();
    asked_forget();
    return 0;
}

/* X30: a code of the system's range that is named without a level: the host is asked once for two
 * ranks and the host itself.  A handler for everything does not receive the event. */
static int rank_of_named(int rank)
{
    pmix_status_t codes[2] = { CODE_END, CODE_ENV };

    rank_begin(NULL);
    const size_t named = receive_codes(codes, 2, NULL), all = receive_codes(NULL, 0, NULL);

    job_token_put(0);
    received_wait(CODE_END, 2);
    CHECK(received_of(CODE_ENV) == 1 && received_by(named) == 2 && received_by(all) == 1);
    CHECK_STATUS(PMIx_Deregister_event_handler(named, NULL, NULL), PMIX_SUCCESS);
    job_token_put(0);
    return rank_end();
}

static int host_of_named(struct job *job)
{
    const size_t own = receive_one(CODE_ENV);

    for (int i = 0; i < job->size; i++) {
        job_token_get(0);
    }
    notify_host(CODE_ENV, PMIX_RANGE_SESSION);
    received_wait(CODE_ENV, 1);
    notify_host(CODE_END, PMIX_RANGE_SESSION);
    check_asked(CODE_ENV, 1, 0);
    for (int i = 0; i < job->size; i++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_Deregister_event_handler(own, NULL, NULL), PMIX_SUCCESS);
    for (int i = 0; i < job->size; i++) {
        job_wait(job, i);
    }
    check_asked(CODE_ENV, 1, 1);
    received_forget();
    asked_forget();
    return 0;
}

/* ---- levels of one process ------------------------------------------------------------------ */

/* EV25: two handlers of one process for one code; only one of them had the host asked for it. */
static int rank_of_levels(int rank)
{
    pmix_status_t code = CODE_ENV;

    rank_begin(NULL);
    const size_t plain = receive_codes(&code, 1, PMIX_EVENT_JOB_LEVEL);
    const size_t environment = receive_codes(&code, 1, PMIX_EVENT_ENVIRO_LEVEL);

    CHECK_STATUS(PMIx_Deregister_event_handler(plain, NULL, NULL), PMIX_SUCCESS);
    server_has_it();
    job_token_put(0);
    job_token_get(1);
    received_wait(CODE_ENV, 1);
    CHECK(received_by(environment) == 1);
    CHECK_STATUS(PMIx_Deregister_event_handler(environment, NULL, NULL), PMIX_SUCCESS);
    server_has_it();
    job_token_put(0);
    return rank_end();
}

static int host_of_levels(struct job *job)
{
    job_token_get(0);
    check_asked(CODE_ENV, 1, 0);
    notify_host(CODE_ENV, PMIX_RANGE_SESSION);
    job_token_put(1);
    job_token_get(0);
    check_asked(CODE_ENV, 1, 1);
    job_wait(job, 0);
    asked_forget();
    return 0;
}

/* ---- process sets --------------------------------------------------------------------------- */

#define SET "test.set"

static int set_news, set_wrong, anything; /* under heard_lock */

static void receive_set(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    int good = source->nspace[0] == '\0' && source->rank == PMIX_RANK_UNDEF;

    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *const value = &info[i].value;

        if (strcmp(info[i].key, PMIX_PSET_NAME) == 0) {
            good += strcmp(value->data.string, SET) == 0;
        } else if (strcmp(info[i].key, PMIX_PSET_MEMBERS) == 0) {
            const pmix_proc_t *const procs = value->data.darray->array;

            good += value->data.darray->type == PMIX_PROC && value->data.darray->size == 2 &&
                    procs[0].rank == 0 && procs[1].rank == 1 &&
                    strcmp(procs[1].nspace, JOB_NSPACE) == 0;
        } else if (strcmp(info[i].key, PMIX_EVENT_NON_DEFAULT) == 0) {
            good += value->data.flag;
        }
    }
    pthread_mutex_lock(&received_lock);
    set_news++;
    set_wrong += good != 4;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void receive_anything(size_t id, pmix_status_t code, const pmix_proc_t *source,
                             pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                             size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                             void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    anything++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* GR92; X24 by sense: sets are no failures, so no handler without codes hears of them.  Rank 1
 * registers when the set is there, and gets what is kept. */
static int rank_of_sets(int rank)
{
    pmix_status_t codes[2] = { PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE };

    rank_begin(NULL);
    if (rank == 1) {
        job_token_get(1);
    }
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, receive_anything, NULL, NULL) >= 0);
    CHECK(PMIx_Register_event_handler(codes, 2, NULL, 0, receive_set, NULL, NULL) >= 0);
    job_token_put(0);
    pthread_mutex_lock(&received_lock);
    while (set_news < 2 || anything == 0) {
        received_wait_locked("the set", set_news);
    }
    CHECK(set_news == 2 && set_wrong == 0 && anything == 1); /* the end */
    pthread_mutex_unlock(&received_lock);
    return rank_end();
}

static int host_of_sets(struct job *job)
{
    const pmix_proc_t members[2] = { { .nspace = JOB_NSPACE, .rank = 1 },
                                     { .nspace = JOB_NSPACE, .rank = 0 } };
    char name[] = SET;

    job_token_get(0);
    CHECK_STATUS(PMIx_server_define_process_set(members, 2, SET), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_define_process_set(members, 2, SET), PMIX_EXISTS); /* no news */
    job_token_put(1);
    job_token_get(0);
    CHECK_STATUS(PMIx_server_delete_process_set(name), PMIX_SUCCESS);
    notify_host(CODE_END, PMIX_RANGE_LOCAL);
    return 0;
}

/* ---- refusals ------------------------------------------------------------------------------- */

static pmix_status_t outcome = 1; /* under heard_lock; 1: nothing yet */

static void outcome_status(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS || id == SIZE_MAX);
    pthread_mutex_lock(&received_lock);
    outcome = status;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static pmix_status_t outcome_wait(void)
{
    pthread_mutex_lock(&received_lock);
    while (outcome == 1) {
        received_wait_locked("the acknowledgement", 0);
    }
    const pmix_status_t status = outcome;

    outcome = 1;
    pthread_mutex_unlock(&received_lock);
    return status;
}

/* EV19: the host's refusal is the registration's error, blocking or not, and there is no handler. */
static int rank_of_refusals(int rank)
{
    pmix_status_t codes[2] = { CODE_REFUSED, CODE_END };
    pmix_status_t later = CODE_REFUSED_LATER, unknown = CODE_UNKNOWN, slow = CODE_SLOW;

    rank_begin(NULL);
    CHECK_STATUS(PMIx_Register_event_handler(codes, 2, NULL, 0, receive, NULL, NULL),
                 PMIX_ERR_NO_PERMISSIONS);
    CHECK_STATUS(PMIx_Register_event_handler(&later, 1, NULL, 0, receive, outcome_status, NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(outcome_wait(), PMIX_ERR_NOT_AVAILABLE);
    CHECK_STATUS(PMIx_Register_event_handler(&later, 1, NULL, 0, receive, NULL, NULL),
                 PMIX_ERR_NOT_AVAILABLE);
    const size_t kept = receive_codes(&unknown, 1, NULL);

    CHECK_STATUS(PMIx_Register_event_handler(&slow, 1, NULL, 0, receive, outcome_status, NULL),
                 PMIX_SUCCESS);
    publish_event(CODE_REFUSED, PMIX_RANGE_LOCAL, 0);
    publish_event(CODE_UNKNOWN, PMIX_RANGE_LOCAL, 0);
    publish_event(CODE_SLOW, PMIX_RANGE_LOCAL, 0); /* before its handler is acknowledged */
    pthread_mutex_lock(&received_lock);
    CHECK(outcome == 1 && received_count == 0);
    pthread_mutex_unlock(&received_lock);
    job_token_put(3);
    CHECK_STATUS(outcome_wait(), PMIX_SUCCESS);
    received_wait(CODE_SLOW, 1);
    CHECK(received_of(CODE_REFUSED) == 0 && received_of(CODE_UNKNOWN) == 1 &&
          received_by(kept) == 1);
    (void)receive_one(CODE_END); /* what the refused one had asked for was given back */
    return rank_end();
}

static int host_of_refusals(struct job *job)
{
    job_wait(job, 0);
    check_asked(CODE_REFUSED, 1, 0);
    check_asked(CODE_REFUSED_LATER, 2, 0); /* refused, so asked again */
    check_asked(CODE_SLOW, 1, 1);
    asked_forget();
    return 0;
}

static void register_meanwhile(pmix_status_t code)
{
    CHECK_STATUS(PMIx_Register_event_handler(&code, 1, NULL, 0, receive, outcome_status, NULL),
                 PMIX_SUCCESS);
    server_has_it();
    pthread_mutex_lock(&received_lock);
    CHECK(outcome == 1); /* not before the host has answered */
    pthread_mutex_unlock(&received_lock);
}

/* EV14, EV19: rank 1 wants a code about which the host thinks for rank 0.  A refusal is rank 0's
 * own, so rank 1 has the host asked again; what is granted is granted to both. */
static int rank_of_joining(int rank)
{
    rank_begin(NULL);
    for (int i = 0; i < 2; i++) {
        if (rank == 1) {
            job_token_get(0);
        }
        register_meanwhile(i == 0 ? CODE_JOINED : CODE_SLOW);
        job_token_put(rank == 0 ? 0 : 3);
        CHECK_STATUS(outcome_wait(), i == 1      ? PMIX_SUCCESS
                                     : rank == 0 ? PMIX_ERR_NO_PERMISSIONS
                                                 : PMIX_ERR_NOT_AVAILABLE);
    }
    return rank_end();
}

static int host_of_joining(struct job *job)
{
    job_wait(job, 0);
    job_wait(job, 1);
    check_asked(CODE_JOINED, 2, 0);
    check_asked(CODE_SLOW, 1, 1);
    asked_forget();
    return 0;
}

/* A rank that dies while the host thinks: its answer is nobody's. */
static int rank_of_death(int rank)
{
    pmix_status_t slow = CODE_SLOW;

    rank_begin(NULL);
    CHECK_STATUS(PMIx_Register_event_handler(&slow, 1, NULL, 0, receive, outcome_status, NULL),
                 PMIX_SUCCESS);
    job_token_get(0);
    _exit(0);
}

static int host_of_death(struct job *job)
{
    pthread_mutex_lock(&received_lock);
    while (asked[4].asked == 0) {
        received_wait_locked("the question of code", CODE_SLOW);
    }
    pthread_mutex_unlock(&received_lock);
    job_token_put(0);
    job_wait(job, 0);
    check_asked(CODE_SLOW, 1, 1); /* dropped with the death */
    job_token_put(3);
    pthread_mutex_lock(&received_lock);
    while (slow_ended < slow_begun) { /* it reads a pipe that is closed next */
        received_wait_locked("the late answer to code", CODE_SLOW);
    }
    pthread_mutex_unlock(&received_lock);
    asked_forget();
    return 0;
}

/* ---- namespaces come and go ------------------------------------------------------------------ */

/* 0 publishes; 1 is of a job that is taken away then, 2 of one that comes again under its name, 3 of
 * a later one. */
static int rank_of_namespaces(int rank)
{
    pmix_status_t codes[3] = { -2060, -2061, CODE_END };

    if (rank < 2) {
        job_token_get(rank);
    }
    rank_begin(NULL);
    if (rank == 0) {
        publish_event(-2060, PMIX_RANGE_NAMESPACE, 0);
        publish_event(-2061, PMIX_RANGE_GLOBAL, 1);
        publish_to_proc(-2060, "test.again", PMIX_RANK_WILDCARD);
        server_has_it();
        job_token_put(1);
    } else {
        receive_codes(codes, 3, NULL);
        publish_event(CODE_END, PMIX_RANGE_NAMESPACE, 0);
        if (rank == 1) {
            received_wait(-2060, 1); /* another library may have the kept ones in any order */
        }
        received_wait(-2061, 1);
        received_wait(CODE_END, 1);
        CHECK(received_of(-2060) == (rank == 1)); /* it was for this namespace, as it was then */
        CHECK(received_of(-2061) == 1);
    }
    return rank_end();
}

/* EV71, EV73, EV47, EV66: a later job hears of no event of another, nor of one of its own name from
 * before it was taken away. */
static int host_of_namespaces(struct job *job)
{
    pmix_nspace_t again = "test.again";

    job_add(job, again, 1);
    job_token_put(0);
    job_wait(job, 0);
    job_wait(job, 1);
    PMIx_server_deregister_nspace(again, NULL, NULL);
    job_add(job, again, 1);
    job_wait(job, 2);
    job_add(job, "test.later", 1);
    job_wait(job, 3);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "late_handlers_of_the_host", 1, rank_of_late, host_of_late },
        { "environment", 3, rank_of_environment, host_of_environment },
        { "levels", 1, rank_of_levels, host_of_levels },
        { "a_code_of_the_system", 2, rank_of_named, host_of_named },
        { "process_sets", 2, rank_of_sets, host_of_sets },
        { "refusals", 1, rank_of_refusals, host_of_refusals },
        { "joining_while_the_host_thinks", 2, rank_of_joining, host_of_joining },
        { "death_while_the_host_thinks", 1, rank_of_death, host_of_death },
        { "namespaces", 1, rank_of_namespaces, host_of_namespaces },
    };

    job_module.register_events = host_register;
    job_module.deregister_events = host_deregister;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
