/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology_test.c - what the server publishes, when it looks, and what the host's word changes.
 *
 * hwloc makes the machine up from the environment whenever somebody looks, so the number of
 * processors tells which look a text comes from. */
#include <criterion/criterion.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/system/topology.h"
#include "base/util.h"

static pmix_server_module_t module;
static const char *const keys[] = { PMIX_HWLOC_XML_V2, PMIX_LOCAL_TOPO };

static void machine(unsigned cores)
{
    char text[64];

    snprintf(text, sizeof(text), "pack:1 core:%u pu:1", cores);
    setenv("HWLOC_SYNTHETIC", text, 1);
}

static void begin(void)
{
    machine(3);
}

static void end(void)
{
    while (PMIx_server_finalize() == PMIX_SUCCESS) {
    }
}

TestSuite(server_topology, .init = begin, .fini = end);

static void start(pmix_info_t *info, size_t ninfo)
{
    cr_assert_eq(PMIx_server_init(&module, info, ninfo), PMIX_SUCCESS);
}

static void job(const char *name, int local, pmix_info_t *info, size_t ninfo)
{
    pmix_nspace_t nspace = "";

    strcpy(nspace, name);
    cr_assert_eq(PMIx_server_register_nspace(nspace, local, info, ninfo, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* Return: the processors in the text, 0 for a NULL string, -1 when there is no such key. */
static int published(const char *name, const char *key)
{
    pmix_proc_t proc = { .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value = NULL;
    hwloc_topology_t topology;
    int count = 0;

    strcpy(proc.nspace, name);
    if (PMIx_Get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS) {
        return -1;
    }
    cr_assert_eq(value->type, PMIX_STRING);
    if (value->data.string != NULL) {
        cr_assert_eq(sx_topology_read(value->data.string, strlen(value->data.string) + 1,
                                      &topology),
                     PMIX_SUCCESS);
        count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
        hwloc_topology_destroy(topology);
    }
    PMIx_Value_free(value, 1);
    return count;
}

static void expect(const char *name, int want)
{
    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        cr_expect_eq(published(name, keys[i]), want, "%s of %s: %d, not %d", keys[i], name,
                     published(name, keys[i]), want);
    }
}

/* ---- when it looks ------------------------------------------------------------------------ */

Test(server_topology, the_first_job_with_local_processes_makes_it_look_and_no_other)
{
    start(NULL, 0);
    machine(4);
    job("elsewhere", 0, NULL, 0);
    machine(5);
    job("here", 2, NULL, 0);
    machine(6);
    job("later", 2, NULL, 0);
    expect("elsewhere", -1);
    expect("here", 5);
    expect("later", 5);
}

Test(server_topology, a_host_that_asks_to_share_has_it_when_init_returns)
{
    pmix_info_t share;

    PMIx_Info_load(&share, PMIX_SERVER_SHARE_TOPOLOGY, NULL, PMIX_BOOL);
    PMIx_Info_required(&share);
    start(&share, 1);
    machine(9);
    job("job", 1, NULL, 0);
    expect("job", 3);
}

Test(server_topology, a_host_that_does_not_share_is_obeyed_and_may_ask_itself)
{
    bool no = false;
    pmix_info_t share;
    pmix_cpuset_t cpuset;
    char *text = NULL;

    PMIx_Info_load(&share, PMIX_SERVER_SHARE_TOPOLOGY, &no, PMIX_BOOL);
    start(&share, 1);
    job("job", 1, NULL, 0);
    cr_assert_eq(PMIx_server_generate_cpuset("1", &cpuset), PMIX_SUCCESS);
    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_SUCCESS);
    job("later", 1, NULL, 0);
    expect("job", -1);
    expect("later", -1);
    free(text);
    PMIx_Cpuset_destruct(&cpuset);
}

Test(server_topology, a_namespace_without_data_gets_none)
{
    pmix_info_t none;

    start(NULL, 0);
    PMIx_Info_load(&none, PMIX_REGISTER_NODATA, NULL, PMIX_BOOL);
    job("daemons", 1, &none, 1);
    expect("daemons", -1);
}

Test(server_topology, a_second_life_needs_no_second_look)
{
    for (unsigned i = 0; i < 3; i++) {
        machine(3 + i);
        start(NULL, 0);
        job("job", 1, NULL, 0);
        expect("job", 3);
        cr_assert_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    }
}

/* ---- what the host gives ------------------------------------------------------------------ */

static char *xml_of(unsigned cores)
{
    hwloc_topology_t topology;
    char *xml = NULL;

    machine(cores);
    cr_assert_eq(sx_topology_discover(&topology), PMIX_SUCCESS);
    cr_assert_eq(sx_topology_write(topology, &xml), PMIX_SUCCESS);
    hwloc_topology_destroy(topology);
    return xml;
}

Test(server_topology, a_given_text_stays_and_makes_another_needless)
{
    char *const xml = xml_of(7);
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1 };
    pmix_info_t given, nested;

    start(NULL, 0);
    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        PMIx_Info_load(&given, keys[i], xml, PMIX_STRING);
        job(i == 0 ? "first" : "second", 1, &given, 1);
        cr_expect_eq(published(i == 0 ? "first" : "second", keys[i]), 7);
        cr_expect_eq(published(i == 0 ? "first" : "second", keys[1 - i]), -1);
        array.array = &given;
        PMIx_Info_load(&nested, PMIX_JOB_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
        job(i == 0 ? "third" : "fourth", 1, &nested, 1);
        cr_expect_eq(published(i == 0 ? "third" : "fourth", keys[i]), 7);
        PMIx_Info_destruct(&nested);
        PMIx_Info_destruct(&given);
    }
    machine(8);
    job("other", 1, NULL, 0);
    expect("other", 8); /* so nobody had looked before */
    free(xml);
}

Test(server_topology, a_null_string_stays_one)
{
    pmix_info_t given[2];

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        memset(&given[i], 0, sizeof(given[i]));
        strcpy(given[i].key, keys[i]);
        given[i].value.type = PMIX_STRING;
    }
    start(NULL, 0);
    job("one", 1, &given[1], 1);
    cr_expect_eq(published("one", keys[0]), 3);
    cr_expect_eq(published("one", keys[1]), 0);
    job("both", 1, given, 2);
    expect("both", 0);
}

Test(server_topology, the_hosts_own_topology_is_published_in_every_form)
{
    char hwloc[] = "hwloc:2.9.0";
    pmix_topology_t topo = { .source = hwloc };
    hwloc_topology_t topology;
    pmix_info_t info;

    for (unsigned form = 0; form < 3; form++) {
        machine(10 + form);
        cr_assert_eq(sx_topology_discover(&topology), PMIX_SUCCESS);
        machine(99);
        topo.topology = topology;
        memset(&info, 0, sizeof(info));
        strcpy(info.key, form == 0 ? PMIX_TOPOLOGY : PMIX_TOPOLOGY2);
        info.value.type = form == 1 ? PMIX_TOPO : PMIX_POINTER;
        info.value.data.ptr = form == 0 ? (void *)topology : (void *)&topo;
        start(&info, 1);
        hwloc_topology_destroy(topology); /* it was needed in init alone */
        job("job", 1, NULL, 0);
        expect("job", 10 + (int)form);
        cr_assert_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    }
    machine(4);
    start(NULL, 0);
    job("job", 1, NULL, 0);
    expect("job", 4); /* what a host gave ended with its server */
}

Test(server_topology, a_topology_of_another_source_or_none_is_passed_over)
{
    char other[] = "other";
    pmix_topology_t topo = { .source = other, .topology = &topo };
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_TOPOLOGY2);
    info.value.type = PMIX_TOPO;
    info.value.data.topo = &topo;
    start(&info, 1);
    job("job", 1, NULL, 0);
    expect("job", 3);
    cr_assert_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    info.value.data.topo = NULL;
    start(&info, 1);
    job("job", 1, NULL, 0);
    expect("job", 3);
}

Test(server_topology, a_topology_of_a_wrong_type_is_refused)
{
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_TOPOLOGY2, "text", PMIX_STRING);
    cr_expect_eq(PMIx_server_init(&module, &info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_TOPOLOGY, "text", PMIX_STRING);
    cr_expect_eq(PMIx_server_init(&module, &info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    start(NULL, 0); /* a refused start leaves nothing in the way of the next */
}

/* ---- the host's questions ----------------------------------------------------------------- */

Test(server_topology, the_host_may_load_the_topology_and_write_places)
{
    pmix_topology_t topo = { .source = NULL };
    pmix_locality_t locality = 0;
    pmix_cpuset_t cpuset;
    char *text = NULL;

    setenv("HWLOC_SYNTHETIC", "pack:2 core:2 pu:2", 1);
    start(NULL, 0);
    cr_assert_eq(PMIx_Load_topology(&topo), PMIX_SUCCESS);
    cr_expect_eq(hwloc_get_nbobjs_by_type(topo.topology, HWLOC_OBJ_PU), 8);
    PMIx_Topology_destruct(&topo);
    machine(1);
    cr_assert_eq(PMIx_server_generate_cpuset("6", &cpuset), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "hwloc:NM0:SK1:CR3:HT6");
    cr_expect_eq(PMIx_Get_relative_locality(text, "hwloc:NM0:SK1:CR2:HT5", &locality),
                 PMIX_SUCCESS);
    cr_expect_eq(locality,
                 PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_NUMA | PMIX_LOCALITY_SHARE_PACKAGE);
    free(text);
    PMIx_Cpuset_destruct(&cpuset);
}

Test(server_topology, arguments_are_judged)
{
    char hwloc[] = "hwloc", other[] = "other";
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    pmix_cpuset_t cpuset = { .source = hwloc, .bitmap = bitmap };
    char *text = NULL;

    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_ERR_INIT);
    start(NULL, 0);
    cr_expect_eq(PMIx_server_generate_locality_string(NULL, &text), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, NULL), PMIX_ERR_BAD_PARAM);
    cpuset.source = other;
    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_ERR_NOT_SUPPORTED);
    cpuset.source = NULL;
    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    cpuset = (pmix_cpuset_t){ .source = hwloc };
    cr_expect_eq(PMIx_server_generate_locality_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    cr_expect_null(text);
    hwloc_bitmap_free(bitmap);
}
