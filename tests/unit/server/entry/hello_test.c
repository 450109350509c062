/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello_test.c - who says that he may be here is welcomed; all others go, and cost little. */
#include "server/entry/entry.h"

#include <stdlib.h>
#include <sys/resource.h>

#include <pmix_server.h>

#include "../../control/engines.h"
#include "../peer.h"

static struct sx_server server;
static struct sx_nspace *job;

static bool replaced(struct sx_server *which, struct sx_client *client)
{
    (void)which, (void)client;
    return false;
}

static void ended(struct sx_server *which, struct sx_client *client, const char *why)
{
    (void)why;
    sx_connection_close(which, client);
}

static const struct sx_consumer consumer = { .ended = ended, .replaced = replaced };

/* Of four ranks three are here: one lives, one was cut off, one is another user's. */
static void begin(void)
{
    peer_server(&server, &consumer);
    job = bare_job(&server, "job", 4, 4);
    for (uint32_t rank = 0; rank < 4; rank++) {
        sx_client_find(job, rank)->uid = geteuid();
    }
    sx_client_find(job, 1)->state = SX_CLIENT_DEAD;
    sx_client_find(job, 2)->uid = geteuid() + 1;
}

static void end(void)
{
    sx_strangers_end(&server);
    sx_connection_end_all(&server);
    sx_server_set(NULL);
    free(server.live);
    bare_deinit(&server);
}

TestSuite(stranger, .init = begin, .fini = end, .timeout = 60);

static struct sx_hello hello_of(const char *nspace, uint32_t rank)
{
    struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION, .rank = rank };

    strcpy(hello.nspace, nspace);
    return hello;
}

/* It is said who may not be here, and the connection ends. */
static void expect_refused(const struct sx_hello *hello, pmix_status_t status, const char *why)
{
    struct peer peer;

    peer_connect(&peer, &server);
    cr_expect_eq(server.entry.strangers.count, 1, "%s", why);
    cr_expect_eq(peer_hello(&peer, hello)->status, status, "%s", why);
    cr_expect_eq(peer.frame.fd_count, 0, "%s", why);
    cr_expect_not(peer_receive(&peer), "%s", why);
    cr_expect_eq(server.entry.strangers.count, 0, "%s", why);
    peer_leave(&peer);
}

Test(stranger, is_welcomed_once)
{
    const struct sx_hello hello = hello_of("job", 3);
    struct peer peer;

    peer_connect(&peer, &server);
    const struct sx_welcome *const welcome = peer_hello(&peer, &hello);

    cr_expect_eq(welcome->status, PMIX_SUCCESS);
    cr_expect_eq(welcome->rank, 3);
    cr_expect_str_eq(welcome->nspace, "job");
    cr_expect_str_eq(welcome->server_nspace, "host");
    cr_expect_eq(server.entry.strangers.count, 0);
    cr_expect_eq(server.entry.strangers.refused_units, 0);
    expect_refused(&hello, PMIX_EXISTS, "again");
    peer_leave(&peer);
}

/* Who reads the refusal learns both numbers. */
Test(stranger, of_another_protocol_receives_both_versions)
{
    struct sx_hello hello = hello_of("job", 3);
    struct peer peer;
    char want[64];

    hello.protocol = SX_PROTOCOL_VERSION + 1;
    peer_connect(&peer, &server);
    const struct sx_welcome *const refusal = peer_hello(&peer, &hello);

    snprintf(want, sizeof(want), "protocol %u, and this server (shmix " SHMIX_VERSION ")",
             hello.protocol);
    cr_expect(strstr(refusal->nspace, want) != NULL, "%s", refusal->nspace);
    snprintf(want, sizeof(want), "has protocol %u:", SX_PROTOCOL_VERSION);
    cr_expect(strstr(refusal->nspace, want) != NULL, "%s", refusal->nspace);
    peer_leave(&peer);
}

/* Its fences would wait without a word. */
Test(stranger, of_a_job_that_the_host_has_not_registered_is_notified_of_once)
{
    const int log_fd = test_capture_stderr();
    struct peer peers[2];

    job->registered = false;
    for (uint32_t rank = 0; rank < 2; rank++) {
        const struct sx_hello hello = hello_of("job", 3 * rank);

        peer_connect(&peers[rank], &server);
        cr_expect_eq(peer_hello(&peers[rank], &hello)->status, PMIX_SUCCESS);
        sx_journal_client_connected(&server, sx_client_find(job, hello.rank));
    }
    cr_expect_eq(test_count_lines(log_fd, "the host has not registered job"), 1);
    peer_leave(&peers[0]);
    peer_leave(&peers[1]);
}

static const struct {
    const char *why, *nspace;
    uint32_t rank, protocol, role;
    pmix_status_t status;
} refused[] = {
    { "no such job", "jo", 0, 0, 0, PMIX_ERR_NOT_FOUND },
    { "no job at all", "", 0, 0, 0, PMIX_ERR_NOT_FOUND },
    { "no such rank", "job", 4, 0, 0, PMIX_ERR_NOT_FOUND },
    { "all ranks", "job", PMIX_RANK_WILDCARD, 0, 0, PMIX_ERR_NOT_FOUND },
    { "cut off", "job", 1, 0, 0, PMIX_ERR_NOT_FOUND },
    { "another user's", "job", 2, 0, 0, PMIX_ERR_NO_PERMISSIONS },
    { "another protocol", "job", 3, 1, 0, PMIX_ERR_NOT_SUPPORTED },
    { "no role", "job", 3, 0, SX_PEER_ROLE_MAX, PMIX_ERR_BAD_PARAM },
    { "a tool with a name", "job", 3, 0, SX_PEER_COMMAND, PMIX_ERR_NOT_SUPPORTED },
};

Test(stranger, is_refused_with_one_line)
{
    const int log_fd = test_capture_stderr();

    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        struct sx_hello hello = hello_of(refused[i].nspace, refused[i].rank);

        hello.protocol += refused[i].protocol;
        hello.role = refused[i].role;
        expect_refused(&hello, refused[i].status, refused[i].why);
    }
    cr_expect_eq(test_count_lines(log_fd, "refused: it"), SX_COUNT(refused));
    cr_expect_eq(job->connected_count, 0);
}

Test(stranger, may_come_back_under_its_name_when_it_has_died)
{
    const struct sx_hello hello = hello_of("job", 1);
    struct peer peer;

    sx_client_find(job, 1)->died = true;
    peer_connect(&peer, &server);
    cr_expect_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    peer_leave(&peer);
}

/* ---- the host is asked ------------------------------------------------------------------------ */

static struct {
    pmix_status_t returns;
    unsigned called, called2;
    void (*inside)(void); /* NULL: nothing */
} host;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object, (void)cbdata;
    cr_expect_str_eq(proc->nspace, "job");
    cr_expect_null(cbfunc);
    host.called++;
    if (host.inside != NULL) {
        host.inside();
    }
    return host.returns;
}

static pmix_status_t on_connected2(const pmix_proc_t *proc, void *server_object, pmix_info_t *info,
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)server_object, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    host.called2++;
    return host.returns;
}

static const struct {
    pmix_status_t returns, want;
} connects[] = { { PMIX_SUCCESS, PMIX_SUCCESS },
                 { PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS },
                 { PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS },
                 { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS } };

Test(stranger, is_refused_by_a_refusal_of_the_host_alone)
{
    const struct sx_hello hello = hello_of("job", 3);
    struct sx_client *const client = sx_client_find(job, 3);
    struct peer peer;

    server.module.client_connected = on_connected;
    for (size_t i = 0; i < SX_COUNT(connects); i++) {
        host.returns = connects[i].returns;
        client->died = true; /* it may come again */
        peer_connect(&peer, &server);
        cr_expect_eq(peer_hello(&peer, &hello)->status, connects[i].want, "row %zu", i);
        cr_expect_eq(host.called, i + 1, "row %zu", i);
        cr_expect_not(client->is_asked, "row %zu", i);
        cr_expect_eq(client->state == SX_CLIENT_CONNECTED, connects[i].want == PMIX_SUCCESS,
                     "row %zu", i);
        peer_leave(&peer);
        if (client->state == SX_CLIENT_CONNECTED) {
            client->state = SX_CLIENT_DEAD;
            sx_connection_close(&server, client);
        }
        cr_expect_eq(client->reference_count, 1, "row %zu", i);
    }
    server.module.client_connected2 = on_connected2;
    client->died = true;
    expect_refused(&hello, PMIX_ERR_NO_PERMISSIONS, "by the newer entry");
    cr_expect_eq(host.called, SX_COUNT(connects));
    cr_expect_eq(host.called2, 1, "the newer one alone");
}

static void host_removes(void)
{
    const pmix_proc_t proc = { .nspace = "job", .rank = 3 };

    PMIx_server_deregister_client(&proc, NULL, NULL);
}

static void host_gives_away(void)
{
    sx_client_find(job, 3)->uid = geteuid() + 1;
}

static void host_ends_the_job(void)
{
    PMIx_server_deregister_nspace("job", NULL, NULL);
}

static const struct {
    const char *why;
    void (*inside)(void);
    pmix_status_t want;
} changes[] = {
    { "another user's", host_gives_away, PMIX_ERR_NO_PERMISSIONS },
    { "removed", host_removes, PMIX_ERR_NOT_FOUND },
    { "removed with its job", host_ends_the_job, PMIX_ERR_NOT_FOUND },
};

Test(stranger, whose_rank_changes_while_the_host_is_asked_is_refused)
{
    const struct sx_hello hello = hello_of("job", 3);

    server.module.client_connected = on_connected;
    for (size_t i = 0; i < SX_COUNT(changes); i++) {
        sx_client_find(job, 3)->uid = geteuid();
        sx_client_find(job, 3)->state = SX_CLIENT_REGISTERED;
        host.inside = changes[i].inside;
        expect_refused(&hello, changes[i].want, changes[i].why);
        cr_expect_eq(host.called, i + 1, "%s", changes[i].why);
        cr_expect(sx_list_empty(&server.entry.strangers.joining), "%s", changes[i].why);
    }
    cr_expect_null(sx_nspace_find(&server, "job"));
}

/* Both are read in one turn, at whose end the host is called. */
Test(stranger, that_wants_to_be_a_rank_about_which_the_host_is_asked_is_refused)
{
    const struct sx_hello hello = hello_of("job", 3);
    struct peer peers[2];

    server.module.client_connected = on_connected;
    for (size_t i = 0; i < 2; i++) {
        peer_connect(&peers[i], &server);
        peer_say(&peers[i], SX_MSG_HELLO, &hello, sizeof(hello));
    }
    for (size_t i = 2; i-- > 0;) {
        cr_assert(peer_receive(&peers[i]));
        cr_expect_eq(((const struct sx_welcome *)peers[i].frame.body)->status,
                     i == 0 ? PMIX_SUCCESS : PMIX_EXISTS, "%zu", i);
    }
    cr_expect_eq(host.called, 1);
    peer_leave(&peers[0]);
    peer_leave(&peers[1]);
}

static struct peer leaver;

static void peer_goes(void)
{
    if (host.called == 1) {
        close(leaver.fd);
    }
}

static void server_ends(void)
{
    sx_tool_ask_end_all(&server);
    cr_expect(sx_list_empty(&server.entry.strangers.joining));
}

Test(stranger, that_goes_while_the_host_is_asked_leaves_nothing)
{
    const struct sx_hello hello = hello_of("job", 3), other = hello_of("job", 0);
    struct sx_client *const client = sx_client_find(job, 3);
    struct peer peer;

    server.module.client_connected = on_connected;
    host.inside = peer_goes;
    peer_connect(&leaver, &server);
    peer_say(&leaver, SX_MSG_HELLO, &hello, sizeof(hello));
    bare_call(&server, NULL, NULL); /* until the host has been asked */
    for (unsigned turn = 0; turn < 100 && (host.called == 0 || client->is_asked); turn++) {
        bare_call(&server, NULL, NULL);
    }
    cr_expect_eq(host.called, 1);
    cr_expect_not(client->is_asked);
    peer_connect(&peer, &server);
    cr_expect_eq(peer_hello(&peer, &other)->status, PMIX_SUCCESS, "others are welcome");
    cr_expect(sx_list_empty(&server.entry.strangers.joining));
    cr_expect_eq(client->reference_count, 1);
    cr_expect_neq(client->state, SX_CLIENT_CONNECTED);
    peer_leave(&peer);
}

Test(stranger, about_whom_the_host_is_asked_goes_when_the_server_ends)
{
    const struct sx_hello hello = hello_of("job", 3);
    struct peer peer;

    server.module.client_connected = on_connected;
    host.inside = server_ends;
    peer_connect(&peer, &server);
    peer_say(&peer, SX_MSG_HELLO, &hello, sizeof(hello));
    cr_expect_not(peer_receive(&peer), "no answer, but an end");
    cr_expect_eq(host.called, 1);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(sx_client_find(job, 3)->reference_count, 1);
    cr_expect_not(sx_client_find(job, 3)->is_asked);
    peer_leave(&peer);
}

Test(stranger, that_begins_with_anything_else_receives_nothing)
{
    const struct sx_get get = { .nspace = "job" };
    struct peer peer;

    peer_connect(&peer, &server);
    peer_say(&peer, SX_MSG_GET, &get, sizeof(get));
    cr_expect_not(peer_receive(&peer));
    cr_expect_eq(server.entry.strangers.count, 0);
    peer_leave(&peer);
}

/* Twenty refusals are the share of a turn. */
Test(stranger, that_is_refused_again_and_again_has_to_wait)
{
    const struct sx_hello hello = hello_of("job", 4);

    for (int i = 0; i < 19; i++) {
        expect_refused(&hello, PMIX_ERR_NOT_FOUND, "no such rank");
        cr_expect_null(server.entry.strangers.accept_rest.source.loop, "%d", i);
    }
    expect_refused(&hello, PMIX_ERR_NOT_FOUND, "the last");
    cr_expect_not_null(server.entry.strangers.accept_rest.source.loop, "nobody is accepted");
    cr_expect_eq(server.entry.strangers.refused_units, 0);
    bare_much_later(&server);
    cr_expect_null(server.entry.strangers.accept_rest.source.loop, "somebody is");
}

Test(stranger, who_is_silent_makes_room_for_others)
{
    const struct rlimit few = { .rlim_cur = 64, .rlim_max = 64 }; /* 16 strangers */
    struct peer peers[17];
    const int log_fd = test_capture_stderr();

    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (size_t i = 0; i < SX_COUNT(peers); i++) {
        peer_connect(&peers[i], &server);
    }
    cr_expect_not(peer_receive(&peers[0]), "the oldest goes");
    cr_expect_eq(server.entry.strangers.count, 16);
    cr_expect_eq(test_count_lines(log_fd, "do not say who they are"), 1);
    sx_strangers_end(&server);
    cr_expect_eq(server.entry.strangers.count, 0);
    for (size_t i = 1; i < SX_COUNT(peers); i++) {
        cr_expect_not(peer_receive(&peers[i]));
        peer_leave(&peers[i]);
    }
    peer_leave(&peers[0]);
}
