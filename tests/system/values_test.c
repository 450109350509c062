/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* values_test.c - values of every size, key, scope and qualifier between ranks. */
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "support/sanitized.h"

static pmix_proc_t me;

static void init(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(me.rank == (pmix_rank_t)rank);
}

static void exchange(void)
{
    const bool collect = true;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
}

static pmix_proc_t other(void)
{
    pmix_proc_t proc = me;

    proc.rank = 1 - me.rank;
    return proc;
}

static void put_bytes(pmix_scope_t scope, const char *key, char *bytes, size_t size)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, size } };

    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

static void put_number(pmix_scope_t scope, const char *key, uint64_t number)
{
    pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = number };

    CHECK_STATUS(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

static pmix_value_t *get(const char *key, const pmix_info_t *info, size_t ninfo)
{
    const pmix_proc_t proc = other();
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Get(&proc, key, info, ninfo, &value), PMIX_SUCCESS);
    return value;
}

static void drop(pmix_value_t *value)
{
    PMIx_Value_destruct(value);
    free(value);
}

static uint64_t get_number(const char *key)
{
    pmix_value_t *const value = get(key, NULL, 0);

    CHECK(value->type == PMIX_UINT64);
    const uint64_t number = value->data.uint64;
    drop(value);
    return number;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

#define LARGE (64u << 20)

static void expect_bytes(const char *key, size_t size, char content)
{
    pmix_value_t *const value = get(key, NULL, 0);

    CHECK(value->type == PMIX_BYTE_OBJECT);
    CHECK(value->data.bo.size == size);
    for (size_t i = 0; i < size; i += 4096) {
        CHECK(value->data.bo.bytes[i] == content);
    }
    drop(value);
}

static int values_of_no_bytes_and_of_64_mib(int rank)
{
    pmix_value_t empty = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t) "" };
    pmix_value_t none = { .type = PMIX_STRING, .data.string = NULL };
    char *const bytes = malloc(LARGE);
    pmix_value_t *value;

    CHECK(bytes != NULL);
    memset(bytes, 'a' + rank, LARGE);
    init(rank);
    put_bytes(PMIX_GLOBAL, "nothing", NULL, 0);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "empty", &empty), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "none", &none), PMIX_SUCCESS);
    put_bytes(PMIX_GLOBAL, "large", bytes, LARGE);
    exchange();
    expect_bytes("nothing", 0, 0);
    expect_bytes("large", LARGE, (char)('a' + 1 - rank));
    value = get("empty", NULL, 0);
    CHECK(value->data.string != NULL && value->data.string[0] == '\0');
    drop(value);
    value = get("none", NULL, 0);
    CHECK(value->type == PMIX_STRING && value->data.string == NULL);
    drop(value);
    free(bytes);
    return rank_end();
}

static size_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

/* Neither what is put before one commit nor what is committed adds up in the process. */
static int a_large_value_put_again_takes_the_room_of_one(int rank)
{
    const size_t size = 4u << 20;
    char *const bytes = malloc(size);

    CHECK(bytes != NULL);
    init(rank);
    memset(bytes, 0, size);
    put_bytes(PMIX_GLOBAL, "again", bytes, size);
    put_bytes(PMIX_REMOTE, "elsewhere", bytes, size);
    exchange();
    const size_t before = mapped_bytes();
    for (int round = 1; round <= 16; round++) {
        memset(bytes, round, size);
        put_bytes(PMIX_GLOBAL, "again", bytes, size);
        if (round % 4 == 0) {
            put_bytes(PMIX_REMOTE, "elsewhere", bytes, size);
            CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        }
    }
    CHECK(SANITIZED || mapped_bytes() <= before + size + (8u << 20));
    exchange();
    expect_bytes("again", size, 16);
    free(bytes);
    return rank_end();
}

/* ---- keys ----------------------------------------------------------------------------------- */

#define KEYS 100000

static int a_hundred_thousand_keys(int rank)
{
    char key[32];

    init(rank);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key.%lu", (unsigned long)i);
        put_number(PMIX_GLOBAL, key, 1000 * i + (uint64_t)rank);
    }
    exchange();
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key.%lu", (unsigned long)i);
        CHECK(get_number(key) == 1000 * i + other().rank);
    }
    pmix_value_t *const all = get(NULL, NULL, 0);
    CHECK(all->data.darray->size >= KEYS);
    drop(all);
    return rank_end();
}

static int keys_of_every_length_and_beginning(int rank)
{
    static const char beginnings[] = ".-_/ 0%\\\"'$#~\x01\x7f\x80\xff"
                                     "pP";
    char key[PMIX_MAX_KEYLEN + 1];

    init(rank);
    for (int round = 0; round < 2; round++) {
        for (size_t len = 1; len <= PMIX_MAX_KEYLEN; len++) {
            memset(key, 'k', len);
            key[len] = '\0';
            key[0] = beginnings[len % (sizeof(beginnings) - 1)];
            if (round == 0) {
                put_number(PMIX_GLOBAL, key, 10 * len + (uint64_t)rank);
            } else {
                CHECK(get_number(key) == 10 * len + other().rank);
            }
        }
        exchange();
    }
    char longer[PMIX_MAX_KEYLEN + 2];
    pmix_value_t value = { .type = PMIX_UINT32 };

    memset(longer, 'k', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, longer, &value), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "", &value), PMIX_ERR_BAD_PARAM);
    return rank_end();
}

static int a_key_put_again_is_seen_after_the_next_fence(int rank)
{
    char text[32];

    init(rank);
    for (uint64_t round = 1; round <= 50; round++) {
        snprintf(text, sizeof(text), "round %lu of %d", (unsigned long)round, rank);
        pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

        put_number(PMIX_GLOBAL, "number", round * 10 + (uint64_t)rank);
        CHECK_STATUS(PMIx_Put(PMIX_LOCAL, "text", &value), PMIX_SUCCESS);
        exchange();
        CHECK(get_number("number") == round * 10 + other().rank);
        snprintf(text, sizeof(text), "round %lu of %u", (unsigned long)round, other().rank);
        pmix_value_t *const got = get("text", NULL, 0);
        CHECK(strcmp(got->data.string, text) == 0);
        drop(got);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

static pmix_status_t get_optional(const char *key, pmix_value_t **value)
{
    const pmix_proc_t proc = other();
    const bool yes = true;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_OPTIONAL, &yes, PMIX_BOOL), PMIX_SUCCESS);
    return PMIx_Get(&proc, key, &info, 1, value);
}

static int every_scope_reaches_whom_it_is_for(int rank)
{
    static const struct {
        pmix_scope_t scope;
        pmix_status_t want; /* at a peer of the node */
    } rows[] = {
        { PMIX_LOCAL, PMIX_SUCCESS },
        { PMIX_REMOTE, PMIX_ERR_NOT_FOUND },
        { PMIX_GLOBAL, PMIX_SUCCESS },
        { PMIX_INTERNAL, PMIX_ERR_NOT_FOUND },
    };
    pmix_value_t *value;
    char key[16];

    init(rank);
    for (size_t again = 0; again < 2; again++) { /* the second time they have boxes */
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            snprintf(key, sizeof(key), "scope.%zu", i);
            put_number(rows[i].scope, key, i + again * 10);
        }
        exchange();
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            snprintf(key, sizeof(key), "scope.%zu", i);
            CHECK_STATUS(get_optional(key, &value), rows[i].want);
            if (rows[i].want == PMIX_SUCCESS) {
                CHECK(value->data.uint64 == i + again * 10);
                drop(value);
            }
            CHECK_STATUS(PMIx_Get(&me, key, NULL, 0, &value), PMIX_SUCCESS);
            CHECK(value->data.uint64 == i + again * 10);
            drop(value);
        }
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* A value that is kept after all is not sent with the commit of the put before. */
static int what_becomes_internal_stays_here(int rank)
{
    pmix_value_t *value;

    init(rank);
    put_number(PMIX_INTERNAL, "key", 1);
    put_number(PMIX_GLOBAL, "key", 2);
    put_number(PMIX_INTERNAL, "key", 3);
    exchange();
    CHECK_STATUS(get_optional("key", &value), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Get(&me, "key", NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.uint64 == 3);
    drop(value);
    return rank_end();
}

/* ---- qualified values ------------------------------------------------------------------------ */

static void put_qualified(pmix_scope_t scope, const char *key, uint64_t number, uint32_t which,
                          const char *kind)
{
    pmix_info_t infos[3];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 3, .array = infos };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    CHECK_STATUS(PMIx_Info_load(&infos[0], key, &number, PMIX_UINT64), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[1], "which", &which, PMIX_UINT32), PMIX_SUCCESS);
    infos[2] = info_text("kind", kind);
    PMIx_Info_qualifier(&infos[1]);
    PMIx_Info_qualifier(&infos[2]);
    CHECK_STATUS(PMIx_Put(scope, PMIX_QUALIFIED_VALUE, &value), PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[2]);
}

/* In another order, and with a directive between: a time limit of so many seconds, or
 * PMIX_OPTIONAL. */
static pmix_status_t get_qualified_within(const char *key, uint32_t which, const char *kind,
                                          bool optional, int seconds, uint64_t *ret)
{
    const pmix_proc_t proc = other();
    pmix_value_t *value;
    pmix_info_t infos[3];

    infos[0] = info_text("kind", kind);
    CHECK_STATUS(seconds > 0 ? PMIx_Info_load(&infos[1], PMIX_TIMEOUT, &seconds, PMIX_INT)
                             : PMIx_Info_load(&infos[1], PMIX_OPTIONAL, &optional, PMIX_BOOL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&infos[2], "which", &which, PMIX_UINT32), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[0]);
    PMIx_Info_qualifier(&infos[2]);
    const pmix_status_t rc = PMIx_Get(&proc, key, infos, 3, &value);
    if (rc == PMIX_SUCCESS) {
        *ret = value->data.uint64;
        drop(value);
    }
    PMIx_Info_destruct(&infos[0]);
    return rc;
}

static pmix_status_t get_qualified(const char *key, uint32_t which, const char *kind, bool optional,
                                   uint64_t *ret)
{
    return get_qualified_within(key, which, kind, optional, 0, ret);
}

static int qualifiers_select_the_value_of_a_peer(int rank)
{
    uint64_t number = 0;
    size_t qualified = 0;

    init(rank);
    for (uint32_t which = 0; which < 100; which++) {
        put_qualified(PMIX_GLOBAL, PMIX_GROUP_LOCAL_CID, which * 10 + (uint32_t)rank, which, "a");
        put_qualified(PMIX_LOCAL, PMIX_GROUP_LOCAL_CID, which * 20 + (uint32_t)rank, which, "b");
    }
    put_qualified(PMIX_REMOTE, "key", 1, 1, "remote");
    put_number(PMIX_GLOBAL, PMIX_GROUP_LOCAL_CID, 7);
    exchange();
    for (uint32_t which = 0; which < 100; which++) {
        CHECK_STATUS(get_qualified(PMIX_GROUP_LOCAL_CID, which, "a", false, &number), PMIX_SUCCESS);
        CHECK(number == which * 10 + other().rank);
        CHECK_STATUS(get_qualified(PMIX_GROUP_LOCAL_CID, which, "b", false, &number), PMIX_SUCCESS);
        CHECK(number == which * 20 + other().rank);
    }
    CHECK(get_number(PMIX_GROUP_LOCAL_CID) == 7);
    CHECK_STATUS(get_qualified(PMIX_GROUP_LOCAL_CID, 100, "a", true, &number), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_qualified("key", 1, "remote", true, &number), PMIX_ERR_NOT_FOUND);
    pmix_value_t *const all = get(NULL, NULL, 0);
    const pmix_info_t *const infos = all->data.darray->array;
    for (size_t i = 0; i < all->data.darray->size; i++) {
        qualified += strcmp(infos[i].key, PMIX_QUALIFIED_VALUE) == 0;
    }
    CHECK(qualified == 200);
    drop(all);
    return rank_end();
}

/* The patience for a value of another key would end with PMIX_ERR_TIMEOUT. */
static int qualifiers_that_a_committed_peer_does_not_have_are_not_found(int rank)
{
    uint64_t number = 0;

    init(rank);
    if (rank == 0) {
        CHECK_STATUS(get_qualified("key", 2, "a", false, &number), PMIX_ERR_NOT_FOUND);
        job_token_put(1);
        CHECK_STATUS(get_qualified("key", 3, "a", false, &number), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(get_qualified("key", 1, "a", false, &number), PMIX_SUCCESS);
        CHECK(number == 41);
    } else {
        put_qualified(PMIX_GLOBAL, "key", 41, 1, "a");
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        job_token_get(1);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* Rank 0 waits, for as long as it says, for two values that rank 1 commits later, one of them
 * qualified. */
static int a_get_waits_for_a_qualified_value(int rank)
{
    uint64_t number = 0;

    init(rank);
    if (rank == 0) {
        job_token_put(0);
        CHECK_STATUS(get_qualified_within("late", 1, "b", false, JOB_SECONDS, &number),
                     PMIX_SUCCESS);
        CHECK(number == 42);
        CHECK(get_number("plain") == 43);
    } else {
        job_token_get(0);
        put_qualified(PMIX_GLOBAL, "late", 41, 1, "a");
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        put_qualified(PMIX_GLOBAL, "late", 42, 1, "b");
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        put_number(PMIX_GLOBAL, "plain", 43);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* A key of the library's that is not there is not waited for, unless one says that it will come. */
static int a_get_waits_for_a_reserved_key_when_notified_to(int rank)
{
    const pmix_proc_t proc = { .nspace = JOB_NSPACE, .rank = 1 };
    const bool yes = true;
    pmix_value_t *value;
    pmix_info_t info;

    init(rank);
    info = info_flag(PMIX_WAIT);
    info.value = (pmix_value_t){ .type = PMIX_INT, .data.integer = 1 };
    if (rank == 0) {
        CHECK_STATUS(PMIx_Get(&proc, PMIX_GROUP_LOCAL_CID, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
        job_token_put(0);
        CHECK_STATUS(PMIx_Get(&proc, PMIX_GROUP_LOCAL_CID, &info, 1, &value), PMIX_SUCCESS);
        CHECK(value->data.uint64 == 9);
        drop(value);
    } else {
        job_token_get(0);
        put_number(PMIX_GLOBAL, PMIX_GROUP_LOCAL_CID, 9);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_ALL_CLONES_PARTICIPATE, &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(&info);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &info, 1), PMIX_SUCCESS);
    return rank_end();
}

static int a_peer_is_named_and_near(int rank)
{
    const pmix_proc_t peer = { .nspace = JOB_NSPACE, .rank = (pmix_rank_t)(1 - rank) };
    pmix_value_t *value;

    init(rank);
    CHECK_STATUS(PMIx_Get(&peer, PMIX_PROCID, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(PMIx_Check_procid(value->data.proc, &peer));
    drop(value);
    CHECK_STATUS(PMIx_Get(&peer, PMIX_LOCALITY, NULL, 0, &value), PMIX_SUCCESS);
    CHECK((value->data.uint16 & PMIX_LOCALITY_SHARE_NODE) != 0);
    drop(value);
    const pmix_status_t rc = PMIx_Get(&me, PMIX_DEVICE_DISTANCES, NULL, 0, &value);
    CHECK(rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND); /* without a device */
    if (rc == PMIX_SUCCESS) {
        CHECK(value->data.darray->type == PMIX_DEVICE_DIST && value->data.darray->size > 0);
        drop(value);
    }
    return rank_end();
}

static const struct job_case cases[] = {
    { "values_of_no_bytes_and_of_64_mib", 2, values_of_no_bytes_and_of_64_mib },
    { "a_large_value_put_again_takes_the_room_of_one", 2,
      a_large_value_put_again_takes_the_room_of_one },
    { "a_hundred_thousand_keys", 2, a_hundred_thousand_keys },
    { "keys_of_every_length_and_beginning", 2, keys_of_every_length_and_beginning },
    { "a_key_put_again_is_seen_after_the_next_fence", 2,
      a_key_put_again_is_seen_after_the_next_fence },
    { "every_scope_reaches_whom_it_is_for", 2, every_scope_reaches_whom_it_is_for },
    { "what_becomes_internal_stays_here", 2, what_becomes_internal_stays_here },
    { "qualifiers_select_the_value_of_a_peer", 2, qualifiers_select_the_value_of_a_peer },
    { "qualifiers_that_a_committed_peer_does_not_have_are_not_found", 2,
      qualifiers_that_a_committed_peer_does_not_have_are_not_found },
    { "a_get_waits_for_a_qualified_value", 2, a_get_waits_for_a_qualified_value },
    { "a_get_waits_for_a_reserved_key_when_told_to", 2,
      a_get_waits_for_a_reserved_key_when_notified_to },
    { "a_peer_is_named_and_near", 2, a_peer_is_named_and_near },
};

JOB_MAIN(cases)
