/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* prefetch.c - values of a rank that go with the answer to a Get, before they are asked for.
 *
 *     known keys:   | A | B | C | D | E |      in the order in which they were seen
 *     sent of rank: | a |   | c | - | e |      prints of values; -: it has put nothing
 *                             ^asked  ^further
 *
 * The other library keeps each value that it gets, so a rank that reads many keys of a peer asks
 * seldom.  But keeping a value takes it longer than finding one takes us, and the rank waits for
 * all of them.  So the first answer about a rank has few further values, those of the keys that
 * follow.  The next answer about the same rank has twice as many, until all are sent.  A value that
 * is not sent is asked for.  A value that was sent and has changed is sent again with the next
 * answer.
 *
 * Ranks of a job put the same keys, so those of the own rank are known from its commits.  All keys
 * of the namespace are listed when one is asked for that is not known. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/table.h"
#include "base/util.h"
#include "base/value/type.h"
#include "gateway/request.h"

#define WIDTH_MIN 4u             /* values in the first answer about a rank, at first ... */
#define WIDTH_BEGIN_MAX 8u       /* ... and at most, where ranks have asked for more */
#define WIDTH_MAX 128u           /* in any answer */
#define VISITS_MAX 256u          /* known keys that are looked at for one answer */
#define BYTES_MAX ((size_t)8192) /* in each value */
#define HEAD_BYTES 64u           /* before it, beside its name */
#define BYTES_A_VALUE 512u       /* in all of an answer, on average */
#define KEYS_MAX 1024u           /* that are known */
#define SENT_BYTES_MAX ((size_t)256 << 10) /* of the account of what was sent */

struct sx_known_key {
    struct sx_table_node node; /* of the session's, by its name */
    const shmix_key_t *handle;
    size_t index; /* among the known keys */
    char name[];
};

/* The account of one rank: the values that were sent. */
struct sx_sent {
    struct sx_table_node node; /* of the session's; the hash is the rank */
    uint64_t *prints;          /* by known key; 0: its value was not sent */
    size_t room;               /* for prints */
    unsigned width;            /* values in the last answer, at most; 0: all have been sent */
};

/* ---- known keys ------------------------------------------------------------------------------ */

static uint64_t hash_of(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static const struct sx_known_key *known_find(const struct sx_prefetch *prefetch, const char *name)
{
    struct sx_table_node *node = sx_table_first(&prefetch->by_name, hash_of(name));

    for (; node != NULL; node = sx_table_next(&prefetch->by_name, node)) {
        const struct sx_known_key *const key = SX_CONTAINER(node, struct sx_known_key, node);

        if (strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

/* Unless memory is out. */
static void key_add(struct sx_prefetch *prefetch, const shmix_key_t *handle, const char *name)
{
    const size_t size = strlen(name) + 1;
    struct sx_known_key *const key = malloc(sizeof(*key) + size);

    if (key == NULL || !SX_ARRAY_RESERVE(prefetch->keys, prefetch->count, prefetch->room, 16) ||
        !sx_table_add(&prefetch->by_name, &key->node, hash_of(name))) {
        free(key);
        return;
    }
    key->handle = handle;
    key->index = prefetch->count;
    memcpy(key->name, name, size);
    prefetch->keys[prefetch->count++] = key;
}

void sx_gateway_prefetch_know(struct sx_session *session, const char *name)
{
    struct sx_prefetch *const prefetch = &session->prefetch;
    const shmix_key_t *handle;

    /* A handle stays as long as the job, and so none is taken for a key that is not kept. */
    if (session->job != NULL && prefetch->count < KEYS_MAX && !sx_gateway_is_reserved(name) &&
        known_find(prefetch, name) == NULL &&
        shmix_key_find(session->job, SHMIX_JOB, name, &handle) == PMIX_SUCCESS) {
        key_add(prefetch, handle, name);
    }
}

/* Get to know the keys that ranks have put, unless @asked is known.  Return: NULL when it does not
 * get known. */
static const struct sx_known_key *keys_list(struct sx_session *session, const char *asked)
{
    struct sx_prefetch *const prefetch = &session->prefetch;
    const struct sx_known_key *const known = known_find(prefetch, asked);
    char **names = NULL;
    size_t count = 0;

    if (known != NULL || prefetch->count == KEYS_MAX ||
        shmix_job_keys(session->job, SHMIX_JOB, &names, &count) != PMIX_SUCCESS) {
        return known;
    }
    for (size_t i = 0; i < count; i++) {
        sx_gateway_prefetch_know(session, names[i]);
    }
    PMIx_Argv_free(names);
    return known_find(prefetch, asked);
}

/* ---- what was sent --------------------------------------------------------------------------- */

static struct sx_sent *sent_find(struct sx_prefetch *prefetch, pmix_rank_t rank)
{
    struct sx_table_node *const node = sx_table_first(&prefetch->sent, rank);

    if (node != NULL) {
        return SX_CONTAINER(node, struct sx_sent, node);
    }
    struct sx_sent *const sent = calloc(1, sizeof(*sent));

    if (sent == NULL || prefetch->sent_bytes + sizeof(*sent) > SENT_BYTES_MAX ||
        !sx_table_add(&prefetch->sent, &sent->node, rank)) {
        free(sent);
        return NULL;
    }
    prefetch->sent_bytes += sizeof(*sent);
    return sent;
}

/* The account of @rank, with room for each known key.  Return: NULL when there is no memory. */
static struct sx_sent *sent_of(struct sx_prefetch *prefetch, pmix_rank_t rank)
{
    struct sx_sent *const sent = sent_find(prefetch, rank);

    if (sent == NULL || sent->room >= prefetch->count) {
        return sent;
    }
    const size_t room = 2 * prefetch->count, more = (room - sent->room) * sizeof(*sent->prints);
    uint64_t *const prints = prefetch->sent_bytes + more <= SENT_BYTES_MAX
                                 ? realloc(sent->prints, room * sizeof(*prints))
                                 : NULL;

    if (prints == NULL) {
        return NULL;
    }
    memset(prints + sent->room, 0, more);
    prefetch->sent_bytes += more;
    sent->prints = prints;
    sent->room = room;
    return sent;
}

/* A number is its own print, and other values are never changed where they lie.  In another
 * generation of the store all have other prints. */
static uint64_t print_of(const shmix_value_t *view, uint64_t generation)
{
    const uint64_t parts[] = { view->type, view->data != NULL ? generation : view->number.u64,
                               (uint64_t)(uintptr_t)view->data, view->count };

    return XXH3_64bits(parts, sizeof(parts)) | 1;
}

/* ---- the values ------------------------------------------------------------------------------ */

/* One answer under way. */
struct further {
    struct sx_wire_writer *w;
    const struct sx_known_key *asked;
    pmix_rank_t rank;
    uint64_t generation;
    unsigned count;
};

/* Twice as many as in the answer before.  A rank that asks for many values of one other will
 * probably do so of the next, too, whose first answer is wider then. */
static unsigned width_next(struct sx_prefetch *prefetch, const struct sx_sent *sent)
{
    if (sent->width == 0) {
        return prefetch->width_begin > 0 ? prefetch->width_begin : WIDTH_MIN;
    }
    prefetch->width_begin = WIDTH_BEGIN_MAX;
    return 2 * sent->width < WIDTH_MAX ? 2 * sent->width : WIDTH_MAX;
}

/* The bytes of a text, of an object or of an array's elements. */
static size_t bytes_of(const shmix_value_t *view)
{
    const struct sx_type *const type = sx_type_find(view->element_type);

    return type == NULL ? view->count : view->count * type->size_bytes;
}

/* Write a value, unless it is longer than @bytes_max as it is, or as it is written. */
static bool view_put(struct sx_wire_writer *w, const char *name, const shmix_value_t *view,
                     size_t bytes_max)
{
    const size_t before = w->size;

    if (bytes_of(view) > bytes_max) {
        return false;
    }
    sx_gateway_view_put(w, name, view);
    if (w->size - before > bytes_max + strlen(name) + HEAD_BYTES) {
        w->size = before;
        return false;
    }
    return true;
}

/* The value of a known key, unless the rank has not put it, it was sent as it is, it is longer than
 * @bytes_max, or it has no view.  The asked value is in the answer already. */
static void value_put(struct further *further, const struct sx_known_key *key, uint64_t *print,
                      size_t bytes_max)
{
    shmix_value_t view;

    if (shmix_read_value(key->handle, further->rank, &view) != PMIX_SUCCESS) {
        return;
    }
    const uint64_t now = print_of(&view, further->generation);

    if (key == further->asked) {
        *print = now;
    } else if (now != *print && view_put(further->w, key->name, &view, bytes_max)) {
        further->count++;
        *print = now;
    }
}

/* Values that were sent before, and have changed. */
static void changed_put(struct further *further, const struct sx_prefetch *prefetch,
                        struct sx_sent *sent)
{
    for (size_t i = 0; i < prefetch->count; i++) {
        if (sent->prints[i] != 0) {
            value_put(further, prefetch->keys[i], &sent->prints[i], BYTES_MAX);
        }
    }
}

/* Up to @sent->width values of the keys that follow the asked one.  Return: false when there are no
 * others. */
static bool following_put(struct further *further, const struct sx_prefetch *prefetch,
                          struct sx_sent *sent)
{
    const size_t begin = further->w->size, room = (size_t)sent->width * BYTES_A_VALUE;
    const unsigned count_max = further->count + sent->width;

    for (size_t i = 1; i < prefetch->count; i++) {
        const size_t at = (further->asked->index + i) % prefetch->count;
        const size_t used = further->w->size - begin;

        if (further->count == count_max || used >= room || i == VISITS_MAX) {
            return true;
        }
        if (sent->prints[at] == 0) {
            value_put(further, prefetch->keys[at], &sent->prints[at],
                      room - used < BYTES_MAX ? room - used : BYTES_MAX);
        }
    }
    return false;
}

static pmix_status_t generation_take(struct sx_session *session, uint64_t *ret_generation)
{
    pmix_status_t rc = sx_gateway_job_open(session);

    if (rc == PMIX_SUCCESS) {
        rc = shmix_job_generation(session->job, ret_generation);
    }
    return rc;
}

void sx_gateway_prefetch_put(struct sx_session *session, struct sx_wire_writer *w, pmix_rank_t rank,
                             const char *asked)
{
    struct sx_prefetch *const prefetch = &session->prefetch;
    struct further further = { .w = w, .rank = rank };

    if (generation_take(session, &further.generation) != PMIX_SUCCESS) {
        return;
    }
    further.asked = keys_list(session, asked);
    struct sx_sent *const sent = further.asked != NULL ? sent_of(prefetch, rank) : NULL;

    if (sent == NULL) {
        return;
    }
    changed_put(&further, prefetch, sent);
    value_put(&further, further.asked, &sent->prints[further.asked->index], BYTES_MAX);
    sent->width = width_next(prefetch, sent);
    if (!following_put(&further, prefetch, sent)) {
        sent->width = 0;
    }
}

void sx_gateway_prefetch_deinit(struct sx_session *session)
{
    struct sx_prefetch *const prefetch = &session->prefetch;
    struct sx_table_node *node;
    size_t bucket = 0;

    for (size_t i = 0; i < prefetch->count; i++) {
        free(prefetch->keys[i]);
    }
    while ((node = sx_table_any(&prefetch->sent, &bucket)) != NULL) {
        struct sx_sent *const sent = SX_CONTAINER(node, struct sx_sent, node);

        sx_table_remove(&prefetch->sent, node);
        free(sent->prints);
        free(sent);
    }
    sx_table_deinit(&prefetch->by_name);
    sx_table_deinit(&prefetch->sent);
    free(prefetch->keys);
}
