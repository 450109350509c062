/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handlers.c - five lists in calling order, and the directives that request a place. */
#include "base/call/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"

struct sx_handler {
    struct sx_list node; /* of its zone */
    struct sx_list by_name, by_id;
    size_t id;
    unsigned reference_count;
    bool removed;
    bool once, spent;              /* for one event; and it has been called with that */
    enum sx_handler_zone category; /* by its codes: ONE, SEVERAL or ANY */
    enum sx_handler_zone zone;     /* where it stands */
    bool is_first, is_last;        /* of all; its companions in the zone are not */
    bool first_in_category, last_in_category;
    pmix_notification_fn_t fn;
    pmix_status_t *codes;
    size_t code_count;
    char *name; /* NULL: none */
    void *object;
    bool has_object;
    pmix_data_range_t range;         /* whose events it wants; UNDEF: of any source */
    char nspace[PMIX_MAX_NSLEN + 1]; /* for the range NAMESPACE */
    pmix_proc_t *sources;            /* for the range CUSTOM */
    size_t source_count;
    uint64_t since[SX_EVENT_RINGS_MAX]; /* of each ring: numbered events above this one only */
    /* Older events for it alone that it has had: 0 is no event. */
    uint64_t in_hand;                  /* the one in whose handler it was registered */
    uint64_t had_upto;                 /* by a handler like itself: all up to here */
    uint64_t passing, passing_call;    /* one that another thread is at, in that call */
    bool job_level, environment_level; /* which events it wants ... */
    bool levels_unsaid;    /* ... by default: of codes of the system that it names, both kinds */
    pmix_proc_t *affected; /* only events that touch these; NULL: all */
    size_t affected_count;
};

pthread_mutex_t sx_handlers_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- life ---------------------------------------------------------------------------------- */

void sx_handlers_init(struct sx_handlers *handlers)
{
    memset(handlers, 0, sizeof(*handlers));
    handlers->next_id = 1; /* callers take 0 for "no handler" */
    pthread_cond_init(&handlers->returned, NULL);
    for (size_t i = 0; i < SX_ZONE_COUNT; i++) {
        sx_list_init(&handlers->zones[i]);
    }
    for (size_t i = 0; i < SX_HANDLER_BUCKETS; i++) {
        sx_list_init(&handlers->by_name[i]);
        sx_list_init(&handlers->by_id[i]);
    }
    sx_list_init(&handlers->calls);
}

void sx_handlers_on_spent(struct sx_handlers *handlers, void (*spent)(size_t id))
{
    pthread_mutex_lock(&sx_handlers_lock);
    handlers->spent = spent;
    pthread_mutex_unlock(&sx_handlers_lock);
}

static struct sx_handler *handler_free(struct sx_handler *handler)
{
    if (handler != NULL) {
        free(handler->codes);
        free(handler->name);
        free(handler->sources);
        free(handler->affected);
        free(handler);
    }
    return NULL;
}

void sx_handler_release_locked(struct sx_handler *handler)
{
    if (--handler->reference_count == 0) {
        handler_free(handler);
    }
}

void sx_handlers_deinit(struct sx_handlers *handlers)
{
    for (size_t i = 0; i < SX_ZONE_COUNT; i++) {
        struct sx_list *node;

        while ((node = sx_list_pop(&handlers->zones[i])) != NULL) {
            struct sx_handler *handler = SX_LIST_ENTRY(node, struct sx_handler, node);

            sx_list_remove(&handler->by_name);
            sx_list_remove(&handler->by_id);
            handler->removed = true;
            sx_handler_release_locked(handler);
        }
    }
    while (sx_list_pop(&handlers->calls) !=
           NULL) { /* the caller's own: it finds no list to leave */
    }
    pthread_cond_destroy(&handlers->returned);
}

/* ---- finding, under the lock --------------------------------------------------------------- */

/* The first handler for which @is says yes, in calling order; NULL for none. */
static struct sx_handler *find(const struct sx_handlers *handlers,
                               bool (*is)(const struct sx_handler *handler, const void *arg),
                               const void *arg)
{
    for (size_t i = 0; i < SX_ZONE_COUNT; i++) {
        SX_LIST_EACH(it, &handlers->zones[i]) {
            struct sx_handler *handler = SX_LIST_ENTRY(it, struct sx_handler, node);

            if (is(handler, arg)) {
                return handler;
            }
        }
    }
    return NULL;
}

static struct sx_list *bucket_of_name(struct sx_handlers *handlers, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *at = name; *at != '\0'; at++) {
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    }
    return &handlers->by_name[hash % SX_HANDLER_BUCKETS];
}

static struct sx_handler *find_name(struct sx_handlers *handlers, const char *name)
{
    SX_LIST_EACH(it, bucket_of_name(handlers, name)) {
        struct sx_handler *handler = SX_LIST_ENTRY(it, struct sx_handler, by_name);

        if (strcmp(handler->name, name) == 0) {
            return handler;
        }
    }
    return NULL;
}

static struct sx_handler *find_id(struct sx_handlers *handlers, size_t id)
{
    SX_LIST_EACH(it, &handlers->by_id[id % SX_HANDLER_BUCKETS]) {
        struct sx_handler *handler = SX_LIST_ENTRY(it, struct sx_handler, by_id);

        if (handler->id == id) {
            return handler;
        }
    }
    return NULL;
}

/* The bit of @code in the field of asked codes.  The two codes for a lost server share theirs
 * (codes_agree). */
static unsigned bit_of(pmix_status_t code)
{
    return (code == PMIX_ERR_LOST_CONNECTION ? PMIX_ERR_LOST_CONNECTION_TO_SERVER : code) & 63;
}

static void received_add(struct sx_handlers *handlers, const struct sx_handler *handler)
{
    uint64_t bits = handler->code_count == 0 ? UINT64_MAX : 0;

    for (size_t i = 0; i < handler->code_count; i++) {
        bits |= UINT64_C(1) << bit_of(handler->codes[i]);
    }
    atomic_fetch_or_explicit(&handlers->received, bits,
                             memory_order_relaxed); /* sx_handlers_receive */
}

/* In its place already: give it an id, and let it be found. */
static void index_add(struct sx_handlers *handlers, struct sx_handler *handler)
{
    handler->id = handlers->next_id++;
    handlers->count++;
    received_add(handlers, handler);
    sx_list_append(&handlers->by_id[handler->id % SX_HANDLER_BUCKETS], &handler->by_id);
    if (handler->name != NULL) {
        sx_list_append(bucket_of_name(handlers, handler->name), &handler->by_name);
    }
}

static bool is_first(const struct sx_handler *handler, const void *arg)
{
    (void)arg;
    return handler->is_first;
}

static bool is_last(const struct sx_handler *handler, const void *arg)
{
    (void)arg;
    return handler->is_last;
}

/* The same place in the same category as @wanted. */
static bool holds_place(const struct sx_handler *handler, const void *wanted)
{
    const struct sx_handler *other = wanted;

    return handler->category == other->category &&
           ((handler->first_in_category && other->first_in_category) ||
            (handler->last_in_category && other->last_in_category));
}

/* ---- placing, under the lock --------------------------------------------------------------- */

/* In front of its category, behind the one that is first there. */
static void place_early(struct sx_list *zone, struct sx_handler *handler)
{
    struct sx_list *next = zone->next;

    if (next != zone && SX_LIST_ENTRY(next, struct sx_handler, node)->first_in_category) {
        next = next->next;
    }
    sx_list_append(next, &handler->node); /* before @next */
}

/* At the end of its category, before the one that is last there. */
static void place_late(struct sx_list *zone, struct sx_handler *handler)
{
    struct sx_list *prev = zone->prev;

    if (prev != zone && SX_LIST_ENTRY(prev, struct sx_handler, node)->last_in_category) {
        prev = prev->prev;
    }
    sx_list_append(prev->next, &handler->node);
}

/* Directly beside a handler of the same category. */
static pmix_status_t place_beside(struct sx_handlers *handlers, struct sx_handler *handler,
                                  const struct sx_handler_options *options)
{
    const bool before = options->before != NULL;
    struct sx_handler *other = find_name(handlers, before ? options->before : options->after);

    if (other == NULL || other->category != handler->category) {
        return PMIX_ERR_EVENT_REGISTRATION;
    }
    if (before ? other->is_first || other->first_in_category
               : other->is_last || other->last_in_category) {
        return PMIX_ERR_EVENT_REGISTRATION; /* the place has no such handler */
    }
    handler->zone = other->zone;
    sx_list_append(before ? &other->node : other->node.next, &handler->node);
    return PMIX_SUCCESS;
}

static pmix_status_t place(struct sx_handlers *handlers, struct sx_handler *handler,
                           const struct sx_handler_options *options)
{
    struct sx_list *zone = &handlers->zones[handler->category];

    if (handlers->count >= SX_HANDLER_COUNT_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "more than %u event handlers",
                        SX_HANDLER_COUNT_MAX);
    }
    if ((handler->name != NULL && find_name(handlers, handler->name) != NULL) ||
        (handler->is_first && find(handlers, is_first, NULL) != NULL) ||
        (handler->is_last && find(handlers, is_last, NULL) != NULL) ||
        ((handler->first_in_category || handler->last_in_category) &&
         find(handlers, holds_place, handler) != NULL)) {
        return PMIX_ERR_EVENT_REGISTRATION;
    }
    handler->zone = handler->category;
    if (options->before != NULL || options->after != NULL) {
        return place_beside(handlers, handler, options);
    }
    if (handler->is_first) {
        handler->zone = SX_ZONE_FIRST;
        sx_list_append(handlers->zones[SX_ZONE_FIRST].next, &handler->node);
    } else if (handler->is_last) {
        handler->zone = SX_ZONE_LAST;
        sx_list_append(&handlers->zones[SX_ZONE_LAST], &handler->node);
    } else if (handler->first_in_category) {
        sx_list_append(zone->next, &handler->node);
    } else if (handler->last_in_category) {
        sx_list_append(zone, &handler->node);
    } else if (options->places == SX_PLACE_APPEND) {
        place_late(zone, handler);
    } else {
        place_early(zone, handler);
    }
    return PMIX_SUCCESS;
}

/* ---- directives ---------------------------------------------------------------------------- */

static pmix_status_t procs_copy(const struct sx_some_procs *procs, pmix_proc_t **ret_procs,
                                size_t *ret_count)
{
    if (procs->count > SX_HANDLER_CODES_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (procs->count != 0) {
        *ret_procs = malloc(procs->count * sizeof(*procs->all));
        if (*ret_procs == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        memcpy(*ret_procs, procs->all, procs->count * sizeof(*procs->all));
        *ret_count = procs->count;
    }
    return PMIX_SUCCESS;
}

/* One place a handler, and beside a handler with a valid name. */
static bool place_is_good(const struct sx_handler_options *options)
{
    const char *const beside = options->before != NULL ? options->before : options->after;
    const bool one_bit = (options->places & (options->places - 1)) == 0;

    return beside == NULL ? one_bit
                          : beside[0] != '\0' && options->places == 0 &&
                                (options->before == NULL || options->after == NULL);
}

static pmix_status_t name_copy(const char *name, char **ret_name)
{
    const size_t len = strlen(name);

    if (len == 0 || len > PMIX_MAX_KEYLEN) { /* later handlers see it as a key */
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "an event handler's name of %zu bytes: 1 to %d", len,
                        PMIX_MAX_KEYLEN);
    }
    *ret_name = strdup(name);
    return *ret_name != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static bool levels_unsaid(const struct sx_handler_options *options)
{
    return options->job_level == SX_SAID_NOTHING && options->environment_level == SX_SAID_NOTHING;
}

bool sx_handler_asks_environment(const struct sx_handler_options *options,
                                 const pmix_status_t codes[], size_t ncodes)
{
    bool asks = options->environment_level == SX_SAID_YES;

    for (size_t i = 0; i < ncodes && !asks && levels_unsaid(options); i++) {
        asks = PMIX_SYSTEM_EVENT(codes[i]);
    }
    return asks;
}

static pmix_status_t options_take(struct sx_handler *handler,
                                  const struct sx_handler_options *options)
{
    const pmix_value_t *const object = options->object != NULL ? &options->object->value : NULL;
    pmix_status_t rc = procs_copy(&options->sources, &handler->sources, &handler->source_count);

    if (rc == PMIX_SUCCESS) {
        rc = procs_copy(&options->affected, &handler->affected, &handler->affected_count);
    }
    if (rc == PMIX_SUCCESS && options->name != NULL) {
        rc = name_copy(options->name, &handler->name);
    }
    handler->once = options->once;
    handler->range = handler->sources != NULL ? PMIX_RANGE_CUSTOM : options->range;
    handler->has_object = object != NULL && object->type == PMIX_POINTER;
    handler->object = handler->has_object ? object->data.ptr : NULL;
    handler->is_first = options->places == SX_PLACE_FIRST;
    handler->is_last = options->places == SX_PLACE_LAST;
    handler->first_in_category = options->places == SX_PLACE_FIRST_IN_CATEGORY;
    handler->last_in_category = options->places == SX_PLACE_LAST_IN_CATEGORY;
    /* A handler for one level does not get the other; one for none gets the job's. */
    handler->environment_level = options->environment_level == SX_SAID_YES;
    handler->levels_unsaid = levels_unsaid(options);
    handler->job_level = options->job_level == SX_SAID_NOTHING ? !handler->environment_level
                                                               : options->job_level == SX_SAID_YES;
    if (rc == PMIX_SUCCESS && (!place_is_good(options) || handler->has_object != (object != NULL) ||
                               (handler->range == PMIX_RANGE_CUSTOM && handler->sources == NULL) ||
                               (!handler->job_level && !handler->environment_level))) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    return rc;
}

/* ---- the events that a new one has had already --------------------------------------------- */

static bool procs_equal(const pmix_proc_t *a, size_t count, const pmix_proc_t *b,
                        size_t other_count)
{
    return count == other_count && (count == 0 || memcmp(a, b, count * sizeof(*a)) == 0);
}

/* The same function with the same events: events that the one has had, the other has had. */
static bool is_the_same_again(const struct sx_handler *a, const struct sx_handler *b)
{
    return a->fn == b->fn && a->code_count == b->code_count &&
           (a->code_count == 0 ||
            memcmp(a->codes, b->codes, a->code_count * sizeof(*a->codes)) == 0) &&
           a->range == b->range && a->job_level == b->job_level &&
           a->environment_level == b->environment_level && a->levels_unsaid == b->levels_unsaid &&
           procs_equal(a->sources, a->source_count, b->sources, b->source_count) &&
           procs_equal(a->affected, a->affected_count, b->affected, b->affected_count);
}

/* Under the lock, as the next. */
static void meet_calls(const struct sx_handlers *handlers, struct sx_handler *handler)
{
    SX_LIST_EACH(it, &handlers->calls) {
        const struct sx_handler_call *const call = SX_LIST_ENTRY(it, struct sx_handler_call, node);

        if (pthread_equal(call->thread, pthread_self())) {
            handler->in_hand = call->number;
            handler->had_upto = is_the_same_again(call->handler, handler) ? call->number : 0;
        } else if (!call->is_for_one) { /* else it was handled before, and this is for a late one */
            handler->passing = call->number;
            handler->passing_call = call->serial;
        }
    }
}

/* The call that was under way at the beginning of the registration has to be under way still. */
static void passing_settle(const struct sx_handlers *handlers, struct sx_handler *handler)
{
    SX_LIST_EACH(it, &handlers->calls) {
        if (SX_LIST_ENTRY(it, struct sx_handler_call, node)->serial == handler->passing_call) {
            return;
        }
    }
    handler->passing = 0;
}

static uint32_t ring_of(uint64_t number)
{
    return (uint32_t)(number >> SX_EVENT_RING_SHIFT) % SX_EVENT_RINGS_MAX;
}

static bool has_had(const struct sx_handler *handler, uint64_t number)
{
    return number != 0 &&
           (number == handler->in_hand || number == handler->passing ||
            (ring_of(number) == ring_of(handler->had_upto) && number <= handler->had_upto));
}

/* ---- registration -------------------------------------------------------------------------- */

static pmix_status_t handler_fill(struct sx_handler *handler, const pmix_status_t codes[],
                                  size_t ncodes, const struct sx_handler_options *options)
{
    handler->category = ncodes == 0 ? SX_ZONE_ANY : ncodes == 1 ? SX_ZONE_ONE : SX_ZONE_SEVERAL;
    memset(handler->since, 0xff, sizeof(handler->since)); /* none */
    if (ncodes > 0) {
        handler->codes = malloc(ncodes * sizeof(*codes));
        if (handler->codes == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        memcpy(handler->codes, codes, ncodes * sizeof(*codes));
        handler->code_count = ncodes;
    }
    return options_take(handler, options);
}

pmix_status_t sx_handlers_add(struct sx_handlers *handlers, const char *nspace,
                              const pmix_status_t codes[], size_t ncodes,
                              const struct sx_handler_options *options, pmix_notification_fn_t fn,
                              size_t *ret_id)
{
    struct sx_handler *handler = NULL;
    pmix_status_t rc;

    if (fn == NULL || (codes == NULL && ncodes != 0) || ncodes > SX_HANDLER_CODES_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    handler = calloc(1, sizeof(*handler));
    if (handler == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&handler->by_name);
    sx_list_init(&handler->by_id);
    handler->fn = fn;
    handler->reference_count = 1;
    memcpy(handler->nspace, nspace, sx_name_len(nspace, PMIX_MAX_NSLEN));
    rc = handler_fill(handler, codes, ncodes, options);
    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&sx_handlers_lock);
        rc = place(handlers, handler, options);
        if (rc == PMIX_SUCCESS) {
            index_add(handlers, handler);
            meet_calls(handlers, handler);
            *ret_id = handler->id;
        }
        pthread_mutex_unlock(&sx_handlers_lock);
    }
    if (rc != PMIX_SUCCESS) {
        handler_free(handler);
    }
    return rc;
}

void sx_handlers_since(struct sx_handlers *handlers, size_t id, uint64_t number)
{
    pthread_mutex_lock(&sx_handlers_lock);
    struct sx_handler *handler = find_id(handlers, id);

    if (handler != NULL) {
        handler->since[ring_of(number)] = number;
        passing_settle(handlers, handler);
    }
    pthread_mutex_unlock(&sx_handlers_lock);
}

/* The handler beside them is removed: they return to the front of their category, or to its end. */
static void companions_go_home(struct sx_handlers *handlers, enum sx_handler_zone from)
{
    struct sx_list *const zone = &handlers->zones[from];

    while (!sx_list_empty(zone)) { /* each comes between those before it and the others */
        struct sx_list *const node = from == SX_ZONE_FIRST ? zone->prev : zone->next;
        struct sx_handler *const handler = SX_LIST_ENTRY(node, struct sx_handler, node);

        sx_list_remove(node);
        handler->zone = handler->category;
        (from == SX_ZONE_FIRST ? place_early : place_late)(&handlers->zones[handler->zone],
                                                           handler);
    }
}

static bool runs_elsewhere(const struct sx_handlers *handlers, const struct sx_handler *handler)
{
    SX_LIST_EACH(it, &handlers->calls) {
        const struct sx_handler_call *const call = SX_LIST_ENTRY(it, struct sx_handler_call, node);

        if (call->handler == handler && !pthread_equal(call->thread, pthread_self())) {
            return true;
        }
    }
    return false;
}

pmix_status_t sx_handlers_remove(struct sx_handlers *handlers, size_t id)
{
    pthread_mutex_lock(&sx_handlers_lock);
    struct sx_handler *handler = find_id(handlers, id);

    if (handler != NULL) {
        sx_list_remove(&handler->node);
        if (handler->is_first || handler->is_last) {
            companions_go_home(handlers, handler->zone);
        }
        sx_list_remove(&handler->by_name);
        sx_list_remove(&handler->by_id);
        handlers->count--;
        handler->removed = true;
        while (runs_elsewhere(handlers, handler)) {
            pthread_cond_wait(&handlers->returned, &sx_handlers_lock);
        }
        sx_handler_release_locked(handler);
    }
    pthread_mutex_unlock(&sx_handlers_lock);
    return handler != NULL ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* ---- matching ------------------------------------------------------------------------------ */

/* Two processes of which either may stand for a whole namespace. */
static bool procs_meet(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return strcmp(a->nspace, b->nspace) == 0 &&
           (a->rank == b->rank || a->rank == PMIX_RANK_WILDCARD || b->rank == PMIX_RANK_WILDCARD);
}

static bool any_meets(const pmix_proc_t *procs, size_t count, const pmix_proc_t *others,
                      size_t other_count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < other_count; j++) {
            if (procs_meet(&procs[i], &others[j])) {
                return true;
            }
        }
    }
    return false;
}

static bool wants_source(const struct sx_handler *handler, const struct sx_event_facts *event)
{
    switch (handler->range) {
    case PMIX_RANGE_RM:
        return event->source->nspace[0] == '\0';
    case PMIX_RANGE_NAMESPACE:
        return strcmp(event->source->nspace, handler->nspace) == 0;
    case PMIX_RANGE_PROC_LOCAL:
        return event->from_self;
    case PMIX_RANGE_CUSTOM:
        return any_meets(handler->sources, handler->source_count, event->source, 1);
    default:
        return true;
    }
}

/* PMIx has two codes for a lost server; a handler for either receives both. */
static bool codes_agree(pmix_status_t asked, pmix_status_t code)
{
    const bool both_lost = (asked == PMIX_ERR_LOST_CONNECTION_TO_SERVER ||
                            asked == PMIX_ERR_LOST_CONNECTION) &&
                           (code == PMIX_ERR_LOST_CONNECTION_TO_SERVER);

    return asked == code || both_lost;
}

/* The environment's events reach handlers that ask for its level, or that name the code and no
 * level.  Codes that are not system events may be the job's own business, no matter which process
 * sends them: they reach the others too. */
static bool wants_level(const struct sx_handler *handler, const struct sx_event_facts *event)
{
    if (!event->environment) {
        return handler->job_level;
    }
    return handler->environment_level || !PMIX_SYSTEM_EVENT(event->code) ||
           (handler->levels_unsaid && handler->code_count > 0);
}

static bool names(const struct sx_handler *handler, pmix_status_t code)
{
    for (size_t i = 0; i < handler->code_count; i++) {
        if (codes_agree(handler->codes[i], code)) {
            return true;
        }
    }
    return false;
}

size_t sx_handlers_next(struct sx_handlers *handlers)
{
    pthread_mutex_lock(&sx_handlers_lock);
    const size_t next = handlers->next_id;
    pthread_mutex_unlock(&sx_handlers_lock);
    return next;
}

bool sx_handlers_receive(const struct sx_handlers *handlers, pmix_status_t code)
{
    /* relaxed: a handler that must be found was registered before, under another lock. */
    const uint64_t received = atomic_load_explicit(&handlers->received, memory_order_relaxed);

    return (received >> bit_of(code) & 1) != 0;
}

static bool wants(const struct sx_handler *handler, const struct sx_event_facts *event)
{
    if (handler->code_count == 0 ? event->non_default : !names(handler, event->code)) {
        return false;
    }
    if (event->is_for_one
            ? event->only != handler->id || has_had(handler, event->number)
            : event->number != 0 && event->number <= handler->since[ring_of(event->number)]) {
        return false;
    }
    if (event->before != 0 && handler->id >= event->before) {
        return false;
    }
    return wants_level(handler, event) && wants_source(handler, event) &&
           (handler->affected == NULL || any_meets(handler->affected, handler->affected_count,
                                                   event->affected, event->affected_count));
}

void sx_matches_deinit(struct sx_matches *matches)
{
    free(matches->all);
    *matches = SX_MATCHES_NULL;
}

pmix_status_t sx_handlers_match_locked(struct sx_handlers *handlers,
                                       const struct sx_event_facts *event,
                                       struct sx_matches *matches)
{
    matches->count = 0;
    if (matches->room < handlers->count) {
        sx_matches_deinit(matches);
        matches->all = malloc(handlers->count * sizeof(matches->all[0]));
        if (matches->all == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        matches->room = handlers->count;
    }
    for (size_t i = 0; i < SX_ZONE_COUNT; i++) {
        SX_LIST_EACH(it, &handlers->zones[i]) {
            struct sx_handler *handler = SX_LIST_ENTRY(it, struct sx_handler, node);

            if (wants(handler, event)) {
                handler->reference_count++;
                matches->all[matches->count++] = handler;
            }
        }
    }
    return PMIX_SUCCESS;
}

/* Under the lock. */
static void call_fill(const struct sx_handler *handler, pmix_status_t code,
                      struct sx_handler_call *ret)
{
    /* A default handler receives a lost server under the code that is not deprecated. */
    const bool by_new_name = handler->code_count == 0 && code == PMIX_ERR_LOST_CONNECTION_TO_SERVER;

    ret->id = handler->id;
    ret->code = by_new_name ? PMIX_ERR_LOST_CONNECTION : code;
    ret->fn = handler->fn;
    ret->object = handler->object;
    ret->has_object = handler->has_object;
    ret->name[0] = '\0'; /* not all of it: this runs for every call */
    if (handler->name != NULL) {
        memcpy(ret->name, handler->name, strlen(handler->name) + 1);
    }
    for (size_t i = 0; i < handler->code_count; i++) {
        if (codes_agree(handler->codes[i], code)) {
            ret->code = handler->codes[i];
            break;
        }
    }
}

bool sx_handlers_call_locked(struct sx_handlers *handlers, struct sx_handler *handler,
                             const struct sx_event_facts *event, struct sx_handler_call *ret)
{
    if (handler->removed || handler->spent) {
        return false;
    }
    handler->spent = handler->once;
    call_fill(handler, event->code, ret);
    ret->handler = handler;
    ret->thread = pthread_self();
    ret->serial = ++handlers->call_last;
    ret->number = event->number;
    ret->is_for_one = event->is_for_one;
    sx_list_append(&handlers->calls, &ret->node);
    return true;
}

size_t sx_handlers_returned_locked(struct sx_handlers *handlers, struct sx_handler_call *call)
{
    const bool goes = call->handler->spent && !call->handler->removed;

    sx_list_remove(&call->node);
    if (call->handler->removed) {
        pthread_cond_broadcast(&handlers->returned); /* its remover may wait for this */
    }
    sx_handler_release_locked(call->handler);
    return goes && handlers->spent != NULL ? call->id : 0;
}
