/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_struct_test.c - every struct can be made, filled, emptied and freed, and NULL is no
 * struct. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "../samples.h"

/* The public functions of one struct, behind untyped doors. */
#define FAMILY(prefix, c_type, pmix_type)        \
    static void prefix##_make(void *p)           \
    {                                            \
        prefix##_construct((c_type *)p);         \
    }                                            \
    static void prefix##_empty(void *p)          \
    {                                            \
        prefix##_destruct((c_type *)p);          \
    }                                            \
    static void *prefix##_new(size_t n)          \
    {                                            \
        return prefix##_create(n);               \
    }                                            \
    static void prefix##_drop(void *p, size_t n) \
    {                                            \
        prefix##_free((c_type *)p, n);           \
    }

#define FAMILIES(F)                                                   \
    F(PMIx_Info, pmix_info_t, PMIX_INFO)                              \
    F(PMIx_Proc, pmix_proc_t, PMIX_PROC)                              \
    F(PMIx_Value, pmix_value_t, PMIX_VALUE)                           \
    F(PMIx_Pdata, pmix_pdata_t, PMIX_PDATA)                           \
    F(PMIx_App, pmix_app_t, PMIX_APP)                                 \
    F(PMIx_Query, pmix_query_t, PMIX_QUERY)                           \
    F(PMIx_Proc_info, pmix_proc_info_t, PMIX_PROC_INFO)               \
    F(PMIx_Byte_object, pmix_byte_object_t, PMIX_BYTE_OBJECT)         \
    F(PMIx_Envar, pmix_envar_t, PMIX_ENVAR)                           \
    F(PMIx_Regattr, pmix_regattr_t, PMIX_REGATTR)                     \
    F(PMIx_Cpuset, pmix_cpuset_t, PMIX_PROC_CPUSET)                   \
    F(PMIx_Topology, pmix_topology_t, PMIX_TOPO)                      \
    F(PMIx_Geometry, pmix_geometry_t, PMIX_GEOMETRY)                  \
    F(PMIx_Device_distance, pmix_device_distance_t, PMIX_DEVICE_DIST) \
    F(PMIx_Endpoint, pmix_endpoint_t, PMIX_ENDPOINT)                  \
    F(PMIx_Device, pmix_device_t, PMIX_DEVICE)                        \
    F(PMIx_Resource_unit, pmix_resource_unit_t, PMIX_RESOURCE_UNIT)   \
    F(PMIx_Node_pid, pmix_node_pid_t, PMIX_NODE_PID)                  \
    F(PMIx_Regex2, pmix_regex2_t, PMIX_REGEX2)                        \
    F(PMIx_Proc_stats, pmix_proc_stats_t, PMIX_PROC_STATS)            \
    F(PMIx_Disk_stats, pmix_disk_stats_t, PMIX_DISK_STATS)            \
    F(PMIx_Net_stats, pmix_net_stats_t, PMIX_NET_STATS)               \
    F(PMIx_Node_stats, pmix_node_stats_t, PMIX_NODE_STATS)

FAMILIES(FAMILY)

#define ROW(prefix, c_type, pmix_type)                               \
    {                                                                \
        #prefix,        pmix_type,    sizeof(c_type), prefix##_make, \
        prefix##_empty, prefix##_new, prefix##_drop                  \
    },

static const struct {
    const char *name;
    pmix_data_type_t type;
    size_t size;
    void (*construct)(void *p);
    void (*destruct)(void *p);
    void *(*create)(size_t n);
    void (*free)(void *p, size_t n);
} families[] = { FAMILIES(ROW) };

/* All zero, but for the distances of PMIX_DEVICE_DIST. */
/* Each initialiser, and of all others: zero. */
static void expect_empty(const void *p, size_t size, pmix_data_type_t type, const char *name)
{
    static const union {
        char bytes[1024];
        pmix_proc_t proc;
        pmix_pdata_t pdata;
        pmix_proc_info_t proc_info;
        pmix_device_distance_t distance;
        pmix_node_pid_t node_pid;
        pmix_proc_stats_t proc_stats;
        pmix_regex2_t regex2;
    } zero = { .bytes = { 0 } }, empties[] = {
        { .proc = PMIX_PROC_STATIC_INIT },           { .pdata = PMIX_LOOKUP_STATIC_INIT },
        { .proc_info = PMIX_PROC_INFO_STATIC_INIT }, { .distance = PMIX_DEVICE_DIST_STATIC_INIT },
        { .node_pid = PMIX_NODE_PID_STATIC_INIT },   { .proc_stats = PMIX_PROC_STATS_STATIC_INIT },
        { .regex2 = PMIX_REGEX2_STATIC_INIT },
    };
    static const pmix_data_type_t types[] = { PMIX_PROC,        PMIX_PDATA,    PMIX_PROC_INFO,
                                              PMIX_DEVICE_DIST, PMIX_NODE_PID, PMIX_PROC_STATS,
                                              PMIX_REGEX2 };
    const void *want = &zero;

    for (size_t i = 0; i < SX_COUNT(types); i++) {
        want = types[i] == type ? &empties[i] : want;
    }
    cr_expect_eq(memcmp(p, want, size), 0, "%s", name);
}

Test(api_struct, empty_names_no_process)
{
    const pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;
    pmix_fabric_t made;
    pmix_proc_t proc;
    pmix_node_pid_t node_pid;
    pmix_device_distance_t distance;

    PMIx_Proc_construct(&proc);
    cr_expect_eq(proc.rank, PMIX_RANK_UNDEF);
    PMIx_Node_pid_construct(&node_pid);
    cr_expect_eq(node_pid.nodeid, UINT32_MAX);
    cr_expect_eq(node_pid.pid, -1);
    PMIx_Device_distance_construct(&distance);
    cr_expect_eq(distance.mindist, UINT16_MAX);
    PMIx_Fabric_construct((void *)&made);
    cr_expect_eq(memcmp(&made, &fabric, sizeof(made)), 0);
}

Test(api_struct, life_of_every_struct)
{
    for (size_t i = 0; i < SX_COUNT(families); i++) {
        _Alignas(8) char one[1024], zero[1024] = { 0 };
        char *many;

        cr_assert_eq(sx_type_find(families[i].type)->size_bytes, families[i].size);
        memset(one, 0xff, sizeof(one));
        families[i].construct(one);
        expect_empty(one, families[i].size, families[i].type, families[i].name);
        cr_expect_eq((unsigned char)one[families[i].size], 0xff, "%s", families[i].name);
        families[i].destruct(one);
        memset(one, 0, sizeof(one));
        sample_element(one, families[i].type, 12, SAMPLE_DEPTH);
        families[i].destruct(one);
        cr_expect_eq(memcmp(one, zero, families[i].size), 0, "%s", families[i].name);
        families[i].destruct(one);

        many = families[i].create(3);
        for (size_t j = 0; j < 3; j++) {
            expect_empty(many + j * families[i].size, families[i].size, families[i].type,
                         families[i].name);
            sample_element(many + j * families[i].size, families[i].type, (unsigned)(5 + j),
                           SAMPLE_DEPTH);
        }
        families[i].free(many, 3);
    }
}

Test(api_struct, null_is_no_struct)
{
    for (size_t i = 0; i < SX_COUNT(families); i++) {
        families[i].construct(NULL);
        families[i].destruct(NULL);
        families[i].free(NULL, 7);
        cr_expect_null(families[i].create(0));
        cr_expect_null(families[i].create(SIZE_MAX / 2), "%s: overflow", families[i].name);
    }
    PMIx_App_info_create(NULL, 1);
    PMIx_App_release(NULL);
    PMIx_Query_qualifiers_create(NULL, 1);
    PMIx_Query_release(NULL);
    PMIx_Byte_object_load(NULL, NULL, 0);
    PMIx_Envar_load(NULL, NULL, NULL, ':');
    PMIx_Regattr_load(NULL, "n", "k", PMIX_INT, "v");
    PMIx_Regattr_xfer(NULL, NULL);
    PMIx_Pdata_load(NULL, NULL, NULL, NULL, PMIX_INT);
    PMIx_Pdata_xfer(NULL, NULL);
    PMIx_Coord_construct(NULL);
    PMIx_Coord_destruct(NULL);
    PMIx_Coord_free(NULL, 1);
    PMIx_Fabric_construct(NULL);
    PMIx_Data_array_init(NULL, PMIX_INT);
    PMIx_Data_array_construct(NULL, 1, PMIX_INT);
    PMIx_Data_array_destruct(NULL);
    PMIx_Data_array_free(NULL);
    PMIx_Data_buffer_construct(NULL);
    PMIx_Data_buffer_destruct(NULL);
    PMIx_Data_buffer_release(NULL);
    PMIx_Data_buffer_load(NULL, NULL, 0);
    PMIx_Data_buffer_unload(NULL, NULL, NULL);
}

Test(api_struct, arrays_of_every_type)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *row = sx_type_find(type);
        pmix_data_array_t array;

        memset(&array, 0xff, sizeof(array));
        PMIx_Data_array_construct(&array, 3, type);
        cr_expect_eq(array.type, type);
        cr_expect_eq(array.size, row == NULL ? 0 : 3, "type %u", type);
        cr_expect_eq(array.array == NULL, row == NULL, "type %u", type);
        for (size_t i = 0; sample_is_element_type(type) && i < array.size; i++) {
            sample_element((char *)array.array + i * row->size_bytes, type, (unsigned)i,
                           SAMPLE_DEPTH);
        }
        PMIx_Data_array_destruct(&array);
        cr_expect_null(array.array);
        PMIx_Data_array_construct(&array, 0, type);
        cr_expect_null(array.array);
        PMIx_Data_array_free(PMIx_Data_array_create(2, type));
    }
}

Test(api_struct, loaders_copy)
{
    pmix_proc_t proc = { .nspace = "job", .rank = 2 };
    pmix_regattr_t regattr, regattr_copy;
    pmix_pdata_t pdata, pdata_copy;
    pmix_envar_t envar;
    pmix_app_t *app = PMIx_App_create(1);
    pmix_query_t *query = PMIx_Query_create(1);
    pmix_coord_t *coords = PMIx_Coord_create(3, 2);
    pmix_fabric_t fabric;

    PMIx_Regattr_load(&regattr, "PMIX_X", "pmix.x", PMIX_INT, "an x");
    PMIx_Regattr_xfer(&regattr_copy, &regattr);
    PMIx_Regattr_destruct(&regattr);
    cr_assert_str_eq(regattr_copy.name, "PMIX_X");
    cr_assert_str_eq(regattr_copy.string, "pmix.x");
    cr_assert_str_eq(regattr_copy.description[0], "an x");
    cr_assert_null(regattr_copy.description[1]);
    PMIx_Regattr_destruct(&regattr_copy);

    PMIx_Pdata_load(&pdata, &proc, "key", "text", PMIX_STRING);
    PMIx_Pdata_xfer(&pdata_copy, &pdata);
    PMIx_Pdata_destruct(&pdata);
    cr_assert_eq(pdata_copy.proc.rank, 2);
    cr_assert_str_eq(pdata_copy.value.data.string, "text");
    PMIx_Pdata_destruct(&pdata_copy);

    PMIx_Envar_load(&envar, (char[]){ "PATH" }, NULL, ':');
    cr_assert_str_eq(envar.envar, "PATH");
    cr_assert_null(envar.value);
    PMIx_Envar_destruct(&envar);

    PMIx_App_info_create(app, 2);
    cr_assert_eq(app->ninfo, 2);
    PMIx_App_release(app);
    PMIx_Query_qualifiers_create(query, 2);
    cr_assert_eq(query->nqual, 2);
    PMIx_Query_release(query);
    cr_assert_eq(coords[1].dims, 3);
    coords[1].coord[2] = 1;
    PMIx_Coord_free(coords, 2);
    memset(&fabric, 0xff, sizeof(fabric));
    PMIx_Fabric_construct((pmix_regattr_t *)&fabric);
    cr_assert_null(fabric.module);
}

Test(api_struct, buffers_hand_their_block_over)
{
    pmix_data_buffer_t *buffer = PMIx_Data_buffer_create();
    char *data = strdup("payload");
    char *back;
    size_t size;

    PMIx_Data_buffer_load(buffer, data, 7);
    PMIx_Data_buffer_unload(buffer, &back, &size);
    cr_assert_eq(back, data);
    cr_assert_eq(size, 7);
    cr_assert_null(buffer->base_ptr);
    PMIx_Data_buffer_load(buffer, data, 7);
    buffer->unpack_ptr += 3;
    PMIx_Data_buffer_unload(buffer, &back, &size);
    cr_assert_eq(size, 4);
    cr_assert_eq(memcmp(back, "load", 4), 0);
    free(back);
    PMIx_Data_buffer_unload(buffer, &back, &size);
    cr_assert_null(back);
    cr_assert_eq(size, 0);
    PMIx_Data_buffer_load(buffer, strdup("x"), 1);
    PMIx_Data_buffer_release(buffer);
}
