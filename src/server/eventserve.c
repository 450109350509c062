/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* eventserve.c - pick the kept events that a client may have and has asked for.
 *
 *     registration --codes nobody asked the host for yet--> ASKING --its answers--> answered
 *            \-------------------none---------------------------------------------^
 *
 * A refusal of the host is the registration's: then it wants nothing of it.  A host that cannot
 * (PMIX_ERR_NOT_SUPPORTED, no entry) refuses nothing: events of this node come all the same.  One
 * that says nothing for SX_ASKING_NS is not waited for any longer. */
#include "server/eventserve.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/connection.h"
#include "server/event.h"
#include "server/host.h"

#define SX_ASKING_NS (10 * SX_NS_PER_SEC)

/* ---- the answer's body --------------------------------------------------------------------- */

struct answer {
    char *bytes; /* struct sx_event_list and the events; NULL: memory ran out */
    size_t size, capacity;
};

static struct sx_event_list *answer_head(struct answer *answer)
{
    return (struct sx_event_list *)(void *)answer->bytes;
}

/* Return: room for @size more bytes, NULL when memory is out. */
static char *answer_room(struct answer *answer, size_t size)
{
    if (size > answer->capacity - answer->size) {
        const size_t capacity = 2 * (answer->capacity + size);
        char *grown = realloc(answer->bytes, capacity);

        if (grown == NULL) {
            return NULL;
        }
        answer->bytes = grown;
        answer->capacity = capacity;
    }
    answer->size += size;
    return answer->bytes + answer->size - size;
}

static pmix_status_t answer_begin(struct answer *answer)
{
    memset(answer, 0, sizeof(*answer));
    answer->capacity = 4096;
    answer->bytes = malloc(answer->capacity);
    if (answer->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    answer->size = sizeof(struct sx_event_list);
    memset(answer->bytes, 0, answer->size);
    return PMIX_SUCCESS;
}

static pmix_status_t answer_add(struct answer *answer, const struct sx_event_entry *entry)
{
    const uint64_t length = entry->block->size;
    const size_t padded = (size_t)sx_align_up(length, 8);
    char *at = answer_room(answer, sizeof(length) + padded);

    if (at == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(at, &length, sizeof(length));
    memcpy(at + sizeof(length), entry->block->bytes, length);
    memcpy(at + sizeof(length) + offsetof(struct sx_event, number), &entry->number,
           sizeof(entry->number));
    memset(at + sizeof(length) + length, 0, padded - length);
    answer_head(answer)->count++;
    return PMIX_SUCCESS;
}

static void answer_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                        pmix_status_t rc, struct answer *answer)
{
    if (rc == PMIX_SUCCESS) {
        sx_connection_reply_body(server, client, id, rc, answer->bytes, answer->size);
    } else {
        sx_connection_reply(server, client, id, rc, -1);
    }
    free(answer->bytes);
}

/* ---- registrations ------------------------------------------------------------------------- */

struct registration {
    uint64_t upto;
    bool environment;
    int32_t *codes; /* sorted; NULL: a default handler */
    size_t code_count;
    size_t wanted; /* that many of them are counted */
    int32_t *ask;  /* those that the host has to be asked for */
    size_t ask_count;
};

static void registration_free(struct registration *registration)
{
    free(registration->codes);
    free(registration->ask);
}

static int codes_order(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;

    return left < right ? -1 : left > right;
}

/* Return: false for a breach; memory may still be out (*ret_rc). */
static bool registration_read(struct registration *registration, const struct sx_frame *frame,
                              pmix_status_t *ret_rc)
{
    struct sx_event_register given;

    memcpy(&given, frame->body, sizeof(given));
    const size_t left = frame->body_size - sizeof(given);

    *ret_rc = PMIX_SUCCESS;
    if (given.code_count > left / sizeof(int32_t)) {
        return false;
    }
    *registration = (struct registration){
        .upto = given.upto,
        .environment = (given.flags & SX_EVENT_REGISTER_ENVIRONMENT) != 0,
        .code_count = given.code_count,
    };
    if (given.code_count > 0) {
        const size_t size = given.code_count * sizeof(int32_t);

        registration->codes = malloc(size);
        if (registration->codes == NULL) {
            *ret_rc = PMIX_ERR_OUT_OF_RESOURCE;
            return true;
        }
        memcpy(registration->codes, (const char *)frame->body + sizeof(given), size);
        qsort(registration->codes, given.code_count, sizeof(int32_t), codes_order);
    }
    return true;
}

/* The handler is called once for an event, however often its list names the code. */
static void registration_unique(struct registration *registration)
{
    size_t kept = 0;

    for (size_t i = 0; i < registration->code_count; i++) {
        if (kept == 0 || registration->codes[kept - 1] != registration->codes[i]) {
            registration->codes[kept++] = registration->codes[i];
        }
    }
    registration->code_count = kept;
}

static bool is_wanted(const struct registration *registration, const struct sx_client *client,
                      const struct sx_event_entry *entry)
{
    const struct sx_event *event = sx_event_block_head(entry->block);

    if (event->flags & SX_EVENT_DO_NOT_CACHE) {
        return false; /* kept for its size only */
    }
    if (registration->code_count == 0
            ? (event->flags & SX_EVENT_NON_DEFAULT) != 0
            : bsearch(&event->code, registration->codes, registration->code_count, sizeof(int32_t),
                      codes_order) == NULL) {
        return false;
    }
    return sx_event_block_aims_at(entry->block, client->nspace->name, client->rank);
}

/* The kept events up to number upto.  *ret_seq: the last record that the client has had. */
static pmix_status_t answer_kept(struct answer *answer, const struct sx_client *client,
                                 const struct registration *registration, uint64_t *ret_seq)
{
    const struct sx_eventlog *const log = &client->nspace->events;
    const pmix_status_t *const code = registration->code_count == 1 ? registration->codes : NULL;
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry = NULL;
    pmix_status_t rc = answer_begin(answer);

    if (registration->upto < log->newest) {
        sx_eventlog_seek(&cursor, log, registration->upto + 1);
        entry = sx_eventlog_next(&cursor);
    }
    *ret_seq = entry == NULL ? client->nspace->event_seq_last : entry->seq - 1;
    sx_eventlog_seek(&cursor, log, 0);
    entry = NULL;
    while (rc == PMIX_SUCCESS) {
        entry = code == NULL ? sx_eventlog_next(&cursor) : sx_eventlog_next_of(log, *code, entry);
        if (entry == NULL || entry->number > registration->upto) {
            break;
        }
        if (is_wanted(registration, client, entry)) {
            rc = answer_add(answer, entry);
        }
    }
    return rc;
}

/* The host's answers are in, or were not needed. */
static void registration_end(struct sx_server *server, struct sx_client *client, uint32_t frame_id,
                             struct registration *registration, pmix_status_t rc)
{
    struct answer answer = { .bytes = NULL };
    uint64_t seq = 0;

    /* What the host did when it was asked may have ended it. */
    if (client->state == SX_CLIENT_CONNECTED) {
        if (rc != PMIX_SUCCESS) {
            for (size_t i = 0; i < registration->wanted; i++) {
                sx_event_code_unwanted(server, client, registration->codes[i],
                                       registration->environment);
            }
        } else {
            rc = answer_kept(&answer, client, registration, &seq);
        }
        answer_send(server, client, frame_id, rc, &answer);
        if (rc == PMIX_SUCCESS) {
            sx_event_client_read(server, client, seq);
        }
    }
    registration_free(registration);
}

/* ---- asking the host ----------------------------------------------------------------------- */

struct asking {
    struct sx_list link; /* server.event_askings */
    struct sx_server *server;
    struct sx_client *client; /* retained */
    uint32_t frame_id;
    uint64_t id;
    struct sx_timer timer;
    struct registration registration;
};

static void asking_free(struct asking *asking)
{
    sx_list_remove(&asking->link);
    sx_timer_remove(&asking->timer);
    sx_client_release(asking->client);
    free(asking);
}

static void asking_end(struct asking *asking, pmix_status_t rc)
{
    registration_end(asking->server, asking->client, asking->frame_id, &asking->registration, rc);
    asking_free(asking);
}

void sx_event_askings_drop(struct sx_server *server, const struct sx_client *client)
{
    SX_LIST_EACH(it, &server->event_askings) {
        struct asking *asking = SX_LIST_ENTRY(it, struct asking, link);

        if (client == NULL || asking->client == client) {
            registration_free(&asking->registration);
            asking_free(asking);
        }
    }
}

static void asking_late(void *arg, uint64_t now_ns)
{
    struct asking *asking = arg;

    (void)now_ns;
    sx_log(SX_LOG_WARN,
           "the host does not answer register_events: the handler of %s.%u is "
           "registered without its word",
           asking->client->nspace->name, asking->client->rank);
    asking_end(asking, PMIX_SUCCESS);
}

/* What the host said of all the codes it was asked for. */
static void asking_judge(struct asking *asking, pmix_status_t status)
{
    struct registration *registration = &asking->registration;
    pmix_status_t rc = status < 0 ? status : PMIX_ERR_EVENT_REGISTRATION;

    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED ||
        status == PMIX_ERR_NOT_SUPPORTED || status == PMIX_ERR_NOT_IMPLEMENTED) {
        rc = PMIX_SUCCESS;
    }
    for (size_t i = 0; rc != PMIX_SUCCESS && i < registration->ask_count; i++) {
        sx_event_code_refused(asking->server, registration->ask[i]);
    }
    asking_end(asking, rc);
}

/* The asking may have been dropped meanwhile. */
static void asking_answered(struct sx_server *server, uint64_t id, pmix_status_t status)
{
    SX_LIST_EACH(it, &server->event_askings) {
        struct asking *asking = SX_LIST_ENTRY(it, struct asking, link);

        if (asking->id == id) {
            asking_judge(asking, status);
            return;
        }
    }
}

static void host_answered(struct sx_server *server, uint64_t id, struct sx_client *client,
                          const struct sx_host_answer *answer)
{
    (void)client;
    asking_answered(server, id, answer->status);
}

/* @registration is the callee's. */
static void asking_begin(struct sx_server *server, struct sx_client *client, uint32_t frame_id,
                         const struct registration *registration, uint64_t now_ns)
{
    struct asking *asking = calloc(1, sizeof(*asking));

    if (asking == NULL) {
        struct registration copy = *registration;

        for (size_t i = 0; i < copy.ask_count; i++) {
            sx_event_code_refused(server, copy.ask[i]);
        }
        registration_end(server, client, frame_id, &copy, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    *asking = (struct asking){
        .server = server,
        .client = sx_client_retain(client),
        .frame_id = frame_id,
        .id = ++server->serial,
        .timer = { .fn = asking_late, .arg = asking },
        .registration = *registration,
    };
    sx_list_append(&server->event_askings, &asking->link);
    (void)sx_timer_add(server->loop, &asking->timer, now_ns + SX_ASKING_NS);
    const uint64_t id = asking->id;
    const pmix_status_t rc = sx_host_register_events(server, registration->ask,
                                                     registration->ask_count, client->uid,
                                                     client->gid, id, host_answered);

    if (rc != PMIX_SUCCESS) {
        asking_answered(server, id, rc);
    }
}

/* Return: PMIX_SUCCESS, with the codes that the host has to be asked for set aside. */
static pmix_status_t codes_want(struct sx_server *server, struct sx_client *client,
                                struct registration *registration)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (registration->code_count > 0) {
        registration->ask = malloc(registration->code_count * sizeof(*registration->ask));
        rc = registration->ask != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    while (rc == PMIX_SUCCESS && registration->wanted < registration->code_count) {
        const pmix_status_t code = registration->codes[registration->wanted];
        bool ask = false;

        rc = sx_event_code_wanted(server, client, code, registration->environment, &ask);
        registration->wanted += rc == PMIX_SUCCESS;
        if (ask) {
            registration->ask[registration->ask_count++] = code;
        }
    }
    for (size_t i = 0; rc != PMIX_SUCCESS && i < registration->ask_count; i++) {
        sx_event_code_refused(server, registration->ask[i]); /* it never was asked */
    }
    return rc;
}

bool sx_event_on_register(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct registration registration = { .codes = NULL };
    pmix_status_t rc;

    if (!registration_read(&registration, frame, &rc)) {
        return false;
    }
    if (rc == PMIX_SUCCESS) {
        registration_unique(&registration);
        rc = codes_want(server, client, &registration);
    }
    if (rc == PMIX_SUCCESS && registration.ask_count > 0) {
        asking_begin(server, client, frame->header.id, &registration, now_ns);
    } else {
        registration_end(server, client, frame->header.id, &registration, rc);
    }
    return true;
}

bool sx_event_on_deregister(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns)
{
    struct registration registration = { .codes = NULL };
    pmix_status_t rc;

    (void)now_ns;
    if (!registration_read(&registration, frame, &rc)) {
        return false;
    }
    if (rc == PMIX_SUCCESS) {
        registration_unique(&registration);
        for (size_t i = 0; i < registration.code_count; i++) {
            sx_event_code_unwanted(server, client, registration.codes[i], registration.environment);
        }
    }
    sx_connection_reply(server, client, frame->header.id, rc, -1);
    registration_free(&registration);
    return true;
}

/* ---- replay -------------------------------------------------------------------------------- */

bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_eventlog *log = &client->nspace->events;
    struct sx_event_replay wanted;
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;
    struct answer answer = { .bytes = NULL };
    uint64_t found = 0;
    pmix_status_t rc = answer_begin(&answer);

    (void)now_ns;
    memcpy(&wanted, frame->body, sizeof(wanted));
    const bool one = (wanted.first & SX_EVENT_REPLAY_ONE) != 0;
    wanted.first &= ~SX_EVENT_REPLAY_ONE;
    wanted.first = wanted.first == 0 ? 1 : wanted.first;
    wanted.last = wanted.last > log->newest ? log->newest : wanted.last;
    sx_eventlog_seek(&cursor, log, wanted.first);
    while (rc == PMIX_SUCCESS && (entry = sx_eventlog_next(&cursor)) != NULL &&
           entry->number <= wanted.last) {
        found++;
        if (sx_event_block_aims_at(entry->block, client->nspace->name, client->rank)) {
            rc = answer_add(&answer, entry);
            wanted.last = one ? entry->number : wanted.last;
        }
    }
    if (rc == PMIX_SUCCESS && wanted.first <= wanted.last) {
        answer_head(&answer)->lost = wanted.last - wanted.first + 1 - found;
    }
    answer_send(server, client, frame->header.id, rc, &answer);
    return true;
}
