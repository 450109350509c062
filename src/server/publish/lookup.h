/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.h - one lookup in our own table: what it wants, what it has found, and its answer.
 *
 *     lookup.c          the search, step by step, and the keys that it waits for
 *     lookup_answer.c   the answer, written at once or by a thread
 *
 * This header is for the files of this chapter; publish.h draws the states.  Loop thread. */
#ifndef SX_SERVER_PUBLISH_LOOKUP_H
#define SX_SERVER_PUBLISH_LOOKUP_H

#include "base/call/role.h"
#include "server/model/share.h"
#include "server/model/state.h"
#include "server/port/port.h"

/* The bytes that a client's lookups have found and that are not sent yet: everything that can be
 * published, and its keys. */
#define SX_LOOKUP_FOUND_BYTES_MAX (SX_PUBLISHED_BYTES_MAX + (UINT64_C(8) << 20))
#define SX_LOOKUP_BYTES_PER_UNIT 2048u /* of an answer, which is written and sent */
#define SX_PUBLISH_ROWS_PER_UNIT 32u   /* of the table, searched */
#define SX_LOOKUP_STEP_KEYS 2000u      /* that lookups, which have ended, leave in one turn */
#define SX_PUBLISH_STEP_ROWS ((uint64_t)SX_SHARE_STEP_UNITS * SX_PUBLISH_ROWS_PER_UNIT)

/* ---- any call: publish_call.c --------------------------------------------------------------- */

/* The parts of a LOOKUP or an UNPUBLISH, decoded. */
struct sx_publish_call {
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
};

/* A key, and its position among those of a call. */
struct sx_publish_key {
    const char *key;
    uint32_t number;
};

/* The client as a party of what is published. */
struct sx_party sx_publish_party(const struct sx_client *client);
/* Whether the host's module has the entry. */
bool sx_publish_has_host(struct sx_server *server, enum sx_upcall_kind kind);

/* Sort the keys.  Return: malloc'ed; NULL when memory is out. */
struct sx_publish_key *sx_publish_keys_sort(const pmix_info_t keys[], size_t count);
/* Whether the key at @at of sorted @named repeats the one before. */
bool sx_publish_key_is_again(const struct sx_publish_key named[], size_t at);

/* Read a LOOKUP or an UNPUBLISH.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for fewer than @least
 * keys, and for an invalid key; PMIX_ERR_OUT_OF_RESOURCE.  On an error nothing has to be freed. */
pmix_status_t sx_publish_call_read(const struct sx_frame *frame, size_t least,
                                   struct sx_publish_call *ret);
/* Ask the host, which takes over @call's parts. */
void sx_publish_call_host(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, enum sx_upcall_kind kind,
                          struct sx_publish_call *call);

/* ---- a lookup ------------------------------------------------------------------------------- */

struct sx_lookup_awaited; /* lookup.c: a key that lookups wait for */

/* One key of a lookup, even if the lookup names it several times. */
struct sx_lookup_want {
    struct sx_list link;               /* awaited.wants */
    struct sx_lookup_awaited *awaited; /* NULL: it is not waiting */
    struct sx_lookup *lookup;
    const char *key;
    size_t times;    /* how many times the key is named */
    uint64_t serial; /* of the row that was found, which may have been removed; 0: none */
    bool is_looked;  /* it was searched for; a later publication finds it by itself */
    bool is_written; /* in the answer ... */
    size_t pair;     /* ... as this one of its pairs */
};

struct sx_lookup {
    struct sx_pending pending;
    struct sx_share_work work; /* while the search continues in its client's turns */
    bool is_queued;            /* the work is queued */
    struct sx_list ready;      /* while a new publication is matched */
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
    struct sx_lookup_options options; /* its pointers point into info */
    size_t wanted;                    /* keys; 0: it does not wait */
    struct sx_lookup_want *wants;
    size_t want_count;
    size_t left_count;       /* of the wants, the first ones: they do not wait any more */
    bool is_closed;          /* it has ended: no publication is for it */
    struct sx_list leaving;  /* publish.leaving, while wants are left; it counts until then ... */
    struct sx_client *owner; /* ... for this client, retained; NULL: as its request does */
    uint32_t *want_of;       /* by the keys' numbers */
    size_t at;               /* the want at which the search continues */
    size_t found;            /* keys */
    void *results;           /* of the answer, flat */
    size_t results_size;
    bool at_once; /* a large answer is written here, not by a thread */
    /* While a thread writes the answer, and then until it is sent: */
    struct sx_published_row **rows; /* by its pairs, with a reference each; NULL: the value is in
                                     * another pair */
    pmix_info_t *pairs;
    pmix_proc_t *procs; /* publishers, by the answer's pairs */
    size_t pair_count;
    bool is_written, is_orphan; /* ... and no request waits for it any more */
    int fd;                     /* its body; 0: none */
};

/* Keys that lookups, which have ended, wait for are left in steps; now: all of them. */
void sx_lookups_init(struct sx_server *server);
void sx_lookups_leave_all(struct sx_server *server);

/* Look up for the host, which does not wait.  Return: as the answer. */
pmix_status_t sx_lookup_by_host(struct sx_server *server, const struct sx_party *party,
                                const struct sx_role_publish *call, pmix_info_t **ret_info,
                                size_t *ret_ninfo);

/* ---- its answer: lookup_answer.c ------------------------------------------------------------ */

/* The status of an answer that has some keys. */
pmix_status_t sx_lookup_status(const struct sx_lookup *lookup);
void sx_lookup_free(struct sx_lookup *lookup);
/* Answer a lookup that waits. */
void sx_lookup_pending_answer(struct sx_lookup *lookup, pmix_status_t status);

/* The approximate size of what has been found; *ret_again: the additional size for repeated
 * keys. */
uint64_t sx_lookup_found_bytes(const struct sx_server *server, const struct sx_lookup *lookup,
                               uint64_t *ret_again);
/* Write the answer with the rows that were found, all of which still exist.  Return: its status. */
pmix_status_t sx_lookup_answer(struct sx_server *server, size_t room, struct sx_lookup *lookup);
/* Have a thread write the answer, which is pending, with what was found.  Return: false when it
 * cannot. */
bool sx_lookup_write(struct sx_server *server, struct sx_lookup *lookup);

#endif
