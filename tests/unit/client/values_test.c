/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* values_test.c - how a Get hands over what it found: copied, filled in, pointed at, collected. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <shmix.h>

#include "alone.h"
#include "support/sanitized.h"

static pmix_proc_t me;

static void begin(void)
{
    alone_init(&me);
}

TestSuite(values, .init = begin, .fini = alone_end);

static void put_string(const char *key, char *text, pmix_scope_t scope)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

    cr_assert_eq(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

static void put_array(const char *key)
{
    uint32_t numbers[3] = { 1, 2, 3 };
    pmix_data_array_t array = { .type = PMIX_UINT32, .size = 3, .array = numbers };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    cr_assert_eq(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
}

static void directive(pmix_info_t *info, const char *key)
{
    bool yes = true;

    cr_assert_eq(PMIx_Info_load(info, key, &yes, PMIX_BOOL), PMIX_SUCCESS);
}

Test(values, every_type_comes_back_equal)
{
    char text[] = "text", bytes[] = { 1, 0, 2 };
    pmix_proc_t proc = { .nspace = "some.job", .rank = 9 };
    const struct {
        const void *data;
        pmix_data_type_t type;
    } rows[] = {
        { &(bool){ true }, PMIX_BOOL },
        { &(uint8_t){ 200 }, PMIX_BYTE },
        { text, PMIX_STRING },
        { &(size_t){ SIZE_MAX }, PMIX_SIZE },
        { &(int){ -5 }, PMIX_INT },
        { &(int8_t){ -8 }, PMIX_INT8 },
        { &(int64_t){ INT64_MIN }, PMIX_INT64 },
        { &(uint16_t){ 65535 }, PMIX_UINT16 },
        { &(uint64_t){ UINT64_MAX }, PMIX_UINT64 },
        { &(float){ 1.5f }, PMIX_FLOAT },
        { &(double){ -2.25 }, PMIX_DOUBLE },
        { &(struct timeval){ 5, 6 }, PMIX_TIMEVAL },
        { &(pmix_status_t){ PMIX_ERR_TIMEOUT }, PMIX_STATUS },
        { &proc, PMIX_PROC },
        { &(pmix_rank_t){ 77 }, PMIX_PROC_RANK },
        { &(pmix_byte_object_t){ bytes, sizeof(bytes) }, PMIX_BYTE_OBJECT },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_value_t put = { 0 }, *got;

        cr_assert_eq(PMIx_Value_load(&put, rows[i].data, rows[i].type), PMIX_SUCCESS);
        cr_assert_eq(PMIx_Put(PMIX_GLOBAL, "any", &put), PMIX_SUCCESS, "type %u", rows[i].type);
        cr_assert_eq(PMIx_Get(&me, "any", NULL, 0, &got), PMIX_SUCCESS, "type %u", rows[i].type);
        cr_expect_eq(PMIx_Value_compare(&put, got), PMIX_EQUAL, "type %u", rows[i].type);
        PMIx_Value_destruct(got);
        free(got);
        PMIx_Value_destruct(&put);
    }
}

Test(values, static_values_fill_the_callers_storage)
{
    pmix_value_t storage, *at = &storage, *none = NULL;
    pmix_info_t info;

    put_string("key", (char *)"text", PMIX_GLOBAL);
    directive(&info, PMIX_GET_STATIC_VALUES);
    cr_assert_eq(PMIx_Get(&me, "key", &info, 1, &at), PMIX_SUCCESS);
    cr_expect_eq(at, &storage);
    cr_expect_str_eq(storage.data.string, "text");
    PMIx_Value_destruct(&storage);
    cr_expect_eq(PMIx_Get(&me, "key", &info, 1, &none), PMIX_ERR_BAD_PARAM);
}

Test(values, pointer_values_stay_the_librarys)
{
    pmix_value_t *first, *second;
    pmix_info_t info;

    put_string("key", (char *)"text", PMIX_GLOBAL);
    put_array("array");
    directive(&info, PMIX_GET_POINTER_VALUES);
    cr_assert_eq(PMIx_Get(&me, "key", &info, 1, &first), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(&me, "key", &info, 1, &second), PMIX_SUCCESS);
    cr_expect_str_eq(first->data.string, "text");
    cr_expect_eq(first->data.string, second->data.string, "both in the store");
    put_string("key", (char *)"replaced", PMIX_GLOBAL);
    cr_expect_str_eq(first->data.string, "text", "what was handed out never changes");
    cr_assert_eq(PMIx_Get(&me, "array", &info, 1, &first), PMIX_SUCCESS);
    cr_expect_eq(((uint32_t *)first->data.darray->array)[2], 3u);
}

Test(values, both_directives_point_from_the_callers_storage)
{
    pmix_value_t storage, *at = &storage;
    pmix_info_t infos[2];

    put_string("key", (char *)"text", PMIX_GLOBAL);
    directive(&infos[0], PMIX_GET_POINTER_VALUES);
    directive(&infos[1], PMIX_GET_STATIC_VALUES);
    cr_assert_eq(PMIx_Get(&me, "key", infos, 2, &at), PMIX_SUCCESS);
    cr_expect_str_eq(storage.data.string, "text");
}

Test(values, no_key_gives_everything_of_a_rank)
{
    const pmix_proc_t nobody = { .nspace = "elsewhere", .rank = 0 };
    pmix_value_t *value;
    bool found = false;

    put_string("mine", (char *)"old", PMIX_GLOBAL);
    put_string("mine", (char *)"new", PMIX_GLOBAL);
    cr_assert_eq(PMIx_Get(&me, NULL, NULL, 0, &value), PMIX_SUCCESS);
    cr_assert_eq(value->type, PMIX_DATA_ARRAY);
    cr_assert_eq(value->data.darray->type, PMIX_INFO);
    const pmix_info_t *const infos = value->data.darray->array;
    for (size_t i = 0; i < value->data.darray->size; i++) {
        if (strcmp(infos[i].key, "mine") == 0) {
            cr_expect_not(found);
            found = true;
            cr_expect_str_eq(infos[i].value.data.string, "new");
        }
    }
    cr_expect(found);
    PMIx_Value_destruct(value);
    free(value);
    cr_expect_eq(PMIx_Get(&nobody, NULL, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
}

Test(values, a_scope_that_was_asked_for_is_kept_to)
{
    static const struct {
        pmix_scope_t put, get;
        pmix_status_t want;
    } rows[] = {
        { PMIX_LOCAL, PMIX_LOCAL, PMIX_SUCCESS },
        { PMIX_LOCAL, PMIX_REMOTE, PMIX_ERR_EXISTS_OUTSIDE_SCOPE },
        { PMIX_LOCAL, PMIX_GLOBAL, PMIX_SUCCESS },
        { PMIX_GLOBAL, PMIX_LOCAL, PMIX_SUCCESS },
        { PMIX_GLOBAL, PMIX_REMOTE, PMIX_SUCCESS },
        { PMIX_INTERNAL, PMIX_GLOBAL, PMIX_ERR_EXISTS_OUTSIDE_SCOPE },
        { PMIX_INTERNAL, PMIX_INTERNAL, PMIX_SUCCESS },
        { PMIX_GLOBAL, PMIX_INTERNAL, PMIX_ERR_EXISTS_OUTSIDE_SCOPE },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_scope_t scope = rows[i].get;
        pmix_value_t *value = NULL;
        pmix_info_t info;
        char key[16];

        snprintf(key, sizeof(key), "scope.%zu", i);
        put_string(key, (char *)"x", rows[i].put);
        cr_assert_eq(PMIx_Info_load(&info, PMIX_DATA_SCOPE, &scope, PMIX_SCOPE), PMIX_SUCCESS);
        cr_expect_eq(PMIx_Get(&me, key, &info, 1, &value), rows[i].want, "row %zu", i);
        if (value != NULL) {
            PMIx_Value_destruct(value);
            free(value);
        }
    }
}

/* The private store moves when it is full; readers and old pointers must not notice. */
Test(values, a_store_that_outgrows_its_memory_moves)
{
    static char text[4096];
    pmix_value_t *early, *value;
    pmix_info_t info;
    char key[32];

    memset(text, 't', sizeof(text) - 1);
    put_string("early", (char *)"still here", PMIX_GLOBAL);
    directive(&info, PMIX_GET_POINTER_VALUES);
    cr_assert_eq(PMIx_Get(&me, "early", &info, 1, &early), PMIX_SUCCESS);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "big.%d", i);
        put_string(key, text, PMIX_GLOBAL);
    }
    cr_expect_str_eq(early->data.string, "still here");
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof(key), "big.%d", i);
        cr_assert_eq(PMIx_Get(&me, key, NULL, 0, &value), PMIX_SUCCESS, "%s", key);
        PMIx_Value_destruct(value);
        free(value);
    }
}

/* ---- qualified values ---------------------------------------------------------------------- */

/* {key: text} under {which: number}, and under {also: true} as well if @two. */
static pmix_status_t put_qualified(const char *key, char *text, uint32_t number, bool two)
{
    bool yes = true;
    pmix_info_t infos[3];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = two ? 3 : 2, .array = infos };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    cr_assert_eq(PMIx_Info_load(&infos[0], key, text, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&infos[1], "which", &number, PMIX_UINT32), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[1]);
    cr_assert_eq(PMIx_Info_load(&infos[2], "also", &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[2]);
    const pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &value);
    PMIx_Info_destruct(&infos[0]);
    return rc;
}

static pmix_status_t get_qualified(const char *key, uint32_t number, bool two, char *ret_text)
{
    pmix_value_t *value = NULL;
    pmix_info_t infos[3];
    bool yes = true;

    cr_assert_eq(PMIx_Info_load(&infos[0], "also", &yes, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[0]);
    directive(&infos[1], PMIX_OPTIONAL);
    cr_assert_eq(PMIx_Info_load(&infos[2], "which", &number, PMIX_UINT32), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[2]);
    const pmix_status_t rc = PMIx_Get(&me, key, two ? infos : infos + 1, two ? 3 : 2, &value);
    if (rc == PMIX_SUCCESS) {
        cr_assert_eq(value->type, PMIX_STRING);
        strcpy(ret_text, value->data.string);
        PMIx_Value_destruct(value);
        free(value);
    }
    return rc;
}

Test(values, qualifiers_notify_the_values_of_a_key_apart)
{
    pmix_value_t *value;
    char text[64];

    cr_assert_eq(put_qualified("key", (char *)"one", 1, false), PMIX_SUCCESS);
    cr_expect_eq(PMIx_Get(&me, "key", NULL, 0, &value), PMIX_ERR_NOT_FOUND,
                 "without qualifiers only what was put without");
    put_string("key", (char *)"none", PMIX_GLOBAL);
    cr_assert_eq(put_qualified("key", (char *)"two", 2, false), PMIX_SUCCESS);
    cr_assert_eq(put_qualified("key", (char *)"both", 2, true), PMIX_SUCCESS);
    cr_assert_eq(get_qualified("key", 1, false, text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "one");
    cr_assert_eq(get_qualified("key", 2, false, text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "two");
    cr_assert_eq(get_qualified("key", 2, true, text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "both");
    cr_expect_eq(get_qualified("key", 3, false, text), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(get_qualified("yek", 1, false, text), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(put_qualified("key", (char *)"one again", 1, false), PMIX_SUCCESS);
    cr_assert_eq(get_qualified("key", 1, false, text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "one again");
    cr_assert_eq(PMIx_Get(&me, "key", NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_str_eq(value->data.string, "none");
    PMIx_Value_destruct(value);
    free(value);
}

Test(values, qualified_values_are_put_as_arrays_only)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 1 }, *got;
    pmix_info_t infos[2];
    uint32_t number = 1;

    cr_expect_eq(PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &value), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Store_internal(&me, PMIX_QUALIFIED_VALUE, &value), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_load(&infos[0], "which", &number, PMIX_UINT32), PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[0]);
    directive(&infos[1], PMIX_NODE_INFO);
    cr_expect_eq(PMIx_Get(&me, "key", infos, 2, &got), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_Get(&me, NULL, infos, 1, &got), PMIX_ERR_NOT_SUPPORTED);
}

/* ---- values that are put again -------------------------------------------------------------- */

/* Sanitizers and valgrind keep what was freed for a while. */
static bool freed_is_kept(void)
{
    const char *const preload = getenv("LD_PRELOAD");

    return SANITIZED || (preload != NULL && strstr(preload, "vgpreload") != NULL);
}

/* Bytes that this process has mapped. */
static size_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * 4096;
}

static void put_bytes(const char *key, char *bytes, size_t size, pmix_scope_t scope)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, size } };

    cr_assert_eq(PMIx_Put(scope, key, &value), PMIX_SUCCESS);
}

/* Of what has been superseded nothing stays, large or small. */
Test(values, a_value_that_is_put_again_and_again_takes_the_room_of_one)
{
    static const struct {
        size_t size;
        unsigned rounds;
    } rows[] = { { 64u << 20, 8 }, { 32u << 10, 20000 }, { 8, 1000000 } };

    if (freed_is_kept()) {
        cr_skip_test("what was freed is kept");
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *const bytes = calloc(1, rows[i].size);
        pmix_value_t *got;

        cr_assert_not_null(bytes);
        put_bytes("first", bytes, rows[i].size, PMIX_GLOBAL);
        const size_t before = mapped_bytes();
        for (unsigned round = 0; round < rows[i].rounds; round++) {
            memcpy(bytes, &round, sizeof(round));
            put_bytes("again", bytes, rows[i].size, round % 2 == 0 ? PMIX_GLOBAL : PMIX_LOCAL);
        }
        cr_expect_leq(mapped_bytes(), before + 2 * rows[i].size + (8u << 20), "%zu bytes",
                      rows[i].size);
        cr_assert_eq(PMIx_Get(&me, "again", NULL, 0, &got), PMIX_SUCCESS);
        cr_expect_eq(memcmp(got->data.bo.bytes, bytes, rows[i].size), 0);
        PMIx_Value_destruct(got);
        free(got);
        free(bytes);
    }
}

/* Nor of what was taken away before it was put again. */
Test(values, a_key_that_is_taken_away_and_put_again_takes_the_room_of_one)
{
    static char bytes[100000];
    pmix_value_t *got;

    if (freed_is_kept()) {
        cr_skip_test("what was freed is kept");
    }
    put_bytes("again", bytes, sizeof(bytes), PMIX_GLOBAL);
    const size_t before = mapped_bytes();
    for (unsigned round = 0; round < 20000; round++) {
        cr_assert_eq(PMIx_Put(PMIX_DEL_GLOBAL, "again", NULL), PMIX_SUCCESS);
        cr_assert_eq(PMIx_Get(&me, "again", NULL, 0, &got), PMIX_ERR_NOT_FOUND);
        put_bytes("again", bytes, round % 2 == 0 ? 8 : sizeof(bytes), PMIX_GLOBAL);
    }
    cr_expect_leq(mapped_bytes(), before + (4u << 20));
}

/* The private store as others read it has no box without a value, either. */
Test(values, of_a_process_on_its_own_the_native_api_reads_nothing_that_was_taken_away)
{
    const shmix_key_t *taken, *left;
    const char *text;
    shmix_job_t *job;

    put_string("taken", (char *)"1", PMIX_GLOBAL);
    put_string("left", (char *)"2", PMIX_GLOBAL);
    cr_assert_eq(PMIx_Put(PMIX_DEL_GLOBAL, "taken", NULL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Put(PMIX_DEL_LOCAL, "left", NULL), PMIX_SUCCESS);
    cr_assert_eq(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "taken", &taken), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "left", &left), PMIX_SUCCESS);
    cr_expect_eq(shmix_read_string(taken, me.rank, &text, NULL), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(shmix_read_string(left, me.rank, &text, NULL), PMIX_SUCCESS);
    cr_expect_str_eq(text, "2");
    cr_assert_eq(PMIx_Put(PMIX_DEL_REMOTE, "left", NULL), PMIX_SUCCESS);
    cr_expect_eq(shmix_read_string(left, me.rank, &text, NULL), PMIX_ERR_NOT_FOUND);
}

Test(values, of_what_was_put_again_pointers_stay_good_as_well)
{
    static char large[2][100000];
    pmix_value_t *first, *second, *third;
    pmix_info_t infos[1];

    memset(large[0], 'a', sizeof(large[0]));
    memset(large[1], 'b', sizeof(large[1]));
    directive(&infos[0], PMIX_GET_POINTER_VALUES);
    put_bytes("key", large[0], sizeof(large[0]), PMIX_GLOBAL);
    cr_assert_eq(PMIx_Get(&me, "key", infos, 1, &first), PMIX_SUCCESS);
    put_bytes("key", large[1], sizeof(large[1]), PMIX_GLOBAL);
    cr_assert_eq(PMIx_Get(&me, "key", infos, 1, &second), PMIX_SUCCESS);
    put_string("key", (char *)"small", PMIX_LOCAL);
    cr_assert_eq(PMIx_Get(&me, "key", infos, 1, &third), PMIX_SUCCESS);
    put_string("key", (char *)"other", PMIX_LOCAL);
    cr_expect_eq(memcmp(first->data.bo.bytes, large[0], sizeof(large[0])), 0);
    cr_expect_eq(memcmp(second->data.bo.bytes, large[1], sizeof(large[1])), 0);
    cr_expect_str_eq(third->data.string, "small");
}

Test(values, the_scope_of_what_was_put_again_is_the_new_one)
{
    pmix_scope_t scope = PMIX_REMOTE;
    pmix_value_t *value;
    pmix_info_t info;

    put_string("key", (char *)"1", PMIX_GLOBAL);
    put_string("key", (char *)"2", PMIX_GLOBAL);
    put_string("key", (char *)"3", PMIX_LOCAL);
    cr_assert_eq(PMIx_Info_load(&info, PMIX_DATA_SCOPE, &scope, PMIX_SCOPE), PMIX_SUCCESS);
    cr_expect_eq(PMIx_Get(&me, "key", &info, 1, &value), PMIX_ERR_EXISTS_OUTSIDE_SCOPE);
}

/* The native API reads the private store of a process on its own, where there are no boxes then. */
Test(values, of_a_process_on_its_own_the_native_api_reads_what_was_put_again)
{
    const shmix_key_t *key;
    const char *text;
    shmix_job_t *job;

    put_string("key", (char *)"1", PMIX_GLOBAL);
    put_string("key", (char *)"2", PMIX_GLOBAL);
    cr_assert_eq(shmix_job_open(NULL, &job), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, "key", &key), PMIX_SUCCESS);
    cr_assert_eq(shmix_read_string(key, me.rank, &text, NULL), PMIX_SUCCESS);
    cr_expect_str_eq(text, "2");
    put_string("key", (char *)"3", PMIX_GLOBAL);
    cr_assert_eq(shmix_read_string(key, me.rank, &text, NULL), PMIX_SUCCESS);
    cr_expect_str_eq(text, "3");
    cr_assert_eq(shmix_job_close(job), PMIX_SUCCESS);
}
