/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* register.c
 * Question:  how long does a host wait until the data of a large job are registered?
 * Predict:   a value costs about 250 ns (size, encode, probe, store), so 10,000 ranks with eight
 *            keys each 20 ms; what is derived from the maps instead, four keys a rank, 15 ms.  Per
 *            value the store holds a cell of 16 bytes, and 16 more where it is a host name.
 * Method:    PMIx_server_register_nspace without a callback, which returns when all is stored; each
 *            time another namespace, removed again; the best and the median of the rounds.
 * Varies:    the form: an array per rank as Slurm and ORTE give it, or the two maps alone.
 * Fixed:     16 ranks a node, host names of 8 bytes.  Limit: 200 ms for 10,000 ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/clock.h"
#include "base/role.h"
#include "base/util.h"
#include "shmem/store.h"

#define RANKS_PER_NODE 16u
#define KEYS_PER_RANK 8u
#define ROUNDS_MAX 20

enum form { FORM_ARRAYS, FORM_MAPS, FORM_COUNT };
static const char *const form_names[] = { "an array per rank", "maps alone" };

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "register: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void load(pmix_info_t *info, const char *key, const void *data, pmix_data_type_t type)
{
    must(PMIx_Info_load(info, key, data, type), key);
}

static void load_rank(pmix_info_t *info, uint32_t rank)
{
    pmix_info_t inner[1 + KEYS_PER_RANK];
    pmix_data_array_t array = { .type = PMIX_INFO, .array = inner };
    const uint32_t zero = 0, node = rank / RANKS_PER_NODE;
    const uint16_t local = (uint16_t)(rank % RANKS_PER_NODE);
    char hostname[16];

    snprintf(hostname, sizeof(hostname), "node%04u", node);
    load(&inner[array.size++], PMIX_RANK, &rank, PMIX_PROC_RANK);
    load(&inner[array.size++], PMIX_APPNUM, &zero, PMIX_UINT32);
    load(&inner[array.size++], PMIX_APPLDR, &zero, PMIX_PROC_RANK);
    load(&inner[array.size++], PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
    load(&inner[array.size++], PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
    load(&inner[array.size++], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    load(&inner[array.size++], PMIX_NODE_RANK, &local, PMIX_UINT16);
    load(&inner[array.size++], PMIX_HOSTNAME, hostname, PMIX_STRING);
    load(&inner[array.size++], PMIX_NODEID, &node, PMIX_UINT32);
    load(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < array.size; i++) {
        PMIx_Info_destruct(&inner[i]);
    }
}

/* The two maps, as PMIx_generate_regex and _ppn make them. */
static void load_maps(pmix_info_t *infos, uint32_t rank_count)
{
    char *const text = calloc(rank_count + 1, 12);
    char *at = text, *map;

    if (text == NULL) {
        must(PMIX_ERR_NOMEM, "maps");
    }
    for (uint32_t node = 0; node * RANKS_PER_NODE < rank_count; node++) {
        at += sprintf(at, "%snode%04u", node == 0 ? "" : ",", node);
    }
    must(PMIx_generate_regex(text, &map), "generate_regex");
    load(&infos[0], PMIX_NODE_MAP, map, PMIX_STRING);
    free(map);
    at = text;
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        at += sprintf(at, "%s%u", rank == 0 ? "" : rank % RANKS_PER_NODE == 0 ? ";" : ",", rank);
    }
    must(PMIx_generate_ppn(text, &map), "generate_ppn");
    load(&infos[1], PMIX_PROC_MAP, map, PMIX_STRING);
    free(map);
    free(text);
}

static bool used_of(void *arg, const char *nspace, const struct sx_store *store)
{
    (void)nspace;
    *(uint64_t *)arg = atomic_load(&sx_segment_header(&store->seg)->used_bytes);
    return false;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void measure(enum form form, uint32_t rank_count, int rounds)
{
    pmix_info_t *const infos = calloc(rank_count + 8, sizeof(*infos));
    double ms[ROUNDS_MAX];
    uint64_t used_bytes = 0;
    size_t count = 0;

    load(&infos[count++], PMIX_JOB_SIZE, &rank_count, PMIX_UINT32);
    load_maps(&infos[count], rank_count);
    count += 2;
    for (uint32_t rank = 0; rank < rank_count && form == FORM_ARRAYS; rank++) {
        load_rank(&infos[count++], rank);
    }
    for (int i = 0; i < rounds; i++) {
        pmix_nspace_t nspace;

        snprintf(nspace, sizeof(nspace), "job.%d", i);
        const uint64_t begin_ns = sx_now_ns();
        must(PMIx_server_register_nspace(nspace, 0, infos, count, NULL, NULL), "register_nspace");
        ms[i] = (double)(sx_now_ns() - begin_ns) / 1e6;
        must(sx_role_server_get()->each_store(nspace, used_of, &used_bytes), "each_store");
        PMIx_server_deregister_nspace(nspace, NULL, NULL);
    }
    qsort(ms, (size_t)rounds, sizeof(*ms), compare);
    printf("%-18s %6" PRIu32 " ranks: best %7.2f ms, median %7.2f ms; %.0f bytes a rank\n",
           form_names[form], rank_count, ms[0], ms[rounds / 2],
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
    struct utsname host;

    if (uname(&host) == 0) {
        printf("# register: %s %s, %ld cpus, compiler %s\n", host.sysname, host.release,
               sysconf(_SC_NPROCESSORS_ONLN), __VERSION__);
    }
    must(PMIx_server_init(&module, NULL, 0), "server_init");
    for (size_t i = 0; i < (smoke ? 1 : SX_COUNT(sizes)); i++) {
        for (int form = 0; form < FORM_COUNT; form++) {
            measure((enum form)form, sizes[i], smoke ? 2 : ROUNDS_MAX);
        }
    }
    must(PMIx_server_finalize(), "server_finalize");
    return 0;
}
