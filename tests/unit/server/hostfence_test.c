/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostfence_test.c - fences that other nodes take part in, and a host that answers late, in vain or
 * never.  No process of the job is connected: arrivals and puts are handed in as lanes would. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/flat.h"
#include "server/blob.h"
#include "server/collective.h"
#include "server/modex.h"
#include "server/server.h"
#include "server/waiting.h"

#define NSPACE "fences"
#define OTHER "other" /* of which nothing is here */
#define LOCALS 2u
#define FAR LOCALS /* its first process elsewhere */
#define ASKED_MAX 16

/* ---- the host ------------------------------------------------------------------------------- */

/* Written on the loop's thread; on_loop orders it before the test's looks. */
static struct {
    pmix_modex_cbfunc_t cbfunc;
    void *cbdata;
    char *bytes;
    size_t size;
} asked[ASKED_MAX];
static unsigned asked_count;

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    cr_assert_lt(asked_count, ASKED_MAX);
    asked[asked_count].cbfunc = cbfunc;
    asked[asked_count].cbdata = cbdata;
    asked[asked_count].bytes = data;
    asked[asked_count].size = ndata;
    asked_count++;
    return PMIX_SUCCESS;
}

static void register_nspace(const char *name, int local, uint32_t size)
{
    pmix_nspace_t nspace;
    pmix_info_t info;
    pmix_proc_t proc;

    PMIx_Load_nspace(nspace, name);
    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    cr_assert_eq(PMIx_server_register_nspace(nspace, local, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < local; rank++) {
        PMIx_Load_procid(&proc, name, (pmix_rank_t)rank);
        cr_assert_eq(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    }
}

static void begin(void)
{
    pmix_server_module_t module = { .fence_nb = on_fence };

    alarm(60);
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    register_nspace(NSPACE, LOCALS, LOCALS + 1);
    register_nspace(OTHER, 0, 2);
}

static void end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    for (unsigned i = 0; i < asked_count; i++) {
        free(asked[i].bytes);
    }
}

TestSuite(hostfence, .init = begin, .fini = end);

/* ---- the ranks ------------------------------------------------------------------------------ */

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, NSPACE), rank);
}

/* What a rank does in a fence. */
struct act {
    uint32_t rank;
    const char *put;  /* a key, before it arrives; NULL: nothing */
    const char *with; /* a namespace beside its own; NULL: none */
    uint32_t seconds; /* a time limit; 0: none */
};

/* Return: the size of a put of 5 under @key at @at. */
static size_t put_write(char *at, const char *key)
{
    const struct sx_lane_put head = { .cell = { .type = PMIX_UINT32, .bits = 5 },
                                      .key_len = (uint16_t)strlen(key),
                                      .scope = PMIX_GLOBAL };

    memcpy(at, &head, sizeof(head));
    memcpy(at + sizeof(head), key, strlen(key));
    return sizeof(head) + (strlen(key) + 7) / 8 * 8;
}

static size_t proc_write(char *at, const char *nspace)
{
    const uint32_t proc[2] = { PMIX_RANK_WILDCARD, (uint32_t)strlen(nspace) };

    memcpy(at, proc, sizeof(proc));
    memcpy(at + sizeof(proc), nspace, strlen(nspace));
    return sizeof(proc) + (strlen(nspace) + 7) / 8 * 8;
}

static pmix_status_t perform(struct sx_server *server, void *arg)
{
    static uint32_t op;
    const struct act *act = arg;
    struct sx_client *client = client_of(server, act->rank);
    struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE, .proc_count = 1 };
    _Alignas(8) char message[2048] = { 0 };
    const bool yes = true;
    pmix_info_t info[2];
    size_t size = 0;

    if (act->put != NULL) {
        cr_assert_eq(sx_modex_put(server, client, message, put_write(message, act->put)),
                     PMIX_SUCCESS);
        memset(message, 0, sizeof(message));
    }
    PMIx_Info_load(&info[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_TIMEOUT, &act->seconds, PMIX_UINT32);
    const size_t ninfo = act->seconds != 0 ? 2 : 1;

    size = sizeof(head) + proc_write(message + sizeof(head), NSPACE);
    if (act->with != NULL) {
        size += proc_write(message + size, act->with);
        head.proc_count++;
    }
    size_t info_size;
    cr_assert_eq(sx_flat_infos_size(info, ninfo, &info_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, (uint8_t *)message + size, info_size),
                 PMIX_SUCCESS);
    head.op = ++op;
    head.info_size = (uint32_t)info_size;
    memcpy(message, &head, sizeof(head));
    cr_assert_eq(sx_collective_arrive(server, client, message, size + info_size), PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

static void act(struct act it)
{
    cr_assert_eq(sx_server_call(sx_server_get(), perform, &it), PMIX_SUCCESS);
}

/* All ranks of this node. */
static void fence(struct act it)
{
    for (it.rank = 0; it.rank < LOCALS; it.rank++) {
        act(it);
        it.put = NULL;
    }
}

static pmix_status_t count_waits(struct sx_server *server, void *arg)
{
    *(unsigned *)arg = client_of(server, 0)->arrival_count;
    return PMIX_SUCCESS;
}

/* Fences of rank 0 that have not gone. */
static unsigned waits(void)
{
    unsigned count = 0;

    cr_assert_eq(sx_server_call(sx_server_get(), count_waits, &count), PMIX_SUCCESS);
    return count;
}

static void release(void *cbdata)
{
    free(cbdata);
}

/* The host answers question @number; the far rank has put @key (NULL: nothing). */
static void answer(unsigned number, pmix_status_t status, const char *key)
{
    struct sx_blob blob = { 0 }, messages = { 0 };
    _Alignas(8) char put[256] = { 0 };

    cr_assert_lt(number, asked_count);
    if (key != NULL) {
        cr_assert_eq(sx_blob_message(&messages, put, put_write(put, key)), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_blob_begin(&blob), PMIX_SUCCESS);
    cr_assert_eq(sx_blob_add_messages(&blob, NSPACE, FAR, messages.bytes, messages.size),
                 PMIX_SUCCESS);
    sx_blob_clear(&messages);
    asked[number].cbfunc(status, blob.bytes, blob.size, asked[number].cbdata, release, blob.bytes);
    (void)waits(); /* behind the answer */
}

static pmix_status_t look(struct sx_server *server, void *arg)
{
    const struct sx_wait_what what = {
        .nspace = sx_nspace_find(server, NSPACE), .rank = FAR, .realm = SX_REALM_JOB, .key = arg
    };

    return sx_wait_is_there(&what) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static bool is_there(const char *key)
{
    return sx_server_call(sx_server_get(), look, (void *)(uintptr_t)key) == PMIX_SUCCESS;
}

/* How often @key is in what the host was given with question @number. */
static unsigned carried(unsigned number, const char *key)
{
    const char *at = asked[number].bytes;
    const char *const end_of = at + asked[number].size;
    unsigned count = 0;

    while ((at = memmem(at, (size_t)(end_of - at), key, strlen(key))) != NULL) {
        at += strlen(key);
        count++;
    }
    return count;
}

/* ---- one at a time -------------------------------------------------------------------------- */

Test(hostfence, the_next_one_waits_until_the_host_has_answered)
{
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 1u);
    cr_expect_eq(waits(), 3u);
    answer(0, PMIX_SUCCESS, NULL);
    cr_expect_eq(asked_count, 2u);
    cr_expect_eq(waits(), 2u);
    answer(1, PMIX_ERROR, NULL);
    cr_expect_eq(asked_count, 3u, "also behind one that has failed");
    answer(2, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(hostfence, those_of_other_processes_do_not_wait)
{
    fence((struct act){ 0 });
    fence((struct act){ .with = OTHER });
    cr_expect_eq(asked_count, 2u);
    answer(1, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 1u);
    answer(0, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(hostfence, one_that_was_too_late_stays_with_the_host)
{
    fence((struct act){ .seconds = 1 });
    fence((struct act){ .seconds = 1 }); /* late behind the first */
    cr_expect_eq(waits(), 2u);
    while (waits() > 1) { /* bounded by the alarm */
        sched_yield();
    }
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 1u);
    answer(0, PMIX_SUCCESS, "late");
    cr_expect(is_there("late"));
    cr_expect_eq(asked_count, 2u);
    cr_expect_eq(waits(), 1u, "the one that follows has not ended with it");
    answer(1, PMIX_SUCCESS, NULL);
    cr_expect_eq(waits(), 0u);
}

Test(hostfence, of_a_namespace_that_has_gone_holds_up_nobody)
{
    fence((struct act){ 0 });
    fence((struct act){ 0 });
    PMIx_server_deregister_nspace(NSPACE, NULL, NULL);
    cr_expect_eq(asked_count, 1u);
    register_nspace(NSPACE, LOCALS, LOCALS + 1);
    fence((struct act){ 0 });
    cr_expect_eq(asked_count, 2u);
    answer(0, PMIX_SUCCESS, "old");
    cr_expect_not(is_there("old"), "of the job before");
    cr_expect_eq(waits(), 1u);
    answer(1, PMIX_SUCCESS, "new");
    cr_expect(is_there("new"));
    cr_expect_eq(waits(), 0u);
}

/* ---- news ----------------------------------------------------------------------------------- */

Test(hostfence, news_of_two_at_once_are_carried_and_none_is_lost)
{
    fence((struct act){ .put = "first" });
    fence((struct act){ .put = "second", .with = OTHER });
    cr_expect_eq(carried(0, "first"), 1u);
    cr_expect_eq(carried(1, "first"), 1u, "nobody knows yet that all have it");
    cr_expect_eq(carried(1, "second"), 1u);
    answer(0, PMIX_SUCCESS, NULL);
    act((struct act){ .put = "third" }); /* rank 0 waits for rank 1 */
    answer(1, PMIX_SUCCESS, NULL);
    act((struct act){ .rank = 1 });
    cr_assert_eq(asked_count, 3u);
    cr_expect_eq(carried(2, "first"), 0u);
    cr_expect_eq(carried(2, "second"), 0u, "all have it");
    cr_expect_eq(carried(2, "third"), 1u, "nobody has it");
    answer(2, PMIX_SUCCESS, NULL);
}

Test(hostfence, news_of_one_that_has_failed_come_with_the_next)
{
    fence((struct act){ .put = "first" });
    fence((struct act){ .put = "second", .with = OTHER });
    answer(0, PMIX_SUCCESS, NULL);
    answer(1, PMIX_ERROR, NULL);
    fence((struct act){ 0 });
    cr_assert_eq(asked_count, 3u);
    cr_expect_eq(carried(2, "first"), 0u);
    cr_expect_eq(carried(2, "second"), 1u);
    answer(2, PMIX_SUCCESS, NULL);
}
