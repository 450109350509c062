/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_read.c
 * Question:  what does a read through <shmix.h> cost, and what does it save over PMIx_Get?
 * Predict:   binding, column, chunk, cell: a scalar by handle at most 30 ns, a view of a string,
 *            address and length, at most 40 ns, and a cache miss more for who reads the string;
 *            PMIx_Get pays for the hash, the probe and, unless the value is static, a malloc and
 *            a free on top.
 * Method:    this program is the host of a job and starts itself as the one rank it has here;
 *            reads in seeded random order of rank and key, each waiting for the last (the value
 *            picks the next), in batches; the best and the median batch, in ns a read.
 * Varies:    cells; the way of reading.  Fixed: 40 keys, half of them strings, seed 42.
 * Control:   the same walk over the same random numbers without a read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>
#include <shmix.h>

#include "base/clock.h"
#include "base/util.h"
#include "samples.h"

#define NSPACE "bench.native"
#define KIND_KEYS 20u /* of numbers, and of strings */
#define KEY_COUNT (2 * KIND_KEYS)
#define BATCHES_MAX 400
#define READS_PER_BATCH 4096u
#define CLIENT_SECONDS 100

#define TEXT "x: the address of a process"

enum way {
    WAY_SCALAR,
    WAY_STRING,
    WAY_TEXT,
    WAY_VALUE,
    WAY_GET_STATIC,
    WAY_GET,
    WAY_CONTROL,
    WAY_COUNT
};
static const char *const way_names[] = { "scalar by handle", "string view",     "string, read",
                                         "value by handle",  "PMIx_Get static", "PMIx_Get",
                                         "control" };

extern char **environ;

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "native_read: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void key_name(char name[32], unsigned index)
{
    snprintf(name, 32, "bench.%s.%u", index < KIND_KEYS ? "number" : "text", index % KIND_KEYS);
}

/* ---- the rank ------------------------------------------------------------------------------- */

struct bench {
    uint32_t ranks;
    char names[KEY_COUNT][32];
    const shmix_key_t *keys[KEY_COUNT];
    pmix_proc_t proc;
    pmix_info_t is_static;
    uint64_t checksum;
};

/* What the next choice waits for: 0, which the processor cannot know. */
static inline uint64_t read_one(struct bench *bench, enum way way, uint32_t key, uint32_t rank)
{
    pmix_value_t stored, *value = &stored;
    uint64_t number = 0;
    shmix_value_t view;
    const char *text;
    size_t len;

    switch (way) {
    case WAY_SCALAR:
        need(shmix_read_u64(bench->keys[key], rank, &number), "shmix_read_u64");
        return number;
    case WAY_STRING:
    case WAY_TEXT:
        need(shmix_read_string(bench->keys[KIND_KEYS + key], rank, &text, &len),
             "shmix_read_string");
        return way == WAY_STRING ? len - strlen(TEXT) : (uint64_t)(text[0] - TEXT[0]);
    case WAY_VALUE:
        need(shmix_read_value(bench->keys[key], rank, &view), "shmix_read_value");
        return view.number.u64;
    case WAY_GET_STATIC:
        bench->proc.rank = rank;
        need(PMIx_Get(&bench->proc, bench->names[key], &bench->is_static, 1, &value), "PMIx_Get");
        return stored.data.uint64;
    case WAY_GET:
        bench->proc.rank = rank;
        need(PMIx_Get(&bench->proc, bench->names[key], NULL, 0, &value), "PMIx_Get");
        number = value->data.uint64;
        free(value);
        return number;
    default:
        return 0;
    }
}

static inline double batch(struct bench *bench, enum way way, uint64_t *state)
{
    uint64_t wait = 0;
    const uint64_t begin_ns = sx_now_ns();

    for (unsigned i = 0; i < READS_PER_BATCH; i++) {
        /* By multiplication: a division would lie in the chain of reads, and not in the control. */
        const uint64_t pick = samples_random(state) + wait;
        const uint32_t rank = (uint32_t)(((pick >> 32) * bench->ranks) >> 32);
        const uint32_t key = (uint32_t)(((pick & UINT32_MAX) * KIND_KEYS) >> 32);

        wait = read_one(bench, way, key, rank);
        bench->checksum += rank + key + wait;
    }
    return (double)(sx_now_ns() - begin_ns) / READS_PER_BATCH;
}

static void measure(struct bench *bench, enum way way, int batches)
{
    static double ns[BATCHES_MAX];
    uint64_t state = 42;

    batch(bench, way, &state); /* warm-up, discarded */
    for (int b = 0; b < batches; b++) {
        ns[b] = batch(bench, way, &state);
    }
    samples_sort(ns, batches);
    printf("%-18s %6" PRIu32 " cells: best %6.1f ns, median %6.1f ns\n", way_names[way],
           bench->ranks * KEY_COUNT, ns[0], ns[batches / 2]);
}

static int client_main(int batches)
{
    static struct bench bench;
    const shmix_key_t *size_key;
    shmix_job_t *job;
    uint64_t size;

    alarm(CLIENT_SECONDS);
    need(PMIx_Init(&bench.proc, NULL, 0), "PMIx_Init");
    need(shmix_job_open(NULL, &job), "shmix_job_open");
    need(shmix_key_find(job, SHMIX_JOB, PMIX_JOB_SIZE, &size_key), "shmix_key_find");
    need(shmix_read_u64(size_key, PMIX_RANK_WILDCARD, &size), PMIX_JOB_SIZE);
    bench.ranks = (uint32_t)size;
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        key_name(bench.names[i], i);
        need(shmix_key_find(job, SHMIX_JOB, bench.names[i], &bench.keys[i]), "shmix_key_find");
    }
    need(PMIx_Info_load(&bench.is_static, PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL), "info");
    for (int way = 0; way < WAY_COUNT; way++) {
        measure(&bench, (enum way)way, batches);
    }
    printf("# checksum %" PRIu64 "\n", bench.checksum);
    need(shmix_job_close(job), "shmix_job_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void load_rank(pmix_info_t *info, uint32_t rank)
{
    pmix_info_t *infos;
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1 + KEY_COUNT };
    const uint64_t zero = 0;
    char name[32];

    PMIX_INFO_CREATE(infos, 1 + KEY_COUNT);
    need(PMIx_Info_load(&infos[0], PMIX_RANK, &rank, PMIX_PROC_RANK), "rank");
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        key_name(name, i);
        if (i < KIND_KEYS) {
            need(PMIx_Info_load(&infos[1 + i], name, &zero, PMIX_UINT64), name);
        } else {
            need(PMIx_Info_load(&infos[1 + i], name, TEXT, PMIX_STRING), name);
        }
    }
    array.array = infos;
    need(PMIx_Info_load(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY), "process data");
    PMIX_INFO_FREE(infos, 1 + KEY_COUNT);
}

static void register_job(uint32_t ranks)
{
    pmix_nspace_t nspace = NSPACE;
    pmix_info_t *infos;

    PMIX_INFO_CREATE(infos, 1 + ranks);
    need(PMIx_Info_load(&infos[0], PMIX_JOB_SIZE, &ranks, PMIX_UINT32), "job size");
    for (uint32_t rank = 0; rank < ranks; rank++) {
        load_rank(&infos[1 + rank], rank);
    }
    need(PMIx_server_register_nspace(nspace, 1, infos, 1 + ranks, NULL, NULL), "namespace");
    PMIX_INFO_FREE(infos, 1 + ranks);
}

/* Start this program as rank 0 and wait for it. */
static int run_client(bool smoke)
{
    pmix_proc_t proc = { .nspace = NSPACE, .rank = 0 };
    char *argv[] = { (char *)(uintptr_t) "native_read", (char *)(uintptr_t) "--rank",
                     smoke ? (char *)(uintptr_t) "--smoke" : NULL, NULL };
    char **env = NULL;
    int status;

    for (size_t i = 0; environ[i] != NULL; i++) {
        need(PMIx_Argv_append_nosize(&env, environ[i]), "environment");
    }
    need(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "client");
    need(PMIx_server_setup_fork(&proc, &env), "PMIx_server_setup_fork");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execve("/proc/self/exe", argv, env);
        _exit(127);
    }
    PMIx_Argv_free(env);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        fprintf(stderr, "native_read: the rank could not be started or was killed\n");
        return 1;
    }
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 25, 1600 };
    static pmix_server_module_t module;
    const bool smoke = argc > 1 && strcmp(argv[argc - 1], "--smoke") == 0;
    pmix_nspace_t nspace = NSPACE;
    int failed = 0;

    if (argc > 1 && strcmp(argv[1], "--rank") == 0) {
        return client_main(smoke ? 2 : BATCHES_MAX);
    }
    samples_machine("native_read");
    for (size_t i = 0; i < (smoke ? 1 : SX_COUNT(sizes)) && failed == 0; i++) {
        need(PMIx_server_init(&module, NULL, 0), "PMIx_server_init");
        register_job(sizes[i]);
        failed = run_client(smoke);
        PMIx_server_deregister_nspace(nspace, NULL, NULL);
        need(PMIx_server_finalize(), "PMIx_server_finalize");
    }
    return failed;
}
