/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_client_test.c - events as processes see them: registration, ranges, what is carried, what a
 * handler may do, how long the server keeps job events, and whom a publication wakes. */
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

#include "received.h"

#define CODE_A (-3501)
#define CODE_B (-3502)
#define CODE_END (-3599)

static pmix_proc_t self;

static void forget_handler(size_t id)
{
    CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_SUCCESS);
}

/* ---- registration --------------------------------------------------------------------------- */

static size_t outcome_id; /* under heard_lock; SIZE_MAX: nothing yet */

static void registered(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    CHECK(cbdata == &outcome_id);
    publish_event(CODE_A, PMIX_RANGE_PROC_LOCAL,
                  77); /* for it, too, but not before this returns: EV3 */
    CHECK(received_by(id) == 0);
    pthread_mutex_lock(&received_lock);
    outcome_id = id;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static void deregistered(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    *(bool *)cbdata = true;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

/* EV1 EV2 EV3 EV4 EV5 EV6 EV7 EV8 EV9 EV10, EV20 EV21 EV23 EV24, EV39, EV41, EV74, EO16. */
static int rank_of_registration(int rank)
{
    pmix_status_t one = CODE_A, many[3] = { CODE_A, 7, CODE_A };
    pmix_data_range_t manager = PMIX_RANGE_RM;
    bool gone = false;
    pmix_info_t info[2];
    void *object = &object;

    CHECK_STATUS(PMIx_Register_event_handler(&one, 1, NULL, 0, receive, NULL, NULL), PMIX_ERR_INIT);
    rank_begin(&self);
    const size_t single = receive_codes(&one, 1, NULL), several = receive_codes(many, 3, NULL);
    const size_t any = receive_codes(NULL, 0, NULL);

    CHECK(single != several && several != any); /* EV6: one function, several times */
    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_EVENT_RETURN_OBJECT, object, PMIX_POINTER),
                 PMIX_SUCCESS);
    info[1] = info_flag(PMIX_EVENT_HDLR_FIRST);
    const pmix_status_t with_object = PMIx_Register_event_handler(&one, 1, info, 2, receive, NULL,
                                                                  NULL);

    CHECK(with_object >= 0);
    CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Notify_event(7, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    received_wait(7, 2);
    CHECK(received_of(CODE_A) == 4); /* EV8: once, though its list names the code twice */
    CHECK(received_by(single) == 1 && received_by(several) == 2 &&
          received_by(any) == 2);                                                 /* EV9, EV41 */
    CHECK(received[0].id == (size_t)with_object && received[0].object == object); /* EV10 */
    CHECK(!received[1].has_infos && received[1].id == single);                    /* EV39, EV27 */
    forget_handler((size_t)with_object);
    received_forget();

    /* EV2, EV3 */
    outcome_id = SIZE_MAX;
    CHECK_STATUS(PMIx_Register_event_handler(&one, 1, NULL, 0, receive, registered, &outcome_id),
                 PMIX_SUCCESS);
    received_wait(CODE_A,
                  5); /* four handlers of the new one, and EV74: the newest of the kept one */
    CHECK(outcome_id != SIZE_MAX && received_by(outcome_id) == 2);
    forget_handler(outcome_id);

    /* EO16: the first, but not for this source */
    PMIx_Info_destruct(&info[0]);
    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_RANGE, &manager, PMIX_DATA_RANGE), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&one, 1, info, 2, receive, NULL, NULL) >= 0);
    received_forget();
    publish_event(CODE_A, PMIX_RANGE_PROC_LOCAL, 0);
    received_wait(CODE_A, 3);
    CHECK(received[0].id == single);

    /* EV21, EV24, EV23 */
    CHECK_STATUS(PMIx_Deregister_event_handler(single, deregistered, &gone), PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    while (!gone) {
        received_wait_locked("the deregistration of", (long)single);
    }
    pthread_mutex_unlock(&received_lock);
    CHECK_STATUS(PMIx_Deregister_event_handler(single, NULL, NULL), PMIX_ERR_BAD_PARAM);
    received_forget();
    publish_event(CODE_A, PMIX_RANGE_LOCAL, 0);
    received_wait(CODE_A, 2);
    CHECK(received_by(single) == 0);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Register_event_handler(&one, 1, NULL, 0, receive, NULL, NULL), PMIX_ERR_INIT);
    return 0;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

#define OTHER "test.other"

static const struct {
    const char *why;
    uint32_t number;
    pmix_data_range_t range;
    const char *nspace; /* of the target; NULL: none */
    pmix_rank_t rank;
    bool reaches[4]; /* 0 and 1 of the sender's job, 2 and 3 of another */
} ranges[] = {
    { "EV44", 1, PMIX_RANGE_PROC_LOCAL, NULL, 0, { true, false, false, false } },
    { "EV45", 2, PMIX_RANGE_LOCAL, NULL, 0, { true, true, true, true } },
    { "EV46", 3, PMIX_RANGE_NAMESPACE, NULL, 0, { true, true, false, false } },
    { "EV47", 4, PMIX_RANGE_SESSION, NULL, 0, { true, true, true, true } },
    { "EV47", 5, PMIX_RANGE_GLOBAL, NULL, 0, { true, true, true, true } },
    { "EV48", 6, PMIX_RANGE_RM, NULL, 0, { false, false, false, false } },
    { "EV49", 7, PMIX_RANGE_CUSTOM, JOB_NSPACE, 1, { false, true, false, false } },
    { "EV49", 8, PMIX_RANGE_CUSTOM, OTHER, PMIX_RANK_WILDCARD, { false, false, true, true } },
    { "EV49", 9, PMIX_RANGE_CUSTOM, OTHER, 0, { false, false, true, false } },
    { "a target is one whatever the range",
      10,
      PMIX_RANGE_GLOBAL,
      OTHER,
      1,
      { false, false, false, true } },
};

static void publish_in_range(size_t row)
{
    pmix_proc_t target = { .rank = ranges[row].rank };

    if (ranges[row].nspace == NULL) {
        publish_event(CODE_A, ranges[row].range, ranges[row].number);
        return;
    }
    snprintf(target.nspace, sizeof(target.nspace), "%s", ranges[row].nspace);
    publish_with(CODE_A, ranges[row].range, ranges[row].number, PMIX_EVENT_CUSTOM_RANGE, &target,
                 PMIX_PROC);
}

/* EV40, EV44 EV45 EV46 EV47 EV48 EV49 EV50 EV51 EV52, EO47: which process receives which event; one
 * without a handler for it receives nothing. */
static int rank_of_ranges(int rank)
{
    pmix_status_t codes[2] = { CODE_A, CODE_END };
    const bool yes = true;

    rank_begin(&self);
    const size_t named = receive_codes(codes, 2, NULL), any = receive_codes(NULL, 0, NULL);
    const size_t deaf = receive_one(CODE_B);

    if (rank != 0) {
        job_token_put(0);
    } else {
        job_token_get(1); /* all are ready */
        for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
            publish_in_range(i);
        }
        CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_CUSTOM, NULL, 0, NULL, NULL),
                     PMIX_ERR_BAD_PARAM); /* EV50 */
        publish_with(CODE_END, PMIX_RANGE_GLOBAL, 0, PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    }
    received_wait(CODE_END, 1);
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        size_t times = 0;

        for (size_t k = 0; k < received_count; k++) {
            times += received[k].number == ranges[i].number;
            CHECK(strcmp(received[k].source.nspace, JOB_NSPACE) == 0 &&
                  received[k].source.rank == 0);
            CHECK(received[k].id != deaf);                                  /* EV51 */
            CHECK(received[k].code != CODE_END || received[k].id == named); /* EV52 */
            CHECK(received[k].id == named || received[k].id == any);
        }
        if (times != (ranges[i].reaches[rank] ? 2 : 0)) {
            fprintf(stderr, "%s: rank %d, event %u: %zu times\n", ranges[i].why, rank,
                    ranges[i].number, times);
            exit(99);
        }
    }
    pthread_mutex_unlock(&received_lock);
    return rank_end();
}

static int host_of_ranges(struct job *job)
{
    job_add(job, OTHER, 2);
    for (int i = 0; i < 3; i++) {
        job_token_get(0);
    }
    job_token_put(1);
    return 0;
}

/* ---- targets by the name of connected processes ---------------------------------------------- */

#define OUTSIDER 1 /* of the three ranks it is the one that is not connected */

/* The name under which rank 0 is connected. */
static void name_of_both(char name[PMIX_MAX_NSLEN + 1])
{
    pmix_value_t *value;
    const pmix_proc_t first = proc_of(JOB_NSPACE, 0);

    CHECK_STATUS(PMIx_Get(&first, SHMIX_CONNECTED, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->size == 1);
    strcpy(name, ((const pmix_proc_t *)value->data.darray->array)->nspace);
    PMIx_Value_free(value, 1);
}

/* The name of connected processes, in the targets of an event, is each of them as long as they are
 * connected. */
static int rank_of_targets(int rank)
{
    static const size_t want[] = { 1, 0, 2 };
    char name[PMIX_MAX_NSLEN + 1];
    pmix_proc_t both[2];

    rank_begin(&self);
    both[0] = proc_of(JOB_NSPACE, 0);
    both[1] = proc_of(JOB_NSPACE, 2);
    (void)receive_one(CODE_A);
    (void)receive_one(CODE_END);
    if (rank != OUTSIDER) {
        CHECK_STATUS(PMIx_Connect(both, 2, NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    name_of_both(name);
    rank_fence();
    if (rank == OUTSIDER) {
        publish_to_proc(CODE_A, name, 1);
        publish_to_proc(CODE_A, name, PMIX_RANK_WILDCARD);
        publish_event(CODE_END, PMIX_RANGE_LOCAL, 0);
    }
    received_wait(CODE_END, 1);
    CHECK(received_of(CODE_A) == want[rank]);
    rank_fence();
    if (rank != OUTSIDER) {
        CHECK_STATUS(PMIx_Disconnect(both, 2, NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    if (rank == OUTSIDER) {
        publish_to_proc(CODE_A, name, PMIX_RANK_WILDCARD);
        publish_event(CODE_END, PMIX_RANGE_LOCAL, 0);
    }
    received_wait(CODE_END, 2);
    CHECK(received_of(CODE_A) == want[rank]);
    return rank_end();
}

/* ---- what is carried ------------------------------------------------------------------------- */

static char carried[64]; /* under heard_lock, as those below */
static uint32_t carried_number;
static bool carried_stamp;

static void receive_text(size_t id, pmix_status_t code, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                         pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_EVENT_TEXT_MESSAGE) == 0) {
            snprintf(carried, sizeof(carried), "%s", info[i].value.data.string);
        } else if (strcmp(info[i].key, PMIX_EVENT_TIMESTAMP) == 0) {
            carried_stamp = info[i].value.type == PMIX_TIME && info[i].value.data.time == 12345;
        } else if (strcmp(info[i].key, "my.own.key") == 0) {
            carried_number = info[i].value.data.uint32;
        }
    }
    pthread_mutex_unlock(&received_lock);
    receive(id, code, source, info, ninfo, results, nresults, done, cbdata);
}

static void sent(pmix_status_t status, void *cbdata)
{
    char *const text = cbdata;

    CHECK_STATUS(status, PMIX_SUCCESS);
    text[0] = 'X'; /* EV43: it is ours again */
}

/* EV42, EV43, EV53: what was sent arrives, whatever becomes of the sender's copy. */
static int rank_of_carried(int rank)
{
    char text[] = "text";
    uint32_t number = 9;
    time_t stamp = 12345;
    pmix_status_t code = CODE_A;
    pmix_info_t info[3];

    rank_begin(&self);
    if (rank == 1) {
        CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, receive_text, NULL, NULL) >= 0);
        job_token_put(0);
        received_wait(CODE_A, 2);
        CHECK(strcmp(carried, "text") == 0 && carried_number == 9 && carried_stamp);
        return rank_end();
    }
    info[0] = info_text(PMIX_EVENT_TEXT_MESSAGE, text);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_EVENT_TIMESTAMP, &stamp, PMIX_TIME), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[2], "my.own.key", &number, PMIX_UINT32), PMIX_SUCCESS);
    job_token_get(0);
    CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_LOCAL, info, 3, sent,
                                   info[0].value.data.string),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS); /* the callback has run */
    rank_begin(&self);
    CHECK(info[0].value.data.string[0] == 'X');
    memcpy(info[0].value.data.string, "text", 5);
    CHECK_STATUS(PMIx_Notify_event(CODE_A, NULL, PMIX_RANGE_LOCAL, info, 3, NULL, NULL),
                 PMIX_SUCCESS);
    memset(info[0].value.data.string, 'Y', 4); /* EV42 */
    for (size_t i = 0; i < 3; i++) {
        PMIx_Info_destruct(&info[i]);
    }
    return rank_end();
}

/* ---- inside a handler ------------------------------------------------------------------------ */

static size_t inside_id;

/* EV22, EO54: it removes itself, registers another one and publishes, all of it blocking. */
static void act_inside(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    received_note(id, code, source, info, ninfo, nresults);
    forget_handler(id);
    inside_id = receive_one(CODE_B);
    publish_event(CODE_B, PMIX_RANGE_NAMESPACE, 1);
    publish_event(CODE_A, PMIX_RANGE_NAMESPACE, 2);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* EV38: this one never completes. */
static void keep_silent(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    received_note(id, code, source, info, ninfo, nresults);
}

static int rank_of_inside(int rank)
{
    pmix_status_t code = CODE_A;

    rank_begin(&self);
    const size_t plain = receive_one(CODE_A);

    if (rank == 0) {
        CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, act_inside, NULL, NULL) >= 0);
        job_token_get(0);
        publish_event(CODE_A, PMIX_RANGE_NAMESPACE, 0);
        received_wait(CODE_B, 1);
        received_wait(CODE_A, 2);
        CHECK(received_by(plain) == 1 &&
              received_by(inside_id) == 1); /* EV30: the first was ended */
    } else {
        CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, keep_silent, NULL, NULL) >= 0);
        receive_one(CODE_B);
        job_token_put(0);
        received_wait(CODE_B, 1); /* EV38: another event goes its way */
        received_wait(CODE_A, 2);
        CHECK(received_by(plain) == 0);
    }
    return rank_end();
}

/* ---- how long job events are kept -------------------------------------------------------------- */

#define MANY 20000u

static uint32_t counted; /* under heard_lock */

static void count_only(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    counted += code == CODE_A;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void counted_wait(uint32_t count)
{
    pthread_mutex_lock(&received_lock);
    while (counted < count) {
        received_wait_locked("event", counted);
    }
    pthread_mutex_unlock(&received_lock);
}

/* EV70, EV71: once both have had them they are dropped, all but the newest few: a handler that comes
 * later gets those. */
static int rank_of_kept(int rank)
{
    pmix_status_t code = CODE_A;

    rank_begin(&self);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, count_only, NULL, NULL) >= 0);
    job_token_put(rank);
    job_token_get(1 - rank);
    for (uint32_t i = 0; i < MANY && rank == 0; i++) {
        publish_event(CODE_A, PMIX_RANGE_NAMESPACE, i);
    }
    counted_wait(MANY);
    /* The server has what both lanes say.  A registration would tell it, too, so there is none. */
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 0; i < MANY / 500;
         i++) { /* some of them go in each turn: at least one each */
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    const size_t late = receive_one(CODE_A);

    publish_with(CODE_A, PMIX_RANGE_PROC_LOCAL, MANY, NULL, NULL, PMIX_UNDEF);
    counted_wait(MANY + 1);
    received_wait(CODE_A, 513); /* the newest 512, and the one behind them */
    server_has_it();
    const size_t again = received_by(late);

    if (again > 2000) {
        fprintf(stderr, "%zu job events are kept though all ranks have had them\n", again);
        exit(99);
    }
    CHECK(again >= 513);
    return rank_end();
}

/* ---- handlers that come late ------------------------------------------------------------------- */

#define BEFORE 5000u /* events that are kept, more than one answer of the server has */
#define BEHIND 2000u /* and that are published meanwhile */

static uint32_t next_number;            /* under heard_lock: what comes now */
static bool some_are_left_out;          /* every third is of CODE_B */
static pmix_status_t late_acknowledged; /* PMIX_ERR_WOULD_BLOCK: not yet */

static void in_order(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(ninfo > 0 && strcmp(info[0].key, NUMBER_KEY) == 0);
    pthread_mutex_lock(&received_lock);
    if (some_are_left_out && next_number % 3 == 2) {
        next_number++;
    }
    CHECK(info[0].value.data.uint32 == next_number);
    CHECK(code == (next_number % 3 == 2 ? CODE_B : CODE_A));
    CHECK(late_acknowledged == PMIX_SUCCESS);
    next_number++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void acknowledged(pmix_status_t status, size_t id, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    CHECK(next_number == 0);
    late_acknowledged = status;
    *(size_t *)cbdata = id;
    pthread_mutex_unlock(&received_lock);
}

/* Until @count have been heard; @turns: nobody else makes progress. */
static void late_wait(uint32_t count, bool turns)
{
    pthread_mutex_lock(&received_lock);
    while (next_number < count) {
        if (turns) {
            pthread_mutex_unlock(&received_lock);
            PMIx_Progress();
            pthread_mutex_lock(&received_lock);
        } else {
            received_wait_locked("event number", next_number);
        }
    }
    CHECK(next_number == count);
    pthread_mutex_unlock(&received_lock);
}

/* Rank 1 for one code, rank 2 for two and without waiting, rank 3 for all and without a thread. */
static void come_late(int rank)
{
    pmix_status_t codes[] = { CODE_A, CODE_B };
    size_t id = SIZE_MAX;

    some_are_left_out = rank == 1;
    late_acknowledged = rank == 2 ? PMIX_ERR_WOULD_BLOCK : PMIX_SUCCESS;
    const pmix_status_t rc = PMIx_Register_event_handler(rank == 3 ? NULL : codes,
                                                         rank == 3 ? 0 : (size_t)rank, NULL, 0,
                                                         in_order, rank == 2 ? acknowledged : NULL,
                                                         rank == 2 ? &id : NULL);

    CHECK(rc >= 0);
    late_wait(BEFORE + BEHIND, rank == 3);
}

/* EV61 EV62 EV63 EV64: all that is kept, in order, then what is newer, and nothing before the registration is
 * acknowledged; however many answers of the server that takes. */
static int rank_of_late(int rank)
{
    pmix_info_t info;

    info = info_flag(PMIX_EXTERNAL_PROGRESS);
    CHECK_STATUS(PMIx_Init(&self, &info, rank == 3), PMIX_SUCCESS);
    for (uint32_t i = 0; i < BEFORE && rank == 0; i++) {
        publish_event(i % 3 == 2 ? CODE_B : CODE_A, PMIX_RANGE_NAMESPACE, i);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    for (uint32_t i = BEFORE; i < BEFORE + BEHIND && rank == 0; i++) {
        publish_event(i % 3 == 2 ? CODE_B : CODE_A, PMIX_RANGE_NAMESPACE, i);
    }
    if (rank != 0) {
        come_late(rank);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- whom a publication wakes ------------------------------------------------------------------- */

#define PUBLICATIONS 200u
#define WOKEN_CODE 15 /* of the classes 1 + code mod 15: another one than */
#define OTHER_CODE 16

/* How often the threads of this process but the first have slept so far. */
static uint64_t sleeps(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    uint64_t sum = 0;

    CHECK(tasks != NULL);
    for (struct dirent *it = readdir(tasks); it != NULL; it = readdir(tasks)) {
        char path[300], line[256];
        FILE *file;

        if (it->d_name[0] == '.' || atoi(it->d_name) == getpid()) {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", it->d_name);
        file = fopen(path, "re");
        CHECK(file != NULL);
        while (fgets(line, sizeof(line), file) != NULL) {
            uint64_t count;

            if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &count) == 1) {
                sum += count;
            }
        }
        fclose(file);
    }
    closedir(tasks);
    return sum;
}

/* DESIGN: a publication wakes sleepers of its class only.  Rank 1 hears of another class: its event
 * thread sleeps through rank 0's; without futex_waitv there is one door for all, so that is not
 * asked then. */
static int rank_of_wakes(int rank)
{
    const char *const waitv = getenv("SHMIX_WAITV");

    rank_begin(&self);
    if (rank == 1) {
        receive_one(OTHER_CODE);
        receive_one(OTHER_CODE + 15);
        publish_event(OTHER_CODE, PMIX_RANGE_PROC_LOCAL, 0);
        received_wait(OTHER_CODE, 1);
        server_has_it(); /* the thread runs for this, and sleeps again */
        const uint64_t before = sleeps();

        job_token_put(0);
        job_token_get(1);
        const uint64_t after = sleeps();

        printf("%" PRIu64 " sleeps in %u publications of another class\n", after - before,
               PUBLICATIONS);
        CHECK((waitv != NULL && waitv[0] == '0') || after - before <= 8); /* not one each */
    } else {
        receive_one(WOKEN_CODE);
        job_token_get(0);
        for (uint32_t i = 0; i < PUBLICATIONS; i++) {
            publish_event(WOKEN_CODE, PMIX_RANGE_NAMESPACE, i);
            received_wait(WOKEN_CODE, i + 1); /* each is a publication of its own */
        }
        job_token_put(1);
    }
    return rank_end();
}

static const struct job_case cases[] = {
    { "registration", 1, rank_of_registration },
    { "ranges", 2, rank_of_ranges, host_of_ranges },
    { "targets", 3, rank_of_targets },
    { "carried", 2, rank_of_carried },
    { "inside_a_handler", 2, rank_of_inside },
    { "kept", 2, rank_of_kept },
    { "late", 4, rank_of_late },
    { "wakes", 2, rank_of_wakes },
};

JOB_MAIN(cases)
