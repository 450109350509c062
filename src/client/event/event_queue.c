/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_queue.c - events as bytes until a handler is to be called.
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
#include "client/event/event_list.h"
#include "client/event/event_page.h"
#include "client/event/event_state.h"
#include "client/event/group_answer.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "ring/record.h"

struct sx_event_item {
    struct sx_task task;
    struct sx_event_page *page; /* the page in which the item lies */
    struct sx_link *link;       /* the event is from its server; NULL: an own event */
    uint64_t
        number; /* of the event; 0 for an own event, and the highest number for the server's end */
    bool is_range; /* ask for number..last instead of delivering */
    uint64_t last;
    bool has_only; /* late: for the handler `only`, before events newer than `upto` */
    size_t only;
    uint64_t upto;
    bool is_local;
    uint64_t local_number; /* events.locals_posted; 0: the item is not counted */
    bool is_failure;       /* PMIX_ERR_COMM_FAILURE */
    bool is_unreached;     /* reports how many own events are lost by now */
    uint64_t declared; /* its number among the declarations of PMIx_Init, 0: not a declaration */
    size_t before;  /* declared: for handlers below this id; later ones get it as late handlers */
    uint64_t lists; /* lists of late events so far: an own event follows all of them */
    uint8_t word;   /* enum sx_group_word: the strongest answer of its handlers */
    size_t size;
    _Alignas(8) uint8_t bytes[]; /* struct sx_event and its variable part */
};

/* ---- in ------------------------------------------------------------------------------------ */

static void item_run(struct sx_task *task);

static struct sx_event_item *item_new_locked(struct sx_link *link, const void *bytes, size_t size)
{
    struct sx_event_page *page;
    struct sx_event_item *const item = sx_event_page_take_locked(sizeof(*item) + size, &page);

    if (item == NULL) {
        sx_log(SX_LOG_ERROR, "an event is lost: memory is short");
        return NULL;
    }
    *item = (struct sx_event_item){
        .task = { .run = item_run }, .page = page, .link = link, .size = size
    };
    sx_list_init(&item->task.node);
    if (size > 0) {
        memcpy(item->bytes, bytes, size);
    }
    return item;
}

static struct sx_event_item *item_of(struct sx_list *node)
{
    return SX_LIST_ENTRY(node, struct sx_event_item, task.node);
}

static void item_free(struct sx_event_item *item)
{
    sx_event_page_release(item->page);
}

static void range_add_locked(struct sx_link *link, uint64_t first, uint64_t last)
{
    struct sx_event_item *item = first <= last ? item_new_locked(link, NULL, 0) : NULL;

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
    struct sx_event_item *item = item_new_locked(link, bytes, size);

    if (item != NULL) {
        item->number = event.number;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

void sx_event_read_to_locked(struct sx_link *link)
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
        struct sx_event_item *const item = item_new_locked(link, listed.bytes, listed.size);

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
        if (item_of(node)->link == link && item_of(node)->upto <= upto) {
            break;
        }
        if (item_of(node)->link == link) {
            item_of(node)->upto = upto;
        }
    }
    sx_events.late_lists++;
    while ((node = sx_list_pop(items)) != NULL) {
        item_of(node)->has_only = true;
        item_of(node)->only = only;
        item_of(node)->upto = upto;
        item_of(node)->lists = sx_events.late_lists;
        sx_list_append(late, node);
    }
}

/* Make an item for an own event.  Return: as sx_event_local. */
static pmix_status_t item_local(pmix_status_t code, const struct sx_notify_options *options,
                                const pmix_info_t info[], size_t ninfo, struct sx_event_item **ret)
{
    struct sx_notify_options here = *options;
    void *bytes = NULL;
    size_t size = 0;

    here.range = PMIX_RANGE_PROC_LOCAL;
    const pmix_status_t rc = sx_event_encode(code, &sx_process.self, &here, info, ninfo, &bytes,
                                             &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&sx_process.lock);
    *ret = item_new_locked(NULL, bytes, size);
    pthread_mutex_unlock(&sx_process.lock);
    free(bytes);
    if (*ret == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    (*ret)->is_local = true;
    return PMIX_SUCCESS;
}

static void local_append_locked(struct sx_event_item *item)
{
    item->lists = sx_events.late_lists;
    item->local_number = ++sx_events.locals_posted;
    sx_list_append(&sx_events.waiting, &item->task.node);
    sx_local_ring_locked();
}

pmix_status_t sx_event_local(pmix_status_t code, const struct sx_notify_options *options,
                             const pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    struct sx_event_item *item = NULL;
    const pmix_status_t rc = item_local(code, options, info, ninfo, &item);

    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&p->lock);
        local_append_locked(item);
        pthread_mutex_unlock(&p->lock);
    }
    return rc;
}

/* ---- declarations of PMIx_Init ------------------------------------------------------------- */

#define SX_DECLARED_MAX 16u

/* Keep a declaration for later handlers; a duplicate is dropped. */
static void declared_keep_locked(const struct sx_event_item *item)
{
    struct sx_events *const e = &sx_events;

    SX_LIST_EACH(it, &e->declared) {
        struct sx_event_item *const kept = item_of(it);

        if (kept->size == item->size && memcmp(kept->bytes, item->bytes, item->size) == 0) {
            kept->declared = item->declared;
            return;
        }
    }
    struct sx_event_item *const kept = item_new_locked(NULL, item->bytes, item->size);
    if (kept == NULL) {
        return;
    }
    kept->is_local = true;
    kept->declared = item->declared;
    sx_list_append(&e->declared, &kept->task.node);
    if (++e->declared_count > SX_DECLARED_MAX) {
        sx_log(SX_LOG_INFO, "late handlers do not hear of the oldest of more than %u declarations",
               SX_DECLARED_MAX);
        item_free(item_of(sx_list_pop(&e->declared)));
        e->declared_count--;
    }
}

pmix_status_t sx_event_declare(pmix_status_t code, const pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    const struct sx_notify_options options = { .non_default = true };
    struct sx_event_item *item = NULL;
    const pmix_status_t rc = item_local(code, &options, info, ninfo, &item);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->lock);
    item->declared = ++sx_events.declared_last;
    if (sx_events.registrations == 0 && !sx_event_has_handlers()) {
        declared_keep_locked(item);
        item_free(item);
    } else {
        local_append_locked(item);
    }
    pthread_mutex_unlock(&p->lock);
    return PMIX_SUCCESS;
}

void sx_event_declared_locked(size_t only, uint64_t in_hand)
{
    struct sx_events *const e = &sx_events;

    SX_LIST_EACH(it, &e->declared) {
        const struct sx_event_item *const kept = item_of(it);
        struct sx_event_item *const late = kept->declared != in_hand
                                               ? item_new_locked(NULL, kept->bytes, kept->size)
                                               : NULL;

        if (late != NULL) {
            late->is_local = true;
            late->declared = kept->declared;
            late->has_only = true;
            late->only = only;
            late->lists = e->late_lists;
            sx_list_append(&e->late, &late->task.node);
        }
    }
}

/* SHMIX_ERR_EVENTS_LOST; @own: the lost events were published here. */
static struct sx_event_item *lost_item(uint64_t count, bool own)
{
    const struct sx_notify_options options = { 0 };
    struct sx_event_item *item = NULL;
    pmix_info_t info[2];

    memset(info, 0, sizeof(info));
    memcpy(info[0].key, SHMIX_EVENTS_LOST_COUNT, sizeof(SHMIX_EVENTS_LOST_COUNT));
    info[0].value.type = PMIX_UINT64;
    info[0].value.data.uint64 = count;
    memcpy(info[1].key, SHMIX_EVENTS_LOST_OWN, sizeof(SHMIX_EVENTS_LOST_OWN));
    info[1].value.type = PMIX_BOOL;
    info[1].value.data.flag = true;
    (void)item_local(SHMIX_ERR_EVENTS_LOST, &options, info, own ? 2 : 1, &item);
    return item;
}

/* Insert it where the lost events would have been: before the queued ones. */
static void lost_add(uint64_t count)
{
    struct sx_process *const p = &sx_process;
    struct sx_event_item *const item = lost_item(count, false);

    if (item != NULL) {
        pthread_mutex_lock(&p->lock);
        sx_list_append(sx_events.waiting.next, &item->task.node);
        pthread_mutex_unlock(&p->lock);
    }
}

void sx_event_unreached_locked(struct sx_link *link, uint64_t count)
{
    struct sx_link_events *const e = &link->events;
    struct sx_event_item *item;

    e->unreached = count > e->unreached ? count : e->unreached;
    if (e->unreached == e->unreached_told || e->unreached_waits) {
        return;
    }
    item = item_new_locked(link, NULL, 0);
    if (item != NULL) { /* else the next pump tries again */
        item->is_unreached = true;
        item->is_local = true;
        item->lists = sx_events.late_lists;
        e->unreached_waits = true;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

/* The server is the source of events about the link to it. */
static void link_event_add_locked(struct sx_link *link, pmix_status_t code)
{
    struct sx_event event = { .code = code,
                              .source_rank = link->server.rank,
                              .source_len = (uint16_t)sx_name_len(link->server.nspace,
                                                                  PMIX_MAX_NSLEN) };
    uint8_t bytes[sizeof(event) + sizeof(link->server.nspace)] = { 0 };
    struct sx_event_item *item;

    memcpy(bytes, &event, sizeof(event));
    memcpy(bytes + sizeof(event), link->server.nspace, event.source_len);
    item = item_new_locked(link, bytes, sizeof(event) + sx_align_up(event.source_len, 8));
    if (item != NULL) {
        item->is_local = true;
        item->lists = sx_events.late_lists;
        item->is_failure = code == PMIX_ERR_COMM_FAILURE;
        sx_events.failure_waits = sx_events.failure_waits || item->is_failure;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

void sx_event_lost_locked(struct sx_link *link)
{
    link_event_add_locked(link, PMIX_ERR_LOST_CONNECTION_TO_SERVER);
}

void sx_event_garbled_locked(struct sx_link *link, const char *what)
{
    struct sx_process *const p = &sx_process;

    if (!sx_events.failure_waits) { /* else it is queued, and handled first */
        sx_log(SX_LOG_ERROR, "%s.%" PRIu32 " cannot read what its server sent: %s", p->self.nspace,
               p->self.rank, what);
        link_event_add_locked(link, PMIX_ERR_COMM_FAILURE);
        sx_local_ring_locked();
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
    item_free(arg);
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
    item_free(arg);
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
    if (!sx_handlers_hear(handlers, event.code)) {
        if (sx_group_code_asks(event.code)) {
            item_answer(item); /* its handler was deregistered meanwhile */
        } else {
            item_free(item); /* in a wanted class, but without a handler */
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
    item_free(item);
}

/* ---- what is missing ----------------------------------------------------------------------- */

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
    if (comes_behind(item_of(e->waiting.next), item_of(e->late.next))) {
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
    for (;;) {
        const struct sx_bell_watch watch = sx_door_watch(&p->local);

        pthread_mutex_lock(&p->lock);
        const bool over = !p->thread_running || sx_events.locals_handled >= upto;
        const bool runs = p->external && !p->progressing;
        sx_events.locals_awaited = !over;
        pthread_mutex_unlock(&p->lock);
        if (over) {
            return;
        }
        if (runs) {
            sx_progress_run();
        } else {
            (void)sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER);
        }
    }
}

struct sx_task *sx_event_take_locked(void)
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
    struct sx_event_item *const item = item_of(node);
    e->locals_taken = item->local_number != 0 ? item->local_number : e->locals_taken;
    e->failure_waits = e->failure_waits && !item->is_failure;
    if (item->declared != 0 && !item->has_only) { /* later handlers are late ones */
        item->before = sx_handlers_next(sx_event_handlers());
        declared_keep_locked(item);
    }
    return &item->task;
}

bool sx_event_waits_locked(void)
{
    const struct sx_events *const e = &sx_events;

    return e->registrations == 0 && (!sx_list_empty(&e->waiting) || !sx_list_empty(&e->late));
}

bool sx_event_all_handled_locked(void)
{
    const struct sx_events *const e = &sx_events;

    return !e->in_hand && e->registrations == 0 && sx_list_empty(&e->waiting) &&
           sx_list_empty(&e->late); /* ranges wait there, too */
}

/* Report all events counted as lost until now in one event. */
static void unreached_tell(struct sx_link *link)
{
    struct sx_process *const p = &sx_process;
    struct sx_link_events *const e = &link->events;
    struct sx_event_item *item;

    pthread_mutex_lock(&p->lock);
    const uint64_t count = e->unreached - e->unreached_told;

    e->unreached_told = e->unreached;
    e->unreached_waits = false;
    pthread_mutex_unlock(&p->lock);
    item = lost_item(count, true);
    if (item != NULL) {
        item_deliver(item);
    }
}

static void item_run(struct sx_task *task)
{
    struct sx_event_item *const item = SX_CONTAINER(task, struct sx_event_item, task);

    if (item->is_range) {
        if (!range_ask(item)) {
            item_free(item);
        }
    } else if (item->is_unreached) {
        unreached_tell(item->link);
        item_free(item);
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
        item_free(item_of(node));
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
