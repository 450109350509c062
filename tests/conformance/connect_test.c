/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_test.c - what RFC0003 and the Standard say of connect and disconnect: who meets whom,
 * what they get, which arguments are wrong, what the directives do. */
#include "../support/memory.h"
#include "connect.h"

/* All single processes of both jobs. */
static void both_jobs(pmix_proc_t ret[4])
{
    for (pmix_rank_t i = 0; i < 4; i++) {
        ret[i] = proc_of(i < 2 ? JOB_NSPACE : SECOND, i % 2);
    }
}

/* ---- who meets whom ------------------------------------------------------------------------- */

static void connect_in_the_form_of(int rank, const pmix_proc_t procs[2], struct call *call)
{
    *call = (struct call){ .rank = PMIX_RANK_UNDEF };
    switch (rank) {
    case 0:
        CHECK_STATUS(connect_by(procs, 2, NO_WORDS, call), PMIX_SUCCESS);
        break;
    case 1:
        connect_begin(procs, 2, NO_WORDS, call);
        CHECK_STATUS(call_wait(call), PMIX_SUCCESS);
        break;
    case 2:
        CHECK_STATUS(PMIx_Connect(procs, 2, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(newest_get(call), PMIX_SUCCESS);
        break;
    default:
        CHECK_STATUS(PMIx_Connect_nb(procs, 2, NULL, 0, on_done, call), PMIX_SUCCESS);
        CHECK_STATUS(call_wait(call), PMIX_SUCCESS);
        CHECK_STATUS(newest_get(call), PMIX_SUCCESS);
        break;
    }
}

static void disconnect_in_the_form_of(int rank, const pmix_proc_t procs[2], const char *nspace)
{
    struct call call = { .answers = 0 };

    switch (rank) {
    case 0:
        CHECK_STATUS(disconnect_by(nspace, NO_WORDS), PMIX_SUCCESS);
        break;
    case 1:
        CHECK_STATUS(shmix_disconnect_nb(nspace, NULL, 0, on_done, &call), PMIX_SUCCESS);
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
        break;
    case 2:
        CHECK_STATUS(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_SUCCESS);
        break;
    default:
        CHECK_STATUS(PMIx_Disconnect_nb(procs, 2, NULL, 0, on_done, &call), PMIX_SUCCESS);
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
        break;
    }
}

/* The last to call says so before; whoever has returned finds that. */
static void last_one_comes(int rank)
{
    for (int i = 0; rank == 3 && i < 3; i++) {
        job_token_get(0);
    }
    for (int i = 0; rank == 3 && i < 3; i++) {
        job_token_put(1);
    }
    if (rank != 3) {
        job_token_put(0);
    }
}

static void all_had_called(int rank)
{
    if (rank != 3) {
        CHECK(token_is_there(1));
        job_token_get(1);
    }
}

/* CN1 CN2 CN4 CN5 CN19 CN20 CN21 CN22 CN23 CN51 CN53 CN55 CN58 CN64 X7 X8 */
static int two_jobs(int rank)
{
    pmix_proc_t procs[2] = { proc_of(rank % 2 == 0 ? JOB_NSPACE : SECOND, WILDCARD),
                             proc_of(rank % 2 == 0 ? SECOND : JOB_NSPACE, WILDCARD) };
    pmix_proc_t all[4];
    struct call first, second;

    both_jobs(all);
    begin_of_two();
    last_one_comes(rank);
    connect_in_the_form_of(rank, procs, &first);
    all_had_called(rank);
    agree(all, 4, &first, "first");
    last_one_comes(rank);
    disconnect_in_the_form_of(rank, procs, first.nspace);
    all_had_called(rank);
    CHECK_STATUS(newest_get(&second), PMIX_ERR_NOT_FOUND);
    connect_in_the_form_of(3 - rank, procs, &second);
    agree(all, 4, &second, "second");
    CHECK(strcmp(first.nspace, second.nspace) != 0);
    disconnect_in_the_form_of(3 - rank, procs, second.nspace);
    return rank_end();
}

/* CN3: it returns while the other one has not even begun. */
static int returns_at_once(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call;

    if (rank == 1) {
        job_token_get(0);
    }
    rank_begin(&me);
    connect_begin(&all, 1, NO_WORDS, &call);
    if (rank == 0) {
        job_token_put(0);
    }
    CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* CN47: it is no no-op, they have a namespace of their own. */
static int one_job(int rank)
{
    const pmix_proc_t all[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct call call;

    rank_begin(&me);
    CHECK_STATUS(connect_by(all, 2, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK(call.rank == (pmix_rank_t)rank);
    agree(all, 2, &call, "name");
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* CN7 CN59: rank 0 connects with 1 and with 2 at the same time. */
static int two_at_once(int rank)
{
    const pmix_proc_t with[2][2] = { { proc_of(JOB_NSPACE, 1), proc_of(JOB_NSPACE, 0) },
                                     { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 2) } };
    struct call calls[2];

    rank_begin(&me);
    for (int i = 0; i < 2; i++) {
        if (rank == 0 || rank == i + 1) {
            connect_begin(with[i], 2, NO_WORDS, &calls[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (rank == 0 || rank == i + 1) {
            CHECK_STATUS(call_wait(&calls[i]), PMIX_SUCCESS);
            agree(with[i], 2, &calls[i], i == 0 ? "one" : "two");
            CHECK(calls[i].rank == (rank == 0 ? 0 : 1));
        }
    }
    CHECK(rank != 0 || strcmp(calls[0].nspace, calls[1].nspace) != 0);
    for (int i = 1; i >= 0; i--) {
        if (rank == 0 || rank == i + 1) {
            CHECK_STATUS(disconnect_by(calls[i].nspace, NO_WORDS), PMIX_SUCCESS);
        }
    }
    return rank_end();
}

/* CN8: the second is queued behind the first, never mixed with it. */
static int the_same_twice(int rank)
{
    const pmix_proc_t all[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct call calls[2];

    rank_begin(&me);
    connect_begin(all, 2, NO_WORDS, &calls[0]);
    connect_begin(all, 2, NO_WORDS, &calls[1]);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(call_wait(&calls[i]), PMIX_SUCCESS);
        agree(all, 2, &calls[i], i == 0 ? "first" : "second");
    }
    CHECK(strcmp(calls[0].nspace, calls[1].nspace) != 0);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(disconnect_by(calls[i].nspace, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* CN9 CN10 */
static int ids(int rank)
{
    static const char *const names[2] = { "left", "right" };
    const pmix_proc_t all[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct call calls[2], none;

    rank_begin(&me);
    for (int i = 0; i < 2; i++) { /* in opposite orders */
        const int which = rank == 0 ? i : 1 - i;

        connect_begin(all, 2, and_id(NO_WORDS, names[which]), &calls[which]);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(call_wait(&calls[i]), PMIX_SUCCESS);
        agree(all, 2, &calls[i], names[i]);
    }
    CHECK(strcmp(calls[0].nspace, calls[1].nspace) != 0);
    for (int i = 0; i < 2; i++) { /* by what was said: the id tells them apart */
        struct words words = and_id(NO_WORDS, names[i]);

        CHECK_STATUS(PMIx_Disconnect(all, 2, words.infos, words.count), PMIX_SUCCESS);
        words_free(&words);
    }
    const struct words mine = rank == 0 ? and_id(NO_WORDS, "left") : NO_WORDS;
    CHECK_STATUS(connect_by(all, 2, and_limit(mine, 1), &none), PMIX_ERR_TIMEOUT);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS); /* a finalize would end the other's */
    return rank_end();
}

/* CN6 CN41 CN42 */
static int all_and_each(int rank)
{
    const pmix_proc_t each[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call;

    rank_begin(&me);
    CHECK_STATUS(rank == 0 ? connect_by(&all, 1, and_limit(NO_WORDS, 1), &call)
                           : connect_by(each, 2, and_limit(NO_WORDS, 1), &call),
                 PMIX_ERR_TIMEOUT);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(connect_by(each, 2, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* CN43 X21: who comes late begins anew, with a limit of its own, and is met there. */
static int too_late(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call;

    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(connect_by(&all, 1, and_limit(NO_WORDS, 1), &call), PMIX_ERR_TIMEOUT);
        job_token_put(0);
        job_token_get(1);
    } else {
        job_token_get(0);
        CHECK_STATUS(connect_by(&all, 1, and_limit(NO_WORDS, 1), &call), PMIX_ERR_TIMEOUT);
        connect_begin(&all, 1, NO_WORDS, &call);
        job_token_put(1);
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
    }
    if (rank == 0) {
        CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
    }
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* CN57: who has called is a member until the last one has. */
static int members_until_the_last(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call, leaving = { .answers = 0 }, newest;

    rank_begin(&me);
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
    if (rank == 0) {
        CHECK_STATUS(shmix_disconnect_nb(call.nspace, NULL, 0, on_done, &leaving), PMIX_SUCCESS);
        server_has_it();
        CHECK_STATUS(newest_get(&newest), PMIX_SUCCESS);
        CHECK(strcmp(newest.nspace, call.nspace) == 0);
        job_token_put(0);
        CHECK_STATUS(call_wait(&leaving), PMIX_SUCCESS);
    } else {
        job_token_get(0);
        CHECK_STATUS(newest_get(&newest), PMIX_SUCCESS);
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    }
    CHECK_STATUS(newest_get(&newest), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* ---- wrong arguments ------------------------------------------------------------------------ */

#define MANY 10000u

/* CN49 */
static void before_init(void)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call;

    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_connect_nb(&all, 1, NULL, 0, on_connected, &call), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Connect_nb(&all, 1, NULL, 0, on_done, &call), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_disconnect("any", NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_disconnect_nb("any", NULL, 0, on_done, &call), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Disconnect_nb(&all, 1, NULL, 0, on_done, &call), PMIX_ERR_INIT);
}

/* CN44 CN45 CN46: whatever it is said to, it does not connect. */
static void wrong_lists(void)
{
    const pmix_proc_t other = proc_of(JOB_NSPACE, 1 - me.rank);
    const pmix_proc_t beyond[2] = { me, proc_of(JOB_NSPACE, 77) };
    const pmix_proc_t unknown[2] = { me, proc_of("no.such.job", 0) };
    pmix_proc_t endless = me;
    struct call call;

    CHECK_STATUS(connect_by(NULL, 0, NO_WORDS, &call), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(NULL, 1, NO_WORDS, &call), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(&me, 0, NO_WORDS, &call), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_connect(&me, 1, NULL, 1, call.nspace, &call.rank), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(&other, 1, NO_WORDS, &call), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(shmix_connect_nb(&me, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect_nb(&me, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    memset(endless.nspace, 'n', sizeof(endless.nspace));
    CHECK_STATUS(connect_by(&endless, 1, NO_WORDS, &call), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(beyond, 2, NO_WORDS, &call), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(connect_by(unknown, 2, and_limit(NO_WORDS, 1), &call),
                 PMIX_ERR_TIMEOUT); /* it may be registered */
    CHECK_STATUS(PMIx_Disconnect(unknown, 2, NULL, 0), PMIX_ERR_NOT_FOUND);
}

static void long_list(void)
{
    pmix_proc_t *const procs = malloc(MANY * sizeof(*procs));
    struct call call;

    CHECK(procs != NULL);
    for (pmix_rank_t i = 0; i < MANY; i++) {
        procs[i] = proc_of(JOB_NSPACE, i);
    }
    CHECK(connect_by(procs, MANY, and_limit(NO_WORDS, 1), &call) != PMIX_SUCCESS);
    for (pmix_rank_t i = 0; i < MANY; i++) {
        procs[i] = me; /* CN48 */
    }
    CHECK_STATUS(connect_by(procs, MANY, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK(call.rank == 0);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    free(procs);
}

static pmix_status_t with_id_of(size_t length)
{
    char id[300];
    struct call call;

    memset(id, 'i', sizeof(id));
    id[length] = '\0';
    const pmix_status_t rc = connect_by(&me, 1, and_id(NO_WORDS, id), &call);

    if (rc == PMIX_SUCCESS) {
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    }
    return rc;
}

static void wrong_directives(void)
{
    const uint32_t number = 7;
    struct words words = and_flag(NO_WORDS, "test.no.such.key");
    struct call call;

    CHECK_STATUS(with_id_of(255), PMIX_SUCCESS);
    CHECK_STATUS(with_id_of(256), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(&me, 1, and_say(NO_WORDS, PMIX_CONNECT_ID, &number, PMIX_UINT32),
                            &call),
                 PMIX_ERR_BAD_PARAM);
    words.infos[0].flags = PMIX_INFO_REQD;
    CHECK_STATUS(connect_by(&me, 1, words, &call), PMIX_ERR_NOT_SUPPORTED);
}

/* CN52 CN53 CN54 */
static void wrong_disconnects(void)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD),
                      nobody = proc_of("nobody.here", WILDCARD);
    struct call call;
    char name[300];

    CHECK_STATUS(disconnect_by(NULL, NO_WORDS), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(disconnect_by("", NO_WORDS), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(disconnect_by("nobody.here", NO_WORDS), PMIX_ERR_NOT_FOUND);
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    CHECK_STATUS(disconnect_by(name, NO_WORDS), PMIX_ERR_BAD_PARAM);
    name[255] = '\0';
    CHECK_STATUS(disconnect_by(name, NO_WORDS), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Disconnect(&nobody, 1, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    CHECK_STATUS(disconnect_by(JOB_NSPACE, NO_WORDS), PMIX_ERR_INVALID_OPERATION);
    CHECK_STATUS(shmix_disconnect_nb("x", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Disconnect_nb(&all, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(connect_by(&me, 1, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(&me, 1, NULL, 0), PMIX_ERR_INVALID_OPERATION);
}

static int wrong_arguments(int rank)
{
    before_init();
    rank_begin(&me);
    wrong_lists();
    long_list();
    wrong_directives();
    wrong_disconnects();
    return rank_end();
}

/* CN48: whoever is named twice is there once. */
static int named_twice(int rank)
{
    const pmix_proc_t each[3] = { proc_of(JOB_NSPACE, 1), proc_of(JOB_NSPACE, 0),
                                  proc_of(JOB_NSPACE, 1) };
    const pmix_proc_t all[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(JOB_NSPACE, 1) };
    struct call call;

    rank_begin(&me);
    CHECK_STATUS(connect_by(each, 3, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK(call.rank == (pmix_rank_t)rank);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(connect_by(all, 2, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK(call.rank == (pmix_rank_t)rank);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* A member is no stranger, a stranger is no member. */
static int strangers(int rank)
{
    const pmix_proc_t pair[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct call call = { .nspace = "" };
    char name[512];

    rank_begin(&me);
    if (rank < 2) {
        CHECK_STATUS(connect_by(pair, 2, NO_WORDS, &call), PMIX_SUCCESS);
        put_text("name", call.nspace);
    } else {
        CHECK_STATUS(get_text(&pair[0], "name", name), PMIX_SUCCESS);
        CHECK_STATUS(disconnect_by(name, NO_WORDS), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(PMIx_Disconnect(pair, 2, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    if (rank < 2) {
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- what the directives do ----------------------------------------------------------------- */

/* CN27 CN28: nobody is bound, so nobody is missed. */
static int exchange_only(int rank)
{
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(SECOND, WILDCARD) };
    const pmix_proc_t other = proc_of(rank < 2 ? SECOND : JOB_NSPACE, WILDCARD);
    uint32_t size;
    struct call call;

    begin_of_two();
    (void)receive_one(PMIX_ERR_PROC_TERM_WO_SYNC);
    CHECK_STATUS(connect_by(procs, 2, and_flag(NO_WORDS, PMIX_CONNECT_XCHG_ONLY), &call),
                 PMIX_SUCCESS);
    CHECK(call.nspace[0] == '\0' && call.rank == PMIX_RANK_UNDEF);
    CHECK_STATUS(get_u32(&other, PMIX_JOB_SIZE, &size), PMIX_SUCCESS);
    CHECK(size == 2);
    CHECK_STATUS(newest_get(&call), PMIX_ERR_NOT_FOUND);
    if (rank != 0) {
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        job_token_put(0);
        return 0;
    }
    for (int i = 1; i < 4; i++) {
        job_token_get(0);
    }
    server_has_it();
    CHECK(received_of(PMIX_ERR_PROC_TERM_WO_SYNC) == 0);
    return rank_end();
}

/* The second job ends as a whole, without a word of disconnect. */
static void job_ends(int rank, struct words words)
{
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(SECOND, WILDCARD) };
    struct call call;

    begin_of_two();
    (void)receive_one(PMIX_ERR_JOB_TERM_WO_SYNC);
    CHECK_STATUS(connect_by(procs, 2, words, &call), PMIX_SUCCESS);
    if (rank < 2) {
        job_token_get(0);
        server_has_it();
    }
}

/* CN39 */
static int job_is_missed(int rank)
{
    job_ends(rank, NO_WORDS);
    if (rank < 2) {
        received_wait(PMIX_ERR_JOB_TERM_WO_SYNC, 1);
        server_has_it();
        CHECK(received_of(PMIX_ERR_JOB_TERM_WO_SYNC) == 1);
        CHECK(strcmp(received[0].source.nspace, SECOND) == 0 &&
              received[0].source.rank == WILDCARD);
    }
    return rank_end();
}

/* CN36 CN39 */
static int job_may_end_early(int rank)
{
    job_ends(rank, and_flag(NO_WORDS, PMIX_CONNECT_EARLY_TERM_ALLOWED));
    CHECK(received_of(PMIX_ERR_JOB_TERM_WO_SYNC) == 0);
    return rank_end();
}

static int host_that_ends_a_job(struct job *job)
{
    const int failed = host_of_two(job) != 0 || job_wait(job, 2) != 0 || job_wait(job, 3) != 0;

    PMIx_server_deregister_nspace(SECOND, NULL, NULL);
    job_token_put(0);
    job_token_put(0);
    return failed;
}

/* Each other process once, and nobody else. */
static void received_from_the_others(pmix_status_t code, size_t size)
{
    size_t seen = 0;

    received_wait(code, size - 1);
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count; i++) {
        if (received[i].code == code) {
            CHECK(strcmp(received[i].source.nspace, JOB_NSPACE) == 0);
            CHECK(received[i].source.rank != me.rank && received[i].source.rank < size);
            CHECK((seen >> received[i].source.rank & 1) == 0);
            seen |= (size_t)1 << received[i].source.rank;
        }
    }
    pthread_mutex_unlock(&received_lock);
    CHECK((seen | (size_t)1 << me.rank) == ((size_t)1 << size) - 1);
}

/* CN29 CN30 CN31 */
static int notify_each(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    pmix_status_t codes[2] = { PMIX_PROC_HAS_CONNECTED, PMIX_PROC_HAS_DISCONNECTED };
    struct call call;

    rank_begin(&me);
    (void)receive_codes(codes, 2, NULL);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    server_has_it();
    CHECK(received_of(codes[0]) == 0 && received_of(codes[1]) == 0);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(connect_by(&all, 1, and_flag(NO_WORDS, PMIX_CONNECT_NOTIFY_EACH), &call),
                 PMIX_SUCCESS);
    received_from_the_others(codes[0], 3);
    CHECK_STATUS(disconnect_by(call.nspace, and_flag(NO_WORDS, PMIX_CONNECT_NOTIFY_EACH)),
                 PMIX_SUCCESS);
    received_from_the_others(codes[1], 3);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    server_has_it();
    CHECK(received_of(codes[0]) == 2 && received_of(codes[1]) == 2);
    return rank_end();
}

/* What an invitation says. */
static struct {
    pmix_proc_t procs[8];
    size_t nprocs;
    char id[256];
    bool in_handler; /* accept there */
    struct call call;
} invited;

static void on_invitation(size_t id, pmix_status_t status, const pmix_proc_t *source,
                          pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                          pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, SHMIX_CONNECT_PROCS) == 0) {
            const pmix_data_array_t *const array = info[i].value.data.darray;

            CHECK(array->type == PMIX_PROC && array->size <= 8);
            invited.nprocs = array->size;
            memcpy(invited.procs, array->array, array->size * sizeof(pmix_proc_t));
        } else if (strcmp(info[i].key, PMIX_CONNECT_ID) == 0) {
            snprintf(invited.id, sizeof(invited.id), "%s", info[i].value.data.string);
        }
    }
    if (invited.in_handler) {
        CHECK_STATUS(connect_by(invited.procs, invited.nprocs, and_id(NO_WORDS, invited.id),
                                &invited.call),
                     PMIX_SUCCESS);
    }
    received_note(id, status, source, info, ninfo, nresults);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* CN32 CN33 CN50: who is asked knows all it needs; one accepts in the very handler. */
static int notify_request(int rank)
{
    const pmix_proc_t procs[2] = { proc_of(SECOND, WILDCARD), proc_of(JOB_NSPACE, WILDCARD) };
    pmix_status_t code = PMIX_CONNECT_REQUESTED;
    pmix_proc_t all[4];

    both_jobs(all);
    begin_of_two();
    invited.in_handler = rank == 3;
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_invitation, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_Fence(all, 4, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        const struct words words = and_id(and_flag(NO_WORDS, PMIX_CONNECT_NOTIFY_REQ), "party");

        CHECK_STATUS(connect_by(procs, 2, words, &invited.call), PMIX_SUCCESS);
    } else {
        received_wait(code, 1);
        CHECK(strcmp(received[0].source.nspace, JOB_NSPACE) == 0 && received[0].source.rank == 0);
        CHECK(strcmp(invited.id, "party") == 0);
    }
    if (rank == 1 || rank == 2) {
        CHECK_STATUS(connect_by(invited.procs, invited.nprocs, and_id(NO_WORDS, invited.id),
                                &invited.call),
                     PMIX_SUCCESS);
    }
    agree(all, 4, &invited.call, "name");
    CHECK_STATUS(disconnect_by(invited.call.nspace, NO_WORDS), PMIX_SUCCESS);
    server_has_it();
    CHECK(received_of(code) == (rank == 0 ? 0 : 1));
    return rank_end();
}

/* ---- names of clusters ---------------------------------------------------------------------- */

/* CN60 */
static int cluster_names(int rank)
{
    pmix_nspace_t both, nspace, cluster, north = "north", job = "job.7", half;

    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(both, north, job);
    CHECK(strcmp(both, "north:job.7") == 0);
    PMIX_MULTICLUSTER_NSPACE_PARSE(both, cluster, nspace);
    CHECK(strcmp(cluster, "north") == 0 && strcmp(nspace, "job.7") == 0);
    memset(half, 'h', sizeof(half));
    half[PMIX_MAX_NSLEN] = '\0';
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(both, half, half);
    CHECK(strnlen(both, sizeof(both)) <= PMIX_MAX_NSLEN);
    PMIX_MULTICLUSTER_NSPACE_PARSE(half, cluster, nspace);
    CHECK(strnlen(cluster, sizeof(cluster)) <= PMIX_MAX_NSLEN);
    CHECK(strnlen(nspace, sizeof(nspace)) <= PMIX_MAX_NSLEN);
    rank_begin(&me);
    return rank_end();
}

/* X19: as the releases that had them spelled them. */
static int keys(int rank)
{
    static const char *const pairs[][2] = {
        { PMIX_CONNECT_ID, "pmix.cnt.id" },
        { PMIX_CONNECT_OPTIONAL, "pmix.cnt.opt" },
        { PMIX_CONNECT_XCHG_ONLY, "pmix.cnt.xchg" },
        { PMIX_CONNECT_NOTIFY_EACH, "pmix.cnct.each" },
        { PMIX_CONNECT_NOTIFY_REQ, "pmix.cnct.req" },
        { PMIX_CONNECT_EARLY_TERM_ALLOWED, "pmix.cnct.eterm" },
        { PMIX_CLUSTER_ID, "pmix.clid" },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        CHECK(strcmp(pairs[i][0], pairs[i][1]) == 0);
    }
    CHECK(PMIX_PROC_HAS_CONNECTED == -149 && PMIX_CONNECT_REQUESTED == -150);
    rank_begin(&me);
    return rank_end();
}

/* ---- many ----------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_WHAT_IS_FREE true
#else
#define KEEPS_WHAT_IS_FREE false
#endif
#define ROUNDS 100
#define ROUND_KIB_MAX 512 /* for 300 rounds: less than 2 KiB each */

/* CN66 */
static int hundreds(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call;

    rank_begin(&me);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < (part == 0 ? ROUNDS : 3 * ROUNDS); i++) {
            CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
            CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
        }
        if (rank == 0) {
            job_token_put(0);
            job_token_get(1);
        }
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

static int host_of_hundreds(struct job *job)
{
    job_token_get(0);
    const unsigned long before = memory_kib();

    job_token_put(1);
    job_token_get(0);
    const unsigned long after = memory_kib();

    job_token_put(1);
    if (KEEPS_WHAT_IS_FREE) {
        return 0;
    }
    if (after > before + ROUND_KIB_MAX) {
        fprintf(stderr, "the server has grown from %lu to %lu KiB\n", before, after);
        return 1;
    }
    return 0;
}

/* ---- without a server ----------------------------------------------------------------------- */

static struct call waiting;

/* CN65 */
static int server_ends(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);

    rank_begin(&me);
    if (rank == 0) {
        connect_begin(&all, 1, NO_WORDS, &waiting);
        server_has_it();
    }
    job_token_put(0);
    if (rank == 0) {
        const pmix_status_t rc = call_wait(&waiting);

        CHECK(rc == PMIX_ERR_LOST_CONNECTION || rc == PMIX_ERR_UNREACH);
    } else {
        job_token_get(1);
    }
    const pmix_status_t rc = connect_by(&all, 1, NO_WORDS, &waiting);
    CHECK(rc == PMIX_ERR_LOST_CONNECTION || rc == PMIX_ERR_UNREACH);
    return rank_end();
}

static int host_that_ends(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    job_token_put(1);
    return 0;
}

static const struct job_case cases[] = {
    { "two_jobs", 2, two_jobs, host_of_two },
    { "returns_at_once", 2, returns_at_once },
    { "one_job", 2, one_job },
    { "two_at_once", 3, two_at_once },
    { "the_same_twice", 2, the_same_twice },
    { "ids", 2, ids },
    { "all_and_each", 2, all_and_each },
    { "too_late", 2, too_late },
    { "members_until_the_last", 2, members_until_the_last },
    { "wrong_arguments", 2, wrong_arguments },
    { "named_twice", 2, named_twice },
    { "strangers", 3, strangers },
    { "exchange_only", 2, exchange_only, host_of_two },
    { "job_is_missed", 2, job_is_missed, host_that_ends_a_job },
    { "job_may_end_early", 2, job_may_end_early, host_that_ends_a_job },
    { "notify_each", 3, notify_each },
    { "notify_request", 2, notify_request, host_of_two },
    { "cluster_names", 1, cluster_names },
    { "keys", 1, keys },
    { "hundreds", 2, hundreds, host_of_hundreds },
    { "server_ends", 2, server_ends, host_that_ends },
};

JOB_MAIN(cases)
