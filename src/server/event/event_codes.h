/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_codes.h - counts of the codes that clients want from outside the node.
 *
 * A client's set counts its handlers; the server's set counts clients, and handlers of the host
 * itself.  The host is asked for a code when a client wants it and the host has not been asked, or
 * has refused since.  The host is asked to drop the code when no client wants it any more.
 *
 *     not asked --question--> open --taken, or no answer in time--> asked
 *         ^---------------------/ refused
 *
 * While a question is open its answer is unknown, so other registrations for the code wait. */
#ifndef SX_SERVER_EVENT_EVENT_CODES_H
#define SX_SERVER_EVENT_EVENT_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/clock.h"
#include "server/event/event.h"
#include "server/port/port.h"

#define SX_EVENT_CODES_PER_CLIENT 4096u
#define SX_EVENT_CODES_PER_SERVER 65536u

/* None of these looks at other codes.
 * Return: the count of @code after it grew by one; 0 when it did not: memory or @max is out. */
uint32_t sx_event_codes_add(struct sx_event_codes *codes, pmix_status_t code, size_t max);
/* Return: whether @code was present and its count is now 0; then *ret_asked, when not NULL, is its
 * former state. */
bool sx_event_codes_remove(struct sx_event_codes *codes, pmix_status_t code, bool *ret_asked);
/* Return: NULL when @code is not present. */
struct sx_event_code *sx_event_codes_find(const struct sx_event_codes *codes, pmix_status_t code);
void sx_event_codes_clear(struct sx_event_codes *codes);

/* Return: the number of the open question about @code that must be waited for; 0 if there is
 * none. */
uint64_t sx_event_code_question(struct sx_server *server, pmix_status_t code, bool environment);
/* Count one handler more or less of @client (NULL: of the host itself) for @code.  Codes that never
 * come from outside are ignored.  @environment: the handler wants events of the environment, or,
 * when it is removed, wanted them.  Other handlers stay counted.  Return: PMIX_SUCCESS, and
 * *ret_ask when the host has to be asked now, which is question @question;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_code_wanted(struct sx_server *server, struct sx_client *client,
                                   pmix_status_t code, bool environment, uint64_t question,
                                   bool *ret_ask);
void sx_event_code_unwanted(struct sx_server *server, struct sx_client *client, pmix_status_t code,
                            bool environment);
/* Question @question is over.  @refused: the next registration for one of its codes asks again. */
void sx_event_codes_answered(struct sx_server *server, uint64_t question, bool refused);

/* ---- registrations for them, and the host's answers ------------------------------------------ */

/* Registrations for events from outside the node, and the host's answers to them.
 *
 *     want --a question about one of its codes is open--> WAITING --answered--> want again
 *       |  \--codes that the host was not asked for--> ASKING --answered--> ended
 *       \--none of both--> ended
 *
 * A refusal of the host fails the registration, and none of its codes are counted.  A host without
 * support (PMIX_ERR_NOT_SUPPORTED, or no entry) refuses nothing: events of this node arrive all the
 * same.  After SX_EVENT_ASK_NS without an answer, the server stops waiting for the host. */

#define SX_EVENT_ASK_NS (10 * SX_NS_PER_SEC)

/* A client's registration in progress.  Its owner sets the second part. */
struct sx_event_want {
    struct sx_pending pending;
    struct sx_list link; /* server.event_wants, while the host has not answered */
    uint64_t question;   /* the question that it waits for */
    bool asks;           /* the question is its own */
    size_t counted;      /* how many of its codes are counted */

    pmix_status_t *codes;
    size_t code_count;
    bool environment; /* the client wants events of the environment */
};

/* Count the codes of @want, after asking the host for those that it has not been asked for.  Then
 * answer the pending request, which has begun, with the result.  If nothing has to be waited for,
 * the answer is sent inside this call. */
void sx_event_want(struct sx_event_want *want, uint64_t now_ns);
/* For the owner's kind of pending request: remove it from the list in which it waits, and undo its
 * counts if the host refused. */
void sx_event_want_closed(struct sx_pending *pending);

/* A handler of the host itself wants @codes of the environment; it waits for no answer.  Return:
 * how many of the codes are counted: all, unless memory is short. */
size_t sx_event_wanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);
void sx_event_unwanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);

#endif
