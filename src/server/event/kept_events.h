/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kept_events.h - kept events as the body of an answer: struct sx_event_list and what follows. */
#ifndef SX_SERVER_EVENT_KEPT_EVENTS_H
#define SX_SERVER_EVENT_KEPT_EVENTS_H

#include "server/model/event_log.h"
#include "server/model/state.h"

/* ---- an answer ------------------------------------------------------------------------------- */

/* A longer event is the only one of its answer.  It is not copied into the answer, but sent from
 * its block: a copy in fresh memory takes longer than all else. */
#define SX_EVENT_ALONE_BYTES SX_KEPT_BYTES_MAX

struct sx_event_answer {
    char *bytes;
    size_t size, capacity;
    struct sx_event_block *alone; /* retained: what follows its head follows these; NULL: nothing */
};

#define SX_EVENT_ANSWER_NULL ((struct sx_event_answer){ .bytes = NULL })

/* Return: PMIX_SUCCESS and an empty list; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_answer_init(struct sx_event_answer *answer);
/* Safe on SX_EVENT_ANSWER_NULL and twice. */
void sx_event_answer_deinit(struct sx_event_answer *answer);

/* Valid until the next event is added. */
static inline struct sx_event_list *sx_event_answer_list(const struct sx_event_answer *answer)
{
    return (struct sx_event_list *)(void *)answer->bytes;
}

/* The bytes of the whole body. */
size_t sx_event_answer_size(const struct sx_event_answer *answer);

/* Return: true if @entry fits within @bytes_max, and always for the first entry. */
bool sx_event_answer_fits(const struct sx_event_answer *answer, const struct sx_event_entry *entry,
                          size_t bytes_max);
/* Add @entry, noting that @lost events before it are lost.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_answer_add(struct sx_event_answer *answer,
                                  const struct sx_event_entry *entry, uint64_t lost);

/* Answer request @id with the events in @answer so far, and empty it for the rest.  Return: as
 * sx_channel_send_part; on false nothing has changed. */
bool sx_event_answer_send_part(struct sx_client *client, uint32_t id,
                               struct sx_event_answer *answer);

/* Answer request @id with @rc and, if that is PMIX_SUCCESS, with @answer.  @answer is deinitialized
 * by this. */
void sx_event_answer_send(struct sx_server *server, struct sx_client *client, uint32_t id,
                          pmix_status_t rc, struct sx_event_answer *answer);

/* ---- lapped readers -------------------------------------------------------------------------- */

/* The events that a reader has missed in its ring, one frame at a time. */

struct sx_event_replayed {
    uint64_t next;  /* all numbers below this are handled */
    uint64_t lost;  /* how many of those are lost */
    uint64_t looks; /* the cost: at most SX_REPLAY_LOOKS_MAX and the cost of the last event */
};

/* Write into @answer, which is new, the first events among those that @wanted names, of @log and
 * for process @rank of @nspace.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_replay(const struct sx_eventlog *log, const char *nspace, uint32_t rank,
                              const struct sx_event_replay *wanted, struct sx_event_answer *answer,
                              struct sx_event_replayed *ret);

#endif
