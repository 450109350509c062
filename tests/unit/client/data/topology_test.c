/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology_test.c - topology, binding and distances in a process without a server.
 *
 * The machine is made up: two packages, whose drawing is tests/system/two_packages.xml. */
#include <criterion/criterion.h>
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "../alone.h"
#include "base/system/topology.h"
#include "base/util.h"

static pmix_proc_t me;

static void begin(void)
{
    static const char path[] = SHMIX_TESTS_FOLDER "/system/two_packages.xml";

    cr_assert_eq(access(path, R_OK), 0, "%s cannot be read", path);
    setenv("HWLOC_XMLFILE", path, 1);
    alone_init(&me);
}

TestSuite(topology, .init = begin, .fini = alone_end);

/* ---- loading ------------------------------------------------------------------------------ */

Test(topology, a_singleton_looks_once_and_gives_each_caller_its_own)
{
    pmix_topology_t one, two;

    PMIx_Topology_construct(&one);
    PMIx_Topology_construct(&two);
    cr_assert_eq(PMIx_Load_topology(&one), PMIX_SUCCESS);
    cr_expect_eq(strncmp(one.source, "hwloc:", 6), 0);
    setenv("HWLOC_XMLFILE", "/nothing", 1);
    cr_assert_eq(PMIx_Load_topology(&two), PMIX_SUCCESS);
    cr_expect_neq(one.topology, two.topology);
    cr_expect_eq(hwloc_get_nbobjs_by_type(two.topology, HWLOC_OBJ_PU), 4);
    PMIx_Topology_destruct(&one);
    cr_expect_null(one.topology);
    cr_expect_null(one.source);
    cr_expect_eq(hwloc_get_nbobjs_by_type(two.topology, HWLOC_OBJ_PACKAGE), 2);
    PMIx_Topology_destruct(&two);
}

Test(topology, a_source_that_is_asked_for_is_honoured_or_refused)
{
    static const struct {
        const char *source;
        pmix_status_t want;
    } rows[] = {
        { "hwloc", PMIX_SUCCESS },           { "hwloc:1.0", PMIX_SUCCESS },
        { "HWLOC", PMIX_SUCCESS },           { "hwlocality", PMIX_ERR_NOT_SUPPORTED },
        { "other", PMIX_ERR_NOT_SUPPORTED }, { "", PMIX_ERR_NOT_SUPPORTED },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_topology_t topo = { .source = strdup(rows[i].source) };

        cr_expect_eq(PMIx_Load_topology(&topo), rows[i].want, "\"%s\"", rows[i].source);
        cr_expect_str_eq(topo.source, rows[i].source);
        cr_expect_eq(topo.topology != NULL, rows[i].want == PMIX_SUCCESS);
        PMIx_Topology_destruct(&topo);
    }
    cr_expect_eq(PMIx_Load_topology(NULL), PMIX_ERR_BAD_PARAM);
}

Test(topology, nobody_is_given_one_after_finalize)
{
    pmix_topology_t topo = { .source = NULL };
    pmix_device_distance_t *distances = NULL;
    size_t count = 1;

    PMIx_Finalize(NULL, 0);
    cr_expect_eq(PMIx_Load_topology(&topo), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Compute_distances(NULL, NULL, NULL, 0, &distances, &count), PMIX_ERR_INIT);
    cr_expect_null(topo.topology);
    cr_expect_null(distances);
    cr_expect_eq(count, 0);
}

static void *load_and_free(void *arg)
{
    for (int i = 0; i < 20; i++) {
        pmix_topology_t topo = { .source = NULL };

        if (PMIx_Load_topology(&topo) != PMIX_SUCCESS) {
            return arg;
        }
        PMIx_Topology_destruct(&topo);
    }
    return NULL;
}

Test(topology, threads_load_at_once)
{
    pthread_t threads[8];
    void *failed;

    for (size_t i = 0; i < SX_COUNT(threads); i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, load_and_free, &me), 0);
    }
    for (size_t i = 0; i < SX_COUNT(threads); i++) {
        pthread_join(threads[i], &failed);
        cr_expect_null(failed);
    }
}

/* ---- binding ------------------------------------------------------------------------------ */

static int first_allowed(void)
{
    cpu_set_t mask;

    cr_assert_eq(sched_getaffinity(0, sizeof(mask), &mask), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &mask)) {
            return cpu;
        }
    }
    return -1;
}

static pthread_barrier_t both;

/* A thread that is bound to the processor at @arg while the other one looks. */
static void *bound_thread(void *arg)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    CPU_SET(*(int *)arg, &mask);
    const bool ok = sched_setaffinity(0, sizeof(mask), &mask) == 0;
    pmix_cpuset_t cpuset = { .source = NULL };
    const bool one = PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_THREAD) == PMIX_SUCCESS &&
                     hwloc_bitmap_weight(cpuset.bitmap) == 1 &&
                     hwloc_bitmap_isset(cpuset.bitmap, *(unsigned *)arg);

    PMIx_Cpuset_destruct(&cpuset);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    return ok && one ? arg : NULL;
}

Test(topology, a_thread_has_its_binding_and_the_process_that_of_all)
{
    cpu_set_t before, rest;
    pmix_cpuset_t of_thread, of_process;
    pthread_t thread;
    int cpu = first_allowed();
    void *ok;

    cr_assert_eq(sched_getaffinity(0, sizeof(before), &before), 0);
    rest = before;
    if (CPU_COUNT(&rest) > 1) {
        CPU_CLR(cpu, &rest);
    }
    cr_assert_eq(sched_setaffinity(0, sizeof(rest), &rest), 0);
    pthread_barrier_init(&both, NULL, 2);
    cr_assert_eq(pthread_create(&thread, NULL, bound_thread, &cpu), 0);
    pthread_barrier_wait(&both);
    cr_assert_eq(PMIx_Get_cpuset(&of_thread, PMIX_CPUBIND_THREAD), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get_cpuset(&of_process, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    pthread_barrier_wait(&both);
    pthread_join(thread, &ok);
    cr_expect_not_null(ok);
    cr_expect_str_eq(of_thread.source, "hwloc");
    cr_expect_eq(hwloc_bitmap_weight(of_thread.bitmap), CPU_COUNT(&rest));
    cr_expect_eq(hwloc_bitmap_weight(of_process.bitmap), CPU_COUNT(&before));
    cr_expect(hwloc_bitmap_isset(of_process.bitmap, (unsigned)cpu));
    PMIx_Cpuset_destruct(&of_thread);
    PMIx_Cpuset_destruct(&of_process);
}

Test(topology, a_binding_of_something_else_is_refused)
{
    pmix_cpuset_t cpuset = { .source = NULL };

    cr_expect_eq(PMIx_Get_cpuset(NULL, PMIX_CPUBIND_PROCESS), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Get_cpuset(&cpuset, 2), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Get_cpuset(&cpuset, UINT8_MAX), PMIX_ERR_BAD_PARAM);
    cr_expect_null(cpuset.source);
}

/* ---- distances ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *uuid; /* NULL: carries the host's name */
    pmix_device_type_t type;
    unsigned package;
} devices[] = {
    { "sda", NULL, PMIX_DEVTYPE_BLOCK, 0 },
    { "ib0", "ipv6://00:00:00:01:fe:80:00:00:00:00:00:00:00:11:22:33:44:55:66:77",
      PMIX_DEVTYPE_NETWORK, 1 },
    { "mlx5_0", "fab://0011:2233:4455:6677::0011:2233:4455:6600", PMIX_DEVTYPE_OPENFABRICS, 1 },
    { "card0", NULL, PMIX_DEVTYPE_GPU, 1 },
    { "eth0", "ipv4://02:00:00:00:00:01", PMIX_DEVTYPE_NETWORK, 1 },
};

#define NEAR 2u /* core, package */
#define FAR 3u  /* core, package, machine */

static const pmix_device_distance_t *find(const pmix_device_distance_t *all, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].osname, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

Test(topology, a_device_is_nearer_to_its_own_package)
{
    static const char *const places[] = { "0", "2-3", "1,3", "0-3" };

    for (size_t p = 0; p < SX_COUNT(places); p++) {
        pmix_device_distance_t *all = NULL;
        pmix_cpuset_t cpuset;
        size_t count = 0;

        cr_assert_eq(PMIx_Parse_cpuset_string(places[p], &cpuset), PMIX_SUCCESS);
        cr_assert_eq(PMIx_Compute_distances(NULL, &cpuset, NULL, 0, &all, &count), PMIX_SUCCESS);
        cr_assert_eq(count, SX_COUNT(devices));
        for (size_t i = 0; i < SX_COUNT(devices); i++) {
            const pmix_device_distance_t *const at = find(all, count, devices[i].name);
            const bool on[2] = {
                hwloc_bitmap_isset(cpuset.bitmap, 0) || hwloc_bitmap_isset(cpuset.bitmap, 1),
                hwloc_bitmap_isset(cpuset.bitmap, 2) || hwloc_bitmap_isset(cpuset.bitmap, 3)
            };

            cr_assert_not_null(at, "%s", devices[i].name);
            cr_expect_eq(at->type, devices[i].type);
            cr_expect_eq(at->mindist, on[devices[i].package] ? NEAR : FAR, "%s from %s",
                         devices[i].name, places[p]);
            cr_expect_eq(at->maxdist, on[1 - devices[i].package] ? FAR : NEAR, "%s from %s",
                         devices[i].name, places[p]);
            cr_expect(devices[i].uuid == NULL ? strstr(at->uuid, devices[i].name) != NULL
                                              : strcmp(at->uuid, devices[i].uuid) == 0);
        }
        PMIx_Device_distance_free(all, count);
        PMIx_Cpuset_destruct(&cpuset);
    }
}

/* The name that the host has for this node, if it told one. */
Test(topology, devices_without_a_number_of_their_own_carry_the_hosts_name)
{
    static const char *const names[] = { NULL, "node2", NULL };
    char want[300], hostname[256] = "";
    pmix_device_distance_t *all;
    size_t count;

    (void)gethostname(hostname, sizeof(hostname) - 1);
    for (size_t i = 0; i < SX_COUNT(names); i++) {
        pmix_value_t name = { .type = PMIX_STRING };

        if (names[i] != NULL) {
            name.data.string = (char *)(uintptr_t)names[i];
            cr_assert_eq(PMIx_Store_internal(&me, PMIX_HOSTNAME, &name), PMIX_SUCCESS);
            snprintf(hostname, sizeof(hostname), "%s", names[i]);
        }
        snprintf(want, sizeof(want), "block://%s::sda", hostname);
        cr_assert_eq(PMIx_Compute_distances(NULL, NULL, NULL, 0, &all, &count), PMIX_SUCCESS);
        cr_expect_str_eq(find(all, count, "sda")->uuid, want);
        PMIx_Device_distance_free(all, count);
    }
}

Test(topology, processors_that_the_machine_has_not_are_at_no_distance)
{
    pmix_device_distance_t *all = NULL;
    pmix_cpuset_t cpuset;
    size_t count = 0;

    cr_assert_eq(PMIx_Parse_cpuset_string("100-200", &cpuset), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Compute_distances(NULL, &cpuset, NULL, 0, &all, &count), PMIX_SUCCESS);
    cr_expect_eq(all[0].mindist, UINT16_MAX);
    cr_expect_eq(all[0].maxdist, UINT16_MAX);
    PMIx_Device_distance_free(all, count);
    PMIx_Cpuset_destruct(&cpuset);
}

static size_t count_with(pmix_info_t *info, size_t ninfo, pmix_status_t want)
{
    pmix_device_distance_t *all = NULL;
    size_t count = 99;

    cr_expect_eq(PMIx_Compute_distances(NULL, NULL, info, ninfo, &all, &count), want);
    if (all != NULL) {
        PMIx_Device_distance_free(all, count);
    }
    return count;
}

Test(topology, only_devices_of_the_types_and_names_asked_for)
{
    pmix_device_type_t types = PMIX_DEVTYPE_NETWORK | PMIX_DEVTYPE_GPU;
    uint64_t gpu = PMIX_DEVTYPE_GPU;
    pmix_info_t info[2];
    char text[] = "all";

    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &types, PMIX_DEVTYPE);
    cr_expect_eq(count_with(info, 1, PMIX_SUCCESS), 3);
    PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "eth0", PMIX_STRING);
    cr_expect_eq(count_with(info, 2, PMIX_SUCCESS), 1);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "ipv4://02:00:00:00:00:01", PMIX_STRING);
    cr_expect_eq(count_with(info, 2, PMIX_SUCCESS), 1);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "sda", PMIX_STRING);
    cr_expect_eq(count_with(info, 2, PMIX_ERR_NOT_FOUND), 0, "it is no network");
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &gpu, PMIX_UINT64);
    cr_expect_eq(count_with(info, 1, PMIX_SUCCESS), 1);
    types = PMIX_DEVTYPE_DMA;
    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &types, PMIX_DEVTYPE);
    cr_expect_eq(count_with(info, 1, PMIX_ERR_NOT_FOUND), 0);

    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, text, PMIX_STRING);
    cr_expect_eq(count_with(info, 1, PMIX_ERR_BAD_PARAM), 0);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_load(&info[0], PMIX_DEVICE_ID, &gpu, PMIX_UINT64);
    cr_expect_eq(count_with(info, 1, PMIX_ERR_BAD_PARAM), 0);
}

Test(topology, a_directive_nobody_knows_is_refused_only_when_required)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    PMIx_Info_load(&info, "nobody.knows", NULL, PMIX_BOOL);
    cr_expect_eq(count_with(&info, 1, PMIX_SUCCESS), SX_COUNT(devices));
    PMIx_Info_required(&info);
    cr_expect_eq(count_with(&info, 1, PMIX_ERR_NOT_SUPPORTED), 0);
    memset(info.key, 'k', sizeof(info.key));
    cr_expect_eq(count_with(&info, 1, PMIX_ERR_BAD_PARAM), 0, "a key without an end");
}

Test(topology, arguments_of_distances_are_judged)
{
    char other[] = "other", hwloc[] = "hwloc";
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    pmix_cpuset_t cpuset = { .source = other, .bitmap = bitmap };
    pmix_topology_t topo = { .source = hwloc };
    pmix_device_distance_t *all;
    size_t count;

    cr_expect_eq(PMIx_Compute_distances(NULL, NULL, NULL, 1, &all, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Compute_distances(NULL, NULL, NULL, 0, NULL, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Compute_distances(NULL, NULL, NULL, 0, &all, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Compute_distances(NULL, &cpuset, NULL, 0, &all, &count),
                 PMIX_ERR_NOT_SUPPORTED);
    cpuset.source = NULL;
    cr_expect_eq(PMIx_Compute_distances(NULL, &cpuset, NULL, 0, &all, &count),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_assert_eq(PMIx_Load_topology(&topo), PMIX_SUCCESS);
    topo.source = other;
    cr_expect_eq(PMIx_Compute_distances(&topo, NULL, NULL, 0, &all, &count),
                 PMIX_ERR_NOT_SUPPORTED);
    topo.source = NULL;
    cr_expect_eq(PMIx_Compute_distances(&topo, NULL, NULL, 0, &all, &count),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_expect_null(all);
    hwloc_topology_destroy(topo.topology);
    hwloc_bitmap_free(bitmap);
}

Test(topology, a_machine_without_devices_has_no_distances)
{
    char hwloc[] = "hwloc";
    pmix_topology_t topo = { .source = hwloc };
    pmix_device_distance_t *all;
    hwloc_topology_t topology;
    size_t count;

    hwloc_topology_init(&topology);
    hwloc_topology_set_synthetic(topology, "pack:1 core:2 pu:2");
    hwloc_topology_load(topology);
    topo.topology = topology;
    cr_expect_eq(PMIx_Compute_distances(&topo, NULL, NULL, 0, &all, &count), PMIX_ERR_NOT_FOUND);
    hwloc_topology_destroy(topology);
}

/* ---- distances with a callback ------------------------------------------------------------ */

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    unsigned calls;
    pmix_status_t status;
    size_t count;
    pthread_t thread;
};

static void on_distances(pmix_status_t status, pmix_device_distance_t *dist, size_t ndist,
                         void *cbdata, pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct answer *const answer = cbdata;

    pthread_mutex_lock(&answer->lock);
    answer->calls++;
    answer->status = status;
    answer->count = ndist;
    answer->thread = pthread_self();
    cr_expect_eq(dist != NULL, ndist > 0);
    pthread_cond_signal(&answer->cond);
    pthread_mutex_unlock(&answer->lock);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

static void ask_nb(pmix_info_t *info, size_t ninfo, struct answer *answer)
{
    *answer = (struct answer){ .lock = PTHREAD_MUTEX_INITIALIZER,
                               .cond = PTHREAD_COND_INITIALIZER };
    cr_assert_eq(PMIx_Compute_distances_nb(NULL, NULL, info, ninfo, on_distances, answer),
                 PMIX_SUCCESS);
    pthread_mutex_lock(&answer->lock);
    while (answer->calls == 0) { /* bounded by the test's own timeout */
        pthread_cond_wait(&answer->cond, &answer->lock);
    }
    pthread_mutex_unlock(&answer->lock);
}

Test(topology, the_callback_has_the_distances_on_another_thread, .timeout = 60)
{
    pmix_device_type_t types = PMIX_DEVTYPE_DMA;
    struct answer answer;
    pmix_info_t info;

    ask_nb(NULL, 0, &answer);
    cr_expect_eq(answer.status, PMIX_SUCCESS);
    cr_expect_eq(answer.count, SX_COUNT(devices));
    cr_expect_not(pthread_equal(answer.thread, pthread_self()));
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &types, PMIX_DEVTYPE);
    ask_nb(&info, 1, &answer);
    cr_expect_eq(answer.status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(answer.count, 0);
    PMIx_Finalize(NULL, 0);
    cr_expect_eq(answer.calls, 1);
}

Test(topology, bad_arguments_are_notified_at_once_and_not_by_callback)
{
    struct answer answer = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

    cr_expect_eq(PMIx_Compute_distances_nb(NULL, NULL, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Compute_distances_nb(NULL, NULL, NULL, 1, on_distances, &answer),
                 PMIX_ERR_BAD_PARAM);
    PMIx_Finalize(NULL, 0);
    cr_expect_eq(PMIx_Compute_distances_nb(NULL, NULL, NULL, 0, on_distances, &answer),
                 PMIX_ERR_INIT);
    cr_expect_eq(answer.calls, 0);
}
