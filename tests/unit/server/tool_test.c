/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_test.c - who may be a tool, under which name, and that the last one leaves nothing. */
#include "server/entry/tool.h"

#include <unistd.h>

#include "bare.h"

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

static struct sx_client *take(const char *nspace, pmix_rank_t rank, pmix_status_t *ret_status)
{
    const struct sx_peer peer = { .pid = 1, .uid = 5, .gid = 7 };
    pmix_proc_t proc;
    const char *why;

    PMIx_Load_procid(&proc, nspace, rank);
    return sx_tool_take(&server, &proc, &peer, ret_status, &why);
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
    cr_expect_str_eq(take("", PMIX_RANK_UNDEF, &status)->nspace->name, "shmix-tool-4711");
    cr_expect_eq(take("", 3, &status)->rank, 1, "the lowest free");
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
