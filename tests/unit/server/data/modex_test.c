/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex_test.c - gets that wait, with a host that takes its time, whose ranks are children; and who
 * copies a store that gets full. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmix_server.h>

#include "../bare.h"
#include "../hosted.h"
#include "../opened.h"
#include "base/message/payloads.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/model/state.h"
#include "server/port/port.h"
#include "shmem/qualified.h"

#define NSPACE "modex"

static void begin(void)
{
    hosted_begin();
    hosted_job(NSPACE, 2, 2);
}

TestSuite(modex, .init = begin, .fini = hosted_end);

/* Rank 0 wants what rank 1 puts. */
static int rank_main(void)
{
    pmix_value_t put = { .type = PMIX_UINT32, .data.uint32 = 5 }, *value = NULL;
    pmix_proc_t me, other;

    alarm(60);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    other = me;
    other.rank = 1;
    if (me.rank == 1 &&
        (PMIx_Put(PMIX_GLOBAL, "late", &put) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS)) {
        return 2;
    }
    if (PMIx_Get(&other, "late", NULL, 0, &value) != PMIX_SUCCESS || value->data.uint32 != 5) {
        return 3;
    }
    free(value);
    return PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS && PMIx_Finalize(NULL, 0) == PMIX_SUCCESS
               ? 0
               : 4;
}

/* Before any test of this program: a rank is not to run them. */
__attribute__((constructor)) static void rank_or_test(void)
{
    if (getenv("MODEX_TEST_RANK") != NULL) {
        _exit(rank_main());
    }
}

static pmix_status_t count_gets(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);

    SX_LIST_EACH(it, &nspace->awaited) {
        *(unsigned *)arg += SX_LIST_ENTRY(it, struct sx_awaited, link)->wait_count;
    }
    return PMIX_SUCCESS;
}

Test(modex, a_get_waits_for_a_rank_that_is_not_registered_yet)
{
    const pid_t zero = hosted_start(NSPACE, 0, "MODEX_TEST_RANK", "yes");
    unsigned waiting = 0;

    while (waiting == 0) { /* bounded by the alarm */
        sched_yield();
        hosted_call(count_gets, &waiting);
        int status;
        cr_assert_eq(waitpid(zero, &status, WNOHANG), 0, "it did not wait");
    }
    const pid_t one = hosted_start(NSPACE, 1, "MODEX_TEST_RANK", "yes");
    cr_expect_eq(hosted_wait(zero), 0);
    cr_expect_eq(hosted_wait(one), 0);
}

/* ---- values of other nodes ------------------------------------------------------------------ */

#define FAR_STEP ((size_t)64 << 10)
#define FAR_LONG ((size_t)2 << 20)
#define FAR_INFOS ((size_t)20 << 10)

/* Make a put of @value under @key.  Return: malloc'ed. */
static char *far_write(const char *key, const pmix_value_t *value, size_t *ret_size)
{
    struct sx_lane_put head = { .scope = PMIX_GLOBAL };
    struct sx_draft draft = { .signature = &sx_put_body, .head = &head };
    size_t size;

    cr_assert_eq(sx_flat_size(value, &size), PMIX_SUCCESS);
    char *const flat = malloc(size);

    cr_assert_eq(sx_flat_encode(value, &head.cell, flat, size), PMIX_SUCCESS);
    draft.parts[SX_PUT_KEY] = (struct sx_part_source){ key, strlen(key) };
    draft.parts[SX_PUT_VALUE] = (struct sx_part_source){ flat, head.cell.len };
    cr_assert_eq(sx_body_measure(&draft, ret_size), PMIX_SUCCESS);
    char *const body = calloc(1, *ret_size);

    cr_assert_eq(sx_body_write(&draft, body), PMIX_SUCCESS);
    free(flat);
    return body;
}

/* Store it as one of rank 1, in steps.  Return: the status of the last one; *ret_steps: how
 * many. */
static pmix_status_t far_take(struct sx_modex_far *far, struct sx_nspace *job, const char *body,
                              size_t size, unsigned *ret_steps)
{
    const struct sx_blob_piece put = { body, size };
    pmix_status_t rc;

    *ret_steps = 0;
    do {
        size_t left = FAR_STEP;

        rc = sx_modex_store(far, job, 1, &put, &left);
        cr_expect_leq(left, FAR_STEP - 640, "a step counts, so a turn has an end");
        ++*ret_steps;
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    return rc;
}

/* Return: an array of so many infos of a text each, or of one of so many bytes and a qualifier. */
static pmix_data_array_t *infos_new(size_t count, const pmix_value_t *first)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_INFO);
    pmix_info_t *const infos = array->array;

    for (size_t i = 0; i < count; i++) {
        PMIx_Info_load(&infos[i], i == 0 && first != NULL ? "far" : "info", "text", PMIX_STRING);
    }
    if (first != NULL) {
        PMIx_Value_destruct(&infos[0].value);
        cr_assert_eq(PMIx_Value_xfer(&infos[0].value, first), PMIX_SUCCESS);
    }
    return array;
}

/* The value that a Get of "far" finds: of one with a qualifier it is the first info's. */
static void far_expect(const struct sx_nspace *job, const pmix_value_t *put, bool is_qualified)
{
    const pmix_info_t *const infos = put->type == PMIX_DATA_ARRAY ? put->data.darray->array : NULL;
    char name[SX_QUALIFIED_NAME_LEN + 1] = "far";
    pmix_value_t got;

    if (is_qualified) {
        pmix_info_t qualifier = infos[1];

        qualifier.flags = PMIX_INFO_QUALIFIER;
        cr_assert_eq(sx_qualified_name("far", 3, &qualifier, 1, name), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_store_get(&job->store.view, is_qualified ? SX_REALM_QUALIFIED : SX_REALM_JOB, 1,
                              name, &got),
                 PMIX_SUCCESS);
    cr_expect_eq(PMIx_Value_compare(&got,
                                    (void *)(uintptr_t)(is_qualified ? &infos[0].value : put)),
                 PMIX_EQUAL);
    PMIx_Value_destruct(&got);
}

enum far_kind { FAR_BYTES, FAR_ARRAY, FAR_QUALIFIED, FAR_QUALIFIED_ARRAY, FAR_KINDS };

static void far_value(enum far_kind kind, pmix_value_t *ret)
{
    pmix_value_t bytes = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, FAR_LONG), FAR_LONG } };
    pmix_value_t array = { .type = PMIX_DATA_ARRAY, .data.darray = infos_new(FAR_INFOS, NULL) };

    memset(bytes.data.bo.bytes, 'x', FAR_LONG);
    switch (kind) {
    case FAR_BYTES:
        cr_assert_eq(PMIx_Value_xfer(ret, &bytes), PMIX_SUCCESS);
        break;
    case FAR_ARRAY:
        cr_assert_eq(PMIx_Value_xfer(ret, &array), PMIX_SUCCESS);
        break;
    default:
        *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY,
                               .data.darray = infos_new(2,
                                                        kind == FAR_QUALIFIED ? &bytes : &array) };
    }
    PMIx_Value_destruct(&bytes);
    PMIx_Value_destruct(&array);
}

/* A check, a copy, a move or a store in one step would leave fewer of them.  The values are as they
 * were put. */
Test(modex_far, long_values_are_stored_in_steps)
{
    static const unsigned steps_min[FAR_KINDS] = {
        [FAR_BYTES] = 50, [FAR_ARRAY] = 38, [FAR_QUALIFIED] = 84, [FAR_QUALIFIED_ARRAY] = 62
    };
    static struct sx_server server;
    struct sx_modex_far far = { .lost = 0 };

    bare_init(&server);
    sx_server_set(&server);
    for (enum far_kind kind = FAR_BYTES; kind < FAR_KINDS; kind++) {
        const bool is_qualified = kind >= FAR_QUALIFIED;
        struct sx_nspace *const job = bare_job(&server, "job", 2, 0);
        pmix_value_t value;
        unsigned steps;
        size_t size;

        cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
        far_value(kind, &value);
        char *const body = far_write(is_qualified ? PMIX_QUALIFIED_VALUE : "far", &value, &size);

        cr_assert_eq(far_take(&far, job, body, size, &steps), PMIX_SUCCESS);
        cr_expect_geq(steps, steps_min[kind], "kind %d: %u", kind, steps);
        cr_expect_eq(far.lost, 0);
        cr_expect_null(far.put);
        far_expect(job, &value, is_qualified);
        memset(body + size - 64, 0xff, 64);
        if (kind != FAR_BYTES) { /* of which any are good */
            cr_expect_eq(far_take(&far, job, body, size, &steps), PMIX_ERR_UNPACK_FAILURE);
            cr_expect_null(far.put);
            far_expect(job, &value, is_qualified);
        }
        free(body);
        PMIx_Value_destruct(&value);
        sx_nspace_remove(&server, job);
    }
    sx_server_set(NULL);
    bare_deinit(&server);
}

/* ---- values with qualifiers ------------------------------------------------------------------ */

/* Pack all of rank 1 in steps.  Return: how many. */
static unsigned rank_pack(const struct sx_nspace *job, struct sx_blob *blob)
{
    struct sx_rank_pack pack;
    unsigned steps = 0;
    pmix_status_t rc;

    cr_assert_eq(sx_blob_begin(blob), PMIX_SUCCESS);
    cr_assert_eq(sx_rank_pack_begin(&pack, blob, sx_client_find(job, 1)), PMIX_SUCCESS);
    do {
        const uint64_t before = pack.value.copied;
        size_t left = FAR_STEP;

        rc = sx_rank_pack_step(&pack, blob, &left);
        cr_expect(pack.value.copied <= before + FAR_STEP || left == 0);
        steps++;
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_assert_eq(rc, PMIX_SUCCESS);
    return steps;
}

static void rank_store(struct sx_server *server, const struct sx_blob *blob)
{
    const struct sx_blob_piece piece = { blob->bytes, blob->size };
    struct sx_blob_reader reader = { .pieces = &piece, .piece_count = 1 };
    struct sx_modex_far far = { .lost = 0 };
    pmix_status_t rc;

    do {
        size_t left = FAR_STEP;

        rc = sx_blob_read_step(&reader, server, sx_modex_store, &far, &left);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    cr_expect_eq(rc, PMIX_SUCCESS);
    cr_expect_eq(far.lost, 0);
}

/* The value with its qualifiers, as it was put. */
static void whole_expect(const struct sx_nspace *job, const pmix_value_t *put)
{
    pmix_info_t qualifier = ((pmix_info_t *)put->data.darray->array)[1];
    char name[SX_QUALIFIED_NAME_LEN + 1];
    struct sx_item item;
    pmix_value_t whole;

    qualifier.flags = PMIX_INFO_QUALIFIER;
    cr_assert_eq(sx_qualified_name("far", 3, &qualifier, 1, name), PMIX_SUCCESS);
    cr_assert_eq(sx_store_find(&job->store.view, SX_REALM_QUALIFIED, 1, name, &item), PMIX_SUCCESS);
    cr_expect_eq(sx_item_scope(&item), PMIX_GLOBAL);
    cr_assert_eq(sx_qualified_whole(&job->store.view, name, &item, &whole), PMIX_SUCCESS);
    const pmix_info_t *const infos = whole.data.darray->array;

    cr_expect_eq(whole.data.darray->size, 2);
    cr_expect_str_eq(infos[0].key, "far");
    cr_expect_str_eq(infos[1].key, qualifier.key);
    cr_expect_eq(PMIx_Value_compare((void *)(uintptr_t)&infos[1].value, &qualifier.value),
                 PMIX_EQUAL);
    PMIx_Value_destruct(&whole);
}

/* A decoded and encoded value would be copied in one step. */
Test(modex_far, values_with_qualifiers_are_packed_in_steps)
{
    static const unsigned steps_min[FAR_KINDS] = {
        [FAR_QUALIFIED] = 30, [FAR_QUALIFIED_ARRAY] = 12
    };
    static struct sx_server server;

    bare_init(&server);
    sx_server_set(&server);
    for (enum far_kind kind = FAR_QUALIFIED; kind <= FAR_KINDS; kind++) {
        struct sx_nspace *job = bare_job(&server, "job", 4, 2);
        const pmix_value_t little = { .type = PMIX_UINT32, .data.uint32 = 7 };
        struct sx_blob blob = { .size = 0 };
        pmix_value_t value;

        if (kind < FAR_KINDS) {
            far_value(kind, &value);
        } else { /* all of it is in its cell */
            value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = infos_new(2, &little) };
        }
        cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
        cr_assert_eq(sx_qualified_put(&job->store, 1, PMIX_GLOBAL, &value, NULL), PMIX_SUCCESS);
        const unsigned steps = rank_pack(job, &blob);

        cr_expect(kind == FAR_KINDS || steps >= steps_min[kind], "kind %d: %u", kind, steps);
        sx_nspace_remove(&server, job);
        job = bare_job(&server, "job", 4, 0);
        cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
        rank_store(&server, &blob);
        far_expect(job, &value, true);
        whole_expect(job, &value);
        sx_nspace_remove(&server, job);
        sx_blob_clear(&blob);
        PMIx_Value_destruct(&value);
    }
    sx_server_set(NULL);
    bare_deinit(&server);
}

#define LEGEND_BYTES (FAR_STEP / 2)
#define LEGENDS 16u

/* The names of values count as well as their bytes do. */
Test(modex_far, long_qualifiers_of_short_values_are_packed_in_steps)
{
    const pmix_value_t first = { .type = PMIX_UINT32, .data.uint32 = 7 };
    static struct sx_server server;
    struct sx_blob blob = { .size = 0 };

    bare_init(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 4, 2);

    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    for (unsigned i = 0; i < LEGENDS; i++) {
        pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = infos_new(2, &first) };
        pmix_value_t *const qualifier = &((pmix_info_t *)value.data.darray->array)[1].value;

        free(qualifier->data.string);
        qualifier->data.string = calloc(1, LEGEND_BYTES);
        memset(qualifier->data.string, (int)('a' + i), LEGEND_BYTES - 1);
        cr_assert_eq(sx_qualified_put(&job->store, 1, PMIX_GLOBAL, &value, NULL), PMIX_SUCCESS);
        PMIx_Value_destruct(&value);
    }
    cr_expect_geq(rank_pack(job, &blob), LEGENDS / 2);
    cr_expect_gt(blob.size, LEGENDS * LEGEND_BYTES);
    sx_blob_clear(&blob);
    bare_deinit(&server);
}

/* Put first for other nodes alone, then for all. */
Test(modex_far, the_newest_value_with_qualifiers_goes_to_other_nodes)
{
    static struct sx_server server;
    struct sx_blob blob = { .size = 0 };
    pmix_value_t value;

    bare_init(&server);
    sx_server_set(&server);
    struct sx_nspace *job = bare_job(&server, "job", 4, 2);
    struct sx_client *const rank = bare_connect(&server, job, 1);

    for (uint32_t number = 1; number <= 2; number++) {
        const pmix_value_t first = { .type = PMIX_UINT32, .data.uint32 = number };
        pmix_status_t kept;
        size_t size;

        value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = infos_new(2, &first) };
        char *const body = far_write(PMIX_QUALIFIED_VALUE, &value, &size);

        ((struct sx_lane_put *)(void *)body)->scope = number == 1 ? PMIX_REMOTE : PMIX_GLOBAL;
        cr_assert_eq(sx_modex_put(&server, rank, opened(&sx_put_body, body, size), &kept),
                     PMIX_SUCCESS);
        free(body);
        if (number == 1) {
            PMIx_Value_destruct(&value);
        }
    }
    (void)rank_pack(job, &blob);
    sx_news_drop(&rank->news);
    bare_deinit(&server);
    bare_init(&server);
    job = bare_job(&server, "job", 4, 0);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    rank_store(&server, &blob);
    far_expect(job, &value, true);
    sx_blob_clear(&blob);
    PMIx_Value_destruct(&value);
    sx_server_set(NULL);
    bare_deinit(&server);
}

/* Messages that no server of this version sends. */
static const struct {
    const char *why, *key;
    uint8_t flags, scope;
    bool is_long;
} not_qualified[] = {
    { "a key that is no name", "far", SX_PUT_QUALIFIED, PMIX_GLOBAL, false },
    { "one byte more than a legend", "0123456789abcdef0123456789abcdef.qq", SX_PUT_QUALIFIED,
      PMIX_GLOBAL, false },
    { "an unknown flag", "0123456789abcdef0123456789abcdef", SX_PUT_QUALIFIED | 0x04, PMIX_GLOBAL,
      false },
    { "one that takes a value away", "0123456789abcdef0123456789abcdef", SX_PUT_QUALIFIED,
      PMIX_DEL_GLOBAL, false },
    { "a long legend", "0123456789abcdef0123456789abcdef.q", SX_PUT_QUALIFIED, PMIX_GLOBAL, true },
};

Test(modex_far, parts_of_a_value_with_qualifiers_are_checked)
{
    static struct sx_server server;
    struct sx_modex_far far = { .lost = 0 };
    unsigned steps;

    bare_init(&server);
    sx_server_set(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 1);
    struct sx_client *const rank = bare_connect(&server, job, 0);

    for (size_t i = 0; i < SX_COUNT(not_qualified); i++) {
        const size_t len = not_qualified[i].is_long ? FAR_LONG : 8;
        const pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, len), len } };
        pmix_status_t kept;
        size_t size;
        char *const body = far_write(not_qualified[i].key, &value, &size);
        struct sx_lane_put *const head = (void *)body;

        head->flags = not_qualified[i].flags;
        head->scope = not_qualified[i].scope;
        cr_expect_eq(far_take(&far, job, body, size, &steps), PMIX_ERR_UNPACK_FAILURE, "%s",
                     not_qualified[i].why);
        cr_expect_null(far.put);
        head->flags = SX_PUT_QUALIFIED;
        head->scope = PMIX_GLOBAL;
        cr_expect_eq(sx_modex_put(&server, rank, opened(&sx_put_body, body, size), &kept),
                     PMIX_ERR_BAD_PARAM, "from a client none is good");
        free(body);
        free(value.data.bo.bytes);
    }
    sx_server_set(NULL);
    bare_deinit(&server);
}

/* ---- a store that gets full ----------------------------------------------------------------- */

#define STEP_MAX (SX_SHARE_STEP_UNITS + 100) /* the last cell of a step may be more */

static void put_bytes(struct sx_server *server, struct sx_client *client, unsigned number,
                      pmix_scope_t scope, const char *bytes, size_t count)
{
    const struct sx_lane_put head = { .scope = (uint8_t)scope,
                                      .cell = { .type = PMIX_BYTE_OBJECT } };
    struct sx_draft draft = { .signature = &sx_put_body, .head = &head };
    char key[32];
    pmix_status_t kept;
    size_t size;

    snprintf(key, sizeof(key), "key.%u", number);
    draft.parts[SX_PUT_KEY] = (struct sx_part_source){ key, strlen(key) };
    draft.parts[SX_PUT_VALUE] = (struct sx_part_source){ bytes, count };
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    void *const body = calloc(1, size);

    cr_assert_eq(sx_body_write(&draft, body), PMIX_SUCCESS);
    cr_assert_eq(sx_modex_put(server, client, opened(&sx_put_body, body, size), &kept),
                 PMIX_SUCCESS);
    cr_expect_eq(kept, PMIX_SUCCESS);
    free(body);
}

static void put_kibs(struct sx_server *server, struct sx_client *client, unsigned number)
{
    static char bytes[64 << 10];

    put_bytes(server, client, number, PMIX_LOCAL, bytes, sizeof(bytes));
}

/* Who fills it copies it, a step in each of its turns, and pays; the puts of others go on. */
Test(modex_copy, of_a_store_that_gets_full_goes_on_in_the_turns_of_who_fills_it)
{
    static struct sx_server server;
    unsigned number = 0, steps = 0;

    bare_init(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 2);
    struct sx_client *const client = bare_connect(&server, job, 0), *const other = bare_connect(
                                                                        &server, job, 1);

    while (sx_list_empty(&client->share.works)) {
        put_kibs(&server, client, number++);
        cr_assert_lt(number, 1000);
    }
    put_kibs(&server, other, number++);
    cr_expect(sx_list_empty(&other->share.works), "one copies it");
    cr_expect_eq(job->store.generation, 1);
    for (; !sx_list_empty(&client->share.works); steps++) {
        const uint32_t spent = client->share.spent;

        sx_share_work_step(client);
        cr_expect_leq(client->share.spent - spent, STEP_MAX);
        cr_expect_gt(client->share.spent, spent);
    }
    cr_expect_gt(steps, 10);
    cr_expect_eq(job->store.generation, 2);
    while (sx_list_empty(&other->share.works)) {
        put_kibs(&server, other, number++);
    }
    sx_modex_client_gone(&server, other);
    cr_expect(sx_list_empty(&other->share.works));
    put_kibs(&server, client, number++);
    cr_expect_not(sx_list_empty(&client->share.works), "the next one goes on");
    sx_modex_client_gone(&server, client);
    bare_deinit(&server);
}

/* The news for other nodes have its key alone, and it goes once, however often it is put. */
Test(modex_copy, of_a_long_value_for_other_nodes_is_made_when_they_get_it)
{
    static struct sx_server server;
    static char bytes[SX_STORE_LONG_BYTES + 8];
    struct sx_blob blob;

    bare_init(&server);
    struct sx_client *const client = bare_connect(&server, bare_job(&server, "job", 2, 1), 0);

    for (unsigned time = 0; time < 3; time++) {
        bytes[0]++;
        put_bytes(&server, client, 7, PMIX_GLOBAL, bytes, sizeof(bytes));
    }
    cr_expect_leq(client->news.end, 1024);
    for (unsigned time = 0; time < 6; time++) {
        bytes[0]++;
        put_bytes(&server, client, 7 + time % 2, PMIX_GLOBAL, bytes, sizeof(bytes));
    }
    put_bytes(&server, client, 9, PMIX_GLOBAL, bytes, 8);
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_news(&blob, client), PMIX_SUCCESS);
    cr_expect_gt(blob.size, 2 * sizeof(bytes));
    cr_expect_lt(blob.size, 2 * sizeof(bytes) + 4096, "once");
    sx_blob_clear(&blob);
    sx_news_drop(&client->news);
    bare_deinit(&server);
}

/* What is put under qualifiers is kept for other nodes as it came, before it becomes a value of its
 * own: in the turns of its client. */
Test(modex_copy, of_a_long_qualified_value_for_other_nodes_is_made_in_steps)
{
    static struct sx_server server;
    struct sx_frame frame = { .header = { .id = 1 } };
    pmix_value_t value;
    unsigned steps = 0;
    size_t size;

    bare_init(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 1);
    struct sx_client *const client = bare_connect(&server, job, 0);

    far_value(FAR_QUALIFIED_ARRAY, &value);
    char *const body = far_write(PMIX_QUALIFIED_VALUE, &value, &size);

    for (unsigned drops = 0; drops < 2; drops++) { /* the second time all news go meanwhile */
        cr_assert(sx_pages_grow(&frame.bulk_pages, 0, size));
        memcpy(frame.bulk_pages.at, body, size);
        frame.opened = *opened(&sx_put_body, frame.bulk_pages.at, size);
        cr_assert(sx_modex_put_long(&server, client, &frame));
        const size_t before = client->news.end;
        const uint64_t end = sx_news_end(&client->news);

        for (steps = 0; !sx_list_empty(&client->share.works); steps++) {
            const uint32_t spent = client->share.spent;

            if (steps == 2 && drops > 0) {
                sx_news_arrived(&client->news, sx_news_end(&client->news));
            }
            cr_expect_leq(client->news.end, before, "not before it is stored");
            cr_expect_eq(sx_news_end(&client->news), end);
            sx_share_work_step(client);
            cr_expect_leq(client->share.spent - spent, STEP_MAX);
        }
        cr_assert_geq(client->news.end, size);
        cr_expect_eq(memcmp(client->news.pages.at + client->news.end - sx_align_up(size, 8), body,
                            size),
                     0, "as it was put");
    }
    sx_news_drop(&client->news);
    free(body);
    PMIx_Value_destruct(&value);
    bare_deinit(&server);
}

/* ---- requests of other nodes -----------------------------------------------------------------
 *
 * Another node asks for a rank's data: it gets all there is after the first commit, once, or hears
 * that there will be none. */

static struct sx_server server;
static struct sx_client *client;
static struct sx_lane producer;
static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];

/* ---- what a lane brings: a commit, for whatever message
 * --------------------------------------- */

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind, (void)size;
    return 2 * SX_TURN_UNITS; /* so that one is all that a turn takes */
}

static pmix_status_t lane(struct sx_server *which, struct sx_client *whose, uint32_t kind,
                          const void *body, size_t size)
{
    (void)kind, (void)body, (void)size;
    whose->has_committed = true;
    sx_dmodex_committed(which, whose, true);
    return PMIX_SUCCESS;
}

static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane };

static void append(void)
{
    const uint64_t body = 0;
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)&body, .iov_len = sizeof(body) };

    cr_assert_eq(sx_lane_append(&producer, SX_LANE_COMMIT_END, &iov, 1), PMIX_SUCCESS);
}

/* ---- the server
 * ------------------------------------------------------------------------------- */

static void dmodex_begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    client = bare_connect(&server, bare_job(&server, "job", 2, 2), 0);
    sx_share_begin(&server, client);
    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server.board, client->slot, -1),
                 PMIX_SUCCESS);
    sx_server_set(&server);
}

static void end(void)
{
    cr_expect(sx_list_empty(&client->requests));
    cr_expect_eq(client->waiter_count, 0);
    sx_server_set(NULL);
    sx_lane_detach(&producer);
    bare_deinit(&server);
}

TestSuite(dmodex, .init = dmodex_begin, .fini = end);

struct notified {
    unsigned count;
    pmix_status_t status;
    size_t size;
    unsigned turn; /* of those in which answers are packed */
};

/* The turns of a loop in which answers are packed. */
static struct {
    struct notified *first, *second;
    struct sx_loop_post post;
    unsigned turns;
    unsigned goes_in; /* this one: rank 1 is removed; 0: it stays */
    unsigned ends_in; /* this one: the server ends */
} packing;

static void on_notified(pmix_status_t status, char *bytes, size_t size, void *cbdata)
{
    struct notified *const notified = cbdata;

    cr_expect_eq(bytes != NULL, status == PMIX_SUCCESS);
    notified->count++;
    notified->status = status;
    notified->size = size;
    notified->turn = packing.turns;
}

static pmix_proc_t asked;

static void ask_now(void *notified, uint64_t now_ns)
{
    (void)now_ns;
    cr_assert_eq(PMIx_server_dmodex_request(&asked, on_notified, notified), PMIX_SUCCESS);
}

static void ask(struct notified *notified, const char *name, uint32_t rank)
{
    *notified = (struct notified){ 0 };
    PMIx_Load_procid(&asked, name, rank);
    bare_call(&server, ask_now, notified);
}

static bool data_is_wanted(void)
{
    return atomic_load(&server.board.slots[client->slot].data_wanted) != 0;
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(dmodex, waits_for_the_first_commit)
{
    struct notified notified;

    ask(&notified, "job", 0);
    cr_expect_eq(notified.count, 0);
    cr_expect(data_is_wanted(), "the client is to ring");
    append();
    sx_lane_take_one(&server, client);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_SUCCESS);
    cr_expect_gt(notified.size, 0, "bytes, even if nothing was put");
    cr_expect_not(data_is_wanted());
    sx_dmodex_committed(&server, client, false);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1, "once");
}

Test(dmodex, of_one_who_has_committed_is_answered_at_once)
{
    struct notified notified;

    client->has_committed = true;
    ask(&notified, "job", 0);
    cr_expect_eq(notified.count, 1);
    sx_client_find(client->nspace, 1)->has_committed = true;
    ask(&notified, "job", 1);
    cr_expect_eq(notified.count, 1, "also when it is not connected any more");
}

/* What the rank had sent when it was asked for belongs to the answer. */
Test(dmodex, takes_in_what_is_in_the_lane_first)
{
    struct notified notified;

    append();
    append();
    ask(&notified, "job", 0);
    cr_expect_eq(notified.count, 0, "it has committed, but there is more");
    cr_expect(client->has_committed);
    sx_lane_take_one(&server, client);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1);
}

Test(dmodex, of_one_who_goes_or_is_not_there_is_not_found)
{
    struct notified notified, other;

    ask(&notified, "job", 0);
    ask(&other, "job", 1);
    sx_dmodex_client_gone(&server, client);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(other.count, 0);
    sx_dmodex_client_gone(&server, sx_client_find(client->nspace, 1));
    sx_host_calls_make(&server);
    cr_expect_eq(other.status, PMIX_ERR_NOT_FOUND);
    ask(&notified, "job", 2);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    ask(&notified, "unknown", 0);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    client->state = SX_CLIENT_DEAD;
    ask(&notified, "job", 0);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    client->state = SX_CLIENT_CONNECTED;
}

Test(dmodex, of_one_who_has_finalized_without_a_commit_is_not_found)
{
    struct sx_client *const other = sx_client_find(client->nspace, 1);
    struct notified notified;

    other->left = true;
    ask(&notified, "job", 1);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    other->has_committed = true;
    ask(&notified, "job", 1);
    cr_expect_eq(notified.status, PMIX_SUCCESS);
}

Test(dmodex, wants_to_know_of_whom_and_whom_to_notify)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, "job", 0);
    cr_expect_eq(PMIx_server_dmodex_request(NULL, on_notified, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_dmodex_request(&proc, NULL, NULL), PMIX_ERR_BAD_PARAM);
    memset(proc.nspace, 'n', sizeof(proc.nspace));
    cr_expect_eq(PMIx_server_dmodex_request(&proc, on_notified, NULL), PMIX_ERR_BAD_PARAM);
    sx_server_set(NULL);
    cr_expect_eq(PMIx_server_dmodex_request(&proc, on_notified, NULL), PMIX_ERR_INIT);
}

Test(dmodex, of_a_member_of_connected_ones_is_of_the_process_itself)
{
    const pmix_proc_t procs[] = { { "elsewhere", 3 }, { "job", 0 } };
    struct notified notified;

    bare_connected(&server, "both", procs, 2);
    client->has_committed = true;
    ask(&notified, "both", 1);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_SUCCESS);
    ask(&notified, "both", 0);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND, "it is not here");
    ask(&notified, "both", 2);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND, "there is none");
}

#define MUCH ((size_t)8 << 20)
#define TURN ((size_t)512 << 10) /* packed in one */

static void packing_watch(void *arg, uint64_t now_ns)
{
    struct sx_data_state *const data = &server.data;

    (void)now_ns;
    if (data->packing.server != NULL && sx_steps_queue_first(&data->packs) != NULL) {
        packing.turns++;
        cr_expect(packing.first->count == 0 || packing.turns > MUCH / TURN, "not all in one turn");
        cr_expect_eq(packing.second->count, 0, "most of it is packed after that of the first");
    }
    if (packing.turns == packing.goes_in && packing.goes_in != 0) {
        packing.goes_in = 0;
        sx_client_remove(&server, sx_client_find(client->nspace, 1));
    }
    if (packing.turns == packing.ends_in && packing.ends_in != 0) {
        sx_dmodex_deinit(&server);
        cr_expect_null(sx_steps_queue_first(&data->packs));
    }
    packing.post = (struct sx_loop_post){ .fn = packing_watch, .arg = arg };
    (void)sx_loop_post(server.loop, &packing.post); /* refused at the end of the run */
}

static void ask_twice(void *arg, uint64_t now_ns)
{
    struct notified *const notified = arg;

    PMIx_Load_procid(&asked, "job", 1);
    ask_now(&notified[0], now_ns);
    ask_now(&notified[1], now_ns);
    packing_watch(NULL, now_ns);
}

static void stop_later(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    if (packing.second->count == 0) {
        struct sx_timer *const timer = arg;

        cr_assert_eq(sx_timer_add(server.loop, timer, sx_now_ns() + SX_NS_PER_SEC / 1000),
                     PMIX_SUCCESS);
        return;
    }
    sx_loop_stop(server.loop);
}

/* Rank 1, which has put much, is asked for twice, until both are answered. */
static void ask_much(struct notified notified[2], unsigned goes_in, unsigned ends_in)
{
    char *const bytes = calloc(1, MUCH);
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, MUCH } };
    struct sx_timer begin = { .fn = ask_twice, .arg = notified };
    struct sx_timer end = { .fn = stop_later, .arg = &end };

    cr_assert_not_null(bytes);
    cr_assert_eq(sx_nspace_open(&server, client->nspace), PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&client->nspace->store, SX_REALM_JOB, 1, "much", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    free(bytes);
    sx_client_find(client->nspace, 1)->has_committed = true;
    memset(notified, 0, 2 * sizeof(*notified));
    memset(&packing, 0, sizeof(packing));
    packing.first = &notified[0];
    packing.second = &notified[1];
    packing.goes_in = goes_in;
    packing.ends_in = ends_in;
    cr_assert_eq(sx_timer_add(server.loop, &begin, 0), PMIX_SUCCESS);
    cr_assert_eq(sx_timer_add(server.loop, &end, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
    cr_expect_eq(notified[0].count, 1);
    cr_expect_eq(notified[1].count, 1);
}

Test(dmodex, of_much_data_is_packed_in_steps)
{
    struct notified notified[2];

    ask_much(notified, 0, 0);
    cr_expect_geq(packing.turns, 2 * MUCH / TURN - 2, "%u", packing.turns);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(notified[i].status, PMIX_SUCCESS);
        cr_expect_gt(notified[i].size, MUCH);
    }
}

static struct sx_loop_post little_post;

/* Rank 0, which has put little, is asked for while much of rank 1 is packed. */
static void ask_for_little(void *notified, uint64_t now_ns)
{
    PMIx_Load_procid(&asked, "job", 0);
    if (packing.turns < 6) {
        struct sx_loop_post *const post = &little_post;

        *post = (struct sx_loop_post){ .fn = ask_for_little, .arg = notified };
        cr_assert_eq(sx_loop_post(server.loop, post), PMIX_SUCCESS);
        return;
    }
    ask_now(notified, now_ns);
}

Test(dmodex, of_little_data_overtakes_that_of_much)
{
    struct notified notified[2], little = { 0 };
    struct sx_timer begin = { .fn = ask_for_little, .arg = &little };

    client->has_committed = true;
    cr_assert_eq(sx_timer_add(server.loop, &begin, 0), PMIX_SUCCESS);
    ask_much(notified, 0, 0);
    cr_expect_eq(little.count, 1);
    cr_expect_eq(little.status, PMIX_SUCCESS);
    cr_expect_leq(little.turn, 6 + 2, "%u", little.turn);
    cr_expect_gt(notified[0].turn, little.turn + 2, "which goes on");
}

Test(dmodex, of_one_who_is_removed_while_it_is_packed_is_not_found)
{
    struct notified notified[2];

    ask_much(notified, 3, 0);
    cr_expect_leq(packing.turns, 4);
    cr_expect_eq(notified[0].status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(notified[1].status, PMIX_ERR_NOT_FOUND);
}

Test(dmodex, of_a_server_that_ends_meanwhile_is_answered)
{
    struct notified notified[2];

    ask_much(notified, 0, 3);
    cr_expect_eq(packing.turns, 3);
    cr_expect_eq(notified[0].status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(notified[1].status, PMIX_ERR_NOT_FOUND);
}
