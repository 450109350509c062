/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* numa_test.c - on which NUMA nodes the pages of each segment lie, as the kernel tells of each page.
 *
 * SHMIX_NUMA says which policy is looked at; auto without it.  On a machine with one node all pages
 * lie there, and libnuma is not mapped.  tests/numa/vm has a machine with several. */
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "job.h"

#define NODES 64 /* of the machines that this test knows */
#define PAGE 4096
#define BLOB 300000
#define ROUNDS 40 /* which write the store anew */
#define MPOL_F_MEMS_ALLOWED 4ul

/* ---- the machine ---------------------------------------------------------------------------- */

static unsigned node_here(void)
{
    unsigned cpu, node;

    CHECK(syscall(SYS_getcpu, &cpu, &node, NULL) == 0);
    CHECK(node < NODES);
    return node;
}

static void bind_to(const cpu_set_t *cpus)
{
    CHECK(sched_setaffinity(0, sizeof(*cpus), cpus) == 0);
}

static cpu_set_t cpus_of(pid_t tid)
{
    cpu_set_t cpus;

    CHECK(sched_getaffinity(tid, sizeof(cpus), &cpus) == 0);
    return cpus;
}

/* The CPUs of each node, of those that we may use.  Return: the set of nodes that have some. */
static uint64_t cpus_by_node(cpu_set_t of_node[NODES])
{
    const cpu_set_t all = cpus_of(0);
    uint64_t nodes = 0;

    memset(of_node, 0, NODES * sizeof(*of_node));
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            cpu_set_t one;

            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            bind_to(&one);
            CPU_SET(cpu, &of_node[node_here()]);
            nodes |= UINT64_C(1) << node_here();
        }
    }
    bind_to(&all);
    return nodes;
}

static int nodes_with_memory(void)
{
    unsigned long mask[1024 / 64] = { 0 };
    int count = 0;

    if (syscall(SYS_get_mempolicy, NULL, mask, 1024ul, NULL, MPOL_F_MEMS_ALLOWED) != 0) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(mask) / sizeof(mask[0]); i++) {
        count += __builtin_popcountl(mask[i]);
    }
    return count;
}

static bool is_mapped(const char *what)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    CHECK(maps != NULL);
    while (!found && fgets(line, sizeof(line), maps) != NULL) {
        found = strstr(line, what) != NULL;
    }
    fclose(maps);
    return found;
}

/* ---- segments ------------------------------------------------------------------------------- */

struct place {
    uint64_t nodes; /* on which some page of it lies; 0: it is not mapped */
    unsigned pages;
    uint64_t generation;
};

/* Words of a segment's header: docs/layout.md. */
static uint64_t word_at(const unsigned char *base, size_t off)
{
    /* relaxed: the server may write it meanwhile, and nothing hangs on which of its values this is */
    return __atomic_load_n((const uint64_t *)(const void *)(base + off), __ATOMIC_RELAXED);
}

/* Enter the page at @at into our page table.  Return: whether it is one that may be read. */
static bool touch(void *at)
{
    unsigned char byte;
    struct iovec to = { &byte, 1 }, from = { at, 1 };

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* The nodes of the pages that are in use of the segment at @base. */
static struct place place_of(unsigned char *base)
{
    struct place place = { .generation = word_at(base, 32) };
    const uint64_t used = word_at(base, 64);

    for (uint64_t off = 0; off < used; off += PAGE) {
        void *page = base + off;
        int node = -1;

        if (touch(page)) {
            CHECK(syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0);
            CHECK(node >= 0 && node < NODES);
            place.nodes |= UINT64_C(1) << node;
            place.pages++;
        }
    }
    return place;
}

/* The newest segment whose name begins so. */
static struct place place_find(const char *name)
{
    FILE *const maps = fopen("/proc/self/maps", "r");
    struct place newest = { .generation = 0 };
    char line[512];

    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        uintptr_t from;
        uint64_t off;

        if (strstr(line, name) != NULL &&
            sscanf(line, "%" SCNxPTR "-%*s %*s %" SCNx64, &from, &off) == 2 && off == 0) {
            const struct place place = place_of((unsigned char *)from);

            newest = place.generation > newest.generation ? place : newest;
        }
    }
    fclose(maps);
    return newest;
}

/* ---- what is expected ----------------------------------------------------------------------- */

static bool policy_is(const char *word)
{
    const char *const policy = getenv("SHMIX_NUMA");

    return strcmp(policy != NULL && policy[0] != '\0' ? policy : "auto", word) == 0;
}

static bool is_one(uint64_t nodes)
{
    return nodes != 0 && (nodes & (nodes - 1)) == 0;
}

static void publish_event(const char *who, const char *what, const struct place *place)
{
    printf("%s: %s: %u pages, nodes %#" PRIx64 "\n", who, what, place->pages, place->nodes);
}

/* @spreads: over @all, the nodes with CPUs; or it is on one node, which is @home if that is not 0. */
static void check_place(const char *what, const struct place *place, bool spreads, uint64_t all,
                        uint64_t home)
{
    publish_event(policy_is("auto") ? "auto" : getenv("SHMIX_NUMA"), what, place);
    if (spreads && place->pages >= 2 * NODES) {
        CHECK(place->nodes == all);
    } else if (spreads) {
        CHECK((place->nodes & ~all) == 0);
    } else {
        CHECK(is_one(place->nodes));
        CHECK(home == 0 || place->nodes == home);
    }
}

/* ---- the ranks ------------------------------------------------------------------------------ */

static pmix_proc_t me;

static void put_blob(unsigned round)
{
    static char blob[BLOB];
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = blob, .size = BLOB } };
    pmix_info_t collect;
    bool yes = true;

    memset(blob, (int)round, sizeof(blob));
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "blob", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, &collect, 1), PMIX_SUCCESS);
}

/* Of rank 0: what its reader sees of it. */
static void get_blob(void)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = 0;
    CHECK_STATUS(PMIx_Get(&proc, "blob", NULL, 0, &value), PMIX_SUCCESS);
    PMIx_Value_free(value, 1);
}

/* The store is written anew, and the next generation lies as the first one did. */
static void check_generations(bool spreads, uint64_t all, uint64_t home)
{
    const uint64_t first = place_find("shmix:store:" JOB_NSPACE).generation;
    struct place store;

    for (unsigned round = 0; round < ROUNDS; round++) {
        put_blob(round);
        get_blob();
    }
    store = place_find("shmix:store:" JOB_NSPACE);
    CHECK(store.generation != first);
    check_place("next store", &store, spreads, all, home);
}

/* Ranks are bound to one node after the other, the last one to none. */
static int segments_lie_where_the_policy_says(int rank)
{
    static cpu_set_t of_node[NODES];
    const uint64_t all = cpus_by_node(of_node);
    uint64_t mine = 0;

    for (unsigned node = 0, index = 0; node < NODES && rank < 3; node++) {
        if ((all >> node & 1) != 0 &&
            index++ == (unsigned)rank % (unsigned)__builtin_popcountll(all)) {
            bind_to(&of_node[node]);
            mine = UINT64_C(1) << node;
        }
    }
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    const bool spreads = nodes_with_memory() > 1 && policy_is("interleave");
    const bool stores_spread = nodes_with_memory() > 1 && !policy_is("local");
    const struct place ring = place_find("shmix:ring:");
    const struct place board = place_find("shmix:board:");
    const struct place lane = place_find("shmix:lane:");
    const uint64_t home = spreads ? 0 : ring.nodes;

    check_place("ring", &ring, spreads, all, 0);
    check_place("board", &board, spreads, all, home);
    check_place("lane", &lane, false, all, mine != 0 || all != ring.nodes ? mine : home);
    check_generations(stores_spread, all, policy_is("local") ? home : 0);
    CHECK(!is_mapped("libnuma"));
    return rank_end();
}

/* ---- the host ------------------------------------------------------------------------------- */

/* Return: whether some thread of this process is kept on the CPUs of the nodes @home alone. */
static bool a_thread_stays(uint64_t home)
{
    static cpu_set_t of_node[NODES];
    cpu_set_t near;
    DIR *const tasks = opendir("/proc/self/task");
    bool found = false;

    cpus_by_node(of_node);
    CPU_ZERO(&near);
    for (unsigned node = 0; node < NODES; node++) {
        if ((home >> node & 1) != 0) {
            CPU_OR(&near, &near, &of_node[node]);
        }
    }
    CHECK(tasks != NULL);
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != getpid()) {
            const cpu_set_t cpus = cpus_of(atoi(entry->d_name));

            found = found || CPU_EQUAL(&cpus, &near);
        }
    }
    closedir(tasks);
    return found;
}

static int watch(struct job *job)
{
    static cpu_set_t of_node[NODES];
    const uint64_t all = cpus_by_node(of_node);
    const struct place board = place_find("shmix:board:");
    const struct place ops = place_find("shmix:ops:");

    check_place("board", &board, nodes_with_memory() > 1 && policy_is("interleave"), all, 0);
    check_place("ops", &ops, nodes_with_memory() > 1 && policy_is("interleave"), all, 0);
    CHECK(is_mapped("libnuma") == (nodes_with_memory() > 1));
    if (is_one(board.nodes) && !is_one(all)) {
        CHECK(a_thread_stays(board.nodes) == policy_is("local"));
    }
    return 0;
}

static const struct job_case cases[] = {
    { "segments_lie_where_the_policy_says", 4, segments_lie_where_the_policy_says, watch },
};

JOB_MAIN(cases)
