/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* message.h - the control protocol: one table of kinds, their bounds and their layouts.
 *
 * A frame is one SEQPACKET message: a 16-byte header and a body, at most SX_FRAME_MAX together.
 * Descriptors go from server to client only.  A body that does not fit is bulk (SX_FRAME_BULK): a
 * server's lies in a sealed memfd that goes with the frame; a client's goes through its window
 * (WINDOW_GET), whole or in pieces, each of which is answered before the window is used again.
 * Numbers are little-endian, fixed-width; bodies are 8-aligned.  Requests carry an id that the
 * answer repeats; id 0 wants no answer. */
#ifndef SX_CONTROL_MESSAGE_H
#define SX_CONTROL_MESSAGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/message/payloads.h"

#define SX_FRAME_MAX 8192u
#define SX_WINDOW_BYTES ((1u << 20) + 4096u) /* a value of 1 MiB, and its description */
#define SX_PROTOCOL_VERSION 9u

/* ---- bounds of one message; each kind has its own in the table ----------------------------- */

#define SX_VALUE_BYTES_MAX (UINT64_C(1) << 30)   /* PUT_BULK: one committed value */
#define SX_REQUEST_BYTES_MAX (UINT64_C(1) << 20) /* processes and directives */
#define SX_ANSWER_BYTES_MAX (UINT64_C(1) << 30)  /* REPLY */
/* The bytes that the infos of a request may take when they are decoded (base/value/flat.h). */
#define SX_REQUEST_HEAP_MAX (UINT64_C(4) << 20)
#define SX_MONITOR_HEAP_MAX (UINT64_C(64) << 10)
/* So may a value with qualifiers of @size bytes, which the server takes apart: the value keeps its
 * size, and there is room for some thousand qualifiers. */
#define SX_QUALIFIED_HEAP_MAX(size) (2 * (uint64_t)(size) + (UINT64_C(1) << 20))
#define SX_REGISTER_CODES_MAX 1024u /* codes of one handler */

enum sx_message_kind {
    SX_MSG_HELLO = 1,        /* client, tool: its identity; first frame, exactly once */
    SX_MSG_WELCOME,          /* server: the client's name, slot, and five descriptors */
    SX_MSG_REPLY,            /* server: status of a request, body by request */
    SX_MSG_SEGMENT_GET,      /* client: give me a segment of this namespace */
    SX_MSG_GET,              /* client: answer when this value is in the store */
    SX_MSG_GET_CANCEL,       /* client: the Get with this id has timed out here */
    SX_MSG_PUT_BULK,         /* client: a committed value too large for the lane */
    SX_MSG_ARRIVE_BULK,      /* client: an arrival too large for the lane */
    SX_MSG_ABORT,            /* client: end these processes */
    SX_MSG_FINALIZE,         /* client: I leave in an orderly way */
    SX_MSG_JOB_CONTROL,      /* client: directives, flat infos */
    SX_MSG_LOG,              /* client: log this, by these directives */
    SX_MSG_MONITOR,          /* client: watch me, by these directives */
    SX_MSG_ASK_HOST,         /* client: something that only the host can answer */
    SX_MSG_PUBLISH,          /* client: values that others may look up */
    SX_MSG_LOOKUP,           /* client: what is published under these keys? */
    SX_MSG_UNPUBLISH,        /* client: I take it back */
    SX_MSG_SPAWN,            /* client: start a job */
    SX_MSG_IOF_PULL,         /* client: hand me output of these processes */
    SX_MSG_IOF_PUSH,         /* client: give these processes some input */
    SX_MSG_GROUP_LEAVE,      /* client: I am no member of this group any more */
    SX_MSG_GROUP_SAID,       /* client: its handlers' answer to the end of a group's builder */
    SX_MSG_GROUP_INVITE,     /* client: ask these processes to join a group; answered at its end */
    SX_MSG_GROUP_JOIN,       /* client: I accept, answered as an invitation, or I decline */
    SX_MSG_RESULTS_GET,      /* client was lapped: which of my collectives have ended? */
    SX_MSG_EVENT_BULK,       /* client: an event too large for the lane */
    SX_MSG_EVENT_REGISTER,   /* client: a handler for these codes; answered with the kept events */
    SX_MSG_EVENT_DEREGISTER, /* client: one handler less for these codes */
    SX_MSG_EVENT_REPLAY,     /* client: events that it has missed of the ring */
    SX_MSG_QUERY,            /* client: keys that it cannot answer itself */
    SX_MSG_WAKE_GET,         /* client: a socket that becomes readable when there is news */
    SX_MSG_WINDOW_GET,       /* client: a (new) window for bodies that do not fit in a frame */
    SX_MSG_SPEC_MAX,
};

#define SX_FRAME_BULK 0x0001u /* the body is not in the frame */
/* Client, with BULK: this is not the last piece of the body.  Server: the answer continues in
 * frames of the same id, each of which can be read by itself. */
#define SX_FRAME_MORE 0x0002u

struct sx_frame_header {
    uint16_t kind; /* enum sx_message_kind */
    uint16_t flags;
    uint32_t id;
    uint64_t body_size; /* of the body in this frame, in the memfd, or of the piece in the window */
};
static_assert(sizeof(struct sx_frame_header) == 16, "fixed by protocol 1");

#define SX_FRAME_BODY_MAX (SX_FRAME_MAX - (uint32_t)sizeof(struct sx_frame_header))

/* The bounds that a receiver checks before it reads the body, and the cost of a message. */
struct sx_message_spec {
    const char *name; /* "GET" */
    const struct sx_signature *body;
    uint32_t body_max; /* bytes in the frame */
    uint64_t bulk_max; /* bytes of a bulk body; 0: this kind is never bulk */
    const char *thing; /* its name for the user, and advice when it is too large */
    const char *advice;
    uint16_t cost;     /* work units of any message of this kind, at most */
    uint16_t cost_kib; /* and of each KiB of its body */
    uint8_t fds_min, fds_max;
    bool from_client, from_server;
};

/* Return: the row of @kind, NULL when there is none. */
const struct sx_message_spec *sx_message_spec(uint16_t kind);

/* The highest cost of a message of @kind with @body_size bytes to its receiver, in work units: one
 * is about a microsecond of one CPU.  Answers from elsewhere (a host, a peer) are not counted. */
uint64_t sx_message_cost(uint16_t kind, uint64_t body_size);

/* The cost of a piece of a client's bulk body before the body is complete: a copy. */
uint64_t sx_message_piece_cost(uint64_t size);

/* Whether @body_size bytes can go in one message of @kind: senders ask, receivers check.  Return:
 * PMIX_SUCCESS, or PMIX_ERR_OUT_OF_RESOURCE, logged with thing, limit and advice. */
pmix_status_t sx_message_size_judge(uint16_t kind, uint64_t body_size);

/* Judge a received frame: size, kind, direction, flags, body bounds, number of descriptors.  Of a
 * client's bulk body only the piece is checked: bulk.c checks the whole.  Return: PMIX_SUCCESS, or
 * PMIX_ERR_BAD_PARAM with the reason in *ret_why (static text). */
pmix_status_t sx_frame_check(const void *frame, size_t size, int fd_count, bool from_client,
                             const char **ret_why);

/* ---- bodies: a head each, and the numbers of the parts behind it ---------------------------- */

/* The role of a connecting process for the server.  After the welcome all have the same
 * messages. */
enum sx_peer_role {
    SX_PEER_CLIENT = 0, /* a process of a job, which the host has registered */
    SX_PEER_TOOL,       /* any other: the host is asked whether to admit it */
    SX_PEER_COMMAND,    /* a verb of this library's own command: the server's user's, or root's */
    SX_PEER_ROLE_MAX,
};

struct sx_hello {
    uint32_t protocol; /* SX_PROTOCOL_VERSION */
    uint32_t role;     /* enum sx_peer_role */
    uint32_t rank;
    uint32_t flags;   /* SX_HELLO_* */
    uint32_t pid;     /* of a gateway: the process for which it stands; 0: itself */
    uint32_t library; /* of that process: the release of its library, 0x040202; 0: it has ours */
    char nspace[256]; /* the name that it wants, with its rank; empty: chosen for it */
    char home[256];   /* of a command: the namespace of the ring and store that it wants; empty:
                         its own */
};
#define SX_HELLO_NO_WAITV 0x1u /* sleeps without futex_waitv, on the door `any` */

/* The descriptors that come with it, in this order; none when the status is not PMIX_SUCCESS. */
enum sx_welcome_fd {
    SX_WELCOME_BOARD,
    SX_WELCOME_LANE,
    SX_WELCOME_DOORBELL, /* an eventfd */
    SX_WELCOME_RING,     /* of its home, as the store */
    SX_WELCOME_STORE,
    SX_WELCOME_FDS
};
struct sx_welcome {
    int32_t status; /* not PMIX_SUCCESS: no descriptors, the connection ends */
    uint32_t slot;
    uint32_t rank; /* the peer's name, with nspace */
    uint32_t server_rank;
    uint32_t collectives_max; /* that it may have under way */
    uint32_t reserved;
    char nspace[256]; /* of a refusal: its reason, whose subject is the peer ("is a tool ...") */
    char server_nspace[256];
};

/* Answer to a request; what follows the header depends on the request. */
struct sx_reply {
    int32_t status;
    uint32_t reserved;
};

enum sx_segment_wanted {
    SX_WANT_STORE = 1,
    SX_WANT_RING = 2,
    SX_WANT_PUBLISHED = 3, /* with an empty nspace: values published for this user */
};
/* Reply: struct sx_reply and one descriptor.  An empty nspace is the node's own store. */
struct sx_segment_get {
    uint32_t wanted; /* enum sx_segment_wanted */
    uint32_t reserved;
    char nspace[256];
};

/* Followed by the key.  Reply: struct sx_reply alone; on success the value is in the store of that
 * namespace (search again).  No key asks for any data of that rank. */
struct sx_get {
    char nspace[256];
    uint32_t rank;
    uint32_t flags;      /* SX_GET_* */
    uint64_t timeout_ns; /* 0: none */
    uint32_t key_size;   /* with its NUL, at most 512 */
    uint32_t reserved;
};
enum { SX_GET_KEY };
#define SX_GETS_MAX 1024u     /* that a server lets one client have waiting; it queues the others */
#define SX_GET_IMMEDIATE 0x1u /* answer at once, do not wait for a commit */
#define SX_GET_REFRESH 0x2u   /* of another node: ask the host again, even if it is stored */
#define SX_GET_QUALIFIED 0x4u /* the key is the name of a qualified value */
#define SX_GET_HOSTS 0x8u     /* only the host can have the key: it is asked once, for a while */

/* PUT_BULK, ARRIVE_BULK, EVENT_BULK: as in a lane (payloads.h).  Reply: struct sx_reply; of
 * EVENT_BULK: */
struct sx_event_number {
    struct sx_reply reply;
    uint64_t number; /* that it has in the sender's home; 0: it is not there */
};

/* Followed by the processes and a text.  Reply: struct sx_reply, if the caller still lives. */
struct sx_abort {
    int32_t status;
    uint32_t proc_count; /* 0: all of the caller's namespace */
    uint32_t msg_size;
    uint32_t reserved;
};
enum { SX_ABORT_PROCS, SX_ABORT_TEXT };

/* JOB_CONTROL: followed by the targets and the directives.  Reply: struct sx_reply. */
#define SX_CLEANUP_PATHS_MAX 256u          /* that a process may want removed */
#define SX_CLEANUP_BYTES_MAX (64u * 1024u) /* of all of them, with a NUL each */
#define SX_CLEANUP_KEPT_MAX (8u * 1024u)   /* bytes of paths that a job's processes keep */
struct sx_job_control {
    uint32_t proc_count;
    uint32_t reserved;
    uint64_t info_size;
};
enum { SX_CONTROL_PROCS, SX_CONTROL_INFOS };

/* Followed by the data to log, and the directives.  When they came in bulk, a part without a body
 * comes before the answer (SX_FRAME_MORE): they have been read.  Reply: struct sx_reply. */
struct sx_log_request {
    uint64_t data_size;
    uint64_t directives_size;
};
enum { SX_LOG_DATA, SX_LOG_DIRECTIVES };

/* MONITOR: followed by the monitored object, which is the first info, and the directives.  Reply:
 * struct sx_reply. */
struct sx_monitor_request {
    int32_t code;  /* of the event that reports the failure; PMIX_SUCCESS: that of its kind */
    uint32_t sign; /* of a file: which of the lane's signs counts its life, from 1; else 0 */
    uint64_t infos_size;
};
enum { SX_MONITOR_INFOS };

/* ASK_HOST: followed by the infos of the call.  When they came in bulk, a part without a body comes
 * before the host's answer (SX_FRAME_MORE), as for JOB_CONTROL and MONITOR: they have been read.
 * Reply: struct sx_reply, and the host's results as a flat array of infos, if there are any. */
enum sx_ask_kind {
    SX_ASK_ALLOCATION, /* detail: pmix_alloc_directive_t */
    SX_ASK_FABRIC,     /* detail: pmix_fabric_operation_t */
    SX_ASK_CREDENTIAL, /* the first of the results is PMIX_CREDENTIAL */
    SX_ASK_VALIDATION, /* the first of the infos is PMIX_CREDENTIAL, PMIX_BYTE_OBJECT */
    SX_ASK_KINDS,
};
struct sx_ask {
    uint32_t kind; /* enum sx_ask_kind */
    uint32_t detail;
    uint64_t infos_size;
};
enum { SX_ASK_INFOS };
#define SX_ASK_BYTES_MAX (UINT64_C(2) << 20) /* a credential of 1 MiB, and its infos */

/* PUBLISH: followed by all infos of the call, data and directives.  Reply: struct sx_reply. */
struct sx_publish {
    uint64_t infos_size;
};
enum { SX_PUBLISH_INFOS };

/* LOOKUP and UNPUBLISH: followed by the keys, as infos without values, and the directives; without
 * keys UNPUBLISH means all.  When they came in bulk, a part without a body comes before the answer,
 * as for ASK_HOST.  Reply: struct sx_reply; to a LOOKUP also a flat array of infos, two for each
 * key that was found: PMIX_PROCID, the publisher, and the value by its key.  For a key that is
 * named again PMIX_PROCID is the number (PMIX_SIZE) of its first pair, and there is no value. */
struct sx_publish_keys {
    uint64_t keys_size;
    uint64_t infos_size;
};
enum { SX_LOOKUP_KEYS, SX_LOOKUP_INFOS };
#define SX_LOOKUP_KEYS_MAX 1024u

/* SPAWN: followed by the infos of the job, and by one info whose value is an array of PMIX_APP.
 * When they came in bulk, a part without a body comes first (SX_FRAME_MORE): they have been read.
 * Reply: as of ASK_HOST; of a success the first info is PMIX_NSPACE, the new job's. */
#define SX_SPAWN_APPS_MAX 10000u
#define SX_SPAWN_BYTES_MAX (UINT64_C(16) << 20)
#define SX_SPAWN_HEAP_MAX (UINT64_C(64) << 20)
struct sx_spawn {
    uint64_t job_size;
    uint64_t apps_size;
};
enum { SX_SPAWN_JOB, SX_SPAWN_APPS };
/* IOF_PULL: followed by the processes and the directives.  Reply: struct sx_reply and one
 * descriptor: an end of a SEQPACKET socket, on which the output arrives (struct sx_iof_piece).  A
 * client that shuts its write side down (shutdown(2)) wants no more.  Output under way still
 * arrives, and then the end. */
struct sx_iof_pull {
    uint32_t channels; /* pmix_iof_channel_t, without input */
    uint32_t proc_count;
    uint64_t info_size;
};
enum { SX_PULL_PROCS, SX_PULL_INFOS };

/* IOF_PUSH: followed by the targets and the directives, of which the first is the input itself:
 * SX_PUSH_BYTES, a PMIX_BYTE_OBJECT.  Reply: struct sx_reply, when the host has taken it. */
#define SX_PUSH_BYTES "shmix.iof.bytes"
#define SX_PUSH_BYTES_MAX (UINT64_C(2) << 20)
struct sx_iof_push {
    uint32_t proc_count;
    uint32_t reserved;
    uint64_t info_size;
};
enum { SX_PUSH_PROCS, SX_PUSH_INFOS };

/* Some output: a message each, in the order in which its process wrote it.  Behind the head there
 * are at most SX_IOF_BYTES_MAX bytes; none: the channel has ended. */
#define SX_IOF_BYTES_MAX 32768u
#define SX_IOF_HOST_SIZE 64u
#define SX_IOF_PROCS_MAX 2048u /* that one pull, or push of input, names ... */
#define SX_IOF_MEANT_MAX 8192u /* ... and that its names of groups stand for */
struct sx_iof_piece {
    uint32_t rank;
    uint32_t channel; /* pmix_iof_channel_t, one of them */
    uint64_t when;    /* seconds since 1970: when the host had it */
    uint64_t lost;    /* bytes of this pull that have been dropped so far */
    uint32_t pid;     /* 0: it is not known */
    uint32_t reserved;
    char nspace[256];
    char host[SX_IOF_HOST_SIZE]; /* empty: it is not known */
};

/* GROUP_LEAVE.  Reply: struct sx_reply. */
struct sx_group_leave {
    char group[256];
};

/* RESULTS_GET: no body.  Reply: struct sx_reply, u32 count, u32 0, then count times
 * {u32 op, i32 status, u64 subject}: the newest ends of this client's collectives, oldest first, as
 * many as it has had under way at once, or more. */

/* Followed by the codes, int32_t, at most SX_REGISTER_CODES_MAX; none: a default handler.  Reply:
 * struct sx_reply and struct sx_event_list with the kept events that match, up to number `upto`,
 * the newest first.  There are as many as SX_KEPT_BYTES_MAX hold, but at least one of any size, and
 * not more than SX_KEPT_LOOKS_MAX visits find, as for EVENT_REPLAY.  The events arrive in frames of
 * SX_KEPT_FRAME_BYTES (SX_FRAME_MORE), each with a list of its own.  One bulk body has the rest
 * that the socket does not take at once.  The same message with `before` requests the older ones
 * and registers nothing. */
struct sx_event_register {
    uint64_t upto;   /* the newest event this client has read from its ring */
    uint64_t before; /* 0: register; else the `next` of the list so far */
    uint32_t code_count;
    uint32_t flags; /* SX_EVENT_REGISTER_* */
};
enum { SX_REGISTER_CODES };
#define SX_EVENT_REGISTER_ENVIRONMENT 0x1u /* wants events of the environment too */
/* Of a list in a frame of its own.  With what the kernel adds the frame takes 8 KiB, not 16, so a
 * socket of the usual size holds SX_KEPT_BYTES_MAX of them. */
#define SX_KEPT_FRAME_BYTES (7680u - sizeof(struct sx_frame_header) - sizeof(struct sx_reply))
#define SX_KEPT_LOOKS_MAX 1024u
#define SX_KEPT_BYTES_MAX (128u * 1024u) /* 512 small events are one answer */

/* EVENT_DEREGISTER: struct sx_event_register again with the flags it had, upto 0: codes and flags
 * are those of the registration.  Reply: struct sx_reply. */

/* WINDOW_GET: no body.  Reply: struct sx_reply and one descriptor: a memfd of SX_WINDOW_BYTES. */

/* WAKE_GET: no body.  Reply: struct sx_reply and one end of a stream socket: ring/sleeper.h. */

/* The events first..last of the caller's ring.  Reply: struct sx_reply and struct sx_event_list
 * with the first of them.  There are as many as fit into one frame, but at least one of any size,
 * and not more than SX_REPLAY_LOOKS_MAX visits find.  A visit is of a place of the log or of a
 * target of an event.  The rest is requested by another EVENT_REPLAY, from `next` on. */
struct sx_event_replay {
    uint64_t first, last;
};
#define SX_REPLAY_LOOKS_MAX 1024u

/* Followed by count times {struct sx_event_kept, struct sx_event and what follows it, padded to
 * 8}. */
struct sx_event_list {
    /* EVENT_REPLAY: each event before it is in the list, is lost, or is not for the caller.
     * EVENT_REGISTER: only events before it are left; 0: none is. */
    uint64_t next;
    uint64_t lost; /* EVENT_REPLAY: between the last one here and `next` */
    uint32_t count;
    uint32_t reserved;
};
struct sx_event_kept {
    uint64_t size;
    uint64_t lost; /* between the one before it and this one */
};

/* GROUP_SAID, no reply: to a question that an event has asked. */
struct sx_group_said {
    char group[256];
    uint64_t question; /* as SX_GROUP_QUESTION in the event */
    uint32_t word;     /* enum sx_group_word */
    uint32_t reserved;
};
/* In an event that wants an answer: its number (PMIX_SIZE), which no other question of this server
 * has had. */
#define SX_GROUP_QUESTION "shmix.group.question"
/* A stronger one is higher. */
enum sx_group_word { SX_GROUP_SAYS_NOTHING, SX_GROUP_GOES_ON, SX_GROUP_LEADS, SX_GROUP_ABORTS };

/* Followed by the processes, and by the infos for the other members.  Reply at the end: struct
 * sx_group_made. */
struct sx_group_invite {
    uint64_t timeout_ns; /* 0: none */
    uint32_t proc_count;
    uint32_t flags;    /* SX_GROUP_* */
    uint32_t receives; /* SX_HEARS_* */
    uint32_t info_size;
    char group[256];
};
enum { SX_INVITE_PROCS, SX_INVITE_INFOS };

/* Followed by the infos that are for the other members.  Reply to an acceptance: as to an
 * invitation; to a refusal: struct sx_reply, at once. */
struct sx_group_join {
    uint64_t timeout_ns; /* 0: none */
    uint32_t accepts;    /* 0: it declines */
    uint32_t leader_rank;
    uint32_t receives; /* SX_HEARS_* */
    uint32_t info_size;
    char group[256];
    char leader_nspace[256]; /* the sender of the invitation; empty: any */
};
enum { SX_JOIN_INFOS };

/* QUERY: followed by one info, whose value is an array of PMIX_QUERY.  When they came in bulk, and
 * the host is asked, a part without a body comes before the answer (SX_FRAME_MORE): they have been
 * read.  Reply: struct sx_reply and, if something was found, the results as a flat array of infos
 * (base/call/query.h has their form); an answer that repeats an earlier one is PMIX_UNDEF. */
struct sx_query_head {
    uint64_t info_size;
};
enum { SX_QUERY_INFOS };

struct sx_group_made {
    struct sx_reply reply;
    uint64_t subject; /* of the group: ring/record.h; 0: there is none */
};

#endif
