/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_server_test.c - what the server does with events: whom it tells, what it keeps, and what
 * the host hears.  The server keeps four events without a job (SHMIX_SERVER_CACHE_SIZE). */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "received.h"

#define CODE 42     /* a user's own: of no range of PMIx, so the host is asked for it */
#define CODE_END 43 /* the last one of a case */
#define CODE_ECHO (-2071)
#define CACHE_SIZE 4

static int asked, dropped; /* register_events and deregister_events for CODE; under received_lock */
static uint32_t asked_uid, asked_gid;

/* Wait until an event of @code was received.  Return: a copy of the first. */
static struct received wait_for(pmix_status_t code)
{
    struct received copy = { .code = 0 };

    received_wait(code, 1);
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count && copy.code == 0; i++) {
        copy = received[i].code == code ? received[i] : copy;
    }
    pthread_mutex_unlock(&received_lock);
    return copy;
}

static void forget(void)
{
    received_forget();
    pthread_mutex_lock(&received_lock);
    asked = dropped = 0;
    pthread_mutex_unlock(&received_lock);
}

/* ---- the host's entries -------------------------------------------------------------------- */

static pmix_status_t host_notify(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    received_note_up(range, 0, code, source, info, ninfo, 0);
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t host_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < ncodes; i++) {
        asked += codes[i] == CODE;
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_USERID) == 0) {
            asked_uid = info[i].value.data.uint32;
        } else if (strcmp(info[i].key, PMIX_GRPID) == 0) {
            asked_gid = info[i].value.data.uint32;
        }
    }
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < ncodes; i++) {
        dropped += codes[i] == CODE;
    }
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

/* ---- what leaves the node ------------------------------------------------------------------ */

static void send_staying(pmix_status_t code)
{
    const bool yes = true;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_STAYS_LOCAL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(&info);
    CHECK_STATUS(PMIx_Notify_event(code, NULL, PMIX_RANGE_GLOBAL, &info, 1, NULL, NULL),
                 PMIX_SUCCESS);
}

/* EV48, EV54, EV55: the host hears of what is not for this node alone. */
static int rank_of_upcalls(int rank)
{
    rank_begin(NULL);
    if (rank == 0) {
        job_token_get(0);
        publish_event(-2001, PMIX_RANGE_LOCAL, 0);
        publish_event(-2002, PMIX_RANGE_NAMESPACE, 0); /* though the whole job is here */
        publish_to_proc(-2003, JOB_NSPACE, 1);
        publish_to_proc(-2004, "job.elsewhere", 0);
        publish_event(-2005, PMIX_RANGE_SESSION, 0);
        publish_event(-2006, PMIX_RANGE_GLOBAL, 0);
        publish_event(-2007, PMIX_RANGE_PROC_LOCAL, 0);
        publish_event(-2008, PMIX_RANGE_RM, 0);
        send_staying(-2009);
        publish_event(CODE_END, PMIX_RANGE_GLOBAL, 0);
        server_has_it();
    }
    return rank_end();
}

static int host_of_upcalls(struct job *job)
{
    static const struct {
        pmix_status_t code;
        int range;
    } up[] = {
        { -2002, PMIX_RANGE_NAMESPACE }, /* X25 */
        { -2004, PMIX_RANGE_CUSTOM },    { -2005, PMIX_RANGE_SESSION },
        { -2006, PMIX_RANGE_GLOBAL },    { -2008, PMIX_RANGE_RM },
    };

    job_token_put(0);
    wait_for(CODE_END);
    for (size_t i = 0; i < sizeof(up) / sizeof(up[0]); i++) {
        const struct received one = wait_for(up[i].code);

        CHECK(one.range == up[i].range && one.proxied);
        CHECK(strcmp(one.source.nspace, JOB_NSPACE) == 0 && one.source.rank == 0);
        CHECK(received_of(up[i].code) == 1);
    }
    CHECK(received_of(-2001) == 0 && received_of(-2003) == 0);
    CHECK(received_of(-2007) == 0 && received_of(-2009) == 0);
    job_wait(job, 0);
    forget();
    return 0;
}

/* A host's handler without codes hears of what is addressed to the host; one with codes hears of
 * its codes. */
static int host_of_handlers(struct job *job)
{
    pmix_status_t session = -2005;
    const size_t any = receive_codes(NULL, 0, NULL);
    const size_t one = receive_codes(&session, 1, NULL);

    job_token_put(0); /* more events come than are kept for late handlers */
    job_wait(job, 0);
    wait_for(CODE_END);
    received_wait(-2005, 2); /* upcall and handler each; -2006 is an upcall only */
    received_wait(-2008, 2);
    CHECK(received_of(-2006) == 1 && received_of(-2001) == 0);
    CHECK_STATUS(PMIx_Deregister_event_handler(any, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Deregister_event_handler(one, NULL, NULL), PMIX_SUCCESS);
    forget();
    return 0;
}

/* ---- what comes back ----------------------------------------------------------------------- */

#define OTHER "test.other"

/* What ORTE does with a client's event: it is carried to all nodes, this one too, with infos of the
 * types it knows, and becomes one of the range SESSION.  @foreign: as if another node had sent it. */
static void relay(pmix_status_t code, const pmix_proc_t *source, const pmix_info_t info[],
                  size_t ninfo, bool foreign)
{
    pmix_info_t *copy = calloc(ninfo, sizeof(*copy));
    bool marked = false, ranged = false;

    CHECK(copy != NULL);
    for (size_t i = 0; i < ninfo; i++) {
        CHECK_STATUS(PMIx_Info_xfer(&copy[i], &info[i]), PMIX_SUCCESS);
        CHECK(info[i].value.type == PMIX_STRING || info[i].value.type == PMIX_PROC ||
              info[i].value.type == PMIX_UINT8 || info[i].value.type == PMIX_UINT32 ||
              info[i].value.type == PMIX_BYTE_OBJECT);
        ranged = ranged || strcmp(info[i].key, PMIX_RANGE) == 0;
        if (strcmp(info[i].key, RELAY_KEY) == 0) {
            char *mark = copy[i].value.data.bo.bytes;

            marked = true;
            mark[0] = !foreign ? mark[0] : mark[0] == '0' ? '1' : '0';
        }
    }
    CHECK(marked && ranged);
    CHECK_STATUS(PMIx_Notify_event(code, source, PMIX_RANGE_SESSION, copy, ninfo, NULL, NULL),
                 PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        PMIx_Info_destruct(&copy[i]);
    }
    free(copy);
}

/* Ranks 0 and 1 are of one job, 2 of another. */
static int rank_of_echo(int rank)
{
    pmix_status_t codes[2] = { CODE_ECHO, CODE_END };

    rank_begin(NULL);
    receive_codes(codes, 2, NULL);
    if (rank == 0) {
        job_token_get(0);
        job_token_get(0);
        publish_event(CODE_ECHO, PMIX_RANGE_NAMESPACE, 7);
    } else {
        job_token_put(0);
    }
    (void)wait_for(CODE_END);
    pthread_mutex_lock(&received_lock);
    CHECK(received_of_locked(CODE_ECHO) ==
          (rank == 2 ? 0 : 2)); /* its own, and that of "another node" */
    for (size_t i = 0; i < received_count; i++) {
        CHECK(received[i].code != CODE_ECHO || received[i].number == 7);
        CHECK(!received[i].marked);
        CHECK(received[i].code != CODE_ECHO || strcmp(received[i].source.nspace, JOB_NSPACE) == 0);
    }
    pthread_mutex_unlock(&received_lock);
    return rank_end();
}

/* X25, EV56: the event comes back to the node it left, and another one comes from elsewhere, in the
 * range that it had there.  Neither goes up again. */
static int host_of_echo(struct job *job)
{
    job_add(job, OTHER, 1);
    (void)wait_for(CODE_ECHO);
    CHECK_STATUS(PMIx_Notify_event(CODE_END, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    for (int i = 0; i < job->size; i++) {
        job_wait(job, i);
    }
    CHECK(received_of(CODE_ECHO) == 1);
    forget();
    return 0;
}

/* ---- sessions ------------------------------------------------------------------------------- */

/* EV47: rank 0 is of no session, 1 and 2 of session 5, 3 of session 6; 4 and 5 come when all has
 * been said, of sessions 5 and 6. */
static int rank_of_sessions(int rank)
{
    pmix_status_t codes[2] = { -2072, CODE_END };

    rank_begin(NULL);
    if (rank == 1) {
        job_token_get(0);
        publish_event(-2072, PMIX_RANGE_SESSION, 1);
        server_has_it();
        job_token_put(1);
        return rank_end();
    }
    if (rank == 2) {
        job_token_get(0);
        job_token_get(1);
        publish_event(CODE_END, PMIX_RANGE_GLOBAL, 0);
    }
    receive_codes(codes, 2, NULL);
    if (rank == 0 || rank == 3) {
        job_token_put(0);
    }
    if (rank == 2 || rank == 4) {
        (void)wait_for(-2072); /* another library may have kept events of two codes in any order */
    }
    (void)wait_for(CODE_END);
    CHECK(received_of(-2072) == (rank == 2 || rank == 4));
    return rank_end();
}

static int host_of_sessions(struct job *job)
{
    job_session = 5;
    job_add(job, "test.five", 2);
    job_session = 6;
    job_add(job, "test.six", 1);
    job_wait(job, 2);
    job_session = 5;
    job_add(job, "test.five.late", 1);
    job_session = 6;
    job_add(job, "test.six.late", 1);
    job_session = -1;
    for (int i = 0; i < job->size; i++) {
        job_wait(job, i);
    }
    forget();
    return 0;
}

/* ---- what the host says -------------------------------------------------------------------- */

/* EV40, EV56, EV57: it reaches the ranks it is for, and is not echoed. */
static int rank_of_host_events(int rank)
{
    pmix_status_t codes[3] = { -2010, -2011, CODE_END };

    rank_begin(NULL);
    receive_codes(codes, 3, NULL);
    job_token_put(0);
    wait_for(CODE_END);
    CHECK(received_of(-2010) == 1);
    CHECK(received_of(-2011) == (rank == 1 ? 1 : 0));
    CHECK(wait_for(-2010).source.nspace[0] == '\0');
    CHECK(wait_for(-2010).source.rank == PMIX_RANK_UNDEF);
    return rank_end();
}

static int host_of_host_events(struct job *job)
{
    pmix_proc_t target = { .nspace = JOB_NSPACE, .rank = 1 };
    pmix_info_t info;

    for (int i = 0; i < job->size; i++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_Notify_event(-2010, NULL, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Notify_event(-2011, NULL, PMIX_RANGE_CUSTOM, &info, 1, NULL, NULL),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_Notify_event(CODE_END, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    for (int i = 0; i < job->size; i++) {
        job_wait(job, i);
    }
    CHECK(received_count == 0);
    forget();
    return 0;
}

/* ---- what the host is asked for ------------------------------------------------------------ */

/* EV14, EV15, EV16, EV17, EV25, EV26: once a code, with the client's user; dropped
 * with the last. */
static int rank_of_codes(int rank)
{
    pmix_status_t code = CODE;
    pmix_status_t ours = PMIX_ERR_PROC_REQUESTED_ABORT;

    rank_begin(NULL);
    receive_codes(&ours, 1, NULL);
    const size_t id = receive_codes(&code, 1, NULL);

    receive_codes(&code, 1, NULL);
    job_token_put(0);
    job_token_get(1 + rank);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_SUCCESS);
        return rank_end(); /* with the other one still there */
    }
    _exit(0); /* the other rank goes without a word */
}

static int host_of_codes(struct job *job)
{
    job_token_get(0);
    job_token_get(0);
    pthread_mutex_lock(&received_lock);
    CHECK(asked == 1 && asked_uid == getuid() && asked_gid == getgid() && dropped == 0);
    pthread_mutex_unlock(&received_lock);
    job_token_put(1);
    job_wait(job, 0);
    pthread_mutex_lock(&received_lock);
    CHECK(dropped == 0);
    pthread_mutex_unlock(&received_lock);
    job_token_put(2);
    job_wait(job, 1);
    pthread_mutex_lock(&received_lock);
    while (dropped == 0) { /* the death is noticed in its own time */
        received_wait_locked("the drop of code", CODE);
    }
    CHECK(asked == 1 && dropped == 1);
    pthread_mutex_unlock(&received_lock);
    forget();
    return 0;
}

/* ---- what is kept -------------------------------------------------------------------------- */

#define JOB_EVENTS 600u

/* EV61, EV62, EV63, EV66, EV67, EV69, EV70: rank 1 connects when all has been said. */
static int rank_of_late(int rank)
{
    pmix_status_t codes[4] = { -2020, -2021, -2022, CODE_END };
    uint32_t next = 0;
    size_t loose = 0;

    if (rank == 1) {
        job_token_get(0);
    }
    rank_begin(NULL);
    if (rank == 0) {
        pmix_info_t info;
        const bool yes = true;

        for (uint32_t i = 0; i < JOB_EVENTS; i++) {
            publish_event(-2020, PMIX_RANGE_NAMESPACE, i);
        }
        CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Notify_event(-2022, NULL, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
                     PMIX_SUCCESS);
        PMIx_Info_destruct(&info);
        for (uint32_t i = 0; i < 3 * CACHE_SIZE; i++) {
            publish_event(-2021, PMIX_RANGE_LOCAL, i);
        }
        publish_event(CODE_END, PMIX_RANGE_NAMESPACE, 0);
        server_has_it();
        job_token_put(0);
        job_token_get(1);
        return rank_end();
    }
    receive_codes(codes, 4, NULL);
    wait_for(CODE_END);
    for (size_t i = 0; i < received_count; i++) {
        if (received[i].code == -2020) {
            CHECK(loose == 0 && received[i].number == next++);
        } else if (received[i].code == -2021) {
            CHECK(received[i].number == 2 * CACHE_SIZE + loose++);
        }
    }
    CHECK(next == JOB_EVENTS && loose == CACHE_SIZE && received_of(-2022) == 0);
    job_token_put(1);
    return rank_end();
}

/* Larger than a record, and larger than a lane message: whole, in order.  The job's own: of others
 * the server keeps four, fewer than there are until a slow reader asks for them. */
static int rank_of_large(int rank)
{
    static const uint32_t sizes[] = { 3000, 5000, 15000, 20000, 1000000 };
    pmix_status_t codes[2] = { -2030, CODE_END };

    rank_begin(NULL);
    if (rank == 0) {
        job_token_get(0);
        for (uint32_t i = 0; i < 5; i++) {
            char *text = malloc(sizes[i] + 1);
            pmix_info_t info;

            CHECK(text != NULL);
            memset(text, 'a', sizes[i]);
            text[sizes[i]] = '\0';
            info = info_text("test.text", text);
            CHECK_STATUS(PMIx_Notify_event(-2030, NULL, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
                         PMIX_SUCCESS);
            PMIx_Info_destruct(&info);
            free(text);
        }
        publish_event(CODE_END, PMIX_RANGE_LOCAL, 0);
    } else {
        receive_codes(codes, 2, NULL);
        job_token_put(0);
        wait_for(CODE_END);
        CHECK(received_count == 6);
        for (uint32_t i = 0; i < 5; i++) {
            CHECK(received[i].size == sizes[i]);
        }
    }
    return rank_end();
}

/* ---- deaths -------------------------------------------------------------------------------- */

static size_t without_codes; /* the handler */

/* X24: what the server says of the end of @code's process is heard by who registered for it, and by
 * no handler without codes, which hears of what comes behind it. */
static struct received wait_for_end(pmix_status_t code)
{
    const struct received one = wait_for(code);

    publish_event(CODE_END, PMIX_RANGE_LOCAL, 0);
    (void)wait_for(CODE_END);
    CHECK(one.id != without_codes && one.non_default && received_of(code) == 1);
    CHECK(wait_for(CODE_END).id == without_codes);
    return one;
}

static void listen_for_end(pmix_status_t code)
{
    receive_one(code);
    without_codes = receive_codes(NULL, 0, NULL);
}

/* EV60, X24: its peers and the host's handler without codes hear of it. */
static int rank_of_death(int rank)
{
    rank_begin(NULL);
    if (rank == 1) {
        job_token_get(0);
        raise(SIGKILL);
    }
    listen_for_end(PMIX_ERR_LOST_CONNECTION);
    job_token_put(0);
    const struct received one = wait_for_end(PMIX_ERR_LOST_CONNECTION);

    CHECK(strcmp(one.source.nspace, JOB_NSPACE) == 0 && one.source.rank == 1);
    return rank_end();
}

static int host_of_death(struct job *job)
{
    const size_t id = receive_codes(NULL, 0, NULL);
    const struct received one = wait_for(PMIX_ERR_LOST_CONNECTION);

    CHECK(strcmp(one.source.nspace, JOB_NSPACE) == 0 && one.source.rank == 1);
    const int status = job_wait(job, 0);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(received_of(PMIX_ERR_LOST_CONNECTION) == 1);
    CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_SUCCESS);
    forget();
    return 0;
}

/* Whoever calls PMIx_Abort is heard of before anybody is ended (X24). */
static int rank_of_abort(int rank)
{
    rank_begin(NULL);
    if (rank == 0) {
        job_token_get(0);
        CHECK(PMIx_Abort(3, "enough", NULL, 0) != PMIX_SUCCESS); /* this host cannot */
    } else {
        listen_for_end(PMIX_ERR_PROC_REQUESTED_ABORT);
        job_token_put(0);
        CHECK(wait_for_end(PMIX_ERR_PROC_REQUESTED_ABORT).source.rank == 0);
    }
    return rank_end();
}

/* ---- what is required ----------------------------------------------------------------------- */

static void load_required(pmix_info_t *info, const char *key)
{
    const bool yes = true;

    CHECK_STATUS(PMIx_Info_load(info, key, &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(info);
}

/* P6, of clients and hosts alike: what nobody knows is refused, what is acted upon or carried is
 * not; nothing of what is refused is done. */
static void check_required(pmix_data_range_t range)
{
    pmix_status_t code = CODE;
    pmix_info_t info;

    load_required(&info, "test.unknown");
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, range, &info, 1, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Register_event_handler(&code, 1, &info, 1, receive, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    load_required(&info, PMIX_EVENT_ONESHOT);
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, range, &info, 1, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    load_required(&info, PMIX_EVENT_TERMINATE_JOB);
    CHECK_STATUS(PMIx_Notify_event(CODE_END, NULL, range, &info, 1, NULL, NULL), PMIX_SUCCESS);
    (void)wait_for(CODE_END);
    CHECK(received_of(CODE) == 0);
}

static int rank_of_required(int rank)
{
    pmix_status_t codes[2] = { CODE, CODE_END };

    rank_begin(NULL);
    receive_codes(codes, 2, NULL);
    check_required(PMIX_RANGE_PROC_LOCAL);
    forget();
    check_required(PMIX_RANGE_LOCAL);
    return rank_end();
}

static int host_of_required(struct job *job)
{
    const pmix_nspace_t nspace = "test.required";
    pmix_status_t codes[2] = { CODE, CODE_END };
    pmix_info_t info;

    job_wait(job, 0);
    forget();
    const size_t id = receive_codes(codes, 2, NULL);

    check_required(PMIX_RANGE_PROC_LOCAL);
    CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_SUCCESS);
    load_required(&info, "test.unknown");
    CHECK_STATUS(PMIx_server_register_nspace(nspace, 1, &info, 1, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_server_register_resources(&info, 1, NULL, NULL), PMIX_ERR_NOT_SUPPORTED);
    load_required(&info, PMIX_REGISTER_NODATA);
    CHECK_STATUS(PMIx_server_register_nspace(nspace, 1, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_server_deregister_nspace(nspace, NULL, NULL);
    forget();
    return 0;
}

/* ---- a handler for one event --------------------------------------------------------------- */

static size_t listen_once(void)
{
    const bool yes = true;
    pmix_status_t code = CODE;
    pmix_info_t info[2];

    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_EVENT_ONESHOT, &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(&info[0]);
    info[1] = info_text(PMIX_EVENT_HDLR_NAME, "once");
    const pmix_status_t rc = PMIx_Register_event_handler(&code, 1, info, 2, receive, NULL, NULL);

    CHECK(rc >= 0);
    PMIx_Info_destruct(&info[1]);
    return (size_t)rc;
}

/* Of several events it has the first; then its name is free, and its number is nobody's. */
static void check_once(pmix_data_range_t range, pmix_status_t unknown)
{
    pmix_status_t end = CODE_END;
    const size_t listener = receive_codes(&end, 1, NULL);

    for (size_t round = 1; round <= 2; round++) { /* the second one gets a kept event */
        const size_t id = listen_once();

        for (uint32_t i = 0; i < 3; i++) {
            publish_event(CODE, range, i);
        }
        publish_event(CODE_END, range, 0);
        received_wait(CODE_END, round);
        CHECK(received_of(CODE) == round);
        CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), unknown);
    }
    CHECK(wait_for(CODE).number == 0);
    CHECK_STATUS(PMIx_Deregister_event_handler(listener, NULL, NULL), PMIX_SUCCESS);
}

static int rank_of_once(int rank)
{
    rank_begin(NULL);
    check_once(PMIX_RANGE_NAMESPACE, PMIX_ERR_BAD_PARAM);
    job_token_put(0);
    job_token_get(1);
    return rank_end();
}

/* The server has forgotten it, too, and the host is told that nobody wants the code. */
static int host_of_once(struct job *job)
{
    job_token_get(0);
    pthread_mutex_lock(&received_lock);
    while (asked == 0 || dropped < asked) {
        received_wait_locked("the drop of code", CODE);
    }
    pthread_mutex_unlock(&received_lock);
    job_token_put(1);
    job_wait(job, 0);
    forget();
    check_once(PMIX_RANGE_PROC_LOCAL, PMIX_SUCCESS);
    forget();
    return 0;
}

/* ---- floods -------------------------------------------------------------------------------- */

#define FLOOD 50000u

/* EV72: the sender is never refused, and what is missing was not kept. */
static int rank_of_flood(int rank)
{
    rank_begin(NULL);
    if (rank == 0) {
        for (uint32_t i = 0; i < FLOOD; i++) {
            publish_event(-2040, PMIX_RANGE_GLOBAL, i);
        }
        server_has_it();
        job_token_put(0);
    } else {
        pmix_status_t code = -2040;

        job_token_get(0);
        receive_codes(&code, 1, NULL);
        received_wait(code, CACHE_SIZE);
        CHECK(received[0].number == FLOOD - CACHE_SIZE);
    }
    return rank_end();
}

static int host_of_flood(struct job *job)
{
    job_wait(job, 1);
    forget();
    return 0;
}

static pmix_status_t host_counts(pmix_status_t code, const pmix_proc_t *source,
                                 pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (code == -2040) { /* a flood: counted nowhere */
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (code == CODE_ECHO) {
        relay(code, source, info, ninfo, false);
        relay(code, source, info, ninfo, true);
    }
    return host_notify(code, source, range, info, ninfo, cbfunc, cbdata);
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "upcalls", 2, rank_of_upcalls, host_of_upcalls },
        { "handlers_of_the_host", 2, rank_of_upcalls, host_of_handlers },
        { "echo", 2, rank_of_echo, host_of_echo },
        { "sessions", 1, rank_of_sessions, host_of_sessions },
        { "events_of_the_host", 2, rank_of_host_events, host_of_host_events },
        { "codes", 2, rank_of_codes, host_of_codes },
        { "late", 2, rank_of_late },
        { "large", 2, rank_of_large },
        { "death", 2, rank_of_death, host_of_death, true },
        { "abort", 2, rank_of_abort },
        { "required", 1, rank_of_required, host_of_required },
        { "once", 1, rank_of_once, host_of_once },
        { "flood", 2, rank_of_flood, host_of_flood },
    };

    job_module.notify_event = host_counts;
    job_module.register_events = host_register;
    job_module.deregister_events = host_deregister;
    setenv("SHMIX_SERVER_CACHE_SIZE", "4", 1);
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
