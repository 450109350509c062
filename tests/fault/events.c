/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.c - see events.h. */
#include "events.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#define NUMBER_KEY "fault.number"
#define BODY_KEY "fault.body"
#define BODY_MAX (64u << 10)

static int reader; /* the handlers of this process keep the words of this one */

static uint8_t byte_of(uint64_t number, size_t i)
{
    return (uint8_t)(number * 131 + i * 7 + 1);
}

pmix_status_t events_publish(uint64_t number, size_t body_size)
{
    static __thread uint8_t body[BODY_MAX];
    pmix_info_t info[2];

    CHECK(body_size <= sizeof(body), "%zu", body_size);
    memset(info, 0, sizeof(info));
    memcpy(info[0].key, NUMBER_KEY, sizeof(NUMBER_KEY));
    info[0].value.type = PMIX_UINT64;
    info[0].value.data.uint64 = number;
    memcpy(info[1].key, BODY_KEY, sizeof(BODY_KEY));
    info[1].value.type = PMIX_BYTE_OBJECT;
    info[1].value.data.bo.bytes = (char *)body;
    info[1].value.data.bo.size = body_size;
    for (size_t i = 0; i < body_size; i++) {
        body[i] = byte_of(number, i);
    }
    return PMIx_Notify_event(EVENTS_CODE, NULL, PMIX_RANGE_NAMESPACE, info, body_size > 0 ? 2 : 1,
                             NULL, NULL);
}

void events_publish_many(int who, uint64_t first, uint64_t count, size_t body_size)
{
    for (uint64_t i = 0; i < count; i++) {
        CHECK_STATUS(events_publish(first + i, body_size), PMIX_SUCCESS);
        atomic_fetch_add(&fault_shared->event_sent[who], 1);
    }
}

static void body_check(uint64_t number, const pmix_info_t *info)
{
    const pmix_byte_object_t *const body = &info->value.data.bo;

    CHECK(strcmp(info->key, BODY_KEY) == 0 && info->value.type == PMIX_BYTE_OBJECT,
          "event %llu has %s", (unsigned long long)number, info->key);
    for (size_t i = 0; i < body->size; i++) {
        CHECK((uint8_t)body->bytes[i] == byte_of(number, i), "event %llu is torn at byte %zu",
              (unsigned long long)number, i);
    }
}

static void on_numbered(size_t id, pmix_status_t code, const pmix_proc_t *source,
                        pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                        pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    CHECK(code == EVENTS_CODE && ninfo >= 1 && strcmp(info[0].key, NUMBER_KEY) == 0 &&
              info[0].value.type == PMIX_UINT64,
          "an event of code %d", code);
    const uint64_t number = info[0].value.data.uint64;
    const uint64_t last = atomic_load(&fault_shared->event_last[reader]);

    CHECK(number > last, "event %llu after %llu", (unsigned long long)number,
          (unsigned long long)last);
    if (ninfo > 1 && info[1].key[0] == 'f') { /* the library's own follow */
        body_check(number, &info[1]);
    }
    atomic_store(&fault_shared->event_last[reader], number);
    atomic_fetch_add(&fault_shared->event_count[reader], 1);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_lost(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    for (size_t i = 0; i < ninfo && code == SHMIX_ERR_EVENTS_LOST; i++) {
        if (strcmp(info[i].key, SHMIX_EVENTS_LOST_COUNT) == 0) {
            atomic_fetch_add(&fault_shared->event_lost[reader], info[i].value.data.uint64);
        }
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    atomic_fetch_add(&fault_shared->event_ended[reader], 1);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void handler_add(pmix_status_t code, pmix_notification_fn_t fn)
{
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    CHECK(id >= 0, "a handler of %d is refused: %d", code, id);
}

void events_read(int who, pmix_status_t code)
{
    reader = who;
    handler_add(SHMIX_ERR_EVENTS_LOST, on_lost);
    if (code != 0) {
        handler_add(code, on_end);
    }
    handler_add(EVENTS_CODE, on_numbered);
}

void events_read_afresh(int who)
{
    atomic_store(&fault_shared->event_count[who], 0);
    atomic_store(&fault_shared->event_last[who], 0);
    atomic_store(&fault_shared->event_lost[who], 0);
    atomic_store(&fault_shared->event_ended[who], 0);
    atomic_store(&fault_shared->event_sent[who], 0);
}

bool events_accounted(int who, uint64_t count)
{
    const uint64_t lost = atomic_load(&fault_shared->event_lost[who]);
    const uint64_t had = atomic_load(&fault_shared->event_count[who]);

    CHECK(had + lost <= count, "%llu handed out and %llu lost of %llu", (unsigned long long)had,
          (unsigned long long)lost, (unsigned long long)count);
    return had + lost == count;
}

uint64_t events_how_many(uint64_t usual)
{
    const char *const text = getenv("SHMIX_FAULT_EVENTS");

    return text != NULL ? strtoull(text, NULL, 10) : usual;
}
