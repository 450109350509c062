/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* print.c - one event as a line of text, or of JSON.
 *
 * The publisher's bytes are never trusted to be printable.  In text every byte is escaped that is
 * not printable ASCII, in JSON those that launch/common/say.h names. */
#include "cli/events/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <pmix.h>

#include "base/value/names.h"
#include "cli/events/words.h"
#include "cli/names.h"
#include "cli/value.h"

static void proc_print(const char *name, size_t len, uint32_t rank, bool json)
{
    if (len == 0 && !json) {
        printf("the resource manager");
    } else {
        sx_names_proc_print(name, len, rank, json);
    }
}

static void procs_print(struct sx_opened_part part, const char *what, bool json)
{
    const uint32_t count = part.count;
    struct sx_proc_ref proc;

    while (sx_part_proc_next(&part, &proc)) {
        const bool is_first = part.count + 1 == count;

        if (json) {
            printf(is_first ? ",\"%s\":[" : ",", what);
        } else {
            printf(is_first ? " %s " : ",", what);
        }
        proc_print(proc.name, proc.name_len, proc.rank, json);
    }
    if (json && count > 0) {
        putchar(']');
    }
}

static void infos_print(const pmix_info_t *info, size_t ninfo, bool json)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (json) {
            printf(i == 0 ? ",\"info\":[{\"key\":" : ",{\"key\":");
        } else {
            putchar(' ');
        }
        sx_cli_key_print(info[i].key, json);
        printf(json ? ",\"value\":" : "=");
        sx_cli_value_print(&info[i].value, json);
        if (json) {
            putchar('}');
        }
    }
    if (json && ninfo > 0) {
        putchar(']');
    }
}

/* The time at which this command has read the event: in UTC, to the microsecond. */
static void received_print(bool json)
{
    struct timespec now;
    struct tm parts;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    printf(json ? ",\"received\":\"%s.%06ldZ\"" : " %s.%06ldZ", text, now.tv_nsec / 1000);
}

static void head_print(const struct sx_event *event, bool json)
{
    const char *const name = sx_name_find(PMIX_STATUS, event->code);
    const char *const range = sx_events_range_name(event->range);

    if (json) {
        printf("{\"number\":%" PRIu64, event->number);
        received_print(true);
        printf(",\"code\":%" PRId32, event->code);
        if (name != NULL) {
            printf(",\"name\":\"%s\"", name);
        }
        printf(",\"range\":\"%s\"", range != NULL ? range : "unknown");
    } else {
        printf("%" PRIu64, event->number);
        received_print(false);
        printf(" %" PRId32, event->code);
        if (name != NULL) {
            printf(" %s", name);
        }
        printf(" %s", range != NULL ? range : "unknown");
    }
    if ((event->flags & SX_EVENT_NON_DEFAULT) != 0) {
        printf(json ? ",\"non_default\":true" : " non-default");
    }
    if ((event->flags & SX_EVENT_ENVIRONMENT) != 0) {
        printf(json ? ",\"environment\":true" : " environment");
    }
    if ((event->flags & SX_EVENT_ASK) != 0) {
        printf(json ? ",\"too_large\":true" : " (too large for the ring: the rest is not shown)");
    }
}

static void rest_print(const struct sx_opened *body, const pmix_info_t *info, size_t ninfo,
                       bool json)
{
    const struct sx_event *const event = body->head;
    const struct sx_opened_part *const source = &body->parts[SX_EVENT_SOURCE];

    printf(json ? ",\"source\":" : " from ");
    proc_print((const char *)source->at, source->size, event->source_rank, json);
    procs_print(body->parts[SX_EVENT_TARGETS], json ? "targets" : "for", json);
    procs_print(body->parts[SX_EVENT_AFFECTED], json ? "affected" : "about", json);
    infos_print(info, ninfo, json);
}

bool sx_events_print(const uint8_t *bytes, size_t size, bool json)
{
    const struct sx_event *const event = (const void *)bytes;
    const bool is_whole = (event->flags & SX_EVENT_ASK) == 0;
    struct sx_opened body;
    pmix_info_t *info = NULL;
    size_t ninfo = 0;

    if (is_whole && (sx_event_lay(&body, bytes, size) != NULL ||
                     sx_body_infos(&body, SX_EVENT_INFOS, &info, &ninfo) != PMIX_SUCCESS)) {
        return false;
    }
    head_print(event, json);
    if (is_whole) {
        rest_print(&body, info, ninfo, json);
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    printf(json ? "}\n" : "\n");
    return true;
}

void sx_events_lost_print(uint64_t first, uint64_t count, bool json)
{
    printf(json ? "{\"lost\":%" PRIu64 ",\"number\":%" PRIu64 "}\n"
                : "(%" PRIu64 " events are lost, from number %" PRIu64 " on)\n",
           count, first);
}
