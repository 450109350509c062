/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_struct.c - construct, destruct, create and free of every public struct.
 *
 * A struct is empty as its initialiser says, mostly when it is zero; what it owns is in the type
 * table.  So all families are one macro, and only arrays, buffers and the loaders have code of
 * their own.  NULL is accepted everywhere: there is nothing to construct or free, and loading it
 * does nothing. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/type.h"
#include "base/value/value.h"

/* The structs whose empty state is not zero: as their initialisers say. */
static const void *empty_of(pmix_data_type_t type)
{
    static const pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
    static const pmix_pdata_t pdata = PMIX_LOOKUP_STATIC_INIT;
    static const pmix_proc_info_t proc_info = PMIX_PROC_INFO_STATIC_INIT;
    static const pmix_device_distance_t distance = PMIX_DEVICE_DIST_STATIC_INIT;
    static const pmix_node_pid_t node_pid = PMIX_NODE_PID_STATIC_INIT;
    static const pmix_proc_stats_t proc_stats = PMIX_PROC_STATS_STATIC_INIT;
    static const struct {
        pmix_data_type_t type;
        const void *empty;
    } rows[] = {
        { PMIX_PROC, &proc },           { PMIX_PDATA, &pdata },
        { PMIX_PROC_INFO, &proc_info }, { PMIX_DEVICE_DIST, &distance },
        { PMIX_NODE_PID, &node_pid },   { PMIX_PROC_STATS, &proc_stats },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (rows[i].type == type) {
            return rows[i].empty;
        }
    }
    return NULL;
}

static void elements_construct(void *elements, size_t count, pmix_data_type_t type)
{
    const void *const empty = empty_of(type);

    if (elements == NULL) { /* as for an unknown type */
        return;
    }
    const size_t size_bytes = sx_type_find(type)->size_bytes;

    memset(elements, 0, count * size_bytes);
    for (size_t i = 0; empty != NULL && i < count; i++) {
        memcpy((char *)elements + i * size_bytes, empty, size_bytes);
    }
}

/* Return: NULL also for no elements and for more than can be. */
static void *zeroed(size_t count, size_t element_size)
{
    size_t size;

    return count == 0 || !sx_mul_size(count, element_size, &size) ? NULL : calloc(1, size);
}

static void *elements_create(size_t count, pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);
    void *elements = row == NULL ? NULL : zeroed(count, row->size_bytes);

    elements_construct(elements, count, type);
    return elements;
}

static void elements_free(void *elements, size_t count, pmix_data_type_t type)
{
    if (elements != NULL) {
        sx_elements_destruct(elements, count, type);
        free(elements);
    }
}

#define SX_STRUCT_API(prefix, c_type, type)   \
    void prefix##_construct(c_type *p)        \
    {                                         \
        elements_construct(p, 1, type);       \
    }                                         \
    void prefix##_destruct(c_type *p)         \
    {                                         \
        if (p != NULL) {                      \
            sx_elements_destruct(p, 1, type); \
        }                                     \
    }                                         \
    SX_BLOCK_API(prefix, c_type, type)

#define SX_BLOCK_API(prefix, c_type, type)  \
    c_type *prefix##_create(size_t n)       \
    {                                       \
        return elements_create(n, type);    \
    }                                       \
    void prefix##_free(c_type *p, size_t n) \
    {                                       \
        elements_free(p, n, type);          \
    }

SX_STRUCT_API(PMIx_Info, pmix_info_t, PMIX_INFO)
SX_STRUCT_API(PMIx_Proc, pmix_proc_t, PMIX_PROC)
SX_STRUCT_API(PMIx_Pdata, pmix_pdata_t, PMIX_PDATA)
SX_STRUCT_API(PMIx_App, pmix_app_t, PMIX_APP)
SX_STRUCT_API(PMIx_Query, pmix_query_t, PMIX_QUERY)
SX_STRUCT_API(PMIx_Proc_info, pmix_proc_info_t, PMIX_PROC_INFO)
SX_STRUCT_API(PMIx_Byte_object, pmix_byte_object_t, PMIX_BYTE_OBJECT)
SX_STRUCT_API(PMIx_Envar, pmix_envar_t, PMIX_ENVAR)
SX_STRUCT_API(PMIx_Regattr, pmix_regattr_t, PMIX_REGATTR)
SX_STRUCT_API(PMIx_Cpuset, pmix_cpuset_t, PMIX_PROC_CPUSET)
SX_STRUCT_API(PMIx_Topology, pmix_topology_t, PMIX_TOPO)
SX_STRUCT_API(PMIx_Geometry, pmix_geometry_t, PMIX_GEOMETRY)
SX_STRUCT_API(PMIx_Device_distance, pmix_device_distance_t, PMIX_DEVICE_DIST)
SX_STRUCT_API(PMIx_Endpoint, pmix_endpoint_t, PMIX_ENDPOINT)
SX_STRUCT_API(PMIx_Device, pmix_device_t, PMIX_DEVICE)
SX_STRUCT_API(PMIx_Resource_unit, pmix_resource_unit_t, PMIX_RESOURCE_UNIT)
SX_STRUCT_API(PMIx_Node_pid, pmix_node_pid_t, PMIX_NODE_PID)
SX_STRUCT_API(PMIx_Regex2, pmix_regex2_t, PMIX_REGEX2)
SX_STRUCT_API(PMIx_Proc_stats, pmix_proc_stats_t, PMIX_PROC_STATS)
SX_STRUCT_API(PMIx_Disk_stats, pmix_disk_stats_t, PMIX_DISK_STATS)
SX_STRUCT_API(PMIx_Net_stats, pmix_net_stats_t, PMIX_NET_STATS)
SX_STRUCT_API(PMIx_Node_stats, pmix_node_stats_t, PMIX_NODE_STATS)

/* ---- values: destructed by their own type ---------------------------------------------- */

void PMIx_Value_construct(pmix_value_t *p)
{
    elements_construct(p, 1, PMIX_VALUE);
}

void PMIx_Value_destruct(pmix_value_t *p)
{
    if (p != NULL) {
        sx_value_destruct(p);
    }
}

SX_BLOCK_API(PMIx_Value, pmix_value_t, PMIX_VALUE)

/* ---- structs with more to them --------------------------------------------------------- */

void PMIx_App_info_create(pmix_app_t *m, size_t n)
{
    if (m != NULL) {
        m->info = PMIx_Info_create(n);
        m->ninfo = m->info == NULL ? 0 : n;
    }
}

void PMIx_App_release(pmix_app_t *m)
{
    PMIx_App_free(m, 1);
}

void PMIx_Query_qualifiers_create(pmix_query_t *p, size_t n)
{
    if (p != NULL) {
        p->qualifiers = PMIx_Info_create(n);
        p->nqual = p->qualifiers == NULL ? 0 : n;
    }
}

void PMIx_Query_release(pmix_query_t *p)
{
    PMIx_Query_free(p, 1);
}

void PMIx_Byte_object_load(pmix_byte_object_t *p, char *d, size_t n)
{
    if (p != NULL) {
        p->bytes = d;
        p->size = d == NULL ? 0 : n;
    }
}

void PMIx_Envar_load(pmix_envar_t *e, char *var, char *value, char separator)
{
    if (e != NULL) {
        e->envar = var == NULL ? NULL : strdup(var);
        e->value = value == NULL ? NULL : strdup(value);
        e->separator = separator;
    }
}

void PMIx_Regattr_load(pmix_regattr_t *p, const char *n, const char *k, pmix_data_type_t t,
                       const char *v)
{
    if (p == NULL) {
        return;
    }
    PMIx_Regattr_construct(p);
    p->name = n == NULL ? NULL : strdup(n);
    PMIx_Load_key(p->string, k);
    p->type = t;
    if (v != NULL) {
        PMIx_Argv_append_nosize(&p->description, v);
    }
}

void PMIx_Regattr_xfer(pmix_regattr_t *p, const pmix_regattr_t *s)
{
    if (p != NULL && s != NULL && sx_elements_copy(p, s, 1, PMIX_REGATTR) != PMIX_SUCCESS) {
        PMIx_Regattr_construct(p);
    }
}

void PMIx_Pdata_load(pmix_pdata_t *dest, const pmix_proc_t *proc, const char *key, const void *data,
                     pmix_data_type_t type)
{
    if (dest == NULL) {
        return;
    }
    PMIx_Pdata_construct(dest);
    if (proc != NULL) {
        dest->proc = *proc;
    }
    PMIx_Load_key(dest->key, key);
    PMIx_Value_load(&dest->value, data, type);
}

void PMIx_Pdata_xfer(pmix_pdata_t *dest, pmix_pdata_t *src)
{
    if (dest != NULL && src != NULL && sx_elements_copy(dest, src, 1, PMIX_PDATA) != PMIX_SUCCESS) {
        PMIx_Pdata_construct(dest);
    }
}

void PMIx_Coord_construct(pmix_coord_t *m)
{
    elements_construct(m, 1, PMIX_COORD);
}

void PMIx_Coord_destruct(pmix_coord_t *m)
{
    if (m != NULL) {
        sx_elements_destruct(m, 1, PMIX_COORD);
    }
}

pmix_coord_t *PMIx_Coord_create(size_t dims, size_t n)
{
    pmix_coord_t *coords = elements_create(n, PMIX_COORD);

    for (size_t i = 0; coords != NULL && dims > 0 && i < n; i++) {
        coords[i].coord = zeroed(dims, sizeof(uint32_t));
        if (coords[i].coord == NULL) {
            elements_free(coords, n, PMIX_COORD);
            return NULL;
        }
        coords[i].dims = dims;
    }
    return coords;
}

void PMIx_Coord_free(pmix_coord_t *m, size_t n)
{
    elements_free(m, n, PMIX_COORD);
}

/* The declared type is a slip of the releases that have the function: it is given a fabric, and no
 * more than a fabric may be written. */
void PMIx_Fabric_construct(pmix_regattr_t *m)
{
    if (m != NULL) {
        memset((void *)m, 0, sizeof(pmix_fabric_t));
    }
}

/* ---- data arrays ----------------------------------------------------------------------- */

void PMIx_Data_array_init(pmix_data_array_t *p, pmix_data_type_t t)
{
    if (p != NULL) {
        *p = (pmix_data_array_t){ .type = t };
    }
}

void PMIx_Data_array_construct(pmix_data_array_t *p, size_t n, pmix_data_type_t t)
{
    if (p != NULL) {
        PMIx_Data_array_init(p, t);
        p->array = elements_create(n, t);
        p->size = p->array == NULL ? 0 : n;
    }
}

void PMIx_Data_array_destruct(pmix_data_array_t *p)
{
    if (p != NULL) {
        sx_elements_destruct(p, 1, PMIX_DATA_ARRAY);
    }
}

pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t t)
{
    pmix_data_array_t *array = elements_create(1, PMIX_DATA_ARRAY);

    PMIx_Data_array_construct(array, n, t);
    return array;
}

void PMIx_Data_array_free(pmix_data_array_t *p)
{
    elements_free(p, 1, PMIX_DATA_ARRAY);
}

/* ---- data buffers ---------------------------------------------------------------------- */

void PMIx_Data_buffer_construct(pmix_data_buffer_t *buffer)
{
    elements_construct(buffer, 1, PMIX_DATA_BUFFER);
}

void PMIx_Data_buffer_destruct(pmix_data_buffer_t *buffer)
{
    if (buffer != NULL) {
        sx_elements_destruct(buffer, 1, PMIX_DATA_BUFFER);
    }
}

pmix_data_buffer_t *PMIx_Data_buffer_create(void)
{
    return elements_create(1, PMIX_DATA_BUFFER);
}

void PMIx_Data_buffer_release(pmix_data_buffer_t *buffer)
{
    elements_free(buffer, 1, PMIX_DATA_BUFFER);
}

void PMIx_Data_buffer_load(pmix_data_buffer_t *buffer, char *data, size_t size)
{
    if (buffer == NULL) {
        return;
    }
    PMIx_Data_buffer_destruct(buffer);
    if (data != NULL) {
        buffer->base_ptr = buffer->unpack_ptr = data;
        buffer->pack_ptr = data + size;
        buffer->bytes_allocated = buffer->bytes_used = size;
    }
}

void PMIx_Data_buffer_unload(pmix_data_buffer_t *buffer, char **data, size_t *size)
{
    pmix_data_buffer_t rest;

    if (data == NULL || size == NULL) {
        return;
    }
    *data = NULL;
    *size = 0;
    if (buffer == NULL || buffer->base_ptr == NULL) {
        return;
    }
    if (buffer->unpack_ptr == NULL || buffer->unpack_ptr == buffer->base_ptr) {
        *data = buffer->base_ptr; /* nothing unpacked yet: the block itself changes hands */
        *size = buffer->bytes_used;
        buffer->base_ptr = NULL;
    } else if (sx_elements_copy(&rest, buffer, 1, PMIX_DATA_BUFFER) == PMIX_SUCCESS) {
        *data = rest.base_ptr;
        *size = rest.bytes_used;
    } else {
        return; /* no memory: the payload stays where it is */
    }
    PMIx_Data_buffer_destruct(buffer);
}
