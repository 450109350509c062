/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data.h - the chapter on data: what ranks put and commit, and the Gets that wait for it.
 *
 *     modex.c          values go from lanes into the store
 *     dmodex.c         and, through the host, to the servers of other nodes that ask for a local
 *                      rank's data
 *     waiting_gets.c   requests of clients for values that are not in the store
 *     get_index.c      those requests, by the rank and key that they wait for
 *     remote_gets.c    ask the host for the data that ranks of other nodes have committed
 *     incoming.c       what the host brings of these is stored, some in each turn
 *
 *     put --> stored --commit--> answers Gets that wait, and requests of other nodes
 *     Get of what is not stored --> WAITING --> answered, as waiting_gets.c draws
 *
 * The chapter's own files share get_index.h. */
#ifndef SX_SERVER_DATA_DATA_H
#define SX_SERVER_DATA_DATA_H

#include "server/model/blob.h"
#include "server/model/state.h"
#include "server/port/port.h"

/* ---- Gets that wait ------------------------------------------------------------------------- */

#define SX_GETS_PATIENCE_NS (2 * SX_NS_PER_SEC) /* unless the host or environment sets another */

/* Set how long a Get without a time limit waits for a key that its rank has not committed along
 * with others.  The host's value comes first, then the environment's SHMIX_GET_TIMEOUT. Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with one line. */
pmix_status_t sx_gets_init(struct sx_server *server, const struct sx_server_options *options);

bool sx_gets_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* The values of one commit of @client are complete: answer the Gets that wait for them.  @first:
 * the commit is its first. */
void sx_gets_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The host has registered the client: Gets that wait for its rank wait for it now. */
void sx_gets_client_added(struct sx_server *server, struct sx_client *client);
/* The client has a slot on the board now: set its flag if Gets wait for it. */
void sx_gets_client_connected(struct sx_server *server, struct sx_client *client);
/* The client puts no more data. */
void sx_gets_client_gone(struct sx_server *server, struct sx_client *client);
/* The host has given the namespace data. */
void sx_gets_nspace_filled(struct sx_nspace *nspace);
/* With these data the host has set @said (enum sx_said): whether the topology follows later. */
void sx_gets_nspace_coming(struct sx_server *server, struct sx_nspace *nspace, uint8_t said);
void sx_gets_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_gets_deinit(struct sx_server *server);

/* ---- the values that ranks put and commit --------------------------------------------------- */

/* Store one committed value by its scope, after checking it.  *ret_kept: PMIX_SUCCESS, or why there
 * was no room for the value, which is counted for @client (board.h).  Return: PMIX_SUCCESS and
 * *ret_kept, or PMIX_ERR_BAD_PARAM for bytes that are not a put. */
pmix_status_t sx_modex_put(struct sx_server *server, struct sx_client *client,
                           const struct sx_opened *body, pmix_status_t *ret_kept);
/* A put in a bulk body: when its value is long, take the body and copy it in the client's turns.
 * The client has its answer at the end.  Return: false when it is for sx_modex_put. */
bool sx_modex_put_long(struct sx_server *server, struct sx_client *client, struct sx_frame *frame);
/* As sx_modex_put, for a value that @client has sent in another way than by a put.  All processes
 * may read it at once, and other nodes receive it in that other way.  Return: PMIX_SUCCESS; the
 * error of the store, logged. */
pmix_status_t sx_modex_give(struct sx_server *server, struct sx_client *client, const char *key,
                            const pmix_value_t *value);
/* The same for @rank, which is on another node. */
pmix_status_t sx_modex_give_elsewhere(struct sx_nspace *nspace, uint32_t rank, const char *key,
                                      const pmix_value_t *value);
/* The values of one commit are complete: answer the Gets that wait for them.  An event informs the
 * client how many values could not be kept. */
pmix_status_t sx_modex_commit(struct sx_server *server, struct sx_client *client);

/* The data put before belong to another process. */
void sx_modex_client_expected(struct sx_server *server, struct sx_client *client);
/* The client's turns are over. */
void sx_modex_client_gone(struct sx_server *server, struct sx_client *client);
void sx_modex_client_removed(struct sx_server *server, struct sx_client *client);
/* The values that its clients have put before are news, unless all of its processes are here. */
void sx_modex_nspace_registered(struct sx_server *server, struct sx_nspace *nspace);

/* ---- values of other nodes, which the host brings ------------------------------------------- */

/* Of the puts that are stored one after the other; zeroed in the beginning. */
struct sx_modex_far {
    bool is_answer;         /* of a direct modex: nothing is stored that a fence has overtaken */
    size_t lost;            /* values for which there was no room */
    struct sx_far_put *put; /* a long one, of which a part is stored; NULL: none */
};
/* Store a put in steps: a struct sx_modex_far, and else as a sx_blob_fn. */
pmix_status_t sx_modex_store(void *far, struct sx_nspace *nspace, uint32_t rank,
                             const struct sx_blob_piece *put, size_t *left);
/* Behind the last put, or instead of the next step. */
void sx_modex_far_end(struct sx_modex_far *far);

struct sx_incoming;
/* All is stored, or cannot be: @status.  @incoming is freed behind it. */
typedef void (*sx_incoming_fn)(struct sx_incoming *incoming, pmix_status_t status);

/* Bytes that the host has brought: they are stored at once, or in this and later turns.
 *
 *     sx_incoming_store --all fits in this turn--> stored
 *          \--more--> RUNNING, some in each turn --> stored: the callback
 *          \--some of its namespaces have others in front--> WAITS --those are stored--> RUNNING
 *
 * So what was brought first is stored first, in each namespace.  All RUNNING ones of a turn have a
 * bound together, and take turns.  The host's bytes stay until the end. */
struct sx_incoming {
    struct sx_server *server;
    const struct sx_host_answer *answer;
    const struct sx_blob_piece *pieces; /* in the bytes of @answer */
    size_t piece_count;
    const pmix_proc_t *procs; /* whose namespaces they are of; not read after the first step */
    size_t proc_count;
    sx_incoming_fn stored; /* when it was not stored at once */
    void *owner;           /* of the caller; NULL: none any more */
    /* incoming.c's; zeroed in the beginning */
    struct sx_list link;
    uint64_t names; /* a bit for the hash of each namespace */
    struct sx_question *question;
    struct sx_blob_reader reader;
    struct sx_modex_far far;
};

/* Return: PMIX_ERR_WOULD_BLOCK: @stored will be called, with *ret; else it is done:
 * PMIX_SUCCESS, also with values lost (far.lost); PMIX_ERR_UNPACK_FAILURE, for the caller to
 * refuse; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_incoming_store(struct sx_incoming *incoming, struct sx_incoming **ret);
/* Store no more of it; NULL: nothing to do. */
void sx_incoming_drop(struct sx_incoming *incoming);
/* The server ends: store no more of those that have no owner left. */
void sx_incomings_deinit(struct sx_server *server);

/* ---- servers of other nodes ask, through the host, for the data of a local rank ------------- */

/* The client has committed: answer the requests that waited for its first commit. */
void sx_dmodex_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The client is gone: answer its waiting requests with PMIX_ERR_NOT_FOUND. */
void sx_dmodex_client_gone(struct sx_server *server, struct sx_client *client);

/* The server ends: answer those that are being packed with PMIX_ERR_NOT_FOUND. */
void sx_dmodex_deinit(struct sx_server *server);

#endif
