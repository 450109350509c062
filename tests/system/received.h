/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* received.h - for tests of events: a handler that records what this process receives, and waits for it.
 *
 * Everything is static: each test program is one file.  A wait that lasts JOB_SECONDS ends the
 * process with a line; nothing else depends on time. */
#ifndef SX_TESTS_SYSTEM_RECEIVED_H
#define SX_TESTS_SYSTEM_RECEIVED_H

#include <pthread.h>
#include <string.h>
#include <time.h>

#include <shmix.h>

#include "job.h"

#define RECEIVED_MAX 4096
#define NUMBER_KEY "test.number"
#define TEXT_KEY "test.text"
#define RELAY_KEY "shmix.evrelay" /* with which servers recognize their own events */

struct received {
    size_t id; /* of the handler */
    pmix_status_t code;
    pmix_proc_t source;
    uint32_t number; /* NUMBER_KEY */
    uint32_t size;   /* of TEXT_KEY */
    size_t ninfo, nresults;
    bool has_infos, non_default;
    bool proxied; /* it names the server that relays */
    bool marked;  /* it has what servers add for each other */
    int range;    /* of an upcall; 0: a handler received it */
    void *object;
};

static pthread_mutex_t received_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t received_more = PTHREAD_COND_INITIALIZER;
static struct received received[RECEIVED_MAX]; /* under the lock, as the count */
static size_t received_count;

/* Under the lock: until something changes, or the test fails. */
static inline void received_wait_locked(const char *what, long number)
{
    struct timespec deadline;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += JOB_SECONDS;
    if (pthread_cond_timedwait(&received_more, &received_lock, &deadline) != 0) {
        fprintf(stderr, "nothing more was heard of %s %ld\n", what, number);
        exit(97);
    }
}

static inline void received_note_up(int range, size_t id, pmix_status_t code,
                                    const pmix_proc_t *source, const pmix_info_t info[],
                                    size_t ninfo, size_t nresults)
{
    struct received one = { .id = id,
                            .code = code,
                            .source = *source,
                            .range = range,
                            .ninfo = ninfo,
                            .nresults = nresults,
                            .has_infos = info != NULL };

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, NUMBER_KEY) == 0) {
            one.number = info[i].value.data.uint32;
        } else if (strcmp(info[i].key, TEXT_KEY) == 0) {
            one.size = (uint32_t)strlen(info[i].value.data.string);
        } else if (strcmp(info[i].key, PMIX_EVENT_NON_DEFAULT) == 0) {
            one.non_default = info[i].value.type == PMIX_BOOL && info[i].value.data.flag;
        } else if (strcmp(info[i].key, PMIX_EVENT_PROXY) == 0) {
            one.proxied = info[i].value.type == PMIX_PROC;
        } else if (strcmp(info[i].key, RELAY_KEY) == 0 || strcmp(info[i].key, PMIX_RANGE) == 0) {
            one.marked = true;
        } else if (strcmp(info[i].key, PMIX_EVENT_RETURN_OBJECT) == 0) {
            one.object = info[i].value.data.ptr;
        }
    }
    pthread_mutex_lock(&received_lock);
    CHECK(received_count < RECEIVED_MAX);
    received[received_count++] = one;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static inline void received_note(size_t id, pmix_status_t code, const pmix_proc_t *source,
                                 const pmix_info_t info[], size_t ninfo, size_t nresults)
{
    received_note_up(0, id, code, source, info, ninfo, nresults);
}

/* A handler. */
static inline void receive(size_t id, pmix_status_t code, const pmix_proc_t *source,
                           pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                           pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    received_note(id, code, source, info, ninfo, nresults);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static inline size_t received_of_locked(pmix_status_t code)
{
    size_t count = 0;

    for (size_t i = 0; i < received_count; i++) {
        count += received[i].code == code;
    }
    return count;
}

static inline size_t received_of(pmix_status_t code)
{
    pthread_mutex_lock(&received_lock);
    const size_t count = received_of_locked(code);

    pthread_mutex_unlock(&received_lock);
    return count;
}

static inline void received_wait(pmix_status_t code, size_t count)
{
    pthread_mutex_lock(&received_lock);
    while (received_of_locked(code) < count) {
        received_wait_locked("code", code);
    }
    pthread_mutex_unlock(&received_lock);
}

/* By handler @id, of any code. */
static inline size_t received_by(size_t id)
{
    size_t count = 0;

    pthread_mutex_lock(&received_lock);
    for (size_t i = 0; i < received_count; i++) {
        count += received[i].id == id;
    }
    pthread_mutex_unlock(&received_lock);
    return count;
}

static inline void received_forget(void)
{
    pthread_mutex_lock(&received_lock);
    received_count = 0;
    pthread_mutex_unlock(&received_lock);
}

/* Register `receive`; @key: one directive that is true, or NULL. */
static inline size_t receive_codes(pmix_status_t codes[], size_t ncodes, const char *key)
{
    const bool yes = true;
    pmix_info_t info;

    if (key != NULL) {
        CHECK_STATUS(PMIx_Info_load(&info, key, &yes, PMIX_BOOL), PMIX_SUCCESS);
    }
    const pmix_status_t rc = PMIx_Register_event_handler(codes, ncodes, &info, key != NULL, receive,
                                                         NULL, NULL);

    CHECK(rc >= 0);
    return (size_t)rc;
}

static inline size_t receive_one(pmix_status_t code)
{
    return receive_codes(&code, 1, NULL);
}

/* Of this process's own events, lost on their way: how often it was told, and how many they were;
 * under the lock. */
static size_t loss_events;
static uint64_t lost_own;

/* A handler of SHMIX_ERR_EVENTS_LOST. */
static inline void receive_loss(size_t id, pmix_status_t code, const pmix_proc_t *source,
                                pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                                size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                                void *cbdata)
{
    uint64_t count = 0;
    bool own = false;

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, SHMIX_EVENTS_LOST_COUNT) == 0) {
            count = info[i].value.data.uint64;
        } else if (strcmp(info[i].key, SHMIX_EVENTS_LOST_OWN) == 0) {
            own = info[i].value.data.flag;
        }
    }
    pthread_mutex_lock(&received_lock);
    CHECK(own && count > 0);
    loss_events++;
    lost_own += count;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static inline void listen_to_losses(void)
{
    pmix_status_t code = SHMIX_ERR_EVENTS_LOST;

    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, receive_loss, NULL, NULL) >= 0);
}

static inline void lost_wait(uint64_t count)
{
    pthread_mutex_lock(&received_lock);
    while (lost_own < count) {
        received_wait_locked("lost events, of", (long)count);
    }
    CHECK(lost_own == count);
    pthread_mutex_unlock(&received_lock);
}

/* An event with NUMBER_KEY, and one more key when @key is not NULL. */
static inline void publish_with(pmix_status_t code, pmix_data_range_t range, uint32_t number,
                                const char *key, const void *value, pmix_data_type_t type)
{
    pmix_info_t info[2];

    CHECK_STATUS(PMIx_Info_load(&info[0], NUMBER_KEY, &number, PMIX_UINT32), PMIX_SUCCESS);
    if (key != NULL) {
        CHECK_STATUS(PMIx_Info_load(&info[1], key, value, type), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Notify_event(code, NULL, range, info, key != NULL ? 2 : 1, NULL, NULL),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info[0]);
    if (key != NULL) {
        PMIx_Info_destruct(&info[1]);
    }
}

static inline void publish_event(pmix_status_t code, pmix_data_range_t range, uint32_t number)
{
    publish_with(code, range, number, NULL, NULL, PMIX_UNDEF);
}

static inline void publish_to_proc(pmix_status_t code, const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t target = { .rank = rank };

    snprintf(target.nspace, sizeof(target.nspace), "%s", nspace);
    publish_with(code, PMIX_RANGE_CUSTOM, 0, PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC);
}

/* In a rank: done once the server has dealt with all that was sent before: a request goes behind the
 * lane. */
static inline void server_has_it(void)
{
    pmix_status_t never = -2999;

    CHECK_STATUS(PMIx_Deregister_event_handler(receive_codes(&never, 1, NULL), NULL, NULL),
                 PMIX_SUCCESS);
}

#endif
