/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* blob.c - remote-visible data into bytes, and bytes from other nodes into the store. */
#include "server/model/blob.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/pages.h"
#include "base/value/value.h"
#include "server/model/state.h"
#include "shmem/qualified.h"

#define SX_BLOB_VERSION 2u

struct blob_header {
    uint32_t magic;
    uint16_t version, flags;
    uint64_t size;
};
static_assert(sizeof(struct blob_header) == 16, "fixed by blob version 2");

struct section_header {
    uint32_t rank, nspace_len;
    uint64_t size; /* of the messages */
};
static_assert(sizeof(struct section_header) == 16, "fixed by blob version 2");
enum { SECTION_NSPACE, SECTION_MESSAGES };
static const struct sx_signature section_body = {
    .head_size = sizeof(struct section_header),
    .parts = { [SECTION_NSPACE] = SX_NAME_PART(struct section_header, nspace_len, 1,
                                               PMIX_MAX_NSLEN),
               [SECTION_MESSAGES] = SX_ARRAY_PART(struct section_header, size, char, 0) },
};

struct message_header {
    uint64_t size;
};
static const struct sx_signature message_body = {
    .head_size = sizeof(struct message_header),
    .parts = { SX_ARRAY_PART(struct message_header, size, char, 0) },
};

/* ---- building ------------------------------------------------------------------------------ */

void sx_blob_clear(struct sx_blob *blob)
{
    sx_pages_give_back(blob->bytes, blob->capacity);
    *blob = (struct sx_blob){ 0 };
}

/* As sx_blob_extend, but the bytes are undefined. */
static char *room(struct sx_blob *blob, size_t size)
{
    size_t end;

    if (!sx_add_size(blob->size, size, &end)) {
        return NULL;
    }
    if (end > blob->capacity) {
        const size_t capacity = end < 512 ? 1024 : 2 * end;
        char *grown = realloc(blob->bytes, capacity);

        if (grown == NULL) {
            return NULL;
        }
        blob->bytes = grown;
        blob->capacity = capacity;
    }
    char *at = blob->bytes + blob->size;

    blob->size = end;
    return at;
}

char *sx_blob_extend(struct sx_blob *blob, size_t size)
{
    char *const at = room(blob, size);

    return at != NULL && size > 0 ? memset(at, 0, size) : at;
}

/* Write @word, and make room for a message of @length bytes behind it; its padding is zeroed. */
static char *message_room(struct sx_blob *messages, uint64_t word, size_t length)
{
    const size_t padded = (size_t)sx_align_up(length, 8);
    char *const at = room(messages, sizeof(word) + padded);

    if (at == NULL) {
        return NULL;
    }
    memset(at + padded, 0, sizeof(word)); /* the last eight bytes */
    memcpy(at, &word, sizeof(word));
    return at + sizeof(word);
}

static pmix_status_t header_add(struct sx_blob *blob, enum sx_blob_magic magic)
{
    const struct blob_header header = {
        .magic = magic,
        .version = SX_BLOB_VERSION,
        .size = sizeof(header),
    };
    char *const at = sx_blob_extend(blob, sizeof(header));

    if (at == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(at, &header, sizeof(header));
    blob->header = blob->size - sizeof(header);
    return PMIX_SUCCESS;
}

void sx_blob_seal(struct sx_blob *blob)
{
    const uint64_t size = blob->size - blob->header;

    memcpy(blob->bytes + blob->header + offsetof(struct blob_header, size), &size, sizeof(size));
}

pmix_status_t sx_blob_begin_as(struct sx_blob *blob, enum sx_blob_magic magic)
{
    *blob = (struct sx_blob){ 0 };
    return header_add(blob, magic);
}

pmix_status_t sx_blob_begin_inside(struct sx_blob *blob)
{
    return header_add(blob, SX_BLOB_PUTS);
}

void sx_blob_flag(struct sx_blob *blob, uint16_t flag)
{
    uint16_t flags;

    char *const at = blob->bytes + blob->header + offsetof(struct blob_header, flags);

    memcpy(&flags, at, sizeof(flags));
    flags |= flag;
    memcpy(at, &flags, sizeof(flags));
}

pmix_status_t sx_blob_add_messages(struct sx_blob *blob, const char *nspace, uint32_t rank,
                                   const void *messages, size_t size)
{
    const size_t before = blob->size;
    const size_t name_len = strlen(nspace);
    const struct section_header section = {
        .rank = rank,
        .nspace_len = (uint32_t)name_len,
        .size = size,
    };
    char *at = sx_blob_extend(blob, sizeof(section) + sx_align_up(name_len, 8));
    char *data;

    if (at == NULL || (data = room(blob, size)) == NULL) {
        blob->size = before;
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    at = blob->bytes + before; /* the second extension may have moved it */
    memcpy(at, &section, sizeof(section));
    memcpy(at + sizeof(section), nspace, name_len);
    if (size > 0) {
        memcpy(data, messages, size);
    }
    sx_blob_seal(blob);
    return PMIX_SUCCESS;
}

/* Room for a message with @size bytes of body.  Return: where the body goes, NULL when memory is
 * out. */
static void *message_begin(struct sx_blob *messages, const char *key, const struct sx_cell *cell,
                           pmix_scope_t scope, uint8_t flags, size_t size)
{
    const size_t key_len = strlen(key);
    const size_t body_off = sizeof(struct sx_lane_put) + sx_align_up(key_len, 8);
    const uint64_t length = body_off + size;
    struct sx_lane_put put = {
        .cell = *cell, .key_len = (uint16_t)key_len, .scope = (uint8_t)scope, .flags = flags
    };
    char *const at = message_room(messages, length, length);

    if (at == NULL) {
        return NULL;
    }
    memset(at, 0, body_off);
    put.cell.flags &= SX_CELL_NULL;
    if (size != 0) {
        put.cell.bits = 0;
    }
    memcpy(at, &put, sizeof(put));
    memcpy(at + sizeof(put), key, key_len);
    return at + body_off;
}

/* ---- values in steps ----------------------------------------------------------------------- */

/* A value in a store that other nodes may see. */
struct found {
    const struct sx_store_writer *store;
    enum sx_realm realm;
    const char *key; /* a name in SX_REALM_QUALIFIED */
    struct sx_item item;
};

static bool is_for_others(const struct sx_item *item)
{
    return sx_item_scope(item) == PMIX_GLOBAL || sx_item_scope(item) == PMIX_REMOTE;
}

/* Remove the part of a value that is there. */
static void value_drop(struct sx_value_pack *pack, struct sx_blob *blob)
{
    if (pack->body != NULL) {
        blob->size = pack->message;
        pack->body = NULL;
    }
}

/* The next value begins. */
static void value_leave(struct sx_value_pack *pack, struct sx_blob *blob)
{
    value_drop(pack, blob);
    pack->restarts = 0;
}

/* The legend of a value with qualifiers, which are a part of its name and so have a bound.  Return:
 * false when memory is out; without a legend nothing can find the value, and there is none. */
static bool legend_add(struct sx_blob *blob, const struct found *found)
{
    char key[SX_QUALIFIED_LEGEND_LEN + 1];
    struct sx_item legend;

    sx_qualified_legend_key(found->key, key);
    if (sx_store_find(&found->store->view, SX_REALM_QUALIFIED, SX_ROW_JOB, key, &legend) !=
        PMIX_SUCCESS) {
        return true;
    }
    char *const at = message_begin(blob, key, &legend.cell, sx_item_scope(&found->item),
                                   SX_PUT_QUALIFIED, legend.cell.len);

    if (at != NULL && legend.cell.len > 0) {
        memcpy(at, legend.body, legend.cell.len);
    }
    return at != NULL;
}

/* Begin the message of a value, or begin it anew.  Return: false when memory is out. */
static bool value_begin(struct sx_value_pack *pack, struct sx_blob *blob, const struct found *found)
{
    const bool is_qualified = found->realm == SX_REALM_QUALIFIED;
    const struct sx_item *const item = &found->item;

    pack->restarts += pack->body != NULL;
    value_drop(pack, blob);
    pack->message = blob->size;
    pack->store = found->store;
    pack->generation = found->store->generation;
    pack->len = item->cell.len;
    pack->copied = 0;
    const char *const at = is_qualified && !legend_add(blob, found)
                               ? NULL
                               : message_begin(blob, found->key, &item->cell, sx_item_scope(item),
                                               is_qualified ? SX_PUT_QUALIFIED : 0, item->cell.len);

    pack->message_body = at == NULL ? 0 : (size_t)(at - blob->bytes);
    pack->body = at == NULL ? NULL : item->body;
    return at != NULL;
}

static void spend(size_t *left, size_t cost)
{
    *left -= cost < *left ? cost : *left;
}

/* Append a part of the value; what is in front of it counts as well.  Nothing is overwritten in a
 * generation of a store: a value that has changed meanwhile is still there as it was, and the
 * change is later than what is packed. */
static pmix_status_t value_step(struct sx_value_pack *pack, struct sx_blob *blob,
                                const struct found *found, size_t *left)
{
    const bool is_begun = pack->body != NULL && pack->store == found->store &&
                          pack->generation == found->store->generation;

    if (!is_begun && !value_begin(pack, blob, found)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    spend(left, is_begun ? 0 : pack->message_body - pack->message);
    const uint64_t rest = pack->len - pack->copied;
    const size_t size = rest < *left ? rest : *left;

    if (size > 0) {
        memcpy(blob->bytes + pack->message_body + pack->copied,
               (const char *)pack->body + pack->copied, size);
    }
    pack->copied += size;
    spend(left, size);
    if (pack->copied < pack->len) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    pack->body = NULL;
    pack->restarts = 0;
    return PMIX_SUCCESS;
}

/* Of a pack with so many restarts each step is twice as long as with one less, but for the first
 * ones.  So it ends, however often its store is renewed, and never copies much more in a step than
 * the renewals do.  Return: how often twice. */
static unsigned doublings(unsigned restarts)
{
    const unsigned free_ones = 3, most = 16;

    return restarts <= free_ones ? 0 : restarts - free_ones < most ? restarts - free_ones : most;
}

static size_t doubled(size_t left, unsigned times)
{
    return left > SIZE_MAX >> times ? SIZE_MAX : left << times;
}

/* Of *left, doubled so often, @some is left over. */
static pmix_status_t step_end(size_t *left, size_t some, unsigned times, pmix_status_t rc)
{
    some >>= times;
    *left = rc == PMIX_ERR_WOULD_BLOCK ? 0 : some < *left ? some : *left;
    return rc;
}

/* All messages of the section at @section are there. */
static void section_seal(struct sx_blob *blob, size_t at)
{
    struct section_header section;

    memcpy(&section, blob->bytes + at, sizeof(section));
    section.size = blob->size - at - sizeof(section) - sx_align_up(section.nspace_len, 8);
    memcpy(blob->bytes + at, &section, sizeof(section));
    sx_blob_seal(blob);
}

/* ---- all of a rank -------------------------------------------------------------------------- */

/* Of two messages for one key the second counts.  The values for other nodes alone come last, as
 * they are newer.  One of these may have gone to the first store meanwhile, which was walked
 * before: its column stays, and says where to look again.  Only the renewal of the second store
 * removes such a column: then both are walked again, but not as often as a client likes. */
enum { PACK_STORE, PACK_REMOTE, PACK_PHASES };
#define PACK_RETURNS_MAX 3u

static bool has_moves(const struct sx_rank_pack *pack)
{
    return pack->moves != pack->client->scope_moves;
}

/* Find the value of @key in one of the stores.  Return: false when it is not for other nodes. */
static bool find_in(const struct sx_store_writer *store, enum sx_realm realm, uint32_t rank,
                    const char *key, struct found *ret)
{
    *ret = (struct found){ .store = store, .realm = realm, .key = key };
    return sx_store_find(&store->view, realm, rank, key, &ret->item) == PMIX_SUCCESS &&
           is_for_others(&ret->item);
}

/* Find what the column has of the rank for other nodes. */
static bool column_find(const struct sx_rank_pack *pack, const struct sx_store_writer *store,
                        enum sx_realm realm, const char *key, sx_column column, struct found *ret)
{
    const struct sx_nspace *const nspace = pack->client->nspace;

    *ret = (struct found){ .store = store, .realm = realm, .key = key };
    if (realm != SX_REALM_JOB &&
        (realm != SX_REALM_QUALIFIED || strlen(key) != SX_QUALIFIED_NAME_LEN)) {
        return false;
    }
    return sx_store_read(&store->view, column, pack->client->rank, &ret->item) == PMIX_SUCCESS
               ? is_for_others(&ret->item)
               : pack->phase == PACK_REMOTE && has_moves(pack) && nspace->has_store &&
                     find_in(&nspace->store, realm, pack->client->rank, key, ret);
}

/* Go on in one store.  Return: PMIX_SUCCESS: it is done. */
static pmix_status_t store_step(struct sx_rank_pack *pack, struct sx_blob *blob,
                                const struct sx_store_writer *store, size_t *left)
{
    pmix_status_t rc = PMIX_SUCCESS;

    pack->generation = store->generation;
    while (rc == PMIX_SUCCESS) {
        enum sx_realm realm;
        sx_column column;
        struct found found;
        const char *const key = sx_store_walk_next(&store->view, &pack->walk, left, &realm,
                                                   &column);

        if (key == NULL) {
            return *left == 0 ? PMIX_ERR_WOULD_BLOCK : PMIX_SUCCESS;
        }
        if (column_find(pack, store, realm, key, column, &found)) {
            rc = value_step(&pack->value, blob, &found, left);
        } else {
            value_leave(&pack->value, blob);
        }
    }
    pack->walk.slot -= rc == PMIX_ERR_WOULD_BLOCK;
    return rc;
}

/* Return: the store of the phase; NULL: there is none. */
static const struct sx_store_writer *phase_store(const struct sx_rank_pack *pack)
{
    const struct sx_nspace *const nspace = pack->client->nspace;

    if (pack->phase == PACK_REMOTE) {
        return nspace->has_remote ? &nspace->remote : NULL;
    }
    return nspace->has_store ? &nspace->store : NULL;
}

/* The store was renewed, so its columns have other places: begin again with it. */
static void walk_again(struct sx_rank_pack *pack, struct sx_blob *blob)
{
    pack->value.body = NULL;
    pack->walk = (struct sx_store_walk){ .slot = 0 };
    pack->restarts++;
    blob->size = pack->messages;
}

/* Note the state of the client at the beginning of the first walk. */
static void walks_begin(struct sx_rank_pack *pack)
{
    const struct sx_nspace *const nspace = pack->client->nspace;

    pack->phase = PACK_STORE;
    pack->moves = pack->client->scope_moves;
    pack->remote_generation = nspace->has_remote ? nspace->remote.generation : 0;
}

/* Begin again with both stores when a value may have been missed.  Return: false when not. */
static bool walks_again(struct sx_rank_pack *pack, struct sx_blob *blob,
                        const struct sx_store_writer *store)
{
    if (pack->phase != PACK_REMOTE || !has_moves(pack) ||
        store->generation == pack->remote_generation || pack->returns == PACK_RETURNS_MAX) {
        return false;
    }
    pack->returns++;
    pack->messages = pack->first;
    walk_again(pack, blob);
    walks_begin(pack);
    return true;
}

/* The store of the phase is done, or has gone. */
static void walk_next(struct sx_rank_pack *pack, struct sx_blob *blob)
{
    value_leave(&pack->value, blob);
    pack->walk = (struct sx_store_walk){ .slot = 0 };
    pack->restarts = 0;
    pack->messages = blob->size;
    pack->phase++;
}

pmix_status_t sx_rank_pack_begin(struct sx_rank_pack *pack, struct sx_blob *blob,
                                 const struct sx_client *client)
{
    *pack = (struct sx_rank_pack){ .client = client, .section = blob->size };
    walks_begin(pack);
    const pmix_status_t rc = sx_blob_add_messages(blob, client->nspace->name, client->rank, NULL,
                                                  0);

    pack->first = pack->messages = blob->size;
    return rc;
}

static pmix_status_t phases_step(struct sx_rank_pack *pack, struct sx_blob *blob, size_t *left)
{
    while (pack->phase < PACK_PHASES) {
        const struct sx_store_writer *const store = phase_store(pack);

        if (store != NULL && walks_again(pack, blob, store)) {
            continue;
        }
        if (store != NULL && pack->walk.dictionary != 0 && pack->generation != store->generation) {
            walk_again(pack, blob);
            continue;
        }
        const pmix_status_t rc = store != NULL ? store_step(pack, blob, store, left) : PMIX_SUCCESS;

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        walk_next(pack, blob);
    }
    section_seal(blob, pack->section);
    return PMIX_SUCCESS;
}

pmix_status_t sx_rank_pack_step(struct sx_rank_pack *pack, struct sx_blob *blob, size_t *left)
{
    const unsigned times = doublings(sx_rank_pack_restarts(pack));
    size_t some = doubled(*left, times);
    const pmix_status_t rc = phases_step(pack, blob, &some);

    return step_end(left, some, times, rc);
}

pmix_status_t sx_blob_add_rank(struct sx_blob *blob, const struct sx_client *client)
{
    const size_t before = blob->size;
    size_t left = SIZE_MAX;
    struct sx_rank_pack pack;
    pmix_status_t rc = sx_rank_pack_begin(&pack, blob, client);

    if (rc == PMIX_SUCCESS) {
        rc = sx_rank_pack_step(&pack, blob, &left);
    }
    if (rc != PMIX_SUCCESS) {
        blob->size = before;
    }
    return rc;
}

/* ---- news ---------------------------------------------------------------------------------- */

/* Find the value of @key that the stores have now for other nodes.  Return: false when there is
 * none: it has been withdrawn, which later news say. */
static bool referred_find(const struct sx_nspace *nspace, uint32_t rank, const char *key,
                          struct found *ret)
{
    return (nspace->has_remote && find_in(&nspace->remote, SX_REALM_JOB, rank, key, ret)) ||
           (nspace->has_store && find_in(&nspace->store, SX_REALM_JOB, rank, key, ret));
}

/* Append a part of the value that the news refer to, where they do so for the last time. */
static pmix_status_t referred_step(struct sx_news_pack *pack, struct sx_blob *blob,
                                   const struct sx_news_reference *reference, size_t *left)
{
    const struct sx_client *const client = pack->client;
    const bool is_last = reference->newer == 0 || reference->newer >= pack->end;
    struct found found;
    pmix_status_t rc = PMIX_SUCCESS;

    if (is_last && referred_find(client->nspace, client->rank, reference->key, &found)) {
        rc = value_step(&pack->value, blob, &found, left);
    } else {
        value_leave(&pack->value, blob);
        spend(left, sizeof(*reference));
    }
    pack->at += rc == PMIX_SUCCESS ? sizeof(uint64_t) + sizeof(*reference) : 0;
    return rc;
}

static pmix_status_t bytes_add(struct sx_blob *blob, const char *bytes, size_t size)
{
    char *const at = room(blob, size);

    if (at != NULL && size > 0) {
        memcpy(at, bytes, size);
    }
    return at != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Append the next messages of the news, up to a reference: *left bytes, which may end inside of a
 * message. */
static pmix_status_t messages_step(struct sx_news_pack *pack, struct sx_blob *blob, size_t *left)
{
    const char *const from = sx_news_at(&pack->client->news, pack->at);
    const uint64_t all = pack->end - pack->at;
    uint64_t size = pack->message_left, length = 0;

    while (size < all && size < *left) {
        memcpy(&length, from + size, sizeof(length));
        if (length == SX_NEWS_REFERENCE) {
            break;
        }
        size += sizeof(length) + sx_align_up(length, 8);
    }
    const uint64_t some = size < *left ? size : *left;

    pack->at += some;
    pack->message_left = size - some;
    *left -= some;
    return bytes_add(blob, from, some);
}

pmix_status_t sx_news_pack_begin(struct sx_news_pack *pack, struct sx_blob *blob,
                                 struct sx_client *client)
{
    client->news.sent = sx_news_end(&client->news);
    *pack = (struct sx_news_pack){ .client = client,
                                   .at = client->news.gone,
                                   .end = sx_news_end(&client->news),
                                   .section = blob->size };
    const pmix_status_t rc = sx_blob_add_messages(blob, client->nspace->name, client->rank, NULL,
                                                  0);

    pack->messages = blob->size;
    return rc;
}

/* Return: the next of the news, if it is a reference; NULL: it is a message, or there is none. */
static const struct sx_news_reference *reference(const struct sx_news_pack *pack)
{
    const void *const next = sx_news_at(&pack->client->news, pack->at);
    uint64_t length = 0;

    if (pack->at < pack->end && pack->message_left == 0) {
        memcpy(&length, next, sizeof(length));
    }
    return length == SX_NEWS_REFERENCE ? (const void *)((const uint64_t *)next + 1) : NULL;
}

/* The news have lost those that another fence has brought to all nodes meanwhile.  The copies of
 * them in the blob are as old. */
static void arrived_skip(struct sx_news_pack *pack, struct sx_blob *blob)
{
    if (pack->at < pack->client->news.gone) {
        pack->at = pack->client->news.gone;
        value_drop(&pack->value, blob);
        blob->size = pack->messages;
        pack->message_left = 0;
    }
}

static pmix_status_t news_step(struct sx_news_pack *pack, struct sx_blob *blob, size_t *left)
{
    pmix_status_t rc = PMIX_SUCCESS;

    arrived_skip(pack, blob);
    while (rc == PMIX_SUCCESS && pack->at < pack->end) {
        const struct sx_news_reference *const next = reference(pack);

        if (*left == 0) {
            return PMIX_ERR_WOULD_BLOCK;
        }
        rc = next == NULL ? messages_step(pack, blob, left) : referred_step(pack, blob, next, left);
    }
    if (rc == PMIX_SUCCESS) {
        section_seal(blob, pack->section);
    }
    return rc;
}

pmix_status_t sx_news_pack_step(struct sx_news_pack *pack, struct sx_blob *blob, size_t *left)
{
    const unsigned times = doublings(pack->value.restarts);
    size_t some = doubled(*left, times);
    const pmix_status_t rc = news_step(pack, blob, &some);

    return step_end(left, some, times, rc);
}

pmix_status_t sx_blob_add_news(struct sx_blob *blob, struct sx_client *client)
{
    const size_t before = blob->size;
    size_t left = SIZE_MAX;
    struct sx_news_pack pack;
    pmix_status_t rc = sx_news_pack_begin(&pack, blob, client);

    if (rc == PMIX_SUCCESS) {
        rc = sx_news_pack_step(&pack, blob, &left);
    }
    if (rc != PMIX_SUCCESS) {
        blob->size = before;
    }
    return rc;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A message costs so much, be it read or passed over. */
#define MESSAGE_COST 64u

/* Open the next body of @rest, which is moved on behind it. */
static bool body_next(struct sx_blob_piece *rest, const struct sx_signature *signature,
                      struct sx_opened *ret)
{
    const uint8_t *at = (const uint8_t *)rest->bytes;
    const bool good = sx_body_next(ret, signature, &at, &rest->size) == NULL;

    rest->bytes = (const char *)at;
    return good;
}

/* Return: the namespace of the section if its puts are for this node's stores; NULL: they are
 * not. */
static struct sx_nspace *section_nspace(const struct sx_blob_reader *reader,
                                        struct sx_server *server)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, reader->nspace);

    return nspace != NULL && nspace->has_store && reader->rank < SX_STORE_ROW_MAX &&
                   sx_client_find(nspace, reader->rank) == NULL
               ? nspace
               : NULL;
}

/* Go on in the messages of one rank. */
static pmix_status_t messages_read(struct sx_blob_reader *reader, struct sx_server *server,
                                   sx_blob_fn fn, void *arg, size_t *left)
{
    struct sx_nspace *const nspace = section_nspace(reader, server);
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened message;

    while (rc == PMIX_SUCCESS && reader->messages.size > 0) {
        struct sx_blob_piece rest = reader->messages;

        if (*left == 0) {
            return PMIX_ERR_WOULD_BLOCK;
        }
        if (!body_next(&rest, &message_body, &message)) {
            return PMIX_ERR_UNPACK_FAILURE;
        }
        const struct sx_blob_piece put = { (const char *)message.parts[0].at,
                                           message.parts[0].size };

        rc = fn(arg, nspace, reader->rank, &put, left);
        spend(left, MESSAGE_COST);
        reader->messages = rc == PMIX_ERR_WOULD_BLOCK ? reader->messages : rest;
    }
    return rc;
}

static bool section_begin(struct sx_blob_reader *reader)
{
    struct sx_opened section;

    if (!body_next(&reader->sections, &section_body, &section)) {
        return false;
    }
    const struct sx_opened_part *const name = &section.parts[SECTION_NSPACE];
    const struct sx_opened_part *const messages = &section.parts[SECTION_MESSAGES];

    memset(reader->nspace, 0, sizeof(reader->nspace));
    memcpy(reader->nspace, name->at, name->size);
    reader->rank = ((const struct section_header *)section.head)->rank;
    reader->messages = (struct sx_blob_piece){ (const char *)messages->at, messages->size };
    return true;
}

static bool blob_begin(struct sx_blob_reader *reader)
{
    struct sx_blob_view blob;

    if (!sx_blob_next(&reader->blobs.bytes, &reader->blobs.size, &blob) ||
        blob.magic != SX_BLOB_PUTS) {
        return false;
    }
    reader->sections = (struct sx_blob_piece){ (const char *)blob.body, blob.body_size };
    return true;
}

/* Begin what comes next: a section, a blob or a piece.  Return: false for invalid bytes. */
static bool next_begin(struct sx_blob_reader *reader)
{
    if (reader->sections.size > 0) {
        return section_begin(reader);
    }
    if (reader->blobs.size > 0) {
        return blob_begin(reader);
    }
    reader->blobs = *reader->pieces++;
    reader->piece_count--;
    return true;
}

static bool is_read(const struct sx_blob_reader *reader)
{
    return reader->messages.size == 0 && reader->sections.size == 0 && reader->blobs.size == 0 &&
           reader->piece_count == 0;
}

pmix_status_t sx_blob_read_step(struct sx_blob_reader *reader, struct sx_server *server,
                                sx_blob_fn fn, void *arg, size_t *left)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && !is_read(reader)) {
        if (reader->messages.size > 0) {
            rc = messages_read(reader, server, fn, arg, left);
        } else if (*left == 0) {
            rc = PMIX_ERR_WOULD_BLOCK;
        } else {
            spend(left, MESSAGE_COST);
            rc = next_begin(reader) ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
        }
    }
    return rc;
}

bool sx_blob_next(const char **at, size_t *left, struct sx_blob_view *ret)
{
    struct blob_header header;

    if (*left < sizeof(header)) {
        return false;
    }
    memcpy(&header, *at, sizeof(header));
    if ((header.magic != SX_BLOB_PUTS && header.magic != SX_BLOB_ROUND) ||
        header.version != SX_BLOB_VERSION || header.size < sizeof(header) || header.size > *left ||
        header.size % 8 != 0) {
        return false;
    }
    *ret = (struct sx_blob_view){ .magic = (enum sx_blob_magic)header.magic,
                                  .flags = header.flags,
                                  .bytes = *at,
                                  .size = header.size,
                                  .body = (const uint8_t *)*at + sizeof(header),
                                  .body_size = header.size - sizeof(header) };
    *at += header.size;
    *left -= header.size;
    return true;
}

bool sx_blob_sections(const char *bytes, size_t size,
                      void (*fn)(const char *nspace, uint32_t rank, void *arg), void *arg)
{
    struct sx_blob_view blob;
    struct sx_opened section;
    bool is_whole = true;

    while (is_whole && size > 0) {
        is_whole = sx_blob_next(&bytes, &size, &blob) && blob.magic == SX_BLOB_PUTS &&
                   (blob.flags & SX_BLOB_PARTIAL) == 0;
        const uint8_t *at = is_whole ? blob.body : NULL;
        size_t left = is_whole ? blob.body_size : 0;

        while (is_whole && left > 0) {
            const struct sx_opened_part *const name = &section.parts[SECTION_NSPACE];
            char nspace[PMIX_MAX_NSLEN + 1] = { 0 };

            is_whole = sx_body_next(&section, &section_body, &at, &left) == NULL;
            if (is_whole) {
                memcpy(nspace, name->at, name->size);
                fn(nspace, ((const struct section_header *)section.head)->rank, arg);
            }
        }
    }
    return is_whole;
}

pmix_status_t sx_blob_align(const char **bytes, size_t size, char **ret_copy)
{
    *ret_copy = NULL;
    if (((uintptr_t)*bytes & 7) == 0 || size == 0) {
        return PMIX_SUCCESS;
    }
    *ret_copy = malloc(size);
    if (*ret_copy == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *bytes = memcpy(*ret_copy, *bytes, size);
    return PMIX_SUCCESS;
}

pmix_status_t sx_blob_refuse(size_t size, const char *what, const char *nspace)
{
    return SX_RAISE(PMIX_ERR_UNPACK_FAILURE,
                    "the host brought %zu bytes that no server of this version sent, for %s of "
                    "%s: install the same version of this library on all nodes, and let the host "
                    "pass bytes on unchanged",
                    size, what, nspace);
}
