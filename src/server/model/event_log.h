/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_log.h - the events that are kept beside the rings, for late handlers and lapped readers.
 *
 *     HELD --every local rank of the job has had it--> LOOSE --pushed out by newer ones--> gone
 *
 * One log a namespace and one for the host, with numbers of their own.  Job events begin as HELD,
 * all others as LOOSE; of the LOOSE ones a log keeps the newest cache_max, and before them those
 * that a reader with a handler has still to read.  All logs of a server share the history.  It has
 * each event's bytes once, at most bytes_max of them (then the oldest goes, HELD or not).  It also
 * has the newest cache_max events without a job, or of an unregistered job: the log of a new
 * namespace begins with them.  Loop thread. */
#ifndef SX_SERVER_MODEL_EVENT_LOG_H
#define SX_SERVER_MODEL_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/call/directives.h"
#include "base/list.h"
#include "base/message/signature.h"
#include "control/message.h"
#include "ring/record.h"

/* ---- one event ------------------------------------------------------------------------------- */

/* One event as the bytes that travel (struct sx_event and what follows it).
 *
 * The contents of a block have been checked or were written here, so its readers need not check.  A
 * block is counted: its publisher holds one reference, the history another. */

struct sx_alias_list;

struct sx_event_block {
    unsigned reference_count;
    bool is_job; /* concerns a job: kept until all its local ranks have had it */
    bool from_host;
    bool for_host; /* addressed to the host: its default handlers receive it */
    bool has_user; /* a client published it: only processes that it may reach get it */
    uid_t user;
    uint64_t session;       /* of the range SESSION: the source's, or SX_SESSION_UNKNOWN */
    struct sx_list link;    /* event_log.c: the history, oldest first */
    struct sx_list cache;   /* event_log.c: the events without a job, oldest first */
    struct sx_list entries; /* event_log.c: the logs it is in */
    uint32_t target_off, affected_off, info_off; /* in bytes */
    uint32_t size;
    _Alignas(8) char bytes[]; /* number 0: each namespace has its own */
};

/* The event that a client sent as @body (sx_event_body, opened), made one of @source.  Return:
 * PMIX_SUCCESS and *ret; PMIX_ERR_UNPACK_FAILURE for a range that no correct client writes;
 * PMIX_ERR_BAD_PARAM for a custom range without targets; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_block_judge(const pmix_proc_t *source, const struct sx_opened *body,
                                   struct sx_event_block **ret);

/* Why an event is not made when PMIX_ERR_OUT_OF_RESOURCE is the status: names of groups in it stand
 * for many processes. */
#define SX_EVENT_NO_ROOM "memory is short, or it would take more than 4 MiB"

/* An event of this process.  @options are those of @info.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * (a custom range without targets, an invalid range, a process without a name);
 * PMIX_ERR_NOT_SUPPORTED (infos that cannot travel); PMIX_ERR_OUT_OF_RESOURCE (also: larger than
 * SX_EVENT_BYTES_MAX). */
pmix_status_t sx_event_block_build(pmix_status_t code, const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo,
                                   struct sx_event_block **ret);

/* The same in two steps, for an event about many processes: to take its memory is as long as to
 * write it.  The data of the arguments, and @building, stay where they are until the second.
 * After a begin without its finish, the block is to be released. */
struct sx_event_building {
    struct sx_event event;
    struct sx_draft draft;
    struct sx_event_block *block; /* not written; NULL: none */
};
pmix_status_t sx_event_block_begin(struct sx_event_building *building, pmix_status_t code,
                                   const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo);
pmix_status_t sx_event_block_finish(struct sx_event_building *building,
                                    struct sx_event_block **ret);

/* As @block, with its infos, but from @source, for @targets and about @affected.  Return: as
 * sx_event_block_build. */
pmix_status_t sx_event_block_rename(const struct sx_event_block *block, const pmix_proc_t *source,
                                    const struct sx_alias_list *targets,
                                    const struct sx_alias_list *affected,
                                    struct sx_event_block **ret);

struct sx_event_block *sx_event_block_retain(struct sx_event_block *block);
/* Return: NULL, always. */
struct sx_event_block *sx_event_block_release(struct sx_event_block *block);

static inline struct sx_event *sx_event_block_head(struct sx_event_block *block)
{
    return (struct sx_event *)(void *)block->bytes;
}

void sx_event_block_source(const struct sx_event_block *block, pmix_proc_t *ret);

/* Whether process @rank of @nspace is one that the event is for; any event without targets is.
 * PMIX_RANK_WILDCARD: whether any process of the namespace may be. */
bool sx_event_block_aims_at(const struct sx_event_block *block, const char *nspace, uint32_t rank);

/* The list SX_EVENT_TARGETS or SX_EVENT_AFFECTED, for sx_part_proc_next. */
struct sx_opened_part sx_event_block_list(const struct sx_event_block *block, unsigned part);
/* Its processes: malloc'ed, NULL and 0 when there are none.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_block_procs(const struct sx_event_block *block, unsigned part,
                                   pmix_proc_t **ret_procs, size_t *ret_count);
/* For PMIX_INFO_FREE. */
pmix_status_t sx_event_block_infos(const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo);

/* ---- the logs -------------------------------------------------------------------------------- */

#define SX_EVENTLOG_CACHE_DEFAULT 512u
#define SX_EVENTLOG_CACHE_MAX 65536u
#define SX_EVENTLOG_BYTES_DEFAULT (UINT64_C(64) << 20)

struct sx_event_history {
    struct sx_list blocks; /* of struct sx_event_block by link, oldest first */
    struct sx_list cache;  /* the same by cache */
    struct sx_list ended;  /* of struct sx_eventlog_owner: entries of logs that have ended */
    size_t cache_count, cache_max;
    uint64_t bytes, bytes_max;
    uint64_t crowded_out; /* events that were removed for want of bytes */
};

#define SX_EVENTLOG_BUCKETS 64u

/* A place among all events of a log. */
struct sx_eventlog_place {
    uint64_t number;
    struct sx_event_entry *entry; /* NULL: it has gone */
};

/* All entries of a log have one owner: the end of the log touches none of them. */
struct sx_eventlog_owner {
    struct sx_eventlog *log; /* NULL: it has ended */
    struct sx_list link;     /* history.ended ... */
    struct sx_list entries;  /* ... and the entries that are still there */
};

struct sx_eventlog {
    struct sx_eventlog_owner *owner;             /* NULL: nothing was kept yet */
    struct sx_list held, loose;                  /* of struct sx_event_entry, by number */
    struct sx_list by_code[SX_EVENTLOG_BUCKETS]; /* all of them again, by number in each */
    struct sx_eventlog_place *places;            /* and again, by number; the first one is there */
    size_t place_begin, place_end, place_capacity;
    size_t held_count, loose_count;
    uint64_t newest;      /* the last number given */
    uint64_t unread_from; /* the first record that a reader has not had; UINT64_MAX: none */
    bool loose_only;      /* its readers belong to no job: nothing is HELD for them */
};

/* One event in one log. */
struct sx_event_entry {
    struct sx_list link;       /* held or loose, or owner.entries */
    struct sx_list block_link; /* block.entries */
    struct sx_list code_link;  /* log.by_code */
    struct sx_eventlog_owner *owner;
    struct sx_event_block *block;
    uint64_t number;
    uint64_t seq; /* of its ring record; 0: it has none yet */
    bool is_held;
};
/* The bytes of the history that an entry takes, without its block. */
#define SX_EVENTLOG_ENTRY_BYTES (sizeof(struct sx_event_entry) + sizeof(struct sx_eventlog_place))

void sx_event_history_init(struct sx_event_history *history, size_t cache_max, uint64_t bytes_max);
/* All logs have ended. */
void sx_event_history_deinit(struct sx_event_history *history);

/* The server has taken an event that is for namespaces to come: keep it for them ... */
void sx_event_history_keep(struct sx_event_history *history, struct sx_event_block *block);
/* ... no longer. */
void sx_event_history_drop(struct sx_event_history *history, struct sx_event_block *block);

void sx_eventlog_init(struct sx_eventlog *log);
/* @log ends at once, and none of its entries is read any more; they and their bytes go with ... */
void sx_eventlog_end(struct sx_event_history *history, struct sx_eventlog *log);
/* ... this, up to *@left of them, counted down.  Return: whether none is left. */
bool sx_event_history_forget(struct sx_event_history *history, size_t *left);
/* @entry goes from its log. */
void sx_eventlog_remove(struct sx_event_history *history, struct sx_event_entry *entry);
/* A new namespace's log begins with the events without a job that are still kept. */
void sx_eventlog_seed(struct sx_event_history *history, struct sx_eventlog *log);
/* Keep only the entries for which @wanted(@arg) returns true, numbered anew from 1 on. */
void sx_eventlog_sift(struct sx_event_history *history, struct sx_eventlog *log,
                      bool (*wanted)(const struct sx_event_block *block, const void *arg),
                      const void *arg);

/* Keep @block as number @number (that of the log's newest), published as record @seq.  When memory
 * is short it is not kept. */
void sx_eventlog_add(struct sx_event_history *history, struct sx_eventlog *log,
                     struct sx_event_block *block, uint64_t number, uint64_t seq);

/* Both remove up to *@left entries that nobody needs any more, or let them go, and count it down.
 * Return: whether that was all; else call again. */
/* Every local rank has had the records up to @seq. */
bool sx_eventlog_release(struct sx_event_history *history, struct sx_eventlog *log, uint64_t seq,
                         size_t *left);
/* Every reader with a handler has had the records before @unread_from. */
bool sx_eventlog_read(struct sx_event_history *history, struct sx_eventlog *log,
                      uint64_t unread_from, size_t *left);
/* Return: how many LOOSE ones are kept for readers alone. */
size_t sx_eventlog_unread(const struct sx_event_history *history, const struct sx_eventlog *log);

/* In the order of numbers, from @number on; the log does not change meanwhile.  To find the place
 * takes steps by the logarithm of what is kept, wherever it is. */
struct sx_eventlog_cursor {
    const struct sx_eventlog *log;
    size_t at;
    size_t visited; /* places visited so far: its cost */
};
void sx_eventlog_seek(struct sx_eventlog_cursor *cursor, const struct sx_eventlog *log,
                      uint64_t number);
/* Return: NULL behind the last. */
struct sx_event_entry *sx_eventlog_next(struct sx_eventlog_cursor *cursor);
/* The other way.  Return: NULL before the first. */
struct sx_event_entry *sx_eventlog_before(struct sx_eventlog_cursor *cursor);
/* The same with the events of one code, and one in SX_EVENTLOG_BUCKETS of the others: the one
 * before @entry, NULL for the last. */
struct sx_event_entry *sx_eventlog_before_of(const struct sx_eventlog *log, pmix_status_t code,
                                             const struct sx_event_entry *entry);
/* Return: the one of them with that number; NULL when it has gone, or never was. */
struct sx_event_entry *sx_eventlog_find_of(const struct sx_eventlog *log, pmix_status_t code,
                                           uint64_t number);

#endif
