/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.h - calls into the host's module, and its answers back into the loop.
 *
 *     sx_upcall --refused, or the host has no such entry--> its status
 *         |  \--PMIX_OPERATION_SUCCEEDED-----------\
 *         \--PMIX_SUCCESS--> ASKED --its callback--> told, once
 *                              |  ^-- again, or later: dropped
 *                              \--the server ends--> forgotten
 *
 * There is one row per entry (upcall.c).  Entries are called on the loop thread with no lock held.
 * The host may answer inside the call or later, on any thread; the answer is posted to the loop.
 * What an entry returns instead of PMIX_SUCCESS is the answer, unless the host has called back as
 * well.  A question is one block of memory: what the host must find until it answers lies in it. */
#ifndef SX_SERVER_PORT_UPCALL_H
#define SX_SERVER_PORT_UPCALL_H

#include "server/model/state.h"

/* What came back.  The bytes are valid during the call. */
struct sx_host_answer {
    struct sx_server *server;
    uint64_t id;              /* as asked */
    struct sx_client *client; /* as asked */
    pmix_status_t status;
    const char *bytes; /* fence, direct modex */
    size_t size;
    const pmix_info_t *info; /* what the host gives; a credential or a namespace comes first */
    size_t ninfo;
    pmix_proc_t proc; /* tool: who it is; without a namespace: the server may say */
};

/* Who waits for answers, as a part of something that may end before they come. */
struct sx_asker {
    struct sx_list questions; /* that have no answer yet */
};

void sx_asker_init(struct sx_asker *asker);
/* It waits no longer; the host keeps what it was given.  Safe on a zeroed one, and twice. */
void sx_asker_deinit(struct sx_asker *asker);

/* Called on the loop thread, never inside sx_upcall, and exactly once for a question that was asked
 * with success, unless the server ends.  @asker: NULL when it has gone, or there was none. */
typedef void (*sx_told_fn)(struct sx_asker *asker, const struct sx_host_answer *answer);

/* What the host is asked.  Each kind uses the fields that its row passes on.  All of it is copied,
 * unless it says something else. */
struct sx_upcall {
    sx_told_fn told;          /* NULL: a notice, and the host's answer to it means nothing */
    struct sx_asker *asker;   /* or NULL */
    uint64_t id;              /* for @told */
    struct sx_client *client; /* who asks: retained until the answer; NULL: nobody */
    const struct sx_quota_owner
        *owner;              /* whose share of what the host owes it takes; NULL: @client's
                                         */
    const pmix_proc_t *proc; /* whom it is about; NULL: @client */
    int status; /* how it aborts; the code of an event; what is done with a group ... */
    pmix_data_range_t range;
    const char *text;   /* or NULL */
    pmix_proc_t *procs; /* hosts take them without const, as codes */
    size_t nprocs;
    pmix_status_t *codes;
    size_t ncodes;
    pmix_info_t *info; /* the array is the caller's; what it holds moves in any case */
    size_t ninfo;
    size_t ndata;          /* log, monitor: so many of them are data, the rest says how; lookup,
                              unpublish: keys */
    char **keys;           /* lookup, unpublish: these, as upcall.c fills in; NULL: all */
    pmix_query_t *queries; /* as infos */
    size_t nqueries;
    pmix_app_t *apps; /* as infos */
    size_t napps;
    size_t info_bytes; /* what infos, queries and applications hold, more or less: for the quota */
    char *bytes;       /* malloc'ed; the host's from here on in any case */
    size_t size;
};

/* Whether the host may be asked for something of @bytes.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_SUPPORTED when it has no such entry; PMIX_ERR_OUT_OF_RESOURCE while it owes too many
 * answers (the first time with a warning), and when the server ends. */
pmix_status_t sx_upcall_judge(struct sx_server *server, enum sx_upcall_kind kind, size_t bytes);

/* Return: PMIX_SUCCESS when `told` will be called, or the host has taken a notice; else as
 * sx_upcall_judge, PMIX_ERR_OUT_OF_RESOURCE (told) as well while the client has its share of what
 * the host owes, or what the host has returned. */
pmix_status_t sx_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                        const struct sx_upcall *upcall);

/* What moves to the host with @upcall goes: it is not asked. */
void sx_upcall_drop(const struct sx_upcall *upcall);

/* Nothing is asked and nobody is told any more. */
void sx_upcall_forget_all(struct sx_server *server);

#endif
