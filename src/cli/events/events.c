/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.c - `shmix events`: follow the events of a running job in its ring.
 *
 *     find the ring --> print wanted events --> sleep on the ring's doors --> ... --> the end
 *
 * The command reads like a rank without being one: it sends the server no request, so it works if
 * the server is stopped, and costs it nothing.  It ends when the job's server does. */
#include "cli/events/events.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/value/names.h"
#include "cli/value.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "ring/bell.h"
#include "ring/record.h"

/* ---- print ----------------------------------------------------------------------------------- */

/* One event as a line of text, or of JSON.
 *
 * The publisher's bytes are never trusted to be printable.  In text every byte is escaped that is
 * not printable ASCII, in JSON those that launch/common/say.h names. */

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

/* Print the event in @bytes (at a multiple of 8: struct sx_event and the data behind it).  Return:
 * false, and nothing is printed, when the bytes contradict themselves. */
static bool event_print(const uint8_t *bytes, size_t size, bool json)
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

/* Report that @count events from number @first on are lost. */
static void lost_print(uint64_t first, uint64_t count, bool json)
{
    printf(json ? "{\"lost\":%" PRIu64 ",\"number\":%" PRIu64 "}\n"
                : "(%" PRIu64 " events are lost, from number %" PRIu64 " on)\n",
           count, first);
}

/* ---- events ---------------------------------------------------------------------------------- */

#define SINCE_NOW UINT64_MAX

struct wish {
    struct sx_whose whose;
    bool json;
    int64_t code, source, range; /* SX_EVENTS_ANY: all */
    uint64_t since;              /* the number of an event; 0: the oldest */
    int64_t count;               /* 0: no end */
    uint64_t timeout_ns;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool set_since(void *at, const char *value)
{
    uint64_t *const since = at;
    int64_t number = 0;

    if (strcmp(value, "now") == 0) {
        *since = SINCE_NOW;
        return true;
    }
    const bool good = strcmp(value, "oldest") == 0 || sx_cli_number(value, 1, INT64_MAX, &number);

    *since = (uint64_t)number;
    return good;
}

static bool set_count(void *at, const char *value)
{
    return sx_cli_number(value, 1, INT64_MAX, at);
}

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--since", NULL, "now|oldest|N", "oldest", "now, oldest, or the number of an event from 1 on",
      "begin with what is published from here on (now, the default), with the oldest event in the "
      "ring, or with event number N",
      set_since, OF(since) },
    { "--code", NULL, "CODE", "PMIX_ERR_PROC_ABORTED", "a number, or the name of a status",
      "only this code: a number, or a name as PMIX_ERR_PROC_ABORTED", sx_events_code_set,
      OF(code) },
    { "--source", NULL, "RANK", "0", "a rank, from 0 on", "only what this rank has published",
      sx_events_rank_set, OF(source) },
    { "--range", NULL, "RANGE", "namespace",
      "rm, local, namespace, session, global, custom, proc-local or undefined",
      "only of this range: rm, local, namespace, session, global, custom, "
      "proc-local or undefined",
      sx_events_range_set, OF(range) },
    { "--count", NULL, "N", "1", "a number of events from 1 on", "end after N events", set_count,
      OF(count) },
    { "--timeout", NULL, "SECONDS", "0.5", "seconds, from 0 to 100000000",
      "end after this time, 0.5 is half a second", sx_cli_seconds, OF(timeout_ns) },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag, OF(json) },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix events [options] [NAMESPACE | PID]\n"
    "       shmix events inject CODE ... (see shmix events inject --help)\n"
    "\n"
    "Print the events of a running job, one a line, as they are published, until the job ends.\n"
    "The job is the one that NAMESPACE or the process id of its server (shmix run) names, else\n"
    "the one that this command runs in, or the only one here. You must be its user, or root.\n"
    "\n";

static const char more[] =
    "\n"
    "Exit code: 0; 1 when there is no such job, or --timeout came before --count; 2 for a wrong\n"
    "option.\n";

const struct sx_verb sx_events_verb = {
    .name = "shmix events",
    .try_begin = "shmix events",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- following ------------------------------------------------------------------------------- */

struct tail {
    const struct wish *wish;
    const struct sx_events_job *job;
    struct sx_ring_cursor cursor;
    uint64_t expected; /* number of the next event; 0: any */
    int64_t printed;
    _Alignas(8) uint8_t record[SX_RING_RECORD_MAX];
};

static bool is_wanted(const struct wish *wish, const struct sx_event *event)
{
    return (wish->code == SX_EVENTS_ANY || event->code == wish->code) &&
           (wish->source == SX_EVENTS_ANY || event->source_rank == wish->source) &&
           (wish->range == SX_EVENTS_ANY || event->range == wish->range);
}

/* Process the record in the copy.  Return: false to stop: the ring contradicts itself. */
static bool record_take(struct tail *tail)
{
    const struct sx_record_header *const header = (const void *)tail->record;
    const uint8_t *const bytes = tail->record + sizeof(*header);
    struct sx_event event;

    if (header->kind != SX_RECORD_EVENT || header->size_bytes < sizeof(*header) + sizeof(event)) {
        return true;
    }
    memcpy(&event, bytes, sizeof(event));
    if (tail->expected != 0 && event.number < tail->expected) {
        return true;
    }
    if (tail->expected != 0 && event.number > tail->expected) {
        lost_print(tail->expected, event.number - tail->expected, tail->wish->json);
    }
    tail->expected = event.number + 1;
    if (is_wanted(tail->wish, &event)) {
        if (!event_print(bytes, header->size_bytes - sizeof(*header), tail->wish->json)) {
            sx_say("event %" PRIu64 " contradicts itself", event.number);
            return false;
        }
        tail->printed++;
    }
    return true;
}

static bool is_full(const struct tail *tail)
{
    return tail->wish->count != 0 && tail->printed >= tail->wish->count;
}

/* Print the events in the ring.  Return: false to stop. */
static bool drain(struct tail *tail)
{
    uint64_t lost;

    while (!is_full(tail)) {
        const pmix_status_t rc = sx_ring_next(&tail->cursor, SX_CLASSES_OF_EVENTS, tail->record,
                                              &lost);

        if (rc == PMIX_ERR_NOT_FOUND) {
            return fflush(stdout) == 0;
        }
        if (rc == PMIX_SUCCESS && !record_take(tail)) {
            return false;
        }
        if (rc != PMIX_SUCCESS && rc != SX_RING_LOST) { /* the next event shows the loss */
            sx_say("the ring of the job contradicts itself");
            return false;
        }
    }
    return fflush(stdout) == 0;
}

struct tail_sleep {
    struct sx_bell_watch watch[SX_RING_CLASS_MAX + 1];
    const struct sx_door *doors[SX_RING_CLASS_MAX];
    size_t count;
};

/* Sleep on the doors of the wanted classes, and on the server's life word.  Events for one rank are
 * in the class of that rank, with any code. */
static void tail_sleep_prepare(struct tail_sleep *sleep, const struct tail *tail)
{
    const struct sx_ring_header *const header = tail->job->ring.header;
    const uint32_t classes = tail->wish->code != SX_EVENTS_ANY
                                 ? SX_CLASSES_OF_RANKS | 1u << SX_CLASS_OF_CODE(tail->wish->code)
                                 : SX_CLASSES_OF_EVENTS;

    sleep->count = 0;
    for (uint32_t i = 1; i < SX_RING_CLASS_MAX; i++) {
        if ((classes >> i & 1) != 0) {
            sleep->doors[sleep->count] = &header->doors[i];
            sleep->watch[sleep->count++] = sx_door_watch(&header->doors[i]);
        }
    }
    sleep->watch[sleep->count] = (struct sx_bell_watch){
        .word = tail->job->board.life_word,
        .seen = sx_board_life_seen(&tail->job->board),
    };
}

static pmix_status_t tail_sleep_until(const struct tail_sleep *sleep, uint64_t deadline_ns)
{
    const pmix_status_t rc = sx_bell_wait(sleep->watch, sleep->count + 1, SX_BELL_ALL, deadline_ns);

    for (size_t i = 0; i < sleep->count; i++) {
        sx_door_pass_on(sleep->doors[i], &sleep->watch[i], SX_BELL_ALL);
    }
    return rc;
}

static int follow(struct tail *tail)
{
    const struct wish *const wish = tail->wish;
    const uint64_t deadline_ns = wish->timeout_ns == SX_DEADLINE_NEVER
                                     ? SX_DEADLINE_NEVER
                                     : sx_deadline_ns(sx_now_ns(), wish->timeout_ns);
    bool over = false;

    for (;;) {
        struct tail_sleep sleep;
        /* Checked before reading: events published before the end are still printed. */
        const bool lives = sx_board_server_lives(&tail->job->board);

        tail_sleep_prepare(&sleep, tail);
        if (!drain(tail)) {
            return SX_EXIT_FAILURE;
        }
        if (is_full(tail) || !lives) {
            return 0;
        }
        if (over) {
            return wish->count != 0 ? SX_EXIT_FAILURE : 0;
        }
        over = tail_sleep_until(&sleep, deadline_ns) == PMIX_ERR_TIMEOUT;
    }
}

int sx_cli_events(char **words)
{
    struct wish wish = { .code = SX_EVENTS_ANY,
                         .source = SX_EVENTS_ANY,
                         .range = SX_EVENTS_ANY,
                         .since = SINCE_NOW,
                         .timeout_ns = SX_DEADLINE_NEVER };
    struct sx_events_job job;
    struct tail tail = { .wish = &wish, .job = &job };

    if (words[0] != NULL && strcmp(words[0], "inject") == 0) {
        return sx_cli_events_inject(words + 1);
    }
    int code = sx_options_take(&sx_events_verb, &wish, NULL, &words);
    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (!sx_events_find(&wish.whose, &job)) {
        return SX_EXIT_FAILURE;
    }
    if (wish.since == SINCE_NOW) {
        sx_ring_seek_now(&tail.cursor, &job.ring);
    } else {
        sx_ring_seek_oldest(&tail.cursor, &job.ring);
        tail.expected = wish.since;
    }
    code = follow(&tail);
    sx_events_job_close(&job);
    return code;
}
