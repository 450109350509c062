/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_handlers.c - the host's table of handlers, and the loop as the thread that runs them.
 *
 *     REGISTERED --activated, by a post to the loop--> receives events --deregistered--> gone
 *
 * Events for the host are numbered as those of a namespace are, and the newest are kept.  A handler
 * gets the kept events up to the number at which it is activated, and each later event as it is
 * published. */
#include "server/event/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/call/chain.h"
#include "base/call/handlers.h"
#include "base/status.h"
#include "server/event/event_codes.h"

/* One handler of the host.  All that its removal needs is allocated with it, as a removal cannot
 * fail. */
struct own {
    struct sx_list link; /* all_own, until it is deregistered; then the loop thread frees it */
    struct sx_loop_post activating, leaving;
    struct sx_server *server; /* constant, like the next two */
    size_t id;
    bool environment;
    size_t counted; /* how many of its codes are counted; loop thread */
    size_t code_count;
    pmix_status_t codes[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sx_handlers table;
static atomic_bool any_codes; /* a handler with codes was registered since the table was last
                               * empty */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_server *serving; /* under lock, like the next; NULL: no loop takes posts */
static struct sx_list all_own = SX_LIST_INIT(all_own);

static void spent(size_t id)
{
    (void)sx_hostevent_deregister(id);
}

static void table_prepare(void)
{
    sx_handlers_init(&table);
    sx_handlers_on_spent(&table, spent);
}

void sx_hostevent_serve(struct sx_server *server)
{
    pthread_once(&once, table_prepare);
    pthread_mutex_lock(&lock);
    serving = server;
    pthread_mutex_unlock(&lock);
}

void sx_hostevent_clear(void)
{
    struct sx_list *node;

    pthread_mutex_lock(&lock);
    serving = NULL;
    while ((node = sx_list_pop(&all_own)) != NULL) {
        free(SX_LIST_ENTRY(node, struct own, link));
    }
    pthread_mutex_unlock(&lock);
    sx_chain_forget(&table);
    sx_handlers_deinit(&table);
    table_prepare();
    atomic_store(&any_codes, false);
}

/* ---- delivery ------------------------------------------------------------------------------ */

static void step_run(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_chain_step(arg);
}

static bool step_post(struct sx_chain *chain, void *arg)
{
    struct sx_loop_post *post = (struct sx_loop_post *)(void *)sx_chain_post(chain);
    bool posted = false;

    (void)arg;
    *post = (struct sx_loop_post){ .fn = step_run, .arg = chain };
    pthread_mutex_lock(&lock);
    posted = serving != NULL && sx_loop_post(serving->loop, post) == PMIX_SUCCESS;
    pthread_mutex_unlock(&lock);
    return posted;
}
static_assert(sizeof(struct sx_loop_post) <= sizeof(union sx_chain_post), "it is posted there");

/* @only: call this handler alone; NULL: call all. */
static void deliver(const struct sx_event_block *block, uint64_t number, const size_t *only)
{
    const struct sx_event *event = (const struct sx_event *)(const void *)block->bytes;
    struct sx_chain_options options = { .handlers = &table, .post = step_post };
    pmix_proc_t *affected = NULL;
    pmix_info_t *info = NULL;
    pmix_proc_t source;
    size_t affected_count = 0;
    pmix_status_t rc;

    if (!block->for_host && !atomic_load(&any_codes)) {
        return;
    }
    if (!sx_handlers_receive(&table, event->code)) {
        return; /* true for most events: they need not be decoded */
    }
    sx_event_block_source(block, &source);
    rc = sx_event_block_procs(block, SX_EVENT_AFFECTED, &affected, &affected_count);
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_block_infos(block, &info, &options.ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        options.info = info;
        options.facts = (struct sx_event_facts){
            .code = event->code,
            .source = &source,
            .from_self = block->from_host,
            .non_default = !block->for_host,
            .environment = (event->flags & SX_EVENT_ENVIRONMENT) != 0,
            .affected = affected,
            .affected_count = affected_count,
            .number = number,
            .is_for_one = only != NULL,
            .only = only != NULL ? *only : 0,
        };
        rc = sx_chain_start(&options);
        info = NULL; /* owned by the chain */
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "an event of code %d does not reach the host: memory is short",
               event->code);
    }
    free(affected);
    if (info != NULL) {
        PMIX_INFO_FREE(info, options.ninfo);
    }
}

void sx_hostevent_deliver(struct sx_server *server, struct sx_event_block *block)
{
    const uint64_t number = ++server->event.host.newest;

    if ((sx_event_block_head(block)->flags & SX_EVENT_DO_NOT_CACHE) == 0) {
        sx_eventlog_add(&server->event.history, &server->event.host, block, number, 0);
    }
    deliver(block, number, NULL);
}

/* ---- registration -------------------------------------------------------------------------- */

pmix_status_t sx_hostevent_register(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                    size_t ninfo, pmix_notification_fn_t fn)
{
    struct sx_server *server = sx_server_get();
    struct sx_handler_options options = { 0 };
    size_t id = 0;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_options_read(SX_OF_REGISTER_HANDLER, info, ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct own *own = calloc(1, sizeof(*own) + ncodes * sizeof(*codes));

    if (own == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_handlers_add(&table, server->self.nspace, codes, ncodes, &options, fn, &id);
    if (rc != PMIX_SUCCESS) {
        free(own);
        return rc;
    }
    own->server = server;
    own->id = id;
    own->environment = sx_handler_asks_environment(&options, codes, ncodes);
    own->code_count = ncodes;
    if (ncodes > 0) {
        memcpy(own->codes, codes, ncodes * sizeof(*codes));
        atomic_store(&any_codes, true);
    }
    pthread_mutex_lock(&lock);
    sx_list_append(&all_own, &own->link);
    pthread_mutex_unlock(&lock);
    return (pmix_status_t)id;
}

/* Call under the lock.  Return: NULL when the handler does not exist (any more). */
static struct own *own_find(size_t id)
{
    SX_LIST_EACH(it, &all_own) {
        struct own *own = SX_LIST_ENTRY(it, struct own, link);

        if (own->id == id) {
            return own;
        }
    }
    return NULL;
}

/* Call under the lock.  Have @fn called with @own on the loop thread.  Return: false when the
 * server is ending: then no handler is called any more. */
static bool own_post_locked(struct own *own, struct sx_loop_post *post, sx_loop_fn fn)
{
    *post = (struct sx_loop_post){ .fn = fn, .arg = own };
    return serving != NULL && sx_loop_post(serving->loop, post) == PMIX_SUCCESS;
}

static void activate(void *arg, uint64_t now_ns)
{
    struct own *own = arg;
    struct sx_server *server = own->server;
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;

    (void)now_ns;
    if (own->environment) {
        own->counted = sx_event_wanted_by_host(server, own->codes, own->code_count);
    }
    sx_handlers_since(&table, own->id, server->event.host.newest);
    sx_eventlog_seek(&cursor, &server->event.host, 0);
    while ((entry = sx_eventlog_next(&cursor)) != NULL) {
        deliver(entry->block, entry->number, &own->id);
    }
}

static pmix_status_t activate_now(struct sx_server *server, void *arg)
{
    const size_t *const id = arg;

    (void)server;
    pthread_mutex_lock(&lock);
    struct own *const own = own_find(*id);

    pthread_mutex_unlock(&lock);
    if (own != NULL) { /* it is freed in a later turn at the earliest */
        activate(own, 0);
    }
    return PMIX_SUCCESS;
}

void sx_hostevent_activate(size_t id, bool waits)
{
    struct sx_server *const server = sx_server_get();

    if (waits && server != NULL && !sx_loop_is_own_thread(server->loop)) {
        (void)sx_server_call(server, activate_now, &id); /* a server that is ending has no events */
        return;
    }
    pthread_mutex_lock(&lock);
    struct own *own = own_find(id);

    if (own != NULL) {
        (void)own_post_locked(own, &own->activating, activate);
    }
    pthread_mutex_unlock(&lock);
}

/* It runs after the activation, as it was posted later. */
static void leave(void *arg, uint64_t now_ns)
{
    struct own *own = arg;

    (void)now_ns;
    sx_event_unwanted_by_host(own->server, own->codes, own->counted);
    free(own);
}

pmix_status_t sx_hostevent_deregister(size_t id)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (sx_handlers_remove(&table, id) != PMIX_SUCCESS) {
        return PMIX_SUCCESS; /* an unknown id: nothing to do */
    }
    pthread_mutex_lock(&lock);
    struct own *own = own_find(id);

    if (own != NULL) {
        sx_list_remove(&own->link);
        if (!own_post_locked(own, &own->leaving, leave)) {
            free(own);
        }
    }
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}
