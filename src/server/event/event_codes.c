/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_codes.c - counts of codes, and the two moments at which the host is called about
 * them. */
#include "server/event/event_codes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <shmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/log.h"
#include "base/status.h"
#include "server/model/state.h"
#include "server/port/port.h"

static uint64_t hash_of(const struct sx_event_codes *codes, pmix_status_t code)
{
    return XXH3_64bits_withSeed(&code, sizeof(code), codes->seed);
}

struct sx_event_code *sx_event_codes_find(const struct sx_event_codes *codes, pmix_status_t code)
{
    struct sx_table_node *node = sx_table_first(&codes->table, hash_of(codes, code));

    for (; node != NULL; node = sx_table_next(&codes->table, node)) {
        struct sx_event_code *const entry = SX_CONTAINER(node, struct sx_event_code, node);

        if (entry->code == code) {
            return entry;
        }
    }
    return NULL;
}

uint32_t sx_event_codes_add(struct sx_event_codes *codes, pmix_status_t code, size_t max)
{
    struct sx_event_code *entry = sx_event_codes_find(codes, code);

    if (entry != NULL) {
        return entry->count == UINT32_MAX ? 0 : ++entry->count;
    }
    entry = codes->table.count < max ? malloc(sizeof(*entry)) : NULL;
    if (entry == NULL || !sx_table_add(&codes->table, &entry->node, hash_of(codes, code))) {
        free(entry);
        return 0;
    }
    entry->code = code;
    entry->count = 1;
    entry->asked = false;
    entry->question = 0;
    sx_list_init(&entry->open);
    return 1;
}

static void entry_free(struct sx_event_codes *codes, struct sx_event_code *entry)
{
    sx_table_remove(&codes->table, &entry->node);
    sx_list_remove(&entry->open);
    free(entry);
}

bool sx_event_codes_remove(struct sx_event_codes *codes, pmix_status_t code, bool *ret_asked)
{
    struct sx_event_code *const entry = sx_event_codes_find(codes, code);

    if (entry == NULL || --entry->count > 0) {
        return false;
    }
    if (ret_asked != NULL) {
        *ret_asked = entry->asked;
    }
    entry_free(codes, entry);
    if (codes->table.count == 0) {
        sx_table_deinit(&codes->table);
    }
    return true;
}

/* Take any code out of @codes.  Return: false when there is none. */
static bool codes_pop(struct sx_event_codes *codes, size_t *bucket, pmix_status_t *ret)
{
    struct sx_table_node *const node = sx_table_any(&codes->table, bucket);

    if (node != NULL) {
        *ret = SX_CONTAINER(node, struct sx_event_code, node)->code;
        entry_free(codes, SX_CONTAINER(node, struct sx_event_code, node));
    }
    return node != NULL;
}

void sx_event_codes_clear(struct sx_event_codes *codes)
{
    pmix_status_t code;
    size_t bucket = 0;

    while (codes_pop(codes, &bucket, &code)) {
    }
    sx_table_deinit(&codes->table);
}

/* ---- clients and the host ------------------------------------------------------------------ */

static bool comes_from_outside(pmix_status_t code, bool environment)
{
    if (code == SHMIX_ERR_EVENTS_LOST || code == SHMIX_ERR_VALUES_LOST) {
        return false; /* raised in the process that receives it, or by this server */
    }
    return code > 0 || code < PMIX_EXTERNAL_ERR_BASE || (environment && PMIX_SYSTEM_EVENT(code));
}

/* Count one more handler for the code.  Return: PMIX_SUCCESS, and *ret_ask when the host has to be
 * asked now. */
static pmix_status_t server_wants(struct sx_server *server, pmix_status_t code, uint64_t question,
                                  bool *ret_ask)
{
    server->event.codes.seed = server->seed;
    if (sx_event_codes_add(&server->event.codes, code, SX_EVENT_CODES_PER_SERVER) == 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct sx_event_code *entry = sx_event_codes_find(&server->event.codes, code);

    *ret_ask = !entry->asked;
    if (!entry->asked) {
        entry->asked = true;
        entry->question = question;
        sx_list_append(&server->event.open_codes, &entry->open);
    }
    return PMIX_SUCCESS;
}

static void notified_of_dropping(pmix_status_t code, pmix_status_t status)
{
    if (status != PMIX_SUCCESS && status != PMIX_ERR_NOT_SUPPORTED) {
        sx_log(SX_LOG_INFO, "the host does not drop code %d: status %d", code, status);
    }
}

static void code_dropped(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker;
    notified_of_dropping((pmix_status_t)answer->id, answer->status);
}

/* A client of @owner, or (NULL) the host itself, no longer wants the code. */
static void server_wants_less(struct sx_server *server, const struct sx_quota_owner *owner,
                              pmix_status_t code)
{
    bool asked = false;

    if (sx_event_codes_remove(&server->event.codes, code, &asked) && asked) {
        const struct sx_upcall up = { .answered = code_dropped,
                                      .id = (uint64_t)code,
                                      .codes = &code,
                                      .ncodes = 1,
                                      .owner = owner };

        notified_of_dropping(code, sx_upcall(server, SX_UPCALL_DEREGISTER_EVENTS, &up));
    }
}

uint64_t sx_event_code_question(struct sx_server *server, pmix_status_t code, bool environment)
{
    const struct sx_event_code *entry = comes_from_outside(code, environment)
                                            ? sx_event_codes_find(&server->event.codes, code)
                                            : NULL;

    return entry != NULL ? entry->question : 0;
}

pmix_status_t sx_event_code_wanted(struct sx_server *server, struct sx_client *client,
                                   pmix_status_t code, bool environment, uint64_t question,
                                   bool *ret_ask)
{
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t own = 1;

    *ret_ask = false;
    if (!comes_from_outside(code, environment)) {
        return PMIX_SUCCESS;
    }
    if (client != NULL) {
        client->event_codes.seed = server->seed;
        own = sx_event_codes_add(&client->event_codes, code, SX_EVENT_CODES_PER_CLIENT);
    }
    if (own == 0) {
        return client == NULL
                   ? PMIX_ERR_OUT_OF_RESOURCE
                   : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                              "%s.%u has handlers for %zu codes, of at most %u: let some go, or "
                              "register one handler for all codes (of none)",
                              client->nspace->name, client->rank, client->event_codes.table.count,
                              SX_EVENT_CODES_PER_CLIENT);
    }
    if (own == 1) { /* else the client is counted already */
        rc = server_wants(server, code, question, ret_ask);
    }
    if (rc != PMIX_SUCCESS && client != NULL) {
        sx_event_codes_remove(&client->event_codes, code, NULL);
    }
    return rc;
}

void sx_event_code_unwanted(struct sx_server *server, struct sx_client *client, pmix_status_t code,
                            bool environment)
{
    if (!comes_from_outside(code, environment)) {
        return;
    }
    if (client == NULL) {
        server_wants_less(server, NULL, code);
    } else if (sx_event_codes_remove(&client->event_codes, code, NULL)) {
        const struct sx_quota_owner owner = sx_quota_owner_of(client);

        server_wants_less(server, &owner, code);
    }
}

void sx_event_codes_answered(struct sx_server *server, uint64_t question, bool refused)
{
    SX_LIST_EACH(it, &server->event.open_codes) {
        struct sx_event_code *const entry = SX_LIST_ENTRY(it, struct sx_event_code, open);

        if (entry->question == question) {
            sx_list_remove(it);
            entry->question = 0;
            entry->asked = !refused;
        }
    }
}

void sx_event_codes_client_left(struct sx_server *server, struct sx_client *client)
{
    struct sx_event_codes codes = client->event_codes;
    pmix_status_t code;
    size_t bucket = 0;

    if (codes.table.count == 0) {
        return;
    }
    const struct sx_quota_owner owner = sx_quota_owner_of(client);

    memset(&client->event_codes, 0, sizeof(client->event_codes));
    while (codes_pop(&codes, &bucket, &code)) {
        server_wants_less(server, &owner, code);
    }
    sx_event_codes_clear(&codes);
}

/* ---- registrations --------------------------------------------------------------------------- */

/* Ask the host about a code once at a time; other registrations for the code wait. */

static void want_try(struct sx_event_want *want, uint64_t now_ns);

/* ---- the end of a registration --------------------------------------------------------------- */

void sx_event_want_closed(struct sx_pending *pending)
{
    struct sx_event_want *want = SX_CONTAINER(pending, struct sx_event_want, pending);

    sx_list_remove(&want->link);
    for (size_t i = 0; i < want->counted && pending->status != PMIX_SUCCESS; i++) {
        sx_event_code_unwanted(pending->server, pending->client, want->codes[i], want->environment);
    }
}

/* ---- answers ------------------------------------------------------------------------------- */

static bool is_refusal(pmix_status_t status)
{
    return status != PMIX_SUCCESS && status != PMIX_ERR_NOT_SUPPORTED &&
           status != PMIX_ERR_NOT_IMPLEMENTED;
}

/* Finish the registration that asked the question.  Those that waited for the answer start again:
 * the host may grant one user what it refused to another. */
static void question_over(struct sx_server *server, uint64_t question, pmix_status_t status)
{
    const bool refused = is_refusal(status);
    const uint64_t now_ns = sx_now_ns();
    struct sx_list waiting = SX_LIST_INIT(waiting);
    struct sx_event_want *asker = NULL;
    struct sx_list *node;

    sx_event_codes_answered(server, question, refused);
    SX_LIST_EACH(it, &server->event.wants) {
        struct sx_event_want *want = SX_LIST_ENTRY(it, struct sx_event_want, link);

        if (want->question == question && want->asks) {
            asker = want;
        } else if (want->question == question) {
            sx_list_remove(it);
            sx_list_append(&waiting, it);
        }
    }
    if (asker != NULL) {
        status = status < 0 ? status : PMIX_ERR_EVENT_REGISTRATION;
        sx_pending_answer(&asker->pending, refused ? status : PMIX_SUCCESS);
    }
    while ((node = waiting.next) != &waiting) {
        want_try(SX_LIST_ENTRY(node, struct sx_event_want, link), now_ns);
    }
}

static void host_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker;
    question_over(answer->server, answer->id, answer->status);
}

static void want_late(void *arg, uint64_t now_ns)
{
    const struct sx_event_want *want = SX_CONTAINER(arg, struct sx_event_want, pending);

    (void)now_ns;
    sx_log(SX_LOG_WARN,
           "the host does not answer register_events: the handler of %s.%u is registered without "
           "its word",
           want->pending.client->nspace->name, want->pending.client->rank);
    question_over(want->pending.server, want->question, PMIX_SUCCESS);
}

/* ---- asking -------------------------------------------------------------------------------- */

static void want_wait(struct sx_event_want *want, uint64_t question, bool asks, uint64_t now_ns)
{
    want->question = question;
    want->asks = asks;
    sx_list_remove(&want->link);
    sx_list_append(&want->pending.server->event.wants, &want->link);
    if (want->pending.deadline.source.loop == NULL) {
        sx_pending_limit(&want->pending, want_late, now_ns + SX_EVENT_ASK_NS);
    }
}

/* Return: the open question about one of the codes, 0 when there is none. */
static uint64_t question_open(const struct sx_event_want *want)
{
    uint64_t question = 0;

    for (size_t i = 0; i < want->code_count && question == 0; i++) {
        question = sx_event_code_question(want->pending.server, want->codes[i], want->environment);
    }
    return question;
}

/* Count the codes of @want.  Return: PMIX_SUCCESS, and in @ask the codes that the host has to be
 * asked for. */
static pmix_status_t codes_count(struct sx_event_want *want, uint64_t question, pmix_status_t *ask,
                                 size_t *ret_count)
{
    pmix_status_t rc = PMIX_SUCCESS;

    *ret_count = 0;
    for (want->counted = 0; want->counted < want->code_count; want->counted++) {
        const pmix_status_t code = want->codes[want->counted];
        bool asks = false;

        rc = sx_event_code_wanted(want->pending.server, want->pending.client, code,
                                  want->environment, question, &asks);
        if (rc != PMIX_SUCCESS) {
            break;
        }
        if (asks) {
            ask[(*ret_count)++] = code;
        }
    }
    return rc;
}

/* Count a handler of @client, or of the host for NULL, for @codes. */
static void host_ask(struct sx_server *server, struct sx_client *client, pmix_status_t *codes,
                     size_t count, uint64_t question, sx_answered_fn answered)
{
    const uint32_t user = client != NULL ? client->uid : getuid();
    const uint32_t group = client != NULL ? client->gid : getgid();
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_USERID, &user, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_GRPID, &group, PMIX_UINT32);
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_REGISTER_EVENTS,
                                       &(struct sx_upcall){ .answered = answered,
                                                            .id = question,
                                                            .client = client,
                                                            .codes = codes,
                                                            .ncodes = count,
                                                            .info = info,
                                                            .ninfo = 2 });
    if (rc != PMIX_SUCCESS) {
        question_over(server, question, rc);
    }
}

static void want_ask(struct sx_event_want *want, uint64_t now_ns)
{
    struct sx_server *server = want->pending.server;
    const uint64_t question = ++server->event.question_last;
    struct sx_client *client = want->pending.client;
    size_t ask_count = 0;
    pmix_status_t *ask = want->code_count == 0 ? NULL : malloc(want->code_count * sizeof(*ask));
    pmix_status_t rc = want->code_count == 0 || ask != NULL
                           ? codes_count(want, question, ask, &ask_count)
                           : PMIX_ERR_OUT_OF_RESOURCE;

    if (rc != PMIX_SUCCESS) {
        sx_event_codes_answered(server, question, true); /* the question was never asked */
    }
    if (rc != PMIX_SUCCESS || ask_count == 0) {
        sx_pending_answer(&want->pending, rc);
    } else {
        want_wait(want, question, true, now_ns);
        host_ask(server, client, ask, ask_count, question, host_answered);
    }
    free(ask);
}

/* The registration may be in a list of waiting ones. */
static void want_try(struct sx_event_want *want, uint64_t now_ns)
{
    const uint64_t open = question_open(want);

    if (want->pending.client->state != SX_CLIENT_CONNECTED) {
        sx_pending_drop(&want->pending);
    } else if (open == 0) {
        want_ask(want, now_ns);
    } else {
        want_wait(want, open, false, now_ns);
    }
}

void sx_event_want(struct sx_event_want *want, uint64_t now_ns)
{
    sx_list_init(&want->link);
    want_try(want, now_ns);
}

/* ---- the host's own handlers --------------------------------------------------------------- */

static void host_answered_itself(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (is_refusal(answer->status)) {
        sx_log(SX_LOG_WARN, "the host refuses its own handler events of the environment: %s",
               PMIx_Error_string(answer->status));
    }
    host_answered(asker, answer);
}

size_t sx_event_wanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count)
{
    const uint64_t question = ++server->event.question_last;
    struct sx_event_want want = { .pending = { .server = server },
                                  .codes = (pmix_status_t *)(uintptr_t)codes,
                                  .code_count = count,
                                  .environment = true };
    pmix_status_t *ask = count == 0 ? NULL : malloc(count * sizeof(*ask));
    size_t ask_count = 0;

    if (ask != NULL) {
        (void)codes_count(&want, question, ask, &ask_count);
    }
    if (want.counted < count) {
        sx_log(SX_LOG_ERROR,
               "a handler of the host is not counted for %zu of its codes: memory is short",
               count - want.counted);
    }
    if (ask_count > 0) {
        host_ask(server, NULL, ask, ask_count, question, host_answered_itself);
    }
    free(ask);
    return want.counted;
}

void sx_event_unwanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sx_event_code_unwanted(server, NULL, codes[i], true);
    }
}
