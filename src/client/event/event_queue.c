/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_queue.c - events as bytes until a handler is to be called, and what the pump puts there.
 *
 *     the ring, this process --> events --\
 *     kept ones for a late handler --> late --in turns--> handed out
 *
 * A late handler gets all its kept events before any newer one.  Beyond that neither queue waits
 * for the other, so a handler that is registered again and again delays only itself.
 *
 * Items are checked when they are taken out.  An item of the server that contradicts itself is
 * dropped with one line, and becomes an own event, PMIX_ERR_COMM_FAILURE.  A range of missing
 * numbers (a lapped reader, or an event too large for a record) waits in the queue like an event.
 * At its turn the server is asked for the first part of the range; the rest waits behind that part.
 * Events that the server no longer has become an own event, SHMIX_ERR_EVENTS_LOST, with the
 * count. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/call/chain.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "client/event/event.h"
#include "client/event/event_state.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "ring/record.h"

/* ---- in -------------------------------------------------------------------------------------- */

static void item_run(struct sx_task *task);

static void range_add_locked(struct sx_link *link, uint64_t first, uint64_t last)
{
    struct sx_event_item *item = first <= last ? sx_event_item_new_locked(link, NULL, 0) : NULL;

    if (item != NULL) {
        item->is_range = true;
        item->number = first;
        item->last = last;
        link->events.ranges++;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

void sx_event_record_locked(struct sx_link *link, const void *bytes, size_t size)
{
    struct sx_link_events *const e = &link->events;
    struct sx_event event;

    if (size < sizeof(event)) {
        sx_event_garbled_locked(link, "an event's record that is none");
        return;
    }
    memcpy(&event, bytes, sizeof(event));
    if (e->gap) {
        e->gap = false;
        range_add_locked(link, e->last + 1, event.number - 1);
    }
    e->last = event.number > e->last ? event.number : e->last;
    if ((event.flags & SX_EVENT_ASK) != 0) {
        range_add_locked(link, event.number, event.number);
        return;
    }
    struct sx_event_item *item = sx_event_item_new_locked(link, bytes, size);

    if (item != NULL) {
        item->number = event.number;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

/* The ring has been read up to its end at the time when `newest` of @link was counted. */
static void read_to_locked(struct sx_link *link)
{
    struct sx_link_events *const e = &link->events;

    if (e->gap) {
        e->gap = false;
        range_add_locked(link, e->last + 1, e->newest);
    }
    e->last = e->newest > e->last ? e->newest : e->last;
}

/* The events of a list of @link's server as items, in its order.  Return: false when the list
 * contradicts itself: @ret has the items before that.  *ret_lost: how many events are lost between
 * and behind the items. */
static bool list_read(struct sx_link *link, struct sx_event_list_rest *rest,
                      struct sx_list *ret_items, uint64_t *ret_lost)
{
    struct sx_event_listed listed;
    pmix_status_t rc;

    *ret_lost = rest->lost;
    while ((rc = sx_event_list_next(rest, &listed)) == PMIX_SUCCESS) {
        struct sx_event_item *const item = sx_event_item_new_locked(link, listed.bytes,
                                                                    listed.size);

        *ret_lost += listed.lost;
        if (item != NULL) {
            item->number = listed.number;
            sx_list_append(ret_items, &item->task.node);
        }
    }
    return rc == PMIX_ERR_NOT_FOUND;
}

uint64_t sx_event_kept_locked(struct sx_link *link, const void *bytes, size_t size,
                              struct sx_list *items)
{
    struct sx_list read = SX_LIST_INIT(read);
    struct sx_event_list_rest rest;
    struct sx_list *node;
    uint64_t lost;

    sx_event_list_open(&rest, bytes, size);
    if (!list_read(link, &rest, &read, &lost)) {
        sx_event_garbled_locked(link, "a list of kept events that contradicts itself");
    }
    while ((node = sx_list_pop(&read)) != NULL) { /* the newest is popped first */
        sx_list_append(items->next, node);
    }
    return rest.next;
}

void sx_event_late_locked(struct sx_link *link, struct sx_list *items, size_t only, uint64_t upto)
{
    struct sx_list *const late = &sx_events.late;
    struct sx_list *node = late->prev;

    /* An older registration may be answered later: its events wait for those before them. */
    for (; node != late; node = node->prev) {
        if (sx_event_item_of(node)->link == link && sx_event_item_of(node)->upto <= upto) {
            break;
        }
        if (sx_event_item_of(node)->link == link) {
            sx_event_item_of(node)->upto = upto;
        }
    }
    sx_events.late_lists++;
    while ((node = sx_list_pop(items)) != NULL) {
        sx_event_item_of(node)->has_only = true;
        sx_event_item_of(node)->only = only;
        sx_event_item_of(node)->upto = upto;
        sx_event_item_of(node)->lists = sx_events.late_lists;
        sx_list_append(late, node);
    }
}
/* ---- out ----------------------------------------------------------------------------------- */

/* An event read out of its bytes. */
struct decoded {
    struct sx_opened body;
    const struct sx_event *event; /* its head */
    pmix_proc_t source;
    pmix_proc_t *affected; /* malloc'ed */
};

/* Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE for bytes that are not an event;
 * PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t item_decode(const struct sx_event_item *item, struct decoded *ret)
{
    ret->affected = NULL;
    if (sx_event_lay(&ret->body, item->bytes, item->size) != NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const struct sx_opened_part *const source = &ret->body.parts[SX_EVENT_SOURCE];

    ret->event = ret->body.head;
    ret->source = (pmix_proc_t){ .rank = ret->event->source_rank };
    memcpy(ret->source.nspace, source->at, source->size);
    return sx_part_procs(&ret->body.parts[SX_EVENT_AFFECTED], &ret->affected);
}

/* The name of this process at the server that @item is from. */
static const pmix_proc_t *self_of(const struct sx_event_item *item)
{
    return item->link != NULL ? &item->link->self : &sx_process.self;
}

/* A custom range names the receivers of an event. */
static bool is_for_us(const struct sx_event_item *item, const struct decoded *d)
{
    struct sx_opened_part targets = d->body.parts[SX_EVENT_TARGETS];
    struct sx_proc_ref target;

    if (targets.count == 0) {
        return d->event->range != PMIX_RANGE_CUSTOM;
    }
    const pmix_proc_t *const self = self_of(item);
    const size_t len = strlen(self->nspace);

    while (sx_part_proc_next(&targets, &target)) {
        if (target.name_len == len && memcmp(target.name, self->nspace, len) == 0 &&
            (target.rank == self->rank || target.rank == PMIX_RANK_WILDCARD)) {
            return true;
        }
    }
    return d->event->range != PMIX_RANGE_CUSTOM;
}

struct chain_task {
    struct sx_task task;
    struct sx_chain *chain;
};
static_assert(sizeof(struct chain_task) <= sizeof(union sx_chain_post), "fits the chain's room");

static void chain_task_run(struct sx_task *task)
{
    sx_chain_step(SX_CONTAINER(task, struct chain_task, task)->chain);
}

static bool chain_post(struct sx_chain *chain, void *arg)
{
    struct chain_task *const post = (struct chain_task *)(void *)sx_chain_post(chain);

    (void)arg;
    if (!sx_process_ready()) {
        return false;
    }
    *post = (struct chain_task){ .task = { .run = chain_task_run }, .chain = chain };
    sx_task_post(&post->task);
    return true;
}

static void item_said(void *arg, pmix_status_t status, const pmix_info_t results[], size_t nresults)
{
    struct sx_event_item *const item = arg;
    const uint8_t word = sx_group_word(status, results, nresults);

    item->word = word > item->word ? word : item->word;
}

static void item_ended(void *arg)
{
    sx_event_item_free(arg);
}

/* The server waits for an answer, also from processes without handlers. */
static void item_answer(void *arg)
{
    const struct sx_event_item *const item = arg;
    struct decoded d;

    if (item_decode(item, &d) == PMIX_SUCCESS && is_for_us(item, &d)) {
        const struct sx_opened_part *const infos = &d.body.parts[SX_EVENT_INFOS];

        sx_group_say(item->link, infos->at, infos->size, item->word);
    }
    free(d.affected);
    sx_event_item_free(arg);
}

static uint64_t number_of(const struct sx_event_item *item, const struct decoded *d)
{
    return item->is_local || d->event->number == 0
               ? 0
               : sx_event_of_ring(item->link->place, d->event->number);
}

/* Start the chain of the handlers that want @item, if any, and pass ownership to it.  Return: as
 * sx_chain_start, and then the item is still the caller's. */
static pmix_status_t chain_start(struct sx_event_item *item, const struct decoded *d,
                                 struct sx_handlers *handlers)
{
    const bool asks = sx_group_code_asks(d->event->code) && !item->is_local;
    const pmix_proc_t *const self = self_of(item);
    const struct sx_chain_options options = {
        .handlers = handlers,
        .facts = { .code = d->event->code,
                   .source = &d->source,
                   .from_self = d->source.rank == self->rank &&
                                strcmp(d->source.nspace, self->nspace) == 0,
                   .non_default = (d->event->flags & SX_EVENT_NON_DEFAULT) != 0,
                   .environment = (d->event->flags & SX_EVENT_ENVIRONMENT) != 0,
                   .affected = d->affected,
                   .affected_count = d->event->affected_count,
                   .number = number_of(item, d),
                   .before = item->before,
                   .is_for_one = item->has_only,
                   .only = item->only },
        .bytes = d->body.parts[SX_EVENT_INFOS].at,
        .bytes_size = d->body.parts[SX_EVENT_INFOS].size,
        .here = true,
        .post = chain_post,
        .said = asks ? item_said : NULL,
        .ended = asks ? item_answer : item_ended,
        .arg = item,
    };

    return sx_chain_start(&options);
}

/* Takes @item over. */
static void item_deliver(struct sx_event_item *item)
{
    struct sx_handlers *const handlers = sx_event_handlers();
    struct sx_event event;
    struct decoded d;
    pmix_status_t rc;

    memcpy(&event, item->bytes, sizeof(event));
    if (!sx_handlers_receive(handlers, event.code)) {
        if (sx_group_code_asks(event.code)) {
            item_answer(item); /* its handler was deregistered meanwhile */
        } else {
            sx_event_item_free(item); /* in a wanted class, but without a handler */
        }
        return;
    }
    rc = item_decode(item, &d);
    if (rc == PMIX_SUCCESS) {
        rc = is_for_us(item, &d) ? chain_start(item, &d, handlers) : PMIX_ERR_NOT_FOUND;
    }
    free(d.affected);
    if (rc == PMIX_SUCCESS) {
        return;
    }
    if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
        sx_log(SX_LOG_ERROR, "an event is lost: memory is short");
    } else if (rc != PMIX_ERR_NOT_FOUND) {
        pthread_mutex_lock(&sx_process.lock);
        sx_event_garbled_locked(item->link, "an event that contradicts itself");
        pthread_mutex_unlock(&sx_process.lock);
    }
    sx_event_item_free(item);
}

/* ---- what is missing ----------------------------------------------------------------------- */

/* Insert it where the lost events would have been: before the queued ones. */
static void lost_add(uint64_t count)
{
    struct sx_process *const p = &sx_process;
    struct sx_event_item *const item = sx_event_lost_item(count, false);

    if (item != NULL) {
        pthread_mutex_lock(&p->lock);
        sx_list_append(sx_events.waiting.next, &item->task.node);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Insert the server's answer about @range in place of it; the rest of the range, from @next on,
 * waits behind it.  Return: true when there is a rest. */
static bool range_go_on(struct sx_event_item *range, struct sx_list *items, uint64_t next)
{
    struct sx_events *const e = &sx_events;
    struct sx_list *const before = e->waiting.next;
    struct sx_list *node;

    while ((node = sx_list_pop(items)) != NULL) {
        sx_list_append(before, node);
    }
    range->number = next;
    if (next > range->last) {
        range->link->events.ranges--;
        return false;
    }
    sx_list_append(before, &range->task.node);
    return true;
}

/* Ask for the first part of @range.  Return: true when the rest waits for its next turn. */
static bool range_ask(struct sx_event_item *range)
{
    struct sx_process *const p = &sx_process;
    const uint64_t first = range->number;
    struct sx_list items = SX_LIST_INIT(items);
    struct sx_event_batch batch;
    uint64_t lost, next = range->last + 1;
    bool good = true;
    const pmix_status_t rc = sx_event_batch_ask(range->link, first, range->last, &batch);

    pthread_mutex_lock(&p->lock);
    if (rc == PMIX_SUCCESS) {
        next = batch.rest.next;
        good = list_read(range->link, &batch.rest, &items, &lost);
    } else { /* an event that cannot be sent is lost, or the server has none of them any more */
        good = rc != PMIX_ERR_UNPACK_FAILURE;
        next = rc == PMIX_ERR_OUT_OF_RESOURCE ? first + 1 : next;
        lost = next - first;
    }
    const bool waits = range_go_on(range, &items, next);
    if (!good) {
        sx_event_garbled_locked(range->link, "a list of kept events that contradicts itself");
    }
    pthread_mutex_unlock(&p->lock);
    sx_event_batch_free(&batch);
    if (lost > 0) {
        lost_add(lost);
    }
    return waits;
}

/* The handler of @late receives @item, too, and later. */
static bool comes_behind(const struct sx_event_item *item, const struct sx_event_item *late)
{
    return item->is_local ? item->lists >= late->lists
                          : item->link == late->link && item->number > late->upto;
}

/* The queue whose turn it is. */
static struct sx_list *queue_next(struct sx_events *e)
{
    if (sx_list_empty(&e->waiting) || sx_list_empty(&e->late)) {
        return sx_list_empty(&e->waiting) ? &e->late : &e->waiting;
    }
    if (comes_behind(sx_event_item_of(e->waiting.next), sx_event_item_of(e->late.next))) {
        return &e->late;
    }
    e->late_turn = !e->late_turn;
    return e->late_turn ? &e->late : &e->waiting;
}

static void locals_are_handled_locked(uint64_t upto)
{
    sx_events.locals_handled = upto;
    if (sx_events.locals_awaited) {
        sx_local_ring_locked();
    }
}

void sx_event_locals_wait(void)
{
    struct sx_process *const p = &sx_process;

    if (sx_progress_is_own_thread()) {
        return; /* this thread would wait for itself */
    }
    pthread_mutex_lock(&p->lock);
    const uint64_t upto = sx_events.locals_posted;
    pthread_mutex_unlock(&p->lock);
    sx_progress_watch();
    for (;;) {
        const struct sx_bell_watch watch = sx_door_watch(&p->local);

        pthread_mutex_lock(&p->lock);
        const bool over = !p->thread_running || sx_events.locals_handled >= upto;
        const bool runs = p->external && !p->progressing;
        sx_events.locals_awaited = !over;
        pthread_mutex_unlock(&p->lock);
        if (over) {
            break;
        }
        if (runs) {
            sx_progress_run();
        } else {
            (void)sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER);
        }
    }
    sx_progress_unwatch();
}

/* Take out the next event, as a task that hands it to its handlers.  Return: NULL when nothing
 * may be handed out now. */
static struct sx_task *event_take_locked(void)
{
    struct sx_events *const e = &sx_events;
    struct sx_list *const node = e->registrations == 0 ? sx_list_pop(queue_next(e)) : NULL;

    e->in_hand = node != NULL; /* the thread has finished the one before */
    if (e->locals_handled != e->locals_taken) {
        locals_are_handled_locked(e->locals_taken);
    }
    if (node == NULL) {
        return NULL;
    }
    struct sx_event_item *const item = sx_event_item_of(node);
    e->locals_taken = item->local_number != 0 ? item->local_number : e->locals_taken;
    e->failure_waits = e->failure_waits && !item->is_failure;
    if (item->declared != 0 && !item->has_only) { /* later handlers are late ones */
        item->before = sx_handlers_next(sx_event_handlers());
        sx_event_declared_keep_locked(item);
    }
    item->task.run = item_run;
    return &item->task;
}

/* Whether there is an event to take out. */
static bool event_waits_locked(void)
{
    const struct sx_events *const e = &sx_events;

    return e->registrations == 0 && (!sx_list_empty(&e->waiting) || !sx_list_empty(&e->late));
}

/* Whether the handlers have been called for all events that have been read. */
static bool all_handled_locked(void)
{
    const struct sx_events *const e = &sx_events;

    return !e->in_hand && e->registrations == 0 && sx_list_empty(&e->waiting) &&
           sx_list_empty(&e->late); /* ranges wait there, too */
}

/* Report all events counted as lost until now in one event. */
static void unreached_report(struct sx_link *link)
{
    struct sx_process *const p = &sx_process;
    struct sx_link_events *const e = &link->events;
    struct sx_event_item *item;

    pthread_mutex_lock(&p->lock);
    const uint64_t count = e->unreached - e->unreached_reported;

    e->unreached_reported = e->unreached;
    e->unreached_waits = false;
    pthread_mutex_unlock(&p->lock);
    item = sx_event_lost_item(count, true);
    if (item != NULL) {
        item_deliver(item);
    }
}

static void item_run(struct sx_task *task)
{
    struct sx_event_item *const item = SX_CONTAINER(task, struct sx_event_item, task);

    if (item->is_range) {
        if (!range_ask(item)) {
            sx_event_item_free(item);
        }
    } else if (item->is_unreached) {
        unreached_report(item->link);
        sx_event_item_free(item);
    } else {
        sx_events.declared_in_hand = item->declared;
        item_deliver(item);
        sx_events.declared_in_hand = 0;
    }
}

void sx_event_items_free(struct sx_list *items)
{
    struct sx_list *node;

    while ((node = sx_list_pop(items)) != NULL) {
        sx_event_item_free(sx_event_item_of(node));
    }
}

void sx_event_queue_clear_locked(void)
{
    sx_event_items_free(&sx_events.waiting);
    sx_event_items_free(&sx_events.late);
    sx_event_items_free(&sx_events.declared);
    sx_event_page_drop_locked();
    sx_events.declared_count = 0;
    sx_events.failure_waits = false;
    sx_events.locals_taken = sx_events.locals_posted;
    locals_are_handled_locked(sx_events.locals_posted);
}

/* ---- the pump -------------------------------------------------------------------------------- */

/* The events that the pump finds, and the server's notice of how far they are read. */

uint64_t sx_event_published(const struct sx_link *link)
{
    uint64_t count = 0;

    for (uint32_t i = 1; i < SX_RING_CLASS_MAX; i++) {
        /* A-count <- R-count (ring.c): counted events are in the ring. */
        count += atomic_load_explicit(&link->ring.header->class_count[i], memory_order_acquire);
    }
    return count;
}

static void ring_begin(struct sx_link *link)
{
    link->events.newest = link->classes != 0 ? sx_event_published(link) : 0;
}

static void ring_lapped(struct sx_link *link)
{
    link->events.gap = link->classes != 0;
}

/* Report to the server how far events are read, when it asks for that: a lane message that wakes no
 * process.  Not while older events are still to be requested, or a registration waits for kept
 * ones: the server would not keep them.  When the lane is full or in use the next pump tries
 * again. */
static void cursor_send(struct sx_link *link)
{
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&link->ring.header->cursor_wanted,
                                                 memory_order_relaxed);
    struct sx_lane_cursor cursor = { .seq = link->cursor.seq_next - 1 };
    const struct iovec iov = { .iov_base = &cursor, .iov_len = sizeof(cursor) };

    if (wanted <= link->events.cursor_sent || cursor.seq < wanted || link->events.ranges != 0 ||
        sx_events.registrations != 0 ||
        pthread_mutex_trylock(&link->lane_lock) != 0) { /* its order is before the held lock */
        return;
    }
    if (sx_lane_append(&link->lane, SX_LANE_CURSOR, &iov, 1) == PMIX_SUCCESS) {
        link->events.cursor_sent = cursor.seq;
    }
    pthread_mutex_unlock(&link->lane_lock);
}

/* The server asks when a process waits for the handlers (server/event/event.h). */
static void handled_send(struct sx_link *link)
{
    const uint64_t seq = link->cursor.seq_next - 1;
    /* relaxed: it refers to nothing but a number. */
    const uint64_t wanted = atomic_load_explicit(&link->ring.header->handled_wanted,
                                                 memory_order_relaxed);

    if (wanted > link->events.handled_sent && seq >= wanted && all_handled_locked()) {
        link->events.handled_sent = seq;
        sx_lane_handled(&link->lane, seq);
    }
}

static void ring_end(struct sx_link *link)
{
    if (link->classes != 0) {
        read_to_locked(link);
        cursor_send(link);
        handled_send(link);
    }
}

/* If no event is queued, all events that were read have been handled. */
static struct sx_task *take(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_task *const event = event_take_locked();

    for (unsigned i = 0; event == NULL && i < p->link_count; i++) {
        if (p->links[i]->classes != 0 && sx_link_is_live(p->links[i])) {
            handled_send(p->links[i]);
        }
    }
    return event;
}

const struct sx_intake sx_event_intake = {
    .record_kind = SX_RECORD_EVENT,
    .ring_begin = ring_begin,
    .record = sx_event_record_locked,
    .ring_lapped = ring_lapped,
    .ring_end = ring_end,
    .server_lost = sx_event_unreached_locked,
    .garbled = sx_event_garbled_locked,
    .link_lost = sx_event_lost_locked,
    .take = take,
    .waits = event_waits_locked,
};
