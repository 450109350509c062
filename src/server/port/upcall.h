/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.h - calls into the host's module, and its answers back into the loop.
 *
 *     sx_upcall --refused, or the host has no such entry--> its status
 *         |  \--PMIX_OPERATION_SUCCEEDED-----------\
 *         \--PMIX_SUCCESS--> ASKED --its callback--> done, once
 *                              |  ^-- again, or later: dropped
 *                              \--the server ends--> forgotten
 *
 * There is one row per entry (upcall.c).  Entries are called on the loop thread with no lock held.
 * The host may answer inside the call or later, on any thread; the answer is posted to the loop.  A
 * return value other than PMIX_SUCCESS is the answer, unless the host has called back as well.  A
 * question is one block of memory, which holds all that the host may read until it answers. */
#ifndef SX_SERVER_PORT_UPCALL_H
#define SX_SERVER_PORT_UPCALL_H

#include "server/model/state.h"

/* The host's answer.  The bytes are valid during the call. */
struct sx_host_answer {
    struct sx_server *server;
    uint64_t id;              /* as asked */
    struct sx_client *client; /* as asked */
    pmix_status_t status;
    const char *bytes; /* fence, direct modex */
    size_t size;
    const pmix_info_t *info; /* the host's results; a credential or a namespace comes first */
    size_t ninfo;
    pmix_proc_t proc; /* tool: its name; without a namespace: the server may choose */
};

/* A waiter for answers, as a part of a struct that may end before they arrive. */
struct sx_asker {
    struct sx_list questions; /* that have no answer yet */
};

void sx_asker_init(struct sx_asker *asker);
/* @asker waits no longer; the host keeps its arguments.  Safe on a zeroed asker, and twice. */
void sx_asker_deinit(struct sx_asker *asker);

/* Called on the loop thread, never inside sx_upcall, and exactly once for a question that was asked
 * with success, unless the server ends.  @asker: NULL when the asker has gone, or there was
 * none. */
typedef void (*sx_told_fn)(struct sx_asker *asker, const struct sx_host_answer *answer);

/* A question to the host.  Each kind uses the fields that its row passes on.  All fields are
 * copied, unless their comments state otherwise. */
struct sx_upcall {
    sx_told_fn told;          /* NULL: a notice, whose answer is ignored */
    struct sx_asker *asker;   /* or NULL */
    uint64_t id;              /* for the callback */
    struct sx_client *client; /* the asking client, retained until the answer; NULL: none */
    const struct sx_quota_owner
        *owner;              /* whose share of the host's open answers it takes; NULL: @client's
                              */
    const pmix_proc_t *proc; /* its subject; NULL: @client */
    int status;              /* of an abort; the code of an event; the operation of a group ... */
    pmix_data_range_t range;
    const char *text;   /* or NULL */
    pmix_proc_t *procs; /* not const in the module's interface, as codes */
    size_t nprocs;
    pmix_status_t *codes;
    size_t ncodes;
    pmix_info_t *info; /* the array is the caller's; its contents move in any case */
    size_t ninfo;
    size_t ndata;          /* log, monitor: number of data infos, before the directives; lookup,
                              unpublish: of keys */
    char **keys;           /* lookup, unpublish: filled in by upcall.c; NULL: all */
    pmix_query_t *queries; /* as infos */
    size_t nqueries;
    pmix_app_t *apps; /* as infos */
    size_t napps;
    size_t info_bytes; /* approximate size of infos, queries and applications, for the quota */
    char *bytes;       /* malloc'ed; the host's from here on in any case */
    size_t size;
};

/* Whether the host may be asked a question of @bytes.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED
 * when the host has no such entry; PMIX_ERR_OUT_OF_RESOURCE while the host owes too many answers
 * (the first time with a warning), and when the server ends. */
pmix_status_t sx_upcall_judge(struct sx_server *server, enum sx_upcall_kind kind, size_t bytes);

/* Ask the host.  Return: PMIX_SUCCESS when the callback will be called, or the host has taken a
 * notice; else as sx_upcall_judge; PMIX_ERR_OUT_OF_RESOURCE (logged) also while the client has its
 * share of the host's open answers; or the entry's return value. */
pmix_status_t sx_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                        const struct sx_upcall *upcall);

/* Free the parts of @upcall that would move to the host: the host is not asked. */
void sx_upcall_drop(const struct sx_upcall *upcall);

/* Drop all questions: no callback is called any more. */
void sx_upcall_forget_all(struct sx_server *server);

#endif
