/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup_answer.c - the answer to a lookup: written at once, or, when it is large, by a thread. */
#include "server/publish/lookup.h"

#include <stdlib.h>
#include <unistd.h>

#include <pmix.h>

#include "base/value/flat.h"
#include "server/port/port.h"

/* The status of an answer that has some keys. */
pmix_status_t sx_lookup_status(const struct sx_lookup *lookup)
{
    return lookup->found == lookup->key_count ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

void sx_lookup_free(struct sx_lookup *lookup)
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

void sx_lookup_pending_answer(struct sx_lookup *lookup, pmix_status_t status)
{
    lookup->pending.client->found_bytes += lookup->results_size;
    sx_pending_answer(&lookup->pending, status);
}

/* ---- answers written at once ---------------------------------------------------------------- */

/* Write pair @number of an answer, which is @row for @key.  A repeated key refers to its first
 * pair. */
static void pair_write(struct sx_lookup_want *want, const struct sx_published_row *row,
                       const char *key, size_t number, pmix_info_t pair[])
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
 * when repeated keys would make it more than SX_LOOKUP_FOUND_BYTES_MAX for the asking client. */
static pmix_status_t results_write(struct sx_lookup *lookup, struct sx_published_row *const rows[],
                                   size_t count, size_t room)
{
    pmix_info_t *const infos = calloc(2 * count, sizeof(*infos));
    size_t n = 0;
    uint64_t again = 0;

    for (size_t i = 0; infos != NULL && i < lookup->key_count; i++) {
        if (rows[i] != NULL) {
            struct sx_lookup_want *const want = &lookup->wants[lookup->want_of[i]];

            again += want->is_written ? rows[i]->bytes : 0;
            pair_write(want, rows[i], lookup->keys[i].key, n / 2, &infos[n]);
            n += 2;
        }
    }
    pmix_status_t rc = infos == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                     : sx_flat_infos_size(infos, n, &lookup->results_size);

    if (rc == PMIX_SUCCESS &&
        (lookup->results_size > room || lookup->results_size + again > SX_LOOKUP_FOUND_BYTES_MAX)) {
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
static void rows_were_read(struct sx_server *server, const struct sx_lookup *lookup)
{
    for (size_t i = 0; i < lookup->want_count; i++) {
        struct sx_published_row *const row = sx_published_of(&server->publish.published,
                                                             lookup->wants[i].serial);

        if (row != NULL && row->persistence == PMIX_PERSIST_FIRST_READ) {
            sx_published_remove(&server->publish.published, row);
        }
    }
}

/* Write the answer with the rows that were found, all of which still exist.  Return: its status. */
pmix_status_t sx_lookup_answer(struct sx_server *server, size_t room, struct sx_lookup *lookup)
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
        rows[i] = sx_published_of(&server->publish.published,
                                  lookup->wants[lookup->want_of[i]].serial);
    }
    const pmix_status_t rc = results_write(lookup, rows, lookup->found, room);

    free(rows);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rows_were_read(server, lookup);
    return sx_lookup_status(lookup);
}

/* ---- large answers, which a thread writes --------------------------------------------------- */

/* The approximate size of what has been found; *ret_again: the additional size for repeated
 * keys. */
uint64_t sx_lookup_found_bytes(const struct sx_server *server, const struct sx_lookup *lookup,
                               uint64_t *ret_again)
{
    uint64_t bytes = 0;

    *ret_again = 0;
    for (size_t i = 0; i < lookup->want_count; i++) {
        const struct sx_lookup_want *const want = &lookup->wants[i];
        const struct sx_published_row *const row = sx_published_of(&server->publish.published,
                                                                   want->serial);

        bytes += row != NULL ? row->bytes : 0;
        *ret_again += row != NULL ? (want->times - 1) * row->bytes : 0;
    }
    return bytes;
}

static void pairs_clear(struct sx_lookup *lookup)
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
static bool pairs_make(struct sx_server *server, struct sx_lookup *lookup)
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
        struct sx_lookup_want *const want = &lookup->wants[lookup->want_of[i]];
        struct sx_published_row *const row = sx_published_of(&server->publish.published,
                                                             want->serial);

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

static void lookup_written(void *arg, pmix_status_t status, int fd, size_t size)
{
    struct sx_lookup *const lookup = arg;

    lookup->is_written = false;
    pairs_clear(lookup);
    if (lookup->is_orphan) {
        if (fd >= 0) {
            close(fd);
        }
        sx_lookup_free(lookup);
        return;
    }
    struct sx_client *const client = lookup->pending.client;

    client->found_bytes -= lookup->results_size; /* sx_lookup_pending_answer counts the real size */
    lookup->results_size = size;
    lookup->fd = fd >= 0 ? fd : 0;
    sx_share_charge(lookup->pending.server, client, size / SX_LOOKUP_BYTES_PER_UNIT);
    if (status == PMIX_SUCCESS) {
        rows_were_read(lookup->pending.server, lookup);
        status = sx_lookup_status(lookup);
    }
    sx_lookup_pending_answer(lookup, status);
}

/* Have a thread write the answer, which is pending, with what was found.  Return: false when it
 * cannot. */
bool sx_lookup_write(struct sx_server *server, struct sx_lookup *lookup)
{
    struct sx_pending *const pending = &lookup->pending;
    uint64_t again;
    const uint64_t bytes = sx_lookup_found_bytes(server, lookup, &again);
    const size_t room = SX_LOOKUP_FOUND_BYTES_MAX - pending->client->found_bytes;

    if (bytes > room || bytes + again > SX_LOOKUP_FOUND_BYTES_MAX || !pairs_make(server, lookup)) {
        return false;
    }
    lookup->is_written = sx_answer_write(server, sx_lookup_status(lookup), lookup->pairs,
                                         2 * lookup->pair_count, room, lookup_written, lookup);
    if (!lookup->is_written) {
        pairs_clear(lookup);
        for (size_t i = 0; i < lookup->want_count; i++) {
            lookup->wants[i].is_written = false;
        }
        return false;
    }
    sx_timer_remove(&pending->deadline);
    lookup->results_size = bytes;
    pending->client->found_bytes += bytes;
    return true;
}
