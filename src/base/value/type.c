/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* type.c - the rows of the type table.
 *
 * A struct's members are listed in the order in which they are flattened, compared and printed.
 * The count and type fields of arrays have no entry of their own: the array's entry covers them. */
#include "base/value/type.h"

#include <stdbool.h>
#include <sys/time.h>

#include "base/util.h"

#define FIELD_SIZE(owner, field) sizeof(((owner *)0)->field)
#define PLAIN(owner, field, pmix_type)                                                            \
    {                                                                                             \
        .kind = SX_MEMBER_PLAIN, .off = offsetof(owner, field), .size = FIELD_SIZE(owner, field), \
        .type = (pmix_type)                                                                       \
    }
#define NAME(owner, field)                                                                      \
    {                                                                                           \
        .kind = SX_MEMBER_NAME, .off = offsetof(owner, field), .size = FIELD_SIZE(owner, field) \
    }
#define MEMBER(member_kind, owner, field)                                                      \
    {                                                                                          \
        .kind = (member_kind), .off = offsetof(owner, field), .size = FIELD_SIZE(owner, field) \
    }
#define STRING(owner, field) MEMBER(SX_MEMBER_STRING, owner, field)
#define ARGV(owner, field) MEMBER(SX_MEMBER_ARGV, owner, field)
#define ARRAY(owner, field, count, pmix_type)                                                     \
    {                                                                                             \
        .kind = SX_MEMBER_ARRAY, .off = offsetof(owner, field), .size = FIELD_SIZE(owner, field), \
        .count_off = offsetof(owner, count), .type = (pmix_type)                                  \
    }

static const struct sx_member timeval_members[] = {
    PLAIN(struct timeval, tv_sec, PMIX_INT64),
    PLAIN(struct timeval, tv_usec, PMIX_INT64),
};

static const struct sx_member nspace_members[] = {
    { .kind = SX_MEMBER_NAME, .off = 0, .size = sizeof(pmix_nspace_t) },
};

static const struct sx_member proc_members[] = {
    NAME(pmix_proc_t, nspace),
    PLAIN(pmix_proc_t, rank, PMIX_PROC_RANK),
};

static const struct sx_member value_members[] = {
    { .kind = SX_MEMBER_VALUE, .off = 0, .size = sizeof(pmix_value_t) },
};

static const struct sx_member app_members[] = {
    STRING(pmix_app_t, cmd),
    ARGV(pmix_app_t, argv),
    ARGV(pmix_app_t, env),
    STRING(pmix_app_t, cwd),
    PLAIN(pmix_app_t, maxprocs, PMIX_INT),
    ARRAY(pmix_app_t, info, ninfo, PMIX_INFO),
};

static const struct sx_member info_members[] = {
    NAME(pmix_info_t, key),
    PLAIN(pmix_info_t, flags, PMIX_INFO_DIRECTIVES),
    MEMBER(SX_MEMBER_VALUE, pmix_info_t, value),
};

static const struct sx_member pdata_members[] = {
    NAME(pmix_pdata_t, proc.nspace),
    PLAIN(pmix_pdata_t, proc.rank, PMIX_PROC_RANK),
    NAME(pmix_pdata_t, key),
    MEMBER(SX_MEMBER_VALUE, pmix_pdata_t, value),
};

static const struct sx_member proc_info_members[] = {
    NAME(pmix_proc_info_t, proc.nspace),
    PLAIN(pmix_proc_info_t, proc.rank, PMIX_PROC_RANK),
    STRING(pmix_proc_info_t, hostname),
    STRING(pmix_proc_info_t, executable_name),
    PLAIN(pmix_proc_info_t, pid, PMIX_PID),
    PLAIN(pmix_proc_info_t, exit_code, PMIX_INT),
    PLAIN(pmix_proc_info_t, state, PMIX_PROC_STATE),
};

static const struct sx_member data_array_members[] = {
    { .kind = SX_MEMBER_TYPED,
      .off = offsetof(pmix_data_array_t, array),
      .size = FIELD_SIZE(pmix_data_array_t, array),
      .count_off = offsetof(pmix_data_array_t, size),
      .type_off = offsetof(pmix_data_array_t, type) },
};

static const struct sx_member query_members[] = {
    ARGV(pmix_query_t, keys),
    ARRAY(pmix_query_t, qualifiers, nqual, PMIX_INFO),
};

static const struct sx_member envar_members[] = {
    STRING(pmix_envar_t, envar),
    STRING(pmix_envar_t, value),
    PLAIN(pmix_envar_t, separator, PMIX_BYTE),
};

static const struct sx_member coord_members[] = {
    PLAIN(pmix_coord_t, view, PMIX_UINT8),
    ARRAY(pmix_coord_t, coord, dims, PMIX_UINT32),
};

static const struct sx_member regattr_members[] = {
    STRING(pmix_regattr_t, name),
    NAME(pmix_regattr_t, string),
    PLAIN(pmix_regattr_t, type, PMIX_DATA_TYPE),
    ARGV(pmix_regattr_t, description),
};

static const struct sx_member cpuset_members[] = {
    STRING(pmix_cpuset_t, source),
    MEMBER(SX_MEMBER_OPAQUE, pmix_cpuset_t, bitmap),
};

static const struct sx_member topology_members[] = {
    STRING(pmix_topology_t, source),
    MEMBER(SX_MEMBER_OPAQUE, pmix_topology_t, topology),
};

static const struct sx_member geometry_members[] = {
    PLAIN(pmix_geometry_t, fabric, PMIX_SIZE),
    STRING(pmix_geometry_t, uuid),
    STRING(pmix_geometry_t, osname),
    ARRAY(pmix_geometry_t, coordinates, ncoords, PMIX_COORD),
};

static const struct sx_member device_distance_members[] = {
    STRING(pmix_device_distance_t, uuid),
    STRING(pmix_device_distance_t, osname),
    PLAIN(pmix_device_distance_t, type, PMIX_DEVTYPE),
    PLAIN(pmix_device_distance_t, mindist, PMIX_UINT16),
    PLAIN(pmix_device_distance_t, maxdist, PMIX_UINT16),
};

static const struct sx_member endpoint_members[] = {
    STRING(pmix_endpoint_t, uuid),
    STRING(pmix_endpoint_t, osname),
    MEMBER(SX_MEMBER_BYTES, pmix_endpoint_t, endpt),
};

static const struct sx_member data_buffer_members[] = {
    { .kind = SX_MEMBER_BUFFER, .off = 0, .size = sizeof(pmix_data_buffer_t) },
};

static const struct sx_member proc_stats_members[] = {
    STRING(pmix_proc_stats_t, node),
    NAME(pmix_proc_stats_t, proc.nspace),
    PLAIN(pmix_proc_stats_t, proc.rank, PMIX_PROC_RANK),
    PLAIN(pmix_proc_stats_t, pid, PMIX_PID),
    STRING(pmix_proc_stats_t, cmd),
    PLAIN(pmix_proc_stats_t, state, PMIX_BYTE),
    PLAIN(pmix_proc_stats_t, time, PMIX_TIMEVAL),
    PLAIN(pmix_proc_stats_t, percent_cpu, PMIX_FLOAT),
    PLAIN(pmix_proc_stats_t, priority, PMIX_INT32),
    PLAIN(pmix_proc_stats_t, num_threads, PMIX_UINT16),
    PLAIN(pmix_proc_stats_t, pss, PMIX_FLOAT),
    PLAIN(pmix_proc_stats_t, vsize, PMIX_FLOAT),
    PLAIN(pmix_proc_stats_t, rss, PMIX_FLOAT),
    PLAIN(pmix_proc_stats_t, peak_vsize, PMIX_FLOAT),
    PLAIN(pmix_proc_stats_t, processor, PMIX_UINT16),
    PLAIN(pmix_proc_stats_t, sample_time, PMIX_TIMEVAL),
};

static const struct sx_member disk_stats_members[] = {
    STRING(pmix_disk_stats_t, disk),
    PLAIN(pmix_disk_stats_t, num_reads_completed, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_reads_merged, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_sectors_read, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, milliseconds_reading, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_writes_completed, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_writes_merged, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_sectors_written, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, milliseconds_writing, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, num_ios_in_progress, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, milliseconds_io, PMIX_UINT64),
    PLAIN(pmix_disk_stats_t, weighted_milliseconds_io, PMIX_UINT64),
};

static const struct sx_member net_stats_members[] = {
    STRING(pmix_net_stats_t, net_interface),
    PLAIN(pmix_net_stats_t, num_bytes_recvd, PMIX_UINT64),
    PLAIN(pmix_net_stats_t, num_packets_recvd, PMIX_UINT64),
    PLAIN(pmix_net_stats_t, num_recv_errs, PMIX_UINT64),
    PLAIN(pmix_net_stats_t, num_bytes_sent, PMIX_UINT64),
    PLAIN(pmix_net_stats_t, num_packets_sent, PMIX_UINT64),
    PLAIN(pmix_net_stats_t, num_send_errs, PMIX_UINT64),
};

static const struct sx_member node_stats_members[] = {
    STRING(pmix_node_stats_t, node),
    PLAIN(pmix_node_stats_t, la, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, la5, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, la15, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, total_mem, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, free_mem, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, buffers, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, cached, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, swap_cached, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, swap_total, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, swap_free, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, mapped, PMIX_FLOAT),
    PLAIN(pmix_node_stats_t, sample_time, PMIX_TIMEVAL),
    ARRAY(pmix_node_stats_t, diskstats, ndiskstats, PMIX_DISK_STATS),
    ARRAY(pmix_node_stats_t, netstats, nnetstats, PMIX_NET_STATS),
};

static const struct sx_member device_members[] = {
    STRING(pmix_device_t, uuid),
    STRING(pmix_device_t, osname),
    PLAIN(pmix_device_t, type, PMIX_DEVTYPE),
};

static const struct sx_member resource_unit_members[] = {
    PLAIN(pmix_resource_unit_t, type, PMIX_DEVTYPE),
    PLAIN(pmix_resource_unit_t, count, PMIX_SIZE),
};

static const struct sx_member node_pid_members[] = {
    STRING(pmix_node_pid_t, hostname),
    PLAIN(pmix_node_pid_t, nodeid, PMIX_UINT32),
    PLAIN(pmix_node_pid_t, pid, PMIX_PID),
};

static const struct sx_member regex2_members[] = {
    STRING(pmix_regex2_t, type),
    ARRAY(pmix_regex2_t, bytes, len, PMIX_BYTE),
};

/* Rows: numbers in the union; records whose bytes are their value; structs. */
#define NUMBER(pmix_type, c_type, how)            \
    [pmix_type] = { .name = #pmix_type,           \
                    .kind = SX_TYPE_PLAIN,        \
                    .size_bytes = sizeof(c_type), \
                    .in_value = SX_WHERE_UNION,   \
                    .number = SX_NUMBER_##how }
#define RECORD(row_kind, pmix_type, row_name, c_type, where, list) \
    [pmix_type] = { .name = (row_name),                            \
                    .kind = (row_kind),                            \
                    .size_bytes = sizeof(c_type),                  \
                    .in_value = SX_WHERE_##where,                  \
                    .member_count = SX_COUNT(list),                \
                    .members = (list) }
#define LONG(pmix_type, c_type, where, list) \
    RECORD(SX_TYPE_PLAIN, pmix_type, #pmix_type, c_type, where, list)
#define STRUCT(pmix_type, c_type, where, list) \
    RECORD(SX_TYPE_STRUCT, pmix_type, #pmix_type, c_type, where, list)
#define BYTES(pmix_type)                                      \
    [pmix_type] = { .name = #pmix_type,                       \
                    .kind = SX_TYPE_BYTES,                    \
                    .size_bytes = sizeof(pmix_byte_object_t), \
                    .in_value = SX_WHERE_UNION }

static const struct sx_type types[] = {
    NUMBER(PMIX_BOOL, bool, BOOL),
    NUMBER(PMIX_BYTE, uint8_t, UINT),
    [PMIX_STRING] = { .name = "PMIX_STRING",
                      .kind = SX_TYPE_STRING,
                      .size_bytes = sizeof(char *),
                      .in_value = SX_WHERE_UNION },
    NUMBER(PMIX_SIZE, size_t, UINT),
    NUMBER(PMIX_PID, pid_t, INT),
    NUMBER(PMIX_INT, int, INT),
    NUMBER(PMIX_INT8, int8_t, INT),
    NUMBER(PMIX_INT16, int16_t, INT),
    NUMBER(PMIX_INT32, int32_t, INT),
    NUMBER(PMIX_INT64, int64_t, INT),
    NUMBER(PMIX_UINT, unsigned int, UINT),
    NUMBER(PMIX_UINT8, uint8_t, UINT),
    NUMBER(PMIX_UINT16, uint16_t, UINT),
    NUMBER(PMIX_UINT32, uint32_t, UINT),
    NUMBER(PMIX_UINT64, uint64_t, UINT),
    NUMBER(PMIX_FLOAT, float, FLOAT),
    NUMBER(PMIX_DOUBLE, double, FLOAT),
    LONG(PMIX_TIMEVAL, struct timeval, UNION, timeval_members),
    NUMBER(PMIX_TIME, time_t, INT),
    NUMBER(PMIX_STATUS, pmix_status_t, INT),
    STRUCT(PMIX_VALUE, pmix_value_t, NOWHERE, value_members),
    LONG(PMIX_PROC, pmix_proc_t, POINTER, proc_members),
    STRUCT(PMIX_APP, pmix_app_t, NOWHERE, app_members),
    STRUCT(PMIX_INFO, pmix_info_t, NOWHERE, info_members),
    STRUCT(PMIX_PDATA, pmix_pdata_t, NOWHERE, pdata_members),
    BYTES(PMIX_BYTE_OBJECT),
    NUMBER(PMIX_PERSIST, pmix_persistence_t, UINT),
    [PMIX_POINTER] = { .name = "PMIX_POINTER",
                       .kind = SX_TYPE_POINTER,
                       .size_bytes = sizeof(void *),
                       .in_value = SX_WHERE_UNION },
    NUMBER(PMIX_SCOPE, pmix_scope_t, UINT),
    NUMBER(PMIX_DATA_RANGE, pmix_data_range_t, UINT),
    NUMBER(PMIX_INFO_DIRECTIVES, pmix_info_directives_t, UINT),
    NUMBER(PMIX_DATA_TYPE, pmix_data_type_t, UINT),
    NUMBER(PMIX_PROC_STATE, pmix_proc_state_t, UINT),
    STRUCT(PMIX_PROC_INFO, pmix_proc_info_t, POINTER, proc_info_members),
    STRUCT(PMIX_DATA_ARRAY, pmix_data_array_t, POINTER, data_array_members),
    NUMBER(PMIX_PROC_RANK, pmix_rank_t, UINT),
    STRUCT(PMIX_QUERY, pmix_query_t, NOWHERE, query_members),
    BYTES(PMIX_COMPRESSED_STRING),
    NUMBER(PMIX_ALLOC_DIRECTIVE, pmix_alloc_directive_t, UINT),
    NUMBER(PMIX_IOF_CHANNEL, pmix_iof_channel_t, UINT),
    STRUCT(PMIX_ENVAR, pmix_envar_t, UNION, envar_members),
    STRUCT(PMIX_COORD, pmix_coord_t, POINTER, coord_members),
    STRUCT(PMIX_REGATTR, pmix_regattr_t, POINTER, regattr_members),
    BYTES(PMIX_REGEX),
    NUMBER(PMIX_JOB_STATE, pmix_job_state_t, UINT),
    NUMBER(PMIX_LINK_STATE, pmix_link_state_t, UINT),
    STRUCT(PMIX_PROC_CPUSET, pmix_cpuset_t, BORROWED, cpuset_members),
    STRUCT(PMIX_GEOMETRY, pmix_geometry_t, POINTER, geometry_members),
    STRUCT(PMIX_DEVICE_DIST, pmix_device_distance_t, POINTER, device_distance_members),
    STRUCT(PMIX_ENDPOINT, pmix_endpoint_t, POINTER, endpoint_members),
    STRUCT(PMIX_TOPO, pmix_topology_t, BORROWED, topology_members),
    NUMBER(PMIX_DEVTYPE, pmix_device_type_t, UINT),
    NUMBER(PMIX_LOCTYPE, pmix_locality_t, UINT),
    BYTES(PMIX_COMPRESSED_BYTE_OBJECT),
    LONG(PMIX_PROC_NSPACE, pmix_nspace_t, POINTER, nspace_members),
    STRUCT(PMIX_PROC_STATS, pmix_proc_stats_t, POINTER, proc_stats_members),
    STRUCT(PMIX_DISK_STATS, pmix_disk_stats_t, POINTER, disk_stats_members),
    STRUCT(PMIX_NET_STATS, pmix_net_stats_t, POINTER, net_stats_members),
    STRUCT(PMIX_NODE_STATS, pmix_node_stats_t, POINTER, node_stats_members),
    STRUCT(PMIX_DATA_BUFFER, pmix_data_buffer_t, POINTER, data_buffer_members),
    NUMBER(PMIX_STOR_MEDIUM, pmix_storage_medium_t, UINT),
    NUMBER(PMIX_STOR_ACCESS, pmix_storage_accessibility_t, UINT),
    NUMBER(PMIX_STOR_PERSIST, pmix_storage_persistence_t, UINT),
    NUMBER(PMIX_STOR_ACCESS_TYPE, pmix_storage_access_type_t, UINT),
    STRUCT(PMIX_DEVICE, pmix_device_t, POINTER, device_members),
    NUMBER(PMIX_RESBLOCK_DIRECTIVE, pmix_resource_block_directive_t, UINT),
    STRUCT(PMIX_RESOURCE_UNIT, pmix_resource_unit_t, POINTER, resource_unit_members),
    STRUCT(PMIX_NODE_PID, pmix_node_pid_t, POINTER, node_pid_members),
    STRUCT(PMIX_REGEX2, pmix_regex2_t, POINTER, regex2_members),
    NUMBER(PMIX_ALLOC_INHERIT, pmix_alloc_inheritance_t, UINT),
};

const struct sx_type *sx_type_find(pmix_data_type_t type)
{
    if (type >= SX_COUNT(types) || types[type].kind == SX_TYPE_NONE) {
        return NULL;
    }
    return &types[type];
}

size_t sx_type_scalar_size(pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    return row == NULL ? 0 : sx_type_row_scalar_size(row);
}
