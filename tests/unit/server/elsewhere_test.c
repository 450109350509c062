/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* elsewhere_test.c - what a server is told of nodes: the name of its own, and jobs of others. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#define JOBS 8

static pmix_status_t server_init(const char *hostname)
{
    static pmix_server_module_t module;
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, PMIX_HOSTNAME, hostname, PMIX_STRING), PMIX_SUCCESS);
    info.flags = PMIX_INFO_REQD;
    const pmix_status_t rc = PMIx_server_init(&module, &info, 1);
    PMIx_Info_destruct(&info);
    return rc;
}

static void job_register(const char *name, int local)
{
    pmix_nspace_t nspace;
    pmix_info_t info[2];
    char *text = NULL;

    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_generate_regex("node1,node2", &text), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info[0], PMIX_NODE_MAP, text, PMIX_STRING), PMIX_SUCCESS);
    free(text);
    cr_assert_eq(PMIx_generate_ppn("0,1;2,3", &text), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info[1], PMIX_PROC_MAP, text, PMIX_STRING), PMIX_SUCCESS);
    free(text);
    cr_assert_eq(PMIx_server_register_nspace(nspace, local, info, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
}

static void expect(const char *job, pmix_rank_t rank, const char *key, const char *want)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, job, rank);
    cr_assert_eq(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS, "%s", key);
    cr_assert_eq(value->type, PMIX_STRING);
    cr_expect_str_eq(value->data.string, want, "%s", key);
    PMIx_Value_destruct(value);
    free(value);
}

Test(hostname, given_by_the_host_is_the_name_of_this_node_everywhere)
{
    pmix_device_distance_t *devices = NULL;
    pmix_proc_t proc, *peers = NULL;
    char **env = NULL;
    size_t count = 0;
    bool found = false;

    setenv("HWLOC_XMLFILE", SHMIX_TESTS_FOLDER "/system/two_packages.xml", 1);
    cr_assert_eq(server_init("node2"), PMIX_SUCCESS);
    job_register("job", 2);
    expect("job", PMIX_RANK_WILDCARD, PMIX_HOSTNAME, "node2");
    expect("job", PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, "2,3");
    expect("job", 0, PMIX_HOSTNAME, "node1");
    expect("job", 3, PMIX_HOSTNAME, "node2");
    PMIx_Load_procid(&proc, "job", 2);
    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (char **at = env; *at != NULL; at++) {
        found |= strcmp(*at, "PMIX_HOSTNAME=node2") == 0;
    }
    cr_expect(found);
    PMIx_Argv_free(env);
    cr_assert_eq(PMIx_Resolve_peers(NULL, "job", &peers, &count), PMIX_SUCCESS);
    cr_expect(count == 2 && peers[0].rank == 2 && peers[1].rank == 3);
    PMIx_Proc_free(peers, count);
    cr_assert_eq(PMIx_Compute_distances(NULL, NULL, NULL, 0, &devices, &count), PMIX_SUCCESS);
    for (size_t i = 0; i < count; i++) {
        cr_expect(devices[i].type != PMIX_DEVTYPE_BLOCK ||
                  strcmp(devices[i].uuid, "block://node2::sda") == 0);
        found &= devices[i].uuid != NULL;
    }
    cr_expect(found);
    PMIx_Device_distance_free(devices, count);
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

Test(hostname, that_is_none_is_refused)
{
    char endless[300];

    memset(endless, 'x', sizeof(endless));
    endless[sizeof(endless) - 1] = '\0';
    cr_expect_eq(server_init(""), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(server_init(endless), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(server_init("node2"), PMIX_SUCCESS, "a refused server leaves nothing");
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

/* Return: how many rings this process has made. */
static int rings(void)
{
    DIR *dir = opendir("/proc/self/fd");
    char target[512];
    int count = 0;

    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

        if (len > 0) {
            target[len] = '\0';
            count += strstr(target, "shmix:ring:") != NULL;
        }
    }
    closedir(dir);
    return count;
}

Test(ring, is_made_for_processes_of_this_node_only)
{
    char name[] = "job.0";
    pmix_proc_t proc;

    cr_assert_eq(server_init("node2"), PMIX_SUCCESS);
    for (int i = 0; i < JOBS; i++) {
        name[4] = (char)('0' + i);
        job_register(name, 0);
    }
    cr_expect_eq(rings(), 0);
    cr_expect_eq(PMIx_Notify_event(PMIX_ERR_NODE_DOWN, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    PMIx_Load_procid(&proc, "job.3", 2);
    cr_assert_eq(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(rings(), 1, "the first client of a job");
    job_register("job.here", 2);
    cr_expect_eq(rings(), 2, "clients that are announced");
    cr_expect_eq(PMIx_Notify_event(PMIX_ERR_NODE_DOWN, NULL, PMIX_RANGE_LOCAL, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    PMIx_server_deregister_nspace("job.4", NULL, NULL);
    PMIx_server_deregister_nspace("job.3", NULL, NULL);
    cr_expect_eq(rings(), 1);
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}
