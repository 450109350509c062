/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* trace_test.c - which calls are one operation, figures, and the timeline, of sets that are made
 * here; and files whose headers are wrong.  Real ranks are in tests/system/run/trace_test.sh. */
#include "cli/trace/trace.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"
#include "trace/names.h"

TestSuite(trace, .timeout = 60);

static struct sx_trace_process processes[4];
static struct sx_trace_item items[8];

static void process_make(uint32_t index, const char *nspace, uint32_t rank, uint32_t size)
{
    processes[index] = (struct sx_trace_process){ .pid = 100 + index, .rank = rank, .size = size };
    processes[index].named = nspace != NULL;
    snprintf(processes[index].nspace, sizeof(processes[index].nspace), "%s",
             nspace != NULL ? nspace : "");
    snprintf(processes[index].library, sizeof(processes[index].library), "shmix 1.0.0");
}

static struct sx_trace_item *item_make(uint32_t index, uint32_t process, uint16_t function,
                                       uint64_t begin_ns, uint64_t end_ns)
{
    items[index] = (struct sx_trace_item){ .process = process,
                                           .function = function,
                                           .ended = true,
                                           .begin_ns = begin_ns,
                                           .end_ns = end_ns,
                                           .tid = 7 };
    return &items[index];
}

static struct sx_trace_set made(size_t process_count, size_t item_count)
{
    return (struct sx_trace_set){ .processes = processes,
                                  .items = items,
                                  .process_count = process_count,
                                  .item_count = item_count,
                                  .begin_ns = 1000,
                                  .end_ns = 101000 };
}

static char *text_of(const struct sx_trace_set *set, bool timeline)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (timeline) {
        sx_trace_timeline(set, out);
    } else {
        sx_trace_summary(set, 10, out);
    }
    fclose(out);
    return text;
}

static void expect_has(const char *text, const char *part)
{
    cr_expect_not_null(strstr(text, part), "no '%s' in:\n%s", part, text);
}

/* ---- waits ----------------------------------------------------------------------------------- */

Test(trace, the_last_of_a_fence_is_found_by_the_order_of_each_process)
{
    struct sx_trace_set set = made(2, 4);

    process_make(0, "job", 0, 2);
    process_make(1, "job", 1, 2);
    item_make(0, 0, SX_TRACE_PMIx_Fence, 1000, 6000);
    item_make(1, 1, SX_TRACE_PMIx_Fence_nb, 5000, 5100)->back_ns = 6100;
    items[1].calls_back = true;
    item_make(2, 1, SX_TRACE_PMIx_Fence, 7000, 9000); /* its second one comes first */
    item_make(3, 0, SX_TRACE_PMIx_Fence, 8900, 9100);
    sx_trace_waits(&set);
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(items[i].ordinal, i < 2 ? 1 : 2);
        cr_expect_eq(items[i].members, 2);
        cr_expect_eq(items[i].last, i < 2 ? 1 : 3);
        cr_expect_eq(items[i].is_longest, i == 0 || i == 2, "%zu", i);
    }
    char *const text = text_of(&set, false);

    expect_has(text, "   5000 ns  rank 0 in PMIx_Fence, number 1 of these processes, for rank 1, "
                     "the last of 2, 4000 ns later\n");
    expect_has(text, "   2000 ns  rank 1 in PMIx_Fence, number 2 of these processes, for rank 0, ");
    free(text);
}

Test(trace, operations_of_other_processes_groups_and_jobs_are_others)
{
    struct sx_trace_set set = made(3, 8);

    process_make(0, "job", 0, 2);
    process_make(1, "job", 1, 2);
    process_make(2, "other", 0, 1);
    item_make(0, 0, SX_TRACE_PMIx_Fence, 1, 2);
    item_make(1, 2, SX_TRACE_PMIx_Fence, 2, 3); /* of another job */
    item_make(2, 1, SX_TRACE_PMIx_Fence, 3, 4)->proc_count = 1;
    snprintf(items[2].nspace, sizeof(items[2].nspace), "job");
    items[2].rank = UINT32_MAX - 1; /* the wildcard: the same as item 0, which gave no processes */
    item_make(3, 0, SX_TRACE_PMIx_Fence, 4, 5)->proc_count = 2;
    items[3].procs_hash = 77;
    item_make(4, 1, SX_TRACE_PMIx_Fence, 5, 6)->proc_count = 2;
    items[4].procs_hash = 77;
    items[4].rank = 1; /* the list is the same, and begins with another one */
    item_make(5, 0, SX_TRACE_PMIx_Group_construct, 6, 7);
    snprintf(items[5].key, sizeof(items[5].key), "a");
    item_make(6, 1, SX_TRACE_PMIx_Group_construct, 7, 8);
    snprintf(items[6].key, sizeof(items[6].key), "b");
    item_make(7, 0, SX_TRACE_PMIx_Get, 8, 9);
    sx_trace_waits(&set);
    static const struct {
        uint32_t members, last;
    } want[] = { { 2, 2 }, { 1, 1 }, { 2, 2 }, { 2, 4 }, { 2, 4 }, { 1, 5 }, { 1, 6 }, { 0, 0 } };

    for (size_t i = 0; i < SX_COUNT(want); i++) {
        cr_expect_eq(items[i].members, want[i].members, "%zu: %u", i, items[i].members);
        cr_expect(items[i].members == 0 || items[i].last == want[i].last, "%zu", i);
    }
    cr_expect_eq(items[7].ordinal, 0, "a Get is not a collective operation");
}

/* ---- texts ----------------------------------------------------------------------------------- */

Test(trace, percentiles_are_of_the_sorted_times)
{
    static struct sx_trace_item many[100];
    struct sx_trace_set set = made(1, 100);

    process_make(0, "job", 0, 1);
    for (uint64_t i = 0; i < 100; i++) {
        many[i] = (struct sx_trace_item){ .function = SX_TRACE_PMIx_Get,
                                          .ended = true,
                                          .begin_ns = 1000 + i,
                                          .end_ns = 1000 + i + (i * 37 % 100 + 1) };
    }
    set.items = many;
    char *const text = text_of(&set, false);

    expect_has(text, "PMIx_Get                               100     5050 ns       50 ns       99 "
                     "ns      100 ns\n");
    free(text);
}

Test(trace, what_is_missing_is_reported)
{
    struct sx_trace_set set = made(2, 1);

    process_make(0, "job", 0, 3);
    process_make(1, NULL, 0, 0);
    processes[0].left_out = 5;
    processes[1].left_out = 6;
    processes[1].error = 28;
    snprintf(processes[1].library, sizeof(processes[1].library), "OpenPMIx\033[31m 4");
    item_make(0, 0, SX_TRACE_PMIx_Get, 1000, 0)->ended = false;
    items[0].end_ns = 2000;
    snprintf(items[0].key, sizeof(items[0].key), "k\033");
    set.damaged = 1;
    char *const text = text_of(&set, false);

    expect_has(text, "rank 0 in PMIx_Get of k?; it has not returned\n");
    expect_has(text, "rank 0: 5 calls are left out, --records holds more\n");
    expect_has(text, "process 101: 6 calls are left out: the disk was full\n");
    expect_has(text, "process 101 has another PMIx library, OpenPMIx?[31m 4: ");
    expect_has(text, "2 of 3 ranks of job are not in the trace");
    expect_has(text, "1 file is no trace of this version\n");
    cr_expect_null(strchr(text, '\033'), "nothing controls the terminal");
    free(text);
}

Test(trace, a_rank_is_a_process_of_the_timeline)
{
    struct sx_trace_set set = made(3, 2);

    process_make(0, "job", 5, 6);
    process_make(1, "o\"ther", 2, 3);
    process_make(2, "job", 3, 6);
    item_make(0, 2, SX_TRACE_PMIx_Get_nb, 1500, 1600)->calls_back = true;
    items[0].back_ns = 2750;
    items[0].status = -3100;                        /* no name */
    item_make(1, 1, SX_TRACE_PMIx_Put, 3000, 2000); /* garbled: it ends before it begins */
    snprintf(items[1].key, sizeof(items[1].key), "\xff");
    char *const text = text_of(&set, true);

    expect_has(text,
               "\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"rank 5 of job (process "
               "100)\"}");
    expect_has(text, "\"pid\":1000002,\"args\":{\"name\":\"rank 2 of o\\\"ther ");
    expect_has(text, "{\"ph\":\"X\",\"cat\":\"pmix\",\"name\":\"PMIx_Get_nb\",\"pid\":3,\"tid\":7,"
                     "\"ts\":0.500,\"dur\":0.100,\"args\":{\"pid\":102,\"status\":-3100,"
                     "\"callback_status\":\"PMIX_SUCCESS\"}}");
    expect_has(text, "\"ph\":\"b\",\"cat\":\"pmix\",\"name\":\"PMIx_Get_nb\",\"pid\":3,\"tid\":7,"
                     "\"ts\":0.500,\"id\":0}");
    expect_has(text, "\"ts\":1.750,\"id\":0}");
    expect_has(
        text,
        "\"dur\":0.000,\"args\":{\"pid\":101,\"status\":\"PMIX_SUCCESS\",\"key\":\"\\ufffd\"}");
    free(text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct sx_trace_header header;

static void file_write(const char *dir, size_t size_bytes)
{
    char *const path = sx_cli_printf("%s/1-0.trace", dir);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    static struct sx_trace_record record;

    /* relaxed: of this thread. */
    atomic_store_explicit(&record.state, SX_TRACE_ENDED, memory_order_relaxed);
    record.begin_ns = 5;
    record.end_ns = 9;
    cr_assert_eq(write(fd, &header, sizeof(header)), (ssize_t)sizeof(header));
    cr_assert_eq(write(fd, &record, sizeof(record)), (ssize_t)sizeof(record));
    cr_assert_eq(ftruncate(fd, (off_t)size_bytes), 0);
    close(fd);
    free(path);
}

static void header_make(void)
{
    header = (struct sx_trace_header){ .magic = SX_TRACE_MAGIC,
                                       .record_size_bytes = sizeof(struct sx_trace_record),
                                       .capacity = 10,
                                       .function_count = SX_TRACE_FUNCTIONS,
                                       .pid = 1,
                                       .next = 3,
                                       .room = 10 };
}

Test(trace, nothing_in_a_file_is_trusted)
{
    char dir[] = "/tmp/shmix-test-trace-XXXXXX";
    const size_t whole = sizeof(header) + sizeof(struct sx_trace_record);

    cr_assert_not_null(mkdtemp(dir));
    for (int row = 0; row < 7; row++) {
        struct sx_trace_set set;
        size_t size = whole;

        header_make();
        switch (row) {
        case 1:
            header.magic = SX_TRACE_MAGIC + 1;
            break;
        case 2:
            header.record_size_bytes--;
            break;
        case 3:
            header.function_count++;
            break;
        case 4:
            size = sizeof(header) - 1;
            break;
        case 5: /* more records than there are bytes */
            header.next = UINT64_MAX;
            header.room = UINT32_MAX;
            break;
        case 6: /* half a record */
            size = whole - 1;
            break;
        default:
            break;
        }
        memset(header.program, 'x', sizeof(header.program));
        file_write(dir, size);
        cr_assert(sx_trace_read(dir, &set));
        cr_expect_eq(set.damaged, row >= 1 && row <= 4, "row %d", row);
        cr_expect_eq(set.item_count, row == 0 || row == 5, "row %d", row);
        cr_expect(set.process_count == 0 || strlen(set.processes[0].program) == 255);
        sx_trace_free(&set);
        sx_trace_free(&set);
    }
    char *const path = sx_cli_printf("%s/1-0.trace", dir);

    unlink(path);
    free(path);
    rmdir(dir);
}
