/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* register_test.c - what a host tells of namespaces and clients: taken in any order, refused when
 * it cannot be, and taken back. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "../../control/engines.h"
#include "../hosted.h"
#include "server/model/state.h"

TestSuite(register, .init = hosted_begin, .fini = hosted_end, .timeout = 60);

static pmix_status_t add_job(const char *name, int here)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    return PMIx_server_register_nspace(nspace, here, NULL, 0, NULL, NULL);
}

static pmix_status_t add_client(const char *name, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    return PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL);
}

static void drop_client(const char *name, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    PMIx_server_deregister_client(&proc, NULL, NULL);
}

/* What is known, as the loop's thread sees it. */
struct look {
    bool nspace, registered, has_ring, client;
};

static pmix_status_t look(struct sx_server *server, void *arg)
{
    struct look *const seen = arg;
    const struct sx_nspace *const nspace = sx_nspace_find(server, "job");

    *seen = (struct look){ .nspace = nspace != NULL };
    if (nspace != NULL) {
        const struct sx_client *const client = sx_client_find(nspace, 0);

        seen->registered = nspace->registered;
        seen->has_ring = sx_nspace_has_ring(nspace);
        seen->client = client != NULL && client->state == SX_CLIENT_REGISTERED;
    }
    return PMIX_SUCCESS;
}

static void expect(bool nspace, bool registered, bool has_ring, bool client, const char *why)
{
    struct look seen;

    hosted_call(look, &seen);
    cr_expect_eq(seen.nspace, nspace, "%s", why);
    cr_expect_eq(seen.registered, registered, "%s", why);
    cr_expect_eq(seen.has_ring, has_ring, "%s", why);
    cr_expect_eq(seen.client, client, "%s", why);
}

Test(register, takes_clients_before_and_behind_their_namespace)
{
    cr_expect_eq(add_client("job", 0), PMIX_OPERATION_SUCCEEDED);
    expect(true, false, false, true, "only named");
    cr_expect_eq(add_job("job", 2), PMIX_OPERATION_SUCCEEDED);
    expect(true, true, true, true, "registered");
    cr_expect_eq(add_client("job", 1), PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(add_client("job", 1), PMIX_EXISTS, "it lives");
    drop_client("job", 1);
    cr_expect_eq(add_client("job", 1), PMIX_OPERATION_SUCCEEDED, "another in its place");
}

Test(register, makes_a_ring_once_a_process_is_here)
{
    cr_expect_eq(add_job("job", 0), PMIX_OPERATION_SUCCEEDED);
    expect(true, true, false, false, "nobody is here");
    cr_expect_eq(add_client("job", 0), PMIX_OPERATION_SUCCEEDED);
    expect(true, true, true, true, "one is");
}

Test(register, forgets_what_is_taken_back_and_what_never_was)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, "job");
    cr_expect_eq(add_job("job", 1), PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(add_client("job", 0), PMIX_OPERATION_SUCCEEDED);
    drop_client("job", 0);
    expect(true, true, true, false, "its client has gone");
    PMIx_server_deregister_nspace(nspace, NULL, NULL);
    expect(false, false, false, false, "all of it has");
    PMIx_server_deregister_nspace(nspace, NULL, NULL);
    drop_client("job", 0);
    cr_expect_eq(add_job("job", 1), PMIX_OPERATION_SUCCEEDED);
    expect(true, true, true, false, "another job of that name");
}

struct said {
    uint32_t uid, here;
};

static pmix_status_t look_at_said(struct sx_server *server, void *arg)
{
    struct said *const seen = arg;
    const struct sx_nspace *const nspace = sx_nspace_find(server, "job");

    *seen = (struct said){ nspace->uid, nspace->local_count };
    return PMIX_SUCCESS;
}

/* A host reports ends and process ids by later registrations, which need not repeat all. */
Test(register, keeps_what_a_later_registration_leaves_out)
{
    static const struct {
        const char *why;
        uint32_t uid; /* UINT32_MAX: left out */
        int here;
        struct said want;
    } rows[] = {
        { "the first", 1001, 3, { 1001, 3 } },
        { "neither is said", UINT32_MAX, 0, { 1001, 3 } },
        { "another number", UINT32_MAX, 4, { 1001, 4 } },
        { "another user", 1002, 0, { 1002, 4 } },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct said seen;
        pmix_info_t info;

        PMIx_Info_load(&info, PMIX_USERID, &rows[i].uid, PMIX_UINT32);
        cr_assert_eq(PMIx_server_register_nspace("job", rows[i].here, &info,
                                                 rows[i].uid != UINT32_MAX, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
        hosted_call(look_at_said, &seen);
        cr_expect_eq(seen.uid, rows[i].want.uid, "%s: user %u", rows[i].why, seen.uid);
        cr_expect_eq(seen.here, rows[i].want.here, "%s: %u here", rows[i].why, seen.here);
    }
}

/* A host may register clients first: then there is no size to compare with. */
Test(register, notifies_once_of_ranks_beyond_the_size_of_their_job)
{
    const int log_fd = test_capture_stderr();
    const uint32_t size = 2;
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    cr_expect_eq(add_client("job", 9), PMIX_OPERATION_SUCCEEDED, "no size is known yet");
    cr_expect_eq(PMIx_server_register_nspace("job", 2, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (pmix_rank_t rank = 1; rank <= 3; rank++) {
        cr_expect_eq(add_client("job", rank), PMIX_OPERATION_SUCCEEDED, "refused");
    }
    PMIx_Info_destruct(&info);
    cr_expect_eq(test_count_lines(log_fd, "rank 2 of job, whose PMIX_JOB_SIZE is 2"), 1);
    cr_expect_eq(test_count_lines(log_fd, "PMIX_JOB_SIZE is 2"), 1, "once");
}

static const struct {
    const char *why;
    pmix_rank_t rank;
    pmix_status_t want;
} ranks[] = {
    { "the first", 0, PMIX_OPERATION_SUCCEEDED },
    { "the last there is room for", SX_STORE_ROW_MAX - 1, PMIX_OPERATION_SUCCEEDED },
    { "one more", SX_STORE_ROW_MAX, PMIX_ERR_BAD_PARAM },
    { "all", PMIX_RANK_WILDCARD, PMIX_ERR_BAD_PARAM },
    { "none", PMIX_RANK_UNDEF, PMIX_ERR_BAD_PARAM },
};

Test(register, refuses_ranks_and_names_that_are_none)
{
    char endless[PMIX_MAX_NSLEN + 1];
    pmix_nspace_t empty = "";

    for (size_t i = 0; i < SX_COUNT(ranks); i++) {
        cr_expect_eq(add_client("job", ranks[i].rank), ranks[i].want, "%s", ranks[i].why);
    }
    memset(endless, 'n', sizeof(endless));
    cr_expect_eq(PMIx_server_register_nspace(endless, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_register_nspace(empty, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_register_nspace("job", 1, NULL, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(add_job("job", -5), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_register_client(NULL, 0, 0, NULL, NULL, NULL), PMIX_ERR_BAD_PARAM);
}

/* A group of this name is there, or no more. */
static pmix_status_t group_make(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = { { "others", 0 } };
    const struct sx_membership_options options = {
        .name = arg, .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = 1
    };
    struct sx_membership_entry *entry;

    return sx_memberships_add(server, &options, &entry);
}

static pmix_status_t group_is_gone(struct sx_server *server, void *arg)
{
    cr_expect_null(sx_memberships_find(server, arg));
    return PMIX_SUCCESS;
}

Test(register, refuses_a_parent_that_is_no_process)
{
    const pmix_proc_t parent = { .nspace = "mother", .rank = 3 };
    pmix_info_t info;
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, "job");
    PMIx_Info_load(&info, PMIX_PARENT_ID, "mother.3", PMIX_STRING);
    cr_expect_eq(PMIx_server_register_nspace(nspace, 0, &info, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_PARENT_ID, &parent, PMIX_PROC);
    cr_expect_eq(PMIx_server_register_nspace(nspace, 0, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&info);
}

Test(register, takes_a_name_from_connected_processes_and_from_a_group)
{
    char name[] = "job", other[] = "other", taken[] = "registered";

    hosted_call(group_make, name);
    hosted_call(group_make, other);
    cr_expect_eq(add_job("job", 1), PMIX_OPERATION_SUCCEEDED);
    expect(true, true, true, false, "registered");
    hosted_call(group_is_gone, name);
    cr_expect_eq(add_client("other", 0), PMIX_OPERATION_SUCCEEDED);
    hosted_call(group_is_gone, other);
    cr_expect_eq(add_job("registered", 1), PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(sx_server_call(sx_server_get(), group_make, taken), PMIX_ERR_EXISTS);
}

/* As a connect over nodes has it, of which the host here has not told
 * (server/collective/connect_nodes.h). */
static pmix_status_t bring(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(server, arg);

    cr_assert_not_null(nspace);
    nspace->job_size = 7;
    nspace->brought_count = 2;
    nspace->registered = nspace->has_data = true;
    return sx_nspace_open(server, nspace);
}

static pmix_status_t look_at_brought(struct sx_server *server, void *arg)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, arg);

    cr_expect_eq(nspace->brought_count, 0);
    cr_expect_eq(nspace->job_size, 3);
    cr_expect(nspace->registered && nspace->has_store);
    return PMIX_SUCCESS;
}

Test(register, takes_over_what_a_connect_has_brought)
{
    static char name[] = "brought";

    hosted_call(bring, name);
    hosted_job(name, 0, 3);
    hosted_call(look_at_brought, name);
}
