/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex.c - put data moves from lanes into the store; a get that misses waits (waiting.h).
 *
 *     WAITING --value stored, commit ends--> answered PMIX_SUCCESS ("look again")
 *        |\--deadline--> PMIX_ERR_TIMEOUT
 *        |\--the rank has left or died, or its node had no such value--> PMIX_ERR_NOT_FOUND
 *         \--the asker is gone, or cancels--> dropped
 *
 * Bounded by SX_GETS_MAX per client. */
#include "server/modex.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include <pmix.h>

#include "base/status.h"
#include "base/value.h"
#include "server/connection.h"
#include "server/dmodex.h"
#include "server/host.h"
#include "server/lanes.h"
#include "server/waiting.h"
#include "shmem/qualified.h"

/* ---- put ----------------------------------------------------------------------------------- */

/* Where what is for other nodes alone lies: the loop thread's, nobody else reads it. */
static pmix_status_t remote_obtain(struct sx_nspace *nspace)
{
    const struct sx_store_options options = {
        .nspace = nspace->name, .row_count = nspace->job_size, .private_memory = true, .alone = true
    };
    const pmix_status_t rc = nspace->has_remote ? PMIX_SUCCESS
                                                : sx_store_create(&nspace->remote, &options);

    nspace->has_remote = rc == PMIX_SUCCESS;
    return rc;
}

/* A put that has been read. */
struct put {
    const struct sx_lane_put *head;
    char key[PMIX_MAX_KEYLEN + 1];
    struct sx_cell cell;
    const void *body;
    char name[SX_QUALIFIED_NAME_LEN + 1]; /* of a qualified value, once it is stored */
};

/* An array that one put stands for becomes a value under its qualifiers. */
static pmix_status_t put_qualified(struct sx_store_writer *store, uint32_t rank, struct put *put)
{
    pmix_value_t value;
    pmix_status_t rc = sx_flat_decode_within(&value, &put->cell, put->body, put->cell.len,
                                             SX_QUALIFIED_HEAP_MAX(put->cell.len));

    if (rc == PMIX_SUCCESS) {
        rc = sx_qualified_put(store, rank, put->head->scope, &value, put->name);
        sx_value_destruct(&value);
    }
    return rc;
}

static pmix_status_t put_store(struct sx_store_writer *store, uint32_t rank, struct put *put)
{
    return strcmp(put->key, PMIX_QUALIFIED_VALUE) == 0
               ? put_qualified(store, rank, put)
               : sx_store_put_flat(store, SX_REALM_JOB, rank, put->key, put->head->scope,
                                   &put->cell, put->body);
}

/* Judge a put.  Return: PMIX_SUCCESS with the key terminated and the cell cleaned. */
static pmix_status_t put_read(const void *body, size_t size, struct put *ret)
{
    const struct sx_lane_put *const head = body;

    if (size < sizeof(*head) || head->key_len == 0 || head->key_len > PMIX_MAX_KEYLEN) {
        return PMIX_ERR_BAD_PARAM;
    }
    const uint64_t value_off = sizeof(*head) + sx_align_up(head->key_len, 8);

    if (!sx_range_fits(value_off, head->cell.len, size)) {
        return PMIX_ERR_BAD_PARAM;
    }
    ret->head = head;
    memcpy(ret->key, head + 1, head->key_len);
    ret->key[head->key_len] = '\0';
    ret->name[0] = '\0';
    ret->body = (const char *)body + value_off;
    ret->cell = head->cell;
    if (strlen(ret->key) != head->key_len || (head->cell.flags & ~SX_CELL_NULL) != 0 ||
        (head->scope != PMIX_LOCAL && head->scope != PMIX_REMOTE && head->scope != PMIX_GLOBAL) ||
        sx_flat_check(&ret->cell, ret->body, ret->cell.len) != PMIX_SUCCESS) {
        return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

/* A value that could not be kept is a line in the log, not a breach of protocol. */
static void put_is_lost(const struct sx_nspace *nspace, uint32_t rank, const char *key,
                        pmix_status_t why)
{
    sx_log(SX_LOG_ERROR, "the value of \"%s\" from %s.%u is lost: %s", key, nspace->name, rank,
           PMIx_Error_string(why));
}

pmix_status_t sx_modex_store(struct sx_nspace *nspace, uint32_t rank, const void *body, size_t size)
{
    struct put put;
    pmix_status_t rc = put_read(body, size, &put);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = put_store(&nspace->store, rank, &put);
    if (rc != PMIX_SUCCESS) {
        put_is_lost(nspace, rank, put.key, rc);
    }
    return PMIX_SUCCESS;
}

/* The put that makes a store begin its next generation pays for that: what lives is copied, and
 * the memory of the old one is given back. */
static pmix_status_t put_charged(struct sx_server *server, struct sx_client *client,
                                 struct sx_store_writer *store, struct put *put)
{
    const uint64_t generation = store->generation, used_bytes = store->heap.next_off;
    const pmix_status_t rc = put_store(store, client->rank, put);

    if (store->generation != generation) {
        sx_turn_charge(server, client, used_bytes / 2048 + store->live_bytes / 1024);
    }
    return rc;
}

/* Who waits for what has been put, or for anything of this rank, is answered with the commit. */
static void put_is_found(struct sx_server *server, const struct sx_client *client,
                         const struct put *put)
{
    struct sx_wait_what what = {
        .nspace = client->nspace, .rank = client->rank, .realm = SX_REALM_JOB, .key = put->key
    };

    if (put->name[0] != '\0') {
        what.realm = SX_REALM_QUALIFIED;
        what.key = put->name;
    } else {
        sx_waiting_put(server, &what);
        what.key = "";
    }
    sx_waiting_put(server, &what);
}

pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client, const void *body,
                           size_t size)
{
    struct sx_nspace *nspace = client->nspace;
    struct put put;
    pmix_status_t rc = put_read(body, size, &put);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const bool is_remote = put.head->scope == PMIX_REMOTE;
    if (is_remote) {
        rc = remote_obtain(nspace);
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_charged(server, client, is_remote ? &nspace->remote : &nspace->store, &put);
    }
    if (rc == PMIX_SUCCESS && !is_remote && client->waiter_count > 0) {
        put_is_found(server, client, &put);
    }
    /* Other nodes hear of it with the next fence; a job that has none keeps no news. */
    if (rc == PMIX_SUCCESS && put.head->scope != PMIX_LOCAL &&
        nspace->job_size > nspace->local_count) {
        rc = sx_blob_message(&client->news, body, size);
    }
    if (rc != PMIX_SUCCESS) {
        put_is_lost(nspace, client->rank, put.key, rc);
    }
    return PMIX_SUCCESS;
}

bool sx_modex_on_put_bulk(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    const char *at = frame->body;
    size_t left = frame->body_size;

    (void)now_ns;
    while (left > 0) {
        uint64_t size;

        if (left < sizeof(size)) {
            return false;
        }
        memcpy(&size, at, sizeof(size));
        at += sizeof(size);
        left -= sizeof(size);
        if (size > left || sx_align_up(size, 8) > left ||
            sx_modex_put(server, client, at, size) != PMIX_SUCCESS) {
            return false;
        }
        at += sx_align_up(size, 8);
        left -= sx_align_up(size, 8);
    }
    sx_connection_reply(server, client, frame->header.id, PMIX_SUCCESS, -1);
    return true;
}

/* ---- waiting gets -------------------------------------------------------------------------- */

static void get_timed_out(void *arg, uint64_t now_ns)
{
    struct sx_wait *wait = arg;

    (void)now_ns;
    sx_wait_answer(wait, wait->key == NULL ? PMIX_SUCCESS : PMIX_ERR_TIMEOUT);
}

static bool stop_at_first(void *arg, const char *key, const struct sx_item *item)
{
    (void)key;
    (void)item;
    *(bool *)arg = true;
    return false;
}

/* Is it in the store?  An empty key asks for any data of the rank. */
static bool value_is_there(const struct sx_nspace *nspace, uint32_t rank, enum sx_realm realm,
                           const char *key)
{
    struct sx_item item;
    bool any = false;

    if (!nspace->has_store) {
        return false;
    }
    if (key[0] == '\0') {
        sx_store_each(&nspace->store.view, SX_REALM_JOB, rank, stop_at_first, &any);
        return any;
    }
    return sx_store_find(&nspace->store.view, realm, rank, key, &item) == PMIX_SUCCESS;
}

pmix_status_t sx_modex_commit(struct sx_server *server, struct sx_client *client)
{
    client->has_committed = true;
    sx_dmodex_committed(client);
    if (client->waiter_count > 0) {
        struct sx_awaited *awaited = sx_awaited_find(server, client->nspace, client->rank);

        if (awaited != NULL) {
            sx_awaited_commit(awaited);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- ranks of other nodes ------------------------------------------------------------------ */

/* Find what is in the store by now, whoever has put it there. */
static void awaited_look(struct sx_awaited *awaited)
{
    SX_LIST_EACH(it, &awaited->keys) {
        struct sx_awaited_key *key = SX_LIST_ENTRY(it, struct sx_awaited_key, link);

        if (value_is_there(awaited->nspace, awaited->rank, key->realm, key->key)) {
            sx_awaited_key_found(key);
        }
    }
}

static void host_has_answered(struct sx_server *server, uint64_t serial, struct sx_client *client,
                              const struct sx_host_answer *answer)
{
    struct sx_awaited *awaited = sx_awaited_of_ask(server, serial);
    pmix_status_t status = answer->status;

    (void)client;
    if (awaited == NULL) {
        return;
    }
    if (status == PMIX_SUCCESS && answer->size > 0) {
        status = sx_blob_store(server, answer->bytes, answer->size);
    }
    awaited_look(awaited); /* all that the rank's node had is in the store */
    sx_awaited_end(awaited, status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status);
    sx_awaited_unasked(awaited);
}

/* Ask the host unless it has been asked; whoever else wants something of the rank waits along.
 * Return: an error when it cannot be. */
static pmix_status_t remote_ask(struct sx_server *server, struct sx_awaited *awaited,
                                enum sx_realm realm, const char *key)
{
    pmix_proc_t proc;

    if (awaited->ask != 0) {
        return PMIX_SUCCESS;
    }
    memset(&proc, 0, sizeof(proc));
    memcpy(proc.nspace, awaited->nspace->name, sizeof(proc.nspace));
    proc.rank = awaited->rank;
    if (!sx_awaited_asked(awaited, ++server->serial)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    /* Names of qualified values mean nothing to a host; it brings all of the rank anyway. */
    const pmix_status_t rc = sx_host_direct_modex(server, awaited->ask, &proc,
                                                  realm == SX_REALM_JOB ? key : "", 0,
                                                  host_has_answered);
    if (rc != PMIX_SUCCESS) {
        sx_awaited_unasked(awaited);
    }
    return rc;
}

/* Whether @rank can be a process of another node that the host may be asked for. */
static bool is_elsewhere(const struct sx_server *server, const struct sx_nspace *nspace,
                         uint32_t rank)
{
    return server->module.direct_modex != NULL && rank < nspace->job_size &&
           nspace->job_size > nspace->local_count;
}

/* Whether @rank can be a local process that the host has not registered yet. */
static bool is_to_come(const struct sx_nspace *nspace, uint32_t rank)
{
    return rank < nspace->job_size && nspace->client_count < nspace->local_count;
}

static enum sx_realm realm_of(const struct sx_get *request)
{
    return (request->flags & SX_GET_QUALIFIED) != 0 ? SX_REALM_QUALIFIED : SX_REALM_JOB;
}

/* All that its rank had sent when it was asked for has been taken. */
static void get_caught_up(struct sx_lane_mark *mark)
{
    struct sx_wait *wait = SX_CONTAINER(mark, struct sx_wait, mark);
    const struct sx_awaited *awaited = wait->awaited;

    if (wait->key == NULL ||
        value_is_there(awaited->nspace, awaited->rank, wait->key->realm, wait->key->key)) {
        sx_wait_answer(wait, PMIX_SUCCESS);
    } else if (!wait->patient) {
        sx_wait_answer(wait, PMIX_ERR_NOT_FOUND);
    }
}

/* Return: PMIX_SUCCESS when it will be answered, or has been. */
static pmix_status_t get_wait(struct sx_server *server, struct sx_client *asker,
                              const struct sx_wait_what *what, struct sx_client *target,
                              const struct sx_frame *frame, bool patient, uint64_t now_ns)
{
    const struct sx_get *request = frame->body;
    struct sx_wait *wait;

    if (asker->request_count >= SX_GETS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    wait = sx_wait_add(server, asker, frame->header.id, what);
    if (wait == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    wait->patient = patient;
    if (request->timeout_ns != 0) {
        wait->deadline.fn = get_timed_out;
        wait->deadline.arg = wait;
        sx_timer_add(server->loop, &wait->deadline, sx_deadline_ns(now_ns, request->timeout_ns));
    }
    if (target == NULL && is_elsewhere(server, what->nspace, what->rank)) {
        const pmix_status_t rc = remote_ask(server, wait->awaited, what->realm, what->key);

        if (rc != PMIX_SUCCESS) {
            sx_wait_drop(wait);
        }
        return rc;
    }
    /* A commit that came before it could see data_wanted is in the lane now. */
    if (target != NULL && target->state == SX_CLIENT_CONNECTED) {
        wait->mark.reached = get_caught_up;
        sx_lane_mark(server, target, &wait->mark);
    }
    return PMIX_SUCCESS;
}

/* Whether waiting for the value can help. */
static bool may_come(const struct sx_server *server, const struct sx_nspace *nspace,
                     const struct sx_client *target, const struct sx_get *request)
{
    const bool immediate = (request->flags & SX_GET_IMMEDIATE) != 0;

    if (target == NULL) {
        return is_elsewhere(server, nspace, request->rank) ||
               (!immediate && is_to_come(nspace, request->rank));
    }
    return !immediate &&
           (target->state == SX_CLIENT_CONNECTED || target->state == SX_CLIENT_REGISTERED);
}

bool sx_modex_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                     uint64_t now_ns)
{
    const struct sx_get *request = frame->body;
    const char *key = (const char *)(request + 1);
    struct sx_client *target = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (sx_name_len(request->nspace, sizeof(request->nspace)) >= sizeof(request->nspace) ||
        request->key_size > PMIX_MAX_KEYLEN + 1 ||
        request->key_size > frame->body_size - sizeof(*request) ||
        (request->key_size > 0 && key[request->key_size - 1] != '\0')) {
        return false;
    }
    const struct sx_wait_what what = { .nspace = sx_nspace_find(server, request->nspace),
                                       .rank = request->rank,
                                       .realm = realm_of(request),
                                       .key = request->key_size > 0 ? key : "" };

    if (what.nspace != NULL && sx_nspace_visible(what.nspace, client)) {
        target = sx_client_find(what.nspace, what.rank);
        /* What the rank has sent comes first: it may be this value, or a newer one. */
        const bool is_behind = target != NULL && target->state == SX_CLIENT_CONNECTED &&
                               sx_lane_pending(&target->lane);
        const bool patient = may_come(server, what.nspace, target, request);

        if (!is_behind && value_is_there(what.nspace, what.rank, what.realm, what.key)) {
            rc = PMIX_SUCCESS;
        } else if (is_behind || patient) {
            rc = get_wait(server, client, &what, target, frame, patient, now_ns);
            if (rc == PMIX_SUCCESS) {
                return true; /* answered later */
            }
        }
    }
    sx_connection_reply(server, client, frame->header.id, rc, -1);
    return true;
}

bool sx_modex_on_get_cancel(struct sx_server *server, struct sx_client *client,
                            struct sx_frame *frame, uint64_t now_ns)
{
    struct sx_wait *wait = sx_wait_find(server, client, frame->header.id);

    (void)now_ns;
    if (wait != NULL) { /* else answered in the meantime */
        sx_wait_drop(wait);
    }
    return true;
}

void sx_modex_client_added(struct sx_server *server, struct sx_client *client)
{
    const struct sx_awaited *awaited = sx_awaited_find(server, client->nspace, client->rank);

    if (awaited != NULL) {
        sx_waiting_want(server, client, (int)awaited->wait_count);
    }
}

/* ---- ends ---------------------------------------------------------------------------------- */

void sx_modex_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_dmodex_client_gone(client);
    sx_waiting_asker_gone(client);
    if (client->waiter_count > 0 && client->nspace != NULL) {
        struct sx_awaited *awaited = sx_awaited_find(server, client->nspace, client->rank);

        if (awaited != NULL) {
            sx_awaited_end(awaited, PMIX_ERR_NOT_FOUND);
        }
    }
}

void sx_modex_nspace_filled(struct sx_nspace *nspace)
{
    SX_LIST_EACH(it, &nspace->awaited) {
        struct sx_awaited *awaited = SX_LIST_ENTRY(it, struct sx_awaited, link);

        awaited_look(awaited);
        sx_awaited_commit(awaited);
    }
}

void sx_modex_nspace_gone(struct sx_nspace *nspace)
{
    SX_LIST_EACH(it, &nspace->awaited) {
        struct sx_awaited *awaited = SX_LIST_ENTRY(it, struct sx_awaited, link);
        const bool asked = awaited->ask != 0;

        sx_awaited_end(awaited, PMIX_ERR_NOT_FOUND);
        if (asked) { /* else it is gone */
            sx_awaited_unasked(awaited);
        }
    }
}
