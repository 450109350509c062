/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* family.h - the functions that engines have for the stages of namespaces and clients.
 *
 *     client: added --expected--> connected --left--> closed --ended--> (departed)
 *                        ^             \------gone, lost-----------/        |
 *                        \------------ the host registers it again --------/--> removed
 *
 * One row per engine, in the order of lifecycle.c: an engine is called after those above it.  Each
 * function may be NULL.  Loop thread. */
#ifndef SX_SERVER_MODEL_FAMILY_H
#define SX_SERVER_MODEL_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

struct sx_client;
struct sx_event_block;
struct sx_nspace;
struct sx_server;

typedef void (*sx_family_nspace_fn)(struct sx_server *server, struct sx_nspace *nspace);
typedef void (*sx_family_client_fn)(struct sx_server *server, struct sx_client *client);

struct sx_family {
    const char *name;
    sx_family_nspace_fn nspace_added;      /* by its first mention */
    sx_family_nspace_fn nspace_opened;     /* it has a ring now */
    sx_family_nspace_fn nspace_registered; /* its host has registered its data */
    sx_family_nspace_fn nspace_gone;       /* it is still found, with its clients */
    /* The host takes @name: another owner gives the name up before this returns (claim.c). */
    void (*name_claimed)(struct sx_server *server, const char *name);

    sx_family_client_fn client_added;     /* the host has registered it */
    sx_family_client_fn client_expected;  /* again, for another process */
    sx_family_client_fn client_connected; /* before it has its welcome */
    /* The values that @client has put are there for others; @first: it had committed nothing
     * before. */
    void (*client_committed)(struct sx_server *server, struct sx_client *client, bool first);
    sx_family_client_fn client_left;     /* it has said good-bye; its connection stays */
    sx_family_client_fn client_closed;   /* its connection ends, for any reason */
    sx_family_client_fn client_ended;    /* ... behind its good-bye */
    sx_family_client_fn client_departed; /* after its good-bye no process takes its place */
    sx_family_client_fn client_gone;     /* lost, or taken away by the host */
    sx_family_client_fn client_lost;     /* the first of these */
    sx_family_client_fn client_removed;  /* behind all of these, or behind nspace_gone */

    /* Some events of number @first to @next - 1 were overwritten in the client's ring.  The client,
     * or a reader of its own, had not read them yet. */
    void (*events_missed)(struct sx_server *server, struct sx_client *client, uint64_t first,
                          uint64_t next);
    /* @client has published it here: PMIX_GROUP_CONSTRUCT_ABORT alone. */
    void (*group_aborted)(struct sx_server *server, struct sx_client *client,
                          const struct sx_event_block *block);
    /* Another node's server has published it; it is published here next. */
    void (*event_relayed)(struct sx_server *server, const struct sx_event_block *block);

    void (*finish)(struct sx_server *server); /* the server will end; all clients are still
                                                 connected */
    void (*stop)(struct sx_server *server);   /* no client is connected, all namespaces are there */
    void (*end)(struct sx_server *server);    /* all namespaces have gone */
};

/* Call @stage of each row, as long as @fact holds; the rest are its arguments.  The last row has no
 * name. */
#define SX_FAMILIES_NOTIFY_WHILE(fact, server, stage, ...)                                \
    do {                                                                                  \
        for (const struct sx_family *family_ = (server)->families; family_->name != NULL; \
             family_++) {                                                                 \
            if (family_->stage != NULL && (fact)) {                                       \
                family_->stage(__VA_ARGS__);                                              \
            }                                                                             \
        }                                                                                 \
    } while (0)
#define SX_FAMILIES_NOTIFY(server, stage, ...) \
    SX_FAMILIES_NOTIFY_WHILE(true, server, stage, __VA_ARGS__)

/* The same for a stage of @client, which the caller has retained.  A callee may call the host,
 * which may end the job inside.  The other rows were then called for that end, so the loop
 * stops. */
#define SX_FAMILIES_NOTIFY_OF(server, stage, client, ...) \
    SX_FAMILIES_NOTIFY_WHILE((client)->nspace != NULL, server, stage, server, client, ##__VA_ARGS__)

/* lifecycle.c */
extern const struct sx_family sx_families[];

#endif
