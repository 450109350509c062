/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resolve_test.c - who lives where: asked by a host about its jobs, and by a process alone. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../alone.h"
#include "unit/server/hosted.h"

static pmix_info_t infos[16];
static size_t info_count;

static void add_u32(const char *key, uint32_t number)
{
    cr_assert_eq(PMIx_Info_load(&infos[info_count++], key, &number, PMIX_UINT32), PMIX_SUCCESS);
}

static void add_text(const char *key, const char *text)
{
    cr_assert_eq(PMIx_Info_load(&infos[info_count++], key, text, PMIX_STRING), PMIX_SUCCESS);
}

/* A node of a job, by its name, further names and peers. */
static void add_node(uint32_t number, const char *name, const char *aliases, const char *peers)
{
    pmix_info_t inner[4];
    pmix_data_array_t array = { .type = PMIX_INFO, .array = inner };

    PMIx_Info_load(&inner[array.size++], PMIX_NODEID, &number, PMIX_UINT32);
    PMIx_Info_load(&inner[array.size++], PMIX_HOSTNAME, name, PMIX_STRING);
    PMIx_Info_load(&inner[array.size++], PMIX_HOSTNAME_ALIASES, aliases, PMIX_STRING);
    if (peers != NULL) {
        PMIx_Info_load(&inner[array.size++], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    }
    PMIx_Info_load(&infos[info_count++], PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < array.size; i++) {
        PMIx_Info_destruct(&inner[i]);
    }
}

static void job(const char *name)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 2, infos, info_count, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    while (info_count > 0) {
        PMIx_Info_destruct(&infos[--info_count]);
    }
}

static void host(void)
{
    hosted_begin();
    add_u32(PMIX_JOB_SIZE, 6);
    add_text(PMIX_NODE_MAP, "n1,n2,n3");
    add_text(PMIX_PROC_MAP, "4,0;1-2,5;3");
    add_text(PMIX_LOCAL_PEERS, "4,0");
    job("mapped");
    add_u32(PMIX_JOB_SIZE, 3);
    add_u32(PMIX_NUM_NODES, 2);
    add_node(0, "n1", "n1.here,localhost", "1,0");
    add_node(1, "n9", "n9.there", "2");
    job("told");
}

/* "job.rank ..." of what is found. */
static void expect_peers(const char *node, const char *name, const char *want)
{
    pmix_proc_t *procs = (pmix_proc_t *)&infos;
    pmix_nspace_t nspace;
    char got[1024] = "";
    size_t count = 99;

    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_Resolve_peers(node, name != NULL ? nspace : NULL, &procs, &count),
                 PMIX_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(got);

        snprintf(got + used, sizeof(got) - used, "%s%.64s.%u", i == 0 ? "" : " ", procs[i].nspace,
                 procs[i].rank);
    }
    cr_expect_str_eq(got, want, "%s of %s: %s", node, name, got);
    cr_expect(count != 0 || procs == NULL);
    free(procs);
}

static void expect_nodes(const char *name, const char *want)
{
    pmix_nspace_t nspace;
    char *got = NULL;

    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_Resolve_nodes(name != NULL ? nspace : NULL, &got), PMIX_SUCCESS);
    cr_expect_str_eq(got, want, "%s: %s", name, got);
    free(got);
}

TestSuite(resolve, .init = host, .fini = hosted_end);

Test(resolve, peers_by_the_name_of_their_node_in_the_order_of_ranks)
{
    expect_peers("n1", "mapped", "mapped.0 mapped.4");
    expect_peers("n2", "mapped", "mapped.1 mapped.2 mapped.5");
    expect_peers("n3", "mapped", "mapped.3");
}

/* TQ77: this and the next ones. */
Test(resolve, peers_of_this_node_are_the_local_ones)
{
    expect_peers(NULL, "mapped", "mapped.0 mapped.4");
}

Test(resolve, a_node_may_be_named_in_its_own_array_and_by_its_aliases)
{
    expect_peers("n1", "told", "told.0 told.1");
    expect_peers("n9.there", "told", "told.2");
    expect_peers("localhost", "told", "told.0 told.1");
}

Test(resolve, no_namespace_means_all)
{
    expect_peers("n1", NULL, "mapped.0 mapped.4 told.0 told.1");
    expect_peers("n1", "", "mapped.0 mapped.4 told.0 told.1");
    expect_nodes(NULL, "n1,n2,n3,n9");
}

Test(resolve, a_node_without_processes_gives_null_and_zero)
{
    expect_peers("n9", "mapped", "");
    expect_peers("no such node", NULL, "");
}

/* TQ78. */
Test(resolve, nodes_of_a_job_in_the_order_of_its_ranks)
{
    expect_nodes("mapped", "n1,n2,n3");
    expect_nodes("told", "n1,n9");
}

Test(resolve, wrong_questions_are_refused)
{
    pmix_nspace_t unknown = "nobody", endless;
    pmix_proc_t *procs;
    char *nodes;
    size_t count;

    memset(endless, 'x', sizeof(endless));
    cr_expect_eq(PMIx_Resolve_peers("n1", unknown, &procs, &count), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(PMIx_Resolve_peers("n1", endless, &procs, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Resolve_peers("n1", NULL, NULL, &count), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Resolve_peers("n1", NULL, &procs, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Resolve_nodes(unknown, &nodes), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(PMIx_Resolve_nodes(endless, &nodes), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Resolve_nodes(NULL, NULL), PMIX_ERR_BAD_PARAM);
}

Test(resolve_alone, a_process_by_itself_is_its_own_peer)
{
    pmix_proc_t me, *procs;
    pmix_nspace_t unknown = "nobody";
    char hostname[256] = "", *nodes;
    size_t count;

    cr_expect_eq(PMIx_Resolve_peers(NULL, NULL, &procs, &count), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_Resolve_nodes(NULL, &nodes), PMIX_ERR_INIT);
    alone_init(&me);
    gethostname(hostname, sizeof(hostname) - 1);
    cr_assert_eq(PMIx_Resolve_peers(NULL, NULL, &procs, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 1u);
    cr_expect(PMIx_Check_procid(procs, &me));
    free(procs);
    cr_assert_eq(PMIx_Resolve_peers(hostname, me.nspace, &procs, &count), PMIX_SUCCESS);
    cr_expect_eq(count, 1u);
    free(procs);
    cr_assert_eq(PMIx_Resolve_nodes(me.nspace, &nodes), PMIX_SUCCESS);
    cr_expect_str_eq(nodes, hostname);
    free(nodes);
    cr_expect_eq(PMIx_Resolve_nodes(unknown, &nodes), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
}
