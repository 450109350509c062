/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* info_test.c - the keys that clients ask for are there, with the types that they unload. */
#include "launch/pmi/host.h"

#include <criterion/criterion.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "support/allocations.h"

static struct sx_run_machine machine;
static struct sx_run_options options;
static struct sx_session session = { .dir = "/t/s", .nspace = "shmix-1-2" };
static char *program[] = { "prog", "two words", "", NULL };
static char *second[] = { "other", NULL };
static char *wdirs[] = { "/work", "/else" };
static struct sx_run_app apps[2];
static struct sx_run_jobs jobs;
static struct sx_run_request *request; /* of the job, if it is spawned */
static struct sx_run_info built;
static unsigned long allocated; /* so often, to build it */
static pmix_info_t *info;
static size_t count;

/* The last @others of the @ranks are a second application.  What is told of job @number. */
static void build_two(enum sx_run_level bind, uint32_t ranks, uint32_t others, uint32_t number)
{
    char message[SX_RUN_MESSAGE_MAX] = "";
    struct sx_run_job_facts facts = {
        .options = &options,
        .jobs = &jobs,
        .machine = &machine,
        .session = &session,
        .host = "box",
        .wdirs = wdirs,
        .server_nspace = "shmix-1-2.server",
        .node_map = "nm",
        .proc_map = "pm",
    };

    setenv("HWLOC_SYNTHETIC", "pack:2 numa:1 core:4 pu:1", 1);
    options.rank_count = ranks;
    options.map = options.bind = bind;
    apps[0] = (struct sx_run_app){ .rank_count = ranks - others, .program = program };
    apps[1] = (struct sx_run_app){ .rank_count = others, .program = second };
    options.apps = apps;
    options.app_count = others > 0 ? 2 : 1;
    cr_assert(sx_run_machine_init(&machine, &options, message), "%s", message);
    machine.xml = strdup("<topology/>"); /* as launch/place/device_probe.c does */
    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, session.nspace, session.dir);
    for (uint32_t i = 0; i < jobs.count; i++) {
        jobs.at[i]->places = &machine.places[jobs.at[i]->first];
    }
    jobs.at[number]->request = request;
    facts.job = jobs.at[number];
    const unsigned long before = atomic_load(&allocations);

    built = sx_run_info_build(&facts);
    allocated = atomic_load(&allocations) - before;
    info = built.all;
    count = built.count;
}

static void build(enum sx_run_level bind, uint32_t ranks)
{
    build_two(bind, ranks, 0, 0);
}

static void done(void)
{
    sx_run_info_free(&built);
    sx_run_jobs_deinit(&jobs);
    sx_run_machine_deinit(&machine);
}

static const pmix_value_t *value(const pmix_info_t *in, size_t n, const char *key,
                                 pmix_data_type_t type)
{
    const pmix_info_t *found = sx_info_find(in, n, key);

    cr_assert_not_null(found, "%s is missing", key);
    cr_expect_eq(found->value.type, type, "%s has type %u", key, found->value.type);
    return &found->value;
}

/* The array of @key that begins with @first == @number. */
static const pmix_data_array_t *inner(const char *key, uint32_t number)
{
    for (size_t i = 0; i < count; i++) {
        const pmix_data_array_t *array = info[i].value.data.darray;

        if (strcmp(info[i].key, key) == 0 &&
            ((const pmix_info_t *)array->array)[0].value.data.uint32 == number) {
            return array;
        }
    }
    return NULL;
}

static const struct {
    const char *key;
    pmix_data_type_t type;
} job_keys[] = {
    { PMIX_JOBID, PMIX_STRING },
    { PMIX_NSDIR, PMIX_STRING },
    { PMIX_TMPDIR, PMIX_STRING },
    { PMIX_TDIR_RMCLEAN, PMIX_BOOL },
    { PMIX_UNIV_SIZE, PMIX_UINT32 },
    { PMIX_JOB_SIZE, PMIX_UINT32 },
    { PMIX_MAX_PROCS, PMIX_UINT32 },
    { PMIX_JOB_NUM_APPS, PMIX_UINT32 },
    { PMIX_LOCAL_SIZE, PMIX_UINT32 },
    { PMIX_NODE_SIZE, PMIX_UINT32 },
    { PMIX_NUM_NODES, PMIX_UINT32 },
    { PMIX_NODE_MAP, PMIX_STRING },
    { PMIX_PROC_MAP, PMIX_STRING },
    { PMIX_LOCAL_PEERS, PMIX_STRING },
    { PMIX_LOCALLDR, PMIX_PROC_RANK },
    { PMIX_NODEID, PMIX_UINT32 },
    { PMIX_HOSTNAME, PMIX_STRING },
    { PMIX_MAPBY, PMIX_STRING },
    { PMIX_RANKBY, PMIX_STRING },
    { PMIX_BINDTO, PMIX_STRING },
    { PMIX_SESSION_ID, PMIX_UINT32 },
    { PMIX_CLUSTER_ID, PMIX_STRING },
    { PMIX_LOCAL_TOPO, PMIX_STRING },
    { PMIX_HWLOC_XML_V2, PMIX_STRING },
    { PMIX_CMD_LINE, PMIX_STRING },
    { PMIX_AVAIL_PHYS_MEMORY, PMIX_UINT64 },
    { PMIX_SERVER_NSPACE, PMIX_STRING },
    { PMIX_SERVER_RANK, PMIX_PROC_RANK },
    { PMIX_NPROC_OFFSET, PMIX_PROC_RANK },
    { PMIX_LOCAL_PROCS, PMIX_DATA_ARRAY },
    { PMIX_RM_NAME, PMIX_STRING },
    { PMIX_RM_VERSION, PMIX_STRING },
    { PMIX_NODE_MAP_RAW, PMIX_STRING },
    { PMIX_PROC_MAP_RAW, PMIX_STRING },
    { PMIX_NUM_SLOTS, PMIX_UINT32 },
    { PMIX_NUM_ALLOCATED_NODES, PMIX_UINT32 },
    { PMIX_HOSTNAME_KEEP_FQDN, PMIX_BOOL },
};

Test(run_info, job_keys_have_the_types_of_the_tables)
{
    build(SX_RUN_LEVEL_NONE, 3);
    for (size_t i = 0; i < SX_COUNT(job_keys); i++) {
        value(info, count, job_keys[i].key, job_keys[i].type);
    }
    cr_expect_eq(value(info, count, PMIX_JOB_SIZE, PMIX_UINT32)->data.uint32, 3);
    cr_expect_str_eq(value(info, count, PMIX_LOCAL_PEERS, PMIX_STRING)->data.string, "0,1,2");
    cr_expect_str_eq(value(info, count, PMIX_CMD_LINE, PMIX_STRING)->data.string,
                     "prog \"two words\" \"\"");
    cr_expect_str_eq(value(info, count, PMIX_MAPBY, PMIX_STRING)->data.string, "slot");
    cr_expect_str_eq(value(info, count, PMIX_BINDTO, PMIX_STRING)->data.string, "none");
    cr_expect_str_eq(value(info, count, PMIX_RM_NAME, PMIX_STRING)->data.string, "shmix");
    cr_expect_str_eq(value(info, count, PMIX_NODE_MAP_RAW, PMIX_STRING)->data.string, "box");
    cr_expect_str_eq(value(info, count, PMIX_PROC_MAP_RAW, PMIX_STRING)->data.string, "0,1,2");
    cr_expect_eq(value(info, count, PMIX_NUM_SLOTS, PMIX_UINT32)->data.uint32, 8);
    cr_expect_null(sx_info_find(info, count, PMIX_LOCAL_CPUSETS));
    done();
}

Test(run_info, every_rank_has_its_data)
{
    const pmix_data_array_t *array;

    build(SX_RUN_LEVEL_CORE, 8);
    cr_expect_str_eq(value(info, count, PMIX_MAPBY, PMIX_STRING)->data.string, "core");
    cr_expect_str_eq(value(info, count, PMIX_BINDTO, PMIX_STRING)->data.string, "core");
    array = inner(PMIX_PROC_DATA, 5);
    cr_assert_not_null(array);
    cr_expect_eq(array->type, PMIX_INFO);
    cr_expect_str_eq(((pmix_info_t *)array->array)[0].key, PMIX_RANK);
    cr_expect_eq(value(array->array, array->size, PMIX_LOCAL_RANK, PMIX_UINT16)->data.uint16, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_NODE_RANK, PMIX_UINT16)->data.uint16, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_PACKAGE_RANK, PMIX_UINT16)->data.uint16, 1);
    cr_expect_eq(value(array->array, array->size, PMIX_GLOBAL_RANK, PMIX_PROC_RANK)->data.rank, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_APP_RANK, PMIX_PROC_RANK)->data.rank, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_APPLDR, PMIX_PROC_RANK)->data.rank, 0);
    cr_expect_eq(value(array->array, array->size, PMIX_APPNUM, PMIX_UINT32)->data.uint32, 0);
    cr_expect_eq(value(array->array, array->size, PMIX_NODEID, PMIX_UINT32)->data.uint32, 0);
    cr_expect_eq(value(array->array, array->size, PMIX_REINCARNATION, PMIX_UINT32)->data.uint32, 0);
    cr_expect_str_eq(value(array->array, array->size, PMIX_HOSTNAME, PMIX_STRING)->data.string,
                     "box");
    cr_expect_str_eq(value(array->array, array->size, PMIX_CPUSET, PMIX_STRING)->data.string, "5");
    value(array->array, array->size, PMIX_LOCALITY_STRING, PMIX_STRING);
    cr_expect_str_eq(value(info, count, PMIX_LOCAL_CPUSETS, PMIX_STRING)->data.string,
                     "0:1:2:3:4:5:6:7");
    done();
}

Test(run_info, unbound_ranks_have_no_locality)
{
    const pmix_data_array_t *array;

    build(SX_RUN_LEVEL_NONE, 2);
    array = inner(PMIX_PROC_DATA, 1);
    cr_assert_not_null(array);
    cr_expect_null(sx_info_find(array->array, array->size, PMIX_LOCALITY_STRING));
    cr_expect_null(sx_info_find(array->array, array->size, PMIX_CPUSET));
    done();
}

Test(run_info, app_and_node_have_arrays)
{
    const pmix_data_array_t *app, *node;

    build(SX_RUN_LEVEL_NONE, 2);
    app = inner(PMIX_APP_INFO_ARRAY, 0);
    node = inner(PMIX_NODE_INFO_ARRAY, 0);
    cr_assert(app != NULL && node != NULL);
    cr_expect_eq(value(app->array, app->size, PMIX_APP_SIZE, PMIX_UINT32)->data.uint32, 2);
    cr_expect_str_eq(value(app->array, app->size, PMIX_WDIR, PMIX_STRING)->data.string, "/work");
    cr_expect_str_eq(value(app->array, app->size, PMIX_APP_MAP_TYPE, PMIX_STRING)->data.string,
                     "slot");
    cr_expect_str_eq(value(node->array, node->size, PMIX_HOSTNAME, PMIX_STRING)->data.string,
                     "box");
    cr_expect_eq(value(node->array, node->size, PMIX_LOCAL_SIZE, PMIX_UINT32)->data.uint32, 2);
    done();
}

Test(run_info, two_applications_have_a_part_of_the_ranks_each)
{
    const pmix_data_array_t *app, *rank;

    build_two(SX_RUN_LEVEL_NONE, 5, 3, 0);
    cr_expect_eq(value(info, count, PMIX_JOB_NUM_APPS, PMIX_UINT32)->data.uint32, 2);
    cr_expect_eq(value(info, count, PMIX_JOB_SIZE, PMIX_UINT32)->data.uint32, 5);
    cr_expect_str_eq(value(info, count, PMIX_CMD_LINE, PMIX_STRING)->data.string,
                     "prog \"two words\" \"\" : other");
    app = inner(PMIX_APP_INFO_ARRAY, 1);
    cr_assert_not_null(app);
    cr_expect_eq(value(app->array, app->size, PMIX_APP_SIZE, PMIX_UINT32)->data.uint32, 3);
    cr_expect_eq(value(app->array, app->size, PMIX_APPLDR, PMIX_PROC_RANK)->data.rank, 2);
    cr_expect_str_eq(value(app->array, app->size, PMIX_WDIR, PMIX_STRING)->data.string, "/else");
    cr_expect_str_eq(value(app->array, app->size, PMIX_APP_ARGV, PMIX_STRING)->data.string,
                     "other");
    rank = inner(PMIX_PROC_DATA, 4);
    cr_assert_not_null(rank);
    cr_expect_eq(value(rank->array, rank->size, PMIX_APPNUM, PMIX_UINT32)->data.uint32, 1);
    cr_expect_eq(value(rank->array, rank->size, PMIX_APP_RANK, PMIX_PROC_RANK)->data.rank, 2);
    cr_expect_eq(value(rank->array, rank->size, PMIX_APPLDR, PMIX_PROC_RANK)->data.rank, 2);
    cr_expect_eq(value(rank->array, rank->size, PMIX_LOCAL_RANK, PMIX_UINT16)->data.uint16, 4);
    done();
}

/* What is of the session or the node counts all jobs, the rest only this one. */
Test(run_info, a_second_job_begins_anew_on_the_same_node)
{
    const pmix_data_array_t *array;

    options.separate_jobs = true;
    build_two(SX_RUN_LEVEL_CORE, 6, 3, 1);
    cr_expect_str_eq(value(info, count, PMIX_JOBID, PMIX_STRING)->data.string, "shmix-1-2.1");
    cr_expect_str_eq(value(info, count, PMIX_NSDIR, PMIX_STRING)->data.string, "/t/s/shmix-1-2.1");
    cr_expect_str_eq(value(info, count, PMIX_CMD_LINE, PMIX_STRING)->data.string, "other");
    cr_expect_str_eq(value(info, count, PMIX_LOCAL_PEERS, PMIX_STRING)->data.string, "0,1,2");
    cr_expect_str_eq(value(info, count, PMIX_LOCAL_CPUSETS, PMIX_STRING)->data.string, "3:4:5");
    cr_expect_eq(value(info, count, PMIX_JOB_SIZE, PMIX_UINT32)->data.uint32, 3);
    cr_expect_eq(value(info, count, PMIX_LOCAL_SIZE, PMIX_UINT32)->data.uint32, 3);
    cr_expect_eq(value(info, count, PMIX_NODE_SIZE, PMIX_UINT32)->data.uint32, 6);
    cr_expect_eq(value(info, count, PMIX_UNIV_SIZE, PMIX_UINT32)->data.uint32, 6);
    cr_expect_eq(value(info, count, PMIX_NPROC_OFFSET, PMIX_PROC_RANK)->data.rank, 3);
    array = value(info, count, PMIX_LOCAL_PROCS, PMIX_DATA_ARRAY)->data.darray;
    cr_assert_eq(array->size, 6);
    cr_expect_str_eq(((pmix_proc_t *)array->array)[2].nspace, "shmix-1-2");
    cr_expect_str_eq(((pmix_proc_t *)array->array)[5].nspace, "shmix-1-2.1");
    cr_expect_eq(((pmix_proc_t *)array->array)[5].rank, 2);
    array = inner(PMIX_PROC_DATA, 2);
    cr_assert_not_null(array);
    cr_expect_eq(value(array->array, array->size, PMIX_LOCAL_RANK, PMIX_UINT16)->data.uint16, 2);
    cr_expect_eq(value(array->array, array->size, PMIX_NODE_RANK, PMIX_UINT16)->data.uint16, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_GLOBAL_RANK, PMIX_PROC_RANK)->data.rank, 5);
    cr_expect_eq(value(array->array, array->size, PMIX_PACKAGE_RANK, PMIX_UINT16)->data.uint16, 1);
    cr_expect_str_eq(value(array->array, array->size, PMIX_CPUSET, PMIX_STRING)->data.string, "5");
    done();
}

Test(run_info, package_ranks_count_in_turn)
{
    const pmix_data_array_t *array;

    build(SX_RUN_LEVEL_PACKAGE, 4);
    array = inner(PMIX_PROC_DATA, 1);
    cr_assert_not_null(array);
    cr_expect_eq(value(array->array, array->size, PMIX_PACKAGE_RANK, PMIX_UINT16)->data.uint16, 0);
    array = inner(PMIX_PROC_DATA, 3);
    cr_assert_not_null(array);
    cr_expect_eq(value(array->array, array->size, PMIX_PACKAGE_RANK, PMIX_UINT16)->data.uint16, 1);
    done();
}

Test(run_info, grows_with_the_ranks_only)
{
    size_t small;

    build(SX_RUN_LEVEL_NONE, 1);
    small = count;
    done();
    build(SX_RUN_LEVEL_NONE, SX_RUN_RANKS_MAX);
    cr_expect_eq(count - small, SX_RUN_RANKS_MAX - 1);
    cr_expect_not_null(inner(PMIX_PROC_DATA, SX_RUN_RANKS_MAX - 1));
    done();
}

/* A spawn is registered in one turn of the launcher. */
Test(run_info, the_data_of_all_ranks_has_one_allocation)
{
    build(SX_RUN_LEVEL_CORE, 2);
    const unsigned long few = allocated;

    done();
    build(SX_RUN_LEVEL_CORE, 8);
    cr_expect_eq(allocated, few, "%lu and %lu", few, allocated);
    done();
}

/* Launchers and debuggers look for it. */
Test(run_info, what_a_spawn_says_for_its_ranks_is_the_job_s)
{
    static const char *const keys[] = { PMIX_LAUNCHER_DAEMON, PMIX_LAUNCH_DIRECTIVES,
                                        PMIX_DEBUG_JOB_DIRECTIVES, PMIX_DEBUG_APP_DIRECTIVES,
                                        PMIX_MEM_ALLOC_KIND };
    const pmix_proc_t parent = { .nspace = "shmix-1-2" };
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
    pmix_info_t said[SX_COUNT(keys) + 1];

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        pmix_info_t inner;
        pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &inner };

        PMIx_Info_load(&inner, PMIX_MAPBY, keys[i], PMIX_STRING);
        PMIx_Info_load(&said[i], keys[i], &array, PMIX_DATA_ARRAY);
        PMIx_Info_destruct(&inner);
    }
    PMIx_Info_load(&said[SX_COUNT(keys)], PMIX_DEBUG_JOB, "shmix-1-2.7", PMIX_STRING);
    cr_assert_eq(sx_run_request_new(&request, &parent, said, SX_COUNT(said), &app, 1),
                 PMIX_SUCCESS);
    build(SX_RUN_LEVEL_NONE, 1);
    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        const pmix_value_t *const got = value(info, count, keys[i], PMIX_DATA_ARRAY);
        const pmix_info_t *const inner = got->data.darray->array;

        cr_expect_str_eq(inner->value.data.string, keys[i]);
    }
    const pmix_proc_t *const target = value(info, count, PMIX_DEBUG_TARGET, PMIX_PROC)->data.proc;

    cr_expect_str_eq(target->nspace, "shmix-1-2.7");
    cr_expect_eq(target->rank, PMIX_RANK_WILDCARD);
    done();
    request = sx_run_request_free(request);
    sx_elements_destruct(said, SX_COUNT(said), PMIX_INFO);
}

/* A spawn may have 10,000 applications: the text is made in one pass over them. */
Test(run_info, the_command_line_has_all_applications)
{
    enum { APPS = 10000 };
    char *program[] = { "solve", "a word", "-x", NULL };
    struct sx_run_app *const apps = calloc(APPS, sizeof(*apps));
    const struct sx_run_job job = { .apps = apps, .app_count = APPS };
    static const char one[] = "solve \"a word\" -x";

    for (uint32_t i = 0; i < APPS; i++) {
        apps[i].program = program;
    }
    char *const text = sx_run_info_commands(&job);

    cr_expect_eq(strlen(text), APPS * strlen(one) + (APPS - 1) * strlen(" : "));
    cr_expect_eq(strncmp(text, one, strlen(one)), 0);
    cr_expect_str_eq(text + strlen(text) - strlen(one) - 3, " : solve \"a word\" -x");
    free(text);
    free(apps);
}
