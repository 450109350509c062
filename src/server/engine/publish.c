/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - requests, and lookups that wait. */
#include "server/engine/publish.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/flat.h"
#include "base/status.h"
#include "base/value.h"
#include "server/engine/apps.h"
#include "server/engine/ask.h"
#include "server/model/published_shown.h"
#include "server/model/share.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

/* What a client's lookups have found and it has not been sent: all that can be published, and its
 * keys. */
#define FOUND_BYTES_MAX (SX_PUBLISHED_BYTES_MAX + (UINT64_C(8) << 20))
#define BYTES_PER_UNIT 2048u /* of an answer, which is written and sent */

static struct sx_party party_of(const struct sx_client *client)
{
    return (struct sx_party){ .who = { .proc = sx_nspace_proc(client->nspace, client->rank),
                                       .session = client->nspace->session },
                              .uid = client->uid,
                              .gid = client->gid,
                              .is_tool = client->is_tool,
                              .app = client->nspace->has_store
                                         ? sx_apps_of(client->nspace, client->rank)
                                         : SX_PARTY_APP_UNKNOWN };
}

static bool has_host(struct sx_server *server, enum sx_upcall_kind kind)
{
    return sx_upcall_judge(server, kind, 0) != PMIX_ERR_NOT_SUPPORTED;
}

/* ---- keys that somebody waits for ------------------------------------------------------------ */

struct awaited {
    struct sx_table_node node; /* server.lookups */
    struct sx_list wants;      /* the oldest first; it goes with its last one */
    char key[];
};

/* One key of a lookup that waits. */
struct want {
    struct sx_list link; /* awaited.wants */
    struct awaited *awaited;
    struct lookup *lookup;
};

struct lookup {
    struct sx_pending pending;
    struct sx_list ready; /* while what waits for new values is tried */
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
    struct sx_lookup_options options; /* point into info */
    size_t wanted;
    struct want *wants; /* key_count of them; NULL: it does not wait */
    void *results;      /* of the answer, flat */
    size_t results_size;
};

static struct awaited *awaited_find(const struct sx_server *server, const char *key, uint64_t hash)
{
    struct sx_table_node *node = sx_table_first(&server->lookups, hash);

    for (; node != NULL; node = sx_table_next(&server->lookups, node)) {
        struct awaited *const awaited = SX_CONTAINER(node, struct awaited, node);

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

static struct awaited *awaited_obtain(struct sx_server *server, const char *key)
{
    const uint64_t hash = key_hash(server, key);
    struct awaited *awaited = awaited_find(server, key, hash);
    const size_t size = strlen(key) + 1;

    if (awaited != NULL) {
        return awaited;
    }
    awaited = calloc(1, sizeof(*awaited) + size);
    if (awaited == NULL || !sx_table_add(&server->lookups, &awaited->node, hash)) {
        free(awaited);
        return NULL;
    }
    memcpy(awaited->key, key, size);
    sx_list_init(&awaited->wants);
    return awaited;
}

static void wants_free(struct sx_server *server, struct lookup *lookup)
{
    for (size_t i = 0; lookup->wants != NULL && i < lookup->key_count; i++) {
        struct awaited *const awaited = lookup->wants[i].awaited;

        if (awaited == NULL) {
            continue;
        }
        sx_list_remove(&lookup->wants[i].link);
        if (sx_list_empty(&awaited->wants)) {
            sx_table_remove(&server->lookups, &awaited->node);
            free(awaited);
        }
    }
    free(lookup->wants);
    lookup->wants = NULL;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t wants_make(struct sx_server *server, struct lookup *lookup)
{
    lookup->wants = calloc(lookup->key_count, sizeof(*lookup->wants));
    for (size_t i = 0; lookup->wants != NULL && i < lookup->key_count; i++) {
        struct want *const want = &lookup->wants[i];

        want->lookup = lookup;
        want->awaited = awaited_obtain(server, lookup->keys[i].key);
        if (want->awaited == NULL) {
            wants_free(server, lookup);
        } else {
            sx_list_append(&want->awaited->wants, &want->link);
        }
    }
    return lookup->wants != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* ---- a lookup -------------------------------------------------------------------------------- */

static void lookup_closed(struct sx_pending *pending)
{
    struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    sx_list_remove(&lookup->ready);
    wants_free(pending->server, lookup);
}

static void lookup_send(struct sx_pending *pending)
{
    const struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    sx_reply_body(pending->server, pending->client, pending->id, pending->status, lookup->results,
                  lookup->results_size);
}

static void lookup_free(struct lookup *lookup)
{
    PMIX_INFO_FREE(lookup->keys, lookup->key_count);
    PMIX_INFO_FREE(lookup->info, lookup->ninfo);
    free(lookup->results);
    free(lookup);
}

static void lookup_pending_free(struct sx_pending *pending)
{
    struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    pending->client->found_bytes -= lookup->results_size;
    lookup_free(lookup);
}

static const struct sx_pending_kind lookup_kind = { .quota = SX_PENDING_LOOKUP,
                                                    .closed = lookup_closed,
                                                    .send = lookup_send,
                                                    .free = lookup_pending_free };

/* What is published under its keys now, NULL where it sees nothing.  Return: how many of them it
 * sees. */
static size_t rows_find(const struct sx_server *server, const struct sx_party *asker,
                        const struct lookup *lookup, struct sx_published_row *rows[])
{
    size_t count = 0;

    for (size_t i = 0; i < lookup->key_count; i++) {
        rows[i] = sx_published_find(&server->published, lookup->keys[i].key, asker,
                                    &lookup->options);
        count += rows[i] != NULL;
    }
    return count;
}

/* Write the answer, of at most @room bytes.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t results_write(struct lookup *lookup, struct sx_published_row *const rows[],
                                   size_t count, size_t room)
{
    pmix_info_t *const infos = calloc(2 * count, sizeof(*infos));
    size_t n = 0;

    for (size_t i = 0; infos != NULL && i < lookup->key_count; i++) {
        if (rows[i] != NULL) {
            PMIx_Load_key(infos[n].key, PMIX_PROCID);
            infos[n++].value = (pmix_value_t){ .type = PMIX_PROC,
                                               .data.proc = &rows[i]->publisher->party.who.proc };
            infos[n++] = rows[i]->info;
        }
    }
    pmix_status_t rc = infos == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                     : sx_flat_infos_size(infos, n, &lookup->results_size);

    if (rc == PMIX_SUCCESS && lookup->results_size > room) {
        rc = PMIX_ERR_OUT_OF_RESOURCE; /* a key may be named many times, and many may wait for it */
    }
    lookup->results = rc == PMIX_SUCCESS ? malloc(lookup->results_size) : NULL;
    if (lookup->results != NULL) {
        rc = sx_flat_infos_encode(infos, n, lookup->results, lookup->results_size);
    } else if (rc == PMIX_SUCCESS) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    free(infos);
    if (rc != PMIX_SUCCESS) {
        lookup->results_size = 0;
    }
    return rc;
}

/* What was to be read once has been.  A key may be there twice. */
static void rows_were_read(struct sx_server *server, struct sx_published_row *rows[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sx_published_row *const row = rows[i];

        if (row == NULL || row->persistence != PMIX_PERSIST_FIRST_READ) {
            continue;
        }
        for (size_t k = i; k < count; k++) {
            rows[k] = rows[k] == row ? NULL : rows[k];
        }
        sx_published_remove(&server->published, row);
    }
}

/* Answer with what is there, when that is enough, in @room bytes.  Return: false when it is not;
 * else true, and *ret_status is the answer's. */
static bool lookup_try(struct sx_server *server, const struct sx_party *asker, size_t room,
                       struct lookup *lookup, pmix_status_t *ret_status)
{
    struct sx_published_row **const rows = calloc(lookup->key_count,
                                                  sizeof(struct sx_published_row *));

    *ret_status = PMIX_ERR_OUT_OF_RESOURCE;
    if (rows == NULL) {
        return true;
    }
    const size_t count = rows_find(server, asker, lookup, rows);
    const bool is_enough = count >= lookup->wanted;

    if (is_enough && count == 0) {
        *ret_status = PMIX_ERR_NOT_FOUND;
    } else if (is_enough) {
        *ret_status = results_write(lookup, rows, count, room);
        if (*ret_status == PMIX_SUCCESS) {
            rows_were_read(server, rows, lookup->key_count);
            *ret_status = count == lookup->key_count ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
        }
    }
    free(rows);
    return is_enough;
}

/* The same for @client, which pays for the answer. */
static bool client_try(struct sx_server *server, struct sx_client *client, struct lookup *lookup,
                       pmix_status_t *ret_status)
{
    const struct sx_party asker = party_of(client);
    const bool is_enough = lookup_try(server, &asker, FOUND_BYTES_MAX - client->found_bytes, lookup,
                                      ret_status);

    sx_share_charge(server, client, lookup->results_size / BYTES_PER_UNIT);
    return is_enough;
}

static void lookup_late(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_pending_answer(arg, PMIX_ERR_TIMEOUT);
}

/* @lookup moves.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t lookup_wait(struct sx_server *server, struct sx_client *client, uint32_t id,
                                 struct lookup *lookup, uint64_t now_ns)
{
    const uint64_t timeout_ns = lookup->options.timeout_ns;
    pmix_status_t rc = wants_make(server, lookup);

    if (rc == PMIX_SUCCESS) {
        rc = sx_pending_begin(server, client, id, &lookup_kind, &lookup->pending);
    }
    if (rc != PMIX_SUCCESS) {
        wants_free(server, lookup);
        lookup_free(lookup);
        return rc;
    }
    if (timeout_ns != 0 && timeout_ns < SX_DEADLINE_NEVER - now_ns) {
        sx_pending_limit(&lookup->pending, lookup_late, now_ns + timeout_ns);
    }
    return PMIX_SUCCESS;
}

/* What is ready is tried in the order in which it came. */
void sx_publish_wake(struct sx_server *server, const pmix_info_t info[], size_t ninfo)
{
    struct sx_list ready = SX_LIST_INIT(ready);
    struct sx_list *it;
    pmix_status_t status;

    for (size_t i = 0; i < ninfo; i++) {
        struct awaited *const awaited = awaited_find(server, info[i].key,
                                                     key_hash(server, info[i].key));

        if (awaited == NULL) {
            continue;
        }
        SX_LIST_EACH(want, &awaited->wants) {
            struct lookup *const lookup = SX_LIST_ENTRY(want, struct want, link)->lookup;

            if (sx_list_empty(&lookup->ready)) {
                sx_list_append(&ready, &lookup->ready);
            }
        }
    }
    while ((it = sx_list_pop(&ready)) != NULL) {
        struct lookup *const lookup = SX_LIST_ENTRY(it, struct lookup, ready);
        struct sx_client *const client = lookup->pending.client;

        if (client_try(server, client, lookup, &status)) {
            client->found_bytes += lookup->results_size;
            sx_pending_answer(&lookup->pending, status);
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The values of @info move. */
static pmix_status_t table_publish(struct sx_server *server, const struct sx_party *party,
                                   pmix_info_t info[], size_t ninfo)
{
    struct sx_publish_options options;
    const pmix_status_t rc = sx_publish_read(info, ninfo, &options);

    if (rc == PMIX_SUCCESS && options.range == PMIX_RANGE_RM) {
        return PMIX_ERR_NOT_SUPPORTED; /* there is none that we could give it to */
    }
    return rc == PMIX_SUCCESS ? sx_published_add(&server->published, party, &options, info, ninfo)
                              : rc;
}

static void own_publish(struct sx_server *server, struct sx_client *client, uint32_t id,
                        pmix_info_t info[], size_t ninfo)
{
    const struct sx_party party = party_of(client);
    const pmix_status_t rc = table_publish(server, &party, info, ninfo);

    sx_reply(server, client, id, rc, -1);
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, info, ninfo);
    }
}

bool sx_publish_on_publish(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_PUBLISH_INFOS, &up.info, &up.ninfo);
    const bool asks = has_host(server, SX_UPCALL_PUBLISH);

    (void)now_ns;
    if (rc == PMIX_SUCCESS && asks) {
        rc = sx_ask_asker_add(client, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && asks) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, id, SX_UPCALL_PUBLISH, &up);
        free(up.info);
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        own_publish(server, client, id, up.info, up.ninfo);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    return true;
}

/* The parts of a LOOKUP or an UNPUBLISH, decoded. */
struct call {
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for fewer than @least keys, and for one that is none;
 * PMIX_ERR_OUT_OF_RESOURCE.  Then nothing is to be freed. */
static pmix_status_t call_read(const struct sx_frame *frame, size_t least, struct call *ret)
{
    *ret = (struct call){ .keys = NULL };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_LOOKUP_KEYS, &ret->keys, &ret->key_count);

    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_LOOKUP_INFOS, &ret->info, &ret->ninfo);
    }
    if (rc == PMIX_SUCCESS && (ret->key_count < least || ret->key_count > SX_LOOKUP_KEYS_MAX)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ret->key_count && rc == PMIX_SUCCESS; i++) {
        rc = ret->keys[i].key[0] != '\0' ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(ret->keys, ret->key_count);
        PMIX_INFO_FREE(ret->info, ret->ninfo);
    }
    return rc;
}

/* @from may be none. */
static void infos_move(pmix_info_t *to, pmix_info_t *from, size_t count)
{
    if (count > 0) {
        memcpy(to, from, count * sizeof(*to));
    }
    free(from);
}

/* Ask the host, whom @call's parts go to. */
static void call_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      enum sx_upcall_kind kind, struct call *call)
{
    const size_t ninfo = call->key_count + call->ninfo;
    struct sx_upcall up = { .info_bytes = frame->opened.size,
                            .ndata = call->key_count,
                            .ninfo = ninfo };
    char *keys[SX_LOOKUP_KEYS_MAX + 1] = { NULL };

    up.keys = call->key_count > 0 ? keys : NULL;
    up.info = calloc(ninfo + 1, sizeof(*up.info));
    if (up.info != NULL) {
        infos_move(up.info, call->keys, call->key_count);
        infos_move(up.info + call->key_count, call->info, call->ninfo);
    }
    if (up.info == NULL || sx_ask_asker_add(client, &up.info, &up.ninfo) != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        if (up.info != NULL) {
            PMIX_INFO_FREE(up.info, up.ninfo);
        } else {
            PMIX_INFO_FREE(call->keys, call->key_count);
            PMIX_INFO_FREE(call->info, call->ninfo);
        }
        return;
    }
    sx_reply_read(server, client, frame);
    sx_pending_ask_host(server, client, frame->header.id, kind, &up);
    free(up.info);
}

static void own_lookup(struct sx_server *server, struct sx_client *client, uint32_t id,
                       struct call *call, size_t bytes, uint64_t now_ns)
{
    struct lookup *const lookup = calloc(1, sizeof(*lookup));
    pmix_status_t rc;

    if (lookup == NULL) {
        PMIX_INFO_FREE(call->keys, call->key_count);
        PMIX_INFO_FREE(call->info, call->ninfo);
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return;
    }
    *lookup = (struct lookup){ .keys = call->keys,
                               .key_count = call->key_count,
                               .info = call->info,
                               .ninfo = call->ninfo,
                               .pending.bytes = bytes };
    sx_list_init(&lookup->ready);
    rc = sx_lookup_read(lookup->info, lookup->ninfo, lookup->key_count, &lookup->options,
                        &lookup->wanted);
    if (rc == PMIX_SUCCESS && !client_try(server, client, lookup, &rc)) {
        rc = lookup_wait(server, client, id, lookup, now_ns);
        if (rc != PMIX_SUCCESS) {
            sx_reply(server, client, id, rc, -1);
        }
        return;
    }
    sx_reply_body(server, client, id, rc, lookup->results, lookup->results_size);
    lookup_free(lookup);
}

bool sx_publish_on_lookup(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct call call;
    const pmix_status_t rc = call_read(frame, 1, &call);

    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    } else if (has_host(server, SX_UPCALL_LOOKUP)) {
        sx_lookup_range_mend(call.info, call.ninfo);
        call_host(server, client, frame, SX_UPCALL_LOOKUP, &call);
    } else {
        sx_reply_read(server, client, frame);
        own_lookup(server, client, frame->header.id, &call, frame->opened.size, now_ns);
    }
    return true;
}

static pmix_status_t own_unpublish(struct sx_server *server, const struct sx_party *party,
                                   const struct call *call)
{
    struct sx_unpublish_options options;
    pmix_status_t rc = sx_unpublish_read(call->info, call->ninfo, &options);
    size_t count = 0;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (call->key_count == 0) {
        sx_published_withdraw_all(&server->published, party, options.range);
        return PMIX_SUCCESS;
    }
    for (size_t i = 0; i < call->key_count; i++) {
        const pmix_data_range_t range = options.range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION
                                                                          : options.range;
        const pmix_status_t status = sx_published_withdraw(&server->published, party,
                                                           call->keys[i].key, range);

        count += status == PMIX_SUCCESS;
        rc = rc == PMIX_SUCCESS ? status : rc;
    }
    return rc != PMIX_SUCCESS && count > 0 ? PMIX_ERR_PARTIAL_SUCCESS : rc;
}

bool sx_publish_on_unpublish(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame, uint64_t now_ns)
{
    struct call call;
    pmix_status_t rc = call_read(frame, 0, &call);

    (void)now_ns;
    if (rc == PMIX_SUCCESS && has_host(server, SX_UPCALL_UNPUBLISH)) {
        call_host(server, client, frame, SX_UPCALL_UNPUBLISH, &call);
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        const struct sx_party party = party_of(client);

        rc = own_unpublish(server, &party, &call);
        PMIX_INFO_FREE(call.keys, call.key_count);
        PMIX_INFO_FREE(call.info, call.ninfo);
    }
    sx_reply(server, client, frame->header.id, rc, -1);
    return true;
}

/* ---- the host itself ------------------------------------------------------------------------- */

struct host_call {
    const struct sx_role_publish *call;
    pmix_info_t **ret_info;
    size_t *ret_ninfo;
};

/* What is copied goes into the table, or is freed. */
static pmix_status_t host_publish(struct sx_server *server, const struct sx_party *party,
                                  const struct sx_role_publish *call)
{
    pmix_info_t *const info = PMIx_Info_create(call->ninfo);
    pmix_status_t rc = info == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                    : sx_elements_copy(info, call->info, call->ninfo, PMIX_INFO);

    if (rc == PMIX_SUCCESS) {
        rc = table_publish(server, party, info, call->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, info, call->ninfo);
    }
    if (info != NULL) {
        PMIx_Info_free(info, call->ninfo);
    }
    return rc;
}

static pmix_status_t host_lookup(struct sx_server *server, const struct sx_party *party,
                                 const struct host_call *host)
{
    const struct sx_role_publish *const call = host->call;
    struct lookup lookup = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                             .key_count = call->key_count };
    pmix_status_t rc = sx_lookup_read(call->info, call->ninfo, call->key_count, &lookup.options,
                                      &lookup.wanted);

    if (rc == PMIX_SUCCESS && !lookup_try(server, party, FOUND_BYTES_MAX, &lookup, &rc)) {
        rc = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                      "a lookup of the server's own host cannot wait for what is not published");
    }
    if (lookup.results != NULL) {
        const pmix_status_t decoded = sx_flat_infos_decode(lookup.results, lookup.results_size,
                                                           host->ret_info, host->ret_ninfo);

        rc = decoded == PMIX_SUCCESS ? rc : decoded;
    }
    free(lookup.results);
    return rc;
}

static pmix_status_t host_call_run(struct sx_server *server, void *arg)
{
    static const enum sx_upcall_kind entries[] = { [SX_ROLE_PUBLISH] = SX_UPCALL_PUBLISH,
                                                   [SX_ROLE_LOOKUP] = SX_UPCALL_LOOKUP,
                                                   [SX_ROLE_UNPUBLISH] = SX_UPCALL_UNPUBLISH };
    const struct host_call *const host = arg;
    const struct sx_role_publish *const call = host->call;
    const struct sx_party party = { .who = { .proc = server->self, .session = SX_SESSION_UNKNOWN },
                                    .uid = geteuid(),
                                    .gid = getegid(),
                                    .is_host = true,
                                    .app = SX_PARTY_APP_UNKNOWN };

    if (has_host(server, entries[call->kind])) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "the host has an entry for what is published: it has the data itself");
    }
    if (call->kind == SX_ROLE_PUBLISH) {
        return host_publish(server, &party, call);
    }
    if (call->kind == SX_ROLE_LOOKUP) {
        return host_lookup(server, &party, host);
    }
    const struct call back = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                               .key_count = call->key_count,
                               .info = (pmix_info_t *)(uintptr_t)call->info,
                               .ninfo = call->ninfo };

    return own_unpublish(server, &party, &back);
}

pmix_status_t sx_publish_by_host(const struct sx_role_publish *call, pmix_info_t **ret_info,
                                 size_t *ret_ninfo)
{
    struct sx_server *const server = sx_server_get();
    struct host_call host = { .call = call, .ret_info = ret_info, .ret_ninfo = ret_ninfo };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, host_call_run, &host);
}

/* ---- those who look for themselves ----------------------------------------------------------- */

pmix_status_t sx_publish_share(struct sx_server *server, const struct sx_client *client,
                               int *ret_fd)
{
    const struct sx_party asker = party_of(client);

    if (has_host(server, SX_UPCALL_LOOKUP)) {
        return PMIX_ERR_NOT_FOUND;
    }
    return sx_published_share(&server->published, &server->numa, client->uid, &asker.who, ret_fd);
}

void sx_publish_session_told(struct sx_server *server, const struct sx_nspace *nspace)
{
    sx_published_session_told(&server->published, nspace->name, nspace->session);
}

/* ---- those who go ---------------------------------------------------------------------------- */

void sx_publish_client_gone(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);

    sx_published_proc_gone(&server->published, &proc, client->uid);
}

void sx_publish_client_over(struct sx_server *server, struct sx_client *client)
{
    sx_publish_client_gone(server, client);
    if (client->is_tool || sx_list_empty(&server->published.publishers)) {
        return;
    }
    const uint32_t app = sx_apps_of(client->nspace, client->rank);

    if (sx_apps_is_over(client->nspace, app)) {
        sx_published_app_gone(&server->published, client->nspace->name, app);
    }
}

void sx_publish_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    bool ended = nspace->session != SX_SESSION_UNKNOWN;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const other = SX_LIST_ENTRY(it, struct sx_nspace, link);

        ended = ended && (other == nspace || other->session != nspace->session);
    }
    sx_published_session_over(&server->published, nspace->name);
    sx_published_nspace_gone(&server->published, nspace->name, nspace->session, ended);
}

void sx_publish_deinit(struct sx_server *server)
{
    sx_published_shown_deinit(&server->published);
    sx_published_deinit(&server->published);
    sx_table_deinit(&server->lookups);
}
