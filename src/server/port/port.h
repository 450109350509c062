/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* port.h - the chapters' ways to the clients of this server, and to its host.
 *
 *     a client's lane --lanes--> its messages, one by one, in the client's turns
 *     a client's request --reply--> answered now ------------\
 *                        --pending--> answered later, once --|--wake--> its bell, or its socket
 *     a question --upcall--> the host's module --through the loop--> its answer, once
 *
 * Entry points: sx_reply and sx_reply_body answer now; sx_pending_begin and sx_pending_answer do
 * later; sx_answer_write lets a thread write a large answer.  sx_wake_ring reports news.
 * sx_lane_mark waits for what a lane has now.  sx_upcall asks the host; sx_pending_ask_host does so
 * for a client.
 *
 * Loop thread, and no lock is held. */
#ifndef SX_SERVER_PORT_PORT_H
#define SX_SERVER_PORT_PORT_H

#include <stdbool.h>

#include "server/model/nspace.h"
#include "server/model/state.h"

struct iovec;
struct sx_pending;

/* ---- lanes: messages that clients have written ----------------------------------------------- */

/* The client has a lane now / no longer. */
pmix_status_t sx_lanes_add(struct sx_server *server, struct sx_client *client);
void sx_lanes_remove(struct sx_server *server, struct sx_client *client);

/* Take one message of a connected client and charge it; the client is dropped for a message that no
 * correct client writes. */
void sx_lane_take_one(struct sx_server *server, struct sx_client *client);

/* Where the lane of @client ends now, and whether it has been taken up to @mark. */
uint64_t sx_lane_end(const struct sx_client *client);
bool sx_lane_taken(const struct sx_client *client, uint64_t mark);

/* Call @mark->reached when all that the lane of @client, which is connected, has now was taken: in
 * this call, if that is little.  The mark's owner removes @mark.link to cancel the call.  There is
 * no call when the client ends before. */
void sx_lane_mark(struct sx_server *server, struct sx_client *client, struct sx_lane_mark *mark);

/* ---- reply: answers to clients --------------------------------------------------------------- */

/* The client's credentials from the kernel; pid -1 when it is not connected. */
const struct sx_peer *sx_client_peer(const struct sx_client *client);

/* Answer a request and ring the client's bell.  @fd < 0: none.  Request id 0 needs no answer, and a
 * client that is not connected gets none. */
void sx_reply(struct sx_server *server, struct sx_client *client, uint32_t id, pmix_status_t status,
              int fd);
void sx_reply_body(struct sx_server *server, struct sx_client *client, uint32_t id,
                   pmix_status_t status, const void *body, size_t size);
/* The same with a body in @count pieces, at most SX_REPLY_PIECES_MAX. */
#define SX_REPLY_PIECES_MAX 3u
void sx_reply_pieces(struct sx_server *server, struct sx_client *client, uint32_t id,
                     pmix_status_t status, const struct iovec pieces[], size_t count);
/* The same with a body of @size bytes, a reply and what follows it, that was made before
 * (sx_channel_body_make). */
void sx_reply_made(struct sx_server *server, struct sx_client *client, uint32_t id, int body_fd,
                   size_t size);
/* The first part of an answer, or a further one; the last rings the bell.  Return: as
 * sx_channel_send_part. */
bool sx_reply_part(struct sx_client *client, uint32_t id, const void *body, size_t size);

/* The request of @frame has been read, and its answer may take long.  If the request used the
 * client's window, return the window to the client for other requests. */
void sx_reply_read(struct sx_server *server, struct sx_client *client,
                   const struct sx_frame *frame);

/* ---- answer ---------------------------------------------------------------------------------- */

/* Large answers, which a thread writes while the loop goes on.
 *
 *     WAITING --the thread takes it--> WRITTEN --the loop--> done
 *         \-------the server ends------/--> done, without it
 *
 * One thread writes one answer after the other, and ends with the last.  An answer's owner keeps
 * its contents unchanged until it is done, also when no client waits for it any more. */

#define SX_ANSWER_LARGE_BYTES (UINT64_C(1) << 20) /* from here on it is worth a thread */

/* The end of an answer: called once, on the loop thread.  @status: PMIX_SUCCESS, and @fd, of a body
 * of @size bytes for sx_reply_made, is the callee's; PMIX_ERR_OUT_OF_RESOURCE; the status of infos
 * that cannot be encoded; PMIX_ERR_NOT_AVAILABLE when the server ends. */
typedef void (*sx_answer_fn)(void *arg, pmix_status_t status, int fd, size_t size);

/* Write an answer with status @reply and @info, of at most @size_max bytes.  Return: false when
 * there is no thread or memory for it; then @done is not called. */
bool sx_answer_write(struct sx_server *server, pmix_status_t reply, const pmix_info_t info[],
                     size_t ninfo, size_t size_max, sx_answer_fn done, void *arg);

/* Stop writing answers. */
void sx_answers_stop(struct sx_server *server);

/* ---- wake ------------------------------------------------------------------------------------ */

/* Clients are woken that wait on their bells, and those that sleep in poll(2), which have a socket
 * each that is written once per sleep. */

/* Wake a client that may be waiting on its bell for an answer; no effect when it is not
 * connected. */
void sx_wake_client(struct sx_server *server, struct sx_client *client);

/* A new pair of sockets.  Return: PMIX_SUCCESS, the server's end is in the client and the other one
 * in *ret_fd. */
pmix_status_t sx_wake_fd_open(struct sx_server *server, struct sx_client *client, int *ret_fd);
/* Close the socket of a client that ends; safe when there is none. */
void sx_wake_fd_close(struct sx_client *client);

/* News of @class_bits for this client, or for all of the namespace, has been published.  At most
 * one system call per client that sleeps; none for others. */
void sx_wake_ring(struct sx_server *server, struct sx_client *client, uint32_t class_bits);
void sx_wake_all(struct sx_server *server, const struct sx_nspace *nspace, uint32_t class_bits);

/* ---- upcall ---------------------------------------------------------------------------------- */

/* Calls into the host's module, and its answers back into the loop.
 *
 *     sx_upcall --no such entry, or too many open--> its status
 *         \--> QUEUED --end of turn--> ASKED --callback, or what the entry returns--> done, once
 *                 |                      |  ^-- again, or later: dropped
 *                 \----the server ends---\--> forgotten
 *
 * There is one row per entry (upcall.c).  Entries are called on the loop thread with no lock held,
 * and no engine is on the stack while the host runs (model/state.h).  The host may answer inside
 * the call or later, on any thread; the answer is posted to the loop.  A return value other than
 * PMIX_SUCCESS is the answer, unless the host has called back as well.  A question is one block of
 * memory, which holds all that the host may read until it answers. */

struct sx_question;

/* The host's answer.  The bytes are valid during the call, or as long as they are kept. */
struct sx_host_answer {
    struct sx_server *server;
    uint64_t id;                /* as asked */
    struct sx_client *client;   /* as asked */
    const pmix_proc_t *subject; /* as asked; or NULL */
    pmix_status_t status;
    bool refused;      /* by the entry's return value */
    const char *bytes; /* fence, direct modex: at a multiple of 8 */
    size_t size;
    const struct sx_blob_piece *pieces; /* of a round, instead: what concerns the operation */
    size_t piece_count;
    bool is_stored;               /* a fence: its bytes have been read, and are not there */
    struct sx_question *question; /* sx_answer_keep */
    const pmix_info_t *info;      /* the host's results; a credential or a namespace comes first */
    size_t ninfo;
    pmix_proc_t proc; /* tool: its name; without a namespace: the server may choose */
};

/* Keep the bytes of @answer, inside the callback that gets it.  Return: what keeps them; NULL: they
 * are not a host's. */
struct sx_question *sx_answer_keep(const struct sx_host_answer *answer);
/* They are not read any more.  The host's release function is called once, at the end of the turn;
 * NULL: nothing to do. */
void sx_answer_release(struct sx_question *kept);

/* A waiter for answers, as a part of a struct that may end before they arrive. */
struct sx_asker {
    struct sx_list questions; /* that have no answer yet */
};

void sx_asker_init(struct sx_asker *asker);
/* @asker waits no longer; the host keeps its arguments.  Safe on a zeroed asker, and twice. */
void sx_asker_deinit(struct sx_asker *asker);

/* Called on the loop thread, never inside sx_upcall, and exactly once for a question that was asked
 * with success, unless the server ends.  @asker: NULL when the asker has gone, or there was
 * none. */
typedef void (*sx_answered_fn)(struct sx_asker *asker, const struct sx_host_answer *answer);

/* A question to the host.  Each kind uses the fields that its row passes on.  All fields are
 * copied, unless their comments state otherwise. */
struct sx_upcall {
    sx_answered_fn answered;  /* NULL: a notice, whose answer is ignored */
    bool by_return;           /* the host gets no callback: what the entry returns is the answer */
    struct sx_asker *asker;   /* or NULL */
    uint64_t id;              /* for the callback */
    struct sx_client *client; /* the asking client, retained until the answer; NULL: none */
    const struct sx_quota_owner
        *owner;              /* whose share of the host's open answers it takes; NULL: @client's
                              */
    const pmix_proc_t *proc; /* its subject; NULL: @client */
    int status;              /* of an abort; the code of an event; the operation of a group ... */
    pmix_data_range_t range;
    const char *text;   /* or NULL */
    pmix_proc_t *procs; /* not const in the module's interface, as codes */
    size_t nprocs;
    struct sx_alias_made *made; /* that has the processes, and is retained; NULL: they are copied */
    pmix_status_t *codes;
    size_t ncodes;
    pmix_info_t *info; /* the array is the caller's; its contents move in any case */
    size_t ninfo;
    size_t ndata;          /* log, monitor: number of data infos, before the directives; lookup,
                              unpublish: of keys */
    char **keys;           /* lookup, unpublish: filled in by upcall.c; NULL: all */
    pmix_query_t *queries; /* as infos */
    size_t nqueries;
    pmix_app_t *apps; /* as infos */
    size_t napps;
    size_t info_bytes; /* approximate size of infos, queries and applications, for the quota */
    char *bytes;       /* malloc'ed; the host's from here on in any case */
    size_t size;
};

/* Whether the host may be asked a question of @bytes.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * when the host has no such entry; PMIX_ERR_OUT_OF_RESOURCE while the host owes too many answers
 * (the first time with a warning), and when the server ends. */
pmix_status_t sx_upcall_judge(struct sx_server *server, enum sx_upcall_kind kind, size_t bytes);

/* Ask the host at the end of the turn.  Return: PMIX_SUCCESS when the callback will be called, with
 * the host's answer or what its entry returns; else as sx_upcall_judge; PMIX_ERR_OUT_OF_RESOURCE
 * (logged) also while the client has its share of the host's open answers. */
pmix_status_t sx_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                        const struct sx_upcall *upcall);

/* A user, as infos name one: PMIX_USERID and PMIX_GRPID, behind the *count that are in @info. */
void sx_infos_user_add(pmix_info_t info[], size_t *count, uid_t uid, gid_t gid);

/* Free the parts of @upcall that would move to the host: the host is not asked. */
void sx_upcall_drop(const struct sx_upcall *upcall);

/* Drop all questions: no callback is called any more. */
void sx_upcall_forget_all(struct sx_server *server);

/* ---- pending --------------------------------------------------------------------------------- */

/* Requests of clients that are answered later.
 *
 *     OPEN --answered--> DUE --its client can pay for it, now or in a turn--> sent
 *       \----its client goes, or cancels it--\--> dropped
 *
 * A request that waits for more than the host's answer is a part of an engine's struct, which has
 * its kind.  A request is found by client, number and kind, through a hash table whose seed is
 * secret from clients.  A client has at most one OPEN request with a number, of any kind: the
 * connection refuses a second.  Memory: a client has a bounded number of requests of each kind,
 * which keep a bounded number of bytes (pending.c).  Loop thread. */

#define SX_PULLS_MAX 64u /* of output, of one client */

/* The functions of an engine for its own requests.  Each may be NULL. */
struct sx_pending_kind {
    enum sx_pending_quota quota;
    /* @pending waits no longer, and is answered with `status`, or (PMIX_SUCCESS) dropped. */
    void (*closed)(struct sx_pending *pending);
    /* Send the answer; NULL: `status` alone. */
    void (*send)(struct sx_pending *pending);
    void (*free)(struct sx_pending *pending); /* NULL: @pending is the start of the block to free */
    bool stays; /* when its client finalizes, which answers it in steps: until these are done */
};

struct sx_pending {
    struct sx_table_node node; /* server.port.pendings, while OPEN */
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

/* The number of one that came by the lane.  A hostile client may use it for requests, too. */
#define SX_PENDING_OF_LANE 0u
/* @pending, zeroed, is request @id of @client from now on.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE as above, or when memory is out; PMIX_ERR_EXISTS when an OPEN one of
 * @client, of any kind, has the number of a frame.  After an error it is still the caller's. */
pmix_status_t sx_pending_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                               const struct sx_pending_kind *kind, struct sx_pending *pending);
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

/* The same for @pending, which ends: its request is answered with the host's answer.  The parts of
 * @upcall may be freed with @pending. */
void sx_pending_pass_to_host(struct sx_pending *pending, enum sx_upcall_kind kind,
                             const struct sx_upcall *upcall);

/* Send the oldest request of @client that is DUE. */
void sx_pending_send_due(struct sx_client *client);

/* Handler of GET_CANCEL.  Return: true, it is not a breach. */
bool sx_pending_on_cancel(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns);
/* Drop all requests of @client, which has gone. */
void sx_pending_client_gone(struct sx_server *server, struct sx_client *client);
/* Drop the OPEN requests of @client, which finalizes, but those whose kind stays.  Those that are
 * DUE will be sent. */
void sx_pending_client_left(struct sx_server *server, struct sx_client *client);
/* Drop the OPEN requests of the client of @last, and answer @last with PMIX_SUCCESS behind those
 * that are DUE. */
void sx_pending_answer_last(struct sx_pending *last);

#endif
