/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* operation.h - an open collective operation: its members, what finds it, and the row of its kind.
 *
 *     an arrival --its kind, processes and id: the signature--> the operation, one of a generation
 *
 * The differences between kinds are in a row for each.  The engine (collective.c) reads these rows
 * and contains no name of a kind. */
#ifndef SX_SERVER_COLLECTIVE_OPERATION_H
#define SX_SERVER_COLLECTIVE_OPERATION_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/list.h"
#include "base/message/payloads.h"
#include "base/message/signature.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/collective/agreement.h"
#include "server/collective/rounds.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"
#include "server/port/port.h"

/* ---- an arrival ------------------------------------------------------------------------------ */

/* The call with which one client joins a collective operation, read from its message. */

struct sx_arrival {
    struct sx_client *client; /* set by the caller of sx_arrival_read */
    uint32_t kind, op;
    uint64_t space;                       /* as of a signature: set by its kind's aim, or later */
    uint8_t receives;                     /* SX_HEARS_* */
    uint32_t open;                        /* open operations of the client, this one included */
    struct sx_collective_options options; /* completed by the caller, from the kind's table */
    pmix_proc_t *procs;                   /* in the order of sx_proc_order, each once ...; a kind
                                           * makes it NULL when they equal those of earlier
                                           * callers */
    size_t proc_count;
    bool in_order; /* ... which the caller has to check */
    struct sx_alias_list
        real;               /* that they mean, once it has been looked for; zeroed: not yet ... */
    uint64_t real_hash;     /* ... and the hash of its signature */
    unsigned prepared;      /* steps of its kind's `prepare` that are done; with these ... */
    uint64_t registrations; /* ... what the server counted at the first one */
    struct sx_proc_list listed; /* ... what a list of names means, in the caller's order */
    struct sx_proc_list sorted; /* ... and in order, each once */
    pmix_proc_t *order;         /* for a kind that keeps the caller's order; NULL: none */
    size_t order_count;
    struct sx_procs_digest written; /* of the list that procs and order are made of ... */
    size_t written_count;           /* ... so long; 0: not kept */
    pmix_info_t *info;
    size_t ninfo;
    size_t bytes;  /* approximate size of processes and infos */
    bool may_wait; /* the caller of sx_arrival_take goes on with `prepare` in other turns */
    bool is_bootstrap_read; /* procs are those that a bootstrap adds, not what its caller named */
};

/* Read an opened sx_arrive_body.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for invalid infos;
 * PMIX_ERR_OUT_OF_RESOURCE, and kind and op are set. */
pmix_status_t sx_arrival_read(struct sx_arrival *ret, const struct sx_opened *body);

/* Safe on a zeroed @arrival and twice. */
void sx_arrival_clear(struct sx_arrival *arrival);

/* Processes of one arrival that are taken in one turn. */
#define SX_ARRIVE_AT_ONCE_MAX 1024u
#define SX_ARRIVE_PROCS_PER_UNIT 16u /* to read them, or to find those that are here: share.h */

/* @arrival, which sx_arrival_read has read with @rc, joins its operation, or its client gets the
 * status; clears @arrival.  Return: as sx_collective_arrive; PMIX_ERR_WOULD_BLOCK, if it may wait,
 * and it is to be taken again when its kind has prepared it. */
pmix_status_t sx_arrival_take(struct sx_server *server, struct sx_arrival *arrival,
                              pmix_status_t rc);

/* ---- generations ----------------------------------------------------------------------------- */

/* The open operations of one signature, from the oldest to the youngest.
 *
 * The oldest is in a table, under the hash of the signature, and holds the list of the others.  A
 * client joins them in their order.  So the operations that it may join lie behind those that it
 * has joined.  Binary search finds its next one, however many it has joined. */

/* Zeroed and initialised by sx_generation_add. */
struct sx_generation {
    struct sx_table_node node;      /* in the table while it is the oldest */
    struct sx_generation **younger; /* the others, while it is the oldest ... */
    size_t younger_count, younger_capacity;
    size_t
        younger_gone; /* ... behind the places of so many that have become the oldest, and gone */
};

/* Open @generation behind those of @oldest, or as the first of its signature (NULL).  Return: false
 * when memory is out. */
bool sx_generation_add(struct sx_table *table, struct sx_generation *oldest,
                       struct sx_generation *generation, uint64_t hash);
/* Remove @generation, which may be @oldest itself.  In that case the next one becomes the
 * oldest. */
void sx_generation_remove(struct sx_table *table, struct sx_generation *oldest,
                          struct sx_generation *generation);

static inline bool sx_generation_is_oldest(const struct sx_generation *generation)
{
    return !sx_list_empty(&generation->node.link);
}

/* Return: the youngest, @oldest itself when it is alone. */
struct sx_generation *sx_generation_youngest(struct sx_generation *oldest);
/* Return: the operation behind @oldest; NULL: there is none. */
struct sx_generation *sx_generation_second(const struct sx_generation *oldest);

/* Return: the first, from @oldest on, that @fits; all behind it must fit too.  NULL: none. */
struct sx_generation *sx_generation_first(struct sx_generation *oldest,
                                          bool (*fits)(struct sx_generation *generation, void *arg),
                                          void *arg);

/* Return: whether an operation that @fits is older than @generation. */
bool sx_generation_any_older(struct sx_generation *oldest, const struct sx_generation *generation,
                             bool (*fits)(struct sx_generation *generation, void *arg), void *arg);

/* ---- members --------------------------------------------------------------------------------- */

/* The members of a collective operation: expected, arrived, and released at its end.
 *
 * The expected members are the registered clients that the signature names.  Clients that the host
 * has announced and registers later are included.  A signature that has names of connected
 * namespaces or groups means the processes that these have when the operation begins. */

struct sx_member {
    struct sx_client *client;   /* retained */
    struct sx_members *members; /* that have it, while it hangs: */
    struct sx_list of_client;   /* client.operations, or .unlooked; zeroed: it hangs nowhere */
    bool is_unlooked;           /* the end of its client has still to change the operation */
    uint32_t op;                /* the number that the process has given the call ... */
    uint32_t process;           /* ... and client.process then: another one may be there now */
    bool arrived;
    bool is_behind;     /* it has called when the operation had failed, and been kept: no quota */
    uint8_t receives;   /* SX_HEARS_* */
    size_t bytes;       /* size of what it has sent, for its client's quota */
    uint64_t news_sent; /* how many of all bytes of its news the host has received */
    uint64_t repeats;   /* of those of a failed operation: that it has called, or need not */
};

/* A name in a signature, by which the operations of its list or namespace are found. */
struct sx_named {
    struct sx_table_node node; /* server.collective.named */
    struct sx_members *members;
};

struct sx_members {
    struct sx_server *server;
    struct sx_client *opener; /* charged for finding them (sx_members_gather); NULL: none */
    uid_t uid;          /* the opener's user: names of lists are meant as that user means them */
    pmix_proc_t *procs; /* the signature: sorted, no duplicates; owned */
    size_t proc_count;
    struct sx_alias_list real; /* processes that the signature means */
    struct sx_named *named;    /* its names; NULL: the only one is of a namespace that is here */
    size_t named_count;
    struct sx_member *all; /* sorted by client address */
    size_t count, capacity, arrived_count;
    bool incomplete;    /* the operation continues without some member */
    pmix_status_t gone; /* with which it ends, since a member had gone when it began */
    /* Namespaces that are not registered here belong to other nodes (admits), or the host will
     * register them (awaits); the signature has one (has). */
    bool admits_unknown, awaits_unknown, has_unknown;
};

/* How an operation ends when a member leaves, for each way of leaving.  PMIX_SUCCESS: no effect;
 * PMIX_ERR_PARTIAL_SUCCESS: it continues without the member; else it ends with this status. */
struct sx_member_ends {
    pmix_status_t died;     /* lost, or removed by the host */
    pmix_status_t left;     /* finalized; another process may take its place ... */
    pmix_status_t departed; /* ... or none will */
    pmix_status_t withdrew; /* left the list that is named, and still runs */
};
/* Return: the signature; the members own it. */
static inline struct sx_alias_list sx_members_written(const struct sx_members *members)
{
    return (struct sx_alias_list){ .all = members->procs, .count = members->proc_count };
}
/* Return: whether the process that has called is there no more, and another is in its place. */
static inline bool sx_member_is_replaced(const struct sx_member *member)
{
    return member->arrived && member->process != member->client->process;
}
/* Return: the status of @ends that applies to @client; PMIX_SUCCESS for a client that is there. */
pmix_status_t sx_member_end(const struct sx_member_ends *ends, const struct sx_client *client);

/* Find the registered clients of the signature; @ends applies to those that have gone.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a namespace that has ended, for one that is not registered
 * where the members neither admit nor await it, or for a process that has left a connected
 * namespace; the status of @ends for a process that has gone, and the others are members;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_gather(struct sx_members *members, const struct sx_member_ends *ends);
/* Return: whether the signature has waited for the registration of @nspace, whose clients are
 * expected already (sx_members_expect). */
bool sx_members_await(const struct sx_members *members, const struct sx_nspace *nspace);
/* Some of the namespaces that the signature has waited for have been registered. */
void sx_members_look_again(struct sx_members *members);
/* The same when some of the registered clients may not be expected yet.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND: one of the namespaces has ended meanwhile; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_catch_up(struct sx_members *members);
/* Return: whether the signature has processes of @nspace, by their own names. */
bool sx_members_mean_nspace(const struct sx_members *members, const char *nspace);
/* Return: whether the signature has processes of @nspace, which has ended, that have never been
 * registered: none of these calls. */
bool sx_members_miss(const struct sx_members *members, const struct sx_nspace *nspace);
void sx_members_clear(struct sx_members *members);

/* Call @fn for each operation whose signature names processes by the list @entry, perhaps twice.
 * @fn ends none of them at once. */
typedef void (*sx_of_list_fn)(struct sx_collective *collective, void *arg);
void sx_collectives_of_list(struct sx_server *server, const struct sx_membership_entry *entry,
                            sx_of_list_fn fn, void *arg);
/* Call @fn for each whose signature names processes by that name, but for those of this namespace
 * alone, which are in no table.  @fn ends none of them at once. */
void sx_collectives_of_nspace(struct sx_server *server, const char *name, sx_of_list_fn fn,
                              void *arg);
/* Replace the signature, which has no names of lists, by @procs, which are in order.  The members
 * own @procs from now on. */
void sx_members_rename(struct sx_members *members, struct sx_proc_list *procs);
/* A list in the signature has changed: resolve the signature again.  Return: as
 * sx_members_gather. */
pmix_status_t sx_members_mean_anew(struct sx_members *members);

/* Return: whether the signature means @client, as its lists were when it was resolved ... */
bool sx_members_mean(const struct sx_members *members, const struct sx_client *client);
/* ... or as they are now, which takes a search for each of its names. */
bool sx_members_name(const struct sx_members *members, const struct sx_client *client);

/* Return: NULL when @client is not a member. */
struct sx_member *sx_members_find(const struct sx_members *members, struct sx_client *client);

/* The host has registered @client: expect it if the signature names it and it is not a member yet.
 * Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_expect(struct sx_members *members, struct sx_client *client);

/* @member has arrived now, with its number @op; what it has sent takes @bytes. */
void sx_members_arrive(struct sx_members *members, struct sx_member *member, uint32_t op,
                       size_t bytes);

/* Mark @member as not arrived: it is awaited, even if it has ended. */
void sx_members_withdraw(struct sx_members *members, struct sx_member *member);

/* Continue without @member, which never arrives, or counts no more. */
void sx_members_leave(struct sx_members *members, struct sx_member *member);

/* Processes of the signature that are not among the members. */
struct sx_absent {
    size_t announced; /* local, but the host has not registered them yet */
    bool elsewhere;   /* some are on other nodes: only the host reaches them */
    bool unknown;     /* some are of a namespace that the host has not registered yet */
};
struct sx_absent sx_members_absent(const struct sx_members *members);

/* Return: whether any process that has called is still connected. */
bool sx_members_somebody_waits(const struct sx_members *members);

/* Release the processes that have called, with @status and @subject (ring/record.h).  Each
 * namespace's ring gets one record (several for many members), and then there is one wake.  It is
 * that of the collective door when most sleepers are concerned, else of each member's bell. */
void sx_members_release(struct sx_members *members, pmix_status_t status, uint64_t subject);

/* Release one client alone, before there is an operation that it could join. */
void sx_members_refuse(struct sx_client *client, uint32_t op, pmix_status_t status);

/* ---- infos for the host ---------------------------------------------------------------------- */

/* Infos that the members of an operation give to the host: each key once.
 *
 * The value of a key is that of the member that sent it first.  A key is found by its hash, so no
 * member's list makes the server walk those of others.  The size of one member's infos is bounded
 * (SX_ARRIVE_HEAP_MAX). */

struct sx_merged_infos {
    struct sx_list all; /* in the order in which they were sent */
    struct sx_table keys;
    size_t count;
};

void sx_merged_infos_init(struct sx_merged_infos *wishes);
void sx_merged_infos_clear(struct sx_merged_infos *wishes);

/* Take the infos with new keys out of @info.  Keys that the server sets itself are left (see
 * collective_upcall.c), and so are infos without a key, which were taken before.  @seed is secret
 * from clients.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_merged_infos_add(struct sx_merged_infos *wishes, pmix_info_t *info, size_t ninfo,
                                  uint64_t seed);

/* Move the infos into an array, behind room for @before others.  Return: NULL when memory is
 * out. */
pmix_info_t *sx_merged_infos_take(struct sx_merged_infos *wishes, size_t before, size_t *ret_count);

/* ---- calls of the host ----------------------------------------------------------------------- */

/* Calls of the host for several processes: fence, connect, disconnect, and
 * the operations on a group. */

struct sx_joint {
    sx_answered_fn answered;
    struct sx_asker *asker;
    pmix_proc_t *procs; /* in order */
    size_t proc_count;
    struct sx_alias_made *made;     /* that has them; NULL: they are copied */
    const char *name;               /* of the group */
    int operation;                  /* on the group */
    struct sx_merged_infos *wishes; /* taken; NULL: none */
    bool is_partial;                /* a member here is missing */
    pmix_status_t failed;           /* with which it has failed here; PMIX_SUCCESS: it has not */
    pmix_proc_t *here;              /* members of this node, for the host; NULL: not passed */
    size_t here_count;
    struct sx_blob blob; /* of a fence: never empty; owned by the call in any case */
};

/* Return: as sx_upcall; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_joint_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                              struct sx_joint *joint);

/* ---- what is shown of it --------------------------------------------------------------------- */

/* State of one operation in the table (open_ops.c). */
struct sx_shown {
    struct sx_list link; /* server.shown.due or .rowless, or in neither */
    uint64_t since_ns, due_ns;
    uint32_t row; /* from 1; 0: none */
    bool is_rowless;
};

/* ---- the operation, and the row of its kind -------------------------------------------------- */

struct sx_collective_engine;
struct sx_fence_pack;
struct sx_group_plan;
struct sx_incoming;
struct sx_kind;

/* An open operation. */
struct sx_collective {
    struct sx_list link;             /* server.collective.all */
    struct sx_list unread;           /* server.collective.unread */
    struct sx_list naming;           /* server.collective.namings: the host gets it when named */
    struct sx_list marked;           /* server.collective.marked */
    struct sx_generation generation; /* server.signatures or server.owed */
    struct sx_table_node meant;      /* server.meant */
    uint64_t serial;                 /* older operations have lower ones */
    uint64_t begun_ns;               /* time of the turn of its first arrival */
    struct sx_shown shown;
    struct sx_quota_row quota; /* of its first caller */
    const struct sx_kind *kind;
    char *id;       /* NULL: none */
    uint64_t space; /* as of its signature */
    struct sx_members members;
    struct sx_merged_infos wishes; /* infos for the host */
    struct sx_asker asker;
    struct sx_round_part part; /* state in the rounds of the servers of several nodes */
    bool with_host;            /* all here have arrived; kept until the host has answered */
    bool names_gone;           /* found by the name of the namespace that goes now */
    bool is_over;              /* its members have been released ... */
    bool is_owed;     /* ... those that had arrived; others get the status when they call */
    bool is_failed;   /* ... with an error that the other nodes have still to get, in its turn */
    bool is_bound;    /* a member has left the list by which it is named ... */
    bool is_kept;     /* ... which fails it: other nodes get that with the processes before */
    uint64_t repeats; /* later operations of the signature that have failed alike ... */
    uint64_t passed;  /* ... and that the other nodes have */
    bool by_list;     /* it ends by a change of that list, which other nodes get without it */
    bool collect;     /* a caller asked for the data */
    bool is_ripe;     /* it is tried again when none of its members is unlooked */
    uint32_t unlooked;
    bool is_late;    /* its time limit has passed, and it may not end yet */
    bool *ret_freed; /* set when it is freed, for the function that looks at its members */
    uint8_t pardons; /* SX_PARDON_*, of all callers */
    uint8_t connect; /* SX_CONNECT_*, of all callers */
    uint8_t group;   /* SX_GROUP_*, of all callers */
    pmix_status_t ended;
    struct sx_fence_pack
        *pack; /* of a fence whose bytes for the host are being packed; else NULL */
    struct sx_incoming
        *incoming; /* of a fence whose values of other nodes are being stored; else NULL */
    struct sx_group_plan *plan; /* for a group that is being built: group_construct.h; else NULL */
    struct sx_agreed agreed;    /* by the servers of several nodes; no members: not agreed */
    struct sx_timer deadline;
    pmix_status_t late; /* status at the time limit */
    const struct sx_collective_engine *engine;
};

/* Return: the error with which @collective has failed here, for the other nodes; PMIX_SUCCESS: it
 * has not failed, or they do not get it. */
static inline pmix_status_t sx_collective_failure(const struct sx_collective *collective)
{
    return collective->is_failed ? collective->ended : PMIX_SUCCESS;
}

static inline struct sx_collective *sx_collective_of(const struct sx_member *member)
{
    return SX_CONTAINER(member->members, struct sx_collective, members);
}

static inline bool sx_member_has_called(const struct sx_member *member)
{
    return member->arrived || member->is_behind;
}

/* Return: whether @member has still to call @collective, or one of its repeats. */
static inline bool sx_collective_misses(const struct sx_collective *collective,
                                        const struct sx_member *member)
{
    return !sx_member_has_called(member) || member->repeats < collective->repeats;
}

/* Functions of the engine, for the code that it calls. */
struct sx_collective_engine {
    /* Let the time limit and the ends of members count again.  Return: false when the operation
     * has ended by them, and is freed. */
    bool (*resume)(struct sx_collective *collective);
    /* Look at the members that have gone and are still unlooked, so that the operation may succeed.
     * Return: false when it has ended by them, and is freed. */
    bool (*look)(struct sx_collective *collective);
    /* Continue without @client, which the kind's `lost` has kept, or end with @status. */
    void (*go_on)(struct sx_collective *collective, struct sx_client *client);
    void (*stop)(struct sx_collective *collective, pmix_status_t status);
    /* The other nodes have the failure of @collective: free it, once all members here have it. */
    void (*failed)(struct sx_collective *collective);
};

/* All is packed, or not: @rc. */
typedef void (*sx_packed_fn)(struct sx_collective *collective, pmix_status_t rc);

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
     * Return: the status with which the operation ends; PMIX_SUCCESS: it continues;
     * PMIX_ERR_WOULD_BLOCK: this was a step, which takes long, and another is needed. */
    pmix_status_t (*nspace_added)(struct sx_collective *collective);
    /* Do a step of what `aim` does with a long list of processes: each takes long.  NULL: `aim`
     * takes no time.  Return: PMIX_ERR_WOULD_BLOCK when another step is needed before it; else as
     * `aim`. */
    pmix_status_t (*prepare)(struct sx_server *server, struct sx_arrival *arrival);
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
    bool (*host_always)(const struct sx_collective *collective);
    /* All members here have arrived.  Return: PMIX_SUCCESS when @answered will be called. */
    pmix_status_t (*host_ask)(struct sx_collective *collective, sx_answered_fn answered);
    /* Read the host's answer.  Return: false when it will be called again; else the operation ends
     * for the members here with *ret_status. */
    bool (*host_answered)(struct sx_collective *collective, const struct sx_host_answer *answer,
                          pmix_status_t *ret_status);
    /* The operation has ended for its members while the host had it.  NULL: the host is not
     * called. */
    void (*host_cancel)(const struct sx_collective *collective);
    /* Free collective.plan.  NULL: operations of this kind have none. */
    void (*plan_free)(struct sx_group_plan *plan);
    /* Write what the servers of other nodes get of the operation, in rounds.  NULL: as below. */
    pmix_status_t (*contribute)(struct sx_collective *collective, struct sx_blob *blob);
    /* The same for what may be much: behind what @blob has.  Return: PMIX_SUCCESS;
     * PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_WOULD_BLOCK: @blob gets the rest in later turns, and
     * @packed is called, unless sx_fence_pack_drop is. */
    pmix_status_t (*pack)(struct sx_collective *collective, struct sx_blob *blob,
                          sx_packed_fn packed);
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

/* ---- signatures ------------------------------------------------------------------------------ */

/* The signature of an open operation: its kind, its processes and the callers'
 * id. */

struct sx_op_signature {
    uint32_t kind;              /* enum sx_collective_kind */
    struct sx_alias_list procs; /* in the order of sx_proc_order, each once; none if the id
                                 * suffices */
    const char *id;             /* NULL: none */
    uint64_t
        space; /* other than 0: one of several users' lists that the names or the id may mean */
};

/* Return: the hash for a table.  Clients cannot guess it. */
uint64_t sx_op_signature_hash(const struct sx_server *server,
                              const struct sx_op_signature *meeting);

/* Return: the oldest open operation of @meeting, whose hash is @hash; NULL: there is none. */
struct sx_collective *sx_op_signature_oldest(const struct sx_server *server,
                                             const struct sx_op_signature *meeting, uint64_t hash);
/* Return: the first, from @oldest (or NULL) on, that has not ended.  One that is over stays while
 * the host has it, or gets its failure.  NULL: there is none. */
struct sx_collective *sx_collective_open_of(struct sx_collective *oldest);
/* As sx_op_signature_oldest, of all spaces: the oldest of the next one, the first for @oldest NULL.
 * For kinds that are known by their id. */
struct sx_collective *sx_op_signature_next(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash,
                                           const struct sx_collective *oldest);
/* Return: the newest operation that was named in another way, but means the processes of @meeting
 * (no names of lists); NULL: there is none. */
struct sx_collective *sx_op_signature_meant(const struct sx_server *server,
                                            const struct sx_op_signature *meeting, uint64_t hash);
/* The same for operations that have failed, and whose status some members have still to get. */
struct sx_collective *sx_op_signature_owed(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash);

#endif
