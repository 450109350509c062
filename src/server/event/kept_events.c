/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kept_events.c - kept events, for handlers that are registered late and for lapped readers.
 *
 * The server keeps no state between answers: each contains the position at which the client
 * continues. */
#include "server/event/kept_events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/status.h"
#include "server/event/event.h"
#include "server/event/event_codes.h"
#include "server/model/family.h"
#include "server/model/share.h"
#include "server/port/port.h"

/* ---- an answer ------------------------------------------------------------------------------- */

/* A buffer that grows by one event at a time. */

#define FIRST_BYTES SX_FRAME_MAX

/* Write an empty list. */
static void begin(struct sx_event_answer *answer)
{
    answer->size = sizeof(struct sx_event_list);
    memset(answer->bytes, 0, answer->size);
}

pmix_status_t sx_event_answer_init(struct sx_event_answer *answer)
{
    *answer = (struct sx_event_answer){ .bytes = malloc(FIRST_BYTES), .capacity = FIRST_BYTES };
    if (answer->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    begin(answer);
    return PMIX_SUCCESS;
}

void sx_event_answer_deinit(struct sx_event_answer *answer)
{
    free(answer->bytes);
    if (answer->alone != NULL) {
        sx_event_block_release(answer->alone);
    }
    *answer = SX_EVENT_ANSWER_NULL;
}

/* Return: room for @size more bytes, NULL when memory is out. */
static char *answer_room(struct sx_event_answer *answer, size_t size)
{
    if (size > answer->capacity - answer->size) {
        const size_t capacity = 2 * (answer->capacity + size);
        char *const grown = realloc(answer->bytes, capacity);

        if (grown == NULL) {
            return NULL;
        }
        answer->bytes = grown;
        answer->capacity = capacity;
    }
    answer->size += size;
    return answer->bytes + answer->size - size;
}

/* The bytes that @entry takes in an answer. */
static size_t entry_size(const struct sx_event_entry *entry)
{
    return sizeof(struct sx_event_kept) + (size_t)sx_align_up(entry->block->size, 8);
}

/* Of the event that is alone, behind its head. */
static size_t alone_size(const struct sx_event_answer *answer)
{
    return answer->alone == NULL
               ? 0
               : (size_t)sx_align_up(answer->alone->size, 8) - sizeof(struct sx_event);
}

size_t sx_event_answer_size(const struct sx_event_answer *answer)
{
    return answer->size + alone_size(answer);
}

bool sx_event_answer_fits(const struct sx_event_answer *answer, const struct sx_event_entry *entry,
                          size_t bytes_max)
{
    return sx_event_answer_list(answer)->count == 0 ||
           sx_event_answer_size(answer) + entry_size(entry) <= bytes_max;
}

pmix_status_t sx_event_answer_add(struct sx_event_answer *answer,
                                  const struct sx_event_entry *entry, uint64_t lost)
{
    const struct sx_event_kept kept = { .size = entry->block->size, .lost = lost };
    const bool is_alone = entry_size(entry) > SX_EVENT_ALONE_BYTES &&
                          sx_event_answer_list(answer)->count == 0;
    const size_t copied = is_alone ? sizeof(struct sx_event) : kept.size;
    const size_t size = is_alone ? sizeof(kept) + copied : entry_size(entry);
    char *const room = answer_room(answer, size);

    if (room == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    char *const event = room + sizeof(kept);

    memcpy(room, &kept, sizeof(kept));
    memcpy(event, entry->block->bytes, copied);
    memcpy(event + offsetof(struct sx_event, number), &entry->number, sizeof(entry->number));
    memset(event + copied, 0, size - sizeof(kept) - copied);
    answer->alone = is_alone ? sx_event_block_retain(entry->block) : answer->alone;
    sx_event_answer_list(answer)->count++;
    return PMIX_SUCCESS;
}

bool sx_event_answer_send_part(struct sx_client *client, uint32_t id,
                               struct sx_event_answer *answer)
{
    const bool sent = sx_reply_part(client, id, answer->bytes, answer->size);

    if (sent) {
        begin(answer);
    }
    return sent;
}

void sx_event_answer_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                          pmix_status_t rc, struct sx_event_answer *answer)
{
    if (rc == PMIX_SUCCESS && answer->alone != NULL) {
        static char zeros[8];
        char *const rest = (char *)answer->alone->bytes + sizeof(struct sx_event);
        const size_t size = answer->alone->size - sizeof(struct sx_event);
        const struct iovec pieces[] = {
            { .iov_base = answer->bytes, .iov_len = answer->size },
            { .iov_base = rest, .iov_len = size },
            { .iov_base = zeros, .iov_len = alone_size(answer) - size },
        };

        sx_reply_pieces(server, client, id, rc, pieces, SX_COUNT(pieces));
    } else if (rc == PMIX_SUCCESS) {
        sx_reply_body(server, client, id, rc, answer->bytes, answer->size);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    sx_event_answer_deinit(answer);
}

/* ---- handlers that are registered late ------------------------------------------------------- */

/* Pick the kept events that a client may have and has asked for.
 *
 *     EVENT_REGISTER --the host's answer, where it is asked--> the newest of them
 *     EVENT_REGISTER with `before` ------------------------> the next older ones ... the oldest
 *
 * The newest events are sent first, and a log drops its oldest first, so a client gets a sequence
 * without a gap. */

/* The cost of an answer besides its frame. */
#define LOOKS_A_UNIT 16u
#define BYTES_A_UNIT 2048u

/* ---- registrations ------------------------------------------------------------------------- */

struct registration {
    struct sx_event_want want; /* its codes are sorted; no codes: a default handler */
    uint64_t upto, before;
};

static void registration_free(struct registration *registration)
{
    free(registration->want.codes);
    free(registration);
}

static int codes_order(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;

    return left < right ? -1 : left > right;
}

/* The handler is called once for an event, even if its list names the code twice. */
static void codes_unique(struct sx_event_want *want)
{
    size_t kept = 0;

    qsort(want->codes, want->code_count, sizeof(int32_t), codes_order);
    for (size_t i = 0; i < want->code_count; i++) {
        if (kept == 0 || want->codes[kept - 1] != want->codes[i]) {
            want->codes[kept++] = want->codes[i];
        }
    }
    want->code_count = kept;
}

/* Return: NULL when memory is out. */
static struct registration *registration_read(const struct sx_frame *frame)
{
    const struct sx_event_register *const given = frame->opened.head;
    const struct sx_opened_part *const codes = &frame->opened.parts[SX_REGISTER_CODES];
    struct registration *registration = calloc(1, sizeof(*registration));

    if (registration == NULL) {
        return NULL;
    }
    registration->upto = given->upto;
    registration->before = given->before;
    registration->want.environment = (given->flags & SX_EVENT_REGISTER_ENVIRONMENT) != 0;
    registration->want.code_count = codes->count;
    if (codes->count > 0) {
        registration->want.codes = malloc(codes->size);
        if (registration->want.codes == NULL) {
            free(registration);
            return NULL;
        }
        memcpy(registration->want.codes, codes->at, codes->size);
        codes_unique(&registration->want);
    }
    return registration;
}

static bool is_wanted(const struct registration *registration, const struct sx_client *client,
                      const struct sx_event_entry *entry)
{
    const struct sx_event *event = sx_event_block_head(entry->block);

    if (event->flags & SX_EVENT_DO_NOT_CACHE) {
        return false; /* the entry is kept for its size only */
    }
    if (registration->want.code_count == 0
            ? (event->flags & SX_EVENT_NON_DEFAULT) != 0
            : bsearch(&event->code, registration->want.codes, registration->want.code_count,
                      sizeof(int32_t), codes_order) == NULL) {
        return false;
    }
    return sx_event_block_aims_at(entry->block, client->nspace->name, client->rank);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* The position of the walk. */
struct walk {
    struct sx_eventlog_cursor cursor;
    const pmix_status_t *code; /* NULL: walk through all events; else through those of this code */
    struct sx_event_entry *entry;
    uint64_t looked; /* entries visited besides those of the cursor */
};

static uint64_t walk_looks(const struct walk *walk)
{
    return walk->cursor.visited + walk->looked;
}

/* The end of the last answer.  If that event has been dropped, only held events are left before
 * it. */
static void walk_begin(struct walk *walk, const struct registration *registration,
                       const struct sx_eventlog *log)
{
    uint64_t before = registration->upto == UINT64_MAX ? UINT64_MAX : registration->upto + 1;

    *walk = (struct walk){ .code = NULL };
    if (registration->before != 0 && registration->before < before) {
        before = registration->before;
    }
    sx_eventlog_seek(&walk->cursor, log, before);
    if (registration->want.code_count == 1) {
        walk->entry = sx_eventlog_find_of(log, registration->want.codes[0], registration->before);
        walk->code = registration->before == 0 || walk->entry != NULL ? registration->want.codes
                                                                      : NULL;
    }
}

/* Return: false before the first event. */
static bool walk_back(struct walk *walk)
{
    if (walk->code != NULL) {
        walk->entry = sx_eventlog_before_of(walk->cursor.log, *walk->code, walk->entry);
        walk->looked++;
    } else {
        walk->entry = sx_eventlog_before(&walk->cursor);
    }
    if (walk->entry != NULL) {
        walk->looked += sx_event_block_head(walk->entry->block)->target_count;
    }
    return walk->entry != NULL;
}

/* An answer that is being sent. */
struct outgoing {
    uint32_t id;                 /* id of the request */
    struct sx_event_answer rest; /* the part that has not been sent */
    size_t sent;                 /* bytes */
    bool in_frames;              /* so far the socket has accepted all parts at once */
};

/* Send the current part if @entry would not fit into the same frame; after that only events before
 * number @left remain.  One memfd with all of the rest would cost more than these frames, but it
 * can be sent at any time. */
static void frame_end(struct outgoing *out, struct sx_client *client,
                      const struct sx_event_entry *entry, uint64_t left)
{
    const size_t size = out->rest.size;

    if (out->in_frames && !sx_event_answer_fits(&out->rest, entry, SX_KEPT_FRAME_BYTES)) {
        sx_event_answer_list(&out->rest)->next = left;
        out->in_frames = sx_event_answer_send_part(client, out->id, &out->rest);
        out->sent += out->in_frames ? size : 0;
    }
}

/* Collect the kept events up to number upto, newest first, as many as one answer holds. */
static pmix_status_t answer_kept(struct outgoing *out, struct sx_client *client,
                                 const struct registration *registration, uint64_t *ret_looks)
{
    pmix_status_t rc = sx_event_answer_init(&out->rest);
    uint64_t left = 0;
    struct walk walk;

    walk_begin(&walk, registration, &client->home->events);
    while (rc == PMIX_SUCCESS && walk_back(&walk)) {
        const struct sx_event_entry *const entry = walk.entry;

        if (entry->number <= registration->upto && is_wanted(registration, client, entry)) {
            if (!sx_event_answer_fits(&out->rest, entry, SX_KEPT_BYTES_MAX - out->sent)) {
                break;
            }
            frame_end(out, client, entry, left);
            rc = sx_event_answer_add(&out->rest, entry, 0);
        }
        left = entry->number;
        if (walk_looks(&walk) >= SX_KEPT_LOOKS_MAX) {
            break;
        }
    }
    if (rc == PMIX_SUCCESS) {
        sx_event_answer_list(&out->rest)->next = walk.entry != NULL ? left : 0;
    }
    *ret_looks = walk_looks(&walk);
    return rc;
}

/* Return: the last record of its ring that the client had received when it asked. */
static uint64_t read_seq(const struct registration *registration, const struct sx_nspace *nspace)
{
    struct sx_eventlog_cursor cursor;
    const struct sx_event_entry *entry = NULL;

    if (registration->upto < nspace->events.newest) {
        sx_eventlog_seek(&cursor, &nspace->events, registration->upto + 1);
        entry = sx_eventlog_next(&cursor);
    }
    return entry == NULL ? nspace->event_seq_last : entry->seq - 1;
}

static void registration_answer(struct sx_server *server, struct sx_client *client, uint32_t id,
                                const struct registration *registration, pmix_status_t rc)
{
    struct outgoing out = { .id = id, .rest = SX_EVENT_ANSWER_NULL, .in_frames = true };
    uint64_t looks = 0;
    bool all = false;

    if (rc == PMIX_SUCCESS) {
        rc = answer_kept(&out, client, registration, &looks);
        all = rc == PMIX_SUCCESS && sx_event_answer_list(&out.rest)->next == 0;
        sx_share_charge(server, client,
                        looks / LOOKS_A_UNIT +
                            (out.sent + sx_event_answer_size(&out.rest)) / BYTES_A_UNIT);
    }
    sx_event_answer_send(server, client, id, rc, &out.rest);
    if (all) {
        sx_event_client_read(server, client, read_seq(registration, client->home));
    }
}

static struct registration *registration_of(struct sx_pending *pending)
{
    return SX_CONTAINER(pending, struct registration, want.pending);
}

/* The host has answered, or was not needed. */
static void registration_send(struct sx_pending *pending)
{
    registration_answer(pending->server, pending->client, pending->id, registration_of(pending),
                        pending->status);
}

static void registration_end(struct sx_pending *pending)
{
    registration_free(registration_of(pending));
}

static const struct sx_pending_kind registration_kind = { .quota = SX_PENDING_REGISTRATION,
                                                          .closed = sx_event_want_closed,
                                                          .send = registration_send,
                                                          .free = registration_end };

bool sx_event_on_register(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct registration *const registration = registration_read(frame);

    if (registration == NULL) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return true;
    }
    if (registration->before != 0) { /* the handler is registered already */
        registration_answer(server, client, frame->header.id, registration, PMIX_SUCCESS);
        registration_free(registration);
        return true;
    }
    client->has_handlers = true;
    const pmix_status_t rc = sx_pending_begin(server, client, frame->header.id, &registration_kind,
                                              &registration->want.pending);

    if (rc != PMIX_SUCCESS) {
        registration_free(registration);
        sx_reply(server, client, frame->header.id, rc, -1);
        return true;
    }
    sx_event_want(&registration->want, now_ns);
    return true;
}

bool sx_event_on_deregister(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns)
{
    struct registration *const registration = registration_read(frame);

    (void)now_ns;
    for (size_t i = 0; registration != NULL && i < registration->want.code_count; i++) {
        sx_event_code_unwanted(server, client, registration->want.codes[i],
                               registration->want.environment);
    }
    sx_reply(server, client, frame->header.id,
             registration != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE, -1);
    if (registration != NULL) {
        registration_free(registration);
    }
    return true;
}

/* ---- lapped readers -------------------------------------------------------------------------- */

/* A walk through the log from the reader's position, until a frame is full.
 *
 * The server keeps no state between answers: each answer contains the position at which the reader
 * continues.  A number that is missing from the log is lost; one that is for other processes is
 * skipped. */

/* The position of the walk. */
struct replay {
    struct sx_eventlog_cursor cursor;
    uint64_t next;        /* the next number to visit */
    uint64_t lost;        /* events lost since the last event of the answer ... */
    uint64_t lost_before; /* ... and before that */
    uint64_t last;
    uint64_t targets; /* targets that were compared */
};

static uint64_t replay_looks(const struct replay *walk)
{
    return walk->cursor.visited + walk->targets;
}

/* All numbers below @before have been handled. */
static void replay_pass(struct replay *walk, uint64_t before)
{
    walk->lost += before - walk->next;
    walk->next = before;
}

/* Return: PMIX_SUCCESS to continue; PMIX_ERR_NOT_FOUND when nothing more fits, or the log ends. */
static pmix_status_t replay_on(struct replay *walk, const char *nspace, uint32_t rank,
                               struct sx_event_answer *answer)
{
    const struct sx_event_entry *const entry = sx_eventlog_next(&walk->cursor);
    pmix_status_t rc = PMIX_SUCCESS;

    if (entry == NULL || entry->number > walk->last) {
        replay_pass(walk, walk->last + 1);
        return PMIX_ERR_NOT_FOUND;
    }
    const bool is_for_it = sx_event_block_aims_at(entry->block, nspace, rank);

    if (is_for_it && !sx_event_answer_fits(answer, entry, SX_KEPT_FRAME_BYTES)) {
        return PMIX_ERR_NOT_FOUND;
    }
    walk->targets += sx_event_block_head(entry->block)->target_count;
    replay_pass(walk, entry->number);
    if (is_for_it) {
        rc = sx_event_answer_add(answer, entry, walk->lost);
        walk->lost_before += walk->lost;
        walk->lost = 0;
    }
    walk->next++;
    return rc;
}

pmix_status_t sx_event_replay(const struct sx_eventlog *log, const char *nspace, uint32_t rank,
                              const struct sx_event_replay *wanted, struct sx_event_answer *answer,
                              struct sx_event_replayed *ret)
{
    struct replay walk = { .next = wanted->first == 0 ? 1 : wanted->first,
                           .last = wanted->last < log->newest ? wanted->last : log->newest };
    pmix_status_t rc = walk.next <= walk.last ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    sx_eventlog_seek(&walk.cursor, log, walk.next);
    while (rc == PMIX_SUCCESS && replay_looks(&walk) < SX_REPLAY_LOOKS_MAX) {
        rc = replay_on(&walk, nspace, rank, answer);
    }
    sx_event_answer_list(answer)->next = walk.next;
    sx_event_answer_list(answer)->lost = walk.lost;
    *ret = (struct sx_event_replayed){ .next = walk.next,
                                       .lost = walk.lost_before + walk.lost,
                                       .looks = replay_looks(&walk) };
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_event_replay *const wanted = frame->opened.head;
    struct sx_event_replayed replayed = { .lost = 0 };
    struct sx_event_answer answer;
    pmix_status_t rc = sx_event_answer_init(&answer);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_replay(&client->home->events, client->nspace->name, client->rank, wanted,
                             &answer, &replayed);
    }
    sx_event_answer_send(server, client, frame->header.id, rc, &answer);
    if (replayed.lost > 0) {
        SX_FAMILIES_NOTIFY_OF(server, events_missed, client, wanted->first, replayed.next);
    }
    return true;
}
