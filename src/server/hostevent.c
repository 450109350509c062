/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostevent.c - the host's table of handlers, and the loop as the thread that runs them. */
#include "server/hostevent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/chain.h"
#include "base/handlers.h"
#include "base/status.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sx_handlers table;
static atomic_bool any_codes; /* a handler with codes was registered since the table was empty */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_server *serving; /* under lock; NULL: no loop takes posts */

static void table_prepare(void)
{
    sx_handlers_init(&table);
}

void sx_hostevent_serve(struct sx_server *server)
{
    pthread_once(&once, table_prepare);
    pthread_mutex_lock(&lock);
    serving = server;
    pthread_mutex_unlock(&lock);
}

pmix_status_t sx_hostevent_register(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                    size_t ninfo, pmix_notification_fn_t fn)
{
    const struct sx_server *server = sx_server_get();
    size_t id = 0;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc =
        sx_handlers_add(&table, server->self.nspace, codes, ncodes, info, ninfo, fn, &id);

    if (rc == PMIX_SUCCESS && ncodes > 0) {
        atomic_store(&any_codes, true);
    }
    return rc == PMIX_SUCCESS ? (pmix_status_t)id : rc;
}

pmix_status_t sx_hostevent_deregister(size_t id)
{
    return sx_server_get() == NULL ? PMIX_ERR_INIT : sx_handlers_remove(&table, id);
}

void sx_hostevent_clear(void)
{
    pthread_mutex_lock(&lock);
    serving = NULL;
    pthread_mutex_unlock(&lock);
    sx_chain_forget(&table);
    sx_handlers_deinit(&table);
    sx_handlers_init(&table);
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

void sx_hostevent_deliver(const struct sx_event_block *block, bool from_host, bool to_default)
{
    const struct sx_event *event = (const struct sx_event *)(const void *)block->bytes;
    struct sx_chain_options options = { .handlers = &table, .post = step_post };
    pmix_proc_t *affected = NULL;
    pmix_info_t *info = NULL;
    pmix_proc_t source;
    size_t affected_count = 0;
    pmix_status_t rc;

    if (!to_default && !atomic_load(&any_codes)) {
        return;
    }
    sx_event_block_source(block, &source);
    rc = sx_event_block_affected(block, &affected, &affected_count);
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_block_infos(block, &info, &options.ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        options.info = info;
        options.facts = (struct sx_event_facts){
            .code = event->code,
            .source = &source,
            .from_self = from_host,
            .non_default = !to_default || (event->flags & SX_EVENT_NON_DEFAULT) != 0,
            .environment = (event->flags & SX_EVENT_ENVIRONMENT) != 0,
            .affected = affected,
            .affected_count = affected_count,
        };
        rc = sx_chain_start(&options);
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
