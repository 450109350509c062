/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* usage.c - measure usage, and report it to the caller and to handlers. */
#include "client/manage/manage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/status.h"
#include "base/system/usage.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/link/link.h"
#include "client/link/op.h"

struct usage {
    struct sx_periodic periodic;
    struct sx_op *op;   /* answered with the first report; NULL: already answered */
    bool goes_on;       /* with a report each period ... */
    pmix_status_t code; /* ... of this code */
    sx_query_fn ask;
    pmix_info_t monitored; /* a copy, as the next */
    pmix_info_t devices;   /* an array of names, if it is about devices; else undefined */
    char id[PMIX_MAX_KEYLEN + 1];
    size_t target_count;
    pmix_proc_t targets[];
};

/* ---- processes ------------------------------------------------------------------------------- */

static bool is_target(const struct usage *usage, const pmix_proc_t *proc)
{
    bool found = false;

    for (size_t i = 0; i < usage->target_count && !found; i++) {
        const pmix_proc_t *const target = &usage->targets[i];

        found = PMIx_Check_nspace(target->nspace, proc->nspace) &&
                (target->rank == PMIX_RANK_WILDCARD || target->rank == proc->rank);
    }
    return found;
}

/* Add the usage of one process of the table.  One that has ended meanwhile is left out. */
static pmix_status_t process_add(const struct usage *usage, const pmix_proc_info_t *process,
                                 const struct sx_usage_fields *wanted, void *list)
{
    if (process->pid <= 0 || !is_target(usage, &process->proc) ||
        PMIx_Check_procid(&process->proc, &sx_process.self)) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_usage_of_process(list, &process->proc, process->pid, wanted);

    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

/* Add the other processes of @nspace on this node. */
static pmix_status_t others_add(const struct usage *usage, const char *nspace,
                                const struct sx_usage_fields *wanted, void *list)
{
    static char key[] = PMIX_QUERY_LOCAL_PROC_TABLE;
    char *keys[] = { key, NULL };
    pmix_info_t *info = NULL, qualifier = { .value = { .type = PMIX_STRING } };
    pmix_query_t query = { .keys = keys, .qualifiers = &qualifier, .nqual = 1 };
    size_t ninfo = 0;

    PMIx_Load_key(qualifier.key, PMIX_NSPACE);
    qualifier.value.data.string = (char *)(uintptr_t)nspace;
    pmix_status_t rc = usage->ask(&query, 1, &info, &ninfo);
    const pmix_value_t *const value = rc == PMIX_SUCCESS && ninfo == 1 ? &info->value : NULL;

    if (value != NULL && value->type == PMIX_DATA_ARRAY &&
        value->data.darray->type == PMIX_PROC_INFO) {
        const pmix_proc_info_t *const table = value->data.darray->array;

        for (size_t i = 0; i < value->data.darray->size && rc == PMIX_SUCCESS; i++) {
            rc = process_add(usage, &table[i], wanted, list);
        }
    }
    PMIx_Info_free(info, ninfo);
    return rc == PMIX_ERR_OUT_OF_RESOURCE ? rc
                                          : PMIX_SUCCESS; /* an unknown one is not on this node */
}

/* Whether there is a server whose process ids are valid in this process's pid namespace. */
static bool pids_are_notified(void)
{
    return sx_role_server_get() != NULL ||
           (sx_link_is_live(sx_primary()) && sx_link_pids_are_ours(sx_primary()));
}

static pmix_status_t processes_add(const struct usage *usage, const struct sx_usage_fields *wanted,
                                   void *list)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (is_target(usage, &sx_process.self)) {
        rc = sx_usage_of_process(list, &sx_process.self, getpid(), wanted);
    }
    for (size_t i = 0; i < usage->target_count && rc == PMIX_SUCCESS; i++) {
        const char *const nspace = usage->targets[i].nspace;
        size_t first = 0;

        while (!PMIx_Check_nspace(usage->targets[first].nspace, nspace)) {
            first++;
        }
        if (first == i && pids_are_notified()) {
            rc = others_add(usage, nspace, wanted, list);
        }
    }
    return rc;
}

/* ---- a report -------------------------------------------------------------------------------- */

static pmix_status_t node_add(const struct usage *usage, const struct sx_usage_fields *wanted,
                              void *list)
{
    char hostname[256];

    (void)usage;
    sx_hostname(hostname, sizeof(hostname));
    return sx_usage_of_node(list, hostname, wanted);
}

static pmix_status_t disks_add(const struct usage *usage, const struct sx_usage_fields *wanted,
                               void *list)
{
    (void)usage;
    return sx_usage_of_disks(list, wanted);
}

static pmix_status_t networks_add(const struct usage *usage, const struct sx_usage_fields *wanted,
                                  void *list)
{
    (void)usage;
    return sx_usage_of_networks(list, wanted);
}

static const struct {
    const char *key;
    pmix_status_t (*add)(const struct usage *usage, const struct sx_usage_fields *wanted,
                         void *list);
} subjects[] = {
    { PMIX_MONITOR_PROC_RESOURCE_USAGE, processes_add },
    { PMIX_MONITOR_NODE_RESOURCE_USAGE, node_add },
    { PMIX_MONITOR_DISK_RESOURCE_USAGE, disks_add },
    { PMIX_MONITOR_NET_RESOURCE_USAGE, networks_add },
};

static pmix_status_t report_fill(const struct usage *usage, void *list)
{
    const pmix_value_t *const value = &usage->monitored.value;
    const pmix_data_array_t *const array = value->type == PMIX_DATA_ARRAY ? value->data.darray
                                                                          : NULL;
    struct sx_usage_fields wanted = { .count = 0 };
    size_t i = 0;

    if (array != NULL && array->type == PMIX_INFO && array->array != NULL) {
        wanted = (struct sx_usage_fields){ .all = array->array, .count = array->size };
    }
    while (!PMIx_Check_key(usage->monitored.key, subjects[i].key)) {
        i++; /* this process is one of them */
    }
    if (usage->devices.value.type == PMIX_DATA_ARRAY) {
        wanted.names = usage->devices.value.data.darray->array;
        wanted.name_count = usage->devices.value.data.darray->size;
    }
    return subjects[i].add(usage, &wanted, list);
}

static pmix_status_t report_make(const struct usage *usage, pmix_info_t **ret_info,
                                 size_t *ret_ninfo)
{
    void *const list = PMIx_Info_list_start();
    pmix_data_array_t array = { .array = NULL };
    pmix_status_t rc = list != NULL ? report_fill(usage, list) : PMIX_ERR_OUT_OF_RESOURCE;

    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_list_get_size(list) > 0 ? PMIx_Info_list_convert(list, &array)
                                               : PMIX_ERR_NOT_FOUND;
    }
    if (list != NULL) {
        PMIx_Info_list_release(list);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_info = array.array;
        *ret_ninfo = array.size;
    }
    return rc;
}

pmix_status_t sx_usage_report(const char *key, const pmix_proc_t *target, sx_query_fn ask,
                              pmix_value_t *ret)
{
    struct usage *const usage = calloc(1, sizeof(*usage) + sizeof(usage->targets[0]));
    pmix_data_array_t *const array = PMIx_Data_array_create(0, PMIX_INFO);
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    if (usage != NULL && array != NULL) {
        PMIx_Load_key(usage->monitored.key, key);
        usage->ask = ask;
        usage->target_count = 1;
        usage->targets[0] = *target;
        rc = report_make(usage, (pmix_info_t **)&array->array, &array->size);
    }
    free(usage);
    if (rc != PMIX_SUCCESS) {
        PMIx_Data_array_free(array);
        return rc;
    }
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

/* Queue the report as an event for this process's handlers of the code. */
static void report_notify(const struct usage *usage, const pmix_info_t report[], size_t count)
{
    const bool yes = true;
    pmix_info_t *const info = calloc(count + 2, sizeof(*info));

    if (info == NULL) {
        return;
    }
    memcpy(info, report, count * sizeof(*info));
    PMIx_Info_load(&info[count], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIx_Load_key(info[count + 1].key, PMIX_MONITOR_ID);
    info[count + 1].value = (pmix_value_t){ .type = PMIX_STRING,
                                            .data.string = (char *)(uintptr_t)usage->id };
    (void)PMIx_Notify_event(usage->code, &sx_process.self, PMIX_RANGE_PROC_LOCAL, info,
                            count + (usage->id[0] != '\0' ? 2 : 1), NULL, NULL);
    free(info);
}

/* ---- start and end --------------------------------------------------------------------------- */

static void usage_run(struct sx_periodic *periodic)
{
    struct usage *const usage = SX_CONTAINER(periodic, struct usage, periodic);
    struct sx_op *const op = usage->op;
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    const pmix_status_t rc = report_make(usage, &info, &ninfo);

    if (op == NULL) {
        if (rc == PMIX_SUCCESS) {
            report_notify(usage, info, ninfo);
        }
        PMIx_Info_free(info, ninfo);
        return;
    }
    usage->op = NULL;
    op->info = info;
    op->ninfo = ninfo;
    if (rc != PMIX_SUCCESS || !usage->goes_on) {
        sx_periodic_end(periodic->number);
    }
    (void)sx_op_answer(op, rc);
}

static void usage_free(struct sx_periodic *periodic)
{
    struct usage *const usage = SX_CONTAINER(periodic, struct usage, periodic);

    if (usage->op != NULL) { /* the process finalizes before the first report */
        (void)sx_op_answer(usage->op, PMIX_ERR_NOT_AVAILABLE);
    }
    PMIx_Info_destruct(&usage->monitored);
    PMIx_Info_destruct(&usage->devices);
    free(usage);
}

/* The names in @options for the kind of device that is asked about.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM for anything else than an array of strings. */
static pmix_status_t devices_find(const struct sx_monitor_options *options,
                                  const pmix_info_t **ret_devices)
{
    const bool of_disks = PMIx_Check_key(options->usage->key, PMIX_MONITOR_DISK_RESOURCE_USAGE);
    const bool of_nets = PMIx_Check_key(options->usage->key, PMIX_MONITOR_NET_RESOURCE_USAGE);
    const pmix_info_t *const devices = of_disks ? options->disks : of_nets ? options->nets : NULL;

    if (devices != NULL &&
        (devices->value.type != PMIX_DATA_ARRAY || devices->value.data.darray == NULL ||
         devices->value.data.darray->type != PMIX_STRING)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s has to be an array of strings: names of %s",
                        of_disks ? "PMIX_MONITOR_TARGET_DISKS" : "PMIX_MONITOR_TARGET_NETS",
                        of_disks ? "disks" : "network interfaces");
    }
    *ret_devices = devices;
    return PMIX_SUCCESS;
}

/* Without a process: all processes of the caller's job on this node.  Return: NULL when memory is
 * out. */
static struct usage *usage_new(const struct sx_monitor_options *options, const pmix_info_t *devices,
                               pmix_status_t code)
{
    const size_t given = options->targets.count, count = given > 0 ? given : 1;
    struct usage *const usage = calloc(1, sizeof(*usage) + count * sizeof(usage->targets[0]));

    if (usage == NULL || PMIx_Info_xfer(&usage->monitored, options->usage) != PMIX_SUCCESS ||
        (devices != NULL && PMIx_Info_xfer(&usage->devices, devices) != PMIX_SUCCESS)) {
        if (usage != NULL) {
            PMIx_Info_destruct(&usage->monitored);
        }
        free(usage);
        return NULL;
    }
    usage->periodic = (struct sx_periodic){ .period_ns = options->period_s.number * SX_NS_PER_SEC,
                                            .id = usage->id,
                                            .run = usage_run,
                                            .free = usage_free };
    usage->goes_on = options->period_s.number > 0;
    usage->code = code != PMIX_SUCCESS ? code : PMIX_MONITOR_RESUSAGE_UPDATE;
    snprintf(usage->id, sizeof(usage->id), "%s", options->id != NULL ? options->id : "");
    usage->target_count = count;
    usage->targets[0].rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; i < count; i++) {
        if (given > 0) {
            usage->targets[i] = options->targets.all[i];
        }
        if (usage->targets[i].nspace[0] == '\0') {
            PMIx_Load_nspace(usage->targets[i].nspace, sx_process.self.nspace);
        }
    }
    return usage;
}

/* The thread of periodic tasks answers, if an answer is due. */
static pmix_status_t leave_to_thread(struct usage *usage)
{
    uint64_t number;
    uint32_t place;
    const pmix_status_t rc = sx_periodic_prepare(&usage->periodic, &place, &number);

    if (rc == PMIX_SUCCESS) {
        sx_periodic_go(number);
    }
    return rc;
}

static pmix_status_t start_waiting(struct usage *usage, struct sx_op *op)
{
    pmix_status_t rc = report_make(usage, &op->info, &op->ninfo);

    if (rc == PMIX_SUCCESS && usage->goes_on) {
        rc = leave_to_thread(usage);
    }
    if (rc != PMIX_SUCCESS || !usage->goes_on) {
        usage_free(&usage->periodic);
    }
    if (rc != PMIX_SUCCESS && op->info != NULL) {
        PMIx_Info_free(op->info, op->ninfo);
        op->info = NULL;
        op->ninfo = 0;
    }
    return sx_op_answer(op, rc);
}

pmix_status_t sx_usage_start(struct sx_op *op, const struct sx_monitor_options *options,
                             pmix_status_t code, sx_query_fn ask)
{
    pmix_status_t rc = sx_wire_procs_check(options->targets.all, options->targets.count);
    const pmix_info_t *devices = NULL;

    if (rc == PMIX_SUCCESS) {
        rc = devices_find(options, &devices);
    }
    struct usage *const usage = rc == PMIX_SUCCESS ? usage_new(options, devices, code) : NULL;

    if (usage == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    usage->ask = ask;
    if (!sx_callback_is_given(&op->callback)) {
        return start_waiting(usage, op);
    }
    rc = sx_op_open(&op);
    if (rc == PMIX_SUCCESS) {
        usage->op = op;
        usage->periodic.at_once = true;
        rc = leave_to_thread(usage);
        if (rc != PMIX_SUCCESS) {
            usage->op = NULL;
            sx_op_free(op);
        }
    }
    if (rc != PMIX_SUCCESS) {
        usage_free(&usage->periodic);
    }
    return rc;
}
