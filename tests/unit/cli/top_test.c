/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* top_test.c - samples of a server that this process is, and what tables, lines and metrics make of
 * them.  The screen is in tests/system/run/top_test.sh. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_common.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "captured.h"
#include "cli/top/top.h"
#include "cli/verbs.h"
#include "control/message.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/open_ops.h"
#include "ring/ring.h"
#include "shmem/store.h"

TestSuite(top, .timeout = 60);

static void expect_has(const char *text, const char *want)
{
    cr_expect_not_null(strstr(text, want), "\"%s\" is not in:\n%s", want, text);
}

/* ---- a server -------------------------------------------------------------------------------- */

struct served {
    struct sx_board board;
    struct sx_lane_reader lane;
    struct sx_store_writer store;
    struct sx_ring ring;
    struct sx_open_ops ops;
};

/* A server with job.7 of two ranks: rank 0 is this process, rank 1 is not known. */
static void served_make(struct served *served)
{
    const struct sx_store_options options = { .nspace = "job.7", .reserve_bytes = 1 << 20 };
    const struct sx_board_client shown = { (uint32_t)getpid(), getuid(), 0, SX_PEER_CLIENT, 0 };
    const pmix_value_t size = { .type = PMIX_UINT32, .data.uint32 = 2 };
    const pmix_value_t pid = { .type = PMIX_PID, .data.pid = getpid() };
    uint32_t slot;

    cr_assert_eq(sx_board_create(&served->board, "server", NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_board_slot_claim(&served->board, &slot), PMIX_SUCCESS);
    sx_board_slot_notify(&served->board, slot, &shown);
    cr_assert_eq(sx_lane_create(&served->lane, "job.7.0", &served->board, slot, NULL),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_store_create(&served->store, &options), PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&served->store, SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_SIZE, PMIX_GLOBAL,
                              &size),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&served->store, SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_SIZE,
                              PMIX_GLOBAL, &size),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&served->store, SX_REALM_JOB, 0, PMIX_PROC_PID, PMIX_GLOBAL, &pid),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_ring_create(&served->ring, "job.7", 1 << 16, NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_open_ops_create(&served->ops, "server", NULL), PMIX_SUCCESS);
}

static void served_end(struct served *served)
{
    sx_open_ops_deinit(&served->ops);
    sx_ring_deinit(&served->ring);
    sx_store_destroy(&served->store);
    sx_lane_destroy(&served->lane);
    sx_board_deinit(&served->board);
}

Test(top, samples_a_server_and_makes_rates)
{
    struct sx_top_sample before, sample;
    struct served served;

    served_make(&served);
    sx_top_take(getpid(), NULL, NULL, &before);
    cr_assert_eq(before.server_count, 1);
    cr_expect_str_eq(before.servers[0].name, "server");
    cr_expect_eq(before.servers[0].clients, 1);
    cr_expect_gt(before.servers[0].used_bytes[SX_TOP_STORES], 0);
    cr_assert_eq(before.job_count, 1);
    cr_expect_eq(before.jobs[0].size, 2);
    cr_expect_eq(before.jobs[0].running, 1);
    cr_assert_eq(before.rank_count, 1, "rank 1 has no process here");
    cr_expect(before.ranks[0].connected);
    cr_expect_eq(before.ranks[0].lane_per_s, 0, "there is nothing to compare with");

    /* relaxed: of this thread. */
    atomic_store_explicit(&served.lane.line->tail, 32768, memory_order_relaxed);
    atomic_store_explicit(&served.ring.header->class_count[SX_CLASS_COLLECTIVE], 100,
                          memory_order_relaxed);
    atomic_store_explicit(&served.ring.header->class_count[3], 50, memory_order_relaxed);
    before.when_ns -= SX_NS_PER_SEC * 10;
    sx_top_take(getpid(), NULL, &before, &sample);
    cr_assert_eq(sample.rank_count, 1);
    cr_expect_eq(sample.ranks[0].lane_used, 32768);
    cr_expect(sample.ranks[0].lane_per_s > 3000 && sample.ranks[0].lane_per_s < 3277);
    cr_expect(sample.jobs[0].collectives_per_s > 9 && sample.jobs[0].collectives_per_s <= 10);
    cr_expect(sample.jobs[0].events_per_s > 4.5 && sample.jobs[0].events_per_s <= 5);
    sx_top_free(&before);
    sx_top_free(&sample);

    sx_top_take(getpid(), "other.job", NULL, &sample);
    cr_expect_eq(sample.job_count, 0);
    cr_expect_eq(sample.rank_count, 0);
    sx_top_free(&sample);
    sx_top_free(&sample);
    served_end(&served);
}

Test(top, says_who_waits_for_whom)
{
    const struct sx_open_op op = {
        .since_ns = sx_now_ns(),
        .kind = SX_COLLECTIVE_FENCE,
        .expected = 2,
        .arrived = 1,
        .proc_count = 1,
        .text_bytes = 7,
        .procs_listed = 1,
        .missing_listed = 1,
        .procs = { { .rank = PMIX_RANK_WILDCARD, .nspace_off = 1 } },
        .missing = { { .rank = 1, .nspace_off = 1, .presence = SX_OPEN_LEFT } },
        .text = "\0job.7",
    };
    char head[SX_TOP_HEAD_MAX][SX_TOP_LINE_MAX];
    struct sx_top_sample sample;
    struct served served;
    uint32_t index;

    served_make(&served);
    for (unsigned i = 0; i < SX_TOP_HEAD_OPS + 2; i++) {
        cr_assert_eq(sx_open_ops_claim(&served.ops, &index), PMIX_SUCCESS);
        sx_open_ops_publish(&served.ops, index, &op);
    }
    sx_top_take(getpid(), NULL, NULL, &sample);
    cr_assert_eq(sx_top_head(&sample, head), SX_TOP_HEAD_MAX);
    expect_has(head[0], ", 1 servers, 1 jobs, 1 ranks here: 1 run, 0 stopped");
    expect_has(head[1], "memory: stores ");
    expect_has(head[2], "fence of server ");
    expect_has(head[2], ": 1 of 2, 0.");
    expect_has(head[2], " s, missing job.7.1 (has left)");
    expect_has(head[SX_TOP_HEAD_MAX - 1], "and 2 more open operations: ");
    sx_top_free(&sample);
    served_end(&served);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Three ranks of two users' jobs. */
static struct sx_top_sample made(void)
{
    static struct sx_top_job jobs[2];
    static struct sx_top_rank ranks[3];

    jobs[0] = (struct sx_top_job){ .server = 10,
                                   .uid = 4001,
                                   .size = 2,
                                   .running = 1,
                                   .stopped = 1,
                                   .cpu = 1.5,
                                   .stored_bytes = 2048 };
    jobs[1] = (struct sx_top_job){ .server = 11, .uid = 4002, .size = 1, .running = 1 };
    snprintf(jobs[0].name, sizeof(jobs[0].name), "one\n\"job");
    snprintf(jobs[1].name, sizeof(jobs[1].name), "two");
    ranks[0] = (struct sx_top_rank){
        .process = { .pid = 21, .uid = 4001, .state = "runs", .cpu = 0.5, .rss_bytes = 3 << 20 },
        .server = 10,
    };
    ranks[1] = (struct sx_top_rank){
        .process = { .pid = 22, .uid = 4001, .state = "stopped", .cpu = 1.0, .rss_bytes = 1 << 20 },
        .server = 10,
        .rank = 1,
    };
    ranks[2] = (struct sx_top_rank){
        .process = { .pid = 23, .uid = 4002, .state = "runs", .cpu = 0, .rss_bytes = 2 << 20 },
        .server = 11,
        .job = 1,
    };
    return (struct sx_top_sample){ .jobs = jobs, .job_count = 2, .ranks = ranks, .rank_count = 3 };
}

/* The process ids of the rows, as "22 21 23 ". */
static const char *pids_by(const char *column, bool up, const char *filter)
{
    static char text[64];
    const struct sx_top_sample sample = made();
    const struct sx_top_order order = { .column = sx_top_column_find(SX_TOP_RANKS, column),
                                        .up = up,
                                        .filter = filter };
    struct sx_top_table table;
    size_t used = 0;

    text[0] = '\0';
    sx_top_table(&sample, SX_TOP_RANKS, &order, &table);
    for (size_t i = 0; i < table.row_count; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ",
                                 table.rows[i].cells[0].text);
    }
    sx_top_table_free(&table);
    return text;
}

Test(top, sorts_and_filters)
{
    cr_expect_str_eq(pids_by("%CPU", false, NULL), "22 21 23 ");
    cr_expect_str_eq(pids_by("%cpu", true, NULL), "23 21 22 ");
    cr_expect_str_eq(pids_by("rss_bytes", false, ""), "21 23 22 ");
    cr_expect_str_eq(pids_by("STATE", false, NULL), "21 23 22 ", "names begin with A");
    cr_expect_str_eq(pids_by("STATE", true, NULL), "22 21 23 ");
    cr_expect_str_eq(pids_by("PID", false, "STOP"), "22 ");
    cr_expect_str_eq(pids_by("PID", false, "4002"), "23 ");
    cr_expect_str_eq(pids_by("PID", false, "nobody"), "");
    cr_expect_eq(sx_top_column_find(SX_TOP_USERS, "PID"), sx_top_column_find(SX_TOP_USERS, ""));
}

Test(top, sums_up_by_user_and_prints_no_byte_of_a_terminal)
{
    const struct sx_top_sample sample = made();
    const struct sx_top_order order = sx_top_order_first(SX_TOP_USERS);
    struct sx_top_table table;
    char line[SX_TOP_LINE_MAX];

    sx_top_table(&sample, SX_TOP_USERS, &order, &table);
    cr_assert_eq(table.row_count, 2);
    sx_top_line(&table, NULL, line, sizeof(line));
    expect_has(line, "USER               JOBS    RANKS   STOP");
    sx_top_line(&table, &table.rows[0], line, sizeof(line));
    expect_has(line, "4001                  1        2      1      150 ");
    sx_top_table_free(&table);
    const struct sx_top_order by_cpu = sx_top_order_first(SX_TOP_JOBS);

    sx_top_table(&sample, SX_TOP_JOBS, &by_cpu, &table);
    sx_top_line(&table, &table.rows[0], line, sizeof(line));
    expect_has(line, " one?\"job");
    sx_top_line(&table, &table.rows[0], line, 10);
    cr_expect_eq(strlen(line), 9, "it is cut");
    sx_top_table_free(&table);
}

/* ---- output ---------------------------------------------------------------------------------- */

Test(top, writes_openmetrics)
{
    const struct sx_top_sample sample = made();
    char *text = NULL;
    size_t size;

    snprintf(sample.jobs[1].name, sizeof(sample.jobs[1].name), "t\xffw\xc3\xb6\x1b\\");
    FILE *const out = open_memstream(&text, &size);

    sx_top_metrics(&sample, out);
    fclose(out);
    expect_has(text, "# TYPE shmix_job_collectives counter\n# HELP shmix_job_collectives ");
    expect_has(text,
               "shmix_job_collectives_total{nspace=\"one\\n\\\"job\",server=\"10\",uid=\"4001\"} "
               "0\n");
    expect_has(text, "shmix_job_stored_bytes{nspace=\"one\\n\\\"job\",server=\"10\",uid=\"4001\"} "
                     "2048\n");
    expect_has(text, "shmix_job_ranks_connected{nspace=\"t\\\\xffw\xc3\xb6\\\\x1b\\\\\\\\\","
                     "server=\"11\"");
    expect_has(text, "shmix_open_collectives 0\n");
    cr_expect_str_eq(text + size - 6, "# EOF\n");
    free(text);
}

Test(top, prints_rows_of_every_view_as_json)
{
    char number[16];
    char *words[] = { number, (char[]){ "--json" }, (char[]){ "--count=1" }, NULL };
    struct served served;

    served_make(&served);
    snprintf(number, sizeof(number), "%d", (int)getpid());
    char *const text = captured(sx_cli_top, words, 0);

    expect_has(text, "{\"view\":\"ranks\",\"pid\":");
    expect_has(text, "{\"view\":\"jobs\",\"server\":");
    expect_has(text, "{\"view\":\"servers\",\"pid\":");
    expect_has(text, "{\"view\":\"users\",\"user\":");
    expect_has(text, ",\"nspace\":\"job.7\"}\n");
    free(text);
    served_end(&served);
}
