/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_again_test.c - handlers that are registered while an event is being handled: which of the
 * kept events they get, and that nobody else has to wait for them. */
#include "received.h"

#define CODE_A (-3601)
#define CODE_B (-3602)
#define LAST 5u         /* a number */
#define CALLS_MAX 1000u /* of handlers that would go on for ever */

static size_t receive_a_by(pmix_notification_fn_t fn)
{
    pmix_status_t code = CODE_A;
    const pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    CHECK(rc >= 0);
    return (size_t)rc;
}

static void forget_handler(size_t id)
{
    CHECK_STATUS(PMIx_Deregister_event_handler(id, NULL, NULL), PMIX_SUCCESS);
}

/* The numbers that handler @id has heard, or all that were heard when it is SIZE_MAX, as text. */
static const char *numbers_of(size_t id)
{
    static char text[16 * RECEIVED_MAX];
    size_t used = 0;

    text[0] = '\0';
    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count; i++) {
        if (received[i].code == CODE_A && (id == SIZE_MAX || received[i].id == id)) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%u ", received[i].number);
        }
    }
    pthread_mutex_unlock(&received_lock);
    return text;
}

static void number_wait(uint32_t number)
{
    bool there = false;

    pthread_mutex_lock(&received_lock);
    for (;;) {
        for (size_t i = 0; i < received_count && !there; i++) {
            there = received[i].number == number;
        }
        if (there) {
            break;
        }
        received_wait_locked("number", (long)number);
    }
    pthread_mutex_unlock(&received_lock);
}

#define CHECK_NUMBERS(id, want)                                                         \
    do {                                                                                \
        const char *const got_ = numbers_of(id);                                        \
        if (strcmp(got_, want) != 0) {                                                  \
            fprintf(stderr, "%s:%d: %.200s, not %s\n", __FILE__, __LINE__, got_, want); \
            exit(99);                                                                   \
        }                                                                               \
    } while (0)

/* ---- one that arms itself again -------------------------------------------------------------- */

static void arm_again(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                      size_t ninfo, pmix_info_t results[], size_t nresults,
                      pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    received_note(id, code, source, info, ninfo, nresults);
    if (received_of(CODE_A) < CALLS_MAX && info[0].value.data.uint32 != LAST) {
        forget_handler(id);
        (void)receive_a_by(arm_again);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* X28: it hears of each kept event once, and of each new one. */
static int rank_of_armed(int rank)
{
    rank_begin(NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        publish_event(CODE_A, PMIX_RANGE_LOCAL, i);
    }
    server_has_it();
    (void)receive_a_by(arm_again);
    number_wait(3);
    publish_event(CODE_A, PMIX_RANGE_LOCAL, 4);
    number_wait(4);
    publish_event(CODE_A, PMIX_RANGE_LOCAL, LAST);
    number_wait(LAST);
    CHECK_NUMBERS(SIZE_MAX, "1 2 3 4 5 ");
    return rank_end();
}

static int rank_of_nothing(int rank)
{
    rank_begin(NULL);
    return rank_end();
}

/* X28, in a host. */
static int host_of_armed(struct job *job)
{
    received_forget();
    for (uint32_t i = 1; i <= 3; i++) {
        publish_event(CODE_A, PMIX_RANGE_PROC_LOCAL, i);
    }
    (void)receive_a_by(arm_again);
    number_wait(3);
    publish_event(CODE_A, PMIX_RANGE_PROC_LOCAL, 4);
    number_wait(4);
    publish_event(CODE_A, PMIX_RANGE_PROC_LOCAL, LAST);
    number_wait(LAST);
    CHECK_NUMBERS(SIZE_MAX, "1 2 3 4 5 ");
    return 0;
}

/* ---- one that registers another ------------------------------------------------------------- */

static size_t other_id = SIZE_MAX; /* read when the event behind it has been heard */

static void register_other(size_t id, pmix_status_t code, const pmix_proc_t *source,
                           pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                           pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (ninfo > 0 && info[0].value.data.uint32 == 2) {
        other_id = receive_a_by(receive);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* X28, EV74: not the event in hand, all other kept ones once. */
static int rank_of_other(int rank)
{
    rank_begin(NULL);
    for (uint32_t i = 1; i <= 3; i++) {
        publish_event(CODE_A, PMIX_RANGE_LOCAL, i);
    }
    server_has_it();
    (void)receive_a_by(register_other);
    number_wait(3);
    publish_event(CODE_A, PMIX_RANGE_LOCAL, 4);
    number_wait(4);
    CHECK_NUMBERS(other_id, "1 3 4 ");
    return rank_end();
}

/* ---- another thread registers meanwhile ----------------------------------------------------- */

static bool is_inside, may_leave; /* under heard_lock */

static void stay_inside(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    pthread_mutex_lock(&received_lock);
    is_inside = true;
    pthread_cond_broadcast(&received_more);
    while (!may_leave) {
        received_wait_locked("the registration beside", (long)id);
    }
    is_inside = false;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void inside_wait(bool wanted)
{
    pthread_mutex_lock(&received_lock);
    while (is_inside != wanted) {
        received_wait_locked("a handler that comes or goes", wanted);
    }
    pthread_mutex_unlock(&received_lock);
}

/* X28: nor from another thread, as long as it is being handled; afterwards it is kept for all. */
static int rank_of_thread(int rank)
{
    rank_begin(NULL);
    const size_t first = receive_a_by(stay_inside);

    publish_event(CODE_A, PMIX_RANGE_LOCAL, 1);
    inside_wait(true);
    const size_t meanwhile = receive_a_by(receive);

    pthread_mutex_lock(&received_lock);
    may_leave = true;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    inside_wait(false);
    forget_handler(first); /* its call has returned when this does */
    const size_t later = receive_a_by(receive);

    publish_event(CODE_A, PMIX_RANGE_LOCAL, 2);
    received_wait(CODE_A, 3);
    CHECK_NUMBERS(meanwhile, "2 ");
    CHECK_NUMBERS(later, "1 2 ");
    return rank_end();
}

/* ---- two that register each other for ever ---------------------------------------------------- */

static unsigned rounds; /* under heard_lock, as the next */
static bool is_over;

/* Return: whether to go on. */
static bool next_round(void)
{
    const bool go_on = received_of(CODE_B) == 0 && rounds < CALLS_MAX;

    pthread_mutex_lock(&received_lock);
    rounds += go_on;
    is_over = !go_on;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    return go_on;
}

static void pong(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                 size_t ninfo, pmix_info_t results[], size_t nresults,
                 pmix_event_notification_cbfunc_fn_t done, void *cbdata);

static void ping(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                 size_t ninfo, pmix_info_t results[], size_t nresults,
                 pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (next_round()) {
        forget_handler(id);
        (void)receive_a_by(pong);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void pong(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                 size_t ninfo, pmix_info_t results[], size_t nresults,
                 pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (next_round()) {
        if (rounds == 4) { /* nobody else counts */
            publish_event(CODE_B, PMIX_RANGE_LOCAL, 9);
        }
        forget_handler(id);
        (void)receive_a_by(ping);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* What late handlers have missed and what is new come in turns. */
static int rank_of_turns(int rank)
{
    rank_begin(NULL);
    (void)receive_one(CODE_B);
    publish_event(CODE_A, PMIX_RANGE_LOCAL, 1);
    publish_event(CODE_A, PMIX_RANGE_LOCAL, 2);
    server_has_it();
    (void)receive_a_by(ping);
    pthread_mutex_lock(&received_lock);
    while (!is_over) {
        received_wait_locked("the end of round", (long)rounds);
    }
    CHECK(rounds < CALLS_MAX);
    pthread_mutex_unlock(&received_lock);
    return rank_end();
}

static const struct job_case cases[] = {
    { "arms_itself_again", 1, rank_of_armed },
    { "arms_itself_again_in_a_host", 1, rank_of_nothing, host_of_armed },
    { "registers_another", 1, rank_of_other },
    { "another_thread_registers", 1, rank_of_thread },
    { "two_register_each_other", 1, rank_of_turns },
};

JOB_MAIN(cases)
