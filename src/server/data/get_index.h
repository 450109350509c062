/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_index.h - Gets whose value is not stored yet, indexed by the rank and key that they wait for.
 *
 *     WAITING --the value is put--> FOUND --the commit ends--> DUE --a step--> answered
 *        |\----any other end-----------|------------------------^
 *         \----asker gone, cancelled---\------------------------\--> dropped
 *
 * Many Gets may end at once.  They are answered in steps of SX_WAITING_STEP, a turn each.  The end
 * of a rank takes its record out of the index, with all its Gets, and touches none of them.
 *
 * An awaited rank (struct sx_awaited) has the awaited keys, and each key has the Gets that wait for
 * it.  Ranks and keys are found through one table each, hashed with a secret seed.  So no client
 * can choose colliding keys that make the server walk the waits of others.
 *
 * While a Get waits for a rank, a flag in the rank's board slot is set, and its commits ring the
 * doorbell.  Memory: that of the Gets, which pending.c bounds.  Loop thread. */
#ifndef SX_SERVER_DATA_GET_INDEX_H
#define SX_SERVER_DATA_GET_INDEX_H

#include <pmix_common.h>

#include "base/list.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/model/share.h"
#include "server/model/state.h"
#include "server/port/port.h"
#include "shmem/store.h"

/* The state of the questions to the host about a rank (remote_gets.c). */
struct sx_remote {
    bool is_active;        /* the host is being asked, or will be again, for all waiting Gets */
    struct sx_asker asker; /* several questions if answers are lost; any answer counts */
    struct sx_timer timer; /* to ask again */
    uint64_t timer_ns, asked_ns;
    uint64_t lost_ns;  /* time after which an answer counts as lost */
    uint64_t pause_ns; /* pause before asking again for a value that the host did not have */
    bool is_overtaken; /* a fence has brought values of the rank since the last question */
    bool is_asked;     /* an answer is outstanding ... */
    struct sx_incoming *incoming; /* ... or its values are being stored; NULL: none are */
};

#define SX_WAITING_STEP 1000u /* Gets that are answered in one turn */

/* A rank for which a Get waits, or the host has been asked. */
struct sx_awaited {
    struct sx_table_node node;
    struct sx_list link; /* nspace.awaited */
    struct sx_server *server;
    struct sx_nspace *nspace; /* NULL: the wait for the rank has ended, with `status` */
    uint32_t rank;
    pmix_status_t status;
    struct sx_list keys;    /* of struct sx_awaited_key ... */
    size_t qualified_count; /* ... this number of them of realm QUALIFIED */
    struct sx_list found;   /* of struct sx_wait */
    struct sx_list answers; /* of struct sx_wait, each DUE with a status of its own */
    struct sx_list due;     /* waiting.due, while Gets are DUE */
    uint32_t wait_count;    /* FOUND and DUE ones included */
    struct sx_remote remote;
    struct sx_timer patience; /* waiting_gets.c: the rank has committed, but not the awaited key */
};

struct sx_awaited_key {
    struct sx_table_node node;
    struct sx_list link; /* awaited.keys */
    struct sx_awaited *awaited;
    struct sx_list waits;
    enum sx_realm realm; /* JOB, or QUALIFIED: then the key is a name */
    bool anew;           /* the stored value does not count, but the host's next answer ... */
    bool is_brought;     /* ... if that answer has the value */
    char key[];          /* empty: any data */
};

/* One Get. */
struct sx_wait {
    struct sx_pending pending; /* first */
    struct sx_list link;       /* key.waits, awaited.found or awaited.answers */
    struct sx_awaited *awaited;
    struct sx_awaited_key *key; /* NULL: FOUND or DUE, with `status` */
    pmix_status_t status;
    bool patient;             /* it waits for a value that may still be put; else only for what
                                 * was sent before */
    bool is_announced;        /* waiting_gets.c: the host has announced that the value will be
                                 * stored */
    bool is_late;             /* remote_gets.c: the next answer may be older than this Get */
    size_t lanes_seen;        /* waiting_gets.c: for a Get that any rank may answer, the lanes that
                               * were checked */
    struct sx_lane_mark mark; /* of the lane of the rank that it waits for */
};

void sx_waiting_init(struct sx_server *server);
void sx_waiting_deinit(struct sx_waiting *waiting); /* all waits have ended */

/* One Get more (+1) or less (-1) waits for the commits of @target: turn its doorbell on or off. */
void sx_waiting_want(struct sx_server *server, struct sx_client *target, int change);

/* ---- one Get -------------------------------------------------------------------------------- */

struct sx_wait_what {
    struct sx_nspace *nspace;
    uint32_t rank;
    enum sx_realm realm;
    const char *key; /* "": any data */
    bool anew;       /* of another node: the host is asked, even if a value is stored */
};

/* Whether the value is in the store. */
bool sx_wait_is_there(const struct sx_wait_what *what);

/* Return: true the first time that this is asked for.  Only recent keys are remembered, and one may
 * replace another.  All are forgotten when a namespace is removed. */
bool sx_wait_is_first(struct sx_server *server, const struct sx_wait_what *what);
/* Whether the host has been asked for the namespace and does not have it. */
bool sx_waiting_is_vain(struct sx_server *server, const char *nspace);
void sx_waiting_was_vain(struct sx_server *server, const char *nspace);
void sx_waiting_forget(struct sx_server *server);

/* @asker waits, and the client of that rank rings after commits.  Return: NULL as
 * sx_pending_begin. */
struct sx_wait *sx_wait_add(struct sx_server *server, struct sx_client *asker, uint32_t id,
                            const struct sx_wait_what *what);

/* Return: the status of @wait if its end has come already; else @otherwise. */
pmix_status_t sx_wait_status(const struct sx_wait *wait, pmix_status_t otherwise);
/* Whether @wait has ended, and will be answered with that status. */
bool sx_wait_is_due(const struct sx_wait *wait);

/* ---- all that wait for a key, a rank -------------------------------------------------------- */

/* The value has been stored: the commit answers the Gets that wait for it. */
void sx_waiting_put(struct sx_server *server, const struct sx_wait_what *what);

/* Return: NULL when no Get waits for the rank and the host is not asked for it. */
struct sx_awaited *sx_awaited_find(struct sx_server *server, const struct sx_nspace *nspace,
                                   uint32_t rank);
/* Mark as found the Gets whose value is in the store by now, no matter how it was stored. */
void sx_awaited_look(struct sx_awaited *awaited);
/* The value has arrived from another node, for the Gets that want it `anew`. */
void sx_waiting_brought(struct sx_server *server, const struct sx_wait_what *what);

/* The host has answered with all data of the rank.  Gets that wanted the answer's values anew, and
 * arrived before the host was asked, become FOUND and pay @units each. */
void sx_awaited_renewed(struct sx_awaited *awaited, uint64_t units);
/* Whether no Get waits for the rank: those that are left are DUE. */
bool sx_awaited_is_idle(const struct sx_awaited *awaited);
/* Answer the FOUND Gets, some of them in later turns.  @awaited may be freed afterwards. */
void sx_awaited_commit(struct sx_awaited *awaited);
/* Answer all Gets likewise: FOUND ones with PMIX_SUCCESS, the others with @status.  @awaited is not
 * found any more, nor is the host asked for it. */
void sx_awaited_end(struct sx_awaited *awaited, pmix_status_t status);

/* Answer with @status the Gets that @which picks, except FOUND ones.  @awaited may be freed
 * afterwards. */
void sx_awaited_end_some(struct sx_awaited *awaited, bool (*which)(struct sx_wait *wait, void *arg),
                         void *arg, pmix_status_t status);

/* Stop asking the host for the rank, even if it still answers.  @awaited stays as long as a Get
 * waits. */
void sx_awaited_unasked(struct sx_awaited *awaited);

/* ---- ranks of other nodes: remote_gets.c ---------------------------------------------------- */

/* Whether @rank can be a process of another node for which the host may be asked. */
bool sx_remote_is_there(const struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t rank);

/* Log once that the host cannot ask for the data of @rank, if that is a process of another node. */
void sx_remote_missing_log(struct sx_server *server, const struct sx_nspace *nspace, uint32_t rank);

/* @wait is for such a rank, and `patient` if it has a time limit within which the value may still
 * be committed.  It is answered, now or later. */
void sx_remote_wait(struct sx_wait *wait, uint64_t now_ns);

/* @client wants @key of @proc, whose namespace is not registered here.  The host, which may
 * register it, is asked, unless a former question was in vain.  Return: true when request @id is
 * answered later. */
bool sx_remote_ask_unknown(struct sx_server *server, struct sx_client *client, uint32_t id,
                           const pmix_proc_t *proc, const char *key, uint64_t deadline_ns);

#endif
