/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex_test.c - gets that wait, with a host that takes its time, whose ranks are children; and who
 * copies a store that gets full. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bare.h"
#include "../hosted.h"
#include "../opened.h"
#include "base/message/payloads.h"
#include "server/data/get_index.h"
#include "server/data/modex.h"
#include "server/model/state.h"

#define NSPACE "modex"

static void begin(void)
{
    hosted_begin();
    hosted_job(NSPACE, 2, 2);
}

TestSuite(modex, .init = begin, .fini = hosted_end);

/* Rank 0 wants what rank 1 puts. */
static int rank_main(void)
{
    pmix_value_t put = { .type = PMIX_UINT32, .data.uint32 = 5 }, *value = NULL;
    pmix_proc_t me, other;

    alarm(60);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    other = me;
    other.rank = 1;
    if (me.rank == 1 &&
        (PMIx_Put(PMIX_GLOBAL, "late", &put) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS)) {
        return 2;
    }
    if (PMIx_Get(&other, "late", NULL, 0, &value) != PMIX_SUCCESS || value->data.uint32 != 5) {
        return 3;
    }
    free(value);
    return PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS && PMIx_Finalize(NULL, 0) == PMIX_SUCCESS
               ? 0
               : 4;
}

/* Before any test of this program: a rank is not to run them. */
__attribute__((constructor)) static void rank_or_test(void)
{
    if (getenv("MODEX_TEST_RANK") != NULL) {
        _exit(rank_main());
    }
}

static pmix_status_t count_gets(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);

    SX_LIST_EACH(it, &nspace->awaited) {
        *(unsigned *)arg += SX_LIST_ENTRY(it, struct sx_awaited, link)->wait_count;
    }
    return PMIX_SUCCESS;
}

Test(modex, a_get_waits_for_a_rank_that_is_not_registered_yet)
{
    const pid_t zero = hosted_start(NSPACE, 0, "MODEX_TEST_RANK", "yes");
    unsigned waiting = 0;

    while (waiting == 0) { /* bounded by the alarm */
        sched_yield();
        hosted_call(count_gets, &waiting);
        int status;
        cr_assert_eq(waitpid(zero, &status, WNOHANG), 0, "it did not wait");
    }
    const pid_t one = hosted_start(NSPACE, 1, "MODEX_TEST_RANK", "yes");
    cr_expect_eq(hosted_wait(zero), 0);
    cr_expect_eq(hosted_wait(one), 0);
}

/* ---- a store that gets full ------------------------------------------------------------------ */

#define STEP_MAX (SX_SHARE_STEP_UNITS + 100) /* the last cell of a step may be more */

static void put_kibs(struct sx_server *server, struct sx_client *client, unsigned number)
{
    static char bytes[64 << 10];
    const struct sx_lane_put head = { .scope = PMIX_LOCAL, .cell = { .type = PMIX_BYTE_OBJECT } };
    struct sx_draft draft = { .signature = &sx_put_body, .head = &head };
    char key[32];
    pmix_status_t kept;
    size_t size;

    snprintf(key, sizeof(key), "key.%u", number);
    draft.parts[SX_PUT_KEY] = (struct sx_part_source){ key, strlen(key) };
    draft.parts[SX_PUT_VALUE] = (struct sx_part_source){ bytes, sizeof(bytes) };
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    void *const body = calloc(1, size);

    cr_assert_eq(sx_body_write(&draft, body), PMIX_SUCCESS);
    cr_assert_eq(sx_modex_put(server, client, opened(&sx_put_body, body, size), &kept),
                 PMIX_SUCCESS);
    cr_expect_eq(kept, PMIX_SUCCESS);
    free(body);
}

/* Who fills it copies it, a step in each of its turns, and pays; the puts of others go on. */
Test(modex_copy, of_a_store_that_gets_full_goes_on_in_the_turns_of_who_fills_it)
{
    static struct sx_server server;
    unsigned number = 0, steps = 0;

    bare_init(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 2, 2);
    struct sx_client *const client = bare_connect(&server, job, 0), *const other = bare_connect(
                                                                        &server, job, 1);

    while (sx_list_empty(&client->share.works)) {
        put_kibs(&server, client, number++);
        cr_assert_lt(number, 1000);
    }
    put_kibs(&server, other, number++);
    cr_expect(sx_list_empty(&other->share.works), "one copies it");
    cr_expect_eq(job->store.generation, 1);
    for (; !sx_list_empty(&client->share.works); steps++) {
        const uint32_t spent = client->share.spent;

        sx_share_work_step(client);
        cr_expect_leq(client->share.spent - spent, STEP_MAX);
        cr_expect_gt(client->share.spent, spent);
    }
    cr_expect_gt(steps, 10);
    cr_expect_eq(job->store.generation, 2);
    while (sx_list_empty(&other->share.works)) {
        put_kibs(&server, other, number++);
    }
    sx_modex_client_gone(&server, other);
    cr_expect(sx_list_empty(&other->share.works));
    put_kibs(&server, client, number++);
    cr_expect_not(sx_list_empty(&client->share.works), "the next one goes on");
    sx_modex_client_gone(&server, client);
    bare_deinit(&server);
}
