/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_test.c - who may be a tool, under which name, and that the last one leaves nothing. */
#include "server/entry/entry.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../bare.h"
#include "base/system/process.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

static struct sx_server server;
static struct sx_nspace *job;

static void begin(void)
{
    bare_init(&server);
    server.pid = 4711;
    job = bare_job(&server, "job", 1, 1);
    (void)bare_connect(&server, job, 0);
    (void)bare_job(&server, "elsewhere", 1, 0);
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(tool, .init = begin, .fini = end);

static const struct sx_hello reader = { .role = SX_PEER_COMMAND, .home = "job" };

static struct sx_client *admit(const struct sx_hello *hello, uid_t uid, pmix_status_t *ret_status)
{
    const struct sx_peer peer = { .pid = 1, .uid = uid, .gid = 7 };
    const char *why = NULL;
    struct sx_client *const client = sx_tool_admit(&server, hello, &peer, ret_status, &why);

    cr_expect_not_null(why);
    return client;
}

static struct sx_client *admitted(const struct sx_hello *hello)
{
    pmix_status_t status;
    struct sx_client *const client = admit(hello, geteuid(), &status);

    cr_assert_not_null(client, "%d", status);
    return client;
}

static const struct {
    const char *why;
    const char *nspace, *home;
    uid_t more; /* than ours */
    pmix_status_t status;
} refused[] = {
    { "of another user", "", "job", 1, PMIX_ERR_NO_PERMISSIONS },
    { "with a name", "job", "job", 0, PMIX_ERR_NOT_SUPPORTED },
    { "of no job", "", "no.such.job", 0, PMIX_ERR_NOT_FOUND },
    { "of a job without a ring", "", "elsewhere", 0, PMIX_ERR_NOT_FOUND },
};

Test(tool, is_refused_without_a_trace)
{
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        struct sx_hello hello = { .role = SX_PEER_COMMAND };
        pmix_status_t status = PMIX_SUCCESS;

        strcpy(hello.nspace, refused[i].nspace);
        strcpy(hello.home, refused[i].home);
        cr_expect_null(admit(&hello, geteuid() + refused[i].more, &status), "%s", refused[i].why);
        cr_expect_eq(status, refused[i].status, "%s: %d", refused[i].why, status);
    }
    cr_expect_null(sx_nspace_find(&server, "shmix-tool-4711"));
}

Test(tool, has_the_lowest_free_rank)
{
    struct sx_client *const first = admitted(&reader), *const second = admitted(&reader);

    cr_expect_str_eq(first->nspace->name, "shmix-tool-4711");
    cr_expect_eq(first->home, job);
    cr_expect_eq(first->uid, geteuid());
    cr_expect_eq(first->gid, 7);
    cr_expect_eq(first->rank, 0);
    cr_expect_eq(second->rank, 1);
    sx_tool_forget(&server, first);
    cr_expect_eq(admitted(&reader)->rank, 0);
}

Test(tool, may_come_so_often_and_not_once_more)
{
    struct sx_client *last = NULL;
    pmix_status_t status = PMIX_SUCCESS;

    for (uint32_t i = 0; i < SX_TOOLS_MAX; i++) {
        last = admitted(&reader);
    }
    cr_expect_null(admit(&reader, geteuid(), &status));
    cr_expect_eq(status, PMIX_ERR_OUT_OF_RESOURCE);
    sx_tool_forget(&server, last);
    (void)admitted(&reader);
}

static struct sx_client *take_of(uid_t uid, const char *nspace, pmix_rank_t rank,
                                 pmix_status_t *ret_status)
{
    const struct sx_peer peer = { .pid = 1, .uid = uid, .gid = 7 };
    pmix_proc_t proc;
    const char *why;

    PMIx_Load_procid(&proc, nspace, rank);
    return sx_tool_take(&server, &proc, &peer, ret_status, &why);
}

static struct sx_client *take(const char *nspace, pmix_rank_t rank, pmix_status_t *ret_status)
{
    return take_of(5, nspace, rank, ret_status);
}

/* TQ1, TQ2 */
Test(tool, is_called_what_the_host_says)
{
    pmix_status_t status;
    struct sx_client *const named = take("a.tool", 7, &status);

    cr_assert_not_null(named);
    cr_expect_str_eq(named->nspace->name, "a.tool");
    cr_expect_eq(named->rank, 7);
    cr_expect_eq(named->uid, 5, "the kernel's word");
    cr_expect_eq(named->home, named->nspace);
    cr_expect_null(take("a.tool", 7, &status));
    cr_expect_eq(status, PMIX_EXISTS);
    cr_expect_eq(take("a.tool", PMIX_RANK_UNDEF, &status)->rank, 0);
    cr_expect_null(take("job", 0, &status), "a rank");
    cr_expect_eq(status, PMIX_EXISTS);
    cr_expect_null(take("job", 5, &status), "a job");
    cr_expect_null(take("elsewhere", 0, &status), "a job of another node");
    cr_expect_str_eq(take("", PMIX_RANK_UNDEF, &status)->nspace->name, "shmix-tool-4711-5");
    cr_expect_eq(take("", 3, &status)->rank, 1, "the lowest free");
}

Test(tool, shares_no_namespace_with_another_users)
{
    pmix_status_t status;
    struct sx_client *const own = take("a.tool", 0, &status);
    struct sx_client *const first = take("", PMIX_RANK_UNDEF, &status);
    struct sx_client *const other = take_of(6, "", PMIX_RANK_UNDEF, &status);

    cr_expect_null(take_of(6, "a.tool", 1, &status), "the host gives it to both");
    cr_expect_eq(status, PMIX_ERR_NO_PERMISSIONS);
    cr_expect_null(take_of(0, "a.tool", 1, &status), "not even root's");
    cr_expect_neq(first->nspace, other->nspace);
    cr_expect(first->rank == 0 && other->rank == 0);
    cr_expect_not(sx_nspace_visible(&server, first->nspace, other));
    cr_expect(sx_nspace_visible(&server, first->nspace, own), "of the same user");
    sx_tool_forget(&server, own);
    cr_expect_not_null(take_of(6, "a.tool", 1, &status), "it is free again");
}

static const struct {
    const char *name;
    pmix_status_t status;
} claims[] = {
    { "job", PMIX_EXISTS },
    { "job.1", PMIX_EXISTS },
    { "job@12", PMIX_EXISTS },
    { "job.x", PMIX_SUCCESS },
    { "job.", PMIX_SUCCESS },
    { "job.1.1", PMIX_EXISTS },
    { "jobs.1", PMIX_SUCCESS },
    { "prte-5@7", PMIX_EXISTS },
    { "prte-5", PMIX_SUCCESS },
    { "run", PMIX_EXISTS },
    { "run.3", PMIX_EXISTS },
    { "run.server", PMIX_EXISTS },
    { "run.server.1", PMIX_EXISTS },
    { "shmix-tool-4711", PMIX_EXISTS },
    { "shmix-tool-1-2", PMIX_EXISTS },
    { "tea", PMIX_EXISTS },
    { ".1", PMIX_SUCCESS },
    { "7", PMIX_SUCCESS },
};

Test(tool, takes_no_name_that_is_kept)
{
    const pmix_proc_t member = { .nspace = "job" };

    PMIX_LOAD_NSPACE(server.self.nspace, "run.server");
    (void)bare_job(&server, "prte-5@2", 1, 0);
    (void)bare_connected(&server, "tea", &member, 1);
    for (size_t i = 0; i < SX_COUNT(claims); i++) {
        pmix_status_t status = PMIX_ERROR;
        struct sx_client *const tool = take(claims[i].name, 0, &status);

        cr_expect_eq(tool != NULL ? PMIX_SUCCESS : status, claims[i].status, "%s: %d",
                     claims[i].name, status);
        if (tool != NULL) {
            sx_tool_forget(&server, tool);
        }
        cr_expect_eq(sx_claim_by_group(&server, 0, claims[i].name),
                     claims[i].status == PMIX_EXISTS ? PMIX_ERR_EXISTS : claims[i].status, "%s",
                     claims[i].name);
    }
}

Test(tool, loses_a_name_that_the_host_takes)
{
    pmix_status_t status;
    struct sx_client *const going = sx_client_retain(take("next", 0, &status));
    struct sx_client *const other = take("other", 0, &status);

    (void)take("next", 3, &status);
    going->state = SX_CLIENT_DEAD; /* the host is called for its end, and registers in there */
    sx_reaper_name_claimed(&server, "next");
    cr_expect_null(sx_nspace_find(&server, "next"));
    cr_expect_null(going->nspace);
    sx_client_release(going);
    sx_reaper_name_claimed(&server, "job");
    cr_expect_not_null(sx_client_find(job, 0));
    cr_expect_not_null(other->nspace);
}

/* However many names they have. */
Test(tool, is_one_of_so_many_of_its_user)
{
    pmix_status_t status = PMIX_SUCCESS;
    struct sx_client *last = NULL;
    char name[16];

    for (uint32_t i = 0; i < SX_TOOLS_MAX; i++) {
        snprintf(name, sizeof(name), "tool-%u", i);
        last = take(name, 0, &status);
        cr_assert_not_null(last, "%u: %d", i, status);
    }
    cr_expect_null(take("one-more", 0, &status));
    cr_expect_eq(status, PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_null(take("", PMIX_RANK_UNDEF, &status));
    cr_expect_not_null(take_of(6, "one-more", 0, &status), "another user's");
    sx_tool_forget(&server, last);
    cr_expect_not_null(take("one-again", 0, &status));
}

/* Descriptors are left for ranks that are still to come. */
Test(tool, leaves_descriptors_for_ranks)
{
    struct sx_nspace *const next = bare_job(&server, "next", 16, 0);
    const size_t used = sx_descriptors_look().used;
    pmix_status_t status = PMIX_SUCCESS;
    const char *why;
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    /* Enough for one tool more, 16 processes, and the welcome of one. */
    limit.rlim_cur = used + 18 * SX_CLIENT_DESCRIPTORS;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    next->local_count = 16;
    cr_expect_eq(sx_tool_judge_room(&server, 5, &why), PMIX_SUCCESS);
    next->local_count = 17;
    cr_expect_eq(sx_tool_judge_room(&server, 5, &why), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_null(take("a.tool", 0, &status));
    cr_expect_eq(status, PMIX_ERR_OUT_OF_RESOURCE);
    for (uint32_t rank = 0; rank < 17; rank++) { /* they have come, or gone for good */
        struct sx_client *const client = sx_client_add(next, rank);

        cr_assert_not_null(client);
        client->state = rank % 2 == 0 ? SX_CLIENT_CONNECTED : SX_CLIENT_DEAD;
    }
    cr_expect_not_null(take("a.tool", 0, &status));
}

Test(tool, takes_its_namespace_along)
{
    const struct sx_hello alone = { .role = SX_PEER_COMMAND };
    struct sx_client *const first = admitted(&alone), *const second = admitted(&reader);

    cr_expect_eq(first->home, first->nspace);
    sx_client_retain(second);
    sx_tool_forget(&server, first);
    cr_expect_not_null(sx_nspace_find(&server, "shmix-tool-4711"));
    sx_tool_forget(&server, second);
    cr_expect_null(sx_nspace_find(&server, "shmix-tool-4711"));
    cr_expect_null(second->nspace);
    cr_expect_null(second->home);
    sx_tool_forget(&server, second); /* once */
    sx_client_release(second);
}

Test(tool, is_found_by_its_home_and_by_its_namespace)
{
    struct sx_client *const rank = sx_client_find(job, 0), *const tool = admitted(&reader);
    struct sx_client *live[] = { rank, tool };

    server.live = live;
    server.live_count = 1;
    cr_expect_null(sx_tool_of(&server, job), "only a rank is there");
    server.live_count = 2;
    cr_expect_eq(sx_tool_of(&server, job), tool);
    cr_expect_eq(sx_tool_of(&server, tool->nspace), tool);
    cr_expect_null(sx_tool_of(&server, sx_nspace_find(&server, "elsewhere")));
    sx_tool_forget(&server, rank);
    cr_expect_eq(sx_client_find(job, 0), rank, "a rank stays");
    server.live = NULL;
}

static uint64_t owed_to_tools;
static pmix_status_t decided_status;

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    (void)info, (void)ninfo;
    owed_to_tools = server.port.host.owed[SX_UPCALL_TOOL_CONNECTED].clients.has.all[SX_QUOTA_ROWS];
    cbfunc(PMIX_ERR_NO_PERMISSIONS, NULL, cbdata);
}

static void on_decided(struct sx_connection *connection, struct sx_client *client, uint32_t flags,
                       uint32_t id, pmix_status_t status, const char *why)
{
    (void)connection, (void)client, (void)flags, (void)id, (void)why;
    decided_status = status;
}

static void on_loop(void *arg, uint64_t now_ns)
{
    static const struct sx_hello hello = { .role = SX_PEER_TOOL };
    const char *why = NULL;

    (void)now_ns;
    cr_expect_eq(sx_tool_ask(arg, &hello, 1, on_decided, &why), PMIX_SUCCESS, "%s", why);
}

/* So that the tools of one user leave the host answers to owe about those of others. */
Test(tool, that_the_host_is_asked_about_takes_a_share_of_its_user)
{
    struct sx_connection connection = { .server = &server };

    connection.channel.peer = (struct sx_peer){ .pid = 1, .uid = geteuid(), .gid = 7 };
    server.takes_tools = true;
    server.module.tool_connected = on_tool;
    bare_loop(&server);
    bare_call(&server, on_loop, &connection);
    cr_expect_eq(owed_to_tools, 1);
    cr_expect_eq(decided_status, PMIX_ERR_NO_PERMISSIONS, "%d", decided_status);
    sx_upcall_forget_all(&server);
}
