/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* eventserve.c - pick the kept events that a client may have and has asked for. */
#include "server/eventserve.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/event.h"
#include "server/eventanswer.h"
#include "server/eventask.h"
#include "server/reply.h"

/* ---- registrations ------------------------------------------------------------------------- */

struct registration {
    struct sx_event_want want;
    uint32_t frame_id;
    uint64_t upto;
    bool environment;
    int32_t *codes; /* sorted; NULL: a default handler */
    size_t code_count;
};

static void registration_free(struct registration *registration)
{
    free(registration->codes);
    free(registration);
}

static int codes_order(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;

    return left < right ? -1 : left > right;
}

/* The handler is called once for an event, however often its list names the code. */
static void registration_unique(struct registration *registration)
{
    size_t kept = 0;

    qsort(registration->codes, registration->code_count, sizeof(int32_t), codes_order);
    for (size_t i = 0; i < registration->code_count; i++) {
        if (kept == 0 || registration->codes[kept - 1] != registration->codes[i]) {
            registration->codes[kept++] = registration->codes[i];
        }
    }
    registration->code_count = kept;
}

/* Return: false for a breach.  *ret is NULL when memory is out. */
static bool registration_read(const struct sx_frame *frame, struct registration **ret)
{
    struct registration *registration = NULL;
    struct sx_event_register given;

    *ret = NULL;
    memcpy(&given, frame->body, sizeof(given));
    if (given.code_count > (frame->body_size - sizeof(given)) / sizeof(int32_t)) {
        return false;
    }
    registration = calloc(1, sizeof(*registration));
    if (registration == NULL) {
        return true;
    }
    registration->frame_id = frame->header.id;
    registration->upto = given.upto;
    registration->environment = (given.flags & SX_EVENT_REGISTER_ENVIRONMENT) != 0;
    registration->code_count = given.code_count;
    if (given.code_count > 0) {
        registration->codes = malloc(given.code_count * sizeof(int32_t));
        if (registration->codes == NULL) {
            free(registration);
            return true;
        }
        memcpy(registration->codes, (const char *)frame->body + sizeof(given),
               given.code_count * sizeof(int32_t));
        registration_unique(registration);
    }
    *ret = registration;
    return true;
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
static pmix_status_t answer_kept(struct sx_event_answer *answer, const struct sx_client *client,
                                 const struct registration *registration, uint64_t *ret_seq)
{
    const struct sx_eventlog *const log = &client->nspace->events;
    const pmix_status_t *const code = registration->code_count == 1 ? registration->codes : NULL;
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry = NULL;
    pmix_status_t rc = sx_event_answer_init(answer);

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
            rc = sx_event_answer_add(answer, entry, 0);
        }
    }
    return rc;
}

/* The host's word is in, or was not needed. */
static void registration_end(struct sx_event_want *want, pmix_status_t rc)
{
    struct registration *registration = SX_CONTAINER(want, struct registration, want);
    struct sx_client *client = want->client;
    struct sx_event_answer answer = SX_EVENT_ANSWER_NULL;
    uint64_t seq = 0;

    if (rc == PMIX_SUCCESS) {
        rc = answer_kept(&answer, client, registration, &seq);
    }
    sx_event_answer_send(want->server, client, registration->frame_id, rc, &answer);
    if (rc == PMIX_SUCCESS) {
        sx_event_client_read(want->server, client, seq);
    }
    registration_free(registration);
}

static void registration_drop(struct sx_event_want *want)
{
    registration_free(SX_CONTAINER(want, struct registration, want));
}

bool sx_event_on_register(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct registration *registration;

    if (!registration_read(frame, &registration)) {
        return false;
    }
    if (registration == NULL) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return true;
    }
    client->has_handlers = true;
    registration->want = (struct sx_event_want){
        .client = client,
        .codes = registration->codes,
        .code_count = registration->code_count,
        .environment = registration->environment,
        .ended = registration_end,
        .dropped = registration_drop,
    };
    sx_event_want(server, &registration->want, now_ns);
    return true;
}

bool sx_event_on_deregister(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns)
{
    struct registration *registration;

    (void)now_ns;
    if (!registration_read(frame, &registration)) {
        return false;
    }
    for (size_t i = 0; registration != NULL && i < registration->code_count; i++) {
        sx_event_code_unwanted(server, client, registration->codes[i], registration->environment);
    }
    sx_reply(server, client, frame->header.id,
             registration != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE, -1);
    if (registration != NULL) {
        registration_free(registration);
    }
    return true;
}
