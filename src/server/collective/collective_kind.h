/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind.h - what tells one kind of collective operation from the others: a row each.
 *
 * The engine (collective.c) reads these rows and knows no kind by name. */
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

/* One operation that is open. */
struct sx_collective {
    struct sx_list link;             /* server.collectives */
    struct sx_generation generation; /* server.signatures or server.owed */
    struct sx_table_node meant;      /* server.meant */
    uint64_t serial;                 /* an older one has a lower one */
    uint64_t begun_ns;               /* at the turn of its first arrival */
    struct sx_shown shown;
    const struct sx_kind *kind;
    char *id; /* NULL: none */
    struct sx_members members;
    struct sx_merged_infos wishes; /* for the host */
    struct sx_asker asker;
    struct sx_round_part part; /* in what the servers of several nodes say to each other */
    unsigned holds;            /* of those who look at it again behind a call of the host */
    bool with_host;    /* everybody here has arrived; it stays until the host has answered */
    bool is_asking;    /* within the upcall */
    bool is_abandoned; /* its job has gone: the answer means nothing */
    bool is_over;      /* its members have been told ... */
    bool is_owed;      /* ... those that have come: the others are told when they come */
    bool is_closing;   /* it goes when nobody holds it any more */
    bool is_unlisted;  /* no table has it */
    bool is_bound;     /* a member has left those that it names by their common name */
    bool collect;      /* somebody asked for the data */
    bool is_late;      /* its time limit has passed, and it may not end */
    uint8_t pardons;   /* SX_PARDON_*, of anybody */
    uint8_t connect;   /* SX_CONNECT_*, of anybody */
    uint8_t group;     /* SX_GROUP_*, of anybody */
    pmix_status_t ended;
    struct sx_group_plan *plan; /* of a group that is being built: group_plan.h; else NULL */
    struct sx_agreed agreed; /* by the servers of several nodes; without members: there are none */
    struct sx_timer deadline;
    pmix_status_t late; /* how it ends then */
    const struct sx_collective_engine *engine;
};

/* What the engine does with one when those below it say so. */
struct sx_collective_engine {
    /* Its time limit and its members count again. */
    void (*resume)(struct sx_collective *collective);
    /* It goes on without @client, which its kind's `lost` has kept, or it ends with @status. */
    void (*go_on)(struct sx_collective *collective, struct sx_client *client);
    void (*stop)(struct sx_collective *collective, pmix_status_t status);
};

struct sx_arrival;

struct sx_kind {
    enum sx_collective_kind number;
    enum sx_function function; /* whose directives its callers may give */
    /* What becomes of an operation when a member goes that has not arrived, or that has.  Where it
     * is pardoned, it goes on without the member. */
    struct sx_member_ends before, after;
    /* How it ends where it would end well, but somebody is missing. */
    pmix_status_t incomplete;

    /* The id alone says which operation it is: its callers write their processes in any order. */
    bool known_by_id;
    /* The name of a list does: its callers have been brought to {name, WILDCARD}. */
    bool known_by_list;
    /* The processes do, in whichever words: by their own names, or as the members of groups. */
    bool known_by_meaning;
    /* Namespaces that nobody here knows are taken for those of other nodes, where the host leads
     * there ... */
    bool admits_unknown;
    /* ... and are waited for otherwise: their registration says who is meant. */
    bool awaits_unknown;
    /* The host has registered a namespace that the operation has waited for.  NULL: nothing to do.
     * Return: how the operation ends; PMIX_SUCCESS: it goes on. */
    pmix_status_t (*nspace_added)(struct sx_collective *collective);
    /* Bring what @client gave to the processes and the id by which the operation is known.  NULL:
     * they are as they were given.  Return: an error when there can be no such operation. */
    pmix_status_t (*aim)(struct sx_server *server, struct sx_client *client,
                         struct sx_arrival *arrival);
    /* Take out of @arrival what only its kind understands; the rest is for the host.  NULL: there
     * is nothing.  Return: an error when @client cannot join with that. */
    pmix_status_t (*takes)(struct sx_collective *collective, struct sx_client *client,
                           struct sx_arrival *arrival);
    /* @client has just arrived, and said @connect (SX_CONNECT_*).  NULL: nothing to do. */
    void (*arrived)(struct sx_collective *collective, struct sx_client *client, uint8_t connect);
    /* All who are expected have arrived: whether others will come that nobody has named yet.  NULL:
     * no. */
    bool (*awaits_more)(const struct sx_collective *collective);
    /* @member has gone, which would end it with @end.  NULL: so it does.  Return: how it ends;
     * PMIX_SUCCESS when it waits for what the others say, and @member is awaited: its kind ends it
     * when nobody is left who could say anything. */
    pmix_status_t (*lost)(struct sx_collective *collective, struct sx_member *member,
                          pmix_status_t end);
    /* It ends well.  NULL: there is nothing to do.  Return: how it ends for all of them;
     * *ret_subject is what came of it (ring/record.h), 0 as it is: nothing. */
    pmix_status_t (*conclude)(struct sx_collective *collective, uint64_t *ret_subject);

    /* The way to members on other nodes; NULL: there is none. */
    bool (*host_reaches)(const struct sx_server *server);
    /* Whether the host is asked even if all members are here; NULL: it is not. */
    bool (*host_hears)(const struct sx_collective *collective);
    /* All members here have arrived.  Return: PMIX_SUCCESS when @told will be called. */
    pmix_status_t (*host_ask)(struct sx_collective *collective, sx_told_fn told);
    /* Take in what the host has brought.  Return: false when it will be called again; else
     * *ret_status is how it ends for the members here. */
    bool (*host_said)(struct sx_collective *collective, const struct sx_host_answer *answer,
                      pmix_status_t *ret_status);
    /* It has ended for its members while the host had it.  NULL: the host is not told. */
    void (*host_cancel)(const struct sx_collective *collective);
    /* Free collective.plan.  NULL: no such operation has one. */
    void (*plan_free)(struct sx_group_plan *plan);
    /* What the servers of other nodes get of it, in rounds. */
    pmix_status_t (*contribute)(struct sx_collective *collective, struct sx_blob *blob);
    /* In rounds: it ends once all servers know that all have called. */
    bool commits;
};

/* It ends with @status when the loop is next: here others may be ending. */
static inline void sx_collective_end_soon(struct sx_collective *collective, pmix_status_t status)
{
    sx_timer_remove(&collective->deadline);
    collective->late = status;
    sx_timer_add(collective->members.server->loop, &collective->deadline, sx_now_ns());
}

/* For those that stand together: no member may end, in whichever way, without having said so. */
extern const struct sx_member_ends sx_nobody_may_go;

/* The rows of all kinds, by their numbers: entry/kinds.c. */
#define SX_COLLECTIVE_KINDS (SX_COLLECTIVE_GROUP_DESTRUCT + 1)
extern const struct sx_kind sx_kinds[SX_COLLECTIVE_KINDS];

/* Return: the row of @number (enum sx_collective_kind), NULL when there is none. */
const struct sx_kind *sx_kind_of(const struct sx_server *server, uint32_t number);

#endif
