/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_index.h - Gets whose value is not there yet, found by what they wait for.
 *
 *     WAITING --the value is put--> FOUND --the commit ends--> answered, as pending.h says
 *        |\----any other end-----------|----------------------^
 *         \----asker gone, cancelled---\--> dropped
 *
 * A rank that somebody waits for (struct sx_awaited) has the keys that are waited for, and each key
 * has the Gets that wait for it.  Ranks and keys are found through one table each, hashed with a
 * seed that no client knows: no message makes the server walk what others wait for.
 *
 * While somebody waits for a rank, its board slot says so and its commits ring the doorbell.
 * Memory: that of the Gets, which pending.h bounds.  Loop thread. */
#ifndef SX_SERVER_DATA_GET_INDEX_H
#define SX_SERVER_DATA_GET_INDEX_H

#include <pmix_common.h>

#include "base/list.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/model/share.h"
#include "server/model/state.h"
#include "server/port/pending.h"
#include "shmem/store.h"

/* remote_gets.c: how the host is asked for a rank. */
struct sx_remote {
    bool is_active;        /* the host is asked, or will be again, for all who wait */
    struct sx_asker asker; /* several questions when answers are lost; any answer counts */
    struct sx_timer timer; /* to ask again */
    uint64_t timer_ns, asked_ns;
    uint64_t lost_ns;  /* after which an answer counts as lost */
    uint64_t pause_ns; /* before it is asked again for what it did not have */
    bool is_asked;     /* an answer is under way */
};

/* A rank that somebody waits for, or that the host has been asked for. */
struct sx_awaited {
    struct sx_table_node node;
    struct sx_list link; /* nspace.awaited */
    struct sx_server *server;
    struct sx_nspace *nspace;
    uint32_t rank;
    struct sx_list keys;    /* of struct sx_awaited_key ... */
    size_t qualified_count; /* ... so many of them of realm QUALIFIED */
    struct sx_list found;   /* of struct sx_wait */
    uint32_t wait_count;    /* FOUND ones included */
    struct sx_remote remote;
    struct sx_timer patience; /* waiting_gets.c: it has committed, but not what is waited for */
};

struct sx_awaited_key {
    struct sx_table_node node;
    struct sx_list link; /* awaited.keys */
    struct sx_awaited *awaited;
    struct sx_list waits;
    enum sx_realm realm; /* JOB, or QUALIFIED: the key is a name then */
    bool anew;           /* what is stored does not count, but the host's next answer ... */
    bool is_brought;     /* ... if it has the value */
    char key[];          /* empty: any data */
};

/* One Get. */
struct sx_wait {
    struct sx_pending pending; /* first */
    struct sx_list link;       /* key.waits, or awaited.found */
    struct sx_awaited *awaited;
    struct sx_awaited_key *key; /* NULL: FOUND */
    bool patient;               /* it waits for what may come; else for what was sent before */
    bool is_announced;          /* waiting_gets.c: the host has said that it comes */
    bool is_late;               /* remote_gets.c: the next answer may be from before it */
    size_t lanes_seen;        /* waiting_gets.c: of those who wait for what anybody may have sent */
    struct sx_lane_mark mark; /* of the lane of the rank that it waits for */
};

void sx_waiting_deinit(struct sx_waiting *waiting); /* nobody waits any more */

/* One more (+1) or one less (-1) waits for the commits of @target: they ring, or no longer. */
void sx_waiting_want(struct sx_server *server, struct sx_client *target, int change);

/* ---- one Get -------------------------------------------------------------------------------- */

struct sx_wait_what {
    struct sx_nspace *nspace;
    uint32_t rank;
    enum sx_realm realm;
    const char *key; /* "": any data */
    bool anew;       /* of another node: the host is asked, even if a value is stored */
};

/* Is it in the store? */
bool sx_wait_is_there(const struct sx_wait_what *what);

/* Return: true the first time that it is asked for, of the last ones: one may push out another.
 * All is forgotten when a namespace goes. */
bool sx_wait_is_first(struct sx_server *server, const struct sx_wait_what *what);
/* Whether the host has been asked for a namespace that it does not know. */
bool sx_waiting_is_vain(struct sx_server *server, const char *nspace);
void sx_waiting_was_vain(struct sx_server *server, const char *nspace);
void sx_waiting_forget(struct sx_server *server);

/* @asker waits, and the client of that rank rings after commits.  Return: NULL as
 * sx_pending_begin. */
struct sx_wait *sx_wait_add(struct sx_server *server, struct sx_client *asker, uint32_t id,
                            const struct sx_wait_what *what);

/* ---- all that wait for a key, a rank -------------------------------------------------------- */

/* The value has been stored: who waits for it is answered with the commit. */
void sx_waiting_put(struct sx_server *server, const struct sx_wait_what *what);

/* Return: NULL when nobody waits for it and the host is not asked. */
struct sx_awaited *sx_awaited_find(struct sx_server *server, const struct sx_nspace *nspace,
                                   uint32_t rank);
/* Find what is in the store by now, no matter who has put it there. */
void sx_awaited_look(struct sx_awaited *awaited);
/* The value has come from another node, for those who want it `anew`. */
void sx_waiting_brought(struct sx_server *server, const struct sx_wait_what *what);

/* The host has answered with all that the rank has: those who want what it has brought anew, and
 * came before the host was asked, find it and pay @units each. */
void sx_awaited_renewed(struct sx_awaited *awaited, uint64_t units);
/* FOUND ones are answered.  @awaited may be gone afterwards. */
void sx_awaited_commit(struct sx_awaited *awaited);
/* All are answered: FOUND ones PMIX_SUCCESS, the others @status.  @awaited may be gone. */
void sx_awaited_end(struct sx_awaited *awaited, pmix_status_t status);

/* Those that @which picks, FOUND ones not among them, are answered @status.  @awaited may be gone
 * afterwards. */
void sx_awaited_end_some(struct sx_awaited *awaited, bool (*which)(struct sx_wait *wait, void *arg),
                         void *arg, pmix_status_t status);

/* The host is not asked for the rank any more, even if it still answers.  @awaited stays as long
 * as somebody waits. */
void sx_awaited_unasked(struct sx_awaited *awaited);

#endif
