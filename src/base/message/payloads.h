/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* payloads.h - the bodies that travel in more than one way: in a lane, in a frame when they are too
 * large for that, in a ring, and to other nodes. */
#ifndef SX_BASE_MESSAGE_PAYLOADS_H
#define SX_BASE_MESSAGE_PAYLOADS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/call/directive_tables.h"
#include "base/message/signature.h"

/* ---- put: one committed value --------------------------------------------------------------- */

/* Followed by the key and the body of the cell. */
struct sx_lane_put {
    struct sx_cell cell; /* bits of a cell with a body are ignored */
    uint16_t key_len;    /* 1 to PMIX_MAX_KEYLEN */
    uint8_t scope;       /* pmix_scope_t */
    uint8_t flags;       /* SX_PUT_* */
    uint8_t reserved[4];
};
static_assert(sizeof(struct sx_lane_put) == 24, "fixed by layout 1");
#define SX_PUT_LAST 0x01u /* of one PMIx_Commit; means nothing on another node */
/* Between servers: the key is a column of SX_REALM_QUALIFIED, of a value or of a legend. */
#define SX_PUT_QUALIFIED 0x02u
enum { SX_PUT_KEY, SX_PUT_VALUE };
extern const struct sx_signature sx_put_body;

/* ---- arrive: a process joins a collective --------------------------------------------------- */

enum sx_collective_kind {
    SX_COLLECTIVE_FENCE = 1,
    SX_COLLECTIVE_CONNECT = 2,
    SX_COLLECTIVE_DISCONNECT = 3,
    SX_COLLECTIVE_GROUP_CONSTRUCT = 4,
    SX_COLLECTIVE_GROUP_DESTRUCT = 5,
};
/* Return: its name, as "group construct"; NULL: there is no such kind. */
const char *sx_collective_name(uint32_t kind);

/* Followed by the processes, sorted by namespace (as strcmp does) and rank, none twice, and by the
 * infos, which are kept for the host until all have arrived. */
struct sx_lane_arrive {
    uint8_t kind;  /* enum sx_collective_kind */
    uint8_t flags; /* SX_ARRIVE_* */
    uint16_t open; /* collectives of the client that are under way for it, with this one */
    uint32_t op;   /* the client's number for this call: comes back in the completion */
    uint32_t proc_count;
    uint32_t info_size;
};
static_assert(sizeof(struct sx_lane_arrive) == 16, "fixed by layout 1");
/* Of a group: its caller can answer PMIX_GROUP_MEMBER_FAILED, _LEADER_FAILED ... */
#define SX_RECEIVES_MEMBERS 0x02u
#define SX_RECEIVES_LEADERS 0x04u
#define SX_ARRIVE_RECEIVES (SX_RECEIVES_MEMBERS | SX_RECEIVES_LEADERS)
/* ... and the outcome of an invitation: PMIX_GROUP_INVITE_ACCEPTED, _DECLINED, _FAILED. */
#define SX_RECEIVES_ACCEPTED 0x08u
#define SX_RECEIVES_DECLINED 0x10u
#define SX_RECEIVES_LOST 0x20u
#define SX_ARRIVE_COLLECT 0x01u /* as PMIX_COLLECT_DATA, which need not be an info then */
#define SX_ARRIVE_INFOS_MAX (16u << 10)
#define SX_ARRIVE_HEAP_MAX (UINT64_C(64) << 10)
enum { SX_ARRIVE_PROCS, SX_ARRIVE_INFOS };
extern const struct sx_signature sx_arrive_body;

/* ---- cursor: the position of a process in its ring ------------------------------------------ */

struct sx_lane_cursor {
    uint64_t seq;
};
extern const struct sx_signature sx_cursor_body;

/* ---- event ---------------------------------------------------------------------------------- */

/* Followed by the source's namespace, the targets, the affected processes, and the infos.  From a
 * client, the server ignores the number, the source and its own flags. */
struct sx_event {
    uint64_t number; /* of the namespace's events, from 1, in the order of delivery */
    int32_t code;
    uint32_t source_rank; /* the resource manager: PMIX_RANK_UNDEF and no namespace */
    uint8_t range;        /* pmix_data_range_t */
    uint8_t flags;        /* SX_EVENT_* */
    uint16_t source_len;
    uint32_t target_count;   /* range CUSTOM: number of targets */
    uint32_t affected_count; /* PMIX_EVENT_AFFECTED_PROC[S] */
    uint32_t info_size;
};
static_assert(sizeof(struct sx_event) == 32, "fixed by layout 1");
#define SX_EVENT_NON_DEFAULT 0x01u  /* not for default handlers */
#define SX_EVENT_DO_NOT_CACHE 0x02u /* not kept for those who register later */
#define SX_EVENT_ENVIRONMENT 0x04u  /* server: the resource manager's own, for no job */
/* Server, in a ring: too large for a record.  The parts after the struct are missing; request them
 * by its number (EVENT_REPLAY). */
#define SX_EVENT_ASK 0x08u
#define SX_EVENT_STAYS_LOCAL 0x10u /* not for other nodes, whatever range it has */

#define SX_EVENT_BYTES_MAX (UINT64_C(4) << 20) /* one event, all of it */
#define SX_EVENT_HEAP_MAX (UINT64_C(16) << 20)
enum { SX_EVENT_SOURCE, SX_EVENT_TARGETS, SX_EVENT_AFFECTED, SX_EVENT_INFOS };
/* Said here, so that a reader of nothing but events can be compiled for it. */
#define SX_EVENT_SIGNATURE                                                                  \
    {                                                                                       \
        .head_size = sizeof(struct sx_event),                                               \
        .parts = { [SX_EVENT_SOURCE] = SX_NAME_PART(struct sx_event, source_len, 0,         \
                                                    PMIX_MAX_NSLEN),                        \
                   [SX_EVENT_TARGETS] = SX_PROCS_PART(struct sx_event, target_count, 0),    \
                   [SX_EVENT_AFFECTED] = SX_PROCS_PART(struct sx_event, affected_count, 0), \
                   [SX_EVENT_INFOS] = SX_INFOS_PART(struct sx_event, info_size) },          \
        .heap_max = SX_EVENT_HEAP_MAX,                                                      \
    }
extern const struct sx_signature sx_event_body;

/* Whether only a host or a server can detect the cause of @code: the start and the end of jobs,
 * sessions and processes that the host ended, lost connections, process sets, and all codes of the
 * system (PMIX_SYSTEM_EVENT).  Failures that a runtime in a rank can detect are not among them. */
bool sx_event_code_is_hosts(pmix_status_t code);

/* As sx_body_open of an event (signature.h), but the contents of infos are checked by their
 * decoder: for readers of their server's messages. */
const char *sx_event_lay(struct sx_opened *ret, const void *bytes, size_t size);

/* Make @ret the draft of an event that @options are about, with @event for its head; all of them
 * are borrowed.  An empty namespace in a list of processes is refused unless ret->nspace is set. */
void sx_event_draft(struct sx_draft *ret, struct sx_event *event, pmix_status_t code,
                    const pmix_proc_t *source, const struct sx_notify_options *options,
                    const pmix_info_t info[], size_t ninfo);

#endif
