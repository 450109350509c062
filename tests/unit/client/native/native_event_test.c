/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_event_test.c - what the readers of events refuse; what they read is tests/system's. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <shmix.h>

#include "../alone.h"
#include "base/util.h"

TestSuite(native_event, .init = alone_begin, .fini = alone_end, .timeout = 60);

Test(native_event, a_process_without_a_server_has_no_ring)
{
    shmix_events_t *events = NULL;

    cr_expect_eq(shmix_events_open(SHMIX_EVENTS_NOW, NULL, 0, &events), PMIX_ERR_UNREACH);
    cr_expect_null(events);
}

Test(native_event_before, init_there_is_no_reader)
{
    int other;
    shmix_events_t *events = (shmix_events_t *)&other;

    cr_expect_eq(shmix_events_open(SHMIX_EVENTS_NOW, NULL, 0, &events), PMIX_ERR_INIT);
    cr_expect_null(events, "no handle is left of a failed open");
    cr_expect_eq(shmix_events_close(events), PMIX_SUCCESS);
    events = (shmix_events_t *)&other;
    cr_expect_eq(shmix_events_open(SHMIX_EVENTS_NOW, NULL, 1, &events), PMIX_ERR_BAD_PARAM);
    cr_expect_null(events);
}

Test(native_event, what_is_needed_must_be_there)
{
    shmix_events_t *events = NULL;
    const shmix_event_t event = { .number = 1 };
    shmix_event_t shown;
    shmix_value_t value;
    pmix_proc_t proc;
    const pmix_status_t got[] = {
        shmix_events_open(SHMIX_EVENTS_NOW, NULL, 0, NULL),
        shmix_events_open(SHMIX_EVENTS_NOW, NULL, 1, &events),
        shmix_events_next(NULL, &shown),
        shmix_events_wait(NULL, 0, &shown),
        shmix_event_info(NULL, 0, NULL, &value),
        shmix_event_info(&event, 0, NULL, NULL),
        shmix_event_find(NULL, "key", &value),
        shmix_event_find(&event, NULL, &value),
        shmix_event_find(&event, "key", NULL),
        shmix_event_affected(NULL, 0, &proc),
        shmix_event_affected(&event, 0, NULL),
        shmix_event_target(NULL, 0, &proc),
        shmix_event_target(&event, 0, NULL),
    };

    for (size_t i = 0; i < SX_COUNT(got); i++) {
        cr_expect_eq(got[i], PMIX_ERR_BAD_PARAM, "row %zu gives %d", i, got[i]);
    }
    cr_expect_null(events);
}

Test(native_event, an_event_of_nothing_has_nothing)
{
    const shmix_event_t event = { .number = 1 };
    shmix_value_t value;
    pmix_proc_t proc;

    cr_expect_eq(shmix_event_info(&event, 0, NULL, &value), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(shmix_event_find(&event, "key", &value), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(shmix_event_affected(&event, 0, &proc), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(shmix_event_target(&event, 0, &proc), PMIX_ERR_NOT_FOUND);
}

/* The bytes come from a ring that is believed nothing: rows of bodies that lie about themselves. */
Test(native_event, infos_that_contradict_themselves_are_refused)
{
    /* A cell (DATA_ARRAY, @len, 16), an array record (INFO, @count), one info. */
    struct {
        uint16_t type, flags;
        uint32_t len;
        uint64_t bits;
        uint16_t element, reserved0;
        uint32_t reserved1;
        uint64_t count;
        struct {
            uint16_t type, flags;
            uint32_t len;
            uint64_t bits;
        } key;
        uint64_t info_flags;
        struct {
            uint16_t type, flags;
            uint32_t len;
            uint64_t bits;
        } value;
        char key_body[8], value_body[8];
    } const good = {
        .type = PMIX_DATA_ARRAY,
        .len = 72,
        .bits = 16,
        .element = PMIX_INFO,
        .count = 1,
        .key = { PMIX_STRING, 0, 4, 56 },
        .value = { PMIX_STRING, 0, 6, 64 },
        .key_body = "key",
        .value_body = "value",
    };
    static const struct {
        const char *why;
        size_t off;
        uint8_t byte;
        pmix_status_t want;
    } rows[] = {
        { "as it should be", 0, PMIX_DATA_ARRAY, PMIX_SUCCESS },
        { "no array", 0, PMIX_STRING, PMIX_ERR_NOT_FOUND },
        { "longer than there are bytes", 4, 255, PMIX_ERR_NOT_FOUND },
        { "not of infos", 16, PMIX_STRING, PMIX_ERR_NOT_FOUND },
        { "more infos than fit", 24, 2, PMIX_ERR_NOT_FOUND },
        { "a key behind the end", 40, 80, PMIX_ERR_UNPACK_FAILURE },
        { "a key that is too long", 36, 200, PMIX_ERR_UNPACK_FAILURE },
        { "a key of nothing", 36, 0, PMIX_ERR_UNPACK_FAILURE },
        { "a key without an end", 75, 'x', PMIX_ERR_UNPACK_FAILURE },
        { "a value behind the end", 64, 80, PMIX_ERR_UNPACK_FAILURE },
        { "a value at an odd place", 64, 63, PMIX_ERR_UNPACK_FAILURE },
        { "a text without an end", 85, 'x', PMIX_ERR_UNPACK_FAILURE },
    };

    cr_assert_eq(sizeof(good), 88);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        _Alignas(8) uint8_t bytes[sizeof(good)];
        const shmix_event_t event = { .infos = bytes, .infos_size = sizeof(bytes) };
        shmix_value_t value = { .type = PMIX_UNDEF };

        memcpy(bytes, &good, sizeof(bytes));
        bytes[rows[i].off] = rows[i].byte;
        cr_expect_eq(shmix_event_info(&event, 0, NULL, &value), rows[i].want, "%s", rows[i].why);
        if (rows[i].want == PMIX_SUCCESS) {
            cr_expect_str_eq(value.data, "value");
            cr_expect_eq(value.count, 5);
        }
    }
}
