/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* chain.c - call, wait for the word, collect what was said, call the next. */
#include "base/chain.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/results.h"
#include "base/value.h"

struct sx_chain {
    union sx_chain_post post_space;
    struct sx_chain_options options;
    pmix_proc_t source;
    struct sx_handler **matches;
    size_t match_count, next;
    struct sx_list waiting; /* in `waiting`: a handler runs and has not completed */
    /* Under the lock: */
    bool in_call;       /* the handler's function has not returned; nobody else frees the chain */
    bool completed;     /* it has completed inside; the step goes on when it returns */
    bool is_over;       /* then there is no next one */
    bool forgotten;     /* to be freed when it returns */
    uintptr_t ticket;   /* what that handler was given, and no other one ever */
    pmix_info_t *infos; /* the event's, then name and object of the one that runs */
    size_t event_info_count, info_room;
    char *name; /* of the one that runs; NULL: it has none */
    struct sx_results results;
};

/* Handlers get a number, not a pointer: one that completes a second time, when its chain may long
 * be gone, finds nothing. */
static pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_list waiting = SX_LIST_INIT(waiting); /* under the lock, as the one below */
static uintptr_t ticket_last;

union sx_chain_post *sx_chain_post(struct sx_chain *chain)
{
    return &chain->post_space;
}

static void chain_end(struct sx_chain *chain)
{
    const struct sx_chain_options options = chain->options;

    for (size_t i = chain->next; i < chain->match_count; i++) {
        sx_handlers_release(options.handlers, chain->matches[i]);
    }
    free(chain->matches);
    free(chain->name);
    sx_elements_destruct(chain->infos, chain->event_info_count, PMIX_INFO);
    free(chain->infos);
    sx_results_deinit(&chain->results);
    free(chain);
    if (options.ended != NULL) {
        options.ended(options.arg);
    }
}

static void chain_post(struct sx_chain *chain)
{
    if (!chain->options.post(chain, chain->options.arg)) {
        chain_end(chain);
    }
}

pmix_status_t sx_chain_start(const struct sx_chain_options *options)
{
    /* Not calloc: in glibc it passes by the thread's cache, and a chain is made for every event. */
    struct sx_chain *chain = malloc(sizeof(*chain));

    if (chain == NULL) {
        sx_elements_destruct(options->info, options->ninfo, PMIX_INFO);
        free(options->info);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *chain = (struct sx_chain){ .options = *options,
                                .source = *options->facts.source,
                                .infos = options->info,
                                .event_info_count = options->ninfo,
                                .info_room = options->ninfo };
    sx_list_init(&chain->waiting);
    chain->options.facts.affected = NULL;
    chain->options.facts.affected_count = 0;
    const pmix_status_t rc = sx_handlers_match(options->handlers, &options->facts, &chain->matches,
                                               &chain->match_count);

    if (rc != PMIX_SUCCESS) {
        chain->options.ended = NULL; /* the caller knows by the status */
        chain_end(chain);
    } else if (chain->match_count == 0) {
        chain_end(chain);
    } else if (options->here) {
        sx_chain_step(chain);
    } else {
        chain_post(chain);
    }
    return rc;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Return: the ticket for the handler that is about to run. */
static uintptr_t waiting_add(struct sx_chain *chain)
{
    pthread_mutex_lock(&waiting_lock);
    const uintptr_t ticket = ++ticket_last;

    chain->ticket = ticket;
    chain->in_call = true;
    chain->completed = false;
    sx_list_append(&waiting, &chain->waiting);
    pthread_mutex_unlock(&waiting_lock);
    return ticket;
}

/* The newest are the likeliest to be asked for: others may wait for ever.  Under the lock. */
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

/* Under the lock.  Return: NULL when the ticket has been used, or its chain is forgotten. */
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

/* The handler's function has returned. */
static enum after call_ended(struct sx_chain *chain)
{
    enum after after = AFTER_LATER; /* somebody completes it, and may just be about to */

    pthread_mutex_lock(&waiting_lock);
    chain->in_call = false;
    if (chain->forgotten) {
        sx_list_remove(&chain->waiting);
        after = AFTER_END;
    } else if (chain->completed) {
        after = chain->is_over ? AFTER_END : AFTER_NEXT;
    }
    pthread_mutex_unlock(&waiting_lock);
    return after;
}

/* The handler's word is in; under the lock.  Return: whether its function has still to return, and
 * the step goes on from there. */
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

    pthread_mutex_lock(&waiting_lock);
    SX_LIST_EACH(it, &waiting) {
        struct sx_chain *chain = SX_LIST_ENTRY(it, struct sx_chain, waiting);

        if (chain->options.handlers == handlers && chain->in_call) {
            chain->forgotten = true; /* its infos are in use: freed when the function returns */
        } else if (chain->options.handlers == handlers) {
            sx_list_remove(it);
            sx_list_append(&found, it);
        }
    }
    pthread_mutex_unlock(&waiting_lock);
    while ((node = sx_list_pop(&found)) != NULL) {
        chain_end(SX_LIST_ENTRY(node, struct sx_chain, waiting));
    }
}

/* A handler has completed; any thread, inside the handler or later. */
static void handler_completed(pmix_status_t status, pmix_info_t *results, size_t nresults,
                              pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata)
{
    /* Nothing to keep and nobody to tell: then one hold of the lock does. */
    const bool is_brief = status == PMIX_EVENT_ACTION_COMPLETE && cbfunc == NULL;

    pthread_mutex_lock(&waiting_lock);
    struct sx_chain *chain = waiting_take((uintptr_t)notification_cbdata);
    bool in_call = chain != NULL && is_brief && call_completed(chain, true);

    pthread_mutex_unlock(&waiting_lock);
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
    if (status != PMIX_EVENT_ACTION_COMPLETE) {
        sx_results_add(&chain->results, chain->name != NULL ? chain->name : "", status, results,
                       results == NULL ? 0 : nresults);
    }
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, thiscbdata);
    }
    const bool is_over = status == PMIX_EVENT_ACTION_COMPLETE || chain->next == chain->match_count;

    pthread_mutex_lock(&waiting_lock);
    in_call = call_completed(chain, is_over);
    pthread_mutex_unlock(&waiting_lock);
    if (in_call) {
        return; /* the chain is the step's */
    }
    if (is_over) {
        chain_end(chain);
    } else {
        chain_post(chain);
    }
}

/* Room for name and object of the handler, most of which have neither.  Return: false, with a line,
 * when there is none. */
static bool infos_room(struct sx_chain *chain)
{
    const size_t room = chain->event_info_count + 2;
    pmix_info_t *infos = chain->infos;

    if (chain->info_room < room) {
        infos = realloc(chain->infos, room * sizeof(*infos));
        if (infos == NULL) {
            sx_log(SX_LOG_ERROR, "an event handler gets neither its name nor its object: memory is "
                                 "short");
            return false;
        }
        chain->infos = infos;
        chain->info_room = room;
    }
    memset(&infos[chain->event_info_count], 0, 2 * sizeof(*infos));
    return true;
}

/* Name and object of the handler, behind the event's own infos. */
static size_t infos_complete(struct sx_chain *chain, const struct sx_handler_call *call)
{
    size_t count = chain->event_info_count;

    free(chain->name);
    chain->name = call->name[0] != '\0' ? strdup(call->name) : NULL;
    if ((chain->name == NULL && !call->has_object) || !infos_room(chain)) {
        return count;
    }
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

/* Return: AFTER_NEXT also when it was removed before its turn. */
static enum after handler_run(struct sx_chain *chain, struct sx_handler *handler)
{
    struct sx_handlers *handlers = chain->options.handlers;
    enum after after = AFTER_NEXT;
    struct sx_handler_call call;

    if (sx_handlers_call(handlers, handler, &chain->options.facts, &call)) {
        const size_t ninfo = infos_complete(chain, &call);
        const uintptr_t ticket = waiting_add(chain);

        call.fn(call.id, call.code, &chain->source, ninfo == 0 ? NULL : chain->infos, ninfo,
                chain->results.count == 0 ? NULL : chain->results.all, chain->results.count,
                handler_completed, (void *)ticket);
        after = call_ended(chain);
        sx_handlers_returned(handlers, &call);
    } else {
        sx_handlers_release(handlers, handler);
    }
    return after;
}

void sx_chain_step(struct sx_chain *chain)
{
    enum after after = AFTER_NEXT;

    /* Those that complete inside are followed by the next at once, so that each handler hears of
     * one event after the other. */
    while (after == AFTER_NEXT && chain->next < chain->match_count) {
        after = handler_run(chain, chain->matches[chain->next++]);
    }
    if (after != AFTER_LATER) {
        chain_end(chain);
    }
}
