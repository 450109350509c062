/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* env_test.c - what the ranks' environment has, and has not. */
#include "launch/place/program.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/common/say.h"

static char **build(char *const *outer, const char **words, size_t count, bool oversubscribed)
{
    struct sx_run_app app = { .env = (char **)words, .env_count = count };

    return sx_run_env_build(outer, &app, "/our/lib", oversubscribed);
}

static void expect(char **env, const char *name, const char *want)
{
    const char *got = sx_run_env_get(env, name);

    if (want == NULL) {
        cr_expect_null(got, "%s is '%s'", name, got == NULL ? "" : got);
    } else {
        cr_expect(got != NULL && strcmp(got, want) == 0, "%s is '%s', not '%s'", name,
                  got == NULL ? "(not set)" : got, want);
    }
}

Test(run_env, drops_the_outer_job_and_keeps_settings)
{
    char *outer[] = { "PMIX_RANK=7",
                      "PMIX_NAMESPACE=old",
                      "PMIX_MCA_x=1",
                      "PMIXLIKE=1",
                      "SHMIX_SERVER_URI=unix:/old",
                      "SHMIX_LOG=debug",
                      "PMI_RANK=7",
                      "OMPI_COMM_WORLD_RANK=7",
                      "OMPI_MCA_ess=^singleton",
                      "OMPI_MCA_orte_launch=1",
                      "OMPI_MCA_btl=tcp,self",
                      "SLURM_STEP_ID=0",
                      "SLURM_JOB_ID=4",
                      "A=1",
                      NULL };
    char **env = build(outer, NULL, 0, false);

    expect(env, "PMIX_RANK", NULL);
    expect(env, "PMIX_NAMESPACE", NULL);
    expect(env, "PMIX_MCA_x", "1");
    expect(env, "PMIXLIKE", "1");
    expect(env, "SHMIX_SERVER_URI", NULL);
    expect(env, "SHMIX_LOG", "debug");
    expect(env, "PMI_RANK", NULL);
    expect(env, "OMPI_COMM_WORLD_RANK", NULL);
    expect(env, "OMPI_MCA_ess", "pmi");
    expect(env, "MPIR_CVAR_PMI_VERSION", "1");
    expect(env, "OMPI_MCA_orte_launch", NULL);
    expect(env, "OMPI_MCA_btl", "tcp,self");
    expect(env, "SLURM_STEP_ID", NULL);
    expect(env, "SLURM_JOB_ID", "4");
    expect(env, "A", "1");
    sx_run_env_free(env);
}

Test(run_env, the_users_own_open_mpi_settings_win)
{
    char *outer[] = { "OMPI_MCA_ess=mine", "OMPI_MCA_orte_tmpdir_base=/x",
                      "MPIR_CVAR_PMI_VERSION=x", NULL };
    const char *words[] = { "OMPI_MCA_schizo=flux", "OMPI_MCA_mpi_oversubscribe=0" };
    char **env = build(outer, words, 2, true);

    expect(env, "OMPI_MCA_ess", "mine");
    expect(env, "OMPI_MCA_orte_tmpdir_base", "/x");
    expect(env, "MPIR_CVAR_PMI_VERSION", "x");
    expect(env, "OMPI_MCA_schizo", "flux");
    expect(env, "OMPI_MCA_mpi_oversubscribe", "0");
    sx_run_env_free(env);
}

Test(run_env, ranks_yield_only_where_they_outnumber_the_cpus)
{
    char *outer[] = { NULL };
    char **few = build(outer, NULL, 0, false), **many = build(outer, NULL, 0, true);

    expect(few, "OMPI_MCA_mpi_oversubscribe", NULL);
    expect(many, "OMPI_MCA_mpi_oversubscribe", "1");
    sx_run_env_free(few);
    sx_run_env_free(many);
}

Test(run_env, our_library_comes_first)
{
    char *outer[] = { "LD_LIBRARY_PATH=/a:/b", NULL }, *none[] = { NULL };
    const char *words[] = { "LD_LIBRARY_PATH=/c" };
    char **env = build(outer, NULL, 0, false), **bare = build(none, NULL, 0, false);
    char **user = build(outer, words, 1, false), **again = build(env, NULL, 0, false);
    char **bare_again = build(bare, NULL, 0, false);

    expect(again, "LD_LIBRARY_PATH", "/our/lib:/a:/b");
    expect(bare_again, "LD_LIBRARY_PATH", "/our/lib");
    expect(env, "LD_LIBRARY_PATH", "/our/lib:/a:/b");
    expect(bare, "LD_LIBRARY_PATH", "/our/lib");
    expect(user, "LD_LIBRARY_PATH", "/our/lib:/c");
    sx_run_env_free(env);
    sx_run_env_free(bare);
    sx_run_env_free(user);
    sx_run_env_free(again);
    sx_run_env_free(bare_again);
}

Test(run_env, env_sets_replaces_and_copies)
{
    char *outer[] = { "A=1", "B=2", "PMIX_COPIED=here", "PMIX_DROPPED=here", NULL };
    const char *words[] = { "A=x=y", "C=", "PMIX_COPIED", "NOT_SET_ANYWHERE" };
    char **env;

    setenv("PMIX_COPIED", "of the launcher", 1);
    env = build(outer, words, 4, false);
    expect(env, "A", "x=y");
    expect(env, "B", "2");
    expect(env, "C", "");
    expect(env, "PMIX_COPIED", "here");
    expect(env, "PMIX_DROPPED", NULL);
    expect(env, "NOT_SET_ANYWHERE", NULL);
    sx_run_env_free(env);
}

static void touch(const char *dir, const char *name)
{
    char *path = sx_cli_printf("%s/%s", dir, name);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);

    cr_assert(fd >= 0);
    close(fd);
    free(path);
}

Test(run_env, what_a_rank_has_itself_wins)
{
    char *shared[] = { "A=1", "PMIX_RANK=0", "B=2", "PMIX_RANKS=8", NULL };
    char *own[] = { "PMIX_RANK=7", "C=3", NULL };
    char *const want[] = { "A=1", "B=2", "PMIX_RANKS=8", "PMIX_RANK=7", "C=3" };
    char **const both = sx_run_env_join(shared, own);

    for (size_t i = 0; i < SX_COUNT(want); i++) {
        cr_expect_str_eq(both[i], want[i]);
    }
    cr_expect_null(both[SX_COUNT(want)]);
    free(both);
}

Test(run_env, finds_the_library_beside_the_command)
{
    char dir[] = "/tmp/shmix-test-env-XXXXXX", message[SX_RUN_MESSAGE_MAX] = "", *exe, *lib, *found;

    cr_assert_not_null(mkdtemp(dir));
    exe = sx_cli_printf("%s/bin/shmix", dir);
    lib = sx_cli_printf("%s/lib64", dir);
    cr_expect_null(sx_run_env_lib_dir(exe, message));
    cr_expect_not_null(strstr(message, dir), "%s", message);
    cr_expect_not_null(strstr(message, "install"), "%s", message);
    cr_assert_eq(mkdir(lib, 0700), 0);
    touch(lib, "libpmix.so.2");
    found = sx_run_env_lib_dir(exe, message);
    cr_assert_not_null(found);
    cr_expect_str_eq(found, lib);
    free(found);
    found = sx_cli_printf("rm -r %s", dir);
    cr_expect_eq(system(found), 0);
    free(found);
    free(exe);
    free(lib);
}

Test(run_env, wrapper_scripts_find_what_mpirun_would_have_set)
{
    char *first[] = { "solve", "-x", "two words", NULL }, *second[] = { "plot", NULL };
    struct sx_run_app apps[] = { { .first_rank = 0, .rank_count = 3, .program = first },
                                 { .first_rank = 3, .rank_count = 2, .program = second } };
    const struct sx_run_job job = { .apps = apps, .app_count = 2, .rank_count = 5 };
    char *outer[] = { "OMPI_COMM_WORLD_SIZE=9", "A=1", NULL };
    char **env = sx_run_env_copy(outer);

    sx_run_env_put_job(&env, &job, &apps[0], 9);
    sx_run_env_put_rank(&env, 4, 7);
    expect(env, "OMPI_COMM_WORLD_RANK", "4");
    expect(env, "OMPI_COMM_WORLD_LOCAL_RANK", "4");
    expect(env, "OMPI_COMM_WORLD_NODE_RANK", "7");
    expect(env, "OMPI_COMM_WORLD_SIZE", "5");
    expect(env, "OMPI_COMM_WORLD_LOCAL_SIZE", "5");
    expect(env, "OMPI_UNIVERSE_SIZE", "9");
    expect(env, "OMPI_NUM_APP_CTX", "2");
    expect(env, "OMPI_FIRST_RANKS", "0 3");
    expect(env, "OMPI_APP_CTX_NUM_PROCS", "3 2");
    expect(env, "OMPI_COMMAND", "solve");
    expect(env, "OMPI_ARGV", "-x two words");
    expect(env, "A", "1");
    sx_run_env_free(env);
    env = sx_run_env_copy(outer);
    sx_run_env_put_job(&env, &job, &apps[1], 9);
    expect(env, "OMPI_COMMAND", "plot");
    expect(env, "OMPI_ARGV", NULL);
    sx_run_env_free(env);
}

/* The kernel executes no program with a variable of more than 128 KiB. */
Test(run_env, arguments_that_no_variable_holds_are_in_none)
{
    const size_t most = ((size_t)128 << 10) - strlen("OMPI_ARGV=") - 1;
    char *const word = calloc(most + 2, 1), *program[] = { "solve", word, "x", NULL };
    struct sx_run_app app = { .rank_count = 1, .program = program };
    const struct sx_run_job job = { .apps = &app, .app_count = 1, .rank_count = 1 };

    for (size_t more = 0; more < 2; more++) {
        char *outer[] = { NULL }, **env = sx_run_env_copy(outer);

        memset(word, 'w', most + more - strlen(" x"));
        sx_run_env_put_job(&env, &job, &app, 1);
        const char *const said = sx_run_env_get(env, "OMPI_ARGV");

        cr_expect_eq(said == NULL, more == 1, "%zu", more);
        cr_expect_eq(said == NULL ? 0 : strlen(said), more == 0 ? most : 0);
        sx_run_env_free(env);
    }
    free(word);
}
