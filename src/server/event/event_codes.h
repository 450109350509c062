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

#include "server/model/state.h"

#define SX_EVENT_CODES_PER_CLIENT 4096u
#define SX_EVENT_CODES_PER_SERVER 65536u

/* Return: the count of @code after it grew by one; 0 when it did not: memory or @max is out. */
uint32_t sx_event_codes_add(struct sx_event_codes *codes, pmix_status_t code, size_t max);
/* Return: whether @code was present and its count is now 0; then *ret_asked, when not NULL, is its
 * former state. */
bool sx_event_codes_remove(struct sx_event_codes *codes, pmix_status_t code, bool *ret_asked);
/* Return: NULL when @code is not present. */
struct sx_event_code *sx_event_codes_find(struct sx_event_codes *codes, pmix_status_t code);
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
/* The client is gone: it wants no codes any more. */
void sx_event_codes_client_left(struct sx_server *server, struct sx_client *client);

#endif
