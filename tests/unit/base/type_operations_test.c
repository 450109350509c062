/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* type_operations_test.c - every data type of the ABI in every operation that takes a type.
 *
 * The table below is the ABI's list; a type that is added to base/value/type.c and not here, or the
 * other way round, is an error.  Each operation is the public function, on sampled contents. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <pmix.h>

#include "samples.h"

#define SEEDS 24u

/* Whether a value can hold it: its own copy, a pointer that stays the caller's, not at all. */
enum held { OWNED, BORROWED, NOT };
enum travel { TRAVELS, STAYS }; /* packed for another process, or refused */

static const struct row {
    pmix_data_type_t type;
    const char *name;
    size_t size;
    enum held held;
    enum travel travel;
} rows[] = {
#define ROW(type, c_type, held, travel)           \
    {                                             \
        type, #type, sizeof(c_type), held, travel \
    }
    ROW(PMIX_BOOL, bool, OWNED, TRAVELS),
    ROW(PMIX_BYTE, uint8_t, OWNED, TRAVELS),
    ROW(PMIX_STRING, char *, OWNED, TRAVELS),
    ROW(PMIX_SIZE, size_t, OWNED, TRAVELS),
    ROW(PMIX_PID, pid_t, OWNED, TRAVELS),
    ROW(PMIX_INT, int, OWNED, TRAVELS),
    ROW(PMIX_INT8, int8_t, OWNED, TRAVELS),
    ROW(PMIX_INT16, int16_t, OWNED, TRAVELS),
    ROW(PMIX_INT32, int32_t, OWNED, TRAVELS),
    ROW(PMIX_INT64, int64_t, OWNED, TRAVELS),
    ROW(PMIX_UINT, unsigned int, OWNED, TRAVELS),
    ROW(PMIX_UINT8, uint8_t, OWNED, TRAVELS),
    ROW(PMIX_UINT16, uint16_t, OWNED, TRAVELS),
    ROW(PMIX_UINT32, uint32_t, OWNED, TRAVELS),
    ROW(PMIX_UINT64, uint64_t, OWNED, TRAVELS),
    ROW(PMIX_FLOAT, float, OWNED, TRAVELS),
    ROW(PMIX_DOUBLE, double, OWNED, TRAVELS),
    ROW(PMIX_TIMEVAL, struct timeval, OWNED, TRAVELS),
    ROW(PMIX_TIME, time_t, OWNED, TRAVELS),
    ROW(PMIX_STATUS, pmix_status_t, OWNED, TRAVELS),
    ROW(PMIX_VALUE, pmix_value_t, NOT, TRAVELS),
    ROW(PMIX_PROC, pmix_proc_t, OWNED, TRAVELS),
    ROW(PMIX_APP, pmix_app_t, NOT, TRAVELS),
    ROW(PMIX_INFO, pmix_info_t, NOT, TRAVELS),
    ROW(PMIX_PDATA, pmix_pdata_t, NOT, TRAVELS),
    ROW(PMIX_BYTE_OBJECT, pmix_byte_object_t, OWNED, TRAVELS),
    ROW(PMIX_PERSIST, pmix_persistence_t, OWNED, TRAVELS),
    ROW(PMIX_POINTER, void *, BORROWED, STAYS),
    ROW(PMIX_SCOPE, pmix_scope_t, OWNED, TRAVELS),
    ROW(PMIX_DATA_RANGE, pmix_data_range_t, OWNED, TRAVELS),
    ROW(PMIX_INFO_DIRECTIVES, pmix_info_directives_t, OWNED, TRAVELS),
    ROW(PMIX_DATA_TYPE, pmix_data_type_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_STATE, pmix_proc_state_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_INFO, pmix_proc_info_t, OWNED, TRAVELS),
    ROW(PMIX_DATA_ARRAY, pmix_data_array_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_RANK, pmix_rank_t, OWNED, TRAVELS),
    ROW(PMIX_QUERY, pmix_query_t, NOT, TRAVELS),
    ROW(PMIX_COMPRESSED_STRING, pmix_byte_object_t, OWNED, TRAVELS),
    ROW(PMIX_ALLOC_DIRECTIVE, pmix_alloc_directive_t, OWNED, TRAVELS),
    ROW(PMIX_IOF_CHANNEL, pmix_iof_channel_t, OWNED, TRAVELS),
    ROW(PMIX_ENVAR, pmix_envar_t, OWNED, TRAVELS),
    ROW(PMIX_COORD, pmix_coord_t, OWNED, TRAVELS),
    ROW(PMIX_REGATTR, pmix_regattr_t, OWNED, TRAVELS),
    ROW(PMIX_REGEX, pmix_byte_object_t, OWNED, TRAVELS),
    ROW(PMIX_JOB_STATE, pmix_job_state_t, OWNED, TRAVELS),
    ROW(PMIX_LINK_STATE, pmix_link_state_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_CPUSET, pmix_cpuset_t, BORROWED, TRAVELS),
    ROW(PMIX_GEOMETRY, pmix_geometry_t, OWNED, TRAVELS),
    ROW(PMIX_DEVICE_DIST, pmix_device_distance_t, OWNED, TRAVELS),
    ROW(PMIX_ENDPOINT, pmix_endpoint_t, OWNED, TRAVELS),
    ROW(PMIX_TOPO, pmix_topology_t, BORROWED, TRAVELS),
    ROW(PMIX_DEVTYPE, pmix_device_type_t, OWNED, TRAVELS),
    ROW(PMIX_LOCTYPE, pmix_locality_t, OWNED, TRAVELS),
    ROW(PMIX_COMPRESSED_BYTE_OBJECT, pmix_byte_object_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_NSPACE, pmix_nspace_t, OWNED, TRAVELS),
    ROW(PMIX_PROC_STATS, pmix_proc_stats_t, OWNED, TRAVELS),
    ROW(PMIX_DISK_STATS, pmix_disk_stats_t, OWNED, TRAVELS),
    ROW(PMIX_NET_STATS, pmix_net_stats_t, OWNED, TRAVELS),
    ROW(PMIX_NODE_STATS, pmix_node_stats_t, OWNED, TRAVELS),
    ROW(PMIX_DATA_BUFFER, pmix_data_buffer_t, OWNED, TRAVELS),
    ROW(PMIX_STOR_MEDIUM, pmix_storage_medium_t, OWNED, TRAVELS),
    ROW(PMIX_STOR_ACCESS, pmix_storage_accessibility_t, OWNED, TRAVELS),
    ROW(PMIX_STOR_PERSIST, pmix_storage_persistence_t, OWNED, TRAVELS),
    ROW(PMIX_STOR_ACCESS_TYPE, pmix_storage_access_type_t, OWNED, TRAVELS),
    ROW(PMIX_DEVICE, pmix_device_t, OWNED, TRAVELS),
    ROW(PMIX_RESBLOCK_DIRECTIVE, pmix_resource_block_directive_t, OWNED, TRAVELS),
    ROW(PMIX_RESOURCE_UNIT, pmix_resource_unit_t, OWNED, TRAVELS),
    ROW(PMIX_NODE_PID, pmix_node_pid_t, OWNED, TRAVELS),
    ROW(PMIX_REGEX2, pmix_regex2_t, OWNED, TRAVELS),
    ROW(PMIX_ALLOC_INHERIT, pmix_alloc_inheritance_t, OWNED, TRAVELS),
#undef ROW
};

#define EACH_ROW(row) for (const struct row *row = rows; row < rows + SX_COUNT(rows); row++)

Test(type_operations, the_table_is_that_of_the_library)
{
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        const struct sx_type *const own = sx_type_find((pmix_data_type_t)type);
        const struct row *found = NULL;

        EACH_ROW(row)
        {
            if (row->type == type) {
                cr_expect_null(found, "%s has two rows", row->name);
                found = row;
            }
        }
        cr_expect_eq(own != NULL, found != NULL, "type %u stands in one table only", type);
        if (own != NULL && found != NULL) {
            cr_expect_str_eq(own->name, found->name);
            cr_expect_str_eq(PMIx_Data_type_string((pmix_data_type_t)type), found->name);
            cr_expect_eq(own->size_bytes, found->size, "%s", found->name);
        }
    }
}

/* One element of the type, sampled; opaque pointers stay NULL. */
static void *sampled(const struct row *row, unsigned seed)
{
    void *const element = calloc(1, row->size);

    if (row->type != PMIX_POINTER) {
        sample_element(element, row->type, seed, SAMPLE_DEPTH);
    }
    return element;
}

static void let_go(const struct row *row, void *element)
{
    sx_elements_destruct(element, 1, row->type);
    free(element);
}

/* What PMIx_Value_load and PMIx_Data_copy take for an element: a string is itself. */
static void *as_argument(const struct row *row, void *element)
{
    return row->type == PMIX_STRING ? *(char **)element : element;
}

Test(type_operations, construct_makes_nothing_and_destruct_and_free_take_it)
{
    static const char zero[1024];

    EACH_ROW(row)
    {
        pmix_data_array_t array;

        PMIx_Data_array_construct(&array, 3, row->type);
        cr_assert_eq(array.size, 3, "%s", row->name);
        for (size_t i = 0; i < 3; i++) {
            void *const element = sampled(row, (unsigned)i);

            memcpy((char *)array.array + i * row->size, element, row->size);
            free(element);
        }
        sx_elements_destruct(array.array, 3, row->type);
        cr_expect_eq(memcmp(array.array, zero, row->size), 0, "%s", row->name);
        PMIx_Data_array_destruct(&array);
        PMIx_Data_array_free(PMIx_Data_array_create(2, row->type));
    }
}

Test(type_operations, load_and_unload)
{
    EACH_ROW(row)
    {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            void *const element = sampled(row, seed);
            const struct sx_type *const type = sx_type_find(row->type);
            const bool has_room = type->kind == SX_TYPE_PLAIN && type->in_value == SX_WHERE_UNION;
            uint64_t room[4];
            pmix_value_t value;
            void *data = has_room ? room : NULL;
            size_t size = 0;
            const pmix_status_t rc = PMIx_Value_load(&value, as_argument(row, element), row->type);

            if (row->held == NOT) {
                cr_expect_eq(rc, PMIX_ERR_NOT_SUPPORTED, "%s: %d", row->name, rc);
                let_go(row, element);
                continue;
            }
            cr_expect_eq(rc, PMIX_SUCCESS, "%s: %d", row->name, rc);
            cr_expect_eq(value.type, row->type);
            if (row->held == OWNED) {
                let_go(row, element);
                cr_expect_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS, "%s",
                             row->name);
                if (data != NULL && type->kind == SX_TYPE_STRUCT) {
                    sx_elements_destruct(data, 1, row->type);
                }
                if (!has_room) {
                    free(data);
                }
            }
            PMIx_Value_destruct(&value);
            cr_expect_eq(value.type, PMIX_UNDEF);
            if (row->held == BORROWED) {
                let_go(row, element);
            }
        }
    }
}

/* Return: false where there is no such value. */
static bool loaded(pmix_value_t *value, const struct row *row, unsigned seed)
{
    if (row->held != OWNED) {
        return false;
    }
    void *const element = sampled(row, seed);
    cr_assert_eq(PMIx_Value_load(value, as_argument(row, element), row->type), PMIX_SUCCESS);
    let_go(row, element);
    return true;
}

Test(type_operations, transfer_compare_print_and_size)
{
    EACH_ROW(row)
    {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            pmix_value_t value, copy;
            pmix_info_t info, other;
            size_t size = 0, copy_size = 1;

            if (!loaded(&value, row, seed)) {
                continue;
            }
            cr_expect_eq(PMIx_Value_xfer(&copy, &value), PMIX_SUCCESS, "%s", row->name);
            cr_expect_eq(PMIx_Value_compare(&value, &copy), PMIX_EQUAL, "%s", row->name);
            cr_expect_eq(PMIx_Value_get_size(&value, &size), PMIX_SUCCESS, "%s", row->name);
            char *const text = PMIx_Value_string(&value);

            cr_assert_not_null(text);
            cr_expect_not_null(strstr(text, row->name), "%s: %s", row->name, text);
            memset(&info, 0, sizeof(info));
            strcpy(info.key, "key");
            info.value = value;
            cr_expect_eq(PMIx_Info_xfer(&other, &info), PMIX_SUCCESS, "%s", row->name);
            PMIx_Info_destruct(&info); /* and with it the value */
            cr_expect_eq(PMIx_Value_compare(&other.value, &copy), PMIX_EQUAL, "%s", row->name);
            cr_expect_eq(PMIx_Value_get_size(&copy, &copy_size), PMIX_SUCCESS);
            cr_expect_eq(size, copy_size, "%s", row->name);
            char *const copy_text = PMIx_Value_string(&copy);

            cr_expect_str_eq(text, copy_text);
            free(text);
            free(copy_text);
            PMIx_Info_destruct(&other);
            PMIx_Value_destruct(&copy);
        }
    }
}

Test(type_operations, pack_unpack_copy_and_print)
{
    EACH_ROW(row)
    {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            void *const element = sampled(row, seed), *const back = calloc(1, row->size);
            void *const given = as_argument(row, element);
            pmix_data_buffer_t *const buffer = PMIx_Data_buffer_create();
            char *text = NULL, *back_text = NULL;
            void *copy = NULL;
            int32_t count = 1;

            cr_expect_eq(PMIx_Data_print(&text, NULL, given, row->type), PMIX_SUCCESS, "%s",
                         row->name);
            if (row->travel == STAYS) {
                cr_expect_eq(PMIx_Data_pack(NULL, buffer, element, 1, row->type),
                             PMIX_ERR_NOT_SUPPORTED, "%s", row->name);
                cr_expect_eq(buffer->bytes_used, 0);
            } else {
                cr_expect_eq(PMIx_Data_pack(NULL, buffer, element, 1, row->type), PMIX_SUCCESS,
                             "%s", row->name);
                cr_expect_eq(PMIx_Data_unpack(NULL, buffer, back, &count, row->type), PMIX_SUCCESS,
                             "%s", row->name);
                cr_expect_eq(PMIx_Data_print(&back_text, NULL, as_argument(row, back), row->type),
                             PMIX_SUCCESS);
                cr_expect_str_eq(text, back_text);
            }
            if (given != NULL) {
                cr_expect_eq(PMIx_Data_copy(&copy, given, row->type), PMIX_SUCCESS, "%s",
                             row->name);
            }
            if (copy != NULL && row->type != PMIX_STRING) {
                sx_elements_destruct(copy, 1, row->type);
            }
            free(copy);
            free(text);
            free(back_text);
            PMIx_Data_buffer_release(buffer);
            let_go(row, back);
            let_go(row, element);
        }
    }
}
