/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - requests to publish and unpublish, of clients, of the host, and for ranks that use
 * another protocol. */
#include "server/publish/publish.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/status.h"
#include "base/util.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "server/job/job.h"
#include "server/manage/manage.h"
#include "server/model/published.h"
#include "server/model/share.h"
#include "server/port/port.h"
#include "server/publish/lookup.h"

/* ---- publishing ---------------------------------------------------------------------------- */

/* Ownership of the values of @info moves. */
static pmix_status_t table_publish(struct sx_server *server, const struct sx_party *party,
                                   pmix_info_t info[], size_t ninfo)
{
    struct sx_publish_options options;
    const pmix_status_t rc = sx_publish_read(info, ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (options.range == PMIX_RANGE_RM) {
        return PMIX_ERR_NOT_SUPPORTED; /* there is no resource manager to give it to */
    }
    sx_published_targets_sort(&options.targets);
    return sx_published_add(&server->publish.published, party, &options, info, ninfo);
}

static void own_publish(struct sx_server *server, struct sx_client *client, uint32_t id,
                        pmix_info_t info[], size_t ninfo)
{
    const uint64_t before = server->publish.published.walked;
    const struct sx_party party = sx_publish_party(client);
    const pmix_status_t rc = table_publish(server, &party, info, ninfo);

    sx_share_charge(server, client,
                    (server->publish.published.walked - before) / SX_PUBLISH_ROWS_PER_UNIT);
    sx_client_retain(client); /* an answer may end the client */
    sx_reply(server, client, id, rc, -1);
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, client, info, ninfo);
    }
    sx_client_release(client);
}

bool sx_publish_on_publish(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_PUBLISH_INFOS, &up.info, &up.ninfo);
    const bool asks = sx_publish_has_host(server, SX_UPCALL_PUBLISH);

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

/* ---- unpublishing ---------------------------------------------------------------------------- */

struct withdrawal {
    struct sx_pending pending;
    struct sx_share_work work; /* while it continues in its client's turns */
    struct sx_publish_call call;
    struct sx_publish_key *named; /* the keys in order; NULL: all keys */
    struct sx_party party;
    pmix_data_range_t range;
    size_t at;    /* the key at which it continues */
    size_t count; /* of rows that were removed */
    pmix_status_t status;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as sx_unpublish_read. */
static pmix_status_t withdrawal_begin(struct withdrawal *back)
{
    struct sx_unpublish_options options;
    const pmix_status_t rc = sx_unpublish_read(back->call.info, back->call.ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    back->range = options.range;
    if (back->call.key_count > 0) {
        back->named = sx_publish_keys_sort(back->call.keys, back->call.key_count);
        back->range = options.range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION : options.range;
    }
    return back->call.key_count > 0 && back->named == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                                           : PMIX_SUCCESS;
}

/* Remove from the next key on, until some @rows_max rows have been visited.  Return: whether all
 * are done. */
static bool withdrawal_go_on(struct sx_server *server, struct withdrawal *back, uint64_t rows_max)
{
    struct sx_published *const all = &server->publish.published;
    const uint64_t before = all->walked;

    if (back->named == NULL) {
        return sx_published_withdraw_all(all, &back->party, back->range, rows_max);
    }
    for (; back->at < back->call.key_count && all->walked - before < rows_max; back->at++) {
        if (sx_publish_key_is_again(back->named, back->at)) {
            continue;
        }
        const pmix_status_t rc = sx_published_withdraw(all, &back->party, back->named[back->at].key,
                                                       back->range);

        all->walked++;
        back->count += rc == PMIX_SUCCESS;
        back->status = back->status == PMIX_SUCCESS ? rc : back->status;
    }
    return back->at == back->call.key_count;
}

static pmix_status_t withdrawal_status(const struct withdrawal *back)
{
    return back->status != PMIX_SUCCESS && back->count > 0 ? PMIX_ERR_PARTIAL_SUCCESS
                                                           : back->status;
}

static void withdrawal_free(struct withdrawal *back)
{
    PMIX_INFO_FREE(back->call.keys, back->call.key_count);
    PMIX_INFO_FREE(back->call.info, back->call.ninfo);
    free(back->named);
    free(back);
}

/* One step of @client, which is charged.  Return: whether all are done. */
static bool withdrawal_step(struct sx_server *server, struct sx_client *client,
                            struct withdrawal *back)
{
    const uint64_t before = server->publish.published.walked;
    const bool is_done = withdrawal_go_on(server, back, SX_PUBLISH_STEP_ROWS);

    sx_share_charge(server, client,
                    (server->publish.published.walked - before) / SX_PUBLISH_ROWS_PER_UNIT);
    return is_done;
}

static void withdrawal_work(struct sx_share_work *work)
{
    struct withdrawal *const back = SX_CONTAINER(work, struct withdrawal, work);

    if (withdrawal_step(back->pending.server, back->pending.client, back)) {
        sx_pending_answer(&back->pending, withdrawal_status(back));
    }
}

static void withdrawal_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct withdrawal, pending)->work);
}

static void withdrawal_pending_free(struct sx_pending *pending)
{
    withdrawal_free(SX_CONTAINER(pending, struct withdrawal, pending));
}

/* Return: whether the rest continues in the turns of @client, and is answered then; else its status
 * is the answer's. */
static bool withdrawal_wait(struct sx_server *server, struct sx_client *client, uint32_t id,
                            struct withdrawal *back)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .closed = withdrawal_closed,
                                                 .free = withdrawal_pending_free };
    const pmix_status_t rc = sx_pending_begin(server, client, id, &kind, &back->pending);

    if (rc == PMIX_SUCCESS) {
        back->work.step = withdrawal_work;
        sx_share_work_add(client, &back->work);
    } else {
        back->status = back->status == PMIX_SUCCESS ? rc : back->status;
    }
    return rc == PMIX_SUCCESS;
}

/* Ownership of the parts of @call moves. */
static void own_unpublish(struct sx_server *server, struct sx_client *client,
                          const struct sx_frame *frame, struct sx_publish_call *call)
{
    struct withdrawal *const back = calloc(1, sizeof(*back));
    const uint32_t id = frame->header.id;

    if (back == NULL) {
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        PMIX_INFO_FREE(call->keys, call->key_count);
        PMIX_INFO_FREE(call->info, call->ninfo);
        return;
    }
    *back = (struct withdrawal){ .call = *call, .party = sx_publish_party(client) };
    back->pending.bytes = frame->opened.size;
    back->status = withdrawal_begin(back);
    if (back->status == PMIX_SUCCESS && !withdrawal_step(server, client, back) &&
        withdrawal_wait(server, client, id, back)) {
        sx_reply_read(server, client, frame);
        return;
    }
    sx_reply(server, client, id, withdrawal_status(back), -1);
    withdrawal_free(back);
}

bool sx_publish_on_unpublish(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame, uint64_t now_ns)
{
    struct sx_publish_call call;
    const pmix_status_t rc = sx_publish_call_read(frame, 0, &call);

    (void)now_ns;
    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    } else if (sx_publish_has_host(server, SX_UPCALL_UNPUBLISH)) {
        sx_publish_call_host(server, client, frame, SX_UPCALL_UNPUBLISH, &call);
    } else {
        own_unpublish(server, client, frame, &call);
    }
    return true;
}

/* ---- the host itself ------------------------------------------------------------------------- */

struct host_call {
    const struct sx_role_publish *call;
    pmix_info_t **ret_info;
    size_t *ret_ninfo;
};

/* A copy goes into the table, or is freed. */
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
        sx_publish_wake(server, NULL, info, call->ninfo);
    }
    if (info != NULL) {
        PMIx_Info_free(info, call->ninfo);
    }
    return rc;
}

static pmix_status_t host_unpublish(struct sx_server *server, const struct sx_party *party,
                                    const struct sx_role_publish *call)
{
    struct withdrawal back = { .call = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                                         .key_count = call->key_count,
                                         .info = (pmix_info_t *)(uintptr_t)call->info,
                                         .ninfo = call->ninfo },
                               .party = *party };

    back.status = withdrawal_begin(&back);
    if (back.status == PMIX_SUCCESS) {
        (void)withdrawal_go_on(server, &back, UINT64_MAX);
    }
    free(back.named);
    return withdrawal_status(&back);
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

    if (sx_publish_has_host(server, entries[call->kind])) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "the host has an entry for what is published: it has the data itself");
    }
    if (call->kind == SX_ROLE_PUBLISH) {
        return host_publish(server, &party, call);
    }
    if (call->kind == SX_ROLE_LOOKUP) {
        return sx_lookup_by_host(server, &party, call, host->ret_info, host->ret_ninfo);
    }
    return host_unpublish(server, &party, call);
}

pmix_status_t sx_publish_by_host(const struct sx_role_publish *call, pmix_info_t **ret_info,
                                 size_t *ret_ninfo)
{
    struct sx_server *const server = sx_server_get();
    struct host_call host = { .call = call, .ret_info = ret_info, .ret_ninfo = ret_ninfo };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, host_call_run, &host);
}

/* ---- clients that search by themselves ------------------------------------------------------- */

pmix_status_t sx_publish_share(struct sx_server *server, struct sx_client *client, int *ret_fd)
{
    const uint64_t before = server->publish.published.walked;
    const struct sx_party asker = sx_publish_party(client);

    if (sx_publish_has_host(server, SX_UPCALL_LOOKUP)) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_published_share(&server->publish.published, &server->numa,
                                                client->uid, &asker.who, ret_fd);

    sx_share_charge(server, client,
                    (server->publish.published.walked - before) / SX_PUBLISH_ROWS_PER_UNIT);
    return rc;
}

void sx_publish_session_notified(struct sx_server *server, const struct sx_nspace *nspace)
{
    sx_published_session_notified(&server->publish.published, nspace->name, nspace->session);
}

/* ---- clients and jobs that leave ------------------------------------------------------------- */

/* Some of the rows that are over go at once, the others in later turns. */
static void rows_go(struct sx_server *server)
{
    struct sx_publish_state *const publish = &server->publish;

    if (publish->over_posted || sx_published_over_step(&publish->published, SX_PUBLISH_STEP_ROWS)) {
        return;
    }
    publish->over_posted = sx_loop_post(server->loop, &publish->over) == PMIX_SUCCESS;
    if (!publish->over_posted) { /* the loop has stopped */
        (void)sx_published_over_step(&publish->published, UINT64_MAX);
    }
}

static void rows_go_on(void *arg, uint64_t now_ns)
{
    struct sx_server *const server = arg;

    (void)now_ns;
    server->publish.over_posted = false;
    rows_go(server);
}

void sx_publish_init(struct sx_server *server)
{
    sx_published_init(&server->publish.published, server->seed);
    sx_lookups_init(server);
    server->publish.over = (struct sx_loop_post){ .fn = rows_go_on, .arg = server };
}

void sx_publish_client_gone(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);

    client->spawn_failed = PMIX_SUCCESS;
    sx_published_proc_gone(&server->publish.published, &proc, client->uid);
    rows_go(server);
}

void sx_publish_client_over(struct sx_server *server, struct sx_client *client)
{
    sx_publish_client_gone(server, client);
    if (client->is_tool || sx_list_empty(&server->publish.published.publishers)) {
        return;
    }
    const uint32_t app = sx_apps_of(client->nspace, client->rank);

    if (sx_apps_is_over(client->nspace, app)) {
        sx_published_app_gone(&server->publish.published, client->nspace->name, app);
        rows_go(server);
    }
}

void sx_publish_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    bool ended = nspace->session != SX_SESSION_UNKNOWN;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const other = SX_LIST_ENTRY(it, struct sx_nspace, link);

        ended = ended && (other == nspace || other->session != nspace->session);
    }
    sx_published_session_over(&server->publish.published, nspace->name);
    sx_published_nspace_gone(&server->publish.published, nspace->name, nspace->session, ended);
    rows_go(server);
}

void sx_publish_deinit(struct sx_server *server)
{
    sx_lookups_leave_all(server);
    sx_published_shown_deinit(&server->publish.published);
    sx_published_deinit(&server->publish.published);
    sx_table_deinit(&server->publish.lookups);
}

/* ---- ranks that use another protocol -------------------------------------------------------- */

struct as_request {
    const pmix_proc_t *proc;
    const char *key, *text;
    char *ret_text;
    size_t size;
};

/* The ranks belong to the host, and have its user.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND. */
static pmix_status_t party_read(struct sx_server *server, const struct as_request *request,
                                struct sx_party *ret)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, request->proc->nspace);

    if (nspace == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (struct sx_party){ .who = { .proc = *request->proc, .session = nspace->session },
                              .uid = geteuid(),
                              .gid = getegid() };
    return PMIX_SUCCESS;
}

static pmix_status_t as_publish(struct sx_server *server, void *arg)
{
    const struct as_request *const request = arg;
    const pmix_persistence_t persistence = PMIX_PERSIST_SESSION;
    struct sx_publish_options options;
    struct sx_party party;
    pmix_info_t info[2];
    pmix_status_t rc = party_read(server, request, &party);

    memset(info, 0, sizeof(info));
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&info[0], request->key, request->text, PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&info[1], PMIX_PERSISTENCE, &persistence, PMIX_PERSIST);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_publish_read(info, SX_COUNT(info), &options);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_published_add(&server->publish.published, &party, &options, info, SX_COUNT(info));
    }
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, NULL, info, SX_COUNT(info));
    }
    sx_elements_destruct(info, SX_COUNT(info), PMIX_INFO);
    return rc;
}

static pmix_status_t as_lookup(struct sx_server *server, void *arg)
{
    const struct as_request *const request = arg;
    struct sx_lookup_options options;
    struct sx_published_row *row;
    struct sx_party party;
    size_t wanted;
    pmix_status_t rc = party_read(server, request, &party);

    if (rc == PMIX_SUCCESS) {
        rc = sx_lookup_read(NULL, 0, 1, &options, &wanted);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    row = sx_published_find(&server->publish.published, request->key, &party, &options);
    if (row == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    const char *const text = row->info.value.type == PMIX_STRING ? row->info.value.data.string
                                                                 : NULL;

    if (text == NULL || strlen(text) >= request->size) {
        return PMIX_ERR_NOT_FOUND;
    }
    memcpy(request->ret_text, text, strlen(text) + 1);
    if (row->persistence == PMIX_PERSIST_FIRST_READ) {
        sx_published_remove(&server->publish.published, row);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t as_unpublish(struct sx_server *server, void *arg)
{
    const struct as_request *const request = arg;
    struct sx_party party;
    const pmix_status_t rc = party_read(server, request, &party);

    return rc != PMIX_SUCCESS ? rc
                              : sx_published_withdraw(&server->publish.published, &party,
                                                      request->key, PMIX_RANGE_SESSION);
}

static pmix_status_t as_call(sx_server_fn fn, struct as_request *request)
{
    struct sx_server *const server = sx_server_get();

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, fn, request);
}

pmix_status_t sx_publish_as(const pmix_proc_t *proc, const char *key, const char *text)
{
    return as_call(as_publish, &(struct as_request){ .proc = proc, .key = key, .text = text });
}

pmix_status_t sx_lookup_as(const pmix_proc_t *proc, const char *key, char *ret_text, size_t size)
{
    return as_call(as_lookup, &(struct as_request){
                                  .proc = proc, .key = key, .ret_text = ret_text, .size = size });
}

pmix_status_t sx_unpublish_as(const pmix_proc_t *proc, const char *key)
{
    return as_call(as_unpublish, &(struct as_request){ .proc = proc, .key = key });
}
