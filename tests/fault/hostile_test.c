/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostile_test.c - a client that floods the server gets its share of a turn, and two ranks of another
 * job go on beside it.  Gated on what the server counts (server/model/share.h); what it means in time is an
 * experiment, bench/hostile.c. */
#include <stdio.h>
#include <string.h>

#include "hostile.h"
#include "server/model/state.h"

#define FENCES 20u /* of the two good ranks beside each */
/* The server has done all that some messages want of it, in several turns and after a rest in each;
 * a message in pieces has an answer to each of them. */
#define ANSWERS 10u
#define HELLO_UNITS 200u

static int role_hostile(const char *arg)
{
    return hostile_role(arg);
}

/* The host goes on admitting it until the good ranks have done their fences beside it. */
static void beside(const struct hostile_kind *kind)
{
    const uint32_t rounds = atomic_load(&fault_shared->state[ATTACK_RANK]);
    const uint32_t begin = atomic_load(&fault_shared->round[1]);
    const uint32_t answers = kind->message != 0 || kind->is_answered ? ANSWERS : 0;

    fault_waiting_for = kind->name;
    while (atomic_load(&fault_shared->round[1]) - begin < FENCES ||
           atomic_load(&fault_shared->state[ATTACK_RANK]) - rounds < 3 ||
           hostile_answers() < answers) {
        hostile_admit();
        fault_pause();
    }
    fault_waiting_for = NULL;
}

static void judge(const struct hostile_kind *kind)
{
    const struct sx_board_header *const board = sx_server_get()->board.header;
    const uint64_t share = atomic_load(&board->share_units_max);
    const uint64_t turn = atomic_load(&board->turn_units_max);
    const uint64_t message = hostile_units(kind);
    const uint64_t share_max = SX_TURN_UNITS + message;
    /* The hostile one, two good ones, and those who have not said who they are. */
    const uint64_t turn_max = share_max + 2 * (SX_TURN_UNITS + HOSTILE_FEW_UNITS) +
                              SX_TURN_STRANGER_UNITS + HELLO_UNITS;

    fault_say(
        "%u rounds, at most %llu units for one client in a turn (%llu may be), %llu in a turn "
        "(%llu)",
        atomic_load(&fault_shared->state[ATTACK_RANK]), (unsigned long long)share,
        (unsigned long long)share_max, (unsigned long long)turn, (unsigned long long)turn_max);
    CHECK(share <= share_max, "%llu units for one client", (unsigned long long)share);
    CHECK(turn <= turn_max, "%llu units in a turn", (unsigned long long)turn);
    CHECK(share > 0 && turn > 0, "the server counts nothing");
}

static int flood(void)
{
    const struct hostile_kind *const kind = hostile_find(fault_case->name);

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    fault_good_start();
    const pid_t pid = fault_start(ATTACK_JOB, ATTACK_RANK, "hostile", kind->name);

    beside(kind);
    judge(kind);
    fault_good_stop(); /* and the hostile one sees the same word */
    fault_wait_ok(pid, "the hostile client");
    fault_job_end(ATTACK_JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_role roles[] = { { "hostile", role_hostile } };
    struct fault_case cases[64];

    CHECK(hostile_kind_count <= 64, "%zu kinds", hostile_kind_count);
    for (size_t i = 0; i < hostile_kind_count; i++) {
        cases[i] = (struct fault_case){ hostile_kinds[i].name, flood };
    }
    return fault_main(argc, argv, cases, hostile_kind_count, roles, 1);
}
