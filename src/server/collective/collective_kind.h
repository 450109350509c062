/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind.h - the differences between kinds of collective operations: a row for each.
 *
 * The engine (collective.c) reads these rows and contains no name of a kind. */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_KIND_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_KIND_H

#include "base/call/directive_tables.h"
#include "base/list.h"
#include "base/message/payloads.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/collective/agreement.h"
#include "server/collective/generation.h"
#include "server/collective/members.h"
#include "server/collective/merged_infos.h"
#include "server/collective/open_ops.h"
#include "server/collective/rounds.h"
#include "server/port/upcall.h"

struct sx_collective_engine;
struct sx_group_plan;
struct sx_kind;

/* An open operation. */
struct sx_collective {
    struct sx_list link;             /* server.collectives */
    struct sx_generation generation; /* server.signatures or server.owed */
    struct sx_table_node meant;      /* server.meant */
    uint64_t serial;                 /* older operations have lower ones */
    uint64_t begun_ns;               /* time of the turn of its first arrival */
    struct sx_shown shown;
    const struct sx_kind *kind;
    char *id; /* NULL: none */
    struct sx_members members;
    struct sx_merged_infos wishes; /* infos for the host */
    struct sx_asker asker;
    struct sx_round_part part; /* state in the rounds of the servers of several nodes */
    unsigned holds;            /* callers that still use it after a call of the host */
    bool with_host;            /* all here have arrived; kept until the host has answered */
    bool is_asking;            /* within the upcall */
    bool is_abandoned;         /* its job is gone: the answer is dropped */
    bool is_over;              /* its members have been released ... */
    bool is_owed;     /* ... those that had arrived; others get the status when they call */
    bool is_closing;  /* freed when the last hold ends */
    bool is_unlisted; /* in no table */
    bool is_bound;    /* a member has left the list by which it is named */
    bool collect;     /* a caller asked for the data */
    bool is_late;     /* its time limit has passed, and it may not end yet */
    uint8_t pardons;  /* SX_PARDON_*, of all callers */
    uint8_t connect;  /* SX_CONNECT_*, of all callers */
    uint8_t group;    /* SX_GROUP_*, of all callers */
    pmix_status_t ended;
    struct sx_group_plan *plan; /* for a group that is being built: group_plan.h; else NULL */
    struct sx_agreed agreed;    /* by the servers of several nodes; no members: not agreed */
    struct sx_timer deadline;
    pmix_status_t late; /* status at the time limit */
    const struct sx_collective_engine *engine;
};

/* Functions of the engine, for the code that it calls. */
struct sx_collective_engine {
    /* Let the time limit and the ends of members count again. */
    void (*resume)(struct sx_collective *collective);
    /* Continue without @client, which the kind's `lost` has kept, or end with @status. */
    void (*go_on)(struct sx_collective *collective, struct sx_client *client);
    void (*stop)(struct sx_collective *collective, pmix_status_t status);
};

struct sx_arrival;

struct sx_kind {
    enum sx_collective_kind number;
    enum sx_function function; /* whose directives its callers may give */
    /* How the operation ends when a member leaves that has not arrived, or that has.  A pardoned
     * operation continues without the member. */
    struct sx_member_ends before, after;
    /* The status instead of PMIX_SUCCESS when a member is missing. */
    pmix_status_t incomplete;

    /* The id alone identifies the operation: its callers write their processes in any order. */
    bool known_by_id;
    /* The name of a list identifies it: `aim` has changed the processes to {name, WILDCARD}. */
    bool known_by_list;
    /* The processes identify it, in whichever way they are named: by their own names, or as the
     * members of groups. */
    bool known_by_meaning;
    /* Namespaces that are not registered here are taken for those of other nodes, if the host
     * reaches other nodes ... */
    bool admits_unknown;
    /* ... and are waited for otherwise: their registration gives the processes. */
    bool awaits_unknown;
    /* The host has registered a namespace that the operation has waited for.  NULL: nothing to do.
     * Return: the status with which the operation ends; PMIX_SUCCESS: it continues. */
    pmix_status_t (*nspace_added)(struct sx_collective *collective);
    /* Change what @client gave to the processes and the id that identify the operation.  NULL: they
     * are used as they were given.  Return: an error when there can be no such operation. */
    pmix_status_t (*aim)(struct sx_server *server, struct sx_client *client,
                         struct sx_arrival *arrival);
    /* Take out of @arrival what only this kind reads; the rest is for the host.  NULL: nothing.
     * Return: an error when @client cannot join with it. */
    pmix_status_t (*takes)(struct sx_collective *collective, struct sx_client *client,
                           struct sx_arrival *arrival);
    /* @client has just arrived, with the directives @connect (SX_CONNECT_*).  NULL: nothing to
     * do. */
    void (*arrived)(struct sx_collective *collective, struct sx_client *client, uint8_t connect);
    /* All members that are expected have arrived.  Return: whether more will arrive that have not
     * been named yet.  NULL: none will. */
    bool (*awaits_more)(const struct sx_collective *collective);
    /* @member has gone, which would end the operation with @end.  NULL: it ends so.  Return: the
     * status with which it ends; PMIX_SUCCESS when the others decide, and @member is awaited until
     * then.  The kind ends the operation when no process is left that could decide. */
    pmix_status_t (*lost)(struct sx_collective *collective, struct sx_member *member,
                          pmix_status_t end);
    /* The operation succeeds.  NULL: nothing to do.  Return: the status for all members;
     * *ret_subject is the subject of the result (ring/record.h), or stays 0: none. */
    pmix_status_t (*conclude)(struct sx_collective *collective, uint64_t *ret_subject);

    /* Return: whether the host reaches members on other nodes.  NULL: it does not. */
    bool (*host_reaches)(const struct sx_server *server);
    /* Return: whether the host is called even if all members are here.  NULL: it is not. */
    bool (*host_hears)(const struct sx_collective *collective);
    /* All members here have arrived.  Return: PMIX_SUCCESS when @told will be called. */
    pmix_status_t (*host_ask)(struct sx_collective *collective, sx_told_fn told);
    /* Read the host's answer.  Return: false when it will be called again; else the operation ends
     * for the members here with *ret_status. */
    bool (*host_said)(struct sx_collective *collective, const struct sx_host_answer *answer,
                      pmix_status_t *ret_status);
    /* The operation has ended for its members while the host had it.  NULL: the host is not
     * called. */
    void (*host_cancel)(const struct sx_collective *collective);
    /* Free collective.plan.  NULL: operations of this kind have none. */
    void (*plan_free)(struct sx_group_plan *plan);
    /* Write what the servers of other nodes get of the operation, in rounds. */
    pmix_status_t (*contribute)(struct sx_collective *collective, struct sx_blob *blob);
    /* In rounds: it ends once all servers have learned that all have called. */
    bool commits;
};

/* End with @status in the loop's next turn: other operations may be ending now. */
static inline void sx_collective_end_soon(struct sx_collective *collective, pmix_status_t status)
{
    sx_timer_remove(&collective->deadline);
    collective->late = status;
    sx_timer_add(collective->members.server->loop, &collective->deadline, sx_now_ns());
}

/* For operations in which no member may end in any way before it has called. */
extern const struct sx_member_ends sx_nobody_may_go;

/* The rows of all kinds, by their numbers: entry/kinds.c. */
#define SX_COLLECTIVE_KINDS (SX_COLLECTIVE_GROUP_DESTRUCT + 1)
extern const struct sx_kind sx_kinds[SX_COLLECTIVE_KINDS];

/* Return: the row of @number (enum sx_collective_kind); NULL: there is none. */
const struct sx_kind *sx_kind_of(const struct sx_server *server, uint32_t number);

#endif
