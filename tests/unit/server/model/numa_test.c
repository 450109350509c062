/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* numa_test.c - the table of policies, on machines that are made up. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <sched.h>
#include <shmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "server/model/numa.h"

/* Four nodes with memory, two CPUs each on nodes 0 and 2; CPU 4 is on none that we know. */
static uint16_t of_cpu[] = { 0, 0, 2, 2, SX_NODE_NONE };

static struct sx_numa machine(enum sx_numa_policy policy, uint16_t home)
{
    struct sx_numa numa = { .policy = policy,
                            .home = home,
                            .nodes = {
                                .count = 4, .of_cpu = of_cpu, .cpu_count = SX_COUNT(of_cpu) } };

    for (unsigned node = 0; node < 4; node++) {
        sx_node_set_add(&numa.nodes.usable, node);
    }
    sx_node_set_add(&numa.nodes.near, 0);
    sx_node_set_add(&numa.nodes.near, 2);
    return numa;
}

static struct sx_cpus cpus_of(unsigned long mask)
{
    return (struct sx_cpus){ .words = { mask } };
}

/* "-": anywhere, "N2": near node 2, "S02": spread over nodes 0 and 2. */
static const char *shown(const struct sx_placement *placement)
{
    static char text[8];
    char *at = text;

    if (placement->kind == SX_PLACE_ANYWHERE) {
        return "-";
    }
    *at++ = placement->kind == SX_PLACE_NEAR ? 'N' : 'S';
    for (unsigned node = 0; node < 4; node++) {
        if (sx_node_set_has(&placement->nodes, node)) {
            *at++ = (char)('0' + node);
        }
    }
    *at = '\0';
    return text;
}

Test(numa, each_policy_has_a_place_for_each_kind)
{
    static const struct {
        enum sx_numa_policy policy;
        const char *store, *ring, *board, *lane, *ops;
    } rows[] = {
        { SX_NUMA_AUTO, "S02", "N2", "N2", "N2", "N2" },
        { SX_NUMA_LOCAL, "N2", "N2", "N2", "N2", "N2" },
        { SX_NUMA_INTERLEAVE, "S02", "S02", "S02", "N2", "S02" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_numa numa = machine(rows[i].policy, 2);
        const char *const want[] = { [SX_SEGMENT_STORE] = rows[i].store,
                                     [SX_SEGMENT_RING] = rows[i].ring,
                                     [SX_SEGMENT_BOARD] = rows[i].board,
                                     [SX_SEGMENT_LANE] = rows[i].lane,
                                     [SX_SEGMENT_OPS] = rows[i].ops };

        for (int kind = SX_SEGMENT_STORE; kind <= SX_SEGMENT_OPS; kind++) {
            const struct sx_placement placement = sx_numa_place(&numa, (enum sx_segment_kind)kind,
                                                                0);

            cr_expect_str_eq(shown(&placement), want[kind], "policy %d, kind %d", (int)i, kind);
        }
    }
}

Test(numa, a_machine_of_one_node_places_nothing)
{
    for (int policy = 0; policy < SX_NUMA_POLICIES; policy++) {
        struct sx_numa numa = { .policy = (enum sx_numa_policy)policy, .nodes = { .count = 1 } };

        for (int kind = SX_SEGMENT_STORE; kind <= SX_SEGMENT_OPS; kind++) {
            const struct sx_placement placement = sx_numa_place(&numa, (enum sx_segment_kind)kind,
                                                                getpid());

            cr_expect_eq(placement.kind, SX_PLACE_ANYWHERE);
        }
    }
}

/* Without libnuma the kernel's word is left: which nodes there are. */
Test(numa, nodes_whose_cpus_are_not_known_are_spread_over)
{
    struct sx_numa numa = machine(SX_NUMA_AUTO, SX_NODE_NONE);

    numa.nodes.of_cpu = NULL;
    numa.nodes.cpu_count = 0;
    memset(&numa.nodes.near, 0, sizeof(numa.nodes.near));

    struct sx_placement placement = sx_numa_place(&numa, SX_SEGMENT_STORE, 0);
    cr_expect_str_eq(shown(&placement), "S0123");
    placement = sx_numa_place(&numa, SX_SEGMENT_RING, 0);
    cr_expect_str_eq(shown(&placement), "-");
    placement = sx_numa_place(&numa, SX_SEGMENT_LANE, getpid());
    cr_expect_str_eq(shown(&placement), "-");
}

Test(numa, cpus_have_a_node_if_it_is_the_same)
{
    static const struct {
        const char *why;
        unsigned long mask;
        uint16_t want;
    } rows[] = {
        { "one CPU", 0x1, 0 },
        { "all CPUs of a node", 0xc, 2 },
        { "CPUs of two nodes", 0x6, SX_NODE_NONE },
        { "no CPU", 0, SX_NODE_NONE },
        { "a CPU of a node that is not known", 0x10, SX_NODE_NONE },
        { "another one with it", 0x18, SX_NODE_NONE },
        { "a CPU that the machine does not have", 0x20, SX_NODE_NONE },
        { "such a one with it", 0x24, 2 },
    };
    const struct sx_numa numa = machine(SX_NUMA_AUTO, 0);

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_cpus cpus = cpus_of(rows[i].mask);

        cr_expect_eq(sx_nodes_of_cpus(&numa.nodes, &cpus), rows[i].want, "%s", rows[i].why);
    }
}

Test(numa, the_cpus_near_a_node_are_those_that_are_allowed)
{
    const struct sx_numa numa = machine(SX_NUMA_LOCAL, 2);
    const struct sx_cpus allowed = cpus_of(0x7);
    struct sx_cpus near;

    cr_expect_eq(sx_nodes_cpus_near(&numa.nodes, 2, &allowed, &near), 1);
    cr_expect_eq(near.words[0], 0x4);
    cr_expect_eq(sx_nodes_cpus_near(&numa.nodes, 1, &allowed, &near), 0);
}

/* This process, bound to one of its CPUs, which are all on node 1, or on two. */
Test(numa, a_lane_lies_on_the_node_of_a_client_that_is_bound_to_one)
{
    struct sx_numa numa = machine(SX_NUMA_AUTO, 2);
    struct sx_cpus mine;
    uint16_t *const nodes = calloc(SX_CPU_MAX, sizeof(*nodes));

    cr_assert(sx_cpus_of_thread(0, &mine));
    for (unsigned cpu = 0; cpu < SX_CPU_MAX; cpu++) {
        nodes[cpu] = 1;
    }
    numa.nodes.of_cpu = nodes;
    numa.nodes.cpu_count = SX_CPU_MAX;
    struct sx_placement placement = sx_numa_place(&numa, SX_SEGMENT_LANE, getpid());
    cr_expect_str_eq(shown(&placement), "N1");
    placement = sx_numa_place(&numa, SX_SEGMENT_LANE, 0);
    cr_expect_str_eq(shown(&placement), "N2", "not known: near the server");
    nodes[sched_getcpu()] = 3;
    nodes[__builtin_ctzl(mine.words[0] != 0 ? mine.words[0] : 1)] = 3;
    placement = sx_numa_place(&numa, SX_SEGMENT_LANE, getpid());
    cr_expect(strcmp(shown(&placement), "N2") == 0 || strcmp(shown(&placement), "N3") == 0,
              "on two nodes: near the server");
    free(nodes);
}

Test(numa, words_of_policies)
{
    static const struct {
        const char *word;
        pmix_status_t want;
        enum sx_numa_policy policy;
    } rows[] = {
        { NULL, PMIX_SUCCESS, SX_NUMA_AUTO },
        { "", PMIX_SUCCESS, SX_NUMA_AUTO },
        { "auto", PMIX_SUCCESS, SX_NUMA_AUTO },
        { "local", PMIX_SUCCESS, SX_NUMA_LOCAL },
        { "interleave", PMIX_SUCCESS, SX_NUMA_INTERLEAVE },
        { "replicate", PMIX_ERR_NOT_SUPPORTED, SX_NUMA_AUTO },
        { "Local", PMIX_ERR_BAD_PARAM, SX_NUMA_AUTO },
        { "locally", PMIX_ERR_BAD_PARAM, SX_NUMA_AUTO },
        { "loc", PMIX_ERR_BAD_PARAM, SX_NUMA_AUTO },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        enum sx_numa_policy policy = SX_NUMA_POLICIES;

        cr_expect_eq(sx_numa_policy_read("SHMIX_NUMA", rows[i].word, &policy), rows[i].want);
        cr_expect_eq(policy, rows[i].want == PMIX_SUCCESS ? rows[i].policy : SX_NUMA_POLICIES);
    }
}

Test(numa, this_machine_is_looked_at_and_forgotten)
{
    struct sx_numa numa;

    sx_numa_init(&numa, SX_NUMA_LOCAL, NULL);
    cr_expect_geq(numa.nodes.count, 1);
    cr_expect(!numa.thread_is_bound);
    cr_expect((numa.nodes.of_cpu != NULL) == (numa.home != SX_NODE_NONE));
    sx_numa_thread_settle(&numa);
    sx_numa_deinit(&numa);
    sx_numa_deinit(&numa);
}

/* The host's word comes before the policy's; both are followed in a thread of their own. */
static void *settle(void *arg)
{
    static struct sx_cpus after;

    sx_numa_thread_settle(arg);
    return sx_cpus_of_thread(0, &after) ? &after : NULL;
}

static unsigned long settled(struct sx_numa *numa)
{
    pthread_t thread;
    void *after;

    cr_assert_eq(pthread_create(&thread, NULL, settle, numa), 0);
    cr_assert_eq(pthread_join(thread, &after), 0);
    cr_assert_not_null(after);
    return ((struct sx_cpus *)after)->words[0];
}

Test(numa, the_thread_stays_where_the_host_or_the_policy_says)
{
    struct sx_cpus mine;

    cr_assert(sx_cpus_of_thread(0, &mine));
    const unsigned long first = mine.words[0] & -mine.words[0];

    if (mine.words[0] == first || mine.words[0] == 0) {
        cr_skip_test("one CPU, or none of the first 64");
    }
    uint16_t nodes[64];
    for (unsigned cpu = 0; cpu < 64; cpu++) {
        nodes[cpu] = first >> cpu & 1 ? 2 : 0;
    }
    struct sx_numa numa = machine(SX_NUMA_LOCAL, 2);
    numa.nodes.of_cpu = nodes;
    numa.nodes.cpu_count = 64;
    cr_expect_eq(settled(&numa), first, "local: on the node of its memory");
    numa.policy = SX_NUMA_AUTO;
    cr_expect_eq(settled(&numa), mine.words[0], "auto: not bound");
    numa.policy = SX_NUMA_LOCAL;
    numa.thread_is_bound = true;
    numa.thread = cpus_of(mine.words[0] & ~first);
    cr_expect_eq(settled(&numa), mine.words[0] & ~first, "the host's CPUs");
}

/* Return: whether a thread of this process but the first is bound to @cpu alone. */
static bool some_thread_is_bound_to(unsigned cpu)
{
    DIR *const tasks = opendir("/proc/self/task");
    bool found = false;

    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        struct sx_cpus cpus, one = cpus_of(1ul << cpu);

        found = found || (entry->d_name[0] != '.' && atoi(entry->d_name) != getpid() &&
                          sx_cpus_of_thread(atoi(entry->d_name), &cpus) &&
                          memcmp(&cpus, &one, sizeof(one)) == 0);
    }
    closedir(tasks);
    return found;
}

Test(numa, the_host_says_where_its_server_is)
{
    static const struct {
        const char *key, *value;
        bool required;
        pmix_status_t want;
    } rows[] = {
        { SHMIX_SERVER_NUMA, "auto", false, PMIX_SUCCESS },
        { SHMIX_SERVER_NUMA, "local", false, PMIX_SUCCESS },
        { SHMIX_SERVER_NUMA, "near", false, PMIX_ERR_BAD_PARAM },
        { SHMIX_SERVER_NUMA, "replicate", false, PMIX_ERR_NOT_SUPPORTED },
        { PMIX_BIND_PROGRESS_THREAD, "here", false, PMIX_ERR_BAD_PARAM },
        { PMIX_BIND_PROGRESS_THREAD, "8191", false, PMIX_SUCCESS },
        { PMIX_BIND_PROGRESS_THREAD, "8191", true, PMIX_ERR_NOT_AVAILABLE },
    };
    pmix_info_t infos[2];

    PMIx_Info_load(&infos[1], PMIX_BIND_REQUIRED, NULL, PMIX_BOOL);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        PMIx_Info_load(&infos[0], rows[i].key, rows[i].value, PMIX_STRING);
        const pmix_status_t rc = PMIx_server_init(NULL, infos, rows[i].required ? 2 : 1);

        cr_expect_eq(rc, rows[i].want, "%s=%s: %s", rows[i].key, rows[i].value,
                     PMIx_Error_string(rc));
        if (rc == PMIX_SUCCESS) {
            PMIx_server_finalize();
        }
        PMIx_Info_destruct(&infos[0]);
    }
}

Test(numa, the_thread_of_a_server_is_bound_to_the_cpus_that_its_host_says, .timeout = 60)
{
    struct sx_cpus mine;
    char text[16];
    pmix_info_t info;

    cr_assert(sx_cpus_of_thread(0, &mine));
    if (__builtin_popcountl(mine.words[0]) < 2) {
        cr_skip_test("one CPU, or none of the first 64");
    }
    const unsigned cpu = (unsigned)__builtin_ctzl(mine.words[0]);

    snprintf(text, sizeof(text), "%u", cpu);
    PMIx_Info_load(&info, PMIX_BIND_PROGRESS_THREAD, text, PMIX_STRING);
    cr_assert_eq(PMIx_server_init(NULL, &info, 1), PMIX_SUCCESS);
    cr_expect(some_thread_is_bound_to(cpu));
    PMIx_server_finalize();
    PMIx_Info_destruct(&info);
    cr_assert_eq(PMIx_server_init(NULL, NULL, 0), PMIX_SUCCESS);
    while (some_thread_is_bound_to(cpu)) { /* /proc has it a moment longer */
        sched_yield();
    }
    PMIx_server_finalize();
}
