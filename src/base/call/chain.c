/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* chain.c - call a handler, wait for its completion, collect its results, call the next. */
#include "base/call/chain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_common.h>

#include "base/log.h"
#include "base/value/flat.h"
#include "base/value/value.h"

/* The results of an event's handlers so far, as the next one receives them.
 *
 *     name: status | what it returned | name: status | what it returned ...
 *
 * One flat array.  For each earlier handler an element with its name as the key (empty when
 * unnamed) and the status it returned, then its infos.  A handler may edit values in place, and
 * delete an element by freeing its key, that is by making it empty.  Of the wishes about
 * termination (PMIX_EVENT_NO_TERMINATION, PMIX_EVENT_WANT_TERMINATION) only the newest stands, and
 * a required PMIX_EVENT_WANT_TERMINATION stands for good.  One thread at a time. */

struct results {
    pmix_info_t *all; /* NULL: none, and nothing to free */
    bool *keyed;      /* which of them had a key: one without it now was deleted */
    size_t count, capacity;
    bool must_terminate; /* a required wish was among them */
};

#define RESULTS_NULL ((struct results){ .all = NULL })

/* ---- results --------------------------------------------------------------------------------- */

/* Drop deleted infos, append new ones, keep one wish about termination. */

/* Safe on RESULTS_NULL and twice. */
static void results_deinit(struct results *results)
{
    sx_elements_destruct(results->all, results->count, PMIX_INFO);
    free(results->all);
    free(results->keyed);
    *results = RESULTS_NULL;
}

/* Return: whether @more elements fit now. */
static bool room_make(struct results *results, size_t more)
{
    const size_t count = results->count + more;

    if (count <= results->capacity) {
        return true;
    }
    const size_t capacity = 2 * count; /* so that many handlers do not copy it many times */
    pmix_info_t *const all = realloc(results->all, capacity * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    results->all = all;
    bool *const keyed = realloc(results->keyed, capacity * sizeof(*keyed));

    if (keyed == NULL) {
        return false;
    }
    results->keyed = keyed;
    results->capacity = capacity;
    return true;
}

/* Drop the elements for which @is says yes. */
static void drop(struct results *results,
                 bool (*is)(const struct results *results, size_t index, const void *arg),
                 const void *arg)
{
    size_t kept = 0;

    for (size_t i = 0; i < results->count; i++) {
        if (is(results, i, arg)) {
            sx_elements_destruct(&results->all[i], 1, PMIX_INFO);
            continue;
        }
        results->keyed[kept] = results->keyed[i];
        if (kept != i) {
            results->all[kept] = results->all[i];
        }
        kept++;
    }
    results->count = kept;
}

static bool was_deleted(const struct results *results, size_t index, const void *arg)
{
    (void)arg;
    return results->keyed[index] && results->all[index].key[0] == '\0';
}

/* ---- termination --------------------------------------------------------------------------- */

static bool has_key(const pmix_info_t *info, const char *key)
{
    return sx_name_len(info->key, sizeof(info->key)) < sizeof(info->key) &&
           strcmp(info->key, key) == 0;
}

static bool is_wish(const pmix_info_t *info)
{
    return (has_key(info, PMIX_EVENT_NO_TERMINATION) ||
            has_key(info, PMIX_EVENT_WANT_TERMINATION)) &&
           sx_value_is_true(&info->value);
}

static bool is_order(const pmix_info_t *info)
{
    return is_wish(info) && has_key(info, PMIX_EVENT_WANT_TERMINATION) &&
           (info->flags & PMIX_INFO_REQD) != 0;
}

/* A wish, but not the one at *arg. */
static bool is_other_wish(const struct results *results, size_t index, const void *arg)
{
    return is_wish(&results->all[index]) && index != *(const size_t *)arg;
}

/* The elements from @first on are new: the newest wish stands, a required one against all. */
static void wishes_settle(struct results *results, size_t first)
{
    size_t stands = results->count; /* no index */

    for (size_t i = results->must_terminate ? 0 : first; i < results->count; i++) {
        if (is_order(&results->all[i])) {
            results->must_terminate = true;
            stands = i;
            break;
        }
        if (is_wish(&results->all[i])) {
            stands = i;
        }
    }
    if (stands < results->count) {
        drop(results, is_other_wish, &stands);
    }
}

/* A handler has edited the required wish away: here it is again.  There is room. */
static void order_restore(struct results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        if (is_order(&results->all[i])) {
            return;
        }
    }
    pmix_info_t *const info = &results->all[results->count];

    memset(info, 0, sizeof(*info));
    memcpy(info->key, PMIX_EVENT_WANT_TERMINATION, sizeof(PMIX_EVENT_WANT_TERMINATION));
    info->flags = PMIX_INFO_REQD;
    info->value.type = PMIX_BOOL;
    info->value.data.flag = true;
    results->keyed[results->count++] = true;
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A handler called @name ("": unnamed) has returned @status and @info; everything is copied.  When
 * memory is short, later handlers receive fewer results, with a line in the log. */
static void results_add(struct results *results, const char *name, pmix_status_t status,
                        const pmix_info_t info[], size_t ninfo)
{
    if (!room_make(results, 2 + ninfo)) {
        sx_log(SX_LOG_ERROR, "memory is short: later event handlers hear less of earlier ones");
        return;
    }
    drop(results, was_deleted, NULL);
    if (results->must_terminate) {
        order_restore(results);
    }
    const size_t first = results->count;
    pmix_info_t *const own = &results->all[first];

    memset(own, 0, sizeof(*own));
    memcpy(own->key, name, sx_name_len(name, PMIX_MAX_KEYLEN));
    own->value.type = PMIX_STATUS;
    own->value.data.status = status;
    results->count++;
    if (ninfo > 0) {
        if (sx_elements_copy(own + 1, info, ninfo, PMIX_INFO) == PMIX_SUCCESS) {
            results->count += ninfo;
        } else {
            sx_log(SX_LOG_ERROR, "what event handler '%s' returned cannot be copied and is lost",
                   name);
        }
    }
    for (size_t i = first; i < results->count; i++) {
        results->keyed[i] = results->all[i].key[0] != '\0';
    }
    wishes_settle(results, first);
}

/* ---- chain ----------------------------------------------------------------------------------- */

#define INFOS_KEPT_MAX 16u   /* of a chain that ended, for the next one */
#define MATCHES_KEPT_MAX 64u /* the same */

struct sx_chain {
    /* The memory that stays from one event to the next. */
    struct sx_matches matches;
    pmix_info_t *infos; /* the event's, then name and object of the one that runs */
    size_t info_room;
    /* One event's. */
    union sx_chain_post post_space;
    struct sx_chain_options options;
    pmix_proc_t source;
    size_t event_info_count;
    bool owns_infos;        /* what they point at is the chain's, too */
    size_t next;            /* of the matches */
    struct sx_list waiting; /* in `waiting`: a handler runs and has not completed */
    /* Under the lock: */
    bool in_call;     /* the handler's function has not returned; no other thread frees the chain */
    bool completed;   /* it has completed inside; the step goes on when it returns */
    bool is_over;     /* then there is no next one */
    bool forgotten;   /* to be freed when it returns */
    uintptr_t ticket; /* of that handler; no other ever has the same */
    char *name;       /* of the one that runs; NULL: it has none */
    struct results results;
};

/* Handlers get a number, not a pointer: a second completion, after its chain may have been freed,
 * matches nothing.  Under sx_handlers_lock, both. */
static struct sx_list waiting = SX_LIST_INIT(waiting);
static uintptr_t ticket_last;

/* ---- life ---------------------------------------------------------------------------------- */

/* The chain of an event that is over, for the next one: most often there is one at a time. */
static _Atomic(struct sx_chain *) spare;

static void chain_free(struct sx_chain *chain)
{
    if (chain != NULL) {
        sx_matches_deinit(&chain->matches);
        free(chain->infos);
        free(chain);
    }
}

/* Release all of the chain but its memory for the next event. */
static void chain_spare(struct sx_chain *chain)
{
    if (chain->info_room > INFOS_KEPT_MAX) {
        free(chain->infos);
        chain->infos = NULL;
        chain->info_room = 0;
    }
    if (chain->matches.room > MATCHES_KEPT_MAX) {
        sx_matches_deinit(&chain->matches);
    }
    /* R-spare -> A-spare (chain_new): its taker finds it as it is here. */
    chain_free(atomic_exchange_explicit(&spare, chain, memory_order_acq_rel));
}

static struct sx_chain *chain_new(const struct sx_chain_options *options)
{
    /* A-spare <- R-spare (chain_spare). */
    struct sx_chain *chain = atomic_exchange_explicit(&spare, NULL, memory_order_acquire);

    if (chain == NULL) {
        chain = calloc(1, sizeof(*chain));
    }
    if (chain != NULL) {
        /* Field by field: an assignment of the whole would build it elsewhere first, and then copy
         * it. */
        chain->options = *options;
        chain->source = *options->facts.source;
        chain->matches.count = chain->event_info_count = chain->next = 0;
        chain->owns_infos = false;
        chain->in_call = chain->completed = chain->is_over = chain->forgotten = false;
        chain->ticket = 0;
        chain->name = NULL;
        chain->results = RESULTS_NULL;
        sx_list_init(&chain->waiting);
    }
    return chain;
}

union sx_chain_post *sx_chain_post(struct sx_chain *chain)
{
    return &chain->post_space;
}

static void chain_end(struct sx_chain *chain)
{
    void (*const ended)(void *arg) = chain->options.ended;
    void *const arg = chain->options.arg;

    if (chain->next < chain->matches.count) {
        pthread_mutex_lock(&sx_handlers_lock);
        while (chain->next < chain->matches.count) {
            sx_handler_release_locked(chain->matches.all[chain->next++]);
        }
        pthread_mutex_unlock(&sx_handlers_lock);
    }
    free(chain->name);
    if (chain->owns_infos) {
        sx_elements_destruct(chain->infos, chain->event_info_count, PMIX_INFO);
    }
    if (chain->results.all != NULL) {
        results_deinit(&chain->results);
    }
    chain_spare(chain);
    if (ended != NULL) {
        ended(arg);
    }
}

static void chain_post(struct sx_chain *chain)
{
    if (!chain->options.post(chain, chain->options.arg)) {
        chain_end(chain);
    }
}

/* ---- infos --------------------------------------------------------------------------------- */

/* Return: false when there is no memory for @room infos; those that are there stay. */
static bool infos_room(struct sx_chain *chain, size_t room)
{
    pmix_info_t *const infos = room <= chain->info_room
                                   ? chain->infos
                                   : realloc(chain->infos, room * sizeof(*infos));

    if (infos == NULL) {
        return room == 0;
    }
    chain->infos = infos;
    chain->info_room = room > chain->info_room ? room : chain->info_room;
    return true;
}

/* @infos are malloc'ed, and the chain's from here. */
static void infos_adopt(struct sx_chain *chain, pmix_info_t *infos, size_t count)
{
    free(chain->infos);
    chain->infos = infos;
    chain->info_room = chain->event_info_count = count;
    chain->owns_infos = true;
}

/* The event's infos as they lie in its bytes; those that need memory of their own get it. */
static pmix_status_t infos_read(struct sx_chain *chain, const void *bytes, size_t size)
{
    pmix_info_t *infos = NULL;
    size_t count;
    bool borrowed = sx_flat_infos_borrow(bytes, size, chain->infos, chain->info_room, &count);

    if (!borrowed && count > chain->info_room && count <= INFOS_KEPT_MAX &&
        infos_room(chain, count)) {
        borrowed = sx_flat_infos_borrow(bytes, size, chain->infos, chain->info_room, &count);
    }
    if (borrowed) {
        chain->event_info_count = count;
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_flat_infos_decode(bytes, size, &infos, &count);

    if (rc == PMIX_SUCCESS) {
        infos_adopt(chain, infos, count);
    }
    return rc;
}

/* Name and object of the handler, most of which have neither, behind the event's own infos. */
static size_t infos_complete(struct sx_chain *chain, const struct sx_handler_call *call)
{
    size_t count = chain->event_info_count;

    free(chain->name);
    chain->name = call->name[0] != '\0' ? strdup(call->name) : NULL;
    if (chain->name == NULL && !call->has_object) {
        return count;
    }
    if (!infos_room(chain, count + 2)) {
        sx_log(SX_LOG_ERROR, "an event handler gets neither its name nor its object: memory is "
                             "short");
        return count;
    }
    memset(&chain->infos[count], 0, 2 * sizeof(chain->infos[0]));
    if (chain->name != NULL) {
        memcpy(chain->infos[count].key, PMIX_EVENT_HDLR_NAME, sizeof(PMIX_EVENT_HDLR_NAME));
        chain->infos[count].value.type = PMIX_STRING;
        chain->infos[count++].value.data.string = chain->name;
    }
    if (call->has_object) {
        memcpy(chain->infos[count].key, PMIX_EVENT_RETURN_OBJECT, sizeof(PMIX_EVENT_RETURN_OBJECT));
        chain->infos[count].value.type = PMIX_POINTER;
        chain->infos[count++].value.data.ptr = call->object;
    }
    return count;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The next handler is about to run.  Under the lock, as the next ones.  Return: false when there is
 * none. */
static bool step_begin_locked(struct sx_chain *chain, struct sx_handler_call *ret)
{
    while (chain->next < chain->matches.count) {
        struct sx_handler *const handler = chain->matches.all[chain->next++];

        if (sx_handlers_call_locked(chain->options.handlers, handler, &chain->options.facts, ret)) {
            chain->ticket = ++ticket_last;
            chain->in_call = true;
            chain->completed = false;
            sx_list_append(&waiting, &chain->waiting);
            return true;
        }
        sx_handler_release_locked(handler); /* removed before its turn */
    }
    return false;
}

/* The newest are the likeliest to complete: others may wait for ever. */
static struct sx_chain *waiting_find(uintptr_t ticket)
{
    for (struct sx_list *it = waiting.prev; it != &waiting; it = it->prev) {
        struct sx_chain *chain = SX_LIST_ENTRY(it, struct sx_chain, waiting);

        if (chain->ticket == ticket) {
            return chain;
        }
        if (chain->ticket < ticket) {
            break; /* tickets rise along the list */
        }
    }
    return NULL;
}

/* Return: NULL when the ticket has been used, or its chain is forgotten. */
static struct sx_chain *waiting_take(uintptr_t ticket)
{
    struct sx_chain *chain = waiting_find(ticket);

    if (chain != NULL && chain->forgotten) {
        chain = NULL;
    }
    if (chain != NULL) {
        sx_list_remove(&chain->waiting);
    }
    return chain;
}

enum after { AFTER_LATER, AFTER_NEXT, AFTER_END };

/* The handler's function has returned.  Return: AFTER_NEXT: *call is the next one's. */
static enum after call_ended_locked(struct sx_chain *chain, struct sx_handler_call *call,
                                    size_t *ret_spent)
{
    struct sx_handlers *const handlers = chain->options.handlers;

    chain->in_call = false;
    *ret_spent = sx_handlers_returned_locked(handlers, call);
    if (chain->forgotten) {
        sx_list_remove(&chain->waiting);
        return AFTER_END;
    }
    if (!chain->completed) {
        return AFTER_LATER; /* another thread completes it, perhaps just now */
    }
    return !chain->is_over && step_begin_locked(chain, call) ? AFTER_NEXT : AFTER_END;
}

/* The handler has completed.  Return: whether its function has still to return, and the step goes
 * on from there. */
static bool call_completed(struct sx_chain *chain, bool is_over)
{
    chain->completed = true;
    chain->is_over = is_over;
    return chain->in_call;
}

void sx_chain_forget(struct sx_handlers *handlers)
{
    struct sx_list found = SX_LIST_INIT(found);
    struct sx_list *node;

    pthread_mutex_lock(&sx_handlers_lock);
    SX_LIST_EACH(it, &waiting) {
        struct sx_chain *chain = SX_LIST_ENTRY(it, struct sx_chain, waiting);

        if (chain->options.handlers == handlers && chain->in_call) {
            chain->forgotten = true; /* its infos are in use: freed when the function returns */
        } else if (chain->options.handlers == handlers) {
            sx_list_remove(it);
            sx_list_append(&found, it);
        }
    }
    pthread_mutex_unlock(&sx_handlers_lock);
    while ((node = sx_list_pop(&found)) != NULL) {
        chain_end(SX_LIST_ENTRY(node, struct sx_chain, waiting));
    }
    chain_free(atomic_exchange_explicit(&spare, NULL, memory_order_acquire)); /* A-spare */
}

/* A handler has completed; any thread, inside the handler or later. */
static void handler_completed(pmix_status_t status, pmix_info_t *results, size_t nresults,
                              pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata)
{
    pthread_mutex_lock(&sx_handlers_lock);
    struct sx_chain *const chain = waiting_take((uintptr_t)notification_cbdata);
    const bool is_over = chain != NULL && (status == PMIX_EVENT_ACTION_COMPLETE ||
                                           chain->next == chain->matches.count);
    /* No handler follows and no callback waits: then one hold of the lock suffices. */
    const bool is_brief = is_over && cbfunc == NULL && chain->options.said == NULL;
    bool in_call = is_brief && call_completed(chain, true);

    pthread_mutex_unlock(&sx_handlers_lock);
    if (chain == NULL) {
        sx_log(SX_LOG_WARN, "an event handler completed twice, or after the end");
        return;
    }
    if (is_brief) {
        if (!in_call) {
            chain_end(chain);
        }
        return;
    }
    if (chain->options.said != NULL) {
        chain->options.said(chain->options.arg, status, results, results == NULL ? 0 : nresults);
    }
    if (!is_over) {
        results_add(&chain->results, chain->name != NULL ? chain->name : "", status, results,
                    results == NULL ? 0 : nresults);
    }
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, thiscbdata);
    }
    pthread_mutex_lock(&sx_handlers_lock);
    in_call = call_completed(chain, is_over);
    pthread_mutex_unlock(&sx_handlers_lock);
    if (in_call) {
        return; /* the chain is the step's */
    }
    if (is_over) {
        chain_end(chain);
    } else {
        chain_post(chain);
    }
}

/* A handler that completes inside is followed by the next at once, so that each handler receives
 * one event after the other. */
static void step_run(struct sx_chain *chain, struct sx_handler_call *call)
{
    struct sx_handlers *const handlers = chain->options.handlers;
    enum after after;
    size_t id;

    do {
        const size_t ninfo = infos_complete(chain, call);

        call->fn(call->id, call->code, &chain->source, ninfo == 0 ? NULL : chain->infos, ninfo,
                 chain->results.count == 0 ? NULL : chain->results.all, chain->results.count,
                 handler_completed, (void *)chain->ticket);
        pthread_mutex_lock(&sx_handlers_lock);
        after = call_ended_locked(chain, call, &id);
        void (*const spent)(size_t id) = handlers->spent;

        pthread_mutex_unlock(&sx_handlers_lock);
        if (id != 0) {
            spent(id);
        }
    } while (after == AFTER_NEXT);
    if (after == AFTER_END) {
        chain_end(chain);
    }
}

/* Find the handlers of the event, and the first to call.  Return: false with *ret_rc PMIX_SUCCESS
 * when there is no handler to call now. */
static bool chain_match(struct sx_chain *chain, const struct sx_event_facts *facts,
                        struct sx_handler_call *ret_call, pmix_status_t *ret_rc)
{
    pthread_mutex_lock(&sx_handlers_lock);
    *ret_rc = sx_handlers_match_locked(chain->options.handlers, facts, &chain->matches);
    const bool calls = *ret_rc == PMIX_SUCCESS && chain->options.here &&
                       step_begin_locked(chain, ret_call);

    pthread_mutex_unlock(&sx_handlers_lock);
    return calls;
}

pmix_status_t sx_chain_start(const struct sx_chain_options *options)
{
    struct sx_chain *const chain = chain_new(options);
    struct sx_handler_call call;
    pmix_status_t rc = PMIX_SUCCESS;

    if (chain == NULL) {
        sx_elements_destruct(options->info, options->ninfo, PMIX_INFO);
        free(options->info);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (options->info != NULL) {
        infos_adopt(chain, options->info, options->ninfo);
    } else if (options->bytes_size > 0) {
        rc = infos_read(chain, options->bytes, options->bytes_size);
    }
    chain->options.facts.affected = NULL;
    chain->options.facts.affected_count = 0;
    chain->options.facts.source = &chain->source;
    if (rc == PMIX_SUCCESS && chain_match(chain, &options->facts, &call, &rc)) {
        step_run(chain, &call);
    } else if (rc == PMIX_SUCCESS && chain->next < chain->matches.count) {
        chain_post(chain);
    } else {
        chain->options.ended = rc == PMIX_SUCCESS ? options->ended : NULL; /* else rc reports it */
        chain_end(chain);
    }
    return rc;
}

void sx_chain_step(struct sx_chain *chain)
{
    struct sx_handler_call call;

    pthread_mutex_lock(&sx_handlers_lock);
    const bool calls = step_begin_locked(chain, &call);

    pthread_mutex_unlock(&sx_handlers_lock);
    if (calls) {
        step_run(chain, &call);
    } else {
        chain_end(chain);
    }
}
