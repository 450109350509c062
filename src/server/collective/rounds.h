/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds.h - several operations over the same processes, where the host has only one fence for
 * them.
 *
 * Hosts distinguish fences by their processes alone, and have one of each set at a time.  A fence
 * that is the only operation of its processes is that fence (fence.c).  All other operations go in
 * rounds.  In each round, every server sends the list of operations over the set that are complete
 * on its node.  All servers then read the same list of answers.
 *
 *     READY --all have named it, a fence--> ended, with what all have contributed
 *       \-----all have named it, another kind--> COMMIT --all are in COMMIT--> ended, likewise
 *       READY, COMMIT --a server names it as failed--> ended for the members, with that status
 *
 * A failed operation is named, as failed, until all servers have named it.  So each of them gets
 * the failure once, and the next operation of its kind and id is matched with the next one there.
 *
 * An operation is identified by its kind and id, or by the name of the list that it ends.  Of
 * several generations, only the oldest takes part, and the next one follows when that has ended.
 * So the first that is open here is matched with the first that is open there.  No server waits for
 * an operation that another server has not named.  So the order in which operations become complete
 * cannot block any of them.  In COMMIT a server does not withdraw.  Until the round is answered, no
 * time limit and no death ends the operation for the members of its node.
 *
 * The next round begins at once where an operation has gone to COMMIT, or one is new here.
 * Otherwise there are operations that others have not named yet, and a server with news cannot
 * reach servers that do not ask.  So these ask again, after a pause that doubles with each round in
 * vain.
 *
 *     what happens                                 what becomes of it
 *     -------------------------------------------  ----------------------------------------------
 *     a fence and a connect at once, in another    rounds until one is named by all, then the
 *     order on another node                        other one
 *     a plain fence here, a round there            the fence takes part in the next round
 *     two with different ids                       each is named for itself
 *     members here run into their time limit,      it is named no more: the others keep waiting,
 *     before all are in COMMIT (no fence)          until their limit or until the retry here is
 *                                                  complete, which is matched with theirs
 *     the same, in COMMIT                          the limit waits for the answer, but not longer
 *                                                  than SX_ROUNDS_GRACE_NS
 *     the same of a fence, before all here call    it has failed
 *     ... behind that                              it goes on for the others, who get all values
 *     a member here dies before COMMIT (of a       it has failed: it ends for all with the same
 *     fence: before all here call)                 status
 *     the same, in COMMIT                          it is a member, and has died as one
 *     the host ends a job of the set here          no failure is named: the host ends it elsewhere
 *     the host answers with an error               all that the round named end with it
 *     the host answers late, or never              time limits end the operations for the members;
 *                                                  the set waits for the host
 *     the host answers twice                       the second answer is dropped (port/question.c)
 *     bytes of another version, or none            all that the round named end with
 *                                                  PMIX_ERR_UNPACK_FAILURE ...
 *     ... in READY, of no fence                    ... and have failed, once: servers that could
 *                                                  read them would continue
 *     a kind that this server does not know        is ignored
 *     a namespace of the set ends                  its rounds end too */
#ifndef SX_SERVER_COLLECTIVE_ROUNDS_H
#define SX_SERVER_COLLECTIVE_ROUNDS_H

#include "base/clock.h"
#include "base/list.h"
#include "base/message/signature.h"
#include "server/model/blob.h"
#include "server/port/port.h"

/* ---- the blob of a round --------------------------------------------------------------------- */

/* The blob that one server sends in a round.  It has the
 * operations over one set of processes in which all members on its node have called.
 *
 *   blob:  its header (blob.h), entries
 *   entry: struct sx_round_entry, id with its NUL, what the node contributes to the operation
 *
 * A server that only has a fence sends the fence's own bytes, a blob of puts. */

enum sx_round_step {
    SX_ROUND_READY = 1, /* all have called here */
    SX_ROUND_COMMIT,    /* ... and on all nodes: this server will not withdraw */
};

struct sx_round_entry {
    uint32_t kind;   /* enum sx_collective_kind; unknown ones are skipped */
    uint32_t step;   /* enum sx_round_step */
    int32_t status;  /* error with which it failed here; PMIX_ERR_PARTIAL_SUCCESS: a fence goes on
                      * without a member of this node; PMIX_SUCCESS: none */
    uint32_t id_len; /* with its NUL; 0: none */
    uint64_t size;   /* of the contribution */
};
static_assert(sizeof(struct sx_round_entry) == 24, "fixed by blob version 1");
enum { SX_ROUND_ID, SX_ROUND_CONTRIBUTION };
extern const struct sx_signature sx_round_entry_body;

/* Append an entry; @head needs neither id_len nor size.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_round_blob_add(struct sx_blob *blob, const struct sx_round_entry *head,
                                const char *id, const struct sx_blob *contribution);

/* ---- taking part ----------------------------------------------------------------------------- */

#define SX_ROUNDS_PAUSE_MIN_NS SX_NS_PER_MS
#define SX_ROUNDS_PAUSE_MAX_NS SX_NS_PER_SEC
#define SX_ROUNDS_GRACE_NS (10 * SX_NS_PER_SEC)

struct sx_alias_list;
struct sx_collective;
struct sx_rounds;

/* The state of an operation while it takes part. */
struct sx_round_part {
    struct sx_list link;      /* rounds.parts */
    struct sx_rounds *rounds; /* NULL: it takes no part */
    sx_answered_fn answered;
    enum sx_round_step step;
    bool is_named;    /* in the round that the host has ... */
    bool is_alone;    /* ... which is this fence, and not a round */
    bool is_notified; /* it was named as failed, in the last round that named it */
    size_t entry;     /* offset in the blob of the round that is being packed; 0: it has none */

    /* used while an answer is read */
    uint32_t named_count, commit_count; /* by how many servers */
    uint32_t named_last;                /* by this server, from 1 */
    pmix_status_t status;
};
static inline bool sx_round_part_commits(const struct sx_round_part *part)
{
    return part->rounds != NULL && part->is_named && part->step == SX_ROUND_COMMIT;
}

/* @collective takes part in the rounds over @procs (in order, each once, and named).  All its
 * members here have called, and it is the oldest of its kind and id.  @answered is called with its
 * status, and with the contributions of all servers, concatenated.  If a round in COMMIT has not
 * ended it, its time limit and the ends of its members count again (sx_collective_engine.resume).
 * Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_rounds_join(struct sx_collective *collective, const struct sx_alias_list *procs,
                             sx_answered_fn answered);

/* Return: whether there are rounds over the processes of a fence, which must then take part in
 * them. */
bool sx_rounds_are_over(const struct sx_server *server, const struct sx_alias_list *procs);

/* @fence was the only operation of its processes when the host was called, and this is the answer.
 * part.is_alone and part.answered are set.  Return: false when other servers have sent more than a
 * fence: it takes part in the rounds from now on, or has ended. */
bool sx_rounds_fence_was_alone(struct sx_collective *fence, const struct sx_host_answer *answer);

/* @collective has ended.  Safe on one that takes no part. */
void sx_rounds_leave(struct sx_collective *collective);

#endif
