/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* setup_test.c - the environment that a process is started with. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_server.h>

#include "server/model/state.h"

static struct sx_server server = { .hostname = "n1", .tmpdir = (char *)(uintptr_t) "/tmp/here" };

static void begin(void)
{
    server.rendezvous.uri = (char *)(uintptr_t) "unix:nowhere";
    sx_server_set(&server);
}

static void end(void)
{
    sx_server_set(NULL);
}

TestSuite(setup, .init = begin, .fini = end);

/* Return: the value of @name; fails when it is there twice. */
static const char *value(char **env, const char *name)
{
    const char *found = NULL;

    for (; *env != NULL; env++) {
        if (strncmp(*env, name, strlen(name)) == 0 && (*env)[strlen(name)] == '=') {
            cr_expect_null(found, "%s is there twice", name);
            found = *env + strlen(name) + 1;
        }
    }
    return found;
}

static char **env_of(const char *const entries[], size_t count)
{
    char **const env = calloc(count + 1, sizeof(*env));

    cr_assert_not_null(env);
    for (size_t i = 0; i < count; i++) {
        env[i] = strdup(entries[i]);
    }
    return env;
}

static void env_free(char **env)
{
    for (char **at = env; *at != NULL; at++) {
        free(*at);
    }
    free(env);
}

static pmix_proc_t proc_of(const char *name, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    return proc;
}

Test(setup, says_who_the_process_is_and_where_its_server)
{
    const pmix_proc_t proc = proc_of("job", 7);
    char **env = NULL; /* as a host may have it */

    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    cr_expect_str_eq(value(env, "PMIX_NAMESPACE"), "job");
    cr_expect_str_eq(value(env, "PMIX_RANK"), "7");
    cr_expect_str_eq(value(env, "PMIX_HOSTNAME"), "n1");
    cr_expect_str_eq(value(env, "PMIX_SERVER_TMPDIR"), "/tmp/here");
    cr_expect_str_eq(value(env, SX_ENV_SERVER_URI), "unix:nowhere");
    env_free(env);
}

Test(setup, replaces_what_is_there_and_leaves_what_is_others)
{
    static const char *const before[] = { "PMIX_RANKS=all", "PMIX_RANK_X=1", "PMIX_RANK=3",
                                          "PATH=/bin" };
    const pmix_proc_t proc = proc_of("job", 0);
    char **env = env_of(before, 4);

    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS, "again");
    cr_expect_str_eq(value(env, "PMIX_RANK"), "0");
    cr_expect_str_eq(value(env, "PATH"), "/bin");
    cr_expect_str_eq(value(env, "PMIX_RANKS"), "all");
    cr_expect_str_eq(value(env, "PMIX_RANK_X"), "1");
    env_free(env);
}

Test(setup, leads_to_no_other_server)
{
    static const char *const before[] = { "PMIX_SERVER_URI=a",     "PMIX_SERVER_URI2=b",
                                          "PMIX_SERVER_URI41=c",   SX_ENV_SERVER_FD "=9",
                                          "PMIX_KEEPALIVE_PIPE=8", "PMIX_SERVER_URI51=d",
                                          "PMIX_SERVER_URI61=e",   "KEPT=1" };
    const pmix_proc_t proc = proc_of("job", 0);
    char **env = env_of(before, SX_COUNT(before));

    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(before) - 1; i++) {
        char name[32] = { 0 };

        memcpy(name, before[i], strcspn(before[i], "="));
        cr_expect_null(value(env, name), "%s", name);
    }
    cr_expect_str_eq(value(env, "KEPT"), "1");
    env_free(env);
}

Test(setup, leaves_libxml2_out_unless_somebody_has_chosen)
{
    static const char *const before[][2] = { { "HWLOC_LIBXML=1", "HWLOC_LIBXML_IMPORT" },
                                             { "HWLOC_LIBXML_IMPORT=1", "HWLOC_LIBXML_IMPORT" },
                                             { "HWLOC_LIBXML_EXPORT=1", "HWLOC_LIBXML_IMPORT" } };
    static const char *const after[] = { NULL, "1", "0" };
    const pmix_proc_t proc = proc_of("job", 0);

    for (size_t i = 0; i < SX_COUNT(after); i++) {
        char **env = env_of(before[i], 1);

        cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
        const char *const is = value(env, before[i][1]);

        cr_expect(after[i] == NULL ? is == NULL : is != NULL && strcmp(is, after[i]) == 0, "%s",
                  before[i][0]);
        env_free(env);
    }
}

Test(setup, wants_a_process_and_a_server)
{
    pmix_proc_t proc = proc_of("job", 0);
    char **env = NULL;

    cr_expect_eq(PMIx_server_setup_fork(NULL, &env), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_setup_fork(&proc, NULL), PMIX_ERR_BAD_PARAM);
    memset(proc.nspace, 'n', sizeof(proc.nspace));
    cr_expect_eq(PMIx_server_setup_fork(&proc, &env), PMIX_ERR_BAD_PARAM);
    sx_server_set(NULL);
    cr_expect_eq(PMIx_server_setup_fork(&proc, &env), PMIX_ERR_INIT);
    cr_expect_null(env);
}
