/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace.h - the namespaces on this server, and the local clients in each.
 *
 * A namespace appears with the first call that names it (hosts register clients before or after
 * their namespace) and ends with PMIx_server_deregister_nspace.  Tools are clients that the host
 * has not registered: each appears when it connects and is removed when its connection ends
 * (entry/tool.c). */
#ifndef SX_SERVER_MODEL_NSPACE_H
#define SX_SERVER_MODEL_NSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <pmix_server.h>

#include "base/call/publish.h"
#include "base/list.h"
#include "base/table.h"
#include "control/channel.h"
#include "ring/lane.h"
#include "ring/record.h"
#include "ring/ring.h"
#include "server/model/blob.h"
#include "server/model/event_log.h"
#include "server/model/share.h"
#include "shmem/membership.h"
#include "shmem/store.h"

struct sx_channel;
struct sx_client;
struct sx_connection;
struct sx_nspace;
struct sx_server;

/* ---- results: the newest ends of a client's collectives -------------------------------------- */

/* The newest ends of a client's collectives, for a client that the ring has lapped.
 *
 * A client reads the ring in its order.  So the ends that it has not read are the newest, and no
 * more than it has operations under way.  Each arrival contains that number, and as many ends are
 * kept. */

struct sx_result {
    uint32_t op;
    int32_t status;
    uint64_t subject; /* ring/record.h */
};

/* A circle; zeroed is empty. */
struct sx_results {
    struct sx_result *all;
    size_t capacity; /* a power of two, or 0 */
    uint64_t count;  /* that there ever were */
};

void sx_results_clear(struct sx_results *results);

/* Keep @count at least.  Return: false when memory is out. */
bool sx_results_reserve(struct sx_results *results, size_t count);
void sx_results_keep(struct sx_results *results, struct sx_result result);

/* How many are there, and the one at @index, from the oldest. */
size_t sx_results_count(const struct sx_results *results);
struct sx_result sx_results_at(const struct sx_results *results, size_t index);

/* ---- namespaces and clients ------------------------------------------------------------------ */

enum sx_client_state {
    SX_CLIENT_REGISTERED, /* known, not connected; also after an orderly finalize */
    SX_CLIENT_CONNECTED,
    SX_CLIENT_FINALIZED, /* has said good-bye, connection still open */
    SX_CLIENT_DEAD,      /* lost, or taken away by the host */
};

/* Things of which a client may have a bounded number at a time: pending.c. */
enum sx_pending_quota {
    SX_PENDING_GET,
    SX_PENDING_REGISTRATION, /* of an event handler, until the host answers */
    SX_PENDING_HOST,         /* questions to the host */
    SX_PENDING_ARRIVAL,      /* collectives that it has joined, until they are removed */
    SX_PENDING_LOG,          /* its log calls, until they have been written */
    SX_PENDING_PULL,         /* pulls of output, from the call to their end */
    SX_PENDING_INVITE,       /* invitations to groups: its own, and those it has accepted */
    SX_PENDING_LOOKUP,       /* lookups that wait for a publication */
    SX_PENDING_FINALIZE,     /* its PMIx_Finalize, until all that it has caused is done */
    SX_PENDING_QUOTAS
};

/* event_codes.h: a code, and how many want it. */
struct sx_event_code {
    struct sx_table_node node;
    pmix_status_t code;
    uint32_t count;
    /* the server's set */
    bool asked;          /* the host was asked and has not refused */
    uint64_t question;   /* that it has not answered; 0: none */
    struct sx_list open; /* server.event.open_codes, while there is a question */
};

/* Zeroed is empty.  Clients choose the codes, so they are hashed with the server's seed. */
struct sx_event_codes {
    struct sx_table table;
    uint64_t seed;
};

/* The client that copies the next generation of a store in its turns: modex.c. */
struct sx_store_copier {
    struct sx_share_work work;
    struct sx_server *server;
    struct sx_client *client; /* NULL: no client does */
};

/* One local process.  Counted: the registry holds one reference, each pending answer another. */
struct sx_client {
    struct sx_nspace *nspace; /* its name, with its rank */
    struct sx_nspace *home;   /* the one whose ring and store it reads; another for some tools */
    uint32_t rank;
    bool is_tool;
    bool is_hosts_tool; /* the host has admitted it, and is called at its end */
    uid_t uid;
    gid_t gid;
    void *server_object;
    unsigned reference_count;
    enum sx_client_state state;
    uint32_t removals; /* by the host: calls for the process before are not made any more */
    bool is_asked;     /* a process wants to be it, and the host is asked: tool.c */
    uint32_t process;  /* counts the processes that have connected as it */

    /* while connected */
    struct sx_connection *connection; /* entry/entry.h; NULL: none */
    struct sx_channel *channel;       /* its channel, for answers */
    uint32_t slot;                    /* on the board; SX_BOARD_SLOT_MAX: none */
    bool no_waitv;
    struct sx_lane_reader lane;
    struct sx_share share;
    int doorbell_fd;
    struct sx_poll doorbell;
    int wake_fd;           /* wake.c; -1: it does not sleep in poll(2) */
    struct sx_list poller; /* home.pollers, while it may */
    uint32_t wake_owed;    /* classes of news that it could not be rung for yet */
    struct sx_timer wake_again;
    struct sx_poll death;       /* the pidfd: the authority */
    struct sx_futex death_hint; /* the lane's life word: starts the check, never decides */
    struct sx_timer death_check;
    unsigned death_checks;

    bool left;           /* it has finalized: another process may come in its place ... */
    int exit_fd;         /* ... but not after this one (a pidfd; -1: not known) ... */
    struct sx_poll exit; /* ... once it has exited */
    bool departed;       /* for good: no operation waits for it any more */
    bool died;           /* the kernel has reported it: the host may start another in its place */

    bool has_committed;
    size_t values_lost;           /* modex.c: of the commit that is under way */
    struct sx_long_put *long_put; /* modex.c: the value that is being copied; NULL: none */
    struct sx_long_frame *judged; /* connection.c: what is judged in steps; NULL: nothing */
    struct sx_news news;          /* put since the last fence that all nodes took part in */
    uint32_t scope_moves;         /* so often a value has gone from one store to the other */
    struct sx_list requests;      /* dmodex.c: other nodes that wait for its first commit */
    uint32_t waiter_count;        /* gets of others that wait for this one's data */
    struct sx_list pendings;      /* pending.c: what it waits for */
    struct sx_list belongings[SX_MEMBERSHIP_KINDS]; /* belonging.c: the lists it is in, by kind */
    struct sx_list operations; /* operation.h: struct sx_member, from the oldest operation on ... */
    struct sx_list unlooked;   /* ... and those that its end has still to change ... */
    struct sx_list ending;     /* ... while there are some: collective.ends */
    struct sx_list sets;       /* process_sets.c: process sets that it has defined */
    uint32_t pending_counts[SX_PENDING_QUOTAS];
    size_t pending_bytes[SX_PENDING_QUOTAS]; /* that these keep */
    uint32_t pending_logged;                 /* bits: quotas that it was refused more of */
    size_t found_bytes;                      /* lookup.c: of answers that it has not been sent */
    pmix_status_t spawn_failed;              /* the same: of the next lookup that would wait */
    uint64_t output_judged;                  /* iof.c: the output that it was judged for last ... */
    bool output_may;                         /* ... and whether it may have it */
    char *credential;                        /* manage.h: NULL: it has not asked for one */
    struct sx_list monitors;                 /* manage.h: its own */
    struct sx_list guests;                   /* invitation.h: of it, while its process lives ... */
    size_t guest_count;                      /* ... so many ... */
    uint32_t guest_process;                  /* ... which has this number there */
    size_t guests_lost;                      /* ... and those of an end not acted on yet */
    struct sx_list cleanups;                 /* cleanup.c: struct sx_cleanup_queue_path ... */
    struct sx_list cleanups_given;           /* ... and those that it has given to others */
    bool cleanup_logged;
    struct sx_results results;         /* newest ends of its collectives */
    struct sx_event_codes event_codes; /* its handlers for events from outside the node */
    uint64_t event_seq;                /* of its ring: up to here it has surely read */
    bool has_handlers;                 /* of events, or has had some */
    bool event_left;                   /* it has gone: no event is kept for it */
    bool event_lost_notified;
    bool pid_stored; /* derived_keys.c: PMIX_PROC_PID is ours, not the host's */
};

/* entry/ending.c: how far a namespace is that the host has deregistered. */
enum sx_ending_stage {
    SX_ENDING_TOOLS,
    SX_ENDING_CLIENTS,
    SX_ENDING_LOSSES,
    SX_ENDING_UNSAID,
    SX_ENDING_NSPACE,
    SX_ENDING_GONE
};
struct sx_ending {
    struct sx_list link; /* entry.endings.all */
    enum sx_ending_stage stage;
    uint32_t next_rank;   /* the lowest that may be the next one's */
    struct sx_list calls; /* of the host, which wait until the namespace has gone */
};

struct sx_nspace {
    struct sx_list link;       /* registry.nspaces */
    struct sx_table_node node; /* registry.names */
    char name[256];
    bool registered;                       /* PMIx_server_register_nspace has succeeded */
    bool unregistered_logged, size_logged; /* the host's mistakes, each once ... */
    bool here_logged, rank_logged;         /* ... in the numbers of processes, too ... */
    bool map_logged;                       /* ... and ranks without the nodes that they are on */
    bool has_store;
    bool has_data;   /* was registered with job info */
    bool is_derived; /* all that follows from it is stored, for so many local processes: */
    uint32_t derived_local_count;
    bool is_coming; /* the host will store the topology later: waiting_gets.c */
    bool is_ending; /* its clients are being taken away */
    struct sx_ending ending;
    bool was_connected;   /* processes of it have been members of a connect */
    uid_t uid;            /* the job's user while none of its processes is here */
    uint32_t local_count; /* local processes the host announced */
    uint32_t job_size;    /* 0: not known */
    uint32_t
        brought_count; /* by connects over nodes, and not registered by the host: connect_nodes.c */
    uint64_t joined_mark;  /* sx_memberships_mark */
    uint64_t targets_mark; /* event_route.c: that of the last event whose targets name it */
    struct sx_list
        tool_sets; /* process_sets.c: process sets that tools have defined, of its processes */
    struct sx_list group_values; /* group.h: values of groups in the store ... */
    uint64_t group_bytes;        /* ... takes so much of it */
    struct sx_list kept;         /* cleanup.c: paths that its processes want to keep ... */
    size_t kept_bytes;           /* ... takes so much */
    uint64_t session;            /* PMIX_SESSION_ID, or SX_SESSION_* */
    size_t connected_count;      /* of its own processes */
    size_t reader_count;         /* of those whose home it is */
    struct sx_list pollers;      /* those of them with a wake_fd */
    struct sx_client **by_rank;  /* sorted by rank */
    size_t client_count, client_capacity;
    struct sx_store_writer store;  /* readable for all */
    struct sx_store_writer remote; /* put with scope REMOTE: for other nodes only; private */
    bool has_remote;
    struct sx_store_copier copier; /* of both */
    struct sx_ring ring;
    struct sx_eventlog events;
    uint64_t event_seq_last;     /* the record of the last event */
    uint32_t event_classes;      /* of events in the ring for which no process was woken yet */
    size_t event_sweep_at;       /* event.c */
    struct sx_list events_dirty; /* server.events_dirty */
    struct sx_list events_sweep; /* event.sweeps */
    struct sx_list unsaid;       /* struct sx_unsaid: processes of it were connected at their end */
    struct sx_list awaited;      /* get_index.h: its ranks that Gets wait for */
};

/* Names of namespaces, groups and connected namespaces that have ended here: the newest. */
#define SX_ENDED_NAMES_MAX 1024u

struct sx_registry {
    struct sx_list nspaces;      /* the oldest first */
    struct sx_table names;       /* the same, by their names */
    uint64_t walked;             /* number of namespaces that were ever compared by name */
    uint64_t lookups;            /* number of names that were ever hashed for a search */
    struct sx_table ended_names; /* of those in ended that are in use */
    struct sx_table_node ended[SX_ENDED_NAMES_MAX]; /* hash 0: not in use */
    unsigned ended_next;                            /* the place of the next one */
};

void sx_registry_init(struct sx_registry *registry);
void sx_registry_deinit(struct sx_server *server);

/* Return: NULL when unknown. */
struct sx_nspace *sx_nspace_find(struct sx_server *server, const char *name);
/* The hash of a name, which clients cannot guess. */
uint64_t sx_nspace_hash(struct sx_server *server, const char *name);
/* A bit for the hash of each namespace of @procs: names of equal hash count as equal. */
uint64_t sx_nspace_names(struct sx_server *server, const pmix_proc_t *procs, size_t count);

/* A search for the namespaces of a list of processes.  Most lists have runs of one name: each run
 * costs one search.  Set the server, and zero the rest.  The list stays as it is meanwhile, and no
 * namespace is added or removed. */
struct sx_nspace_run {
    struct sx_server *server;
    const char *name; /* of the last search */
    struct sx_nspace *nspace;
};
/* Return: whether @name begins a run.  run->nspace is the namespace of @name; NULL: unknown. */
static inline bool sx_nspace_run_next(struct sx_nspace_run *run, const char *name)
{
    if (run->name != NULL && strcmp(run->name, name) == 0) {
        run->name = name; /* the nearest one is in the cache */
        return false;
    }
    run->name = name;
    run->nspace = sx_nspace_find(run->server, name);
    return true;
}

/* A search for clients of one namespace, by ranks that ascend from call to call.  Of a long list,
 * few may be here: the others take no search each.  Set the namespace, and zero the rest. */
struct sx_client_run {
    const struct sx_nspace *nspace;
    size_t next; /* in by_rank: the clients before it have lower ranks */
};
/* Return: the client of @rank; NULL: there is none. */
struct sx_client *sx_client_run_find(struct sx_client_run *run, uint32_t rank);

/* @name has ended here, until it is registered again. */
void sx_name_ended(struct sx_server *server, const char *name);
void sx_name_returns(struct sx_server *server, const char *name);
bool sx_name_has_ended(struct sx_server *server, const char *name);
/* Whether a namespace of that @name may be registered yet: the server does not have it, and has not
 * had it. */
bool sx_name_may_come(struct sx_server *server, const char *name);
/* Find or make.  Return: NULL when memory is out. */
struct sx_nspace *sx_nspace_obtain(struct sx_server *server, const char *name);
/* Make its store, and its ring when processes of it belong here: no other process reads a ring.
 * Each is made once, in the first call that needs it. */
pmix_status_t sx_nspace_open(struct sx_server *server, struct sx_nspace *nspace);
bool sx_nspace_has_ring(const struct sx_nspace *nspace);
/* Remove the data of @nspace that connects have brought: the host registers it. */
void sx_nspace_yield(struct sx_server *server, struct sx_nspace *nspace);
/* Remove the data of @nspace, which then is only a name again, with its clients. */
void sx_nspace_empty(struct sx_server *server, struct sx_nspace *nspace);
/* Store the keys that the host has not given.  Return: PMIX_SUCCESS; the status of the store,
 * logged. */
pmix_status_t sx_nspace_fill(struct sx_nspace *nspace, enum sx_realm realm, uint32_t row,
                             const char *key, const pmix_value_t *value);
/* Remove @nspace from the server, without a mark for the readers of its store. */
void sx_nspace_remove(struct sx_server *server, struct sx_nspace *nspace);
/* The same when @nspace has ended for all: readers ask the server again before they read on. */
void sx_nspace_end(struct sx_server *server, struct sx_nspace *nspace);
/* sx_nspace_end in pieces.  First: it has ended for all, and no name leads to it any more; its
 * clients, which are not connected, are still there. */
void sx_nspace_end_begin(struct sx_server *server, struct sx_nspace *nspace);
/* Then, as long as this returns true, one client goes; false: it was @nspace itself. */
bool sx_nspace_end_step(struct sx_server *server, struct sx_nspace *nspace);

/* Return: the new client, NULL when memory is out.  @rank must not be there yet. */
struct sx_client *sx_client_add(struct sx_nspace *nspace, uint32_t rank);
/* Remove @client, which has no connection. */
void sx_client_remove(struct sx_server *server, struct sx_client *client);
struct sx_client *sx_client_find(const struct sx_nspace *nspace, uint32_t rank);
/* Return: the client of the lowest rank that is not below @rank; NULL: there is none. */
struct sx_client *sx_client_from(const struct sx_nspace *nspace, uint32_t rank);
/* Whether @rank, which is not a client, can be a process of this node that the host has not
 * registered yet. */
bool sx_client_may_come(const struct sx_nspace *nspace, uint32_t rank);
pmix_proc_t sx_nspace_proc(const struct sx_nspace *nspace, uint32_t rank);
/* Its process is connected, also behind its good-bye. */
static inline bool sx_client_is_here(const struct sx_client *client)
{
    return client->state == SX_CLIENT_CONNECTED || client->state == SX_CLIENT_FINALIZED;
}
struct sx_client *sx_client_retain(struct sx_client *client);
/* Return: NULL, always. */
struct sx_client *sx_client_release(struct sx_client *client);

/* ---- access: which users' processes may read, reach and control which ------------------------ */

/* Whether all processes of @nspace that are here are @uid's; without any, whether the job is. */
bool sx_nspace_is_of(const struct sx_nspace *nspace, uid_t uid);

/* Whether @client may map the namespace's store.  It may map its own and its home's, and one whose
 * processes here are all of its own user.  It may also map one without processes here whose user is
 * its own, and one with whose processes it is connected or in a group. */
bool sx_nspace_visible(struct sx_server *server, const struct sx_nspace *nspace,
                       struct sx_client *client);
/* The same for a caller that asks about many namespaces: @mark is what sx_memberships_mark has
 * returned for @client in this turn. */
bool sx_nspace_visible_marked(const struct sx_nspace *nspace, const struct sx_client *client,
                              uint64_t mark);

/* Whether values that @client publishes or pushes may reach processes of @nspace, and their output
 * may reach @client: as sx_nspace_visible, and root may.  @client pays for the check of another
 * namespace. */
bool sx_nspace_reachable(struct sx_server *server, const struct sx_nspace *nspace,
                         struct sx_client *client);

/* Whether one of @procs is here and is of another user than @client, which therefore may neither
 * end nor control all of them.  Root may.  @client pays. */
struct sx_alias_list;
bool sx_procs_are_foreign(struct sx_server *server, struct sx_client *client,
                          const struct sx_alias_list *procs);

/* ---- claim: the owner of a name -------------------------------------------------------------- */

/* The owner of a name: each function that names processes asks here first.
 *
 *     FREE --a tool has it--> one user's tools --the last one goes--> FREE
 *        |--a connect, a group, an invitation--> that list's --its end--> FREE
 *        \--the host registers a namespace--> the host's --its end--> FREE
 *     one user's tools, or a list's --the host registers a namespace--> the host's
 *
 * The host is never refused a name.  Others lose it by the family stage name_claimed: tools are
 * disconnected, lists end.  The host also has the names that its next jobs may get
 * (sx_claim_is_kept), before it registers one.
 *
 * Process sets have names of their own, which stand for no process: these names are not checked
 * here. */

/* Of names that this server gives to tools. */
#define SX_CLAIM_TOOLS_PREFIX "shmix-tool-"

/* Whether the host has @nspace, or a connect has brought it: it has processes other than tools. */
bool sx_claim_is_hosts(const struct sx_nspace *nspace);

/* Whether the host or this server keeps @name for itself, used or not: the server's own name; STEM,
 * STEM.N and STEM@N, where the host has a namespace STEM, STEM.M or STEM@M, or the server is called
 * STEM.server, STEM.M or STEM@M (N and M are decimal); NAME.N and NAME@N, where NAME is kept; names
 * that begin with SX_CLAIM_TOOLS_PREFIX. */
bool sx_claim_is_kept(const struct sx_server *server, const char *name);

/* A group under construction wants @name.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, logged, when the
 * name has an owner or is kept; as sx_memberships_name_judge. */
pmix_status_t sx_claim_by_group(struct sx_server *server, uid_t uid, const char *name);

/* A tool of user @uid wants @name.  Return: PMIX_SUCCESS; PMIX_EXISTS when it is the host's or a
 * list's, or kept; PMIX_ERR_NO_PERMISSIONS when tools of another user have it;
 * PMIX_ERR_NOT_AVAILABLE while it ends; then *ret_why says so. */
pmix_status_t sx_claim_by_tool(struct sx_server *server, const char *name, uid_t uid,
                               const char **ret_why);

/* The host takes @name.  On return the name has no other owner. */
void sx_claim_by_host(struct sx_server *server, const char *name);

#endif
