/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* values_test.c - how a Get hands over what it found: copied, filled in, pointed at, collected. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static pmix_proc_t me;

static void begin(void)
{
    unsetenv("PMIX_NAMESPACE");
    unsetenv("SHMIX_SERVER_FD");
    unsetenv("SHMIX_SERVER_URI");
    cr_assert_eq(PMIx_Init(&me, NULL, 0), PMIX_ERR_UNREACH);
}

static void end(void)
{
    PMIx_Finalize(NULL, 0);
}

TestSuite(values, .init = begin, .fini = end);

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
        { &(bool){ true }, PMIX_BOOL },       { &(uint8_t){ 200 }, PMIX_BYTE },
        { text, PMIX_STRING },                { &(size_t){ SIZE_MAX }, PMIX_SIZE },
        { &(int){ -5 }, PMIX_INT },           { &(int8_t){ -8 }, PMIX_INT8 },
        { &(int64_t){ INT64_MIN }, PMIX_INT64 }, { &(uint16_t){ 65535 }, PMIX_UINT16 },
        { &(uint64_t){ UINT64_MAX }, PMIX_UINT64 }, { &(float){ 1.5f }, PMIX_FLOAT },
        { &(double){ -2.25 }, PMIX_DOUBLE },  { &(struct timeval){ 5, 6 }, PMIX_TIMEVAL },
        { &(pmix_status_t){ PMIX_ERR_TIMEOUT }, PMIX_STATUS }, { &proc, PMIX_PROC },
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
