/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer.h - what handlers answer to the end of somebody with whom a group is being built.
 *
 * The Standard has them answer by the status and the results of their completion: the strongest
 * word of all handlers goes to the server when the last one has completed. */
#ifndef SX_CLIENT_EVENT_GROUP_ANSWER_H
#define SX_CLIENT_EVENT_GROUP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_link;

/* Whether an event of @code may want an answer. */
bool sx_group_code_asks(pmix_status_t code);

/* SX_HEARS_*, as there are handlers now.  None answers while the caller waits (@waits) in the
 * thread that would run it. */
uint8_t sx_group_hears(bool waits);

/* Return: enum sx_group_word. */
uint8_t sx_group_word(pmix_status_t status, const pmix_info_t results[], size_t nresults);

/* Tell the server @word, if the event has asked: by its encoded infos. */
void sx_group_say(struct sx_link *link, const void *infos, size_t size, uint8_t word);

#endif
