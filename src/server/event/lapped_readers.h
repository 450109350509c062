/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lapped_readers.h - the events that a reader has missed in its ring, one frame at a time. */
#ifndef SX_SERVER_EVENT_LAPPED_READERS_H
#define SX_SERVER_EVENT_LAPPED_READERS_H

#include "server/event/event_answer.h"

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

/* Handle EVENT_REPLAY.  A lost event may have been a request to @client: see struct sx_family's
 * events_missed.  Return: false for a breach of protocol. */
bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns);

#endif
