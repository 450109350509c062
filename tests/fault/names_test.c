/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* names_test.c - a host's names are the host's, whoever has taken them before, and tools of one user
 * share nothing with those of another.  The host takes every tool under the name that it wants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_tool.h>

#include "fault.h"

#define USERS 2
#define NEXT "next.job"
#define LATER "later.job"

static const uid_t uids[USERS] = { 65534, 65533 };

/* ---- the host -------------------------------------------------------------------------------- */

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    pmix_proc_t proc = { .rank = PMIX_RANK_UNDEF };

    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) {
            PMIx_Load_nspace(proc.nspace, info[i].value.data.string);
        } else if (PMIx_Check_key(info[i].key, PMIX_RANK)) {
            proc.rank = info[i].value.data.rank;
        }
    }
    cbfunc(PMIX_SUCCESS, &proc, cbdata);
}

/* Others cannot read its contact file: they are told where it is. */
static void begin(void)
{
    pmix_proc_t self;
    pmix_value_t *uri;

    CHECK(setenv("SHMIX_RENDEZVOUS", "abstract", 1) == 0, "setenv");
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_module.tool_connected = on_tool;
    fault_takes_foreign = true;
    fault_server_start();
    PMIx_Load_procid(&self, "", PMIX_RANK_UNDEF);
    CHECK_STATUS(PMIx_Get(NULL, PMIX_SERVER_URI, NULL, 0, &uri), PMIX_SUCCESS);
    snprintf(fault_shared->text, sizeof(fault_shared->text), "%s", uri->data.string);
    PMIx_Value_free(uri, 1);
    fault_good_start();
}

static void end(void)
{
    CHECK(atomic_load(&fault_shared->lost) == 0, "the host has been told of a tool's end");
    fault_good_wait(2);
    fault_good_stop();
    fault_server_stop();
}

/* As another user, if this one can. */
static pid_t start(unsigned user, const char *role, const char *arg)
{
    return geteuid() == 0 ? fault_start_as(uids[user], NULL, 0, role, arg)
                          : fault_start(NULL, 0, role, arg);
}

static pmix_status_t tool_init(const char *nspace, pmix_proc_t *ret_self)
{
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_SERVER_URI, fault_shared->text, PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_TOOL_NSPACE, nspace, PMIX_STRING);
    const pmix_status_t rc = PMIx_tool_init(ret_self, info, nspace[0] == '\0' ? 1 : 2);

    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    return rc;
}

/* ---- a tool with the name of a job to come ----------------------------------------------------- */

/* @arg is the name.  It has it, until the host takes it, and then nothing of what is in that job. */
static int role_takes(const char *arg)
{
    const pmix_value_t mine = { .type = PMIX_UINT32, .data.uint32 = 1 };
    pmix_value_t *value;
    pmix_proc_t self, job;

    CHECK_STATUS(tool_init(arg, &self), PMIX_SUCCESS);
    CHECK(PMIx_Check_nspace(self.nspace, arg) && self.rank == 0, "%s.%u", self.nspace, self.rank);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "tool", (pmix_value_t *)(uintptr_t)&mine), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[0], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host to register the job");
    PMIx_Load_procid(&job, arg, PMIX_RANK_WILDCARD);
    CHECK(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS, "it has the job's data");
    PMIx_Load_procid(&job, arg, 1);
    CHECK(PMIx_Get(&job, "whole", NULL, 0, &value) != PMIX_SUCCESS, "it has a rank's data");
    CHECK(!PMIx_tool_is_connected(), "it is still a tool of that name");
    CHECK_STATUS(tool_init("", &self), PMIX_SUCCESS); /* counted: it goes on without a server */
    return 0;
}

/* Nothing of the tool is in the job, and the job is as any other. */
static int role_of_job(const char *arg)
{
    const bool yes = true;
    pmix_value_t *value;
    pmix_proc_t self, other;
    pmix_info_t at_once;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&other, self.nspace, 0);
    PMIx_Info_load(&at_once, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    CHECK_STATUS(PMIx_Get(&other, "tool", &at_once, 1, &value), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static void job_run(const char *nspace)
{
    pid_t pids[2];

    fault_job_start(nspace, 2);
    for (int rank = 0; rank < 2; rank++) {
        pids[rank] = fault_start(nspace, rank, "of_job", "");
    }
    for (int rank = 0; rank < 2; rank++) {
        fault_wait_ok(pids[rank], "a rank of the job");
    }
}

static int case_job_to_come(void)
{
    begin();
    const pid_t tool = start(0, "takes", NEXT);

    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "the tool");
    job_run(NEXT);
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(tool, "the tool");
    CHECK(fault_log_lines(FAULT_SELF, "the host registers a namespace of that name") == 1,
          "nothing is said of the tool");
    fault_job_end(NEXT);
    end();
    return 0;
}

/* ---- names that are kept ----------------------------------------------------------------------- */

static int role_asks(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(tool_init(arg, &self), PMIX_EXISTS);
    return 0;
}

static int case_kept_names(void)
{
    static const char *const names[] = { "good.job",       "good.job.1",   "good.job@17",
                                         "shmix-tool-1-0", "good.job.1.2", "good.job@3.4.5" };

    begin();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        fault_wait_ok(start(0, "asks", names[i]), names[i]);
    }
    end();
    return 0;
}

/* ---- tools without a name ---------------------------------------------------------------------- */

/* @arg is its number.  Each puts, and looks for what the other has put under both names. */
static int role_unnamed(const char *arg)
{
    const unsigned number = (unsigned)atoi(arg);
    const bool yes = true;
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number }, *got;
    pmix_proc_t self, other;
    pmix_info_t at_once;
    char key[16];

    CHECK_STATUS(tool_init("", &self), PMIX_SUCCESS);
    snprintf(key, sizeof(key), "key.%u", number);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&self, key, NULL, 0, &got), PMIX_SUCCESS);
    PMIx_Value_free(got, 1);
    snprintf(fault_shared->text + 1024 * (1 + number), 1024, "%s", self.nspace);
    atomic_store(&fault_shared->status[number], (int32_t)self.rank);
    atomic_store(&fault_shared->state[number], 1);
    WAIT_FOR(atomic_load(&fault_shared->state[1 - number]) >= 1, "the other tool");
    PMIx_Load_procid(&other, fault_shared->text + 1024 * (1 + (1 - number)),
                     (pmix_rank_t)atomic_load(&fault_shared->status[1 - number]));
    CHECK(!PMIx_Check_nspace(self.nspace, other.nspace), "both are %s", self.nspace);
    snprintf(key, sizeof(key), "key.%u", 1 - number);
    PMIx_Info_load(&at_once, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    CHECK(PMIx_Get(&other, key, &at_once, 1, &got) != PMIX_SUCCESS, "it reads another user's");
    other.rank = 0;
    CHECK(PMIx_Get(&other, key, &at_once, 1, &got) != PMIX_SUCCESS, "it reads another user's");
    atomic_store(&fault_shared->state[number], 2);
    WAIT_FOR(atomic_load(&fault_shared->state[1 - number]) == 2, "the other tool");
    CHECK_STATUS(PMIx_tool_finalize(), PMIX_SUCCESS);
    return 0;
}

static int case_unnamed_tools(void)
{
    pid_t pids[USERS];

    if (geteuid() != 0) {
        return fault_skip("only root can become another user");
    }
    begin();
    for (unsigned i = 0; i < USERS; i++) {
        pids[i] = start(i, "unnamed", i == 0 ? "0" : "1");
    }
    for (unsigned i = 0; i < USERS; i++) {
        fault_wait_ok(pids[i], "a tool");
    }
    end();
    return 0;
}

/* ---- groups and invitations -------------------------------------------------------------------- */

static void on_done(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_data)
{
    if (release != NULL) {
        release(release_data);
    }
    atomic_store(&fault_shared->status[0], status);
    atomic_store(&fault_shared->state[2], 1);
}

/* It has a group, and invites to another one, of the names of jobs to come. */
static int role_groups(const char *arg)
{
    pmix_proc_t self, all;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    PMIx_Load_procid(&all, self.nspace, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Group_construct("good.job.1", &self, 1, NULL, 0, NULL, NULL),
                 PMIX_ERR_EXISTS);
    CHECK_STATUS(PMIx_Group_construct("good.job.1.2", &self, 1, NULL, 0, NULL, NULL),
                 PMIX_ERR_EXISTS); /* nor below such a name */
    CHECK_STATUS(PMIx_Group_invite("makers.2", &all, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    CHECK_STATUS(PMIx_Group_construct(NEXT, &self, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_invite_nb(LATER, &all, 1, NULL, 0, on_done, NULL), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[0], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host to register both");
    WAIT_FOR(atomic_load(&fault_shared->state[2]) == 1, "the end of the invitation");
    CHECK_STATUS(atomic_load(&fault_shared->status[0]), PMIX_ERR_EXISTS);
    CHECK_STATUS(PMIx_Group_destruct(NEXT, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

/* One that is invited, and never answers. */
static int role_silent(const char *arg)
{
    pmix_proc_t self;

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[1], 1);
    WAIT_FOR(atomic_load(&fault_shared->go) == 1, "the host");
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    return 0;
}

static int case_groups(void)
{
    begin();
    fault_job_start("makers", 2);
    const pid_t silent = fault_start("makers", 1, "silent", "");
    WAIT_FOR(atomic_load(&fault_shared->state[1]) == 1, "the guest");
    const pid_t maker = fault_start("makers", 0, "groups", "");

    WAIT_FOR(atomic_load(&fault_shared->state[0]) == 1, "the group and the invitation");
    job_run(NEXT);
    job_run(LATER);
    atomic_store(&fault_shared->go, 1);
    fault_wait_ok(maker, "who has had the names");
    fault_wait_ok(silent, "the guest");
    fault_job_end(NEXT);
    fault_job_end(LATER);
    fault_job_end("makers");
    end();
    return 0;
}

static const struct fault_case cases[] = {
    { "job_to_come", case_job_to_come },
    { "kept_names", case_kept_names },
    { "unnamed_tools", case_unnamed_tools },
    { "groups", case_groups },
};

static const struct fault_role roles[] = {
    { "takes", role_takes },     { "of_job", role_of_job }, { "asks", role_asks },
    { "unnamed", role_unnamed }, { "groups", role_groups }, { "silent", role_silent },
};

FAULT_MAIN(cases, roles)
