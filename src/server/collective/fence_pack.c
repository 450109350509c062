/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_pack.c - a fence's bytes for the host, which may be many: some in each turn.
 *
 *     all members here have called --up to STEP_BYTES--> the host is asked at once
 *                                     \--more--> PACKED, in later turns --> the host is asked
 *
 * Until then the fence counts as one that the host has.  A fence in rounds is packed behind what
 * its round has already, before the host is asked for that.  Those of all fences in one turn have a
 * bound together, and little overtakes much (server/model/steps.h). */
#include "server/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "server/model/blob.h"

#define STEP_BYTES ((size_t)512 << 10)

struct sx_fence_pack {
    struct sx_steps_entry entry; /* of collective_state.packs */
    struct sx_collective *collective;
    sx_packed_fn packed;  /* NULL: then the host is asked */
    struct sx_blob *blob; /* of the round, or ... */
    struct sx_blob own;   /* ... this */
    size_t next;          /* of the members */
    bool is_begun;
    /* Of the member before the next: its news, or all, since not all nodes of its job take part. */
    bool is_whole;
    union {
        struct sx_news_pack news;
        struct sx_rank_pack rank;
    };
};

/* Return: whether all nodes with processes of @nspace take part, so that all receive the news. */
static bool covers(const struct sx_collective *collective, const struct sx_nspace *nspace)
{
    return sx_alias_list_has_all(&collective->members.real, nspace->name);
}

/* The bytes are packed: ask the host, which gets @blob.  Return: as sx_upcall. */
static pmix_status_t host_call(struct sx_collective *collective, struct sx_blob *blob)
{
    struct sx_members *const members = &collective->members;
    struct sx_joint joint = { .answered = collective->part.answered,
                              .asker = &collective->asker,
                              .procs = members->real.all, /* hosts have only these */
                              .proc_count = members->real.count,
                              .made = members->real.made,
                              .wishes = &collective->wishes,
                              .blob = *blob };

    return sx_joint_upcall(members->server, SX_UPCALL_FENCE_NB, &joint);
}

/* Begin with the next member.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t member_begin(struct sx_fence_pack *pack)
{
    struct sx_member *const member = &pack->collective->members.all[pack->next++];
    struct sx_client *const client = member->client;

    if (client->nspace == NULL) {
        return PMIX_SUCCESS;
    }
    pack->is_begun = true;
    pack->is_whole = !covers(pack->collective, client->nspace);
    if (pack->is_whole) {
        return sx_rank_pack_begin(&pack->rank, pack->blob, client);
    }
    member->news_sent = sx_news_end(&client->news);
    return sx_news_pack_begin(&pack->news, pack->blob, client);
}

static pmix_status_t member_step(struct sx_fence_pack *pack, size_t *left)
{
    const struct sx_client *const client = pack->is_whole ? pack->rank.client : pack->news.client;

    if (client->nspace == NULL) { /* it has been removed meanwhile */
        pack->blob->size = pack->is_whole ? pack->rank.section : pack->news.section;
        sx_blob_seal(pack->blob);
        pack->is_begun = false;
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = pack->is_whole ? sx_rank_pack_step(&pack->rank, pack->blob, left)
                                            : sx_news_pack_step(&pack->news, pack->blob, left);

    pack->is_begun = rc == PMIX_ERR_WOULD_BLOCK;
    return rc;
}

/* Return: PMIX_SUCCESS when all is packed; PMIX_ERR_WOULD_BLOCK; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t pack_step(struct sx_fence_pack *pack, size_t *left)
{
    const struct sx_collective *const collective = pack->collective;
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && collective->collect &&
           (pack->is_begun || pack->next < collective->members.count)) {
        rc = pack->is_begun ? member_step(pack, left) : member_begin(pack);
    }
    return rc;
}

/* Begin behind what @blob has. */
static pmix_status_t pack_begin(struct sx_fence_pack *pack, struct sx_collective *collective,
                                struct sx_blob *blob)
{
    *pack = (struct sx_fence_pack){ .collective = collective, .blob = blob };
    const pmix_status_t rc = sx_blob_begin_inside(blob);

    if (rc == PMIX_SUCCESS && !collective->collect) {
        sx_blob_flag(blob, SX_BLOB_PARTIAL);
    }
    return rc;
}

/* ---- in later turns -------------------------------------------------------------------------- */

static void pack_free(struct sx_fence_pack *pack)
{
    sx_list_remove(&pack->entry.link);
    pack->collective->pack = NULL;
    sx_blob_clear(&pack->own);
    free(pack);
}

void sx_fence_pack_drop(struct sx_collective *collective)
{
    if (collective->pack != NULL) {
        pack_free(collective->pack);
    }
}

/* All is packed, or cannot be: @rc. */
static void pack_end(struct sx_fence_pack *pack, pmix_status_t rc)
{
    struct sx_collective *const collective = pack->collective;
    const sx_packed_fn packed = pack->packed;
    struct sx_blob blob = pack->own;

    pack->own = (struct sx_blob){ .size = 0 };
    pack_free(pack);
    if (packed != NULL) {
        packed(collective, rc);
        return;
    }
    if (rc == PMIX_SUCCESS) {
        rc = host_call(collective, &blob);
    } else {
        sx_blob_clear(&blob);
    }
    if (rc != PMIX_SUCCESS) {
        const struct sx_host_answer answer = { .server = collective->members.server, .status = rc };

        collective->part.answered(&collective->asker, &answer);
    }
}

/* Return: how often something of its member was packed anew. */
static unsigned restarts(const struct sx_fence_pack *pack)
{
    return !pack->is_begun  ? 0
           : pack->is_whole ? sx_rank_pack_restarts(&pack->rank)
                            : pack->news.value.restarts;
}

static bool entry_step(struct sx_steps_entry *entry, size_t *left)
{
    struct sx_fence_pack *const pack = SX_CONTAINER(entry, struct sx_fence_pack, entry);
    const unsigned before = restarts(pack);
    const pmix_status_t rc = pack_step(pack, left);

    if (rc == PMIX_ERR_WOULD_BLOCK) {
        entry->is_anew = restarts(pack) > before;
        return false;
    }
    pack_end(pack, rc);
    return true;
}

static bool packs_step(struct sx_server *server, size_t *left)
{
    struct sx_collective_state *const state = &server->collective;

    return sx_steps_queue_do(&state->packing, &state->packs, entry_step, left);
}

static struct sx_steps *steps_of(struct sx_server *server)
{
    struct sx_collective_state *const state = &server->collective;

    if (state->packing.server == NULL) {
        sx_steps_queue_init(&state->packs);
        sx_steps_init(&state->packing, server, packs_step, STEP_BYTES);
    }
    return &state->packing;
}

/* The rest of @begun is for later turns.  Return: false when memory is out. */
static bool pack_keep(struct sx_fence_pack *begun)
{
    struct sx_fence_pack *const pack = malloc(sizeof(*pack));
    struct sx_server *const server = begun->collective->members.server;

    if (pack == NULL) {
        return false;
    }
    *pack = *begun;
    if (begun->packed == NULL) {
        pack->own = *begun->blob;
        pack->blob = &pack->own;
    }
    sx_steps_queue_add(&server->collective.packs, &pack->entry);
    pack->collective->pack = pack;
    sx_steps_later(steps_of(server));
    return true;
}

/* Pack what fits in this turn.  Return: PMIX_SUCCESS: that is all; PMIX_ERR_WOULD_BLOCK: the rest
 * follows; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t pack_some(struct sx_fence_pack *pack)
{
    size_t *const left = sx_steps_left(steps_of(pack->collective->members.server));
    const pmix_status_t rc = pack_step(pack, left);

    return rc == PMIX_ERR_WOULD_BLOCK && !pack_keep(pack) ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

pmix_status_t sx_fence_contribute(struct sx_collective *collective, struct sx_blob *blob,
                                  sx_packed_fn packed)
{
    struct sx_fence_pack pack;
    const pmix_status_t rc = pack_begin(&pack, collective, blob);

    pack.packed = packed;
    return rc == PMIX_SUCCESS ? pack_some(&pack) : rc;
}

pmix_status_t sx_fence_pack(struct sx_collective *collective)
{
    struct sx_blob blob = { .size = 0 };
    struct sx_fence_pack pack;
    pmix_status_t rc = pack_begin(&pack, collective, &blob);

    rc = rc == PMIX_SUCCESS ? pack_some(&pack) : rc;
    if (rc == PMIX_SUCCESS) {
        return host_call(collective, &blob);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) { /* the blob has moved */
        return PMIX_SUCCESS;
    }
    sx_blob_clear(&blob);
    return rc;
}
