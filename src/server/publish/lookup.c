/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.c - the search of a lookup, and lookups that wait for what is published later. */
#include "server/publish/lookup.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "server/model/share.h"
#include "server/port/port.h"
#include "server/publish/publish.h"

/* The lookups that a publication ends itself; the rest continue in the turns of the waiting
 * clients. */
#define WAKE_LOOKUPS_MAX 1024u
#define WAKE_BYTES_MAX (1u << 20)
#define WAKES_PER_UNIT 2u

/* ---- keys that lookups wait for -------------------------------------------------------------- */

struct sx_lookup_awaited {
    struct sx_table_node node; /* server.lookups */
    struct sx_list wants;      /* the oldest first; the key is freed with its last one */
    char key[];
};

static struct sx_lookup_awaited *awaited_find(const struct sx_server *server, const char *key,
                                              uint64_t hash)
{
    struct sx_table_node *node = sx_table_first(&server->publish.lookups, hash);

    for (; node != NULL; node = sx_table_next(&server->publish.lookups, node)) {
        struct sx_lookup_awaited *const awaited = SX_CONTAINER(node, struct sx_lookup_awaited,
                                                               node);

        if (strcmp(awaited->key, key) == 0) {
            return awaited;
        }
    }
    return NULL;
}

static uint64_t key_hash(const struct sx_server *server, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), server->seed);
}

static struct sx_lookup_awaited *awaited_obtain(struct sx_server *server, const char *key)
{
    const uint64_t hash = key_hash(server, key);
    struct sx_lookup_awaited *awaited = awaited_find(server, key, hash);
    const size_t size = strlen(key) + 1;

    if (awaited != NULL) {
        return awaited;
    }
    awaited = calloc(1, sizeof(*awaited) + size);
    if (awaited == NULL || !sx_table_add(&server->publish.lookups, &awaited->node, hash)) {
        free(awaited);
        return NULL;
    }
    memcpy(awaited->key, key, size);
    sx_list_init(&awaited->wants);
    return awaited;
}

static void want_leave(struct sx_server *server, struct sx_lookup_want *want)
{
    struct sx_lookup_awaited *const awaited = want->awaited;

    if (awaited == NULL) {
        return;
    }
    want->awaited = NULL;
    sx_list_remove(&want->link);
    if (sx_list_empty(&awaited->wants)) {
        sx_table_remove(&server->publish.lookups, &awaited->node);
        free(awaited);
    }
}

/* Leave up to *@max keys, from where the last call has ended, and count *@max down. */
static void wants_leave(struct sx_server *server, struct sx_lookup *lookup, size_t *max)
{
    for (; lookup->left_count<lookup->want_count && * max> 0; lookup->left_count++, --*max) {
        want_leave(server, &lookup->wants[lookup->left_count]);
    }
}

static void wants_leave_all(struct sx_server *server, struct sx_lookup *lookup)
{
    size_t max = SIZE_MAX;

    wants_leave(server, lookup, &max);
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t wants_enter(struct sx_server *server, struct sx_lookup *lookup)
{
    for (size_t i = 0; i < lookup->want_count; i++) {
        struct sx_lookup_want *const want = &lookup->wants[i];

        want->awaited = awaited_obtain(server, want->key);
        if (want->awaited == NULL) {
            wants_leave_all(server, lookup);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        sx_list_append(&want->awaited->wants, &want->link);
    }
    return PMIX_SUCCESS;
}

/* Make one want for each key.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t wants_make(struct sx_lookup *lookup)
{
    struct sx_publish_key *const named = sx_publish_keys_sort(lookup->keys, lookup->key_count);

    lookup->wants = calloc(lookup->key_count, sizeof(*lookup->wants));
    lookup->want_of = calloc(lookup->key_count, sizeof(*lookup->want_of));
    if (named == NULL || lookup->wants == NULL || lookup->want_of == NULL) {
        free(named);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < lookup->key_count; i++) {
        if (!sx_publish_key_is_again(named, i)) {
            lookup->wants[lookup->want_count++] = (struct sx_lookup_want){ .lookup = lookup,
                                                                           .key = named[i].key };
        }
        lookup->wants[lookup->want_count - 1].times++;
        lookup->want_of[named[i].number] = (uint32_t)(lookup->want_count - 1);
    }
    free(named);
    return PMIX_SUCCESS;
}

/* ---- lookups that have ended ----------------------------------------------------------------- */

/* @lookup waits for no key any more, and counts for its client as long as its request does. */
static void lookup_left(struct sx_lookup *lookup)
{
    struct sx_client *const owner = lookup->owner;

    sx_list_remove(&lookup->leaving);
    lookup->owner = NULL;
    if (owner != NULL && lookup->is_orphan) {
        sx_pending_uncount(owner, SX_PENDING_LOOKUP, lookup->pending.bytes);
    }
    if (lookup->is_orphan) {
        sx_lookup_free(lookup);
    } else {
        lookup->pending.with_host = false;
    }
    if (owner != NULL) {
        sx_client_release(owner);
    }
}

static bool lookups_leave(struct sx_server *server, size_t *left)
{
    struct sx_list *const leaving = &server->publish.leaving;

    while (!sx_list_empty(leaving)) {
        struct sx_lookup *const lookup = SX_LIST_ENTRY(leaving->next, struct sx_lookup, leaving);

        wants_leave(server, lookup, left);
        if (lookup->left_count < lookup->want_count) {
            return false;
        }
        lookup_left(lookup);
    }
    return true;
}

void sx_lookups_leave_all(struct sx_server *server)
{
    size_t left = SIZE_MAX;

    (void)lookups_leave(server, &left);
}

void sx_lookups_init(struct sx_server *server)
{
    sx_list_init(&server->publish.leaving);
    sx_steps_init(&server->publish.leave, server, lookups_leave, SX_LOOKUP_STEP_KEYS);
}

/* ---- a lookup -------------------------------------------------------------------------------- */

static void lookup_closed(struct sx_pending *pending)
{
    struct sx_lookup *const lookup = SX_CONTAINER(pending, struct sx_lookup, pending);

    sx_list_remove(&lookup->ready);
    sx_share_work_remove(&lookup->work);
    lookup->is_closed = true;
    if (lookup->left_count == lookup->want_count) {
        return;
    }
    sx_list_append(&pending->server->publish.leaving, &lookup->leaving);
    sx_steps_go(&pending->server->publish.leave);
    if (!sx_list_empty(&lookup->leaving)) {
        lookup->owner = sx_client_retain(pending->client);
        pending->with_host = true; /* it is not uncounted with the request */
    }
}

static void lookup_send(struct sx_pending *pending)
{
    const struct sx_lookup *const lookup = SX_CONTAINER(pending, struct sx_lookup, pending);

    if (lookup->fd > 0 && pending->status == sx_lookup_status(lookup)) {
        sx_reply_made(pending->server, pending->client, pending->id, lookup->fd,
                      lookup->results_size);
        return;
    }
    sx_reply_body(pending->server, pending->client, pending->id, pending->status, lookup->results,
                  lookup->results != NULL ? lookup->results_size : 0);
}

static void lookup_pending_free(struct sx_pending *pending)
{
    struct sx_lookup *const lookup = SX_CONTAINER(pending, struct sx_lookup, pending);

    pending->client->found_bytes -= lookup->results_size;
    lookup->is_orphan = true;
    /* Else a thread still reads it, or keys are left. */
    if (!lookup->is_written && sx_list_empty(&lookup->leaving)) {
        sx_lookup_free(lookup);
    }
}

static const struct sx_pending_kind lookup_kind = { .quota = SX_PENDING_LOOKUP,
                                                    .closed = lookup_closed,
                                                    .send = lookup_send,
                                                    .free = lookup_pending_free };

/* ---- the search ------------------------------------------------------------------------------ */

static void want_take(struct sx_lookup_want *want, uint64_t serial)
{
    struct sx_lookup *const lookup = want->lookup;

    lookup->found += serial != 0 ? want->times : 0;
    lookup->found -= want->serial != 0 ? want->times : 0;
    want->serial = serial;
}

/* Search for the keys from the next one on, until some @rows_max rows have been searched.  Return:
 * whether all keys have been searched for. */
static bool lookup_search(struct sx_server *server, const struct sx_party *asker, uint64_t rows_max,
                          struct sx_lookup *lookup)
{
    struct sx_published *const all = &server->publish.published;
    const uint64_t before = all->walked;

    for (; lookup->at < lookup->want_count && all->walked - before < rows_max; lookup->at++) {
        struct sx_lookup_want *const want = &lookup->wants[lookup->at];

        all->walked++;
        if (!want->is_looked) {
            const struct sx_published_row *const row = sx_published_find(all, want->key, asker,
                                                                         &lookup->options);

            want->is_looked = true;
            want_take(want, row != NULL ? row->serial : 0);
        }
    }
    return lookup->at == lookup->want_count;
}

/* Whether all rows that were found still exist.  Keys whose row was removed have to be searched for
 * again. */
static bool lookup_verify(const struct sx_server *server, struct sx_lookup *lookup)
{
    bool is_there = true;

    for (size_t i = 0; i < lookup->want_count; i++) {
        struct sx_lookup_want *const want = &lookup->wants[i];

        const struct sx_published_row *const row = sx_published_of(&server->publish.published,
                                                                   want->serial);

        if (want->serial != 0 && (row == NULL || row->is_read)) {
            want_take(want, 0);
            want->is_looked = is_there = false;
            lookup->at = 0;
        }
    }
    return is_there;
}

/* ---- a step ---------------------------------------------------------------------------------- */

enum outcome { GOES_ON, WAITS, WRITES, ENDS };

/* Continue the search, of some @rows_max rows, and answer in @room bytes when enough is found.
 * Return: WRITES, for a large answer; ENDS, and *ret_status is the answer's. */
static enum outcome lookup_try(struct sx_server *server, const struct sx_party *asker,
                               uint64_t rows_max, size_t room, struct sx_lookup *lookup,
                               pmix_status_t *ret_status)
{
    uint64_t again;

    do {
        if (!lookup_search(server, asker, rows_max, lookup)) {
            return GOES_ON;
        }
        if (lookup->found < lookup->wanted) {
            return WAITS;
        }
    } while (!lookup_verify(server, lookup)); /* repeats at most once: no row is removed
                                               * meanwhile */
    if (!lookup->at_once &&
        sx_lookup_found_bytes(server, lookup, &again) >= SX_ANSWER_LARGE_BYTES) {
        return WRITES;
    }
    *ret_status = sx_lookup_answer(server, room, lookup);
    return ENDS;
}

/* The same as one step of @client, which is charged for the step and for the answer. */
static enum outcome client_try(struct sx_server *server, struct sx_client *client,
                               struct sx_lookup *lookup, pmix_status_t *ret_status)
{
    const uint64_t before = server->publish.published.walked;
    const struct sx_party asker = sx_publish_party(client);
    const enum outcome outcome = lookup_try(server, &asker, SX_PUBLISH_STEP_ROWS,
                                            SX_LOOKUP_FOUND_BYTES_MAX - client->found_bytes, lookup,
                                            ret_status);

    sx_share_charge(server, client,
                    (server->publish.published.walked - before) / SX_PUBLISH_ROWS_PER_UNIT +
                        lookup->results_size / SX_LOOKUP_BYTES_PER_UNIT);
    return outcome;
}

/* Return: why a spawn of @client has failed, if no lookup has returned that yet, and this one will;
 * or PMIX_SUCCESS. */
static pmix_status_t spawn_failure_take(struct sx_client *client)
{
    const pmix_status_t why = client->spawn_failed;

    client->spawn_failed = PMIX_SUCCESS;
    return why;
}

static void lookup_step(struct sx_share_work *work)
{
    struct sx_lookup *const lookup = SX_CONTAINER(work, struct sx_lookup, work);
    pmix_status_t status;

    switch (client_try(lookup->pending.server, lookup->pending.client, lookup, &status)) {
    case GOES_ON:
        return;
    case WAITS:
        lookup->is_queued = false;
        sx_share_work_remove(work);
        status = spawn_failure_take(lookup->pending.client);
        if (status != PMIX_SUCCESS) {
            sx_lookup_pending_answer(lookup, status);
        }
        return;
    case WRITES:
        sx_share_work_remove(work);
        if (sx_lookup_write(lookup->pending.server, lookup)) {
            /* Later publications do not go to it. */
            wants_leave_all(lookup->pending.server, lookup);
        } else {
            lookup->at_once = true;
            sx_share_work_add(lookup->pending.client, work);
        }
        return;
    case ENDS:
        sx_lookup_pending_answer(lookup, status);
    }
}

/* The search continues in its client's turns. */
static void lookup_queue(struct sx_lookup *lookup)
{
    if (!lookup->is_queued) {
        lookup->is_queued = true;
        lookup->work.step = lookup_step;
        sx_share_work_add(lookup->pending.client, &lookup->work);
    }
}

static void lookup_late(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_pending_answer(arg, PMIX_ERR_TIMEOUT);
}

/* Ownership of @lookup moves; @goes_on: its search continues.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; why a spawn of @client has failed. */
static pmix_status_t lookup_wait(struct sx_server *server, struct sx_client *client, uint32_t id,
                                 struct sx_lookup *lookup, bool goes_on, uint64_t now_ns)
{
    const uint64_t timeout_ns = lookup->options.timeout_ns;
    pmix_status_t rc = goes_on ? PMIX_SUCCESS : spawn_failure_take(client);

    if (rc == PMIX_SUCCESS) {
        rc = wants_enter(server, lookup);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_pending_begin(server, client, id, &lookup_kind, &lookup->pending);
    }
    if (rc != PMIX_SUCCESS) {
        wants_leave_all(server, lookup);
        sx_lookup_free(lookup);
        return rc;
    }
    if (goes_on) {
        lookup_queue(lookup);
    }
    if (timeout_ns != 0 && timeout_ns < SX_DEADLINE_NEVER - now_ns) {
        sx_pending_limit(&lookup->pending, lookup_late, now_ns + timeout_ns);
    }
    return PMIX_SUCCESS;
}

/* ---- matching new publications --------------------------------------------------------------- */

/* Give the new @row to the lookups that wait for its key, the first @left of them in their order.
 * Those with enough keys then are put into @ready.  The others search by themselves. */
static void row_offer(struct sx_server *server, const struct sx_lookup_awaited *awaited,
                      const struct sx_published_row *row, size_t *left, struct sx_list *ready)
{
    SX_LIST_EACH(it, &awaited->wants) {
        struct sx_lookup_want *const want = SX_LIST_ENTRY(it, struct sx_lookup_want, link);
        struct sx_lookup *const lookup = want->lookup;

        if (lookup->is_closed || !want->is_looked ||
            (want->serial != 0 &&
             sx_published_of(&server->publish.published, want->serial) != NULL)) {
            continue; /* it has ended, will search, or has an older row */
        }
        if (*left == 0) {
            want->is_looked = false;
            lookup->at = 0;
            lookup_queue(lookup);
            continue;
        }
        --*left;
        const struct sx_party asker = sx_publish_party(lookup->pending.client);

        if (sx_published_sees(&server->publish.published, row, &asker, &lookup->options)) {
            want_take(want, row->serial);
        }
        if (lookup->found >= lookup->wanted && !lookup->is_queued &&
            sx_list_empty(&lookup->ready)) {
            sx_list_append(ready, &lookup->ready);
        }
    }
}

/* In the order of their arrival. */
static void ready_answer(struct sx_server *server, struct sx_list *ready)
{
    struct sx_list *it;
    pmix_status_t status;
    size_t bytes = 0;

    while ((it = sx_list_pop(ready)) != NULL) {
        struct sx_lookup *const lookup = SX_LIST_ENTRY(it, struct sx_lookup, ready);

        if (!lookup_verify(server, lookup) || bytes >= WAKE_BYTES_MAX ||
            client_try(server, lookup->pending.client, lookup, &status) != ENDS) {
            lookup_queue(lookup); /* another lookup has read the row, or the answer is large */
            continue;
        }
        bytes += lookup->results_size;
        sx_lookup_pending_answer(lookup, status);
    }
}

void sx_publish_wake(struct sx_server *server, struct sx_client *client, const pmix_info_t info[],
                     size_t ninfo)
{
    struct sx_published *const all = &server->publish.published;
    struct sx_list ready = SX_LIST_INIT(ready);
    uint64_t serial = all->last_serial;
    size_t left = WAKE_LOOKUPS_MAX;

    for (size_t i = ninfo; i-- > 0;) { /* the last of them has the last serial */
        serial -= sx_publish_is_data(info[i].key);
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (!sx_publish_is_data(info[i].key)) {
            continue;
        }
        const struct sx_published_row *const row = sx_published_of(all, ++serial);
        const struct sx_lookup_awaited *const awaited = awaited_find(server, info[i].key,
                                                                     key_hash(server, info[i].key));

        if (row != NULL && awaited != NULL) {
            row_offer(server, awaited, row, &left, &ready);
        }
    }
    if (client != NULL) {
        sx_share_charge(server, client, (WAKE_LOOKUPS_MAX - left) / WAKES_PER_UNIT);
    }
    ready_answer(server, &ready);
}

/* ---- spawns that fail ------------------------------------------------------------------------ */

struct failure {
    const pmix_proc_t *spawner;
    const char *nspace;
    pmix_status_t status;
};

/* Return: whether @client had a waiting lookup.  A lookup that still searches may find enough. */
static bool lookups_fail(struct sx_client *client, pmix_status_t status)
{
    bool any = false;

    SX_LIST_EACH(it, &client->pendings) {
        struct sx_pending *const pending = SX_LIST_ENTRY(it, struct sx_pending, link);

        if (pending->kind == &lookup_kind &&
            !SX_CONTAINER(pending, struct sx_lookup, pending)->is_queued) {
            any = true;
            sx_pending_answer(pending, status);
        }
    }
    return any;
}

static pmix_status_t spawn_fail(struct sx_server *server, void *arg)
{
    const struct failure *const failure = arg;
    const struct sx_nspace *const child = sx_nspace_find(server, failure->nspace);
    const struct sx_nspace *const nspace = sx_nspace_find(server, failure->spawner->nspace);
    struct sx_client *const client = nspace == NULL
                                         ? NULL
                                         : sx_client_find(nspace, failure->spawner->rank);

    if (client == NULL || client->state != SX_CLIENT_CONNECTED || child == NULL ||
        child->was_connected) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (!lookups_fail(client, failure->status)) {
        client->spawn_failed = failure->status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_publish_spawn_failed(const pmix_proc_t *spawner, const char *nspace,
                                      pmix_status_t status)
{
    struct sx_server *const server = sx_server_get();
    struct failure failure = { .spawner = spawner, .nspace = nspace, .status = status };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, spawn_fail, &failure);
}

/* ---- the calls ------------------------------------------------------------------------------ */

/* Read the directives in @info for @lookup, which has its keys and owns @info.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as sx_lookup_read. */
static pmix_status_t lookup_read(struct sx_lookup *lookup, const pmix_info_t info[])
{
    const pmix_status_t rc = sx_lookup_read(info, lookup->ninfo, lookup->key_count,
                                            &lookup->options, &lookup->wanted);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_published_targets_sort(&lookup->options.targets);
    return wants_make(lookup);
}

static void own_lookup(struct sx_server *server, struct sx_client *client, uint32_t id,
                       struct sx_publish_call *call, size_t bytes, uint64_t now_ns)
{
    struct sx_lookup *const lookup = calloc(1, sizeof(*lookup));
    pmix_status_t rc;

    if (lookup == NULL) {
        PMIX_INFO_FREE(call->keys, call->key_count);
        PMIX_INFO_FREE(call->info, call->ninfo);
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return;
    }
    *lookup = (struct sx_lookup){ .keys = call->keys,
                                  .key_count = call->key_count,
                                  .info = call->info,
                                  .ninfo = call->ninfo,
                                  .pending.bytes = bytes };
    sx_list_init(&lookup->ready);
    sx_list_init(&lookup->leaving);
    rc = lookup_read(lookup, lookup->info);
    const enum outcome outcome = rc == PMIX_SUCCESS ? client_try(server, client, lookup, &rc)
                                                    : ENDS;

    if (outcome != ENDS) {
        rc = lookup_wait(server, client, id, lookup, outcome != WAITS, now_ns);
        if (rc != PMIX_SUCCESS) {
            sx_reply(server, client, id, rc, -1);
        }
        return;
    }
    sx_reply_body(server, client, id, rc, lookup->results, lookup->results_size);
    sx_lookup_free(lookup);
}

bool sx_publish_on_lookup(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct sx_publish_call call;
    const pmix_status_t rc = sx_publish_call_read(frame, 1, &call);

    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    } else if (sx_publish_has_host(server, SX_UPCALL_LOOKUP)) {
        sx_lookup_range_mend(call.info, call.ninfo);
        sx_publish_call_host(server, client, frame, SX_UPCALL_LOOKUP, &call);
    } else {
        sx_reply_read(server, client, frame);
        own_lookup(server, client, frame->header.id, &call, frame->opened.size, now_ns);
    }
    return true;
}

pmix_status_t sx_lookup_by_host(struct sx_server *server, const struct sx_party *party,
                                const struct sx_role_publish *call, pmix_info_t **ret_info,
                                size_t *ret_ninfo)
{
    struct sx_lookup lookup = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                                .key_count = call->key_count,
                                .info = PMIx_Info_create(call->ninfo + 1),
                                .ninfo = call->ninfo,
                                .at_once = true };
    pmix_status_t rc = lookup.info == NULL
                           ? PMIX_ERR_OUT_OF_RESOURCE
                           : sx_elements_copy(lookup.info, call->info, call->ninfo, PMIX_INFO);

    if (rc == PMIX_SUCCESS) {
        rc = lookup_read(&lookup, lookup.info);
    }
    if (rc == PMIX_SUCCESS &&
        lookup_try(server, party, UINT64_MAX, SX_LOOKUP_FOUND_BYTES_MAX, &lookup, &rc) != ENDS) {
        rc = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                      "a lookup of the server's own host cannot wait for what is not published");
    }
    if (lookup.results != NULL) {
        const pmix_status_t decoded = sx_flat_infos_decode(lookup.results, lookup.results_size,
                                                           ret_info, ret_ninfo);

        rc = decoded == PMIX_SUCCESS ? rc : decoded;
    }
    if (lookup.info != NULL) {
        PMIx_Info_free(lookup.info, call->ninfo + 1);
    }
    free(lookup.wants);
    free(lookup.want_of);
    free(lookup.results);
    return rc;
}
