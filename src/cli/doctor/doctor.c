/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* doctor.c - the verb: run the checks, and end with a code that says how bad it is. */
#include "cli/doctor/doctor.h"

#include <stdio.h>

#include "cli/target.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "shmem/segment.h"

struct wish {
    struct sx_whose whose;
    bool json, kinds;
};

/* ---- the command ----------------------------------------------------------------------------- */

static const struct sx_option rows[] = {
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--job", NULL, "NAMESPACE", "shmix-4711-a1b2c3", "the name of a job, at most 255 bytes",
      "the same as NAMESPACE", sx_whose_nspace_set, SX_WHOSE_OF(struct wish, whose, nspace),
      false },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag,
      offsetof(struct wish, json), false },
    { "--kinds", NULL, NULL, NULL, NULL, "list the kinds of findings, and look at nothing",
      sx_option_flag, offsetof(struct wish, kinds), false },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix doctor [--json] [NAMESPACE | PID]\n"
    "\n"
    "Look at this node, at what launchers have left, and at the jobs that run: tell what is wrong\n"
    "or slow, why it matters, and what to do. Nothing is changed, and no server is asked, so one\n"
    "that hangs can be looked at.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix doctor                    this node, and all jobs that you may inspect\n"
    "  shmix doctor shmix-4711-a1b2c3  only that job is looked at, and the node\n"
    "  shmix doctor --json | jq -r 'select(.level == \"problem\") | .what'\n"
    "\n"
    "Exit code: 0 when there are notes at most, 1 with warnings, 2 with problems.\n";

static const struct sx_habit habits[] = {
    { "-j", "--json", true },
    { "-n", "--nspace", true },
    { "-p", "--pid", true },
    { "--list", "--kinds", true },
    { "--fix", "is not there: nothing is changed, each finding says what to do", false },
    { NULL, NULL, false },
};

const struct sx_verb sx_doctor_verb = {
    .name = "shmix doctor",
    .try_begin = "shmix doctor",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

static int kinds_print(bool json)
{
    for (size_t i = 0; i < SX_DOCTOR_KINDS; i++) {
        sx_doctor_print(&sx_doctor_rows[i], NULL, json);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

static void hidden_print(const struct sx_doctor *doctor)
{
    for (size_t i = 0; i < SX_DOCTOR_KINDS; i++) {
        if (doctor->of_kind[i] > SX_DOCTOR_SAME_MAX) {
            sx_say("%u more of %s are not shown", doctor->of_kind[i] - SX_DOCTOR_SAME_MAX,
                   sx_doctor_rows[i].name);
        }
    }
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static int end(const struct sx_doctor *doctor)
{
    const unsigned problems = doctor->counts[SX_DOCTOR_PROBLEM];
    const unsigned warnings = doctor->counts[SX_DOCTOR_WARNING];
    const unsigned notes = doctor->counts[SX_DOCTOR_NOTE];

    hidden_print(doctor);
    if (!doctor->json) {
        printf("%u problem%s, %u warning%s, %u note%s\n", problems, plural(problems), warnings,
               plural(warnings), notes, plural(notes));
    }
    if (fflush(stdout) != 0) {
        return SX_EXIT_FAILURE;
    }
    return problems > 0 ? 2 : warnings > 0;
}

static bool board_take(void *arg, pid_t pid, struct sx_board *board)
{
    (void)pid;
    (void)board;
    *(bool *)arg = true;
    return false;
}

/* Return: false, with a message, when process @pid is not a server that can be looked at.  A server
 * of another layout is one, and the checks say so. */
static bool is_server(pid_t pid)
{
    struct sx_outside_left left = { .count = 0 };
    bool is_there = pid == 0;
    const bool all = pid == 0 || sx_cli_boards_each(pid, board_take, &is_there);

    if (!is_there) {
        (void)sx_outside_each(pid, "board:", sx_cli_outside_nothing, NULL, &left);
    }
    for (unsigned i = 0; i < left.count; i++) {
        is_there = is_there || left.at[i].layout != 0;
    }
    if (!is_there) {
        sx_whose_say_none(pid, !all);
    }
    return is_there;
}

int sx_cli_doctor(char **words)
{
    struct wish wish = { .json = false };
    struct sx_doctor doctor = { .root = "" };
    const int code = sx_options_take(&sx_doctor_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (wish.kinds) {
        return kinds_print(wish.json);
    }
    if (!sx_whose_server(&wish.whose, &doctor.server) || !is_server(doctor.server)) {
        fputs("try: shmix ls jobs\n", stderr);
        return SX_EXIT_USAGE;
    }
    doctor.nspace = wish.whose.nspace;
    doctor.json = wish.json;
    sx_doctor_node(&doctor);
    sx_doctor_environment(&doctor);
    sx_doctor_leftovers(&doctor);
    sx_doctor_jobs(&doctor);
    return end(&doctor);
}
