/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_index.c - Gets are stored by key, and keys by rank; a key or rank without entries is
 * freed. */
#include "server/data/get_index.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "server/data/data.h"
#include "server/model/state.h"

static bool answers_step(struct sx_server *server, size_t *left);

void sx_waiting_init(struct sx_server *server)
{
    struct sx_waiting *const waiting = &server->data.waiting;

    sx_list_init(&waiting->due);
    sx_list_init(&waiting->passed);
    sx_steps_init(&waiting->answers, server, answers_step, SX_WAITING_STEP);
}

void sx_waiting_deinit(struct sx_waiting *waiting)
{
    sx_table_deinit(&waiting->ranks);
    sx_table_deinit(&waiting->keys);
}

void sx_waiting_want(struct sx_server *server, struct sx_client *target, int change)
{
    target->waiter_count += (uint32_t)change;
    if (target->slot < server->board.slot_count) {
        sx_board_slot_want_data(&server->board, target->slot, target->waiter_count > 0);
    }
}

/* ---- hashes --------------------------------------------------------------------------------- */

static uint64_t hash_of_two(const struct sx_server *server, const void *owner, uint64_t number)
{
    const uint64_t words[2] = { (uint64_t)(uintptr_t)owner, number };

    return XXH3_64bits_withSeed(words, sizeof(words), server->seed);
}

static uint64_t hash_of_key(const struct sx_server *server, const struct sx_wait_what *what)
{
    const uint64_t of_rank = hash_of_two(server, what->nspace,
                                         (uint64_t)what->realm << 32 | what->rank);

    return XXH3_64bits_withSeed(what->key, strlen(what->key), of_rank);
}

/* The place where @hash, of a key or namespace that the host was asked for, is remembered. */
static uint64_t *once_place(struct sx_server *server, uint64_t hash)
{
    return &server->data.waiting.once[hash % SX_WAITING_ONCE];
}

bool sx_wait_is_first(struct sx_server *server, const struct sx_wait_what *what)
{
    const uint64_t hash = hash_of_key(server, what);
    const bool is_first = *once_place(server, hash) != hash;

    *once_place(server, hash) = hash;
    return is_first;
}

static uint64_t hash_of_name(const struct sx_server *server, const char *nspace)
{
    return XXH3_64bits_withSeed(nspace, strlen(nspace), server->seed);
}

bool sx_waiting_is_vain(struct sx_server *server, const char *nspace)
{
    const uint64_t hash = hash_of_name(server, nspace);

    return *once_place(server, hash) == hash;
}

void sx_waiting_was_vain(struct sx_server *server, const char *nspace)
{
    const uint64_t hash = hash_of_name(server, nspace);

    *once_place(server, hash) = hash;
}

void sx_waiting_forget(struct sx_server *server)
{
    memset(server->data.waiting.once, 0, sizeof(server->data.waiting.once));
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static struct sx_awaited *awaited_of(struct sx_table_node *node)
{
    return SX_CONTAINER(node, struct sx_awaited, node);
}

struct sx_awaited *sx_awaited_find(struct sx_server *server, const struct sx_nspace *nspace,
                                   uint32_t rank)
{
    const struct sx_table *ranks = &server->data.waiting.ranks;
    struct sx_table_node *node = sx_table_first(ranks, hash_of_two(server, nspace, rank));

    while (node != NULL && (awaited_of(node)->nspace != nspace || awaited_of(node)->rank != rank)) {
        node = sx_table_next(ranks, node);
    }
    return node == NULL ? NULL : awaited_of(node);
}

static struct sx_awaited *awaited_obtain(struct sx_server *server, struct sx_nspace *nspace,
                                         uint32_t rank)
{
    struct sx_awaited *awaited = sx_awaited_find(server, nspace, rank);

    if (awaited != NULL) {
        return awaited;
    }
    awaited = calloc(1, sizeof(*awaited));
    if (awaited == NULL) {
        return NULL;
    }
    *awaited = (struct sx_awaited){ .server = server, .nspace = nspace, .rank = rank };
    sx_list_init(&awaited->keys);
    sx_list_init(&awaited->found);
    sx_list_init(&awaited->answers);
    sx_list_init(&awaited->due);
    sx_asker_init(&awaited->remote.asker);
    if (!sx_table_add(&server->data.waiting.ranks, &awaited->node,
                      hash_of_two(server, nspace, rank))) {
        free(awaited);
        return NULL;
    }
    sx_list_append(&nspace->awaited, &awaited->link);
    return awaited;
}

/* @awaited is not found any more. */
static void awaited_detach(struct sx_awaited *awaited)
{
    sx_timer_remove(&awaited->patience);
    sx_table_remove(&awaited->server->data.waiting.ranks, &awaited->node);
    sx_list_remove(&awaited->link);
    awaited->nspace = NULL;
}

static void awaited_free_unless_used(struct sx_awaited *awaited)
{
    if (awaited->wait_count == 0 && !awaited->remote.is_active && sx_list_empty(&awaited->due)) {
        if (awaited->nspace != NULL) {
            awaited_detach(awaited);
        }
        free(awaited);
    }
}

static void remote_end(struct sx_awaited *awaited)
{
    if (awaited->remote.is_active) {
        sx_timer_remove(&awaited->remote.timer);
        sx_asker_deinit(&awaited->remote.asker);
        if (awaited->remote.incoming != NULL) {
            awaited->remote.incoming->owner = NULL;
            awaited->remote.incoming = NULL;
        }
        awaited->remote.is_active = false;
    }
}

void sx_awaited_unasked(struct sx_awaited *awaited)
{
    if (awaited->remote.is_active) {
        remote_end(awaited);
        awaited_free_unless_used(awaited);
    }
}

bool sx_awaited_is_idle(const struct sx_awaited *awaited)
{
    return sx_list_empty(&awaited->keys) && sx_list_empty(&awaited->found);
}

/* ---- keys ----------------------------------------------------------------------------------- */

static struct sx_awaited_key *key_find(struct sx_server *server, const struct sx_wait_what *what,
                                       uint64_t hash)
{
    const struct sx_table *keys = &server->data.waiting.keys;
    struct sx_table_node *node = sx_table_first(keys, hash);

    for (; node != NULL; node = sx_table_next(keys, node)) {
        struct sx_awaited_key *key = SX_CONTAINER(node, struct sx_awaited_key, node);

        if (key->awaited->nspace == what->nspace && key->awaited->rank == what->rank &&
            key->realm == what->realm && key->anew == what->anew &&
            strcmp(key->key, what->key) == 0) {
            return key;
        }
    }
    return NULL;
}

static struct sx_awaited_key *key_obtain(struct sx_awaited *awaited,
                                         const struct sx_wait_what *what)
{
    struct sx_server *server = awaited->server;
    const uint64_t hash = hash_of_key(server, what);
    const size_t size = strlen(what->key) + 1;
    struct sx_awaited_key *key = key_find(server, what, hash);

    if (key != NULL) {
        return key;
    }
    key = calloc(1, sizeof(*key) + size);
    if (key == NULL || !sx_table_add(&server->data.waiting.keys, &key->node, hash)) {
        free(key);
        return NULL;
    }
    key->awaited = awaited;
    key->realm = what->realm;
    key->anew = what->anew;
    memcpy(key->key, what->key, size);
    sx_list_init(&key->waits);
    sx_list_append(&awaited->keys, &key->link);
    awaited->qualified_count += key->realm == SX_REALM_QUALIFIED;
    return key;
}

static void key_free_unless_used(struct sx_awaited_key *key)
{
    if (sx_list_empty(&key->waits)) {
        sx_table_remove(&key->awaited->server->data.waiting.keys, &key->node);
        key->awaited->qualified_count -= key->realm == SX_REALM_QUALIFIED;
        sx_list_remove(&key->link);
        free(key);
    }
}

/* Move the Gets of @key that @which picks, which end with @status; without Gets the key is
 * freed. */
static void key_take(struct sx_awaited_key *key, bool (*which)(struct sx_wait *wait, void *arg),
                     void *arg, struct sx_list *into, pmix_status_t status)
{
    SX_LIST_EACH(it, &key->waits) {
        struct sx_wait *wait = SX_LIST_ENTRY(it, struct sx_wait, link);

        if (which(wait, arg)) {
            sx_list_remove(it);
            sx_list_append(into, it);
            wait->key = NULL;
            wait->status = status;
        }
    }
    key_free_unless_used(key);
}

static bool is_any(struct sx_wait *wait, void *arg)
{
    (void)wait;
    (void)arg;
    return true;
}

static void key_found(struct sx_awaited_key *key)
{
    key_take(key, is_any, NULL, &key->awaited->found, PMIX_SUCCESS);
}

void sx_waiting_put(struct sx_server *server, const struct sx_wait_what *what)
{
    struct sx_awaited_key *key = key_find(server, what, hash_of_key(server, what));

    if (key != NULL) {
        key_found(key);
    }
}

/* ---- one Get -------------------------------------------------------------------------------- */

/* The Get stops waiting. */
static void wait_closed(struct sx_pending *pending)
{
    struct sx_wait *wait = SX_CONTAINER(pending, struct sx_wait, pending);
    struct sx_awaited *awaited = wait->awaited;
    struct sx_client *target = awaited->nspace != NULL
                                   ? sx_client_find(awaited->nspace, awaited->rank)
                                   : NULL;

    if (target != NULL) {
        sx_waiting_want(awaited->server, target, -1);
    }
    sx_list_remove(&wait->mark.link);
    sx_list_remove(&wait->link);
    if (wait->key != NULL) {
        key_free_unless_used(wait->key);
    }
    awaited->wait_count--;
    awaited_free_unless_used(awaited);
    wait->awaited = NULL;
}

static const struct sx_pending_kind get_kind = { .quota = SX_PENDING_GET, .closed = wait_closed };

struct sx_wait *sx_wait_add(struct sx_server *server, struct sx_client *asker, uint32_t id,
                            const struct sx_wait_what *what)
{
    struct sx_awaited *awaited = awaited_obtain(server, what->nspace, what->rank);
    struct sx_awaited_key *key = awaited == NULL ? NULL : key_obtain(awaited, what);
    struct sx_client *target = sx_client_find(what->nspace, what->rank);
    struct sx_wait *wait = key == NULL ? NULL : calloc(1, sizeof(*wait));

    if (wait == NULL ||
        sx_pending_begin(server, asker, id, &get_kind, &wait->pending) != PMIX_SUCCESS) {
        free(wait);
        if (key != NULL) {
            key_free_unless_used(key);
        }
        if (awaited != NULL) {
            awaited_free_unless_used(awaited);
        }
        return NULL;
    }
    wait->awaited = awaited;
    wait->key = key;
    sx_list_init(&wait->mark.link);
    sx_list_append(&key->waits, &wait->link);
    awaited->wait_count++;
    if (target != NULL) {
        sx_waiting_want(server, target, 1);
    }
    return wait;
}

bool sx_wait_is_due(const struct sx_wait *wait)
{
    return wait->key == NULL || wait->awaited->nspace == NULL;
}

pmix_status_t sx_wait_status(const struct sx_wait *wait, pmix_status_t otherwise)
{
    if (wait->key == NULL) {
        return wait->status;
    }
    return wait->awaited->nspace == NULL ? wait->awaited->status : otherwise;
}

/* ---- the store ------------------------------------------------------------------------------ */

static bool stop_at_first(void *arg, const char *key, const struct sx_item *item)
{
    (void)key;
    (void)item;
    *(bool *)arg = true;
    return false;
}

bool sx_wait_is_there(const struct sx_wait_what *what)
{
    const struct sx_store *store = &what->nspace->store.view;
    struct sx_item item;
    bool any = false;

    if (!what->nspace->has_store) {
        return false;
    }
    if (what->key[0] == '\0') {
        sx_store_each(store, SX_REALM_JOB, what->rank, stop_at_first, &any);
        return any;
    }
    return sx_store_find(store, what->realm, what->rank, what->key, &item) == PMIX_SUCCESS;
}

void sx_awaited_look(struct sx_awaited *awaited)
{
    SX_LIST_EACH(it, &awaited->keys) {
        struct sx_awaited_key *key = SX_LIST_ENTRY(it, struct sx_awaited_key, link);
        const struct sx_wait_what what = {
            .nspace = awaited->nspace, .rank = awaited->rank, .realm = key->realm, .key = key->key
        };

        if (!key->anew && sx_wait_is_there(&what)) {
            key_found(key);
        }
    }
}

void sx_waiting_brought(struct sx_server *server, const struct sx_wait_what *what)
{
    struct sx_awaited_key *key = key_find(server, what, hash_of_key(server, what));

    if (key != NULL) {
        key->is_brought = true;
    }
}

/* Whether the Get arrived before the host was asked; then its client pays. */
static bool pays(struct sx_wait *wait, void *arg)
{
    const uint64_t *units = arg;

    if (!wait->is_late) {
        sx_share_charge(wait->pending.server, wait->pending.client, *units);
    }
    return !wait->is_late;
}

void sx_awaited_renewed(struct sx_awaited *awaited, uint64_t units)
{
    SX_LIST_EACH(it, &awaited->keys) {
        struct sx_awaited_key *key = SX_LIST_ENTRY(it, struct sx_awaited_key, link);

        if (key->is_brought) {
            key->is_brought = false;
            key_take(key, pays, &units, &awaited->found, PMIX_SUCCESS);
        }
    }
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Return: the next Get of @awaited that is DUE; NULL: there is none. */
static struct sx_wait *awaited_next(const struct sx_awaited *awaited)
{
    const struct sx_list *from = &awaited->answers;

    if (sx_list_empty(from) && awaited->nspace == NULL && !sx_list_empty(&awaited->keys)) {
        from = &SX_LIST_ENTRY(awaited->keys.next, struct sx_awaited_key, link)->waits;
    }
    return sx_list_empty(from) ? NULL : SX_LIST_ENTRY(from->next, struct sx_wait, link);
}

/* An answer may end its client, and so other Gets. */
static bool answers_step(struct sx_server *server, size_t *left)
{
    struct sx_waiting *const waiting = &server->data.waiting;
    struct sx_list *node;

    while (*left > 0 && !sx_list_empty(&waiting->due)) {
        struct sx_awaited *const awaited = SX_LIST_ENTRY(waiting->due.next, struct sx_awaited, due);
        struct sx_wait *const wait = awaited_next(awaited);

        if (wait == NULL) {
            sx_list_remove(&awaited->due);
            awaited_free_unless_used(awaited);
        } else {
            --*left;
            sx_pending_answer(&wait->pending, sx_wait_status(wait, PMIX_SUCCESS));
        }
    }
    while (*left > 0 && (node = sx_list_pop(&waiting->passed)) != NULL) {
        struct sx_lane_mark *const mark = SX_LIST_ENTRY(node, struct sx_lane_mark, link);

        --*left;
        mark->reached(mark);
    }
    return sx_list_empty(&waiting->due) && sx_list_empty(&waiting->passed);
}

static void awaited_answer(struct sx_awaited *awaited)
{
    struct sx_server *const server = awaited->server;

    if (sx_list_empty(&awaited->due)) {
        sx_list_append(&server->data.waiting.due, &awaited->due);
    }
    sx_steps_go(&server->data.waiting.answers);
}

/* ---- all of a rank -------------------------------------------------------------------------- */

void sx_awaited_commit(struct sx_awaited *awaited)
{
    if (!sx_list_empty(&awaited->found)) {
        sx_list_splice(&awaited->answers, &awaited->found);
        awaited_answer(awaited);
    }
}

void sx_awaited_end(struct sx_awaited *awaited, pmix_status_t status)
{
    struct sx_client *const target = sx_client_find(awaited->nspace, awaited->rank);

    if (target != NULL) {
        sx_waiting_want(awaited->server, target, -(int)awaited->wait_count);
    }
    sx_list_splice(&awaited->answers, &awaited->found);
    remote_end(awaited);
    awaited_detach(awaited);
    awaited->status = status;
    awaited_answer(awaited);
}

void sx_awaited_end_some(struct sx_awaited *awaited, bool (*which)(struct sx_wait *wait, void *arg),
                         void *arg, pmix_status_t status)
{
    SX_LIST_EACH(it, &awaited->keys) { /* a key is freed with its last Get */
        key_take(SX_LIST_ENTRY(it, struct sx_awaited_key, link), which, arg, &awaited->answers,
                 status);
    }
    if (!sx_list_empty(&awaited->answers)) {
        awaited_answer(awaited);
    }
}
