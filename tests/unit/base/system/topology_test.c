/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology_test.c - a process looks at its machine once, and reads back what it wrote.
 *
 * The machine is one that hwloc makes up from the environment, which it reads whenever it looks:
 * a change there shows whether somebody looked again. */
#include "base/system/topology.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static int pus(hwloc_topology_t topology)
{
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
}

/* Return: the processors of the process's text. */
static int node_pus(void)
{
    hwloc_topology_t topology;
    char *xml = NULL;

    cr_assert_eq(sx_topology_node(&xml), PMIX_SUCCESS);
    cr_assert_eq(sx_topology_read(xml, strlen(xml) + 1, &topology), PMIX_SUCCESS);
    const int count = pus(topology);

    hwloc_topology_destroy(topology);
    free(xml);
    return count;
}

Test(topology, the_machine_is_looked_at_once)
{
    setenv("HWLOC_SYNTHETIC", "pack:2 core:3 pu:2", 1);
    cr_expect_eq(node_pus(), 12);
    setenv("HWLOC_SYNTHETIC", "pack:1 core:1 pu:1", 1);
    cr_expect_eq(node_pus(), 12);
}

static void *look(void *arg)
{
    return sx_topology_node(arg) == PMIX_SUCCESS ? arg : NULL;
}

Test(topology, many_threads_get_the_same_text)
{
    pthread_t threads[8];
    char *xml[8] = { NULL };

    for (size_t i = 0; i < SX_COUNT(threads); i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, look, &xml[i]), 0);
    }
    for (size_t i = 0; i < SX_COUNT(threads); i++) {
        void *ok;

        pthread_join(threads[i], &ok);
        cr_assert_not_null(ok);
        cr_expect_str_eq(xml[i], xml[0]);
    }
    for (size_t i = 0; i < SX_COUNT(threads); i++) {
        free(xml[i]);
    }
}

Test(topology, what_is_given_goes_before_what_was_looked_at)
{
    hwloc_topology_t topology;
    char *xml = NULL;

    setenv("HWLOC_SYNTHETIC", "pack:1 core:5 pu:1", 1);
    cr_expect_eq(node_pus(), 5);
    setenv("HWLOC_SYNTHETIC", "pack:1 core:7 pu:1", 1);
    cr_assert_eq(sx_topology_discover(&topology), PMIX_SUCCESS);
    cr_assert_eq(sx_topology_write(topology, &xml), PMIX_SUCCESS);
    hwloc_topology_destroy(topology);
    sx_topology_node_give(xml);
    cr_expect_eq(node_pus(), 7);
    sx_topology_node_give(NULL);
    cr_expect_eq(node_pus(), 5);
}

Test(topology, the_environment_does_not_speak_when_a_text_is_read)
{
    hwloc_topology_t topology;
    char *xml = NULL;

    setenv("HWLOC_SYNTHETIC", "pack:1 core:3 pu:1", 1);
    cr_assert_eq(sx_topology_node(&xml), PMIX_SUCCESS);
    setenv("HWLOC_SYNTHETIC", "pack:1 core:9 pu:1", 1);
    cr_assert_eq(sx_topology_read(xml, strlen(xml) + 1, &topology), PMIX_SUCCESS);
    cr_expect_eq(pus(topology), 3);
    cr_expect(hwloc_topology_is_thissystem(topology), "one can bind by it");
    hwloc_topology_destroy(topology);
    free(xml);
}

/* As gfortran -ffpe-trap has it.  Where a program is linked to hwloc, hwloc takes libxml2, which is
 * a plugin there. */
Test(topology, a_program_may_trap_what_libxml2_does)
{
    const int traps = FE_INVALID | FE_DIVBYZERO;
    hwloc_topology_t topology;
    char *xml = NULL;

    cr_assert_not_null(dlopen(SHMIX_LIBHWLOC, RTLD_NOW | RTLD_GLOBAL));
    setenv("HWLOC_SYNTHETIC", "pack:1 core:3 pu:1", 1);
    setenv("HWLOC_LIBXML", "1", 1);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_INEXACT);
    feenableexcept(traps);
    cr_assert_eq(sx_topology_node(&xml), PMIX_SUCCESS);
    cr_assert_eq(sx_topology_read(xml, strlen(xml) + 1, &topology), PMIX_SUCCESS);
    cr_expect_eq(fegetexcept(), traps);
    cr_expect_eq(fetestexcept(FE_ALL_EXCEPT), FE_INEXACT);
    fedisableexcept(traps);
    hwloc_topology_destroy(topology);
    free(xml);
}

Test(topology, what_is_no_xml_is_refused)
{
    static const char whole[] = "<topology version=\"2.0\"></topology>";
    static const char *const texts[] = { "",          " ",
                                         "no xml",    "<",
                                         "<topology", "<topology>",
                                         whole,       "<?xml version=\"1.0\"?><nothing/>" };
    hwloc_topology_t topology = NULL;

    for (size_t i = 0; i < SX_COUNT(texts); i++) {
        cr_expect_eq(sx_topology_read(texts[i], strlen(texts[i]) + 1, &topology),
                     PMIX_ERR_UNPACK_FAILURE, "\"%s\"", texts[i]);
    }
    cr_expect_eq(sx_topology_read(whole, 0, &topology), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_eq(sx_topology_read(whole, 5, &topology), PMIX_ERR_UNPACK_FAILURE, "no NUL");
    cr_expect_null(topology);
}

/* Each text that a broken writer could leave, cut at any byte. */
Test(topology, a_text_cut_short_is_refused_or_read_never_worse)
{
    char *xml = NULL;

    setenv("HWLOC_SYNTHETIC", "pack:1 core:2 pu:1", 1);
    cr_assert_eq(sx_topology_node(&xml), PMIX_SUCCESS);
    const size_t len = strlen(xml);

    for (size_t cut = 0; cut < len; cut += 1 + len / 97) {
        char *const copy = strndup(xml, cut);
        hwloc_topology_t topology;

        if (sx_topology_read(copy, cut + 1, &topology) == PMIX_SUCCESS) {
            hwloc_topology_destroy(topology);
        }
        free(copy);
    }
    free(xml);
}
