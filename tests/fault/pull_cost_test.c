/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull_cost_test.c - a pull of output costs the server no more than it is worth, and its client pays
 * for what the server has to look at.  Gated on what is counted. */
#include <stdlib.h>
#include <string.h>

#include "attack.h"
#include "base/util.h"
#include "server/iof/output.h"
#include "server/model/state.h"

enum { NAMED }; /* a word of fault_shared->state: processes in the last question to the host */

/* ---- the client ------------------------------------------------------------------------------ */

/* The same process, @count times. */
static void pull(struct attacker *attacker, uint32_t count)
{
    const size_t proc_size = 8 + sx_align_up(strlen(ATTACK_JOB), 8);
    const size_t size = sizeof(struct sx_iof_pull) + count * proc_size;
    const struct sx_iof_pull head = { .channels = PMIX_FWD_STDOUT_CHANNEL, .proc_count = count };
    const uint32_t words[2] = { 0, (uint32_t)strlen(ATTACK_JOB) };
    uint8_t *const body = calloc(1, size);

    CHECK(body != NULL, "no memory");
    memcpy(body, &head, sizeof(head));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const at = body + sizeof(head) + i * proc_size;

        memcpy(at, words, sizeof(words));
        memcpy(at + sizeof(words), ATTACK_JOB, strlen(ATTACK_JOB));
    }
    if (size > SX_FRAME_BODY_MAX) {
        attack_large(attacker, SX_MSG_IOF_PULL, 7, body, size);
        (void)attack_expect_reply(attacker->socket_fd, 7, PMIX_SUCCESS); /* it has been read */
    } else {
        attack_request(attacker->socket_fd, SX_MSG_IOF_PULL, 7, body, size);
    }
    close(attack_expect_descriptor(attacker->socket_fd, 7));
    free(body);
}

static int role_pulls(const char *arg)
{
    struct attacker attacker;

    attack_attach(&attacker);
    pull(&attacker, (uint32_t)atoi(arg));
    attack_detach(&attacker);
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

static pmix_status_t host_pull(const pmix_proc_t *procs, size_t nprocs,
                               const pmix_info_t *directives, size_t ndirs,
                               pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    atomic_store(&fault_shared->state[NAMED], (uint32_t)nprocs);
    return PMIX_OPERATION_SUCCEEDED;
}

static void deliver(void)
{
    char byte = 'x';
    const pmix_byte_object_t bytes = { .bytes = &byte, .size = 1 };
    const pmix_proc_t source = { .nspace = ATTACK_JOB, .rank = 0 };

    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, NULL,
                                         NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* Return: the most units that one client has had in a turn. */
static uint64_t judge(unsigned kept, const char *named)
{
    fault_log_begin();
    fault_module.iof_pull = host_pull;
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    for (unsigned i = 0; i < kept; i++) {
        deliver();
    }
    fault_wait_ok(fault_start(ATTACK_JOB, ATTACK_RANK, "pulls", named), "who pulls");
    const uint64_t units = atomic_load(&sx_server_get()->board.header->share_units_max);

    fault_say("%llu units in a turn, of %u processes", (unsigned long long)units,
              atomic_load(&fault_shared->state[NAMED]));
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return units;
}

/* Each output would be compared with each of them, which are as many as there may be. */
static int case_named_again(void)
{
    static_assert(SX_IOF_PROCS_MAX == 2048, "as below");
    (void)judge(0, "2048");
    CHECK(atomic_load(&fault_shared->state[NAMED]) == 1, "%u processes",
          atomic_load(&fault_shared->state[NAMED]));
    return 0;
}

static int case_pays(void)
{
    CHECK(judge(SX_KEPT_COUNT, "1") >= SX_KEPT_COUNT / 2, "who pulls pays nothing");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = { { "named_again", case_named_again },
                                               { "pays", case_pays } };
    static const struct fault_role roles[] = { { "pulls", role_pulls } };

    return fault_main(argc, argv, cases, SX_COUNT(cases), roles, SX_COUNT(roles));
}
