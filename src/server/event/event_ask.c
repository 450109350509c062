/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_ask.c - ask the host about a code once at a time; other registrations for the code wait. */
#include "server/event/event_ask.h"

#include <pmix.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "server/event/event_codes.h"

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
    SX_LIST_EACH(it, &server->event_wants) {
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
    sx_list_append(&want->pending.server->event_wants, &want->link);
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

/* Count a handler of @client, or of the host for NULL, for @codes.  The host may end the client
 * inside its upcall. */
static void host_ask(struct sx_server *server, struct sx_client *client, pmix_status_t *codes,
                     size_t count, uint64_t question, sx_told_fn told)
{
    const uint32_t user = client != NULL ? client->uid : getuid();
    const uint32_t group = client != NULL ? client->gid : getgid();
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_USERID, &user, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_GRPID, &group, PMIX_UINT32);
    const pmix_status_t rc = sx_upcall(server, SX_UPCALL_REGISTER_EVENTS,
                                       &(struct sx_upcall){ .told = told,
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
    const uint64_t question = ++server->event_question;
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
    const uint64_t question = ++server->event_question;
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
