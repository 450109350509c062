/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info.c - job info, filled into arrays of exact size.
 *
 * A bag is an array that is being filled.  It is made with the room that its builder needs at most;
 * an overflow is a mistake in this file.  The bags of all ranks lie in one allocation, one
 * behind the other, and refer to the job for longer values: a job may have thousands of ranks. */
#include "launch/pmi/host.h"

#include <inttypes.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/say.h"

#define TOP_MAX 72 /* values of session, job and node, and the array of the node */
#define NODE_MAX 24
#define APP_MAX 12
#define RANK_MAX 20

struct bag {
    pmix_info_t *at;
    size_t count, room;
};

static struct bag bag_new(size_t room)
{
    return (struct bag){ .at = sx_cli_calloc(room, sizeof(pmix_info_t)), .room = room };
}

static pmix_value_t *add(struct bag *bag, const char *key, pmix_data_type_t type)
{
    pmix_info_t *info = &bag->at[bag->count];

    if (bag->count == bag->room) {
        abort();
    }
    bag->count++;
    memcpy(info->key, key, strnlen(key, PMIX_MAX_KEYLEN));
    info->value.type = type;
    return &info->value;
}

static void add_u16(struct bag *bag, const char *key, uint16_t value)
{
    add(bag, key, PMIX_UINT16)->data.uint16 = value;
}

static void add_u32(struct bag *bag, const char *key, uint32_t value)
{
    add(bag, key, PMIX_UINT32)->data.uint32 = value;
}

static void add_rank(struct bag *bag, const char *key, pmix_rank_t value)
{
    add(bag, key, PMIX_PROC_RANK)->data.rank = value;
}

static void add_bool(struct bag *bag, const char *key, bool value)
{
    add(bag, key, PMIX_BOOL)->data.flag = value;
}

static void add_string(struct bag *bag, const char *key, const char *value)
{
    add(bag, key, PMIX_STRING)->data.string = sx_cli_strdup(value);
}

/* Take @inner over. */
static void add_array(struct bag *bag, const char *key, pmix_data_type_t type, void *inner,
                      size_t count)
{
    pmix_data_array_t *array = sx_cli_calloc(1, sizeof(*array));

    array->type = type;
    array->size = count;
    array->array = inner;
    add(bag, key, PMIX_DATA_ARRAY)->data.darray = array;
}

static void add_bag(struct bag *bag, const char *key, struct bag inner)
{
    add_array(bag, key, PMIX_INFO, inner.at, inner.count);
}

char *sx_run_info_peers(uint32_t rank_count)
{
    char *text = sx_cli_calloc((size_t)rank_count + 1, sizeof("16383,") - 1), *at = text;

    for (uint32_t rank = 0; rank < rank_count; rank++) {
        at += sprintf(at, "%s%u", rank == 0 ? "" : ",", rank);
    }
    return text;
}

char *sx_run_info_command(char *const *argv)
{
    size_t size = 1;
    char *text, *at;

    for (size_t i = 0; argv[i] != NULL; i++) {
        size += strlen(argv[i]) + 3;
    }
    at = text = sx_cli_calloc(size, 1);
    for (size_t i = 0; argv[i] != NULL; i++) {
        const char *quote = argv[i][strcspn(argv[i], " \t\n")] == '\0' && argv[i][0] != '\0' ? ""
                                                                                             : "\"";

        at += sprintf(at, "%s%s%s%s", i == 0 ? "" : " ", quote, argv[i], quote);
    }
    return text;
}

char *sx_run_info_commands(const struct sx_run_job *job)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);

    if (file == NULL) {
        sx_cli_no_memory();
    }
    for (uint32_t i = 0; i < job->app_count; i++) {
        char *const command = sx_run_info_command(job->apps[i].program);

        fprintf(file, "%s%s", i == 0 ? "" : " : ", command);
        free(command);
    }
    if (fclose(file) != 0) {
        sx_cli_no_memory();
    }
    return text;
}

static const struct sx_run_place *place_of(const struct sx_run_job_facts *facts, uint32_t rank)
{
    return &facts->job->places[rank];
}

/* The cpusets of the job's ranks in the order of the ranks, with ':' between them. */
static char *local_cpusets(const struct sx_run_job_facts *facts)
{
    size_t size = 1;
    char *text, *at;

    for (uint32_t i = 0; i < facts->job->rank_count; i++) {
        size += strlen(place_of(facts, i)->cpuset) + 1;
    }
    at = text = sx_cli_calloc(size, 1);
    for (uint32_t i = 0; i < facts->job->rank_count; i++) {
        at += sprintf(at, "%s%s", i == 0 ? "" : ":", place_of(facts, i)->cpuset);
    }
    return text;
}

/* Add the processes of all jobs: a rank finds the other jobs by them. */
static void add_procs(struct bag *bag, const struct sx_run_job_facts *facts)
{
    pmix_proc_t *procs = sx_cli_calloc(sx_run_jobs_places(facts->jobs), sizeof(*procs));
    size_t count = 0;

    for (uint32_t i = 0; i < facts->jobs->count; i++) {
        const struct sx_run_job *const job = facts->jobs->at[i];

        for (uint32_t rank = 0; rank < job->rank_count && job->state != SX_RUN_OVER; rank++) {
            PMIx_Load_procid(&procs[count++], job->nspace, rank);
        }
    }
    add_array(bag, PMIX_LOCAL_PROCS, PMIX_PROC, procs, count);
}

/* The values of the node, once as the job's own values and again inside the node's array: clients
 * ask for them either way. */
static void add_node_values(struct bag *bag, const struct sx_run_job_facts *facts,
                            const char *peers)
{
    const uint32_t all = sx_run_jobs_places(facts->jobs);

    add_u32(bag, PMIX_NODEID, 0);
    add_string(bag, PMIX_HOSTNAME, facts->host);
    add_u32(bag, PMIX_LOCAL_SIZE, facts->job->rank_count);
    add_u32(bag, PMIX_NODE_SIZE, all);
    add_string(bag, PMIX_LOCAL_PEERS, peers);
    add_rank(bag, PMIX_LOCALLDR, 0);
    add_bool(bag, PMIX_NODE_OVERSUBSCRIBED, all > facts->machine->cpu_count);
    add(bag, PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64)->data.uint64 = facts->machine->memory_bytes;
    if (place_of(facts, 0)->cpuset != NULL) {
        add(bag, PMIX_LOCAL_CPUSETS, PMIX_STRING)->data.string = local_cpusets(facts);
    }
}

/* The text stays the caller's. */
static void add_text(struct bag *bag, const char *key, const char *value)
{
    add(bag, key, PMIX_STRING)->data.string = (char *)(uintptr_t)value;
}

static struct bag app_bag(const struct sx_run_job_facts *facts, uint32_t index)
{
    const struct sx_run_app *app = &facts->job->apps[index];
    struct bag bag = bag_new(APP_MAX);

    add_u32(&bag, PMIX_APPNUM, index); /* first: names the application whose values follow */
    add_u32(&bag, PMIX_APP_SIZE, app->rank_count);
    add_rank(&bag, PMIX_APPLDR, app->first_rank);
    add_string(&bag, PMIX_WDIR, facts->wdirs[index]);
    add_string(&bag, PMIX_APP_MAP_TYPE, sx_run_map_name(facts->job->options->map));
    add(&bag, PMIX_APP_ARGV, PMIX_STRING)->data.string = sx_run_info_command(app->program);
    return bag;
}

static void add_stops(struct bag *bag, const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_launch_options *const said = job->request == NULL ? NULL : &job->request->said;

    if (job->options->stop_in_init ||
        (said != NULL && sx_run_request_stops(said->stop_in_init, rank))) {
        add_bool(bag, PMIX_DEBUG_STOP_IN_INIT, true);
    }
    if (job->options->stop_in_app ||
        (said != NULL && sx_run_request_stops(said->stop_in_app, rank))) {
        add_bool(bag, PMIX_DEBUG_STOP_IN_APP, true);
    }
}

/* Into RANK_MAX elements at @at.  @in_package: ranks of the job on each package before this one. */
static struct bag rank_bag(const struct sx_run_job_facts *facts, uint32_t rank,
                           uint16_t *in_package, pmix_info_t *at)
{
    const struct sx_run_place *place = place_of(facts, rank);
    const struct sx_run_app *app = sx_run_job_app(facts->job, rank);
    struct sx_run_request *const request = facts->job->request;
    struct bag bag = { .at = at, .room = RANK_MAX };

    add_rank(&bag, PMIX_RANK, rank); /* first: names the rank whose values follow */
    add_u32(&bag, PMIX_APPNUM, (uint32_t)(app - facts->job->apps));
    add_rank(&bag, PMIX_APPLDR, app->first_rank);
    add_rank(&bag, PMIX_GLOBAL_RANK, facts->job->first + rank);
    add_rank(&bag, PMIX_APP_RANK, rank - app->first_rank);
    add_u16(&bag, PMIX_LOCAL_RANK, (uint16_t)rank);
    add_u16(&bag, PMIX_NODE_RANK, (uint16_t)(facts->job->first + rank));
    add_u32(&bag, PMIX_NODEID, 0);
    add_text(&bag, PMIX_HOSTNAME, facts->host);
    add_u32(&bag, PMIX_REINCARNATION, 0);
    if (request != NULL) {
        add_bool(&bag, PMIX_SPAWNED, true);
        add(&bag, PMIX_PARENT_ID, PMIX_PROC)->data.proc = &request->parent;
    }
    add_stops(&bag, facts->job, rank);
    if (place->package != SX_RUN_NO_PACKAGE) {
        add_u16(&bag, PMIX_PACKAGE_RANK, in_package[place->package]++);
    }
    if (place->cpuset != NULL) {
        add_text(&bag, PMIX_CPUSET, place->cpuset);
        add_text(&bag, PMIX_LOCALITY_STRING, place->locality);
    }
    return bag;
}

/* The last values of @top, which own nothing.  Return: the memory of what they refer to, which is
 * touched only as far as it is filled. */
static void *add_ranks(struct bag *top, const struct sx_run_job_facts *facts)
{
    const uint32_t rank_count = facts->job->rank_count;
    pmix_data_array_t *const arrays = sx_cli_calloc(rank_count, sizeof(*arrays) +
                                                                    RANK_MAX * sizeof(pmix_info_t));
    void *at = &arrays[rank_count];
    uint16_t *const in_package = sx_cli_calloc((size_t)facts->machine->package_count + 1,
                                               sizeof(*in_package));

    for (uint32_t rank = 0; rank < rank_count; rank++) {
        const struct bag bag = rank_bag(facts, rank, in_package, at);

        arrays[rank] = (pmix_data_array_t){ .type = PMIX_INFO, .size = bag.count, .array = bag.at };
        add(top, PMIX_PROC_DATA, PMIX_DATA_ARRAY)->data.darray = &arrays[rank];
        at = &bag.at[bag.count];
    }
    free(in_package);
    return arrays;
}

/* Keys of a spawn that its ranks are to find: mainly for launchers and debuggers. */
static const char *const kept[] = { PMIX_LAUNCH_DIRECTIVES,    PMIX_LAUNCHER_DAEMON,
                                    PMIX_DEBUG_JOB_DIRECTIVES, PMIX_DEBUG_APP_DIRECTIVES,
                                    PMIX_MEM_ALLOC_KIND,       PMIX_BREAKPOINT };

static void add_request_values(struct bag *bag, const struct sx_run_request *request)
{
    if (request->said.personality != NULL) {
        add_string(bag, PMIX_PERSONALITY, request->said.personality);
    }
    if (request->said.target.count > 0) {
        pmix_proc_t *const target = sx_cli_calloc(1, sizeof(*target));

        *target = request->said.target.all[0];
        add(bag, PMIX_DEBUG_TARGET, PMIX_PROC)->data.proc = target;
    }
    for (size_t i = 0; i < SX_COUNT(kept); i++) {
        const pmix_info_t *const info = sx_info_find(request->info, request->ninfo, kept[i]);

        if (info != NULL &&
            PMIx_Value_xfer(add(bag, kept[i], PMIX_UNDEF), &info->value) != PMIX_SUCCESS) {
            sx_cli_no_memory();
        }
    }
}

static void add_job_values(struct bag *bag, const struct sx_run_job_facts *facts, const char *peers)
{
    const struct sx_run_job *const job = facts->job;

    add_u32(bag, PMIX_SESSION_ID, (uint32_t)getpid());
    add_string(bag, PMIX_CLUSTER_ID, facts->host);
    add_string(bag, PMIX_JOBID, job->nspace);
    add_string(bag, PMIX_SERVER_NSPACE, facts->server_nspace);
    add_rank(bag, PMIX_SERVER_RANK, 0);
    add_string(bag, PMIX_TMPDIR, facts->session->dir);
    add_string(bag, PMIX_NSDIR, job->dir);
    add_bool(bag, PMIX_TDIR_RMCLEAN, true);
    add_u32(bag, PMIX_UNIV_SIZE, sx_run_jobs_places(facts->jobs));
    add_u32(bag, PMIX_JOB_SIZE, job->rank_count);
    add_u32(bag, PMIX_MAX_PROCS, job->rank_count);
    add_u32(bag, PMIX_JOB_NUM_APPS, job->app_count);
    add_u32(bag, PMIX_NUM_NODES, 1);
    add_rank(bag, PMIX_NPROC_OFFSET, job->first);
    add_string(bag, PMIX_NODE_LIST, facts->host);
    add_string(bag, PMIX_ALLOCATED_NODELIST, facts->host);
    add_string(bag, PMIX_NODE_MAP, facts->node_map);
    add_string(bag, PMIX_PROC_MAP, facts->proc_map);
    add_string(bag, PMIX_NODE_MAP_RAW, facts->host);
    add_string(bag, PMIX_PROC_MAP_RAW, peers);
    add_bool(bag, PMIX_HOSTNAME_KEEP_FQDN, true);
    add_string(bag, PMIX_RM_NAME, "shmix");
    add_string(bag, PMIX_RM_VERSION, SHMIX_VERSION);
    add_u32(bag, PMIX_NUM_SLOTS, facts->machine->cpu_count);
    add_u32(bag, PMIX_NUM_ALLOCATED_NODES, 1);
    add(bag, PMIX_ANL_MAP, PMIX_STRING)->data.string = sx_cli_printf(SX_RUN_INFO_ANL_MAP,
                                                                     job->rank_count);
    add_string(bag, PMIX_MAPBY, sx_run_map_name(facts->job->options->map));
    if (job->request != NULL) {
        add_request_values(bag, job->request);
    }
    add_string(bag, PMIX_RANKBY, "slot");
    add_string(bag, PMIX_BINDTO, sx_run_level_name(facts->job->options->bind));
    add(bag, PMIX_CMD_LINE, PMIX_STRING)->data.string = sx_run_info_commands(job);
    for (size_t i = 0; i < SX_TOPOLOGY_KEY_COUNT && facts->machine->xml != NULL; i++) {
        add_string(bag, sx_topology_keys[i], facts->machine->xml);
    }
    if (facts->machine->sign != NULL) {
        add_string(bag, SX_NSPACE_MACHINE, facts->machine->sign);
    }
    if (facts->machine->is_looked_at) {
        add_bool(bag, SX_NSPACE_COMING, true);
    }
}

struct sx_run_info sx_run_info_build(const struct sx_run_job_facts *facts)
{
    const uint32_t rank_count = facts->job->rank_count, app_count = facts->job->app_count;
    struct bag top = bag_new(TOP_MAX + app_count + rank_count), node = bag_new(NODE_MAX);
    char *peers = sx_run_info_peers(rank_count);

    add_job_values(&top, facts, peers);
    add_node_values(&top, facts, peers);
    add_procs(&top, facts);
    for (uint32_t i = 0; i < app_count; i++) {
        add_bag(&top, PMIX_APP_INFO_ARRAY, app_bag(facts, i));
    }
    add_node_values(&node, facts, peers);
    add_bag(&top, PMIX_NODE_INFO_ARRAY, node);
    free(peers);
    const size_t own_count = top.count;
    void *const ranks = add_ranks(&top, facts);

    return (struct sx_run_info){ top.at, top.count, own_count, ranks };
}

void sx_run_info_free(struct sx_run_info *info)
{
    sx_elements_destruct(info->all, info->own_count, PMIX_INFO);
    free(info->all);
    free(info->ranks);
    *info = (struct sx_run_info){ .all = NULL };
}
