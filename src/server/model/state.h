/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.h - the one server of this process: its state, and how work reaches its loop thread.
 *
 *     NONE --PMIx_server_init--> RUNNING --PMIx_server_finalize--> NONE
 *
 * Everything below belongs to the loop thread, except fields that are marked constant.  Host
 * threads reach it with sx_server_call.  An upcall into the host is made on the loop thread without
 * any lock held; the host's answers return through question.c on any thread. */
#ifndef SX_SERVER_MODEL_STATE_H
#define SX_SERVER_MODEL_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include <pmix_server.h>

#include "base/call/support.h"
#include "base/list.h"
#include "base/spin.h"
#include "base/stream/log_text.h"
#include "base/stream/out.h"
#include "base/table.h"
#include "control/contact.h"
#include "control/gateway.h"
#include "control/loop.h"
#include "control/rendezvous.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/open_ops.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"
#include "server/model/numa.h"
#include "server/model/published.h"
#include "server/model/setup_env.h"
#include "server/model/share.h"
#include "server/model/steps.h"

#define SX_SERVER_LINGER_YIELDS 4u

struct sx_family; /* family.h */
struct sx_kind;   /* collective/operation.h */

/* The consumer of messages and ends of clients: rooms below find them, and rooms above handle
 * them. */
struct sx_consumer {
    /* A checked frame of a connected client. */
    void (*frame)(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                  uint64_t now_ns);
    /* The cost of a lane message, in units (share.h). */
    uint64_t (*lane_cost)(uint32_t kind, size_t size);
    /* A lane message, already copied out.  Return: PMIX_SUCCESS, or an error for one that no
     * correct client writes. */
    pmix_status_t (*lane)(struct sx_server *server, struct sx_client *client, uint32_t kind,
                          const void *body, size_t size);
    /* A breach of protocol, in words. */
    void (*breaks)(struct sx_server *server, struct sx_client *client, const char *why);
    /* The client's socket has ended; @why: NULL, or a breach that has been logged. */
    void (*ended)(struct sx_server *server, struct sx_client *client, const char *why);
    /* Another process claims to be this client, which is connected.  Return: true when the process
     * before has died, and is lost by now. */
    bool (*replaced)(struct sx_server *server, struct sx_client *client);
};

/* ---- what engines keep of a server; theirs alone -------------------------------------------- */

/* cleanup */
struct sx_cleanup_queues {
    struct sx_list list;
    bool ending, killed;
    struct sx_timer deadline;
    void (*ended)(struct sx_server *server);
};

/* open_ops.h */
struct sx_shown_ops {
    struct sx_list due;     /* operations that have to be written to their rows, the first first */
    struct sx_list rowless; /* those for which there was no row, the oldest first */
    size_t rowless_count;
    struct sx_timer timer;
    struct sx_open_ops table;
};

/* get_index.h */
#define SX_WAITING_ONCE 1024u
struct sx_waiting {
    struct sx_table ranks;          /* struct sx_awaited by namespace and rank */
    struct sx_table keys;           /* struct sx_awaited_key by namespace, rank, realm and key */
    uint64_t once[SX_WAITING_ONCE]; /* hashes of what was asked of the host once; 0: none */
    struct sx_list due;             /* struct sx_awaited with Gets to answer, the first first */
    struct sx_list passed;          /* struct sx_lane_mark of lanes that have ended */
    struct sx_steps answers;        /* takes the next of both */
};

/* query */
#define SX_QUERY_KEPT_MAX 256u
struct sx_query_kept {
    struct sx_query_answer *all[SX_QUERY_KEPT_MAX]; /* NULL: none */
    unsigned next;                                  /* the place of the next one */
};
struct sx_query_state {
    struct sx_query_kept kept;      /* query_cache.c: the host's answers */
    struct sx_support_host support; /* query.c: the attributes of the host's functions */
};

/* process_sets.c */
struct sx_psets {
    struct sx_list
        ownerless; /* struct sx_membership_entry: the sets whose defining processes have gone */
    struct sx_loop_post post; /* removes the next of them */
    bool posted;
};

struct sx_job_state {
    struct sx_psets psets;
    struct sx_list resources; /* resources.c */
};

/* hello.c */
struct sx_strangers {
    struct sx_list silent;     /* accepted, have sent nothing yet; the others: turn.strangers */
    size_t count;              /* of both */
    struct sx_list asked;      /* tools, about which the host is asked: tool.c */
    struct sx_list joining;    /* ranks, likewise */
    struct sx_loop_post crowd; /* removes some when there are too many */
    bool crowd_posted, crowd_logged;
    struct sx_accept accepts[2]; /* of the rendezvous; the second may have no socket */
    struct sx_timer accept_rest; /* added: no peer is accepted */
    uint64_t refused_units;      /* spent on refused peers since the last rest */
};

/* log_bound.c: the cause of a log line, and the users that have caused lines lately. */
#define SX_LOG_USERS_MAX 64u
struct sx_log_cause {
    uint32_t uid;
    bool is_user;
};
struct sx_log_user {
    uint64_t until_ns; /* the end of its period; 0: the row is free */
    uint32_t uid;
    uint64_t lines, details, left_out;
};
struct sx_log_bound {
    struct sx_log_cause cause;
    bool is_notifying; /* of what is left out: that is not counted */
    uint64_t lines_max;
    struct sx_log_user users[SX_LOG_USERS_MAX + 1]; /* the last: of no user, or of one more */
    struct sx_timer timer;                          /* added while lines are left out */
};

/* Ways in which a tool finds a contact file of this server: entry/contact.c. */
enum sx_contact_use {
    SX_CONTACT_SYSTEM, /* the roles of control/contact.h come first, in their order */
    SX_CONTACT_SCHEDULER,
    SX_CONTACT_CONTROLLER,
    SX_CONTACT_LAUNCHER,
    SX_CONTACT_BY_NSPACE,
    SX_CONTACT_BY_PID,
    SX_CONTACT_PLAIN,
    SX_CONTACT_USES
};

/* gateway.c: the port of ranks that carry another PMIx library. */
struct sx_gateway_state {
    struct sx_gateway_port port; /* its URI is constant between init and finalize; empty: none */
    struct sx_poll watch;        /* for a connection, while no gateway accepts */
    struct sx_poll end;          /* of the gateway that accepts: its pidfd */
    struct sx_poll log;          /* what the gateways write to stderr */
    char *program, **env;        /* of the gateway */
    int life_fds[2];             /* the gateways end with the first; the other one is theirs */
    int log_fd;                  /* the gateways' end of @log */
    size_t log_bytes;            /* that have been copied */
    unsigned lives;              /* gateways that were started */
};

/* ending.c: namespaces that the host has deregistered. */
struct sx_endings {
    struct sx_list all;    /* struct sx_ending, the first one first */
    struct sx_steps steps; /* takes the next pieces of it */
};

struct sx_entry_state {
    struct sx_gateway_state gateway;
    struct sx_endings endings;
    struct sx_strangers strangers;
    struct sx_log_bound log_bound;
    struct sx_contact_file contacts[SX_CONTACT_USES]; /* constant between init and finalize */
};

/* upcall.c: the entries of the host's module that are called. */
enum sx_upcall_kind {
    SX_UPCALL_CLIENT_CONNECTED,
    SX_UPCALL_CLIENT_CONNECTED2,
    SX_UPCALL_CLIENT_FINALIZED,
    SX_UPCALL_ABORT,
    SX_UPCALL_FENCE_NB,
    SX_UPCALL_DIRECT_MODEX,
    SX_UPCALL_REGISTER_EVENTS,
    SX_UPCALL_DEREGISTER_EVENTS,
    SX_UPCALL_NOTIFY_EVENT,
    SX_UPCALL_CONNECT,
    SX_UPCALL_DISCONNECT,
    SX_UPCALL_LOG,
    SX_UPCALL_JOB_CONTROL,
    SX_UPCALL_MONITOR,
    SX_UPCALL_ALLOCATE,
    SX_UPCALL_FABRIC,
    SX_UPCALL_SPAWN,
    SX_UPCALL_GET_CREDENTIAL,
    SX_UPCALL_VALIDATE_CREDENTIAL,
    SX_UPCALL_PUBLISH,
    SX_UPCALL_LOOKUP,
    SX_UPCALL_UNPUBLISH,
    SX_UPCALL_IOF_PULL,
    SX_UPCALL_PUSH_STDIN,
    SX_UPCALL_QUERY,
    SX_UPCALL_TOOL_CONNECTED,
    SX_UPCALL_GROUP,
    SX_UPCALL_KINDS
};
struct sx_owed {
    unsigned count; /* questions that the host has not answered */
    uint64_t bytes;
    bool full_logged;        /* since it last owed nothing */
    struct sx_quota clients; /* the clients' shares, if it has a bound of its own */
};
struct sx_host {
    struct sx_list calls; /* struct sx_host_call, in the order of the engines */
    unsigned busy;        /* engines on the stack of the loop thread: no call is made meanwhile */
    bool ending;          /* a callback of the host begins nothing any more that has a callback */
    bool forgotten;       /* no question is sent any more */
    bool unreachable_logged; /* that it leads to no other node */
    bool unreadable_logged;  /* that it asks no other node for data */
    struct sx_owed owed[SX_UPCALL_KINDS];
    struct sx_list unaligned; /* question.c: answers whose bytes are copied in steps */
    struct sx_steps aligning;
};

struct sx_port_state {
    struct sx_host host;
    struct sx_server_call *call; /* state.c: the one of the host that is being done */
    struct sx_table pendings;    /* pending.c */
    unsigned pending_max[SX_PENDING_QUOTAS];
    bool lanes_active;    /* something was taken since the last sleep */
    uint8_t *lane_buffer; /* SX_LANE_MESSAGE_MAX bytes, 8-aligned */
};

/* log */
enum sx_sink_number { SX_SINK_STDOUT, SX_SINK_STDERR, SX_SINK_SYSLOG, SX_SINKS };
struct sx_sink {
    struct sx_list jobs; /* the first is being written */
    bool is_open;
    bool is_syslog; /* a datagram each piece */
    bool is_busy;   /* being written, with a callback */
    struct sx_out out;
    struct sx_poll room;     /* added: it waits for some, or for its next turn */
    struct sx_log_text text; /* what is left of the first job ... */
    bool begun;              /* ... if it has begun */
    char *piece;             /* of it, SX_LOG_PIECE_MAX bytes */
    size_t piece_at, piece_size;
};
struct sx_log_state {
    struct sx_sink outlets[SX_SINKS];
    uint8_t taken;        /* logging.c: SX_LOGS_* that the host takes */
    struct sx_list calls; /* the same: that have not ended */
};

/* iof */
struct sx_iof_state {
    struct sx_list pulls;       /* iof.c: of output */
    struct sx_table pull_names; /* pull.c: the processes that they name */
    uint64_t output_last;       /* the number of the output that was handed on last */
    struct sx_list producers;   /* input.c */
    bool producers_stopped;
    struct sx_steps producing; /* what was parked, when the host wants it */
    struct sx_list kept;       /* output.c: output without a pull yet, by its jobs ... */
    struct sx_table kept_jobs; /* ... which are found by their names */
    size_t kept_bytes, kept_count;
};

/* collective */
struct sx_collective_state {
    struct sx_list all;
    struct sx_collective_walk *walk; /* engine.h: NULL: no walk is under way */
    struct sx_shown_ops shown;
    struct sx_table signatures; /* the operations by their members: op_signature.c */
    struct sx_table meant;      /* those named by groups, by the real members */
    struct sx_table owed;       /* failed ones kept for late callers, found likewise */
    struct sx_table named;      /* signatures with names of lists, by these: members.c */
    struct sx_table rounds;     /* of those that are open, by their processes: rounds.c */
    uint64_t last;              /* the serial of the newest */
    size_t open_count;          /* of all ... */
    struct sx_quota quota;      /* ... of which those beyond SX_COLLECTIVES_FREE have owners */
    uint64_t registrations;     /* of namespaces, so far */
    struct sx_list unread;      /* operations that have waited for some of them ... */
    struct sx_loop_post unread_post;
    bool unread_posted;          /* ... and are continued in a later turn */
    struct sx_steps_queue packs; /* fence_pack.c: struct sx_fence_pack, which ... */
    struct sx_steps packing;     /* ... takes several turns */
    struct sx_list namings;      /* operations for the host whose processes get their names ... */
    struct sx_steps naming;      /* ... in several turns */
    struct sx_list ends;         /* clients that have gone, and have operations unlooked ... */
    struct sx_steps ending;      /* ... which are changed in steps */
    struct sx_list marked;       /* those that sx_collective_list_mark has found */
    struct sx_list leavers;      /* member_left.c: struct sx_leaver, oldest first */
    struct sx_loop_post leave;   /* takes the next steps of them */
    bool leave_posted;
    struct sx_table connects; /* connected namespaces, by what their members wrote: connect.c */
    uint64_t connect_last;    /* of the names of connected namespaces: connect.c */
    struct sx_list spans;     /* connect_nodes.c */
    void (*connect_lost)(const pmix_proc_t *lost, const char *nspace); /* connect.c */
};

/* group */
struct sx_group_state {
    uint64_t context_last;       /* of the context ids: group.c */
    uint64_t bytes_max;          /* group.h */
    uint64_t question_last;      /* of questions during a construct: SX_GROUP_QUESTION */
    uint64_t space_last;         /* of constructs of several users: struct sx_op_signature */
    struct sx_table invitations; /* by the groups' names: invitation.h */
    struct sx_list invite_early; /* calls that name processes not registered yet: invite.c */
    struct sx_table guests;      /* of all invitations, by invitation and client */
    struct sx_list lost;         /* struct sx_guest whose processes have ended: invite.c ... */
    struct sx_steps losses;      /* ... acts on each, in steps */
    struct sx_list missed;       /* guests about whom a question was lost ... */
    struct sx_steps asks;        /* ... which is asked again, in steps */
};

/* event */
struct sx_event_state {
    struct sx_event_history history;
    struct sx_steps forget;        /* the events that ended namespaces kept */
    struct sx_list sweeps;         /* namespaces with events that every client has had ... */
    struct sx_steps sweep;         /* ... which go in steps */
    struct sx_eventlog host;       /* events for the host's own handlers */
    struct sx_event_codes codes;   /* clients that want them */
    struct sx_list open_codes;     /* those that the host is being asked for */
    struct sx_list wants;          /* event_codes.c: those that wait for the host */
    uint64_t question_last;        /* event_codes.c: the number of the last one */
    uint64_t targets_mark;         /* event_route.c: of the last event with targets */
    struct sx_list handled_askers; /* event_handled.c */
    struct sx_list dirty;          /* namespaces whose sleepers have to be woken */
    struct sx_loop_post wake;      /* event.c: not before this */
    bool wake_posted;
};

/* data */
struct sx_incomings {
    struct sx_list running; /* incoming.c: struct sx_incoming, the next one first ... */
    struct sx_list waiting; /* ... and those that wait for some of these, or of each other */
    struct sx_steps steps;  /* stores a part of the next one */
};
struct sx_data_state {
    struct sx_waiting waiting;
    uint64_t get_patience_ns; /* waiting_gets.c; 0: no end */
    struct sx_incomings incomings;
    struct sx_steps_queue packs; /* dmodex.c: requests whose answer is being packed ... */
    struct sx_steps packing;     /* ... some of them in each turn */
    uint64_t generation_last;    /* the highest of the stores that have ended */
};

/* publish */
struct sx_publish_state {
    struct sx_published published;
    struct sx_table lookups;  /* lookup.c: the keys that lookups wait for */
    struct sx_loop_post over; /* publish.c: removes more of the rows that are over */
    bool over_posted;
    struct sx_list leaving; /* lookup.c: struct sx_lookup that have ended; some keys are left */
    struct sx_steps leave;  /* ... which are taken out in steps */
};

/* ---- the server ------------------------------------------------------------------------------ */

struct sx_server {
    /* constant between init and finalize */
    pmix_server_module_t module;
    pmix_proc_t self;
    uid_t client_uid; /* may connect besides registered users: owner of the rendezvous */
    gid_t client_gid;
    char *tmpdir;
    char hostname[256];
    bool takes_tools, takes_foreign_tools; /* of other users than its own and root */
    char relay_origin[33];                 /* event_relay.c: hexadecimal */
    const struct sx_family *families;
    const struct sx_kind *kinds;
    const struct sx_consumer *consumer;
    struct sx_loop *loop;
    struct sx_numa numa;
    struct sx_rendezvous rendezvous;
    pthread_t thread;
    pid_t pid;

    /* the loop thread's */
    struct sx_board board;
    struct sx_registry registry;
    struct sx_memberships memberships;
    struct sx_port_state port;
    struct sx_entry_state entry;
    struct sx_job_state job;
    uint64_t seed; /* of tables whose keys clients choose: secret from them */
    struct sx_collective_state collective;
    struct sx_group_state group;
    struct sx_event_state event;
    struct sx_data_state data;
    struct sx_publish_state publish;
    struct sx_query_state query;
    struct sx_cleanup_queues brooms;
    struct sx_log_state log;
    struct sx_iof_state iof;
    struct sx_list own_asks; /* manage: requests.c */
    struct sx_turn turn;
    struct sx_client **live; /* the connected ones: lanes.c scans them */
    size_t live_count, live_capacity;
    size_t bitset_sleepers; /* clients without futex_waitv */
    struct sx_spin spin;
    struct sx_spin_try spin_try;
    struct sx_setup_env carried; /* read by setup_fork as well */
};

/* Return: the running server or NULL.  A forked child of the host has none: a line there says why.
 * Any thread. */
struct sx_server *sx_server_get(void);
/* The same; in a forked child of the host, the server as it was at the fork.  For what is constant
 * since PMIx_server_init. */
struct sx_server *sx_server_or_parents(void);
/* @server runs from now on, or (NULL) no server any more.  Under the lock of init and finalize. */
void sx_server_set(struct sx_server *server);

/* "NSPACE.RANK;unix:PATH": the server's name and address.  Return: malloc'ed, or NULL. */
char *sx_server_uri(const struct sx_server *server);

/* Run @fn on the loop thread and wait for its result; on the loop thread itself: call it. */
typedef pmix_status_t (*sx_server_fn)(struct sx_server *server, void *arg);
pmix_status_t sx_server_call(struct sx_server *server, sx_server_fn fn, void *arg);

/* Call @fn on the loop thread, then @cbfunc with its status; without @cbfunc wait for it.  @arg
 * must live until then.  Return: PMIX_SUCCESS when @cbfunc will be called; without @cbfunc
 * PMIX_OPERATION_SUCCEEDED, or the error of @fn. */
pmix_status_t sx_server_submit(struct sx_server *server, sx_server_fn fn, void *arg,
                               void (*release)(void *arg), pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Inside such a @fn: it is called again, with the same arguments, when sx_server_calls_again gets
 * @list; its result now counts for nothing.  Return: false when that cannot be, since the loop's
 * own thread waits for the result. */
bool sx_server_call_waits(struct sx_server *server, struct sx_list *list);
/* Call all of @list again, in their order; a call may wait once more, in another list.  The host's
 * callbacks are called at the end of the turn. */
void sx_server_calls_again(struct sx_server *server, struct sx_list *list);

/* ---- calls into the host ---------------------------------------------------------------------
 * Engines append what they want to call: entries of the module (port/upcall.c), and completion
 * callbacks of the host's own requests.  The loop makes the calls at the end of its turn, in this
 * order, when no engine is on the stack.  So the host may call any PMIx_server_* function inside
 * one of them, and no engine finds its state changed. */

struct sx_host_call {
    struct sx_list link;
    void (*fn)(struct sx_host_call *call); /* may free it */
    struct sx_log_cause cause;             /* of what the host logs inside: as at the appending */
};
void sx_host_call_append(struct sx_server *server, struct sx_host_call *call,
                         void (*fn)(struct sx_host_call *call));
/* Make all of them, also those that are appended meanwhile.  Not inside sx_engine_enter. */
void sx_host_calls_make(struct sx_server *server);

/* An engine works until sx_engine_leave; they nest. */
static inline void sx_engine_enter(struct sx_server *server)
{
    server->port.host.busy++;
}
static inline void sx_engine_leave(struct sx_server *server)
{
    server->port.host.busy--;
}

#endif
