/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmix_inline.h - what the data helpers' macros expand to, so that a program runs on any libpmix.
 *
 * PMIx_Value_free, PMIx_Info_create and their like came after OpenPMIx 4.2.2. A program that calls
 * such a function by its name needs a library that exports it. A program that uses the macros does
 * not. Each macro calls an inline function of this file. These functions call only what 4.2.2 also
 * exports, such as PMIx_Value_destruct and PMIx_Data_array_destruct.
 *
 * An inline function does what the function of the same name does; pmix_common.h describes both.
 * Programs are to use the macros, so the names end in an underscore. pmix_common.h includes this
 * file. */
#ifndef PMIX_INLINE_H
#define PMIX_INLINE_H

#include <pmix_common.h>

#ifdef __cplusplus
#define PMIX_BLOCK_(type, block) static_cast<type *>(block)
#define PMIX_NUMBER_(type, number) static_cast<type>(number)
extern "C" {
#else
#define PMIX_BLOCK_(type, block) (block)
#define PMIX_NUMBER_(type, number) ((type)(number))
#endif

/* ---- Names and processes --------------------------------------------------------------------- */

/* Fill @name, which has @size bytes. A text that is too long is cut, the rest is zero. @src may be
 * @name. */
static inline void pmix_name_load_(char *name, size_t size, const char *src)
{
    size_t n = 0;

    while (src != NULL && n < size - 1 && src[n] != '\0') {
        n++;
    }
    if (name != NULL) {
        if (n > 0) {
            memmove(name, src, n);
        }
        memset(name + n, 0, size - n);
    }
}

static inline void pmix_load_key_(char *key, const char *src)
{
    pmix_name_load_(key, sizeof(pmix_key_t), src);
}

static inline void pmix_load_nspace_(char *nspace, const char *src)
{
    pmix_name_load_(nspace, sizeof(pmix_nspace_t), src);
}

static inline void pmix_proc_load_(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    if (p != NULL) {
        pmix_load_nspace_(p->nspace, nspace);
        p->rank = rank;
    }
}

static inline void pmix_procid_xfer_(pmix_proc_t *dest, const pmix_proc_t *src)
{
    if (dest != NULL && src != NULL && dest != src) {
        pmix_proc_load_(dest, src->nspace, src->rank);
    }
}

static inline bool pmix_check_key_(const char *key, const char *str)
{
    return key != NULL && str != NULL && strncmp(key, str, PMIX_MAX_KEYLEN) == 0;
}

static inline bool pmix_nspace_invalid_(const char *nspace)
{
    return nspace == NULL || nspace[0] == '\0';
}

static inline bool pmix_check_nspace_(const char *a, const char *b)
{
    return pmix_nspace_invalid_(a) || pmix_nspace_invalid_(b) || strncmp(a, b, PMIX_MAX_NSLEN) == 0;
}

static inline bool pmix_check_rank_(pmix_rank_t a, pmix_rank_t b)
{
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

static inline bool pmix_check_procid_(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a != NULL && b != NULL && pmix_check_nspace_(a->nspace, b->nspace) &&
           pmix_check_rank_(a->rank, b->rank);
}

static inline bool pmix_check_reserved_key_(const char *key)
{
    return key != NULL && strncmp(key, "pmix", 4) == 0;
}

static inline bool pmix_procid_invalid_(const pmix_proc_t *p)
{
    return p == NULL || pmix_nspace_invalid_(p->nspace) || p->rank == PMIX_RANK_INVALID;
}

/* @m is @cluster, a colon and @nspace; empty when that does not fit. */
static inline void pmix_multicluster_construct_(char *m, const char *cluster, const char *nspace)
{
    const size_t len = pmix_nslen(cluster);

    pmix_load_nspace_(m, NULL);
    if (m != NULL && cluster != NULL && nspace != NULL &&
        len + 1 + pmix_nslen(nspace) < PMIX_MAX_NSLEN) {
        memcpy(m, cluster, len);
        m[len] = ':';
        memcpy(m + len + 1, nspace, pmix_nslen(nspace));
    }
}

static inline void pmix_multicluster_parse_(const char *m, char *cluster, char *nspace)
{
    const size_t len = pmix_nslen(m);
    size_t colon = 0;

    if (m == NULL || cluster == NULL || nspace == NULL) {
        return;
    }
    while (colon < len && m[colon] != ':') {
        colon++;
    }
    pmix_load_nspace_(nspace, colon < len ? m + colon + 1 : NULL);
    pmix_name_load_(cluster, sizeof(pmix_nspace_t), m);
    memset(cluster + (colon < PMIX_MAX_NSLEN ? colon : PMIX_MAX_NSLEN), 0,
           sizeof(pmix_nspace_t) - (colon < PMIX_MAX_NSLEN ? colon : PMIX_MAX_NSLEN));
}

/* ---- Structures and what they own ------------------------------------------------------------ */

/* Release @n elements of @type and their block. */
static inline void pmix_block_free_(void *block, size_t n, pmix_data_type_t type)
{
    pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;

    array.type = type;
    array.size = n;
    array.array = block;
    if (block != NULL) {
        PMIx_Data_array_destruct(&array);
    }
}

/* Release what the element of @size bytes owns and zero the element. The library releases only
 * whole blocks, so a block takes the element over. Without memory for that block the contents stay
 * allocated. */
static inline void pmix_element_destruct_(void *element, size_t size, pmix_data_type_t type)
{
    void *const block = element == NULL ? NULL : malloc(size);

    if (block != NULL) {
        memcpy(block, element, size);
        pmix_block_free_(block, 1, type);
    }
    if (element != NULL) {
        memset(element, 0, size);
    }
}

/* Set the members of zeroed elements that are not zero in an empty one. */
static inline void pmix_empty_one_(void *at, pmix_data_type_t type)
{
    pmix_proc_t *proc = NULL;

    if (type == PMIX_DEVICE_DIST) {
        pmix_device_distance_t *const distance = PMIX_BLOCK_(pmix_device_distance_t, at);

        distance->mindist = distance->maxdist = UINT16_MAX;
    } else if (type == PMIX_PDATA) {
        pmix_pdata_t *const pdata = PMIX_BLOCK_(pmix_pdata_t, at);

        proc = &pdata->proc;
    } else if (type == PMIX_PROC_INFO) {
        pmix_proc_info_t *const info = PMIX_BLOCK_(pmix_proc_info_t, at);

        proc = &info->proc;
    } else if (type == PMIX_PROC_STATS) {
        pmix_proc_stats_t *const stats = PMIX_BLOCK_(pmix_proc_stats_t, at);

        proc = &stats->proc;
    } else if (type == PMIX_PROC) {
        proc = PMIX_BLOCK_(pmix_proc_t, at);
    }
    if (proc != NULL) {
        proc->rank = PMIX_RANK_UNDEF;
    }
}

/* The same for @n elements of @size bytes. */
static inline void pmix_empty_(void *elements, size_t n, size_t size, pmix_data_type_t type)
{
    char *const at = PMIX_BLOCK_(char, elements);

    for (size_t i = 0; at != NULL && i < n; i++) {
        pmix_empty_one_(at + i * size, type);
    }
}

#define PMIX_EMPTY_INLINE_(name, c_type, type)                                            \
    static inline void pmix_##name##_construct_(c_type *p)                                \
    {                                                                                     \
        if (p != NULL) {                                                                  \
            memset(p, 0, sizeof(*p));                                                     \
            pmix_empty_one_(p, type);                                                     \
        }                                                                                 \
    }                                                                                     \
    static inline c_type *pmix_##name##_create_(size_t n)                                 \
    {                                                                                     \
        c_type *const p = n == 0 ? NULL : PMIX_BLOCK_(c_type, calloc(n, sizeof(c_type))); \
                                                                                          \
        pmix_empty_(p, n, sizeof(c_type), type);                                          \
        return p;                                                                         \
    }

#define PMIX_STRUCT_INLINE_(name, c_type, type)                 \
    PMIX_EMPTY_INLINE_(name, c_type, type)                      \
    static inline void pmix_##name##_destruct_(c_type *p)       \
    {                                                           \
        pmix_element_destruct_(p, sizeof(*p), type);            \
    }                                                           \
    static inline void pmix_##name##_free_(c_type *p, size_t n) \
    {                                                           \
        pmix_block_free_(p, n, type);                           \
    }

PMIX_EMPTY_INLINE_(proc, pmix_proc_t, PMIX_PROC)
PMIX_STRUCT_INLINE_(pdata, pmix_pdata_t, PMIX_PDATA)
PMIX_STRUCT_INLINE_(app, pmix_app_t, PMIX_APP)
PMIX_STRUCT_INLINE_(query, pmix_query_t, PMIX_QUERY)
PMIX_STRUCT_INLINE_(proc_info, pmix_proc_info_t, PMIX_PROC_INFO)
PMIX_STRUCT_INLINE_(byte_object, pmix_byte_object_t, PMIX_BYTE_OBJECT)
PMIX_STRUCT_INLINE_(data_buffer, pmix_data_buffer_t, PMIX_DATA_BUFFER)
PMIX_STRUCT_INLINE_(envar, pmix_envar_t, PMIX_ENVAR)
PMIX_STRUCT_INLINE_(regattr, pmix_regattr_t, PMIX_REGATTR)
PMIX_STRUCT_INLINE_(geometry, pmix_geometry_t, PMIX_GEOMETRY)
PMIX_STRUCT_INLINE_(endpoint, pmix_endpoint_t, PMIX_ENDPOINT)
PMIX_STRUCT_INLINE_(proc_stats, pmix_proc_stats_t, PMIX_PROC_STATS)
PMIX_STRUCT_INLINE_(disk_stats, pmix_disk_stats_t, PMIX_DISK_STATS)
PMIX_STRUCT_INLINE_(net_stats, pmix_net_stats_t, PMIX_NET_STATS)
PMIX_STRUCT_INLINE_(node_stats, pmix_node_stats_t, PMIX_NODE_STATS)
PMIX_STRUCT_INLINE_(coords, pmix_coord_t, PMIX_COORD)
PMIX_STRUCT_INLINE_(device_dist, pmix_device_distance_t, PMIX_DEVICE_DIST)
PMIX_EMPTY_INLINE_(value, pmix_value_t, PMIX_VALUE)
PMIX_EMPTY_INLINE_(info, pmix_info_t, PMIX_INFO)
PMIX_EMPTY_INLINE_(cpuset, pmix_cpuset_t, PMIX_PROC_CPUSET)
PMIX_EMPTY_INLINE_(topology, pmix_topology_t, PMIX_TOPO)

/* 4.2.2 does not free arrays of these two types. */
static inline void pmix_cpuset_free_(pmix_cpuset_t *p, size_t n)
{
    for (size_t i = 0; p != NULL && i < n; i++) {
        PMIx_Cpuset_destruct(&p[i]);
    }
    free(p);
}

static inline void pmix_topology_free_(pmix_topology_t *p, size_t n)
{
    for (size_t i = 0; p != NULL && i < n; i++) {
        PMIx_Topology_destruct(&p[i]);
    }
    free(p);
}

/* Each of the @n structures gets room for @dims dimensions. */
static inline pmix_coord_t *pmix_coord_create_(size_t n, size_t dims)
{
    pmix_coord_t *const coords = pmix_coords_create_(n);

    for (size_t i = 0; coords != NULL && dims > 0 && i < n; i++) {
        coords[i].coord = PMIX_BLOCK_(uint32_t, calloc(dims, sizeof(uint32_t)));
        if (coords[i].coord == NULL) {
            pmix_coords_free_(coords, n);
            return NULL;
        }
        coords[i].dims = dims;
    }
    return coords;
}

/* ---- Values and info elements ---------------------------------------------------------------- */

static inline void pmix_value_free_(pmix_value_t *p, size_t n)
{
    for (size_t i = 0; p != NULL && i < n; i++) {
        PMIx_Value_destruct(&p[i]);
    }
    free(p);
}

static inline pmix_status_t pmix_value_xfer_(pmix_value_t **dest, const pmix_value_t *src)
{
    if (*dest == NULL) {
        *dest = pmix_value_create_(1);
    }
    return *dest == NULL ? PMIX_ERR_NOMEM : PMIx_Value_xfer(*dest, src);
}

/* Whether @text begins with @word, which is in lower case. */
static inline bool pmix_text_begins_(const char *text, const char *word)
{
    while (*word != '\0' && (*text | 0x20) == *word) {
        text++;
        word++;
    }
    return *word == '\0';
}

/* Absent and blank texts are true, as is a directive that is merely present. */
static inline pmix_boolean_t pmix_text_true_(const char *text)
{
    while (text != NULL && (*text == ' ' || *text == '\t' || *text == '\n')) {
        text++;
    }
    if (text == NULL || *text == '\0') {
        return PMIX_BOOL_TRUE;
    }
    if (*text >= '0' && *text <= '9') {
        return strtoull(text, NULL, 10) != 0 ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    }
    if (pmix_text_begins_(text, "true") || pmix_text_begins_(text, "yes") ||
        ((text[0] | 0x20) == 't' && text[1] == '\0') ||
        ((text[0] | 0x20) == 'y' && text[1] == '\0')) {
        return PMIX_BOOL_TRUE;
    }
    if (pmix_text_begins_(text, "false") || pmix_text_begins_(text, "no") ||
        ((text[0] | 0x20) == 'f' && text[1] == '\0') ||
        ((text[0] | 0x20) == 'n' && text[1] == '\0')) {
        return PMIX_BOOL_FALSE;
    }
    return PMIX_NON_BOOL;
}

static inline pmix_boolean_t pmix_value_true_(const pmix_value_t *value)
{
    if (value != NULL && value->type == PMIX_UNDEF) {
        return PMIX_BOOL_TRUE;
    }
    if (value != NULL && value->type == PMIX_BOOL) {
        return value->data.flag ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    }
    if (value != NULL && value->type == PMIX_STRING) {
        return pmix_text_true_(value->data.string);
    }
    return PMIX_NON_BOOL;
}

/* A persistent element does not own its value. */
static inline void pmix_info_destruct_(pmix_info_t *p)
{
    if (p != NULL) {
        if ((p->flags & PMIX_INFO_PERSISTENT) == 0) {
            PMIx_Value_destruct(&p->value);
        }
        pmix_info_construct_(p);
    }
}

static inline void pmix_info_free_(pmix_info_t *p, size_t n)
{
    for (size_t i = 0; p != NULL && i < n; i++) {
        pmix_info_destruct_(&p[i]);
    }
    free(p);
}

static inline void pmix_info_set_(pmix_info_t *info, pmix_info_directives_t flag)
{
    if (info != NULL) {
        info->flags |= flag;
    }
}

static inline bool pmix_info_is_(const pmix_info_t *info, pmix_info_directives_t flag)
{
    return info != NULL && (info->flags & flag) != 0;
}

static inline void pmix_info_optional_(pmix_info_t *info)
{
    if (info != NULL) {
        info->flags &= ~PMIX_INFO_REQD;
    }
}

static inline bool pmix_info_is_optional_(const pmix_info_t *info)
{
    return info != NULL && (info->flags & PMIX_INFO_REQD) == 0;
}

static inline pmix_boolean_t pmix_info_true_(const pmix_info_t *info)
{
    return pmix_value_true_(info == NULL ? NULL : &info->value);
}

static inline void pmix_pdata_load_(pmix_pdata_t *dest, const pmix_proc_t *proc, const char *key,
                                    const void *data, pmix_data_type_t type)
{
    if (dest == NULL) {
        return;
    }
    pmix_pdata_construct_(dest);
    if (proc != NULL) {
        dest->proc = *proc;
    }
    pmix_load_key_(dest->key, key);
    (void)PMIx_Value_load(&dest->value, data, type);
}

static inline void pmix_pdata_xfer_(pmix_pdata_t *dest, const pmix_pdata_t *src)
{
    if (dest != NULL && src != NULL) {
        pmix_pdata_construct_(dest);
        dest->proc = src->proc;
        pmix_load_key_(dest->key, src->key);
        if (PMIx_Value_xfer(&dest->value, &src->value) != PMIX_SUCCESS) {
            pmix_pdata_construct_(dest);
        }
    }
}

static inline void pmix_app_info_create_(pmix_app_t *app, size_t n)
{
    if (app != NULL) {
        app->info = pmix_info_create_(n);
        app->ninfo = app->info == NULL ? 0 : n;
    }
}

static inline void pmix_query_qualifiers_create_(pmix_query_t *query, size_t n)
{
    if (query != NULL) {
        query->qualifiers = pmix_info_create_(n);
        query->nqual = query->qualifiers == NULL ? 0 : n;
    }
}

/* ---- Data arrays, bytes and buffers ---------------------------------------------------------- */

static inline void pmix_data_array_init_(pmix_data_array_t *p, pmix_data_type_t type)
{
    if (p != NULL) {
        p->type = type;
        p->size = 0;
        p->array = NULL;
    }
}

/* Bytes of one element of an array of @type. Return: 0 for an unknown type. */
#define PMIX_SIZE_CASE_(type, c_type) \
    case type:                        \
        return sizeof(c_type);

/* clang-format off */
static inline size_t pmix_struct_size_(pmix_data_type_t type)
{
    switch (type) {
    PMIX_SIZE_CASE_(PMIX_VALUE, pmix_value_t)
    PMIX_SIZE_CASE_(PMIX_PROC, pmix_proc_t)
    PMIX_SIZE_CASE_(PMIX_APP, pmix_app_t)
    PMIX_SIZE_CASE_(PMIX_INFO, pmix_info_t)
    PMIX_SIZE_CASE_(PMIX_PDATA, pmix_pdata_t)
    PMIX_SIZE_CASE_(PMIX_BYTE_OBJECT, pmix_byte_object_t)
    PMIX_SIZE_CASE_(PMIX_COMPRESSED_STRING, pmix_byte_object_t)
    PMIX_SIZE_CASE_(PMIX_REGEX, pmix_byte_object_t)
    PMIX_SIZE_CASE_(PMIX_COMPRESSED_BYTE_OBJECT, pmix_byte_object_t)
    PMIX_SIZE_CASE_(PMIX_PROC_INFO, pmix_proc_info_t)
    PMIX_SIZE_CASE_(PMIX_DATA_ARRAY, pmix_data_array_t)
    PMIX_SIZE_CASE_(PMIX_QUERY, pmix_query_t)
    PMIX_SIZE_CASE_(PMIX_ENVAR, pmix_envar_t)
    PMIX_SIZE_CASE_(PMIX_COORD, pmix_coord_t)
    PMIX_SIZE_CASE_(PMIX_REGATTR, pmix_regattr_t)
    PMIX_SIZE_CASE_(PMIX_PROC_CPUSET, pmix_cpuset_t)
    PMIX_SIZE_CASE_(PMIX_GEOMETRY, pmix_geometry_t)
    PMIX_SIZE_CASE_(PMIX_DEVICE_DIST, pmix_device_distance_t)
    PMIX_SIZE_CASE_(PMIX_ENDPOINT, pmix_endpoint_t)
    PMIX_SIZE_CASE_(PMIX_TOPO, pmix_topology_t)
    PMIX_SIZE_CASE_(PMIX_PROC_NSPACE, pmix_nspace_t)
    PMIX_SIZE_CASE_(PMIX_PROC_STATS, pmix_proc_stats_t)
    PMIX_SIZE_CASE_(PMIX_DISK_STATS, pmix_disk_stats_t)
    PMIX_SIZE_CASE_(PMIX_NET_STATS, pmix_net_stats_t)
    PMIX_SIZE_CASE_(PMIX_NODE_STATS, pmix_node_stats_t)
    PMIX_SIZE_CASE_(PMIX_DATA_BUFFER, pmix_data_buffer_t)
    PMIX_SIZE_CASE_(PMIX_DEVICE, pmix_device_t)
    PMIX_SIZE_CASE_(PMIX_RESOURCE_UNIT, pmix_resource_unit_t)
    PMIX_SIZE_CASE_(PMIX_NODE_PID, pmix_node_pid_t)
    PMIX_SIZE_CASE_(PMIX_REGEX2, pmix_regex2_t)
    default:
        return 0;
    }
}

static inline size_t pmix_type_size_(pmix_data_type_t type)
{
    switch (type) {
    PMIX_SIZE_CASE_(PMIX_BOOL, bool)
    PMIX_SIZE_CASE_(PMIX_BYTE, uint8_t)
    PMIX_SIZE_CASE_(PMIX_UINT8, uint8_t)
    PMIX_SIZE_CASE_(PMIX_STRING, char *)
    PMIX_SIZE_CASE_(PMIX_SIZE, size_t)
    PMIX_SIZE_CASE_(PMIX_PID, pid_t)
    PMIX_SIZE_CASE_(PMIX_INT, int)
    PMIX_SIZE_CASE_(PMIX_INT8, int8_t)
    PMIX_SIZE_CASE_(PMIX_INT16, int16_t)
    PMIX_SIZE_CASE_(PMIX_INT32, int32_t)
    PMIX_SIZE_CASE_(PMIX_INT64, int64_t)
    PMIX_SIZE_CASE_(PMIX_UINT, unsigned int)
    PMIX_SIZE_CASE_(PMIX_UINT16, uint16_t)
    PMIX_SIZE_CASE_(PMIX_UINT32, uint32_t)
    PMIX_SIZE_CASE_(PMIX_UINT64, uint64_t)
    PMIX_SIZE_CASE_(PMIX_FLOAT, float)
    PMIX_SIZE_CASE_(PMIX_DOUBLE, double)
    PMIX_SIZE_CASE_(PMIX_TIMEVAL, struct timeval)
    PMIX_SIZE_CASE_(PMIX_TIME, time_t)
    PMIX_SIZE_CASE_(PMIX_STATUS, pmix_status_t)
    PMIX_SIZE_CASE_(PMIX_PERSIST, pmix_persistence_t)
    PMIX_SIZE_CASE_(PMIX_POINTER, void *)
    PMIX_SIZE_CASE_(PMIX_SCOPE, pmix_scope_t)
    PMIX_SIZE_CASE_(PMIX_DATA_RANGE, pmix_data_range_t)
    PMIX_SIZE_CASE_(PMIX_INFO_DIRECTIVES, pmix_info_directives_t)
    PMIX_SIZE_CASE_(PMIX_DATA_TYPE, pmix_data_type_t)
    PMIX_SIZE_CASE_(PMIX_PROC_STATE, pmix_proc_state_t)
    PMIX_SIZE_CASE_(PMIX_PROC_RANK, pmix_rank_t)
    PMIX_SIZE_CASE_(PMIX_ALLOC_DIRECTIVE, pmix_alloc_directive_t)
    PMIX_SIZE_CASE_(PMIX_IOF_CHANNEL, pmix_iof_channel_t)
    PMIX_SIZE_CASE_(PMIX_JOB_STATE, pmix_job_state_t)
    PMIX_SIZE_CASE_(PMIX_LINK_STATE, pmix_link_state_t)
    PMIX_SIZE_CASE_(PMIX_DEVTYPE, pmix_device_type_t)
    PMIX_SIZE_CASE_(PMIX_LOCTYPE, pmix_locality_t)
    PMIX_SIZE_CASE_(PMIX_STOR_MEDIUM, pmix_storage_medium_t)
    PMIX_SIZE_CASE_(PMIX_STOR_ACCESS, pmix_storage_accessibility_t)
    PMIX_SIZE_CASE_(PMIX_STOR_PERSIST, pmix_storage_persistence_t)
    PMIX_SIZE_CASE_(PMIX_STOR_ACCESS_TYPE, pmix_storage_access_type_t)
    PMIX_SIZE_CASE_(PMIX_RESBLOCK_DIRECTIVE, pmix_resource_block_directive_t)
    default:
        return pmix_struct_size_(type);
    }
}
/* clang-format on */

static inline void pmix_data_array_construct_(pmix_data_array_t *p, size_t n, pmix_data_type_t type)
{
    const size_t size = pmix_type_size_(type);

    pmix_data_array_init_(p, type);
    if (p == NULL || n == 0 || size == 0) {
        return;
    }
    p->array = calloc(n, size);
    p->size = p->array == NULL ? 0 : n;
    pmix_empty_(p->array, p->size, size, type);
}

static inline pmix_data_array_t *pmix_data_array_create_(size_t n, pmix_data_type_t type)
{
    pmix_data_array_t *const array = PMIX_BLOCK_(pmix_data_array_t, calloc(1, sizeof(*array)));

    pmix_data_array_construct_(array, n, type);
    return array;
}

static inline void pmix_data_array_free_(pmix_data_array_t *p)
{
    if (p != NULL) {
        PMIx_Data_array_destruct(p);
    }
    free(p);
}

static inline void pmix_byte_object_load_(pmix_byte_object_t *p, char *bytes, size_t size)
{
    if (p != NULL) {
        p->bytes = bytes;
        p->size = bytes == NULL ? 0 : size;
    }
}

static inline void pmix_data_buffer_load_(pmix_data_buffer_t *buffer, char *data, size_t size)
{
    if (buffer == NULL) {
        return;
    }
    pmix_data_buffer_destruct_(buffer);
    if (data != NULL) {
        buffer->base_ptr = buffer->unpack_ptr = data;
        buffer->pack_ptr = data + size;
        buffer->bytes_allocated = buffer->bytes_used = size;
    }
}

/* A buffer of which nothing was unpacked gives its block away. Otherwise the rest is copied. The
 * buffer keeps the rest when there is no memory for the copy. */
static inline void pmix_data_buffer_unload_(pmix_data_buffer_t *buffer, char **data, size_t *size)
{
    const size_t done = buffer == NULL || buffer->unpack_ptr == NULL
                            ? 0
                            : PMIX_NUMBER_(size_t, buffer->unpack_ptr - buffer->base_ptr);
    char *rest = NULL;

    *data = NULL;
    *size = 0;
    if (buffer == NULL || buffer->base_ptr == NULL) {
        return;
    }
    if (done == 0) {
        rest = buffer->base_ptr;
        buffer->base_ptr = NULL;
    } else {
        rest = PMIX_BLOCK_(char, malloc(buffer->bytes_used - done + 1));
        if (rest == NULL) {
            return;
        }
        memcpy(rest, buffer->unpack_ptr, buffer->bytes_used - done);
    }
    *data = rest;
    *size = buffer->bytes_used - done;
    pmix_data_buffer_destruct_(buffer);
}

/* ---- Vectors of strings ---------------------------------------------------------------------- */

/* A copy of the first @len bytes of @text, and a NUL. */
static inline char *pmix_text_copy_(const char *text, size_t len)
{
    char *const copy = text == NULL ? NULL : PMIX_BLOCK_(char, malloc(len + 1));

    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static inline char *pmix_text_dup_(const char *text)
{
    return pmix_text_copy_(text, text == NULL ? 0 : strlen(text));
}

static inline int pmix_argv_count_(char *const *argv)
{
    int count = 0;

    while (argv != NULL && argv[count] != NULL) {
        count++;
    }
    return count;
}

static inline void pmix_argv_free_(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        free(argv[i]);
    }
    free(argv);
}

/* Insert a copy of the first @len bytes of @arg at @index. The vector is unchanged on failure. */
static inline pmix_status_t pmix_argv_insert_(char ***argv, size_t index, const char *arg,
                                              size_t len)
{
    const size_t count = PMIX_NUMBER_(size_t, pmix_argv_count_(*argv));
    char *const copy = pmix_text_copy_(arg, len);
    char **grown;

    if (copy == NULL) {
        return PMIX_ERR_NOMEM;
    }
    grown = PMIX_BLOCK_(char *, realloc(*argv, (count + 2) * sizeof(char *)));
    if (grown == NULL) {
        free(copy);
        return PMIX_ERR_NOMEM;
    }
    memmove(grown + index + 1, grown + index, (count - index) * sizeof(char *));
    grown[index] = copy;
    grown[count + 1] = NULL;
    *argv = grown;
    return PMIX_SUCCESS;
}

static inline pmix_status_t pmix_argv_append_(char ***argv, const char *arg)
{
    return argv == NULL || arg == NULL
               ? PMIX_ERR_BAD_PARAM
               : pmix_argv_insert_(argv, PMIX_NUMBER_(size_t, pmix_argv_count_(*argv)), arg,
                                   strlen(arg));
}

static inline pmix_status_t pmix_argv_prepend_(char ***argv, const char *arg)
{
    return argv == NULL || arg == NULL ? PMIX_ERR_BAD_PARAM
                                       : pmix_argv_insert_(argv, 0, arg, strlen(arg));
}

static inline pmix_status_t pmix_argv_append_unique_(char ***argv, const char *arg)
{
    for (size_t i = 0; argv != NULL && arg != NULL && *argv != NULL && (*argv)[i] != NULL; i++) {
        if (strcmp((*argv)[i], arg) == 0) {
            return PMIX_SUCCESS;
        }
    }
    return pmix_argv_append_(argv, arg);
}

/* Return: NULL for NULL, or when memory runs out. */
static inline char **pmix_argv_copy_(char *const *argv)
{
    char **copy = argv == NULL ? NULL : PMIX_BLOCK_(char *, calloc(1, sizeof(char *)));

    for (size_t i = 0; copy != NULL && argv[i] != NULL; i++) {
        if (pmix_argv_append_(&copy, argv[i]) != PMIX_SUCCESS) {
            pmix_argv_free_(copy);
            return NULL;
        }
    }
    return copy;
}

/* Return: NULL when there is no field, or when memory runs out. */
static inline char **pmix_argv_split_inter_(const char *text, int delimiter, bool include_empty)
{
    const char end = PMIX_NUMBER_(char, delimiter);
    char **argv = NULL;
    bool more = text != NULL && text[0] != '\0';

    while (more) {
        size_t len = 0;

        while (text[len] != '\0' && text[len] != end) {
            len++;
        }
        if ((len > 0 || include_empty) &&
            pmix_argv_insert_(&argv, PMIX_NUMBER_(size_t, pmix_argv_count_(argv)), text, len) !=
                PMIX_SUCCESS) {
            pmix_argv_free_(argv);
            return NULL;
        }
        more = text[len] != '\0' && text[len + 1] != '\0'; /* nothing stands behind the last */
        text += more ? len + 1 : len;
    }
    return argv;
}

static inline char *pmix_argv_join_(char *const *argv, int delimiter)
{
    size_t size = 1, at = 0;
    char *text;

    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        size += strlen(argv[i]) + 1;
    }
    text = PMIX_BLOCK_(char, calloc(1, size));
    for (size_t i = 0; text != NULL && argv != NULL && argv[i] != NULL; i++) {
        if (i > 0) {
            text[at++] = PMIX_NUMBER_(char, delimiter);
        }
        memcpy(text + at, argv[i], strlen(argv[i]));
        at += strlen(argv[i]);
    }
    return text;
}

/* Put "@name=@value" in place of entry @index of @env, or append it. */
static inline pmix_status_t pmix_env_put_(char ***env, size_t index, const char *name,
                                          const char *value)
{
    const size_t name_len = strlen(name);
    char *const text = PMIX_BLOCK_(char, malloc(name_len + strlen(value) + 2));
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (text == NULL) {
        return rc;
    }
    memcpy(text, name, name_len);
    text[name_len] = '=';
    memcpy(text + name_len + 1, value, strlen(value) + 1);
    if (*env != NULL && (*env)[index] != NULL) {
        free((*env)[index]);
        (*env)[index] = text;
        return PMIX_SUCCESS;
    }
    rc = pmix_argv_append_(env, text);
    free(text);
    return rc;
}

/* Change a variable of the process itself, whose vector belongs to the C library. A strictly
 * conforming compilation has no declaration of setenv(3), so the PMIx library calls it. */
static inline pmix_status_t pmix_setenv_process_(const char *name, const char *value, char ***env)
{
#if defined(__GLIBC__) && !defined(__USE_XOPEN2K)
    return PMIx_Setenv(name, value, true, env);
#else
    (void)env;
    return setenv(name, value, 1) != 0 ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
#endif
}

static inline pmix_status_t pmix_setenv_(const char *name, const char *value, bool overwrite,
                                         char ***env)
{
    extern char **environ;
    const char *const text = value == NULL ? "" : value;
    size_t index = 0;

    if (env == NULL || name == NULL || name[0] == '\0' || strchr(name, '=') != NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    while (
        *env != NULL && (*env)[index] != NULL &&
        (strncmp((*env)[index], name, strlen(name)) != 0 || (*env)[index][strlen(name)] != '=')) {
        index++;
    }
    if (!overwrite && *env != NULL && (*env)[index] != NULL) {
        return PMIX_ERR_EXISTS;
    }
    return *env == environ ? pmix_setenv_process_(name, text, env)
                           : pmix_env_put_(env, index, name, text);
}

static inline void pmix_envar_load_(pmix_envar_t *e, const char *name, const char *value,
                                    char separator)
{
    if (e != NULL) {
        e->envar = pmix_text_dup_(name);
        e->value = pmix_text_dup_(value);
        e->separator = separator;
    }
}

static inline void pmix_regattr_load_(pmix_regattr_t *p, const char *name, const char *key,
                                      pmix_data_type_t type, const char *line)
{
    if (p != NULL) {
        p->name = pmix_text_dup_(name);
        pmix_load_key_(p->string, key);
        p->type = type;
        p->description = NULL;
        (void)pmix_argv_append_(&p->description, line);
    }
}

static inline void pmix_regattr_xfer_(pmix_regattr_t *dest, const pmix_regattr_t *src)
{
    if (dest != NULL && src != NULL) {
        pmix_regattr_load_(dest, src->name, src->string, src->type, NULL);
        dest->description = pmix_argv_copy_(src->description);
    }
}

/* ---- Lower-case helpers of the 4.2 headers --------------------------------------------------- */

/* Destruct @n structures without releasing their block. */
static inline void pmix_app_free(pmix_app_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_app_destruct_(&m[i]);
    }
}

static inline void pmix_pdata_free(pmix_pdata_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_pdata_destruct_(&m[i]);
    }
}

static inline void pmix_proc_stats_free(pmix_proc_stats_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_proc_stats_destruct_(&m[i]);
    }
}

static inline void pmix_disk_stats_free(pmix_disk_stats_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_disk_stats_destruct_(&m[i]);
    }
}

static inline void pmix_net_stats_free(pmix_net_stats_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_net_stats_destruct_(&m[i]);
    }
}

static inline void pmix_node_stats_free(pmix_node_stats_t *m, size_t n)
{
    for (size_t i = 0; m != NULL && i < n; i++) {
        pmix_node_stats_destruct_(&m[i]);
    }
}

#ifdef __cplusplus
}
#endif

#endif /* PMIX_INLINE_H */
