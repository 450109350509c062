/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* tool_test.c - who may publish an event from outside the job, and what the server does with bytes
 * that are none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"
#include "client/call/event.h"

#define NOBODY 65534
#define CODE (PMIX_EXTERNAL_ERR_BASE - 12)
#define SEED UINT64_C(20261122)

/* An event as a tool writes it, for rank @rank of @nspace (NULL: a range without targets). */
static uint8_t *event_make(const char *nspace, pmix_rank_t rank, pmix_data_range_t range,
                           size_t *ret_size)
{
    const size_t ninfo = nspace != NULL ? 2 : 1;
    struct sx_notify_options options = { .range = range };
    pmix_proc_t target = { .rank = rank }, source = { .rank = 0 };
    pmix_info_t info[2];
    void *bytes = NULL;

    CHECK_STATUS(PMIx_Info_load(&info[0], "a.text", "from outside", PMIX_STRING), PMIX_SUCCESS);
    if (nspace != NULL) {
        snprintf(target.nspace, sizeof(target.nspace), "%s", nspace);
        CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &target, PMIX_PROC),
                     PMIX_SUCCESS);
    }
    CHECK_STATUS(sx_options_read(SX_OF_NOTIFY, info, ninfo, &options), PMIX_SUCCESS);
    CHECK_STATUS(sx_event_encode(CODE, &source, &options, info, ninfo, &bytes, ret_size),
                 PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info[0]);
    if (nspace != NULL) {
        PMIX_INFO_DESTRUCT(&info[1]);
    }
    return bytes;
}

/* Send it as a first frame, and see the answer and the end. */
static void tool_send(const void *bytes, size_t size, pmix_status_t status)
{
    const int fd = attack_connect();

    attack_request(fd, SX_MSG_TOOL_EVENT, 5, bytes, size);
    (void)attack_expect_reply(fd, 5, status);
    attack_expect_end(fd);
    attack_end();
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static void answers(void)
{
    static const struct {
        const char *nspace;
        pmix_rank_t rank;
        pmix_data_range_t range;
        pmix_status_t want;
    } rows[] = {
        { ATTACK_JOB, PMIX_RANK_WILDCARD, PMIX_RANGE_CUSTOM, PMIX_SUCCESS },
        { ATTACK_JOB, 1, PMIX_RANGE_CUSTOM, PMIX_SUCCESS },
        { NULL, 0, PMIX_RANGE_LOCAL, PMIX_SUCCESS },
        { ATTACK_JOB, 2, PMIX_RANGE_CUSTOM, PMIX_ERR_NOT_FOUND },
        { "no.such.job", PMIX_RANK_WILDCARD, PMIX_RANGE_CUSTOM, PMIX_ERR_NOT_FOUND },
        { NULL, 0, PMIX_RANGE_NAMESPACE, PMIX_ERR_BAD_PARAM },
    };
    size_t size;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t *const bytes = event_make(rows[i].nspace, rows[i].rank, rows[i].range, &size);

        attack_begin(0, "a tool's event, row %zu", i);
        tool_send(bytes, size, rows[i].want);
        free(bytes);
    }
}

static void parts(void)
{
    size_t size;
    uint8_t *const bytes = event_make(ATTACK_JOB, 1, PMIX_RANGE_CUSTOM, &size);
    struct attacker attacker;
    uint64_t seed = SEED;

    for (size_t part = 8; part < size; part += 8) {
        attack_begin(1, "%zu of a tool's event's %zu bytes", part, size);
        tool_send(bytes, part, PMIX_ERR_UNPACK_FAILURE);
    }
    for (int i = 0; i < 100; i++) {
        uint8_t *const mutant = malloc(size);
        const int fd = attack_connect();

        memcpy(mutant, bytes, size);
        for (int k = 0; k < 4; k++) {
            mutant[fault_random(&seed) % size] = (uint8_t)fault_random(&seed);
        }
        attack_begin(ATTACK_LINES_ANY, "mutation %d of a tool's event", i);
        attack_request(fd, SX_MSG_TOOL_EVENT, 5, mutant, size);
        attack_expect_end(fd);
        attack_end();
        free(mutant);
    }
    attack_begin(1, "a client that sends a tool's event");
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, SX_MSG_TOOL_EVENT, 5, bytes, size);
    attack_expect_end(attacker.socket_fd);
    attacker.socket_fd = -1;
    attack_detach(&attacker);
    attack_end();
    free(bytes);
}

static int role_garbage(const char *arg)
{
    (void)arg;
    answers();
    parts();
    return 0;
}

static int case_garbage(void)
{
    attack_judge("garbage");
    return 0;
}

/* ---- who sends it ---------------------------------------------------------------------------- */

/* Anybody reaches the rendezvous; the server stops him. */
static int role_another_uid(const char *arg)
{
    size_t size;
    uint8_t *const bytes = event_make("mine.job", PMIX_RANK_WILDCARD, PMIX_RANGE_CUSTOM, &size);

    (void)arg;
    CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0, "setresuid");
    const int fd = attack_connect();

    attack_request(fd, SX_MSG_TOOL_EVENT, 5, bytes, size);
    (void)attack_expect_reply(fd, 5, PMIX_ERR_NO_PERMISSIONS);
    attack_expect_end(fd);
    free(bytes);
    return 0;
}

static int case_another_uid(void)
{
    if (geteuid() != 0) {
        return fault_skip("only root can become another user");
    }
    (void)fault_tmpdir_make();
    fault_log_begin();
    fault_server_start();
    fault_good_start();
    fault_job_start("mine.job", 1);
    fault_wait_ok(fault_start("mine.job", 0, "another_uid", ""), "another user");
    WAIT_FOR(fault_log_lines(FAULT_SELF, "neither of this server's user nor root") == 1,
             "the server's line");
    CHECK(fault_log_lines(FAULT_SELF, NULL) == 1, "%u lines", fault_log_lines(FAULT_SELF, NULL));
    fault_good_wait(2);
    fault_job_end("mine.job");
    fault_good_stop();
    fault_server_stop();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = {
        { "garbage", case_garbage },
        { "another_uid", case_another_uid },
    };
    static const struct fault_role roles[] = {
        { "garbage", role_garbage },
        { "another_uid", role_another_uid },
    };

    return fault_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), roles,
                      sizeof(roles) / sizeof(roles[0]));
}
