/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_test.c - the native reads beside PMIx_Get: every type, every wrong call, every end.
 *
 * A process without a server reads its own data, so no other process is needed here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <shmix.h>

#include "../alone.h"
#include "base/util.h"
#include "base/value/type.h"
#include "unit/base/samples.h"

#define RANK 5u

static pmix_proc_t me;
static shmix_job_t *job;

static void begin(void)
{
    alone_init(&me);
    cr_assert_eq(shmix_job_open(NULL, &job), PMIX_SUCCESS);
}

static void end(void)
{
    cr_assert_eq(shmix_job_close(job), PMIX_SUCCESS);
    alone_end();
}

TestSuite(native, .init = begin, .fini = end);

static void store(pmix_rank_t rank, const char *key, pmix_value_t *value)
{
    pmix_proc_t proc = me;

    proc.rank = rank;
    cr_assert_eq(PMIx_Store_internal(&proc, key, value), PMIX_SUCCESS, "%s", key);
    cr_assert_eq(shmix_job_refresh(job), PMIX_SUCCESS);
}

static void store_string(const char *key, const char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    store(RANK, key, &value);
}

static pmix_value_t *get(const char *key)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc = me;

    proc.rank = RANK;
    cr_assert_eq(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS, "%s", key);
    return value;
}

static const shmix_key_t *find(const char *key)
{
    const shmix_key_t *found = NULL;

    cr_assert_eq(shmix_key_find(job, SHMIX_JOB, key, &found), PMIX_SUCCESS, "%s", key);
    return found;
}

/* ---- every type ---------------------------------------------------------------------------- */

static void expect_number(const shmix_value_t *view, const pmix_value_t *value,
                          const struct sx_type *row)
{
    uint64_t bits = 0;

    memcpy(&bits, &value->data, row->size_bytes);
    cr_expect_eq(view->element_type, PMIX_UNDEF);
    cr_expect_null(view->data);
    if (row->number == SX_NUMBER_UINT) {
        cr_expect_eq(view->number.u64, bits, "%s", row->name);
    } else if (row->number == SX_NUMBER_BOOL) {
        cr_expect_eq(view->number.flag, bits != 0);
    } else if (row->number == SX_NUMBER_FLOAT) {
        cr_expect(view->number.f64 ==
                  (row->size_bytes == sizeof(float) ? value->data.fval : value->data.dval));
    } else {
        const int64_t narrow = row->size_bytes == 1   ? (int8_t)bits
                               : row->size_bytes == 2 ? (int16_t)bits
                               : row->size_bytes == 4 ? (int32_t)bits
                                                      : (int64_t)bits;
        cr_expect_eq(view->number.i64, narrow, "%s", row->name);
    }
}

/* A view made a value again. */
static pmix_value_t value_of_view(const shmix_value_t *view, pmix_data_array_t *array)
{
    pmix_value_t value = { .type = view->type };

    *array = (pmix_data_array_t){ .type = view->element_type,
                                  .size = view->count,
                                  .array = (void *)(uintptr_t)view->data };
    if (view->type == PMIX_STRING) {
        value.data.string = array->array;
    } else if (view->type == PMIX_DATA_ARRAY) {
        value.data.darray = array;
    } else if (view->type == PMIX_TIMEVAL) {
        memcpy(&value.data.tv, view->data, sizeof(value.data.tv));
    } else if (sx_type_find(view->type)->kind == SX_TYPE_BYTES) {
        value.data.bo = (pmix_byte_object_t){ .bytes = array->array, .size = view->count };
    } else {
        value.data.proc = array->array;
    }
    return value;
}

static void expect_view(const char *key, const struct sx_type *row)
{
    pmix_value_t *const value = get(key);
    pmix_data_array_t array;
    shmix_value_t view;

    cr_assert_eq(shmix_read_value(find(key), RANK, &view), PMIX_SUCCESS, "%s", key);
    cr_expect_eq(view.type, value->type);
    if (row->number != SX_NUMBER_NONE) {
        expect_number(&view, value, row);
    } else {
        pmix_value_t same = value_of_view(&view, &array);

        cr_expect_eq(PMIx_Value_compare(&same, value), PMIX_EQUAL, "%s", key);
    }
    PMIx_Value_destruct(value);
    free(value);
}

/* Exactly the reader that is made for the type takes it, and the others leave their results. */
static void expect_one_reader(const char *key, const struct sx_type *row, bool is_array)
{
    const shmix_key_t *const handle = find(key);
    const char *text = "untouched";
    const void *bytes = &text, *elements = &text;
    uint64_t u64 = 77;
    int64_t i64 = 77;
    double f64 = 77;
    size_t count = 77;
    bool flag = true;
    const struct {
        const char *name;
        pmix_status_t got;
        bool wanted, touched;
    } readers[] = {
        { "u64", shmix_read_u64(handle, RANK, &u64), row->number == SX_NUMBER_UINT, u64 != 77 },
        { "i64", shmix_read_i64(handle, RANK, &i64), row->number == SX_NUMBER_INT, i64 != 77 },
        { "f64", shmix_read_f64(handle, RANK, &f64), row->number == SX_NUMBER_FLOAT,
          f64 < 77 || f64 > 77 },
        { "bool", shmix_read_bool(handle, RANK, &flag), row->number == SX_NUMBER_BOOL, !flag },
        { "string", shmix_read_string(handle, RANK, &text, NULL), row->kind == SX_TYPE_STRING,
          text == NULL || strcmp(text, "untouched") != 0 },
        { "bytes", shmix_read_bytes(handle, RANK, &bytes, NULL), row->kind == SX_TYPE_BYTES,
          bytes != &text },
        { "array", shmix_read_array(handle, RANK, PMIX_UINT32, &elements, &count), is_array,
          elements != &text || count != 77 },
    };

    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        cr_expect_eq(readers[i].got, readers[i].wanted ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH,
                     "%s of %s gives %d", readers[i].name, row->name, readers[i].got);
        cr_expect(readers[i].wanted || !readers[i].touched, "%s of %s", readers[i].name, row->name);
    }
}

Test(native, every_type_reads_as_a_get_gives_it)
{
    unsigned viewed = 0;

    for (unsigned type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *const row = sx_type_find((pmix_data_type_t)type);

        if (!sample_is_value_type((pmix_data_type_t)type) || type == PMIX_DATA_ARRAY) {
            continue;
        }
        for (unsigned seed = 0; seed < 8; seed++) {
            pmix_value_t value;
            shmix_value_t view;
            char key[32];

            snprintf(key, sizeof(key), "type.%u.%u", type, seed);
            sample_value(&value, (pmix_data_type_t)type, seed, 0);
            store(RANK, key, &value);
            if (row->kind == SX_TYPE_STRUCT) {
                cr_expect_eq(shmix_read_value(find(key), RANK, &view), PMIX_ERR_NOT_SUPPORTED, "%s",
                             row->name);
            } else {
                expect_view(key, row);
                viewed++;
            }
            expect_one_reader(key, row, false);
            PMIx_Value_destruct(&value);
        }
    }
    cr_expect_gt(viewed, 8 * 40u);
}

Test(native, arrays_of_every_plain_type_are_read_in_place)
{
    unsigned viewed = 0;

    for (unsigned type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *const row = sx_type_find((pmix_data_type_t)type);
        const void *elements = NULL;
        pmix_value_t value;
        size_t count = 0;
        char key[32];

        if (!sample_is_element_type((pmix_data_type_t)type)) {
            continue;
        }
        snprintf(key, sizeof(key), "array.%u", type);
        sample_array_value(&value, (pmix_data_type_t)type, 7, type);
        store(RANK, key, &value);
        const pmix_status_t rc = shmix_read_array(find(key), RANK, (pmix_data_type_t)type,
                                                  &elements, &count);
        if (row->kind != SX_TYPE_PLAIN) {
            cr_expect_eq(rc, PMIX_ERR_NOT_SUPPORTED, "%s", row->name);
        } else {
            cr_expect_eq(rc, PMIX_SUCCESS, "%s", row->name);
            cr_expect_eq(count, 7);
            cr_expect_eq((uintptr_t)elements % 8, 0);
            expect_view(key, sx_type_find(PMIX_DATA_ARRAY));
            cr_expect_eq(shmix_read_array(find(key), RANK, PMIX_STRING, &elements, &count),
                         PMIX_ERR_TYPE_MISMATCH);
            viewed++;
        }
        PMIx_Value_destruct(&value);
    }
    cr_expect_gt(viewed, 30);
}

Test(native, what_is_empty_has_no_address)
{
    pmix_data_array_t typed = { .type = PMIX_UINT32 }, untyped = { .type = PMIX_UNDEF };
    pmix_value_t values[] = {
        { .type = PMIX_STRING },
        { .type = PMIX_BYTE_OBJECT },
        { .type = PMIX_DATA_ARRAY },
        { .type = PMIX_DATA_ARRAY, .data.darray = &typed },
        { .type = PMIX_DATA_ARRAY, .data.darray = &untyped },
        { .type = PMIX_PROC },
    };
    const char *text;
    const void *at;
    size_t size;

    for (size_t i = 0; i < SX_COUNT(values); i++) {
        shmix_value_t view = { .data = &view, .count = 1 };
        char key[16];

        snprintf(key, sizeof(key), "empty.%zu", i);
        store(RANK, key, &values[i]);
        cr_expect_eq(shmix_read_value(find(key), RANK, &view), PMIX_SUCCESS, "row %zu", i);
        cr_expect_null(view.data, "row %zu", i);
        cr_expect_eq(view.count, 0, "row %zu", i);
    }
    cr_expect_eq(shmix_read_string(find("empty.0"), RANK, &text, &size), PMIX_SUCCESS);
    cr_expect(text == NULL && size == 0);
    cr_expect_eq(shmix_read_bytes(find("empty.1"), RANK, &at, &size), PMIX_SUCCESS);
    cr_expect(at == NULL && size == 0);
    for (unsigned i = 2; i < 5; i++) {
        char key[16];

        snprintf(key, sizeof(key), "empty.%u", i);
        at = &size;
        cr_expect_eq(shmix_read_array(find(key), RANK, PMIX_UINT32, &at, &size), PMIX_SUCCESS);
        cr_expect(at == NULL && size == 0);
    }
    store_string("empty.string", "");
    cr_expect_eq(shmix_read_string(find("empty.string"), RANK, &text, &size), PMIX_SUCCESS);
    cr_expect(text != NULL && text[0] == '\0' && size == 0);
}

Test(native, the_ends_of_the_ranges)
{
    const struct {
        pmix_value_t value;
        int64_t want;
    } rows[] = {
        { { .type = PMIX_INT8, .data.int8 = INT8_MIN }, INT8_MIN },
        { { .type = PMIX_INT16, .data.int16 = INT16_MIN }, INT16_MIN },
        { { .type = PMIX_INT, .data.integer = -1 }, -1 },
        { { .type = PMIX_INT32, .data.int32 = INT32_MAX }, INT32_MAX },
        { { .type = PMIX_INT64, .data.int64 = INT64_MIN }, INT64_MIN },
        { { .type = PMIX_STATUS, .data.status = PMIX_ERR_TIMEOUT }, PMIX_ERR_TIMEOUT },
    };
    pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = UINT64_MAX };
    int64_t i64;
    uint64_t u64;
    double f64;

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        value = rows[i].value;
        store(RANK, "signed", &value);
        cr_expect_eq(shmix_read_i64(find("signed"), RANK, &i64), PMIX_SUCCESS);
        cr_expect_eq(i64, rows[i].want);
    }
    value = (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = UINT64_MAX };
    store(RANK, "unsigned", &value);
    cr_expect_eq(shmix_read_u64(find("unsigned"), RANK, &u64), PMIX_SUCCESS);
    cr_expect_eq(u64, UINT64_MAX);
    value = (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = -0.25f };
    store(RANK, "float", &value);
    cr_expect_eq(shmix_read_f64(find("float"), RANK, &f64), PMIX_SUCCESS);
    cr_expect(f64 == -0.25);
    value = (pmix_value_t){ .type = PMIX_DOUBLE, .data.dval = 1e300 };
    store(RANK, "double", &value);
    cr_expect_eq(shmix_read_f64(find("double"), RANK, &f64), PMIX_SUCCESS);
    cr_expect(f64 == 1e300);
}

/* ---- where and which ------------------------------------------------------------------------ */

Test(native, each_rank_has_its_own_place_and_the_job_too)
{
    static const pmix_rank_t ranks[] = { 0, 1, 63, 64, 255, 256, 5000, PMIX_RANK_WILDCARD };
    static const pmix_rank_t others[] = { 2,
                                          62,
                                          65,
                                          254,
                                          4999,
                                          5001,
                                          100000,
                                          1u << 24,
                                          PMIX_RANK_VALID,
                                          PMIX_RANK_UNDEF,
                                          PMIX_RANK_INVALID,
                                          PMIX_RANK_LOCAL_NODE,
                                          PMIX_RANK_LOCAL_PEERS };
    const shmix_key_t *const key = find("place");
    uint64_t number = 0;

    for (size_t i = 0; i < SX_COUNT(ranks); i++) {
        pmix_value_t value = { .type = PMIX_UINT64, .data.uint64 = ranks[i] + 1000000ull };

        cr_expect_eq(shmix_read_u64(key, ranks[i], &number), PMIX_ERR_NOT_FOUND);
        store(ranks[i], "place", &value);
    }
    for (size_t i = 0; i < SX_COUNT(ranks); i++) {
        cr_expect_eq(shmix_read_u64(key, ranks[i], &number), PMIX_SUCCESS);
        cr_expect_eq(number, ranks[i] + 1000000ull);
    }
    for (size_t i = 0; i < SX_COUNT(others); i++) {
        cr_expect_eq(shmix_read_u64(key, others[i], &number), PMIX_ERR_NOT_FOUND, "%u", others[i]);
    }
}

Test(native, realms_are_apart)
{
    static const shmix_realm_t realms[] = { SHMIX_NODE, SHMIX_APP, SHMIX_SESSION };
    const shmix_key_t *key;
    uint64_t number;

    cr_expect_eq(shmix_read_u64(find(PMIX_JOB_SIZE), PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    cr_expect_eq(number, 1);
    for (size_t i = 0; i < SX_COUNT(realms); i++) {
        cr_assert_eq(shmix_key_find(job, realms[i], PMIX_JOB_SIZE, &key), PMIX_SUCCESS);
        cr_expect_eq(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_ERR_NOT_FOUND);
        cr_expect_eq(shmix_read_u64(key, 0, &number), PMIX_ERR_NOT_FOUND);
    }
}

Test(native, one_key_has_one_handle)
{
    const shmix_key_t *const first = find("one");
    char longest[PMIX_MAX_KEYLEN + 2];
    const shmix_key_t *other = NULL;

    cr_expect_eq(find("one"), first);
    cr_expect_neq(find("other"), first);
    cr_assert_eq(shmix_key_find(job, SHMIX_NODE, "one", &other), PMIX_SUCCESS);
    cr_expect_neq(other, first);
    memset(longest, 'k', sizeof(longest));
    longest[PMIX_MAX_KEYLEN + 1] = '\0';
    cr_expect_eq(shmix_key_find(job, SHMIX_JOB, longest, &other), PMIX_ERR_BAD_PARAM);
    longest[PMIX_MAX_KEYLEN] = '\0';
    cr_expect_eq(shmix_key_find(job, SHMIX_JOB, longest, &other), PMIX_SUCCESS);
}

/* ---- wrong calls ---------------------------------------------------------------------------- */

Test(native, a_failed_open_leaves_no_handle_and_closing_none_is_harmless)
{
    char nspace[PMIX_MAX_NSLEN + 2];
    shmix_job_t *opened = job;

    memset(nspace, 'n', sizeof(nspace));
    nspace[PMIX_MAX_NSLEN + 1] = '\0';
    cr_expect_eq(shmix_job_open(nspace, &opened), PMIX_ERR_BAD_PARAM);
    cr_expect_null(opened);
    opened = job;
    cr_expect_neq(shmix_job_open("no such job", &opened), PMIX_SUCCESS);
    cr_expect_null(opened);
    cr_expect_eq(shmix_job_close(opened), PMIX_SUCCESS);
}

Test(native, nothing_where_something_is_needed_is_refused)
{
    char nspace[PMIX_MAX_NSLEN + 2];
    const shmix_key_t *const key = find("key"), *found = NULL;
    shmix_job_t *opened = NULL;
    shmix_value_t view;
    const char *text;
    const void *at;
    uint64_t u64;
    int64_t i64;
    double f64;
    size_t size;
    bool flag;

    memset(nspace, 'n', sizeof(nspace));
    nspace[PMIX_MAX_NSLEN + 1] = '\0';
    const pmix_status_t got[] = {
        shmix_job_open(NULL, NULL),
        shmix_job_open(nspace, &opened),
        shmix_job_refresh(NULL),
        shmix_job_unpin(NULL),
        shmix_job_generation(NULL, &u64),
        shmix_job_generation(job, NULL),
        shmix_key_find(NULL, SHMIX_JOB, "key", &found),
        shmix_key_find(job, SHMIX_JOB, NULL, &found),
        shmix_key_find(job, SHMIX_JOB, "", &found),
        shmix_key_find(job, SHMIX_JOB, "key", NULL),
        shmix_key_find(job, (shmix_realm_t)4, "key", &found),
        shmix_key_find(job, (shmix_realm_t)-1, "key", &found),
        shmix_read_u64(NULL, 0, &u64),
        shmix_read_u64(key, 0, NULL),
        shmix_read_i64(NULL, 0, &i64),
        shmix_read_i64(key, 0, NULL),
        shmix_read_f64(NULL, 0, &f64),
        shmix_read_f64(key, 0, NULL),
        shmix_read_bool(NULL, 0, &flag),
        shmix_read_bool(key, 0, NULL),
        shmix_read_string(NULL, 0, &text, &size),
        shmix_read_string(key, 0, NULL, &size),
        shmix_read_bytes(NULL, 0, &at, &size),
        shmix_read_bytes(key, 0, NULL, &size),
        shmix_read_array(NULL, 0, PMIX_INT, &at, &size),
        shmix_read_array(key, 0, PMIX_INT, NULL, &size),
        shmix_read_array(key, 0, PMIX_INT, &at, NULL),
        shmix_read_value(NULL, 0, &view),
        shmix_read_value(key, 0, NULL),
    };

    for (size_t i = 0; i < SX_COUNT(got); i++) {
        cr_expect_eq(got[i], PMIX_ERR_BAD_PARAM, "row %zu gives %d", i, got[i]);
    }
    cr_expect(opened == NULL && found == NULL);
}

Test(native, a_namespace_that_nobody_knows_is_not_found)
{
    shmix_job_t *other = NULL;

    cr_expect_eq(shmix_job_open("no.such.job", &other), PMIX_ERR_NOT_FOUND);
    cr_expect_null(other);
    cr_assert_eq(shmix_job_open(me.nspace, &other), PMIX_SUCCESS);
    cr_expect_neq(other, job);
    cr_expect_eq(shmix_job_close(other), PMIX_SUCCESS);
    cr_assert_eq(shmix_job_open("", &other), PMIX_SUCCESS);
    cr_expect_eq(shmix_job_close(other), PMIX_SUCCESS);
}

Test(native, a_process_alone_has_a_descriptor_of_its_own)
{
    int fd = -1, again = -2;

    cr_expect_eq(shmix_fd(NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(shmix_fd(&fd), PMIX_SUCCESS);
    cr_assert_eq(shmix_fd(&again), PMIX_SUCCESS);
    cr_expect_eq(fd, again);
    cr_expect_geq(fd, 0);
}

/* ---- generations ---------------------------------------------------------------------------- */

static uint64_t generation(void)
{
    uint64_t number = 0;

    cr_assert_eq(shmix_job_generation(job, &number), PMIX_SUCCESS);
    return number;
}

Test(native, a_value_that_changes_leaves_the_old_view)
{
    const shmix_key_t *const key = find("text");
    const char *first, *second;
    size_t len;

    store_string("text", "before");
    cr_assert_eq(shmix_read_string(key, RANK, &first, &len), PMIX_SUCCESS);
    cr_expect_eq(len, 6);
    store_string("text", "afterwards");
    cr_assert_eq(shmix_read_string(key, RANK, &second, &len), PMIX_SUCCESS);
    cr_expect_str_eq(first, "before");
    cr_expect_str_eq(second, "afterwards");
    cr_expect_eq(len, 10);
}

Test(native, a_job_moves_when_it_is_notified_to)
{
    enum { BYTES = 100000 };
    const shmix_key_t *const key = find("text"), *const blob = find("blob"), *late;
    char *const bytes = calloc(1, BYTES);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = bytes, .size = BYTES } };
    const uint64_t begun = generation();
    const char *text, *again;
    const void *at;
    size_t size;
    pmix_proc_t proc = me;

    store_string("text", "kept");
    cr_assert_eq(shmix_read_string(key, RANK, &text, NULL), PMIX_SUCCESS);
    proc.rank = RANK;
    for (int i = 0; i < 100; i++) { /* more than a store holds */
        bytes[0] = (char)i;
        cr_assert_eq(PMIx_Store_internal(&proc, "blob", &value), PMIX_SUCCESS);
    }
    cr_expect_eq(generation(), begun);
    cr_expect_eq(shmix_job_refresh(job), PMIX_SUCCESS);
    const uint64_t moved = generation();
    cr_expect_gt(moved, begun);
    cr_expect_eq(shmix_job_refresh(job), PMIX_SUCCESS);
    cr_expect_eq(generation(), moved);
    cr_assert_eq(shmix_read_bytes(blob, RANK, &at, &size), PMIX_SUCCESS);
    cr_expect(size == BYTES && *(const char *)at == 99);
    late = find("late"); /* a handle from this generation */
    store_string("late", "too");
    cr_assert_eq(shmix_read_string(key, RANK, &again, NULL), PMIX_SUCCESS);
    cr_expect_str_eq(text, "kept");
    cr_expect_str_eq(again, "kept");
    cr_expect_neq(text, again);
    cr_expect_eq(shmix_job_unpin(job), PMIX_SUCCESS);
    cr_expect_eq(shmix_job_unpin(job), PMIX_SUCCESS);
    cr_assert_eq(shmix_read_string(late, RANK, &again, NULL), PMIX_SUCCESS);
    cr_expect_str_eq(again, "too");
    free(bytes);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void expect_dead(const shmix_key_t *key)
{
    const shmix_key_t *found = NULL;
    shmix_value_t view;
    const char *text;
    const void *at;
    uint64_t u64;
    int64_t i64;
    double f64;
    size_t size;
    bool flag;
    const pmix_status_t got[] = {
        shmix_job_refresh(job),
        shmix_job_unpin(job),
        shmix_job_generation(job, &u64),
        shmix_key_find(job, SHMIX_JOB, "key", &found),
        shmix_read_u64(key, 0, &u64),
        shmix_read_i64(key, 0, &i64),
        shmix_read_f64(key, 0, &f64),
        shmix_read_bool(key, 0, &flag),
        shmix_read_string(key, 0, &text, &size),
        shmix_read_bytes(key, 0, &at, &size),
        shmix_read_array(key, 0, PMIX_INT, &at, &size),
        shmix_read_value(key, 0, &view),
    };

    for (size_t i = 0; i < SX_COUNT(got); i++) {
        cr_expect_eq(got[i], PMIX_ERR_INIT, "row %zu gives %d", i, got[i]);
    }
}

Test(native, handles_end_with_finalize_and_stay_ended)
{
    const shmix_key_t *const key = find(PMIX_JOB_SIZE), *again;
    shmix_job_t *other = NULL;
    uint64_t number;

    cr_expect_eq(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    PMIx_Finalize(NULL, 0);
    expect_dead(key);
    cr_expect_eq(shmix_job_open(NULL, &other), PMIX_ERR_INIT);
    cr_assert_eq(PMIx_Init(&me, NULL, 0), PMIX_ERR_UNREACH);
    expect_dead(key);
    cr_assert_eq(shmix_job_open(NULL, &other), PMIX_SUCCESS);
    cr_assert_eq(shmix_key_find(other, SHMIX_JOB, PMIX_JOB_SIZE, &again), PMIX_SUCCESS);
    cr_expect_eq(shmix_read_u64(again, PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
    cr_expect_eq(shmix_job_close(other), PMIX_SUCCESS);
}

Test(native, many_jobs_and_lives_leave_nothing)
{
    for (int life = 0; life < 20; life++) {
        shmix_job_t *jobs[10];

        for (size_t i = 0; i < SX_COUNT(jobs); i++) {
            const shmix_key_t *key;
            uint64_t number;

            cr_assert_eq(shmix_job_open(NULL, &jobs[i]), PMIX_SUCCESS);
            cr_assert_eq(shmix_key_find(jobs[i], SHMIX_JOB, PMIX_JOB_SIZE, &key), PMIX_SUCCESS);
            cr_assert_eq(shmix_read_u64(key, PMIX_RANK_WILDCARD, &number), PMIX_SUCCESS);
        }
        for (size_t i = 0; i < SX_COUNT(jobs) / 2; i++) { /* half before the end, half after */
            cr_assert_eq(shmix_job_close(jobs[2 * i]), PMIX_SUCCESS);
        }
        PMIx_Finalize(NULL, 0);
        for (size_t i = 0; i < SX_COUNT(jobs) / 2; i++) {
            cr_assert_eq(shmix_job_close(jobs[2 * i + 1]), PMIX_SUCCESS);
        }
        cr_assert_eq(PMIx_Init(&me, NULL, 0), PMIX_ERR_UNREACH);
    }
}
