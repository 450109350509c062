/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer.h - the answers of handlers to the end of a process that takes part in building a
 * group.
 *
 * By the Standard handlers answer with the status and the results of their completion.  The
 * strongest answer of all handlers is sent to the server when the last one has completed. */
#ifndef SX_CLIENT_EVENT_GROUP_ANSWER_H
#define SX_CLIENT_EVENT_GROUP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_link;

/* Whether an event of @code may need an answer. */
bool sx_group_code_asks(pmix_status_t code);

/* SX_HEARS_*, by the handlers that exist now.  No handler answers while the caller waits (@waits)
 * in the thread that would run the handler. */
uint8_t sx_group_hears(bool waits);

/* Return: enum sx_group_word. */
uint8_t sx_group_word(pmix_status_t status, const pmix_info_t results[], size_t nresults);

/* Send @word to the server, if the event's encoded infos ask for an answer. */
void sx_group_say(struct sx_link *link, const void *infos, size_t size, uint8_t word);

#endif
