/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_request_test.c - what a spawn asks for: read, refused with a reason, answered once. */
#include "launch/ask/spawn_request.h"

#include <criterion/criterion.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "base/value/pack.h"
#include "base/value/value.h"
#include "launch/common/say.h"
#include "launch/place/program.h"

static const pmix_proc_t parent = { .nspace = "shmix-1-2", .rank = 3 };
static char *argv_with[] = { "prog", "-v", NULL }, *argv_without[] = { "-v", NULL };
static char message[SX_RUN_MESSAGE_MAX];

static struct sx_run_request *new_with(const pmix_info_t *info, size_t ninfo, const pmix_app_t *app)
{
    struct sx_run_request *request = NULL;

    cr_assert_eq(sx_run_request_new(&request, &parent, info, ninfo, app, 1), PMIX_SUCCESS);
    return request;
}

static const struct {
    const char *key, *value;
    int maxprocs;
    pmix_status_t want;
    const char *says;
} rows[] = {
    { PMIX_HOST, "box", 2, PMIX_SUCCESS, NULL },
    { PMIX_HOST, "localhost:4,box.example:2,127.0.0.1", 2, PMIX_SUCCESS, NULL },
    { PMIX_HOST, "box,other", 2, PMIX_ERR_JOB_ALLOC_FAILED, "'other'" },
    { PMIX_HOST, "bo", 2, PMIX_ERR_JOB_ALLOC_FAILED, "'bo'" },
    { PMIX_ADD_HOST, "other:3", 2, PMIX_ERR_JOB_ALLOC_FAILED, "'other:3'" },
    { PMIX_HOSTFILE, "/nonexistent/hosts", 2, PMIX_ERR_JOB_ALLOC_FAILED, "/nonexistent/hosts" },
    { PMIX_MAPBY, "slot", 2, PMIX_SUCCESS, NULL },
    { PMIX_MAPBY, "CORE:OVERSUBSCRIBE", 2, PMIX_SUCCESS, NULL },
    { PMIX_MAPBY, "ppr:2:node", 2, PMIX_SUCCESS, NULL },
    { PMIX_MAPBY, "ppr:2:node", 0, PMIX_SUCCESS, NULL },
    { PMIX_MAPBY, "ppr:2:node", 3, PMIX_ERR_JOB_FAILED_TO_MAP, "at most 2" },
    { PMIX_MAPBY, "ppr:0:node", 1, PMIX_ERR_JOB_FAILED_TO_MAP, "PMIX_MAPBY" },
    { PMIX_MAPBY, "core:PE=2:NOOVERSUBSCRIBE", 2, PMIX_SUCCESS, NULL },
    { PMIX_MAPBY, "core:colour", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "'core:colour'" },
    { PMIX_BINDTO, "core:overload-allowed", 2, PMIX_SUCCESS, NULL },
    { PMIX_RANKBY, "numa", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "PMIX_RANKBY" },
    { PMIX_MAPBY, "ring", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "'ring'" },
    { PMIX_PPR, "4:node", 4, PMIX_SUCCESS, NULL },
    { PMIX_PPR, "4:n", 4, PMIX_SUCCESS, NULL },
    { PMIX_PPR, "4:switch", 4, PMIX_ERR_JOB_FAILED_TO_MAP, "PMIX_PPR" },
    { PMIX_BINDTO, "socket", 2, PMIX_SUCCESS, NULL },
    { PMIX_BINDTO, "chair", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "'chair'" },
    { PMIX_RANKBY, "slot", 2, PMIX_SUCCESS, NULL },
    { PMIX_RANKBY, "span", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "PMIX_RANKBY" },
    { PMIX_MAPPER, "round_robin", 2, PMIX_SUCCESS, NULL },
    { PMIX_MAPPER, "seq", 2, PMIX_ERR_JOB_FAILED_TO_MAP, "'seq'" },
    { PMIX_PRELOAD_FILES, "/dev/null,/", 2, PMIX_SUCCESS, NULL },
    { PMIX_PRELOAD_FILES, "/dev/null,/nonexistent/file", 2, PMIX_ERR_NOT_FOUND,
      "'/nonexistent/file'" },
    { PMIX_PERSONALITY, "ompi5", 0, PMIX_ERR_BAD_PARAM, "0 ranks" },
    { PMIX_PERSONALITY, "ompi5", -1, PMIX_ERR_BAD_PARAM, "-1 ranks" },
    { PMIX_PERSONALITY, "ompi5", 16385, PMIX_ERR_BAD_PARAM, "16385 ranks" },
};

Test(run_request, what_cannot_be_is_refused_with_a_reason)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_app_t app = { .cmd = (char[]){ "./prog" }, .maxprocs = rows[i].maxprocs };
        pmix_info_t info;

        PMIx_Info_load(&info, rows[i].key, rows[i].value, PMIX_STRING);
        message[0] = '\0';
        struct sx_run_request *const request = new_with(&info, 1, &app);

        cr_expect_eq(sx_run_request_judge(request, "box.example", message), rows[i].want,
                     "row %zu: %s", i, message);
        cr_expect(rows[i].says == NULL || strstr(message, rows[i].says) != NULL, "row %zu: %s", i,
                  message);
        sx_run_request_free(request);
        PMIx_Info_destruct(&info);
    }
}

/* What is so anyway on one node can be required. */
Test(run_request, what_asks_for_nothing_is_no_reason_to_refuse)
{
    static const char *const keys[] = {
        PMIX_WDIR_USER_SPECIFIED, PMIX_PRELOAD_BIN,    PMIX_NON_PMI,    PMIX_SPAWN_TOOL, PMIX_NOHUP,
        PMIX_ENVARS_HARVESTED,    PMIX_AGGREGATE_HELP, PMIX_FWD_STDDIAG
    };

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
        pmix_info_t info;

        PMIx_Info_load(&info, keys[i], NULL, PMIX_BOOL);
        PMIx_Info_required(&info);
        struct sx_run_request *const request = new_with(&info, 1, &app);

        cr_expect_eq(sx_run_request_judge(request, "box", message), PMIX_SUCCESS, "%s: %s", keys[i],
                     message);
        sx_run_request_free(request);
    }
}

Test(run_request, there_is_no_node_but_the_launcher_s)
{
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
    pmix_info_t info;

    for (int i = 0; i < 2; i++) {
        const bool not_here = i == 1;

        PMIx_Info_load(&info, PMIX_NO_PROCS_ON_HEAD, &not_here, PMIX_BOOL);
        struct sx_run_request *const request = new_with(&info, 1, &app);

        cr_expect_eq(sx_run_request_judge(request, "box", message),
                     not_here ? PMIX_ERR_JOB_ALLOC_FAILED : PMIX_SUCCESS);
        sx_run_request_free(request);
    }
    cr_expect_not_null(strstr(message, "no other one than 'box'"), "%s", message);
}

/* Cores, unless it is said what else. */
Test(run_request, several_cpus_for_a_rank)
{
    static const struct {
        const char *map, *bind;
        pmix_status_t want;
        enum sx_run_level level;
    } cases[] = {
        { NULL, NULL, PMIX_SUCCESS, SX_RUN_LEVEL_CORE },
        { "numa", NULL, PMIX_SUCCESS, SX_RUN_LEVEL_CORE },
        { "hwthread", NULL, PMIX_SUCCESS, SX_RUN_LEVEL_HWTHREAD },
        { "numa", "hwthread", PMIX_SUCCESS, SX_RUN_LEVEL_HWTHREAD },
        { NULL, "numa", PMIX_ERR_JOB_FAILED_TO_MAP, SX_RUN_LEVEL_NUMA },
        { NULL, "none", PMIX_ERR_JOB_FAILED_TO_MAP, SX_RUN_LEVEL_NONE },
    };

    for (size_t i = 0; i < SX_COUNT(cases); i++) {
        pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
        pmix_info_t info[3];
        size_t count = 1;

        PMIx_Info_load(&info[0], PMIX_CPUS_PER_PROC, &(uint32_t){ 2 }, PMIX_UINT32);
        if (cases[i].map != NULL) {
            PMIx_Info_load(&info[count++], PMIX_MAPBY, cases[i].map, PMIX_STRING);
        }
        if (cases[i].bind != NULL) {
            PMIx_Info_load(&info[count++], PMIX_BINDTO, cases[i].bind, PMIX_STRING);
        }
        struct sx_run_request *const request = new_with(info, count, &app);

        cr_expect_eq(sx_run_request_judge(request, "box", message), cases[i].want, "case %zu", i);
        cr_expect_eq(request->options.bind, cases[i].level, "case %zu", i);
        cr_expect_eq(request->options.cpus_each, 2, "case %zu", i);
        sx_run_request_free(request);
        sx_elements_destruct(info, count, PMIX_INFO);
    }
}

Test(run_request, an_agent_s_words_come_before_the_program_s)
{
    static const char *const keys[] = { PMIX_EXEC_AGENT, PMIX_FORKEXEC_AGENT };

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        pmix_app_t app = { .cmd = (char[]){ "prog" }, .argv = argv_with, .maxprocs = 1 };
        pmix_info_t info;

        PMIx_Info_load(&info, keys[i], "time -p", PMIX_STRING);
        struct sx_run_request *const request = new_with(&info, 1, &app);

        cr_assert_eq(sx_run_request_judge(request, "box", message), PMIX_SUCCESS);
        char **const words = request->options.apps[0].program;

        cr_expect_str_eq(words[0], "time");
        cr_expect_str_eq(words[1], "-p");
        cr_expect_str_eq(words[2], "prog");
        cr_expect_str_eq(words[3], "-v");
        cr_expect_null(words[4]);
        sx_run_request_free(request);
        PMIx_Info_destruct(&info);
    }
}

Test(run_request, the_command_is_the_first_word_once)
{
    char slash[] = "./dir/prog";
    pmix_app_t app = { .cmd = slash, .argv = argv_with, .maxprocs = 2, .cwd = (char[]){ "/tmp" } };
    struct sx_run_request *request = new_with(NULL, 0, &app);

    cr_assert_eq(sx_run_request_judge(request, "box", message), PMIX_SUCCESS);
    cr_expect_str_eq(request->options.apps[0].program[0], slash);
    cr_expect_str_eq(request->options.apps[0].program[1], "-v");
    cr_expect_null(request->options.apps[0].program[2]);
    cr_expect_str_eq(request->options.apps[0].wdir, "/tmp");
    cr_expect_eq(request->options.rank_count, 2);
    sx_run_request_free(request);

    app.argv = argv_without;
    request = new_with(NULL, 0, &app);
    cr_assert_eq(sx_run_request_judge(request, "box", message), PMIX_SUCCESS);
    cr_expect_str_eq(request->options.apps[0].program[0], slash);
    cr_expect_str_eq(request->options.apps[0].program[1], "-v");
    sx_run_request_free(request);

    app.cmd = NULL;
    request = new_with(NULL, 0, &app);
    cr_expect_eq(sx_run_request_judge(request, "box", message), PMIX_ERR_JOB_NO_EXE_SPECIFIED);
    sx_run_request_free(request);
}

Test(run_request, an_application_s_directives_win_over_the_job_s)
{
    pmix_envar_t of_job = { "A", "job", ':' }, of_app = { "B", "app", ':' };
    pmix_info_t info[3], own[2];
    char **env = sx_cli_calloc(1, sizeof(*env));

    PMIx_Info_load(&info[0], PMIX_WDIR, "/", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_SET_ENVAR, &of_job, PMIX_ENVAR);
    PMIx_Info_load(&info[2], PMIX_PREFIX, "/opt", PMIX_STRING);
    PMIx_Info_load(&own[0], PMIX_WDIR, "/tmp", PMIX_STRING);
    PMIx_Info_load(&own[1], PMIX_SET_ENVAR, &of_app, PMIX_ENVAR);
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1, .info = own, .ninfo = 2 };
    struct sx_run_request *const request = new_with(info, 3, &app);

    cr_assert_eq(sx_run_request_judge(request, "box", message), PMIX_SUCCESS);
    cr_expect_str_eq(request->options.apps[0].wdir, "/tmp");
    cr_assert_eq(sx_run_request_env(request, 0, &env), PMIX_SUCCESS);
    cr_expect_str_eq(sx_run_env_get(env, "A"), "job");
    cr_expect_str_eq(sx_run_env_get(env, "B"), "app");
    cr_expect_str_eq(sx_run_env_get(env, "PATH"), "/opt/bin");
    sx_run_env_free(env);
    sx_run_request_free(request);
    sx_elements_destruct(info, 3, PMIX_INFO);
    sx_elements_destruct(own, 2, PMIX_INFO);
}

Test(run_request, a_request_is_the_same_in_another_process)
{
    pmix_info_t info;
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .argv = argv_with, .maxprocs = 7 };
    struct sx_run_request *other = NULL;
    pmix_data_buffer_t buffer;

    PMIx_Info_load(&info, PMIX_WDIR, "/tmp", PMIX_STRING);
    struct sx_run_request *const request = new_with(&info, 1, &app);

    PMIx_Data_buffer_construct(&buffer);
    sx_run_request_look_at(request, "shmix-1-2.5");
    cr_assert_eq(sx_run_request_pack(request, &buffer), PMIX_SUCCESS);
    cr_assert_neq(sx_run_request_unpack(&other, &buffer), PMIX_SUCCESS, "without its programs");
    PMIx_Data_buffer_destruct(&buffer);
    PMIx_Data_buffer_construct(&buffer);
    cr_assert_eq(sx_run_request_pack(request, &buffer), PMIX_SUCCESS);
    cr_assert_eq(sx_pack(&buffer, request->apps, 1, PMIX_APP), PMIX_SUCCESS);
    cr_assert_eq(sx_run_request_unpack(&other, &buffer), PMIX_SUCCESS);
    cr_expect_str_eq(other->parent.nspace, parent.nspace);
    cr_expect_eq(other->parent.rank, parent.rank);
    cr_expect_eq(other->said.target.count, 1);
    cr_expect_str_eq(other->target.nspace, "shmix-1-2.5");
    cr_assert_eq(sx_run_request_judge(other, "box", message), PMIX_SUCCESS);
    cr_expect_str_eq(other->options.apps[0].wdir, "/tmp");
    cr_expect_str_eq(other->words[0][1], "-v");
    cr_expect_eq(other->options.rank_count, 7);
    sx_run_request_free(other);
    sx_run_request_free(request);
    PMIx_Data_buffer_destruct(&buffer);
    PMIx_Info_destruct(&info);
}

Test(run_request, bad_input_is_refused_at_once)
{
    struct sx_run_request *request = NULL;
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
    pmix_info_t info;

    cr_expect_eq(sx_run_request_new(&request, &parent, NULL, 0, NULL, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_run_request_new(&request, &parent, NULL, 0, &app, 0), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_run_request_new(&request, &parent, NULL, 2, &app, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_run_request_new(&request, &parent, NULL, 0, &app, SIZE_MAX),
                 PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, "nobody.knows.it", &(uint32_t){ 3 }, PMIX_UINT32);
    cr_expect_eq(sx_run_request_new(&request, &parent, &info, 1, &app, 1), PMIX_SUCCESS);
    sx_run_request_free(request);
    PMIx_Info_required(&info);
    cr_expect_eq(sx_run_request_new(&request, &parent, &info, 1, &app, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&info);
}

static unsigned answers;
static pmix_status_t answer;

static void answered(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    cr_expect_str_eq(nspace, "shmix-1-2.1");
    cr_expect_eq(cbdata, &answers);
    answer = status;
    answers++;
}

Test(run_request, who_asks_is_answered_once)
{
    pmix_app_t app = { .cmd = (char[]){ "prog" }, .maxprocs = 1 };
    struct sx_run_request *const request = new_with(NULL, 0, &app);

    request->fn = answered;
    request->arg = &answers;
    sx_run_request_answer(request, PMIX_SUCCESS, "shmix-1-2.1");
    sx_run_request_answer(request, PMIX_ERR_JOB_CANCELED, NULL);
    cr_expect_eq(answers, 1);
    cr_expect_eq(answer, PMIX_SUCCESS);
    sx_run_request_free(request);
}
