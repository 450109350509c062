/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lapped_readers.h - what a reader has missed of its ring, a frame at a time. */
#ifndef SX_SERVER_EVENT_LAPPED_READERS_H
#define SX_SERVER_EVENT_LAPPED_READERS_H

#include "server/event/event_answer.h"

struct sx_event_replayed {
    uint64_t next;  /* what comes before it is dealt with */
    uint64_t lost;  /* of that */
    uint64_t looks; /* what it has cost: at most SX_REPLAY_LOOKS_MAX and what the last event took */
};

/* The first events among those that @wanted names, of @log and for process @rank of @nspace, into
 * @answer, which is new.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_replay(const struct sx_eventlog *log, const char *nspace, uint32_t rank,
                              const struct sx_event_replay *wanted, struct sx_event_answer *answer,
                              struct sx_event_replayed *ret);

/* EVENT_REPLAY.  What is lost may have asked @client something: struct sx_family's events_missed.
 * Return: false for a breach of protocol. */
bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns);

#endif
