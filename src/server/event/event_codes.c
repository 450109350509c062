/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_codes.c - sorted counts of codes, and the two moments at which the host is called about
 * them. */
#include "server/event/event_codes.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/log.h"
#include "server/model/state.h"
#include "server/port/upcall.h"

/* Return: where @code is, or would be inserted. */
static size_t find(const struct sx_event_codes *codes, pmix_status_t code)
{
    size_t low = 0;
    size_t high = codes->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (codes->all[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has(const struct sx_event_codes *codes, size_t at, pmix_status_t code)
{
    return at < codes->count && codes->all[at].code == code;
}

uint32_t sx_event_codes_add(struct sx_event_codes *codes, pmix_status_t code, size_t max)
{
    const size_t at = find(codes, code);

    if (has(codes, at, code)) {
        return codes->all[at].count == UINT32_MAX ? 0 : ++codes->all[at].count;
    }
    if (codes->count >= max) {
        return 0;
    }
    if (codes->count == codes->capacity) {
        const size_t capacity = codes->capacity == 0 ? 8 : 2 * codes->capacity;
        struct sx_event_code *grown = realloc(codes->all, capacity * sizeof(*grown));

        if (grown == NULL) {
            return 0;
        }
        codes->all = grown;
        codes->capacity = capacity;
    }
    memmove(codes->all + at + 1, codes->all + at, (codes->count - at) * sizeof(*codes->all));
    codes->all[at] = (struct sx_event_code){ .code = code, .count = 1 };
    codes->count++;
    return 1;
}

struct sx_event_code *sx_event_codes_find(struct sx_event_codes *codes, pmix_status_t code)
{
    const size_t at = find(codes, code);

    return has(codes, at, code) ? &codes->all[at] : NULL;
}

bool sx_event_codes_remove(struct sx_event_codes *codes, pmix_status_t code, bool *ret_asked)
{
    const size_t at = find(codes, code);

    if (!has(codes, at, code) || --codes->all[at].count > 0) {
        return false;
    }
    if (ret_asked != NULL) {
        *ret_asked = codes->all[at].asked;
    }
    codes->count--;
    memmove(codes->all + at, codes->all + at + 1, (codes->count - at) * sizeof(*codes->all));
    return true;
}

void sx_event_codes_clear(struct sx_event_codes *codes)
{
    free(codes->all);
    memset(codes, 0, sizeof(*codes));
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
    if (sx_event_codes_add(&server->event_codes, code, SX_EVENT_CODES_PER_SERVER) == 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct sx_event_code *entry = sx_event_codes_find(&server->event_codes, code);

    *ret_ask = !entry->asked;
    if (!entry->asked) {
        entry->asked = true;
        entry->question = question;
    }
    return PMIX_SUCCESS;
}

static void told_of_dropping(pmix_status_t code, pmix_status_t status)
{
    if (status != PMIX_SUCCESS && status != PMIX_ERR_NOT_SUPPORTED) {
        sx_log(SX_LOG_INFO, "the host does not drop code %d: status %d", code, status);
    }
}

static void code_dropped(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    (void)asker;
    told_of_dropping((pmix_status_t)answer->id, answer->status);
}

/* A client of @owner, or (NULL) the host itself, no longer wants the code. */
static void server_wants_less(struct sx_server *server, const struct sx_quota_owner *owner,
                              pmix_status_t code)
{
    bool asked = false;

    if (sx_event_codes_remove(&server->event_codes, code, &asked) && asked) {
        const struct sx_upcall up = {
            .told = code_dropped, .id = (uint64_t)code, .codes = &code, .ncodes = 1, .owner = owner
        };

        told_of_dropping(code, sx_upcall(server, SX_UPCALL_DEREGISTER_EVENTS, &up));
    }
}

uint64_t sx_event_code_question(struct sx_server *server, pmix_status_t code, bool environment)
{
    const struct sx_event_code *entry = comes_from_outside(code, environment)
                                            ? sx_event_codes_find(&server->event_codes, code)
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
        own = sx_event_codes_add(&client->event_codes, code, SX_EVENT_CODES_PER_CLIENT);
    }
    if (own == 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
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
    for (size_t i = 0; i < server->event_codes.count; i++) {
        struct sx_event_code *entry = &server->event_codes.all[i];

        if (entry->question == question) {
            entry->question = 0;
            entry->asked = !refused;
        }
    }
}

void sx_event_codes_client_left(struct sx_server *server, struct sx_client *client)
{
    struct sx_event_codes codes = client->event_codes;

    if (codes.all == NULL) {
        return;
    }
    /* The host may end its job inside. */
    const struct sx_quota_owner owner = sx_quota_owner_of(client);

    memset(&client->event_codes, 0, sizeof(client->event_codes));
    for (size_t i = 0; i < codes.count; i++) {
        server_wants_less(server, &owner, codes.all[i].code);
    }
    sx_event_codes_clear(&codes);
}
