/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pending.h - requests of clients that are answered later.
 *
 *     OPEN --answered--> DUE --its client can pay for it, now or in a turn--> sent
 *       \----its client goes, or cancels it--\--> dropped
 *
 * A request that waits for more than the host's answer is a part of an engine's struct, which has
 * its kind.  A request is found by client, number and kind, through a hash table whose seed is
 * secret from clients.  A client has at most one OPEN request with a number, of any kind: the
 * connection refuses a second.  Memory: a client has a bounded number of requests of each kind,
 * which keep a bounded number of bytes (pending.c).  Loop thread. */
#ifndef SX_SERVER_PORT_PENDING_H
#define SX_SERVER_PORT_PENDING_H

#include "server/port/upcall.h"

#define SX_PULLS_MAX 64u /* of output, of one client */

struct sx_pending;

/* The functions of an engine for its own requests.  Each may be NULL. */
struct sx_pending_kind {
    enum sx_pending_quota quota;
    /* @pending waits no longer, and is answered with `status`, or (PMIX_SUCCESS) dropped. */
    void (*closed)(struct sx_pending *pending);
    /* Send the answer; NULL: `status` alone. */
    void (*send)(struct sx_pending *pending);
    void (*free)(struct sx_pending *pending); /* NULL: @pending is the start of the block to free */
};

struct sx_pending {
    struct sx_table_node node; /* server.pendings, while OPEN */
    struct sx_list link;       /* client.pendings, or DUE: client.share.due */
    const struct sx_pending_kind *kind;
    struct sx_server *server;
    struct sx_client *client; /* retained */
    uint32_t id;              /* of its frame */
    size_t bytes;             /* set by its owner: bytes kept for it whose size the client chose */
    pmix_status_t status;
    bool with_host;           /* counted until the host has answered, even if it ends before */
    struct sx_timer deadline; /* its owner's to add */
    struct sx_asker asker;    /* its owner's to use */
};

/* Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM for an invalid quota in the environment. */
pmix_status_t sx_pendings_init(struct sx_server *server);
void sx_pendings_deinit(struct sx_server *server);

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when @client has all that it may have of the kind
 * (the first time with a warning). */
pmix_status_t sx_pending_judge(const struct sx_server *server, struct sx_client *client,
                               enum sx_pending_quota quota);
/* Count one more of the kind for @client, which keeps @bytes, or one less.  Requests that begin by
 * sx_pending_begin are counted there. */
void sx_pending_count(struct sx_client *client, enum sx_pending_quota quota, size_t bytes);
void sx_pending_uncount(struct sx_client *client, enum sx_pending_quota quota, size_t bytes);

/* @pending, zeroed, is request @id of @client from now on.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE as above, or when memory is out; PMIX_ERR_EXISTS when an OPEN one of
 * @client, of any kind, has the number.  After an error it is still the caller's. */
pmix_status_t sx_pending_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                               const struct sx_pending_kind *kind, struct sx_pending *pending);
/* Return: the request of @kind; NULL when it is answered, or dropped. */
struct sx_pending *sx_pending_find(struct sx_server *server, const struct sx_client *client,
                                   uint32_t id, const struct sx_pending_kind *kind);
/* Whether an OPEN request of @client has the number.  A frame with such a number is a breach. */
bool sx_pending_uses(struct sx_server *server, const struct sx_client *client, uint32_t id);

/* Call @fn with @pending unless it ends before. */
void sx_pending_limit(struct sx_pending *pending, sx_loop_fn fn, uint64_t deadline_ns);

/* Answer @pending, once.  The answer is sent now, or in a turn of its client. */
void sx_pending_answer(struct sx_pending *pending, pmix_status_t status);
void sx_pending_drop(struct sx_pending *pending);

/* Answer request @id of @client with the host's answer to @upcall, whose parts are as in sx_upcall,
 * except the callback. */
void sx_pending_ask_host(struct sx_server *server, struct sx_client *client, uint32_t id,
                         enum sx_upcall_kind kind, const struct sx_upcall *upcall);

/* The same, but the status for the client is what @judge makes of the host's. */
typedef pmix_status_t (*sx_pending_judge_fn)(struct sx_server *server, struct sx_client *client,
                                             pmix_status_t status);
void sx_pending_ask_host_judged(struct sx_server *server, struct sx_client *client, uint32_t id,
                                enum sx_upcall_kind kind, const struct sx_upcall *upcall,
                                sx_pending_judge_fn judge);

/* Send the oldest request of @client that is DUE. */
void sx_pending_send_due(struct sx_client *client);

/* Handler of GET_CANCEL.  Return: true, it is not a breach. */
bool sx_pending_on_cancel(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
/* Drop all requests of @client, which has gone. */
void sx_pending_client_gone(struct sx_server *server, struct sx_client *client);

#endif
