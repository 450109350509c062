/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.c - a rank of `shmix run` says what it was told of a machine that may be made up.
 *
 * usage: topology PACKAGES PUS DEVICES    every rank is given a topology with that many
 *        topology bound                   each rank is bound to a core of its own, and knows it
 *
 * Exit status: 0 when all is as expected. */
#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define CHECK(fact)                                                                      \
    do {                                                                                 \
        if (!(fact)) {                                                                   \
            fprintf(stderr, "rank %u: %s:%d: %s\n", me.rank, __FILE__, __LINE__, #fact); \
            exit(99);                                                                    \
        }                                                                                \
    } while (0)

static pmix_proc_t me;

static char *get_string(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = rank;
    CHECK(PMIx_Get(&proc, key, NULL, 0, &value) == PMIX_SUCCESS);
    CHECK(value->type == PMIX_STRING && value->data.string != NULL);
    char *const text = value->data.string;
    value->data.string = NULL;
    PMIx_Value_free(value, 1);
    return text;
}

static uint32_t job_size(void)
{
    pmix_proc_t job = me;
    pmix_value_t *value;

    job.rank = PMIX_RANK_WILDCARD;
    CHECK(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) == PMIX_SUCCESS);
    const uint32_t size = value->data.uint32;
    PMIx_Value_free(value, 1);
    return size;
}

/* The binding that the launcher says is the one that the kernel says. */
static void check_binding(void)
{
    char *const text = get_string(me.rank, PMIX_CPUSET);
    pmix_cpuset_t said, is;

    CHECK(PMIx_Parse_cpuset_string(text, &said) == PMIX_SUCCESS);
    CHECK(PMIx_Get_cpuset(&is, PMIX_CPUBIND_PROCESS) == PMIX_SUCCESS);
    CHECK(hwloc_bitmap_isequal(said.bitmap, is.bitmap));
    PMIx_Cpuset_destruct(&said);
    PMIx_Cpuset_destruct(&is);
    free(text);
}

static void check_localities(void)
{
    char *const mine = get_string(me.rank, PMIX_LOCALITY_STRING);

    for (pmix_rank_t rank = 0; rank < job_size(); rank++) {
        char *const its = get_string(rank, PMIX_LOCALITY_STRING);
        pmix_locality_t locality = 0;

        CHECK(PMIx_Get_relative_locality(mine, its, &locality) == PMIX_SUCCESS);
        CHECK((locality & PMIX_LOCALITY_SHARE_NODE) != 0);
        CHECK((locality & PMIX_LOCALITY_NONLOCAL) == 0);
        /* Each has a core of its own. */
        CHECK(((locality & PMIX_LOCALITY_SHARE_CORE) != 0) == (rank == me.rank));
        free(its);
    }
    free(mine);
}

static void check_devices(size_t want)
{
    pmix_device_distance_t *distances = NULL;
    size_t count = 0;
    const pmix_status_t rc = PMIx_Compute_distances(NULL, NULL, NULL, 0, &distances, &count);

    CHECK(rc == (want > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND));
    CHECK(count == want);
    for (size_t i = 0; i < count; i++) {
        CHECK(distances[i].mindist <= distances[i].maxdist);
    }
    PMIx_Device_distance_free(distances, count);
}

int main(int argc, char **argv)
{
    pmix_topology_t topo = { .source = NULL };
    const bool bound = argc == 2 && strcmp(argv[1], "bound") == 0;

    if (argc != 4 && !bound) {
        fprintf(stderr, "usage: topology PACKAGES PUS DEVICES, or: topology bound\n");
        return 2;
    }
    CHECK(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Load_topology(&topo) == PMIX_SUCCESS);
    if (!bound) {
        CHECK(hwloc_get_nbobjs_by_type(topo.topology, HWLOC_OBJ_PACKAGE) == atoi(argv[1]));
        CHECK(hwloc_get_nbobjs_by_type(topo.topology, HWLOC_OBJ_PU) == atoi(argv[2]));
        check_devices(strtoul(argv[3], NULL, 10));
    } else {
        check_binding();
        check_localities();
    }
    PMIx_Topology_destruct(&topo);
    CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    return 0;
}
