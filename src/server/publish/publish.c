/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - requests, and lookups that wait. */
#include "server/publish/publish.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "base/value/value.h"
#include "server/job/apps.h"
#include "server/manage/manage.h"
#include "server/model/published_store.h"
#include "server/model/share.h"
#include "server/port/answer.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

/* The bytes that a client's lookups have found and that are not sent yet: everything that can be
 * published, and its keys. */
#define FOUND_BYTES_MAX (SX_PUBLISHED_BYTES_MAX + (UINT64_C(8) << 20))
#define BYTES_PER_UNIT 2048u /* of an answer, which is written and sent */
#define ROWS_PER_UNIT 32u    /* of the table, searched */
#define STEP_ROWS ((uint64_t)SX_SHARE_STEP_UNITS * ROWS_PER_UNIT)
/* The lookups that a publication ends itself; the rest continue in the turns of the waiting
 * clients. */
#define WAKE_LOOKUPS_MAX 1024u
#define WAKE_BYTES_MAX (1u << 20)
#define WAKES_PER_UNIT 2u

static struct sx_party party_of(const struct sx_client *client)
{
    return (struct sx_party){ .who = { .proc = sx_nspace_proc(client->nspace, client->rank),
                                       .session = client->nspace->session },
                              .uid = client->uid,
                              .gid = client->gid,
                              .is_tool = client->is_tool,
                              .app = client->nspace->has_store
                                         ? sx_apps_of(client->nspace, client->rank)
                                         : SX_PARTY_APP_UNKNOWN };
}

static bool has_host(struct sx_server *server, enum sx_upcall_kind kind)
{
    return sx_upcall_judge(server, kind, 0) != PMIX_ERR_NOT_SUPPORTED;
}

/* ---- keys that lookups wait for -------------------------------------------------------------- */

struct awaited {
    struct sx_table_node node; /* server.lookups */
    struct sx_list wants;      /* the oldest first; the key is freed with its last one */
    char key[];
};

/* One key of a lookup, even if the lookup names it several times. */
struct want {
    struct sx_list link;     /* awaited.wants */
    struct awaited *awaited; /* NULL: it is not waiting */
    struct lookup *lookup;
    const char *key;
    size_t times;    /* how many times the key is named */
    uint64_t serial; /* of the row that was found, which may have been removed; 0: none */
    bool is_looked;  /* it was searched for; a later publication finds it by itself */
    bool is_written; /* in the answer ... */
    size_t pair;     /* ... as this one of its pairs */
};

struct lookup {
    struct sx_pending pending;
    struct sx_share_work work; /* while the search continues in its client's turns */
    bool is_queued;            /* the work is queued */
    struct sx_list ready;      /* while a new publication is matched */
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
    struct sx_lookup_options options; /* its pointers point into info */
    size_t wanted;                    /* keys; 0: it does not wait */
    struct want *wants;
    size_t want_count;
    uint32_t *want_of; /* by the keys' numbers */
    size_t at;         /* the want at which the search continues */
    size_t found;      /* keys */
    void *results;     /* of the answer, flat */
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

static struct awaited *awaited_find(const struct sx_server *server, const char *key, uint64_t hash)
{
    struct sx_table_node *node = sx_table_first(&server->lookups, hash);

    for (; node != NULL; node = sx_table_next(&server->lookups, node)) {
        struct awaited *const awaited = SX_CONTAINER(node, struct awaited, node);

        if (strcmp(awaited->key, key) == 0) {
            return awaited;
        }
    }
    return NULL;
}

static uint64_t key_hash(const struct sx_server *server, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), server->seed);
}

static struct awaited *awaited_obtain(struct sx_server *server, const char *key)
{
    const uint64_t hash = key_hash(server, key);
    struct awaited *awaited = awaited_find(server, key, hash);
    const size_t size = strlen(key) + 1;

    if (awaited != NULL) {
        return awaited;
    }
    awaited = calloc(1, sizeof(*awaited) + size);
    if (awaited == NULL || !sx_table_add(&server->lookups, &awaited->node, hash)) {
        free(awaited);
        return NULL;
    }
    memcpy(awaited->key, key, size);
    sx_list_init(&awaited->wants);
    return awaited;
}

static void wants_leave(struct sx_server *server, struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->want_count; i++) {
        struct awaited *const awaited = lookup->wants[i].awaited;

        if (awaited == NULL) {
            continue;
        }
        lookup->wants[i].awaited = NULL;
        sx_list_remove(&lookup->wants[i].link);
        if (sx_list_empty(&awaited->wants)) {
            sx_table_remove(&server->lookups, &awaited->node);
            free(awaited);
        }
    }
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t wants_enter(struct sx_server *server, struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->want_count; i++) {
        struct want *const want = &lookup->wants[i];

        want->awaited = awaited_obtain(server, want->key);
        if (want->awaited == NULL) {
            wants_leave(server, lookup);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        sx_list_append(&want->awaited->wants, &want->link);
    }
    return PMIX_SUCCESS;
}

/* A key, and its position among those of a call. */
struct named {
    const char *key;
    uint32_t number;
};

static int named_order(const void *left, const void *right)
{
    const struct named *const one = left, *const other = right;
    const int order = strcmp(one->key, other->key);

    return order != 0 ? order : one->number < other->number ? -1 : one->number > other->number;
}

/* Sort the keys.  Return: malloc'ed; NULL when memory is out. */
static struct named *keys_sort(const pmix_info_t keys[], size_t count)
{
    struct named *const named = malloc((count + 1) * sizeof(*named));

    for (size_t i = 0; named != NULL && i < count; i++) {
        named[i] = (struct named){ .key = keys[i].key, .number = (uint32_t)i };
    }
    if (named != NULL) {
        qsort(named, count, sizeof(*named), named_order);
    }
    return named;
}

static bool is_again(const struct named named[], size_t at)
{
    return at > 0 && strcmp(named[at - 1].key, named[at].key) == 0;
}

/* Make one want for each key.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t wants_make(struct lookup *lookup)
{
    struct named *const named = keys_sort(lookup->keys, lookup->key_count);

    lookup->wants = calloc(lookup->key_count, sizeof(*lookup->wants));
    lookup->want_of = calloc(lookup->key_count, sizeof(*lookup->want_of));
    if (named == NULL || lookup->wants == NULL || lookup->want_of == NULL) {
        free(named);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < lookup->key_count; i++) {
        if (!is_again(named, i)) {
            lookup->wants[lookup->want_count++] = (struct want){ .lookup = lookup,
                                                                 .key = named[i].key };
        }
        lookup->wants[lookup->want_count - 1].times++;
        lookup->want_of[named[i].number] = (uint32_t)(lookup->want_count - 1);
    }
    free(named);
    return PMIX_SUCCESS;
}

/* ---- a lookup -------------------------------------------------------------------------------- */

static void lookup_closed(struct sx_pending *pending)
{
    struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    sx_list_remove(&lookup->ready);
    sx_share_work_remove(&lookup->work);
    wants_leave(pending->server, lookup);
}

/* The status of an answer that has some keys. */
static pmix_status_t lookup_status(const struct lookup *lookup)
{
    return lookup->found == lookup->key_count ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

static void lookup_send(struct sx_pending *pending)
{
    const struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    if (lookup->fd > 0 && pending->status == lookup_status(lookup)) {
        sx_reply_made(pending->server, pending->client, pending->id, lookup->fd,
                      lookup->results_size);
        return;
    }
    sx_reply_body(pending->server, pending->client, pending->id, pending->status, lookup->results,
                  lookup->results != NULL ? lookup->results_size : 0);
}

static void lookup_free(struct lookup *lookup)
{
    PMIX_INFO_FREE(lookup->keys, lookup->key_count);
    PMIX_INFO_FREE(lookup->info, lookup->ninfo);
    free(lookup->wants);
    free(lookup->want_of);
    free(lookup->results);
    if (lookup->fd > 0) {
        close(lookup->fd);
    }
    free(lookup);
}

static void lookup_pending_free(struct sx_pending *pending)
{
    struct lookup *const lookup = SX_CONTAINER(pending, struct lookup, pending);

    pending->client->found_bytes -= lookup->results_size;
    lookup->is_orphan = true;
    if (!lookup->is_written) { /* else the thread still reads it */
        lookup_free(lookup);
    }
}

static const struct sx_pending_kind lookup_kind = { .quota = SX_PENDING_LOOKUP,
                                                    .closed = lookup_closed,
                                                    .send = lookup_send,
                                                    .free = lookup_pending_free };

/* ---- the search ------------------------------------------------------------------------------ */

static void want_take(struct want *want, uint64_t serial)
{
    struct lookup *const lookup = want->lookup;

    lookup->found += serial != 0 ? want->times : 0;
    lookup->found -= want->serial != 0 ? want->times : 0;
    want->serial = serial;
}

/* Search for the keys from the next one on, until some @rows_max rows have been searched.  Return:
 * whether all keys have been searched for. */
static bool lookup_search(struct sx_server *server, const struct sx_party *asker, uint64_t rows_max,
                          struct lookup *lookup)
{
    struct sx_published *const all = &server->published;
    const uint64_t before = all->walked;

    for (; lookup->at < lookup->want_count && all->walked - before < rows_max; lookup->at++) {
        struct want *const want = &lookup->wants[lookup->at];

        all->walked++;
        if (!want->is_looked) {
            const struct sx_published_row *const row = sx_published_find(all, want->key, asker,
                                                                         &lookup->options);

            want->is_looked = true;
            want_take(want, row != NULL ? row->serial : 0);
        }
    }
    return lookup->at == lookup->want_count;
}

/* Whether all rows that were found still exist.  Keys whose row was removed have to be searched for
 * again. */
static bool lookup_verify(const struct sx_server *server, struct lookup *lookup)
{
    bool is_there = true;

    for (size_t i = 0; i < lookup->want_count; i++) {
        struct want *const want = &lookup->wants[i];

        const struct sx_published_row *const row = sx_published_of(&server->published,
                                                                   want->serial);

        if (want->serial != 0 && (row == NULL || row->is_read)) {
            want_take(want, 0);
            want->is_looked = is_there = false;
            lookup->at = 0;
        }
    }
    return is_there;
}

/* Write pair @number of an answer, which is @row for @key.  A repeated key refers to its first
 * pair. */
static void pair_write(struct want *want, const struct sx_published_row *row, const char *key,
                       size_t number, pmix_info_t pair[])
{
    PMIx_Load_key(pair[0].key, PMIX_PROCID);
    if (want->is_written) {
        pair[0].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = want->pair };
        PMIx_Load_key(pair[1].key, key);
        return;
    }
    want->is_written = true;
    want->pair = number;
    pair[0].value = (pmix_value_t){ .type = PMIX_PROC,
                                    .data.proc = &row->publisher->party.who.proc };
    pair[1] = row->info;
}

/* Write the answer, of at most @room bytes.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, also
 * when repeated keys would make it more than FOUND_BYTES_MAX for the asking client. */
static pmix_status_t results_write(struct lookup *lookup, struct sx_published_row *const rows[],
                                   size_t count, size_t room)
{
    pmix_info_t *const infos = calloc(2 * count, sizeof(*infos));
    size_t n = 0;
    uint64_t again = 0;

    for (size_t i = 0; infos != NULL && i < lookup->key_count; i++) {
        if (rows[i] != NULL) {
            struct want *const want = &lookup->wants[lookup->want_of[i]];

            again += want->is_written ? rows[i]->bytes : 0;
            pair_write(want, rows[i], lookup->keys[i].key, n / 2, &infos[n]);
            n += 2;
        }
    }
    pmix_status_t rc = infos == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                     : sx_flat_infos_size(infos, n, &lookup->results_size);

    if (rc == PMIX_SUCCESS &&
        (lookup->results_size > room || lookup->results_size + again > FOUND_BYTES_MAX)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE; /* many lookups may wait for one key, and each gets it */
    }
    lookup->results = rc == PMIX_SUCCESS ? malloc(lookup->results_size) : NULL;
    if (lookup->results != NULL) {
        rc = sx_flat_infos_encode(infos, n, lookup->results, lookup->results_size);
    } else if (rc == PMIX_SUCCESS) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    free(infos);
    if (rc != PMIX_SUCCESS) {
        lookup->results_size = 0;
    }
    return rc;
}

/* Values that were to be read once have now been read. */
static void rows_were_read(struct sx_server *server, const struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->want_count; i++) {
        struct sx_published_row *const row = sx_published_of(&server->published,
                                                             lookup->wants[i].serial);

        if (row != NULL && row->persistence == PMIX_PERSIST_FIRST_READ) {
            sx_published_remove(&server->published, row);
        }
    }
}

/* Write the answer with the rows that were found, all of which still exist.  Return: its status. */
static pmix_status_t lookup_answer(struct sx_server *server, size_t room, struct lookup *lookup)
{
    struct sx_published_row **rows;

    if (lookup->found == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    rows = calloc(lookup->key_count, sizeof(struct sx_published_row *));
    if (rows == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < lookup->key_count; i++) {
        rows[i] = sx_published_of(&server->published, lookup->wants[lookup->want_of[i]].serial);
    }
    const pmix_status_t rc = results_write(lookup, rows, lookup->found, room);

    free(rows);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rows_were_read(server, lookup);
    return lookup_status(lookup);
}

/* ---- large answers --------------------------------------------------------------------------- */

/* The approximate size of what has been found; *ret_again: the additional size for repeated
 * keys. */
static uint64_t found_bytes(const struct sx_server *server, const struct lookup *lookup,
                            uint64_t *ret_again)
{
    uint64_t bytes = 0;

    *ret_again = 0;
    for (size_t i = 0; i < lookup->want_count; i++) {
        const struct want *const want = &lookup->wants[i];
        const struct sx_published_row *const row = sx_published_of(&server->published,
                                                                   want->serial);

        bytes += row != NULL ? row->bytes : 0;
        *ret_again += row != NULL ? (want->times - 1) * row->bytes : 0;
    }
    return bytes;
}

static void pairs_clear(struct lookup *lookup)
{
    for (size_t i = 0; lookup->rows != NULL && i < lookup->pair_count; i++) {
        if (lookup->rows[i] != NULL) {
            lookup->rows[i]->is_read = false;
            sx_published_release(lookup->rows[i]);
        }
    }
    free(lookup->rows);
    free(lookup->pairs);
    free(lookup->procs);
    lookup->rows = NULL;
    lookup->pairs = NULL;
    lookup->procs = NULL;
}

/* Copy what the answer needs to memory that nothing else changes.  Return: false when memory is
 * out. */
static bool pairs_make(struct sx_server *server, struct lookup *lookup)
{
    size_t n = 0;

    lookup->rows = calloc(lookup->found, sizeof(struct sx_published_row *));
    lookup->pairs = calloc(2 * lookup->found, sizeof(*lookup->pairs));
    lookup->procs = calloc(lookup->found, sizeof(*lookup->procs));
    if (lookup->rows == NULL || lookup->pairs == NULL || lookup->procs == NULL) {
        pairs_clear(lookup);
        return false;
    }
    for (size_t i = 0; i < lookup->key_count; i++) {
        struct want *const want = &lookup->wants[lookup->want_of[i]];
        struct sx_published_row *const row = sx_published_of(&server->published, want->serial);

        if (row == NULL) {
            continue;
        }
        if (!want->is_written) {
            lookup->rows[n] = row;
            sx_published_retain(row);
            row->is_read = row->persistence == PMIX_PERSIST_FIRST_READ;
        }
        pair_write(want, row, lookup->keys[i].key, n, &lookup->pairs[2 * n]);
        if (lookup->rows[n] != NULL) {
            lookup->procs[n] = row->publisher->party.who.proc;
            lookup->pairs[2 * n].value.data.proc = &lookup->procs[n];
        }
        n++;
    }
    lookup->pair_count = n;
    return true;
}

static void pending_answer(struct lookup *lookup, pmix_status_t status);

static void lookup_written(void *arg, pmix_status_t status, int fd, size_t size)
{
    struct lookup *const lookup = arg;

    lookup->is_written = false;
    pairs_clear(lookup);
    if (lookup->is_orphan) {
        if (fd >= 0) {
            close(fd);
        }
        lookup_free(lookup);
        return;
    }
    struct sx_client *const client = lookup->pending.client;

    client->found_bytes -= lookup->results_size; /* pending_answer counts the real size */
    lookup->results_size = size;
    lookup->fd = fd >= 0 ? fd : 0;
    sx_share_charge(lookup->pending.server, client, size / BYTES_PER_UNIT);
    if (status == PMIX_SUCCESS) {
        rows_were_read(lookup->pending.server, lookup);
        status = lookup_status(lookup);
    }
    pending_answer(lookup, status);
}

/* Have a thread write the answer, which is pending, with what was found.  Return: false when it
 * cannot. */
static bool lookup_write(struct sx_server *server, struct lookup *lookup)
{
    struct sx_pending *const pending = &lookup->pending;
    uint64_t again;
    const uint64_t bytes = found_bytes(server, lookup, &again);
    const size_t room = FOUND_BYTES_MAX - pending->client->found_bytes;

    if (bytes > room || bytes + again > FOUND_BYTES_MAX || !pairs_make(server, lookup)) {
        return false;
    }
    lookup->is_written = sx_answer_write(server, lookup_status(lookup), lookup->pairs,
                                         2 * lookup->pair_count, room, lookup_written, lookup);
    if (!lookup->is_written) {
        pairs_clear(lookup);
        for (size_t i = 0; i < lookup->want_count; i++) {
            lookup->wants[i].is_written = false;
        }
        return false;
    }
    wants_leave(server, lookup); /* later publications do not go to this lookup */
    sx_timer_remove(&pending->deadline);
    lookup->results_size = bytes;
    pending->client->found_bytes += bytes;
    return true;
}

/* ---- a step ---------------------------------------------------------------------------------- */

enum outcome { GOES_ON, WAITS, WRITES, ENDS };

/* Continue the search, of some @rows_max rows, and answer in @room bytes when enough is found.
 * Return: WRITES, for a large answer; ENDS, and *ret_status is the answer's. */
static enum outcome lookup_try(struct sx_server *server, const struct sx_party *asker,
                               uint64_t rows_max, size_t room, struct lookup *lookup,
                               pmix_status_t *ret_status)
{
    uint64_t again;

    do {
        if (!lookup_search(server, asker, rows_max, lookup)) {
            return GOES_ON;
        }
        if (lookup->found < lookup->wanted) {
            return WAITS;
        }
    } while (!lookup_verify(server, lookup)); /* repeats at most once: no row is removed
                                               * meanwhile */
    if (!lookup->at_once && found_bytes(server, lookup, &again) >= SX_ANSWER_LARGE_BYTES) {
        return WRITES;
    }
    *ret_status = lookup_answer(server, room, lookup);
    return ENDS;
}

/* The same as one step of @client, which is charged for the step and for the answer. */
static enum outcome client_try(struct sx_server *server, struct sx_client *client,
                               struct lookup *lookup, pmix_status_t *ret_status)
{
    const uint64_t before = server->published.walked;
    const struct sx_party asker = party_of(client);
    const enum outcome outcome = lookup_try(server, &asker, STEP_ROWS,
                                            FOUND_BYTES_MAX - client->found_bytes, lookup,
                                            ret_status);

    sx_share_charge(server, client,
                    (server->published.walked - before) / ROWS_PER_UNIT +
                        lookup->results_size / BYTES_PER_UNIT);
    return outcome;
}

static void pending_answer(struct lookup *lookup, pmix_status_t status)
{
    lookup->pending.client->found_bytes += lookup->results_size;
    sx_pending_answer(&lookup->pending, status);
}

/* Return: why a spawn of @client has failed, if no lookup has returned that yet, and this one will;
 * or PMIX_SUCCESS. */
static pmix_status_t spawn_failure_take(struct sx_client *client)
{
    const pmix_status_t why = client->spawn_failed;

    client->spawn_failed = PMIX_SUCCESS;
    return why;
}

static void lookup_step(struct sx_share_work *work)
{
    struct lookup *const lookup = SX_CONTAINER(work, struct lookup, work);
    pmix_status_t status;

    switch (client_try(lookup->pending.server, lookup->pending.client, lookup, &status)) {
    case GOES_ON:
        return;
    case WAITS:
        lookup->is_queued = false;
        sx_share_work_remove(work);
        status = spawn_failure_take(lookup->pending.client);
        if (status != PMIX_SUCCESS) {
            pending_answer(lookup, status);
        }
        return;
    case WRITES:
        sx_share_work_remove(work);
        if (!lookup_write(lookup->pending.server, lookup)) {
            lookup->at_once = true;
            sx_share_work_add(lookup->pending.client, work);
        }
        return;
    case ENDS:
        pending_answer(lookup, status);
    }
}

/* The search continues in its client's turns. */
static void lookup_queue(struct lookup *lookup)
{
    if (!lookup->is_queued) {
        lookup->is_queued = true;
        lookup->work.step = lookup_step;
        sx_share_work_add(lookup->pending.client, &lookup->work);
    }
}

static void lookup_late(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_pending_answer(arg, PMIX_ERR_TIMEOUT);
}

/* Ownership of @lookup moves; @goes_on: its search continues.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; why a spawn of @client has failed. */
static pmix_status_t lookup_wait(struct sx_server *server, struct sx_client *client, uint32_t id,
                                 struct lookup *lookup, bool goes_on, uint64_t now_ns)
{
    const uint64_t timeout_ns = lookup->options.timeout_ns;
    pmix_status_t rc = goes_on ? PMIX_SUCCESS : spawn_failure_take(client);

    if (rc == PMIX_SUCCESS) {
        rc = wants_enter(server, lookup);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_pending_begin(server, client, id, &lookup_kind, &lookup->pending);
    }
    if (rc != PMIX_SUCCESS) {
        wants_leave(server, lookup);
        lookup_free(lookup);
        return rc;
    }
    if (goes_on) {
        lookup_queue(lookup);
    }
    if (timeout_ns != 0 && timeout_ns < SX_DEADLINE_NEVER - now_ns) {
        sx_pending_limit(&lookup->pending, lookup_late, now_ns + timeout_ns);
    }
    return PMIX_SUCCESS;
}

/* ---- matching new publications --------------------------------------------------------------- */

/* Give the new @row to the lookups that wait for its key, the first @left of them in their order.
 * Those with enough keys then are put into @ready.  The others search by themselves. */
static void row_offer(struct sx_server *server, const struct awaited *awaited,
                      const struct sx_published_row *row, size_t *left, struct sx_list *ready)
{
    SX_LIST_EACH(it, &awaited->wants) {
        struct want *const want = SX_LIST_ENTRY(it, struct want, link);
        struct lookup *const lookup = want->lookup;

        if (!want->is_looked ||
            (want->serial != 0 && sx_published_of(&server->published, want->serial) != NULL)) {
            continue; /* it will search, or has an older row */
        }
        if (*left == 0) {
            want->is_looked = false;
            lookup->at = 0;
            lookup_queue(lookup);
            continue;
        }
        --*left;
        const struct sx_party asker = party_of(lookup->pending.client);

        if (sx_published_sees(&server->published, row, &asker, &lookup->options)) {
            want_take(want, row->serial);
        }
        if (lookup->found >= lookup->wanted && !lookup->is_queued &&
            sx_list_empty(&lookup->ready)) {
            sx_list_append(ready, &lookup->ready);
        }
    }
}

/* In the order of their arrival. */
static void ready_answer(struct sx_server *server, struct sx_list *ready)
{
    struct sx_list *it;
    pmix_status_t status;
    size_t bytes = 0;

    while ((it = sx_list_pop(ready)) != NULL) {
        struct lookup *const lookup = SX_LIST_ENTRY(it, struct lookup, ready);

        if (!lookup_verify(server, lookup) || bytes >= WAKE_BYTES_MAX ||
            client_try(server, lookup->pending.client, lookup, &status) != ENDS) {
            lookup_queue(lookup); /* another lookup has read the row, or the answer is large */
            continue;
        }
        bytes += lookup->results_size;
        pending_answer(lookup, status);
    }
}

void sx_publish_wake(struct sx_server *server, struct sx_client *client, const pmix_info_t info[],
                     size_t ninfo)
{
    struct sx_published *const all = &server->published;
    struct sx_list ready = SX_LIST_INIT(ready);
    uint64_t serial = all->last_serial;
    size_t left = WAKE_LOOKUPS_MAX;

    for (size_t i = ninfo; i-- > 0;) { /* the last of them has the last serial */
        serial -= sx_publish_is_data(info[i].key);
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (!sx_publish_is_data(info[i].key)) {
            continue;
        }
        const struct sx_published_row *const row = sx_published_of(all, ++serial);
        const struct awaited *const awaited = awaited_find(server, info[i].key,
                                                           key_hash(server, info[i].key));

        if (row != NULL && awaited != NULL) {
            row_offer(server, awaited, row, &left, &ready);
        }
    }
    if (client != NULL) {
        sx_share_charge(server, client, (WAKE_LOOKUPS_MAX - left) / WAKES_PER_UNIT);
    }
    ready_answer(server, &ready);
}

/* ---- spawns that fail ------------------------------------------------------------------------ */

struct failure {
    const pmix_proc_t *spawner;
    const char *nspace;
    pmix_status_t status;
};

/* Return: whether @client had a waiting lookup.  A lookup that still searches may find enough. */
static bool lookups_fail(struct sx_client *client, pmix_status_t status)
{
    bool any = false;

    SX_LIST_EACH(it, &client->pendings) {
        struct sx_pending *const pending = SX_LIST_ENTRY(it, struct sx_pending, link);

        if (pending->kind == &lookup_kind &&
            !SX_CONTAINER(pending, struct lookup, pending)->is_queued) {
            any = true;
            sx_pending_answer(pending, status);
        }
    }
    return any;
}

static pmix_status_t spawn_fail(struct sx_server *server, void *arg)
{
    const struct failure *const failure = arg;
    const struct sx_nspace *const child = sx_nspace_find(server, failure->nspace);
    const struct sx_nspace *const nspace = sx_nspace_find(server, failure->spawner->nspace);
    struct sx_client *const client = nspace == NULL
                                         ? NULL
                                         : sx_client_find(nspace, failure->spawner->rank);

    if (client == NULL || client->state != SX_CLIENT_CONNECTED || child == NULL ||
        child->was_connected) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (!lookups_fail(client, failure->status)) {
        client->spawn_failed = failure->status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_publish_spawn_failed(const pmix_proc_t *spawner, const char *nspace,
                                      pmix_status_t status)
{
    struct sx_server *const server = sx_server_get();
    struct failure failure = { .spawner = spawner, .nspace = nspace, .status = status };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, spawn_fail, &failure);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Ownership of the values of @info moves. */
static pmix_status_t table_publish(struct sx_server *server, const struct sx_party *party,
                                   pmix_info_t info[], size_t ninfo)
{
    struct sx_publish_options options;
    const pmix_status_t rc = sx_publish_read(info, ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (options.range == PMIX_RANGE_RM) {
        return PMIX_ERR_NOT_SUPPORTED; /* there is no resource manager to give it to */
    }
    sx_published_targets_sort(&options.targets);
    return sx_published_add(&server->published, party, &options, info, ninfo);
}

static void own_publish(struct sx_server *server, struct sx_client *client, uint32_t id,
                        pmix_info_t info[], size_t ninfo)
{
    const uint64_t before = server->published.walked;
    const struct sx_party party = party_of(client);
    const pmix_status_t rc = table_publish(server, &party, info, ninfo);

    sx_share_charge(server, client, (server->published.walked - before) / ROWS_PER_UNIT);
    sx_client_retain(client); /* an answer may end the client */
    sx_reply(server, client, id, rc, -1);
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, client, info, ninfo);
    }
    sx_client_release(client);
}

bool sx_publish_on_publish(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns)
{
    const uint32_t id = frame->header.id;
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_PUBLISH_INFOS, &up.info, &up.ninfo);
    const bool asks = has_host(server, SX_UPCALL_PUBLISH);

    (void)now_ns;
    if (rc == PMIX_SUCCESS && asks) {
        rc = sx_ask_asker_add(client, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && asks) {
        sx_reply_read(server, client, frame);
        sx_pending_ask_host(server, client, id, SX_UPCALL_PUBLISH, &up);
        free(up.info);
        return true;
    }
    if (rc == PMIX_SUCCESS) {
        own_publish(server, client, id, up.info, up.ninfo);
    } else {
        sx_reply(server, client, id, rc, -1);
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    return true;
}

/* The parts of a LOOKUP or an UNPUBLISH, decoded. */
struct call {
    pmix_info_t *keys, *info;
    size_t key_count, ninfo;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for fewer than @least keys, and for an invalid key;
 * PMIX_ERR_OUT_OF_RESOURCE.  On an error nothing has to be freed. */
static pmix_status_t call_read(const struct sx_frame *frame, size_t least, struct call *ret)
{
    *ret = (struct call){ .keys = NULL };
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_LOOKUP_KEYS, &ret->keys, &ret->key_count);

    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_LOOKUP_INFOS, &ret->info, &ret->ninfo);
    }
    if (rc == PMIX_SUCCESS && (ret->key_count < least || ret->key_count > SX_LOOKUP_KEYS_MAX)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; i < ret->key_count && rc == PMIX_SUCCESS; i++) {
        rc = ret->keys[i].key[0] != '\0' ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(ret->keys, ret->key_count);
        PMIX_INFO_FREE(ret->info, ret->ninfo);
    }
    return rc;
}

/* @from may be NULL or empty. */
static void infos_move(pmix_info_t *to, pmix_info_t *from, size_t count)
{
    if (count > 0) {
        memcpy(to, from, count * sizeof(*to));
    }
    free(from);
}

/* Ask the host, which takes over @call's parts. */
static void call_host(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      enum sx_upcall_kind kind, struct call *call)
{
    const size_t ninfo = call->key_count + call->ninfo;
    struct sx_upcall up = { .info_bytes = frame->opened.size,
                            .ndata = call->key_count,
                            .ninfo = ninfo };
    char *keys[SX_LOOKUP_KEYS_MAX + 1] = { NULL };

    up.keys = call->key_count > 0 ? keys : NULL;
    up.info = calloc(ninfo + 1, sizeof(*up.info));
    if (up.info != NULL) {
        infos_move(up.info, call->keys, call->key_count);
        infos_move(up.info + call->key_count, call->info, call->ninfo);
    }
    if (up.info == NULL || sx_ask_asker_add(client, &up.info, &up.ninfo) != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        if (up.info != NULL) {
            PMIX_INFO_FREE(up.info, up.ninfo);
        } else {
            PMIX_INFO_FREE(call->keys, call->key_count);
            PMIX_INFO_FREE(call->info, call->ninfo);
        }
        return;
    }
    sx_reply_read(server, client, frame);
    sx_pending_ask_host(server, client, frame->header.id, kind, &up);
    free(up.info);
}

/* Read the directives in @info for @lookup, which has its keys and owns @info.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as sx_lookup_read. */
static pmix_status_t lookup_read(struct lookup *lookup, const pmix_info_t info[])
{
    const pmix_status_t rc = sx_lookup_read(info, lookup->ninfo, lookup->key_count,
                                            &lookup->options, &lookup->wanted);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_published_targets_sort(&lookup->options.targets);
    return wants_make(lookup);
}

static void own_lookup(struct sx_server *server, struct sx_client *client, uint32_t id,
                       struct call *call, size_t bytes, uint64_t now_ns)
{
    struct lookup *const lookup = calloc(1, sizeof(*lookup));
    pmix_status_t rc;

    if (lookup == NULL) {
        PMIX_INFO_FREE(call->keys, call->key_count);
        PMIX_INFO_FREE(call->info, call->ninfo);
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return;
    }
    *lookup = (struct lookup){ .keys = call->keys,
                               .key_count = call->key_count,
                               .info = call->info,
                               .ninfo = call->ninfo,
                               .pending.bytes = bytes };
    sx_list_init(&lookup->ready);
    rc = lookup_read(lookup, lookup->info);
    const enum outcome outcome = rc == PMIX_SUCCESS ? client_try(server, client, lookup, &rc)
                                                    : ENDS;

    if (outcome != ENDS) {
        rc = lookup_wait(server, client, id, lookup, outcome != WAITS, now_ns);
        if (rc != PMIX_SUCCESS) {
            sx_reply(server, client, id, rc, -1);
        }
        return;
    }
    sx_reply_body(server, client, id, rc, lookup->results, lookup->results_size);
    lookup_free(lookup);
}

bool sx_publish_on_lookup(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct call call;
    const pmix_status_t rc = call_read(frame, 1, &call);

    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    } else if (has_host(server, SX_UPCALL_LOOKUP)) {
        sx_lookup_range_mend(call.info, call.ninfo);
        call_host(server, client, frame, SX_UPCALL_LOOKUP, &call);
    } else {
        sx_reply_read(server, client, frame);
        own_lookup(server, client, frame->header.id, &call, frame->opened.size, now_ns);
    }
    return true;
}

/* ---- unpublishing ---------------------------------------------------------------------------- */

struct withdrawal {
    struct sx_pending pending;
    struct sx_share_work work; /* while it continues in its client's turns */
    struct call call;
    struct named *named; /* the keys in order; NULL: all keys */
    struct sx_party party;
    pmix_data_range_t range;
    size_t at;    /* the key at which it continues */
    size_t count; /* of rows that were removed */
    pmix_status_t status;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as sx_unpublish_read. */
static pmix_status_t withdrawal_begin(struct withdrawal *back)
{
    struct sx_unpublish_options options;
    const pmix_status_t rc = sx_unpublish_read(back->call.info, back->call.ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    back->range = options.range;
    if (back->call.key_count > 0) {
        back->named = keys_sort(back->call.keys, back->call.key_count);
        back->range = options.range == PMIX_RANGE_UNDEF ? PMIX_RANGE_SESSION : options.range;
    }
    return back->call.key_count > 0 && back->named == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                                           : PMIX_SUCCESS;
}

/* Remove from the next key on, until some @rows_max rows have been visited.  Return: whether all
 * are done. */
static bool withdrawal_go_on(struct sx_server *server, struct withdrawal *back, uint64_t rows_max)
{
    struct sx_published *const all = &server->published;
    const uint64_t before = all->walked;

    if (back->named == NULL) {
        return sx_published_withdraw_all(all, &back->party, back->range, rows_max);
    }
    for (; back->at < back->call.key_count && all->walked - before < rows_max; back->at++) {
        if (is_again(back->named, back->at)) {
            continue;
        }
        const pmix_status_t rc = sx_published_withdraw(all, &back->party, back->named[back->at].key,
                                                       back->range);

        all->walked++;
        back->count += rc == PMIX_SUCCESS;
        back->status = back->status == PMIX_SUCCESS ? rc : back->status;
    }
    return back->at == back->call.key_count;
}

static pmix_status_t withdrawal_status(const struct withdrawal *back)
{
    return back->status != PMIX_SUCCESS && back->count > 0 ? PMIX_ERR_PARTIAL_SUCCESS
                                                           : back->status;
}

static void withdrawal_free(struct withdrawal *back)
{
    PMIX_INFO_FREE(back->call.keys, back->call.key_count);
    PMIX_INFO_FREE(back->call.info, back->call.ninfo);
    free(back->named);
    free(back);
}

/* One step of @client, which is charged.  Return: whether all are done. */
static bool withdrawal_step(struct sx_server *server, struct sx_client *client,
                            struct withdrawal *back)
{
    const uint64_t before = server->published.walked;
    const bool is_done = withdrawal_go_on(server, back, STEP_ROWS);

    sx_share_charge(server, client, (server->published.walked - before) / ROWS_PER_UNIT);
    return is_done;
}

static void withdrawal_work(struct sx_share_work *work)
{
    struct withdrawal *const back = SX_CONTAINER(work, struct withdrawal, work);

    if (withdrawal_step(back->pending.server, back->pending.client, back)) {
        sx_pending_answer(&back->pending, withdrawal_status(back));
    }
}

static void withdrawal_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct withdrawal, pending)->work);
}

static void withdrawal_pending_free(struct sx_pending *pending)
{
    withdrawal_free(SX_CONTAINER(pending, struct withdrawal, pending));
}

/* Return: whether the rest continues in the turns of @client, and is answered then; else its status
 * is the answer's. */
static bool withdrawal_wait(struct sx_server *server, struct sx_client *client, uint32_t id,
                            struct withdrawal *back)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST,
                                                 .closed = withdrawal_closed,
                                                 .free = withdrawal_pending_free };
    const pmix_status_t rc = sx_pending_begin(server, client, id, &kind, &back->pending);

    if (rc == PMIX_SUCCESS) {
        back->work.step = withdrawal_work;
        sx_share_work_add(client, &back->work);
    } else {
        back->status = back->status == PMIX_SUCCESS ? rc : back->status;
    }
    return rc == PMIX_SUCCESS;
}

/* Ownership of the parts of @call moves. */
static void own_unpublish(struct sx_server *server, struct sx_client *client,
                          const struct sx_frame *frame, struct call *call)
{
    struct withdrawal *const back = calloc(1, sizeof(*back));
    const uint32_t id = frame->header.id;

    if (back == NULL) {
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        PMIX_INFO_FREE(call->keys, call->key_count);
        PMIX_INFO_FREE(call->info, call->ninfo);
        return;
    }
    *back = (struct withdrawal){ .call = *call, .party = party_of(client) };
    back->pending.bytes = frame->opened.size;
    back->status = withdrawal_begin(back);
    if (back->status == PMIX_SUCCESS && !withdrawal_step(server, client, back) &&
        withdrawal_wait(server, client, id, back)) {
        sx_reply_read(server, client, frame);
        return;
    }
    sx_reply(server, client, id, withdrawal_status(back), -1);
    withdrawal_free(back);
}

bool sx_publish_on_unpublish(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame, uint64_t now_ns)
{
    struct call call;
    const pmix_status_t rc = call_read(frame, 0, &call);

    (void)now_ns;
    if (rc != PMIX_SUCCESS) {
        sx_reply(server, client, frame->header.id, rc, -1);
    } else if (has_host(server, SX_UPCALL_UNPUBLISH)) {
        call_host(server, client, frame, SX_UPCALL_UNPUBLISH, &call);
    } else {
        own_unpublish(server, client, frame, &call);
    }
    return true;
}

/* ---- the host itself ------------------------------------------------------------------------- */

struct host_call {
    const struct sx_role_publish *call;
    pmix_info_t **ret_info;
    size_t *ret_ninfo;
};

/* A copy goes into the table, or is freed. */
static pmix_status_t host_publish(struct sx_server *server, const struct sx_party *party,
                                  const struct sx_role_publish *call)
{
    pmix_info_t *const info = PMIx_Info_create(call->ninfo);
    pmix_status_t rc = info == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                    : sx_elements_copy(info, call->info, call->ninfo, PMIX_INFO);

    if (rc == PMIX_SUCCESS) {
        rc = table_publish(server, party, info, call->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        sx_publish_wake(server, NULL, info, call->ninfo);
    }
    if (info != NULL) {
        PMIx_Info_free(info, call->ninfo);
    }
    return rc;
}

static pmix_status_t host_lookup(struct sx_server *server, const struct sx_party *party,
                                 const struct host_call *host)
{
    const struct sx_role_publish *const call = host->call;
    struct lookup lookup = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                             .key_count = call->key_count,
                             .info = PMIx_Info_create(call->ninfo + 1),
                             .ninfo = call->ninfo,
                             .at_once = true };
    pmix_status_t rc = lookup.info == NULL
                           ? PMIX_ERR_OUT_OF_RESOURCE
                           : sx_elements_copy(lookup.info, call->info, call->ninfo, PMIX_INFO);

    if (rc == PMIX_SUCCESS) {
        rc = lookup_read(&lookup, lookup.info);
    }
    if (rc == PMIX_SUCCESS &&
        lookup_try(server, party, UINT64_MAX, FOUND_BYTES_MAX, &lookup, &rc) != ENDS) {
        rc = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                      "a lookup of the server's own host cannot wait for what is not published");
    }
    if (lookup.results != NULL) {
        const pmix_status_t decoded = sx_flat_infos_decode(lookup.results, lookup.results_size,
                                                           host->ret_info, host->ret_ninfo);

        rc = decoded == PMIX_SUCCESS ? rc : decoded;
    }
    if (lookup.info != NULL) {
        PMIx_Info_free(lookup.info, call->ninfo + 1);
    }
    free(lookup.wants);
    free(lookup.want_of);
    free(lookup.results);
    return rc;
}

static pmix_status_t host_unpublish(struct sx_server *server, const struct sx_party *party,
                                    const struct sx_role_publish *call)
{
    struct withdrawal back = { .call = { .keys = (pmix_info_t *)(uintptr_t)call->keys,
                                         .key_count = call->key_count,
                                         .info = (pmix_info_t *)(uintptr_t)call->info,
                                         .ninfo = call->ninfo },
                               .party = *party };

    back.status = withdrawal_begin(&back);
    if (back.status == PMIX_SUCCESS) {
        (void)withdrawal_go_on(server, &back, UINT64_MAX);
    }
    free(back.named);
    return withdrawal_status(&back);
}

static pmix_status_t host_call_run(struct sx_server *server, void *arg)
{
    static const enum sx_upcall_kind entries[] = { [SX_ROLE_PUBLISH] = SX_UPCALL_PUBLISH,
                                                   [SX_ROLE_LOOKUP] = SX_UPCALL_LOOKUP,
                                                   [SX_ROLE_UNPUBLISH] = SX_UPCALL_UNPUBLISH };
    const struct host_call *const host = arg;
    const struct sx_role_publish *const call = host->call;
    const struct sx_party party = { .who = { .proc = server->self, .session = SX_SESSION_UNKNOWN },
                                    .uid = geteuid(),
                                    .gid = getegid(),
                                    .is_host = true,
                                    .app = SX_PARTY_APP_UNKNOWN };

    if (has_host(server, entries[call->kind])) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "the host has an entry for what is published: it has the data itself");
    }
    if (call->kind == SX_ROLE_PUBLISH) {
        return host_publish(server, &party, call);
    }
    if (call->kind == SX_ROLE_LOOKUP) {
        return host_lookup(server, &party, host);
    }
    return host_unpublish(server, &party, call);
}

pmix_status_t sx_publish_by_host(const struct sx_role_publish *call, pmix_info_t **ret_info,
                                 size_t *ret_ninfo)
{
    struct sx_server *const server = sx_server_get();
    struct host_call host = { .call = call, .ret_info = ret_info, .ret_ninfo = ret_ninfo };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, host_call_run, &host);
}

/* ---- clients that search by themselves ------------------------------------------------------- */

pmix_status_t sx_publish_share(struct sx_server *server, struct sx_client *client, int *ret_fd)
{
    const uint64_t before = server->published.walked;
    const struct sx_party asker = party_of(client);

    if (has_host(server, SX_UPCALL_LOOKUP)) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_published_share(&server->published, &server->numa, client->uid,
                                                &asker.who, ret_fd);

    sx_share_charge(server, client, (server->published.walked - before) / ROWS_PER_UNIT);
    return rc;
}

void sx_publish_session_told(struct sx_server *server, const struct sx_nspace *nspace)
{
    sx_published_session_told(&server->published, nspace->name, nspace->session);
}

/* ---- clients and jobs that leave ------------------------------------------------------------- */

void sx_publish_client_gone(struct sx_server *server, struct sx_client *client)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);

    client->spawn_failed = PMIX_SUCCESS;
    sx_published_proc_gone(&server->published, &proc, client->uid);
}

void sx_publish_client_over(struct sx_server *server, struct sx_client *client)
{
    sx_publish_client_gone(server, client);
    if (client->is_tool || sx_list_empty(&server->published.publishers)) {
        return;
    }
    const uint32_t app = sx_apps_of(client->nspace, client->rank);

    if (sx_apps_is_over(client->nspace, app)) {
        sx_published_app_gone(&server->published, client->nspace->name, app);
    }
}

void sx_publish_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    bool ended = nspace->session != SX_SESSION_UNKNOWN;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const other = SX_LIST_ENTRY(it, struct sx_nspace, link);

        ended = ended && (other == nspace || other->session != nspace->session);
    }
    sx_published_session_over(&server->published, nspace->name);
    sx_published_nspace_gone(&server->published, nspace->name, nspace->session, ended);
}

void sx_publish_deinit(struct sx_server *server)
{
    sx_published_shown_deinit(&server->published);
    sx_published_deinit(&server->published);
    sx_table_deinit(&server->lookups);
}
