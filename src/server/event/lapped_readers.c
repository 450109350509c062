/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lapped_readers.c - a walk through the log from the reader's position, until a frame is full.
 *
 * The server keeps no state between answers: each answer contains the position at which the reader
 * continues.  A number that is missing from the log is lost; one that is for other processes is
 * skipped. */
#include "server/event/lapped_readers.h"

#include <string.h>

#include "base/status.h"
#include "server/model/family.h"

/* The position of the walk. */
struct walk {
    struct sx_eventlog_cursor cursor;
    uint64_t next;        /* the next number to visit */
    uint64_t lost;        /* events lost since the last event of the answer ... */
    uint64_t lost_before; /* ... and before that */
    uint64_t last;
    uint64_t targets; /* targets that were compared */
};

static uint64_t walk_looks(const struct walk *walk)
{
    return walk->cursor.visited + walk->targets;
}

/* All numbers below @before have been handled. */
static void walk_pass(struct walk *walk, uint64_t before)
{
    walk->lost += before - walk->next;
    walk->next = before;
}

/* Return: PMIX_SUCCESS to continue; PMIX_ERR_NOT_FOUND when nothing more fits, or the log ends. */
static pmix_status_t walk_on(struct walk *walk, const char *nspace, uint32_t rank,
                             struct sx_event_answer *answer)
{
    const struct sx_event_entry *const entry = sx_eventlog_next(&walk->cursor);
    pmix_status_t rc = PMIX_SUCCESS;

    if (entry == NULL || entry->number > walk->last) {
        walk_pass(walk, walk->last + 1);
        return PMIX_ERR_NOT_FOUND;
    }
    const bool is_for_it = sx_event_block_aims_at(entry->block, nspace, rank);

    if (is_for_it && !sx_event_answer_fits(answer, entry, SX_KEPT_FRAME_BYTES)) {
        return PMIX_ERR_NOT_FOUND;
    }
    walk->targets += sx_event_block_head(entry->block)->target_count;
    walk_pass(walk, entry->number);
    if (is_for_it) {
        rc = sx_event_answer_add(answer, entry, walk->lost);
        walk->lost_before += walk->lost;
        walk->lost = 0;
    }
    walk->next++;
    return rc;
}

pmix_status_t sx_event_replay(const struct sx_eventlog *log, const char *nspace, uint32_t rank,
                              const struct sx_event_replay *wanted, struct sx_event_answer *answer,
                              struct sx_event_replayed *ret)
{
    struct walk walk = { .next = wanted->first == 0 ? 1 : wanted->first,
                         .last = wanted->last < log->newest ? wanted->last : log->newest };
    pmix_status_t rc = walk.next <= walk.last ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    sx_eventlog_seek(&walk.cursor, log, walk.next);
    while (rc == PMIX_SUCCESS && walk_looks(&walk) < SX_REPLAY_LOOKS_MAX) {
        rc = walk_on(&walk, nspace, rank, answer);
    }
    sx_event_answer_list(answer)->next = walk.next;
    sx_event_answer_list(answer)->lost = walk.lost;
    *ret = (struct sx_event_replayed){ .next = walk.next,
                                       .lost = walk.lost_before + walk.lost,
                                       .looks = walk_looks(&walk) };
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

bool sx_event_on_replay(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                        uint64_t now_ns)
{
    const struct sx_event_replay *const wanted = frame->opened.head;
    struct sx_event_replayed replayed = { .lost = 0 };
    struct sx_event_answer answer;
    pmix_status_t rc = sx_event_answer_init(&answer);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_replay(&client->home->events, client->nspace->name, client->rank, wanted,
                             &answer, &replayed);
    }
    sx_event_answer_send(server, client, frame->header.id, rc, &answer);
    if (replayed.lost > 0) {
        SX_FAMILIES_TELL_OF(server, events_missed, client, wanted->first, replayed.next);
    }
    return true;
}
