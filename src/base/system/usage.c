/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage.c - files of /proc, line by line: a field is a row that names its place in a line. */
#include "base/system/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"

#define KIB_PER_MIB 1024.0f
#define BYTES_PER_MIB (1024.0f * KIB_PER_MIB)

/* ---- fields ---------------------------------------------------------------------------------- */

/* The fields gathered for one object.  The first error stays. */
struct report {
    void *list;
    const struct sx_usage_fields *wanted;
    pmix_status_t status;
};

static bool is_wanted(const struct report *report, const char *key)
{
    bool found = report->wanted->count == 0;

    for (size_t i = 0; i < report->wanted->count && !found; i++) {
        found = PMIx_Check_key(report->wanted->all[i].key, key);
    }
    return found;
}

static void always_add(struct report *report, const char *key, const void *value,
                       pmix_data_type_t type)
{
    if (report->status == PMIX_SUCCESS) {
        report->status = PMIx_Info_list_add(report->list, key, value, type);
    }
}

static void add(struct report *report, const char *key, const void *value, pmix_data_type_t type)
{
    if (is_wanted(report, key)) {
        always_add(report, key, value, type);
    }
}

static struct report report_begin(const struct sx_usage_fields *wanted, const char *time_key)
{
    const time_t now = time(NULL);
    struct report report = { .list = PMIx_Info_list_start(), .wanted = wanted };

    report.status = report.list != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    always_add(&report, time_key, &now, PMIX_TIME);
    return report;
}

/* Append it to @list under @key, unless it has failed. */
static pmix_status_t report_end(struct report *report, void *list, const char *key)
{
    pmix_data_array_t array = { .array = NULL };

    if (report->status == PMIX_SUCCESS) {
        report->status = PMIx_Info_list_convert(report->list, &array);
    }
    if (report->status == PMIX_SUCCESS) {
        report->status = PMIx_Info_list_add(list, key, &array, PMIX_DATA_ARRAY);
    }
    PMIx_Data_array_destruct(&array);
    if (report->list != NULL) {
        PMIx_Info_list_release(report->list);
    }
    return report->status;
}

/* ---- lines of a name and a number ------------------------------------------------------------ */

struct label {
    const char *key;
    const char *label; /* "Pss:" */
    bool is_kib;       /* else a count of 16 bits */
};

static const struct label of_process[] = {
    { PMIX_PROC_VSIZE, "VmSize:", true },
    { PMIX_PROC_PEAK_VSIZE, "VmPeak:", true },
    { PMIX_PROC_RSS, "VmRSS:", true },
    { PMIX_PROC_NUM_THREADS, "Threads:", false },
};
static const struct label of_mappings[] = { { PMIX_PROC_PSS, "Pss:", true } };
static const struct label of_memory[] = {
    { PMIX_NODE_MEM_TOTAL, "MemTotal:", true },
    { PMIX_NODE_MEM_FREE, "MemFree:", true },
    { PMIX_NODE_MEM_BUFFERS, "Buffers:", true },
    { PMIX_NODE_MEM_CACHED, "Cached:", true },
    { PMIX_NODE_MEM_MAPPED, "Mapped:", true },
    { PMIX_NODE_MEM_SWAP_CACHED, "SwapCached:", true },
    { PMIX_NODE_SWAP_TOTAL, "SwapTotal:", true },
    { PMIX_NODE_MEM_SWAP_FREE, "SwapFree:", true },
};

static void label_add(struct report *report, const struct label *label, const char *text)
{
    const unsigned long long number = strtoull(text, NULL, 10);
    const float mib = (float)number / KIB_PER_MIB;
    const uint16_t count = number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;

    add(report, label->key, label->is_kib ? (const void *)&mib : &count,
        label->is_kib ? PMIX_FLOAT : PMIX_UINT16);
}

static void labels_add(struct report *report, const char *path, const struct label labels[],
                       size_t count)
{
    FILE *const file = fopen(path, "re");
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        for (size_t i = 0; i < count; i++) {
            const size_t size = strlen(labels[i].label);

            if (strncmp(line, labels[i].label, size) == 0) {
                label_add(report, &labels[i], line + size);
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* ---- a process ------------------------------------------------------------------------------- */

struct process_line {
    char state[2];
    unsigned long long user_ticks, system_ticks, start_ticks;
    long priority;
    int cpu;
};

/* Return: false when it is not there. */
static bool process_read(pid_t pid, struct process_line *ret)
{
    char path[64], line[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");
    const bool has_line = file != NULL && fgets(line, sizeof(line), file) != NULL;

    if (file != NULL) {
        fclose(file);
    }
    const char *const after = has_line ? strrchr(line, ')') : NULL; /* a name may hold anything */

    *ret = (struct process_line){ .cpu = 0 };
    return after != NULL &&
           sscanf(after + 1,
                  " %1s %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %ld %*d %*d %*d"
                  " %llu %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %d",
                  ret->state, &ret->user_ticks, &ret->system_ticks, &ret->priority,
                  &ret->start_ticks, &ret->cpu) == 6;
}

static void process_add(struct report *report, const struct process_line *line)
{
    const unsigned long long hz = (unsigned long long)sysconf(_SC_CLK_TCK);
    const unsigned long long used = line->user_ticks + line->system_ticks;
    const struct timeval time_used = { .tv_sec = (time_t)(used / hz),
                                       .tv_usec = (suseconds_t)(used % hz * 1000000 / hz) };
    struct timespec up;

    clock_gettime(CLOCK_BOOTTIME, &up);
    const float age = (float)up.tv_sec - (float)(line->start_ticks / hz);
    const float percent = age >= 1 ? 100 * ((float)used / (float)hz) / age : 0;
    const int32_t priority = (int32_t)line->priority;
    const uint16_t cpu = (uint16_t)line->cpu;

    add(report, PMIX_PROC_OS_STATE, line->state, PMIX_STRING);
    add(report, PMIX_PROC_TIME, &time_used, PMIX_TIMEVAL);
    add(report, PMIX_PROC_PERCENT_CPU, &percent, PMIX_FLOAT);
    add(report, PMIX_PROC_PRIORITY, &priority, PMIX_INT32);
    add(report, PMIX_PROC_CPU, &cpu, PMIX_UINT16);
}

pmix_status_t sx_usage_of_process(void *list, const pmix_proc_t *proc, pid_t pid,
                                  const struct sx_usage_fields *wanted)
{
    struct process_line line;
    char path[64];

    if (!process_read(pid, &line)) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct report report = report_begin(wanted, PMIX_PROC_SAMPLE_TIME);

    always_add(&report, PMIX_PROCID, proc, PMIX_PROC);
    always_add(&report, PMIX_PROC_PID, &pid, PMIX_PID);
    process_add(&report, &line);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    labels_add(&report, path, of_process, SX_COUNT(of_process));
    if (is_wanted(&report, PMIX_PROC_PSS)) { /* the kernel adds up all pages for it */
        snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
        labels_add(&report, path, of_mappings, SX_COUNT(of_mappings));
    }
    return report_end(&report, list, PMIX_PROC_RESOURCE_USAGE);
}

bool sx_usage_resident(pid_t pid, float *ret_mib)
{
    char path[64] = "/proc/self/statm", line[128];
    unsigned long long pages = 0;

    if (pid != 0) {
        snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    }
    FILE *const file = fopen(path, "re");

    if (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "%*u %llu", &pages);
    }
    if (file != NULL) {
        fclose(file);
    }
    *ret_mib = (float)pages * ((float)sysconf(_SC_PAGESIZE) / BYTES_PER_MIB);
    return pages > 0; /* a zombie has none */
}

/* ---- the node -------------------------------------------------------------------------------- */

pmix_status_t sx_usage_of_node(void *list, const char *hostname,
                               const struct sx_usage_fields *wanted)
{
    static const char *const keys[] = { PMIX_NODE_LOAD_AVG, PMIX_NODE_LOAD_AVG5,
                                        PMIX_NODE_LOAD_AVG15 };
    struct report report = report_begin(wanted, PMIX_NODE_SAMPLE_TIME);
    double loads[SX_COUNT(keys)];
    const int count = getloadavg(loads, SX_COUNT(keys));

    always_add(&report, PMIX_HOSTNAME, hostname, PMIX_STRING);
    for (int i = 0; i < count; i++) {
        const float load = (float)loads[i];

        add(&report, keys[i], &load, PMIX_FLOAT);
    }
    labels_add(&report, "/proc/meminfo", of_memory, SX_COUNT(of_memory));
    return report_end(&report, list, PMIX_NODE_RESOURCE_USAGE);
}

/* ---- lines of a name and columns ------------------------------------------------------------- */

struct column {
    const char *key;
    unsigned column; /* behind the name, from 0 */
};

/* A file with a line for each device. */
struct devices {
    const char *path, *key, *id_key, *time_key;
    unsigned before; /* columns before the name */
    char name_end;   /* behind the name */
    const struct column *columns;
    size_t count;
};

static const struct column disk_columns[] = {
    { PMIX_DISK_READ_COMPLETED, 0 },  { PMIX_DISK_READ_MERGED, 1 },
    { PMIX_DISK_READ_SECTORS, 2 },    { PMIX_DISK_READ_MILLISEC, 3 },
    { PMIX_DISK_WRITE_COMPLETED, 4 }, { PMIX_DISK_WRITE_MERGED, 5 },
    { PMIX_DISK_WRITE_SECTORS, 6 },   { PMIX_DISK_WRITE_MILLISEC, 7 },
    { PMIX_DISK_IO_IN_PROGRESS, 8 },  { PMIX_DISK_IO_MILLISEC, 9 },
    { PMIX_DISK_IO_WEIGHTED, 10 },
};
static const struct devices disks = {
    "/proc/diskstats", PMIX_DISK_RESOURCE_USAGE, PMIX_DISK_ID, PMIX_DISK_SAMPLE_TIME, 2, ' ',
    disk_columns,      SX_COUNT(disk_columns)
};

static const struct column network_columns[] = {
    { PMIX_NET_RECVD_BYTES, 0 }, { PMIX_NET_RECVD_PCKTS, 1 }, { PMIX_NET_RECVD_ERRS, 2 },
    { PMIX_NET_SENT_BYTES, 8 },  { PMIX_NET_SENT_PCKTS, 9 },  { PMIX_NET_SENT_ERRS, 10 },
};
static const struct devices networks = { "/proc/self/net/dev",
                                         PMIX_NETWORK_RESOURCE_USAGE,
                                         PMIX_NETWORK_ID,
                                         PMIX_NET_SAMPLE_TIME,
                                         0,
                                         ':',
                                         network_columns,
                                         SX_COUNT(network_columns) };

/* Return: where word number @count of @text begins. */
static const char *words_skip(const char *text, unsigned count)
{
    text += strspn(text, " ");
    for (unsigned i = 0; i < count; i++) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return text;
}

static bool is_named(const struct sx_usage_fields *wanted, const char *name)
{
    bool found = wanted->name_count == 0;

    for (size_t i = 0; i < wanted->name_count && !found; i++) {
        found = wanted->names[i] != NULL && strcmp(wanted->names[i], name) == 0;
    }
    return found;
}

static pmix_status_t device_add(const struct devices *devices, char *line, void *list,
                                const struct sx_usage_fields *wanted)
{
    char *const name = (char *)(uintptr_t)words_skip(line, devices->before);
    char *const end = strchr(name, devices->name_end);

    if (end == NULL) {
        return PMIX_SUCCESS; /* a heading */
    }
    *end = '\0';
    if (!is_named(wanted, name)) {
        return PMIX_SUCCESS;
    }
    struct report report = report_begin(wanted, devices->time_key);

    always_add(&report, devices->id_key, name, PMIX_STRING);
    for (size_t i = 0; i < devices->count; i++) {
        const char *const text = words_skip(end + 1, devices->columns[i].column);
        const uint64_t number = strtoull(text, NULL, 10);

        add(&report, devices->columns[i].key, &number, PMIX_UINT64);
    }
    return report_end(&report, list, devices->key);
}

static pmix_status_t devices_add(const struct devices *devices, void *list,
                                 const struct sx_usage_fields *wanted)
{
    FILE *const file = fopen(devices->path, "re");
    pmix_status_t rc = file != NULL ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    char line[512];

    while (rc == PMIX_SUCCESS && fgets(line, sizeof(line), file) != NULL) {
        rc = device_add(devices, line, list, wanted);
    }
    if (file != NULL) {
        fclose(file);
    }
    return rc;
}

pmix_status_t sx_usage_of_disks(void *list, const struct sx_usage_fields *wanted)
{
    return devices_add(&disks, list, wanted);
}

pmix_status_t sx_usage_of_networks(void *list, const struct sx_usage_fields *wanted)
{
    return devices_add(&networks, list, wanted);
}
