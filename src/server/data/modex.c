/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex.c - move put data from lanes into the store, and answer the Gets that wait for it.
 *
 * A value that is only for other nodes is stored separately.  Gets on this node do not see it, and
 * need not wait for it. */
#include "server/data/data.h"

#include <shmix.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/data/get_index.h"
#include "server/event/event.h"
#include "server/model/blob.h"
#include "server/model/family.h"
#include "server/port/port.h"
#include "shmem/qualified.h"

/* ---- put ----------------------------------------------------------------------------------- */

/* The store of values that are for other nodes alone: only the loop thread reads it. */
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

/* A put that has been decoded. */
struct put {
    const struct sx_lane_put *head;
    char key[PMIX_MAX_KEYLEN + 1];
    struct sx_cell cell;
    const void *body;
    char name[SX_QUALIFIED_NAME_LEN + 1]; /* of a qualified value, once it is stored */
    bool is_legend;                       /* of a qualified value of another node */
    bool is_notified;                     /* it is copied to the news, if it is one of them */
};

/* A put of an array of values with qualifiers becomes a value under its qualifiers. */
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

/* A legend is stored once. */
static pmix_status_t legend_store(struct sx_store_writer *store, const struct put *put)
{
    struct sx_item item;

    return sx_store_find(&store->view, SX_REALM_QUALIFIED, SX_ROW_JOB, put->key, &item) ==
                   PMIX_SUCCESS
               ? PMIX_SUCCESS
               : sx_store_put_flat(store, SX_REALM_QUALIFIED, SX_ROW_JOB, put->key,
                                   PMIX_SCOPE_UNDEF, &put->cell, put->body);
}

static pmix_status_t put_store(struct sx_store_writer *store, uint32_t rank, struct put *put)
{
    if (put->is_legend) {
        return legend_store(store, put);
    }
    if (put->name[0] == '\0' && strcmp(put->key, PMIX_QUALIFIED_VALUE) == 0) {
        return put_qualified(store, rank, put);
    }
    return sx_store_put_flat(store, put->name[0] != '\0' ? SX_REALM_QUALIFIED : SX_REALM_JOB, rank,
                             put->key, put->head->scope, &put->cell, put->body);
}

/* Check what the signature of an opened put does not cover.  Return: PMIX_SUCCESS with the key
 * terminated and the cell cleaned. */
static pmix_status_t put_read(const struct sx_opened *body, struct put *ret)
{
    const struct sx_lane_put *const head = body->head;

    if ((head->cell.flags & ~SX_CELL_NULL) != 0 || (head->flags & ~SX_PUT_LAST) != 0 ||
        head->scope < PMIX_LOCAL || head->scope > PMIX_DEL_GLOBAL || head->scope == PMIX_INTERNAL ||
        sx_scope_takes(head->scope) != (head->cell.type == PMIX_UNDEF)) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret = (struct put){ .head = head, .cell = head->cell, .body = body->parts[SX_PUT_VALUE].at };
    memcpy(ret->key, body->parts[SX_PUT_KEY].at, head->key_len);
    return PMIX_SUCCESS;
}

/* The same for a put of another node, which may be a part of a value with qualifiers. */
static pmix_status_t far_read(const struct sx_opened *body, struct put *ret)
{
    const struct sx_lane_put *const head = body->head;

    if ((head->flags & SX_PUT_QUALIFIED) == 0) {
        return put_read(body, ret);
    }
    struct sx_lane_put plain = *head;
    struct sx_opened as_plain = *body;

    plain.flags = 0;
    as_plain.head = &plain;
    const pmix_status_t rc = head->flags == SX_PUT_QUALIFIED && !sx_scope_takes(head->scope)
                                 ? put_read(&as_plain, ret)
                                 : PMIX_ERR_BAD_PARAM;

    ret->head = head;
    ret->is_legend = head->key_len == SX_QUALIFIED_LEGEND_LEN;
    if (rc != PMIX_SUCCESS || (!ret->is_legend && head->key_len != SX_QUALIFIED_NAME_LEN)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!ret->is_legend) {
        memcpy(ret->name, ret->key, sizeof(ret->name));
    }
    return PMIX_SUCCESS;
}

/* Failing to store a value is not a breach of protocol. */
static void put_is_lost(const struct sx_nspace *nspace, uint32_t rank, const char *key,
                        pmix_status_t why)
{
    sx_log(SX_LOG_ERROR, "the value of \"%s\" from %s.%u is lost: %s", key, nspace->name, rank,
           PMIx_Error_string(why));
}

/* The rank, realm and key by which a put is found. */
static struct sx_wait_what what_of(struct sx_nspace *nspace, uint32_t rank, const struct put *put)
{
    const bool is_qualified = put->name[0] != '\0';

    return (struct sx_wait_what){ .nspace = nspace,
                                  .rank = rank,
                                  .realm = is_qualified ? SX_REALM_QUALIFIED : SX_REALM_JOB,
                                  .key = is_qualified ? put->name : put->key };
}

static void put_is_brought(struct sx_nspace *nspace, uint32_t rank, const struct put *put)
{
    struct sx_wait_what what = what_of(nspace, rank, put);

    what.anew = true;
    sx_waiting_brought(sx_server_get(), &what);
    if (what.realm == SX_REALM_JOB) {
        what.key = ""; /* any data of the rank */
        sx_waiting_brought(sx_server_get(), &what);
    }
}

#define COPIED_PER_UNIT 640u /* bytes that are copied; memory to be allocated counts, too */

static void far_spend(size_t *left, uint64_t cost)
{
    *left -= cost < *left ? cost : *left;
}

/* Note that a fence brings values of the rank.  Return: whether one has done so since the question
 * whose answer is stored now: then the answer may have older ones. */
static bool far_is_overtaken(const struct sx_modex_far *far, const struct sx_nspace *nspace,
                             uint32_t rank)
{
    struct sx_awaited *const awaited = sx_list_empty(&nspace->awaited)
                                           ? NULL
                                           : sx_awaited_find(sx_server_get(), nspace, rank);

    if (awaited == NULL) {
        return false;
    }
    awaited->remote.is_overtaken |= !far->is_answer;
    return far->is_answer && awaited->remote.is_overtaken;
}

/* @put has been stored with @rc. */
static void far_end(struct sx_modex_far *far, struct sx_nspace *nspace, uint32_t rank,
                    const struct put *put, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS) {
        put_is_lost(nspace, rank, put->key, rc);
        far->lost++;
    } else if (!sx_scope_takes(put->head->scope) && !put->is_legend &&
               !sx_list_empty(&nspace->awaited)) {
        put_is_brought(nspace, rank, put);
    }
}

/* Check and store a put at once.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE. */
static pmix_status_t far_store(struct sx_modex_far *far, struct sx_nspace *nspace, uint32_t rank,
                               const struct sx_blob_piece *bytes)
{
    struct sx_opened body;
    struct put put;

    if (sx_body_open(&body, &sx_put_body, bytes->bytes, bytes->size) != NULL ||
        far_read(&body, &put) != PMIX_SUCCESS) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    /* A value that its rank has withdrawn from other nodes must not stay on this one. */
    const pmix_status_t rc = sx_scope_takes(put.head->scope)
                                 ? sx_store_withdraw(&nspace->store, SX_REALM_JOB, rank, put.key,
                                                     PMIX_GLOBAL)
                                 : put_store(&nspace->store, rank, &put);

    far_end(far, nspace, rank, &put, rc);
    return PMIX_SUCCESS;
}

/* ---- long values of other nodes -------------------------------------------------------------- */

/*     CHECKED --qualified, as it was put--> COPIED --its legend is stored--> MOVED --> STORED
 *         \--another---------------------------------------------------------------^ */
enum far_state { FAR_CHECKED, FAR_COPIED, FAR_MOVED, FAR_STORED };

struct sx_far_put {
    enum far_state state;
    struct sx_server *server;
    char nspace[PMIX_MAX_NSLEN + 1];
    struct sx_opened body;
    struct sx_judging judging;
    struct put put;
    struct sx_pages pages; /* of the value that is moved */
    size_t copied;
    struct sx_flat_checker *mover;
    struct sx_store_long value;
};

#define FAR_AT_ONCE_BYTES ((size_t)256 << 10)
#define FAR_BYTES_PER_LOOK 20u /* a check takes as long as the copy of so many */

void sx_modex_far_end(struct sx_modex_far *far)
{
    struct sx_far_put *const all = far->put;

    if (all == NULL) {
        return;
    }
    struct sx_nspace *const nspace = sx_nspace_find(all->server, all->nspace);

    if (nspace != NULL && nspace->has_store) {
        sx_store_long_drop(&nspace->store, &all->value);
    }
    sx_judging_end(&all->judging);
    sx_flat_checker_free(all->mover);
    sx_pages_free(&all->pages);
    free(all);
    far->put = NULL;
}

/* All is checked: begin to store it. */
static pmix_status_t far_checked(struct sx_far_put *all)
{
    const struct put *const put = &all->put;

    if (far_read(&all->body, &all->put) != PMIX_SUCCESS || put->is_legend) {
        return PMIX_ERR_UNPACK_FAILURE; /* no legend is long */
    }
    all->value = (struct sx_store_long){ .realm = put->name[0] != '\0' ? SX_REALM_QUALIFIED
                                                                       : SX_REALM_JOB,
                                         .row = all->value.row,
                                         .key = put->key,
                                         .scope = put->head->scope,
                                         .cell = put->cell,
                                         .body = put->body };
    all->state = strcmp(put->key, PMIX_QUALIFIED_VALUE) == 0 ? FAR_COPIED : FAR_STORED;
    return PMIX_ERR_WOULD_BLOCK;
}

static pmix_status_t far_check_step(struct sx_far_put *all, size_t *left)
{
    const uint64_t looks = 2 + *left / FAR_BYTES_PER_LOOK;
    uint64_t rest = looks;
    const char *why = NULL;
    const bool is_more = sx_judging_step(&all->judging, &all->body, &rest, &why);

    far_spend(left, (looks - rest) * FAR_BYTES_PER_LOOK);
    if (is_more) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    return why == NULL ? far_checked(all) : PMIX_ERR_UNPACK_FAILURE;
}

/* The value that is part of a qualified one gets other offsets: that needs a copy. */
static pmix_status_t far_copy_step(struct sx_far_put *all, struct sx_nspace *nspace, size_t *left)
{
    struct put *const put = &all->put;
    const size_t rest = put->cell.len - all->copied, some = rest < *left ? rest : *left;
    struct sx_flat_first first;

    if (all->pages.at == NULL && !sx_pages_grow(&all->pages, 0, put->cell.len)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(all->pages.at + all->copied, (const char *)put->body + all->copied, some);
    all->copied += some;
    far_spend(left, some);
    if (all->copied < put->cell.len) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    const pmix_status_t rc = sx_qualified_begin(&nspace->store, &put->cell, all->pages.at,
                                                put->name, &first);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    all->value.realm = SX_REALM_QUALIFIED;
    all->value.key = put->name;
    all->value.cell = first.value;
    all->value.body = all->pages.at + first.off;
    all->mover = sx_flat_mover_new(&first, all->pages.at + first.off);
    all->state = FAR_MOVED;
    return all->mover != NULL ? PMIX_ERR_WOULD_BLOCK : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t far_move_step(struct sx_far_put *all, size_t *left)
{
    const uint64_t looks = 2 + *left / FAR_BYTES_PER_LOOK;
    uint64_t rest = looks;

    if (sx_flat_checker_step(all->mover, &rest) != PMIX_ERR_WOULD_BLOCK) {
        all->mover = sx_flat_checker_free(all->mover);
        all->state = FAR_STORED;
    }
    far_spend(left, (looks - rest) * FAR_BYTES_PER_LOOK);
    return PMIX_ERR_WOULD_BLOCK;
}

/* Return: PMIX_ERR_WOULD_BLOCK: another step is needed; PMIX_ERR_UNPACK_FAILURE; else the status of
 * the value, which is stored, or lost. */
static pmix_status_t far_step(struct sx_far_put *all, struct sx_nspace *nspace, size_t *left)
{
    pmix_status_t rc = PMIX_SUCCESS;

    switch (all->state) {
    case FAR_CHECKED:
        return far_check_step(all, left);
    case FAR_COPIED:
        return far_copy_step(all, nspace, left);
    case FAR_MOVED:
        return far_move_step(all, left);
    case FAR_STORED:
        break;
    }
    return sx_store_put_step(&nspace->store, &all->value, *left, &rc) ? PMIX_ERR_WOULD_BLOCK : rc;
}

/* Return: NULL: it is stored at once: memory is out, or it is not a put. */
static struct sx_far_put *far_begin(struct sx_nspace *nspace, uint32_t rank,
                                    const struct sx_blob_piece *bytes)
{
    struct sx_far_put *const all = calloc(1, sizeof(*all));

    if (all == NULL || sx_body_lay(&all->body, &sx_put_body, bytes->bytes, bytes->size) != NULL) {
        free(all);
        return NULL;
    }
    all->server = sx_server_get();
    memcpy(all->nspace, nspace->name, strlen(nspace->name) + 1);
    all->value.row = rank;
    return all;
}

pmix_status_t sx_modex_store(void *arg, struct sx_nspace *nspace, uint32_t rank,
                             const struct sx_blob_piece *bytes, size_t *left)
{
    struct sx_modex_far *const far = arg;
    pmix_status_t rc = PMIX_SUCCESS;

    if (nspace == NULL) {
        sx_modex_far_end(far); /* the rank is here now, or its namespace has gone */
        return PMIX_SUCCESS;
    }
    if (far_is_overtaken(far, nspace, rank)) {
        return PMIX_SUCCESS;
    }
    if (far->put == NULL && bytes->size > FAR_AT_ONCE_BYTES) {
        far->put = far_begin(nspace, rank, bytes);
    }
    const uint64_t before = nspace->store.copied_bytes;

    if (far->put == NULL) {
        rc = far_store(far, nspace, rank, bytes);
        far_spend(left, bytes->size);
    } else {
        rc = far_step(far->put, nspace, left);
    }
    far_spend(left, COPIED_PER_UNIT + nspace->store.copied_bytes - before);
    if (far->put != NULL && rc != PMIX_ERR_WOULD_BLOCK) {
        if (rc != PMIX_ERR_UNPACK_FAILURE) {
            far_end(far, nspace, rank, &far->put->put, rc);
            rc = PMIX_SUCCESS;
        }
        sx_modex_far_end(far);
    }
    return rc;
}

/* ---- the next generation of a store --------------------------------------------------------- */

/* One step, charged to the client whose put began the copy.  So the copy is done soon, and other
 * clients do not wait. */
static void copier_step(struct sx_share_work *work)
{
    struct sx_store_copier *const copier = SX_CONTAINER(work, struct sx_store_copier, work);
    struct sx_nspace *const nspace = copier->client->nspace;
    struct sx_store_writer *const store = nspace->store.renewal != NULL ? &nspace->store
                                                                        : &nspace->remote;
    const uint64_t before = store->copied_bytes;

    (void)sx_store_renew_step(store, SX_SHARE_STEP_UNITS * COPIED_PER_UNIT);
    sx_share_charge(copier->server, copier->client,
                    (store->copied_bytes - before) / COPIED_PER_UNIT);
    if (nspace->store.renewal == NULL && nspace->remote.renewal == NULL) {
        sx_share_work_remove(work);
        copier->client = NULL;
    }
}

static void copier_begin(struct sx_server *server, struct sx_client *client)
{
    struct sx_store_copier *const copier = &client->nspace->copier;

    if (copier->client == NULL) {
        copier->server = server;
        copier->client = client;
        copier->work.step = copier_step;
        sx_share_work_add(client, &copier->work);
    }
}

static void long_put_free(struct sx_client *client);

/* The next put of another client continues the copy. */
void sx_modex_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_store_copier *const copier = &client->nspace->copier;

    (void)server;
    long_put_free(client);
    if (copier->client == client) {
        sx_share_work_remove(&copier->work);
        copier->client = NULL;
    }
}

/* A put is charged for the bytes that it copies to the next generation of its store. */
static pmix_status_t put_charged(struct sx_server *server, struct sx_client *client,
                                 struct sx_store_writer *store, struct put *put)
{
    const uint64_t before = store->copied_bytes;
    const pmix_status_t rc = put_store(store, client->rank, put);

    if (store->copied_bytes != before) {
        sx_share_charge(server, client, (store->copied_bytes - before) / COPIED_PER_UNIT);
    }
    if (store->renewal != NULL) {
        copier_begin(server, client);
    }
    return rc;
}

/* Keep the value for other nodes alone from now on, unless a newer one is kept already. */
static pmix_status_t remote_keep(struct sx_nspace *nspace, uint32_t rank, const char *key,
                                 const struct sx_item *item)
{
    const pmix_status_t rc = remote_obtain(nspace);
    struct sx_item newer;

    return rc != PMIX_SUCCESS || sx_store_find(&nspace->remote.view, SX_REALM_JOB, rank, key,
                                               &newer) == PMIX_SUCCESS
               ? rc
               : sx_store_put_flat(&nspace->remote, SX_REALM_JOB, rank, key, PMIX_REMOTE,
                                   &item->cell, item->body);
}

/* A put that withdraws a value.  If the value stays for other nodes, a copy may have to be made. */
static pmix_status_t put_take(struct sx_server *server, struct sx_client *client,
                              const struct put *put)
{
    struct sx_nspace *const nspace = client->nspace;
    const pmix_scope_t taken = sx_scope_taken(put->head->scope);
    struct sx_item item;
    pmix_status_t rc = sx_store_find(&nspace->store.view, SX_REALM_JOB, client->rank, put->key,
                                     &item);

    if (rc == PMIX_SUCCESS) {
        if (taken == PMIX_LOCAL && sx_item_scope(&item) == PMIX_GLOBAL) {
            sx_share_charge(server, client, item.cell.len / 1024);
            rc = remote_keep(nspace, client->rank, put->key, &item);
            client->scope_moves += rc == PMIX_SUCCESS;
            return rc == PMIX_SUCCESS
                       ? sx_store_unset(&nspace->store, SX_REALM_JOB, client->rank, put->key)
                       : rc;
        }
        rc = sx_store_withdraw(&nspace->store, SX_REALM_JOB, client->rank, put->key, taken);
    }
    if (nspace->has_remote && (rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND)) {
        rc = sx_store_withdraw(&nspace->remote, SX_REALM_JOB, client->rank, put->key, taken);
    }
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

/* The value for other nodes is no longer the newest. */
static void remote_outdate(struct sx_client *client, const struct put *put)
{
    const struct sx_wait_what what = what_of(client->nspace, client->rank, put);

    if (put->head->scope == PMIX_GLOBAL && client->nspace->has_remote) {
        client->scope_moves += sx_store_unset(&client->nspace->remote, what.realm, client->rank,
                                              what.key) == PMIX_SUCCESS;
    }
}

/* Apply the put to the store that its scope names, or withdraw from both. */
static pmix_status_t put_apply(struct sx_server *server, struct sx_client *client, struct put *put)
{
    struct sx_nspace *const nspace = client->nspace;
    const bool is_remote = put->head->scope == PMIX_REMOTE;

    if (sx_scope_takes(put->head->scope)) {
        return put_take(server, client, put);
    }
    pmix_status_t rc = is_remote ? remote_obtain(nspace) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
        rc = put_charged(server, client, is_remote ? &nspace->remote : &nspace->store, put);
    }
    if (rc == PMIX_SUCCESS) {
        remote_outdate(client, put);
    }
    return rc;
}

static bool is_of_this_node(const struct sx_nspace *nspace)
{
    return nspace->registered && nspace->job_size <= nspace->local_count;
}

/* Other nodes receive the change with the next fence.  A job without other nodes records no
 * changes.  Before its registration it may have some. */
static bool is_news(const struct sx_nspace *nspace, pmix_scope_t scope)
{
    const pmix_scope_t whom = sx_scope_takes(scope) ? sx_scope_taken(scope) : scope;

    return (whom & PMIX_REMOTE) != 0 && !is_of_this_node(nspace);
}

/* At the commit, answer the Gets that wait for this put, or for any data of this rank. */
static void put_is_found(struct sx_server *server, const struct sx_client *client,
                         const struct put *put)
{
    struct sx_wait_what what = what_of(client->nspace, client->rank, put);

    sx_waiting_put(server, &what);
    if (what.realm == SX_REALM_JOB && put->head->scope != PMIX_REMOTE) {
        what.key = ""; /* any data of the rank */
        sx_waiting_put(server, &what);
    }
}

/* The client's next fence or commit returns this, and an event at the end of this commit has the
 * count. */
static void client_loses(struct sx_server *server, struct sx_client *client, const char *key,
                         pmix_status_t why)
{
    if (client->values_lost++ == 0) {
        put_is_lost(client->nspace, client->rank, key, why);
    }
    if (client->slot < SX_BOARD_SLOT_MAX) {
        sx_board_slot_lose_value(&server->board, client->slot);
    }
}

/* At the end of a commit. */
static void losses_report(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    const struct sx_event_note note = { .key = SHMIX_VALUES_LOST_COUNT,
                                        .number = client->values_lost };

    sx_log(SX_LOG_ERROR, "values of a commit of %s.%u that are lost: %zu", client->nspace->name,
           client->rank, client->values_lost);
    client->values_lost = 0;
    sx_event_to(server, SHMIX_ERR_VALUES_LOST, client, &self, 1, &note, 1);
}

/* The put of @body, @size bytes, has been applied, or not: @rc.  Return: as sx_modex_put. */
static pmix_status_t put_end(struct sx_server *server, struct sx_client *client,
                             const struct put *put, size_t size, pmix_status_t rc,
                             pmix_status_t *ret_kept)
{
    if (rc == PMIX_SUCCESS && client->waiter_count > 0 && !sx_scope_takes(put->head->scope)) {
        put_is_found(server, client, put);
    }
    if (rc == PMIX_SUCCESS && !put->is_notified && is_news(client->nspace, put->head->scope)) {
        rc = put->cell.len > SX_STORE_LONG_BYTES && put->name[0] == '\0'
                 ? sx_news_refer(&client->news, put->key)
                 : sx_news_add(&client->news, put->head, size);
    }
    if (rc != PMIX_SUCCESS) {
        client_loses(server, client, put->key, rc);
    }
    *ret_kept = rc;
    return (put->head->flags & SX_PUT_LAST) != 0 ? sx_modex_commit(server, client) : PMIX_SUCCESS;
}

/* ---- long values ----------------------------------------------------------------------------- */

/* One that is copied in its client's turns.  Until its end nothing else of the client is taken. */
struct sx_long_put {
    struct sx_share_work work;
    struct sx_server *server;
    struct sx_client *client;
    uint32_t id; /* of the request */
    struct sx_pages pages;
    size_t size;
    struct put put; /* in the pages */
    bool keeps;     /* it takes a value away, which stays for other nodes: that is copied */
    bool notifies;  /* it is copied to the news, as it was put */
    struct sx_news_copy news;
    struct sx_flat_checker *mover; /* of a value that was part of a qualified one; NULL: done */
    struct sx_store_writer *store;
    struct sx_store_long value;
};

static void long_put_free(struct sx_client *client)
{
    struct sx_long_put *const put = client->long_put;

    if (put != NULL) {
        sx_share_work_remove(&put->work);
        sx_store_long_drop(put->store, &put->value);
        sx_flat_checker_free(put->mover);
        sx_pages_free(&put->pages);
        free(put);
        client->long_put = NULL;
    }
}

/* Find the value that is kept for other nodes, which may have moved.  Return: false when it is no
 * longer the one that was taken away. */
static bool long_keep_find(struct sx_long_put *all)
{
    struct sx_item item;

    if (sx_store_find(&all->client->nspace->store.view, SX_REALM_JOB, all->client->rank,
                      all->put.key, &item) != PMIX_SUCCESS ||
        item.cell.len != all->value.cell.len || item.cell.type != all->value.cell.type ||
        sx_item_scope(&item) != PMIX_GLOBAL) {
        return false;
    }
    all->value.body = item.body;
    return true;
}

/* All has been copied: @rc.  Free @all. */
static void long_put_end(struct sx_long_put *all, pmix_status_t rc)
{
    struct sx_server *const server = all->server;
    struct sx_client *const client = all->client;
    const bool answers = !all->keeps;
    const uint32_t id = all->id;
    pmix_status_t kept;

    if (rc == PMIX_SUCCESS && all->put.is_notified) {
        sx_news_count(&client->news, &all->news); /* not before others can see it in the store */
    }
    if (rc == PMIX_SUCCESS && all->keeps) {
        client->scope_moves++;
        (void)sx_store_unset(&client->nspace->store, SX_REALM_JOB, client->rank, all->put.key);
    } else if (rc == PMIX_SUCCESS) {
        remote_outdate(client, &all->put);
    }
    sx_share_work_remove(&all->work); /* what the end calls may end the client */
    rc = put_end(server, client, &all->put, all->size, rc, &kept);
    long_put_free(client);
    if (rc == PMIX_SUCCESS && answers) {
        sx_reply(server, client, id, kept, -1);
    }
}

/* Make a value of its own of what was part of a qualified one. */
static void long_put_move(struct sx_long_put *all)
{
    const uint64_t looks = SX_SHARE_STEP_UNITS * SX_SHARE_LOOKS_PER_UNIT;
    uint64_t left = looks;

    if (sx_flat_checker_step(all->mover, &left) != PMIX_ERR_WOULD_BLOCK) {
        all->mover = sx_flat_checker_free(all->mover);
    }
    sx_share_charge(all->server, all->client, 1 + (looks - left) / SX_SHARE_LOOKS_PER_UNIT);
}

/* Keep what was put for other nodes, before it is changed. */
static void long_put_notify(struct sx_long_put *all)
{
    struct sx_client *const client = all->client;
    const size_t some = (size_t)SX_SHARE_STEP_UNITS * COPIED_PER_UNIT;
    size_t left = some;
    const pmix_status_t rc = is_news(client->nspace, all->put.head->scope)
                                 ? sx_news_add_step(&client->news, &all->news, all->put.head,
                                                    all->size, &left)
                                 : PMIX_SUCCESS; /* not any more */

    sx_share_charge(all->server, client, 1 + (some - left) / COPIED_PER_UNIT);
    all->notifies = rc == PMIX_ERR_WOULD_BLOCK;
    all->put.is_notified = rc == PMIX_SUCCESS;
    if (rc == PMIX_ERR_OUT_OF_RESOURCE) {
        long_put_end(all, rc);
    }
}

static void long_put_step(struct sx_share_work *work)
{
    struct sx_long_put *const all = SX_CONTAINER(work, struct sx_long_put, work);
    const uint64_t before = all->store->copied_bytes;
    pmix_status_t rc = PMIX_SUCCESS;
    bool is_more = false;

    if (all->notifies) {
        long_put_notify(all);
        return;
    }
    if (all->mover != NULL) {
        long_put_move(all);
        return;
    }
    if (!all->keeps || long_keep_find(all)) {
        is_more = sx_store_put_step(all->store, &all->value, SX_SHARE_STEP_UNITS * COPIED_PER_UNIT,
                                    &rc);
    }
    sx_share_charge(all->server, all->client,
                    1 + (all->store->copied_bytes - before) / COPIED_PER_UNIT);
    if (is_more) {
        return;
    }
    if (all->store->renewal != NULL) {
        copier_begin(all->server, all->client);
    }
    long_put_end(all, rc);
}

/* Return: false without memory, and then nothing of @draft was taken. */
static bool long_put_begin(struct sx_server *server, struct sx_client *client,
                           const struct sx_long_put *draft)
{
    struct sx_long_put *const all = malloc(sizeof(*all));

    if (all == NULL) {
        return false;
    }
    *all = *draft;
    all->work.step = long_put_step;
    all->server = server;
    all->client = client;
    all->value.row = client->rank;
    all->value.key = all->put.name[0] != '\0' ? all->put.name : all->put.key;
    client->long_put = all;
    sx_share_work_add(client, &all->work);
    return true;
}

/* A put that takes a long value away from this node, and leaves it to others: when there is such a
 * value, copy it in the client's turns.  Return: false when it is for put_take. */
static bool long_keep_begin(struct sx_server *server, struct sx_client *client,
                            const struct put *put, size_t size)
{
    struct sx_nspace *const nspace = client->nspace;
    struct sx_pages pages = { .at = NULL };
    struct sx_item item, newer;

    if (put->head->scope != PMIX_DEL_LOCAL || client->long_put != NULL ||
        sx_store_find(&nspace->store.view, SX_REALM_JOB, client->rank, put->key, &item) !=
            PMIX_SUCCESS ||
        item.cell.len <= SX_STORE_LONG_BYTES || sx_item_scope(&item) != PMIX_GLOBAL ||
        remote_obtain(nspace) != PMIX_SUCCESS ||
        sx_store_find(&nspace->remote.view, SX_REALM_JOB, client->rank, put->key, &newer) ==
            PMIX_SUCCESS) {
        return false;
    }
    if (!sx_pages_grow(&pages, 0, size)) {
        return false;
    }
    memcpy(pages.at, put->head, size);
    struct sx_long_put draft = {
        .pages = pages,
        .size = size,
        .put = *put,
        .keeps = true,
        .store = &nspace->remote,
        .value = { .realm = SX_REALM_JOB,
                   .scope = PMIX_REMOTE,
                   .cell = item.cell,
                   .body = item.body },
    };

    draft.put.head = (const void *)pages.at;
    if (!long_put_begin(server, client, &draft)) {
        sx_pages_free(&pages);
        return false;
    }
    return true;
}

pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client,
                           const struct sx_opened *body, pmix_status_t *ret_kept)
{
    struct put put;
    pmix_status_t rc = put_read(body, &put);

    if (rc == PMIX_SUCCESS && !client->nspace->has_store) {
        rc = PMIX_ERR_NOT_SUPPORTED; /* a tool's put: its home is elsewhere */
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (long_keep_begin(server, client, &put, body->size)) {
        *ret_kept = PMIX_SUCCESS; /* so far */
        return PMIX_SUCCESS;
    }
    rc = put_apply(server, client, &put);
    return rc == PMIX_ERR_BAD_PARAM
               ? rc /* a bad qualified value: our client library checks values before sending */
               : put_end(server, client, &put, body->size, rc, ret_kept);
}

/* A value in @draft with qualifiers: store the legend, and what is left is a value under a name. */
static pmix_status_t long_put_qualified(struct sx_server *server, struct sx_client *client,
                                        struct sx_long_put *draft)
{
    struct put *const put = &draft->put;
    struct sx_flat_first first;
    pmix_status_t rc = sx_qualified_begin(draft->store, &put->cell, put->body, put->name, &first);

    if (rc == PMIX_SUCCESS) {
        draft->notifies = is_news(client->nspace, put->head->scope);
        draft->value.realm = SX_REALM_QUALIFIED;
        draft->value.cell = first.value;
        draft->value.body = (const uint8_t *)put->body + first.off;
        draft->mover = sx_flat_mover_new(&first, (uint8_t *)(uintptr_t)draft->value.body);
        rc = draft->mover != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
        sx_share_charge(server, client, 1 + sx_qualifiers_bytes(&first) / 64);
    }
    return rc;
}

/* Whether a value is taken in steps. */
static bool is_long(const struct put *put)
{
    struct sx_flat_first first;

    if (strcmp(put->key, PMIX_QUALIFIED_VALUE) != 0) {
        return put->cell.len > SX_STORE_LONG_BYTES;
    }
    /* One of many qualifiers is refused there as well. */
    return put->cell.len > SX_QUALIFIERS_BYTES_MAX &&
           (!sx_flat_infos_first(&first, &put->cell, put->body) || first.value.len != 0 ||
            sx_qualifiers_bytes(&first) > SX_QUALIFIERS_BYTES_MAX);
}

bool sx_modex_put_long(struct sx_server *server, struct sx_client *client, struct sx_frame *frame)
{
    struct sx_nspace *const nspace = client->nspace;
    struct sx_long_put draft = { .id = frame->header.id,
                                 .pages = frame->bulk_pages,
                                 .size = frame->opened.size };
    struct put *const put = &draft.put;
    pmix_status_t rc = PMIX_SUCCESS, kept;

    if (put_read(&frame->opened, put) != PMIX_SUCCESS || !is_long(put) || !nspace->has_store ||
        client->long_put != NULL) {
        return false;
    }
    const bool is_remote = put->head->scope == PMIX_REMOTE;

    if (is_remote && remote_obtain(nspace) != PMIX_SUCCESS) {
        return false;
    }
    draft.store = is_remote ? &nspace->remote : &nspace->store;
    draft.value = (struct sx_store_long){
        .realm = SX_REALM_JOB, .scope = put->head->scope, .cell = put->cell, .body = put->body
    };
    if (strcmp(put->key, PMIX_QUALIFIED_VALUE) == 0) {
        rc = long_put_qualified(server, client, &draft);
    }
    if (rc == PMIX_SUCCESS && long_put_begin(server, client, &draft)) {
        frame->bulk_pages = (struct sx_pages){ .at = NULL };
        return true;
    }
    sx_flat_checker_free(draft.mover);
    if (rc == PMIX_ERR_BAD_PARAM) {
        server->consumer->breaks(server, client, "it sent a qualified value that is none");
        return true;
    }
    rc = rc == PMIX_SUCCESS ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    if (put_end(server, client, put, draft.size, rc, &kept) == PMIX_SUCCESS) {
        sx_reply(server, client, draft.id, kept, -1);
    }
    return true;
}

/* Encode @value as the body of a put. */
static pmix_status_t put_make(const pmix_value_t *value, struct put *ret, void **ret_body)
{
    size_t size;
    pmix_status_t rc = sx_flat_size(value, &size);
    void *const body = rc == PMIX_SUCCESS ? malloc(size + 1) : NULL;

    if (rc != PMIX_SUCCESS || body == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_flat_encode(value, &ret->cell, body, size);
    if (rc != PMIX_SUCCESS) {
        free(body);
        return rc;
    }
    ret->body = *ret_body = body;
    return PMIX_SUCCESS;
}

pmix_status_t sx_modex_give(struct sx_server *server, struct sx_client *client, const char *key,
                            const pmix_value_t *value)
{
    const struct sx_lane_put head = { .scope = PMIX_GLOBAL };
    struct put put = { .head = &head };
    void *body = NULL;
    pmix_status_t rc = put_make(value, &put, &body);

    memcpy(put.key, key, strlen(key) + 1);
    if (rc == PMIX_SUCCESS) {
        rc = put_apply(server, client, &put);
    }
    if (rc == PMIX_SUCCESS && client->waiter_count > 0) {
        put_is_found(server, client, &put);
    }
    if (rc != PMIX_SUCCESS) {
        put_is_lost(client->nspace, client->rank, key, rc);
    }
    free(body);
    return rc;
}

pmix_status_t sx_modex_give_elsewhere(struct sx_nspace *nspace, uint32_t rank, const char *key,
                                      const pmix_value_t *value)
{
    const struct sx_lane_put head = { .scope = PMIX_GLOBAL };
    struct put put = { .head = &head };
    void *body = NULL;
    pmix_status_t rc = put_make(value, &put, &body);

    memcpy(put.key, key, strlen(key) + 1);
    if (rc == PMIX_SUCCESS) {
        rc = put_store(&nspace->store, rank, &put);
    }
    if (rc != PMIX_SUCCESS) {
        put_is_lost(nspace, rank, key, rc);
    } else if (!sx_list_empty(&nspace->awaited)) {
        put_is_brought(nspace, rank, &put);
    }
    free(body);
    return rc;
}

pmix_status_t sx_modex_commit(struct sx_server *server, struct sx_client *client)
{
    const bool first = !client->has_committed;

    client->has_committed = true;
    if (client->values_lost > 0) {
        losses_report(server, client);
    }
    SX_FAMILIES_NOTIFY_OF(server, client_committed, client, first);
    return PMIX_SUCCESS;
}

/* ---- clients -------------------------------------------------------------------------------- */

void sx_modex_client_expected(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    client->has_committed = false;
    client->values_lost = 0;
}

void sx_modex_client_removed(struct sx_server *server, struct sx_client *client)
{
    sx_modex_client_gone(server, client);
    sx_news_drop(&client->news);
}

void sx_modex_nspace_registered(struct sx_server *server, struct sx_nspace *nspace)
{
    (void)server;
    for (size_t i = 0; i < nspace->client_count && is_of_this_node(nspace); i++) {
        sx_news_drop(&nspace->by_rank[i]->news);
    }
}
