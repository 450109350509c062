/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex_random_test.c - a rank puts and withdraws, stores are renewed, and its values are packed for
 * other nodes in steps, all at random.
 *
 * Another node stores what fences and direct modexes bring.  After a last fence it has what a
 * simple model of scopes says.  The seed is in each message; SHMIX_MODEX_SEED gives another one,
 * and SHMIX_MODEX_ROUNDS how many from there on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "../bare.h"
#include "../opened.h"
#include "base/message/payloads.h"
#include "server/data/data.h"
#include "shmem/qualified.h"

#define ROUNDS 24u
#define ACTS 400u
#define LONG_BYTES (SX_STORE_LONG_BYTES + 4096)
enum { PLAIN = 8, KEYS = 14 }; /* those behind the plain ones have a qualifier */
enum { RANK = 1, PACKS = 2, FENCES = 2 };

static uint64_t seed, state;

static unsigned below(unsigned end)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % end;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* What other nodes are to have. */
static struct wanted {
    uint32_t number; /* 0: nothing */
    uint32_t size;
    bool in_store, in_remote; /* where the server has it, or both: the second is newer */
    bool is_open;             /* a value for this node alone has replaced it: nothing is said */
} model[KEYS];

static void model_put(unsigned key, pmix_scope_t scope, uint32_t number, uint32_t size)
{
    struct wanted *const it = &model[key];

    switch (scope) {
    case PMIX_GLOBAL:
    case PMIX_REMOTE:
        it->in_store = scope == PMIX_GLOBAL || it->in_store;
        it->in_remote = scope == PMIX_REMOTE;
        it->number = number;
        it->size = size;
        it->is_open = false;
        break;
    case PMIX_LOCAL:
        it->is_open |= it->in_store && !it->in_remote;
        it->in_store = false;
        break;
    case PMIX_DEL_LOCAL:
        it->in_remote |= it->in_store;
        it->in_store = false;
        break;
    default:
        *it = (struct wanted){ .number = 0 };
    }
}

/* ---- both nodes ------------------------------------------------------------------------------ */

static struct sx_server here, there;
static struct sx_nspace *job, *far_job;
static struct sx_client *rank, *other;
static uint32_t last_number;

static void nodes_begin(void)
{
    bare_init(&there);
    far_job = bare_job(&there, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&there, far_job), PMIX_SUCCESS);
    bare_init(&here);
    job = bare_job(&here, "job", 4, 2);
    rank = bare_connect(&here, job, RANK);
    other = bare_connect(&here, job, 0);
    sx_server_set(&here);
    memset(model, 0, sizeof(model));
    last_number = 0;
}

static void nodes_end(void)
{
    sx_modex_client_removed(&here, rank);
    sx_modex_client_removed(&here, other);
    sx_server_set(NULL);
    bare_deinit(&here);
    bare_deinit(&there);
}

/* ---- puts ------------------------------------------------------------------------------------ */

static void key_write(unsigned key, char *ret, size_t size)
{
    snprintf(ret, size, "key.%u", key);
}

static pmix_info_t qualifier_of(unsigned key)
{
    pmix_info_t qualifier = { .flags = PMIX_INFO_QUALIFIER,
                              .value = { .type = PMIX_UINT32, .data.uint32 = key } };

    PMIx_Load_key(qualifier.key, "side");
    return qualifier;
}

/* The body of a put of @value, or of none.  Return: malloc'ed. */
static void *body_new(const char *key, pmix_scope_t scope, const pmix_value_t *value,
                      size_t *ret_size)
{
    struct sx_lane_put head = { .scope = (uint8_t)scope };
    struct sx_draft draft = { .signature = &sx_put_body, .head = &head };
    size_t size = 0;
    void *flat = NULL;

    if (value != NULL) {
        cr_assert_eq(sx_flat_size(value, &size), PMIX_SUCCESS);
        flat = malloc(size + 1);
        cr_assert_eq(sx_flat_encode(value, &head.cell, flat, size), PMIX_SUCCESS);
    }
    draft.parts[SX_PUT_KEY] = (struct sx_part_source){ key, strlen(key) };
    draft.parts[SX_PUT_VALUE] = (struct sx_part_source){ flat, head.cell.len };
    cr_assert_eq(sx_body_measure(&draft, ret_size), PMIX_SUCCESS);
    void *const body = calloc(1, *ret_size);

    cr_assert_eq(sx_body_write(&draft, body), PMIX_SUCCESS);
    free(flat);
    return body;
}

static void body_send(struct sx_client *client, const void *bytes, size_t size)
{
    struct sx_frame frame = { .header = { .id = 1 } };
    pmix_status_t kept;

    cr_assert(sx_pages_grow(&frame.bulk_pages, 0, size));
    memcpy(frame.bulk_pages.at, bytes, size);
    frame.opened = *opened(&sx_put_body, frame.bulk_pages.at, size);
    if (!sx_modex_put_long(&here, client, &frame)) {
        cr_assert_eq(sx_modex_put(&here, client, &frame.opened, &kept), PMIX_SUCCESS);
        cr_expect_eq(kept, PMIX_SUCCESS);
    }
    sx_pages_free(&frame.bulk_pages);
}

/* The value number @number begins and ends with its number. */
static void put(struct sx_client *client, unsigned key, pmix_scope_t scope, uint32_t number,
                uint32_t size)
{
    char *const bytes = calloc(1, size);
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, size } };
    pmix_info_t infos[2] = { [1] = qualifier_of(key) };
    pmix_data_array_t array = { PMIX_INFO, 2, infos };
    const pmix_value_t qualified = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    const bool is_qualified = key >= PLAIN;
    char name[32];
    size_t body_size;

    memcpy(bytes, &number, sizeof(number));
    memcpy(bytes + size - sizeof(number), &number, sizeof(number));
    key_write(key, name, sizeof(name));
    PMIx_Load_key(infos[0].key, name);
    infos[0].value = value;
    void *const body = body_new(is_qualified ? PMIX_QUALIFIED_VALUE : name, scope,
                                sx_scope_takes(scope) ? NULL
                                : is_qualified        ? &qualified
                                                      : &value,
                                &body_size);

    body_send(client, body, body_size);
    free(body);
    free(bytes);
}

static void put_some(void)
{
    static const pmix_scope_t scopes[] = { PMIX_GLOBAL,    PMIX_GLOBAL,     PMIX_REMOTE,
                                           PMIX_REMOTE,    PMIX_LOCAL,      PMIX_DEL_LOCAL,
                                           PMIX_DEL_LOCAL, PMIX_DEL_REMOTE, PMIX_DEL_GLOBAL };
    const unsigned key = below(KEYS), kind = below(16);
    const uint32_t size = kind == 0 ? (uint32_t)LONG_BYTES : kind < 4 ? 65536 : 8 + below(200);
    const pmix_scope_t scope = scopes[below(key < PLAIN ? SX_COUNT(scopes) : 5)];

    if (rank->long_put != NULL) {
        return; /* its client's next put is not taken yet */
    }
    put(rank, key, scope, ++last_number, size);
    model_put(key, scope, last_number, size);
}

/* Another rank has the same keys, and others. */
static void other_puts(void)
{
    if (other->long_put == NULL) {
        put(other, below(2) == 0 ? below(KEYS) : 100 + below(400),
            below(2) == 0 ? PMIX_GLOBAL : PMIX_REMOTE, 1, 64);
    }
}

static void work_step(struct sx_client *client)
{
    if (!sx_list_empty(&client->share.works)) {
        sx_share_work_step(client);
    }
}

static void renew(void)
{
    struct sx_store_writer *const store = below(2) == 0 ? &job->store : &job->remote;

    if ((store == &job->store || job->has_remote) && store->renewal == NULL) {
        cr_assert_eq(sx_store_renew(store), PMIX_SUCCESS);
    }
}

/* ---- what goes to the other node ------------------------------------------------------------- */

static unsigned arrivals; /* of fences */

struct pack {
    enum { FREE, PACKED, DONE } is;
    struct sx_blob blob;
    union {
        struct sx_rank_pack rank;
        struct sx_news_pack news;
    };
    uint64_t sent;     /* news */
    unsigned arrivals; /* before it began */
};
static struct pack packs[PACKS], fences[FENCES]; /* these one after the other */

static void deliver(struct pack *pack)
{
    const struct sx_blob_piece piece = { pack->blob.bytes, pack->blob.size };
    struct sx_blob_reader reader = { .pieces = &piece, .piece_count = 1 };
    struct sx_modex_far far = { .lost = 0 };
    pmix_status_t rc;

    sx_server_set(&there);
    do {
        size_t left = 1 + below(1u << 19);

        rc = sx_blob_read_step(&reader, &there, sx_modex_store, &far, &left);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_expect_eq(rc, PMIX_SUCCESS, "seed %lu", (unsigned long)seed);
    cr_expect_eq(far.lost, 0);
    sx_modex_far_end(&far);
    sx_server_set(&here);
}

static void pack_end(struct pack *pack)
{
    sx_blob_clear(&pack->blob);
    pack->is = FREE;
}

/* An answer that a fence has overtaken is not stored: remote_gets.c. */
static void modex_step(struct pack *pack)
{
    size_t left = 1 + below(1u << 19);

    if (pack->is == FREE) {
        pack->arrivals = arrivals;
        cr_assert_eq(sx_blob_begin(&pack->blob), PMIX_SUCCESS);
        cr_assert_eq(sx_rank_pack_begin(&pack->rank, &pack->blob, rank), PMIX_SUCCESS);
        pack->is = PACKED;
    } else if (pack->is == PACKED) {
        const pmix_status_t rc = sx_rank_pack_step(&pack->rank, &pack->blob, &left);

        cr_assert(rc == PMIX_SUCCESS || (rc == PMIX_ERR_WOULD_BLOCK && left == 0));
        pack->is = rc == PMIX_SUCCESS ? DONE : PACKED;
    } else {
        if (pack->arrivals == arrivals) {
            deliver(pack);
        }
        pack_end(pack);
    }
}

static void fence_arrives(void)
{
    deliver(&fences[0]);
    sx_news_arrived(&rank->news, fences[0].sent);
    arrivals++;
    sx_blob_clear(&fences[0].blob);
    memmove(&fences[0], &fences[1], (FENCES - 1) * sizeof(fences[0]));
    fences[FENCES - 1] = (struct pack){ .is = FREE };
}

static void fence_step(struct pack *fence)
{
    size_t left = 1 + below(1u << 19);

    if (fence->is == FREE && (fence == fences || fence[-1].is != FREE)) {
        fence->sent = sx_news_end(&rank->news);
        cr_assert_eq(sx_blob_begin(&fence->blob), PMIX_SUCCESS);
        cr_assert_eq(sx_news_pack_begin(&fence->news, &fence->blob, rank), PMIX_SUCCESS);
        fence->is = PACKED;
    } else if (fence->is == PACKED) {
        const pmix_status_t rc = sx_news_pack_step(&fence->news, &fence->blob, &left);

        cr_assert(rc == PMIX_SUCCESS || (rc == PMIX_ERR_WOULD_BLOCK && left == 0));
        fence->is = rc == PMIX_SUCCESS ? DONE : PACKED;
    } else if (fence->is == DONE && fence == fences) {
        fence_arrives();
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void all_end(void)
{
    while (!sx_list_empty(&rank->share.works)) {
        sx_share_work_step(rank);
    }
    for (unsigned i = 0; i < PACKS; i++) {
        while (packs[i].is != FREE) {
            modex_step(&packs[i]);
        }
    }
    while (fences[0].is != FREE) {
        fence_step(&fences[0]);
    }
    do {
        fence_step(&fences[0]);
    } while (fences[0].is != FREE);
    cr_expect_eq(sx_news_end(&rank->news), rank->news.gone);
}

static pmix_status_t far_find(unsigned key, struct sx_item *ret)
{
    char name[32], qualified[SX_QUALIFIED_NAME_LEN + 1];
    const pmix_info_t qualifier = qualifier_of(key);
    pmix_value_t whole;

    key_write(key, name, sizeof(name));
    if (key < PLAIN) {
        return sx_store_find(&far_job->store.view, SX_REALM_JOB, RANK, name, ret);
    }
    cr_assert_eq(sx_qualified_name(name, strlen(name), &qualifier, 1, qualified), PMIX_SUCCESS);
    const pmix_status_t rc = sx_store_find(&far_job->store.view, SX_REALM_QUALIFIED, RANK,
                                           qualified, ret);

    if (rc == PMIX_SUCCESS) {
        cr_assert_eq(sx_qualified_whole(&far_job->store.view, qualified, ret, &whole),
                     PMIX_SUCCESS);
        cr_expect_str_eq(((pmix_info_t *)whole.data.darray->array)[0].key, name);
        PMIx_Value_destruct(&whole);
    }
    return rc;
}

static void key_judge(unsigned key)
{
    const struct wanted *const wanted = &model[key];
    const unsigned long of = (unsigned long)seed;
    struct sx_item item;
    uint32_t first, last;

    if (wanted->is_open) {
        return;
    }
    const pmix_status_t rc = far_find(key, &item);

    cr_expect_eq(rc == PMIX_SUCCESS, wanted->number != 0, "seed %lu: key %u, wanted: %u", of, key,
                 wanted->number);
    if (rc == PMIX_SUCCESS && wanted->number != 0) {
        memcpy(&first, item.body, sizeof(first));
        memcpy(&last, (const char *)item.body + wanted->size - sizeof(last), sizeof(last));
        cr_expect_eq(item.cell.len, wanted->size, "seed %lu: key %u", of, key);
        cr_expect_eq(first, wanted->number, "seed %lu: key %u has %u for %u", of, key, first,
                     wanted->number);
        cr_expect_eq(last, wanted->number, "seed %lu: key %u", of, key);
    }
}

static void act(void)
{
    switch (below(12)) {
    case 0:
        renew();
        break;
    case 1:
        other_puts();
        break;
    case 2:
        work_step(other);
        break;
    case 3:
    case 4:
        work_step(rank);
        break;
    case 5:
    case 6:
        fence_step(&fences[below(FENCES)]);
        break;
    case 7:
    case 8:
        modex_step(&packs[below(PACKS)]);
        break;
    default:
        put_some();
    }
}

static unsigned long environment(const char *name, unsigned long otherwise)
{
    const char *const text = getenv(name);

    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

Test(modex_random, another_node_has_what_was_put_last)
{
    const uint64_t first = environment("SHMIX_MODEX_SEED", 1);
    const uint64_t rounds = environment("SHMIX_MODEX_ROUNDS", ROUNDS);

    for (seed = first; seed < first + rounds; seed++) {
        state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        nodes_begin();
        for (unsigned i = 0; i < ACTS; i++) {
            act();
        }
        all_end();
        for (unsigned key = 0; key < KEYS; key++) {
            key_judge(key);
        }
        nodes_end();
    }
}
