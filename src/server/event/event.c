/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - number an event, write it into the rings it concerns, keep it, and pass it to the host.
 *
 *     lane, EVENT_BULK --judge--\
 *     host -----------build-----> publish --> ring and log of each namespace --(turn ends)--> wake
 *     library --build----------/         \--> the host: its handlers; its notify_event for what
 *                                             leaves the node (never for what came from it)
 *
 * Order is the order of publishing, one for all namespaces.  The history is bounded (event_log.h);
 * a lane that fills faster than the server reads it holds up its own client only. */
#include "server/event/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <shmix.h>

#include "base/environment.h"
#include "base/status.h"
#include "base/value/value.h"
#include "server/event/event_codes.h"
#include "server/event/event_route.h"
#include "server/model/family.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

#define SWEEP_EVERY 256u   /* events between two checks for events that every client has had */
#define SWEEP_ONCE 512u    /* that go at once in such a check */
#define SWEEP_STEP 1000u   /* that go in one turn, when there are more */
#define FORGET_STEP 1000u  /* events of ended namespaces that go in one turn */
#define UNREAD_CROWD 8192u /* so many kept for slow readers alone: all readers are woken */

/* ---- bounds -------------------------------------------------------------------------------- */

static bool events_forget(struct sx_server *server, size_t *left)
{
    return sx_event_history_forget(&server->event.history, left);
}

static bool sweeps_go_on(struct sx_server *server, size_t *left);

pmix_status_t sx_events_init(struct sx_server *server, const struct sx_server_options *options)
{
    uint64_t cache_max = SX_EVENTLOG_CACHE_DEFAULT;
    uint64_t bytes_max = SX_EVENTLOG_BYTES_DEFAULT;
    pmix_status_t rc = sx_switch_number("PMIX_SERVER_CACHE_SIZE", 0, SX_EVENTLOG_CACHE_MAX,
                                        &cache_max);

    sx_list_init(&server->event.dirty);
    sx_list_init(&server->event.handled_askers);
    if (rc == PMIX_SUCCESS) {
        rc = sx_switch_number("SHMIX_SERVER_CACHE_SIZE", 0, SX_EVENTLOG_CACHE_MAX, &cache_max);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_switch_number("SHMIX_SERVER_CACHE_BYTES", 0, UINT64_MAX, &bytes_max);
    }
    if (options->cache_count.given) {
        cache_max = options->cache_count.number;
    }
    if (rc == PMIX_SUCCESS && cache_max > SX_EVENTLOG_CACHE_MAX) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a cache of %llu events: at most %u are possible",
                      (unsigned long long)cache_max, SX_EVENTLOG_CACHE_MAX);
    }
    if (rc != PMIX_SUCCESS) {
        cache_max = SX_EVENTLOG_CACHE_DEFAULT;
    }
    sx_event_relay_init(server);
    sx_event_history_init(&server->event.history, (size_t)cache_max, bytes_max);
    sx_steps_init(&server->event.forget, server, events_forget, FORGET_STEP);
    sx_steps_init(&server->event.sweep, server, sweeps_go_on, SWEEP_STEP);
    sx_list_init(&server->event.sweeps);
    sx_eventlog_init(&server->event.host);
    server->event.host.loose_only = true;
    sx_list_init(&server->event.wants);
    sx_list_init(&server->event.open_codes);
    return rc;
}

void sx_events_stop(struct sx_server *server)
{
    sx_event_codes_clear(&server->event.codes);
}

void sx_events_deinit(struct sx_server *server)
{
    sx_eventlog_end(&server->event.history, &server->event.host);
    sx_event_history_deinit(&server->event.history);
    sx_event_codes_clear(&server->event.codes);
}

/* ---- into one namespace -------------------------------------------------------------------- */

/* An event for one process wakes only its target; the other processes stay asleep. */
static uint32_t class_of(const struct sx_event_block *block, const struct sx_event *head)
{
    uint32_t rank;

    if (head->range == PMIX_RANGE_CUSTOM && head->target_count == 1) {
        memcpy(&rank, block->bytes + block->target_off, sizeof(rank));
        if (rank != PMIX_RANK_WILDCARD) {
            return SX_CLASS_OF_RANK(rank);
        }
    }
    return SX_CLASS_OF_CODE(head->code);
}

/* Return: the number of the record. */
static uint64_t ring_publish(struct sx_nspace *nspace, struct sx_event_block *block,
                             uint64_t number)
{
    struct sx_event head = *sx_event_block_head(block);
    const bool fits = block->size <= SX_RING_RECORD_MAX - (uint32_t)sizeof(struct sx_record_header);
    const uint32_t class_index = class_of(block, &head);
    const struct iovec iov[2] = {
        { .iov_base = &head, .iov_len = sizeof(head) },
        { .iov_base = block->bytes + sizeof(head), .iov_len = block->size - sizeof(head) },
    };
    uint64_t seq = 0;

    head.number = number;
    head.flags |= fits ? 0 : SX_EVENT_ASK;
    sx_ring_publish(&nspace->ring, SX_RECORD_EVENT, (uint16_t)class_index, iov, fits ? 2 : 1, &seq);
    nspace->event_seq_last = seq;
    nspace->event_classes |= 1u << class_index;
    return seq;
}

static void mark_dirty(struct sx_server *server, struct sx_nspace *nspace)
{
    if (sx_list_empty(&nspace->events_dirty)) {
        sx_list_append(&server->event.dirty, &nspace->events_dirty);
    }
}

/* The newest record up to which every local rank of the job has received everything. */
static uint64_t floor_of(const struct sx_nspace *nspace)
{
    uint64_t floor = UINT64_MAX;

    if (nspace->client_count == 0 || nspace->client_count < nspace->local_count) {
        return 0;
    }
    for (size_t i = 0; i < nspace->client_count; i++) {
        const struct sx_client *client = nspace->by_rank[i];

        if (client->home == nspace && !client->event_left && client->event_seq < floor) {
            floor = client->event_seq;
        }
    }
    return floor;
}

/* The first record that some client with a handler has not received. */
static uint64_t unread_from(const struct sx_nspace *nspace)
{
    uint64_t from = UINT64_MAX;

    for (size_t i = 0; i < nspace->client_count; i++) {
        const struct sx_client *client = nspace->by_rank[i];

        if (client->home == nspace && !client->event_left && client->has_handlers &&
            client->event_seq + 1 < from) {
            from = client->event_seq + 1;
        }
    }
    return from;
}

/* Return: whether all that every client has had is gone, for *@left events, which is counted
 * down. */
static bool sweep_some(struct sx_server *server, struct sx_nspace *nspace, size_t *left)
{
    struct sx_eventlog *const log = &nspace->events;
    const bool is_released = log->held_count == 0 ||
                             sx_eventlog_release(&server->event.history, log, floor_of(nspace),
                                                 left);

    nspace->event_sweep_at = log->newest + SWEEP_EVERY;
    return sx_eventlog_read(&server->event.history, log, unread_from(nspace), left) && is_released;
}

/* A client goes, or reads much at once: what was kept for it alone takes many turns. */
static bool sweeps_go_on(struct sx_server *server, size_t *left)
{
    struct sx_list *const sweeps = &server->event.sweeps;

    while (*left > 0 && !sx_list_empty(sweeps)) {
        struct sx_list *const first = sweeps->next;

        if (sweep_some(server, SX_LIST_ENTRY(first, struct sx_nspace, events_sweep), left)) {
            sx_list_remove(first);
        }
    }
    return sx_list_empty(sweeps);
}

static void sweep(struct sx_server *server, struct sx_nspace *nspace)
{
    size_t left = SWEEP_ONCE;

    if (sx_list_empty(&nspace->events_sweep) && !sweep_some(server, nspace, &left)) {
        sx_list_append(&server->event.sweeps, &nspace->events_sweep);
        sx_steps_go(&server->event.sweep);
    }
}

/* Ask the clients how far they have read.  They answer in their lanes, without waking anybody.
 * When too many events are kept for slow readers, clients that sleep for other codes are woken
 * too. */
static void cursors_ask(struct sx_server *server, struct sx_nspace *nspace)
{
    if (!sx_nspace_has_ring(nspace)) {
        return;
    }
    /* relaxed: it refers to nothing but a number. */
    atomic_store_explicit(&nspace->ring.header->cursor_wanted, nspace->event_seq_last,
                          memory_order_relaxed);
    if (sx_eventlog_unread(&server->event.history, &nspace->events) >= UNREAD_CROWD) {
        nspace->event_classes |= SX_CLASSES_OF_CODES;
    }
}

static void deliver(struct sx_server *server, struct sx_nspace *nspace,
                    struct sx_event_block *block)
{
    const uint64_t number = ++nspace->events.newest;
    const bool kept = (sx_event_block_head(block)->flags & SX_EVENT_DO_NOT_CACHE) == 0 ||
                      !sx_nspace_has_ring(nspace) ||
                      block->size > SX_RING_RECORD_MAX - (uint32_t)sizeof(struct sx_record_header);
    uint64_t seq = 0;

    if (sx_nspace_has_ring(nspace)) {
        seq = ring_publish(nspace, block, number);
        mark_dirty(server, nspace);
    }
    if (kept) {
        sx_eventlog_add(&server->event.history, &nspace->events, block, number, seq);
    }
    if (nspace->events.newest >= nspace->event_sweep_at) {
        sweep(server, nspace);
        cursors_ask(server, nspace);
    }
}

static void history_show(struct sx_server *server, struct sx_nspace *nspace)
{
    const struct sx_eventlog *log = &nspace->events;
    struct sx_ring_header *ring = nspace->ring.header;
    struct sx_board_header *board = server->board.header;

    /* relaxed: figures for people. */
    atomic_store_explicit(&ring->events_kept, log->held_count + log->loose_count,
                          memory_order_relaxed);
    atomic_store_explicit(&ring->events_held, log->held_count, memory_order_relaxed);
    atomic_store_explicit(&board->history_bytes, server->event.history.bytes, memory_order_relaxed);
    atomic_store_explicit(&board->history_crowded_out, server->event.history.crowded_out,
                          memory_order_relaxed);
}

void sx_event_wake(struct sx_server *server)
{
    struct sx_list *link;

    while (!server->event.wake_posted && (link = sx_list_pop(&server->event.dirty)) != NULL) {
        struct sx_nspace *nspace = SX_LIST_ENTRY(link, struct sx_nspace, events_dirty);

        history_show(server, nspace);
        sx_ring_wake(&nspace->ring, nspace->event_classes, (uint32_t)nspace->reader_count,
                     server->bitset_sleepers > 0);
        sx_wake_all(server, nspace, nspace->event_classes);
        nspace->event_classes = 0;
    }
}

void sx_event_wake_handlers(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace->event_classes |= SX_CLASSES_OF_CODES;
    mark_dirty(server, nspace);
    sx_event_wake(server);
}

static void wake_now(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    (void)now_ns;
    server->event.wake_posted = false;
    sx_event_wake(server);
}

void sx_event_wake_behind_host(struct sx_server *server)
{
    if (!server->event.wake_posted) {
        server->event.wake = (struct sx_loop_post){ .fn = wake_now, .arg = server };
        server->event.wake_posted = sx_loop_post(server->loop, &server->event.wake) == PMIX_SUCCESS;
    }
}

/* ---- publishing ---------------------------------------------------------------------------- */

/* An event that was also meant for others did not reach them.  The publisher got no error in its
 * answer, so the loss is counted in its board slot. */
static void client_loses(struct sx_server *server, struct sx_client *client, const char *why)
{
    struct sx_board_slot *slot;

    if (client->slot >= SX_BOARD_SLOT_MAX) {
        return; /* the client has gone */
    }
    slot = &server->board.slots[client->slot];
    /* relaxed: a plain count with one writer. */
    atomic_store_explicit(&slot->events_lost,
                          atomic_load_explicit(&slot->events_lost, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    sx_wake_client(server, client);
    if (!client->event_lost_notified) {
        client->event_lost_notified = true; /* one line per client, as a client could cause many */
        sx_log(SX_LOG_WARN, "an event of client %s.%u is lost: %s", client->nspace->name,
               client->rank, why);
    }
}

/* The id of the answer is not 0 if the event was meant for a process on another node. */
static void host_notified(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker;
    if (answer->status == PMIX_SUCCESS) {
        return;
    }
    if (answer->status != PMIX_ERR_NOT_SUPPORTED) { /* a host without use for events */
        sx_log(SX_LOG_INFO, "the host made nothing of an event: status %d", answer->status);
    }
    if (answer->id != 0) {
        client_loses(answer->server, answer->client, "the host does not carry it to other nodes");
    }
}

/* Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if the event was also for other nodes and reaches
 * none of them. */
static pmix_status_t host_notify(struct sx_server *server, struct sx_client *client,
                                 const struct sx_event_block *block, struct sx_event_route *route)
{
    const bool leaves = route->way == SX_EVENT_LEAVES;
    const pmix_status_t rc = route->way == SX_EVENT_STAYS
                                 ? PMIX_SUCCESS
                                 : sx_event_relay(server, client, block, &route->source, leaves,
                                                  host_notified);

    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_SUPPORTED) {
        sx_log(SX_LOG_INFO, "the host does not take an event: status %d", rc);
    }
    return rc == PMIX_SUCCESS || !leaves ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

/* Whether jobs that are registered later get the event, besides the @count that have it. */
static bool is_for_jobs_to_come(struct sx_server *server, struct sx_event_block *block,
                                size_t count)
{
    const struct sx_event *head = sx_event_block_head(block);

    if ((head->flags & SX_EVENT_DO_NOT_CACHE) != 0) {
        return false;
    }
    return block->is_job
               ? (count == 0 || head->target_count > 1) && sx_event_awaits_job(server, block)
               : head->range != PMIX_RANGE_RM && head->range != PMIX_RANGE_PROC_LOCAL;
}

/* Whether @nspace may receive what a client published: @client, or (NULL) a client of another
 * node. */
static bool is_permitted_to(struct sx_server *server, const struct sx_event_block *block,
                            const pmix_proc_t *source, struct sx_client *client,
                            const struct sx_nspace *nspace)
{
    if (client != NULL) {
        return sx_nspace_reachable(server, nspace, client);
    }
    return block->user == 0 || sx_nspace_is_of(nspace, block->user) ||
           (source->nspace[0] != '\0' && sx_memberships_hold_both(server, source, nspace->name));
}

/* Write the event into all namespaces that it concerns.  *ret_count: the number of them.  Return:
 * false when the event may not be given to one of them because it belongs to another user than
 * @client. */
static bool deliver_to_all(struct sx_server *server, struct sx_event_block *block,
                           const struct sx_event_route *route, struct sx_client *client,
                           size_t *ret_count)
{
    bool is_permitted = true;

    *ret_count = 0;
    SX_LIST_EACH(it, &server->registry.nspaces) {
        struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (!sx_event_route_concerns(route, block, nspace)) {
            continue;
        }
        if (block->has_user && !is_permitted_to(server, block, &route->source, client, nspace)) {
            is_permitted = false;
            continue;
        }
        deliver(server, nspace, block);
        (*ret_count)++;
    }
    return is_permitted;
}

static void published_log(struct sx_event_block *block, const pmix_proc_t *source, size_t count)
{
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "event %s of %s.%u, range %s, is published to %zu namespaces",
               PMIx_Error_string(sx_event_block_head(block)->code), source->nspace, source->rank,
               PMIx_Data_range_string((pmix_data_range_t)sx_event_block_head(block)->range), count);
    }
}

pmix_status_t sx_event_publish(struct sx_server *server, struct sx_event_block *block,
                               enum sx_event_origin origin, struct sx_client *client)
{
    struct sx_event_route route;
    size_t count;

    sx_event_route(server, block, origin, &route);
    const bool is_permitted = deliver_to_all(server, block, &route, client, &count);
    published_log(block, &route.source, count);

    if (is_for_jobs_to_come(server, block, count)) {
        sx_event_history_keep(&server->event.history, block);
    }
    if (route.reaches_host) {
        block->from_host = origin == SX_EVENT_FROM_HOST;
        block->for_host = route.is_for_host;
        sx_hostevent_deliver(server, block);
    }
    const pmix_status_t rc = host_notify(server, client, block, &route);

    /* Only for a CUSTOM range is a refused namespace an error: there the publisher has named it. */
    return is_permitted || sx_event_block_head(block)->range != PMIX_RANGE_CUSTOM
               ? rc
               : PMIX_ERR_NO_PERMISSIONS;
}

/* ---- from clients -------------------------------------------------------------------------- */

/* Neither a rank nor another user's tool may send codes that only a host or a server can raise.
 * Tools of root and of the server's user may: they can do anything to the server in any case, and
 * use it for tests. */
static bool may_raise(const struct sx_client *client, pmix_status_t code)
{
    return !sx_event_code_is_hosts(code) ||
           (client->is_tool && (client->uid == 0 || client->uid == geteuid()));
}

pmix_status_t sx_event_client_judge(const struct sx_client *client, const struct sx_opened *body,
                                    struct sx_event_block **ret)
{
    const pmix_proc_t source = sx_nspace_proc(client->nspace, client->rank);
    struct sx_event_block *block = NULL;
    const pmix_status_t rc = sx_event_block_judge(&source, body, &block);

    if (rc == PMIX_SUCCESS && !may_raise(client, sx_event_block_head(block)->code)) {
        sx_event_block_release(block);
        return PMIX_ERR_NO_PERMISSIONS;
    }
    *ret = block;
    return rc;
}

pmix_status_t sx_event_client_publish(struct sx_server *server, struct sx_client *client,
                                      struct sx_event_block *block, uint64_t *ret_number)
{
    block->has_user = true;
    block->user = client->uid;
    const pmix_status_t rc = sx_event_publish(server, block, SX_EVENT_FROM_CLIENT, client);

    *ret_number = client->home != NULL && sx_event_concerns(block, client->home)
                      ? client->home->events.newest
                      : 0;
    if (sx_event_block_head(block)->code == PMIX_GROUP_CONSTRUCT_ABORT) {
        SX_FAMILIES_NOTIFY(server, group_aborted, server, client, block);
    }
    return rc;
}

pmix_status_t sx_event_on_notify(struct sx_server *server, struct sx_client *client,
                                 const struct sx_opened *body)
{
    struct sx_event_block *block = NULL;
    uint64_t number;
    pmix_status_t rc = sx_event_client_judge(client, body, &block);

    if (rc == PMIX_SUCCESS) {
        rc = sx_event_unalias(server, client, &block);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_client_publish(server, client, block, &number);
    }
    sx_event_block_release(block);
    if (rc == PMIX_ERR_UNPACK_FAILURE) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        client_loses(server, client,
                     rc == PMIX_ERR_BAD_PARAM         ? "a custom range that names no process"
                     : rc == PMIX_ERR_NO_PERMISSIONS  ? "it names processes of another user, or "
                                                        "has a code that only a host may raise"
                     : rc == PMIX_ERR_PARTIAL_SUCCESS ? "the host does not carry it to other nodes"
                                                      : SX_EVENT_NO_ROOM);
    }
    return PMIX_SUCCESS;
}

/* ---- from the host ------------------------------------------------------------------------- */

struct notice {
    struct sx_loop_post post;
    struct sx_server *server;
    struct sx_event_block *block;
    bool is_relayed;
};

static void notice_publish(void *arg, uint64_t now_ns)
{
    struct notice *notice = arg;

    (void)now_ns;
    if (notice->is_relayed) {
        SX_FAMILIES_NOTIFY(notice->server, event_relayed, notice->server, notice->block);
    }
    if (sx_event_unalias(notice->server, NULL, &notice->block) == PMIX_SUCCESS) {
        (void)sx_event_publish(notice->server, notice->block, SX_EVENT_FROM_HOST, NULL);
    } else {
        sx_log(SX_LOG_ERROR, "event %d of the host reaches nobody: %s",
               sx_event_block_head(notice->block)->code, SX_EVENT_NO_ROOM);
    }
    sx_event_block_release(notice->block);
    free(notice);
}

pmix_status_t sx_event_notify(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo)
{
    struct sx_server *server = sx_server_get();
    pmix_proc_t from = { .rank = PMIX_RANK_UNDEF };
    struct sx_event_block *block = NULL;
    struct sx_event_relay relay;
    bool is_relayed;
    pmix_status_t rc;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (source != NULL && source->nspace[0] != '\0') { /* else the source is the resource manager */
        from = *source;
    }
    if (sx_name_len(from.nspace, sizeof(from.nspace)) > PMIX_MAX_NSLEN) {
        return PMIX_ERR_BAD_PARAM;
    }
    is_relayed = sx_event_relay_read(server, info, ninfo, &relay);
    if (!is_relayed) {
        rc = sx_event_block_build(code, &from, options, info, ninfo, &block);
    } else if (relay.own) {
        return PMIX_SUCCESS; /* the event has returned to the node that it left */
    } else {
        rc = sx_event_relay_open(&relay, &from, &block);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct notice *notice = malloc(sizeof(*notice));

    if (notice == NULL) {
        sx_event_block_release(block);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *notice = (struct notice){ .server = server, .block = block, .is_relayed = is_relayed };
    notice->post = (struct sx_loop_post){ .fn = notice_publish, .arg = notice };
    rc = sx_loop_post(server->loop, &notice->post);
    if (rc != PMIX_SUCCESS) {
        sx_event_block_release(block);
        free(notice);
    }
    return rc;
}

/* ---- namespaces and clients ---------------------------------------------------------------- */

void sx_event_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    sx_eventlog_init(&nspace->events);
    sx_list_init(&nspace->events_dirty);
    sx_list_init(&nspace->events_sweep);
    nspace->event_sweep_at = SWEEP_EVERY;
    sx_eventlog_seed(&server->event.history, &nspace->events);
}

/* A new namespace has no process that is connected with another user's.  So only events of its own
 * user, or of root, concern it. */
static bool concerns(const struct sx_event_block *block, const void *nspace)
{
    return sx_event_concerns(block, nspace) &&
           (!block->has_user || block->user == 0 || sx_nspace_is_of(nspace, block->user));
}

/* Drop the kept events that @nspace has now received, if no other job is still to be registered for
 * them. */
static void history_give(struct sx_server *server, const struct sx_nspace *nspace)
{
    struct sx_event_history *const history = &server->event.history;

    SX_LIST_EACH(it, &history->cache) {
        struct sx_event_block *const block = SX_LIST_ENTRY(it, struct sx_event_block, cache);

        if (block->is_job && sx_event_concerns(block, nspace) &&
            !sx_event_awaits_job(server, block)) {
            sx_event_history_drop(history, block);
        }
    }
}

void sx_event_nspace_opened(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;

    /* The session of the namespace is set by now.  Numbers begin anew: an event that was dropped
     * before the first client connected never counted, and each number has its record. */
    sx_eventlog_sift(&server->event.history, &nspace->events, concerns, nspace);
    sx_eventlog_seek(&cursor, &nspace->events, 0);
    while ((entry = sx_eventlog_next(&cursor)) != NULL) {
        entry->seq = ring_publish(nspace, entry->block, entry->number);
    }
    nspace->event_classes = 0; /* no client has mapped this ring yet, so nobody has to be woken */
    history_give(server, nspace);
}

void sx_event_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    sx_list_remove(&nspace->events_dirty);
    sx_list_remove(&nspace->events_sweep);
    sx_eventlog_end(&server->event.history, &nspace->events);
    sx_steps_go(&server->event.forget);
}

void sx_event_client_connected(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    client->event_left = false;
    client->event_seq = 0;
    client->has_handlers = false;
}

void sx_event_client_left(struct sx_server *server, struct sx_client *client)
{
    client->event_left = true;
    if (!client->nspace->is_ending) { /* else its events go with it, and the others leave, too */
        sweep(server, client->nspace);
    }
    sx_event_codes_client_left(server, client);
}

void sx_event_client_read(struct sx_server *server, struct sx_client *client, uint64_t seq)
{
    if (seq > client->event_seq) {
        client->event_seq = seq;
        sweep(server, client->nspace);
    }
}
