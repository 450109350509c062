/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds.h - several operations over the same processes, where the host has but one fence for them.
 *
 * Hosts tell fences apart by their processes alone, and have one of each set at a time.  A fence
 * that has its processes for itself is that fence (fence.c).  Whatever else there is goes in
 * rounds: in each, every server says which operations over the set are complete on its node, and
 * reads the same list of what all have said.
 *
 *     READY --all have named it, a fence--> ended, with what all have contributed
 *       \-----all have named it, another kind--> COMMIT --all are in COMMIT--> ended, likewise
 *       READY, COMMIT --a server names it as failed--> ended, with that status
 *
 * An operation is known by its kind and id, or the name of the list that it ends.  Of several
 * generations the oldest goes alone: the next one follows when it has ended, so the first that is
 * open here meets the first that is open there.  Nobody waits for an operation that another server
 * has not named, so no order in which they come to be complete can hold up any of them.  In COMMIT
 * a server does not go back: until the round is answered no time limit and no death ends the
 * operation for the members of its node.
 *
 * When the next round begins: at once where an operation has gone to COMMIT, or one is new here.
 * Else there are operations that others have not named yet, and a server that has news cannot tell
 * those who do not ask: they ask again, after a pause that doubles with each round in vain.
 *
 *     what happens                                 what becomes of it
 *     -------------------------------------------  ----------------------------------------------
 *     a fence and a connect at once, in another    rounds until one is named by all, then the
 *     order on another node                        other one
 *     a plain fence here, a round there            the fence takes part in the next round
 *     two with different ids                       each is named for itself
 *     members here run into their time limit,      it is named no more: the others go on waiting,
 *     before all are in COMMIT                     until their limit or until the retry here is
 *                                                  complete, which meets them
 *     the same, in COMMIT                          the limit waits for the answer, but not longer
 *                                                  than SX_ROUNDS_GRACE_NS
 *     a member here dies before all here call      as without other nodes: they hear nothing of it
 *     a member here dies behind a round that       the next round says so, once: it ends for those
 *     named it, before COMMIT                      who wait, with the same status
 *     the same, in COMMIT                          it is a member, and has died as one
 *     the host answers with an error               all that the round named end with it
 *     the host answers late, or never              time limits end the operations for the members;
 *                                                  the set waits for the host
 *     the host answers twice                       the second answer is dropped (port/upcall.c)
 *     bytes of another version, or none            all that the round named end with
 *                                                  PMIX_ERR_UNPACK_FAILURE
 *     a kind that this server does not know        is passed over
 *     a namespace of the set goes                  so do its rounds
 */
#ifndef SX_SERVER_COLLECTIVE_ROUNDS_H
#define SX_SERVER_COLLECTIVE_ROUNDS_H

#include "base/clock.h"
#include "base/list.h"
#include "server/collective/round_blob.h"
#include "server/port/upcall.h"

#define SX_ROUNDS_PAUSE_MIN_NS SX_NS_PER_MS
#define SX_ROUNDS_PAUSE_MAX_NS SX_NS_PER_SEC
#define SX_ROUNDS_GRACE_NS (10 * SX_NS_PER_SEC)

struct sx_collective;
struct sx_rounds;

/* What is known of an operation while it takes part. */
struct sx_round_part {
    struct sx_list link;      /* rounds.parts */
    struct sx_rounds *rounds; /* NULL: it takes no part */
    sx_told_fn told;
    enum sx_round_step step;
    bool is_named; /* in the round that the host has ... */
    bool is_alone; /* ... which is this fence, and not one of the rounds' */
    bool is_known; /* others have named it too */
    bool is_told;  /* it was named as failed */

    /* while an answer is read */
    uint32_t named_count, commit_count; /* of the servers */
    uint32_t named_last;                /* by this one, from 1 */
    pmix_status_t status;
};
static inline bool sx_round_part_commits(const struct sx_round_part *part)
{
    return part->rounds != NULL && part->is_named && part->step == SX_ROUND_COMMIT;
}

/* All members of @collective that are here have called, and it is the oldest of its kind and id: it
 * takes part in the rounds over @procs (in order, each once).  Its asker is @told how it ends, with
 * what all servers have contributed, glued together.  When a round in COMMIT has not ended it, its
 * time limit and its members count again (sx_collective_engine.resume).  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_rounds_join(struct sx_collective *collective, const pmix_proc_t *procs,
                             size_t proc_count, sx_told_fn told);

/* Whether there are rounds over the processes of a fence, which takes part in them then. */
bool sx_rounds_are_over(const struct sx_server *server, const pmix_proc_t *procs,
                        size_t proc_count);

/* @fence had its processes for itself when the host was asked (part.is_alone, and part.told is
 * set), and this is the answer.  Return: false when others have something else to say: it takes
 * part in the rounds from now on, or has ended. */
bool sx_rounds_fence_was_alone(struct sx_collective *fence, const struct sx_host_answer *answer);

/* It is no more.  Safe on one that takes no part. */
void sx_rounds_leave(struct sx_collective *collective);

#endif
