/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_group.c
 * Question:  what does a look at a list of processes cost, and do lists that come and go delay it?
 * Predict:   hold, spot, record: a handle's read at most 50 ns, PMIx_Get of the names of its sets
 *            at most 400 ns; while the host defines and deletes sets as fast as it can, half and
 *            99 % of the reads take what they take when it is quiet.  The rest pays for the
 *            second process on the machine.
 * Method:    this program is the host of a job and starts itself as the one rank it has; the best
 *            and the median batch, in ns a read; then each read with a refresh timed by itself.
 * Varies:    members; quiet or not.  Fixed: seed 42.
 * Control:   two looks at the clock with nothing between them. */
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
#include "hist.h"
#include "samples.h"

#define NSPACE "bench.group"
#define SET "bench"
#define CHURN_MEMBERS 64u
#define MEMBERS_MAX 4096u
#define BATCHES_MAX 400
#define READS_PER_BATCH 4096u
#define SAMPLES 1000000u
#define CLIENT_SECONDS 100

enum way { WAY_INFO, WAY_MEMBER, WAY_RANK, WAY_OWN_RANK, WAY_REFRESH, WAY_GET, WAY_COUNT };
static const char *const way_names[] = { "info",     "member",  "rank of a process",
                                         "own rank", "refresh", "PMIx_Get of the names" };

extern char **environ;

static void need(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "native_group: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

/* ---- the rank ------------------------------------------------------------------------------- */

struct bench {
    shmix_group_t *group;
    uint32_t size;
    pmix_proc_t me;
    uint64_t checksum;
};

static inline uint64_t read_one(struct bench *bench, enum way way, uint32_t rank)
{
    pmix_proc_t proc = { .nspace = NSPACE, .rank = rank };
    shmix_group_facts_t facts;
    pmix_value_t *value;
    pmix_rank_t found = 0;

    switch (way) {
    case WAY_INFO:
        need(shmix_group_info(bench->group, &facts), "shmix_group_info");
        return facts.generation;
    case WAY_MEMBER:
        need(shmix_group_member(bench->group, rank, &proc), "shmix_group_member");
        return proc.rank;
    case WAY_RANK:
        need(shmix_group_rank(bench->group, &proc, &found), "shmix_group_rank");
        return found;
    case WAY_OWN_RANK:
        need(shmix_group_rank(bench->group, NULL, &found), "shmix_group_rank");
        return found;
    case WAY_REFRESH:
        need(shmix_group_refresh(bench->group), "shmix_group_refresh");
        return 0;
    default:
        need(PMIx_Get(&bench->me, PMIX_PSET_NAMES, NULL, 0, &value), "PMIx_Get");
        found = (pmix_rank_t)value->data.darray->size;
        PMIx_Value_free(value, 1);
        return found;
    }
}

static void measure(struct bench *bench, enum way way, int batches)
{
    static double ns[BATCHES_MAX];
    uint64_t state = 42;

    for (int b = -1; b < batches; b++) { /* the first one is a warm-up, discarded */
        const uint64_t begin_ns = sx_now_ns();

        for (unsigned i = 0; i < READS_PER_BATCH; i++) {
            const uint64_t pick = samples_random(&state) >> 32;

            bench->checksum += read_one(bench, way, (uint32_t)(pick * bench->size >> 32));
        }
        ns[b < 0 ? 0 : b] = (double)(sx_now_ns() - begin_ns) / READS_PER_BATCH;
    }
    samples_sort(ns, batches);
    printf("%-22s %6" PRIu32 " members: best %6.1f ns, median %6.1f ns\n", way_names[way],
           bench->size, ns[0], ns[batches / 2]);
}

/* One read after the other, each with a look whether there is something newer. */
static void distribute(struct bench *bench, const char *what, uint32_t samples, bool reads)
{
    static struct hist hist;

    memset(&hist, 0, sizeof(hist));
    for (uint32_t i = 0; i < samples; i++) {
        const uint64_t begin_ns = sx_now_ns();

        if (reads) {
            bench->checksum += read_one(bench, WAY_REFRESH, 0);
            bench->checksum += read_one(bench, WAY_MEMBER, i % bench->size);
        }
        hist_add(&hist, sx_now_ns() - begin_ns);
    }
    printf("%-22s %6" PRIu32 " members: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
           ", max %" PRIu64 " ns\n",
           what, bench->size, hist_at(&hist, 0.5), hist_at(&hist, 0.99), hist_at(&hist, 0.999),
           hist.max);
}

static int client_main(bool churned, bool smoke)
{
    static struct bench bench;
    const uint32_t samples = smoke ? 1000 : SAMPLES;
    shmix_group_facts_t facts;

    alarm(CLIENT_SECONDS);
    need(PMIx_Init(&bench.me, NULL, 0), "PMIx_Init");
    need(shmix_set_open(SET, &bench.group), "shmix_set_open");
    need(shmix_group_info(bench.group, &facts), "shmix_group_info");
    bench.size = facts.size;
    for (int way = 0; way < WAY_COUNT && !churned; way++) {
        measure(&bench, (enum way)way, smoke ? 2 : BATCHES_MAX);
    }
    distribute(&bench, "control", samples, false);
    distribute(&bench, churned ? "while sets come and go" : "quiet", samples, true);
    printf("# checksum %" PRIu64 "\n", bench.checksum);
    need(shmix_group_close(bench.group), "shmix_group_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void define(const char *set, uint32_t members)
{
    static pmix_proc_t procs[MEMBERS_MAX];

    for (uint32_t rank = 0; rank < members; rank++) {
        PMIx_Load_procid(&procs[rank], NSPACE, rank);
    }
    need(PMIx_server_define_process_set(procs, members, set), "define");
}

static void register_job(uint32_t members)
{
    pmix_nspace_t nspace = NSPACE;
    pmix_info_t info;

    need(PMIx_Info_load(&info, PMIX_JOB_SIZE, &members, PMIX_UINT32), "job size");
    need(PMIx_server_register_nspace(nspace, 1, &info, 1, NULL, NULL), "namespace");
}

/* Start this program as rank 0.  Return: its process id. */
static pid_t client_start(bool churned, bool smoke)
{
    pmix_proc_t proc = { .nspace = NSPACE, .rank = 0 };
    char *argv[] = { (char[]){ "native_group" }, (char[]){ "--rank" },
                     churned ? (char[]){ "churned" } : (char[]){ "quiet" },
                     smoke ? (char[]){ "--smoke" } : NULL, NULL };
    char **env = NULL;

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
    return child;
}

/* Return: 0 when the rank has ended well. */
static int run(uint32_t members, bool churned, bool smoke)
{
    char churn[] = "churn";
    uint64_t rounds = 0;
    int status = 0;

    register_job(members);
    define(SET, members);
    const pid_t child = client_start(churned, smoke);
    pid_t ended = child < 0 ? child : 0;

    while (ended == 0) {
        if (churned) {
            define(churn, CHURN_MEMBERS);
            need(PMIx_server_delete_process_set(churn), "delete");
            rounds++;
        }
        ended = waitpid(child, &status, churned ? WNOHANG : 0);
    }
    if (churned) {
        printf("# %" PRIu64 " sets were defined and deleted meanwhile\n", rounds);
    }
    return ended != child || status != 0;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 64, MEMBERS_MAX };
    static pmix_server_module_t module;
    const bool smoke = argc > 1 && strcmp(argv[argc - 1], "--smoke") == 0;
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "--rank") == 0) {
        return client_main(strcmp(argv[2], "churned") == 0, smoke);
    }
    samples_machine("native_group");
    for (size_t i = 0; i < 2 * (smoke ? 1 : SX_COUNT(sizes)) && failed == 0; i++) {
        need(PMIx_server_init(&module, NULL, 0), "PMIx_server_init");
        failed = run(sizes[i / 2], i % 2 == 1, smoke);
        need(PMIx_server_finalize(), "PMIx_server_finalize");
    }
    return failed;
}
