/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_group.c
 * Question:  what does a look at a list of processes cost, and do lists that come and go delay it?
 * Predict:   hold, spot, record: a handle's read at most 50 ns; PMIx_Get of what follows from a
 *            group at most 150 ns, of the names of its sets at most 400 ns; a query of how many sets
 *            there are at most 5 us.  While the host defines and deletes sets as fast as it can, and
 *            while the members of the group that is read construct it, leave it one by one and end
 *            it, half and 99 % of the reads take what they take when it is quiet.  The rest pays for
 *            the other processes on the machine.
 * Method:    this program is the host of a job and starts itself as the rank that reads; the best
 *            and the median batch, in ns a read; then each read with a refresh timed by itself.
 *            Four more ranks are the members of the group that changes; when it has ended, the
 *            reader opens it anew, which is not timed.
 * Varies:    members; quiet, other lists change, or the list that is read.  Fixed: seed 42.
 * Control:   two looks at the clock with nothing between them. */
#include <inttypes.h>
#include <signal.h>
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
#define OWN_GROUP "bench.own"   /* of the reader alone */
#define LIST_GROUP "bench.list" /* that others make, leave and end while it is read */
#define CHURN_MEMBERS 64u
#define MEMBERS_MAX 4096u
#define BATCHES_MAX 400
#define READS_PER_BATCH 4096u
#define SAMPLES 1000000u
#define CLIENT_SECONDS 100
#define CHANGERS 4u /* the ranks from 1 on */

enum way {
    WAY_INFO,
    WAY_MEMBER,
    WAY_RANK,
    WAY_OWN_RANK,
    WAY_REFRESH,
    WAY_GET_SIZE,
    WAY_GET_LOCAL_SIZE,
    WAY_GET_RANK,
    WAY_GET_NAMES,
    WAY_QUERY,
    WAY_COUNT
};
static const char *const way_names[] = {
    "info",         "member",         "rank of a process", "own rank",       "refresh",
    "Get JOB_SIZE", "Get LOCAL_SIZE", "Get RANK",          "Get PSET_NAMES", "query NUM_PSETS",
};

/* What happens while the reader reads. */
enum mode { MODE_QUIET, MODE_SETS, MODE_LIST, MODE_COUNT };
static const char *const mode_names[] = { "quiet", "while sets come and go", "while it changes" };

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
    uint64_t newest, generations, opened; /* of a list that changes: what was seen of it */
};

/* What follows from the group of one, by the name @rank of it. */
static uint64_t get_number(const char *key, pmix_rank_t rank)
{
    pmix_proc_t proc = { .nspace = OWN_GROUP, .rank = rank };
    pmix_value_t *value;

    need(PMIx_Get(&proc, key, NULL, 0, &value), key);
    const uint64_t number = value->data.uint32;

    PMIx_Value_free(value, 1);
    return number;
}

static uint64_t query_one(void)
{
    char *keys[] = { (char[]){ PMIX_QUERY_NUM_PSETS }, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *info;
    size_t count;

    need(PMIx_Query_info(&query, 1, &info, &count), "PMIx_Query_info");
    const size_t sets = info->value.data.size;

    PMIx_Info_free(info, count);
    return sets;
}

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
    case WAY_QUERY:
        return query_one();
    case WAY_GET_SIZE:
        return get_number(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD);
    case WAY_GET_LOCAL_SIZE:
        return get_number(PMIX_LOCAL_SIZE, PMIX_RANK_WILDCARD);
    case WAY_GET_RANK:
        return get_number(PMIX_RANK, 0);
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

static void distribution_print(const struct hist *hist, const char *what, uint32_t members)
{
    printf("%-22s %6" PRIu32 " members: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
           ", max %" PRIu64 " ns\n",
           what, members, hist_at(hist, 0.5), hist_at(hist, 0.99), hist_at(hist, 0.999), hist->max);
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
    distribution_print(&hist, what, bench->size);
}

/* As long as there is none of that name: somebody makes it. */
static void list_open(struct bench *bench)
{
    pmix_status_t rc;

    while ((rc = shmix_group_open(LIST_GROUP, &bench->group)) == PMIX_ERR_NOT_FOUND) {
    }
    need(rc, "shmix_group_open");
    bench->opened++;
    bench->newest = 0;
}

/* The same for a group that changes all the time.  A member that has left is no failure. */
static void distribute_list(struct bench *bench, uint32_t samples)
{
    static struct hist hist;

    for (uint32_t i = 0; i < samples; i++) {
        shmix_group_facts_t facts;
        pmix_proc_t proc;
        const uint64_t begin_ns = sx_now_ns();
        const pmix_status_t rc = shmix_group_refresh(bench->group);

        (void)shmix_group_member(bench->group, i % CHANGERS, &proc);
        hist_add(&hist, sx_now_ns() - begin_ns);
        need(shmix_group_info(bench->group, &facts), "shmix_group_info");
        bench->generations += facts.generation != bench->newest;
        bench->newest = facts.generation;
        if (rc == PMIX_ERR_NOT_FOUND) {
            need(shmix_group_close(bench->group), "shmix_group_close");
            list_open(bench);
        } else {
            need(rc, "shmix_group_refresh");
        }
    }
    distribution_print(&hist, mode_names[MODE_LIST], CHANGERS);
    printf("# it was made %" PRIu64 " times; %" PRIu64 " of its generations were seen\n",
           bench->opened, bench->generations);
}

static void own_group_make(struct bench *bench)
{
    pmix_info_t *results;
    size_t count;

    need(PMIx_Group_construct(OWN_GROUP, &bench->me, 1, NULL, 0, &results, &count), "construct");
    PMIx_Info_free(results, count);
}

static int reader_main(enum mode mode, bool smoke)
{
    static struct bench bench;
    const uint32_t samples = smoke ? 1000 : SAMPLES;
    shmix_group_facts_t facts;

    alarm(CLIENT_SECONDS);
    need(PMIx_Init(&bench.me, NULL, 0), "PMIx_Init");
    if (mode == MODE_LIST) {
        list_open(&bench);
        distribute_list(&bench, samples);
    } else {
        need(shmix_set_open(SET, &bench.group), "shmix_set_open");
        need(shmix_group_info(bench.group, &facts), "shmix_group_info");
        bench.size = facts.size;
        own_group_make(&bench);
        for (int way = 0; way < WAY_COUNT && mode == MODE_QUIET; way++) {
            measure(&bench, (enum way)way, smoke ? 2 : BATCHES_MAX);
        }
        distribute(&bench, "control", samples, false);
        distribute(&bench, mode_names[mode], samples, true);
    }
    printf("# checksum %" PRIu64 "\n", bench.checksum);
    need(shmix_group_close(bench.group), "shmix_group_close");
    need(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

/* ---- the ranks that change the list --------------------------------------------------------- */

/* Until it is killed. */
__attribute__((noreturn)) static void changer_main(void)
{
    pmix_proc_t all[CHANGERS], me;
    pmix_info_t *results;
    size_t count;

    alarm(CLIENT_SECONDS);
    need(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    for (uint32_t i = 0; i < CHANGERS; i++) {
        PMIx_Load_procid(&all[i], NSPACE, i + 1);
    }
    for (;;) {
        need(PMIx_Group_construct(LIST_GROUP, all, CHANGERS, NULL, 0, &results, &count),
             "construct");
        PMIx_Info_free(results, count);
        if (me.rank != 1) {
            need(PMIx_Group_leave(LIST_GROUP, NULL, 0), "leave");
        }
        need(PMIx_Fence(all, CHANGERS, NULL, 0), "fence");
        if (me.rank == 1) {
            need(PMIx_Group_destruct(LIST_GROUP, NULL, 0), "destruct");
        }
        need(PMIx_Fence(all, CHANGERS, NULL, 0), "fence");
    }
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

/* All that may be started are known before the first one is. */
static void register_job(uint32_t members)
{
    pmix_proc_t proc = { .nspace = NSPACE };
    pmix_nspace_t nspace = NSPACE;
    pmix_info_t info;

    need(PMIx_Info_load(&info, PMIX_JOB_SIZE, &members, PMIX_UINT32), "job size");
    need(PMIx_server_register_nspace(nspace, 1 + CHANGERS, &info, 1, NULL, NULL), "namespace");
    for (proc.rank = 0; proc.rank <= CHANGERS; proc.rank++) {
        need(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "client");
    }
}

/* Start this program as a rank.  Return: its process id. */
static pid_t client_start(pmix_rank_t rank, enum mode mode, bool smoke)
{
    pmix_proc_t proc = { .nspace = NSPACE, .rank = rank };
    char number[] = { (char)('0' + mode), '\0' };
    char *argv[] = { (char[]){ "native_group" },
                     rank == 0 ? (char[]){ "--reader" } : (char[]){ "--changer" }, number,
                     smoke ? (char[]){ "--smoke" } : NULL, NULL };
    char **env = NULL;

    for (size_t i = 0; environ[i] != NULL; i++) {
        need(PMIx_Argv_append_nosize(&env, environ[i]), "environment");
    }
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

/* Define and delete sets until @reader has ended, with *ret_status. */
static void sets_churn(pid_t reader, int *ret_status)
{
    char churn[] = "churn";
    uint64_t rounds = 0;

    for (pid_t ended = 0; ended == 0; rounds++) {
        define(churn, CHURN_MEMBERS);
        need(PMIx_server_delete_process_set(churn), "delete");
        ended = waitpid(reader, ret_status, WNOHANG);
    }
    printf("# %" PRIu64 " sets were defined and deleted meanwhile\n", rounds);
}

/* Return: 0 when the reader has ended well. */
static int run(uint32_t members, enum mode mode, bool smoke)
{
    pid_t changers[CHANGERS];
    int status = -1;

    register_job(members);
    define(SET, members);
    for (uint32_t i = 0; i < CHANGERS && mode == MODE_LIST; i++) {
        changers[i] = client_start(i + 1, mode, smoke);
    }
    const pid_t reader = client_start(0, mode, smoke);

    if (reader > 0 && mode == MODE_SETS) {
        sets_churn(reader, &status);
    } else if (reader > 0) {
        waitpid(reader, &status, 0);
    }
    for (uint32_t i = 0; i < CHANGERS && mode == MODE_LIST; i++) {
        if (changers[i] > 0) {
            kill(changers[i], SIGKILL);
            waitpid(changers[i], NULL, 0);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = { 64, MEMBERS_MAX };
    static pmix_server_module_t module;
    const bool smoke = argc > 1 && strcmp(argv[argc - 1], "--smoke") == 0;
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "--reader") == 0) {
        return reader_main((enum mode)(argv[2][0] - '0'), smoke);
    }
    if (argc > 2 && strcmp(argv[1], "--changer") == 0) {
        changer_main();
    }
    samples_machine("native_group");
    for (size_t i = 0; i < MODE_COUNT * (smoke ? 1 : SX_COUNT(sizes)) && failed == 0; i++) {
        const enum mode mode = (enum mode)(i % MODE_COUNT);

        if (mode == MODE_LIST && i > MODE_COUNT) {
            continue; /* that list has a size of its own */
        }
        need(PMIx_server_init(&module, NULL, 0), "PMIx_server_init");
        failed = run(sizes[i / MODE_COUNT], mode, smoke);
        need(PMIx_server_finalize(), "PMIx_server_finalize");
    }
    return failed;
}
