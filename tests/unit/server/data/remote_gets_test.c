/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remote_gets_test.c - Gets of a rank of another node, and a host that carries the questions:
 * slowly, in vain, or never.  The ranks are children. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../hosted.h"
#include "base/clock.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/model/blob.h"
#include "server/model/state.h"

#define NSPACE "remote"
#define FAR 2u
#define QUESTIONS_MAX 64
#define MANY 50
#define HOSTS_KEY "pmix.test.far"
#define UNKNOWN "unknown" /* a namespace of 7 processes, once it is registered */

/* ---- the host ------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    struct {
        pmix_modex_cbfunc_t cbfunc;
        void *cbdata;
        char key[64];
        bool anew;
    } asked[QUESTIONS_MAX];
    unsigned count;
} host = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t ninfo, pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    pthread_mutex_lock(&host.lock);
    if (host.count < QUESTIONS_MAX && proc->rank == FAR && ninfo > 0) {
        host.asked[host.count].cbfunc = cbfunc;
        host.asked[host.count].cbdata = cbdata;
        snprintf(host.asked[host.count].key, sizeof(host.asked[0].key), "%s",
                 info[0].value.data.string);
        host.asked[host.count].anew = ninfo > 1 && strcmp(info[1].key, PMIX_GET_REFRESH_CACHE) == 0;
        host.count++;
    }
    pthread_cond_broadcast(&host.cond);
    pthread_mutex_unlock(&host.lock);
    return PMIX_SUCCESS;
}

/* Bounded by the alarm. */
static void wait_for_question(unsigned number)
{
    pthread_mutex_lock(&host.lock);
    while (host.count <= number) {
        pthread_cond_wait(&host.cond, &host.lock);
    }
    pthread_mutex_unlock(&host.lock);
}

static unsigned questions(void)
{
    pthread_mutex_lock(&host.lock);
    const unsigned count = host.count;
    pthread_mutex_unlock(&host.lock);
    return count;
}

static uint32_t far_value = 5;

/* What the far server sends when its rank has committed far_value under @key, NULL: nothing at
 * all. */
static struct sx_blob far_data(const char *key)
{
    _Alignas(8) char put[sizeof(struct sx_lane_put) + 64] = { 0 };
    struct sx_blob blob = { 0 };
    struct sx_news messages = { .begin = 0 };
    struct sx_lane_put *head = (void *)put;

    if (key != NULL) {
        head->cell.type = PMIX_UINT32;
        head->cell.bits = far_value;
        head->key_len = (uint16_t)strlen(key);
        head->scope = PMIX_GLOBAL;
        memcpy(head + 1, key, strlen(key));
        cr_assert_eq(sx_news_add(&messages, put,
                                 sizeof(*head) + (size_t)sx_align_up(strlen(key), 8)),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_messages(&blob, NSPACE, FAR, sx_news_at(&messages, 0), messages.end),
                 PMIX_SUCCESS);
    sx_news_drop(&messages);
    return blob;
}

static void release(void *cbdata)
{
    free(cbdata);
}

static void answer(unsigned number, pmix_status_t status, const char *key)
{
    const struct sx_blob blob = far_data(key);

    wait_for_question(number);
    host.asked[number].cbfunc(status, blob.bytes, blob.size, host.asked[number].cbdata, release,
                              blob.bytes);
}

static void answer_with(unsigned number, uint32_t value)
{
    far_value = value;
    answer(number, PMIX_SUCCESS, "key");
}

static void begin(void)
{
    hosted_begin_with((pmix_server_module_t){ .direct_modex = on_direct_modex });
    hosted_job(NSPACE, 2, 3);
}

TestSuite(remote, .init = begin, .fini = hosted_end);

/* ---- the ranks ------------------------------------------------------------------------------ */

/* @gets: its Gets, one behind the other: "u" of the size of the unknown namespace, "r" if it is to
 * be fresh, "h" of a key for the host to know, "o" the same as an optional one, the time limit in
 * seconds (0: none), "=" and the value that is right unless it is 5.  "m": many at once that are to
 * be fresh. */
static pid_t start(pmix_rank_t rank, const char *gets)
{
    return hosted_start(NSPACE, rank, "REMOTE_TEST_GETS", gets);
}

/* @how: the letter of a Get. */
static size_t load_infos(pmix_info_t info[2], char how, int timeout)
{
    size_t ninfo = 0;

    if (how == 'r' || how == 'o') {
        PMIx_Info_load(&info[ninfo++], how == 'r' ? PMIX_GET_REFRESH_CACHE : PMIX_OPTIONAL, NULL,
                       PMIX_BOOL);
    }
    if (timeout != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_TIMEOUT, &timeout, PMIX_INT);
    }
    return ninfo;
}

static _Atomic unsigned old_count, new_count, failed_count;

static void one_of_many(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    (void)cbdata;
    if (status != PMIX_SUCCESS) {
        failed_count++;
    } else if (value->data.uint32 == 5) {
        old_count++;
    } else {
        new_count++;
    }
}

/* The first one asks for itself, and may see what the others have asked for; they share that. */
static pmix_status_t get_many(const pmix_proc_t *proc)
{
    pmix_info_t info[2];
    const size_t ninfo = load_infos(info, 'r', 0);

    for (unsigned i = 0; i < MANY; i++) {
        const pmix_status_t rc = PMIx_Get_nb(proc, "key", info, ninfo, one_of_many, NULL);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    while (old_count + new_count + failed_count < MANY) { /* bounded by the alarm */
        sched_yield();
    }
    return failed_count == 0 && old_count <= 1 ? PMIX_SUCCESS : PMIX_ERROR;
}

/* Return: minus the status of the last Get. */
static int rank_main(const char *gets)
{
    pmix_status_t rc = PMIX_ERR_INIT;
    pmix_proc_t proc;

    alarm(60);
    if (PMIx_Init(&proc, NULL, 0) != PMIX_SUCCESS) {
        return 99;
    }
    proc.rank = FAR;
    if (*gets == 'm') {
        rc = get_many(&proc);
        gets++;
    }
    while (*gets != '\0') {
        char **const behind = (char **)(uintptr_t)&gets;
        const bool is_unknown = *gets == 'u';
        gets += is_unknown;
        const char how = strchr("rho", *gets) != NULL ? *gets : '\0';
        const int timeout = (int)strtol(gets + (how != '\0'), behind, 10);
        const uint32_t want = *gets == '=' ? (uint32_t)strtol(gets + 1, behind, 10) : 5;
        pmix_value_t *value = NULL;
        pmix_info_t info[2];

        PMIx_Load_nspace(proc.nspace, is_unknown ? UNKNOWN : NSPACE);
        rc = PMIx_Get(&proc,
                      is_unknown                 ? PMIX_JOB_SIZE
                      : how == 'h' || how == 'o' ? HOSTS_KEY
                                                 : "key",
                      info, load_infos(info, how, timeout), &value);
        if (rc == PMIX_SUCCESS && value->data.uint32 != (is_unknown ? 7 : want)) {
            return 97;
        }
        free(value);
        gets += *gets == ' ';
    }
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? -rc : 96;
}

/* Before any test of this program: a rank is not to run them. */
__attribute__((constructor)) static void rank_or_test(void)
{
    const char *gets = getenv("REMOTE_TEST_GETS");

    if (gets != NULL) {
        _exit(rank_main(gets));
    }
}

static void expect_end(pid_t pid, pmix_status_t want)
{
    const int code = hosted_wait(pid);

    cr_expect_eq(-code, want, "it ends with %d", -code);
}

static pmix_status_t count_waits(struct sx_server *server, void *arg)
{
    const struct sx_awaited *awaited = sx_awaited_find(server, sx_nspace_find(server, NSPACE), FAR);

    *(unsigned *)arg = awaited == NULL ? 0 : awaited->wait_count;
    return PMIX_SUCCESS;
}

static void wait_for_waits(unsigned want)
{
    unsigned count = 0;

    while (count != want) { /* bounded by the alarm */
        sched_yield();
        hosted_call(count_waits, &count);
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

Test(remote, what_the_rank_commits_later_is_asked_for_again)
{
    const pid_t pid = start(0, "50");

    answer(0, PMIX_SUCCESS, "else");
    answer(1, PMIX_ERR_NOT_FOUND, NULL);
    answer(2, PMIX_SUCCESS, NULL);
    answer(3, PMIX_SUCCESS, "key");
    expect_end(pid, PMIX_SUCCESS);
    cr_expect_str_eq(host.asked[0].key, "key");
    cr_expect_str_eq(host.asked[3].key, "key");
}

Test(remote, without_a_time_limit_the_first_answer_counts)
{
    const pid_t pid = start(0, "0");

    answer(0, PMIX_SUCCESS, "else");
    expect_end(pid, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(questions(), 1u);
}

Test(remote, an_error_of_the_host_is_the_gets)
{
    const pid_t pid = start(0, "50");

    answer(0, PMIX_ERR_UNREACH, NULL);
    expect_end(pid, PMIX_ERR_UNREACH);
}

Test(remote, the_answer_within_a_time_limit_is_waited_for_no_longer)
{
    const pid_t pid = start(0, "1");

    answer(0, PMIX_SUCCESS, NULL);
    expect_end(pid, PMIX_ERR_TIMEOUT);
}

Test(remote, a_lost_answer_does_not_spoil_later_gets)
{
    const pid_t pid = start(0, "1 8"); /* the first one is never answered */

    answer(1, PMIX_SUCCESS, "key");
    expect_end(pid, PMIX_SUCCESS);
}

Test(remote, a_late_answer_counts_as_well)
{
    const pid_t pid = start(0, "1 50");

    wait_for_question(1);
    answer(0, PMIX_SUCCESS, "key");
    expect_end(pid, PMIX_SUCCESS);
    answer(1, PMIX_SUCCESS, "key");
}

/* Rank 1 may know of a commit that came after the far server had answered rank 0. */
Test(remote, an_answer_from_before_a_get_is_not_its_answer)
{
    const pid_t zero = start(0, "0");

    wait_for_question(0);
    const pid_t one = start(1, "0");
    wait_for_waits(2);
    answer(0, PMIX_SUCCESS, NULL);
    expect_end(zero, PMIX_ERR_NOT_FOUND);
    answer(1, PMIX_SUCCESS, "key");
    expect_end(one, PMIX_SUCCESS);
}

/* ---- what the host alone may know ------------------------------------------------------------ */

Test(remote, a_key_of_the_hosts_is_asked_for_once)
{
    const pid_t pid = start(0, "h0 h0 h0"); /* each of them would wait for an answer */

    answer(0, PMIX_ERR_NOT_FOUND, NULL);
    expect_end(pid, PMIX_ERR_NOT_FOUND);
    cr_expect_str_eq(host.asked[0].key, HOSTS_KEY);
    expect_end(start(1, "h0"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(questions(), 1u, "another process asks the server alone");
}

Test(remote, a_key_of_the_hosts_that_it_knows_is_there_for_all)
{
    const pid_t pid = start(0, "h0 h0");

    answer(0, PMIX_SUCCESS, HOSTS_KEY);
    expect_end(pid, PMIX_SUCCESS);
    expect_end(start(1, "o0"), PMIX_SUCCESS);
    cr_expect_eq(questions(), 1u);
}

Test(remote, a_key_of_the_hosts_is_not_asked_for_where_it_is_optional)
{
    expect_end(start(0, "o0"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(questions(), 0u);
}

Test(remote, what_the_host_refuses_to_say_is_not_found)
{
    const pid_t pid = start(0, "h0");

    answer(0, PMIX_ERR_UNREACH, NULL);
    expect_end(pid, PMIX_ERR_NOT_FOUND);
}

/* The other server waits for the rank's first commit, which may never come. */
Test(remote, a_host_that_does_not_say_is_not_waited_for_without_end)
{
    expect_end(start(0, "h0 h1"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(questions(), 1u);
}

/* ---- a namespace that is not known here ------------------------------------------------------ */

Test(remote, a_namespace_that_the_host_registers_when_it_is_asked_is_found)
{
    const pid_t pid = start(0, "uh0");

    wait_for_question(0);
    cr_expect_str_eq(host.asked[0].key, PMIX_JOB_SIZE);
    hosted_job(UNKNOWN, 0, 7);
    host.asked[0].cbfunc(PMIX_SUCCESS, NULL, 0, host.asked[0].cbdata, NULL, NULL);
    expect_end(pid, PMIX_SUCCESS);
}

Test(remote, a_namespace_that_the_host_does_not_know_is_asked_for_once)
{
    const pid_t pid = start(0, "uo0 uh0 uh0");

    wait_for_question(0);
    host.asked[0].cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, host.asked[0].cbdata, NULL, NULL);
    expect_end(pid, PMIX_ERR_NOT_FOUND);
    expect_end(start(1, "uh0"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(questions(), 1u);
}

static pmix_status_t count_owed(struct sx_server *server, void *arg)
{
    const struct sx_client *client = sx_client_find(sx_nspace_find(server, NSPACE), 0);

    *(unsigned *)arg = client->pending_counts[SX_PENDING_HOST];
    return PMIX_SUCCESS;
}

/* The host may keep such a question for ever: no client gives it any number of them. */
Test(remote, what_the_host_owes_about_unknown_namespaces_is_the_clients_to_pay)
{
    const pid_t pid = start(0, "uh1 50"); /* the second one stays until the host has answered it */
    unsigned owed = 0;

    wait_for_question(1);
    hosted_call(count_owed, &owed);
    cr_expect_eq(owed, 1u, "%u", owed);
    host.asked[0].cbfunc(PMIX_ERR_NOT_FOUND, NULL, 0, host.asked[0].cbdata, NULL, NULL);
    while (owed > 0) { /* bounded by the alarm */
        sched_yield();
        hosted_call(count_owed, &owed);
    }
    answer(1, PMIX_SUCCESS, "key");
    expect_end(pid, PMIX_SUCCESS);
}

/* ---- what has been put again ---------------------------------------------------------------- */

Test(remote, what_the_rank_has_put_again_is_asked_for_where_it_is_to_be_fresh)
{
    const pid_t pid = start(0, "0=5 0=5 r0=6 0=6 r50=7");

    answer_with(0, 5);
    answer_with(1, 6);
    answer_with(2, 7);
    expect_end(pid, PMIX_SUCCESS);
    cr_expect_eq(questions(), 3u);
    cr_expect_not(host.asked[0].anew);
    cr_expect(host.asked[1].anew && host.asked[2].anew);
    cr_expect_str_eq(host.asked[1].key, "key");
}

Test(remote, what_cannot_be_had_fresh_is_an_error)
{
    const pid_t pid = start(0, "0 r0");

    answer(0, PMIX_SUCCESS, "key");
    answer(1, PMIX_ERR_UNREACH, NULL);
    expect_end(pid, PMIX_ERR_UNREACH);
}

Test(remote, what_is_to_be_fresh_and_is_no_more_is_not_found)
{
    const pid_t pid = start(0, "0 r0");

    answer(0, PMIX_SUCCESS, "key");
    answer(1, PMIX_ERR_NOT_FOUND, NULL);
    expect_end(pid, PMIX_ERR_NOT_FOUND);
}

/* The key has been taken away there. */
Test(remote, what_the_answer_does_not_have_is_not_fresh)
{
    const pid_t pid = start(0, "0 r0");

    answer(0, PMIX_SUCCESS, "key");
    answer(1, PMIX_SUCCESS, "else");
    expect_end(pid, PMIX_ERR_NOT_FOUND);
}

/* A host that has asked nobody. */
Test(remote, an_answer_without_data_is_not_fresh)
{
    const pid_t pid = start(0, "0 r0");

    answer(0, PMIX_SUCCESS, "key");
    wait_for_question(1);
    host.asked[1].cbfunc(PMIX_SUCCESS, NULL, 0, host.asked[1].cbdata, NULL, NULL);
    expect_end(pid, PMIX_ERR_NOT_FOUND);
}

/* The rank may have put again after its server had answered. */
Test(remote, an_answer_from_before_a_get_is_not_fresh)
{
    const pid_t zero = start(0, "0=5");

    wait_for_question(0);
    const pid_t one = start(1, "r0=6");
    wait_for_waits(2);
    answer_with(0, 5);
    expect_end(zero, PMIX_SUCCESS);
    answer_with(1, 6);
    expect_end(one, PMIX_SUCCESS);
}

/* ---- fences ---------------------------------------------------------------------------------- */

/* One brings what the rank has committed under "else". */
static pmix_status_t fence_arrives(struct sx_server *server, void *arg)
{
    far_value = *(uint32_t *)arg;
    struct sx_blob blob = far_data("else");
    const struct sx_blob_piece piece = { blob.bytes, blob.size };
    struct sx_blob_reader reader = { .pieces = &piece, .piece_count = 1 };
    struct sx_modex_far far = { .lost = 0 };
    size_t left = SIZE_MAX;

    cr_expect_eq(sx_blob_read_step(&reader, server, sx_modex_store, &far, &left), PMIX_SUCCESS);
    sx_blob_clear(&blob);
    return PMIX_SUCCESS;
}

static void fence_brings(uint32_t value)
{
    hosted_call(fence_arrives, &value);
}

static pmix_status_t else_read(struct sx_server *server, void *arg)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);
    pmix_value_t value;

    cr_expect_eq(sx_store_get(&nspace->store.view, SX_REALM_JOB, FAR, "else", &value),
                 PMIX_SUCCESS);
    *(uint32_t *)arg = value.data.uint32;
    return PMIX_SUCCESS;
}

/* The rank's server may have packed it before. */
Test(remote, an_answer_that_a_fence_has_overtaken_is_not_stored_and_asked_for_again)
{
    const pid_t pid = start(0, "0=8");
    uint32_t value = 0;

    wait_for_question(0);
    fence_brings(6);
    far_value = 5;
    answer(0, PMIX_SUCCESS, "else");
    wait_for_question(1);
    hosted_call(else_read, &value);
    cr_expect_eq(value, 6);
    far_value = 7;
    answer(1, PMIX_SUCCESS, "else");
    expect_end(pid, PMIX_ERR_NOT_FOUND);
    hosted_call(else_read, &value);
    cr_expect_eq(value, 7, "no fence has come since the second question");
    cr_expect_eq(questions(), 2u);
}

Test(remote, a_lost_answer_that_a_fence_has_overtaken_is_not_stored)
{
    const pid_t pid = start(0, "1 50");
    uint32_t value = 0;

    wait_for_question(0);
    fence_brings(6);
    wait_for_question(1);
    far_value = 5;
    answer(0, PMIX_SUCCESS, "else");
    wait_for_question(2);
    hosted_call(else_read, &value);
    cr_expect_eq(value, 6);
    answer(2, PMIX_SUCCESS, "key");
    expect_end(pid, PMIX_SUCCESS);
    answer(1, PMIX_SUCCESS, "key");
}

/* ---- a host that ends the job inside its upcall
 * ------------------------------------------------ */

static pmix_status_t ends_returns;

static pmix_status_t on_direct_modex_that_ends(const pmix_proc_t *proc, const pmix_info_t info[],
                                               size_t ninfo, pmix_modex_cbfunc_t cbfunc,
                                               void *cbdata)
{
    (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    PMIx_server_deregister_nspace(proc->nspace, NULL, NULL);
    return ends_returns;
}

static pmix_status_t get_of_what_ends(struct sx_server *server, void *arg)
{
    struct sx_client *const asker = sx_client_find(sx_nspace_find(server, "asker"), 0);
    const struct sx_wait_what what = {
        .nspace = sx_nspace_find(server, NSPACE), .rank = FAR, .realm = SX_REALM_JOB, .key = "key"
    };
    struct sx_wait *const wait = sx_wait_add(server, asker, 1, &what);

    (void)arg;
    cr_assert_not_null(wait);
    server->module.direct_modex = on_direct_modex_that_ends;
    sx_remote_wait(wait, sx_now_ns());
    return PMIX_SUCCESS;
}

static pmix_status_t get_has_ended(struct sx_server *server, void *arg)
{
    const struct sx_client *const asker = sx_client_find(sx_nspace_find(server, "asker"), 0);

    (void)arg;
    cr_expect_null(sx_nspace_find(server, NSPACE));
    cr_expect_eq(asker->pending_counts[SX_PENDING_GET], 0, "answered");
    return PMIX_SUCCESS;
}

Test(remote, a_host_may_end_the_job_when_it_is_asked)
{
    const pmix_status_t returns[] = { PMIX_SUCCESS, PMIX_ERR_NOT_FOUND };

    hosted_job_of("asker", 1, 1);
    for (size_t i = 0; i < SX_COUNT(returns); i++) {
        ends_returns = returns[i];
        hosted_call(get_of_what_ends, NULL);
        hosted_call(get_has_ended, NULL);
        hosted_job(NSPACE, 2, 3);
    }
}

Test(remote, many_that_are_to_be_fresh_share_a_question)
{
    const pid_t pid = start(0, "m");

    wait_for_waits(MANY);
    cr_expect_eq(questions(), 1u);
    answer_with(0, 5);
    answer_with(1, 6);
    expect_end(pid, PMIX_SUCCESS);
    cr_expect_eq(questions(), 2u);
}

static pmix_status_t entry_remove(struct sx_server *server, void *arg)
{
    (void)arg;
    server->module.direct_modex = NULL;
    return PMIX_SUCCESS;
}

static pmix_status_t take_logged(struct sx_server *server, void *arg)
{
    *(bool *)arg = server->port.host.unreadable_logged;
    return PMIX_SUCCESS;
}

Test(remote, without_the_hosts_entry_the_log_says_why_nothing_is_found)
{
    bool logged = true;

    hosted_call(entry_remove, NULL);
    expect_end(start(0, "h0"), PMIX_ERR_NOT_FOUND);
    hosted_call(take_logged, &logged);
    cr_expect_not(logged, "a key of the hosts that is missing needs no line");
    expect_end(start(1, "0"), PMIX_ERR_NOT_FOUND);
    hosted_call(take_logged, &logged);
    cr_expect(logged);
}
