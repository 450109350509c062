/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_event_test.c - readers of events: whole, in order, without a call, with losses counted.
 *
 * A fence behind a notification puts it into the ring: the server takes a rank's lane in order.
 * Requirement EV40 (the source of an event) is shown here on the native side. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/allocations.h"
#include "support/no_calls.h"

#define CODE(n) (PMIX_EXTERNAL_ERR_BASE - 10000 - (n)) /* apart from SHMIX_ERR_EVENTS_LOST */

static pmix_proc_t me;

static void begin(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(me.rank == (pmix_rank_t)rank);
}

static void meet(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

static void notify(pmix_status_t code, pmix_data_range_t range, pmix_info_t *info, size_t ninfo)
{
    CHECK_STATUS(PMIx_Notify_event(code, NULL, range, info, ninfo, NULL, NULL), PMIX_SUCCESS);
}

static shmix_events_t *open_at(uint64_t from)
{
    shmix_events_t *events;

    CHECK_STATUS(shmix_events_open(from, NULL, 0, &events), PMIX_SUCCESS);
    return events;
}

static void end(shmix_events_t *events)
{
    if (events != NULL) {
        CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    }
    meet();
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}

/* ---- what an event says --------------------------------------------------------------------- */

static void notify_rich(void)
{
    uint32_t numbers[3] = { 5, 6, 7 };
    pmix_data_array_t array = { .type = PMIX_UINT32, .size = 3, .array = numbers };
    const pmix_proc_t about = { .nspace = JOB_NSPACE, .rank = 1 };
    pmix_info_t info[4];

    info[0] = info_text("text", "some text");
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_EVENT_AFFECTED_PROC, &about, PMIX_PROC),
                 PMIX_SUCCESS);
    info[2] = info_flag(PMIX_EVENT_NON_DEFAULT);
    CHECK_STATUS(PMIx_Info_load(&info[3], "array", &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    notify(CODE(1), PMIX_RANGE_NAMESPACE, info, 4);
    for (size_t i = 0; i < 4; i++) {
        PMIx_Info_destruct(&info[i]);
    }
}

static void check_rich(const shmix_event_t *event)
{
    shmix_value_t value;
    pmix_proc_t proc;
    const char *key;

    CHECK(event->code == CODE(1) && event->range == PMIX_RANGE_NAMESPACE);
    /* EV40 */
    CHECK(event->source.rank == 0 && strcmp(event->source.nspace, JOB_NSPACE) == 0);
    CHECK(event->non_default && !event->environment && event->lost_count == 0);
    CHECK(event->affected_count == 1 && event->target_count == 0 && event->info_count == 4);
    CHECK_STATUS(shmix_event_affected(event, 0, &proc), PMIX_SUCCESS);
    CHECK(proc.rank == 1 && strcmp(proc.nspace, JOB_NSPACE) == 0);
    CHECK_STATUS(shmix_event_affected(event, 1, &proc), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_event_info(event, 0, &key, &value), PMIX_SUCCESS);
    CHECK(strcmp(key, "text") == 0 && value.type == PMIX_STRING && value.count == 9);
    CHECK(strcmp(value.data, "some text") == 0);
    CHECK_STATUS(shmix_event_find(event, "array", &value), PMIX_SUCCESS);
    CHECK(value.element_type == PMIX_UINT32 && value.count == 3);
    CHECK(((const uint32_t *)value.data)[2] == 7);
    CHECK_STATUS(shmix_event_find(event, "nothing", &value), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_event_info(event, 4, &key, &value), PMIX_ERR_NOT_FOUND);
}

static int a_reader_sees_all_that_an_event_says(int rank)
{
    shmix_event_t event;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    meet();
    if (rank == 0) {
        notify_rich();
    }
    meet();
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
    check_rich(&event);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    end(events);
    return 0;
}

/* A custom range: the numbers go on, nothing is lost to those who are not meant. */
static int what_is_for_others_is_not_shown(int rank)
{
    pmix_proc_t target = { .nspace = JOB_NSPACE, .rank = 1 };
    shmix_event_t event;
    pmix_info_t info;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    meet();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC),
                     PMIX_SUCCESS);
        notify(CODE(1), PMIX_RANGE_CUSTOM, &info, 1);
        PMIx_Info_destruct(&info);
        notify(CODE(2), PMIX_RANGE_LOCAL, NULL, 0);
    }
    meet();
    if (rank == 1) {
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
        CHECK(event.code == CODE(1) && event.target_count == 1);
        CHECK_STATUS(shmix_event_target(&event, 0, &target), PMIX_SUCCESS);
        CHECK(target.rank == 1 && strcmp(target.nspace, JOB_NSPACE) == 0);
        CHECK_STATUS(shmix_event_target(&event, 1, &target), PMIX_ERR_NOT_FOUND);
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
    CHECK(event.code == CODE(2));
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    end(events);
    return 0;
}

/* ---- where a reader begins ------------------------------------------------------------------ */

static int a_reader_begins_where_it_is_notified(int rank)
{
    const pmix_status_t fourth = CODE(4);
    shmix_events_t *events;
    shmix_event_t event;
    uint64_t first;

    begin(rank);
    meet();
    for (int i = 0; rank == 0 && i < 6; i++) {
        notify(CODE(i), PMIX_RANGE_NAMESPACE, NULL, 0);
    }
    meet();
    events = open_at(SHMIX_EVENTS_NOW);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    shmix_events_close(events);

    events = open_at(SHMIX_EVENTS_OLDEST);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
    CHECK(event.code == CODE(0));
    first = event.number;
    for (int i = 1; i < 6; i++) {
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
        CHECK(event.code == CODE(i) && event.number == first + (uint64_t)i);
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    shmix_events_close(events);

    events = open_at(first + 3);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
    CHECK(event.code == CODE(3) && event.number == first + 3);
    shmix_events_close(events);

    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_OLDEST, &fourth, 1, &events), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
    CHECK(event.code == CODE(4) && event.number == first + 4);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    end(events);
    return 0;
}

/* ---- losses and sizes ----------------------------------------------------------------------- */

enum { FLOOD = 600, FLOOD_BYTES = 3000 };

static void flood(size_t size, int count)
{
    char *const bytes = calloc(1, size);
    pmix_info_t info;

    CHECK(bytes != NULL);
    for (int i = 0; i < count; i++) {
        pmix_byte_object_t object = { .bytes = bytes, .size = size };

        memset(bytes, i, size);
        CHECK_STATUS(PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
        notify(CODE(i), PMIX_RANGE_NAMESPACE, &info, 1);
        PMIX_INFO_DESTRUCT(&info);
    }
    free(bytes);
}

static void check_bytes(const shmix_event_t *event, int i, size_t size)
{
    shmix_value_t value;

    CHECK(event->code == CODE(i));
    CHECK_STATUS(shmix_event_find(event, "bytes", &value), PMIX_SUCCESS);
    CHECK(value.count == size && ((const char *)value.data)[0] == (char)i);
    CHECK(((const char *)value.data)[size - 1] == (char)i);
}

/* As flood, but what @kept says no to is not kept beside the ring. */
static void flood_some(size_t size, int count, bool (*kept)(int))
{
    char *const bytes = calloc(1, size);
    pmix_info_t info[2];

    CHECK(bytes != NULL);
    for (int i = 0; i < count; i++) {
        pmix_byte_object_t object = { .bytes = bytes, .size = size };

        memset(bytes, i, size);
        CHECK_STATUS(PMIx_Info_load(&info[0], "bytes", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
        info[1] = info_flag(PMIX_EVENT_DO_NOT_CACHE);
        notify(CODE(i), PMIX_RANGE_NAMESPACE, info, kept(i) ? 1 : 2);
        PMIX_INFO_DESTRUCT(&info[0]);
        PMIX_INFO_DESTRUCT(&info[1]);
    }
    free(bytes);
}

enum { UNKEPT = 50 }; /* at first; then one in ten */

static bool is_kept(int i)
{
    return i >= UNKEPT && i % 10 != 9;
}

/* Read up to number FLOOD: what is kept is read, and only what is not may be told as lost.  Return:
 * how many are lost. */
static uint64_t read_what_is_kept(shmix_events_t *events, int from)
{
    shmix_event_t event;
    uint64_t lost = 0;

    for (int i = from; i < FLOOD;) {
        const pmix_status_t rc = shmix_events_next(events, &event);

        CHECK(event.number == (uint64_t)i + 1);
        if (rc == SHMIX_ERR_EVENTS_LOST) {
            CHECK(event.lost_count == (i < UNKEPT ? (uint64_t)(UNKEPT - i) : 1) && !is_kept(i));
            lost += event.lost_count;
            i += (int)event.lost_count;
        } else {
            CHECK_STATUS(rc, PMIX_SUCCESS);
            check_bytes(&event, i, FLOOD_BYTES);
            i++;
        }
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return lost;
}

/* The readers sleep through more than the ring holds: the server has most of it, and what it does
 * not have is counted. */
static int what_nobody_keeps_is_counted(int rank)
{
    const pmix_status_t code = CODE(UNKEPT + 2);
    shmix_event_t event;
    shmix_events_t *one;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    meet();
    if (rank == 0) {
        flood_some(FLOOD_BYTES, FLOOD, is_kept);
    }
    meet();
    const uint64_t lost = read_what_is_kept(events, 0);
    CHECK(lost > UNKEPT && lost < UNKEPT + FLOOD / 10);
    CHECK(read_what_is_kept(open_at(1), 0) == lost);
    CHECK(read_what_is_kept(open_at(UNKEPT / 2 + 1), UNKEPT / 2) == lost - UNKEPT / 2);
    CHECK(read_what_is_kept(open_at(SHMIX_EVENTS_OLDEST), UNKEPT) == lost - UNKEPT);
    CHECK_STATUS(shmix_events_open(UNKEPT + 1, &code, 1, &one), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_next(one, &event), PMIX_SUCCESS);
    CHECK(event.number == UNKEPT + 3);
    end(one);
    return 0;
}

/* All of it is kept beside the ring: nothing is lost, wherever a reader begins. */
static int what_the_ring_has_overwritten_comes_from_the_server(int rank)
{
    static const uint64_t begins[] = { 1, SHMIX_EVENTS_OLDEST, 7 };
    shmix_event_t event;

    begin(rank);
    shmix_events_t *events = open_at(SHMIX_EVENTS_NOW);
    meet();
    if (rank == 0) {
        flood(FLOOD_BYTES, FLOOD);
    }
    meet();
    for (size_t n = 0; n <= sizeof(begins) / sizeof(begins[0]); n++) {
        const uint64_t from = n > 0 && begins[n - 1] != SHMIX_EVENTS_OLDEST ? begins[n - 1] : 1;

        for (uint64_t number = from; number <= FLOOD; number++) {
            CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
            CHECK(event.number == number);
            check_bytes(&event, (int)number - 1, FLOOD_BYTES);
        }
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
        events = n < sizeof(begins) / sizeof(begins[0]) ? open_at(begins[n]) : NULL;
    }
    end(NULL);
    return 0;
}

/* This process's messages to its server. */
static atomic_uint messages;

__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *message,
                                                       int flags)
{
    static ssize_t (*next)(int, const struct msghdr *, int);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "sendmsg");
    }
    atomic_fetch_add(&messages, 1);
    return next(fd, message, flags);
}

/* Many small ones are asked for a frame at a time: at least 15 a message. */
static int an_overtaken_reader_asks_for_many_at_once(int rank)
{
    enum { SMALL = 6000, SMALL_BYTES = 200, AT_ONCE = 15 };
    shmix_event_t event;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    meet();
    if (rank == 0) {
        flood(SMALL_BYTES, SMALL);
    }
    meet();
    atomic_store(&messages, 0);
    for (int i = 0; i < SMALL; i++) {
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
        check_bytes(&event, i, SMALL_BYTES);
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    if (atomic_load(&messages) == 0 || atomic_load(&messages) > SMALL / AT_ONCE) {
        fprintf(stderr, "%u messages for %d events\n", atomic_load(&messages), SMALL);
        exit(99);
    }
    end(events);
    return 0;
}

/* Larger than a record, larger than a lane message, larger than a frame: asked for, and shown. */
static int an_event_too_large_for_the_ring_is_shown(int rank)
{
    static const size_t sizes[] = { 4000, 10000, 100000 };
    shmix_event_t event;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    meet();
    for (size_t i = 0; rank == 0 && i < 3; i++) {
        flood(sizes[i], 1);
    }
    meet();
    for (size_t i = 0; i < 3; i++) {
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
        check_bytes(&event, 0, sizes[i]);
        CHECK(event.source.rank == 0);
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    end(events);
    return 0;
}

/* ---- sleeping ------------------------------------------------------------------------------- */

enum { PINGS = 200 };

static int two_readers_play_ping_pong(int rank)
{
    const pmix_status_t codes[2] = { CODE(0), CODE(1) };
    shmix_events_t *events;
    shmix_event_t event;

    begin(rank);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, &codes[1 - rank], 1, &events), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_wait(events, 0, &event), PMIX_ERR_TIMEOUT);
    CHECK_STATUS(shmix_events_wait(events, 1000000, &event), PMIX_ERR_TIMEOUT);
    meet();
    for (int i = 0; i < PINGS; i++) {
        if (rank == 0) {
            notify(codes[0], PMIX_RANGE_NAMESPACE, NULL, 0);
        }
        CHECK_STATUS(shmix_events_wait(events, SHMIX_FOREVER, &event), PMIX_SUCCESS);
        CHECK(event.code == codes[1 - rank] && event.source.rank == (pmix_rank_t)(1 - rank));
        if (rank == 1) {
            notify(codes[1], PMIX_RANGE_NAMESPACE, NULL, 0);
        }
    }
    end(events);
    return 0;
}

/* Stands in front of the C library's, by which the library sleeps: how often this thread has. */
static _Thread_local unsigned sleeps;
static long (*next_syscall)(long, ...);

__attribute__((visibility("default"))) long syscall(long number, ...)
{
    unsigned long args[6];
    va_list list;

    va_start(list, number);
    for (size_t i = 0; i < 6; i++) {
        args[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    if (next_syscall == NULL) { /* the constructors of libraries come before those of the program */
        *(void **)&next_syscall = dlsym(RTLD_NEXT, "syscall");
    }
    sleeps += number == 449 && args[1] != 0; /* futex_waitv */
    return next_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* A reader of one code sleeps through those of other classes: it goes to sleep once, or some times
 * more (its bell still rings from before), but not once a publication.  Without futex_waitv all
 * sleep on one door, and nothing is counted. */
static int other_codes_do_not_wake_a_reader(int rank)
{
    const pmix_status_t code = CODE(0);
    shmix_events_t *events;
    shmix_event_t event;

    begin(rank);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events), PMIX_SUCCESS);
    meet();
    if (rank == 1) {
        sleeps = 0;
        CHECK_STATUS(shmix_events_wait(events, SHMIX_FOREVER, &event), PMIX_SUCCESS);
        CHECK(event.number == PINGS + 1 && event.code == code);
        CHECK(sleeps <= 8);
    }
    for (int i = 0; rank == 0 && i <= PINGS; i++) {
        notify(i < PINGS ? CODE(1) : code, PMIX_RANGE_NAMESPACE, NULL, 0);
        CHECK_STATUS(PMIx_Fence(&me, 1, NULL, 0), PMIX_SUCCESS); /* each is published by itself */
    }
    end(events);
    return 0;
}

static int a_reader_ends_with_the_process_it_reads_for(int rank)
{
    shmix_event_t event;

    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    notify(CODE(0), PMIX_RANGE_NAMESPACE, NULL, 0);
    end(NULL);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_events_wait(events, 0, &event), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

/* ---- no call, no allocation ----------------------------------------------------------------- */

enum { QUIET_EVENTS = 50 };

static int read_without_calls(void *arg)
{
    shmix_events_t *const events = arg;
    shmix_event_t event;
    shmix_value_t value;
    const unsigned long before = allocations;

    for (int i = 0; i < QUIET_EVENTS; i++) {
        if (shmix_events_next(events, &event) != PMIX_SUCCESS || event.code != CODE(i) ||
            shmix_event_find(&event, "bytes", &value) != PMIX_SUCCESS || value.count != 100) {
            return 2;
        }
    }
    if (shmix_events_next(events, &event) != PMIX_ERR_NOT_FOUND) {
        return 3;
    }
    return allocations == before ? 0 : 4;
}

static int an_event_that_is_there_costs_no_call(int rank)
{
    if (SANITIZED) {
        printf("skipped: a sanitizer allocates and calls as it likes\n");
        return JOB_SKIPPED;
    }
    begin(rank);
    shmix_events_t *const events = open_at(SHMIX_EVENTS_NOW);
    meet();
    if (rank == 0) {
        flood(100, QUIET_EVENTS);
    }
    meet();
    CHECK(no_calls_run(read_without_calls, events) == 0);
    end(events);
    return 0;
}

static const struct job_case cases[] = {
    { "a_reader_sees_all_that_an_event_says", 2, a_reader_sees_all_that_an_event_says },
    { "what_is_for_others_is_not_shown", 3, what_is_for_others_is_not_shown },
    { "a_reader_begins_where_it_is_told", 2, a_reader_begins_where_it_is_notified },
    { "what_nobody_keeps_is_counted", 2, what_nobody_keeps_is_counted },
    { "what_the_ring_has_overwritten_comes_from_the_server", 2,
      what_the_ring_has_overwritten_comes_from_the_server },
    { "an_overtaken_reader_asks_for_many_at_once", 2, an_overtaken_reader_asks_for_many_at_once },
    { "an_event_too_large_for_the_ring_is_shown", 2, an_event_too_large_for_the_ring_is_shown },
    { "two_readers_play_ping_pong", 2, two_readers_play_ping_pong },
    { "other_codes_do_not_wake_a_reader", 2, other_codes_do_not_wake_a_reader },
    { "a_reader_ends_with_the_process_it_reads_for", 2,
      a_reader_ends_with_the_process_it_reads_for },
    { "an_event_that_is_there_costs_no_call", 2, an_event_that_is_there_costs_no_call },
};

JOB_MAIN(cases)
