/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* register.c
 * Question:  how long does a host wait until the data of a large job are registered?
 * Predict:   a value costs about 250 ns (size, encode, probe, store), so 10,000 ranks with eight
 *            keys each 20 ms; what is derived from the maps instead, four keys a rank, 15 ms.  Per
 *            value the store holds a cell of 16 bytes, and 16 more where it is a host name.
 * Method:    PMIx_server_register_nspace without a callback, which returns when all is stored; each
 *            time another namespace, removed again; the best and the median of the rounds, and the
 *            least CPU time of one, which does not depend on who else wants the CPUs.
 * Varies:    the form: the arrays per rank of Slurm 22.05, of ORTE 4.1 and of `shmix run` (one
 *            node, all local and bound), or the two maps alone; the ranks.
 * Fixed:     16 ranks a node but for `shmix run`, host names of 8 bytes, a topology of 6 KiB.
 *            Limit: 200 ms for 10,000 ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/util.h"
#include "samples.h"
#include "shmem/store.h"

#define RANKS_PER_NODE 16u
#define KEYS_PER_RANK_MAX 15u
#define JOB_KEYS_MAX 8u
#define TOPOLOGY_BYTES 6500u
#define ROUNDS_MAX 10

enum form { FORM_SLURM, FORM_ORTE, FORM_RUN, FORM_MAPS, FORM_COUNT };
static const char *const form_names[] = { "Slurm's arrays", "ORTE's arrays", "shmix run's arrays",
                                          "maps alone" };

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "register: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void load(pmix_info_t *info, const char *key, const void *data, pmix_data_type_t type)
{
    must(PMIx_Info_load(info, key, data, type), key);
}

/* An array of infos being filled. */
struct bag {
    pmix_info_t infos[KEYS_PER_RANK_MAX];
    size_t count;
};

static void add(struct bag *bag, const char *key, const void *data, pmix_data_type_t type)
{
    load(&bag->infos[bag->count++], key, data, type);
}

static uint32_t ranks_per_node(enum form form, uint32_t rank_count)
{
    return form == FORM_RUN ? rank_count : RANKS_PER_NODE;
}

static void load_rank(pmix_info_t *info, enum form form, uint32_t rank, uint32_t per_node)
{
    struct bag bag = { .count = 0 };
    const uint32_t zero = 0, node = rank / per_node;
    const int32_t app = 0;
    const uint16_t local = (uint16_t)(rank % per_node);
    char hostname[16], cpuset[16];

    snprintf(hostname, sizeof(hostname), "node%04u", node);
    snprintf(cpuset, sizeof(cpuset), "%u", local);
    add(&bag, PMIX_RANK, &rank, PMIX_PROC_RANK);
    add(&bag, PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    add(&bag, PMIX_NODE_RANK, &local, PMIX_UINT16);
    add(&bag, PMIX_HOSTNAME, hostname, PMIX_STRING);
    add(&bag, PMIX_NODEID, &node, PMIX_UINT32);
    if (form == FORM_SLURM) {
        add(&bag, PMIX_APPNUM, &app, PMIX_INT);
        add(&bag, PMIX_APPLDR, &app, PMIX_INT);
        add(&bag, PMIX_GLOBAL_RANK, &rank, PMIX_UINT32);
        add(&bag, PMIX_APP_RANK, &rank, PMIX_UINT32);
    } else {
        add(&bag, PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
        add(&bag, PMIX_LOCALITY_STRING, "NM0:SK0:L30:L20:L10:CR0:HT0", PMIX_STRING);
        add(&bag, PMIX_CPUSET, cpuset, PMIX_STRING);
    }
    if (form == FORM_RUN) {
        add(&bag, PMIX_APPNUM, &zero, PMIX_UINT32);
        add(&bag, PMIX_APPLDR, &zero, PMIX_PROC_RANK);
        add(&bag, PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
        add(&bag, PMIX_REINCARNATION, &zero, PMIX_UINT32);
        add(&bag, PMIX_PACKAGE_RANK, &local, PMIX_UINT16);
    }
    const pmix_data_array_t array = { .type = PMIX_INFO, .size = bag.count, .array = bag.infos };

    load(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < bag.count; i++) {
        PMIx_Info_destruct(&bag.infos[i]);
    }
}

/* The two maps, as PMIx_generate_regex and _ppn make them. */
static void load_maps(pmix_info_t *infos, uint32_t rank_count, uint32_t per_node)
{
    char *const text = calloc(rank_count + 1, 12);
    char *at = text, *map;

    if (text == NULL) {
        must(PMIX_ERR_NOMEM, "maps");
    }
    for (uint32_t node = 0; node * per_node < rank_count; node++) {
        at += sprintf(at, "%snode%04u", node == 0 ? "" : ",", node);
    }
    must(PMIx_generate_regex(text, &map), "generate_regex");
    load(&infos[0], PMIX_NODE_MAP, map, PMIX_STRING);
    free(map);
    at = text;
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        at += sprintf(at, "%s%u", rank == 0 ? "" : rank % per_node == 0 ? ";" : ",", rank);
    }
    must(PMIx_generate_ppn(text, &map), "generate_ppn");
    load(&infos[1], PMIX_PROC_MAP, map, PMIX_STRING);
    free(map);
    free(text);
}

static bool used_of(void *arg, const char *nspace, const struct sx_store *store,
                    const struct sx_membership *members)
{
    (void)nspace, (void)members;
    *(uint64_t *)arg = atomic_load(&sx_segment_header(&store->seg)->used_bytes);
    return false;
}

static double cpu_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Return: how many infos the job has; *ret_infos is for job_free. */
static size_t job_make(enum form form, uint32_t rank_count, pmix_info_t **ret_infos)
{
    static char topology[TOPOLOGY_BYTES];
    pmix_info_t *const infos = calloc(rank_count + JOB_KEYS_MAX, sizeof(*infos));
    const uint32_t per_node = ranks_per_node(form, rank_count);
    size_t count = 0;

    if (infos == NULL) {
        must(PMIX_ERR_NOMEM, "infos");
    }
    memset(topology, ' ', sizeof(topology) - 1);
    load(&infos[count++], PMIX_JOB_SIZE, &rank_count, PMIX_UINT32);
    load(&infos[count++], PMIX_LOCAL_TOPO, topology, PMIX_STRING);
    load(&infos[count++], PMIX_HWLOC_XML_V2, topology, PMIX_STRING);
    load_maps(&infos[count], rank_count, per_node);
    count += 2;
    for (uint32_t rank = 0; rank < rank_count && form != FORM_MAPS; rank++) {
        load_rank(&infos[count++], form, rank, per_node);
    }
    *ret_infos = infos;
    return count;
}

static void measure(enum form form, uint32_t rank_count, int rounds)
{
    const int local_count = (int)ranks_per_node(form, rank_count);
    pmix_info_t *infos;
    const size_t count = job_make(form, rank_count, &infos);
    double ms[ROUNDS_MAX], cpu_ms[ROUNDS_MAX];
    uint64_t used_bytes = 0;

    for (int i = 0; i < rounds; i++) {
        pmix_nspace_t nspace;

        snprintf(nspace, sizeof(nspace), "job.%d", i);
        const double cpu_begin_ms = cpu_now_ms();
        const uint64_t begin_ns = sx_now_ns();
        must(PMIx_server_register_nspace(nspace, local_count, infos, count, NULL, NULL),
             "register_nspace");
        ms[i] = (double)(sx_now_ns() - begin_ns) / 1e6;
        cpu_ms[i] = cpu_now_ms() - cpu_begin_ms;
        must(sx_role_server_get()->each_store(nspace, used_of, &used_bytes), "each_store");
        PMIx_server_deregister_nspace(nspace, NULL, NULL);
    }
    samples_sort(ms, rounds);
    samples_sort(cpu_ms, rounds);
    printf("%-18s %6" PRIu32 " ranks: best %7.2f ms, median %7.2f ms, CPU %7.2f ms; "
           "%.0f bytes a rank\n",
           form_names[form], rank_count, ms[0], ms[rounds / 2], cpu_ms[0],
           (double)used_bytes / (double)rank_count);
    for (size_t i = 0; i < count; i++) {
        PMIx_Info_destruct(&infos[i]);
    }
    free(infos);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 100, 10000, 100000 };
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    pmix_server_module_t module = { .abort = NULL };

    samples_machine("register");
    must(PMIx_server_init(&module, NULL, 0), "server_init");
    for (size_t i = 0; i < (smoke ? 1 : SX_COUNT(sizes)); i++) {
        for (int form = 0; form < FORM_COUNT; form++) {
            measure((enum form)form, sizes[i], smoke ? 2 : sizes[i] > 10000 ? 3 : ROUNDS_MAX);
        }
    }
    must(PMIx_server_finalize(), "server_finalize");
    return 0;
}
