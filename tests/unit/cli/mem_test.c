/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mem_test.c - what the library writes, the command reads by the specification alone. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pmix.h>

#include "captured.h"
#include "cli/verbs.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/open_ops.h"
#include "ring/record.h"
#include "ring/ring.h"
#include "shmem/membership.h"
#include "shmem/store.h"

/* Run `shmix mem` with @arg and this process's id.  Return: what it wrote, malloc'ed. */
static char *test_mem(const char *arg, int want)
{
    char pid[16];
    char *words[] = { pid, NULL, NULL };

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (arg != NULL) {
        words[1] = strdup(arg);
    }
    char *const text = captured(sx_cli_mem, words, want);
    free(words[1]);
    return text;
}

static void test_has(const char *text, const char *want)
{
    cr_expect_not_null(strstr(text, want), "\"%s\" is not in:\n%s", want, text);
}

static void test_store_create(struct sx_store_writer *writer)
{
    const struct sx_store_options options = { .nspace = "job.7",
                                              .row_count = 300,
                                              .reserve_bytes = 1 << 20 };

    cr_assert_eq(sx_store_create(writer, &options), PMIX_SUCCESS);
}

static void test_put(struct sx_store_writer *writer, enum sx_realm realm, uint32_t row,
                     const char *key, const pmix_value_t *value)
{
    cr_assert_eq(sx_store_put(writer, realm, row, key, PMIX_GLOBAL, value), PMIX_SUCCESS, "%s",
                 key);
}

Test(mem, lists_the_segments_of_a_process)
{
    struct sx_store_writer writer;

    test_store_create(&writer);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    char *const text = test_mem(NULL, 0);
    test_has(text, "KIND   NAME");
    test_has(text, "store  job.7");
    char line[128];
    snprintf(line, sizeof(line), " %8d %12u %12u %12u %5u\n", (int)getpid(), 1 << 20,
             448 + 128 * 16, 0, 2);
    test_has(text, line);
    cr_expect_null(strstr(text, "slots"), "no contents without --dump");
    cr_expect_null(strstr(text, "ended"));
    free(text);
    sx_store_destroy(&writer);
}

/* What a generation says of its future, seen by a descriptor that somebody still holds. */
Test(mem, says_what_has_become_of_a_store)
{
    struct sx_store_writer writer;
    int first, last;

    test_store_create(&writer);
    cr_assert_eq(sx_segment_share(&writer.view.seg, &first), PMIX_SUCCESS);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_share(&writer.view.seg, &last), PMIX_SUCCESS);
    sx_store_end(&writer);
    sx_store_destroy(&writer);
    char *const text = test_mem(NULL, 0);
    test_has(text, "     1  replaced by 2\n");
    test_has(text, "     2  has ended\n");
    free(text);
    close(first);
    close(last);
}

Test(mem, lists_as_json)
{
    struct sx_store_writer writer;
    char line[256];

    test_store_create(&writer);
    char *text = test_mem("--json", 0);
    snprintf(line, sizeof(line),
             "{\"kind\":\"store\",\"holder\":%d,\"size\":%u,\"name\":\"job.7\",\"pid\":%d,"
             "\"used\":%u,\"garbage\":0,\"generation\":1}\n",
             (int)getpid(), 1 << 20, (int)getpid(), 448 + 128 * 16);
    cr_expect_str_eq(text, line);
    free(text);
    sx_store_end(&writer);
    text = test_mem("--json", 0);
    test_has(text, ",\"state\":\"has ended\"}\n");
    free(text);
    sx_store_destroy(&writer);
}

/* One value of each form, and one that is no longer there. */
/* Where there are several nodes, the pages may lie on any of them: they are added up. */
static unsigned long test_pages(const char *at)
{
    unsigned long sum = 0;

    for (; at != NULL; at = strchr(at, ':')) {
        sum += strtoul(++at, NULL, 10);
    }
    return sum;
}

Test(mem, notifies_on_which_nodes_the_pages_lie)
{
    static char blob[5 << 20]; /* more pages than one call asks about */
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { blob, sizeof(blob) } };
    const struct sx_store_options options = { .nspace = "job.7", .reserve_bytes = 16 << 20 };
    struct sx_store_writer writer;

    cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
    test_put(&writer, SX_REALM_JOB, 0, "blob", &value);
    const uint64_t used = atomic_load(&sx_segment_header(&writer.view.seg)->used_bytes);
    const uint64_t want = (used + SX_PAGE_BYTES - 1) / SX_PAGE_BYTES;

    char *text = test_mem("--nodes", 0);
    cr_assert_not_null(strstr(text, "  nodes "), "%s", text);
    cr_expect_eq(test_pages(strchr(strstr(text, "  nodes "), ':')), want, "%s", text);
    free(text);
    text = test_mem(NULL, 0);
    cr_expect_null(strstr(text, "nodes"));
    free(text);
    sx_store_destroy(&writer);
}

static void test_fill(struct sx_store_writer *writer)
{
    pmix_proc_t proc = { .nspace = "other", .rank = 3 };
    pmix_value_t value = { .type = PMIX_STRING };
    uint32_t numbers[] = { 1, 2, 4000000000u };
    char *words[] = { (char[]){ "a" }, NULL, (char[]){ "b c" } };
    pmix_info_t infos[2] = { { .key = "first", .flags = 1 }, { .key = "second" } };
    pmix_data_array_t array = { .type = PMIX_UINT32, .size = 3, .array = numbers };

    value.data.string = (char[]){ "two \"words\"\n" };
    test_put(writer, SX_REALM_JOB, SX_ROW_JOB, "text", &value);
    value.data.string = NULL;
    test_put(writer, SX_REALM_NODE, 2, "null", &value);
    value = (pmix_value_t){ .type = PMIX_INT16, .data.int16 = -5 };
    test_put(writer, SX_REALM_APP, 1, "minus", &value);
    value = (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = UINT64_MAX };
    test_put(writer, SX_REALM_JOB, 0, "large", &value);
    value = (pmix_value_t){ .type = PMIX_DOUBLE, .data.dval = 1.5 };
    test_put(writer, SX_REALM_JOB, 298, "large", &value);
    test_put(writer, SX_REALM_JOB, 299, "large", &value);
    value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    test_put(writer, SX_REALM_JOB, 299, "large", &value);
    value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT, .data.bo = { (char[]){ 1, 2, 0x7f }, 3 } };
    test_put(writer, SX_REALM_SESSION, 7, "bytes", &value);
    value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = &proc };
    test_put(writer, SX_REALM_JOB, 1, "proc", &value);
    infos[1].value = value;
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = (char[]){ "deep" } };
    value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &array };
    test_put(writer, SX_REALM_JOB, 1, "numbers", &value);
    array = (pmix_data_array_t){ .type = PMIX_STRING, .size = 3, .array = words };
    test_put(writer, SX_REALM_JOB, 1, "words", &value);
    array = (pmix_data_array_t){ .type = PMIX_INFO, .size = 2, .array = infos };
    test_put(writer, SX_REALM_JOB, 1, "infos", &value);
    value = (pmix_value_t){ .type = PMIX_ENVAR,
                            .data.envar = { (char[]){ "PATH" }, (char[]){ "/bin" }, ':' } };
    test_put(writer, SX_REALM_JOB, 1, "envar", &value);
    value = (pmix_value_t){ .type = PMIX_TIMEVAL, .data.tv = { 12, 34 } };
    test_put(writer, SX_REALM_JOB, 1, "time", &value);
    test_put(writer, SX_REALM_JOB, 2, "withdrawn", &value);
    cr_assert_eq(sx_store_unset(writer, SX_REALM_JOB, 2, "withdrawn"), PMIX_SUCCESS);
}

Test(mem, dumps_values_of_every_form)
{
    static const struct {
        const char *row, *key, *value;
    } wants[] = {
        { "job", "text", "STRING \"two \\\"words\\\"\\x0a\"" },
        { "node 2", "null", "STRING NULL" },
        { "app 1", "minus", "INT16 -5" },
        { "rank 0", "large", "UINT64 18446744073709551615" },
        { "rank 298", "large", "DOUBLE 1.5" },
        { "rank 299", "large", "BOOL true" },
        { "session 7", "bytes", "BYTE_OBJECT 3 bytes 01027f" },
        { "rank 1", "proc", "PROC \"other\".3" },
        { "rank 1", "numbers", "DATA_ARRAY UINT32[3] [1, 2, 4000000000]" },
        { "rank 1", "words", "DATA_ARRAY STRING[3] [\"a\", NULL, \"b c\"]" },
        { "rank 1", "infos",
          "DATA_ARRAY INFO[2] [{key: \"first\", flags: 1, value: \"deep\"}, "
          "{key: \"second\", flags: 0, value: PROC \"other\".3}]" },
        { "rank 1", "envar", "ENVAR {envar: \"PATH\", value: \"/bin\", separator: 58}" },
        { "rank 1", "time", "TIMEVAL 12.000034s" },
    };
    struct sx_store_writer writer;

    test_store_create(&writer);
    test_fill(&writer);
    char *const text = test_mem("--dump", 0);
    test_has(text, "12 columns, 300 rows");
    for (size_t i = 0; i < SX_COUNT(wants); i++) {
        char line[256];
        snprintf(line, sizeof(line), "  %-12s %-24s global   %s\n", wants[i].row, wants[i].key,
                 wants[i].value);
        test_has(text, line);
    }
    cr_expect_null(strstr(text, "withdrawn"));
    cr_expect_null(strstr(text, "contradicts"), "%s", text);
    cr_expect_null(strstr(text, "not a flat value"), "%s", text);
    free(text);
    sx_store_destroy(&writer);
}

static void test_has_all(const char *const *wants, size_t count)
{
    char *const text = test_mem("--dump", 0);

    for (size_t i = 0; i < count; i++) {
        test_has(text, wants[i]);
    }
    cr_expect_null(strstr(text, "contradicts"), "%s", text);
    free(text);
}

/* One message of each kind. */
static void test_lane_fill(struct sx_lane *lane)
{
    struct sx_lane_put put = { .cell = { .type = PMIX_STRING, .len = 6 },
                               .key_len = 3,
                               .scope = PMIX_LOCAL,
                               .flags = SX_PUT_LAST };
    const struct iovec put_iov[] = { { &put, sizeof(put) },
                                     { (char[8]){ "key" }, 8 },
                                     { (char[8]){ "value" }, 8 } };
    struct {
        struct sx_lane_arrive arrive;
        uint32_t rank, len;
        char name[8];
    } arrive = {
        { .kind = SX_COLLECTIVE_FENCE, .flags = SX_ARRIVE_COLLECT, .op = 9, .proc_count = 1 },
        PMIX_RANK_WILDCARD,
        5,
        "job.7"
    };
    const struct iovec arrive_iov = { &arrive, sizeof(arrive) };
    uint64_t cursor = 77;
    const struct iovec cursor_iov = { &cursor, sizeof(cursor) };
    struct {
        struct sx_event event;
        char source[8];
        uint32_t target_rank, target_len;
        char target[8];
        uint32_t affected_rank, affected_len;
        char affected[8];
    } event = { { .code = PMIX_EVENT_NODE_DOWN,
                  .source_rank = 4,
                  .range = PMIX_RANGE_CUSTOM,
                  .flags = SX_EVENT_DO_NOT_CACHE,
                  .source_len = 5,
                  .target_count = 1,
                  .affected_count = 1 },
                "job.7",
                PMIX_RANK_WILDCARD,
                5,
                "job.7",
                1,
                5,
                "job.7" };
    const struct iovec event_iov = { &event, sizeof(event) };

    cr_assert_eq(sx_lane_append(lane, SX_LANE_PUT, put_iov, 3), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(lane, SX_LANE_COMMIT_END, NULL, 0), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(lane, SX_LANE_ARRIVE, &arrive_iov, 1), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(lane, SX_LANE_CURSOR, &cursor_iov, 1), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(lane, SX_LANE_NOTIFY, &event_iov, 1), PMIX_SUCCESS);
}

Test(mem, dumps_board_and_lane)
{
    static const char *const wants[] = {
        "board  server",
        "the server is alive",
        "slot 0      live     bell 3, lane read to 0, data wanted\n",
        "lane   job.7.0",
        "at 0: put \"key\" local STRING \"value\", commit end\n",
        ": commit end\n",
        ": arrive fence, collecting, op 9: \"job.7\".*\n",
        ": cursor 77\n",
        (": event 0, code -231, range custom, not to be kept, from \"job.7\".4, for \"job.7\".*, "
         "about \"job.7\".1\n"),
    };
    struct sx_board board, client_board;
    struct sx_lane_reader reader;
    struct sx_lane lane;
    uint32_t slot;
    int fd, lane_fd;

    cr_assert_eq(sx_board_create(&board, "server", NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_board_live(&board), PMIX_SUCCESS);
    cr_assert_eq(sx_board_slot_claim(&board, &slot), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_create(&reader, "job.7.0", &board, slot, NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_share(&board.seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_board_attach(&client_board, fd), PMIX_SUCCESS);
    cr_assert_eq(sx_segment_share(&reader.seg, &lane_fd), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_attach(&lane, lane_fd, &client_board, slot, -1), PMIX_SUCCESS);
    close(fd);
    close(lane_fd);
    for (unsigned i = 0; i < 3; i++) {
        sx_door_ring(&board.slots[slot].bell, SX_BELL_ALL, 0);
    }
    sx_board_slot_want_data(&board, slot, true);
    test_lane_fill(&lane);
    test_has_all(wants, SX_COUNT(wants));
    sx_lane_detach(&lane);
    sx_lane_destroy(&reader);
    sx_board_deinit(&client_board);
    sx_board_end(&board);
    sx_board_deinit(&board);
}

Test(mem, dumps_a_ring)
{
    static const char *const wants[] = {
        "ring   job.7",
        "1002 records ever",
        "class 0: 1000 records",
        "class 5: 1 records",
        "record 1000 class 0: done, status -24, subject 0x1000002: slot 3 op 9\n",
        "record 1001 class 5: store generation 6\n",
        "record 1002 class 7: event 8, code -249, range local, to be asked for\n",
    };
    struct sx_ring ring;
    struct {
        struct sx_record_done done;
        struct sx_record_done_entry entry;
    } done = { { PMIX_ERR_TIMEOUT, 1, 0x1000002 }, { 3, 9 } };
    struct sx_record_store store = { 6 };
    struct sx_event event = { .number = 8,
                              .code = -249,
                              .range = PMIX_RANGE_LOCAL,
                              .flags = SX_EVENT_ASK,
                              .target_count = 5,
                              .info_size = 9999 };
    const struct iovec iov[] = { { &done, sizeof(done) },
                                 { &store, sizeof(store) },
                                 { &event, sizeof(event) } };

    cr_assert_eq(sx_ring_create(&ring, "job.7", SX_RING_BYTES_MIN, NULL), PMIX_SUCCESS);
    for (unsigned i = 0; i < 1000; i++) { /* several times around */
        cr_assert_eq(sx_ring_publish(&ring, SX_RECORD_DONE, SX_CLASS_COLLECTIVE, &iov[0], 1, NULL),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(sx_ring_publish(&ring, SX_RECORD_STORE, 5, &iov[1], 1, NULL), PMIX_SUCCESS);
    cr_assert_eq(sx_ring_publish(&ring, SX_RECORD_EVENT, 7, &iov[2], 1, NULL), PMIX_SUCCESS);
    test_has_all(wants, SX_COUNT(wants));
    sx_ring_deinit(&ring);
}

Test(mem, dumps_a_list_of_processes)
{
    static const char *const wants[] = {
        "store  (node) ",
        ("members      a-group                  -        group \"a-group\", subject 0x5000000, "
         "generation 2, flags 0x2, context 77, 3 places: \"job.7\".3 left \"a\".0\n"),
        "members 0    shmix.memberships        -        STRING \"a-group\"\n",
    };
    const struct sx_membership_head head = { .subject = UINT64_C(5) << SX_MEMBERSHIP_ROW_BITS,
                                             .kind = SX_MEMBERSHIP_GROUP,
                                             .flags = SX_MEMBERSHIP_CONTEXT,
                                             .generation = 2,
                                             .context_id = 77 };
    const pmix_proc_t procs[] = { { "job.7", 3 }, { "", PMIX_RANK_INVALID }, { "a", 0 } };
    const struct sx_store_options node = { .nspace = "" };
    struct sx_store_writer writer;
    struct sx_cell cell = { .type = PMIX_BYTE_OBJECT };
    size_t size;
    void *bytes;

    cr_assert_eq(sx_store_create(&writer, &node), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_encode(&head, "a-group", procs, 3, &bytes, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_publish(&writer, bytes, size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_enter(&writer, SX_REALM_MEMBERS, head.subject, "a-group"),
                 PMIX_SUCCESS);
    test_has_all(wants, SX_COUNT(wants));
    ((struct sx_membership_head *)bytes)->index_count++; /* what is no index any more */
    cell.len = (uint32_t)size;
    cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_MEMBERS, SX_ROW_JOB, "bad", PMIX_SCOPE_UNDEF,
                                   &cell, bytes),
                 PMIX_SUCCESS);
    test_has_all((const char *const[]){ "\"a\".0 (no such record)\n" }, 1);
    free(bytes);
    sx_store_destroy(&writer);
}

Test(mem, dumps_open_operations)
{
    static const char *const wants[] = {
        "ops    server",
        "256 rows, for operations that are open for more than 20000000 ns; 7 have none\n",
        ("row 0    connect \"the id\", since 12 ns, until 34, 3 of 5, with the host, callers told; "
         "of 2: \"job.7\".* \"job.8\".3; missing: \"job.7\".1 (here, pid 4711) "
         "\"job.8\".3 (never came, pid 0)\n"),
        "row 1    is being written\n",
    };
    struct sx_open_op op = {
        .since_ns = 12,
        .deadline_ns = 34,
        .kind = SX_COLLECTIVE_CONNECT,
        .flags = SX_OPEN_WITH_HOST | SX_OPEN_NOTIFIED,
        .expected = 5,
        .arrived = 3,
        .proc_count = 2,
        .id_off = 1,
        .text_bytes = 20,
        .procs_listed = 2,
        .missing_listed = 2,
        .procs = { { .rank = PMIX_RANK_WILDCARD, .nspace_off = 8 },
                   { .rank = 3, .nspace_off = 14 } },
        .missing = { { .rank = 1, .pid = 4711, .nspace_off = 8, .presence = SX_OPEN_CONNECTED },
                     { .rank = 3, .nspace_off = 14 } },
        .text = "\0the id\0job.7\0job.8",
    };
    struct sx_open_ops ops;
    uint32_t index;

    cr_assert_eq(sx_open_ops_create(&ops, "server", NULL), PMIX_SUCCESS);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
        sx_open_ops_publish(&ops, index, &op);
    }
    atomic_fetch_add(&ops.rows[1].seq, 1);
    sx_open_ops_abandon(&ops, 2);
    sx_open_ops_hide(&ops, 7);
    test_has_all(wants, SX_COUNT(wants));
    char *const text = test_mem("--dump", 0);
    cr_expect_null(strstr(text, "row 2"), "nothing is in it");
    free(text);
    sx_open_ops_deinit(&ops);
}

/* A segment with a sound header and @fill behind it, open in this process. */
static int test_image(uint32_t kind, unsigned seed)
{
    static uint8_t image[65536];
    struct sx_segment_header *const header = (void *)image;
    const int fd = memfd_create("shmix:store:damaged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    cr_assert_geq(fd, 0);
    srand(seed);
    for (size_t i = 0; i < sizeof(image); i++) {
        image[i] = (uint8_t)(rand() % 4 == 0 ? rand() : 0);
    }
    memset(image, 0, SX_SEGMENT_BODY_OFF);
    atomic_store(&header->magic, SX_SEGMENT_MAGIC);
    header->size_bytes = sizeof(image);
    header->kind = kind;
    header->creator_pid = (uint32_t)getpid();
    atomic_store(&header->used_bytes, sizeof(image));
    uint64_t *const body = (void *)(image + SX_SEGMENT_BODY_OFF);
    if (kind == SX_SEGMENT_STORE) {
        body[0] = 512 | (uint64_t)(rand() % 12);
        body[1] = (uint64_t)(rand() % 9) << 32 | (uint64_t)(rand() % 70000);
    } else if (kind == SX_SEGMENT_RING) {
        body[0] = 4096;
        body[1] = 16384;
        body[8] = 30000;
        body[10] = 20000;
    } else if (kind == SX_SEGMENT_OPS) {
        body[0] = 448;
        body[1] = (uint64_t)1024 << 32 | 256;
        for (unsigned i = 0; i < 60; i++) { /* rows that are whole, as far as their number says */
            image[448 + 1024 * i] &= 0xfe;
            image[448 + 1024 * i + 44] &= 0x07;
            image[448 + 1024 * i + 45] &= 0x1f;
        }
    }
    cr_assert_eq(pwrite(fd, image, sizeof(image), 0), sizeof(image));
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    return fd;
}

Test(mem, survives_segments_full_of_nonsense)
{
    for (unsigned round = 0; round < 200; round++) {
        const int fd = test_image(1 + round % 5, round);
        free(test_mem("--dump", 0));
        close(fd);
    }
    const int fd = memfd_create("shmix:store:unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert_eq(ftruncate(fd, 4096), 0);
    free(test_mem("--dump", 1)); /* could be cut under us: as if it were not there */
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    char *const text = test_mem("--dump", 0);
    test_has(text, "is being made");
    free(text);
    close(fd);
}
