/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - the way up: calls into the host's module, and its answers back into the loop.
 *
 * Every entry may be missing.  Entries are called on the loop thread with no lock held; the host
 * may answer inside the call, later, on any thread; each answer is posted to the loop and counts
 * once.  What the host returns instead of PMIX_SUCCESS is the answer, and no other is taken. */
#ifndef SX_SERVER_PORT_HOST_H
#define SX_SERVER_PORT_HOST_H

#include "server/model/event_block.h"
#include "server/model/state.h"
#include "server/port/wishes.h"

#define SX_HOST_EVENTS_MAX 4096u
#define SX_HOST_EVENT_BYTES_MAX (UINT64_C(64) << 20)

/* Return: PMIX_SUCCESS, or the host's refusal. */
pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client);
void sx_host_client_finalized(struct sx_server *server, struct sx_client *client);

/* Nobody wants to hear of @code any more.  What the host says to it is logged and nothing else. */
void sx_host_deregister_event(struct sx_server *server, pmix_status_t code);

/* ---- questions: calls that the host answers ------------------------------------------------ */

/* What came back: for fence and direct modex also bytes, valid during the call. */
struct sx_host_answer {
    pmix_status_t status;
    const char *bytes;
    size_t size;
};

/* Called on the loop thread, exactly once for a question that was asked with success.  @id is what
 * the asker gave: whatever it stands for may have ended in between. */
typedef void (*sx_host_answer_fn)(struct sx_server *server, uint64_t id, struct sx_client *client,
                                  const struct sx_host_answer *answer);

/* Ask the host to end @procs (none: the caller's namespace) for @client, which is retained until
 * the answer.  Return: PMIX_SUCCESS when @answer will be called; PMIX_ERR_NOT_SUPPORTED when the
 * host has no such entry; what the host returned. */
pmix_status_t sx_host_abort(struct sx_server *server, struct sx_client *client, uint64_t id,
                            int status, const char *msg, const pmix_proc_t procs[], size_t nprocs,
                            sx_host_answer_fn answer);

struct sx_host_fence {
    const pmix_proc_t *procs;
    size_t nprocs;
    char *bytes; /* malloc'ed, the host's from here on whatever comes back */
    size_t size;
    pmix_status_t local;      /* how it went on this node */
    struct sx_wishes *wishes; /* empty afterwards */
};
/* Carry the bytes to the servers of all nodes that take part, and theirs back.
 * Return: as sx_host_abort. */
pmix_status_t sx_host_fence(struct sx_server *server, uint64_t id,
                            const struct sx_host_fence *fence, sx_host_answer_fn answer);

/* Ask for the data of a process of another node; @key is the one wanted, and what the host itself
 * has kept of it is not if it is wanted @anew.  Return: as above. */
pmix_status_t sx_host_direct_modex(struct sx_server *server, uint64_t id, const pmix_proc_t *proc,
                                   const char *key, bool anew, sx_host_answer_fn answer);

/* An event of @client (NULL: of a tool's) that concerns others than the processes of this node.
 * Return: as above; PMIX_ERR_OUT_OF_RESOURCE also while the host owes the answers to
 * SX_HOST_EVENTS_MAX questions about events, or to events of SX_HOST_EVENT_BYTES_MAX. */
pmix_status_t sx_host_notify(struct sx_server *server, struct sx_client *client, uint64_t id,
                             const struct sx_event_block *block, sx_host_answer_fn answer);

/* Somebody of this user and group wants to hear of @codes.  Return: as above. */
pmix_status_t sx_host_register_events(struct sx_server *server, const pmix_status_t codes[],
                                      size_t count, uid_t uid, gid_t gid, uint64_t id,
                                      sx_host_answer_fn answer);

/* Nothing is asked and no answer is taken any more; what is open is forgotten.  Loop thread. */
void sx_host_forget_all(struct sx_server *server);

#endif
